#pragma once

#include <string_view>

namespace demix::report {

// What runs in the page of an EEG: a table to sort, and channels to scroll through. Nothing is fetched.
inline constexpr std::string_view eeg_script_text = R"js(
'use strict';
(() => {
  const table = document.getElementById('sorted');
  const boxes = () => [...table.querySelectorAll('tbody input')];
  const marked = () => boxes().filter(b => b.checked).map(b => +b.value).sort((a, b) => a - b);
  const key = (row, i) => row.cells[i].dataset.value ?? row.cells[i].textContent;
  [...table.tHead.rows[0].cells].forEach((cell, i) => cell.firstChild.addEventListener('click', () => {
    const rows = [...table.tBodies[0].rows];
    const down = cell.getAttribute('aria-sort') !== 'descending';
    for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
    cell.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    const isNumber = rows.every(r => key(r, i).trim() !== '' && isFinite(key(r, i)));
    rows.sort((a, b) => (isNumber ? key(b, i) - key(a, i) : key(b, i).localeCompare(key(a, i))) * (down ? 1 : -1));
    table.tBodies[0].append(...rows);
  }));

  const removal = document.getElementById('removal');
  const told = removal && removal.textContent;
  const tell = () => {
    const list = marked().map(k => k + 1).join(',') || 'none';
    if (removal) removal.textContent = told.replace(/--remove \S+/, '--remove ' + list);
  };

  const box = document.getElementById('viewer');
  if (!box) { table.addEventListener('change', tell); return; }
  const numbers = text => text === '' ? [] : text.split(',').map(Number);
  const rate = +box.dataset.rate, first = +box.dataset.first;
  const offsets = numbers(box.dataset.offsets), steps = numbers(box.dataset.steps);
  const mean = numbers(box.dataset.mean), mixing = numbers(box.dataset.mixing);
  const unmixing = numbers(box.dataset.unmixing);
  const raw = Uint8Array.from(atob(box.dataset.frames), c => c.charCodeAt(0));
  const values = new DataView(raw.buffer);
  const n = mean.length, m = mixing.length / n, frames = raw.length / 2 / n;
  const names = [...document.querySelectorAll('#channel-names li')].map(e => e.textContent);
  const canvas = box.querySelector('canvas'), place = document.getElementById('place');
  const showSources = document.getElementById('show-sources');
  let from = 0, span = Math.min(frames, Math.round(10 * rate)), gain = 1;

  const channel = (i, t) => offsets[i] + steps[i] * values.getInt16(2 * (t * n + i), true);
  // Rows as they are, and without the components.
  const signals = (start, count, without) => {
    const before = Array.from({length: n}, (_, i) => {
      const row = new Float64Array(count);
      for (let t = 0; t < count; ++t) row[t] = channel(i, start + t);
      return row;
    });
    const source = k => {
      const row = new Float64Array(count);
      for (let i = 0; i < n; ++i) {
        const u = unmixing[k * n + i], row0 = before[i], c = mean[i];
        for (let t = 0; t < count; ++t) row[t] += u * (row0[t] - c);
      }
      return row;
    };
    if (showSources.checked) return {before: Array.from({length: m}, (_, k) => source(k)), after: null};
    const after = before.map(row => row.slice());
    for (const k of without) {
      const y = source(k);
      for (let i = 0; i < n; ++i) {
        const a = mixing[i * m + k], row = after[i];
        for (let t = 0; t < count; ++t) row[t] -= a * y[t];
      }
    }
    return {before, after: without.length ? after : null};
  };

  const middle = list => { const s = [...list].sort((a, b) => a - b); return s[s.length >> 1] || 0; };
  const spread = row => {
    const c = middle(row);
    return 1.5 * middle(row.map(x => Math.abs(x - c)));
  };
  let unit = 0, unitOf = null, top = 6, topOf = 0;
  const draw = () => {
    from = Math.max(0, Math.min(frames - span, from));
    const style = getComputedStyle(document.documentElement);
    const colour = name => style.getPropertyValue(name).trim();
    const {before, after} = signals(from, span, marked());
    const rows = before.length, width = box.clientWidth, step = rows > 24 ? 20 : 28, left = 58;
    if (unitOf !== showSources.checked) {
      unit = middle(before.map(spread)) * 7 || 1;
      unitOf = showSources.checked;
      topOf = 0;
    }
    if (topOf !== gain) {  // as high as what is shown first reaches above the first row
      const above = before.map((row, i) => {
        const most = row.reduce((a, b) => Math.max(a, b), -Infinity);
        return (most - middle(row)) / unit * step * gain - step * (i + 0.5);
      });
      top = Math.max(6, Math.min(200, Math.max(...above) + 4));
      topOf = gain;
    }
    const height = rows * step + top + 28, sharp = window.devicePixelRatio || 1;
    canvas.width = width * sharp;
    canvas.height = height * sharp;
    canvas.style.height = height + 'px';
    const g = canvas.getContext('2d');
    g.scale(sharp, sharp);
    const x = t => left + (width - left) * t / Math.max(1, span - 1);
    const trace = (row, centre, y0) => {
      g.beginPath();
      const perPixel = span / (width - left);
      if (perPixel < 2) {
        for (let t = 0; t < span; ++t) g.lineTo(x(t), y0 - (row[t] - centre) / unit * step * gain);
      } else {
        for (let p = 0; p < width - left; ++p) {
          let lo = Infinity, hi = -Infinity;
          for (let t = Math.floor(p * perPixel); t < Math.min(span, (p + 1) * perPixel); ++t) {
            lo = Math.min(lo, row[t]);
            hi = Math.max(hi, row[t]);
          }
          g.lineTo(left + p, y0 - (lo - centre) / unit * step * gain);
          g.lineTo(left + p, y0 - (hi - centre) / unit * step * gain);
        }
      }
      g.stroke();
    };
    g.font = '11px sans-serif';
    g.textBaseline = 'middle';
    before.forEach((row, i) => {
      const y0 = step * (i + 0.5) + top, centre = middle(row);
      g.fillStyle = colour('--soft');
      g.fillText(showSources.checked ? String(i + 1) : (names[i] || ''), 0, y0, left - 6);
      g.lineWidth = 1;
      g.strokeStyle = colour(after ? '--recovered' : '--ink');
      trace(row, centre, y0);
      if (!after) return;
      g.strokeStyle = colour('--ink');
      trace(after[i], middle(after[i]), y0);
    });
    g.fillStyle = colour('--soft');
    g.strokeStyle = colour('--rule');
    g.textBaseline = 'top';
    const seconds = span / rate, steps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600];
    const each = steps.find(s => seconds / s <= width / 80) || 1200;
    for (let s = Math.ceil((first + from / rate) / each) * each; s <= first + (from + span) / rate; s += each) {
      const at = x((s - first) * rate - from);
      g.beginPath();
      g.moveTo(at, 0);
      g.lineTo(at, height - 24);
      g.stroke();
      g.fillText(+s.toFixed(2) + ' s', Math.min(at + 2, width - 36), height - 20);
    }
    place.max = Math.max(0, frames - span);
    place.value = from;
    box.dataset.shown = from + ',' + span + ',' + marked().join(' ');
  };
  let waiting = false;
  const redraw = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(); });
  };
  const zoom = by => {
    const centre = from + span / 2;
    span = Math.max(Math.min(frames, 16), Math.min(frames, Math.round(span * by)));
    from = Math.round(centre - span / 2);
    redraw();
  };
  const scroll = by => { from = Math.round(from + by * span); redraw(); };
  const actions = {back: () => scroll(-0.8), on: () => scroll(0.8), in: () => zoom(0.5), out: () => zoom(2),
                   larger: () => { gain *= 1.5; redraw(); }, smaller: () => { gain /= 1.5; redraw(); }};
  for (const b of document.querySelectorAll('.controls button')) b.addEventListener('click', actions[b.dataset.do]);
  box.addEventListener('wheel', e => {
    const sideways = Math.abs(e.deltaX) > Math.abs(e.deltaY);
    if (!e.ctrlKey && !sideways && !e.shiftKey) return;  // the page scrolls
    e.preventDefault();
    if (e.ctrlKey) zoom(e.deltaY > 0 ? 1.25 : 0.8);
    else scroll((sideways ? e.deltaX : e.deltaY) / 1000);
  }, {passive: false});
  box.addEventListener('keydown', e => {
    const action = {ArrowLeft: actions.back, ArrowRight: actions.on, '+': actions.in, '-': actions.out}[e.key];
    if (action) { action(); e.preventDefault(); }
  });
  let held = null;
  box.addEventListener('pointerdown', e => { held = {x: e.clientX, from}; box.setPointerCapture(e.pointerId); });
  box.addEventListener('pointermove', e => {
    if (!held) return;
    from = Math.round(held.from - (e.clientX - held.x) * span / Math.max(1, box.clientWidth - 58));
    redraw();
  });
  for (const end of ['pointerup', 'pointercancel']) box.addEventListener(end, () => { held = null; });
  place.addEventListener('input', () => { from = +place.value; redraw(); });
  showSources.addEventListener('change', redraw);
  table.addEventListener('change', () => { tell(); redraw(); });
  addEventListener('resize', redraw);
  addEventListener('beforeprint', draw);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  matchMedia('print').addEventListener('change', draw);
  // Where it begins: at the largest peak of what is removed.
  const begin = () => {
    const k = marked()[0];
    if (k === undefined) return;
    let most = -1, at = 0, sum = 0;
    const y = new Float64Array(frames);
    for (let t = 0; t < frames; ++t) {
      for (let i = 0; i < n; ++i) y[t] += unmixing[k * n + i] * (channel(i, t) - mean[i]);
      sum += y[t] / frames;
    }
    for (let t = 0; t < frames; ++t) if (Math.abs(y[t] - sum) > most) { most = Math.abs(y[t] - sum); at = t; }
    from = Math.round(at - span / 2);
  };
  begin();
  draw();
})();
)js";

}  // namespace demix::report
