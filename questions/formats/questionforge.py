"""Reads the Markdown of QuestionForge: questions whose parts are fields between `@field: name` and `@end_field`.

^question Q001
^type multiple_choice_single

@field: question_text
Which call copies?
@end_field

@field: options
A. view
B. clone
@end_field

@field: answer
B
@end_field
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from questions.fences import fence_after, fence_in
from questions.formats.draft import (
    ImportDraft,
    Item,
    OptionDraft,
    add_choice,
    add_number,
    add_open,
    add_pairs,
    add_short,
    add_unanswered,
)
from questions.source import trim
from questions.wording.stems import level_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.source import Source

NAME = "questionforge"

_STARTS = re.compile(r"\^question:?[ \t]+\S.*")
_SETTING = re.compile(r"\^(?P<name>\w{1,40}):?(?:[ \t]+(?P<value>\S.*)|[ \t]*)")
_OPENS = re.compile(r"(?P<marks>@{1,2})field:[ \t]*(?P<name>\w{1,40})[ \t]*")
_CLOSES = re.compile(r"(?P<marks>@{1,2})end_field[ \t]*")
_HEADING = re.compile(r"#{1,6}[ \t]+\S.*")
_OPTION = re.compile(r"(?P<letter>[A-Z])[.)][ \t]+(?P<text>\S.*)")
_LETTERS = re.compile(r"[A-Za-z](?:[ \t]*[,;&\n][ \t]*[A-Za-z])*")
_GAP = re.compile(r"\{\{[ ]?(?P<name>\w{1,40})[ ]?\}\}")
_ITEM = re.compile(r"(?:[-*+]|\d{1,3}[.)])[ \t]+(?P<text>\S.*)")
_ARROW = re.compile(r"[ \t]*(?:->|→)[ \t]*")
_TRUTHS = ("True", "False")


@dataclass(slots=True)
class _Asked:
    """A question as written: its settings, and the lines of its fields."""

    first: int
    last: int
    settings: dict[str, str] = field(default_factory=dict)
    fields: dict[str, list[str]] = field(default_factory=dict)
    stray: list[int] = field(default_factory=list)
    """Lines with text in no field."""

    def text(self, name: str) -> str:
        """Returns the text of a field without its settings; empty if there is none."""
        return trim("\n".join(line for line in self.fields.get(name, ()) if not _SETTING.fullmatch(line)))

    def setting_in(self, name: str, called: str) -> str:
        """Returns a setting within a field; empty if there is none."""
        found = (_SETTING.fullmatch(line) for line in self.fields.get(name, ()))
        return next((one["value"] or "" for one in found if one and one["name"].lower() == called), "")


def may_ask(text: str | bytes) -> bool:
    """Returns whether a search for such fields is worthwhile."""
    return "@field:" in text if isinstance(text, str) else b"@field:" in text


def sniff(source: Source) -> bool:
    """Returns whether a document has questions with fields."""
    return any(map(may_ask, source.lines)) and any(one.fields for one in _questions(source))


def read(source: Source) -> ImportDraft:
    """Reads all questions; findings name those of kinds that cannot be read."""
    draft = ImportDraft(source, NAME)
    draft.title = draft.stem
    for asked in _questions(source):
        lines = (asked.first, asked.last)
        if not draft.accepts(*lines, sum(len(line) for one in asked.fields.values() for line in one)):
            continue
        if not asked.text("question_text"):
            draft.add_skipped("the question has no field `question_text`", "write the question in one", lines)
            continue
        _add(draft, _item_of(asked), asked)
        for line in filter(asked.last.__gt__, asked.stray):
            draft.add("Q103", "this text is in no field", "move it into one", (line, line), note="it was left out")
    return draft


def _questions(source: Source) -> Iterator[_Asked]:
    """Yields the questions, each from the heading above its first setting. Those in fences only show the format."""
    current: _Asked | None = None
    names: list[str] = []
    fence, heading = "", 0
    for number, line in enumerate(source.lines, 1):
        if not names and (fence or fence_in(line)):
            mark = fence_in(line)
            fence = fence_after(fence, mark["mark"]) if mark else fence
        elif _STARTS.fullmatch(line):
            if current:
                yield current
            current, names = _Asked(heading or number, number), []
        elif current and (found := _OPENS.fullmatch(line)):
            names = [*names[: len(found["marks"]) - 1], found["name"]]
            current.fields.setdefault(found["name"], [])
        elif found := _CLOSES.fullmatch(line):
            names = names[: len(found["marks"]) - 1]
        elif current and names:
            current.fields[names[-1]].append(line)
        elif _HEADING.fullmatch(line):
            heading = number
            continue
        elif current and (found := _SETTING.fullmatch(line)):
            current.settings[found["name"].lower()] = found["value"] or ""
        elif current and any(map(str.isalnum, line)):
            current.stray.append(number)
        if line.strip():
            heading = 0
        if current and number not in current.stray[-1:] and any(map(str.isalnum, line)):
            current.last = number
    if current:
        yield current


def _item_of(asked: _Asked) -> Item:
    """Returns a question without what answers it."""
    reasons = (asked.text("general_feedback"), asked.text("correct_feedback"))
    item = Item(asked.first, asked.last, asked.text("question_text"), "\n\n".join(filter(None, reasons)))
    item.title = asked.settings.get("title", "")
    tags = [tag.lstrip("#") for tag in asked.settings.get("labels", asked.settings.get("tags", "")).split()]
    words = [tag.removeprefix("difficulty_") for tag in tags if tag.startswith("difficulty_")]
    item.level = level_of(words[0]) if words else None
    item.tag([tag for tag in tags if not tag.startswith("difficulty_")])
    return item


def _add(draft: ImportDraft, item: Item, asked: _Asked) -> None:
    kind = asked.settings.get("type", "").split(" ")[0].lower()
    if "options" in asked.fields:
        _add_options(draft, item, asked)
    elif kind == "true_false":
        _add_truth(draft, item, asked)
    elif "blanks" in asked.fields:
        _add_blanks(draft, item, asked)
    elif kind == "match" and "pairs" in asked.fields:
        _add_matches(draft, item, asked)
    elif kind in ("text_area", "essay"):
        _add_worded(draft, item, asked)
    else:
        cure = "use a multiple-choice, true-false, text-entry, match or essay question"
        draft.add_skipped(f"unsupported question type `{kind[:40]}`", cure, item.lines)


def _add_options(draft: ImportDraft, item: Item, asked: _Asked) -> None:
    """Adds a choice. The key is in a field of its own: nothing in an option says whether it is right."""
    letters: list[str] = []
    texts: list[str] = []
    for line in asked.text("options").split("\n"):
        if found := _OPTION.fullmatch(line.strip()):
            letters.append(found["letter"])
            texts.append(found["text"])
        elif texts and line.strip():
            texts[-1] += f"\n{line.strip()}"
    key = (asked.text("correct_answers") or asked.text("answer")).strip()
    named = [letter.upper() for letter in re.findall("[A-Za-z]", key)] if _LETTERS.fullmatch(key) else []
    if key and not (named and set(named) <= set(letters) and len(set(letters)) == len(letters)):
        cure = "write the letters of options, with commas between them"
        draft.add("Q606", "the right answer is not among the options", cure, item.lines, note=f"`{key[:60]}`")
        named = []
    add_choice(draft, item, [OptionDraft(text, one in named) for one, text in zip(letters, texts, strict=True)])


def _add_truth(draft: ImportDraft, item: Item, asked: _Asked) -> None:
    answer = asked.text("answer").strip().capitalize()
    if answer not in _TRUTHS:
        add_unanswered(draft, item, _TRUTHS)
        return
    add_choice(draft, item, [OptionDraft(word, word == answer) for word in _TRUTHS])


def _add_blanks(draft: ImportDraft, item: Item, asked: _Asked) -> None:
    """Adds a text with gaps: one gap is a short answer, several are an open question whose answer fills all of them."""
    names = [found["name"] for found in _GAP.finditer(item.prompt)]
    accepted = [_listed(asked.text(name)) for name in names]
    item.prompt = _GAP.sub(r"\_\_\_", item.prompt)
    if not all(accepted):
        add_unanswered(draft, item)
    elif len(names) == 1:
        tolerance = asked.setting_in(names[0], "tolerance")
        if tolerance:
            add_number(draft, item, [f"{one}:{tolerance}" for one in accepted[0]])
        else:
            add_short(draft, item, accepted[0])
    else:
        add_open(draft, item, "\n".join(f"{place}. {' / '.join(texts)}" for place, texts in enumerate(accepted, 1)))


def _listed(text: str) -> list[str]:
    return [found["text"].strip() for line in text.split("\n") if (found := _ITEM.fullmatch(line.strip()))]


def _add_matches(draft: ImportDraft, item: Item, asked: _Asked) -> None:
    sides = [_ARROW.split(one) for one in _listed(asked.text("pairs"))]
    if not sides or any(len(one) != 2 or not all(one) for one in sides):
        draft.add_skipped("the pairs cannot be read", "write each as `1. left -> right`", item.lines)
        return
    others = [("", text) for text in _listed(asked.text("distractors"))]
    add_pairs(draft, item, [*((left, right) for left, right in sides), *others])


def _add_worded(draft: ImportDraft, item: Item, asked: _Asked) -> None:
    answer = next(filter(None, map(asked.text, ("answer", "model_answer", "sample_answer"))), "")
    if not answer and item.why:
        cure = "write the answer in a field `answer`"
        draft.add("Q614", "the general feedback was used as the answer", cure, item.lines, severity="note")
        answer, item.why = item.why, ""
    add_open(draft, item, answer)
