/* memory.js - the chosen warp: its lanes, the sectors of global memory or the banks of shared memory that they want. */

function laneColour(lane) {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  return `hsl(${205 + 4.6 * lane} ${dark ? 75 : 62}% ${dark ? 68 : 44}%)`;
}

function draw(tag, attributes, text, title) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes))
    element.setAttribute(name, value);
  if (text !== undefined)
    element.textContent = text;
  if (title !== undefined)
    element.append(draw("title", {}, title));
  return element;
}

/* A cell with a short text in its middle. */
function drawCell(svg, x, y, width, height, fill, text, className, title) {
  svg.append(draw("rect", {x, y, width, height, rx: 2, fill}, undefined, title));
  if (text === "" || width < 9)
    return;
  const size = Math.min(10, 1.5 * width / String(text).length, height);
  svg.append(draw("text", {x: x + width / 2, y: y + height / 2, "text-anchor": "middle", class: className,
                           "dominant-baseline": "central", "pointer-events": "none", "font-size": size}, text));
}

function panel(title, width, height) {
  const box = document.getElementById("memory"), heading = document.createElement("h2");
  heading.textContent = title;
  const svg = draw("svg", {width, height, role: "img", "aria-label": title});
  box.append(heading, svg);
  return svg;
}

/* --- lanes ------------------------------------------------------------------------------------------------------- */

function drawLanes(event) {
  const box = document.getElementById("lanes"), cells = [];
  for (let lane = 0; lane < LANES; lane++) {
    const cell = document.createElement("span"), thread = threadOf(player.warp, lane);
    const on = thread !== undefined && (event.lanes ? event.lanes.includes(lane) : event.kind === "barrier");
    cell.textContent = thread === undefined ? "" : lane;
    cell.className = on ? "on" : "";
    cell.style.background = on ? laneColour(lane) : "";
    cell.title = thread === undefined ? "no thread" :
      `thread ${thread}${on && event.offset ? `: ${nameOf(event.object)} + ${event.offset[lane]} bytes` : ""}`;
    cells.push(cell);
  }
  box.replaceChildren(...cells);
}

/* --- global memory ------------------------------------------------------------------------------------------------ */

function drawSector(svg, words, sector, x, y, cell, height) {
  const touched = Array.from({length: SECTOR / WORD}, (_, i) => words.get(sector * SECTOR / WORD + i));
  const any = touched.some(lanes => lanes);
  svg.append(draw("rect", {x: x - 1, y: y - 1, width: 8 * cell + 1, height: height + 2, rx: 3, fill: "none",
                           stroke: any ? "var(--global)" : "var(--rule)", "stroke-width": any ? 1.5 : 1}));
  touched.forEach((lanes, i) => {
    const text = !lanes ? "" : lanes.length === 1 ? lanes[0] : `×${lanes.length}`;
    drawCell(svg, x + i * cell + 0.5, y + 0.5, cell - 1, height - 1, lanes ? laneColour(lanes[0]) : "var(--idle)",
             height < 12 ? "" : text, "lane", lanes && `lanes ${ranges(lanes)}`);
  });
}

/* Rows of 128 bytes, or of 64 where there is no room, with what stands between them left out. */
function drawSectors(event, width) {
  const words = wordsOf(event), perRow = width < 480 ? 2 : 4, label = 70, gap = 4;
  const rows = [...new Set([...words.keys()].map(w => Math.floor(w * WORD / SECTOR / perRow)))].sort((a, b) => a - b);
  const height = rows.length <= 8 ? 20 : rows.length <= 16 ? 15 : 9;
  const cell = Math.min(22, (width - label - perRow * gap) / (perRow * 8));
  const svg = panel(`${nameOf(event.object)}: sectors of 32 bytes, lanes in their words`, width,
                    rows.length * (height + 5) + 4);
  rows.forEach((row, i) => {
    const y = 2 + i * (height + 5), offset = row * perRow * SECTOR - data.objects[event.object][2];
    svg.append(draw("text", {x: label - 8, y: y + height / 2 + 3.5, "text-anchor": "end"}, `+ ${Math.max(0, offset)}`));
    for (let s = 0; s < perRow; s++)
      drawSector(svg, words, row * perRow + s, label + s * (8 * cell + gap), y, cell, height);
  });
}

/* --- shared memory ------------------------------------------------------------------------------------------------ */

/* The banks from first on, a column each; a turn in a row. Nothing where nobody wants anything of them. */
function drawTurns(group, event, first, banks, width) {
  const turns = Math.max(...group.bank.slice(first, first + banks).map(b => b.length));
  if (!turns)
    return;
  const label = 52, cell = Math.min(24, (width - label) / banks);
  const room = Math.max(200, document.getElementById("memory").clientHeight - 50);
  const height = Math.max(8, Math.min(20, room / turns - 2));
  const who = group.end - group.first === LANES ? "" : `, lanes ${group.first}-${group.end - 1}`;
  const svg = panel(`${nameOf(event.object)}: banks ${first}-${first + banks - 1}${who}, lanes in their turns`, width,
                    16 + turns * (height + 2));
  for (let b = 0; b < banks; b++)
    if (cell >= 14 || b % 4 === 0)
      svg.append(draw("text", {x: label + (b + 0.5) * cell, y: 10, "text-anchor": "middle"}, first + b));
  for (let turn = 0; turn < turns; turn++) {
    const y = 15 + turn * (height + 2);
    svg.append(draw("text", {x: label - 6, y: y + height / 2 + 3.5, "text-anchor": "end"}, `turn ${turn + 1}`));
    for (let b = 0; b < banks; b++)
      drawBank(svg, group.bank[first + b][turn], event, label + b * cell, y, cell, height, turn);
  }
}

function drawBank(svg, wanted, event, x, y, cell, height, turn) {
  if (!wanted) {
    drawCell(svg, x + 0.5, y, cell - 1, height, "var(--idle)", "", "");
    return;
  }
  const [word, lanes] = wanted, offset = word * WORD - data.objects[event.object][2];
  drawCell(svg, x + 0.5, y, cell - 1, height, turn ? "var(--conflict)" : "var(--shared)",
           lanes.length === 1 ? lanes[0] : `×${lanes.length}`, "on",
           `${nameOf(event.object)} + ${offset} bytes: ${lanes.length === 1 ? "lane" : "lanes"} ${ranges(lanes)}`);
}

function drawBanks(event, width) {
  const columns = width < 480 ? BANKS / 2 : BANKS;
  for (const group of turnsOf(event))
    for (let first = 0; first < BANKS; first += columns)
      drawTurns(group, event, first, columns, width);
}

/* --- who is at a barrier ------------------------------------------------------------------------------------------ */

function drawBarrier(event, step, width) {
  const columns = Math.min(16, Math.floor(width / 44)), rows = Math.ceil(event.warps.length / columns);
  const svg = panel("how many steps each warp waited here", width, rows * 40 + 4), cell = Math.min(56, width / columns);
  const waits = event.warps.map(w => {
    const before = step > 0 ? eventAt(w, step - 1) : {};
    return before.kind === "wait" ? before.until - before.since : 0;
  });
  const most = Math.max(1, ...waits);
  event.warps.forEach((w, i) => {
    const x = i % columns * cell, y = 2 + Math.floor(i / columns) * 40, high = 18 * waits[i] / most;
    drawCell(svg, x + 2, y + 18 - high, cell - 6, high, "var(--wait)", "", "");
    svg.append(draw("text", {x: x + cell / 2 - 1, y: y + 30, "text-anchor": "middle"}, `w${w}: ${waits[i]}`));
  });
}

function drawStage() {
  const event = eventAt(player.warp, player.step), box = document.getElementById("memory");
  const width = Math.max(240, box.clientWidth - 16);
  document.getElementById("caption").innerHTML = tell(player.warp, player.step);
  drawLanes(event);
  box.replaceChildren();
  if (event.shared === true)
    drawBanks(event, width);
  else if (event.shared === false)
    drawSectors(event, width);
  else if (event.kind === "barrier")
    drawBarrier(event, player.step, width);
  else if (event.kind === "wait")
    drawBarrier(eventAt(player.warp, event.until), event.until, width);
}
