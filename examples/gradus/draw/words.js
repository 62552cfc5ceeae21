/* words.js - numbers and shapes for people. */

function escape(text) {
  return String(text).replace(/[&<>"]/g, c => `&#${c.charCodeAt(0)};`);
}

/* "75.5 M" */
function short(number, step = 1000, units = ["", " k", " M", " G", " T"]) {
  let unit = 0;
  for (; number >= step && unit < units.length - 1; unit++)
    number /= step;
  return `${unit && number < 100 ? number.toFixed(1) : Math.round(number)}${units[unit]}`;
}

function bytes(number) {
  return short(number, 1024, [" B", " KiB", " MiB", " GiB", " TiB"]);
}

/* "1.25 ms" */
function milliseconds(ms) {
  return ms < 0.0995 ? `${(1000 * ms).toPrecision(2)} µs` : `${ms < 99.5 ? ms.toPrecision(3) : Math.round(ms)} ms`;
}

function shape(sizes) {
  return sizes.join(" × ");
}

/* The kind of an operation, which gives it its colour. */
function family(op) {
  return /conv|dense|matmul/.test(op) ? "product" : /norm/.test(op) ? "normal" : /pool/.test(op) ? "pool" : "other";
}
