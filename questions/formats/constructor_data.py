"""Finds records in programs in Dart, Kotlin, Java, C#, Swift, Go and Ruby, which are parsed and never run.

A record is a call with names (`Question(text: "…", options: […])`), an object with fields
(`new Question { Text = "…" }`, `{Question: "…", Options: []string{…}}`), or a call whose places its declaration in the
same program names, or whose values show what they are. What only the program knows, such as a variable, is left out,
and so is a list with it.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from questions.formats.data.roles import role_of, role_of_list
from questions.formats.data.shapes import asking_names, rows_of_columns
from questions.wording.stems import reads_as_question

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LANGUAGES = {
    ".dart": "Dart",
    ".kt": "Kotlin",
    ".kts": "Kotlin",
    ".java": "Java",
    ".cs": "C#",
    ".swift": "Swift",
    ".go": "Go",
    ".rb": "Ruby",
}
"""Languages by the suffixes of their programs."""
_TOKEN = re.compile(
    r"(?P<space>\s+|//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z)|<[\w\s,.?<>]{1,80}>(?=\s*[\[{(]))"
    r"|(?P<long>\"{3}(?:[^\"\\]|\\.|\"(?!\"\"))*(?:\"{3}|\Z)|'{3}(?:[^'\\]|\\.|'(?!''))*(?:'{3}|\Z))"
    r"|(?P<before>[$@r]{0,2})(?:\"(?P<double>(?:[^\"\\\n]|\\.)*)\"|'(?P<single>(?:[^'\\\n]|\\.)*)')|`(?P<back>[^`]*)`"
    r"|(?P<number>-?\d+(?:\.\d+)?)[fFdDlLmM]?"
    r"|(?P<word>[A-Za-z_@][\w$]*)(?:<[\w\s,.?<>\[\]]{0,80}>(?=\s*[({\[]))?"
    r"|(?P<open>[\[({])|(?P<close>[\])}])|(?P<separator>[,;])|(?P<mark>=>|[:=.+])|(?P<other>.)",
    re.DOTALL,
)
_RUBY_COMMENT = re.compile(r"(?m)^[ \t]*#[^\n]*")
_CLOSING = {"]": "[", ")": "(", "}": "{"}
_DEEPEST = 40
_MOST_READ = 2_000_000
"""Characters of a program that are looked at."""
_ESCAPE = re.compile(r"\\(?:u\{?(?P<code>[0-9a-fA-F]{4,6})\}?|(?P<sign>.))", re.DOTALL)
_SIGNS = {"n": "\n", "t": "\t", "r": "", "0": "", "b": "", "\n": ""}
_VARIABLE = {
    ".dart": re.compile(r"(?<!\\)\$(?:[A-Za-z_]|\{)"),
    ".kt": re.compile(r"(?<!\\)\$(?:[A-Za-z_]|\{)"),
    ".kts": re.compile(r"(?<!\\)\$(?:[A-Za-z_]|\{)"),
    ".swift": re.compile(r"\\\("),
    ".rb": re.compile(r"#\{"),
    ".php": re.compile(r"(?<!\\)(?:\$[A-Za-z_{]|\{\$)"),
}
"""The place of a variable in a text, by the suffix of the program."""
_WORDS: dict[str, Any] = {"true": True, "false": False, "True": True, "False": False, "null": None, "nil": None}
_BEFORE_VALUES = ("new", "const", "final", "val", "var", "let")
_LISTS = re.compile(
    r"(?:mutable|array|immutable)?(?:List|Array|Set)Of|asList|of|(?:Array|Immutable)?(?:List|Set|Array)|Vector|listOf|arrayOf"
    r"|setOf|toArray|copyOf|array"
)
"""Names of calls that make a list of their arguments."""
_KEEPING = ("toList", "toMutableList", "trimIndent", "trimMargin", "trim", "freeze", "to_s", "toTypedArray")
"""Methods that leave the value as it is."""


class _Unknown:
    """What only the program knows."""


_UNKNOWN = _Unknown()


class Call(NamedTuple):
    """A call with its arguments in their order, or with one mapping of their names. An argument that only the program
    knows is None."""

    name: str
    values: list[Any]


class _Part(NamedTuple):
    """A token, or brackets with all that is in them."""

    kind: str
    """`text`, `number`, `word`, `mark` or `group`."""
    value: Any


@dataclass(slots=True)
class _Group:
    """Brackets and what is between them."""

    mark: str
    name: str
    """The last word before them; that of a call, or of the type of an object."""
    entries: list[list[_Part]] = field(default_factory=lambda: [[]])
    is_block: bool = False
    """Whether it has statements."""
    known: list[Any] = field(default_factory=list)
    """Its data, once known."""


def constructor_records(program: str, suffix: str) -> Iterator[Any]:
    """Yields the records of a program: those that are made by calls of the same name are a list, in their order. So are
    those whose questions, options and keys are in lists of their own."""
    tree = parse_brackets(program, suffix)
    fill_in_variables(tree, {})
    declared = dict(_declarations(tree))
    found: dict[str, list[Any]] = {}
    columns: dict[str, Any] = {}
    waiting = [tree]
    while waiting:
        group = waiting.pop()
        data = data_of(group)
        record = as_record(data, declared) if role_of(group.name) not in _OFFERED else None
        if record is not None:
            found.setdefault(group.name, []).append(record)
        elif isinstance(data, dict) and (asked := asking_names(data)):
            yield asked
        else:
            columns.update(assigned_lists(group))
            waiting += reversed(list(inner_groups(group)))
    for records in found.values():
        yield named_by_shape(records)
    if rows := rows_of_columns(columns, {name: role_of_list(name) for name in columns}):
        yield rows


def inner_groups(group: _Group) -> Iterator[_Group]:
    for entry in group.entries:
        for part in entry:
            if part.kind == "group":
                yield part.value


def assigned_lists(group: _Group) -> Iterator[tuple[str, list[Any]]]:
    """Yields the names of variables with the lists that they hold."""
    for entry in group.entries:
        for at, part in enumerate(entry[1:-1], 1):
            if part.value != "=":
                continue
            # A type may stand behind a colon: `questions: string[] = […]`; in Go, a colon alone: `questions := …`.
            typed = next((place for place in range(at - 1, 0, -1) if entry[place].value in (":", "=")), 0)
            typed = typed if typed and entry[typed].value == ":" else at
            if entry[typed - 1].kind == "word":
                value, _ = _primary(entry, at + 1 + (entry[at + 1].value in _BEFORE_VALUES))
                if isinstance(value, list) and len(value) >= _FEWEST_IN_COLUMN:
                    yield str(entry[typed - 1].value), value


_FEWEST_IN_COLUMN = 3
MOST_OPTIONS = 50
"""Longest list that a variable holds and that is put in the place of its name: that of a question's options."""
_OFFERED = ("options", "correct")
"""Roles of the names of classes whose objects are options: `Answer("a view", true)`."""


def fill_in_variables(group: _Group, held: dict[str, list[_Part]]) -> bool:
    """Puts options and lists of texts that variables hold where they are named alone, as in
    `new Question("…", first, second)`. Returns whether something was put in; `held` has what the variables before hold,
    and gets that of others."""
    filled = False
    for entry in group.entries:
        if len(entry) == 1 and entry[0].kind == "word" and entry[0].value in held and not group.is_block:
            entry[:] = held[entry[0].value]
            filled = True
            continue
        changed = [fill_in_variables(part.value, held) for part in entry if part.kind == "group"]
        filled = filled or any(changed)
        at = next((at for at, part in enumerate(entry) if part.value == "=" and part.kind == "mark"), 0)
        if at and entry[at - 1].kind == "word" and not any(changed) and _is_part_of_question(entry[at + 1 :]):
            held[str(entry[at - 1].value)] = entry[at + 1 :]
    return filled


def _is_part_of_question(value: Sequence[_Part]) -> bool:
    data = _value(value)
    if isinstance(data, list):
        return len(data) <= MOST_OPTIONS and all(isinstance(one, str | int | float) for one in data)
    return isinstance(data, Call) and role_of(data.name) in _OFFERED


# Brackets


def parse_brackets(program: str, suffix: str) -> _Group:
    """Returns the brackets of a program as a tree; a closing bracket closes the innermost one of its kind."""
    text = program[:_MOST_READ]
    if suffix == ".rb":
        text = _RUBY_COMMENT.sub("", text)
    root = _Group("", "", is_block=True)
    open_ = [root]
    for token in _TOKEN.finditer(text):
        entry = open_[-1].entries[-1]
        if token["space"]:
            continue
        if token["open"]:
            group = _Group(token["open"], _name_before(entry))
            entry.append(_Part("group", group))
            if len(open_) >= _DEEPEST:
                break
            open_.append(group)
        elif mark := _CLOSING.get(token[0]):
            at = next((at for at in range(len(open_) - 1, 0, -1) if open_[at].mark == mark), 0)
            del open_[at or len(open_) :]
        elif token["separator"]:
            open_[-1].is_block = open_[-1].is_block or token[0] == ";"
            open_[-1].entries.append([])
        else:
            entry.append(_part(token, suffix))
    return root


def _name_before(entry: list[_Part]) -> str:
    """Returns the name of brackets: the word before them, or that of the brackets before them."""
    if not entry:
        return ""
    last = entry[-1]
    if last.kind == "group":
        return str(last.value.name)
    if last.value == "new" and len(entry) > 2 and entry[-2].value == ".":
        # An object in Ruby: `Question.new(…)`.
        last = entry[-3]
    return str(last.value) if last.kind == "word" else ""


def _part(token: re.Match[str], suffix: str) -> _Part:
    if token["number"]:
        return _Part("number", float(token["number"]) if "." in token["number"] else int(token["number"]))
    if token["word"]:
        return _Part("word", token["word"])
    if (long := token["long"]) is not None:
        return _text(textwrap.dedent(long[3:-3].strip("\n")), suffix)
    quoted = next((token[name] for name in ("double", "single", "back") if token[name] is not None), None)
    if quoted is None:
        return _Part("mark", token[0])
    before = token["before"] or ""
    if "$" in before and "{" in quoted:
        return _Part("text", _UNKNOWN)
    return _Part("text", quoted) if before or token["back"] is not None else _text(quoted, suffix)


def _text(quoted: str, suffix: str) -> _Part:
    if suffix in _VARIABLE and _VARIABLE[suffix].search(quoted):
        return _Part("text", _UNKNOWN)
    return _Part("text", _ESCAPE.sub(_unescaped, quoted))


def _unescaped(found: re.Match[str]) -> str:
    if found["code"]:
        code = int(found["code"], 16)
        return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else ""
    return _SIGNS.get(found["sign"], found["sign"])


# Values


def data_of(group: _Group) -> Any:
    """Returns what brackets hold: a list, a mapping, a call, or nothing known."""
    if not group.known:
        group.known.append(_data_of(group))
    return group.known[0]


def _data_of(group: _Group) -> Any:
    entries = [entry for entry in group.entries if entry]
    if group.is_block or not entries:
        return _UNKNOWN
    named = [_named(entry) for entry in entries]
    if all(named) or (group.mark == "(" and any(named)):
        pairs = [(one[0], _value(one[1])) for one in named if one]
        return {name: value for name, value in pairs if value is not _UNKNOWN}
    values = [_value(entry) for entry in entries]
    if group.mark != "(" or _LISTS.fullmatch(group.name):
        lists = len(values) == 1 and isinstance(values[0], list)
        return values[0] if lists and group.mark == "(" else _UNKNOWN if _UNKNOWN in values else values
    if not group.name:
        return values[0] if len(values) == 1 else _UNKNOWN if _UNKNOWN in values else values
    return Call(group.name, [None if value is _UNKNOWN else value for value in values])


def _named(entry: list[_Part]) -> tuple[str, list[_Part]] | None:
    """Returns the name and the value of an entry such as `text: "…"`, `Text = "…"`, `"text": "…"` or `"a" to "b"`."""
    if len(entry) < 3 or entry[0].kind not in ("word", "text", "number"):
        return None
    behind = entry[1]
    if (behind.kind, behind.value) in (("mark", ":"), ("mark", "="), ("mark", "=>"), ("word", "to")):
        return str(entry[0].value), entry[2:]
    return None


def _value(entry: Sequence[_Part]) -> Any:
    """Returns the value of an expression."""
    at = 0
    while at < len(entry) and entry[at].kind == "word" and entry[at].value in _BEFORE_VALUES:
        at += 1
    value, at = _primary(entry, at)
    while at + 2 < len(entry) and entry[at].value == "." and entry[at + 1].value in _KEEPING:
        at += 3
    return value if at >= len(entry) else _UNKNOWN


def _primary(entry: Sequence[_Part], at: int) -> tuple[Any, int]:
    """Returns the value that begins at a place in an expression, and where it ends."""
    if at >= len(entry):
        return _UNKNOWN, at
    kind = entry[at].kind
    if kind == "number":
        return entry[at].value, at + 1
    if kind == "text":
        return _joined(entry, at)
    while at + 2 < len(entry) and entry[at].kind == "word" and entry[at + 1].value == ".":
        at += 2
    word = entry[at].value if entry[at].kind == "word" else ""
    end = at
    while end < len(entry) and entry[end].kind in ("word", "group"):
        end += 1
    groups = [part.value for part in entry[at:end] if part.kind == "group"]
    if not groups:
        return _WORDS.get(word, _UNKNOWN), at + 1
    return _data_of_groups(groups), end


def _joined(entry: Sequence[_Part], at: int) -> tuple[Any, int]:
    """Returns a text in several pieces, one after another or with `+` between them."""
    pieces = []
    while at < len(entry) and entry[at].kind == "text":
        pieces.append(entry[at].value)
        at += 1
        if at + 1 < len(entry) and entry[at].value == "+" and entry[at + 1].kind == "text":
            at += 1
    return _UNKNOWN if _UNKNOWN in pieces else "".join(pieces), at


def _data_of_groups(groups: Sequence[_Group]) -> Any:
    """Returns the data of an object: brackets alone, those of an array behind its type (`new String[] {…}`,
    `[]string{…}`), or fields behind the arguments of a call."""
    data = [data_of(group) for group in groups]
    if len(groups) == 1:
        return data[0]
    if groups[-1].mark == "{" and all(group.mark == "[" for group in groups[:-1]):
        return data[-1]
    if [group.mark for group in groups] == ["(", "{"]:
        return data[1] if isinstance(data[1], dict | list) else data[0]
    return _UNKNOWN


# Records


def as_record(data: Any, declared: dict[tuple[str, int], list[str]]) -> Any:
    """Returns what brackets hold as a record; None if they hold no question."""
    if isinstance(data, dict):
        named = _plain(data, declared)
        return named if any(role_of(name) == "question" and isinstance(named[name], str) for name in named) else None
    if not isinstance(data, Call | list) or (isinstance(data, Call) and len(data.values) < 2):
        return None
    record = _plain(data, declared)
    if isinstance(record, dict):
        return as_record(record, {})
    if not isinstance(record, list) or len(record) < 2 or isinstance(record[0], list | dict):
        return None
    asked = sum(isinstance(one, str) and reads_as_question(one) for one in record)
    given = data.values if isinstance(data, Call) else data
    offered = [one for one in given if isinstance(one, list) and len(one) > 1]
    return record if asked == 1 or (len(offered) == 1 and any(isinstance(one, str) for one in record)) else None


def _plain(data: Any, declared: dict[tuple[str, int], list[str]]) -> Any:
    """Returns data without calls: their values by the names of their places, or as a list; a text with a truth value
    (`Answer("a view", true)`) as an option, and a text alone as that text."""
    if isinstance(data, dict):
        return {name: _plain(value, declared) for name, value in data.items()}
    if isinstance(data, list):
        return [_plain(one, declared) for one in data]
    if not isinstance(data, Call):
        return data
    names = declared.get((data.name, len(data.values)))
    values = [_plain(one, declared) for one in data.values]
    match values:
        case _ if names:
            return {name: one for name, one in zip(names, values, strict=True) if one is not None}
        case [str(text)] if data.name[:1].isupper() or " " in text:
            return text
        case [_]:
            return None
        case [str(text), bool(right)]:
            return {"text": text, "correct": right}
        case _:
            return values


def _declarations(tree: _Group) -> Iterator[tuple[tuple[str, int], list[str]]]:
    """Yields the names of the places of a call, by its name and their number, as its declaration gives them."""
    waiting = [tree]
    while waiting:
        group = waiting.pop()
        waiting += inner_groups(group)
        if group.mark == "(" and group.name[:1].isupper() and not group.is_block:
            names = [_declared_name(entry) for entry in group.entries if entry]
            if len(names) > 1 and all(names):
                yield (group.name, len(names)), names


def _declared_name(entry: list[_Part]) -> str:
    """Returns the name that a declaration gives a place: `this.text`, `val text: String`, `String[] options`; empty for
    anything else."""
    if any(part.kind in ("text", "number") for part in entry):
        return ""
    colon = next((at for at, part in enumerate(entry) if part.value == ":"), len(entry))
    words = [part for part in entry[:colon] if part.kind == "word"]
    typed = colon < len(entry) or len(words) > 1 or any(part.kind == "group" for part in entry)
    called = any(part.kind == "group" and part.value.mark != "[" for part in entry)
    return str(words[-1].value) if words and typed and not called else ""


def named_by_shape(records: list[Any]) -> list[Any]:
    """Returns records with the values of calls named where their kinds show what they are: a text, its options in a
    list, and what the key is. Rows of texts and numbers stay rows, without numbers that only count."""
    rows = [one for one in records if isinstance(one, list)]
    counted = len(rows) > 1 and all(type(row[0]) is int for row in rows)
    if counted and all(two[0] == one[0] + 1 for one, two in pairwise(rows)):
        rows = [row[1:] for row in rows]
    shaped = iter([_by_shape(row) for row in rows])
    return [next(shaped) if isinstance(one, list) else one for one in records]


def _by_shape(row: list[Any]) -> Any:
    # What only the program knows, before the question, is a category or the like.
    row = row[next((at for at, one in enumerate(row) if one is not None), 0) :]
    marked = [one for one in row if isinstance(one, dict)]
    if len(marked) > 1:
        row = [*(one for one in row if not isinstance(one, dict)), marked]
    lists = [one for one in row if isinstance(one, list)]
    texts = [one for one in row if isinstance(one, str)]
    if len(lists) == 1 and texts:
        asked, *others = texts
        named = [one for one in others if one in lists[0]]
        letters = [one for one in others if _LETTER.fullmatch(one)]
        keys = next((one for one in (named, [one for one in row if type(one) is int], letters) if one), [])
        rest = [one for one in others if one not in keys]
        record: dict[str, Any] = {"question": asked, "options": lists[0]}
        return record | ({"correct": keys[0]} if len(keys) == 1 else {}) | ({"why": rest[0]} if len(rest) == 1 else {})
    # The options may have places of their own, and behind them the right one again or its number.
    *options, key = row[1:] or [None]
    if isinstance(key, str):
        names_one = len(options) > 1 and options.count(key) == 1
    else:
        # Behind a text or two, a number may count points.
        names_one = type(key) is int and 0 <= key <= len(options) >= _FEWEST_NUMBERED
    if names_one and all(isinstance(one, str) for one in (row[0], *options)):
        return {"question": row[0], "options": options, "correct": key}
    if len(row) == len(texts) == 2 and _LETTER.fullmatch(texts[1]):
        return {"question": texts[0], "correct": texts[1]}
    if lists or None in row or not all(isinstance(one, str | int | float) for one in row):
        return row
    return [str(one).lower() if isinstance(one, bool) else str(one) for one in row]


_LETTER = re.compile("[A-Ha-h]")
_FEWEST_NUMBERED = 3
"""Fewest texts that are options where only a number behind them shows it."""
