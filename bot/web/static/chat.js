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
  document.getElementById("empty")?.remove();
  const atEnd = window.innerHeight + window.scrollY > document.body.scrollHeight - 200;
  const focused = old?.contains(document.activeElement);
  if (newestFirst) {
    old?.remove();
    log.prepend(message);
  } else if (old) old.replaceWith(message);
  else insert(message);
  if (focused) message.focus({ preventScroll: true });
  if (!mine) announce(message);
  if (!mine && !old && atEnd && !newestFirst) message.scrollIntoView({ block: "end" });
  return message;
}

// Ordered by number, because a response may arrive before older messages of the stream.
function insert(message) {
  const number = (element) => Number(element.id.slice(1));
  let next = null;
  for (let at = log.lastElementChild; at && number(at) > number(message); at = at.previousElementSibling) next = at;
  log.insertBefore(message, next);
}

// While a request is pending, the stream may bring its reply first. The reply gets the focus and is not announced.
let pending = 0;
const unannounced = [];

function announce(message) {
  if (pending) unannounced.push(message);
  else announcement.textContent = message.dataset.short;
}

function focusOn(element) {
  element.focus({ preventScroll: true });
  // Show a tall message from its start.
  const tall = element.offsetHeight > window.innerHeight * 0.6;
  element.scrollIntoView({ block: tall ? "start" : "nearest" });
}

// Posts

async function post(form, submitter) {
  if (form.dataset.busy) return;
  form.dataset.busy = "yes";
  pending++;
  const waiting = setTimeout(() => (live.textContent = "Sending…"), 500);
  const idle = showBusy(form);
  try {
    const answer = await fetch(form.getAttribute("action"), {
      method: "POST",
      body: form.enctype === "multipart/form-data" ? new FormData(form, submitter) : new URLSearchParams(new FormData(form, submitter)),
      headers: { Accept: "application/json" },
    });
    if (!answer.ok) throw new Error(await reason(answer));
    // Not earlier: a request repeated after a broken connection must be the same event.
    form.elements.event.value = newId();
    done(form, await answer.json());
    live.textContent = "";
  } catch (error) {
    live.textContent = `Not sent: ${error.message} Try again.`;
  } finally {
    clearTimeout(waiting);
    idle();
    delete form.dataset.busy;
    pending--;
    if (!pending) unannounced.splice(0).filter((message) => !message.contains(document.activeElement)).forEach(announce);
  }
}

function done(form, { message, html, editor }) {
  if (form.id === "composer") form.reset();
  const here = editor && location.pathname === editor;
  if (here) return focusOn(document.querySelector("textarea[data-code]"));
  if (editor) return location.assign(editor);
  const tab = document.getElementById("tab-result");
  if (tab) tab.checked = true;
  const shown = show(html, true);
  focusOn(document.getElementById("m" + message) ?? shown);
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

function complete(box) {
  const options = document.getElementById("commands");
  box.addEventListener("input", async () => {
    const text = box.value;
    if (!text.startsWith("/")) return;
    const answer = await fetch(`${box.dataset.complete}?text=${encodeURIComponent(text)}`).catch(() => null);
    if (!answer?.ok || box.value !== text) return;
    const found = (await answer.json()).map((value) => Object.assign(document.createElement("option"), { value }));
    options.replaceChildren(...found);
  });
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
  document.querySelectorAll("#text[data-complete]").forEach(complete);
  if (log.dataset.events) listen(log.dataset.after);
  const target = document.getElementById(location.hash.slice(1));
  if (target) focusOn(target);
  else if (!newestFirst) window.scrollTo(0, document.body.scrollHeight);
}
