"""Builds questions from the places that inference chose: prompt, options, answer, number, level."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from questions.blocks import content_column, dedent_all, plain
from questions.keypoints import key_points_of
from questions.labels import (
    begins_with_placeholder,
    is_placeholder,
    is_question_heading,
    label_of,
    names_exercises,
    text_after,
)
from questions.model import Question
from questions.patterns.answers import (
    FoundAnswer,
    find_answer,
    last_of_text,
    only_pictures,
    without_footer,
    without_front_matter,
    without_promotion,
    without_rules,
)
from questions.patterns.choices import bulleted_choice, find_choice, only_says_type, only_shows
from questions.patterns.exams import are_parts, is_exam
from questions.patterns.imperatives import sets_task
from questions.patterns.marks import (
    bullet_options,
    bullets_offer,
    lists_ask_to_choose,
    lists_tell_to_choose,
    marking_signs,
)
from questions.patterns.option_tables import with_table_options
from questions.patterns.options import RIGHT_AFTER, options_in
from questions.patterns.start import Start
from questions.patterns.stems import (
    POINTS,
    asks_to_choose,
    ends_asking,
    level_of,
    level_under,
    reads_as_question,
    unbold,
)
from questions.source import Finding, trim

if TYPE_CHECKING:
    from collections.abc import Sequence

    from questions.blocks import Block
    from questions.document import Document, Draft
    from questions.model import Level
    from questions.patterns.candidates import Candidate
    from questions.patterns.choices import ChoiceParts, KeyProblem
    from questions.source import Source, Span


class _Parts(NamedTuple):
    """A question before its options are read."""

    last: int
    prompt: str
    answer: str
    labeled: bool
    title: str = ""
    level: Level | None = None
    tags: tuple[str, ...] = ()


def add_candidate(document: Document, draft: Draft, candidate: Candidate) -> None:
    """Adds the questions of a candidate, each up to the next, and findings for what it leaves out."""
    starts = candidate.read
    lines = candidate.lines
    offering = _mostly_offers(starts)
    labeled = candidate.reason == "answered" and any(start.answer for start in starts)
    mostly_labeled = candidate.kind == "heading" and _mostly_labeled(starts)
    mostly_bare = _are_mostly_bare(starts)
    read = [
        _parts(
            document,
            start,
            min(start.end, following.first - 1) if following else start.end,
            candidate,
            is_last=following is None,
            mostly_bare=mostly_bare,
        )
        for start, following in zip(starts, [*starts[1:], None], strict=True)
    ]
    signs = marking_signs(one.answer for one in read)
    bullets = [None if one.labeled else bullet_options(one.answer, signs) for one in read]
    prompts = [one.prompt for one in read]
    bulleted = bullets_offer(bullets) or lists_tell_to_choose(bullets, prompts)
    chosen = lists_ask_to_choose(bullets, prompts)
    work = candidate.kind == "heading" and candidate.reason == "labeled" and _is_work(document, starts)
    shown = [(start.stem.text, *_shown(one)) for start, one in zip(starts, read, strict=True)]
    exam = candidate.reason == "labeled" and is_exam(shown)
    for start, parts in zip(starts, read, strict=True):
        if (work or exam or candidate.reason == "keyed") and not parts.labeled and parts.answer:
            parts = parts._replace(prompt="\n\n".join((parts.prompt, parts.answer)), answer="")
        if mostly_labeled and not parts.labeled and parts.answer and _asks_in_its_text(start, parts):
            parts = parts._replace(prompt="\n\n".join((parts.prompt, parts.answer)), answer="")
        found = FoundQuestion(
            first=start.first,
            last=parts.last,
            prompt="\n\n".join(part for part in (start.given, parts.prompt) if part),
            answer=parts.answer,
            section=tuple(plain(block.text) for block in start.headings if block.first not in lines),
            labeled=parts.labeled,
            number=start.number,
            title=parts.title,
            level=parts.level or start.stem.level,
            links=start.stem.links,
            tags=parts.tags,
            offering=offering,
            bulleted=bulleted or (chosen and asks_to_choose(parts.prompt)),
            signs=signs,
            exam=exam,
            asked=_asking_lines(start),
        )
        add_question(document, draft, found)
        if candidate.kind == "heading" and labeled and not parts.labeled and draft.questions[-1].answer:
            draft.findings.append(_unlabeled(document, start))
    draft.findings += [_skipped(document, start) for start in candidate.left]
    unsure = candidate.kind == "heading" and candidate.reason == "asking"
    if unsure and not any(ends_asking(start.stem.text) for start in starts):
        draft.findings.append(_unsure(document, candidate))


def _shown(parts: _Parts) -> tuple[str, bool]:
    """Returns the text that may end in options, and whether an answer has a label; a picture of the key is none."""
    if parts.labeled and only_pictures(parts.answer):
        return parts.prompt, False
    return parts.answer or parts.prompt, parts.labeled


def _is_work(document: Document, starts: tuple[Start, ...]) -> bool:
    """Returns whether headings only name tasks, which the text below them sets: homework without answers."""
    silent = not any(start.answer is not None or ends_asking(start.stem.text) for start in starts)
    tasks = sum(any(map(sets_task, _first_lines(start))) for start in starts) * 3 >= len(starts) * 2
    named = len(starts) >= _FEWEST_TASKS and all(start.stem.text and not start.asks for start in starts)
    return silent and (names_exercises(document.title) or (named and tasks))


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


def _mostly_offers(starts: tuple[Start, ...]) -> bool:
    """Returns whether most questions have options right below them."""
    return sum(start.offers for start in starts) * 2 > len(starts) > 1


def _are_mostly_bare(starts: Sequence[Start]) -> bool:
    """Returns whether most questions of a list have no text below them, so that what others have may go on asking."""
    said = [start.said for start in starts if start.said]
    asks = sum(map(reads_as_question, said)) * 3 >= len(said)
    return len(starts) > 4 and sum(not start.text for start in starts) * 10 >= len(starts) * 7 and asks


def _parts(
    document: Document, start: Start, limit: int, candidate: Candidate, *, is_last: bool, mostly_bare: bool
) -> _Parts:
    """Splits the lines of a start into prompt and answer."""
    if start.label is not None:
        return _of_label(document, start, limit)
    if start.fold is not None:
        return _Parts(start.end, start.stem.text, start.said, labeled=False)
    body = _body(document, start, limit, is_last=is_last)
    last = body[-1].last if body else max(start.last, min(start.own_last, limit))
    own = (start.block, *body) if start.kind in ("line", "paragraph") and start.block else body
    answer = start.answer if start.kind == "item" else find_answer(document, own, first=start.last + 1)
    if answer and answer.first > last:
        answer = None
    first, meta = _meta(document, start, body)
    if start.kind == "heading" and _END_TAG.fullmatch(document.source.line(first)):
        # A tag around the heading ends in the next line.
        first += 1
    before = _text(document, start, first, answer.first - 1 if answer else last)
    folded = answer is not None and answer.first == start.first
    shown = "\n\n".join(part for part in (start.said, before) if part) if not folded else ""
    title, stem = start.title, start.stem.text
    if meta.asked or candidate.reason == "titled":
        title, stem = stem, ""
    if answer:
        shown = _OPEN_TAGS.sub("", shown)
        prompt = "\n\n".join(part for part in (stem, shown if stem else _unbold_first(shown)) if part)
        return _Parts(last, prompt, answer.text, True, title, meta.level, meta.tags)
    if not title and _is_title(start, body, first):
        title, stem = stem, ""
    if not stem and start.kind == "line" and start.block and start.block.last > start.last:
        # The rest of the paragraph below a line that is only a number.
        stem = _text(document, start, first, start.block.last)
        shown = _text(document, start, start.block.last + 1, last)
    elif not stem:
        asked = next((block for block in body if block.first >= first and not _POINTS.fullmatch(block.text)), None)
        first = asked.first if asked else first
        if asked and start.kind == "heading" and not ends_asking(asked.text):
            asked = _asked_after(asked, body)
        end = asked.last if asked else first - 1
        stem = _unbold_first(_text(document, start, first, end))
        shown = _text(document, start, end + 1, last)
    if mostly_bare and not is_last and start.kind == "item" and _is_section_title(document, start, last):
        return _Parts(start.last, stem, "", False, title, meta.level, meta.tags)
    if _belongs_to_prompt(start, body, shown, mostly_bare=mostly_bare):
        return _Parts(last, "\n\n".join((stem, shown)), "", False, title, meta.level, meta.tags)
    return _Parts(last, stem, shown, False, title, meta.level, meta.tags)


def _asked_after(given: Block, body: tuple[Block, ...]) -> Block:
    """Returns the paragraph that asks after what is given, at its end or to choose from a list below; or `given`."""
    only_given = not reads_as_question(given.text)
    for block, below in zip(body, (*body[1:], None), strict=True):
        if block.kind != "paragraph" or block.first <= given.first:
            continue
        lists = below is not None and below.kind in ("list", "html")
        if (lists and asks_to_choose(block.text)) or (only_given and ends_asking(block.text)):
            return block
    return given


def _is_section_title(document: Document, start: Start, last: int) -> bool:
    """Returns whether all that stands below an item is a line of its own, at the margin and without an end of a
    sentence, that names the items below it."""
    below = [line for number in range(start.last + 1, last + 1) if (line := document.source.line(number)).strip()]
    if start.said or len(below) != 1:
        return False
    return below[0][:1].isalpha() and not below[0].rstrip().endswith((".", "?", "!", ":", ";", ",", "。"))


_POINTS = re.compile(rf"[*_(\[]{{0,4}}{POINTS}[.*_)\]]{{0,4}}", re.IGNORECASE)
"""A paragraph that only says how many points a question earns."""
_END_TAG = re.compile(r"[ ]*</(?:a|span|b|strong|font|center)>[ ]*", re.IGNORECASE)
_OPEN_TAGS = re.compile(r"(?:(?:^|\n)[ ]{0,8}<(?:div|p|span|section)\b[^<>\n]{0,200}>[ \t\n]{0,8})+$")
"""HTML at the end of a prompt that only opens what is around the answer."""


def _of_label(document: Document, start: Start, limit: int) -> _Parts:
    label, last = start.label, min(start.end, limit)
    # What stands above the next label in its own paragraph, such as a source, belongs to the next question.
    body = [block for block in start.body if block.last <= last or (label and block.first <= label.line)]
    if body and len(body) < len(start.body):
        last = min(last, max(block.last for block in without_rules(tuple(body))))
    answers = [
        one
        for block in body
        for one in document.labels(block)
        if label and label.line < one.line <= last and one.role != "question"
    ]
    answer = next((one for one in answers if one.role == "answer"), answers[0] if answers else None)
    found = find_answer(document, tuple(body)) if answer is None else None
    if answer is not None:
        found = FoundAnswer(text_after(document.source, answer, last), answer.line)
    before = found.first - 1 if found else last
    prompt = unbold(text_after(document.source, label, before)) if label else ""
    if label and found is None:
        asked, said = _parted_below(prompt, closed=bool(label.closing))
        return _Parts(last, asked, said, False, start.title)
    return _Parts(last, prompt, found.text if found else "", True, start.title)


_ARROW = re.compile(r"(?:[→➜➡⇒]\ufe0f?|[-=]>(?=[ ]))[ ]*")
_SAYS = re.compile(r"(?:>[ ]?)?(?:[→➜➡⇒]|[-=]>[ ]|\*\*|`(?!`)|[^\W\d_](?![).])|[\"'“])")
"""Beginning of a paragraph that may answer; programs, lists, tables and pictures may be part of the question."""


_LISTS = re.compile(r"[-*+][ \t]+\S|\((?!\w{1,2}\))")
"""Beginning of a list or an aside, which answers a question in bold that ends in its own line."""


def _parted_below(text: str, *, closed: bool) -> tuple[str, str]:
    """Returns the line that asks and the paragraphs below it, if they answer it without a label.

    `closed`: whether emphasis ends with the line that asks.
    """
    first, _, below = text.partition("\n")
    said = trim(below)
    opening = said.partition("\n")[0]
    lists = closed and ends_asking(first) and _LISTS.match(opening) is not None and options_in(said.split("\n")) is None
    apart = below.startswith("\n") and reads_as_question(first)
    if not (closed or apart or ends_asking(first) or opening.startswith("**")) or not (lists or _SAYS.match(opening)):
        return text, ""
    if any(map(ends_asking, said.split("\n\n"))):
        return text, ""
    arrow = _ARROW.match(said)
    return unbold(first), said[arrow.end() :] if arrow else said


def _body(document: Document, start: Start, limit: int, *, is_last: bool) -> tuple[Block, ...]:
    body = start.body
    if body and body[-1].first > limit:
        body = tuple(block for block in body if block.first <= limit)
    if start.kind == "heading":
        body = without_rules(without_front_matter(document.source, body))
        return without_footer(body) if is_last or limit == start.end else body
    return body


def _text(document: Document, start: Start, first: int, last: int) -> str:
    if start.kind != "item":
        return document.source.text(first, last)
    own, column = start.block.last if start.block else last, _column_of(start)
    if last <= own:
        return _text_of(document, first, last, column)
    # What follows an item and belongs to it is indented less, or not at all.
    below = [line for line in map(document.source.line, range(max(first, own + 1), last + 1)) if line.strip()]
    less = min((len(line) - len(line.lstrip(" ")) for line in below), default=0)
    parts = [_text_of(document, first, own, column)] if first <= own else []
    parts.append(_text_of(document, max(first, own + 1), last, min(less, column)))
    return "\n\n".join(part for part in parts if part)


def _text_of(document: Document, first: int, last: int, column: int) -> str:
    """Returns the Markdown of some lines of a list item without its indentation."""
    lines = (document.source.line(number) for number in range(first, last + 1))
    return "\n".join(dedent_all(lines, column)).strip("\n").rstrip()


def _column_of(start: Start) -> int:
    """Returns the column where the text of an item starts."""
    return content_column(start.document.source.line(start.first)) if start.document else 0


def _unbold_first(asked: str) -> str:
    """Returns the text with its first paragraph freed from bold marks around all of it."""
    first, gap, others = asked.partition("\n\n")
    return unbold(first) + gap + others


# What stands before the prompt: type, level, tags, and a heading `Question`

_META = re.compile(
    r"[ ]{0,3}(?:[-*+][ ]+)?(?P<open>\*{1,2}|_{1,2})?(?P<word>type|question type|difficulty|level|tags?|topics?"
    r"|category|categor[ií]a|catégorie|kategorie?|categoria|категория|points?|score|marks"
    r"|tipo|dificultad|nivel|etiquetas|tema|puntos|dificuldade|nível|niveau|difficulté|schwierigkeit|thema"
    r"|punkte|сложность|уровень|тема"
    r"|тип|теги|类型|題型|题型|难度|難度|标签|標籤|知识点|考点|分值|難易度|分野|유형|난이도|태그"
    r"|분류)[ ]?(?:[:：](?P=open)?|(?P=open)[:：])[ ]*"
    r"(?P<value>\S.{0,200}?)[ ]*(?:\*{2})?$",
    re.IGNORECASE,
)
_LEVEL_META = re.compile(
    r"difficulty|level|dificult?ad|nivel|nível|dificuldade|niveau|difficult|schwierigkeit|сложность|уровень"
    r"|难度|難度|難易度|난이도",
    re.IGNORECASE,
)


class _Meta(NamedTuple):
    level: Level | None = None
    tags: tuple[str, ...] = ()
    asked: bool = False
    """Whether a heading or label `Question` stands before the prompt."""


def _meta(document: Document, start: Start, body: tuple[Block, ...]) -> tuple[int, _Meta]:
    """Returns the first line of the prompt below a heading, and what stands before it."""
    first, meta = start.last + 1, _Meta()
    if start.kind != "heading":
        return first, meta
    for block in body:
        if block.kind == "paragraph":
            found = [_META.fullmatch(document.source.line(n)) for n in range(block.first, block.last + 1)]
            if not all(found):
                break
            for one in found:
                if one and _LEVEL_META.fullmatch(one["word"]):
                    meta = meta._replace(level=meta.level or level_of(one["value"]))
                if one:
                    values = tuple(word for raw in re.split("[,，、;/]", one["value"]) if (word := plain(raw).strip()))
                    meta = meta._replace(tags=(*meta.tags, *values))
            first = block.last + 1
        elif is_question_heading(block):
            return block.last + 1, meta._replace(asked=True)
        elif block.kind != "rule":
            break
    return first, meta


# Text below a question that does not answer it


def _is_title(start: Start, body: tuple[Block, ...], first: int) -> bool:
    """Returns whether a heading only names what the paragraph right below it asks."""
    below = next((block for block in body if block.first >= first), None)
    if start.kind != "heading" or start.asks or below is None or below.kind != "paragraph":
        return False
    return ends_asking(below.text)


def _asks_in_its_text(start: Start, parts: _Parts) -> bool:
    """Returns whether a title without an answer label, among questions with one, is followed by the question."""
    return start.kind == "heading" and not start.asks and not parts.title


_BLANK_LINE = re.compile(r"_{6,}|\.{12,}")


def _belongs_to_prompt(start: Start, body: tuple[Block, ...], shown: str, *, mostly_bare: bool) -> bool:
    """Returns whether the text below a question goes on asking: sub-questions, or a form to fill in."""
    if not shown:
        return False
    if _BLANK_LINE.search(shown):
        return True
    lists = [block for block in body if block.kind == "list"]
    if start.bold and start.kind == "item":
        # A list below an item in bold, in another form, says something about it.
        mostly_bare = False
    if start.said and not body and mostly_bare and start.kind == "item":
        return True
    if start.said or not body or len(lists) != len(body):
        return mostly_bare and bool(body) and not start.said and all(block.kind in ("list", "fence") for block in body)
    items = [item.children[0].text for block in lists for item in block.children if item.children]
    if sum(RIGHT_AFTER.search(item) is not None for item in items) == 1 < len(items):
        # A mark shows that these are options, even if all of them ask.
        return False
    return mostly_bare or (bool(items) and sum(map(ends_asking, items)) * 2 > len(items))


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


# Questions


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundQuestion:
    """A question as it stands in a document, with its options still in the prompt or the answer."""

    first: int
    last: int
    prompt: str
    answer: str = ""
    section: tuple[str, ...] = ()
    number: str = ""
    title: str = ""
    level: Level | None = None
    links: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    labeled: bool = True
    """Whether a label marks the start of the answer; otherwise options may come first."""
    offering: bool = False
    """Whether the questions around it have options."""
    bulleted: bool = False
    """Whether plain lists below the questions around it are options."""
    signs: str = ""
    """Signs that mark what is right in the lists around it."""
    exam: bool = False
    """Whether the questions around it are an exam, in which lettered lines may be parts of one."""
    asked: tuple[int, int] | None = None
    """The lines that ask, if not the first alone."""


def make_question(document: Document, found: FoundQuestion) -> Question:
    """Returns an unanswered question without an id."""
    return Question(
        id="",
        kind="open",
        prompt=found.prompt,
        place=document.place(found.first, found.last),
        code_blocks=document.code_between(found.first, found.last),
        level=found.level or level_under(found.section),
        section=found.section,
        number=found.number,
        title=found.title,
        links=found.links,
        tags=found.tags,
    )


def add_question(document: Document, draft: Draft, found: FoundQuestion) -> None:
    """Adds a question to the draft: as a choice if it has options, with a finding if it has no key."""
    if (last := last_of_text(document.source, found.first, found.last)) != found.last:
        found = replace(found, last=last)
    question = make_question(document, found)
    answer = without_promotion(found.answer)
    if not found.labeled:
        answer = with_table_options(answer)
    if (
        is_placeholder(answer)
        or (found.labeled and begins_with_placeholder(answer))
        or only_pictures(answer)
        or only_says_type(answer)
    ):
        answer = ""
    if found.offering and not found.labeled and answer and only_shows(answer) and "```" in answer:
        # Among questions with options, a program below one is what it asks about.
        found, answer = replace(found, prompt=f"{found.prompt}\n\n{answer}"), ""
        question = make_question(document, found)
    bullets = bullet_options(answer, found.signs) if found.bulleted and not found.labeled else None
    if bullets:
        choice: ChoiceParts | None = bulleted_choice(found.prompt, *bullets)
    else:
        choice = find_choice(found.prompt, answer, labeled=found.labeled, offering=found.offering)
    if choice and found.exam and are_parts(choice.options):
        choice = None
    if choice:
        prompt = _OPTIONS_LABEL.sub("", choice.prompt).strip()
        question = replace(question, kind="choice", prompt=prompt, options=choice.options, why=choice.why)
        draft.findings += [_problem(document, problem, found.first, found.last) for problem in choice.problems]
    elif answer:
        question = replace(question, answer=answer, key_points=key_points_of(answer, found.prompt))
    if not question.answered and not (choice and choice.problems):
        draft.findings.append(no_answer_finding(document, *(found.asked or (found.first, found.first))))
    draft.questions.append(question)


_OPTIONS_LABEL = re.compile(
    r"(?:\n|^)[ ]*(?:\*\*|__|#{1,6}[ ]+)?(?:options?|choices|answer options|answers|opciones|opções"
    r"|alternativas|optionen|antworten|варианты(?: ответов?)?"
    r"|选项|選項|選択肢|보기|şıklar|seçenekler|pilihan)[ ]?[:：]?(?:\*\*|__)?[:：]?[ ]*$",
    re.IGNORECASE,
)
"""A line before the options that only announces them."""


def _problem(document: Document, problem: KeyProblem, first: int, last: int) -> Finding:
    return Finding(
        problem.code,
        "note" if problem.assumed else "warning",
        problem.message,
        _span_of_key(document.source, first, last, problem.at),
        note="" if problem.assumed else "the question is kept but never asked",
        help=problem.cure,
    )


def _span_of_key(source: Source, first: int, last: int, at: str) -> Span:
    """Returns the last line that gives `at` as the answer, else the last line that contains it, else the first line."""
    holding = [number for number in range(last, first - 1, -1) if at and at in source.line(number)]
    said = (number for number in holding if label_of(source.line(number)) or "nswer" in source.line(number))
    line = next(said, holding[0] if holding else first)
    return source.span(line)


def no_answer_finding(document: Document, first: int, last: int) -> Finding:
    """Returns the finding for a question that is kept but never asked."""
    return Finding(
        "Q101",
        "warning",
        "the question has no answer",
        document.source.span(first, last),
        label="asked here",
        note="it is kept but never asked",
        help="write the answer below the question",
    )
