// Enhances the channel and the editors: updates by server-sent events, and requests without a reload.
// Without this file everything still works, with one page load per action.
"use strict";

const log = document.getElementById("log");
const live = document.getElementById("live");
const announcement = document.getElementById("announcement");
const newestFirst = log && "editor" in log.dataset;

// Messages

function show(html, mine = false) {
  const holder = document.createElement("template");
  holder.innerHTML = html; // rendered by our server, which escapes what people wrote
  const message = holder.content.firstElementChild;
  const old = document.getElementById(message.id);
  // A message arrives in the response and in the event stream; ignore the second copy.
  const known = log.dataset.events && old && Number(old.dataset.version) >= Number(message.dataset.version);
  if (known) return old;
  localizeTimes(message);
  // A change of a message on an earlier page.
  const first = document.getElementById("earlier") && log.querySelector(".message");
  if (!old && first && number(message) < number(first)) return message;
  document.getElementById("empty")?.remove();
  const atEnd = window.innerHeight + window.scrollY > document.body.scrollHeight - 200;
  const focused = old?.contains(document.activeElement);
  if (newestFirst) {
    old?.remove();
    log.prepend(message);
  } else if (old) old.replaceWith(message);
  else insert(message);
  if (!newestFirst) separate();
  if (focused) message.focus({ preventScroll: true });
  if (!mine) announce(message);
  if (!mine && !old && atEnd && !newestFirst) bringUp(message, "end");
  return message;
}

// Ordered by number, because a response may arrive before older messages of the stream.
function insert(message) {
  const later = [...log.querySelectorAll(".message")].reverse().filter((one) => number(one) > number(message));
  log.insertBefore(message, later.at(-1) ?? null);
}

function number(message) {
  return Number(message.id.slice(1));
}

// Puts the day before its first message, in the reader's zone.
function separate() {
  log.querySelectorAll(".day").forEach((day) => day.remove());
  let last = "";
  for (const message of log.querySelectorAll(".message")) {
    const time = message.querySelector("time");
    const day = new Date(time.dateTime).toDateString();
    if (day === last) continue;
    last = day;
    const line = Object.assign(document.createElement("p"), { className: "day", tabIndex: -1 });
    const shown = document.createElement("time");
    shown.dateTime = time.dateTime;
    shown.dataset.local = "day";
    line.append(shown);
    log.insertBefore(line, message);
  }
  // Where the jump to today leads, though nothing has been said yet today.
  const days = log.querySelectorAll(".day");
  if (days.length) days[days.length - 1].id = "today";
  localizeTimes(log);
}

// Earlier messages come above, and the reader stays where they are.
async function loadEarlier(event) {
  event.preventDefault();
  const link = event.currentTarget;
  const answer = await fetch(link.href).catch(() => null);
  if (!answer?.ok) return (live.textContent = "The earlier messages could not be loaded. Try again.");
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const first = log.querySelector(".message");
  const top = first.getBoundingClientRect().top;
  const messages = [...page.querySelectorAll("#log .message")].filter((one) => !document.getElementById(one.id));
  messages.forEach((message) => log.insertBefore(document.adoptNode(message), first));
  const further = page.getElementById("earlier");
  if (further) link.href = further.getAttribute("href");
  else link.parentElement.remove();
  separate();
  window.scrollBy({ top: first.getBoundingClientRect().top - top, behavior: "instant" });
  live.textContent = "";
  messages.at(-1)?.focus({ preventScroll: true });
}

// While a request is pending, the stream may bring its reply first. The reply gets the focus and is not announced.
let pending = 0;
const unannounced = [];
const own = new Set(); // ids of messages that this page wrote

function announce(message) {
  if (pending) unannounced.push(message);
  else announcement.textContent = message.dataset.short ?? words(message);
}

// What a member wrote, with their name.
function words(message) {
  return `${message.querySelector(".by strong").textContent}: ${message.querySelector(".said").textContent}`;
}

function focusOn(element) {
  element.focus({ preventScroll: true });
  bringUp(element, "nearest");
}

// A tall message, such as a reveal, is read from its start.
function bringUp(element, block) {
  element.scrollIntoView({ block: isTall(element) ? "start" : block });
}

function isTall(element) {
  return element.offsetHeight > window.innerHeight * 0.6;
}

// Posts

const queues = new WeakMap(); // form → the fields of its requests in order; the first one is pending
const failed = new WeakMap(); // form → the fields of its last request, if the connection broke or the server refused it

// A press while a request of the same form is pending is sent after it. The same press again meanwhile is one press.
async function post(form, submitter) {
  const fields = new FormData(form, submitter);
  const queue = queues.get(form) ?? [];
  if (queue.length && isSame(queue.at(-1), fields)) return;
  // The server may have it, though no response came: then the same again must be the same event.
  const before = failed.get(form);
  fields.set("event", before && isSame(before, fields) ? before.get("event") : newId());
  queues.set(form, queue);
  queue.push(fields);
  if (queue.length > 1) return;
  form.dataset.busy = "yes";
  while (queue.length) {
    if (await send(form, queue[0])) queue.shift();
    else queue.splice(0).forEach((unsent) => bringBack(form, unsent));
  }
  delete form.dataset.busy;
}

// Files are compared by what is known without reading them.
function isSame(fields, others) {
  const told = (all) => [...all].filter(([name]) => name !== "event").map(([name, value]) => [name, value.name ?? value, value.size]);
  return JSON.stringify(told(fields)) === JSON.stringify(told(others));
}

// Returns whether the server has it.
async function send(form, fields) {
  pending++;
  const waiting = setTimeout(() => (live.textContent = "Sending…"), 500);
  const idle = showBusy(form);
  try {
    const answer = await request(form.getAttribute("action"), {
      method: "POST",
      body: form.enctype === "multipart/form-data" ? fields : new URLSearchParams(fields),
      headers: { Accept: "application/json" },
    });
    if (!answer.ok) throw new Error(await reason(answer));
    done(form, fields, await answer.json());
    failed.delete(form);
    live.textContent = "";
    return true;
  } catch (error) {
    failed.set(form, fields);
    live.textContent = `Not sent: ${error.message} Try again.`;
    return false;
  } finally {
    clearTimeout(waiting);
    idle();
    pending--;
    if (!pending) unannounced.splice(0).filter((message) => !own.has(message.id) && !message.contains(document.activeElement)).forEach(announce);
  }
}

function done(form, fields, { message, html, editor }) {
  const composing = form.id === "composer";
  if (composing) sent(form, fields);
  const here = editor && location.pathname === editor;
  if (here) return focusOn(document.querySelector("textarea[data-code]"));
  if (editor) return location.assign(editor);
  const tab = document.getElementById("tab-result");
  if (tab) tab.checked = true;
  const shown = show(html, true);
  // Somebody who writes goes on writing: the reply is announced, and stands above the box.
  if (composing) {
    if (shown.matches(".private")) announce(shown);
    else own.add(shown.id);
    return bringUp(shown, "end");
  }
  const reply = document.getElementById("m" + message) ?? shown;
  // The stream may have brought it before, and the reader have moved on within it.
  const within = reply !== document.activeElement && reply.contains(document.activeElement);
  if (!within) focusOn(reply);
}

// Shows that a long document is being read, and for how long; returns a function that ends it.
function showBusy(form) {
  const busy = form.querySelector(".busy");
  if (!busy) return () => {};
  const began = Date.now();
  const told = busy.querySelector("span");
  told.textContent = "Reading the document…";
  busy.hidden = false;
  const ticking = setInterval(() => {
    told.textContent = `Reading the document… ${Math.round((Date.now() - began) / 1000)} s`;
  }, 5000);
  return () => {
    clearInterval(ticking);
    busy.hidden = true;
  };
}

async function reason(answer) {
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  return page.querySelector("main p")?.textContent ?? `the server said ${answer.status}.`;
}

function newId() {
  const numbers = crypto.getRandomValues(new Uint32Array(4)); // randomUUID needs https
  return Array.from(numbers, (number) => number.toString(16)).join("-");
}

// The message box

const SENT = 50; // messages that the arrow keys bring back
const memory = () => `sent:${location.pathname}`;

function remember(text) {
  kept.write(memory(), [...kept.read(memory()).filter((one) => one !== text), text].slice(-SENT));
}

// Whether what was sent is still in the box: somebody may write on meanwhile.
function isIn(form, fields) {
  return form.elements.text.value === fields.get("text");
}

// Keeps a text that was not sent: in the box, or where something else was written there, for the arrow keys.
function bringBack(form, fields) {
  if (form.id !== "composer" || isIn(form, fields)) return;
  const box = form.elements.text;
  if (box.value) return remember(fields.get("text"));
  box.value = fields.get("text");
  box.dispatchEvent(new Event("input"));
}

function sent(form, fields) {
  remember(fields.get("text"));
  if (!isIn(form, fields)) return;
  const box = form.elements.text;
  form.reset();
  box.dispatchEvent(new Event("input"));
  box.focus({ preventScroll: true });
}

function compose(box) {
  const shown = document.getElementById("suggestions");
  let found = []; // completions of what is typed
  let offered = ""; // the text that they are for
  let back = 0; // how many messages back the box shows; 0 for what is being written
  let written = "";

  const fit = () => {
    box.style.height = "auto";
    box.style.height = `${Math.min(box.scrollHeight + 2, innerHeight * 0.4)}px`;
  };
  const put = (text) => {
    box.value = text;
    box.setSelectionRange(text.length, text.length);
    fit();
  };
  const offer = (texts) => {
    found = texts;
    shown.hidden = !texts.length;
    shown.replaceChildren(...texts.slice(0, 8).map((text) => {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: text });
      button.addEventListener("click", () => complete(text));
      return button;
    }));
  };
  const complete = (text) => {
    put(text.endsWith(":") ? text : `${text} `);
    box.focus();
    look();
  };
  const look = async () => {
    const text = box.value;
    if (!text.startsWith("/") || text.includes("\n")) return offer([]);
    const answer = await fetch(`${box.dataset.complete}?text=${encodeURIComponent(text)}`).catch(() => null);
    if (!answer?.ok || box.value !== text) return;
    offer(await answer.json());
    offered = text;
  };

  const isAhead = () => box.value.startsWith("/") && !box.value.includes("\n") && offered !== box.value;

  box.addEventListener("input", () => {
    back = 0;
    fit();
    look();
  });
  box.addEventListener("keydown", async (event) => {
    if (event.isComposing) return;
    const history = kept.read(memory());
    const step = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    // In a text of several lines, the arrows move within it.
    const browsing = back > 0 || !box.value.includes("\n");
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      box.form.requestSubmit();
    } else if (event.key === "Tab" && !event.shiftKey && (found.length || isAhead())) {
      event.preventDefault();
      // Somebody may type faster than the completions arrive. Without any, the next Tab leaves the box.
      if (isAhead()) await look();
      offered = box.value;
      if (found.length) complete(found[0]);
    } else if (event.key === "Escape") offer([]);
    else if (step && browsing && back + step >= 0 && back + step <= history.length && history.length) {
      event.preventDefault();
      if (!back) written = box.value;
      back += step;
      put(back ? history.at(-back) : written);
      offer([]);
    }
  });
  fit();
}

// Event stream

function listen(after) {
  let stream = null;
  let retry = null;
  const close = () => {
    clearTimeout(retry);
    stream?.close();
  };
  const open = () => {
    close();
    const url = new URL(log.dataset.events, location.href);
    url.searchParams.set("after", after);
    stream = new EventSource(url);
    stream.onmessage = (event) => {
      after = event.lastEventId;
      show(event.data);
    };
    // Whether the service behind this server answers.
    stream.addEventListener("connection", (event) => {
      const lost = event.data === "lost";
      if (lost) live.textContent = "The quiz is not responding right now. New messages appear as soon as it does.";
      else if (live.dataset.away) live.textContent = "";
      if (lost) live.dataset.away = "yes";
      else delete live.dataset.away;
    });
    // Another page of the same member, opened later, took the place of this one.
    stream.addEventListener("replaced", () => {
      close();
      live.textContent = "The quiz is open in too many windows. Reload this page to go on here.";
      live.dataset.lost = "yes";
    });
    stream.onopen = () => {
      if (live.dataset.lost) live.textContent = "";
      delete live.dataset.lost;
    };
    stream.onerror = () => {
      live.textContent = "Not connected. Reconnecting…";
      live.dataset.lost = "yes";
      // Browsers reconnect by themselves after a broken connection, but not after an error response.
      if (stream.readyState === EventSource.CLOSED) retry = setTimeout(open, 5000);
    };
  };
  // A browser opens at most six connections per server, so hidden pages close theirs.
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  addEventListener("pagehide", close);
  if (!document.hidden) open();
}

if (log) {
  document.addEventListener("submit", (event) => {
    event.preventDefault();
    post(event.target, event.submitter);
  });
  // A page restored from the browser's cache is outdated and its stream is closed.
  addEventListener("pageshow", (event) => event.persisted && location.reload());
  document.querySelectorAll("#text[data-complete]").forEach(compose);
  document.getElementById("earlier")?.addEventListener("click", loadEarlier);
  if (!newestFirst) separate();
  if (log.dataset.events) listen(log.dataset.after);
  const target = document.getElementById(location.hash.slice(1));
  const newest = [...log.querySelectorAll(".message")].at(-1);
  if (target) focusOn(target);
  else if (!newestFirst && newest && isTall(newest)) newest.scrollIntoView({ behavior: "instant" });
  else if (!newestFirst) window.scrollTo({ top: document.body.scrollHeight, behavior: "instant" });
}
