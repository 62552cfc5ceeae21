/* theatre_picture.js - what a page of gradus theatre draws, as text, for test_theatre.py: node theatre_picture.js PAGE
   STEP WARP. The page's own script runs on a stand-in for a browser, 1000 pixels wide, that keeps what is drawn. */
"use strict";
const fs = require("fs"), vm = require("vm");
const [page, step, warp] = process.argv.slice(2), text = fs.readFileSync(page, "utf8");
const [, data, script] = /id="data">(.*?)<\/script>\s*<script>(.*?)<\/script>/s.exec(text);

/* --- the stand-in: elements that know their children and attributes, a canvas that knows its rectangles ----------- */

class Element {
  constructor(tag) {
    Object.assign(this, {tag, children: [], attributes: {}, style: {}, dataset: {}, listeners: {}, rectangles: [],
                         textContent: "", innerHTML: "", clientWidth: 1000, clientHeight: 400,
                         offsetTop: 0, scrollTop: 0});
    this.classList = {add() {}, toggle() {}};
  }
  append(...parts) { this.children.push(...parts); }
  replaceChildren(...parts) { this.children = parts; }
  setAttribute(name, value) { this.attributes[name] = value; }
  addEventListener() {}
  getContext() { return new Pen(this); }
  get parentElement() { return new Element("div"); }
  get tBodies() { return [this]; }
  insertRow() { const row = new Element("tr"); row.cells = [new Element("td"), new Element("td")]; return row; }
}

class Pen {
  constructor(canvas) { this.canvas = canvas; }
  fillRect(x, y, width, height) { this.canvas.rectangles.push({x, y, width, height, fill: this.fillStyle}); }
  drawImage(picture) { this.canvas.rectangles = picture.rectangles; }
  scale() {} setTransform() {} clearRect() {} strokeRect() {}
}

const named = new Map(), document = {
  documentElement: new Element("html"),
  getElementById: id => named.get(id) || named.set(id, new Element(id)).get(id),
  createElement: tag => new Element(tag), createElementNS: (_, tag) => new Element(tag),
  querySelectorAll: () => [], addEventListener() {},
};
document.getElementById("data").textContent = data;
vm.runInNewContext(script, {
  document, URLSearchParams, location: {hash: `#step=${step}&warp=${warp}`}, devicePixelRatio: 1,
  matchMedia: () => ({matches: false, addEventListener() {}}), addEventListener() {},
  getComputedStyle: () => ({getPropertyValue: name => name.slice(2)}),
});

/* --- from pixels to characters ------------------------------------------------------------------------------------ */

/* Marks of {x, y, text}, by their middles: a line for all within 6 pixels of height, a column for so many pixels. */
function lines(marks, pixels) {
  const rows = [];
  for (const mark of [...marks].sort((a, b) => a.y - b.y || a.x - b.x)) {
    if (!rows.length || mark.y - rows[rows.length - 1].y > 6)
      rows.push({y: mark.y, text: ""});
    const row = rows[rows.length - 1], at = Math.max(0, Math.round(mark.x / pixels - mark.text.length / 2));
    row.text = row.text.padEnd(at).slice(0, at) + mark.text + row.text.slice(at + mark.text.length);
  }
  return rows.map(row => row.text.trimEnd());
}

/* A lane's cell is three characters wide; one without a text is a dot, or # where it has a colour. */
function picture(svg) {
  const drawn = svg.children.map(c => ({...c.attributes, tag: c.tag, text: c.textContent}));
  const outside = drawn.filter(c => c.x < 0 || c.y < 0 || c.x + (c.width || 0) > svg.attributes.width ||
                                    c.y + (c.height || 0) > svg.attributes.height);
  const cells = drawn.filter(c => c.tag === "rect" && c.fill !== "none" && c.height > 0);
  const pixels = Math.min(8, (Math.min(...cells.map(c => c.width)) + 1) / 3);
  const blanks = cells.map(c => ({x: c.x + c.width / 2, y: c.y + c.height / 2,
                                  text: c.fill === "var(--idle)" ? "." : "#"}));
  const texts = drawn.filter(c => c.tag === "text").map(c => ({
    x: c.x - (c["text-anchor"] === "end" ? String(c.text).length * pixels / 2 : 0), y: c.y, text: String(c.text)}));
  return [svg.attributes["aria-label"], ...lines([...blanks, ...texts], pixels),
          ...outside.map(c => `outside: ${c.tag} ${c.text}`)];
}

/* A row for each warp, a character for each step. */
function tracks(canvas, steps) {
  const letters = {global: "g", shared: "s", conflict: "c", atomic: "a", meet: "m", wait: "-", ink: "|"};
  const marks = canvas.rectangles.map(r => ({x: r.x + r.width / 2, y: r.y + r.height / 2, text: letters[r.fill]}));
  return lines(marks, 1000 / steps);
}

const steps = Number(document.getElementById("step").textContent.split(" ").pop());
for (const svg of document.getElementById("memory").children.filter(e => e.tag === "svg"))
  console.log(picture(svg).join("\n"));
console.log(["timeline", ...tracks(document.getElementById("tracks"), steps)].join("\n"));
