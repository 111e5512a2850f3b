"""Reads questions in tables, `<details>` elements and front matter."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

import yaml

from questions.blocks import fold_text, is_answer_summary, plain
from questions.dialects.building import add_question, make_question
from questions.dialects.shape import heading_asks, level_of, question_line, reads_as_question
from questions.document import Document, Draft, Stretch, entries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.blocks import Block, Fold
    from questions.model import Level


# Tables with a column of questions and columns for answer, options, level or number

TABLES = "table"

_ROLES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (role, re.compile(words, re.IGNORECASE))
    for role, words in (
        ("number", r"#|no\.?|nr\.?|n°|№|id|number|num|编号|序号"),
        ("option", r"(?:option[ ]?|choice[ ]?|answer[ ]?)?\(?[a-h]\)?|(?:option|choice|answer)[ ]?[1-8]"),
        (
            "asks",
            r"(?:the[ ])?(?:questions?|q|prompt|front|pregunta|pergunta|frage|domanda|вопрос|问题|問題|质问|질문)",
        ),
        (
            "says",
            r"(?:(?:the|short|model|correct|right|suggested|expected)[ ])*"
            r"(?:answers?|a|key|solution|response|back|explanation"
            r"|correct(?:[ ]option)?|respuesta|resposta|réponse|antwort|risposta|ответ|答案|回答|답변)",
        ),
        ("level", r"level|difficulty|seniority"),
    )
)
_CELL = re.compile(r"(?:[^|\\`]|\\.|`[^`|]*`|`)*")
_BREAK = re.compile(r"<br[ ]?/?>", re.IGNORECASE)


class _Columns(NamedTuple):
    asks: int
    says: int | None
    options: tuple[int, ...]
    number: int | None
    level: int | None
    whole: bool
    """Whether all columns are recognized."""


def sniff_tables(document: Document) -> bool:
    """Returns whether a table has a column of questions."""
    return any(True for _ in _tables(document))


def read_tables(document: Document) -> Draft:
    """Reads one question per row of such tables."""
    draft = Draft()
    for stretch, block, columns in _tables(document):
        for line in range(block.first + 2, block.last + 1):
            _add(document, draft, stretch, line, columns)
    return draft


def _tables(document: Document) -> Iterator[tuple[Stretch, Block, _Columns]]:
    for stretch in document.layout.stretches:
        for block in stretch.blocks:
            if block.kind == "table" and document.free(block.first, block.last):
                columns = _columns(_cells(document.source.line(block.first)))
                if columns and _rows_ask(document, block, columns):
                    yield stretch, block, columns


def _columns(header: list[str]) -> _Columns | None:
    """Returns the role of each column; None if no column asks."""
    roles = [_role(cell) for cell in header]
    if "asks" not in roles:
        return None
    # `A` is an answer next to `Q`, and an option only among others.
    options = tuple(index for index, role in enumerate(roles) if role == "option")
    if len(options) < 2:
        roles = [_role(cell, skip="option") for cell in header]
        options = ()
    says, number, level = (_first(roles, role) for role in ("says", "number", "level"))
    return _Columns(roles.index("asks"), says, options, number, level, whole=all(roles))


def _role(cell: str, skip: str = "") -> str:
    words = plain(cell).strip(" :")
    return next((role for role, pattern in _ROLES if role != skip and pattern.fullmatch(words)), "")


def _first(roles: list[str], role: str) -> int | None:
    return roles.index(role) if role in roles else None


def _rows_ask(document: Document, block: Block, columns: _Columns) -> bool:
    """Returns whether most rows ask and have an answer or nothing else, unlike a table of contents."""
    rows = [_cells(document.source.line(line)) for line in range(block.first + 2, block.last + 1)]
    asked = [row[columns.asks] for row in rows if len(row) > columns.asks]
    asking = sum(map(reads_as_question, asked))
    if columns.says is None:
        return columns.whole and asking * 2 > len(asked) and not any("](" in cell for cell in asked)
    return asking * 2 > len(asked) or (columns.whole and sum(len(cell.split()) > 2 for cell in asked) * 2 > len(asked))


def _cells(line: str) -> list[str]:
    """Returns the cells of a row; a bar after a backslash or within code separates nothing."""
    text = line.strip().removeprefix("|")
    cells: list[str] = []
    at = 0
    while at <= len(text):
        found = _CELL.match(text, at)
        end = found.end() if found else len(text)
        cells.append(text[at:end].replace("\\|", "|").strip())
        at = end + 1
    return cells[:-1] if len(cells) > 1 and not cells[-1] and text.endswith("|") else cells


def _add(document: Document, draft: Draft, stretch: Stretch, line: int, columns: _Columns) -> None:
    cells = _cells(document.source.line(line))

    def cell(index: int | None) -> str:
        return _BREAK.sub("\n", cells[index]).strip() if index is not None and index < len(cells) else ""

    stem = question_line(cell(columns.asks))
    if not stem.text:
        return
    texts = [cell(index) for index in columns.options]
    options = [f"{chr(ord('a') + index)}) {text}" for index, text in enumerate(texts) if text]
    add_question(
        document,
        draft,
        line,
        line,
        prompt="\n\n".join((stem.text, "\n".join(options))) if options else stem.text,
        answer=cell(columns.says),
        section=stretch.path,
        number=stem.number or cell(columns.number).strip("."),
        level=level_of(cell(columns.level)),
        links=stem.links,
    )


# `<details>` with the question as summary and the answer inside

FOLDS = "folded"

_ENOUGH = 2
"""Number of asking folds from which their neighbors are read as questions too."""


def sniff_folds(document: Document) -> bool:
    """Returns whether the summary of a fold asks something."""
    return any(True for _ in _asking(document))


def read_folds(document: Document) -> Draft:
    """Reads one question per fold that asks, and per fold between such folds."""
    draft = Draft()
    for stretch, fold in _asking(document):
        stem = question_line(fold.summary)
        add_question(
            document,
            draft,
            fold.first,
            fold.last,
            prompt=stem.text,
            answer=fold_text(document.source, fold),
            section=stretch.path,
            number=stem.number,
            links=stem.links,
            labelled=False,
        )
    return draft


def _asking(document: Document) -> Iterator[tuple[Stretch, Fold]]:
    for stretch, folds in _by_stretch(document):
        asking = [fold for fold in folds if reads_as_question(question_line(fold.summary).text)]
        if not asking or (heading_asks(stretch.headings) and len(asking) == 1):
            continue
        many = len(asking) >= _ENOUGH and len(asking) * 3 >= len(folds) * 2
        last = 0
        for fold in folds if many else asking:
            # Lines shared by two folds belong to the first.
            if fold.first > last and document.free(fold.first, fold.last):
                yield stretch, fold
                last = fold.last


def _by_stretch(document: Document) -> Iterator[tuple[Stretch, list[Fold]]]:
    """Yields folds that contain more than an answer, grouped by the heading above."""
    layout = document.layout
    starts = [stretch.first for stretch in layout.stretches]
    found: dict[int, list[Fold]] = {}
    for fold in layout.folds:
        if fold.summary and not is_answer_summary(fold.summary):
            found.setdefault(bisect_right(starts, fold.first) - 1, []).append(fold)
    for index, folds in found.items():
        yield layout.stretches[max(index, 0)], folds


# Front matter with unanswered questions: `questions:` as a list, or as lists by level

FRONT_MATTER = "front-matter"


def sniff_front_matter(document: Document) -> bool:
    """Returns whether the front matter lists questions."""
    return any(True for _ in _asked(document.front))


def read_front_matter(document: Document) -> Draft:
    """Reads one unanswered question per entry, at the entry's line."""
    draft = Draft()
    for node, level in _asked(document.front):
        # The front matter starts on the document's second line; node lines start from 0.
        # YAML has more line endings than Markdown, hence the bounds.
        end = document.blocks[0].last - 1
        first = min(node.start_mark.line + 2, end)
        last = min(max(first, node.end_mark.line + 2 - (node.end_mark.column == 0)), end)
        prompt = str(node.value).strip()
        draft.questions.append(make_question(document, first, last, prompt=prompt, answer="", section=(), level=level))
    return draft


def _asked(front: yaml.Node | None) -> Iterator[tuple[yaml.ScalarNode, Level | None]]:
    for key, value in entries(front):
        if key != "questions":
            continue
        yield from ((node, None) for node in _scalars(value))
        for level, nodes in entries(value):
            yield from ((node, level_of(level)) for node in _scalars(nodes))


def _scalars(node: yaml.Node) -> Iterator[yaml.ScalarNode]:
    for one in node.value if isinstance(node, yaml.SequenceNode) else ():
        if isinstance(one, yaml.ScalarNode) and str(one.value).strip():
            yield one
