"""Evidence in a table of contents: it lists items, or links to headings, under a title that announces questions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from questions.document import contents_key
from questions.patterns.candidates import Verdict
from questions.patterns.contents import is_only_link
from questions.patterns.evidence.runs import FEWEST, is_count, is_told, with_rest
from questions.wording.stems import asks_for_questions, reads_as_question

if TYPE_CHECKING:
    from questions.document import Document
    from questions.patterns.candidates import Candidate
    from questions.patterns.starts.start import Kind, Start


def judge_listed(document: Document, kind: Kind, run: list[Start], known: tuple[Candidate, ...]) -> Verdict:
    """Returns the starts that the table of contents names, if it names nearly nothing else."""
    if kind == "heading":
        linked = _linked(document, run)
        return linked if linked.read else _counted(document, run)
    if kind != "item" or run[0].depth or not document.layout.contents or not is_told(document, run):
        return Verdict()
    contents = document.layout.contents
    listed = [start for start in run if contents_key(start.stem.text) in contents and not is_only_link(start)]
    if len(listed) < FEWEST["item"] or len(listed) * 10 < len(contents) * 9:
        return Verdict()
    if all(map(_is_anchored, listed)):
        # A table of contents is often older than the last questions.
        listed = [start for start in run if _is_anchored(start)]
    # The other items are lists in the answers, which are rarely indented.
    return Verdict(tuple(with_rest(document, run, listed)))


_ANCHOR_NAME = re.compile(r"<a[ ]+(?:id|name)[ ]*=[ ]*[\"']?(?P<name>[\w.-]+)", re.IGNORECASE)
_LINK_TO = re.compile(r"(?m)^[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+\[(?P<text>[^\[\]\n]+)\]\(#(?P<name>[\w.-]+)\)[ \t]*$")


def _linked(document: Document, run: list[Start]) -> Verdict:
    """Returns the headings with an anchor under a title that announces questions, if a table of contents with some that
    ask links to nearly all of them, and to nothing else."""
    anchored = {
        found["name"]: start
        for start in run
        if start.block and (found := _ANCHOR_NAME.search(start.block.text)) and start.body
    }
    if len(anchored) < _FEWEST_LINKED or not is_told(document, run):
        return Verdict()
    links = list(_LINK_TO.finditer("\n".join(document.source.lines)))
    names = {link["name"] for link in links}
    asking = any(reads_as_question(link["text"]) for link in links)
    covered = len(names & anchored.keys()) * 10
    if not asking or covered < 9 * len(names) or covered < 9 * len(anchored):
        return Verdict()
    return Verdict(tuple(start for name, start in anchored.items() if name in names))


def _counted(document: Document, run: list[Start]) -> Verdict:
    """Returns the headings with numbers that count from 1 on under a title that announces questions, if the table of
    contents names nearly all of them, and a third asks: the others name topics of the interview."""
    numbered = [start for start in run if is_count(start.number) and start.body]
    numbers = [int(start.number) for start in numbered]
    if len(numbered) < _FEWEST_COUNTED or numbers != [*range(1, len(numbers) + 1)] or not is_told(document, run):
        return Verdict()
    named = sum(contents_key(start.stem.text) in document.layout.contents for start in numbered)
    asking = sum(start.asks for start in numbered)
    few = named * 10 < len(numbered) * 9 or asking * 3 < len(numbered)
    return Verdict(() if few else tuple(start for start in numbered if not asks_for_questions((start.stem.text,))))


_FEWEST_COUNTED = 10
_FEWEST_LINKED = 4
"""Fewest headings that a table of contents links to."""
_ANCHOR = re.compile(r"<a[ ]+(?:id|name)[ ]*=", re.IGNORECASE)


def _is_anchored(start: Start) -> bool:
    """Returns whether an item begins with a place that links lead to."""
    return start.block is not None and bool(start.block.children) and bool(_ANCHOR.match(start.block.children[0].text))
