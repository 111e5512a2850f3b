"""Reads the layout of exam dumps: `Question #1 Topic 1` as a line of its own, buttons of a site, and votes.

    Question #1 Topic 1
    Which service stores objects?
    A. S3 Most Voted
    B. EBS
    Reveal Solution Hide Solution Discussion 12
    Correct Answer: B
    Community vote distribution
    A (85%)

The stated answer is the key. A vote is not part of a question; one that contradicts the key gives a finding.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from questions.source import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from questions.model import Question
    from questions.source import Source

_OPEN = r"[ ]{0,3}(?P<level>#{1,6}[ ]+)?[*_]{0,3}"
_CLOSE = r"[ ]{0,3}[*_:.]{0,4}[ ]{0,3}"
_QUESTION = r"(?:new[ ])?(?:question|q)[ ]?(?:no\.?[ ]?|number[ ])?(?:#?:)?[ ]?"
_TOPIC = r"[(\[]?(?:exam[ ](?:[\w.-]{1,30}[ ])?)?topic[ ]?#?:?[ ]?(?P<%s>\d{1,3})[)\]]?"
_BETWEEN = r"[ ]{0,3}[-–—|,:/·]?[ ]{0,3}"
_TITLE = re.compile(
    rf"{_OPEN}(?:{_QUESTION}#?[ ]?(?P<number>\d{{1,4}}){_BETWEEN}{_TOPIC % 'topic'}"
    rf"|{_TOPIC % 'first'}{_BETWEEN}{_QUESTION}#?[ ]?(?P<last>\d{{1,4}}))(?:[ ]discussion)?{_CLOSE}",
    re.IGNORECASE,
)
"""A question by its number and its topic, in a line of its own."""
_COUNTED = re.compile(rf"{_OPEN}{_QUESTION}#?[ ]?(?P<number>\d{{1,4}}){_CLOSE}", re.IGNORECASE)
"""A question by its number alone."""
_TOPIC_LINE = re.compile(rf"[ ]{{0,3}}(?:[-*][ ]+)?{_TOPIC % 'topic'}[ ]*", re.IGNORECASE)
"""The topic in the line below the number."""
_BUTTON = (
    r"(?:(?:reveal|hide|show|view)[ ](?:solution|answer)|(?:discussion|comments?)[ ]*\(?\d{0,5}\)?|next[ ]question)"
)
_BUTTONS = re.compile(rf"[ ]{{0,3}}{_BUTTON}(?:[ |·/-]{{1,5}}{_BUTTON}){{0,5}}[ ]*", re.IGNORECASE)
_OPTION = re.compile(r"[ ]{0,3}(?:[-*+][ ]+)?[*_]{0,2}[(]?(?P<letter>[A-J])[.):]")
_MOST_VOTED = re.compile(r"[ ]{0,3}[*_(\[]{0,3}most[ ]voted[*_)\]]{0,3}[ ]{0,3}$", re.IGNORECASE)
_ANSWER = re.compile(
    r"(?P<label>[ ]{0,3}[*_]{0,3}(?:correct|suggested)[ ]answer[*_]{0,3}[ ]?[:：][*_]{0,3})"
    r"[ ]*(?P<letters>[A-J](?:[ ]?[,&]?[ ]?[A-J]){0,8})?(?P<rest>(?![\w'’]).*)",
    re.IGNORECASE,
)
_SHARE = r"(?P<letters>[A-J]{1,6})[ ]?\((?P<percent>\d{1,3})[ ]?%\)"
_VOTE_TITLE = re.compile(
    r"[ ]{0,3}[*_]{0,3}community[ ]votes?(?:[ ]distribution)?[ ]?:?[*_]{0,3}[ ]?:?[ ]*", re.IGNORECASE
)
_VOTE = re.compile(
    r"[ ]{0,3}(?:[-*][ ]+)?[A-J]{1,6}[ ]?\(\d{1,3}[ ]?%\)"
    r"(?:[ ,;|]{0,3}(?:[A-J]{1,6}[ ]?\(\d{1,3}[ ]?%\)|([Oo]ther[ ]?)?\(?\d{1,3}[ ]?%\)?)){0,9}[ ]*"
)
_REST_OF_VOTE = re.compile(r"[ ]{0,3}(?:[-*][ ]+)?(?:other[ ]?)?(?:(?<=other)|\(?\d{1,3}[ ]?%\)?)[ ]*", re.IGNORECASE)
_PERCENT = re.compile(r"\(?\d{1,3}[ ]?%\)?")
_SHARES = re.compile(_SHARE)
_SIGNS = re.compile(r"\W{0,10}")
_PAGE = re.compile(r"[ ]{0,3}Actual exam question from\b.{0,200}", re.IGNORECASE)
"""The line above a question on a page of its own, copied from the site."""
_PAGE_LINK = re.compile(r"[ ]{0,3}\[All .{1,100} Questions\][ ]*", re.IGNORECASE)
_COMMENTS = re.compile(r"[ ]{0,3}(?:Comments|by .{1,60} at .{1,20}\d{4}.{0,20})[ ]*")
"""The line above what readers wrote about a question."""
_WORDS = ("opic", "OPIC", "ommunity vote", "ost Voted", "ost voted", "uggested")
"""Parts of words, one of which is in each such document."""


class Vote(NamedTuple):
    """What the readers of a dump hold to be right."""

    line: int
    """Line of the stated answer, or of the vote where none is stated."""
    letters: frozenset[str]
    shown: str


class _Line(NamedTuple):
    """A line outside programs."""

    number: int
    text: str


def with_plain_questions(source: Source) -> tuple[Source, tuple[Vote, ...]]:
    """Returns a dump with headings such as `## Question 1`, without buttons, topics and votes, and these votes. Lines
    keep their numbers. Any other document is returned as it is."""
    if not any(word in line for line in source.lines for word in _WORDS):
        return source, ()
    shown = list(_outside_programs(source))
    if not _is_dump(shown):
        return source, ()
    lines = list(source.lines)
    shown = _without_comments(lines, shown)
    _write_titles(lines, shown)
    votes = tuple(_take_votes(lines, shown))
    return replace(source, lines=tuple(lines)), votes


def _outside_programs(source: Source) -> Iterator[_Line]:
    return (_Line(at + 1, line) for at, line in source.lines_outside_programs)


def _without_comments(lines: list[str], shown: list[_Line]) -> list[_Line]:
    """Returns the lines without those of the site around questions copied from pages of their own, and without what
    readers wrote below each: the answers that they selected are no key. Removes them from `lines` too."""
    if not any(_PAGE.fullmatch(one.text) for one in shown):
        return shown
    kept: list[_Line] = []
    commented = False
    for one in shown:
        page = _PAGE.fullmatch(one.text)
        commented = page is None and (commented or _COMMENTS.fullmatch(one.text) is not None)
        if page or commented or _PAGE_LINK.fullmatch(one.text):
            lines[one.number - 1] = ""
        else:
            kept.append(one)
    return kept


def _is_dump(shown: Sequence[_Line]) -> bool:
    """Returns whether a line names the number and the topic of a question, or numbers are above answers that readers
    of a site suggest or vote for."""
    if any(_TITLE.fullmatch(one.text) or _topic_below(shown, at) for at, one in enumerate(shown)):
        return True
    return any(_is_voted(one.text) for one in shown) and any(_COUNTED.fullmatch(one.text) for one in shown)


def _is_voted(line: str) -> bool:
    low = line.lower()
    if "suggested" in low and (found := _ANSWER.fullmatch(line)):
        return found["letters"] is not None
    return "vote" in low and (_VOTE_TITLE.match(line) is not None or _MOST_VOTED.search(line) is not None)


def _topic_below(shown: Sequence[_Line], at: int) -> str:
    """Returns the topic in the line below the number of a question; empty if there is none."""
    below = shown[at + 1].text if at + 1 < len(shown) else ""
    found = _TOPIC_LINE.fullmatch(below)
    return found["topic"] if found and _COUNTED.fullmatch(shown[at].text) else ""


def _write_titles(lines: list[str], shown: Sequence[_Line]) -> None:
    """Writes a heading for each line with the number of a question, one above the first of each further topic, and
    removes what belongs to the site."""
    before = ""
    for at, (number, text) in enumerate(shown):
        if found := _TITLE.fullmatch(text) or _COUNTED.fullmatch(text):
            named = found.groupdict()
            topic = named.get("topic") or named.get("first") or _topic_below(shown, at)
            lines[number - 1] = f"{found['level'] or '## '}Question {found['number'] or named['last']}"
            if _topic_below(shown, at):
                lines[shown[at + 1].number - 1] = ""
            if before and topic not in ("", before) and not found["level"] and not lines[number - 2].strip():
                # Its numbers may start over.
                lines[number - 2] = f"# Topic {topic}"
            before = topic or before
        elif _BUTTONS.fullmatch(text):
            lines[number - 1] = ""


def _take_votes(lines: list[str], shown: Sequence[_Line]) -> Iterator[Vote]:
    """Removes the votes from the lines, and yields those of each question."""
    starts = [at for at, one in enumerate(shown) if lines[one.number - 1].lstrip("# ").startswith("Question ")]
    for first, end in zip(starts, [*starts[1:], len(shown)], strict=True):
        yield from _votes_of(lines, shown[first:end])


def _votes_of(lines: list[str], shown: Sequence[_Line]) -> Iterator[Vote]:
    """Removes the votes of one question, and yields what most readers hold to be right."""
    marked: set[str] = set()
    shares: list[tuple[int, str]] = []
    answer = voted = 0
    letter = ""
    for number, text in shown:
        if option := None if answer else _OPTION.match(text):
            letter = option["letter"]
        if letter and not answer and (mark := _MOST_VOTED.search(text)):
            marked.add(letter.lower())
            lines[number - 1] = text[: mark.start()]
            voted = voted or number
        elif found := _ANSWER.fullmatch(text):
            answer = number
            shares += _shares(found["rest"])
            lines[number - 1] = _stated(found)
        elif title := _VOTE_TITLE.match(text):
            rest = text[title.end() :]
            if not rest or _VOTE.fullmatch(rest):
                shares += _shares(rest)
                lines[number - 1] = ""
        elif answer and (_VOTE.fullmatch(text) or (shares and _REST_OF_VOTE.fullmatch(text))):
            shares += _shares(text)
            lines[number - 1] = ""
        voted = voted or (number if shares else 0)
    most = max(shares, default=None, key=lambda one: one[0])
    letters = frozenset(most[1].lower()) if most else frozenset(marked)
    if letters:
        name = ", ".join(sorted(letters)).upper()
        yield Vote(answer or voted, letters, f"{name} ({most[0]}%)" if most else name)


def _shares(text: str) -> list[tuple[int, str]]:
    return [(int(one["percent"]), one["letters"]) for one in _SHARES.finditer(text)]


def _stated(found: re.Match[str]) -> str:
    """Returns the line with the stated answer as a label and its letters, without signs and votes behind them."""
    label = found["label"].replace("Suggested", "Correct").replace("suggested", "correct")
    rest = found["rest"].strip()
    only_signs = _SIGNS.fullmatch(rest) is not None and "*" not in rest
    if found["letters"] and (only_signs or _shares(rest) or _MOST_VOTED.fullmatch(rest) or _PERCENT.fullmatch(rest)):
        rest = ""
    return " ".join(part for part in (label, found["letters"] or "", rest) if part)


def vote_findings(source: Source, questions: Iterable[Question], votes: Sequence[Vote]) -> Iterator[Finding]:
    """Yields a finding for each question whose readers hold another option to be right than the stated one, or vote
    although none is stated."""
    asked = [one for one in questions if one.options] if votes else []
    for vote in votes:
        question = next((one for one in asked if one.place.line <= vote.line <= one.place.end_line), None)
        right = frozenset(option.id for option in question.options if option.right) if question else vote.letters
        if right == vote.letters:
            continue
        stated = f"the stated answer is {', '.join(sorted(right)).upper()}" if right else "no answer is stated"
        yield Finding(
            "Q123",
            "warning" if right else "note",
            f"{stated}, and most readers voted for {vote.shown}",
            source.span(vote.line),
            note="the stated answer was used" if right else "a vote is not a key",
            help="check which one is right, and correct the answer"
            if right
            else "check it, and state it as the answer",
        )
