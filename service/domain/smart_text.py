"""Undoes what chat clients do to typed text: smart quotes, entities and invisible characters."""

from __future__ import annotations

import ast
import re
import warnings

_ENTITIES = {
    "lt": "<",
    "gt": ">",
    "amp": "&",
    "quot": '"',
    "apos": "'",
    "nbsp": " ",
    "#39": "'",
    "#x27": "'",
    "#34": '"',
}
_ENTITY = re.compile(f"&({'|'.join(_ENTITIES)});", re.IGNORECASE)

_SPACES = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
_INVISIBLE = "\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
_ANY_SPACE = re.compile(f"[{_SPACES}]")
_ANY_INVISIBLE = re.compile(f"[{_INVISIBLE}]")
_ANY_LINE_END = re.compile("\r\n?|[\u2028\u2029]")

# No em dash: some clients replace two hyphens with it, people replace one, and the two are different programs.
_TYPOGRAPHY = str.maketrans(
    {**dict.fromkeys("“”„‟″", '"'), **dict.fromkeys("‘’‚‛′", "'"), **dict.fromkeys("−–‐‑", "-"), "…": "..."}
)


def undo_smart_text(text: str) -> str:
    """Returns `text` as it was typed, before a chat client prettified it.

    Decodes entities once, turns other spaces into spaces and line ends into newlines, and removes invisible
    characters. Reverts smart quotes, dashes and ellipses unless the text is a valid Python program: there they can
    only be inside a string or a comment, and `'it’s'` must not become `'it's'`.
    """
    plain = _ENTITY.sub(lambda entity: _ENTITIES[entity[1].lower()], text)
    plain = _ANY_INVISIBLE.sub("", _ANY_SPACE.sub(" ", _ANY_LINE_END.sub("\n", plain)))
    typed = plain.translate(_TYPOGRAPHY)
    return plain if typed == plain or _is_program(plain) else typed


def _is_program(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
