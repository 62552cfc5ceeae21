/* words.js - what happens, in sentences. */

function escape(text) {
  return String(text).replace(/[&<>"]/g, c => `&#${c.charCodeAt(0)};`);
}

function count(n, one, many = one + "s") {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}

/* "0-3, 8" */
function ranges(numbers) {
  const parts = [];
  for (const n of numbers) {
    const last = parts[parts.length - 1];
    if (last && last[1] === n - 1)
      last[1] = n;
    else
      parts.push([n, n]);
  }
  return parts.map(([a, b]) => a === b ? `${a}` : `${a}-${b}`).join(", ");
}

/* Memory of cudaMalloc by the variable that its line of source names, if it names one. */
function nameOf(object) {
  const name = data.objects[object][0], at = /^the memory of the \w+ at (.*):(\d+)$/.exec(name);
  if (!at)
    return name;
  const line = (data.sources[at[1]] || "").split("\n")[at[2] - 1] || "";
  const variables = [...line.matchAll(/cuda\w*Alloc\w*\s*\(\s*(?:\([^)]*\)\s*)?&\s*(\w+)/gi)].map(m => m[1]);
  const same = data.objects.map((o, i) => i).filter(i => data.objects[i][0] === name);
  if (variables.length === 1 && same.length === 1)
    return variables[0];
  return same.length === 1 ? `memory of line ${at[2]}` : `memory ${same.indexOf(object) + 1} of line ${at[2]}`;
}

function share(part, all) {
  return `${Math.round(100 * part / all)} %`;
}

function tellGlobal(event) {
  const moved = event.cost * SECTOR, asked = new Set();
  for (const lane of event.lanes)
    for (let b = 0; b < event.bytes; b++)
      asked.add(event.offset[lane] + b);
  const used = asked.size, least = Math.ceil(used / SECTOR);
  const better = event.cost > least ? ` <span class="conflict">${count(least, "sector")} would do.</span>` : "";
  return `${count(event.cost, "sector")}: ${moved} bytes move, ${used} of them wanted (${share(used, moved)}).` +
         better;
}

function tellShared(event) {
  const groups = turnsOf(event), turns = groups.reduce((sum, g) => sum + g.turns, 0);
  if (!event.cost)
    return groups.length > 1 ? `No conflict: ${count(groups.length, "turn")}, as ${event.bytes} bytes a lane need.`
                             : "No conflict: one turn.";
  const worst = groups.reduce((a, b) => a.turns >= b.turns ? a : b);
  const banks = worst.bank.map((b, i) => b.length === worst.turns ? i : -1).filter(i => i >= 0);
  return `<span class="conflict">${count(turns, "turn")}: lanes want ${worst.turns} different words of ` +
         `${banks.length === 1 ? "bank" : "banks"} ${ranges(banks)}.</span>`;
}

const verbs = {r: "reads", w: "writes", a: "changes"}, prepositions = {r: "from", w: "to", a: "of"};

function tellAccess(event) {
  const idle = LANES - event.lanes.length;
  const who = idle ? `${count(event.lanes.length, "lane")} of 32` : "all 32 lanes";
  return `${verbs[event.how]} ${count(event.bytes, "byte")} a lane ${prepositions[event.how]} ` +
         `<b>${escape(nameOf(event.object))}</b> in ${event.shared ? "shared" : "global"} memory` +
         `${event.how === "a" ? ", by an atomic" : ""}; ${who}. ` +
         (event.shared ? tellShared(event) : tellGlobal(event));
}

function tellWait(event, step) {
  const late = scene.track.map((t, w) => w).filter(w => {
    const e = eventAt(w, step);
    return e.kind !== "wait" && e.kind !== "done" && w !== player.warp;
  });
  return `waits at the barrier of ${siteText(event.site)} for ${count(event.until - step, "more step")}: ` +
         `${late.length === 1 ? "warp" : "warps"} ${ranges(late)} ${late.length === 1 ? "is" : "are"} not there yet.`;
}

function isWhole() {
  return data.end && !data.end.fault && !data.end.left_out;
}

function tell(warp, step) {
  const event = eventAt(warp, step), begin = `<b>Warp ${warp}</b> `;
  if (event.kind === "done")
    return begin + (isWhole() ? "is through." : "did nothing more that is shown here.");
  if (event.kind === "wait")
    return begin + tellWait(event, step);
  if (event.kind === "barrier")
    return `${begin}is at a barrier, ${siteText(event.site)}: warps ${ranges(event.warps)} have come and go on ` +
           "together.";
  if (event.kind === "meet")
    return `${begin}meets in <b>${escape(event.name)}</b>: lanes ${ranges(event.lanes)} exchange registers, no memory.`;
  return begin + tellAccess(event);
}

function siteText(site) {
  const [file, line] = data.sites[site];
  return `${escape(file.split("/").pop())}:${line}`;
}

/* --- once ------------------------------------------------------------------------------------------------------- */

function tellTotals() {
  const sum = {sectors: 0, conflicts: 0, global: 0, shared: 0};
  for (const e of scene.track.flat()) {
    sum.global += e.shared === false, sum.shared += e.shared === true;
    sum.sectors += e.shared === false ? e.cost : 0, sum.conflicts += e.shared ? e.cost : 0;
  }
  return `global memory: <b>${count(sum.global, "request")}</b>, <b>${count(sum.sectors, "sector")}</b> &middot; ` +
         `shared memory: <b>${count(sum.shared, "request")}</b>, <b>${count(sum.conflicts, "extra turn")}</b> by ` +
         `conflicts &middot; <b>${count(scene.barriers.length, "barrier")}</b>`;
}

function tellNotice() {
  const end = data.end, parts = [];
  if (!end)
    parts.push("The program died within this block: what its warps did last is not here.");
  if (end && end.fault)
    parts.push("<b>Something is wrong in this block</b>, and it ends here:" +
               `<pre>${escape(end.fault.replaceAll("; ", "\n  ") + end.where)}</pre>`);
  if (end && end.left_out)
    parts.push(`This page was cut after ${count(data.events.length, "step")} of warps: the block did more than is ` +
               "shown (<code>--limit</code> says how much may be).");
  return parts.join("<br>");
}

function writeHead() {
  const s = data.scene, notice = tellNotice(), kernel = s.kernel.replace(/^\((.*)\)$/, "$1");
  const shape = v => v.filter((n, i) => i === 0 || v.slice(i).some(m => m > 1)).join(" &times; ");
  document.title = `${kernel}, block ${s.index} - gradus theatre`;
  document.getElementById("kernel").textContent = kernel;
  document.getElementById("block").innerHTML =
    `block <b>(${s.index})</b> of a grid of ${shape(s.grid)} &middot; ${shape(s.block)} threads, ` +
    `${count(scene.track.length, "warp")} &middot; launched at ${escape(s.at)}`;
  document.getElementById("totals").innerHTML = tellTotals();
  document.getElementById("notice").hidden = !notice;
  document.getElementById("notice").innerHTML = notice;
}
