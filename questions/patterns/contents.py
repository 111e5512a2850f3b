"""Recognizes tables of contents: entries that are links, and runs of bare questions that only repeat others."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING

from questions.blocks import plain
from questions.document import Draft, contents_key
from questions.wording.stems import question_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.model import Question
    from questions.patterns.starts.start import Start
    from questions.source import Source

_LINK_ONLY = re.compile(r"[*_]{0,3}!?\[(?:[^\[\]]|\[[^\[\]]{0,100}\]){0,300}\]\([^()\s]{0,500}\)[*_]{0,3}[.,;]?")
_FEWEST = 2
"""Fewest entries of a table of contents."""
_GAP = 3
"""Most lines from one entry to the next."""

_PICTURE = re.compile(r"!\[[^\[\]]{0,200}\]\([^()\s]{0,500}\)")

_CONTENTS = re.compile(
    r"\W*(?:toc|(?:table of )?contents|agenda|outline|índice|indice|sumário|sommaire|inhalt(?:sverzeichnis)?"
    r"|inhoud(?:sopgave)?|spis treści|obsah|содержание|оглавление|зміст|içindekiler|daftar isi|mục lục"
    r"|目录|目錄|目次|목차)\W*",
    re.IGNORECASE,
)


def names_contents(heading: str) -> bool:
    """Returns whether a heading is that of a table of contents."""
    return _CONTENTS.fullmatch(plain(heading)) is not None


def is_only_link(start: Start) -> bool:
    """Returns whether a start is an entry of a table of contents: nothing but a link."""
    if start.block is None or not start.block.children:
        return False
    text = _PICTURE.sub("", start.block.children[0].text).strip()
    return "](" in text and (_LINK_ONLY.fullmatch(text) is not None or question_line(text).text != text)


def without_contents(drafts: list[Draft], source: Source) -> list[Draft]:
    """Returns the drafts without tables of contents: their lines are study text again."""
    asked = Counter(_key(question) for draft in drafts for question in draft.questions)
    return [
        _without(draft, {line for run in _bare_runs(draft, source) for line in _repeated(run, asked)})
        for draft in drafts
    ]


def _key(question: Question) -> str:
    prompt = question.prompt or question.title
    return contents_key(prompt[: found.start()] if (found := _LINK_END.search(prompt)) else prompt)


_LINK_END = re.compile(r"\s*\]\((?:https?:|#|\)).*", re.DOTALL)
"""The end of a link whose beginning was not part of the question."""

_LINKED_ENTRY = re.compile(r"[ ]{0,3}(?:[-*+]|\d{1,3}[.)])[ ]+\[.*\]\(")
"""The first line of an entry that is a link, in which a second sentence may look like an answer."""


def _begins_other(key: str, keys: list[str]) -> bool:
    """Returns whether another question begins with all of this one: its second sentence seemed to answer it."""
    after = bisect_right(keys, key)
    return len(key) >= _SURE and after < len(keys) and keys[after].startswith(key)


_SURE = 20
"""Length of a question that another one does not begin with by chance, characters."""


def _bare_runs(draft: Draft, source: Source) -> Iterator[list[Question]]:
    """Yields the questions without answer and options, or within a link, that are one below the other."""
    run: list[Question] = []
    for question in draft.questions:
        bare = not question.answered and not question.options and "\n" not in question.prompt
        bare = bare or _LINKED_ENTRY.match(source.line(question.place.line)) is not None
        if run and (not bare or question.place.line - run[-1].place.end_line > _GAP):
            yield run
            run = []
        if bare:
            run.append(question)
    if run:
        yield run


def _repeated(run: list[Question], asked: Counter[str]) -> Iterator[int]:
    """Yields the lines of a run whose questions are mostly asked elsewhere too."""
    own = Counter(map(_key, run))
    keys = sorted(asked)
    repeated = sum(asked[key] > count or _begins_other(key, keys) for key, count in own.items())
    if len(own) >= _FEWEST and repeated * 3 >= len(own) * 2:
        yield from (question.place.line for question in run)


def _without(draft: Draft, lines: set[int]) -> Draft:
    return Draft(
        [question for question in draft.questions if question.place.line not in lines],
        [finding for finding in draft.findings if finding.span.line not in lines],
    )
