// Keeps the time left up to date. Without this file the page shows the time left when it was loaded.
"use strict";

function remaining(ms) {
  const minutes = Math.max(0, Math.ceil(ms / 60000));
  const hours = Math.floor(minutes / 60);
  if (hours >= 48) return `${Math.floor(hours / 24)} days`;
  return [hours && `${hours} h`, (minutes % 60 || !hours) && `${minutes % 60} min`].filter(Boolean).join(" ");
}

// Counts from the server's words at load, so that a wrong clock on the reader's machine does not matter.
for (const time of document.querySelectorAll("time[data-closes]")) {
  time.title = new Date(time.dateTime).toLocaleString();
  const [, hours = 0] = /(\d+) h/.exec(time.textContent) ?? [];
  const [, minutes = 0] = /(\d+) min/.exec(time.textContent) ?? [];
  if (!Number(hours) && !Number(minutes)) continue;
  const end = performance.now() + (Number(hours) * 60 + Number(minutes)) * 60000;
  const update = () => {
    const left = end - performance.now();
    time.textContent = left > 0 ? `Closes in ${remaining(left)}` : "Closed";
  };
  setInterval(update, 15000);
}
