"""Makes questions of records: pairs, an order, options with their key, or an answer in words."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from questions.blocks import plain
from questions.formats.data.keys import LETTER, Record, agreed, right_of, right_texts
from questions.formats.data.options import feedback_of, flags_of, option_text, pairs_of, shown_text, sides_of
from questions.formats.data.orders import asks_for_order, order_of, places_of_order
from questions.formats.data.tasks import TITLE
from questions.formats.draft import (
    ImportDraft,
    Item,
    OptionDraft,
    add_choice,
    add_open,
    add_pairs,
    add_short,
    add_unanswered,
    below_context,
    topic_of,
)
from questions.formats.markdown import code_span
from questions.patterns.programs import asks_about_program
from questions.wording.labels import stands_for_no_answer
from questions.wording.stems import level_of

_SHORT = 60
"""Maximum length of an answer that counts as a word, characters."""
_LETTER_BEFORE = re.compile(r"[(\[]?[A-Ha-h][)\].:][ ]+")
_GLUED_LETTER = re.compile(r"[A-Ha-h]\)[ ]*(?=\S)")
"""Where all options have one, in order: `A)21`."""


def add_record(draft: ImportDraft, record: Record, first: int, last: int, base: int | None) -> None:
    """Adds the question of a record in lines `first` to `last`, or names it if it asks nothing.

    `base`: the number of the first option, 0 or 1; None if the document does not show it.
    """
    values = record.values
    if not record.asks:
        cure = "give it a field `question`, or remove it"
        draft.add_skipped("this entry between the questions has no field that asks", cure, (first, last))
        return
    if not draft.accepts(first, last, len(str(values))):
        return
    item = _item_of(values, first, last)
    item.prompt = _with_program(item.prompt, record)
    item.title = shown_text(record.unknown.get(TITLE))
    if not record.has_key and (pairs := pairs_of(record.unknown)):
        add_pairs(draft, item, pairs)
        return
    if pairs := sides_of(record.options):
        add_pairs(draft, item, pairs)
        return
    flags = flags_of(record.options)
    texts = [option_text(option) for option in record.options]
    keyed = {"correct", "index", "wrong"} & values.keys() or any(flag is not None for flag in flags)
    ordered = asks_for_order(record.unknown) and len(texts) > 1
    fields = {**record.unknown, **places_of_order(values.get("correct"))} if ordered and keyed else record.unknown
    if (ordered or not keyed) and (order := order_of(fields, texts)):
        answer, listed = order.answer(item.prompt), "\n".join(f"- {text}" for text in order.offered)
        item.prompt = f"{item.prompt}\n\n{listed}".strip()
        _add_worded(draft, item, answer)
        return
    if ordered:
        add_unanswered(draft, item, texts)
        return
    if not texts and _names_unread(values):
        note = f"`{shown_text(values.get('correct'))[:60]}`"
        draft.add("Q606", "the options cannot be read", "write them as a list", item.lines, note=note)
        add_unanswered(draft, item)
        return
    wrong = values.get("wrong")
    worded = right_texts(values.get("correct"))
    if not texts and isinstance(wrong, list) and worded:
        texts = [*worded, *map(option_text, wrong)]
        flags = [*(True for _ in worded), *(False for _ in wrong)]
    if len(texts) > 1:
        right = {index for index, flag in enumerate(flags) if flag}
        if not any(flag is not None for flag in flags):
            right = right_of(draft, item, record, texts, base)
        right = agreed(draft, item, record, right, texts, base)
        add_choice(draft, item, _drafts(record, texts, right))
    else:
        answer = values.get("correct", _single(values.get("options")))
        _add_worded(draft, item, answer, letters=not values.get("_worded"))


_PLACES = re.compile(r"\[?\s*\d{1,2}(?:\s*,\s*\d{1,2})*\s*\]?")


def _names_unread(values: dict[str, Any]) -> bool:
    """Returns whether a key gives places in a text with options that could not be read."""
    key, offered = values.get("index", values.get("correct")), values.get("options")
    written = isinstance(offered, str) and offered.strip()[:1] in ("[", "{")
    return written and key is not None and _PLACES.fullmatch(str(key).strip()) is not None


_PROGRAMS = ("code", "code snippet", "snippet", "code block", "code example", "example code", "source code", "codigo")
"""Names of fields with the program that a question is about."""
_BREAK = re.compile(r"<br[ ]?/?>")
_IS_PROGRAM = re.compile(r"[\n(=;{\[<]|[ ].*[ ]")


def _with_program(prompt: str, record: Record) -> str:
    """Returns a prompt with the program in a field of its own below it, where options show that it is no answer, or the
    question asks about one. Another value, such as `Q-17`, is no program."""
    name = next((name for name in _PROGRAMS if isinstance(record.unknown.get(name), str)), "")
    program = str(record.unknown.get(name, "")).strip("\n").rstrip()
    if "<br" in program:
        program = unescape(_BREAK.sub("\n", program)).replace("\xa0", " ")
    shown = program.strip() in prompt or "```" in prompt
    if shown or not _IS_PROGRAM.search(program) or not (record.options or asks_about_program(prompt)):
        return prompt
    if "```" in program:
        return f"{prompt}\n\n{program}"
    language = record.unknown.get("language") or record.unknown.get("lang")
    named = language.lower() if isinstance(language, str) and language.isalpha() else ""
    return f"{prompt}\n\n```{named}\n{program}\n```"


def _item_of(values: dict[str, Any], first: int, last: int) -> Item:
    """Returns the question without what answers it."""
    topic = shown_text(values.get("topic"))
    tags = values.get("tags")
    prompt = below_context(shown_text(values["question"]), values.get("context"))
    item = Item(first, last, prompt, why=shown_text(values.get("why")))
    item.topic = topic_of(topic)
    item.section = (plain(topic),) if topic else ()
    item.level = level_of(shown_text(values.get("level")))
    item.tag([str(tag) for tag in tags] if isinstance(tags, list) else re.split("[,;]", shown_text(tags)))
    return item


def _drafts(record: Record, texts: list[str], right: set[int]) -> list[OptionDraft]:
    """Returns the options without the letters before them, each wrong one with what the data says to who chooses it."""
    glued = [text[:2].upper() for text in texts] == [f"{chr(ord('A') + at)})" for at in range(len(texts))]
    before = _GLUED_LETTER if glued else _LETTER_BEFORE
    if all(before.match(text) for text in texts):
        texts = [before.sub("", text, count=1) for text in texts]
    raw = [str(option) for option in record.options]
    if len({plain(text) for text in texts}) < len(texts) == len(raw) == len(set(raw)) and all(
        "<" in one for one in raw
    ):
        # Options that differ in their tags only are about them.
        texts = [*map(code_span, raw)]
    reasons = [feedback_of(option) for option in record.options] or [""] * len(texts)
    return [
        OptionDraft(text, index in right, "" if index in right else reason)
        for index, (text, reason) in enumerate(zip(texts, reasons, strict=True))
    ]


def _single(value: Any) -> Any:
    """Returns the accepted answers of a question whose options are all right."""
    return [option_text(one) for one in value] if isinstance(value, list) else value


def _add_worded(draft: ImportDraft, item: Item, answer: Any, *, letters: bool = True) -> None:
    """Adds a question with its answer in words. `letters`: whether a letter names an option."""
    truth = _truth(answer)
    if truth is not None:
        add_choice(draft, item, [OptionDraft("True", truth), OptionDraft("False", not truth)])
        return
    answers = [shown_text(one) for one in answer] if isinstance(answer, list) else [shown_text(answer)]
    given = next(filter(stands_for_no_answer, answers), "")
    answers = [one for one in answers if one and not stands_for_no_answer(one)]
    if letters and answers and all(map(LETTER.fullmatch, answers)):
        # A letter names an option that was not found.
        note = f"`{', '.join(answers)[:60]}`"
        draft.add("Q606", "the right answer is not among the options", "add the options", item.lines, note=note)
        answers = []
    if not answers:
        add_unanswered(draft, item, given=given)
    elif len(answers[0]) > _SHORT or "\n" in answers[0]:
        add_open(draft, item, "\n\n".join(answers))
    else:
        add_short(draft, item, answers)


_TRUTHS = {
    "true": True,
    "false": False,
    "○": True,
    "〇": True,
    "×": False,
    "✕": False,
    "√": True,
    "✓": True,
    "✗": False,
}


def _truth(answer: Any) -> bool | None:
    """Returns the truth value that is an answer, also as a mark; None for any other answer."""
    if isinstance(answer, bool):
        return answer
    return _TRUTHS.get(answer.strip().casefold()) if isinstance(answer, str) else None
