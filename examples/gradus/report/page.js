/* --- page.js: the page. --- */

const report = JSON.parse(document.getElementById('data').textContent);

/* The different values of a key in the rows of a group. */
function valuesOf(group, key) {
  return [...new Set(group.sweeps.flatMap((sweep) => sweep.rows)
                       .map((row) => row[key])
                       .filter((value) => value !== null && value !== undefined))];
}

/* "A, B", or "" of none; before and after: around them. */
function listed(values, before = '', after = '') {
  return values.length ? before + values.join(', ') + after : '';
}

function facts(group) {
  const rows = group.sweeps.flatMap((sweep) => sweep.rows), done = rows.filter((row) => row.state === 'done').length;
  const constant = rows.filter((row) => row.constant).length, dates = valuesOf(group, 'date').sort();
  const hash = group.protocol.data_hash ? `, hash ${group.protocol.data_hash}` : '';
  const list = {
    data: `${group.data}${hash}; ${whole(group.test_samples)} test samples`,
    folders: listed(group.sweeps.map((sweep) => sweep.folder)),
    runs: `${rows.length}, ${done === rows.length ? 'all' : done} done` +
      (constant ? `, ${constant} of them with the constant answer` : ''),
    'made by': `Gradus ${listed(valuesOf(group, 'version'))}${listed(valuesOf(group, 'commit'), ' (', ')')}`,
    on: listed(['processor', 'device', 'isa'].flatMap((key) => valuesOf(group, key))),
    between: dates.length ? `${dates[0]} and ${dates[dates.length - 1]}` : '',
  };
  const there = Object.entries(list).filter(([, words]) => words);
  return element('dl', {class: 'facts'},
    there.flatMap(([name, words]) => [element('dt', null, name), element('dd', null, words)]));
}

/* Settings in which the sweeps of a group differ. */
function differences(group) {
  const keys = [...new Set(group.sweeps.flatMap((sweep) => Object.keys(sweep.protocol)))];
  const value = (sweep, key) => JSON.stringify(sweep.protocol[key] ?? undefined) ?? 'not set';
  const values = (key) => listed(group.sweeps.map((sweep) => `${sweep.label}: ${value(sweep, key)}`), ' (', ')');
  const differing = keys.filter((key) => new Set(group.sweeps.map((sweep) => value(sweep, key))).size > 1);
  return differing.length ?
    element('p', null, `The sweeps differ in ${differing.map((key) => key + values(key)).join('; ')}.`) :
    null;
}

function oddities(group) {
  if (!group.oddities.length) return [];
  const list = group.oddities.map((words) => element('li', null, words));
  return [element('h2', null, 'To keep in mind of the publication'), element('ul', {class: 'caveats note'}, list)];
}

const SOURCES = 'Of the last epoch in which each was measured. Noise scale: McCandlish et al. 2018; sharpness: ' +
  'Keskar et al. 2017.';

function section(group) {
  const drawn = group.data === 'procedural' ? 'Built-in pictures drawn by formula, not the real data.' : null;
  return element('section', null, element('h1', null, group.recipe),
    element('p', {class: 'lead'}, `${group.title}. After: ${group.source}.`),
    drawn && element('p', {class: 'warning'}, drawn), facts(group), differences(group), accuracyFigure(group),
    curvesFigure(group),
    metricsFigure(group, 'machine', 'Speed and memory', MACHINE, sweepSentences(group, 'machine')),
    metricsFigure(group, 'landscape', 'Noise and sharpness', LANDSCAPE, [SOURCES]), meansTable(group),
    runsTable(group), oddities(group));
}

function drawAll(width) {
  for (const again of figures) again(width);
}

function showReport() {
  const groups = makeGroups(report.sweeps), page = document.getElementById('page');
  document.title = `${[...new Set(groups.map((group) => group.recipe))].join(', ')} - Gradus report`;
  page.replaceChildren(...groups.map(section),
    element('footer', null, `Made by gradus report ${report.version}, ${report.date}. This page fetches nothing.`));
  drawAll();
}

/* On paper figures are drawn for its width, and the commands are shown. */
function forPaper(on) {
  for (const details of document.querySelectorAll('details')) details.open = on;
  drawAll(on ? 680 : 0);
}

let waiting = 0;
window.addEventListener('resize', () => {
  cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(() => drawAll());
});
window.addEventListener('beforeprint', () => forPaper(true));
window.addEventListener('afterprint', () => forPaper(false));
showReport();
