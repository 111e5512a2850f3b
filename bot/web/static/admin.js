// Brings the present section of the admin pages into view, where their list is wider than a phone.
"use strict";

document.querySelector(".sections [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });
