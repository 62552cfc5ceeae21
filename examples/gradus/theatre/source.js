/* source.js - the source, with what each line asked of the memories, and where the warps are. */

const source = {file: null, rows: new Map()};

/* For each site's file and line: requests, sectors, turns beyond the first. */
function sumLines() {
  const sums = new Map();
  for (const e of scene.track.flat()) {
    if (e.shared === undefined)
      continue;
    const key = data.sites[e.site].join(":"), sum = sums.get(key) || {requests: 0, sectors: 0, turns: 0, shared: false};
    sum.requests++, sum.shared ||= e.shared;
    sum.sectors += e.shared ? 0 : e.cost, sum.turns += e.shared ? e.cost : 0;
    sums.set(key, sum);
  }
  return sums;
}

const sums = sumLines();

/* Cells of a line's sums. */
function sumCells(sum) {
  if (!sum)
    return '<td class="sectors"></td><td class="turns"></td>';
  const lines = `title="${count(sum.requests, "request")} by this block's warps"`;
  return `<td class="sectors" ${lines}>${sum.sectors || ""}</td>` +
         `<td class="turns" ${lines}>${sum.turns ? `+${sum.turns}` : ""}</td>`;
}

function showFile(file) {
  const lines = document.getElementById("lines"), text = data.sources[file];
  source.file = file;
  source.rows = new Map();
  lines.replaceChildren();
  for (const tab of document.querySelectorAll("#files button"))
    tab.setAttribute("aria-selected", tab.dataset.file === file);
  if (text === undefined) {
    lines.innerHTML = `<p>${escape(file)} could not be read when this page was made.</p>`;
    return;
  }
  const table = document.createElement("table");
  table.innerHTML = '<thead><tr><th></th><th></th><th class="sectors" title="sectors of global memory">sectors</th>' +
                    '<th class="turns" title="turns beyond the first, by bank conflicts">turns</th><th></th></tr>' +
                    '</thead><tbody></tbody>';
  text.replace(/\n$/, "").split("\n").forEach((line, i) => {
    const row = table.tBodies[0].insertRow(), sum = sums.get(`${file}:${i + 1}`);
    row.innerHTML = `<td class="number">${i + 1}</td><td class="here"></td>${sumCells(sum)}` +
                    `<td class="text">${escape(line)}</td>`;
    row.className = sum ? "used" : "";
    for (const kind of ["sectors", "turns"]) /* a column is there where something is in it */
      if (sum && sum[kind])
        table.classList.add(`with-${kind}`);
    row.addEventListener("click", () => goToLine(file, i + 1));
    source.rows.set(i + 1, row);
  });
  lines.append(table);
}

/* To the chosen warp's next step from a line, the first one if there is none behind. */
function goToLine(file, line) {
  const track = scene.track[player.warp], here = `${file}:${line}`;
  const is = e => e.shared !== undefined && data.sites[e.site].join(":") === here;
  let step = track.findIndex((e, i) => i > player.step && is(e));
  step = step < 0 ? track.findIndex(is) : step;
  if (step >= 0)
    show(step, player.warp);
}

function makeFiles() {
  const files = [...new Set(data.sites.map(s => s[0]))], tabs = document.getElementById("files");
  tabs.hidden = files.length < 2;
  for (const file of files) {
    const tab = document.createElement("button");
    tab.textContent = file.split("/").slice(-2).join("/");
    tab.dataset.file = file;
    tab.setAttribute("role", "tab");
    tab.addEventListener("click", () => showFile(file));
    tabs.append(tab);
  }
  if (files.length)
    showFile(files[0]);
}

/* Small bars, one for each warp that is at the line, at most eight. */
function markWarps(row, warps) {
  row.cells[1].innerHTML = warps.slice(0, 8).map(w => `<i${w === player.warp ? ' class="chosen"' : ""}></i>`).join("");
  row.cells[1].title = `warps ${ranges(warps)}`;
}

function drawSource() {
  const sites = scene.track.map((_, w) => eventAt(w, player.step).site);
  const here = sites[player.warp] === undefined ? null : data.sites[sites[player.warp]];
  if (here && here[0] !== source.file)
    showFile(here[0]);
  const warps = new Map();
  sites.forEach((site, w) => {
    if (site !== undefined && data.sites[site][0] === source.file)
      warps.set(data.sites[site][1], [...(warps.get(data.sites[site][1]) || []), w]);
  });
  for (const [line, row] of source.rows) {
    row.classList.toggle("now", here !== null && line === here[1]);
    if (warps.has(line) || row.cells[1].innerHTML)
      markWarps(row, warps.get(line) || []);
  }
  if (here)
    keepInView(source.rows.get(here[1]));
}

function keepInView(row) {
  const box = document.getElementById("lines"), margin = 40;
  if (!row)
    return;
  if (row.offsetTop < box.scrollTop + margin || row.offsetTop > box.scrollTop + box.clientHeight - 2 * margin)
    box.scrollTop = row.offsetTop - box.clientHeight / 2;
}
