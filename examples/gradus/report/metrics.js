/* --- metrics.js: what was measured of each run, against batch size. --- */

const last = (row, key) => [...(row.history || [])].reverse().map((epoch) => epoch[key]).find(isNumber);

/* A number of a row in another unit; nothing where it is not known. */
const inUnits = (key, units) => (row) => (isNumber(row[key]) ? row[key] * units : null);

const MACHINE = [
  {name: 'training samples a second', of: inUnits('samples_per_second', 1)},
  {name: 'peak memory of tensors in MiB', of: inUnits('peak_bytes', 2 ** -20)},
  {name: 'resident memory in MiB', of: inUnits('resident_bytes', 2 ** -20)},
  {name: 'seconds of training', of: inUnits('seconds', 1)},
  {name: 'time waiting for batches, in %', of: inUnits('waiting', 100), least: 1},
  {name: 'cores busy', of: inUnits('cores_busy', 1)},
  {name: 'power of the processor in W', of: inUnits('cpu_power', 1)},
  {name: 'network, in GFLOP/s', of: inUnits('model_gflops', 1)},
  {name: 'operands, in GB/s', of: inUnits('operand_gbs', 1)},
  {name: 'model-FLOPs utilisation in %', of: inUnits('mfu', 100)},
  {name: 'GPU utilisation in %', of: inUnits('gpu_utilisation', 1)},
  {name: 'GPU memory in MiB', of: inUnits('gpu_memory_bytes', 2 ** -20)},
  {name: 'GPU power in W', of: inUnits('gpu_power', 1)},
];
const LANDSCAPE = [
  {name: 'gradient noise scale, in samples', of: (row) => last(row, 'noise_scale'), log: true},
  {name: 'sharpness in %', of: (row) => last(row, 'sharpness'), log: true},
];

function metricSeries(group, metric) {
  return group.kinds
    .map((kind, i) => {
      const shift = aside(i, group.kinds.length), series = {...kind, points: [], runs: []};
      for (const cell of kind.cells) {
        const values =
          cell.done.map((row) => ({row, y: metric.of(row)})).filter(({y}) => isNumber(y) && (!metric.log || y > 0));
        if (!values.length) continue;
        const middle = mean(values.map(({y}) => y)),
              title = (y, what) => `${kind.name}, batch ${cell.batch}${what}: ${short(y)}`;
        series.points.push({x: cell.batch * shift, y: middle, title: title(middle, '')});
        if (values.length > 1)
          series.runs.push(
            ...values.map(({row, y}) => ({x: cell.batch * shift, y, title: title(y, `, seed ${row.seed}`)})));
      }
      return series;
    })
    .filter((series) => series.points.length);
}

function hasMetric(group, metric) {
  const values = group.sweeps.flatMap((sweep) => sweep.rows)
                   .filter((row) => row.state === 'done')
                   .map(metric.of)
                   .filter((x) => isNumber(x) && (!metric.log || x > 0));
  return values.length > 0 && Math.max(...values) > (metric.least || 0);
}

function metricPanel(group, metric, width) {
  const series = metricSeries(group, metric), ys = series.flatMap((s) => [...s.points, ...s.runs].map((p) => p.y));
  const log = metric.log && Math.max(...ys) / Math.min(...ys) > 5;
  return {
    svg: drawChart({
      name: `${group.recipe}: ${metric.name} against batch size`,
      width,
      height: 290,
      series,
      x: batchAxis(groupBatches(group)),
      y: {...paddedRange(ys, {log, zero: true}), log, label: metric.name}
    })
  };
}

function metricsFigure(group, id, title, metrics, caveats) {
  const there = metrics.filter((metric) => hasMetric(group, metric));
  if (!there.length) return null;
  return makeFigure(group, id, title, {
    draw: (width) => {
      const columns = Math.min(there.length, width >= 760 ? 2 : 1);
      return {
        columns,
        panels: there.map((metric) => metricPanel(group, metric, (width - 20 * (columns - 1)) / columns)),
        caption: 'Large markers: means over seeds; small ones: runs.'
      };
    },
    list: group.kinds,
    caveats,
  }).figure;
}
