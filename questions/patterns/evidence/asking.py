"""Evidence in wording: most starts of a run read as questions."""

from __future__ import annotations

import re
from collections import Counter
from itertools import groupby, pairwise, takewhile
from typing import TYPE_CHECKING

from questions.patterns.candidates import Verdict
from questions.patterns.contents import is_only_link, names_contents
from questions.patterns.evidence.runs import (
    FEWEST,
    SHORTEST,
    count_words,
    has_text,
    is_count,
    is_headed,
    is_sheet,
    is_told,
    split_run,
    with_rest,
    without_recurring,
)
from questions.source import WIDE
from questions.wording.imperatives import asks_or_demands, sets_task
from questions.wording.labels import announces_only_questions
from questions.wording.stems import (
    asks_for_questions,
    demands,
    ends_asking,
    heading_asks,
    is_advertisement,
    is_bold_question,
    is_offer,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from questions.document import Document
    from questions.patterns.candidates import Candidate
    from questions.patterns.starts.start import Kind, Start

_COURTESY = 4
"""Most words of a last item that thanks or refers to more."""


def judge_asking(document: Document, kind: Kind, run: list[Start], known: tuple[Candidate, ...]) -> Verdict:
    """Returns the starts that ask, if most of the run does or the title announces questions."""
    told = is_told(document, run)
    match kind:
        case "heading":
            return _asking_headings(document, run, told)
        case "item":
            return _asking_items(document, run)
        case "line":
            return _asking_lines(run, told=told or _PUZZLES.search(document.title) is not None)
        case "fold":
            return _asking_folds(run, told)
    return Verdict()


def _asking_headings(document: Document, run: list[Start], told: bool) -> Verdict:
    if len(run) == 1 and run[0].depth == 1 and (_told_by_title(document, run[0]) or _titles_others(run[0])):
        return Verdict()
    numbered = [start for start in run if start.number]
    if numbered and sum(start.asks for start in numbered) * 2 > len(numbered):
        # A run of study headings may contain one that asks, and a run of questions one that does not.
        return Verdict(tuple(numbered))
    bare = [start for start in run if not start.number]
    if len(bare) >= FEWEST["heading"] and sum(demands(start.stem.text) for start in bare) * 3 >= len(bare) * 2:
        return Verdict(tuple(start for start in bare if start.asks))
    if told and (quoted := _quoted(bare)):
        return Verdict(quoted)
    if all(map(_is_tagged, bare)) and sum(ends_asking(start.stem.text) for start in bare) * 2 > len(bare) >= _TAGGED:
        return Verdict(tuple(bare))
    answered = [start for start in bare if start.asks and is_answered_by_text(document, start, among=bare)]
    if _all_ask(bare, answered):
        return Verdict(_with_others(bare, answered))
    if told and (unanswered := _asking_without_answers(document, bare)):
        return Verdict(unanswered)
    asks = [start for start in bare if _asks_itself(document, start)]
    if len(asks) < (1 if told else FEWEST["heading"]) or not (told or len(asks) * 3 >= len(bare) * 2):
        return Verdict(_topics_among_tasks(document, bare))
    asking = sum(ends_asking(start.stem.text) for start in bare)
    if len(asks) >= FEWEST["heading"] and asking * 3 >= len(bare) * 2:
        # Among headings that ask, one such as `Name two examples!` asks too.
        return Verdict(_with_others(bare, answered))
    return Verdict(tuple(asks))


def _with_others(headings: list[Start], asking: list[Start]) -> tuple[Start, ...]:
    """Returns the headings that ask; where they are many and nearly all, with those in which only one sentence asks or
    sets a task: `Your model fails on weekends. Walk me through it.`"""
    if len(asking) < _FEWEST_TOPICS or len(asking) * 5 < len(headings) * 4:
        return tuple(asking)
    known = set(asking)
    return tuple(one for one in headings if one in known or asks_or_demands(one.stem.text))


_FEWEST_TOPICS = 10
"""Minimum number of headings of an exam, in which some only name a topic."""
_MOST_PARTS = 20
"""Maximum number of parts of such an exam."""


def _topics_among_tasks(document: Document, headings: list[Start]) -> tuple[Start, ...]:
    """Returns the headings of a run that have text below them, if a third of all headings of their level, which most
    headings of the document have, demand an explanation (`Please describe …`): the others name topics of the exam."""
    if len(headings) * _MOST_PARTS < len(document.sections):
        return ()
    levels = Counter(section.heading.level for section in document.sections)
    (level, count), *_ = levels.most_common(1) or [(0, 0)]
    if not headings or level != headings[0].depth or count < _FEWEST_TOPICS or count * 2 < levels.total():
        return ()
    alike = [
        section for section in document.sections if section.heading.level == level and section.heading.text.strip()
    ]
    demanding = sum(demands(section.heading.text) for section in alike)
    answered = sum(bool(section.body) for section in alike)
    if demanding * 3 < len(alike) or answered * 10 < len(alike) * 9:
        return ()
    return tuple(start for start in headings if start.body and start.stem.text)


_QUOTED = re.compile(r"[\"“„«「][^\"“”„«»「」]{8,300}[\"”“»」]\W{0,3}")


def _quoted(headings: list[Start]) -> tuple[Start, ...]:
    """Returns the headings that are in quotes, as what an interviewer says, if most are and have text below them."""
    quoted = [start for start in headings if _QUOTED.fullmatch(start.stem.text) and start.body]
    enough = len(quoted) >= FEWEST["heading"] and len(quoted) * 3 >= len(headings) * 2
    return tuple(quoted) if enough else ()


def _all_ask(headings: list[Start], answered: list[Start]) -> bool:
    """Returns whether most headings ask and are answered, at least half of them with a question mark."""
    sure = sum(ends_asking(start.stem.text) for start in answered)
    return sure >= FEWEST["heading"] and sure * 2 >= len(headings) and len(answered) * 4 >= len(headings) * 3


def _asking_without_answers(document: Document, bare: list[Start]) -> tuple[Start, ...]:
    """Returns the headings that ask or demand, with or without text below them, if most of them do, and a third ends
    with a question mark."""
    read = [start for start in bare if start.asks or demands(start.stem.text)]
    read = [start for start in read if count_words(start.stem.text) >= SHORTEST]
    read = [start for start in read if not start.body or is_answered_by_text(document, start, among=bare)]
    marked = sum(ends_asking(start.stem.text) for start in read)
    sure = len(read) >= FEWEST["heading"] and len(read) * 3 >= len(bare) * 2 and marked * 3 >= len(bare)
    return tuple(read) if sure else ()


def _told_by_title(document: Document, start: Start) -> bool:
    """Returns whether a heading is the title of the document, which announces questions."""
    first = document.sections[0].heading if document.sections else None
    return first is not None and first.first == start.first and asks_for_questions((start.stem.text,))


def _titles_others(start: Start) -> bool:
    """Returns whether a heading without a question mark is the title of headings that end with one."""
    asking = sum(block.kind == "heading" and ends_asking(block.text) for block in start.body)
    return asking >= _FEWEST_BELOW and not ends_asking(start.stem.text)


_FEWEST_BELOW = 2
_TAG = re.compile(r"\[[^\[\]\n]{1,30}\][ ]+\S")
_TAGGED = 4
"""Fewest headings with a subject in brackets. Most of them must ask."""


def _is_tagged(start: Start) -> bool:
    """Returns whether a heading begins with its subject in brackets, `[css] What is a box?`, and has text below."""
    return _TAG.match(start.stem.text) is not None and bool(start.body)


def _asks_itself(document: Document, start: Start) -> bool:
    """Returns whether a heading asks and is answered by text, not by headings of its own or a link.

    Headings that recur below others, such as `What is it?`, are parts of an answer.
    """
    return ends_asking(start.stem.text) and is_answered_by_text(document, start)


def is_answered_by_text(document: Document, start: Start, among: Sequence[Start] = ()) -> bool:
    """Returns whether text answers a heading. Among others that ask, a link may answer one that is not the last, and
    one may have no answer."""
    parts = document.layout.recurring
    own = [*takewhile(lambda block: block.kind != "heading" or block.first in parts, start.body)]
    own = own or (start.in_parts if among else [])
    if among and not start.body:
        return ends_asking(start.stem.text)
    dense = start.asks and len(_WIDE.findall(start.stem.text)) >= (1 if among else _FEWEST_WIDE)
    words = count_words(start.stem.text) + (len(_CONTRACTED.findall(start.stem.text)) if among else 0)
    short = words < SHORTEST and not dense
    if start.first in parts or start.block is None or not own or short:
        return False
    advertises = is_offer(start.stem.text) if among and start is not among[-1] else is_advertisement(start.block, own)
    return not is_bold_question(own[0].text) and not advertises


_CONTRACTED = re.compile(r"(?i)\b(?:what|who|where|how|why)['’]s\b")
"""A question word with a verb: two words."""
_WIDE = re.compile(f"[{WIDE}]")
_FEWEST_WIDE = 4
"""Fewest of these characters in a heading that asks on its own."""


def _asking_items(document: Document, run: list[Start]) -> Verdict:
    if run[0].headings and names_contents(run[0].headings[-1].text) and not any(start.text for start in run):
        return Verdict()
    headed = [start for start in run if is_headed(start)]
    if headed and not run[0].depth and document.layout.headed_items >= FEWEST["item"]:
        # Items without a heading are lists within the answers, at a smaller indentation.
        return Verdict(tuple(with_rest(document, run, _with_next(run, headed))))
    if bullets := _counted_bullets(document, run):
        return Verdict(tuple(bullets))
    run = _without_remarks(run)
    items = [start for start in run if not is_only_link(start)]
    asking = {start for start in items if (start.asks and not _states_a_case(start)) or is_headed(start)}
    if _are_clicks(run):
        return Verdict()
    over = run[0].headings[-1].text if run[0].headings else ""
    if ends_asking(over) and not any(map(_demands_or_ends_asking, asking)):
        # Steps in the answer to the heading.
        return Verdict()
    answered = [start for start in asking if start.text]
    few = _SECTION if _are_all_of_a_section(run, asking) else FEWEST["item"]
    if len(asking) * 2 <= len(run) or not (answered or len(asking) >= few):
        return Verdict()
    if not answered and _TELLS_HOW.fullmatch(_filled_above(document, run[0].first)):
        return Verdict()
    over = document.source.line(run[0].first - 1).rstrip() if run[0].depth else ""
    if over.endswith(":") and not answered and not any(_demands_or_ends_asking(start) for start in asking):
        # `Have four options each` and `Are about week 1` continue the sentence, ending in a colon, above them.
        return Verdict()
    numbered = not run[0].depth and all(start.number for start in run)
    told = is_told(document, run) or is_sheet(document, run)
    counted = numbered and (told or _mostly_tasks(start for start in run if start not in asking))
    if len(asking) * 3 < len(run) * 2 and not counted:
        return split_run(run, asking)
    told_apart = _statements(document, run, asking)
    read = {start for start in items if start in asking or not _is_courtesy(start, run)}
    return split_run(run, read - told_apart)


def _counted_bullets(document: Document, run: list[Start]) -> list[Start]:
    """Returns the bullets that begin with a number, `* 7. What is a view?`, each with the bullets below it, if they
    count and most of them ask, and bullets without a number answer some."""
    counted = [start for start in run if is_count(start.stem.number)]
    if run[0].depth or len(counted) < _FEWEST_BULLETS or not len(counted) < len(run) <= len(counted) * 3:
        return []
    steps = sum(int(two.number) == int(one.number) + 1 for one, two in pairwise(counted))
    asking = sum(start.asks for start in counted)
    told = any(start.asks and ends_asking(start.stem.text) for start in run if start not in counted)
    if told or run[0] is not counted[0] or steps * 10 < (len(counted) - 1) * 9 or asking * 3 < len(counted) * 2:
        return []
    return list(with_rest(document, run, counted))


_CASE = re.compile(r"(?:you|if|when|while|since|unless)\b(?![^?]{0,2000}[?])", re.IGNORECASE)
"""The beginning of a sentence that states a case, without a question mark."""
_CLICKS = re.compile(r"→|\bclick\b|\bbutton\b|\bdashboard\b|\bmenu\b", re.IGNORECASE)


def _states_a_case(start: Start) -> bool:
    """Returns whether a bullet only says when something is so: `You cannot rely on it`, `If memory is short: …`."""
    return not start.number and _CASE.match(start.stem.text) is not None and not demands(start.stem.text)


def _are_clicks(run: list[Start]) -> bool:
    """Returns whether bullets are the steps through a user interface: half of them name what to click on."""
    clicks = sum(_CLICKS.search(start.stem.text) is not None for start in run)
    return clicks * 2 >= len(run) and not any(ends_asking(start.stem.text) for start in run)


_FEWEST_BULLETS = 5
_SECTION = 2
"""Fewest items without answers under a heading such as `Review questions`, each with a question mark."""


def _are_all_of_a_section(run: list[Start], asking: set[Start]) -> bool:
    """Returns whether numbered items under a heading that announces nothing but questions all end with one."""
    heading = run[0].headings[-1] if run[0].headings else None
    if heading is None or len(asking) != len(run) or not announces_only_questions(heading):
        return False
    return all(start.number and ends_asking(start.stem.text) for start in run)


_TELLS_HOW = re.compile(
    r"\W{0,20}(?:(?:exam |quiz |general )?(?:instructions|guidelines|rules|directions)|how to use(?: this\b.{0,30})?"
    r"|instrucciones|instruç[õo]es|consignes|anleitung|hinweise|istruzioni|инструкция|указания|说明|答题说明|注意事项"
    r"|petunjuk)\W{0,20}",
    re.IGNORECASE,
)
"""A line alone that announces how to answer, and no questions."""


def _filled_above(document: Document, line: int) -> str:
    """Returns the nearest line above one that is not blank."""
    above = (document.source.line(number).strip() for number in range(line - 1, max(line - 4, 0), -1))
    return next((text for text in above if text), "")


def _mostly_tasks(starts: Iterable[Start]) -> bool:
    """Returns whether nearly all items that do not ask set a task."""
    told = [sets_task(start.stem.text) or demands(start.stem.text) for start in starts]
    return len(told) >= _FEWEST_TASKS and sum(told) * 10 >= len(told) * 9


_FEWEST_TASKS = 3


def _statements(document: Document, run: list[Start], asking: set[Start]) -> set[Start]:
    """Returns the items of lists that stand apart from the others, and whose sentences state something."""
    gaps = [_stands_apart(document, before, start) for before, start in pairwise(run)]
    if sum(gaps) * 3 > len(gaps):
        # The items of one list stand apart too.
        return set()
    groups: list[list[Start]] = [[run[0]]]
    for start, apart in zip(run[1:], gaps, strict=True):
        if apart:
            groups.append([])
        groups[-1].append(start)
    few = (group for group in groups if sum(one in asking for one in group) * 2 < len(group))
    stating = (group for group in few if all(map(_states, group)))
    return {start for group in stating for start in group}


def _stands_apart(document: Document, before: Start, start: Start) -> bool:
    return any(not document.source.line(number).strip() for number in range(before.end + 1, start.first))


def _states(start: Start) -> bool:
    text = start.stem.text
    sentence = text.rstrip().endswith((".", "。")) and not (sets_task(text) or demands(text))
    return sentence and not start.text and not is_count(start.number)


def _without_remarks(run: list[Start]) -> list[Start]:
    """Returns the items without lists before the others whose numbers begin anew and in which nothing asks: remarks."""
    parts: list[list[Start]] = []
    for start in run:
        if not parts or (start.number == "1" and not start.depth):
            parts.append([])
        parts[-1].append(start)
    while len(parts) > 1 and parts[0][0].number == "1" and not any(map(_asks_or_says, parts[0])):
        del parts[0]
    return [start for part in parts for start in part]


def _demands_or_ends_asking(start: Start) -> bool:
    return ends_asking(start.stem.text) or demands(start.stem.text)


def _asks_or_says(start: Start) -> bool:
    return ends_asking(start.stem.text) or bool(start.text) or (start.bold and start.asks)


def _with_next(run: list[Start], headed: list[Start]) -> list[Start]:
    """Returns the items that begin with a heading, and each item right after one whose number is the next, if no other
    has that number."""
    taken = {start.number for start in headed}
    read: list[Start] = []
    before: Start | None = None
    for start in run:
        counts = before is not None and is_count(before.number) and is_count(start.number)
        goes_on = counts and before is not None and int(start.number) == int(before.number) + 1
        if start in headed or (goes_on and before in read and start.number not in taken and has_text(start)):
            read.append(start)
        before = start
    return read


def _is_courtesy(start: Start, run: list[Start]) -> bool:
    """Returns whether the last item of a list only thanks or refers to more."""
    return start is run[-1] and not start.text and count_words(start.stem.text) <= _COURTESY


_PUZZLES = re.compile(r"\bpuzzles\b", re.IGNORECASE)
"""A title that announces tasks in lines of their own; lists below it may be its rules."""


def _asking_lines(run: list[Start], *, told: bool) -> Verdict:
    lines = [line for _, below in groupby(run, key=lambda start: start.run) for line in _not_in_an_answer(list(below))]
    numbered = [start for start in lines if start.number]
    bare = [start for start in lines if not start.number and start.bold and start.asks]
    bare = [start for start in bare if not is_offer(start.stem.text)]
    bare = without_recurring(bare)
    read: list[Start] = []
    asking = sum(start.asks or (told and asks_or_demands(start.stem.text)) for start in numbered)
    if len(numbered) >= (1 if told else FEWEST["line"]) and asking * 2 > len(numbered):
        read += numbered
    if len(bare) >= FEWEST["line"]:
        read += bare
        leveled = [start for start in lines if start.stem.level and start.bold and not start.number]
        if sum(start.asks for start in leveled) * 3 >= len(leveled) * 2:
            # Where lines such as `**[Hard] Why …?**` ask, one that states what happens asks what to do.
            read += [start for start in leveled if start not in bare]
    return Verdict(tuple(sorted(read, key=lambda start: start.first)))


def _not_in_an_answer(lines: list[Start]) -> list[Start]:
    """Returns the lines under a heading, unless the heading asks and text before them begins its answer."""
    headings = lines[0].headings
    return [] if heading_asks(headings) and lines[0].above_first else lines


def _asking_folds(run: list[Start], told: bool) -> Verdict:
    folds = [start for start in run if not _lists_links(start)]
    asking = [start for start in folds if start.asks]
    if not asking or (heading_asks(run[0].headings) and len(asking) == 1):
        return Verdict()
    many = len(asking) > 1 and (len(asking) * 2 >= len(folds) if told else len(asking) * 3 >= len(folds) * 2)
    return Verdict(tuple(folds if many else asking))


def _lists_links(start: Start) -> bool:
    """Returns whether a fold holds nothing but lines with links, as a table of contents; a single link with no text
    around it may answer a question."""
    lines = [line for line in start.said.split("\n") if line.strip()]
    if len(lines) == 1 and ends_asking(start.stem.text) and _LINK_ALONE.fullmatch(lines[0]):
        return False
    return bool(lines) and all("](" in line or "<a " in line for line in lines)


_LINK_ALONE = re.compile(r"[ ]*\[[^\n]{1,300}\]\([^()\s]{1,500}\)[ ]*")
