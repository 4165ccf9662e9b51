"use strict";
// The owner's page: shows what the server tells of the ratings, whenever that changes.
const $ = (id) => document.getElementById(id);
const csrf = document.querySelector("meta[name=csrf]").content;
const SVG = "http://www.w3.org/2000/svg";

const make = (name, text = "", attributes = {}) => {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
};
const why = (answer) => answer.json().then((said) => said.error, () => answer.statusText);
const number = (value, digits = 2) => (value === null ? "–" : value.toFixed(digits));

async function post(path, body = "") {
  const answer = await fetch(path, { method: "POST", body, headers: { "x-csrf": csrf } });
  $("problem").textContent = answer.ok ? "" : await why(answer);
  return answer.ok ? answer.json() : null;
}
async function showLink(path, body) {
  const found = await post(path, body);
  if (!found) return;
  const told = found.link ? `The link of ${found.name}, for them alone: ` : `${found.name} has no link now.`;
  $("link").replaceChildren(told, make("code", found.link && location.origin + found.link, { class: "link" }));
}
$("invite").addEventListener("submit", (event) => {
  event.preventDefault();
  showLink("/owner/raters", $("note").value);
  $("note").value = "";
});

function raterRow(one) {
  const row = make("tr");
  row.append(make("th", one.name, { scope: "row" }), make("td", one.note));
  for (const value of [one.done, one.skipped, one.pace === null ? "–" : one.pace.toFixed(1)]) {
    row.append(make("td", String(value), { class: "number" }));
  }
  const cell = make("td");
  for (const [act, name] of one.active
    ? [["link", "Show"], ["revoke", "Revoke"]] : [["link", "Make a new one"]]) {
    const button = make("button", name, { type: "button", "aria-label": `${name}: link of ${one.name}` });
    button.addEventListener("click", () => showLink(`/owner/raters/${one.id}/${act}`));
    cell.append(button, " ");
  }
  row.append(cell);
  return row;
}

function draw(curve) {
  $("curve").hidden = curve.length < 2;
  if (curve.length < 2) return;
  const most = Math.max(...curve.map(([n]) => n));
  const x = (n) => 40 + (440 * n) / most, y = (r) => 110 - 90 * Math.max(-1, Math.min(1, r));
  const points = (at) => curve.map((one) => `${x(one[0]).toFixed(1)},${y(one[at] ?? one[1]).toFixed(1)}`);
  const add = (name, attributes, text = "") => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.textContent = text;
    svg.append(made);
  };
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 500 220");
  svg.setAttribute("role", "img");
  const last = curve[curve.length - 1];
  svg.setAttribute("aria-label", `Spearman ${number(last[1])} after ${last[0]} ratings`);
  for (const r of [-1, -0.5, 0, 0.5, 1]) {
    add("line", { x1: 40, x2: 480, y1: y(r), y2: y(r), class: "axis" });
    add("text", { x: 34, y: y(r) + 4, "text-anchor": "end" }, String(r));
  }
  add("text", { x: 480, y: 216, "text-anchor": "end" }, `${most} ratings`);
  add("polygon", { points: [...points(2), ...points(3).reverse()].join(" "), class: "band" });
  add("polyline", { points: points(1).join(" "), class: "line" });
  for (const [n, r] of curve) add("circle", { cx: x(n), cy: y(r), r: 3 });
  $("drawing").replaceChildren(svg);
}

function systemRow(one) {
  const row = make("tr");
  row.append(make("th", one.second, { scope: "row" }), make("td", one.first));
  const ends = (pair) => (pair[0] === null ? "–" : `[${number(pair[0])}, ${number(pair[1])}]`);
  for (const text of [number(one.difference), ends(one.interval), ends(one.always)]) {
    row.append(make("td", text, { class: "number" }));
  }
  return row;
}

// Each cell knows what its column is called: a narrow screen has no room for the head.
function fill(table, rows) {
  const names = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
  for (const row of rows) [...row.cells].forEach((cell, i) => { cell.dataset.name = names[i]; });
  table.tBodies[0].replaceChildren(...rows);
}

function show(found) {
  $("state").textContent = found.state;
  $("facts").replaceChildren(...found.facts.map(([name, value, more]) => {
    const part = make("div");
    part.append(make("dt", name), make("dd", value), make("dd", more, { class: "more" }));
    return part;
  }));
  $("said").replaceChildren(...found.said.map((line) => make("p", line)));
  fill($("raters"), found.raters.map(raterRow));
  $("systems").hidden = !found.systems.length;
  fill($("systems"), found.systems.map(systemRow));
  draw(found.curve);
}
const source = new EventSource("/owner/live");
source.addEventListener("message", (event) => { $("problem").textContent = ""; show(JSON.parse(event.data)); });
source.addEventListener("error", () => { $("problem").textContent = "No connection; trying again."; });
