'use strict';
// Drawing on canvases, in units of CSS pixels.

function prepare(canvas, width, height) {
  const scale = window.devicePixelRatio || 1;
  const w = Math.round(width * scale), h = Math.round(height * scale);
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
  }
  const context = canvas.getContext('2d');
  context.setTransform(scale, 0, 0, scale, 0, 0);
  return context;
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// Columns of least and most for every row, over a window of `columns` columns that end at `end` (a column's number).
class Columns {
  constructor(rows, columns, step) {
    this.rows = rows;
    this.columns = columns;
    this.step = step;   // frames of a column
    this.end = -1;      // the column after the last
    this.values = new Float32Array(2 * rows * columns).fill(NaN);
  }
  at(column) { return 2 * this.rows * (((column % this.columns) + this.columns) % this.columns); }
  // What came from /frames. Columns that were left out between are gaps.
  add(part) {
    const first = part.from / part.step;
    if (this.end < 0) this.end = first;
    for (let c = Math.max(this.end, first - this.columns); c < first; ++c) {
      this.values.fill(NaN, this.at(c), this.at(c) + 2 * this.rows);
    }
    for (let c = 0; c < part.count; ++c) {
      const to = this.at(first + c);
      const width = this.rows * part.each;
      const from = c * width;
      if (part.each === 2) {
        this.values.set(part.values.subarray(from, from + width), to);
      } else {
        for (let i = 0; i < width; ++i) this.values[to + 2 * i] = this.values[to + 2 * i + 1] = part.values[from + i];
      }
    }
    this.end = Math.max(this.end, first + part.count);
  }
  // The middle and half the height of what a row shows, in columns from ... to.
  range(row, from, to) {
    let least = Infinity, most = -Infinity;
    for (let c = from; c < to; ++c) {
      const at = this.at(c) + 2 * row;
      if (this.values[at] < least) least = this.values[at];
      if (this.values[at + 1] > most) most = this.values[at + 1];
    }
    if (!(most >= least)) return null;
    return {middle: (most + least) / 2, half: (most - least) / 2};
  }
}

// The rows `shown` of columns from ... to, `wide` pixels each, at x of `from` = left; `scale[row]` = {middle, half}.
function drawTraces(context, data, look) {
  const {from, to, left, wide, shown, height, scales, colours} = look;
  context.lineWidth = Math.max(1, Math.min(1.3, wide));
  context.lineJoin = 'round';
  shown.forEach((row, place) => {
    const scale = scales[row];
    if (!scale) return;
    const middle = (place + 0.5) * height;
    const unit = scale.half > 0 ? 0.46 * height / scale.half : 0;
    const top = place * height + 0.5, bottom = top + height - 1;
    const y = v => Math.max(top, Math.min(bottom, middle - (v - scale.middle) * unit));
    context.strokeStyle = colours[row];
    context.beginPath();
    let before = null;
    for (let c = Math.max(from, data.end - data.columns); c < Math.min(to, data.end); ++c) {
      const at = data.at(c) + 2 * row;
      const least = data.values[at], most = data.values[at + 1];
      if (!(most >= least)) {
        before = null;
        continue;
      }
      const x = left + (c - from + 0.5) * wide;
      let low = y(least), high = y(most);
      if (low - high < 1) low = high + 1;
      if (before === null) {
        context.moveTo(x, low);
      } else {
        if (Math.abs(low - before) > Math.abs(high - before)) [low, high] = [high, low];
        context.lineTo(x, low);
      }
      context.lineTo(x, high);
      before = high;
    }
    context.stroke();
  });
}

function spectrumRange(values) {
  const all = values.slice(1);  // without the mean
  const most = Math.max(...all);
  return [Math.max(Math.min(...all), most - 80), most];
}
function spectrumSpan(values) {
  if (values.length === 0) return '';
  const [least, most] = spectrumRange(values);
  return '(' + (most - least).toFixed(0) + ' dB from bottom to top)';
}

function drawSpectrum(canvas, values, rate) {
  const box = canvas.getBoundingClientRect();
  const context = prepare(canvas, box.width, box.height);
  context.clearRect(0, 0, box.width, box.height);
  if (values.length === 0) return;
  const bottom = box.height - 16;
  const all = values.slice(1);
  const [least, most] = spectrumRange(values);
  context.font = '11px sans-serif';
  context.strokeStyle = colour('--rule');
  context.fillStyle = colour('--soft');
  for (let k = 0; k <= 4; ++k) {
    const x = 0.5 + Math.round((box.width - 1) * k / 4);
    context.beginPath();
    context.moveTo(x, 0);
    context.lineTo(x, bottom);
    context.stroke();
    context.textAlign = k === 0 ? 'left' : k === 4 ? 'right' : 'center';
    const f = rate * k / 8;
    const hertz = f >= 1000 ? (f / 1000).toPrecision(2) + ' kHz' : +f.toPrecision(3) + ' Hz';
    context.fillText(rate > 0 ? hertz : (k / 8) + ' /frame', x, box.height - 3);
  }
  context.strokeStyle = colour('--source');
  context.lineWidth = 1.3;
  context.beginPath();
  all.forEach((v, k) => {
    const x = box.width * (k + 1) / values.length;
    const y = 3 + (bottom - 6) * (1 - (Math.max(v, least) - least) / Math.max(1e-9, most - least));
    if (k === 0) context.moveTo(x, y); else context.lineTo(x, y);
  });
  context.stroke();
}

// A head from above, the nose at the top; what is not on the disc is left out.
function drawMap(canvas, map) {
  const box = canvas.getBoundingClientRect();
  const context = prepare(canvas, box.width, box.height);
  context.clearRect(0, 0, box.width, box.height);
  const edge = Math.max(1.16, map.radius) + 0.02;
  const unit = Math.min(box.width, box.height) / 2 / edge;
  const x = v => box.width / 2 + v * unit, y = v => box.height / 2 - v * unit;
  const grid = document.createElement('canvas');
  grid.width = grid.height = map.size;
  const pixels = grid.getContext('2d').createImageData(map.size, map.size);
  map.values.forEach((v, i) => {  // from blue over white to orange
    const far = Math.min(1, Math.abs(v)), end = v > 0 ? [213, 94, 0] : [0, 114, 178];
    end.forEach((c, k) => { pixels.data[4 * i + k] = 255 + (c - 255) * far; });
    pixels.data[4 * i + 3] = 255;
  });
  grid.getContext('2d').putImageData(pixels, 0, 0);
  context.save();
  context.beginPath();
  context.arc(x(0), y(0), map.radius * unit, 0, 2 * Math.PI);
  context.clip();
  context.drawImage(grid, x(-map.radius), y(map.radius), 2 * map.radius * unit, 2 * map.radius * unit);
  context.restore();
  context.strokeStyle = colour('--soft');
  context.lineWidth = 1.2;
  context.beginPath();
  context.arc(x(0), y(0), unit, 0, 2 * Math.PI);
  context.moveTo(x(-0.13), y(0.99));
  context.lineTo(x(0), y(1.14));
  context.lineTo(x(0.13), y(0.99));
  for (const side of [-1, 1]) {
    context.moveTo(x(0.995 * side), y(0.12));
    context.lineTo(x(1.1 * side), y(0.1));
    context.lineTo(x(1.1 * side), y(-0.1));
    context.lineTo(x(0.995 * side), y(-0.12));
  }
  context.stroke();
  context.fillStyle = '#1a1a1a';
  for (const [across, up] of map.electrodes) context.fillRect(x(across) - 1, y(up) - 1, 2, 2);
}

function drawWeights(canvas, weights) {
  const box = canvas.getBoundingClientRect();
  const context = prepare(canvas, box.width, box.height);
  context.clearRect(0, 0, box.width, box.height);
  const most = weights.reduce((m, w) => Math.max(m, Math.abs(w)), 0);
  const middle = box.height / 2, wide = box.width / weights.length;
  weights.forEach((w, i) => {
    const high = most > 0 ? (middle - 4) * w / most : 0;
    context.fillStyle = colour(w > 0 ? '--source' : '--change');
    context.fillRect(i * wide + wide * 0.12, Math.min(middle, middle - high), Math.max(1, wide * 0.76), Math.abs(high));
  });
  context.fillStyle = colour('--soft');
  context.fillRect(0, middle - 0.25, box.width, 0.5);
}
