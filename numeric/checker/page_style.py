"""How the page of a report looks: in light and in dark, from 320 px on, and on paper."""

STYLE = """
:root { --paper: #fff; --ink: #1c2430; --faint: #5b6675; --line: #d9dfe7; --good: #1a7f4b; --bad: #c62828; --unsure: #8a5a00;
  --card: #f6f8fa; color-scheme: light dark; }
@media (prefers-color-scheme: dark) { :root { --paper: #12161c; --ink: #e4e8ee; --faint: #9aa5b4; --line: #323b48;
  --good: #4cc38a; --bad: #ff6b6b; --unsure: #e0a33e; --card: #1a2029; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 64rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.3rem; line-height: 1.3; margin: 1rem 0 .5rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 0 0 .25rem; }
p { margin: .25rem 0; overflow-wrap: anywhere; }
article + article { border-top: 2px solid var(--line); margin-top: 3rem; }
.outcome { font-weight: 600; }
.setting, figcaption, .theorem { color: var(--faint); font-size: .9rem; }
.badge { font-size: .85em; font-weight: 600; padding: .1em .5em; border-radius: .3em; color: var(--paper); background: var(--faint);
  white-space: nowrap; }
.badge.good { background: var(--good); } .badge.bad { background: var(--bad); } .badge.unsure { background: var(--unsure); }
.finding { background: var(--card); border-left: 4px solid var(--faint); padding: .75rem 1rem; margin: .75rem 0; }
.finding.bad { border-color: var(--bad); } .finding.unsure { border-color: var(--unsure); }
code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; font-size: .95rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line);
  overflow-wrap: anywhere; }
th { font-weight: 600; width: 11rem; }
figure { margin: .5rem 0 1rem; }
svg { display: block; width: 100%; max-width: 44rem; height: auto; font: 10px system-ui, sans-serif; }
svg text { fill: var(--ink); }
.grid { stroke: var(--line); } .limit { stroke: var(--ink); stroke-width: 1.5; stroke-dasharray: 4 2; }
rect.good, circle.good { fill: var(--good); } rect.bad { fill: var(--bad); }
rect.cell { stroke: var(--paper); stroke-width: .5; }
summary { cursor: pointer; }
.contents { list-style: none; padding: 0; } .contents li { margin: .4rem 0; overflow-wrap: anywhere; }
a { color: inherit; }
@media (min-width: 50rem) { .pair { display: grid; grid-template-columns: 1fr 1fr; gap: 2rem; } }
@media (max-width: 30rem) { th { width: 8rem; } }
@media print { details { display: none; } .finding { break-inside: avoid; } }
"""
