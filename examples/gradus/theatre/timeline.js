/* timeline.js - all warps over all steps, as rows of a canvas. */

const KINDS = {
  global: "global memory", shared: "shared memory", conflict: "shared memory with bank conflicts", atomic: "atomic",
  meet: "shuffle, vote, matrix product", wait: "waits at a barrier", barrier: "barrier",
};

const timeline = {canvas: document.getElementById("tracks"), row: 0, picture: null};

function colours() {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(["global", "shared", "conflict", "atomic", "meet", "wait", "ink", "rule", "soft"]
    .map(name => [name, style.getPropertyValue(`--${name}`).trim()]));
}

/* How strong a request's colour is: more sectors, or more turns, are darker. */
function strength(event) {
  if (event.kind === "global")
    return 0.35 + 0.65 * Math.min(1, event.cost / 32);
  if (event.kind === "conflict")
    return 0.45 + 0.55 * Math.min(1, event.cost / 31);
  return 1;
}

/* How the events of one step are shown where several steps share a pixel: the one that costs most. */
const rank = {done: 0, wait: 1, shared: 2, meet: 3, global: 4, atomic: 5, conflict: 6, barrier: 7};

function drawTrack(pen, track, y, height, width, palette) {
  const perPixel = scene.steps / width, step = Math.max(1, width / scene.steps);
  for (let x = 0; x < width; x += step) {
    const first = Math.floor(x * perPixel + 1e-6), end = Math.max(first + 1, Math.floor((x + step) * perPixel + 1e-6));
    const events = track.slice(first, end);
    if (!events.length)
      break;
    const event = events.reduce((a, b) => rank[b.kind] > rank[a.kind] ? b : a);
    if (event.kind === "barrier")
      continue;
    pen.globalAlpha = strength(event);
    pen.fillStyle = palette[event.kind];
    if (event.kind === "wait")
      pen.fillRect(x, y + height * 0.4, step, height * 0.2);
    else
      pen.fillRect(x, y + 0.5, step > 3 ? step - 0.6 : step, height - 1);
  }
  pen.globalAlpha = 1;
}

function drawBarrierLine(pen, barrier, row, width, palette) {
  const x = (barrier.step + 0.5) * width / scene.steps;
  pen.fillStyle = palette.ink;
  for (const w of barrier.warps)
    pen.fillRect(x - 0.75, w * row, 1.5, row);
}

/* The picture without the cursor, for this width and these colours. */
function paint() {
  const canvas = timeline.canvas, width = canvas.parentElement.clientWidth, warps = scene.track.length;
  timeline.row = Math.max(3, Math.min(14, (width < 600 ? 96 : 160) / warps));
  const height = Math.round(warps * timeline.row), scale = devicePixelRatio || 1, palette = colours();
  const picture = document.createElement("canvas"), pen = picture.getContext("2d");
  canvas.style.height = `${height}px`;
  canvas.width = picture.width = width * scale;
  canvas.height = picture.height = height * scale;
  pen.scale(scale, scale);
  scene.track.forEach((track, w) => drawTrack(pen, track, w * timeline.row, timeline.row, width, palette));
  for (const barrier of scene.barriers)
    drawBarrierLine(pen, barrier, timeline.row, width, palette);
  timeline.picture = picture;
}

function drawTimeline() {
  const canvas = timeline.canvas, pen = canvas.getContext("2d"), scale = devicePixelRatio || 1;
  const width = canvas.width / scale, step = width / scene.steps, palette = colours();
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(timeline.picture, 0, 0);
  pen.scale(scale, scale);
  pen.strokeStyle = palette.ink;
  pen.lineWidth = 1;
  pen.strokeRect(0.5, player.warp * timeline.row + 0.5, width - 1, timeline.row - 1);
  pen.lineWidth = 2;
  pen.strokeRect(player.step * step + 0.5, 1, Math.max(3, step), canvas.height / scale - 2);
}

function seek(event) {
  const box = timeline.canvas.getBoundingClientRect();
  const step = Math.floor((event.clientX - box.left) / box.width * scene.steps);
  const warp = Math.floor((event.clientY - box.top) / timeline.row);
  show(step, Math.min(scene.track.length - 1, Math.max(0, warp)));
}

function makeLegend() {
  const used = new Set(scene.track.flat().map(e => e.kind));
  document.getElementById("legend").innerHTML = Object.entries(KINDS).filter(([kind]) => used.has(kind))
    .map(([kind, text]) => `<li><i class="${kind}" style="${kind === "wait" ? "" :
      `background:var(--${kind === "barrier" ? "ink" : kind})`}"></i>${text}</li>`).join("");
}
