'use strict';
// The page: asks for columns of the signals, draws them, shows what the stream says, sends what is done.

const $ = id => document.getElementById(id);
const key = new URLSearchParams(location.search).get('key') || '';
const page = {status: null, data: null, hold: null, chosen: 0, columns: 0, step: 1, wide: 1, frames: 0, scales: [],
  shown: [], drawn: -1};
window.demix = page;  // for those who look at it from the console

const address = (path, query) => path + '?' + new URLSearchParams({...query, key});
const plain = n => Number(n).toLocaleString('en');
const brief = x => x === null || !isFinite(x) ? '–' : Math.abs(x) >= 1000 ? x.toFixed(0) : String(+x.toPrecision(3));

function time(frame) {
  const rate = page.status.rate;
  if (!(rate > 0)) return plain(frame);
  const s = frame / rate;
  if (s < 120) return brief(+s.toFixed(3)) + ' s';
  const whole = Math.floor(s + 1e-6), m = Math.floor(whole / 60) % 60, h = Math.floor(whole / 3600);
  const two = n => String(n).padStart(2, '0');
  return (h > 0 ? h + ':' + two(m) : m) + ':' + two(whole % 60) + (h > 0 ? ' h' : ' min');
}

function note(text) {
  $('note').hidden = !text;
  $('note').textContent = text;
}

async function fetchFrames(query) {
  const answer = await fetch(address('frames', query));
  if (!answer.ok) throw new Error(await answer.text());
  const bytes = await answer.arrayBuffer();
  const head = new DataView(bytes);
  const whole = at => Number(head.getBigInt64(at, true));
  const small = at => head.getUint32(at, true);
  return {from: whole(8), step: whole(16), end: whole(24), count: small(32), rows: small(36), each: small(40),
    values: new Float32Array(bytes, 48)};
}

async function act(path, query = {}) {
  try {
    const answer = await fetch(address(path, query), {method: 'POST'});
    note(answer.ok ? '' : (await answer.text()).trim());
  } catch {
    note('The stream cannot be reached.');
  }
}

// ---- what is in view

function rowHeight() {
  const n = page.shown.length;
  return n <= 10 ? 58 : n <= 20 ? 42 : n <= 64 ? 26 : 20;
}

function chooseRows() {
  const s = page.status, which = $('which').value;
  page.shown = [];
  if (which !== 'sources') for (let i = 0; i < s.channels_shown; ++i) page.shown.push(i);
  if (which !== 'inputs') for (let k = 0; k < s.outputs_shown; ++k) page.shown.push(s.channels_shown + k);
}

// How many frames go into a column, and how many pixels wide it is.
function layOut() {
  const s = page.status;
  const width = Math.max(50, Math.floor($('traces').parentElement.clientWidth - $('labels').offsetWidth));
  page.frames = Math.max(2, Math.round($('window').value * (s.rate > 0 ? s.rate : 1)));
  const most = Math.floor(1048576 / 2 / (s.channels_shown + s.outputs_shown));
  const columns = Math.max(16, Math.min(width, most, 4096, page.frames));
  page.step = Math.max(1, Math.round(page.frames / columns));
  page.columns = Math.ceil(page.frames / page.step);
  page.wide = width / page.columns;
  if (page.step > 1 && page.wide > 0.7 && page.wide < 1.4 && columns === width) {
    page.wide = 1;
    page.columns = width;
  }
  page.width = width;
  page.row = rowHeight();
  page.height = page.row * page.shown.length;
  document.documentElement.style.setProperty('--row', page.row + 'px');
  $('labels').classList.toggle('dense', page.row < 40);
  for (const name of ['traces', 'over']) {
    $(name).style.width = width + 'px';
    $(name).style.height = page.height + 22 + 'px';
  }
  $('over').style.left = $('labels').offsetWidth + 'px';
  page.data = new Columns(s.channels_shown + s.outputs_shown, page.columns, page.step);
  page.scales = [];
  page.drawn = -1;
}

function endInView() { return page.hold === null ? page.data.end : page.hold; }

// True if the scale of a row is not what it was.
function rescale() {
  const end = endInView(), from = Math.max(end - page.columns, 0);
  const s = page.status, own = $('gain').value === 'own';
  const found = page.shown.map(row => page.data.range(row, from, end));
  for (const inputs of [true, false]) {
    const is = row => (row < s.channels_shown) === inputs;
    const most = Math.max(0, ...found.map((r, i) => r && is(page.shown[i]) ? r.half : 0));
    if (!own) found.forEach((r, i) => { if (r && is(page.shown[i])) r.half = most; });
  }
  let changed = false;
  page.shown.forEach((row, i) => {
    const is = found[i], was = page.scales[row];
    if (!is) return;
    const fits = was && Math.abs(is.middle - was.middle) + is.half <= 1.05 * was.half && is.half >= 0.6 * was.half;
    if (fits || (was && was.half === is.half)) return;
    page.scales[row] = {middle: is.middle, half: 1.02 * is.half};
    changed = true;
  });
  return changed;
}

function draw(all) {
  const data = page.data, end = endInView();
  if (!data || data.end < 0) return;
  const context = prepare($('traces'), page.width, page.height + 22);
  const pixels = page.wide * (window.devicePixelRatio || 1);
  const fresh = end - page.drawn;
  if (rescale() || page.drawn < 0 || fresh < 0 || fresh > page.columns / 2 || !Number.isInteger(pixels)) all = true;
  if (!all && fresh === 0) return overlay();
  const s = page.status;
  const ink = colour('--ink'), source = colour('--source'), soft = colour('--rule');
  const colours = [];
  for (const row of page.shown) {
    const k = row - s.channels_shown;
    colours[row] = k < 0 ? ink : s.muted.includes(k + 1) ? soft : source;
  }
  const look = {from: end - page.columns, to: end, left: page.width - page.columns * page.wide, wide: page.wide,
    shown: page.shown, height: page.row, scales: page.scales, colours};
  if (all) {
    context.clearRect(0, 0, page.width, page.height + 22);
  } else {
    context.save();  // what is there moves to the left
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.globalCompositeOperation = 'copy';
    context.drawImage($('traces'), -fresh * pixels, 0);
    context.restore();
    const left = page.width - fresh * page.wide;
    context.clearRect(left, 0, page.width - left, page.height);
    look.left += (page.columns - fresh - 1) * page.wide;
    look.from = end - fresh - 1;
  }
  drawTraces(context, data, look);
  page.drawn = end;
  overlay();
}

// Where the axis goes: below the rows, or at the lower edge of what is seen of them.
function axisAt() {
  const covered = $('detail').hidden ? 0 : $('detail').offsetHeight;
  const seen = innerHeight - covered - $('over').getBoundingClientRect().top - 22;
  return Math.round(Math.max(2 * page.row, Math.min(page.height, seen)));
}

// The axis, changes of the mixing and marks: on a canvas of their own, as the traces move.
function overlay() {
  const context = prepare($('over'), page.width, page.height + 22);
  context.clearRect(0, 0, page.width, page.height + 22);
  const s = page.status, end = endInView() * page.step;
  const x = frame => page.width - (end - frame) / page.step * page.wide;
  const seen = page.width / page.wide * page.step;
  const unit = s.rate > 0 ? s.rate : 1;
  const rough = seen / unit / Math.max(2, page.width / 90);
  const ten = Math.pow(10, Math.floor(Math.log10(rough)));
  const between = [1, 2, 5, 10].find(n => n * ten >= rough) * ten * unit;
  context.font = '11px sans-serif';
  context.textAlign = 'center';
  const axis = axisAt();
  context.fillStyle = colour('--paper');
  context.fillRect(0, axis, page.width, 22);
  context.fillStyle = colour('--soft');
  context.fillRect(0, axis + 0.5, page.width, 0.5);
  for (let n = Math.max(0, Math.ceil((end - seen) / between)); n * between <= end; ++n) {
    const at = Math.round(x(n * between)) + 0.5;
    context.fillRect(at, axis, 1, 4);
    const text = time(n * between), half = context.measureText(text).width / 2 + 2;
    if (at - half > 0 && at + half < page.width) context.fillText(text, at, axis + 16);
  }
  const boundary = page.shown.findIndex(row => row >= s.channels_shown);
  if (boundary > 0) {
    context.fillStyle = colour('--rule');
    context.fillRect(0, boundary * page.row - 0.5, page.width, 1);
  }
  context.textAlign = 'left';
  const line = (frame, text, shade, dash) => {
    if (frame < end - seen || frame > end) return;
    const at = Math.round(x(frame)) + 0.5;
    context.strokeStyle = context.fillStyle = shade;
    context.setLineDash(dash);
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(at, 0);
    context.lineTo(at, page.height);
    context.stroke();
    context.textAlign = at > page.width - 130 ? 'right' : 'left';
    context.fillText(text, at + (at > page.width - 130 ? -5 : 5), 11);
  };
  for (const frame of s.changes) line(frame, 'mixing changed', colour('--change'), []);
  for (const mark of s.marks) line(mark.frame, mark.text || 'mark', colour('--mark'), [4, 3]);
}

// ---- from the stream

async function more() {
  const s = page.status;
  let pause = 50;
  try {
    if (page.data && page.hold === null && !document.hidden) {
      const data = page.data;
      const query = {step: page.step, count: page.columns};
      if (data.end >= 0) query.from = data.end * page.step;
      let part = await fetchFrames(query);
      if (part.end - part.from > 2 * page.columns * page.step) {  // far behind: from now on
        delete query.from;
        part = await fetchFrames(query);
      }
      if (data === page.data && page.hold === null) {
        data.add(part);
        draw(false);
      }
    }
  } catch {
    pause = 1000;
  }
  if (!s.ended) setTimeout(more, pause);
}

async function restart() {
  if (page.status.ended && page.data) return;  // there is nothing to ask any more
  const hold = page.hold, step = page.step;
  chooseRows();
  layOut();
  labels();
  if (hold !== null) await goTo(Math.round(hold * step / page.step));
}

function hold() {
  page.hold = page.data.end;
  $('pause').setAttribute('aria-pressed', 'true');
  $('past').hidden = page.status.ended;
}

// Holds the picture with this column at the right.
async function goTo(end) {
  const [first, last] = page.status.shown.map(f => Math.floor(f / page.step));
  page.hold = Math.max(Math.min(first + page.columns, last), Math.min(end, last));
  $('pause').setAttribute('aria-pressed', 'true');
  $('past').hidden = false;
  placeScroll();
  const data = new Columns(page.data.rows, page.columns, page.step);
  const from = Math.max(0, page.hold - page.columns);
  const part = await fetchFrames({step: page.step, count: page.hold - from || 1, from: from * page.step});
  data.add(part);
  page.data = data;
  page.scales = [];
  draw(true);
}

function placeScroll() {
  const [first, last] = page.status.shown.map(f => Math.floor(f / page.step));
  const range = last - first - page.columns;
  $('scroll').value = range > 0 ? 1000 * (page.hold - first - page.columns) / range : 1000;
}

function pause(on) {
  if (on === (page.hold !== null)) return;
  if (on) {
    hold();
    placeScroll();
  } else if (!page.status.ended) {
    page.hold = null;
    $('pause').setAttribute('aria-pressed', 'false');
    $('past').hidden = true;
    layOut();
  }
}

function show(status) {
  const first = page.status === null;
  page.status = status;
  if (first) return begin();
  const s = status, facts = [];
  const add = (text, warn) => {
    if (facts.length > 0) facts.push(' · ');
    const b = document.createElement('b');
    b.textContent = text;
    if (warn) b.className = 'warn';
    facts.push(b);
  };
  add(plain(s.frames) + ' frames' + (s.rate > 0 ? ', ' + time(s.frames) : ''));
  if (s.frames_per_second > 0) {
    const times = s.rate > 0 ? ', ' + brief(s.frames_per_second / s.rate) + '× real time' : '';
    add(brief(s.frames_per_second) + ' frames/s' + times);
  }
  const sources = s.rank + (s.rank === 1 ? ' source ' : ' sources ');
  add(s.rank === 0 ? 'nothing separated yet' : sources + (s.settled ? 'settled' : 'still settling'));
  if (s.expected_error !== null) add('expected error ' + brief(10 * Math.log10(s.expected_error)) + ' dB');
  if (s.may_be_mixed.length > 0) {
    const pairs = s.may_be_mixed.slice(0, 3).map(p => p.join(' and ')).join(', ');
    const others = s.may_be_mixed.length - 3;
    add('may still be mixed: ' + pairs + (others > 0 ? ' and ' + others + ' more pairs' : ''), true);
  }
  if (s.refused > 0) add(plain(s.refused) + ' refused', true);
  if (s.outliers > 0) add(plain(s.outliers) + ' outliers');
  const changes = s.changes.length;
  if (changes > 0) {
    add('mixing changed ' + (changes > 1 ? changes + ' times, last at ' : 'at ') + time(s.changes[changes - 1]));
  }
  if (s.frozen) add('learning frozen', true);
  if (s.ended) add('the stream has ended', true);
  $('facts').replaceChildren(...facts);
  $('freeze').setAttribute('aria-pressed', String(s.frozen));
  $('freeze').textContent = s.frozen ? 'Go on learning' : 'Freeze learning';
  tell();
  overlay();
  if (s.ended) {
    if (page.listener) page.listener.stop();
    if (page.hold === null) hold();
  }
}

// ---- actions

const mute = k => act('mute', {output: k + 1, on: page.status.muted.includes(k + 1) ? 0 : 1});
const freeze = () => act('freeze', {on: page.status.frozen ? 0 : 1});
const mark = () => act('mark', {text: ''});
const save = () => act('save');
function listen(row) {
  page.listener = page.listener || new Listener(fetchFrames, page.status.rate);
  if (page.listener.row === row) page.listener.stop();
  else page.listener.start(row);
  tell();
  if (!$('detail').hidden) detail(page.detail);
}

function dark(on) {
  document.documentElement.classList.toggle('dark', on);
  if (page.data) draw(true);
  if (!$('detail').hidden) detail(page.detail);
}

function begin() {
  const s = page.status;
  document.title = s.title + ' – demix';
  $('title').textContent = s.title;
  const lengths = s.rate > 0 ? [0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60, 120, 300].filter(t => t * s.rate >= 50)
    : [100, 200, 500, 1000, 2000, 5000, 10000, 50000, 200000, 1000000];
  const usual = s.rate >= 3000 ? 5 : s.rate > 0 ? 10 : 5000;
  for (const length of lengths) {
    const seconds = length < 60 ? length + ' s' : length / 60 + ' min';
    $('window').add(new Option(s.rate > 0 ? seconds : plain(length) + ' frames', length, false, length === usual));
  }
  const over = document.createElement('canvas');
  over.id = 'over';
  over.style.cssText = 'position:absolute;top:0;pointer-events:none';
  $('view').style.position = 'relative';
  $('view').append(over);
  $('save').disabled = !s.model_file;
  $('save').title = s.model_file ? 'Save the model to ' + s.model_file + ' (s)'
    : 'Start the stream with --model FILE to save it there';
  $('download').href = address('model.json', {});
  restart();
  show(s);
  more();
  setInterval(() => { if (!$('detail').hidden && !document.hidden) detail(page.detail); }, 1000);
}

function back(columns) { goTo((page.hold === null ? page.data.end : page.hold) + Math.round(columns)); }

const keys = {
  ' ': () => pause(page.hold === null),
  ArrowLeft: () => back(-page.columns / 4),
  ArrowRight: () => back(page.columns / 4),
  ArrowUp: () => choose(page.chosen - 1),
  ArrowDown: () => choose(page.chosen + 1),
  Enter: () => choose(page.chosen, true),
  Escape: () => { $('detail').hidden = true; },
  '+': () => zoom(-1),
  '=': () => zoom(-1),
  '-': () => zoom(1),
  m: () => {
    const k = page.shown[page.chosen] - page.status.channels_shown;
    if (k >= 0) mute(k);
  },
  l: () => { if (Listener.possible(page.status.rate)) listen(page.shown[page.chosen]); },
  f: freeze,
  k: mark,
  s: () => { if (page.status.model_file) save(); },
};
function zoom(by) {
  const next = $('window').selectedIndex + by;
  if (next < 0 || next >= $('window').length) return;
  $('window').selectedIndex = next;
  restart();
}

document.addEventListener('keydown', e => {
  if (!page.status || e.ctrlKey || e.metaKey || e.altKey || /INPUT|SELECT/.test(e.target.tagName)) return;
  if (e.target.tagName === 'BUTTON' && (e.key === ' ' || e.key === 'Enter')) return;
  if (!keys[e.key]) return;
  e.preventDefault();
  keys[e.key]();
});
$('pause').addEventListener('click', () => pause(page.hold === null));
$('live').addEventListener('click', () => pause(false));
$('freeze').addEventListener('click', freeze);
$('mark').addEventListener('click', mark);
$('save').addEventListener('click', save);
$('detail-mute').addEventListener('click', () => mute(page.detail));
$('detail-listen').addEventListener('click', () => listen(page.status.channels_shown + page.detail));
$('close').addEventListener('click', () => { $('detail').hidden = true; });
$('rename').addEventListener('submit', e => {
  e.preventDefault();
  act('rename', {output: page.detail + 1, name: $('name').value});
});
$('theme').addEventListener('click', () => dark(!document.documentElement.classList.contains('dark')));
for (const id of ['window', 'which']) $(id).addEventListener('change', restart);
$('gain').addEventListener('change', () => { page.scales = []; draw(true); });
$('scroll').addEventListener('input', () => {
  const [first, last] = page.status.shown.map(f => Math.floor(f / page.step));
  goTo(first + page.columns + Math.round($('scroll').value / 1000 * (last - first - page.columns)));
});
addEventListener('scroll', () => { if (page.data) overlay(); }, {passive: true});
addEventListener('resize', () => { if (page.status) restart(); });
const scheme = matchMedia('(prefers-color-scheme: dark)');
dark(scheme.matches);
scheme.addEventListener('change', () => dark(scheme.matches));

const events = new EventSource(address('events', {}));
events.addEventListener('status', e => {
  show(JSON.parse(e.data));
  if (page.status.ended) events.close();
});
events.addEventListener('action', async () => {  // at once, not with the next status
  const answer = await fetch(address('status', {}));
  if (answer.ok) { show(await answer.json()); draw(true); }
});
events.addEventListener('error', () => {
  if (page.status && !page.status.ended) note('The stream cannot be reached; trying again.');
});
events.addEventListener('open', () => note(''));
