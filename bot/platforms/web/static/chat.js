// Makes the server's pages live: news by server-sent events, posts without a reload, an editor that indents.
// Everything works without this file too, one page load at a time.
"use strict";

const log = document.getElementById("log");
const live = document.getElementById("live");
let awaited = null; // the message a post of ours was answered with, to be focused when it is there

function localise(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    time.textContent = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    time.title = at.toLocaleString();
  }
}

function show(html) {
  const holder = document.createElement("template");
  holder.innerHTML = html; // our own server's markup; it escapes what people wrote
  const message = holder.content.firstElementChild;
  localise(message);
  const old = document.getElementById(message.id);
  document.getElementById("empty")?.remove();
  const near = window.innerHeight + window.scrollY > document.body.scrollHeight - 200;
  if (old && log.contains(old)) old.replaceWith(message);
  else if ("newestFirst" in log.dataset) log.prepend(message);
  else log.append(message);
  prepare(message);
  if (message.id === awaited) focusOn(message);
  else if (near && !("newestFirst" in log.dataset)) message.scrollIntoView({ block: "end" });
}

function focusOn(message) {
  awaited = null;
  message.scrollIntoView({ block: "nearest" });
  (message.querySelector("input:not([type=hidden]), textarea, .buttons [aria-pressed], .buttons a, .buttons button") ??
    message).focus({ preventScroll: true });
}

async function post(form, submitter) {
  const body = new FormData(form, submitter);
  body.set("event", crypto.randomUUID?.() ?? String(Math.random()).slice(2) + Date.now());
  const buttons = form.querySelectorAll("button");
  for (const button of buttons) button.disabled = true;
  if (live) live.textContent = "Sending…";
  try {
    const answer = await fetch(form.getAttribute("action"), {
      method: "POST",
      body: new URLSearchParams(body),
      headers: { Accept: "application/json" },
    });
    if (!answer.ok) {
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      throw new Error(page.querySelector("main p")?.textContent ?? "the server said no");
    }
    awaited = "m" + (await answer.json()).message;
    const there = document.getElementById(awaited);
    if (there && log.contains(there)) focusOn(there);
    if (form.id === "composer") form.reset();
    if (live) live.textContent = "";
  } catch (error) {
    if (live) live.textContent = `That did not get through: ${error.message}. Nothing is lost; try again.`;
  } finally {
    for (const button of buttons) button.disabled = false;
  }
}

document.addEventListener("submit", (event) => {
  event.preventDefault();
  post(event.target, event.submitter);
});

function prepare(root) {
  for (const area of root.querySelectorAll("textarea[data-code]")) edit(area);
}

function edit(area) {
  const painted = area.parentElement.querySelector("code");
  const token = area.form.elements.token.value;
  let waiting = null;
  let escaped = false;
  const paint = async () => {
    const code = area.value;
    const url = location.pathname.replace(/form\/.*/, "highlight");
    const answer = await fetch(url, { method: "POST", body: new URLSearchParams({ token, code }) });
    if (!answer.ok || area.value !== code) return;
    painted.innerHTML = (await answer.text()) + "\n"; // escaped by the server
    area.parentElement.classList.add("painted");
  };
  const changed = () => {
    area.parentElement.classList.remove("painted");
    clearTimeout(waiting);
    waiting = setTimeout(paint, 120);
  };
  area.addEventListener("input", changed);
  area.addEventListener("scroll", () => {
    painted.parentElement.scrollTop = area.scrollTop;
    painted.parentElement.scrollLeft = area.scrollLeft;
  });
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      area.form.requestSubmit(area.form.querySelector("button.primary"));
    } else if (event.key === "Escape") {
      escaped = true;
    } else if (event.key === "Tab" && !escaped) {
      event.preventDefault();
      indent(area, event.shiftKey);
      changed();
    } else if (event.key === "Enter") {
      const line = area.value.slice(0, area.selectionStart).split("\n").at(-1);
      const deeper = line.trimEnd().endsWith(":") ? "    " : "";
      event.preventDefault();
      area.setRangeText("\n" + line.match(/^ */)[0] + deeper, area.selectionStart, area.selectionEnd, "end");
      changed();
    } else {
      escaped = escaped && event.key === "Shift";
    }
  });
  paint();
}

function indent(area, back) {
  const start = area.value.lastIndexOf("\n", area.selectionStart - 1) + 1;
  const lines = area.value.slice(start, area.selectionEnd).split("\n");
  const moved = lines.map((line) => (back ? line.replace(/^ {1,4}/, "") : "    " + line)).join("\n");
  area.setRangeText(moved, start, area.selectionEnd, lines.length > 1 ? "select" : "end");
}

const composer = document.getElementById("text");
if (composer) {
  const options = document.getElementById("commands");
  composer.addEventListener("input", async () => {
    if (!composer.value.startsWith("/")) return;
    const text = composer.value;
    const answer = await fetch(`${composer.dataset.complete}?text=${encodeURIComponent(text)}`);
    if (!answer.ok || composer.value !== text) return;
    options.replaceChildren(...(await answer.json()).map((value) => Object.assign(document.createElement("option"), { value })));
  });
}

if (log) {
  localise(document);
  prepare(document);
  const news = new EventSource(log.dataset.events);
  news.onmessage = (event) => show(event.data);
  news.onopen = () => (live.textContent = "");
  news.onerror = () => (live.textContent = "Not connected; trying again by itself.");
  const target = location.hash && document.querySelector(location.hash);
  if (target) focusOn(target);
  else if (!("newestFirst" in log.dataset)) window.scrollTo(0, document.body.scrollHeight);
}
