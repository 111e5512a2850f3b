"""Evidence that places where a question may start are questions: what is read of a run of them for each reason."""

from __future__ import annotations

import re
from bisect import bisect_left
from pathlib import PurePath
from typing import TYPE_CHECKING

from questions.patterns.candidates import Verdict
from questions.patterns.contents import is_only_link
from questions.patterns.evidence.answers import judge_answered
from questions.patterns.evidence.asking import is_answered_by_text, judge_asking
from questions.patterns.evidence.contents import judge_listed
from questions.patterns.evidence.labels import judge_labeled
from questions.patterns.evidence.runs import FEWEST, SHORTEST, is_count, is_headed, is_sheet, is_told, without_recurring
from questions.patterns.starts.paragraphs import made_of, up_to_gaps
from questions.wording.imperatives import asks_or_demands
from questions.wording.labels import announces_only_questions, names_exercises, names_only_questions
from questions.wording.stems import asks_for_questions, ends_asking, is_advertisement, reads_as_question

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from questions.blocks import Block
    from questions.document import Document
    from questions.patterns.candidates import Candidate, Reason
    from questions.patterns.starts.start import Kind, Start

_FEWEST_CONTINUED = 5
_MANY_CONTINUED = 20
"""Headings that ask from which one more asks too, also in a chapter where most do not."""


def _titled(document: Document, kind: Kind, run: list[Start], known: tuple[Candidate, ...]) -> Verdict:
    if kind != "heading":
        return Verdict()
    if _are_numbers(run):
        asked = [start for start in run if start.body and start.body[0].kind == "paragraph"]
        sentences = (one for start in asked for one in _SENTENCE.split(start.body[0].text))
        return Verdict(tuple(asked) if any(map(reads_as_question, sentences)) else ())
    titles = [start for start in run if start.asks_below and not start.asks]
    if len(titles) < FEWEST["heading"] or len(titles) * 5 < len(run) * 3:
        return Verdict()
    return Verdict(tuple(start for start in run if start.body and start.body[0].kind != "heading"))


_SENTENCE = re.compile(r"(?<=[.!?])\s+")


def _are_numbers(run: list[Start]) -> bool:
    """Returns whether headings are nothing but numbers."""
    return all(start.kind == "heading" and start.number and not start.stem.text for start in run)


def _continued(document: Document, kind: Kind, run: list[Start], known: tuple[Candidate, ...]) -> Verdict:
    alike = [start for one in known if one.kind == kind for start in one.read if start.depth == run[0].depth]
    if len(alike) < _FEWEST_CONTINUED:
        return Verdict()
    match kind:
        case "heading":
            return _continued_headings(document, run, alike)
        case "item":
            return _continued_items(document, run, alike)
        case "line":
            return _continued_numbers(run, alike)
        case "fold":
            return _continued_folds(run, alike)
    return Verdict()


def _continued_headings(document: Document, run: list[Start], alike: list[Start]) -> Verdict:
    if _are_numbers(run):
        return Verdict(tuple(start for start in run if start.body and start.body[0].kind == "paragraph"))
    if is_told(document, run) and (tasks := _tasks(run)):
        return Verdict(tasks)
    if same := _of_same_form(document, run, alike):
        return Verdict(same)
    return _continued_numbers(run, alike)


def _continued_numbers(run: list[Start], alike: list[Start]) -> Verdict:
    """Returns the starts whose numbers continue from those of the questions, if most do."""
    numbers = {int(start.number) for start in alike if start.number.isdecimal() and len(start.number) < 5}
    read = [start for start in run if _goes_on(start, numbers)]
    return Verdict(tuple(read)) if len(read) * 2 > len(run) else Verdict()


def _continued_items(document: Document, run: list[Start], alike: list[Start]) -> Verdict:
    """Returns the items if a third of them asks, and the place of the list or its bold type is that of the others."""
    if all(map(is_headed, alike)) and not any(map(is_headed, run)):
        return Verdict()
    run = [start for group in _lists(document, run) if any(start.asks for start in group) for start in group]
    items = [start for start in run if not is_only_link(start)]
    if not run:
        return Verdict()
    beside = run[0].headings[:-1] in {start.headings[:-1] for start in alike}
    told = is_told(document, run) or beside or all(start.bold for start in (*alike, *items))
    asking = sum(start.asks for start in items)
    return Verdict(tuple(items)) if told and asking * 3 >= len(run) and len(items) * 2 > len(run) else Verdict()


def _lists(document: Document, run: list[Start]) -> Iterator[list[Start]]:
    """Yields the items of each list: no other text is between them."""
    group: list[Start] = []
    for start in run:
        if group and any(document.source.line(n).strip() for n in range(group[-1].end + 1, start.first)):
            yield group
            group = []
        group.append(start)
    yield group


def _continued_folds(run: list[Start], alike: list[Start]) -> Verdict:
    """Returns the few summaries without a question mark among many that ask, such as `Explain how dropout works`."""
    few = len(run) * _FEWEST_CONTINUED <= len(alike)
    return Verdict(tuple(one for one in run if few and one.said and len(one.stem.text.split()) > SHORTEST))


def _of_same_form(document: Document, run: list[Start], alike: list[Start]) -> tuple[Start, ...]:
    """Returns the headings without a number that are questions like those of the same level in other chapters.

    They ask too, and most beside them do, or very many others ask; or a rule is right below them, as below most of
    the others.
    """
    bare = [start for start in run if not start.number and start.body]
    asking = [start for start in bare if ends_asking(start.stem.text) and is_answered_by_text(document, start)]
    ruled = bool(bare) and all(map(_is_ruled, run))
    few = len(asking) * 3 < len(run) * 2 and len(alike) < _MANY_CONTINUED
    if not ruled and (not asking or few):
        # Looking at all others comes last: there may be many chapters.
        return ()
    chapters = {start.headings[:-1] for start in alike}
    if any(start.number or not start.asks for start in alike) or run[0].headings[:-1] not in chapters:
        return ()
    if ruled and sum(map(_is_ruled, alike)) * 5 >= len(alike) * 4:
        return tuple(bare)
    return () if few else tuple(asking)


def _is_ruled(start: Start) -> bool:
    first = start.body[0] if start.body else None
    return first is not None and (
        first.kind == "rule" or (first.kind == "html" and _RULE.match(first.text) is not None)
    )


_RULE = re.compile(r"\s*<hr\b", re.IGNORECASE)


def _tasks(run: list[Start]) -> tuple[Start, ...]:
    """Returns the headings without a number that ask or set a task, if most of a run does: `Реализуйте моноид`."""
    found = [start for start in run if not start.number and asks_or_demands(start.stem.text)]
    last = run[-1]
    if last in found and last.block and last.body and is_advertisement(last.block, last.body):
        found.remove(last)
    return tuple(found) if len(found) * 2 >= len(run) else ()


def _goes_on(start: Start, numbers: set[int]) -> bool:
    """Returns whether the number of a start is next to the numbers of questions, and taken by none of them."""
    if not is_count(start.number) or int(start.number) in numbers:
        return False
    goes_on = int(start.number) - 1 in numbers or int(start.number) + 1 in numbers
    if goes_on:
        numbers.add(int(start.number))
    return goes_on


def _promised(document: Document, kind: Kind, run: list[Start], known: tuple[Candidate, ...]) -> Verdict:
    titled = _is_section_of_questions(document, kind, run)
    if titled or (kind == "heading" and _are_cards(document, run, known)):
        return Verdict(tuple(start for start in run if start.stem.text and not is_only_link(start)))
    if kind == "heading" and _counts_below_questions(run):
        return Verdict(tuple(start for start in run if start.stem.text))
    if not known and kind == "item" and _counts_through(document, run):
        return Verdict(tuple(start for start in run if not is_only_link(start)))
    if known or kind in ("label", "fold") or len(run) < _FEWEST_CONTINUED:
        return Verdict()
    told = is_told(document, run) or (kind == "heading" and _is_named_for_questions(document))
    told = told or (kind == "item" and _are_tasks(document, run))
    if not (told or _is_counted(run) or _lists_topics(document, run) or _are_as_many_as_announced(document, run)):
        return Verdict()
    numbered = [start for start in run if start.number and not is_only_link(start)]
    lines = sum(start.end - start.first + 1 for start in numbered)
    everything = sum(bool(line.strip()) for line in document.source.lines)
    if len(numbered) < _FEWEST_CONTINUED or len(numbered) * 3 < len(run) * 2 or lines * 2 < everything:
        return Verdict()
    if kind == "heading" and any(_holds_headings(start.body) or _titles_parts(start.body) for start in numbered):
        return Verdict()
    return Verdict(tuple(numbered))


def _are_tasks(document: Document, run: list[Start]) -> bool:
    """Returns whether items are the tasks of an exercise sheet, most of which set one or ask."""
    tasks = sum(asks_or_demands(start.stem.text) for start in run)
    return tasks * 4 >= len(run) * 3 and is_sheet(document, run)


def _is_named_for_questions(document: Document) -> bool:
    """Returns whether the name of the file is only a word for questions: `otázky.md`, `面试题.md`."""
    return names_only_questions(PurePath(document.source.name).stem)


def _are_cards(document: Document, run: list[Start], known: tuple[Candidate, ...]) -> bool:
    """Returns whether headings are cards of a deck: others of their level were read as questions."""
    depth = run[0].depth
    return depth == document.layout.card_level and any(one.kind == "heading" and one.depth == depth for one in known)


def _is_section_of_questions(document: Document, kind: Kind, run: list[Start]) -> bool:
    """Returns whether numbered items are all there is under a heading such as `Questions`."""
    heading = run[0].headings[-1] if run[0].headings else None
    if kind != "item" or heading is None or len(run) < FEWEST["item"] or not announces_only_questions(heading):
        return False
    if names_exercises(heading.text) and _are_steps(run):
        return False
    at = bisect_left(document.sections, heading.first, key=lambda section: section.heading.first)
    last = document.sections[at].last
    filled = [n for n in range(heading.last + 1, last + 1) if document.source.line(n).strip()]
    within = {n for start in run for n in range(start.first, start.end + 1)}
    return all(start.number for start in run) and sum(n in within for n in filled) * 10 >= len(filled) * 9


def _are_steps(run: list[Start]) -> bool:
    """Returns whether items are the steps of a tutorial: most have text below them that no label makes an answer, and
    begin with a sentence that neither asks nor sets a task."""
    shown = sum(bool(start.text) and start.answer is None for start in run)
    told = sum(asks_or_demands(_SENTENCE.split(start.stem.text.partition("\n")[0])[0]) for start in run)
    return shown * 2 > len(run) > told * 2


def _counts_below_questions(run: list[Start]) -> bool:
    """Returns whether headings with numbers from 1 on are below one that announces questions, and several ask or set a
    task: the others name topics of the exam."""
    over = run[0].headings[-1].text if run[0].headings else ""
    numbers = [start.number for start in run]
    if len(run) < _FEWEST_CONTINUED or numbers != [str(number) for number in range(1, len(run) + 1)]:
        return False
    asking = sum(start.asks or asks_or_demands(start.stem.text) for start in run)
    inside = any(_holds_headings(start.body) or _titles_parts(start.body) for start in run)
    return asks_for_questions((over,)) and asking * 5 >= len(run) and not inside


def _counts_through(document: Document, run: list[Start]) -> bool:
    """Returns whether items are the topics of an exam below headings for its parts: the title of the document announces
    questions, the numbers go on through all of its lists, and these are most of the document."""
    counted = document.layout.counted_items
    if len(counted) < _FEWEST_TOPICS or run[0].first not in counted or not asks_for_questions((document.title,)):
        return False
    filled = sum(bool(line.strip()) for line in document.source.lines)
    return all(start.first in counted and start.stem.text for start in run) and len(counted) * 3 >= filled * 2


def _is_counted(run: list[Start]) -> bool:
    """Returns whether starts are numbered without a gap, have text below, and some of them ask."""
    numbers = [int(start.number) for start in run if is_count(start.number)]
    regular = len(numbers) == len(run) and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    answered = sum(bool(start.text) for start in run)
    return regular and answered * 5 >= len(run) * 4 and sum(start.asks for start in run) * 4 >= len(run)


def _lists_topics(document: Document, run: list[Start]) -> bool:
    """Returns whether starts are the topics of an exam: below a line that announces questions, numbered without a gap,
    and some of them ask."""
    numbers = [int(start.number) for start in run if is_count(start.number)]
    above = next((n for n in range(run[0].first - 1, 0, -1) if document.source.line(n).strip()), 0)
    if len(run) < _FEWEST_TOPICS or numbers != [*range(1, len(run) + 1)] or not above:
        return False
    title = document.source.line(above)
    told = len(title) <= _LONGEST_TITLE and "](" not in title and asks_for_questions((title,))
    asking = sum(_QUESTION_MARK.search(start.stem.text) is not None for start in run)
    return told and asking * _FEWEST_TOPICS >= len(run)


def _are_as_many_as_announced(document: Document, run: list[Start]) -> bool:
    """Returns whether numbered headings are exactly as many as the text above them says there are questions: `the 15
    interview questions`."""
    numbers = [int(start.number) for start in run if is_count(start.number)]
    if run[0].kind != "heading" or numbers != [*range(1, len(run) + 1)]:
        return False
    above = document.source.text(1, min(run[0].first - 1, _LINES_ABOVE))[:_LONGEST_ABOVE]
    return any(int(found["count"]) == len(run) for found in _COUNT_OF_QUESTIONS.finditer(above))


_LINES_ABOVE = 60
"""Lines at the start of a document that may say so."""
_LONGEST_ABOVE = 2000
"""Length of the text above the first heading that may say how many questions there are, characters."""
_COUNT_OF_QUESTIONS = re.compile(
    r"(?<!\w)(?P<count>\d{1,3})[ ](?:[\w+#/.-]{1,20}[ ]){0,3}?"
    r"(?:questions|preguntas|perguntas|fragen|domande|vragen|pytań|вопросов|soru|pertanyaan|câu hỏi)(?!\w)",
    re.IGNORECASE,
)

_QUESTION_MARK = re.compile(r"[?？؟]")
_FEWEST_TOPICS = 10
"""Fewest topics of an exam; one in this many asks."""
_LONGEST_TITLE = 120
"""Length of a line that may be a title, characters."""


def _bare(document: Document, kind: Kind, run: list[Start], known: tuple[Candidate, ...]) -> Verdict:
    made = made_of(document, run, told=is_told(document, run))
    return Verdict(tuple(without_recurring(up_to_gaps(document, run)))) if made else Verdict()


def _holds_headings(body: tuple[Block, ...]) -> bool:
    return sum(block.kind == "heading" and reads_as_question(block.text) for block in body) > 1


_PART = re.compile(r"[*_]{0,3}\(?(?:[A-Ha-h]|\d{1,2}(?:\.\d{1,2})?)(?:[.)]|[ ][-–—])")

_LETTERED = re.compile(r"\(?(?P<letter>[a-zA-Z])[.)][ \t]+(?P<text>\S.*)", re.DOTALL)


def _titles_parts(body: tuple[Block, ...]) -> bool:
    """Returns whether a heading is the title of its parts: it is right above the first of them, such as
    `a) Explain …`, or above paragraphs with the letters a, b, … if the first asks."""
    if body and body[0].kind == "heading" and _PART.match(body[0].text):
        return True
    parts = [found for block in body if block.kind == "paragraph" and (found := _LETTERED.match(block.text))]
    letters = [found["letter"].lower() for found in parts]
    return letters[:2] == ["a", "b"] and asks_or_demands(parts[0]["text"])


JUDGES: dict[Reason, Callable[[Document, Kind, list[Start], tuple[Candidate, ...]], Verdict]] = {
    "labeled": judge_labeled,
    "listed": judge_listed,
    "answered": judge_answered,
    "asking": judge_asking,
    "titled": _titled,
    "continued": _continued,
    "promised": _promised,
    "bare": _bare,
    "keyed": lambda *_: Verdict(),
}
