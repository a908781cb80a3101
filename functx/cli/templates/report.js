"use strict";
const data = JSON.parse(document.querySelector("#data").textContent);
const ORDER = "fugp"; // the worst first
const NAMES = { p: "pass", f: "fail", g: "gap", u: "unexpected pass" };
const MARKS = { p: "✓", f: "✗", g: "○", u: "!" };
const $ = selector => document.querySelector(selector);
const el = (tag, text, cls) => {
  const element = document.createElement(tag);
  if (text != null) element.textContent = text;
  if (cls) element.className = cls;
  return element;
};
const escaped = text => text.replace(/[&<>"]/g, c => `&#${c.charCodeAt(0)};`);

// The data: rows by operator, and the texts of cells that have some.
const checks = data.checks.map(([name, group, summary, compares]) => ({ name, group, summary, compares }));
const operators = data.operators.map(([id, name, family, floor]) => ({ id, name, family, floor, rows: [] }));
data.rows.forEach((row, i) => operators[row[0]].rows.push(i));
const texts = new Map(data.texts.map(([row, check, ...said]) => [row * checks.length + check, said]));
const letter = (row, check) => data.rows[row][3][check] || ".";

function cell(row, check) {
  const [, dtype, ulps, letters, times, samples] = data.rows[row];
  const before = [...letters.slice(0, check)].filter(c => c !== ".").length;
  const said = (texts.get(row * checks.length + check) || [0, 0, 0, 0]).map(i => data.strings[i]);
  const [sample, error, traceback, reason] = said;
  const seconds = (Array.isArray(times) ? times[before] : times) / 1e4;
  return { dtype: data.dtypes[dtype], status: letters[check], ulps, seconds, samples: samples[before],
    sample, error, traceback, reason };
}

// The matrix.
const groups = [];
for (const check of checks) {
  if (groups.at(-1)?.name !== check.group) groups.push({ name: check.group, checks: [] });
  groups.at(-1).checks.push(check);
}
const first = new Set(groups.map(group => group.checks[0]));
const body = $("#matrix tbody");

function drawHead() {
  const top = el("tr"), names = el("tr"), corner = el("th", "operator", "corner");
  corner.scope = "col";
  corner.rowSpan = 2;
  top.append(corner);
  $("colgroup").append(el("col"));
  for (const group of groups) {
    const th = el("th", null, "first group");
    // A heading stands upright where it is wider than its columns: none is cut off.
    th.append(el(group.name.length * 7 + 14 > group.checks.length * 25 ? "div" : "span", group.name));
    th.colSpan = group.checks.length;
    th.scope = "colgroup";
    top.append(th);
  }
  for (const check of checks) {
    const th = el("th", null, first.has(check) ? "first" : ""), col = el("col");
    th.append(el("div", check.name));
    th.title = check.summary;
    th.scope = "col";
    names.append(th);
    $("colgroup").append(col);
  }
  $("#matrix thead").append(top, names);
}

function tdOf(operator, check, i, dtype) {
  const edge = first.has(check) ? " first" : "", counts = {};
  for (const row of operator.rows) {
    const l = letter(row, i);
    if (l !== "." && (dtype < 0 || data.rows[row][1] === dtype)) counts[l] = (counts[l] || 0) + 1;
  }
  const found = [...ORDER].filter(l => counts[l]);
  if (!found.length) return edge ? '<td class="first"></td>' : "<td></td>";
  found.forEach(l => operator.has.add(l === "u" ? "f" : l));
  const label = found.map(l => `${counts[l]} ${NAMES[l]}`).join(", ");
  return `<td class="${found[0]}${edge}" aria-label="${label}">${MARKS[found[0]]}</td>`;
}

function trOf(operator, dtype) {
  operator.has = new Set();
  const cells = checks.map((check, i) => tdOf(operator, check, i, dtype)).join("");
  const name = escaped(operator.id).replace(/[._-](?=.)/g, "$&<wbr>");
  return `<tr><th scope="row">${name}</th>${cells}</tr>`;
}

function drawBody() {
  const dtype = $("#dtype").value === "" ? -1 : +$("#dtype").value;
  body.innerHTML = operators.map(operator => trOf(operator, dtype)).join("");
  operators.forEach((operator, i) => { operator.tr = body.rows[i]; });
}

// Filters.
const tiles = [...document.querySelectorAll("button.tile")];

function apply() {
  const words = matcher($("#filter").value.trim()), family = $("#family").value;
  const on = tiles.filter(t => t.getAttribute("aria-pressed") === "true").map(t => t.dataset.show);
  const chosen = $("#dtype").value !== "";
  let seen = 0;
  for (const { id, name, family: home, has, tr } of operators) {
    const named = words !== null && (words.test(id) || words.test(name));
    const shown = named && (!family || home === family) && (!chosen || has.size > 0)
      && (!on.length || on.some(status => has.has(status)));
    tr.hidden = !shown;
    seen += shown;
  }
  if (on.length) body.dataset.show = on.join(" "); else delete body.dataset.show;
  $("#filter").setAttribute("aria-invalid", words === null);
  $(".note").hidden = seen > 0;
  $(".note").textContent = words === null ? "This is no glob or regular expression." : "No operator matches.";
  $("#count").textContent = `${seen} of ${operators.length} entries`;
  keep();
}

// Moving about: one cell of the matrix can be reached by Tab, arrow keys lead to the others.
let here = null;
const shownRows = () => operators.map(operator => operator.tr).filter(tr => !tr.hidden);

function keep(td = here?.isConnected && !here.parentNode.hidden ? here : shownRows()[0]?.cells[1]) {
  if (here) here.removeAttribute("tabindex");
  here = td || null;
  if (here) here.tabIndex = 0;
}

function go(tr, column) {
  keep(tr.cells[Math.max(1, Math.min(column, checks.length))]);
  here.focus();
  // Sticky headings must not hide it.
  here.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function moved(event) {
  const rows = shownRows(), row = rows.indexOf(here.parentNode), column = here.cellIndex;
  const last = rows.length - 1, whole = event.ctrlKey || event.metaKey;
  const to = {
    ArrowUp: [row - 1, column], ArrowDown: [row + 1, column],
    ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1],
    PageUp: [row - 10, column], PageDown: [row + 10, column],
    Home: [whole ? 0 : row, 1], End: [whole ? last : row, checks.length],
  }[event.key];
  if (to) go(rows[Math.max(0, Math.min(to[0], last))], to[1]);
  return Boolean(to);
}

body.addEventListener("keydown", event => {
  if (!event.target.matches("td") || event.altKey) return;
  if (event.key === "Enter" || event.key === " ") open(event.target);
  else if (!moved(event)) return;
  event.preventDefault();
});
body.addEventListener("click", event => {
  const td = event.target.closest("td");
  if (td) { keep(td); td.focus({ preventScroll: true }); open(td); }
});

// A cell.
const dialog = $("dialog");
const number = x => +x.toPrecision(3);

function tolerance(check, ulps, floor, dtype) {
  const times = { reference: 1, values: 2 }[check.compares];
  if (check.compares === "derivatives") {
    const [each, least] = data.derivatives[dtype];
    return `tolerance ${each} ulps of each element, ${least} of the largest`;
  }
  if (!times) return "exact, or by a bound of its own";
  const whole = `tolerance ${times * ulps} ulps`;
  if (!floor) return whole;
  const of = { elements: "of the arguments at the element", entry: "of the terms that it sums" };
  const where = check.compares === "reference" && of[floor[1]] || "of the largest";
  return `${whole} of each element, floor ${times * floor[0]} ulps ${where} (${floor[2]})`;
}

function describe(operator, check, one) {
  const box = el("section", null, "one"), title = el("h3", `${one.dtype} `);
  title.append(el("span", `${MARKS[one.status]} ${NAMES[one.status]}`, `t-${one.status}`));
  const floor = operator.floor && Object.values(operator.floor);
  const samples = `${one.samples} ${one.samples === 1 ? "sample" : "samples"}`;
  box.append(title, el("p", `${one.seconds.toFixed(3)} s · ${samples} · ${tolerance(check, number(one.ulps), floor, one.dtype)}`));
  if (one.reason) box.append(el("p", `Declared gap: ${one.reason}`, "why"));
  if (one.sample) box.append(el("p", "Sample"), el("pre", one.sample));
  if (one.error) box.append(el("p", "Error"), el("pre", one.error));
  if (one.traceback) {
    const trace = el("details");
    trace.append(el("summary", "Traceback"), el("pre", one.traceback));
    box.append(trace);
  }
  return box;
}

function open(td) {
  const operator = operators.find(({ tr }) => tr === td.parentNode), i = td.cellIndex - 1;
  const ran = operator.rows.filter(row => letter(row, i) !== ".").map(row => cell(row, i));
  if (!ran.length) return;
  const check = checks[i], worst = one => ORDER.indexOf(one.status);
  $("#title").textContent = `${operator.id} · ${check.name}`;
  $("#asserts").textContent = check.summary;
  ran.sort((a, b) => worst(a) - worst(b));
  const again = `functx check ${operator.id} --checks ${check.name} --dtypes ${ran[0].dtype}${data.again}`;
  const how = el("p", "Again: ", "meta");
  how.append(el("code", again));
  $(".in").replaceChildren(...ran.map(one => describe(operator, check, one)), how);
  dialog.showModal();
  dialog.scrollTop = 0;
}
$("#close").onclick = () => dialog.close();
dialog.onclick = event => { if (event.target === dialog) dialog.close(); };

// Totals by check and by family, made when they are first looked at.
function sums(what, keyOf, about) {
  const table = el("table"), head = el("tr"), totals = new Map();
  for (const row of data.rows) {
    let ran = 0;
    [...row[3]].forEach((l, check) => {
      if (l === ".") return;
      const key = keyOf(row, check);
      if (!totals.has(key)) totals.set(key, { p: 0, f: 0, g: 0, u: 0, seconds: 0 });
      const sum = totals.get(key);
      sum[l] += 1;
      sum.seconds += (Array.isArray(row[4]) ? row[4][ran] : row[4]) / 1e4;
      ran += 1;
    });
  }
  for (const [i, word] of [what, "", "pass", "fail", "gaps", "seconds"].entries()) {
    const th = el("th", word, i > 1 ? "n" : "");
    th.scope = "col";
    head.append(th);
  }
  table.createTHead().append(head);
  const rows = table.createTBody();
  for (const [key, sum] of totals) {
    const tr = rows.insertRow(), th = el("th", key), fail = sum.f + sum.u;
    th.scope = "row";
    tr.append(th, el("td", about(key)), el("td", sum.p, "n"), el("td", fail, fail ? "n t-f" : "n"),
      el("td", sum.g, sum.g ? "n t-g" : "n"), el("td", sum.seconds.toFixed(1), "n"));
  }
  return table;
}
$(".sums").addEventListener("toggle", () => {
  const asserts = Object.fromEntries(checks.map(check => [check.name, check.summary]));
  const entries = family => operators.filter(operator => (operator.family || "other") === family).length;
  $("#sums").replaceChildren(
    sums("check", (row, check) => checks[check].name, name => asserts[name]),
    sums("family", row => operators[row[0]].family || "other", family => `${entries(family)} entries`));
}, { once: true });

// Light and dark: the reader's choice is kept, "auto" is the system's.
const root = document.documentElement;
const THEMES = { auto: "light", light: "dark", dark: "auto" };
function theme(name) {
  if (name === "auto") delete root.dataset.theme; else root.dataset.theme = name;
  try { localStorage.setItem("functx-theme", name === "auto" ? "" : name); } catch { }
  $("#theme").textContent = `Theme: ${name}`;
}
$("#theme").onclick = () => theme(THEMES[root.dataset.theme || "auto"]);
$("#theme").textContent = `Theme: ${root.dataset.theme || "auto"}`;

data.dtypes.forEach((name, i) => $("#dtype").append(new Option(name, i)));
for (const family of [...new Set(operators.map(operator => operator.family))].filter(Boolean).sort())
  $("#family").append(new Option(family, family));
for (const tile of tiles) tile.onclick = () => {
  tile.setAttribute("aria-pressed", tile.getAttribute("aria-pressed") !== "true");
  apply();
};
$("#filter").oninput = $("#family").onchange = apply;
$("#dtype").onchange = () => { drawBody(); apply(); };
$(".filters").onsubmit = event => event.preventDefault();
$(".filters").onreset = () => setTimeout(() => {
  tiles.forEach(tile => tile.setAttribute("aria-pressed", false));
  drawBody();
  apply();
});
document.addEventListener("keydown", event => {
  if (event.key !== "/" || dialog.open || event.target.matches("input, select")) return;
  event.preventDefault();
  $("#filter").focus();
});

drawHead();
drawBody();
apply();
// What is scrolled to must not lie under the headings.
const box = $(".box");
box.style.scrollPadding = `${$("#matrix thead").offsetHeight + 4}px 4px 4px ${body.rows[0]?.cells[0].offsetWidth + 4 || 0}px`;
