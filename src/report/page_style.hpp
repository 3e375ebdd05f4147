#pragma once

#include <string_view>

namespace demix::report {

// Colours are Okabe and Ito's, which colour-blind readers can tell apart; those of the paper's figure 2.
inline constexpr std::string_view page_style = R"css(
:root { --paper: #fffefb; --ink: #1a1a1a; --soft: #5c5c5c; --rule: #d8d5cc; --tint: #f5f2ea;
  --recovered: #d55e00; --true: #0072b2; --residual: #009e73; color-scheme: light dark; }
@media screen and (prefers-color-scheme: dark) {
  :root { --paper: #17181a; --ink: #e4e2dc; --soft: #a5a29a; --rule: #3d3e40; --tint: #222426;
    --recovered: #e69f00; --true: #56b4e9; --residual: #1fbf92; }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; padding: 2.5rem 1.25rem 3rem; max-width: 62rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 Charter, "Bitstream Charter", "Source Serif 4", "Noto Serif", Georgia, serif;
  overflow-wrap: anywhere; font-variant-numeric: lining-nums; }
h1 { font-size: 1.7rem; font-weight: normal; line-height: 1.2; margin: 0 0 1.2rem; }
h2 { font-size: 1.2rem; margin: 2.6rem 0 .6rem; border-bottom: 1px solid var(--rule); padding-bottom: .2rem; }
h3 { font-size: 1rem; font-weight: normal; font-style: italic; margin: 1.2rem 0 .3rem; }
p { margin: .4rem 0; max-width: 46rem; }
a { color: inherit; }
nav { margin: 1.2rem 0 0; font-size: .9rem; }
nav a { margin-right: 1.1rem; white-space: nowrap; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1.2rem; margin: 0; }
dt { color: var(--soft); }
dd { margin: 0; }
small, figcaption, .axis, .scale { font-size: .84rem; color: var(--soft); }
figure { margin: 0; }
figcaption { max-width: 46rem; margin: 0 0 .6rem; line-height: 1.4; }
code { font: .85rem/1.45 "DejaVu Sans Mono", Menlo, Consolas, monospace; }
pre { margin: .3rem 0; padding: .6rem .8rem; background: var(--tint); white-space: pre-wrap; }
.warnings { margin: .4rem 0; padding: .5rem .8rem .5rem 2rem; max-width: 46rem; background: var(--tint);
  border-left: 3px solid var(--recovered); }
.row { display: grid; grid-template-columns: 8.5rem 3fr 3fr 4rem; gap: 0 .8rem; align-items: center;
  padding: .3rem 0; break-inside: avoid; }
.row.short { grid-template-columns: 8.5rem 1fr 4rem; }
.row.beside { align-items: start; }
.row > div { min-width: 0; }
.name { line-height: 1.25; }
.name small { display: block; font-size: .75rem; }
.axis span { display: flex; justify-content: space-between; border-top: 1px solid var(--rule); }
.axis i { font-style: normal; }
svg { display: block; width: 100%; height: 3.2rem; overflow: visible; }
.many svg { height: 2.1rem; }
.many .row { padding: .1rem 0; }
path { fill: none; stroke: var(--ink); stroke-width: 1; stroke-linejoin: round; vector-effect: non-scaling-stroke; }
.recovered path.line { stroke: var(--recovered); }
path.true { stroke: var(--true); stroke-width: 4; }
path.over { stroke: var(--recovered); stroke-width: 1.2; }
path.residual { stroke: var(--residual); }
path.zero { stroke: var(--soft); stroke-width: .5; }
.histogram path { fill: var(--ink); fill-opacity: .25; }
.recovered .histogram path { fill: var(--recovered); stroke: var(--recovered); }
.histogram path.true { fill: var(--true); stroke: var(--true); stroke-width: 1; }
.histogram path.over { fill: none; stroke: var(--recovered); }
.key { color: var(--ink); border-bottom: 3px solid; }
.key.recovered { border-color: var(--recovered); }
.key.true { border-color: var(--true); }
.key.residual { border-color: var(--residual); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .95rem; border-top: 1.5px solid var(--ink);
  border-bottom: 1.5px solid var(--ink); font-variant-numeric: lining-nums tabular-nums; }
th, td { padding: .18rem 1.3rem .18rem 0; text-align: right; vertical-align: baseline; white-space: nowrap; }
th { font-weight: normal; color: var(--soft); border-bottom: 1px solid var(--rule); }
td.word, th.word { text-align: left; white-space: normal; min-width: 7rem; }
th:last-child, td:last-child { padding-right: .2rem; }
tbody th { color: inherit; border: 0; }
.sounds { margin: .6rem 0 1.2rem; display: grid; gap: .8rem 1.5rem;
  grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); }
.sounds > div { break-inside: avoid; }
audio { display: block; width: 100%; max-width: 26rem; height: 2.6rem; margin-top: .2rem; }
.pictures { display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); gap: 1rem 1.2rem; }
.pictures > figure { break-inside: avoid; }
.pictures img { display: block; width: 100%; height: auto; background: var(--tint); }
.pictures figcaption { margin: .25rem 0 .1rem; }
.pictures svg { height: 1.8rem; }
.weights .row { grid-template-columns: 8.5rem 1fr; padding: .2rem 0; }
.weights .channels { max-height: 6rem; overflow: hidden; display: flex; color: var(--soft); }
.weights .channels span { flex: 1 1 0; min-width: 0; writing-mode: vertical-rl; white-space: nowrap; line-height: 1;
  display: flex; align-items: center; justify-content: flex-start; overflow-wrap: normal; }
rect.up { fill: var(--recovered); }
rect.down { fill: var(--true); }
.suggestions { margin: .4rem 0; padding: .5rem .8rem .5rem 1.2rem; max-width: 46rem; background: var(--tint);
  border-left: 3px solid var(--residual); list-style: none; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(8.6rem, 1fr)); gap: 1rem 1.2rem; }
.card { break-inside: avoid; padding: .4rem; min-width: 0; }
.card.found { background: var(--tint); box-shadow: inset 0 3px var(--residual); }
.card figcaption { margin: 0 0 .2rem; color: var(--ink); min-height: 2.4rem; line-height: 1.2; }
.card small { display: block; font-size: .75rem; }
.card svg { height: 2.2rem; margin-top: .3rem; }
.card svg.map { height: auto; aspect-ratio: 1; margin: 0; }
.card path.line { stroke: var(--recovered); }
path.head { stroke: var(--soft); stroke-width: 1.3; }
path.electrodes { stroke: #1a1a1a; stroke-width: 2.6; stroke-linecap: round; }
.ends { display: flex; justify-content: space-between; font-size: .7rem; color: var(--soft);
  border-top: 1px solid var(--rule); }
.ends i { font-style: normal; }
.trials { position: relative; margin-top: .4rem; height: 4.6rem; }
.trials img { display: block; width: 100%; height: 100%; }
.trials b { position: absolute; top: 0; bottom: 0; border-left: 1px solid #1a1a1a; }
#sorted button { font: inherit; color: inherit; background: none; border: 0; padding: 0; cursor: pointer; }
#sorted th[aria-sort] button::after { content: " ▾"; }
#sorted th[aria-sort=ascending] button::after { content: " ▴"; }
#sorted input { margin: 0; }
.key.before { border-color: var(--recovered); }
.key.after { border-color: var(--ink); }
.controls { display: flex; flex-wrap: wrap; gap: .4rem .5rem; align-items: center; margin: .5rem 0; font-size: .9rem; }
.controls button { font: inherit; color: inherit; background: var(--tint); border: 1px solid var(--rule);
  border-radius: 3px; padding: .1rem .6rem; cursor: pointer; }
#viewer { cursor: grab; touch-action: pan-y; overflow: hidden; }
#viewer canvas { display: block; width: 100%; }
#place { display: block; width: 100%; margin: .3rem 0; }
@media (max-width: 40rem) {
  body { padding: 1.2rem 1rem 2rem; }
  h1 { font-size: 1.4rem; }
  .row { grid-template-columns: 1fr 1fr 2.6rem; }
  .row.short { grid-template-columns: 1fr 2.6rem; }
  .weights .row { grid-template-columns: 1fr; }
  .row > .name { grid-column: 1 / -1; }
  .name small { display: inline; margin-left: .6rem; }
  .axis .name { display: none; }
  th, td { padding-right: .8rem; }
}
@media print {
  :root { color-scheme: light; }
  html { font-size: 10pt; }
  body { padding: 0; max-width: none; }
  .axis { break-before: avoid; }
  nav, audio, .controls, #place { display: none; }
  h2, h3, figcaption { break-after: avoid; }
  tr, pre, .warnings { break-inside: avoid; }
  svg, rect, pre, .warnings { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
)css";

}  // namespace demix::report
