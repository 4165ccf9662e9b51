"use strict";
// Charts whose points are texts: hover, click or the keyboard shows a text in
// the panel beside. Everything shown is read from the one table that holds the texts.
(() => {
  const NEAR = 18; // units of the drawing within which a pointer finds a point
  const PAGE = 10; // points that Page Up and Page Down skip
  const store = document.getElementById("texts");
  const head = store ? [...store.querySelectorAll("thead th")].map((cell) => cell.textContent) : [];

  const row = (text) => document.getElementById(`t${text}`);
  const textOf = (text) => row(text).querySelector(".text").textContent;
  const cellsOf = (text) => [...row(text).cells].map((cell) => cell.textContent);

  const add = (parent, name, content, kind) => {
    const made = parent.appendChild(document.createElement(name));
    made.textContent = content;
    if (kind) made.className = kind;
    return made;
  };
  const numbersOf = (text) =>
    cellsOf(text)
      .slice(0, -1)
      .map((cell, i) => (/^$|^-$/.test(cell) ? "" : `${head[i]}${/^\d/.test(cell) ? "" : ":"} ${cell}`))
      .filter(Boolean)
      .join(" · ");

  function fill(panel, text) {
    panel.replaceChildren();
    add(panel, "p", textOf(text), "whole").dir = "auto";
    add(panel, "p", numbersOf(text), "soft");
    panel.scrollTop = 0;
  }

  function link(chart, number) {
    const panel = chart.parentElement.querySelector(".panel");
    const ring = chart.querySelector(".ring");
    const place = (dot) => [Number(dot.getAttribute("cx")), Number(dot.getAttribute("cy"))];
    const placed = [...chart.querySelectorAll(".dot")].map((dot) => [dot, ...place(dot)]);
    placed.sort((a, b) => a[1] - b[1] || a[2] - b[2]);
    const dots = placed.map(([dot]) => dot);
    if (!dots.length) return;
    panel.id = `panel-${number}`;
    let at = 0;

    function show(i) {
      if (i !== at) dots[at].removeAttribute("tabindex"); // a focused point would lose its focus
      at = i;
      const dot = dots[at];
      const [, x, y] = placed[at];
      ring.setAttribute("cx", x);
      ring.setAttribute("cy", y);
      dot.setAttribute("tabindex", "0");
      dot.setAttribute("role", "img");
      dot.setAttribute("aria-label", `${at + 1} of ${dots.length}: ${numbersOf(dot.dataset.t)}`);
      dot.setAttribute("aria-describedby", panel.id);
      fill(panel, dot.dataset.t);
    }

    function nearest(event) {
      const point = new DOMPoint(event.clientX, event.clientY);
      const { x, y } = point.matrixTransform(chart.getScreenCTM().inverse());
      let best = -1;
      let least = NEAR;
      placed.forEach(([, cx, cy], i) => {
        const away = Math.hypot(cx - x, cy - y);
        if (away < least) [best, least] = [i, away];
      });
      return best;
    }

    const found = (event) => {
      const i = nearest(event);
      if (i >= 0 && (i !== at || !panel.querySelector(".whole"))) show(i);
    };
    chart.addEventListener("pointermove", found);
    chart.addEventListener("click", found);
    chart.addEventListener("focusin", (event) => {
      const i = dots.indexOf(event.target);
      if (i >= 0 && (i !== at || !panel.querySelector(".whole"))) show(i);
    });
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: PAGE, PageUp: -PAGE };
    chart.addEventListener("keydown", (event) => {
      let to = null;
      if (event.key in steps) to = at + steps[event.key];
      if (event.key === "Home") to = 0;
      if (event.key === "End") to = dots.length - 1;
      if (to === null || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      show(Math.min(Math.max(to, 0), dots.length - 1));
      dots[at].focus();
    });
    dots[0].setAttribute("tabindex", "0");
  }

  document.querySelectorAll("svg.linked").forEach(link);
  for (const cell of document.querySelectorAll("[data-text]")) {
    cell.textContent = textOf(cell.dataset.text);
  }
  // tables of texts are sorted by a press on a header, the other way by the next one
  for (const table of document.querySelectorAll(".misses table, #texts table")) {
    const heads = [...table.querySelectorAll("thead th")];
    for (const cell of heads) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...cell.childNodes);
      cell.append(button);
      button.addEventListener("click", () => {
        const sign = cell.getAttribute("aria-sort") === "ascending" ? -1 : 1;
        heads.forEach((head) => head.removeAttribute("aria-sort"));
        cell.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
        const key = (line) => line.cells[cell.cellIndex].textContent;
        const compare = new Intl.Collator("en", { numeric: true }).compare;
        const order = (a, b) => sign * (key(a) - key(b) || compare(key(a), key(b)));
        table.tBodies[0].append(...[...table.tBodies[0].rows].sort(order));
      });
    }
  }
  // a link to a text, or to a folded section, opens it first
  document.addEventListener("click", (event) => {
    const hash = event.target.closest?.("a")?.getAttribute("href") ?? "";
    const target = hash.startsWith("#") && document.querySelector(hash);
    const folded = target && (target.closest("details") ?? target.querySelector(":scope > details"));
    if (folded) folded.open = true;
  });
})();
