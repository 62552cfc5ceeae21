/* --- series.js: rows as series. Sweeps of one recipe and data set are a group, and share their figures. --- */

const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#8b6f00', '#7a5cc4'];

function makeGroups(sweeps) {
  const groups = new Map();
  for (const sweep of sweeps) {
    const key = JSON.stringify([sweep.recipe, sweep.data, sweep.protocol.data_hash]);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(sweep);
  }
  return [...groups.values()].map((list) => ({sweeps: list, ...list[0], kinds: makeKinds(list)}));
}

/* What tells the kinds of a group apart, in a name: of folder, optimizer and variant what is not the same in all. */
function nameOf(kind, kinds) {
  const differs = (key) => new Set(kinds.map((other) => other[key])).size > 1;
  const parts = ['folder', 'optimizer', 'variant'].filter(differs);
  const words = {folder: kind.label, optimizer: kind.look.label, variant: kind.variant};
  return parts.map((part) => words[part]).join(' ') || kind.look.label;
}

/* Runs with one optimizer, of one variant, in one folder: a line of a picture. */
function makeKinds(sweeps) {
  const kinds = new Map();
  const twice = new Set(sweeps.map((sweep) => sweep.label)).size < sweeps.length;
  for (const sweep of sweeps)
    for (const line of sweep.lines) {
      const optimizer = line.optimizer, variant = line.variant || '',
            key = JSON.stringify([sweep.folder, optimizer, variant]);
      if (!kinds.has(key))
        kinds.set(key, {
          folder: sweep.folder,
          label: twice ? sweep.folder : sweep.label,
          optimizer,
          variant,
          sweep,
          look: sweep.looks[optimizer],
          cells: []
        });
      const rows = sweep.rows.filter(
        (row) => row.optimizer === optimizer && (row.variant || '') === variant && row.batch === line.batch);
      kinds.get(key).cells.push({...line, rows, done: rows.filter((row) => row.state === 'done')});
    }
  const list = [...kinds.values()];
  const own = new Set(list.map((kind) => kind.optimizer)).size === list.length;
  list.forEach((kind, i) => Object.assign(
                 kind, look(own ? kind.look.colour : COLOURS[i % COLOURS.length], i), {name: nameOf(kind, list)}));
  return list;
}

/* Colour, dash and marker of series i: no two of the first 56 have the same dash and marker. */
function look(colour, i) {
  return {colour, dash: DASHES[i % DASHES.length], marker: MARKERS[i % MARKERS.length]};
}

/* Look of size i of n: the colours go from blue to red as sizes go up. */
function sizeLook(i, n) {
  return look(`hsl(${Math.round(225 - (225 * i) / Math.max(n - 1, 1))} 65% 42%)`, i);
}

/* Factor that sets series i of n a little aside on a logarithmic axis: bars must not hide each other. */
function aside(i, n) {
  return 2 ** (Math.min(0.07, 0.3 / n) * (i - (n - 1) / 2));
}

function groupBatches(group) {
  return [...new Set(group.kinds.flatMap((kind) => kind.cells.map((cell) => cell.batch)))].sort((a, b) => a - b);
}

/* The axis of batch sizes, those that were run as its ticks. */
function batchAxis(batches) {
  return {...paddedRange(batches, {log: true}), log: true, ticks: batches, text: whole, label: 'batch size'};
}
