// Makes the server's pages live: news by server-sent events, posts without a reload, an editor that indents.
// Everything works without this file too, one page load at a time.
"use strict";

const log = document.getElementById("log");
const live = document.getElementById("live");
const heard = document.getElementById("heard");
const newestFirst = log && "editor" in log.dataset;

// Messages

function localise(root) {
  const today = new Date().toDateString();
  for (const time of root.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    const clock = { hour: "2-digit", minute: "2-digit" };
    time.textContent =
      at.toDateString() === today
        ? at.toLocaleTimeString([], clock)
        : at.toLocaleString([], { day: "numeric", month: "short", ...clock });
    time.title = at.toLocaleString();
  }
}

function show(html, mine = false) {
  const holder = document.createElement("template");
  holder.innerHTML = html; // our own server's markup; it escapes what people wrote
  const message = holder.content.firstElementChild;
  const old = document.getElementById(message.id);
  // The answer to a post and the stream both bring it; whichever comes later changes nothing.
  const twice = log.dataset.events && old && Number(old.dataset.version) >= Number(message.dataset.version);
  if (twice) return old;
  localise(message);
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

// By number: the answer to a post may overtake news that are older.
function insert(message) {
  const number = (element) => Number(element.id.slice(1));
  let next = null;
  for (let at = log.lastElementChild; at && number(at) > number(message); at = at.previousElementSibling) next = at;
  log.insertBefore(message, next);
}

// While a post of ours is under way the stream may bring its answer first; that one takes the focus instead.
let underWay = 0;
const unheard = [];

function announce(message) {
  if (underWay) unheard.push(message);
  else heard.textContent = message.dataset.short;
}

function lookAt(element) {
  element.focus({ preventScroll: true });
  // A message taller than the window is read from its start.
  const tall = element.offsetHeight > window.innerHeight * 0.6;
  element.scrollIntoView({ block: tall ? "start" : "nearest" });
}

// Posts

async function post(form, submitter) {
  if (form.dataset.busy) return;
  form.dataset.busy = "yes";
  underWay++;
  const waiting = setTimeout(() => (live.textContent = "Sending…"), 500);
  try {
    const answer = await fetch(form.getAttribute("action"), {
      method: "POST",
      body: new URLSearchParams(new FormData(form, submitter)),
      headers: { Accept: "application/json" },
    });
    if (!answer.ok) throw new Error(await reason(answer));
    // Only now: the same post tried again after a broken connection is the same event.
    form.elements.event.value = fresh();
    done(form, await answer.json());
    live.textContent = "";
  } catch (error) {
    live.textContent = `That did not get through: ${error.message} Try again.`;
  } finally {
    clearTimeout(waiting);
    delete form.dataset.busy;
    underWay--;
    if (!underWay) unheard.splice(0).filter((news) => !news.contains(document.activeElement)).forEach(announce);
  }
}

function done(form, { message, html, editor }) {
  if (form.id === "composer") form.reset();
  const here = editor && location.pathname === editor;
  if (here) return lookAt(document.querySelector("textarea[data-code]"));
  if (editor) return location.assign(editor);
  const tab = document.getElementById("tab-result");
  if (tab) tab.checked = true;
  const shown = show(html, true);
  lookAt(document.getElementById("m" + message) ?? shown);
}

async function reason(answer) {
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  return page.querySelector("main p")?.textContent ?? `the server said ${answer.status}.`;
}

function fresh() {
  const numbers = crypto.getRandomValues(new Uint32Array(4)); // randomUUID needs https
  return Array.from(numbers, (number) => number.toString(16)).join("-");
}

// The editor

function edit(area) {
  const painted = area.parentElement.querySelector("code");
  const draft = `draft:${location.pathname}`;
  let lines = []; // what the server last coloured: text and markup of every line
  let waiting = null;
  let leaving = false;

  // Lines that changed since are shown plain until their colours come, so that nothing flickers.
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
  const colour = async () => {
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
    waiting = setTimeout(colour, 120);
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
    live.textContent = "What you had typed here is back.";
  }
  area.parentElement.classList.add("painted");
  repaint();
  colour();
}

function escaped(text) {
  const holder = document.createElement("span");
  holder.textContent = text;
  return holder.innerHTML;
}

// Typed as if by hand, so that undo takes it back.
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

// News

function listen(after) {
  let news = null;
  let again = null;
  const close = () => {
    clearTimeout(again);
    news?.close();
  };
  const open = () => {
    close();
    const url = new URL(log.dataset.events, location.href);
    url.searchParams.set("after", after);
    news = new EventSource(url);
    news.onmessage = (event) => {
      after = event.lastEventId;
      show(event.data);
    };
    news.onopen = () => {
      if (live.dataset.lost) live.textContent = "";
      delete live.dataset.lost;
    };
    news.onerror = () => {
      live.textContent = "Not connected; trying again by itself.";
      live.dataset.lost = "yes";
      // The browser comes back by itself after a broken connection, but not after an error page.
      if (news.readyState === EventSource.CLOSED) again = setTimeout(open, 5000);
    };
  };
  // A browser opens six connections to one server and no more: a page nobody looks at gives its own back.
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  addEventListener("pagehide", close);
  if (!document.hidden) open();
}

if (log) {
  document.addEventListener("submit", (event) => {
    event.preventDefault();
    post(event.target, event.submitter);
  });
  // A page taken back from the browser's memory is as old as it was; its stream is closed.
  addEventListener("pageshow", (event) => event.persisted && location.reload());
  localise(document);
  document.querySelectorAll("textarea[data-code]").forEach(edit);
  document.querySelectorAll("#text[data-complete]").forEach(complete);
  if (log.dataset.events) listen(log.dataset.after);
  const target = document.getElementById(location.hash.slice(1));
  if (target) lookAt(target);
  else if (!newestFirst) window.scrollTo(0, document.body.scrollHeight);
}
