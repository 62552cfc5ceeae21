/* --- save.js: a figure as a file of its own. --- */

const STYLES = [
  'fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-linejoin', 'paint-order', 'opacity', 'font-family',
  'font-size', 'text-anchor'
];

/* A colour as every program that reads SVG knows it: "#a04700", where a browser has color(srgb ...). */
function plainColour(colour) {
  if (!colour.startsWith('color(')) return colour;
  const parts = colour.match(/[\d.]+(e-\d+)?/g).slice(0, 3);
  return '#' + parts.map((part) => Math.round(255 * part).toString(16).padStart(2, '0')).join('');
}

/* The names that do not stand at the ends of lines, in rows below the chart. */
function legendBelow(chart) {
  const {width, height} = chart.viewBox.baseVal, rows = chart.unnamed.map((series, i) => {
    const sample = fill(swatch(series), {x: 8, y: height + 18 * i, width: 44, height: 14}, []);
    return svg('g', null, sample, svg('text', {x: 60, y: height + 18 * i + 11}, series.name));
  });
  return {rows, width, height: height + 18 * rows.length + (rows.length ? 6 : 0)};
}

/* The figure as a file of its own, in the colours of paper whatever those of the screen are. */
function standalone(chart) {
  const {rows, width, height} = legendBelow(chart);
  document.documentElement.classList.add('on-paper');
  chart.append(...rows);
  const copy = chart.cloneNode(true), originals = [chart, ...chart.querySelectorAll('*')];
  [copy, ...copy.querySelectorAll('*')].forEach((node, i) => {
    const style = getComputedStyle(originals[i]);
    for (const name of STYLES) node.style.setProperty(name, plainColour(style.getPropertyValue(name)));
    node.removeAttribute('class');
  });
  rows.forEach((row) => row.remove());
  document.documentElement.classList.remove('on-paper');
  fill(copy, {xmlns: SVG, viewBox: `0 0 ${width} ${height}`, height}, []);
  copy.style.background = 'white';
  return new XMLSerializer().serializeToString(copy);
}

function saveButton(chart, name) {
  const button = element('button', {type: 'button', class: 'save'}, 'Save as SVG');
  button.addEventListener('click', () => {
    const link = element('a',
      {href: URL.createObjectURL(new Blob([standalone(chart)], {type: 'image/svg+xml'})), download: `${name}.svg`});
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  return button;
}
