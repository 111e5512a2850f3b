// Keeps a part of the page up to date by server-sent events. Without this file the page shows the state when it was loaded.
"use strict";

for (const part of document.querySelectorAll("[data-events]")) {
  let stream = null;
  const close = () => stream?.close();
  const open = () => {
    close();
    stream = new EventSource(part.dataset.events);
    stream.onmessage = (event) => {
      part.innerHTML = event.data; // rendered by our server, which escapes what people wrote
      localizeTimes(part);
    };
  };
  // A browser opens at most six connections per server, so hidden pages close theirs.
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  addEventListener("pagehide", close);
  if (!document.hidden) open();
}
