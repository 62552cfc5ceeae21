/* --- scales.js: from values to places, and the ticks between. --- */

/* 1, 2 or 5 times a power of ten, at least x. */
function niceStep(x) {
  const power = 10 ** Math.floor(Math.log10(x));
  return power * [1, 2, 5, 10].find((digit) => digit * power >= x * (1 - 1e-9));
}

function linearTicks(low, high, most, least) {
  const step = Math.max(niceStep((high - low) / most), least), ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++)
    ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

function logTicks(low, high, most) {
  for (const digits of [[1, 2, 5], [1, 3], [1]]) {
    const ticks = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++)
      for (const digit of digits) ticks.push(Number(`${digit}e${power}`));
    const within = ticks.filter((tick) => tick >= low * 0.999 && tick <= high * 1.001);
    if (within.length <= most) return within;
  }
  return [low, high];
}

/*
 * A scale from values low..high to places from..to. log: equal ratios are equal distances. ticks: as given, else such
 * that there are at most so many, and no closer than least.
 */
function makeScale({low, high, from, to, log = false, ticks = null, most = 8, least = 0}) {
  const warp = log ? Math.log : (x) => x;
  const start = warp(low), span = warp(high) - start || 1;
  const scale = (x) => from + ((warp(x) - start) / span) * (to - from);
  scale.ticks = ticks || (log && high / low > 3 ? logTicks(low, high, most) : linearTicks(low, high, most, least));
  return scale;
}

/* Ends for values with room beyond them; where they hardly reach down to 0, from 0 on. */
function paddedRange(values, {log = false, zero = false} = {}) {
  let low = Math.min(...values), high = Math.max(...values);
  if (log) {
    const room = Math.max((high / low) ** 0.06, 1.02);
    return {low: low / room, high: high * room};
  }
  if (zero && low >= 0 && low < 0.5 * high) low = 0;
  const room = high > low ? 0.06 * (high - low) : Math.max(0.05 * Math.abs(high), 1e-9);
  return {low: low === 0 && zero ? 0 : low - room, high: high + room};
}

/* Places for labels that want to be at these, in order, at least gap apart and within low..high. */
function spreadLabels(wanted, gap, low, high) {
  const places = [];
  for (const want of wanted) places.push(Math.max(want, places.length ? places[places.length - 1] + gap : low));
  for (let i = places.length - 1, limit = high; i >= 0 && places[i] > limit; i--, limit -= gap) places[i] = limit;
  return places;
}
