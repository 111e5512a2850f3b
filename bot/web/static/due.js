// Shows in the navigation how many cards are due. Without this file the practice page says it.
"use strict";

for (const badge of document.querySelectorAll(".due[data-src]")) {
  fetch(badge.dataset.src)
    .then((reply) => (reply.ok ? reply.json() : { due: 0 }))
    .then(({ due, words }) => {
      if (!due) return;
      const count = document.createElement("span");
      count.setAttribute("aria-hidden", "true");
      count.textContent = due > 99 ? "99+" : String(due);
      const said = document.createElement("span");
      said.className = "hidden";
      said.textContent = `, ${words}`;
      badge.replaceChildren(count, said);
      badge.hidden = false;
    })
    .catch(() => {}); // the page works without it
}
