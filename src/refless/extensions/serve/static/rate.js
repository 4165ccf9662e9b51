"use strict";
// The rater's page: shows one item, sends each act at once, and again until it is saved.
// What is not saved yet lies in the browser, a key an act, also when the page is closed.
const $ = (id) => document.getElementById(id);
const meta = (name) => document.querySelector(`meta[name=${name}]`).content;
const setting = JSON.parse(meta("setting"));
const many = setting.dimensions.length > 1;
let unit = null, question = 0, shownAt = 0, busy = false, differences = false;
let ahead = [], away = false, delivering = false; // items for when there is no connection
let made = 0; // acts, since the page was opened
const trail = []; // what was acted on and saved, since then
const KEPT = `kept ${setting.page}`; // what is on the page, for when it opens without a connection
const queue = Object.keys(localStorage).filter((key) => key.startsWith(setting.page))
  .map((key) => JSON.parse(localStorage.getItem(key))).sort((a, b) => a.n - b.n);

const make = (name, attributes = {}, text = "") => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
};
const why = (answer) => answer.json().then((said) => said.error, () => answer.statusText);
const pause = (ms) => new Promise((done) => { // or until the connection is back
  setTimeout(done, ms);
  addEventListener("online", done, { once: true });
});
const problem = (text) => { $("problem").textContent = text; };
const fresh = () => Array.from(crypto.getRandomValues(new Uint8Array(16)),
  (byte) => byte.toString(16).padStart(2, "0")).join("");

function disconnected() {
  const kept = queue.length ? ` ${queue.length} not saved yet, but kept on this device.` : "";
  problem(`There is no connection; trying again.${kept}`);
}

// Sends a request until the server has answered; `meanwhile` is called where it does not.
async function ask(path, body, meanwhile = () => {}) {
  const options = body === undefined ? {} : {
    method: "POST", body: JSON.stringify(body),
    headers: { "x-csrf": meta("csrf"), "content-type": "application/json" },
  };
  for (let wait = 500; ; wait = Math.min(2 * wait, 8000)) {
    try {
      const answer = await fetch(path, { ...options, signal: AbortSignal.timeout(20000) });
      if (answer.status < 500 && answer.status !== 429) {
        if (answer.ok) { problem(""); return await answer.json(); }
        const refusal = await why(answer);
        problem(refusal);
        return { refused: answer.status, why: refusal };
      }
    } catch { /* no connection; try again */ }
    meanwhile();
    disconnected();
    await pause(wait);
  }
}

// Sends what waits, in order; each has an id, by which the server keeps it once.
async function deliver() {
  if (delivering) return null;
  delivering = true;
  let answer = null;
  while (queue.length) {
    const key = setting.page + queue[0].event.uuid;
    if (queue[0].stored && !localStorage.getItem(key)) { // another tab has sent it, or undone it
      queue.shift();
      continue;
    }
    answer = await ask("/rate/events", queue[0].event, goOn);
    if ([401, 403].includes(answer.refused)) break; // kept until the link is opened again
    const { said, event } = queue.shift();
    if (answer.refused) { // what cannot be kept there stays here
      problem(`${said} This could not be saved, and stays on this device: ${answer.why}`);
      continue;
    }
    localStorage.removeItem(key);
    if (event.kind === "undone") trail.pop(); else trail.push(event.assigned);
    $("saved").textContent = `${said} Saved.`;
  }
  delivering = false;
  return answer;
}

function occupy(value) {
  busy = value;
  document.body.setAttribute("aria-busy", value);
}

// Without a connection: the rater goes on with what the page has ahead, or had when it was closed.
function goOn() {
  const kept = unit ? "" : localStorage.getItem(KEPT);
  if (away || !(unit || kept)) return;
  away = true;
  if (unit) { locally(queue[queue.length - 1]); return; }
  occupy(false);
  show(JSON.parse(kept));
  for (const act of queue) if (act.event.assigned === unit.assigned) locally(act);
}

// Keeps what is on the page, for when it opens again without a connection.
function keep() {
  const done = Number($("done").value), progress = { done, left: $("done").max - done };
  try {
    if (!unit) localStorage.removeItem(KEPT);
    else if (unit.open) localStorage.setItem(KEPT, JSON.stringify({ unit, ahead, progress }));
  } catch { /* no room: the page opens with a connection alone */ }
}

async function keepPage() {
  if (!navigator.serviceWorker) return; // as without TLS
  await navigator.serviceWorker.register("/static/worker.js", { scope: "/" });
  const page = await fetch("/");
  if (!(await page.clone().text()).includes(meta("csrf"))) return; // by now somebody else's
  await caches.delete("rater");
  const cache = await caches.open("rater");
  await cache.addAll(["/static/rate.js", "/static/service.css"]);
  for (const link of ["/", ...setting.links]) await cache.put(link, page.clone());
}

function locally(act) {
  const { kind, dimension, value } = act.event;
  if (kind === "rated") unit.values[dimension] = value;
  const through = kind === "skipped" || setting.dimensions.every((name) => name in unit.values);
  const last = !ahead.length || unit.practice; // whose right answer only the service knows
  occupy(kind === "undone" || !unit.open || (through && last));
  $("saved").textContent = act.said;
  if (busy) { show({ unit }); return; } // it waits, with what was pressed
  if (kind === "flagged") return;
  const done = Number($("done").value), left = $("done").max - done;
  act.undo = { unit, moved: through };
  if (through) show({ unit: ahead.shift(), progress: { done: done + 1, left: left - 1 } });
  else show({ unit });
}

// Takes back what was never sent: the first of those that wait may have been.
function takeBack() {
  const act = queue[queue.length - 1];
  if (queue.length < 2 || !act.undo) {
    problem("What is being sent can be undone once there is a connection.");
    return;
  }
  queue.pop();
  localStorage.removeItem(setting.page + act.event.uuid);
  const done = Number($("done").value), left = $("done").max - done;
  const progress = { done: done - act.undo.moved, left: left + act.undo.moved };
  if (act.undo.moved) ahead.unshift(unit);
  delete act.undo.unit.values[act.event.dimension];
  show({ unit: act.undo.unit, progress });
  $("saved").textContent = "Undone.";
  disconnected();
}

// What can be chosen in answer to a question: [value, key, name].
function choices(at) {
  if (setting.ask === "rating") {
    const name = setting.dimensions[at], steps = setting.steps[name], first = steps[0];
    const label = (step) => setting.labels[`${name}=${step}`] || setting.labels[step] || "";
    return steps.map((step, i) =>
      [step, first < 0 ? i + 1 : step, String(step), label(step)]);
  }
  const found = unit.texts.map((_, i) => [i, i + 1, `Text ${i + 1} is better`]);
  if (setting.ask === "best") return unit.texts.map((_, i) => [i, i + 1, `Text ${i + 1}`]);
  return [...found, [-1, 0, "Neither is better"]];
}

// Words and the space between them, and which words are in a longest common subsequence.
const words = (text) => text.match(/\s+|[\p{L}\p{N}\p{M}]+|[^]/gu) || [];
function common(a, b) {
  const [n, m] = [a.length, b.length];
  if (n * m > 4e6) return [a.map((word) => b.includes(word)), b.map((word) => a.includes(word))];
  const best = Array.from({ length: n + 1 }, () => new Uint16Array(m + 1));
  for (let i = n - 1; i >= 0; i--) {
    for (let j = m - 1; j >= 0; j--) {
      best[i][j] = a[i] === b[j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
    }
  }
  const [mine, theirs] = [Array(n).fill(false), Array(m).fill(false)];
  for (let i = 0, j = 0; i < n && j < m;) {
    if (a[i] === b[j]) mine[i++] = theirs[j++] = true;
    else if (best[i + 1][j] >= best[i][j + 1]) i++;
    else j++;
  }
  return [mine, theirs];
}

// A text as it is, or as the HTML that the server made of it, with all that is foreign escaped;
// beside another text, which may come first, with marks where that one differs.
function fill(part, text, html, other, second) {
  const marked = other !== undefined;
  if (marked) {
    const [mine, theirs] = [text, other].map((each) => words(each).filter((word) => word.trim()));
    const same = second ? common(theirs, mine)[1] : common(mine, theirs)[0];
    let at = 0;
    part.replaceChildren(...words(text).map((word) =>
      !word.trim() || same[at++] ? document.createTextNode(word) : make("mark", {}, word)));
  } else if (html) part.innerHTML = html;
  else part.textContent = text;
  part.classList.toggle("rich", Boolean(html) && !marked);
}

function fillAll() {
  const { source, texts, html } = unit, pair = texts.length === 2;
  const other = (i) => !differences ? undefined : pair ? texts[1 - i] : source || undefined;
  fill($("source"), source, html && html.source, differences && texts.length === 1 ? texts[0] : undefined);
  document.querySelectorAll("#texts .text").forEach((part, i) =>
    fill(part, texts[i], html && html.texts[i], other(i), !pair || i === 1));
  $("differences").setAttribute("aria-pressed", differences);
}

// What a rater who is through takes along: a code, and a link back to where they came from.
function thanks({ code, url, skipped }) {
  const parts = [];
  if (skipped) parts.push(`You skipped ${skipped}. The completion code comes once you have rated more `
    + "texts than you skipped: Back (←) shows them again.");
  if (code) parts.push("Your completion code: ", make("code", { class: "link" }, code), " ");
  if (url) parts.push(make("a", { href: url, class: "button" }, "Finish and go back"));
  return parts;
}

function progressed(found) {
  if (found.ahead) ahead = found.ahead;
  if (!found.progress) return;
  const { done, left } = found.progress;
  const more = left && found.unit ? `, your share of the rest: about ${left}` : "";
  $("progress").textContent = `${done} done${more}`;
  $("done").max = Math.max(1, done + left);
  $("done").value = done;
}

function show(found) {
  progressed(found);
  if (!unit || !found.unit || unit.assigned !== found.unit.assigned) shownAt = performance.now();
  unit = found.unit;
  for (const id of ["texts", "questions"]) $(id).replaceChildren();
  $("over").classList.toggle("hidden", Boolean(unit));
  $("source-part").classList.toggle("hidden", !unit || !unit.source);
  $("thanks").replaceChildren(...thanks(found.thanks || {}));
  practised();
  if (!unit) { keep(); return; }
  unit.texts.forEach((_, i) => {
    const title = unit.texts.length > 1 ? `Text ${i + 1}` : "Text";
    const part = make("article", { "aria-label": title });
    const shown = make("div", { class: "text", dir: "auto" });
    part.append(make("h2", {}, title), shown);
    $("texts").append(part);
  });
  fillAll();
  scrollTo(0, 0);
  $("texts").className = unit.texts.length > 1 ? "beside" : "";
  setting.dimensions.forEach((name, at) => $("questions").append(asked(name, at)));
  question = setting.dimensions.findIndex((name) => !(name in unit.values));
  if (question < 0) question = 0;
  mark();
  keep();
}

// Which practice item this is; what is right, which stays until the rater goes on.
function practised() {
  const [name, told, button] = $("practice").children;
  $("practice").classList.toggle("hidden", !unit || !unit.practice);
  if (!unit || !unit.practice) return;
  name.textContent = `${unit.practice}.`;
  told.textContent = unit.told;
  button.classList.toggle("hidden", unit.open);
  if (!unit.open) button.focus();
}

function asked(name, at) {
  const group = make("div", { role: "group", "aria-label": name, class: "question" });
  const asks = setting.questions[name];
  if (asks || many || setting.ask === "rating") group.append(make("h2", { dir: "auto" }, asks || name));
  const before = (unit.before || {})[name];
  if (before) group.append(make("p", {}, `Raters gave ${before.join(" and ")}. What is right?`));
  const row = make("div", { class: "choices" }), offered = choices(at);
  const below = make("p", { class: "labels", "aria-hidden": "true" }); // so that no button is wider
  for (const [value, key, label, meaning] of offered) {
    const button = make("button", { type: "button", "aria-pressed": unit.values[name] === value });
    button.append(make("span", {}, label));
    if (meaning) button.setAttribute("aria-label", `${label} ${meaning}`);
    if (meaning && offered.length > 3) below.append(make("span", { dir: "auto" }, `${label} ${meaning}`));
    else if (meaning) button.append(make("small", { dir: "auto" }, meaning));
    if (label !== String(key)) button.append(make("kbd", { "aria-hidden": "true" }, String(key)));
    button.addEventListener("click", () => rate(at, value));
    row.append(button);
  }
  group.append(row);
  if (below.childNodes.length) group.append(below); // outside the grid, whose empty columns then go
  return group;
}

function mark() {
  [...$("questions").children].forEach((group, at) =>
    group.classList.toggle("now", many && at === question));
  if (many) $("questions").children[question]?.scrollIntoView({ block: "nearest" });
}

async function send(event, said) {
  if (busy) return;
  if (away && event.kind === "undone") { takeBack(); return; }
  occupy(true);
  const latency = Math.round(performance.now() - shownAt);
  const n = queue.length ? queue[queue.length - 1].n + 1 : 0;
  const act = { n, said, stored: true, event: { uuid: fresh(), latency, ...event } };
  queue.push(act);
  try {
    localStorage.setItem(setting.page + act.event.uuid, JSON.stringify(act));
  } catch { act.stored = false; } // no room: the page has it all the same
  if (away) { locally(act); disconnected(); }
  made += 1;
  const found = await deliver();
  if (found) arrive("next" in found && !found.unit.told ? { ...found, unit: found.next } : found);
}

// Shows what comes next; what was being read without a connection stays as it is.
function arrive(now) {
  const reads = away && unit && unit.open && !busy && unit.assigned;
  away = false;
  occupy(false);
  if (now.refused) return;
  if (reads && now.unit && now.unit.assigned === reads) { progressed(now); keep(); }
  else show(now);
}

function rate(at, value) {
  if (!unit) return;
  const dimension = setting.dimensions[at];
  const label = choices(at).find(([one]) => one === value)[2];
  const answered = setting.ask === "rating" ? `Rated ${label}.` : `${label}.`;
  const said = many ? `${dimension}: ${label}.` : answered;
  send({ kind: "rated", assigned: unit.assigned, dimension, value }, said);
}

async function because(kind, said) {
  if (!unit || busy) return;
  const dialog = $("why");
  $("why-title").textContent = kind === "skipped" ? "Skip: why?" : "Flag: what is wrong?";
  $("reason").value = "";
  dialog.returnValue = "no";
  dialog.showModal();
  await new Promise((done) => dialog.addEventListener("close", done, { once: true }));
  if (dialog.returnValue !== "yes") return;
  send({ kind, assigned: unit.assigned, reason: $("reason").value }, said);
}

async function go(step) {
  if (busy || away) return;
  if (step > 0 && unit && unit.open) return;
  const last = Number($("done").value);
  const at = unit ? unit.position + step : last - 1;
  if (at < 0) return;
  $("saved").textContent = ""; // it was about another item
  const found = step > 0 && (!unit || at >= last) ? await ask("/rate/next") : await ask(`/rate/at/${at}`);
  if (!found.refused) show(found);
}

const acts = {
  ArrowLeft: () => go(-1), ArrowRight: () => go(1),
  z: () => send({ kind: "undone", assigned: trail[trail.length - 1] || "" }, "Undone."),
  s: () => because("skipped", "Skipped."), f: () => because("flagged", "Flagged."),
  d: () => { differences = !differences; if (unit) fillAll(); },
  "?": () => $("keys").showModal(), g: () => $("guide") && $("guide").showModal(),
  ArrowUp: () => { question = Math.max(0, question - 1); mark(); },
  ArrowDown: () => { question = Math.min(setting.dimensions.length - 1, question + 1); mark(); },
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (document.querySelector("dialog[open]")) return;
  const choice = unit && /^[0-9]$/.test(event.key)
    ? choices(question).find(([, key]) => key === Number(event.key)) : null;
  if (choice) rate(question, choice[0]);
  else if (acts[event.key]) acts[event.key]();
  else return;
  event.preventDefault();
});
for (const [id, key] of Object.entries(
  { back: "ArrowLeft", forward: "ArrowRight", undo: "z", skip: "s", flag: "f", help: "?", guidelines: "g",
    differences: "d" })) {
  if ($(id)) $(id).addEventListener("click", acts[key]);
}
$("practice").querySelector("button").addEventListener("click", acts.ArrowRight);

// Guidelines come before the first item, and the text of consent before everything.
async function begin() {
  const guide = $("guide");
  if (setting.asks) {
    guide.classList.add("asks");
    for (guide.returnValue = ""; guide.returnValue !== "yes";) {
      guide.showModal();
      await new Promise((done) => guide.addEventListener("close", done, { once: true }));
    }
    if ((await ask("/rate/consent", {})).refused) return;
    guide.classList.remove("asks");
  }
  busy = true;
  await deliver();
  busy = false;
  const before = made;
  const found = await ask("/rate/next", undefined, goOn);
  if (made === before) arrive(found); // else what was sent meanwhile has its answer
  if (found.refused) return;
  if (!setting.asks && guide && !found.progress.done) guide.showModal();
  await keepPage().catch(() => {});
}
begin();
