/* scene.js - the recording as tracks: for each warp what it does at each step. */

const data = JSON.parse(document.getElementById("data").textContent);
const LANES = 32, LINE = 128, SECTOR = 32, WORD = 4, BANKS = 32;

function lanesOf(mask) {
  return Array.from({length: LANES}, (_, lane) => lane).filter(lane => mask >>> lane & 1);
}

/* offset[lane] of a request, undefined for lanes that are not in it. */
function offsetsOf(lanes, first, stride) {
  const offset = [];
  lanes.forEach((lane, i) => offset[lane] = Array.isArray(first) ? first[i] : first + i * stride);
  return offset;
}

/* A line of the recording (kernels/simt/check/watch.c) with names. */
function readEvent(e) {
  if (e[0] === "b")
    return {kind: "barrier", warps: lanesOf(e[1]), site: e[2], id: e[3]};
  if (e[0] === "c")
    return {kind: "meet", warp: e[1], site: e[2], lanes: lanesOf(e[3]), name: e[4]};
  const [space, warp, site, mask, how, bytes, cost, object, first, stride] = e, lanes = lanesOf(mask);
  const kind = how === "a" ? "atomic" : space === "g" ? "global" : cost ? "conflict" : "shared";
  return {kind, warp, site, lanes, how, bytes, cost, object, shared: space === "s",
          offset: offsetsOf(lanes, first, stride)};
}

/* Steps: each warp takes one for each of its events; who comes to a barrier early waits until all have come. */
function layOut(events, warps) {
  const track = Array.from({length: warps}, () => []), barriers = [];
  for (const event of events.map(readEvent)) {
    if (event.kind !== "barrier") {
      track[event.warp].push(event);
      continue;
    }
    const step = Math.max(...event.warps.map(w => track[w].length));
    barriers.push({...event, step});
    for (const w of event.warps) {
      for (let since = track[w].length; track[w].length < step;)
        track[w].push({kind: "wait", site: event.site, since, until: step});
      track[w].push(event);
    }
  }
  return {track, barriers, steps: Math.max(1, ...track.map(t => t.length))};
}

const threads = data.scene.block.reduce((a, b) => a * b);
const scene = {...layOut(data.events, Math.ceil(threads / LANES)), threads};

function eventAt(warp, step) {
  return scene.track[warp][step] || {kind: "done"};
}

/* "(5,2,0)": the thread of a lane; undefined behind the block's last. */
function threadOf(warp, lane) {
  const n = warp * LANES + lane, [x, y] = data.scene.block;
  return n < threads ? `(${n % x},${Math.floor(n / x) % y},${Math.floor(n / x / y)})` : undefined;
}

/* Words of 4 bytes that the lanes first to end touch, by their place (0: the begin of a line of 128 bytes): lanes. */
function wordsOf(event, first = 0, end = LANES) {
  const words = new Map(), begin = data.objects[event.object][2];
  for (const lane of event.lanes.filter(l => l >= first && l < end)) {
    const address = begin + event.offset[lane];
    for (let word = Math.floor(address / WORD); word * WORD < address + event.bytes; word++)
      words.set(word, [...(words.get(word) || []), lane]);
  }
  return words;
}

/* Groups of lanes that the banks serve together, and for each bank the words they want of it: [word, lanes]. */
function turnsOf(event) {
  const groups = event.bytes <= 4 ? 1 : event.bytes <= 8 ? 2 : 4, size = LANES / groups;
  return Array.from({length: groups}, (_, g) => {
    const bank = Array.from({length: BANKS}, () => []);
    for (const [word, lanes] of wordsOf(event, g * size, (g + 1) * size))
      bank[word % BANKS].push([word, lanes]);
    return {first: g * size, end: (g + 1) * size, bank, turns: Math.max(...bank.map(b => b.length))};
  }).filter(group => group.turns);
}
