"""Reads tables of questions: CSV with commas, semicolons or tabs, and columns in any order. Cells are Markdown."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from pathlib import PurePath
from typing import TYPE_CHECKING

from questions.formats.data.field_names import (
    ASKING,
    names_questions,
    spelled,
)
from questions.formats.data.premises import with_premises
from questions.formats.data.shapes import without_numbers
from questions.formats.draft import INVALID_ID, ImportDraft
from questions.formats.markdown import from_tagged
from questions.formats.tables.column_names import Column, base_of_names, columns
from questions.formats.tables.columns import (
    find_key,
    holds_texts,
    infer_cards,
    infer_columns,
    infer_tagged_cards,
    past_labels,
)
from questions.formats.tables.csv_rows import rows_with_lines
from questions.formats.tables.header import (
    DELIMITERS,
    SHEETS,
    header_cells,
    header_delimiter,
    header_end,
    header_line,
    header_roles,
    unknown_columns,
)
from questions.formats.tables.keys import UNKNOWN_BASE, key_style
from questions.formats.tables.option_cells import without_placeholders
from questions.formats.tables.rows import Row, add_row, options_in_row, with_accepted, with_flags
from questions.wording.stems import reads_as_question

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from questions.source import Source

NAME = "csv"

_FEWEST_SAME = 5
"""Fewest rows in which an answer can be a placeholder."""
_FEWEST_CARDS = 3
"""Fewest lines without a header that are cards."""
_CARDS_ALONE = 5
"""Fewest lines without a header that are cards although nothing says so."""
_FEWEST_CHOICES = 5
"""Fewest lines without a header that are questions with options and a key."""
_NEEDED = "a column `question` and one of `answer`, `options` or `correct`"


def sniff(source: Source) -> bool:
    """Returns whether the first line has columns for a question and an answer, or each line is a card, or has options
    and a key."""
    first = header_line(source)
    line = source.line(first)
    if "](" in line or line.startswith(("#", "|", "- ")):
        return False
    return header_delimiter(source, first) is not None or _holds_cards(source) or _holds_choices(source)


def fills(source: Source) -> bool:
    """Returns whether a document is a table from its first line to its last: a header with columns for a question and
    an answer, and rows that all have a cell for each of them."""
    first = header_line(source)
    delimiter = header_delimiter(source, first)
    if delimiter is None or delimiter == "|" or source.line(first).startswith(("#", "- ")):
        return False
    rows = [cells for cells, _ in rows_with_lines(ImportDraft(source, NAME), delimiter, first)]
    return len(rows) > _FEWEST_CARDS and all(len(cells) == len(rows[0]) for cells in rows)


def _holds_choices(source: Source) -> bool:
    """Returns whether each line has the same number of cells, with a tab, a semicolon or a bar between them: one asks,
    others are its options, and one names an option in nearly every line."""
    filled = [line for line in source.lines if line.strip()]
    if len(filled) < _FEWEST_CHOICES or not all(set("\t;|") & set(line) for line in filled[:_FEWEST_CHOICES]):
        return False
    table = infer_columns(filled)
    if table is None or table.delimiter == ",":
        return False
    roles = [role for role, _ in table.roles]
    alike = sum(len(header_cells(line, table.delimiter)) == len(roles) for line in filled)
    return "correct" in roles and roles.count("option") > 1 and alike * 10 >= len(filled) * 9


def _holds_cards(source: Source) -> bool:
    """Returns whether each line is a question and an answer, with a tab, a semicolon or a bar between them. An answer
    may have semicolons in it, behind what asks, or tags behind it."""
    filled = [line for line in source.lines if line.strip()]
    if len(filled) < _FEWEST_CARDS or not all(set("\t;|") & set(line) for line in filled[:_FEWEST_CARDS]):
        return False
    for mark in ("\t", ";", "|"):
        rows = [[*filter(str.strip, header_cells(line, mark))] for line in filled]
        asking = [len(cells) > 1 and reads_as_question(cells[0]) for cells in rows]
        # A card may have no back yet.
        fronts = sum(len(cells) == 1 and line.rstrip().endswith(mark) for cells, line in zip(rows, filled, strict=True))
        pairs = sum(len(cells) == _CARD for cells in rows)
        pairs += fronts if fronts * 4 <= pairs and mark != "|" else 0
        more = sum(asks and len(cells) > _CARD for cells, asks in zip(rows, asking, strict=True)) if mark != "|" else 0
        if (pairs + more) * 10 >= len(filled) * 9 and pairs >= more and sum(asking) * 2 >= len(filled):
            return True
    return infer_tagged_cards(filled) is not None or _are_named_cards(source)


_CARDS = re.compile(
    r"\b(?:anki|flash ?cards?|cards?|decks?|karteikarten|glossar(?:y|ies|io)?|vocab(?:ulary)?)\b", re.IGNORECASE
)
"""Names of documents that hold cards."""


def _are_named_cards(source: Source) -> bool:
    """Returns whether the name of a document says that it holds cards, and each line is a front and a back with a tab
    between them."""
    lines = [line for line in source.lines if line.strip()]
    named = _CARDS.search(re.sub(r"[\W_]+", " ", PurePath(source.name).stem)) is not None
    return named and len(lines) >= _FEWEST_CARDS and all(line.strip().count("\t") == 1 for line in lines)


def read(source: Source) -> ImportDraft:
    """Reads all questions of a table."""
    draft = ImportDraft(source, NAME)
    draft.title = draft.stem
    first = header_line(source)
    delimiter = header_delimiter(source, first)
    if delimiter is None and _holds_responses(source.line(first)):
        return draft.unreadable(
            "these are the answers of people to a form, not its questions",
            "export the questions with their right answers, one in each row",
            first,
        )
    if delimiter is None:
        return _read_headerless(draft, first)
    return read_rows(draft, delimiter, first, columns)


def read_rows(
    draft: ImportDraft, delimiter: str, first: int, roles_of: Callable[[Sequence[str]], list[Column]]
) -> ImportDraft:
    """Reads the rows below the header in line `first`, whose columns have the roles that `roles_of` returns."""
    rows = rows_with_lines(draft, delimiter, first)
    names, lines = next(rows)
    roles = roles_of(names)
    body = _with_letters(names, roles, list(_past_headers(draft, names, rows)))
    base = base_of_names(names)
    if premises := with_premises(names, roles, body):
        (roles, body), base = premises, None
    key = _key_of_content(names, roles, body)
    if key is not None:
        roles[key] = Column("correct")
        draft.add(
            "Q613",
            f"the column `{names[key][:40]}` was read as the key: it names an option in each row",
            "if this is wrong, remove the column, or call the key `correct`",
            lines,
            severity="note",
        )
    unknown = unknown_columns(names, roles)
    if unknown:
        shown = ", ".join(f"`{name[:40]}`" for name in unknown[:10])
        draft.add("Q610", f"columns not imported: {shown}", "rename or remove them", lines, severity="note")
    add_rows(draft, roles, body, base=base)
    if not draft.questions and not draft.findings:
        draft.unreadable("the table has no rows", "add a row for each question", first)
    return draft


def _past_headers(
    draft: ImportDraft, names: Sequence[str], rows: Iterable[tuple[Sequence[str], tuple[int, int]]]
) -> Iterator[tuple[Sequence[str], tuple[int, int]]]:
    """Yields the rows; it names the lines that repeat the header, where tables were put together, and that of a
    template which tells what to write."""
    for cells, lines in rows:
        if [*map(str.strip, cells)] == [*map(str.strip, names)]:
            draft.add_skipped("this row repeats the header", "remove it", lines)
        elif sum(_ADVICE.search(cell) is not None for cell in cells) >= _FEWEST_ADVICE:
            draft.add_skipped("this row of a template tells what to write", "remove it", lines)
        else:
            yield cells, lines


_ADVICE = re.compile(r"\(optional\b|^(?:the )?(?:text|link) (?:of|for) (?:the )?\w+", re.IGNORECASE)
_FEWEST_ADVICE = 3
"""Fewest cells with advice."""


def _with_letters(
    names: Sequence[str], roles: Sequence[Column], rows: list[tuple[Sequence[str], tuple[int, int]]]
) -> list[tuple[Sequence[str], tuple[int, int]]]:
    """Returns the rows with letters for keys that are names of columns with options, such as `Answer B`."""
    letters = {
        spelled(name): chr(ord("A") + one.place) for name, one in zip(names, roles, strict=True) if one.role == "option"
    }
    keys = {at for at, column in enumerate(roles) if column.role in ("correct", "answer")}
    if not letters or len(keys) != 1:
        return rows
    return [
        ([letters.get(spelled(cell), cell) if at in keys else cell for at, cell in enumerate(cells)], lines)
        for cells, lines in rows
    ]


_GIVEN = re.compile(r"\b(?:your|user|my|given|selected|chosen|student|player|respondent)\b")
"""Words in the name of a column that holds a person's answer."""


def _key_of_content(
    names: Sequence[str], roles: Sequence[Column], rows: Sequence[tuple[Sequence[str], tuple[int, int]]]
) -> int | None:
    """Returns the only column with an unknown name that names an option in the rows, where no column is the key."""
    if any(column.role in ("correct", "answer") for column in roles):
        return None
    options = [at for at, column in enumerate(roles) if column.role == "option"]
    unknown = [
        at
        for at, (name, column) in enumerate(zip(names, roles, strict=True))
        if not column.role and not _GIVEN.search(spelled(name))
    ]
    cells = [[cell.strip() for cell in row] for row, _ in rows if len(row) == len(roles)]
    return find_key(cells, unknown, sorted(options, key=lambda at: roles[at].place))


def add_rows(
    draft: ImportDraft,
    roles: Sequence[Column],
    rows: Iterable[tuple[Sequence[str], tuple[int, int]]],
    base: int | None,
) -> None:
    """Adds the questions of all rows. `base`: the index of the first option, where the header shows it."""
    rows = _without_dashes(roles, list(rows))
    roles = [Column(*one) for one in past_labels(roles, [cells for cells, _ in rows])]
    read: list[Row] = []
    _name_longer_rows(draft, len(roles), rows)
    for cells, lines in rows:
        row = Row(*lines)
        for column, cell in zip(roles, cells, strict=False):
            text = cell.strip("\n")
            # An option may be a tag itself, such as `<h1>`.
            row.put(column, from_tagged(text) if column.role in ("question", "why") else text)
        if row.cells.keys() - {"id", "number"} or any(row.options.values()):
            # Templates number the rows that nobody filled in.
            read.append(row)
    numbers = [number for row in read if (number := row.cells.get("id", "").strip())]
    if len(set(numbers)) < len(numbers) and all(map(str.isdecimal, numbers)):
        # Tables that were put together count from 1 each.
        for row in read:
            row.cells.pop("id", None)
    read = with_accepted(with_flags(draft, read))
    for row, text in zip(read, without_numbers([row.cells.get("question", "") for row in read]), strict=True):
        row.cells |= {"question": text} if text else {}
    style = key_style(((options_in_row(row), row.key) for row in read), base)
    for row, options in zip(read, without_placeholders([(row.options, row.key) for row in read]), strict=True):
        row.options = options
    most_have_options = sum(map(_has_options, read)) * 2 > len(read)
    for row in read:
        if most_have_options and set(row.cells) <= {"question"} and not _has_options(row) and not _asks(row):
            lines = (row.first, row.last)
            draft.add_skipped("a row has neither options nor an answer", "complete the row, or remove it", lines)
        elif _has_options(row) and spelled(row.cells.get("question", "")).removeprefix("the ") in ASKING:
            draft.add_skipped("a row of the template is not filled in", "write the question", (row.first, row.last))
        else:
            add_row(draft, row, style)
    draft.merge(UNKNOWN_BASE)
    draft.merge(INVALID_ID)


def _name_longer_rows(draft: ImportDraft, width: int, rows: Sequence[tuple[Sequence[str], tuple[int, int]]]) -> None:
    """Adds a finding for the rows with more cells than columns: one for all with the same number of cells."""
    longer: dict[int, list[tuple[int, int]]] = {}
    for cells, lines in rows:
        if len(cells) > width:
            longer.setdefault(len(cells), []).append(lines)
    for count, places in longer.items():
        message = "a row has more cells than columns" if len(places) == 1 else "rows have more cells than columns"
        note = f"the header has {width} columns, the row has {count} cells"
        if len(places) > 1:
            shown = ", ".join(str(first) for first, _ in places[:_MOST_SHOWN])
            more = f" and {len(places) - _MOST_SHOWN} more" if len(places) > _MOST_SHOWN else ""
            note = f"the header has {width} columns, the rows in lines {shown}{more} have {count} cells"
        draft.add("Q606", message, "quote cells that contain the delimiter", places[0], note=note)


_MOST_SHOWN = 20
"""Most lines that a finding names."""


def _asks(row: Row) -> bool:
    return reads_as_question(row.cells.get("question", ""))


def _has_options(row: Row) -> bool:
    return bool(row.accepted) or any(text.strip() for text in row.options.values())


_RESPONSES = re.compile(
    r"timestamp|start time|completion time|e-?mail(?: address)?|score|total points|respondent|zeitstempel|startzeit"
    r"|horodateur|marca temporal|carimbo de data/hora|отметка времени"
)
_FEWEST_RESPONSES = 2


def _holds_responses(line: str) -> bool:
    """Returns whether a header is that of the answers to a form, as Google and Microsoft export them."""
    names = {name.strip().casefold() for mark in DELIMITERS for name in header_cells(line, mark)}
    return sum(_RESPONSES.fullmatch(name) is not None for name in names) >= _FEWEST_RESPONSES


def _read_headerless(draft: ImportDraft, first: int) -> ImportDraft:
    """Reads a table whose columns are known by what is in them, or says what its header needs."""
    named = _named_roles(draft.source, first)
    head = header_end(draft.source, first) if named else first - 1
    table = infer_columns(draft.source.lines[head:])
    tagged = None if named else infer_tagged_cards(draft.source.lines[head:])
    if tagged and (table is None or table.roles[0][0] != "question"):
        # A long back is not a question, although its front does not ask.
        table = tagged
    roles = [Column(role, place) for role, place in table.roles] if table else []
    if len(named) == len(roles):
        roles = _with_explanation(_with_inferred(named, roles))
    unsure = len(named) != len(roles) or not any(column.role == "question" for column in roles)
    if named and unsure and (known := _with_asking(draft, first)):
        delimiter, found = known
        return read_rows(draft, delimiter, first, lambda _: found)
    if table is None and (PurePath(draft.source.name).suffix.lower() in SHEETS or _holds_cards(draft.source)):
        if asking := _only_asking(draft.source, first):
            delimiter, found = asking
            at = next(index for index, column in enumerate(found) if column.role == "question")
            name = spelled(header_cells(draft.source.line(first), delimiter)[at])
            if name not in ASKING and not names_questions(name):
                message = f"the table has no column for the question: column {at + 1} asks"
                cure = f"if this is wrong, add a header with {_NEEDED}"
                draft.add("Q613", message, cure, (first, first), severity="note")
            return read_rows(draft, delimiter, first, lambda _: _with_explanation(found))
        fewest = _FEWEST_CARDS if _are_named_cards(draft.source) else _CARDS_ALONE
        table = infer_cards(draft.source.lines[first - 1 :], fewest)
        named = []
        roles = [Column(role, place) for role, place in table.roles] if table else []
    if table is None:
        return draft.unreadable(f"the first line is not a header: it needs {_NEEDED}", "add a header", first)
    if not any(column.role == "question" for column in roles):
        cells = max((header_cells(draft.source.line(first), mark) for mark in DELIMITERS), key=len)
        shown = ", ".join(f"`{name.strip()[:40]}`" for name in cells[:10] if name.strip())
        return draft.unreadable(f"none of the columns {shown} is known to hold questions", _RENAME, first)
    shown = _inferred_columns(named, roles) if named else table.explain()
    message = f"the table has no {_missing_names(named, roles, headed=table.headed)}: {shown}"
    cure = f"if this is wrong, add a header with {_NEEDED}"
    draft.add("Q613", message, cure, (first, first), severity="note")
    rows = list(rows_with_lines(draft, table.delimiter, head + 1))[int(table.headed) :]
    if len(table.roles) == _CARD:
        rows = _only_cards(draft, rows, table.delimiter)
    elif table is tagged:
        rows = [*_tagged_cards(draft, rows, table.delimiter)]
    add_rows(draft, roles, _without_placeholder(draft, roles, rows), base=None)
    return draft


def _missing_names(named: list[Column], roles: list[Column], *, headed: bool) -> str:
    """Returns what of the header is missing, in words."""
    if not named:
        return "header with known names" if headed else "header"
    if not any(column.role == "question" for column in named):
        return "column for the question"
    answers = any(column.role == "answer" for column in roles)
    return f"column for {'the answer' if answers else 'the options and the key'}"


def _with_asking(draft: ImportDraft, first: int) -> tuple[str, list[Column]] | None:
    """Returns the delimiter and the columns of a table whose header names answers but no questions: the only column
    with an unknown name, or one for titles, in which most rows ask has them. None if there is no such column."""
    for delimiter in DELIMITERS:
        named = header_roles(draft.source, first, delimiter)
        if not any(column.role in _ANSWERING for column in named):
            continue
        rows = [
            cells
            for cells, _ in islice(rows_with_lines(ImportDraft(draft.source, NAME), delimiter, first), _MOST_LOOKED_AT)
        ]
        asked = [
            sum(reads_as_question(row[at]) for row in rows[1:] if at < len(row)) * 5 >= (len(rows) - 1) * 4
            for at in range(len(named))
        ]
        found = [at for at, column in enumerate(named) if column.role in ("", "title") and asked[at]]
        found = found or _beside_options(named, rows[1:])
        if len(found) == 1 and len(rows) > _FEWEST_CARDS:
            named[found[0]] = Column("question")
            message = f"the table has no column for the question: column {found[0] + 1} asks"
            cure = f"if this is wrong, add a header with {_NEEDED}"
            draft.add("Q613", message, cure, (first, first), severity="note")
            return delimiter, named
    return None


def _beside_options(named: Sequence[Column], rows: Sequence[Sequence[str]]) -> list[int]:
    """Returns the only column with an unknown name that has texts of its own, beside columns of options and a key."""
    roles = [column.role for column in named]
    if roles.count("option") < _CARD or "correct" not in roles or len(rows) < _FEWEST_CHOICES:
        return []
    texts = {at: [row[at].strip() for row in rows if at < len(row)] for at, role in enumerate(roles) if not role}
    return [
        at for at, cells in texts.items() if holds_texts(cells) and len({*cells}) * 10 >= len(cells) * 9 and all(cells)
    ]


_RENAME = "call the column with the questions `question`, or state a recipe with its name: `prompt: name of the column`"


def _only_cards(
    draft: ImportDraft, rows: list[tuple[Sequence[str], tuple[int, int]]], delimiter: str
) -> list[tuple[Sequence[str], tuple[int, int]]]:
    """Returns the rows with a front and a back, and names the others, such as the marks of a program around them."""
    kept = []
    for cells, lines in rows:
        front, mark, back = draft.source.line(lines[0]).partition(delimiter)
        whole = lines[0] == lines[1] and '"' not in front and (delimiter != "," or reads_as_question(front))
        if len(cells) == _CARD:
            kept.append((cells, lines))
        elif len(cells) > _CARD and whole and mark and front.strip():
            # What follows the front is its back, also with a mark in it.
            kept.append(((front.strip(), back.strip()), lines))
        else:
            draft.add_skipped("this line is not a card: it has no front and back", "remove it", lines)
    return kept


def _tagged_cards(
    draft: ImportDraft, rows: list[tuple[Sequence[str], tuple[int, int]]], delimiter: str
) -> Iterator[tuple[Sequence[str], tuple[int, int]]]:
    """Yields the rows as a front, a back, which may have the delimiter in it, and tags; names the other lines."""
    for cells, lines in rows:
        if len(cells) > _CARD:
            yield (cells[0], delimiter.join(cells[1:-1]), cells[-1].strip()), lines
        else:
            draft.add_skipped("this line is not a card: it has no front, back and tags", "complete or remove it", lines)


_CARD = 2
"""Number of cells of a card."""


def _only_asking(source: Source, first: int) -> tuple[str, list[Column]] | None:
    """Returns the delimiter and the columns of a table of questions without answers: a column named for questions, such
    as `Question` or `Domanda specifica`, holds texts of its own."""
    for delimiter in DELIMITERS:
        names = header_cells(source.line(first), delimiter)
        roles = columns(names)
        shown = [spelled(name) for name in names]
        exact = [at for at, name in enumerate(shown) if name in ASKING]
        begun = [at for at, name in enumerate(shown) if names_questions(name)]
        rows = [header_cells(line, delimiter) for line in source.lines[first : first + _MOST_LOOKED_AT]]
        if len(names) < _CARD and not (exact and all(len(row) <= 1 for row in rows)):
            continue
        at = next(iter(exact or begun), None)
        at = _alone_asking(names, rows) if at is None else at
        cells = [row[at] for row in rows if at is not None and at < len(row) <= len(names)]
        if at is not None and holds_texts(cells):
            roles = [Column("") if column.role in ("question", "option", "reason") else column for column in roles]
            roles[at] = Column("question")
            return delimiter, roles
    return None


def _alone_asking(names: Sequence[str], rows: Sequence[Sequence[str]]) -> int | None:
    """Returns the only column of a table that has texts of its own, if nearly all of them ask; None for other tables,
    and where what names the columns asks too."""
    alike = [[cell.strip() for cell in row] for row in rows if len(row) == len(names)]
    if len(alike) < max(_FEWEST_CHOICES, len([row for row in rows if row]) * 4 / 5):
        return None
    texts = [at for at in range(len(names)) if holds_texts([row[at] for row in alike])]
    if len(texts) != 1 or any(map(reads_as_question, names)):
        return None
    asking = sum(reads_as_question(row[texts[0]]) for row in alike)
    return texts[0] if asking * 5 >= len(alike) * 4 else None


_MOST_LOOKED_AT = 300
"""Rows looked at."""


def _with_inferred(named: Sequence[Column], inferred: Sequence[Column]) -> list[Column]:
    """Returns the roles that the header names, with the column that asks, and those of options and the key where no
    column is named for them."""
    roles = {column.role for column in named}
    lacking = {"question"} - roles
    if {"options", "correct"} <= {column.role for column in inferred} and not roles & _ANSWERING:
        lacking |= {"options", "correct"}
    return [
        known if known.role else one if one.role in lacking else known
        for known, one in zip(named, inferred, strict=True)
    ]


_ANSWERING = {"option", "options", "wrong", "correct", "answer"}


def _with_explanation(roles: list[Column]) -> list[Column]:
    """Returns the roles; where no column answers, the one that explains does."""
    if any(column.role in _ANSWERING for column in roles):
        return roles
    return [Column("answer") if column.role == "why" else column for column in roles]


def _inferred_columns(named: Sequence[Column], roles: Sequence[Column]) -> str:
    """Returns what the columns are that the header does not name, in words."""
    words = {"question": "asks", "options": "has the options", "correct": "is the key", "answer": "answers"}
    pairs = zip(named, roles, strict=True) if len(named) == len(roles) else ()
    known = {n for n, (one, read) in enumerate(pairs, 1) if one.role and one.role == read.role}
    added = [(n, one.role) for n, one in enumerate(roles, 1) if n not in known]
    return ", ".join(f"column {n} {words[role]}" for n, role in added if role in words)


def _named_roles(source: Source, number: int) -> list[Column]:
    """Returns the roles of a line's columns, although none is known to hold the question; empty if it names none."""
    found = (header_roles(source, number, mark) for mark in DELIMITERS)
    best = max(found, key=lambda roles: sum(bool(column.role) for column in roles))
    return best if sum(bool(column.role) for column in best) > 1 else []


_DASHES = re.compile(r"[-–—]{1,4}|[.…]{1,5}")


def _without_dashes(
    roles: Sequence[Column], rows: list[tuple[Sequence[str], tuple[int, int]]]
) -> list[tuple[Sequence[str], tuple[int, int]]]:
    """Returns the rows without dashes for an answer that is missing. These recur; alone, one may be an operator."""
    at = next((index for index, column in enumerate(roles) if column.role == "answer"), None)
    if at is None:
        return rows
    dashed = [cells[at].strip() for cells, _ in rows if len(cells) > at and _DASHES.fullmatch(cells[at].strip())]
    if len(dashed) < _FEWEST_DASHED:
        return rows
    return [
        ([*cells[:at], "", *cells[at + 1 :]] if len(cells) > at and cells[at].strip() in dashed else cells, lines)
        for cells, lines in rows
    ]


_FEWEST_DASHED = 2


def _without_placeholder(
    draft: ImportDraft, roles: Sequence[Column], rows: list[tuple[Sequence[str], tuple[int, int]]]
) -> list[tuple[Sequence[str], tuple[int, int]]]:
    """Returns the rows without an answer such as `PASS` or `???` that most of them have."""
    at = next((index for index, column in enumerate(roles) if column.role == "answer"), None)
    if at is None or len(rows) < _FEWEST_SAME:
        return rows
    given = (cells[at].strip() for cells, _ in rows if len(cells) > at)
    placeholder, count = next(iter(Counter(filter(None, given)).most_common(1)), ("", 0))
    if (
        count * 2 <= len(rows)
        or any(map(str.islower, placeholder))
        or placeholder.casefold() in ("true", "false", "yes", "no")
    ):
        return rows
    same = [lines for cells, lines in rows if len(cells) > at and cells[at].strip() == placeholder]
    message = f"`{placeholder[:40]}` stands for the answer in {count} of {len(rows)} rows"
    draft.add("Q604", message, "write the answers", same[0], note="it was read as no answer")
    return [([*cells[:at], "", *cells[at + 1 :]] if lines in same else cells, lines) for cells, lines in rows]
