"""From what a foreign format says to a Question: the kinds, and what cannot be expressed. Reads no format."""

from __future__ import annotations

import ast
import math
import re
import unicodedata
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from questions.blocks import plain, split_blocks
from questions.foreign.wording import code_span
from questions.keypoints import key_points_of
from questions.model import LEVELS, CodeBlock, Option, Question
from questions.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from questions.foreign.sheet import Sheet
    from questions.model import Kind, Level

LONGEST_TEXT = 20_000
"""Of a prompt or an answer; what is longer is no question for a chat."""
MOST_OPTIONS = 26
_MOST_OFFERS = 200
"""Options that are looked at."""
_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")


@dataclass(slots=True)
class Item:
    """What all kinds share; texts are Markdown."""

    first: int
    last: int
    prompt: str
    why: str = ""
    id: str = ""
    title: str = ""
    topic: str = ""
    section: tuple[str, ...] = ()
    level: Level | None = None
    tags: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    licence: str = ""
    number: str = ""
    program: str = ""

    @property
    def lines(self) -> tuple[int, int]:
        """Its first and last line."""
        return self.first, self.last

    def tag(self, words: Sequence[str]) -> None:
        """Take tags; one that names a level sets it."""
        for word in words:
            shown = " ".join(word.split())
            if shown in LEVELS:
                self.level = shown
            elif shown and shown not in self.tags:
                self.tags += (shown,)


@dataclass(frozen=True, slots=True)
class Offer:
    """An option before its letter is known."""

    text: str
    right: bool
    reason: str = ""


def topic_of(*names: str) -> str:
    """A path in the topic tree from names such as `Science: Computers` or `top/tensors`."""
    words = [word for name in names for word in re.split(r"[/:\x1f]+", name)]
    return "/".join(slug for word in words if (slug := _slug(word)))


def _slug(text: str) -> str:
    ascii_only = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return "-".join(re.findall(r"[a-z0-9]+", ascii_only.lower()))


def literal_of(text: str) -> str | None:
    """A number, or a tuple or list of such, as a Python literal; None for any other text."""
    shown = text.strip().strip("`").replace("\N{MINUS SIGN}", "-").strip()
    if _NUMBER.fullmatch(shown):
        shown = shown.removeprefix("+")
        # `1e999` is no number anybody could type again.
        return shown if _is_plain(shown) and math.isfinite(float(shown)) else None
    return shown if shown[:1] in ("(", "[") and _is_plain(shown) else None


def _is_plain(text: str) -> bool:
    if len(text) > 500:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _numeric(ast.literal_eval(text))
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return False


def _numeric(value: object) -> bool:
    if isinstance(value, tuple | list):
        return all(_numeric(one) for one in value)
    return value is None or isinstance(value, bool | int | float | complex)


def add_choice(sheet: Sheet, item: Item, offers: Sequence[Offer]) -> None:
    """A question with options; where it cannot be one, the nearest that can be asked."""
    kept = list(_distinct(sheet, item, offers))
    right = [offer for offer in kept if offer.right]
    if not right:
        add_unanswered(sheet, item, [offer.text for offer in kept])
    elif len(kept) == 1:
        sheet.say("Q606", "a choice of one option is no choice", "add wrong options", item.lines, note="it became open")
        add_open(sheet, item, right[0].text)
    else:
        options = tuple(
            Option(chr(ord("a") + index), offer.text, offer.right, offer.reason) for index, offer in enumerate(kept)
        )
        _add(sheet, item, "choice", options=options)


def _distinct(sheet: Sheet, item: Item, offers: Sequence[Offer]) -> Iterator[Offer]:
    """The options that say something of their own; each other one is named in a finding."""
    if len(offers) > _MOST_OFFERS:
        note = f"those behind the first {_MOST_OFFERS} were left out"
        sheet.say("Q607", "there are too many options", f"keep {MOST_OPTIONS} or fewer", item.lines, note=note)
        offers = offers[:_MOST_OFFERS]
    right_texts = {plain(offer.text) for offer in offers if offer.right and len(offer.text) <= LONGEST_TEXT}
    seen: set[str] = set()
    for offer in offers:
        shown = plain(offer.text[:LONGEST_TEXT])
        if not offer.text.strip() or len(offer.text) > LONGEST_TEXT:
            sheet.say("Q607", "an option is empty or too long", "write its text", item.lines, note="it was left out")
        elif shown in seen or (not offer.right and shown in right_texts):
            cure = "change or remove one"
            sheet.say("Q607", "two options say the same", cure, item.lines, note=f"`{shown[:60]}` was kept once")
        elif len(seen) >= MOST_OPTIONS:
            cure = f"keep {MOST_OPTIONS} or fewer"
            sheet.say("Q607", "there are too many options", cure, item.lines, note=f"`{shown[:60]}` was left out")
        else:
            seen.add(shown)
            yield offer


def add_short(sheet: Sheet, item: Item, answers: Sequence[str]) -> None:
    """A question answered in a word or a number: the first answer is shown, the others count as well.

    A number becomes a `value`; any other answer is `open` with the first as its key point, since nothing but
    a literal can be compared exactly.
    """
    given = list(dict.fromkeys(answer.strip() for answer in answers if answer.strip()))
    if not given:
        add_unanswered(sheet, item)
        return
    shown, *others = given
    accepted = "Also accepted: " + "; ".join(others) if others else ""
    literal = literal_of(plain(shown))
    if literal is not None:
        item.why = "\n\n".join(text for text in (item.why, accepted) if text)
        _add(sheet, item, "value", answer=literal)
    else:
        answer = f"{shown}\n\n{accepted}" if accepted else shown
        _add(sheet, item, "open", answer=answer, key_points=(_key_point(shown),))


def _key_point(text: str) -> str:
    """A short answer as what must be mentioned; what looks like code is marked, so that it is matched exactly."""
    words = plain(text)
    code = len(words.split()) == 1 and re.search(r"[\w)][_.(=<>:/+-]|_|\d", words) and "`" not in text
    return code_span(words) if code else text


def add_open(sheet: Sheet, item: Item, answer: str, key_points: Sequence[str] | None = None) -> None:
    """A question answered in prose."""
    if not answer.strip():
        add_unanswered(sheet, item)
        return
    points = tuple(key_points) if key_points is not None else key_points_of(answer, item.prompt)
    _add(sheet, item, "open", answer=answer, key_points=points)


def add_exact(sheet: Sheet, item: Item, kind: Literal["value", "output"], answer: str) -> None:
    """A question whose answer is compared as it stands; the caller has seen that it can be."""
    _add(sheet, item, kind, answer=answer)


def add_unanswered(sheet: Sheet, item: Item, options: Sequence[str] = ()) -> None:
    """A question without a key: it is kept, with its options in the prompt, and never asked."""
    cure = "mark what is right" if options else "write the answer"
    note = "it is kept and never put to anyone"
    sheet.say("Q604", "the question has no answer", cure, item.lines, note=note)
    if options:
        listed = "\n".join(f"- {' '.join(text.split())}" for text in options)
        item.prompt = f"{item.prompt}\n\n{listed}".strip()
    _add(sheet, item, "open")


def _add(
    sheet: Sheet,
    item: Item,
    kind: Kind,
    *,
    answer: str | None = None,
    options: tuple[Option, ...] = (),
    key_points: tuple[str, ...] = (),
) -> None:
    if not item.prompt.strip():
        sheet.left_out("the question asks nothing", "write what is asked", item.lines)
        return
    if max(len(item.prompt), len(answer or ""), len(item.why)) > LONGEST_TEXT:
        sheet.left_out(f"a text is longer than {LONGEST_TEXT:,} characters", "shorten it", item.lines)
        return
    if item.id and not _fits(item.id):
        note = f"it says `{item.id[:60]}`; one was made of the prompt"
        cure = "use lower-case words and numbers joined by hyphens"
        sheet.say("Q612", "this cannot be an id", cure, item.lines, severity="note", note=note)
    question = Question(
        id=item.id if _fits(item.id) else "",
        kind=kind,
        prompt=item.prompt.strip(),
        place=sheet.place(item.first, item.last),
        answer=answer,
        why=item.why.strip(),
        program=item.program,
        options=options,
        key_points=key_points,
        code_blocks=_code_blocks(item, answer or ""),
        level=item.level,
        topic=item.topic,
        section=item.section,
        number=item.number,
        title=item.title,
        links=item.links,
        licence=item.licence,
        tags=item.tags,
    )
    sheet.questions.append(question)


def _fits(text: str) -> bool:
    """Whether an author's id has the form ours have."""
    return _ID.fullmatch(text) is not None and len(text) <= 80


def _code_blocks(item: Item, answer: str) -> tuple[CodeBlock, ...]:
    return tuple(
        CodeBlock(inner.text, inner.info, item.first)
        for text in (item.prompt, answer)
        if "```" in text or "~~~" in text
        for block in split_blocks(Source("", tuple(text.split("\n"))))
        for inner in block.walk()
        if inner.kind == "fence"
    )
