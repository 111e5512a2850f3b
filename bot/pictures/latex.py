r"""LaTeX to what matplotlib's mathtext draws, and grids of it: mathtext knows no environments and few synonyms.

`\begin{pmatrix}a & b\\ c & d\end{pmatrix}` becomes a Grid of four pieces between two parentheses. Raises BadFormula
for what is not understood; then the formula is said in words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_MAX_SOURCE = 1000
_MAX_DEPTH = 12
_MAX_GRIDS = 4


class BadFormula(ValueError):
    """No picture of this formula; its words stand."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Mathtext, without dollars."""

    mathtext: str


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows of cells between two fences, each of which may be empty."""

    rows: tuple[tuple[Line, ...], ...]
    opens: str = ""
    closes: str = ""
    align: str = "c"
    """`c` centred, `l` left, `e` equations: right and left by turns, close together."""


Line = tuple[Piece | Grid, ...]
"""What stands side by side."""

_GRIDS = {
    **dict.fromkeys(("matrix", "smallmatrix", "array", "gather", "gathered", "equation"), ("", "", "c")),
    **dict.fromkeys(("align", "aligned", "split", "eqnarray", "alignat"), ("", "", "e")),
    "pmatrix": ("(", ")", "c"),
    "bmatrix": ("[", "]", "c"),
    "Bmatrix": ("{", "}", "c"),
    "vmatrix": ("|", "|", "c"),
    "Vmatrix": ("‖", "‖", "c"),
    "cases": ("{", "", "l"),
}
_FENCES = {".": "", "(": "(", ")": ")", "[": "[", "]": "]", "\\{": "{", "\\}": "}", "|": "|", "\\|": "‖"}
_TOKEN = re.compile(r"\\(?:[A-Za-z]+\*?|.)|[{}&]|[^\\{}&]+", re.DOTALL)
_STEP = re.compile(r"\\(?:[A-Za-z]+\*?|.)|.", re.DOTALL)
_BEGIN = re.compile(r"\\begin\s*\{([A-Za-z]+)\*?\}")
_ENDING = re.compile(r"\\(begin|end)\s*\{[A-Za-z]+\*?\}")
_COLUMNS = re.compile(r"\s*\{[^{}]*\}")
_LEFT = re.compile(r"\\left\s*(\\[{}|]|[.()\[\]|])\s*$")
_RIGHT = re.compile(r"^\s*\\right\s*(\\[{}|]|[.()\[\]|])")

_LEFT_OUT = "displaystyle textstyle limits nolimits nonumber notag"
_SIZES = [f"{size}{side}" for size in ("big", "Big", "bigg", "Bigg") for side in ("", "l", "r", "m")]
_SAME = {
    **{f"\\{name}": "" for name in (*_LEFT_OUT.split(), *_SIZES)},
    "\\lVert": r"\Vert",
    "\\rVert": r"\Vert",
    "\\|": r"\Vert",
    "\\lvert": "|",
    "\\rvert": "|",
    "\\ge": r"\geq",
    "\\le": r"\leq",
    "\\land": r"\wedge",
    "\\lor": r"\vee",
    "\\lnot": r"\neg",
    "\\gets": r"\leftarrow",
    "\\iff": r"\Longleftrightarrow",
    "\\implies": r"\Longrightarrow",
    "\\coloneqq": ":=",
    "\\bmod": r"\ \mathrm{mod}\ ",
    "\\argmax": r"\mathrm{arg}\,\max",
    "\\argmin": r"\mathrm{arg}\,\min",
    "\\operatorname*": r"\operatorname",
    "\\bm": r"\boldsymbol",
    "\\texttt": r"\mathtt",
    "\\textbf": r"\mathbf",
    "\\textit": r"\mathit",
    "\\textrm": r"\text",
    "\\mbox": r"\text",
    "\\dots": r"\ldots",
}
_FRACTIONS = {"\\frac": "frac", "\\dfrac": "frac", "\\tfrac": "frac", "\\cfrac": "frac", "\\binom": "binom"}
_VERBATIM = {r"\text", r"\operatorname", r"\substack"}
_DROPPED = {"\\label", "\\tag"}


def lines_of(source: str) -> list[Line]:
    """The formula as lines, one beneath another."""
    if len(source) > _MAX_SOURCE or source.count("\\begin") > _MAX_GRIDS:
        raise BadFormula("the formula is too long")
    return [_line(row, 0) for row in _split(source.strip(), "\\\\") if row.strip()]


def _line(source: str, depth: int) -> Line:
    """Pieces and grids side by side; a fence of `\\left` and `\\right` around a grid is the grid's own."""
    if depth > _MAX_DEPTH:
        raise BadFormula("too many things inside one another")
    found = _BEGIN.search(source)
    if found is None:
        return _piece(source)
    before, (inside, after) = source[: found.start()], _environment(source, found)
    if found[1] not in _GRIDS:
        raise BadFormula(f"no drawing of {found[1]}")
    opens, closes, align = _GRIDS[found[1]]
    left, right = _LEFT.search(before), _RIGHT.match(after)
    if left and right:
        before, after = before[: left.start()], after[right.end() :]
        opens, closes = _FENCES[left[1]], _FENCES[right[1]]
    if found[1] == "array":
        inside = _COLUMNS.sub("", inside, count=1)
    rows = tuple(
        tuple(_line(cell, depth + 1) for cell in _split(row, "&"))
        for row in _split(inside.replace("\\hline", ""), "\\\\")
        if row.strip()
    )
    if not rows:
        raise BadFormula("an empty environment")
    return (*_piece(before), Grid(rows, opens, closes, align), *_line(after, depth + 1))


def _environment(source: str, begin: re.Match[str]) -> tuple[str, str]:
    """What stands inside the environment, and what after it."""
    depth = 0
    for found in _ENDING.finditer(source, begin.start()):
        depth += 1 if found[1] == "begin" else -1
        if depth == 0:
            return source[begin.end() : found.start()], source[found.end() :]
    raise BadFormula("an environment that does not end")


def _split(source: str, mark: str) -> list[str]:
    """The source between the marks that stand in no group and no environment."""
    parts, depth = [""], 0
    for token in _TOKEN.findall(source):
        if token == mark and depth == 0:
            parts.append("")
            continue
        depth += {"{": 1, "}": -1, "\\begin": 1, "\\end": -1}.get(token, 0)
        parts[-1] += token
    return parts


def _piece(source: str) -> tuple[Piece, ...]:
    source = source.strip()
    if source.startswith(("^", "_")):
        # The power of what stands before, which is a grid: a piece of its own, with nothing to stand at.
        inside, end = _argument(source, 1)
        return (Piece(f"{{}}{source[0]}{{{_written(inside, 1)}}}"), *_piece(source[end:]))
    written = _written(source, 0).strip()
    return (Piece(written),) if written else ()


def _written(source: str, depth: int) -> str:
    """The source in mathtext's own words."""
    if depth > _MAX_DEPTH:
        raise BadFormula("too many things inside one another")
    text, at = "", 0
    while found := _STEP.match(source, at):
        part, at = _step(source, found, depth)
        text += part
    return text


def _step(source: str, found: re.Match[str], depth: int) -> tuple[str, int]:
    """What one token with its arguments becomes, and where the next one begins."""
    token, at = found[0], found.end()
    if token in _FRACTIONS:
        above, at = _argument(source, at)
        below, at = _argument(source, at)
        # An outer fraction is drawn large, as TeX does on a line of its own.
        name = "dfrac" if depth == 0 and _FRACTIONS[token] == "frac" else _FRACTIONS[token]
        return f"\\{name}{{{_written(above, depth + 1)}}}{{{_written(below, depth + 1)}}}", at
    if token in ("^", "_"):
        inside, at = _argument(source, at)
        return f"{token}{{{_written(inside, depth + 1)}}}", at
    if token[0] == "{":
        inside, at = _argument(source, at - 1)
        return f"{{{_written(inside, depth + 1)}}}", at
    if token in _DROPPED:
        return "", _argument(source, at)[1]
    word = _SAME.get(token, token)
    if word in _VERBATIM:
        inside, at = _argument(source, at)
        return f"{word}{{{inside}}}", at
    if token in ("$", "&", "}", "\\\\"):
        raise BadFormula(f"{token} where it means nothing")
    # A replaced sign must not grow together with the letter after it.
    return (f"{word} " if word != token else token), at


def _argument(source: str, at: int) -> tuple[str, int]:
    """A command's argument: a group without its braces, a command with its groups, or one character."""
    while source[at : at + 1].isspace():
        at += 1
    found = _STEP.match(source, at)
    if found is None:
        raise BadFormula("an argument is missing")
    if found[0] == "{":
        end = _group_end(source, at)
        return source[at + 1 : end], end + 1
    end = found.end()
    if found[0] in _FRACTIONS:
        end = _argument(source, _argument(source, end)[1])[1]
    while found[0].startswith("\\") and source.startswith("{", end):
        end = _group_end(source, end) + 1
    return source[at:end], end


def _group_end(source: str, at: int) -> int:
    depth = 0
    for found in re.finditer(r"\\.|[{}]", source[at:], re.DOTALL):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if depth == 0:
            return at + found.start()
    raise BadFormula("a group that does not end")
