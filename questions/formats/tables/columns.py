"""Infers the columns of a table without a header from what is in them: question, options, key, answer.

The question is the column that asks, or the longest one. A key is a column that names an option in every row: by its
text, its letter or its number. Which column is right is never assumed from its place: without a key, options are
unanswered.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from statistics import mean
from typing import TYPE_CHECKING, TypeAlias

from questions.blocks import plain
from questions.formats.data.field_names import ROLE_OF, spelled
from questions.formats.tables.column_names import DEFINITIONS, TERMS
from questions.formats.tables.option_cells import parts_of
from questions.wording.stems import ends_asking, reads_as_question

if TYPE_CHECKING:
    from collections.abc import Sequence

_Role: TypeAlias = tuple[str, int]
"""Role of a column, as in a header, and the place of an option or its reason; without a name if it is not imported."""
_DELIMITERS = ("\t", ";", ",", "|")
_MOST_ROWS = 300
"""Rows looked at."""
_MOST_COLUMNS = 30
_REGULAR = 0.9
"""Share of rows that must have the same number of cells, and of rows in which a key must name an option."""
_ASKS = 1 / 3
"""Share of cells that ask in a column of questions."""
_LONG = 15
"""Mean length, characters, from which the longest column is taken for the questions if no column clearly asks."""
_FEW_VALUES = 0.35
"""Share of different values below which a column is a category."""
_FEWEST_OPTIONS = 2
_FEWEST_ROWS = 3
_FEWEST_ASCENDING = 5
"""Fewest numbers whose order can be seen to be no chance."""
_FEWEST_NAMED = 2
"""Fewest rows in which a column with an unknown name can be seen to repeat an option."""
_SUM = re.compile(r"[\d.\s]+(?:[-+*/x×÷^%=()][\d.\s]*)+\??")
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[ T][\d:.]+)?")
"""A date, which has the form of a sum."""
_ADDRESS = re.compile(r"[^\s@]+@[^\s@]+|https?://\S+|[\w./\\-]+\.\w{2,4}")
"""An address or the name of a file, which asks nothing."""
_LETTER = re.compile(r"[A-Ha-h](?:[ ]?[,;|/&]?[ ]?[A-H])*")
_NUMBERS = re.compile(r"\d(?:[ ]?[,;|/&][ ]?\d)*")


@dataclass(frozen=True, slots=True)
class InferredTable:
    """The columns of a table without a header."""

    delimiter: str
    roles: tuple[_Role, ...]
    headed: bool = False
    """Whether the first row names the columns, in words that are not known."""

    def explain(self) -> str:
        """Returns the reading in words, such as `column 1 asks, 2 to 5 are options, 6 is the key`."""
        names = [role for role, _ in self.roles]
        options = [index + 1 for index, name in enumerate(names) if name in ("option", "options")]
        parts = [f"column {names.index('question') + 1} asks"]
        if options:
            parts.append(
                f"{options[0]} to {options[-1]} are options" if len(options) > 1 else f"{options[0]} has the options"
            )
        parts += [f"{names.index(name) + 1} is the {word}" for name, word in _WORDS.items() if name in names]
        return ", ".join(parts)


_WORDS = {"correct": "key", "answer": "answer", "topic": "topic"}


def infer_columns(lines: Sequence[str]) -> InferredTable | None:
    """Returns the columns of a table without a header; None if no column is a question."""
    for delimiter in _DELIMITERS:
        rows = _rows(lines, delimiter)
        if max(map(len, rows), default=0) > _CARD:
            # Templates number the rows that nobody filled in.
            rows = [row for row in rows if not "".join(row).isdecimal()] or rows
        width, count = Counter(map(len, rows)).most_common(1)[0] if rows else (0, 0)
        if 1 < width <= _MOST_COLUMNS and count >= len(rows) * _REGULAR:
            alike = [row for row in rows if len(row) == width]
            headed = alike[:1] == rows[:1] and has_header(alike)
            roles = infer_roles(alike[1:] if headed else alike)
            if roles:
                return InferredTable(delimiter, roles, headed)
    return None


_FEWEST_CARDS = 5
"""Fewest rows of two texts that are cards although no front asks."""


def infer_cards(lines: Sequence[str], fewest: int = _FEWEST_CARDS) -> InferredTable | None:
    """Returns the columns of a table whose rows are fronts and backs, with different fronts; None for other tables,
    and for one of fewer rows than `fewest`."""
    for delimiter in _DELIMITERS:
        rows = [row for line in lines[:_MOST_ROWS] for row in _rows([line], delimiter)]
        # Exports end each row with an empty cell for tags.
        empty = bool(rows) and all(len(row) > 2 and not row[-1] for row in rows)
        rows = [row[:-1] for row in rows] if empty else rows
        pairs = sum(len(row) == 2 for row in rows)
        # A back may have the delimiter in it, behind a front that asks.
        cards = [row for row in rows if len(row) == 2 or (len(row) > 2 and reads_as_question(row[0]))]
        if pairs < fewest or pairs * 2 < len(rows) or len(cards) < len(rows) * _REGULAR:
            continue
        fronts, backs = [row[0] for row in cards], [row[1] for row in cards]
        ascends = _ascends([tuple(fronts), tuple(backs)], 0, 1)
        different = len(set(fronts)) >= len(fronts) * _REGULAR and not ascends
        if different and holds_texts(fronts) and holds_texts(backs):
            return InferredTable(delimiter, (("question", 0), ("answer", 0), *((("", 0),) if empty else ())))
    return None


_TAGS = re.compile(r"[\w#:./+-]{1,40}(?: [\w#:./+-]{1,40}){0,3}")
_FEW_TAGS = 0.2
"""Share of different tags, at most, by which a third cell is seen to hold tags."""
_SOME_ASK = 0.1
"""Share of fronts, at least, that ask where tags show that the lines are cards."""


def infer_tagged_cards(lines: Sequence[str]) -> InferredTable | None:
    """Returns the columns of cards with tags in a third cell, as programs for cards import them: some fronts ask, and
    the same few tags recur. None for other tables."""
    for delimiter in ("\t", ";"):
        rows = [row for line in lines[:_MOST_ROWS] for row in _rows([line], delimiter)]
        cards = [row for row in rows if len(row) == 3]
        if len(cards) < _FEWEST_CARDS or len(cards) < len(rows) * _REGULAR:
            continue
        fronts, backs, tags = zip(*cards, strict=True)
        few = len(set(tags)) <= max(len(tags) * _FEW_TAGS, 1) and all(map(_TAGS.fullmatch, tags))
        different = holds_texts(fronts) and holds_texts(backs) and len(set(fronts)) >= len(fronts) * _REGULAR
        if few and different and not any(map(str.isdecimal, tags)) and _share(fronts, reads_as_question) >= _SOME_ASK:
            return InferredTable(delimiter, (("question", 0), ("answer", 0), ("tags", 0)))
    return None


def holds_texts(cells: Sequence[str]) -> bool:
    """Returns whether nearly all cells have words, and they differ: no numbers, codes or categories."""
    words = [cell for cell in cells if sum(map(str.isalpha, cell)) > 1 or not any(map(str.isalnum, cell))]
    return bool(cells) and len(words) >= len(cells) * _REGULAR and len(set(words)) > len(words) * _FEW_VALUES


def _rows(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    """Returns the first rows, without empty cells at their ends that all of them have."""
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter, skipinitialspace=True)
    rows: list[list[str]] = []
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells):
                rows.append(cells)
            if len(rows) >= _MOST_ROWS:
                break
    except csv.Error:
        return []
    return rows


def infer_roles(rows: Sequence[Sequence[str]]) -> tuple[_Role, ...]:
    """Returns the role of each column of rows with the same number of cells; empty if none asks."""
    columns = list(zip(*rows[:_MOST_ROWS], strict=True))
    filled = [index for index, cells in enumerate(columns) if any(cells) and not _is_label(columns, index)]
    asks = _question(columns, filled)
    if asks is None:
        return ()
    others = [index for index in filled if index != asks]
    if len(others) > _FEWEST_OPTIONS:
        others = [index for index in others if not _counts_rows(columns[index])]
    found = _answering_roles(columns, asks, others)
    if not found:
        return ()
    found[asks] = ("question", 0)
    topic = next((index for index in others if index not in found and _is_topic(columns[index])), None)
    if topic is not None:
        found[topic] = ("topic", 0)
    return tuple(found.get(index, ("", 0)) for index in range(len(columns)))


def _answering_roles(columns: list[tuple[str, ...]], asks: int, others: list[int]) -> dict[int, _Role]:
    """Returns the roles of the columns with options, keys, reasons and answers, by index; empty if nothing answers."""
    key, options = _keyed(columns, asks, others)
    if key is not None:
        reasons = _commented(columns, key, options)
        return {
            key: ("correct", 0),
            **{index: ("reason", place) for place, index in enumerate(reasons)},
            **{index: ("option", place) for place, index in enumerate(options[::2] if reasons else options)},
        }
    listed = next((index for index in others if _lists_options(columns[index])), None)
    if listed is not None:
        key = next((index for index in reversed(others) if index != listed and _are_letters(columns[index])), None)
        return {} if key is None else {listed: ("options", 0), key: ("correct", 0)}
    if parted := _parted(columns, asks, others):
        listed, key = parted
        return {listed: ("options", 0), key: ("correct", 0)}
    texts = [index for index in others if index > asks and (len(others) == 1 or _is_text(columns[index]))]
    texts = _of_one_kind(columns, texts)
    if len(texts) == 1:
        return (
            {} if _ascends(columns, asks, texts[0]) or _counts(columns, asks, texts[0]) else {texts[0]: ("answer", 0)}
        )
    return {index: ("option", place) for place, index in enumerate(texts)}


def _ascends(columns: Sequence[Sequence[str]], asks: int, at: int) -> bool:
    """Returns whether a column has numbers that ascend, as those of pages and rows do, and answers hardly ever: only
    those of sums are often sorted."""
    cells = columns[at]
    if len(cells) < _FEWEST_ASCENDING or not all(map(str.isdecimal, cells)):
        return False
    steps = [below >= above for above, below in pairwise(map(int, cells))]
    return sum(steps) >= len(steps) * _REGULAR and not any(map(_SUM.fullmatch, columns[asks]))


def _counts_rows(cells: Sequence[str]) -> bool:
    """Returns whether a column has the numbers of rows: each is the one after that above."""
    if len(cells) < _FEWEST_ASCENDING or not all(map(str.isdecimal, cells)):
        return False
    return all(below == above + 1 for above, below in pairwise(map(int, cells)))


def _counts(columns: Sequence[Sequence[str]], asks: int, at: int) -> bool:
    """Returns whether a column has nothing but numbers beside texts that do not ask, which it hardly answers."""
    return _share(columns[asks], _may_ask) < _ASKS and all(map(str.isdecimal, columns[at])) and len(columns) > _CARD


_CARD = 2
"""Columns of a table of fronts and backs."""


def _question(columns: list[tuple[str, ...]], filled: list[int]) -> int | None:
    """Returns the column that asks most, or the longest of those with different texts."""
    shares = {index: _share(columns[index], _may_ask) for index in filled}
    best = max(filled, key=lambda index: (shares[index], -index), default=None)
    if best is None or best == filled[-1]:
        return None
    if shares[best] >= _ASKS:
        return best
    lengths = {index: mean(map(len, columns[index])) for index in filled}
    if all(map(_ADDRESS.fullmatch, columns[max(filled, key=lambda index: lengths[index])])):
        return None
    longest = max(filled, key=lambda index: lengths[index])
    different = [index for index in filled if _is_text(columns[index])]
    if longest in different and longest != filled[-1] and lengths[longest] >= _LONG and len(different) > 1:
        return longest
    return None


def _may_ask(cell: str) -> bool:
    is_sum = _SUM.fullmatch(cell[:100]) is not None and not _DATE.fullmatch(cell.strip())
    return reads_as_question(cell) or is_sum or "___" in cell


def _share(cells: Sequence[str], holds: object) -> float:
    assert callable(holds)
    return sum(map(bool, map(holds, cells))) / max(len(cells), 1)


def _is_text(cells: Sequence[str]) -> bool:
    """Returns whether a column has texts of its own in most rows, unlike a number or a category."""
    words = [cell for cell in cells if cell]
    if len(words) * 2 < len(cells) or len(set(words)) < len(words) * _FEW_VALUES:
        return False
    return len(cells) > 1 or not words[0].isdigit()


def _is_topic(cells: Sequence[str]) -> bool:
    """Returns whether a column has a few words that recur."""
    words = {cell for cell in cells if cell}
    if _is_state(cells):
        return False
    named = len(words) > 1 and all(any(character.isalpha() for character in word) for word in words)
    return named and len(cells) > 3 and len(words) <= max(len(cells) * _FEW_VALUES, 2)


def _keyed(columns: list[tuple[str, ...]], asks: int, others: list[int]) -> tuple[int | None, list[int]]:
    """Returns the column that names an option in nearly every row, and the columns of options."""
    for names in (_names_text, _names_letter, _names_number):
        for key in reversed(others):
            options = _of_one_kind(columns, [index for index in others if index > asks and index != key])
            # The options are side by side: what follows a key in the last columns explains.
            if key - 1 in options:
                options = [index for index in options if index < key]
            while len(options) > _FEWEST_OPTIONS and _is_setting(columns[options[-1]], columns[options[-2]]):
                options.pop()
            if len(options) > 1 and names(columns[key], [columns[index] for index in options]):
                return key, options
    return None, []


def _of_one_kind(columns: list[tuple[str, ...]], among: list[int]) -> list[int]:
    """Returns the columns that may hold options: where some hold nothing but words, those that hold nothing but
    numbers or truth values say something else, such as a level or a state."""
    if not among or len(columns[among[0]]) < _FEWEST_ROWS:
        return among
    worded = [at for at in among if not any(map(str.isdecimal, columns[at])) and not _is_state(columns[at])]
    stating = {at for at in among if all(map(str.isdecimal, columns[at])) or _is_state(columns[at])}
    return [at for at in among if at not in stating] if worded else among


def _is_state(cells: Sequence[str]) -> bool:
    """Returns whether a column says now true, now false; as options, both have columns of their own."""
    return {cell.casefold() for cell in cells} == {"true", "false"}


_SENTENCE = re.compile(r"[.!?…。！？][\"'”’»)]?$")


def _commented(columns: list[tuple[str, ...]], key: int, options: list[int]) -> list[int]:
    """Returns the columns of comments where each option has one right behind it: every other column holds sentences,
    and no number in the key goes beyond the options without them. Empty for other tables."""
    texts, comments = options[::2], options[1::2]
    if len(texts) < _FEWEST_OPTIONS or len(texts) != len(comments) or len(columns[key]) < _FEWEST_ROWS:
        return []
    if not all(map(str.isdecimal, columns[key])) or max(map(int, columns[key])) > len(texts):
        return []

    def sentences(among: list[int]) -> float:
        return mean(_share(columns[index], _SENTENCE.search) for index in among)

    return comments if sentences(comments) >= _REGULAR and sentences(texts) < _ASKS else []


def find_key(rows: Sequence[Sequence[str]], among: Sequence[int], options: Sequence[int]) -> int | None:
    """Returns the only column among some that names an option in nearly every row, by its text or its letter; a number
    could be anything. Needs rows of the same length."""
    if len(options) < _FEWEST_OPTIONS or len(rows) < _FEWEST_NAMED:
        return None
    columns = list(zip(*rows[:_MOST_ROWS], strict=True))
    offered = [columns[at] for at in options]
    for names, fewest in ((_names_text, _FEWEST_NAMED), (_names_letter, _FEWEST_ROWS)):
        found = [at for at in among if len(rows) >= fewest and names(columns[at], offered)]
        if found:
            return found[0] if len(found) == 1 else None
    return None


_LABEL = re.compile(r"[(\[]?(?:[A-Za-z]|\d)[)\].:]?|[①-⑩]")
"""What an option is called: `A`, `(2)`."""


def past_labels(roles: Sequence[tuple[str, int]], rows: Sequence[Sequence[str]]) -> list[tuple[str, int]]:
    """Returns the roles; where each column of options holds one label in all rows, such as `(1)`, the columns beside
    them are the options."""
    options = [at for at, (role, _) in enumerate(roles) if role == "option"]
    columns = list(zip(*(row for row in rows if len(row) == len(roles)), strict=True))
    if len(options) < _FEWEST_OPTIONS or not columns or not all(_is_label(columns, at) for at in options):
        return list(roles)
    if any(roles[at + 1][0] for at in options):
        return list(roles)
    moved = {at + 1: roles[at] for at in options}
    return [moved.get(at, ("", 0) if at in options else role) for at, role in enumerate(roles)]


def repeats_labels(cells: Sequence[str], below: Sequence[str]) -> bool:
    """Returns whether two rows have the same labels of options in the same places, so that neither is a header."""
    same = [one for one, other in zip(cells, below, strict=False) if one.strip() == other.strip()]
    return sum(_LABEL.fullmatch(one.strip()) is not None for one in same) >= _FEWEST_OPTIONS


def _is_label(columns: Sequence[Sequence[str]], at: int) -> bool:
    """Returns whether a column holds the same label of an option in all rows, and the next one differs."""
    labels = {cell.strip() for cell in columns[at]} - {""}
    beside = set(columns[at + 1]) if at + 1 < len(columns) else set()
    alike = len(labels) == 1 and all(map(_LABEL.fullmatch, labels))
    return alike and len(columns[at]) >= _FEWEST_ROWS and len(beside) > 1


def _is_setting(cells: Sequence[str], before: Sequence[str]) -> bool:
    """Returns whether a column holds numbers unlike the options before it, such as a time limit."""
    if not all(map(str.isdecimal, cells)):
        return False
    few = len(cells) > _FEWEST_ROWS and len(set(cells)) <= len(cells) * _FEW_VALUES
    return few or sum(map(str.isdecimal, before)) * 2 < len(before)


_LETTERED_LINE = re.compile(r"(?m)^[ \t]*\(?[A-Ha-h][).][ \t]+\S")


def _lists_options(cells: Sequence[str]) -> bool:
    """Returns whether nearly every cell has all options, each in a line with its letter."""
    return sum(len(_LETTERED_LINE.findall(cell)) > 1 for cell in cells) >= len(cells) * _REGULAR


def _parted(columns: list[tuple[str, ...]], asks: int, others: list[int]) -> tuple[int, int] | None:
    """Returns the column whose cells have all options, with bars or semicolons between them, and the only column that
    repeats one of them in nearly every row."""
    for listed in others:
        cells = [[plain(part).casefold() for part in parts_of(cell)] for cell in columns[listed]]
        clear = sum(
            len(parts) > 1 and ("|" in cell or ";" in cell) for parts, cell in zip(cells, columns[listed], strict=True)
        )
        if listed < asks or len(cells) < _FEWEST_ROWS or clear < len(cells) * _REGULAR:
            continue
        named = [
            at
            for at in others
            if at != listed
            and sum(parts.count(plain(key).casefold()) == 1 for parts, key in zip(cells, columns[at], strict=True))
            >= len(cells) * _REGULAR
        ]
        if len(named) == 1:
            return listed, named[0]
    return None


def _are_letters(cells: Sequence[str]) -> bool:
    return sum(_LETTER.fullmatch(cell) is not None for cell in cells) >= len(cells) * _REGULAR


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Returns whether the first row names the columns: where all others have a number, a letter or a date, it has a
    word; or where all others end with a question mark, and the rest of the row is not an answer such as theirs."""
    first, *below = rows
    if len(below) < _FEWEST_ROWS:
        return False
    columns = list(zip(*below, strict=True))
    marked = [
        at
        for at, cells in enumerate(columns)
        if (all(map(str.isdecimal, cells)) or _are_letters(cells) or all(map(_DATE.fullmatch, cells)))
        and len(first[at]) > 1
        and first[at][0].isalpha()
    ]
    asking = [at for at, cells in enumerate(columns) if all(map(ends_asking, cells)) and len(first[at].split()) == 1]
    named = marked or any(_names_column(first[at], columns[at]) for at in range(len(first)) if at not in asking)
    return bool(asking and (named or _is_known(first))) or (bool(marked) and not any(map(reads_as_question, first)))


def _is_known(cells: Sequence[str]) -> bool:
    return any(spelled(cell) in ROLE_OF or spelled(cell) in TERMS | DEFINITIONS for cell in cells)


_LONGEST_NAME = 2
"""Most words of a name of a column that is above texts."""


def _names_column(cell: str, below: Sequence[str]) -> bool:
    """Returns whether a cell may be the name of the texts below it: it is shorter than nearly all of them, or has a
    capital letter as none of them has. A question of one word has an answer such as the others have."""
    words = len(cell.split())
    longer = sum(len(text.split()) > max(words, _LONGEST_NAME) for text in below) >= len(below) * _REGULAR
    capital = cell[:1].isupper() and all(text[:1].islower() for text in below)
    return 0 < words <= _LONGEST_NAME and (longer or capital)


def _names_text(key: Sequence[str], options: list[tuple[str, ...]]) -> bool:
    hits = 0
    for cell, *offered in zip(key, *options, strict=True):
        texts = [plain(one).casefold() for one in offered if one]
        hits += bool(cell) and texts.count(plain(cell).casefold()) == 1
    return hits >= len(key) * _REGULAR


def _names_letter(key: Sequence[str], options: list[tuple[str, ...]]) -> bool:
    letters = "abcdefgh"[: len(options)]
    named = (set(re.findall("[a-h]", cell.casefold())) if _LETTER.fullmatch(cell) else set() for cell in key)
    return sum(bool(one) and one <= set(letters) for one in named) >= len(key) * _REGULAR


def _names_number(key: Sequence[str], options: list[tuple[str, ...]]) -> bool:
    named = ([int(one) for one in re.findall(r"\d", cell)] if _NUMBERS.fullmatch(cell) else [] for cell in key)
    return sum(bool(one) and max(one) <= len(options) for one in named) >= len(key) * _REGULAR
