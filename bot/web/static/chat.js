// Enhances the pages: updates by server-sent events, requests without a reload, and a code editor.
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

// The editor

function edit(area) {
  const painted = area.parentElement.querySelector("code");
  const draft = `draft:${location.pathname}`;
  let lines = []; // text and highlighted markup of each line, from the server
  let waiting = null;
  let leaving = false;

  // Only changed lines are shown plain until they are highlighted, so that nothing flickers.
  const repaint = () => {
    const now = area.value.split("\n");
    let top = 0;
    while (top < now.length && lines[top]?.text === now[top]) top++;
    let end = 0;
    while (end < now.length - top && end < lines.length - top && lines.at(-1 - end).text === now.at(-1 - end)) end++;
    const changed = now.slice(top, now.length - end).map((text) => ({ text, html: escaped(text) }));
    lines = [...lines.slice(0, top), ...changed, ...lines.slice(lines.length - end)];
    painted.innerHTML = lines.map((line) => line.html).join("\n") + "\n";
  };
  const highlight = async () => {
    const code = area.value;
    const body = new URLSearchParams({ token: area.form.elements.token.value, code });
    const answer = await fetch(area.dataset.highlight, { method: "POST", body }).catch(() => null);
    const html = answer?.ok ? (await answer.text()).split("\n") : null;
    if (!html || area.value !== code) return;
    lines = code.split("\n").map((text, number) => ({ text, html: html[number] ?? "" }));
    painted.innerHTML = html.join("\n") + "\n"; // escaped by the server
  };
  const changed = () => {
    repaint();
    sessionStorage.setItem(draft, area.value);
    clearTimeout(waiting);
    waiting = setTimeout(highlight, 120);
  };
  const follow = () => (painted.style.transform = `translate(${-area.scrollLeft}px, ${-area.scrollTop}px)`);

  area.addEventListener("input", changed);
  area.addEventListener("scroll", follow);
  area.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      area.form.requestSubmit(area.form.querySelector("button.primary"));
    } else if (event.key === "Tab" && !leaving) {
      event.preventDefault();
      indent(area, event.shiftKey);
    } else if (event.key === "Enter") {
      event.preventDefault();
      breakLine(area);
    }
    leaving = event.key === "Escape" || (leaving && event.key === "Shift");
  });
  const kept = sessionStorage.getItem(draft);
  if (kept !== null && kept !== area.value) {
    area.value = kept;
    live.textContent = "Your draft was restored.";
  }
  area.parentElement.classList.add("painted");
  repaint();
  highlight();
}

function escaped(text) {
  const holder = document.createElement("span");
  holder.textContent = text;
  return holder.innerHTML;
}

// Inserts text so that undo works.
function type(area, text) {
  if (text) document.execCommand("insertText", false, text);
  else if (area.selectionStart !== area.selectionEnd) document.execCommand("delete");
}

function breakLine(area) {
  const line = area.value.slice(0, area.selectionStart).split("\n").at(-1);
  const deeper = line.trimEnd().endsWith(":") ? "    " : "";
  type(area, "\n" + line.match(/^ */)[0] + deeper);
}

function indent(area, back) {
  const { selectionStart: from, selectionEnd: to } = area;
  const several = area.value.slice(from, to).includes("\n");
  if (!back && !several) return type(area, "    ");
  const start = area.value.lastIndexOf("\n", from - 1) + 1;
  const before = area.value.slice(start, to).split("\n");
  const after = before.map((line) => (back ? line.replace(/^ {1,4}/, "") : line && "    " + line));
  const moved = after.join("\n");
  if (moved === before.join("\n")) return;
  area.setSelectionRange(start, to);
  type(area, moved);
  const shift = after[0].length - before[0].length;
  if (several) area.setSelectionRange(start, start + moved.length);
  else area.setSelectionRange(Math.max(start, from + shift), Math.max(start, to + shift));
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
  document.querySelectorAll("textarea[data-code]").forEach(edit);
  document.querySelectorAll("#text[data-complete]").forEach(complete);
  if (log.dataset.events) listen(log.dataset.after);
  const target = document.getElementById(location.hash.slice(1));
  if (target) focusOn(target);
  else if (!newestFirst) window.scrollTo(0, document.body.scrollHeight);
}
