"use strict";
// Opens a rater's page again without a connection, as the page last kept itself; by their own link.
addEventListener("install", () => skipWaiting());
addEventListener("fetch", (event) => {
  const { mode, url } = event.request;
  if (mode !== "navigate" && !new URL(url).pathname.startsWith("/static/")) return;
  event.respondWith(fetch(event.request).catch(async (fault) => {
    const kept = await caches.match(event.request, { ignoreSearch: true }); // such as a Prolific id
    if (kept) return kept;
    throw fault;
  }));
});
