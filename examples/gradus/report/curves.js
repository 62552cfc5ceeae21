/* --- curves.js: learning curves, a panel for each kind of runs. --- */

const CURVES = [
  {key: 'train_loss', name: 'training loss'},
  {key: 'val_loss', name: 'validation loss'},
  {key: 'test_loss', name: 'test loss'},
  {key: 'train_accuracy', name: 'training accuracy'},
  {key: 'val_accuracy', name: 'validation accuracy'},
  {key: 'test_accuracy', name: 'test accuracy'},
];

/* Mean over the runs of a cell, epoch by epoch; where runs are of different lengths, of those that got so far. */
function curvePoints(cell, quantity, along, factor) {
  const epochs = new Map();
  for (const row of cell.done)
    for (const epoch of row.history || [])
      if (isNumber(epoch[quantity]) && isNumber(epoch[along])) {
        if (!epochs.has(epoch.epoch)) epochs.set(epoch.epoch, []);
        epochs.get(epoch.epoch).push({x: epoch[along], y: factor * epoch[quantity]});
      }
  return [...epochs.values()]
    .map((list) => ({x: mean(list.map((p) => p.x)), y: mean(list.map((p) => p.y))}))
    .sort((a, b) => a.x - b.x);
}

/* A panel for each kind of runs that has curves: its title, and a series for each batch size. */
function curvesOf(group, quantity, along) {
  const batches = groupBatches(group), factor = /accuracy/.test(quantity) ? 100 : 1;
  const curve = (cell) => {
    const points = curvePoints(cell, quantity, along, factor), size = batches.indexOf(cell.batch);
    return {name: String(cell.batch), points, sparse: Math.ceil(points.length / 6), ...sizeLook(size, batches.length)};
  };
  return group.kinds.map((kind) => ({kind, series: kind.cells.map(curve).filter((series) => series.points.length)}))
    .filter(({series}) => series.length);
}

/* All panels have the same axes. */
function drawCurves(group, quantity, along, width) {
  const all = curvesOf(group, quantity.key, along.key);
  const points = all.flatMap(({series}) => series.flatMap((s) => s.points));
  const ys = points.map((p) => p.y), xs = points.map((p) => p.x);
  const log = /loss/.test(quantity.key) && Math.min(...ys) > 0 && Math.max(...ys) / Math.min(...ys) > 20;
  const steep = Math.max(...xs) / Math.min(...xs) > 30;
  const columns = Math.max(1, Math.min(all.length, Math.floor(width / 400)));
  const x = {...paddedRange(xs, {log: steep}), log: steep, least: 1, label: along.name};
  const y = {...paddedRange(ys, {log}), log, label: quantity.name + (/accuracy/.test(quantity.key) ? ' in %' : '')};
  const panel = ({kind, series}) => ({
    title: group.kinds.length > 1 ? kind.name : null,
    svg: drawChart({
      name: `${group.recipe}, ${kind.name}: ${quantity.name} by ${along.name}`,
      width: (width - 20 * (columns - 1)) / columns,
      height: 300,
      series,
      x,
      y
    })
  });
  const caption = 'At the ends of lines: batch sizes. Each line is the mean over the runs of a cell.';
  return {panels: all.map(panel), columns, caption};
}

const ALONG = [{key: 'epoch', name: 'epoch'}, {key: 'updates', name: 'updates'}];
const CURVES_SAY = [
  'Curves of single runs scatter about these means; the intervals of the accuracies say by how much at their end.',
  'At the same epoch a smaller batch has made more updates: by updates, such curves differ in length alone.'
];

/* null where no run has told of two epochs. */
function curvesFigure(group) {
  const rows = group.sweeps.flatMap((sweep) => sweep.rows);
  const tells = (row, key) => (row.history || []).filter((epoch) => isNumber(epoch[key])).length > 1;
  const there = CURVES.filter(({key}) => rows.some((row) => row.state === 'done' && tells(row, key)));
  if (!there.length) return null;
  const chosen = {of: there[0], by: ALONG[0]};
  const choice = (label, options) => makeSwitch(label, options, (option) => {
    chosen[label] = option;
    made.again();
  });
  const made = makeFigure(group, 'curves', 'Learning curves', {
    draw: (width) => drawCurves(group, chosen.of, chosen.by, width),
    controls: [choice('of', there), choice('by', ALONG)],
    caveats: CURVES_SAY,
  });
  return made.figure;
}
