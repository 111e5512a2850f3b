"""Reads tables with a column of questions and columns for answer, options, level or number."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from questions.blocks import plain
from questions.document import Document, Draft, Stretch
from questions.patterns.found_questions import FoundQuestion, add_question
from questions.recipes import InvalidRecipe, Recipe, find_columns, name_key
from questions.source import Finding
from questions.wording.labels import stands_for_nothing
from questions.wording.stems import level_of, question_line, reads_as_question

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.blocks import Block


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
        (
            "topic",
            r"topics?|category|area|subject|section|chapter|theme|tema|thema|kategorie|categor[ií]a|catégorie|тема|раздел"
            r"|主题|分类|주제",
        ),
    )
)
_STATES = re.compile(
    r"(?:statements?|claims?|assertions?|aussagen?|behauptung|afirmaci[oó]n|afirmação|affirmation|affermazione"
    r"|утверждение|陈述|说法|判断|명제|진술)(?:[ ]?(?:#|no\.?))?",
    re.IGNORECASE,
)
"""The column with what is true or false."""
_SAYS_TRUTH = re.compile(
    r"(?:is it |it is )?(?:true|correct|right)[ ]?\??|true[ ]?(?:/|or)[ ]?false[ ]?\??|t[ ]?/[ ]?f[ ]?\??"
    r"|(?:the |correct )?answer|key|verdict|wahr(?:/falsch)?[ ]?\??|richtig(?:/falsch)?[ ]?\??"
    r"|verdadero(?:[ ]?[/o][ ]?falso)?[ ]?\??"
    r"|verdadeiro(?:[ ]?(?:/|ou)[ ]?falso)?[ ]?\??|vrai(?:[ ]?(?:/|ou)[ ]?faux)?[ ]?\??"
    r"|vero(?:[ ]?[/o][ ]?falso)?[ ]?\??|верно[ ]?\??|对错|正误|答案|정답",
    re.IGNORECASE,
)
_SAYS_FALSE = re.compile(r"false|incorrect|wrong|falsch|falso|faux|неверно|错", re.IGNORECASE)
_EXPLAINS = re.compile(
    r"why|explanations?|reason(?:ing)?|notes?|comments?|warum|begründung|explicaci[oó]n", re.IGNORECASE
)
_TRUE = frozenset(("true", "t", "yes", "y", "correct", "right", "✓", "✔", "✅", "☑", "对", "√", "正确"))
_FALSE = frozenset(("false", "f", "no", "n", "incorrect", "wrong", "✗", "✘", "❌", "×", "错", "错误"))
_PAIRS = {"wahr": "falsch", "richtig": "falsch", "verdadero": "falso", "verdadeiro": "falso", "vrai": "faux"}
_PAIRS |= {"vero": "falso", "верно": "неверно"}
_FEWEST_STATED = 2
"""Fewest rows of a table of statements."""
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


def read_tables(document: Document) -> Draft:
    """Reads one question per row of such tables."""
    draft = Draft()
    for stretch, block, columns in _tables(document):
        for line in range(block.first + 2, block.last + 1):
            _add(document, draft, stretch, line, columns)
    for stretch, block in _free_tables(document):
        for found in _statements(document, stretch, block):
            add_question(document, draft, found)
    return draft


def _free_tables(document: Document) -> Iterator[tuple[Stretch, Block]]:
    for stretch in document.layout.stretches:
        for block in stretch.blocks:
            if block.kind == "table" and document.free(block.first, block.last):
                yield stretch, block


def _statements(document: Document, stretch: Stretch, block: Block) -> list[FoundQuestion]:
    """Returns the rows of a table of statements with a column that says which are true, or a column for each of true
    and false with a mark in one of them; none if a row says something else there."""
    header = [plain(cell).strip(" :") for cell in _cells(document.source.line(block.first))]
    states, truth = _first_like(header, _STATES), _first_like(header, _SAYS_TRUTH)
    wrong, why = _first_like(header, _SAYS_FALSE), _first_like(header, _EXPLAINS)
    if states is None or truth is None:
        return []
    rows: list[FoundQuestion] = []
    for line in range(block.first + 2, block.last + 1):
        cells = [*_cells(document.source.line(line)), *("" for _ in header)]
        said = [plain(cells[at]).strip(" .*_`\ufe0f").lower() for at in (truth, wrong) if at is not None]
        words = _truth_of_marks(said) if len(said) > 1 else _truth_of_word(said[0])
        stem = question_line(cells[states])
        if words is None or not stem.text:
            return []
        answer = f"{words}\n{cells[why]}".strip() if why is not None else words
        number = stem.number or (cells[0].strip(".") if cells[0].strip(".").isdecimal() else "")
        rows.append(
            FoundQuestion(
                first=line,
                last=line,
                prompt=stem.text,
                answer=answer,
                section=stretch.path,
                number=number,
                title="True or false",
                links=stem.links,
            )
        )
    return rows if len(rows) >= _FEWEST_STATED and any(one.answer for one in rows) else []


def _first_like(header: list[str], words: re.Pattern[str]) -> int | None:
    return next((at for at, cell in enumerate(header) if words.fullmatch(cell)), None)


def _truth_of_word(word: str) -> str | None:
    """Returns what a cell says as `True`, `False` or a word of another language; empty for none, None for another."""
    if word in _TRUE:
        return "True"
    if word in _FALSE:
        return "False"
    known = word in _PAIRS or word in _PAIRS.values() or not word or stands_for_nothing(word)
    return (word if word.isalpha() else "") if known else None


def _truth_of_marks(said: list[str]) -> str | None:
    """Returns `True` or `False` if one of two cells is marked; None for anything else."""
    first, second = (bool(word) and not stands_for_nothing(word) for word in said)
    if first == second or len(said[not first]) > 1:
        return None
    return "True" if first else "False"


_NAMED = ("prompt", "options", "key", "answer", "level", "number")
"""Parts that a recipe can name in a table of Markdown."""


def read_named_tables(document: Document, recipe: Recipe) -> Draft:
    """Reads one question per row of the tables whose columns a recipe names. Raises InvalidRecipe."""
    unknown = next((role for role, _ in recipe.columns if role not in _NAMED), "")
    if unknown:
        raise InvalidRecipe(f"`{unknown}` is not read from tables of Markdown", f"name only {', '.join(_NAMED)}")
    draft = Draft()
    tables = [
        (stretch, block, _cells(document.source.line(block.first)))
        for stretch in document.layout.stretches
        for block in stretch.blocks
        if block.kind == "table"
    ]
    if not tables:
        raise InvalidRecipe("the document has no table with columns", 'describe its text: `question: "{n}. {prompt}"`')
    named = {name_key(name) for _, names in recipe.columns for name in names}
    fitting = [one for one in tables if named <= {name_key(plain(cell)) for cell in one[2]}]
    if not fitting:
        find_columns(recipe, [plain(cell) for _, _, header in tables for cell in header])
        raise InvalidRecipe("no table has all these columns", "name the columns of one table")
    for stretch, block, header in fitting:
        columns = _recipe_columns(recipe, [name_key(plain(cell)) for cell in header])
        for line in range(block.first + 2, block.last + 1):
            _add(document, draft, stretch, line, columns)
    return draft


def _recipe_columns(recipe: Recipe, header: list[str]) -> _Columns:
    def places(role: str) -> tuple[int, ...]:
        return tuple(header.index(name_key(name)) for name in recipe.column(role))

    says, number, level = (next(iter(places(role)), None) for role in ("answer", "number", "level"))
    key = next(iter(places("key")), says)
    return _Columns(places("prompt")[0], key, places("options"), number, level, whole=True)


def _tables(document: Document) -> Iterator[tuple[Stretch, Block, _Columns]]:
    for stretch, block in _free_tables(document):
        columns = named_columns(_cells(document.source.line(block.first)))
        if columns and _rows_ask(document, block, columns):
            yield stretch, block, columns


def named_columns(header: list[str]) -> _Columns | None:
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


def answer_in_row(header: str, row: str) -> str | None:
    """Returns the answer in a row of a table of keys, then its explanation if there is one; None if no column of the
    header is for answers."""
    named = [index for index, cell in enumerate(_cells(header)) if _role(cell, skip="option") == "says"]
    cells = _cells(row)
    return "\n\n".join(cells[index] for index in named if index < len(cells)) if named else None


def _first(roles: list[str], role: str) -> int | None:
    return roles.index(role) if role in roles else None


def _rows_ask(document: Document, block: Block, columns: _Columns) -> bool:
    """Returns whether most rows ask and have an answer or nothing else, unlike a table of contents."""
    rows = [_cells(document.source.line(line)) for line in range(block.first + 2, block.last + 1)]
    asked = [row[columns.asks] for row in rows if len(row) > columns.asks]
    asking = sum(map(reads_as_question, asked))
    if columns.says is None:
        linked = sum("](" in cell for cell in asked)
        return columns.whole and asking * 2 > len(asked) and linked * 2 < len(asked)
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
    if stands_for_nothing(stem.text):
        draft.findings.append(_names_nothing(document, line, stem.text))
        return
    texts = [cell(index) for index in columns.options]
    if len(texts) == 1:
        # A cell with all options, on lines or between semicolons.
        texts = [text.strip() for text in texts[0].split("\n" if "\n" in texts[0] else ";")]
    options = [f"{chr(ord('a') + index)}) {text}" for index, text in enumerate(texts) if text]
    found = FoundQuestion(
        first=line,
        last=line,
        prompt="\n\n".join((stem.text, "\n".join(options))) if options else stem.text,
        answer=cell(columns.says),
        section=stretch.path,
        number=stem.number or cell(columns.number).strip("."),
        level=level_of(cell(columns.level)),
        links=stem.links,
    )
    add_question(document, draft, found)


def _names_nothing(document: Document, line: int, said: str) -> Finding:
    return Finding(
        "Q103",
        "warning",
        f"this row asks nothing: `{said[:40]}` stands for the question",
        document.source.span(line),
        note="it was left out",
        help="write the question, or remove the row",
        skipped=True,
    )
