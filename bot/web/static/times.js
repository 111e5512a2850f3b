// What every page shares: times in the zone of the reader's machine (without this file each names its zone), lists that
// the browser keeps, and requests.
"use strict";

// data-local says how: `dated` with the day, `time` without, `message` without it if that is today, `day` the day alone.
function localizeTimes(root) {
  const today = new Date().toDateString();
  // In English as the sentences around them: "Monday 30 November", as the server writes days. The clock is the reader's:
  // one of twelve hours says 9:00 AM, one of 24 hours 09:00.
  const { hour12 } = new Intl.DateTimeFormat([], { hour: "numeric" }).resolvedOptions();
  const clock = { hour: hour12 ? "numeric" : "2-digit", minute: "2-digit" };
  for (const time of root.querySelectorAll("time[data-local]")) {
    const at = new Date(time.dateTime);
    const style = time.dataset.local;
    const day = { day: "numeric", month: style === "message" ? "short" : "long" };
    const days = at.toLocaleDateString("en-GB", style === "message" ? day : { ...day, weekday: "long" });
    const precise = style === "precise" ? { ...clock, second: "2-digit" } : clock;
    const hours = at.toLocaleTimeString(hour12 ? "en-US" : "en-GB", precise);
    const withDay = style === "dated" || (style === "message" && at.toDateString() !== today);
    time.textContent = style === "day" ? days : withDay ? `${days}, ${hours}` : hours;
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
