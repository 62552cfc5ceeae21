/* --- figure.js: a figure with its controls, caveats and command. --- */

const figures = []; /* functions that draw again */

/* Radio buttons, an option {key, name} each; choose(option) when one is taken. */
function makeSwitch(label, options, choose) {
  const name = `${label}-${figures.length}`;
  const button = (option, i) => {
    const input = element('input', {type: 'radio', name, value: option.key, checked: i === 0 ? '' : null});
    input.addEventListener('change', () => choose(option));
    return element('label', null, input, element('span', null, option.name));
  };
  return element('fieldset', null, element('legend', null, label), options.map(button));
}

/* Broken between options, with the backslashes that a shell wants. */
function wrapCommand(command) {
  const lines = [''];
  for (const word of command.split(/ (?=--)/)) {
    const line = lines[lines.length - 1];
    if (line && line.length + word.length > 70)
      lines.push(`    ${word}`);
    else
      lines[lines.length - 1] = line ? `${line} ${word}` : word;
  }
  return lines.join(' \\\n');
}

/* The commands of a group that make a figure again. */
function commandsOf(group) {
  const lines = [...group.sweeps.map((sweep) => sweep.command), report.command];
  const read = lines.some((line) => line.includes(' --data D '));
  return element('details', null, element('summary', null, 'The commands that make this figure again'),
    element('pre', null, lines.map(wrapCommand).join('\n')),
    read ? element('p', {class: 'note'}, `D: the folder of ${group.data}`) : null);
}

function makePanel(panel, file) {
  return element('div', null, panel.title ? element('h3', null, panel.title) : null, panel.svg,
    saveButton(panel.svg, file));
}

/*
 * A figure: draw(width) gives {panels: [{title, svg}], columns, caption}, and is asked again by again(width) when the
 * page has another width or something else is chosen. list: what the legend names; caveats: sentences.
 */
function makeFigure(group, name, title, {draw, controls = [], list = [], caveats = []}) {
  const panels = element('div', {class: 'panels'}), caption = element('p', {class: 'note'});
  const sentences = element('ul', {class: 'caveats'}, caveats.map((words) => element('li', null, words)));
  const figure = element('figure', {class: name}, element('h2', null, title),
    element('div', {class: 'controls'}, controls), list.length > 1 ? legend(list) : null, panels,
    element('figcaption', null, caption, sentences, commandsOf(group)));
  const again = (width) => {
    const drawn = draw(width || figure.clientWidth);
    panels.style.gridTemplateColumns = `repeat(${drawn.columns || 1}, minmax(0, 1fr))`;
    panels.replaceChildren(...drawn.panels.map((panel) => makePanel(panel, `${group.recipe}-${name}`)));
    caption.textContent = drawn.caption || '';
  };
  figures.push(again);
  return {figure, again};
}

/* Sentences of the sweeps of a group, each with its sweep where there are several. */
function sweepSentences(group, key) {
  return group.sweeps.flatMap(
    (sweep) => sweep[key].map((words) => (group.sweeps.length > 1 ? `${sweep.label}: ${words}` : words)));
}
