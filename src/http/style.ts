/** The one style sheet of our own pages. Its text is hashed into their content security policy. */
export const STYLE = `
:root { --ink: #1b1d22; --dim: #5c6370; --line: #e3e5ea; --paper: #fbfbfa; --card: #fff; --accent: #2f5fd0; --good: #1c7c4c; --bad: #b3362b; --code: #f1f2f5; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e7e9ee; --dim: #98a0ae; --line: #2b2f37; --paper: #121418; --card: #181b20; --accent: #8ab0ff; --good: #6fcf9c; --bad: #f28b82; --code: #20242b; }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1.5rem; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.6 system-ui, -apple-system, "Segoe UI", sans-serif; }
main { max-width: 54rem; margin: 0 auto; padding: 3.5rem 1.25rem 6rem; }
h1 { font-size: 2rem; line-height: 1.2; letter-spacing: -0.02em; margin: 0 0 0.75rem; }
h2 { font-size: 1.05rem; margin: 3rem 0 0.75rem; text-transform: capitalize; }
p { margin: 0 0 0.85rem; }
a { color: var(--accent); text-underline-offset: 0.2em; }
a:focus-visible, summary:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
code, pre { font: 0.875em/1.55 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
code { background: var(--code); border-radius: 4px; padding: 0.1em 0.35em; overflow-wrap: anywhere; }
pre { background: var(--code); border-radius: 8px; padding: 0.9rem 1rem; overflow-x: auto; margin: 0 0 1rem; }
pre code { background: none; padding: 0; }
.lead { color: var(--dim); font-size: 1.1rem; max-width: 42rem; }
.lead p { margin-bottom: 1rem; }
ul.plain { list-style: none; margin: 0; padding: 0; border-top: 1px solid var(--line); }
ul.plain li { display: flex; gap: 1rem; padding: 0.7rem 0; border-bottom: 1px solid var(--line); flex-wrap: wrap; }
ul.plain a { min-width: 13rem; }
ul.plain span { color: var(--dim); }
details { background: var(--card); border: 1px solid var(--line); border-radius: 10px; margin: 0 0 0.6rem; }
summary { cursor: pointer; list-style: none; padding: 0.75rem 1rem; display: flex; gap: 0.75rem; align-items: baseline; flex-wrap: wrap; }
summary::-webkit-details-marker { display: none; }
summary .what { color: var(--dim); }
summary .path { font: 600 0.9rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
details[open] > summary { border-bottom: 1px solid var(--line); }
.inside { padding: 1rem; }
.inside h3 { font-size: 0.78rem; letter-spacing: 0.06em; text-transform: uppercase; color: var(--dim); margin: 1.4rem 0 0.5rem; }
.inside h3:first-child { margin-top: 0; }
.verb { font: 700 0.72rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; min-width: 2.9rem; color: var(--accent); }
.verb.post { color: var(--good); }
dl { margin: 0; display: grid; grid-template-columns: minmax(9rem, max-content) 1fr; gap: 0.45rem 1.25rem; }
dt { overflow-wrap: anywhere; }
dd { margin: 0; color: var(--dim); }
.must::after { content: " *"; color: var(--bad); }
@media (max-width: 36rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: 0.5rem; } main { padding-top: 2rem; } }
`;
