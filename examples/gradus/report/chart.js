/* --- chart.js: one chart. Series differ by colour, dash and marker; their names stand at the ends of lines. --- */

const DASHES = [null, '7 3', '2 2.5', '9 3 2 3', '14 4', '4 2 1 2 1 2', '1 3', '12 3 4 3'];
const MARKERS = ['circle', 'square', 'triangle', 'diamond', 'drop', 'plus', 'star', 'bar'];

/* The outline of a marker around 0, 0, of an area that goes with size squared. */
function markerPath(marker, r) {
  const polygon = (...points) =>
    `M${points.map(([x, y]) => `${(x * r).toFixed(2)},${(y * r).toFixed(2)}`).join('L')}Z`;
  switch (marker) {
  case 'square':
    return polygon([-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]);
  case 'triangle':
    return polygon([0, -1.2], [1.15, 0.85], [-1.15, 0.85]);
  case 'drop':
    return polygon([0, 1.2], [1.15, -0.85], [-1.15, -0.85]);
  case 'diamond':
    return polygon([0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]);
  case 'bar':
    return polygon([-0.5, -1.3], [0.5, -1.3], [0.5, 1.3], [-0.5, 1.3]);
  case 'plus':
    return polygon([-0.4, -1.2], [0.4, -1.2], [0.4, -0.4], [1.2, -0.4], [1.2, 0.4], [0.4, 0.4], [0.4, 1.2],
      [-0.4, 1.2], [-0.4, 0.4], [-1.2, 0.4], [-1.2, -0.4], [-0.4, -0.4]);
  case 'star':
    return polygon(...Array.from({length: 10}, (_, i) => {
      const length = i % 2 ? 0.6 : 1.45, angle = (Math.PI * i) / 5;
      return [length * Math.sin(angle), -length * Math.cos(angle)];
    }));
  default:
    return `M${r},0A${r},${r},0,1,1,${- r},0A${r},${r},0,1,1,${r},0Z`;
  }
}

function marker(kind, x, y, size, title, shape) {
  return svg('path',
    {class: kind, d: markerPath(shape, size), transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`},
    title ? svg('title', null, title) : null);
}

function swatch(series) {
  return svg('svg',
    {viewBox: '0 0 44 14', class: 'series', style: `--colour:${series.colour}`, 'aria-hidden': 'true'},
    svg('line', {class: 'line', x1: 0, x2: 44, y1: 7, y2: 7, 'stroke-dasharray': series.dash}),
    marker('mean', 22, 7, 4.4, null, series.marker));
}

function legend(list) {
  return element('ul', {class: 'legend'}, list.map((series) => element('li', null, swatch(series), series.name)));
}

/* --- axes --- */

/* Which ticks have room for their numbers: the last one has, the others from the left on. */
function roomyTicks(scale, text) {
  const last = scale.ticks[scale.ticks.length - 1], half = (tick) => textWidth(text(tick)) / 2 + 3;
  let free = -Infinity;
  return scale.ticks.filter((tick) => {
    const fits = scale(tick) - half(tick) >= free &&
      (tick === last || scale(tick) + half(tick) <= scale(last) - half(last));
    if (fits) free = scale(tick) + half(tick);
    return fits;
  });
}

function xAxis(scale, axis, frame) {
  const text = axis.text || short, middle = (frame.left + frame.right) / 2;
  return [
    svg('line', {class: 'axis', x1: frame.left, x2: frame.right, y1: frame.bottom, y2: frame.bottom}),
    ...scale.ticks.map((tick) => svg('line',
      {class: 'axis', x1: scale(tick), x2: scale(tick), y1: frame.bottom, y2: frame.bottom + 4})),
    ...roomyTicks(scale, text).map((tick) => svg('text',
      {x: scale(tick), y: frame.bottom + 18, 'text-anchor': 'middle'}, text(tick))),
    svg('text', {class: 'quiet', x: middle, y: frame.bottom + 36, 'text-anchor': 'middle'}, axis.label)
  ];
}

function yAxis(scale, axis, frame) {
  return scale.ticks.flatMap(
    (tick) => [svg('line', {class: 'grid', x1: frame.left, x2: frame.right, y1: scale(tick), y2: scale(tick)}),
      svg('text', {x: frame.left - 6, y: scale(tick) + 4, 'text-anchor': 'end'}, (axis.text || short)(tick)),
  ]);
}

/* --- series --- */

function drawInterval(point, x, y, frame) {
  const top = Math.max(y(point.high), frame.top), bottom = Math.min(y(point.low), frame.bottom);
  const cap = (at, cut) => (cut ? '' : `M${x - 4},${at}h8`); /* one that goes on beyond the frame has no end */
  return svg('path', {
    class: 'interval',
    d: `M${x},${top}V${bottom}${cap(top, y(point.high) < frame.top)}` + cap(bottom, y(point.low) > frame.bottom)
  });
}

function drawRun(run, x, y, series) {
  if (!run.constant) return marker('run', x, y, 2.6, run.title, series.marker);
  return svg(
    'path', {class: 'constant', d: `M${x - 4},${y - 4}h8v8h-8zl8,8m0,-8l-8,8`}, svg('title', null, run.title));
}

function drawSeries(series, x, y, frame) {
  const line = series.points.map((p) => `${x(p.x).toFixed(1)},${y(p.y).toFixed(1)}`).join('L');
  return svg('g', {class: 'series', style: `--colour:${series.colour}`},
    (series.runs || []).map((run) => drawRun(run, x(run.x), y(run.y), series)),
    series.points.filter((p) => isNumber(p.low)).map((p) => drawInterval(p, x(p.x), y, frame)),
    line ? svg('path', {class: 'line', d: `M${line}`, 'stroke-dasharray': series.dash}) : null,
    series.points.filter((p, i, all) => !series.sparse || i % series.sparse === 0 || i === all.length - 1)
      .map((p) => marker('mean', x(p.x), y(p.y), 4.4, p.title, series.marker)));
}

/* Names of the lines at the right, none over another, each led to from the end of its line. */
function drawLabels(list, x, y, frame, gap) {
  const ends = list.filter((s) => s.points.length).map((s) => ({series: s, end: s.points[s.points.length - 1]}));
  ends.sort((a, b) => y(a.end.y) - y(b.end.y));
  const places = spreadLabels(ends.map(({end}) => y(end.y)), gap, frame.top + 5, frame.bottom - 3);
  return ends.map(({series, end}, i) => svg('g', {class: 'series', style: `--colour:${series.colour}`},
                    svg('path', {class: 'leader', d: `M${x(end.x)},${y(end.y)}L${frame.right + 2},${places[i]}h6`}),
                    svg('text', {class: 'end', x: frame.right + 11, y: places[i] + 4}, series.name)));
}

/* --- what stands beside series --- */

/* Above its mark, within the frame. */
function markLabel(m, x, y, frame) {
  const half = textWidth(m.label) / 2, at = Math.min(Math.max(x, frame.left + half), frame.right - half);
  return svg('text', {class: 'halo', x: at, y: y - 10, 'text-anchor': 'middle'}, m.label);
}

/* Others' runs stand a little right of their batch size, beside our own, however wide an octave is. */
function drawMarks(marks, x, y, frame) {
  return marks.map((m) => {
    const at = x(m.x) + (m.rerun ? 9 : 0);
    return svg('g', {class: 'series', style: `--colour:${m.colour}`},
      m.rerun ? svg('path', {class: 'mark', d: `M${at - 4},${y(m.y) - 4}l8,8m0,-8l-8,8`}, svg('title', null, m.title)) :
                marker('mark', at, y(m.y), 5, m.title, 'diamond'),
      m.label ? markLabel(m, at, y(m.y), frame) : null);
  });
}

/* A level such as chance, named above its line. */
function drawRule(rule, y, frame) {
  return [
    svg('line', {class: 'rule', x1: frame.left, x2: frame.right, y1: y(rule.y), y2: y(rule.y)}),
    svg('text', {class: 'quiet halo', x: frame.left + 4, y: y(rule.y) - 4}, rule.label)
  ];
}

/* One standard error up and down, in a column of its own at the left. */
function drawError(error, y, frame) {
  const half = Math.abs(y(error.size) - y(0)), x = frame.left + 9, top = frame.top + 4;
  return svg('path', {class: 'bar', d: `M${x},${top}v${2 * half}M${x - 4},${top}h8M${x - 4},${top + 2 * half}h8`},
    svg('title', null, error.label));
}

/*
 * {name, width, height, x, y, series, marks, rules, error}: x and y are options of makeScale with label and text;
 * series [{name, colour, dash, marker, points: [{x, y, low, high, title}], runs}].
 */
function drawChart(chart) {
  const {width, series, x: xOptions, y: yOptions} = chart;
  const gap = 15, longest = Math.max(0, ...series.map((s) => textWidth(s.name)));
  const named = series.length > 0 && longest < 0.3 * width && !chart.plain;
  const plot = Math.max(chart.height, named ? gap * series.length + 76 : 0);
  const most = Math.max(3, Math.floor(plot / 45));
  const texts = makeScale({...yOptions, from: 1, to: 0, most}).ticks.map(yOptions.text || short);
  const frame = {left: 10 + Math.max(...texts.map(textWidth)), right: width - (named ? longest + 14 : 8), top: 26};
  frame.bottom = frame.top + plot - 76;
  const y = makeScale({...yOptions, from: frame.bottom, to: frame.top, most});
  const inner = {from: frame.left + (chart.error ? 32 : 14), to: frame.right - 14};
  const x = makeScale({...xOptions, ...inner, most: Math.max(4, Math.floor((frame.right - frame.left) / 75))});
  const height = frame.bottom + 44;
  const drawn = svg('svg',
    {class: 'chart', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': chart.name, width, height},
    svg('text', {class: 'quiet', x: 0, y: 12}, yOptions.label), yAxis(y, yOptions, frame), xAxis(x, xOptions, frame),
    (chart.rules || []).flatMap((rule) => drawRule(rule, y, frame)),
    chart.error ? drawError(chart.error, y, frame) : null, series.map((s) => drawSeries(s, x, y, frame)),
    drawMarks(chart.marks || [], x, y, frame), named ? drawLabels(series, x, y, frame, gap) : null);
  drawn.unnamed = named ? [] : series; /* what a legend beside the chart must name */
  return drawn;
}
