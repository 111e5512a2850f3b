"""Extracts the key points of a prose answer, word for word."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from questions.subjects import Subject, predicate_of, pronoun_predicate, subject_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST = 6
"""Maximum number of key points."""
_LONGEST = 260
"""Longest key point, characters."""
_ROOM = 4
"""Number of key points from which plain sentences are left out."""
# Searched in small letters: several times as fast as a search that ignores case.
_EXAMPLE = re.compile(
    r"[*_]*(?:for (?:example|instance)|examples?\b|e\.g\.|imagine|consider|suppose|say,|here\b|see\b|input:|output:)"
)
_HEADLESS = re.compile(
    r"(?:this|these|that|those|such|so|thus|hence|then|therefore|however|but|and|or|also|furthermore|moreover|now|they|it"
    r"|he|she|both|otherwise|instead|without it|in that case|in fact|if not|if (?:it|these|this|you (?:see|do)|that)"
    r"|if [^,]{0,25}\b(?:it|this|these|them)"
    r"|the (?:latter|former|result|result has|second|same)|at each|after (?:this|that))\b"
)
_CONNECTIVE = re.compile(r"(?:crucially|furthermore|however|moreover|therefore|thus|in fact|also|hence),\s+")
_TRIVIA = re.compile(r"(?:introduced|added|released|available|deprecated|new) (?:in|since)\b.{0,30}$")
_PRAISE = re.compile(
    r"\b(?:is|are) (?:a |an )?(?:very )?(?:vital|crucial|important|powerful|critical|key|handy|recommended|mandatory"
    r"|an art)\b"
)
_NOISE = re.compile(
    r"\b(?:this|that|it|which|here)(?: is| was|['’]s) (?:a |an |the |where the )?"
    r"(?:(?:very|most|common|classic|famous|subtle|popular|favou?rite|typical|nasty|usual|interview|trick) )*"
    r"(?:trap|trick|gotcha|pitfall|question|stumbling block)s?\b"
    r"|^(?:a |the )?(?:\w+ )?(?:trap|trick|gotcha|pitfall|trick question)(?: here)?[.!]*$"
    r"|^(?:be careful|beware|watch out|pay attention|keep in mind|remember(?: that| this)?|don['’]t be fooled|good luck"
    r"|hope (?:this|that)|great question|good question|that['’]s (?:it|all)|let me know|easy[,.!]|tricky[,.!])"
    r"|\b(?:interviewers?|candidates?|beginners?|newcomers?|(?:many|most) people|everyone) (?:often |usually |always )?"
    r"(?:love|like|ask|expect|get|fall|forget|confuse|think|stumble)"
    r"|\btrips? (?:up|people|many)\b|\bcatches (?:people|many|everyone)\b"
)
"""Remarks about the question or about people, which say nothing about the subject."""
_MAY_BE_NOISE = re.compile(
    r"trap|trick|gotcha|pitfall|question|stumbling|careful|beware|watch|attention|keep|remember|fooled|luck|hope|that['’]s"
    r"|let me|easy|interviewer|candidate|beginner|newcomer|people|everyone|trip|catches"
)
"""A word of each such remark."""
_ASKING = re.compile(r"\?[\"”)]*$")
_CODE = re.compile(r"`[^`]*`|\$[^$]*\$")
_PLAIN = re.compile(r"[^\W\d_]{2,}")
_TWO_WORDS = re.compile(r"\w+\W+\w")
_FOUR_WORDS = re.compile(r"(?:\w+\W+){3}\w")
_BOLD = re.compile(r"\*\*[^*]+\*\*")
_LABELED = re.compile(r"(?:\*\*[^*]{2,40}\*\*|`[^`]{2,40}`)\s*(?:\([^)]*\))?:(?:\*\*)?\s|\*\*[^*]{2,40}:\*\*\s")


def key_points_of(answer: str, prompt: str = "") -> tuple[str, ...]:
    """Returns at most MOST short statements that can be understood alone: list items and table rows first, then
    emphasized ones.

    If a statement begins with `It` or `They` and can only mean the subject of `prompt`, the subject replaces the
    pronoun.
    """
    if not answer.strip():
        return ()
    found = list(statements(answer))
    points = _points(found, subject_of(prompt))
    if not points:
        usable = [each.text for each in found if not (each.text.endswith(":") or _is_noise(each.text.lower()))]
        points = [(0, text) for text in usable[:1]]
    best = sorted(range(len(points)), key=lambda at: (-points[at][0], at))
    strong = [at for at in best if points[at][0] >= 2]
    kept = [*strong, *(at for at in best if points[at][0] < 2)][: max(min(len(strong), MOST), _ROOM)]
    return tuple(dict.fromkeys(points[at][1] for at in sorted(kept)))


def _points(found: Sequence[Statement], subject: Subject) -> list[tuple[int, str]]:
    """Returns the candidate key points with their scores."""
    points: list[tuple[int, str]] = []
    known = False
    item = -1
    for statement in found:
        text = statement.text
        about = predicate_of(text, subject) is not None
        pronoun = pronoun_predicate(text)
        if statement.first:
            # In a list item of its own, `it` can only mean the subject; after a new paragraph it may mean something
            # else.
            known = bool(subject.name) and not subject.compared and (known or not points or statement.kind == "item")
        if pronoun and known and subject.name:
            text = _named(subject, pronoun.text, pronoun.plural)
        known = about or (pronoun is not None and known)
        if statement.kind == "item" and not statement.first and item >= 0 and _belongs(statement, points[item][1]):
            points[item] = (points[item][0], f"{points[item][1]} {statement.text}")
            continue
        item = -1
        opened = _without_connective(text)
        if _is_point(text, opened, statement):
            points.append((_weight(statement, about, not points), _capital(opened)))
            item = len(points) - 1 if statement.kind == "item" and statement.first else -1
    return points


def _belongs(statement: Statement, item: str) -> bool:
    """Returns whether another sentence of a list item still belongs to its point: a label with a few words leaves room
    for more."""
    low = statement.text.lower()
    return (
        bool(_LABELED.match(item) or len(item) < 60)
        and len(item) + len(statement.text) < 160
        and not _EXAMPLE.match(low)
        and not _PRAISE.search(low)
        and not statement.text.endswith(":")
        and not _is_code(statement.text)
    )


def _is_code(text: str) -> bool:
    """Returns whether the text is mostly code, such as a shape or a call shown as an example."""
    return ("`" in text or "$" in text) and bool(_CODE.search(text)) and len(_PLAIN.findall(_CODE.sub("", text))) < 2


def _named(subject: Subject, rest: str, plural: bool) -> str:
    name = subject.name
    if re.match(r"[a-z]", name) and " " not in name:
        name = name.capitalize()
    if plural and not re.search(r"s[`*\"]*$", name):
        return f"They {rest}"
    return f"{name} {rest}"


def is_alone(statement: Statement) -> bool:
    """Returns whether the statement can be understood without the text before it."""
    return _is_point(statement.text, _without_connective(statement.text), statement)


def _is_point(text: str, opened: str, statement: Statement) -> bool:
    """Returns whether a text is a key point. `opened`: the text without a connective."""
    if text.endswith((":", ",")) or len(text) > _LONGEST or len(text) < 6 or ("?" in text and _ASKING.search(text)):
        return False
    further = not statement.first
    if (further and statement.depth) or ((further or statement.kind == "sentence") and _is_code(text)):
        return False
    if _HEADLESS.match(opened.lower()) and not (opened == text and statement.kind == "row"):
        return False
    enough = _TWO_WORDS if statement.kind != "sentence" else _FOUR_WORDS
    low = text.lower()
    return bool(enough.search(text)) and not (_EXAMPLE.match(low) or _TRIVIA.match(low) or _is_noise(low))


def _without_connective(text: str) -> str:
    found = _CONNECTIVE.search(text.lower()) if "," in text else None
    return text[: found.start()] + text[found.end() :] if found else text


def _is_noise(low: str) -> bool:
    """Returns whether a text in small letters is a remark."""
    return bool(_MAY_BE_NOISE.search(low)) and _NOISE.search(_MARKS.sub("", low)) is not None


def _weight(statement: Statement, about: bool, opens: bool) -> int:
    if opens and about and not statement.lead:
        return 5
    if statement.kind == "row":
        return 4
    if statement.kind == "item" and statement.first:
        return 4 - statement.depth
    weight = 1
    if "**" in statement.text and _BOLD.search(statement.text):
        weight = 3
    elif about:
        weight = 2
    return weight - 2 * bool(_PRAISE.search(statement.text.lower()))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


# Statements: sentences, list items and table rows without labels and lead-ins. Split line by line,
# without a Markdown parser: this runs on every answer, and a rough split is enough.

StatementKind = Literal["sentence", "item", "row"]

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_ITEM = re.compile(r"(\s*)(?:[-*+]|\d{1,9}[.)])\s+(?=\S)")
_TABLE = re.compile(r"\s*\|.*\|\s*$")
_RULED = re.compile(r"[\s|:-]+$")
_SKIPPED = re.compile(r"\s*(?:#{1,6}\s|>|<[/!a-z]|!\[|(?:[-*_]\s*){3,}$)", re.IGNORECASE)
_SKIPPED_FIRST = frozenset("#><!-*_")
"""First characters of what `_SKIPPED` matches."""
_NUMBER = re.compile(r"\d+[.)]\s+")
_CELL = re.compile(r"(?<!\\)\|")
_LABEL = re.compile(
    r"(?:\*\*|__|_|\*)?(?:fix|definition|rule \d+|step \d+|explanation|solution|note|answer|result|benefits?|problem"
    r"|summary|key points?|why|how|conclusion|in short|tip|common bug|classic example|numerical stability)"
    r"(?:\*\*|__|_|\*)?\s*:(?:\*\*|__|_|\*)?\s+(?=\S)",
    re.IGNORECASE,
)
"""A label that only names the type of a statement."""
_LABEL_WORD = re.compile(
    r"(?:fix|definition|rule \d+|step \d+|[st]ion|note|answer|result|benefits?|problem|summary|points?|why|how|short"
    r"|tip|bug|example|stability)[*_]{0,2}\s*:"
)
"""The last word of each such label."""
_SENTENCE = re.compile(
    r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)(?<!etc\.)(?<!w\.r\.t\.)\s+(?=[A-Z`*_\"'$\[(\\])"
    r"|(?<=[.!?]\*\*)\s+(?=[A-Z])|(?<=[.!?][\"”)])\s+(?=[A-Z`])"
)
_MAY_END = re.compile(r"[.!?][*\"”)]{0,2}\s")
_MOJIBAKE = re.compile(r"[\u0080-\u009f\ufffd]|â[^\w\s]|Ã[\u0080-\u00bf]|âœ…?\s*")
"""Text decoded with the wrong encoding."""
_MARKS = re.compile(r"\*\*|``?")


class Statement(NamedTuple):
    """A statement of an answer."""

    text: str
    """Markdown on one line, without its label."""
    kind: StatementKind
    first: bool
    """Whether it is the first of its paragraph, item or row."""
    depth: int = 0
    """Nesting depth of a list item."""
    lead: str = ""
    """The statement before it in the same paragraph or item."""


def statements(answer: str) -> Iterator[Statement]:
    """Yields the statements of an answer in order, without code, headings, quotes, images and rules."""
    indents: list[int] = []
    for lines in _stretches(answer):
        if "|" in lines[0] and _TABLE.match(lines[0]):
            yield from _rows(lines)
            continue
        found = _ITEM.match(lines[0])
        if found:
            indents = [indent for indent in indents if indent < len(found[1])]
            depth = len(indents)
            indents.append(len(found[1]))
            yield from _sentences([lines[0][found.end() :], *lines[1:]], "item", depth)
        else:
            yield from _sentences(lines, "sentence", 0)


def _stretches(answer: str) -> Iterator[list[str]]:
    """Yields lines that belong together: a paragraph, an item or a table."""
    fence, lines, in_table = "", list[str](), False
    for line in answer.split("\n"):
        mark = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
        elif mark:
            fence = mark[1]
        elif (bare := line.lstrip()) and not (bare[0] in _SKIPPED_FIRST and _SKIPPED.match(line)):
            table = bare[0] == "|" and bool(_TABLE.match(line))
            if lines and (_ITEM.match(line) or table != in_table):
                yield lines
                lines = []
            in_table = table if not lines else in_table
            lines.append(line)
            continue
        if lines:
            yield lines
            lines = []
    if lines:
        yield lines


def _rows(lines: Sequence[str]) -> Iterator[Statement]:
    table = [
        [cell.strip() for cell in _CELL.split(line.strip().strip("|"))] for line in lines if not _RULED.match(line)
    ]
    head, rows = table[:1], table[1:]
    for row in rows:
        cells = [cleaned(cell) for cell in row]
        cells[0] = _NUMBER.sub("", cells[0])
        if len(cells) < 2 or not cells[0] or not any(cells[1:]):
            continue
        if len(cells) == 2:
            text = cells[1]
        else:
            text = ", ".join(
                f"{cleaned(name)} {cell}" for name, cell in zip(head[0][1:], cells[1:], strict=False) if name and cell
            )
        yield Statement(f"{cells[0]}: {text}", "row", first=True)


def _sentences(lines: Sequence[str], kind: StatementKind, depth: int) -> Iterator[Statement]:
    lead = ""
    for part in _joined(lines):
        for sentence in _SENTENCE.split(part) if _MAY_END.search(part) else (part,):
            text = cleaned(sentence)
            if ":" in text and _LABEL_WORD.search(text.lower()):
                text = _LABEL.sub("", text, count=1)
            if text:
                yield Statement(text, kind, first=not lead, depth=depth, lead=lead)
                lead = text


def _joined(lines: Sequence[str]) -> Iterator[str]:
    """Yields the lines, joining a line that does not end a sentence with the next one."""
    held = ""
    for line in lines:
        held = f"{held} {line.strip()}".strip()
        if held.endswith((".", "!", "?", ":")):
            yield held
            held = ""
    if held:
        yield held


def cleaned(text: str) -> str:
    """Returns the text without encoding errors and without unclosed markup."""
    text = " ".join((text if text.isascii() else _MOJIBAKE.sub("", text)).split())
    for mark in ("**", "`"):
        if text.count(mark) % 2:
            text = text.replace(mark, "")
    return text
