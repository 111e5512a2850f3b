// Keeps a part of the page up to date by server-sent events. Without this file the page shows the state when it was loaded.
"use strict";

// Counts seconds from the server's number, so that a wrong clock on the reader's machine does not matter.
function countDown(root) {
  for (const part of root.querySelectorAll("[data-left]")) {
    const end = performance.now() + Number(part.dataset.left) * 1000;
    const update = () => {
      if (!part.isConnected) return clearInterval(timer);
      const left = Math.max(0, Math.ceil((end - performance.now()) / 1000));
      const { before, after, end: ended } = part.dataset;
      part.textContent = left ? `${before}${left} second${left === 1 ? "" : "s"}${after}` : ended;
    };
    const timer = setInterval(update, 250);
  }
}

countDown(document);

for (const part of document.querySelectorAll("[data-events]")) {
  let stream = null;
  const close = () => stream?.close();
  const open = () => {
    close();
    stream = new EventSource(part.dataset.events);
    stream.onmessage = (event) => {
      // What the page shows already stays, and with it what the reader has picked.
      if (event.lastEventId && event.lastEventId === part.dataset.step) return;
      part.dataset.step = event.lastEventId;
      part.innerHTML = event.data; // rendered by our server, which escapes what people wrote
      localizeTimes(part);
      countDown(part);
    };
    stream.addEventListener("answers", (event) => {
      const count = part.querySelector("[data-answers]");
      if (count) count.textContent = event.data;
    });
    const live = document.getElementById("live");
    // Another page of the same member, opened later, took the place of this one.
    stream.addEventListener("replaced", () => {
      close();
      if (live) live.textContent = "The quiz is open in too many windows. Reload this page to go on here.";
    });
    stream.onopen = () => live && (live.textContent = "");
    stream.onerror = () => live && (live.textContent = "Connection lost. Reconnecting…");
  };
  // A browser opens at most six connections per server, so hidden pages close theirs.
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  addEventListener("pagehide", close);
  if (!document.hidden) open();
}
