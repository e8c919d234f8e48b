'use strict';
const D = JSON.parse(document.getElementById('data').textContent), view = document.getElementById('view');
const root = document.documentElement, dark = matchMedia('(prefers-color-scheme: dark)');
const theme = t => { root.dataset.theme = t; };
theme(dark.matches ? 'dark' : 'light');
document.getElementById('theme').onclick = () => theme(root.dataset.theme === 'dark' ? 'light' : 'dark');
let chosen = 0;
function el(tag, cls, text) { const e = document.createElement(tag); if (cls) e.className = cls;
  if (text !== undefined) e.textContent = text; return e; }
function svg(tag, attrs, text) { const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const k in attrs) e.setAttribute(k, attrs[k]); if (text !== undefined) e.textContent = text; return e; }
function bytes(n) { for (const u of ['B', 'KiB', 'MiB', 'GiB']) { if (n < 1024 || u === 'GiB')
  return (u === 'B' ? n : n.toFixed(1)) + ' ' + u; n /= 1024; } }
const colour = line => 'hsl(' + (line * 67 % 360) + ' 60% 55%)';
function choose(line) { chosen = chosen === line ? 0 : line; mark(); }
function mark() { for (const e of document.querySelectorAll('[data-line]'))
  e.classList.toggle('hit', chosen > 0 && +e.dataset.line === chosen); }
function notes(line) {
  const found = D.stories.filter(s => s.line === line).map(s => [s.kind + ' of ' +
    (s.bytes === null ? s.size + ' bytes' : bytes(s.bytes)) + (s.how_often && s.how_often !== '1' ? ', ' + s.how_often +
    ' times' : '') + (s.edit ? ' (can be removed)' : ''), '']);
  const small = .01 * D.saved.reduce((n, s) => n + s.bytes, 0);
  for (const s of D.saved) if (s.line === line && s.saved_bytes > small && s.bytes > 8 * s.allocations)
    found.push(['saved ' + bytes(s.saved_bytes), 'g']);
  return found; }
function source() {
  const box = el('div', 'src code'); view.append(el('h2', '', D.file), box);
  for (const s of D.source) { const row = el('div', 'row'); row.dataset.line = s.line; row.onclick = () => choose(s.line);
    const a = el('span', 'a'); for (const [t, c] of notes(s.line)) a.append(el('div', c, t));
    row.append(el('span', 'n', s.line), el('span', 't', s.text || ' '), a); box.append(row); }
  view.append(el('p', 'note', 'A click on a line marks it here and in the other views.'));
  const small = el('details', ''), few = D.stories.filter(s => s.small).length;
  small.append(el('summary', '', 'and ' + few + ' more below 1 KiB'));
  for (const s of D.stories) { const b = el('div', 'story'); b.append(el('pre', '', s.text)); b.onclick = () => choose(s.line);
    (s.small ? small : view).append(b); }
  if (few) view.append(small); }
function lanes(spans) {  // by span its column: those that do not meet share one
  const ends = [], found = [];
  for (const k of [...spans.keys()].sort((i, j) => spans[i][0] - spans[j][0])) {
    let at = ends.findIndex(e => e < spans[k][0]); if (at < 0) at = ends.length;
    ends[at] = spans[k][1]; found[k] = at; }
  return [found, ends.length]; }
function conflicts() {
  const shown = D.stories.filter(s => s.written !== null || s.read !== null), first = D.source[0].line, h = 21;
  if (!shown.length) { view.append(el('p', '', 'No write here meets a read of what was there before.')); return; }
  const roles = [['definition', 'defined'], ['write', 'written'], ['read', 'read']], words = new Map();
  const ends = shown.map(c => roles.filter(r => c[r[1]] !== null).map(([what, field]) => [what, c[field]]));
  for (const [what] of roles) for (const e of ends.flat()) if (e[0] === what)
    words.set(e[1], (words.get(e[1]) || new Set()).add(what));
  const said = [...words].map(([line, found]) => [line, [...found].join(', ')]);
  const [lane, count] = lanes(ends.map(e => [Math.min(...e.map(x => x[1])), Math.max(...e.map(x => x[1]))]));
  const from = 10 + 6.5 * Math.max(...said.map(s => s[1].length)), w = from + 26 * count;
  const long = Math.max(...D.source.map(s => s.text.length));
  const size = {width: w + 60 + long * 8, height: D.source.length * h + 10, style: 'max-width:none'};
  const wide = el('div', 'wide'), s = svg('svg', size), y = line => (line - first) * h + 15;
  for (const row of D.source) {
    const t = svg('text', {x: w + 44, y: y(row.line) + 4, style: 'font:13px ui-monospace,monospace'});
    t.setAttribute('xml:space', 'preserve'); t.textContent = row.text.replace(/ /g, '\u00a0'); s.append(t,
    svg('text', {x: w + 8, y: y(row.line) + 4, opacity: .6}, row.line)); }
  for (const [line, text] of said) s.append(svg('text', {x: 2, y: y(line) + 4}, text));
  shown.forEach((c, k) => { const x = w - 18 - 26 * lane[k], col = colour(c.line + k * 3);
    const ys = ends[k].map(e => y(e[1])), g = svg('g', {});
    g.append(svg('line', {x1: x, x2: x, y1: Math.min(...ys), y2: Math.max(...ys), stroke: col, 'stroke-width': 2}));
    for (const [what, line] of ends[k]) g.append(svg('line', {x1: x, x2: w, y1: y(line), y2: y(line), stroke: col}),
      svg('circle', {cx: x, cy: y(line), r: 4, fill: what === 'write' ? col : 'none', stroke: col, 'stroke-width': 2}));
    g.append(svg('title', {}, c.reason)); s.append(g); });
  wide.append(s); view.append(wide, el('p', 'note', 'Of each line down: the definition that the read should see, the ' +
    'write (filled) that would come between, the read.'));
  for (const c of shown) view.append(el('p', '', 'line ' + c.line + ': ' + c.reason)); }
function chart(title, peak, draw, note) {
  view.append(el('h2', '', title)); const W = Math.max(320, Math.min(view.clientWidth - 24, 1500)), H = 200;
  const s = svg('svg', {viewBox: '0 0 ' + W + ' ' + (H + 24), width: W});
  s.append(svg('line', {x1: 70, x2: W, y1: H, y2: H, stroke: '#888'}), svg('text', {x: 2, y: 14}, bytes(peak)),
    svg('text', {x: 2, y: H}, '0 B')); draw(s, W - 72, H, peak || 1); view.append(s, el('p', 'note', note)); }
function box(s, x, y, w, h, line, text, strong) { const r = svg('rect', {x, y, width: Math.max(w, 1), height: Math.max(h, 1),
    fill: colour(line), 'fill-opacity': .75, stroke: 'var(--bg)', 'stroke-width': strong ? 1 : 0});
  r.dataset.line = line; r.onclick = () => choose(line); r.append(svg('title', {}, text)); s.append(r);
  const said = w > 66 ? 'line ' + line : String(line);
  if (strong && w > 4 + 7 * said.length && h > 14) s.append(svg('text', {x: x + (w > 66 ? 4 : 1), y: y + 13}, said)); }
function lifetimes() {
  const E = D.eager, O = D.ours, top = Math.max(0, ...E.map(e => e.live)), mine = Math.max(0, ...O.buffers.map(b => b.at + b.bytes));
  const peak = Math.max(top, mine), scale = mine < peak / 4 ? mine : peak;
  chart('NumPy: bytes alive after each line', peak, (s, W, H, p) => { const wide = W / E.length;
    E.forEach((e, k) => box(s, 70 + wide * k, H - H * .95 * e.live / p, wide, H * .95 * e.live / p, e.line, 'line ' + e.line + ': ' +
    bytes(e.live) + (e.times > 1 ? ' at most, ' + e.times + ' times' : ''), wide > 22));
    const begins = E.map((e, k) => k).filter(k => E[k].loop && !(k && E[k - 1].loop === E[k].loop));
    begins.forEach((k, i) => { let end = k; while (end < E.length && E[end].loop === E[k].loop) end++;
      const x = 72 + wide * k, room = (i + 1 < begins.length ? 70 + wide * begins[i + 1] : 70 + W) - x;
      const text = ['loop in line ' + E[k].loop, String(E[k].loop)].find(t => 7 * t.length < room);
      s.append(svg('line', {x1: x, x2: 68 + wide * end, y1: H + 6, y2: H + 6, stroke: '#888', 'stroke-width': 2}));
      if (text) s.append(svg('text', {x, y: H + 21}, text)); }); },
    E.length ? 'Across: the lines as they run; of a loop one iteration, with the most of all. Temporaries within one line are ' +
    'gone when it ends.' : 'It was not run.');
  chart('Compiled: buffers', scale, (s, W, H, p) => O.buffers.forEach(b => box(s, 70 + W * b.from / O.ops, H - H * .95 * (b.at +
    b.bytes) / p, W * (b.to - b.from) / O.ops, H * .95 * b.bytes / p, b.line, 'line ' + b.line + ': ' + b.type + ', ' +
    (b.known ? bytes(b.bytes) : b.size + ' bytes') + ' [' + b.lives + ']', true)), O.buffers.length ? 'Across: the operations of the ' +
    'program. Buffers at one height take the same bytes of the arena, one after the other.' + (scale < peak ? ' Bytes are drawn ' +
    Math.round(peak / scale) + ' times as high as above.' : '') : 'There are none.'); }
let programs = null;
async function unpacked(text) {
  const raw = Uint8Array.from(atob(text), c => c.charCodeAt(0));
  return JSON.parse(await new Response(new Blob([raw]).stream().pipeThrough(new DecompressionStream('gzip'))).text()); }
function stages() {
  const here = el('div', ''); view.append(here);
  if (programs) { drawStages(here); return; }
  unpacked(D.stages).then(found => { programs = found; if (here.isConnected) drawStages(here); }); }
function drawStages(view) {
  const box = el('div', 'stages code'), pick = el('p', ''); view.append(pick, box);
  const open = new Set(), at = programs.findIndex(s => s.name === 'bufferize');
  for (const s of [programs[0], programs[at - 1], programs[at], programs[programs.length - 1]]) if (s) open.add(s.name);
  function draw() { box.replaceChildren(); for (const s of programs) if (open.has(s.name)) { const d = el('section', 'stage');
    d.append(el('h2', '', s.name)); for (const [t, line] of s.lines) { const e = el('div', '', t); if (line) { e.dataset.line = line;
    e.title = 'line ' + line; e.onclick = () => choose(line); } d.append(e); } box.append(d); } mark(); }
  for (const s of programs) { const b = el('button', '', s.name); b.type = 'button';
    b.setAttribute('aria-selected', open.has(s.name)); b.onclick = () => { open.has(s.name) ? open.delete(s.name) :
    open.add(s.name); b.setAttribute('aria-selected', open.has(s.name)); draw(); }; pick.append(b, ' '); }
  draw(); view.append(el('p', 'note', 'A click on an operation marks all that come from its line, in every stage.')); }
function whatif() {
  const wide = el('div', 'wide'), t = el('table', ''); wide.append(t); view.append(wide);
  const head = el('tr', ''); for (const h of ['', 'allocations', 'copies', 'bytes allocated', 'bytes copied'])
    head.append(el('th', '', h)); t.append(head);
  for (const r of D.whatif) { const row = el('tr', ''); row.append(el('td', '', r.name));
    if (r.why) { const c = el('td', '', r.why); c.colSpan = 4; row.append(c); }
    else for (const k of ['allocations', 'copies', 'allocated', 'copied']) row.append(el('td', 'code', r[k])); t.append(row); } }
const VIEWS = {'Source': source, 'Conflicts': conflicts, 'Lifetimes': lifetimes, 'Stages': stages, 'What if': whatif};
function show(name) { view.replaceChildren(); VIEWS[name](); mark();
  for (const b of document.querySelectorAll('#tabs button')) b.setAttribute('aria-selected', b.textContent === name); }
for (const name in VIEWS) { const b = el('button', '', name); b.type = 'button'; b.onclick = () => show(name);
  document.getElementById('tabs').append(b); }
show('Source');
