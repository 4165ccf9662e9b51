"use strict";
// The owner's page: shows what the server says of the ratings, whenever that changes.
const $ = (id) => document.getElementById(id);
const csrf = document.querySelector("meta[name=csrf]").content;
const why = (answer) => answer.json().then((content) => content.error, () => answer.statusText);

async function post(path, body = "") {
  const answer = await fetch(path, { method: "POST", body, headers: { "x-csrf": csrf } });
  $("problem").textContent = answer.ok ? "" : await why(answer);
  return answer.ok ? answer.json() : null;
}
async function showLink(path, body) {
  const rater = await post(path, body);
  if (!rater) return;
  const code = document.createElement("code");
  code.className = "link";
  code.textContent = rater.link && location.origin + rater.link;
  $("link").replaceChildren(
    rater.link ? `The link of ${rater.name}, for them alone: ` : `${rater.name} has no link now; the ratings stay.`, code);
}
$("invite").addEventListener("submit", (event) => {
  event.preventDefault();
  showLink("/owner/raters", $("note").value);
  $("note").value = "";
});
$("people").addEventListener("click", (event) => {
  const path = event.target.dataset.path;
  if (path) showLink(path);
});

$("results").addEventListener("click", (event) => {
  const button = event.target.closest("#race button");
  if (button) post("/owner/systems", button.value);
});

const source = new EventSource("/owner/live");
source.addEventListener("message", (event) => {
  const news = JSON.parse(event.data);
  $("problem").textContent = "";
  for (const id of ["state", "results", "people"]) $(id).innerHTML = news[id]; // escaped by the server
});
source.addEventListener("error", () => {
  const refused = source.readyState === EventSource.CLOSED; // as after a restart, which has a new link
  $("problem").textContent = refused
    ? "This page is no longer told of changes: open the owner's newest link." : "No connection; trying again.";
});
