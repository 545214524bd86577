"""How the page looks: one sheet, light and dark, narrow and wide, and on paper."""

STYLE = """
:root {
  color-scheme: light dark;
  --page: #fbfbfa; --card: #fff; --ink: #1d2126; --soft: #5d6670; --faint: #8a939c;
  --line: #e2e4e7; --wash: #f3f4f5; --accent: #2563c9; --error: #c22f2f; --warning: #9a6400;
  --error-wash: #fdf0ef; --warning-wash: #fdf6e6; --fine: #2c7a4b;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171a; --card: #1b1f23; --ink: #e4e7ea; --soft: #a3acb5; --faint: #77818b;
    --line: #2e343a; --wash: #22272c; --accent: #7eaaf5; --error: #f28b82; --warning: #e6b655;
    --error-wash: #33201f; --warning-wash: #30291a; --fine: #7cc697;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
}
main, header, footer { max-width: 76rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 2rem; }
h1 { font-size: 1.45rem; margin: 0; font-weight: 650; }
h2 { font-size: 1.25rem; margin: 0; font-weight: 650; overflow-wrap: anywhere; }
h3 { font-size: 1rem; margin: 2rem 0 .6rem; font-weight: 650; }
p { margin: .4rem 0; overflow-wrap: anywhere; }
a { color: var(--accent); text-decoration: none; }
a:hover { text-decoration: underline; }
code, .code { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: .86em;
  overflow-wrap: anywhere; }
header p, .facts, .soft { color: var(--soft); }
.experiment { margin: 2rem 0 3rem; padding-top: 1.5rem; border-top: 1px solid var(--line); }
.title { display: flex; flex-wrap: wrap; gap: .3rem 1rem; align-items: baseline;
  justify-content: space-between; }
.verdict { font-weight: 600; white-space: nowrap; }
.error { color: var(--error); } .warning { color: var(--warning); } .info { color: var(--soft); }
.fine { color: var(--fine); }
dl.about { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem;
  margin: .6rem 0 0; }
dl.about dt { color: var(--faint); } dl.about dd { margin: 0; min-width: 0; }
.scroll { overflow-x: auto; background: var(--card); border: 1px solid var(--line);
  border-radius: 8px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .38rem .75rem; text-align: left; vertical-align: baseline; }
th { color: var(--faint); font-weight: 500; font-size: .82rem; white-space: nowrap; }
tbody tr { border-top: 1px solid var(--line); }
tbody tr:first-child { border-top-color: var(--line); }
td.number, th.number { text-align: right; }
td.code { min-width: 9rem; }
td .whole { white-space: nowrap; }
td.number { white-space: nowrap; }
td.note { min-width: 8rem; }
td.behind { color: var(--error); font-weight: 650; }
td.note, td .note { color: var(--soft); }
.groups { display: grid; gap: .8rem; }
.group { background: var(--card); border: 1px solid var(--line);
  border-left: 3px solid var(--faint); border-radius: 8px; padding: .8rem 1rem; min-width: 0; }
.group.error { border-left-color: var(--error); color: inherit; }
.group.warning { border-left-color: var(--warning); color: inherit; }
.group.info { color: inherit; }
.group h4 { margin: 0; font-size: 1rem; font-weight: 650; }
.group > p { margin-top: .15rem; }
.badge { display: inline-block; font-size: .78rem; font-weight: 650; padding: .05rem .5rem;
  border-radius: 1rem; margin-right: .45rem; background: var(--wash); }
.badge.error { background: var(--error-wash); } .badge.warning { background: var(--warning-wash); }
.finding { border-top: 1px solid var(--line); margin-top: .7rem; padding-top: .6rem; }
.finding p { margin: .1rem 0; overflow-wrap: anywhere; }
.evidence { display: grid; grid-template-columns: max-content minmax(4rem, max-content) 1fr;
  gap: .1rem 1rem; margin: .35rem 0; font-size: .9rem; }
.evidence > * { min-width: 0; overflow-wrap: anywhere; }
.evidence .who, .evidence .place { color: var(--soft); }
.remedy { background: var(--wash); border-radius: 6px; padding: .35rem .65rem; margin-top: .4rem;
  overflow-wrap: anywhere; }
details > summary { cursor: pointer; color: var(--soft); }
.why { margin: .35rem 0; } .why p { max-width: 46rem; }
.more { margin: .6rem 0 0; }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; color: var(--soft);
  font-size: .86rem; margin: .2rem 0 .8rem; }
.legend span { display: inline-flex; align-items: center; gap: .35rem; }
.legend svg { width: 16px; height: 16px; }
.trial { background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: .5rem 1rem; margin: .5rem 0; content-visibility: auto; contain-intrinsic-height: 3rem; }
.trial > summary { display: flex; flex-wrap: wrap; gap: 0 1rem; align-items: baseline;
  color: var(--ink); overflow-wrap: anywhere; }
.trial > summary::before { content: "▸"; color: var(--faint); width: .6rem; }
.trial[open] > summary::before { content: "▾"; }
.trial > summary::-webkit-details-marker { display: none; }
.trial > div > .code { color: var(--faint); font-size: .8rem; margin-left: 1.6rem; }
.trial .scroll { border: 0; border-top: 1px solid var(--line); border-radius: 0; }
[id] { scroll-margin-top: 3rem; }
svg.chart { width: 100%; max-width: 52rem; height: auto; display: block; margin: .6rem 0;
  overflow: visible; }
svg text { font-size: 11px; fill: var(--soft); } svg .name { fill: var(--ink); font-weight: 600; }
svg .end { text-anchor: end; } svg .mid { text-anchor: middle; }
svg .name { text-anchor: start; }
.grid { stroke: var(--line); } .axis { stroke: var(--faint); }
.curve { fill: none; stroke: var(--accent); stroke-opacity: .45; stroke-width: 1.5;
  stroke-linejoin: round; }
circle.kept, path.kept { fill: var(--accent); }
.many { stroke: var(--accent); stroke-width: 6; stroke-linecap: round; }
.evicted { stroke: var(--faint); stroke-width: 4.5; stroke-linecap: round; }
.missing { stroke: var(--error); stroke-width: 2.2; fill: none; }
.broken { stroke: var(--warning); stroke-width: 2; fill: var(--card); }
circle.latest { fill: none; stroke: var(--ink); stroke-width: 1.4; }
path.best { fill: var(--fine); }
footer { color: var(--faint); font-size: .86rem; padding-bottom: 2rem; }
@media (max-width: 64rem) {
  .stack thead { display: none; }
  .stack, .stack tbody { display: block; }
  .stack .whole, .stack td.number { white-space: normal; }
  .stack tr { display: flex; flex-wrap: wrap; gap: 0 1rem; padding: .45rem .75rem; }
  .stack td { padding: 0; min-width: 0; overflow-wrap: anywhere; }
  .stack td::before { content: attr(data-n) " "; color: var(--faint); font-weight: 400;
    font-family: system-ui, sans-serif; }
  .stack td:first-child { font-weight: 600; flex-basis: 100%; }
  .stack td:first-child::before, .stack td:empty { display: none; }
}
@media (max-width: 44rem) {
  body { font-size: 14px; }
  main, header, footer { padding-left: .8rem; padding-right: .8rem; }
  dl.about { grid-template-columns: 1fr; }
  dl.about dt { margin-top: .3rem; }
  .evidence { grid-template-columns: max-content 1fr; }
  .evidence .place { grid-column: 1 / -1; margin-bottom: .35rem; }
  .trial { padding: .5rem .7rem; }
  svg text { font-size: 17px; }
}
@media print { .trial { break-inside: avoid; } body { background: none; } }
"""
