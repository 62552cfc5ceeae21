/* --- elements.js: parts of the page. Text only ever gets in as text, whatever it says. --- */

const SVG = 'http://www.w3.org/2000/svg';

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {}))
    if (value !== null && value !== undefined) node.setAttribute(key, value);
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

/* element('p', {class: 'note'}, 'words', another): null children are left out. */
function element(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function svg(name, attributes, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

/* Width of a text in a figure, in its units. */
const ruler = document.createElement('canvas').getContext('2d');
ruler.font = '12.5px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
function textWidth(text) {
  return ruler.measureText(text).width;
}

/* --- numbers for people --- */

function whole(x) {
  return Math.round(x).toLocaleString('en-US');
}

/* Three digits that matter: 1,234,567; 45.2; 0.00123. */
function short(x) {
  if (x === 0 || Math.abs(x) >= 100) return whole(x);
  return Math.abs(x) < 1e-4 ? x.toExponential(2) : String(Number(x.toPrecision(3)));
}

function percent(fraction) {
  return (100 * fraction).toFixed(1);
}

function isNumber(x) {
  return typeof x === 'number' && isFinite(x);
}

function mean(values) {
  return values.length ? values.reduce((sum, x) => sum + x, 0) / values.length : NaN;
}

function counted(n, word) {
  return `${whole(n)} ${word}${n === 1 ? '' : 's'}`;
}
