'use strict';
// The labels of the rows, and the details of one source.

const percent = x => (100 * x >= 10 ? (100 * x).toFixed(0) : (100 * x).toFixed(1)) + ' %';

const short = x => x === null ? '–' : Math.abs(x) >= 10 ? x.toFixed(0) : x.toFixed(1);

function labels() {
  const s = page.status;
  $('labels').replaceChildren(...page.shown.map((row, place) => {
    const k = row - s.channels_shown;
    const label = document.createElement('div');
    label.className = 'label';
    label.dataset.row = row;
    const what = document.createElement('span');
    what.className = 'what';
    what.append(document.createElement('span'), document.createElement('small'));
    label.append(what);
    const button = (text, title, action) => {
      const b = document.createElement('button');
      b.textContent = text;
      b.title = title;
      b.setAttribute('aria-label', title);
      b.addEventListener('click', e => { e.stopPropagation(); action(); });
      label.append(b);
    };
    if (Listener.possible(s.rate)) button('♪', 'Listen to it', () => listen(row));
    if (k >= 0) button('M', 'Mute it in the output', () => mute(k));
    label.addEventListener('click', () => choose(place, true));
    return label;
  }));
  tell();
}

function tell() {
  const s = page.status;
  for (const label of $('labels').children) {
    const row = Number(label.dataset.row), k = row - s.channels_shown;
    const [name, small] = label.firstChild.children;
    const muted = k >= 0 && s.muted.includes(k + 1);
    name.textContent = k < 0 ? s.channel_names[row] || 'input ' + (row + 1) : s.names[k];
    label.title = name.textContent;
    const used = k < 0 || s.in_use.includes(k + 1);
    const facts = () => (muted ? 'muted, ' : '') + percent(s.power[k]) + ', kurt. ' + short(s.kurtosis[k]);
    small.textContent = k < 0 ? '' : used ? facts() : 'not in use';
    small.title = small.textContent;
    label.classList.toggle('muted', muted);
    label.classList.toggle('unused', !used && s.rank > 0);
    label.classList.toggle('chosen', row === page.shown[page.chosen]);
    for (const b of label.querySelectorAll('button')) {
      const on = b.textContent === 'M' ? muted : page.listener && page.listener.row === row;
      b.setAttribute('aria-pressed', String(Boolean(on)));
    }
  }
}

function choose(place, open) {
  page.chosen = Math.max(0, Math.min(place, page.shown.length - 1));
  tell();
  reveal();
  const k = page.shown[page.chosen] - page.status.channels_shown;
  if (k < 0) $('detail').hidden = true;
  else if (open || !$('detail').hidden) detail(k);
}

// Scrolls the chosen row to where the details do not cover it.
function reveal() {
  const label = $('labels').children[page.chosen];
  if (!label) return;
  label.style.scrollMarginBottom = ($('detail').hidden ? 16 : $('detail').offsetHeight + 30) + 'px';
  label.scrollIntoView({block: 'nearest'});
}

async function detail(k) {
  const opened = $('detail').hidden || page.detail !== k;
  page.detail = k;
  $('detail').hidden = false;
  if (opened) $('name').value = page.status.names[k];
  let o;
  try {
    o = await (await fetch(address('output', {output: k + 1}))).json();
  } catch {
    return;
  }
  const s = page.status;
  if (page.detail !== k || $('detail').hidden) return;
  $('detail-facts').textContent = 'Source ' + (k + 1) + ': kurtosis ' + brief(s.kurtosis[k]) + ' ± ' +
    brief(s.kurtosis_error[k]) + ' (a Gaussian has 3), ' + percent(s.power[k]) + ' of the power of all channels' +
    (s.muted.includes(k + 1) ? ', muted' : '') + '.';
  const most = o.weights.reduce((m, w, i) => Math.abs(w) > Math.abs(o.weights[m]) ? i : m, 0);
  const channel = s.channel_names[most] || 'input ' + (most + 1);
  $('strongest').textContent = '(' + brief(o.weights[most]) + ' on ' + channel + ')';
  $('detail-mute').setAttribute('aria-pressed', String(s.muted.includes(k + 1)));
  $('detail-listen').hidden = !Listener.possible(s.rate);
  const heard = page.listener && page.listener.row === s.channels_shown + k;
  $('detail-listen').setAttribute('aria-pressed', String(Boolean(heard)));
  $('spectrum-span').textContent = spectrumSpan(o.spectrum);
  drawSpectrum($('spectrum'), o.spectrum, s.rate);
  drawWeights($('weights'), o.weights);
  $('scalp').hidden = !o.map;
  $('detail').classList.toggle('mapped', Boolean(o.map));
  if (o.map) drawMap($('map'), o.map);
  if (opened) reveal();
}
