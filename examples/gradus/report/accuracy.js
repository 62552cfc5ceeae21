/* --- accuracy.js: accuracy against batch size, and against what a batch size also changes. --- */

const AGAINST = [
  {key: 'batch', name: 'batch size'},
  {key: 'updates', name: 'updates'},
  {key: 'samples', name: 'samples'},
  {key: 'seconds', name: 'seconds'},
];

function runTitle(kind, row) {
  return `${kind.name}, batch ${row.batch}, seed ${row.seed}: ${percent(row.test_accuracy)} %` +
    (row.constant ? ', the same answer for every sample' : '');
}

function cellTitle(kind, cell) {
  const half = isNumber(cell.half_width_95) ? ` ± ${percent(cell.half_width_95)}` : '';
  const made = `${counted(cell.done.length, 'run')}, ${counted(cell.updates, 'update')}`;
  return `${kind.name}, batch ${cell.batch}: ${percent(cell.test_accuracy)}${half} %, ${made}`;
}

/* One kind against a key of its rows; on the axis of batch sizes a little aside. */
function accuracySeries(kind, key, shift) {
  const at = (row) => row[key] * (key === 'batch' ? shift : 1);
  const runs = [], points = [];
  for (const cell of kind.cells) {
    const done = cell.done.filter((row) => isNumber(row[key]) && isNumber(row.test_accuracy));
    runs.push(...done.map(
      (row) => ({x: at(row), y: 100 * row.test_accuracy, title: runTitle(kind, row), constant: row.constant})));
    if (!done.length) continue;
    const middle = 100 * cell.test_accuracy, half = done.length >= report.fewest_runs ? 100 * cell.half_width_95 : NaN;
    points.push(
      {x: mean(done.map(at)), y: middle, low: middle - half, high: middle + half, title: cellTitle(kind, cell)});
  }
  points.sort((a, b) => a.x - b.x);
  return {...kind, points, runs: runs.length > points.length || runs.some((run) => run.constant) ? runs : []};
}

/*
 * Room for every run and mark, and for intervals of up to ten points beyond them: from three runs one can be wider
 * than 0 to 100 %. Chance, if it does not lie so far off that it would flatten all else.
 */
function accuracyRange(series, marks, chance) {
  const runs = series.flatMap((s) => [...s.runs, ...s.points].map((run) => run.y)).concat(marks.map((m) => m.y));
  const bars = series.flatMap((s) => s.points.filter((p) => isNumber(p.low)).flatMap((p) => [p.low, p.high]));
  let low = Math.min(...runs), high = Math.max(...runs);
  const far = Math.max(0.5 * (high - low), 3);
  const shown = isNumber(chance) && chance > low - far && chance < high + far;
  if (shown) [low, high] = [Math.min(low, chance), Math.max(high, chance)];
  low = Math.min(low, Math.max(Math.min(...bars, low), low - 10, 0));
  high = Math.max(high, Math.min(Math.max(...bars, high), high + 10, 100));
  return {...paddedRange([low, high]), shown, cut: bars.some((bar) => bar < low || bar > high)};
}

function accuracyMarks(group, key) {
  if (key !== 'batch') return [];
  const drawn = group.sweeps.flatMap((sweep) => sweep.published),
        few = drawn.filter((value) => !value.rerun).length <= 4;
  return drawn.map((value) => {
    const kind = group.kinds.find((one) => one.optimizer === value.optimizer && one.sweep.published.includes(value));
    const about = `${value.approximate ? 'about ' : ''}${value.value} %`;
    return {
      x: value.batch,
      y: value.value,
      colour: kind.colour,
      rerun: value.rerun,
      title: `${value.source}, ${value.series}, batch ${value.batch}: ${about}`,
      label: few && !value.rerun ? `published: ${about}` : null
    };
  });
}

function accuracyChart(group, key, width) {
  const series = group.kinds.map((kind, i) => accuracySeries(kind, key, aside(i, group.kinds.length)));
  const points = series.flatMap((s) => [...s.points, ...s.runs]), marks = accuracyMarks(group, key);
  const batches = groupBatches(group), xs = points.map((p) => p.x);
  const log = Math.max(...xs) / Math.min(...xs) > 5;
  const errors =
    group.sweeps.flatMap((s) => s.lines).map((line) => line.set_error).filter(isNumber).sort((a, b) => a - b);
  const error = 100 * errors[Math.floor(errors.length / 2)];
  const range = accuracyRange(series, marks, 100 * group.chance);
  const name = AGAINST.find((one) => one.key === key).name;
  return {
    svg: drawChart({
      name: `${group.recipe}: test accuracy against ${name}`,
      width,
      height: Math.max(320, Math.min(0.56 * width, 500)),
      series,
      marks,
      x: key === 'batch' ? batchAxis(batches) :
                           {...paddedRange(xs, {log, zero: true}), log, label: `${name} of a run`},
      y: {...range, label: 'test accuracy in %' + (error > 0 ? `; bar at the left: ± ${error.toFixed(1)}` : '')},
      rules: range.shown ? [{y: 100 * group.chance, label: 'always the same answer'}] : [],
      error: error > 0 ? {size: error, label: `± ${error.toFixed(1)} points: standard error of the test set`} : null,
    }),
    cut: range.cut,
    shown: range.shown,
    series,
  };
}

/* What is drawn, in words. */
function accuracyCaption(group, chart, key) {
  const words =
    ['Large markers: means over seeds; small ones: runs. Bar at the left: standard error of the test set.'];
  if (chart.cut) words.push('Intervals that reach the frame go on beyond it.');
  if (!chart.shown && isNumber(group.chance))
    words.push(`Always the same answer is right on ${percent(group.chance)} %, which is outside the picture.`);
  if (key !== 'batch') words.push('A line goes through the batch sizes of one kind.');
  if (chart.series.some((s) => s.runs.some((run) => run.constant)))
    words.push('Crossed squares: runs that gave every test sample the same answer.');
  return words.join(' ');
}

/* Which published values there are, drawn or not, and why not. */
function publishedNotes(group) {
  const values = (list) =>
    list.map((v) => `${v.series} at ${v.batch}: ${v.approximate ? 'about ' : ''}${v.value} %`).join('; ');
  const bySource = (list) => [...new Set(list.map((v) => v.source.split(', seed')[0]))].join('; ');
  return group.sweeps.flatMap((sweep) => {
    const published = sweep.published.filter((v) => !v.rerun), rerun = sweep.published.filter((v) => v.rerun),
          notes = [];
    const named = group.sweeps.length > 1 ? `${sweep.label}: ` : '';
    if (published.length) notes.push(`Diamonds: published values (${bySource(published)}).`);
    if (rerun.length)
      notes.push(
        `Slanted crosses: the recipe in other programs (${bySource(rerun)}), one a run, on the data of this ` +
        'project\'s own results, which need not be yours.');
    if (sweep.context.length && sweep.departures.length)
      notes.push(`Not drawn, for the sweep departs from what was published by ${sweep.departures.join(', ')}: ` +
        `${values(sweep.context)} (${bySource(sweep.context)}).`);
    else if (sweep.context.length)
      notes.push('Not drawn, for no optimizer is named there, or it was not run here at that batch size: ' +
        `${values(sweep.context)} (${bySource(sweep.context)}).`);
    return notes.map((note) => named + note);
  });
}

/* Without a run that is done there are words alone. */
function accuracyFigure(group) {
  const any = group.kinds.some((kind) => kind.cells.some((cell) => cell.done.length));
  let key = 'batch';
  const choose = (option) => {
    key = option.key;
    made.again();
  };
  const made = makeFigure(group, 'accuracy', 'Test accuracy', {
    draw: (width) => {
      if (!any) return {panels: [], caption: 'No run is done yet.'};
      const chart = accuracyChart(group, key, width);
      return {panels: [{svg: chart.svg}], caption: accuracyCaption(group, chart, key)};
    },
    controls: any ? [makeSwitch('against', AGAINST, choose)] : [],
    list: group.kinds,
    caveats: [...sweepSentences(group, 'caveats'), ...publishedNotes(group)],
  });
  return made.figure;
}
