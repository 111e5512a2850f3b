// The command bar: every command by keyboard or touch, on every page, with the reply in place.
// Without this file, its link leads to the message box of the channel.
"use strict";

{
  const bar = document.getElementById("command-bar");
  const box = document.getElementById("command");
  const list = document.getElementById("command-list");
  const status = document.getElementById("command-status");
  const result = document.getElementById("command-result");
  const base = bar.dataset.base;
  const memory = `recent:${bar.dataset.member}`;
  let offers = []; // what is listed
  let chosen = 0; // index of the offer that Enter runs; -1 for none
  let listed = null; // the text that they are for
  let token = "";
  let before = null; // what had the focus
  let pending = null; // what was sent and has no reply yet: its content and its event

  const recent = () => kept.read(memory);
  const remember = (text) => kept.write(memory, [text, ...recent().filter((one) => one !== text)].slice(0, 5));

  function open() {
    if (bar.open) return box.select();
    before = document.activeElement;
    bar.showModal();
    box.value = "";
    clear();
    look();
    box.focus();
  }

  function clear() {
    result.hidden = true;
    result.replaceChildren();
    status.textContent = "";
  }

  async function look(note = "") {
    const text = box.value;
    const answer = await fetch(`${bar.dataset.offers}?text=${encodeURIComponent(text)}`).catch(() => null);
    if (!answer?.ok) return tell("The commands could not be loaded. Check the connection, then type again.");
    const found = await answer.json();
    if (box.value !== text) return;
    token = found.token;
    listed = text;
    const known = text.trim() ? [] : recent().map((one) => ({ text: one, about: "", runs: true, recent: true }));
    const names = new Set(known.map((one) => one.text));
    listOffers(known.concat(found.offers.filter((one) => !names.has(one.text))));
    tell(offers.length || !text.trim() ? note : "No command matches. Enter sends it as typed.");
  }

  function listOffers(found) {
    offers = found;
    list.replaceChildren(...found.map((one, number) => {
      const item = document.createElement("li");
      item.id = `offer-${number}`;
      item.role = "option";
      item.append(part("strong", one.text), part("span", one.about, "about"));
      if (one.recent) item.append(part("span", "recent", "tag"));
      item.addEventListener("click", () => take(number));
      return item;
    }));
    choose(found.length ? 0 : -1);
  }

  function part(tag, text, name = "") {
    const element = document.createElement(tag);
    element.textContent = text;
    element.className = name;
    return element;
  }

  function choose(number) {
    chosen = number;
    [...list.children].forEach((item, at) => item.setAttribute("aria-selected", at === number));
    const item = list.children[number];
    if (item) box.setAttribute("aria-activedescendant", item.id);
    else box.removeAttribute("aria-activedescendant");
    item?.scrollIntoView({ block: "nearest" });
  }

  function tell(text) {
    status.textContent = text;
  }

  // Runs a command that is complete; of any other, types what there is.
  function take(number) {
    const one = offers[number];
    if (one.runs) return run(one.text);
    complete(number, `It needs arguments: ${one.usage}`);
  }

  function complete(number, note) {
    box.value = offers[number].text + (offers[number].text.endsWith(":") ? "" : " ");
    box.focus();
    look(note);
  }

  function run(text) {
    remember(text);
    const composer = document.getElementById("composer");
    if (composer) {
      // In the channel, the reply is a message like any other. What is being written in the message box stays there.
      bar.close();
      const { text: line } = composer.elements;
      const written = line.value;
      line.value = text;
      composer.requestSubmit();
      line.value = written;
      return;
    }
    box.value = text;
    return send(`${base}/say`, new URLSearchParams({ text }));
  }

  const makeEvent = () => Array.from(crypto.getRandomValues(new Uint32Array(4)), (number) => number.toString(16)).join("-");

  async function send(url, fields) {
    fields.delete("event");
    const content = JSON.stringify([url, ...fields].map((one) => (one[1] instanceof File ? [one[0], one[1].name] : one)));
    // A request repeated after a broken connection, or a second click on a button, must be the same event.
    if (pending?.content !== content) pending = { content, event: makeEvent() };
    fields.set("token", token);
    fields.set("event", pending.event);
    const present = pending;
    tell("One moment…");
    try {
      const answer = await request(url, { method: "POST", body: fields, headers: { Accept: "application/json" } });
      if (!answer.ok) {
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        throw new Error(page.querySelector("main p")?.textContent ?? `The server responded with status ${answer.status}.`);
      }
      const { html, editor } = await answer.json();
      if (pending !== present) return; // something else was sent meanwhile, and its reply is what counts
      pending = null;
      if (editor) return location.assign(editor);
      show(html);
    } catch (error) {
      if (pending === present) tell(`Not sent: ${error.message} Try again.`);
    }
  }

  function show(html) {
    const holder = document.createElement("template");
    holder.innerHTML = html; // rendered by our server, which escapes what people wrote
    localizeTimes(holder.content);
    listOffers([]);
    tell("");
    result.replaceChildren(holder.content);
    result.hidden = false;
    result.focus({ preventScroll: true });
    bar.scrollTop = 0;
  }

  document.querySelectorAll(".command-open").forEach((link) => link.addEventListener("click", (event) => {
    event.preventDefault();
    open();
  }));
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k") {
      event.preventDefault();
      if (bar.open && document.activeElement === box) bar.close();
      else open();
    }
  });
  box.addEventListener("input", () => {
    clear();
    look();
  });
  box.addEventListener("keydown", async (event) => {
    if (event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && offers.length) {
      event.preventDefault();
      choose((chosen + step + offers.length) % offers.length);
    } else if (event.key === "Tab" && !event.shiftKey && offers[chosen] && offers[chosen].text !== box.value.trim()) {
      event.preventDefault();
      if (listed !== box.value) await look();
      if (offers[chosen]) complete(chosen);
    } else if (event.key === "Enter") {
      event.preventDefault();
      // Somebody may type faster than the offers arrive.
      if (listed !== box.value) await look();
      const typed = box.value.trim();
      // Arguments that no list can offer are sent as typed.
      if (offers[chosen]) take(chosen);
      else if (typed) run(typed.startsWith("/") ? typed : `/quiz ${typed}`);
    }
  });
  bar.querySelector(".command-close").addEventListener("click", () => bar.close());
  bar.addEventListener("click", (event) => event.target === bar && bar.close());
  bar.addEventListener("close", () => before?.isConnected && before.focus({ preventScroll: true }));
  // Buttons and forms of a reply work in place.
  result.addEventListener("submit", (event) => {
    event.preventDefault();
    event.stopPropagation();
    const form = event.target;
    const given = new FormData(form, event.submitter);
    send(form.getAttribute("action"), form.enctype === "multipart/form-data" ? given : new URLSearchParams(given));
  });
  if (navigator.platform.startsWith("Mac")) document.querySelectorAll(".command-open kbd").forEach((key) => (key.textContent = "⌘ K"));
}
