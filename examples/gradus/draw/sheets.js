/* sheets.js - filters, activations and pictures: shades in bytes, drawn in tiles; and who is shown them. */

const GAP = 1; /* points between tiles */
let shown = 0; /* the picture whose activations are shown */

function decode(text) {
  return Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
}

/* Tiles of h x w points in rows, one gap apart, as wide as room allows in whole steps. */
function sheet({n, columns, size: [h, w], channels}, levels, label, room) {
  const canvas = document.createElement("canvas"), bytes = decode(levels), used = Math.min(n, columns);
  canvas.width = used * (w + GAP) - GAP;
  canvas.height = Math.ceil(n / columns) * (h + GAP) - GAP;
  const image = new ImageData(canvas.width, canvas.height);
  for (let i = 0; i < n * h * w; i++) {
    const tile = Math.floor(i / (h * w)), y = Math.floor(i / w) % h, x = i % w;
    const at = (Math.floor(tile / columns) * (h + GAP) + y) * canvas.width + tile % columns * (w + GAP) + x;
    for (let c = 0; c < 3; c++)
      image.data[4 * at + c] = bytes[channels * i + c % channels];
    image.data[4 * at + 3] = 255;
  }
  canvas.getContext("2d").putImageData(image, 0, 0);
  canvas.style.width = `${canvas.width * Math.max(1, Math.floor(room / canvas.width))}px`;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", label);
  return canvas;
}

function caption(text) {
  return Object.assign(document.createElement("p"), {className: "caption", textContent: text});
}

function percent(share) {
  return `${(100 * share).toFixed(share > 0.999 ? 1 : 0)} %`;
}

function verdict(picture) {
  return picture.right ? `${picture.label}, said with ${percent(picture.probability)}`
                       : `${picture.said} with ${percent(picture.probability)}, is ${picture.label}`;
}

/* --- the chosen layer --------------------------------------------------------------------------------------------- */

function filterSheet(layer, room) {
  const f = layer.filters, [filters, channels] = f.of, rows = f.n / f.columns;
  const grey = `filters 1 to ${rows} of ${filters} (rows) on channels 1 to ${f.columns} of ${channels}`;
  const what = f.channels === 3 ? `${f.n} of ${filters} filters` : grey;
  return [caption(`${what}, black ${(-f.high).toPrecision(2)} to white ${f.high.toPrecision(2)}`),
          sheet(f, f.levels, `filters of ${layer.name}`, room)];
}

function mapSheet(layer, room) {
  const m = layer.maps, what = layer.output.length === 3 ? `${m.n} of ${m.of} channels` : `${m.of} values, 32 a row`;
  const thin = m.every > 1 ? `, a point of ${m.every} each way` : "";
  return [caption(`activations: ${what}${thin}, black ${m.low.toPrecision(2)} to white ${m.high.toPrecision(2)}`),
          sheet(m, m.levels[shown], `activations of ${layer.name}`, room)];
}

/* Buttons with the pictures; again() when another one is to be shown. */
function pictureButtons(again) {
  const row = Object.assign(document.createElement("div"), {className: "buttons"});
  row.append(...data.pictures.map((picture, i) => {
    const button = Object.assign(document.createElement("button"), {type: "button", title: picture.name});
    button.setAttribute("aria-pressed", i === shown);
    button.append(sheet(picture, picture.levels, picture.name, 64));
    button.addEventListener("click", () => { shown = i; again(); });
    return button;
  }));
  return row;
}

/* What trained weights have to show of a layer, into the panel. */
function showSheets(layer, panel, again) {
  const room = panel.clientWidth - 30;
  if (layer.maps)
    panel.append(pictureButtons(again), caption(verdict(data.pictures[shown])), ...mapSheet(layer, room));
  if (layer.filters)
    panel.append(...filterSheet(layer, room));
}

/* --- the mistakes ------------------------------------------------------------------------------------------------- */

function showMistakes() {
  const {n, right, data: set} = data.test, list = document.getElementById("mistakes");
  document.getElementById("right").textContent =
    `${data.weights}: right about ${right.toLocaleString("en")} of ${n.toLocaleString("en")} test pictures of ${set}` +
    (data.wrong.length ? `; the ${data.wrong.length} that it is surest about and wrong:` : ".");
  list.append(...data.wrong.map(picture => {
    const figure = document.createElement("figure"), words = document.createElement("figcaption");
    words.innerHTML = `<b>${escape(picture.said)}</b> ${percent(picture.probability)}, is ` +
                      `<b>${escape(picture.label)}</b><br>${escape(picture.name)}`;
    figure.append(sheet(picture, picture.levels, `${picture.name}: ${verdict(picture)}`, 128), words);
    return figure;
  }));
  document.getElementById("wrong").hidden = false;
}
