"use strict";
// The owner's page of items: shows the rows that hold a word, sorted by a column; of a rater those
// that they rated, flagged or skipped.
const body = document.querySelector("#items tbody"), rows = [...body.rows];
const search = document.getElementById("search");
function filter() {
  const word = search.value.toLowerCase();
  for (const row of rows) row.classList.toggle("hidden", !row.textContent.toLowerCase().includes(word));
}
search.addEventListener("input", filter);
search.value = decodeURIComponent(location.hash.slice(1));
filter();
document.querySelectorAll("#items th button").forEach((button, at) => {
  button.addEventListener("click", () => {
    const column = button.closest("th"), down = column.getAttribute("aria-sort") === "ascending";
    for (const one of document.querySelectorAll("#items thead th")) one.removeAttribute("aria-sort");
    column.setAttribute("aria-sort", down ? "descending" : "ascending");
    const text = (row) => row.cells[at].dataset.sort;
    const order = new Intl.Collator(undefined, { numeric: true });
    rows.sort((a, b) => (down ? -1 : 1) * order.compare(text(a), text(b)));
    body.replaceChildren(...rows);
  });
});
