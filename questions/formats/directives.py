"""Reads questions written as directives in reStructuredText, as interactive textbooks have them: `.. mchoice::`."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from questions.formats.draft import ImportDraft, Item, OptionDraft, add_choice, add_unanswered
from questions.formats.markdown import from_tagged
from questions.formats.pages.outlines import markdown_of_rst
from questions.source import trim

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.source import Source

NAME = "directives"

_CHOICE = re.compile(r"(?P<indent>[ \t]*)\.\.[ ](?P<kind>mchoice\w*|multiplechoice)::[ \t]*(?P<id>.*)")
_OTHER = re.compile(
    r"(?P<indent>[ \t]*)\.\.[ ](?P<kind>fillintheblank|shortanswer|activecode|parsonsprob|dragndrop|clickablearea"
    r"|codelens)::.*"
)
"""Directives that ask something else."""
_FIELD = re.compile(r"[ \t]*:(?P<name>\w+):[ \t]*(?P<value>.*)")
_LETTERED = re.compile(r"(?P<word>answer|feedback)_(?P<letter>[a-z])")
_ITEM = re.compile(r"(?P<indent>[ ]*)(?P<mark>[-+*])[ ]+(?P<text>\S.*)")


def sniff(source: Source) -> bool:
    """Returns whether a directive asks to choose."""
    return any(_CHOICE.fullmatch(line) for line in source.lines)


def read(source: Source) -> ImportDraft:
    """Reads all questions; findings name directives that ask something else."""
    draft = ImportDraft(source, NAME)
    draft.title = draft.stem
    number = 1
    while number <= len(source.lines):
        line = source.line(number)
        choice, other = _CHOICE.fullmatch(line), _OTHER.fullmatch(line)
        found = choice or other
        last = _end(source, number, len(found["indent"].expandtabs())) if found else number
        if choice:
            _add(draft, number, last)
        elif other:
            _add_other(draft, other["kind"], number, last)
        number = last + 1
    return draft


def _end(source: Source, first: int, indent: int) -> int:
    """Returns the last line of a directive: what follows is indented more."""
    last = first
    for number in range(first + 1, len(source.lines) + 1):
        line = source.line(number).expandtabs()
        if line.strip() and len(line) - len(line.lstrip()) <= indent:
            break
        last = number
    return source.last_filled(first, last)


def _parts(source: Source, first: int, last: int) -> tuple[dict[str, str], str]:
    """Returns the fields of a directive, and the text below them."""
    fields: dict[str, list[str]] = {}
    number, name = first + 1, ""
    while number <= last:
        line = source.line(number)
        if found := _FIELD.fullmatch(line):
            name = found["name"]
            fields[name] = [found["value"].strip()]
        elif name and line.strip():
            # A value continues in the next line.
            fields[name].append(line.strip())
        else:
            break
        number += 1
    below = "\n".join(source.line(one).expandtabs() for one in range(number, last + 1))
    return {name: " ".join(lines) for name, lines in fields.items()}, trim(textwrap.dedent(below))


def _add(draft: ImportDraft, first: int, last: int) -> None:
    fields, text = _parts(draft.source, first, last)
    if not draft.accepts(first, last, len(text) + sum(map(len, fields.values()))):
        return
    letters = sorted(one["letter"] for name in fields if (one := _LETTERED.fullmatch(name)) and one["word"] == "answer")
    if not letters:
        asked, offers = _listed(text)
    else:
        right = set(re.findall(r"[a-z]", fields.get("correct", "").lower()))
        asked = text
        offers = [
            OptionDraft(
                from_tagged(_shown(fields[f"answer_{one}"])),
                one in right,
                _feedback_text(fields.get(f"feedback_{one}")),
            )
            for one in letters
        ]
        if right - set(letters):
            message = "the right answer is not among the options"
            draft.add("Q606", message, "write its letter", (first, last), note=f"`{fields['correct'][:60]}`")
            offers = [OptionDraft(one.text, right=False) for one in offers]
    item = Item(first, last, markdown_of_rst(asked))
    item.why = "\n\n".join(one.reason for one in offers if one.right and one.reason)
    if offers:
        add_choice(draft, item, [OptionDraft(one.text, one.right, "" if one.right else one.reason) for one in offers])
    else:
        add_unanswered(draft, item)


def _shown(text: str) -> str:
    """Returns an option; in a field, signs of HTML are written as entities."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&amp;", "&")


_SAYS_NOTHING = re.compile(r"(?:none|no feedback|no|yes|correct|incorrect|wrong|right)?[.!]?", re.IGNORECASE)


def _feedback_text(feedback: str | None) -> str:
    """Returns why an option is wrong; empty if the feedback only says that it is."""
    text = (feedback or "").strip()
    return "" if _SAYS_NOTHING.fullmatch(text) else text


def _listed(text: str) -> tuple[str, list[OptionDraft]]:
    """Returns the text above a list of options, and the options: below each is feedback, with a plus if it is right."""
    lines = text.split("\n")
    start = next((at for at, line in enumerate(lines) if (one := _ITEM.fullmatch(line)) and not one["indent"]), None)
    if start is None:
        return text, []
    offers = list(_offers(lines[start:]))
    return trim("\n".join(lines[:start])), offers


def _offers(lines: list[str]) -> Iterator[OptionDraft]:
    text: list[str] = []
    feedback: list[str] = []
    right = False
    for line in lines:
        item = _ITEM.fullmatch(line)
        if item and not item["indent"]:
            if text:
                yield OptionDraft(" ".join(text), right, _feedback_text(" ".join(feedback)))
            text, feedback, right = [item["text"].strip()], [], False
        elif item:
            feedback, right = [item["text"].strip()], item["mark"] == "+"
        elif line.strip():
            (feedback or text).append(line.strip())
    if text:
        yield OptionDraft(" ".join(text), right, _feedback_text(" ".join(feedback)))


def _add_other(draft: ImportDraft, kind: str, first: int, last: int) -> None:
    """Adds a question that prose answers, or names a directive that is not read."""
    _, text = _parts(draft.source, first, last)
    if kind == "shortanswer" and draft.accepts(first, last, len(text)):
        add_unanswered(draft, Item(first, last, markdown_of_rst(text)))
    elif kind not in ("shortanswer", "codelens"):
        draft.add_skipped(f"unsupported directive `{kind}`", "write it as a question with options", (first, last))
