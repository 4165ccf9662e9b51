"use strict";
// Outputs side by side: search, filters, order; of all rows only those in sight are in the page.
(() => {
  const { systems, judge, apart, percent, estimates, rated: byPeople, rows } = JSON.parse(document.getElementById("outputs-data").textContent);
  const ON_PAPER = 30; // rows
  const MORE = 5; // rows above and below those in sight
  const HEIGHT = 84; // of a row, as in the style sheet; of a phone
  const box = document.getElementById("rows");
  const body = box.querySelector("tbody");
  const search = document.getElementById("search");
  const order = document.getElementById("sort");
  const filters = [...document.querySelectorAll("[data-filter]")];
  const figures = [byPeople, judge, estimates].some(Boolean);
  const heightOfBlock = 62 + systems.length * (figures ? 92 : 66);
  box.style.setProperty("--block", `${heightOfBlock}px`);
  const width = 1 + systems.length * (1 + [byPeople, judge, estimates].filter(Boolean).length);

  // an answer is [text, people, judge, estimate, why, disputed]; null where a version has none
  const known = (value) => value !== null && value !== undefined;
  const rated = (row) => row.answers.map((answer) => answer?.[1]).filter(known);
  const spread = (row) => (rated(row).length > 1 ? Math.max(...rated(row)) - Math.min(...rated(row)) : -1);
  const gap = (answer) => (answer && known(answer[1]) && known(answer[2]) ? answer[2] - answer[1] : null);
  const farthest = (row) => Math.max(...row.answers.map((answer) => (gap(answer) === null ? -1 : Math.abs(gap(answer)))));
  const missed = (answer) => (answer && known(answer[1]) && known(answer[3]) ? Math.abs(answer[3] - answer[1]) : -1);
  const highest = (row) => Math.max(...row.answers.map((answer) => answer?.[3] ?? -Infinity));
  const tests = {
    differ: (row) => spread(row) > 1e-9,
    missing: (row) => !row.answers.every(Boolean),
    unrated: (row) => rated(row).length < row.answers.filter(Boolean).length,
    apart: (row) => farthest(row) >= apart,
    disputed: (row) => row.answers.some((answer) => answer?.[5]),
  };
  const keys = { file: null, people: spread, judge: farthest, estimate: (row) => Math.max(...row.answers.map(missed)), high: highest, low: (row) => -highest(row) };
  rows.forEach((row, place) => {
    row.place = place;
    row.words = [row.item, ...row.answers.map((answer) => answer?.[0] ?? "")].join("\n").toLowerCase();
  });

  const opened = new Map(); // row -> height of its whole texts
  let shown = rows;
  let tops = [0];

  const made = (name, kind, text) => {
    const element = document.createElement(name);
    if (kind) element.className = kind;
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const figure = (value) => {
    if (!known(value)) return "–";
    if (percent) return `${Math.round(100 * value)} %`;
    return Number.isInteger(value) ? String(value) : value.toFixed(1);
  };
  const signed = (value) => `${value > 0 ? "+" : "−"}${figure(Math.abs(value))}`;
  function marked(element, text) {
    const word = search.value.trim().toLowerCase();
    element.dir = "auto";
    let from = 0;
    let at = word ? text.toLowerCase().indexOf(word) : -1;
    while (at >= 0) {
      element.append(text.slice(from, at), made("mark", "", text.slice(at, at + word.length)));
      from = at + word.length;
      at = text.toLowerCase().indexOf(word, from);
    }
    element.append(text.slice(from));
    return element;
  }
  function number(name, value, kind = "") {
    const cell = made("td", `number ${kind}${known(value) ? "" : " none"}`, figure(value));
    cell.dataset.name = name;
    return cell;
  }
  function line(row, place) {
    const tr = made("tr", "line");
    tr.setAttribute("aria-rowindex", place + 3);
    const head = tr.appendChild(made("th", "item"));
    head.scope = "row";
    const button = head.appendChild(made("button"));
    button.type = "button";
    button.setAttribute("aria-expanded", opened.has(row.place));
    button.dataset.row = row.place;
    marked(button.appendChild(made("span", "cut")), `${row.place + 1}. ${row.item.slice(0, 110)}`);
    row.answers.forEach((answer, k) => {
      const [text, people, score, estimate] = answer ?? ["–", null, null, null];
      const cell = tr.appendChild(made("td", "text part"));
      cell.dataset.name = systems[k] || "output";
      marked(cell.appendChild(made("div", "cut")), text);
      if (byPeople) tr.append(number("people", people));
      if (judge) {
        const scored = tr.appendChild(number("judge", score));
        if (apart && Math.abs(gap(answer) ?? 0) >= apart) scored.append(" ", made("span", "apart", signed(gap(answer))));
      }
      if (estimates) tr.append(number("est.", estimate, "estimate"));
    });
    return tr;
  }
  function whole(row) {
    const tr = made("tr", "whole");
    const cell = tr.appendChild(made("td"));
    cell.colSpan = width;
    const pairs = cell.appendChild(made("div", "pairs"));
    const input = pairs.appendChild(made("div", "input"));
    input.tabIndex = 0;
    input.setAttribute("role", "region");
    input.setAttribute("aria-label", `Input of item ${row.place + 1}`);
    input.append(made("h3", "", "Input"));
    marked(input.appendChild(made("p")), row.item);
    row.answers.forEach((answer, k) => {
      const part = pairs.appendChild(made("div"));
      part.append(made("h3", "", systems[k] || "Output"));
      marked(part.appendChild(made("p")), answer?.[0] ?? "–");
      if (answer?.[4]) part.append(made("p", "soft", answer[4]));
    });
    return tr;
  }
  const pad = (height) => {
    const tr = made("tr", "pad");
    tr.setAttribute("aria-hidden", "true");
    const cell = tr.appendChild(made("td"));
    cell.colSpan = width;
    cell.style.height = `${height}px`;
    return tr;
  };

  function measure() {
    const height = matchMedia("(max-width: 56rem)").matches ? heightOfBlock : HEIGHT;
    let top = 0;
    tops = [0];
    for (const row of shown) {
      top += height + (opened.get(row.place) ?? 0);
      tops.push(top);
    }
  }
  function rowAt(top) {
    let low = 0;
    let high = shown.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (tops[middle + 1] <= top) low = middle + 1;
      else high = middle;
    }
    return low;
  }
  function draw(first, end) {
    const focus = document.activeElement?.dataset?.row;
    const lines = [];
    if (tops[first]) lines.push(pad(tops[first]));
    for (let k = first; k < end; k++) {
      lines.push(line(shown[k], k));
      if (opened.has(shown[k].place)) lines.push(whole(shown[k]));
    }
    if (tops[shown.length] > tops[end]) lines.push(pad(tops[shown.length] - tops[end]));
    body.replaceChildren(...lines);
    for (const tr of body.querySelectorAll(".whole")) {
      opened.set(Number(tr.previousElementSibling.querySelector("button").dataset.row), tr.offsetHeight);
    }
    measure();
    if (focus !== undefined) body.querySelector(`[data-row="${focus}"]`)?.focus({ preventScroll: true });
  }
  function drawInSight() {
    const last = rowAt(box.scrollTop + box.clientHeight) + MORE;
    draw(Math.max(0, rowAt(box.scrollTop) - MORE), Math.min(shown.length, last + 1));
  }
  function choose() {
    const word = search.value.trim().toLowerCase();
    const chosen = filters.filter((filter) => filter.checked).map((filter) => tests[filter.dataset.filter]);
    shown = rows.filter((row) => row.words.includes(word) && chosen.every((test) => test(row)));
    const key = keys[order.value];
    if (key) shown = shown.toSorted((a, b) => key(b) - key(a) || a.place - b.place);
    document.getElementById("count").textContent = `${shown.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")} rows`;
    box.querySelector("table").setAttribute("aria-rowcount", shown.length + 2);
    measure();
    box.scrollTop = 0;
    drawInSight();
  }
  function press(event) {
    const button = event.target.closest("[data-row]");
    if (!button) return;
    const place = Number(button.dataset.row);
    if (!opened.delete(place)) opened.set(place, 0);
    measure();
    drawInSight();
  }
  function step(event) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const row = event.target.dataset?.row;
    if (!by || row === undefined) return;
    event.preventDefault();
    const to = shown.findIndex((one) => one.place === Number(row)) + by;
    if (to < 0 || to >= shown.length) return;
    if (tops[to] < box.scrollTop) box.scrollTop = tops[to];
    if (tops[to + 1] > box.scrollTop + box.clientHeight - 70) box.scrollTop = tops[to + 1] - box.clientHeight + 70;
    drawInSight();
    body.querySelector(`[data-row="${shown[to].place}"]`)?.focus({ preventScroll: true });
  }

  for (const filter of filters) {
    filter.parentElement.querySelector("b").textContent = rows.filter(tests[filter.dataset.filter]).length.toLocaleString("en");
    filter.addEventListener("change", choose);
  }
  search.addEventListener("input", choose);
  order.addEventListener("change", choose);
  box.addEventListener("scroll", () => requestAnimationFrame(drawInSight));
  addEventListener("resize", () => {
    measure();
    drawInSight();
  });
  body.addEventListener("click", press);
  body.addEventListener("keydown", step);
  addEventListener("beforeprint", () => draw(0, Math.min(shown.length, ON_PAPER)));
  addEventListener("afterprint", drawInSight);
  choose();
})();
