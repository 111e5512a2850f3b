// What every page shares: times in the zone of the reader's machine (without this file each names its zone), lists that
// the browser keeps, and requests.
"use strict";

// data-local says how: `dated` with the day, `time` without, `message` without it if that is today, `day` the day alone.
function localizeTimes(root) {
  const today = new Date().toDateString();
  // A clock of twelve hours says 9:00 am, one of 24 hours 09:00.
  const { hour12 } = new Intl.DateTimeFormat([], { hour: "numeric" }).resolvedOptions();
  const clock = { hour: hour12 ? "numeric" : "2-digit", minute: "2-digit" };
  for (const time of root.querySelectorAll("time[data-local]")) {
    const at = new Date(time.dateTime);
    const style = time.dataset.local;
    if (style === "day") {
      time.textContent = at.toLocaleDateString([], { weekday: "long", day: "numeric", month: "long" });
      continue;
    }
    const day = { day: "numeric", month: "short", ...(style === "dated" && { weekday: "long" }) };
    const precise = style === "precise" ? { ...clock, second: "2-digit" } : clock;
    const withDay = style === "dated" || (style === "message" && at.toDateString() !== today);
    time.textContent = withDay ? at.toLocaleString([], { ...day, ...clock }) : at.toLocaleTimeString([], precise);
    time.title = at.toLocaleString();
  }
}

// Lists that the browser keeps, such as commands that were run; without storage they are empty.
const kept = {
  read(name) {
    try {
      return JSON.parse(localStorage.getItem(name) ?? "[]");
    } catch {
      return [];
    }
  },
  write(name, list) {
    try {
      localStorage.setItem(name, JSON.stringify(list));
    } catch {
      // Private windows may have no storage.
    }
  },
};

// Like fetch, whose own words about a broken connection are for developers and differ between browsers.
async function request(url, options) {
  try {
    return await fetch(url, options);
  } catch {
    throw new Error("the quiz cannot be reached.");
  }
}

localizeTimes(document);
