// Replaces the content of a page in place, where a form or a link has `data-swap`.
// Without this file everything still works, with one page load per action.
"use strict";

const content = () => document.getElementById("content");

// Loads a page and puts its content in place of the present one. A quiet load only looks whether a verdict is there; what
// somebody presses meanwhile goes ahead of it.
async function load(url, options = {}, { quiet = false } = {}) {
  const before = content();
  if (before.dataset.busy) return;
  if (!quiet) before.dataset.busy = "yes";
  const waiting = quiet ? null : setTimeout(() => say("One moment…"), 500);
  try {
    const answer = await request(url, options);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const after = page.getElementById("content");
    if (!after) throw new Error(page.querySelector("main p")?.textContent ?? `The server responded with status ${answer.status}.`);
    if (quiet && (after.querySelector("[data-poll]") || before.dataset.busy || !before.isConnected)) return;
    // A refused answer has no address of its own.
    const own = answer.redirected || options.method !== "POST";
    if (own && answer.url !== location.href) history.pushState(null, "", answer.url);
    document.title = page.title;
    before.replaceWith(document.adoptNode(after));
    settle();
  } catch (error) {
    if (!quiet) say(`Not sent: ${error.message} Try again.`);
  } finally {
    clearTimeout(waiting);
    if (!quiet) delete before.dataset.busy;
  }
}

function say(text) {
  document.getElementById("live").textContent = text;
}

// Makes new content work, and moves the focus to what is new in it.
function settle() {
  localizeTimes(content());
  content().querySelectorAll("textarea[data-code]").forEach((area) => edit(area));
  const field = content().querySelector("[data-focus] :is(textarea, input:not([type=hidden], [type=checkbox]))");
  const target = content().querySelector("[data-result]") ?? field ?? content().querySelector("[data-focus]");
  target?.focus({ preventScroll: true });
  if (target?.matches("[data-result]")) target.scrollIntoView({ block: "nearest" });
  else scrollTo(0, 0);
  document.dispatchEvent(new Event("swapped"));
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("[data-swap]")) return;
  event.preventDefault();
  const fields = new URLSearchParams(new FormData(form, event.submitter));
  const url = new URL(event.submitter?.getAttribute("formaction") ?? form.getAttribute("action"), location.href);
  if (form.method === "post") load(url, { method: "POST", body: fields });
  else load(`${url.pathname}?${fields}`);
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-swap]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  load(link.href);
});

addEventListener("popstate", () => location.reload());
