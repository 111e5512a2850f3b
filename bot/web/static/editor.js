// Makes a code editor of each text area for code: highlighting, line numbers, indentation, a draft that survives a
// reload.
// Without this file they are plain text areas.
"use strict";

function edit(area) {
  if (area.dataset.edited) return;
  area.dataset.edited = "yes";
  const painted = area.parentElement.querySelector("code");
  const draft = `draft:${location.pathname}#${area.id}`; // of one question: pages show several, one after another
  const numbers = document.createElement("div");
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
    numbers.firstChild.textContent = now.map((_, line) => line + 1).join("\n");
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
  const follow = () => {
    painted.style.transform = `translate(${-area.scrollLeft}px, ${-area.scrollTop}px)`;
    numbers.firstChild.style.transform = `translateY(${-area.scrollTop}px)`;
    numbers.style.height = `${area.clientHeight}px`; // leaves the scrollbar free
  };

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
    document.getElementById("live").textContent = "Your draft was restored.";
  }
  numbers.className = "line-numbers";
  numbers.setAttribute("aria-hidden", "true");
  numbers.append(document.createElement("div"));
  area.after(numbers);
  area.parentElement.classList.add("painted");
  new ResizeObserver(follow).observe(area);
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

document.querySelectorAll("textarea[data-code]").forEach(edit);
// The page of an editor opens ready to type, except on a touch screen, where the keyboard would hide the task.
if (document.body.classList.contains("editing") && !location.hash && !matchMedia("(pointer: coarse)").matches) {
  const area = document.querySelector("textarea[data-code]");
  area?.focus({ preventScroll: true });
  area?.setSelectionRange(area.value.length, area.value.length);
}
