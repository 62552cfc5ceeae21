/* graph.js - the rows of the tape, and to their left which result goes where. */

const data = JSON.parse(document.getElementById("data").textContent);
const layers = data.layers, INPUT = -1, LANE = 11, FIRST = 12;

/* Every [from, to]; INPUT stands for the pictures. */
const edges = layers.flatMap((layer, to) => layer.inputs.map(from => [from, to]));

/* Edges to the next row go straight; the others get lanes, in which no two overlap. */
function lanesOf() {
  const ends = [], lane = new Map();
  for (const [from, to] of edges.filter(([from, to]) => to > from + 1)) {
    let i = ends.findIndex(end => end <= from);
    i = i < 0 ? ends.length : i;
    ends[i] = to;
    lane.set(`${from},${to}`, i + 1);
  }
  return {lane, count: ends.length};
}

const {lane: lanes, count: laneCount} = lanesOf();
const centre = FIRST + LANE * laneCount;

/* --- the table --------------------------------------------------------------------------------------------------- */

function bar(kind, value, most, text) {
  const line = value ? `<i style="width:${100 * value / most}%"></i>` : "";
  return `<td class="bar ${kind}" data-what="${kind}">${text}${line}</td>`;
}

function row(layer, most, index) {
  const element = document.createElement("tr");
  element.className = "layer";
  element.tabIndex = 0;
  element.innerHTML =
    `<td><span class="name">${escape(layer.name)}</span> <span class="op">${escape(layer.op)}</span></td>` +
    `<td>${shape(layer.output)}</td><td class="parameters">${layer.parameters.toLocaleString("en")}</td>` +
    bar("forward", layer.flops_forward, most.flops, short(layer.flops_forward)) +
    bar("backward", layer.flops_backward, most.flops, short(layer.flops_backward)) +
    bar("kept", layer.bytes, most.bytes, bytes(layer.bytes));
  element.addEventListener("click", () => choose(index));
  element.addEventListener("focus", () => choose(index));
  return element;
}

function makeTable() {
  const table = document.getElementById("rows"), body = document.createElement("tbody");
  const flops = layers.flatMap(l => [l.flops_forward, l.flops_backward]);
  const most = {flops: Math.max(...flops), bytes: Math.max(...layers.map(l => l.bytes))};
  table.innerHTML = "<thead><tr><th>layer, operation</th><th>output</th><th>parameters</th>" +
                    "<th>forward</th><th>backward</th><th>kept</th></tr></thead>";
  const input = document.createElement("tr"), total = document.createElement("tr");
  input.innerHTML = `<td><span class="name">pictures</span></td><td>${shape(data.input)}</td>` +
                    '<td class="parameters"></td><td></td><td></td><td></td>';
  total.className = "total";
  total.innerHTML = `<td>total</td><td></td><td class="parameters">${data.parameters.toLocaleString("en")}</td>` +
                    `<td>${short(data.flops_forward)}</td><td>${short(data.flops_backward)}</td>` +
                    `<td>${bytes(data.bytes_per_sample)}</td>`;
  body.append(input, ...layers.map((layer, i) => row(layer, most, i)), total);
  table.append(body);
  document.documentElement.style.setProperty("--gutter", `${centre + 16}px`);
}

/* --- edges -------------------------------------------------------------------------------------------------------- */

function draw(tag, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes))
    element.setAttribute(name, value);
  return element;
}

/* Where a layer's node is: in the middle of its row. INPUT: that of the pictures. */
function middle(layer) {
  const element = document.getElementById("rows").tBodies[0].rows[layer + 1];
  return element.offsetTop + element.offsetHeight / 2;
}

function path(from, to) {
  const y = middle(from), end = middle(to), lane = lanes.get(`${from},${to}`);
  if (!lane)
    return `M${centre} ${y}V${end}`;
  const x = centre - lane * LANE, turn = Math.min(12, (end - y) / 2);
  return `M${centre} ${y}C${x} ${y} ${x} ${y} ${x} ${y + turn}V${end - turn}C${x} ${end} ${x} ${end} ${centre} ${end}`;
}

function drawEdges(chosen) {
  const svg = document.getElementById("edges"), table = document.getElementById("rows");
  svg.setAttribute("width", centre + 12);
  svg.setAttribute("height", table.offsetHeight);
  svg.replaceChildren();
  for (const [from, to] of edges)
    svg.append(draw("path", {d: path(from, to), class: from === chosen || to === chosen ? "on" : ""}));
  for (let i = INPUT; i < layers.length; i++)
    svg.append(draw("circle", {cx: centre, cy: middle(i), r: 5, stroke: "var(--ground)", "stroke-width": 1.5,
                               fill: i === INPUT ? "var(--ink)" : `var(--${family(layers[i].op)})`}));
}

/* --- the chosen layer --------------------------------------------------------------------------------------------- */

function nameOf(layer) {
  return layer === INPUT ? "pictures" : layers[layer].name;
}

function share(part, all) {
  return all ? ` (${(100 * part / all).toFixed(1)} %)` : "";
}

function tell(index) {
  const layer = layers[index], next = edges.filter(([from]) => from === index).map(([, to]) => nameOf(to));
  const lines = {
    operation: layer.op,
    takes: layer.inputs.map(nameOf).join(", "),
    gives: `${shape(layer.output)}${next.length ? `, to ${next.join(", ")}` : ", the answer"}`,
    parameters: layer.parameters.toLocaleString("en") + share(layer.parameters, data.parameters),
    forward: short(layer.flops_forward) + share(layer.flops_forward, data.flops_forward),
    backward: short(layer.flops_backward) + share(layer.flops_backward, data.flops_backward),
    kept: `${bytes(layer.bytes)}${share(layer.bytes, data.bytes_per_sample)}, ` +
          `${bytes(layer.bytes * data.batch)} at batch size ${data.batch}`,
  };
  document.getElementById("detail").innerHTML = `<h2>${escape(layer.name)}</h2><dl>` +
    Object.entries(lines).map(([what, text]) => { /* shown: in the row already, where there is little room */
      const shown = ["takes", "gives", "parameters"].includes(what) ? "" : ' class="shown"';
      return `<dt${shown}>${what}</dt><dd${shown}>${escape(text)}</dd>`;
    }).join("") + "</dl>";
}

function choose(index) {
  const neighbours = new Set(edges.filter(e => e.includes(index)).flat());
  document.querySelectorAll("#rows tr.layer").forEach((element, i) => {
    element.classList.toggle("chosen", i === index);
    element.classList.toggle("neighbour", i !== index && neighbours.has(i));
  });
  drawEdges(index);
  tell(index);
  choose.now = index;
}

function onKey(event) {
  const by = {ArrowDown: 1, ArrowUp: -1}[event.key];
  if (!by)
    return;
  event.preventDefault();
  const next = Math.min(layers.length - 1, Math.max(0, choose.now + by));
  document.querySelectorAll("#rows tr.layer")[next].focus();
}

function tellTotals() {
  return `<b>${data.parameters.toLocaleString("en")}</b> parameters &middot; <b>${short(data.flops_forward)}</b> ` +
         `operations forward, <b>${short(data.flops_backward)}</b> backward &middot; ` +
         `<b>${bytes(data.bytes_per_sample)}</b> kept a sample &middot; training with ${escape(data.optimizer)} in ` +
         `${escape(data.precision)} at batch size ${data.batch} takes <b>${bytes(data.peak_bytes)}</b>`;
}

function start() {
  document.title = `${data.recipe} - gradus draw`;
  document.getElementById("recipe").textContent = data.recipe;
  document.getElementById("totals").innerHTML = tellTotals();
  makeTable();
  addEventListener("resize", () => drawEdges(choose.now));
  document.addEventListener("keydown", onKey);
  choose(layers.reduce((best, l, i) => l.flops_forward > layers[best].flops_forward ? i : best, 0));
}

start();
