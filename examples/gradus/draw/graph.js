/* graph.js - the rows of the tape, and to their left which result goes where. */

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

/* All passes of a layer, in ms; 0: it has none, or no profile tells. */
function timeOf(layer) {
  return Object.values(layer.times ?? {}).reduce((sum, ms) => sum + ms, 0);
}

/* Forward, backward and update, one after the other in one bar. */
function timeBar(layer, most) {
  const time = timeOf(layer), parts = ["forward", "backward", "update"].filter(pass => layer.times?.[pass]);
  const line = parts.map(pass => `<i class="${pass}" style="width:${100 * layer.times[pass] / most}%"></i>`).join("");
  const words = time ? ["time", milliseconds(time)] : ["", ""];
  return `<td class="bar time" data-what="${words[0]}">${words[1]}<span>${line}</span></td>`;
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
    bar("kept", layer.bytes, most.bytes, bytes(layer.bytes)) + (data.profile ? timeBar(layer, most.time) : "");
  element.addEventListener("click", () => choose(index));
  element.addEventListener("focus", () => choose(index));
  return element;
}

function makeTable() {
  const table = document.getElementById("rows"), body = document.createElement("tbody");
  const flops = layers.flatMap(l => [l.flops_forward, l.flops_backward]);
  const most = {flops: Math.max(...flops), bytes: Math.max(...layers.map(l => l.bytes)),
                time: Math.max(...layers.map(timeOf))};
  const timed = text => data.profile ? text : "";
  table.innerHTML = "<thead><tr><th>layer, operation</th><th>output</th><th>parameters</th>" +
                    `<th>forward</th><th>backward</th><th>kept</th>${timed("<th>time</th>")}</tr></thead>`;
  const input = document.createElement("tr"), total = document.createElement("tr");
  input.innerHTML = `<td><span class="name">pictures</span></td><td>${shape(data.input)}</td>` +
                    `<td class="parameters"></td><td></td><td></td><td></td>${timed("<td></td>")}`;
  total.className = "total";
  total.innerHTML = `<td>total</td><td></td><td class="parameters">${data.parameters.toLocaleString("en")}</td>` +
                    `<td>${short(data.flops_forward)}</td><td>${short(data.flops_backward)}</td>` +
                    `<td>${bytes(data.bytes_per_sample)}</td>` +
                    timed(`<td class="time">${data.profile && milliseconds(data.profile.layers)}</td>`);
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

/* "forward 0.21 ms, backward 0.43 ms (12.0 % of an update)" */
function tellTime(layer) {
  const passes = Object.entries(layer.times ?? {}).map(([pass, ms]) => `${pass} ${milliseconds(ms)}`);
  return passes.length ? `${passes.join(", ")}${share(timeOf(layer), data.profile.ms)}` : "none of its own";
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
  if (data.profile)
    lines.time = tellTime(layer);
  const panel = document.getElementById("detail");
  panel.innerHTML = `<h2>${escape(layer.name)}</h2><dl>` +
    Object.entries(lines).map(([what, text]) => { /* shown: in the row already, where there is little room */
      const shown = ["takes", "gives", "parameters"].includes(what) ? "" : ' class="shown"';
      return `<dt${shown}>${what}</dt><dd${shown}>${escape(text)}</dd>`;
    }).join("") + "</dl>";
  showSheets(layer, panel, () => tell(index));
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
         `${escape(data.precision)} at batch size ${data.batch} takes <b>${bytes(data.peak_bytes)}</b>` + tellProfile();
}

/* The layers' share of an update that was profiled; the rest is the loss', the optimizer's and the data's. */
function tellProfile() {
  const p = data.profile;
  return p ? ` and <b>${milliseconds(p.ms)}</b> an update, ${milliseconds(p.layers)} of it in layers (mean of ` +
             `${p.updates}, ${escape(p.device)} ${escape(p.isa)}, threads: ${p.threads})` : "";
}

function start() {
  document.title = `${data.recipe} - gradus draw`;
  document.getElementById("recipe").textContent = data.recipe;
  document.getElementById("totals").innerHTML = tellTotals();
  document.body.classList.toggle("trained", Boolean(data.weights));
  makeTable();
  addEventListener("resize", () => drawEdges(choose.now));
  document.addEventListener("keydown", onKey);
  if (data.weights)
    showMistakes();
  choose(layers.reduce((best, l, i) => l.flops_forward > layers[best].flops_forward ? i : best, 0));
}

start();
