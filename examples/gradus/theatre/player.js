/* player.js - the step and the warp that are shown, and the ways to change them. Begins with #step=12&warp=3. */

const player = {step: 0, warp: 0, timer: null};

function makeWarps() {
  const box = document.getElementById("warps");
  scene.track.forEach((_, w) => {
    const button = document.createElement("button");
    button.textContent = w;
    button.setAttribute("role", "radio");
    button.addEventListener("click", () => show(player.step, w));
    box.append(button);
  });
}

function drawWarps() {
  document.querySelectorAll("#warps button").forEach((button, w) => {
    const kind = eventAt(w, player.step).kind;
    button.className = kind;
    button.title = `warp ${w}: ${kind === "done" ? "is through" : KINDS[kind]}`;
    button.setAttribute("aria-checked", w === player.warp);
  });
}

function show(step, warp) {
  player.step = Math.min(scene.steps - 1, Math.max(0, step));
  player.warp = Math.min(scene.track.length - 1, Math.max(0, warp));
  document.getElementById("slider").value = player.step;
  document.getElementById("step").textContent = `step ${player.step + 1} of ${scene.steps}`;
  drawWarps();
  drawSource();
  drawStage();
  drawTimeline();
}

function pause() {
  clearInterval(player.timer);
  player.timer = null;
  document.getElementById("play").textContent = "play";
}

function play() {
  if (player.timer !== null) {
    pause();
    return;
  }
  if (player.step === scene.steps - 1)
    show(0, player.warp);
  document.getElementById("play").textContent = "pause";
  player.timer = setInterval(() => {
    show(player.step + 1, player.warp);
    if (player.step === scene.steps - 1)
      pause();
  }, 1000 / document.getElementById("speed").value);
}

/* To the chosen warp's next barrier, or the one before. */
function toBarrier(direction) {
  const steps = scene.barriers.filter(b => b.warps.includes(player.warp)).map(b => b.step);
  const next = direction > 0 ? steps.find(s => s > player.step) : steps.reverse().find(s => s < player.step);
  show(next === undefined ? (direction > 0 ? scene.steps - 1 : 0) : next, player.warp);
}

const keys = {
  ArrowRight: e => e.shiftKey ? toBarrier(1) : show(player.step + 1, player.warp),
  ArrowLeft: e => e.shiftKey ? toBarrier(-1) : show(player.step - 1, player.warp),
  ArrowDown: () => show(player.step, player.warp + 1),
  ArrowUp: () => show(player.step, player.warp - 1),
  Home: () => show(0, player.warp),
  End: () => show(scene.steps - 1, player.warp),
  " ": play,
};

function onKey(event) {
  if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT")
    return;
  event.preventDefault();
  keys[event.key](event);
}

function bind(id, action) {
  document.getElementById(id).addEventListener("click", action);
}

function redraw() {
  paint();
  show(player.step, player.warp);
}

/* Where something went wrong: the last step of the warp whose thread did it. Else the begin. */
function firstPlace() {
  const thread = data.end && /thread \((\d+),(\d+),(\d+)\)$/.exec(data.end.fault || ""), [x, y] = data.scene.block;
  if (!thread)
    return {step: 0, warp: 0};
  const warp = Math.floor((Number(thread[1]) + x * (Number(thread[2]) + y * thread[3])) / LANES);
  return {step: Math.max(0, scene.track[warp].length - 1), warp};
}

function begin() {
  const place = firstPlace(), asked = new URLSearchParams(location.hash.slice(1));
  show(asked.has("step") ? asked.get("step") - 1 : place.step,
       asked.has("warp") ? Number(asked.get("warp")) : place.warp);
}

function start() {
  const slider = document.getElementById("slider");
  writeHead();
  makeFiles();
  makeWarps();
  makeLegend();
  slider.max = scene.steps - 1;
  slider.addEventListener("input", () => show(Number(slider.value), player.warp));
  bind("first", () => show(0, player.warp));
  bind("back", () => show(player.step - 1, player.warp));
  bind("forth", () => show(player.step + 1, player.warp));
  bind("play", play);
  bind("barrier", () => toBarrier(1));
  document.getElementById("speed").addEventListener("change", () => player.timer !== null && (pause(), play()));
  document.addEventListener("keydown", onKey);
  timeline.canvas.addEventListener("pointerdown", seek);
  addEventListener("resize", redraw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  paint();
  begin();
}

start();
