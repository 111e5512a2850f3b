"""Builds the questions of a candidate: what most of them have in common decides how each is read."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from textwrap import dedent
from typing import TYPE_CHECKING

from questions.blocks import plain
from questions.patterns.answers import only_pictures, without_footer, without_separators
from questions.patterns.asides import with_asides
from questions.patterns.exams import is_exam
from questions.patterns.found_questions import FoundQuestion, add_question
from questions.patterns.options.choices import keys_are_numbers
from questions.patterns.options.marks import (
    bullet_options,
    bullets_offer,
    lists_are_to_choose,
    lists_ask_to_choose,
    lists_tell_to_choose,
    marking_signs,
    numbered_options,
    numbers_offer,
)
from questions.patterns.options.search import options_in
from questions.patterns.parts import Parts, are_graded, split_parts, with_tasks_answered
from questions.patterns.programs import asks_about_program, gives_data, show_results, without_program
from questions.patterns.quoted_answers import with_quoted_answers
from questions.patterns.starts.start import Start
from questions.patterns.transitions import find_transitions
from questions.source import Finding, trim
from questions.wording.imperatives import asks_on, asks_or_demands, demands_more, sets_task
from questions.wording.labels import is_question_word, names_exercises
from questions.wording.stems import asks_to_choose, ends_asking, is_task, reads_as_question

if TYPE_CHECKING:
    from collections.abc import Sequence

    from questions.blocks import Block
    from questions.document import Document, Draft
    from questions.patterns.candidates import Candidate


@dataclass(frozen=True, slots=True)
class _Form:
    """What most questions of a candidate have in common."""

    offering: bool
    """Options are right below them."""
    labeled: bool
    """They are headings, and answers with a label answer them."""
    mostly_labeled: bool
    """They are headings, and at least half of them have such an answer."""
    direct: bool
    """The label of the answer is right below each of them, also below those that only name a topic."""
    unanswered: bool
    """They are tasks or an exam, or known by a list of keys only: text below keeps asking."""
    exam: bool
    bulleted: bool
    """Plain lists below them are options."""
    chosen: bool
    """Plain lists below those that ask to choose are options."""
    numbered: bool
    """Numbered lists at the end of the text below them are options."""
    counted: bool
    """Their answers with a label are numbers of options."""
    signs: str
    """Signs that mark what is right in lists."""
    lines: frozenset[int]
    """First line of each question."""


def add_candidate(document: Document, draft: Draft, candidate: Candidate) -> None:
    """Adds the questions of a candidate, each up to the next, and findings for what it leaves out."""
    read = _split_all(document, candidate)
    form = _form_of(document, candidate, read)
    few = candidate.kind == "item" and sum(bool(parts.answer) for parts in read) * _MANY <= len(read)
    for start, parts in zip(candidate.read, read, strict=True):
        asked_below = _is_task_below(start) or (form.mostly_labeled and _asks_in_its_text(start, parts))
        if form.direct and asked_below and not _is_task_below(start):
            asked_below = not _TERM.match(parts.answer) and asks_or_demands(parts.answer)
        offers = (form.numbered and _offers_otherwise(parts)) or (few and _offers_without_key(parts))
        if form.unanswered or asked_below or offers:
            parts = _with_text_asked(parts)
        add_question(document, draft, _found(start, parts, form))
        if form.labeled and not parts.labeled and draft.questions[-1].answer:
            draft.findings.append(_unlabeled(document, start))
    draft.findings += [_skipped(document, start) for start in candidate.left]
    unsure = candidate.kind == "heading" and candidate.reason == "asking"
    if unsure and not any(ends_asking(start.stem.text) for start in candidate.read):
        draft.findings.append(_unsure(document, candidate))


def _split_all(document: Document, candidate: Candidate) -> list[Parts]:
    """Returns the parts of each question, which ends where the next one begins."""
    starts = _with_all_asked(with_asides(candidate.read))
    titled, mostly_bare = candidate.reason == "titled", _are_mostly_bare(starts)
    limits = [*(min(start.end, following.first - 1) for start, following in pairwise(starts)), starts[-1].end]
    rules = find_transitions(starts)
    read: list[Parts] = []
    for start, limit in zip(starts, limits, strict=True):
        rule = rules.get(start.first, limit + 1)
        end, is_last = min(rule - 1, limit), start is starts[-1] and rule > limit
        parts = split_parts(document, start, end, titled=titled, is_last=is_last, mostly_bare=mostly_bare)
        below = tuple(block for block in start.body if rule < block.first <= limit)
        below = without_footer(without_separators(below)) if start is starts[-1] else without_separators(below)
        parts = _answered_below(document, parts, below) if below else parts
        read.append(_with_line_asked(parts, bare=mostly_bare) if start.kind == "item" else parts)
    if candidate.kind == "label":
        read = with_tasks_answered(with_quoted_answers(read))
    if candidate.reason == "labeled":
        read = _with_tasks_below_names(starts, read)
    return [_with_program_asked(parts) for parts in _with_tasks_asked(starts, read)]


def _with_tasks_below_names(starts: Sequence[Start], read: list[Parts]) -> list[Parts]:
    """Returns the parts of questions with labels; where most only name a topic (`Question 4: String formatting`), and
    the text below most of these asks or sets a task, that text asks."""
    named = [
        bool(start.stem.text and parts.answer) and not (parts.labeled or start.asks or asks_or_demands(parts.prompt))
        for start, parts in zip(starts, read, strict=True)
    ]
    asks = [names and _asks_below(parts.answer) for names, parts in zip(named, read, strict=True)]
    most = sum(named) * 3 >= len(read) * 2 and sum(asks) * 3 >= sum(named) * 2
    if not most or len(read) < _FEWEST_NAMED or any(parts.labeled for parts in read):
        return read
    return [
        parts._replace(
            prompt=parts.answer if is_question_word(parts.prompt) else f"{parts.prompt}\n\n{parts.answer}", answer=""
        )
        if goes_on
        else parts
        for parts, goes_on in zip(read, asks, strict=True)
    ]


_FEWEST_NAMED = 2
_LABEL_FIRST = re.compile(r"(?P<mark>[*_]{1,3})[^\W\d][\w ]{2,30}(?:[:：](?P=mark)|(?P=mark)[:：])[ ]*")
"""A label in emphasis before a text: `**Instructions**:`, `*Scenario:*`."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。？！])")


def _asks_below(text: str) -> bool:
    """Returns whether the first paragraph of a text begins with a task, or ends in a question, or asks twice."""
    first = _LABEL_FIRST.sub("", text.partition("\n\n")[0].strip(), count=1).strip("*_ \n")
    sentences = [sentence for sentence in _SENTENCE.split(first[:_LONGEST_FIRST]) if sentence]
    asking = sum(map(asks_or_demands, sentences))
    return bool(sentences) and (sets_task(first) or asks_on(sentences[0]) or ends_asking(first) or asking > 1)


_LONGEST_FIRST = 2000
"""Length to which a paragraph is searched for sentences that ask, characters."""


def _with_all_asked(starts: Sequence[Start]) -> Sequence[Start]:
    """Returns the starts; where the others are answered by text below them, `What is a join? Give examples.` asks as a
    whole."""
    starts = _with_lines_asked(starts)
    others = [start for start in starts if not _demands_more(start)]
    below = sum(bool(start.body) and not start.said for start in others)
    if len(others) == len(starts) or below < _FEWEST_BELOW or below * 10 < len(others) * _BELOW:
        return starts
    return [
        replace(start, stem=start.stem._replace(text=f"{start.stem.text} {start.said}"), said="")
        if _demands_more(start)
        else start
        for start in starts
    ]


def _with_lines_asked(starts: Sequence[Start]) -> Sequence[Start]:
    """Returns the starts; where hardly any is answered in its own line, a sentence there that asks for more and has
    nothing below it belongs to the question: `What is a view? Explain why.`"""
    on = [not one.body and len(one.said) <= _LONGEST_LINE and one.asks and asks_on(one.said) for one in starts]
    said = sum(bool(one.said) and not goes for one, goes in zip(starts, on, strict=True))
    if not any(on) or len(starts) < _FEWEST_LINES or said * _MANY > len(starts):
        return starts
    return [
        replace(one, stem=one.stem._replace(text=f"{one.stem.text} {one.said}"), said="") if goes else one
        for one, goes in zip(starts, on, strict=True)
    ]


def _with_line_asked(parts: Parts, *, bare: bool) -> Parts:
    """Returns the parts of an item; a line that asks right below it is a second question and no answer, if it is the
    only one, or if most items are `bare`."""
    first, _, below = parts.answer.partition("\n")
    alone = bool(parts.answer) and not parts.labeled and (not below or (bare and "\n\n" not in parts.answer))
    asks = alone and first[0].isupper() and len(first.split()) >= _WORDS and ends_asking(first)
    return parts._replace(prompt=f"{parts.prompt}\n{parts.answer}", answer="") if asks else parts


def _with_tasks_asked(starts: Sequence[Start], read: list[Parts]) -> list[Parts]:
    """Returns the parts of questions below headings with their numbers only; where few have a paragraph that sets a
    task as all of their answer, it keeps asking."""
    asks = [
        start.kind == "heading" and not start.stem.text and _is_task(parts)
        for start, parts in zip(starts, read, strict=True)
    ]
    if sum(asks) * _FEW > len(read):
        return read
    return [
        parts._replace(prompt=f"{parts.prompt}\n\n{parts.answer}", answer="") if goes_on else parts
        for parts, goes_on in zip(read, asks, strict=True)
    ]


def _is_task(parts: Parts) -> bool:
    alone = bool(parts.answer) and "\n\n" not in parts.answer and not parts.labeled
    return alone and len(parts.answer) <= _LONGEST_TASK and parts.answer[0].isupper() and sets_task(parts.answer)


_FEW = 4
"""One question in this many may continue a task."""
_LONGEST_TASK = 400
"""Length of a paragraph that keeps asking, characters."""
_WORDS = 4
"""Fewest words of a line that is a question of its own."""
_FEWEST_LINES = 5
_LONGEST_LINE = 200
"""Length of a line that keeps asking, characters."""


def _demands_more(start: Start) -> bool:
    return bool(start.body and start.said) and len(start.said) <= _LONGEST_DEMAND and demands_more(start.said)


_FEWEST_BELOW = 3
_BELOW = 7
"""Of ten others, as many have all of their answer below them where this is the rule."""
_LONGEST_DEMAND = 80
"""Length of a sentence that keeps asking, characters."""


def _answered_below(document: Document, parts: Parts, below: tuple[Block, ...]) -> Parts:
    """Returns the parts of a question whose answer is below a rule."""
    prompt = "\n\n".join(part for part in (parts.prompt, parts.answer) if part)
    last = below[-1].last
    return parts._replace(last=last, prompt=prompt, answer=document.source.text(below[0].first, last))


_RULE = re.compile(r"[ ]{0,3}(?:-{3,}|\*{3,})[ \t]*\n")


def _with_program_asked(parts: Parts) -> Parts:
    """Returns the parts with the program that a question asks about as the end of the prompt, not as the answer."""
    if parts.labeled or not parts.answer:
        return parts
    program, below = without_program(parts.answer)
    if not program or not (asks_about_program(parts.prompt) or gives_data(parts.prompt, program)):
        return parts
    if program.startswith(" ") and program.lstrip().startswith(("```", "~~~")):
        program = dedent(program)
    if sets_task(below) and not ends_asking(parts.prompt):
        # What is to be done with the program.
        return parts._replace(prompt=f"{parts.prompt}\n\n{program}\n\n{below}", answer="")
    return parts._replace(
        prompt=f"{parts.prompt}\n\n{program}",
        answer=trim(_RULE.sub("", below, count=1) if _RULE.match(below) else below),
    )


def _form_of(document: Document, candidate: Candidate, read: list[Parts]) -> _Form:
    starts, headings, labeled = candidate.read, candidate.kind == "heading", candidate.reason == "labeled"
    signs = marking_signs(one.answer for one in read)
    bullets = [None if one.labeled else bullet_options(one.answer, signs) for one in read]
    prompts = [one.prompt for one in read]
    work = (headings and labeled and _is_work(document, starts)) or _is_checked_work(document, starts)
    work = work or show_results([one.answer for one in read if not one.labeled])
    work = work or (names_exercises(document.title) and _are_mostly_silent(read))
    exam = labeled and is_exam([(start.stem.text, *_shown(one)) for start, one in zip(starts, read, strict=True)])
    exam = exam or (labeled and are_graded(starts, read))
    return _Form(
        offering=_mostly_offers(starts),
        labeled=headings and candidate.reason == "answered" and any(start.answer for start in starts),
        mostly_labeled=headings and _mostly_labeled(starts),
        direct=headings and _are_answered_directly(starts, read),
        unanswered=exam or candidate.reason == "keyed" or work or _are_stated_below(read),
        exam=exam,
        bulleted=bullets_offer(bullets)
        or lists_tell_to_choose(bullets, prompts)
        or lists_are_to_choose(bullets, prompts),
        chosen=lists_ask_to_choose(bullets, prompts),
        numbered=numbers_offer([None if one.labeled else numbered_options(one.answer) for one in read], prompts),
        counted=keys_are_numbers([(one.prompt, one.answer) for one in read if one.labeled]),
        signs=signs,
        lines=candidate.lines,
    )


def _found(start: Start, parts: Parts, form: _Form) -> FoundQuestion:
    return FoundQuestion(
        first=start.first,
        last=parts.last,
        prompt="\n\n".join(part for part in (start.given, parts.prompt) if part),
        answer=parts.answer,
        section=tuple(plain(block.text) for block in start.headings if block.first not in form.lines),
        labeled=parts.labeled,
        number=start.number,
        title=parts.title,
        level=parts.level or start.stem.level,
        links=start.stem.links,
        tags=parts.tags or start.tags,
        offering=form.offering,
        bulleted=form.bulleted or (form.chosen and asks_to_choose(parts.prompt)) or _offers_what_follows(parts),
        numbered=form.numbered,
        counted=form.counted,
        signs=form.signs,
        exam=form.exam,
        asked=_asking_lines(start),
    )


def _with_text_asked(parts: Parts) -> Parts:
    """Returns the parts with an answer that has no label as the end of the prompt."""
    if parts.labeled or not parts.answer:
        return parts
    return parts._replace(prompt="\n\n".join((parts.prompt, parts.answer)), answer="")


def _asks_in_its_text(start: Start, parts: Parts) -> bool:
    """Returns whether a title without an answer label, among questions with one, is followed by the question."""
    return start.kind == "heading" and not start.asks and not parts.title


def _is_task_below(start: Start) -> bool:
    """Returns whether a line such as `Exercise 1: Lists` only names a task, so that the text below it sets the task."""
    if start.kind not in ("heading", "line") or start.block is None or not is_task(start.block.text):
        return False
    below = start.body[0].kind if start.body else ""
    return below in ("paragraph", "list") and not (start.asks or sets_task(start.stem.text))


def _offers_otherwise(parts: Parts) -> bool:
    """Returns whether a question asks to choose, and the text below it is not a numbered list as it is elsewhere."""
    return asks_to_choose(parts.prompt) and numbered_options(parts.answer) is None


def _offers_without_key(parts: Parts) -> bool:
    """Returns whether a question asks to choose and all that is below it is a plain list: among questions that
    hardly any text answers, what to choose from."""
    listed = None if parts.labeled or not asks_to_choose(parts.prompt) else bullet_options(parts.answer)
    return listed is not None and not any(option.marked for option in listed[0].options)


_FOLLOWING = re.compile(
    r"\b(?:(?:which|what) (?:one )?(?:of )?the following|(?:cuál|cuáles) de l[ao]s siguientes"
    r"|qua(?:l|is) d[ao]s seguintes|welche[rs]? der folgenden|qual[ei] de(?:i|lle|gli) seguenti"
    r"|как(?:ой|ая|ие|ое) из следующих)\b"
    r"|parmi les .{1,40} suivante?s|l(?:es)?quel(?:le)?s? des .{1,40} suivante?s|(?:以下|下列)(?:的|选项中|選項中)?哪",
    re.IGNORECASE,
)


def _offers_what_follows(parts: Parts) -> bool:
    """Returns whether a question ends by asking which of the following is right, and all that is below it is a plain
    list: what to choose from."""
    if parts.labeled or not _FOLLOWING.search(parts.prompt.rpartition("\n")[2]):
        return False
    lettered = options_in(parts.answer.split("\n")) is not None
    listed = None if lettered else bullet_options(parts.answer)
    options = listed[0].options if listed and listed[0].kind == "bullet" else ()
    return len(options) >= _FEWEST_OFFERED and not any(
        one.marked or len(one.text) > _LONGEST_OFFERED for one in options
    )


_FEWEST_OFFERED = 3
_LONGEST_OFFERED = 200
"""Length of an item that may be an option, characters."""


def _shown(parts: Parts) -> tuple[str, bool]:
    """Returns the text that may end in options, and whether an answer has a label, which a picture is not."""
    if parts.labeled and only_pictures(parts.answer):
        return parts.prompt, False
    return parts.answer or parts.prompt, parts.labeled


def _is_work(document: Document, starts: tuple[Start, ...]) -> bool:
    """Returns whether headings only name tasks, which the text below them sets: homework without answers."""
    silent = not any(start.answer is not None or ends_asking(start.stem.text) for start in starts)
    tasks = sum(any(map(sets_task, _first_lines(start))) for start in starts) * 3 >= len(starts) * 2
    named = len(starts) >= _FEWEST_TASKS and all(start.stem.text and not start.asks for start in starts)
    bare = len(starts) >= _FEWEST_TASKS and all(map(_only_names_a_task, starts))
    return silent and (names_exercises(document.title) or ((named or bare) and tasks))


def _only_names_a_task(start: Start) -> bool:
    """Returns whether a heading is nothing but a word for a task and its number: `Exercise A2`."""
    return not start.stem.text and start.block is not None and is_task(start.block.text)


_STATEMENT = re.compile(
    r"(?m)^[ ]{0,3}(?:\*\*|__)(?:problem|task|exercise|challenge)(?:[ ](?:statement|description))?:?(?:\*\*|__):?[ ]*$",
    re.IGNORECASE,
)
"""A line that announces a task in the text below a title."""


def _are_stated_below(read: Sequence[Parts]) -> bool:
    """Returns whether nearly all texts below titles state a task, `**Problem Statement**`, and nothing marks an
    answer."""
    stated = sum(_STATEMENT.search(parts.answer) is not None for parts in read)
    return len(read) >= _FEWEST_TASKS and stated * 10 >= len(read) * 9 and not any(parts.labeled for parts in read)


def _are_mostly_silent(read: Sequence[Parts]) -> bool:
    """Returns whether most tasks of a sheet have no text below them, so that what others have belongs to them."""
    return sum(not parts.answer for parts in read) * 2 > len(read) and not any(parts.labeled for parts in read)


_HELP = re.compile(
    r"(?m)^[ ]*\*\*(?:hints?|tips?|check|verif(?:y|ication)|sugestie|indica(?:ție|tie)|verificare|hinweise?|tipp"
    r"|prüfung|pistas?|indices?|vérification|comprobación|dica|verificação|suggerimento|verifica|подсказка|проверка|提示|检查"
    r"|验证)(?::\*\*|\*\*:)",
    re.IGNORECASE,
)


def _is_checked_work(document: Document, starts: tuple[Start, ...]) -> bool:
    """Returns whether the items of a document of exercises have hints and checks instead of answers: what is below
    an item belongs to its task."""
    if len(starts) < _FEWEST_TASKS or starts[0].kind != "item" or not names_exercises(document.title):
        return False
    helped = sum(_HELP.search(start.text) is not None for start in starts)
    return helped >= _FEWEST_TASKS and not any(start.answer is not None for start in starts)


_FEWEST_TASKS = 3
_MOST_LINES = 8


def _first_lines(start: Start) -> list[str]:
    """Returns the first lines below a heading, without markers of lists and programs."""
    lines = (line.strip(" *-0123456789.):>🧠🎯#") for line in start.text.split("\n"))
    return [line for line in lines if line and line[0] not in "`~!|"][:_MOST_LINES]


def _asking_lines(start: Start) -> tuple[int, int]:
    first = start.last if start.kind == "label" else start.first
    return first, start.last if start.kind == "heading" else first


def _mostly_labeled(starts: tuple[Start, ...]) -> bool:
    return sum(start.answer is not None for start in starts) * 2 >= len(starts) > 1


def _are_answered_directly(starts: tuple[Start, ...], read: list[Parts]) -> bool:
    """Returns whether no text is between a heading and the label of its answer, even where a heading only names
    its topic: text below a heading without a label then answers it too, unless it asks."""
    labeled = [(start, parts) for start, parts in zip(starts, read, strict=True) if parts.labeled]
    topics = sum(not start.asks for start, _ in labeled)
    direct = all(parts.prompt == start.stem.text for start, parts in labeled)
    return direct and topics >= _FEWEST_TOPICS and len(labeled) * 2 >= len(starts)


_FEWEST_TOPICS = 2
"""Fewest headings with an answer label that only name a topic."""
_TERM = re.compile(r"(?:[-*+][ ]|\d{1,2}[.)][ ])?\*\*[^*\n]{1,60}\*\*")
"""A term in bold, which the text behind it explains."""


def _mostly_offers(starts: tuple[Start, ...]) -> bool:
    """Returns whether most questions have options right below them."""
    return sum(start.offers for start in starts) * 2 > len(starts) > 1


def _are_mostly_bare(starts: Sequence[Start]) -> bool:
    """Returns whether most questions of a list have no text below them, so that what others have may keep asking."""
    said = [start.said for start in starts if start.said]
    asks = sum(map(reads_as_question, said)) * 3 >= len(said)
    # Where nothing is answered, the few lines that continue after a question keep asking: `What is a heap? Examples.`
    aside = any(text.startswith(("(", "（")) for text in said)
    asks = asks or not (aside or len(said) * _MANY > len(starts) or any(start.body for start in starts))
    return len(starts) > 4 and sum(not start.text for start in starts) * 10 >= len(starts) * 7 and asks


_MANY = 10
"""In a list of questions, one line in this many may continue the question above."""


def _unlabeled(document: Document, start: Start) -> Finding:
    return Finding(
        "Q102",
        "warning",
        "the answer has no label, unlike the others",
        document.source.span(start.first, start.last),
        note="everything below the heading was read as the answer",
        help="write `**Answer:**` before it",
    )


def _skipped(document: Document, start: Start) -> Finding:
    return Finding(
        "Q103",
        "warning",
        "this item is in a list of questions but asks nothing",
        document.source.span(start.first),
        note="it was left out",
        help="make the question bold, or move the item out of the list",
        skipped=True,
    )


def _unsure(document: Document, candidate: Candidate) -> Finding:
    start = candidate.read[0]
    return Finding(
        "Q104",
        "note",
        "these headings were read as questions, although none ends with a question mark",
        document.source.span(start.first),
        note=f"{len(candidate.read)} headings; this is the first",
        help="add question marks, or remove the numbers from headings that are not questions",
    )
