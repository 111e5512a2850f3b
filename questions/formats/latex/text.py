"""Converts LaTeX to Markdown: text, code and lists; formulas stay as they are, and commands that are not known are
named."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, NamedTuple

from questions.formats.markdown import code_span, fence

if TYPE_CHECKING:
    from collections.abc import Iterator

LABELED = re.compile(
    r"[ \t]*(?:\\noindent[ ]*)?\{?\\(?:textbf|bf|underline|textsc|paragraph\*?)\b[ {]{0,3}(?:(?:exercise|question"
    r"|problem|aufgabe|übung|exercice|ejercicio|exercício|questão|esercizio|zadanie|задача|вопрос)[ ~]*\d"
    r"|extra credit|bonus)",
    re.IGNORECASE,
)
"""The beginning of a line that names a question in bold."""
ASKS_WHO = re.compile(
    r"(?:[\s{}]|\\(?!item)[a-zA-Z]+\*?(?:\{\d{1,2}\})?){0,9}(?:your |full |student |last |first )?"
    r"(?:name|nombre|nome|nom|surname|student id|matrikelnummer|matricule|имя|фио|date|datum)\b[^.?\n]{0,40}"
    r"(?:\\hrulefill|\\dotfill|_{3,}|\\underline|\\rule)",
    re.IGNORECASE,
)
"""An item of an exam that asks for the name of the student."""
MARK = "\ue000"
"""Stands before a text that `\\correct{…}` marks."""
BLANK = "____"

_VERBATIM = ("verbatim", "Verbatim", "lstlisting", "minted", "alltt", "comment")
_MATH = ("equation", "align", "gather", "multline", "eqnarray", "displaymath", "math", "flalign", "alignat")
_DRAWN = ("tabular", "tabularx", "longtable", "array", "tikzpicture", "picture", "algorithmic", "algorithm")
LISTS = ("enumerate", "itemize", "description", "compactenum", "compactitem", "inparaenum", "enumerate*", "itemize*")
_PLAIN = frozenset(
    (
        *("center", "flushleft", "flushright", "minipage", "multicols", "spacing", "samepage", "small", "quote"),
        *("quotation", "document", "figure", "table", "parbox", "singlespace", "doublespace", "framed", "abstract"),
    )
)
"""Environments that only say where text is."""
_DEEPEST = 25
"""Maximum depth of arguments in arguments; deeper ones are shown as they are."""

_VERBS = r"\\(?:verb\*?|lstinline(?:\[[^\]\n]{0,99}\])?)([^A-Za-z\s{*\[])"
_COMMENT = re.compile(_VERBS + r".{0,300}?\1|\\.|%.*")
_BEGIN = re.compile(r"\\begin[ ]?\{([A-Za-z]{1,40}\*?)\}")
_END = re.compile(r"\\end[ ]?\{([A-Za-z]{1,40}\*?)\}")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_VERB = re.compile(_VERBS + r"(.{0,300}?)\1")
_OPTIONAL = re.compile(r"[ ]?\[([^\[\]]{0,300})\]")
_SPACES = re.compile(r"[ \t]*\n?[ \t]*")
_PIECE = re.compile(
    r"\\(?:(?P<name>[A-Za-z@]+)\*?[ \t]*|(?P<sign>.|\n))|(?P<math>\$\$?)|(?P<other>``|''|[~{}])", re.DOTALL
)
_ANSWER = re.compile(
    r"(?:answer|ans|soln?|solution)[a-z]*|reponse|antwort|loesung|respuesta|resposta|risposta|antwoord|odpowiedz",
    re.IGNORECASE,
)
_NO_ANSWER = ("answerline", "answerbox", "answername", "solutionname", "answerspace")
POINTS = re.compile(r"[a-z]*(?:pts?|points?|marks?)", re.IGNORECASE)
_CORRECT = re.compile(r"correct[a-z]*", re.IGNORECASE)
_IN_CODE = re.compile(r"\\(?:answer|ans|soln?|solution)[a-z]*\{([^{}\n]{0,200})\}")

_STYLES = {
    "textbf": "**",
    "emph": "*",
    "textit": "*",
    "textsl": "*",
    "bf": "",
    "text": "",
    "textrm": "",
    "textsf": "",
} | dict.fromkeys(("textsc", "mbox", "hbox", "uline", "textnormal", "makebox", "fbox", "textup", "ensuremath"), "")
_CODE = ("texttt", "code", "lstinline", "mintinline", "path", "ttt", "cd")
_DROPPED = (
    dict.fromkeys(("vspace", "hspace", "label", "fillwithlines", "makeemptybox", "fillwithdottedlines", "color"), 1)
    | dict.fromkeys(("setlength", "setcounter", "addtocounter", "addtolength"), 2)
    | dict.fromkeys(("pagestyle", "thispagestyle", "vskip", "hypertarget", "index", "fillwithgrid"), 1)
    | dict.fromkeys(
        (
            *("newpage", "clearpage", "pagebreak", "newline", "linebreak", "nopagebreak", "noindent", "indent"),
            *("vfill", "hfill", "bigskip", "medskip", "smallskip", "centering", "par", "xspace", "protect", "ding"),
            *("small", "large", "Large", "LARGE", "huge", "footnotesize", "scriptsize", "normalsize", "tiny", "bf"),
            *("it", "tt", "rm", "sf", "em", "itshape", "bfseries", "ttfamily", "raggedright", "sloppy", "answerline"),
            *("maketitle", "tableofcontents", "addpoints", "noaddpoints", "hline", "columnbreak", "null", "leavevmode"),
            *("boldmath", "displaystyle", "relax", "begingroup", "endgroup", "appendix", "printanswers", "allowbreak"),
        ),
        0,
    )
)
"""Commands that show nothing, with the number of their arguments."""
_BREAKS = ("par", "newline", "linebreak", "bigskip", "medskip", "smallskip", "vspace", "newpage", "clearpage")
_SIGNS = {"ldots": "…", "dots": "…", "textbackslash": "\\\\", "LaTeX": "LaTeX", "TeX": "TeX", "ss": "ß", "ae": "æ"} | {
    "o": "ø",
    "O": "Ø",
    "l": "ł",
    "L": "Ł",
    "aa": "å",
    "AA": "Å",
    "oe": "œ",
    "i": "ı",
    "quad": " ",
    "qquad": " ",
    "textless": "\\<",
    "textgreater": ">",
    "textbar": "|",
    "textasciitilde": "~",
    "textasciicircum": "^",
    "textquotedblleft": "“",
    "textquotedblright": "”",
    "euro": "€",
    "pounds": "£",
    "S": "§",
    "checkmark": "✓",
    "textendash": "-",
    "textemdash": "-",
    "textdegree": "°",
    "degree": "°",
    "copyright": "©",
    "hrulefill": BLANK,
    "blank": BLANK,
    "underscore": "\\_",
    "textunderscore": "\\_",
    "space": " ",
    "slash": "/",
    "bullet": "•",
}
_ACCENTS = {"'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304", ".": "\u0307"} | {
    "c": "\u0327",
    "v": "\u030c",
    "u": "\u0306",
    "k": "\u0328",
    "r": "\u030a",
    "H": "\u030b",
}
_ESCAPES = {"\\": "\n\n", "\n": " ", " ": " ", ",": " ", ";": " ", ":": " ", "!": "", "/": "", "-": "", "@": ""} | {
    "%": "%",
    "&": "&",
    "#": "#",
    "_": "\\_",
    "{": "{",
    "}": "}",
    "$": "\\$",
}


class Converted(NamedTuple):
    """A text as Markdown."""

    text: str
    answers: tuple[str, ...]
    """What commands such as `\\answer{…}` and `\\fillin[…]` hold."""
    unread: tuple[tuple[int, str], ...]
    """Offset and name of each command that is not known."""


class _Output:
    """The pieces of a text: prose, whose spaces are made regular, and others that stay as they are."""

    def __init__(self) -> None:
        self.pieces: list[tuple[str, bool]] = []
        self.answers: list[str] = []
        self.unread: list[tuple[int, str]] = []
        self.lists: list[list[int]] = []

    def prose(self, text: str) -> None:
        self.pieces.append((text, False))

    def fixed(self, text: str) -> None:
        self.pieces.append((text, True))

    def text(self) -> str:
        shown: list[str] = []
        prose: list[str] = []
        for text, fixed in (*self.pieces, ("", True)):
            if fixed:
                spaced = _regular("".join(prose))
                shown += (spaced.lstrip(" ") if shown and shown[-1].endswith("\n") else spaced, text)
                prose = []
            else:
                prose.append(text)
        whole = re.sub(r"(?<=\S)[ ]+(?=\n)", "", "".join(shown))
        return re.sub(r"\n(?:[ ]*\n){2,}|\n[ ]+\n", "\n\n", whole).strip()


def _regular(text: str) -> str:
    paragraphs = re.split(r"\n[ \t]*\n\s*", text)
    shown = "\n\n".join(" ".join(one.split()) for one in paragraphs)
    return f"{' ' if text[:1].isspace() and shown[:1] != chr(10) else ''}{shown}{' ' if text[-1:].isspace() else ''}"


class Tex:
    """A LaTeX text without comments; offsets count in `text`."""

    def __init__(self, lines: tuple[str, ...]) -> None:
        self.text = "\n".join(_without_comments(lines))
        self._lines = [0, *(found.end() for found in re.finditer("\n", self.text))]
        self._ends: dict[str, list[tuple[int, int]]] = {}
        for found in _END.finditer(self.text):
            self._ends.setdefault(found[1], []).append(found.span())
        self._closers = {
            one: [found.start() for found in re.finditer(re.escape(one), self.text)]
            for one in ("\\)", "\\]", "$", "$$")
        }
        self.blocks = list(self._blocks())
        self._starts = [start for start, *_ in self.blocks]
        self.closes, self._arguments = self._braces()
        self._argument_starts = [start for start, _ in self._arguments]

    def line(self, at: int) -> int:
        """Returns the number of the line with that offset."""
        return bisect_right(self._lines, at)

    def next_end(self, name: str, at: int) -> tuple[int, int] | None:
        """Returns the place of the next `\\end{name}`."""
        ends = self._ends.get(name, [])
        index = bisect_left(ends, (at, at))
        return ends[index] if index < len(ends) else None

    def block(self, at: int) -> tuple[int, str, int, int, int] | None:
        """Returns the block of code, formulas or a drawing around an offset: start, name, its inner part, end."""
        index = bisect_right(self._starts, at) - 1
        return self.blocks[index] if index >= 0 and at < self.blocks[index][4] else None

    def in_argument(self, at: int) -> bool:
        """Returns whether an offset is inside an argument of a command."""
        index = bisect_right(self._argument_starts, at) - 1
        return index >= 0 and at < self._arguments[index][1]

    def argument(self, at: int, end: int) -> tuple[int, int] | None:
        """Returns the inner part of the argument that begins at an offset, behind spaces."""
        found = _SPACES.match(self.text, at, end)
        start = found.end() if found else at
        close = self.closes.get(start, end)
        return (start + 1, close) if start < end and self.text[start] == "{" and close < end else None

    def _blocks(self) -> Iterator[tuple[int, str, int, int, int]]:
        at = 0
        while found := _BEGIN.search(self.text, at):
            at = found.end()
            name = found[1]
            if name.removesuffix("*") in (*_VERBATIM, *_MATH, *_DRAWN) and (end := self.next_end(name, at)):
                yield found.start(), name, found.end(), end[0], end[1]
                at = end[1]

    def _braces(self) -> tuple[dict[int, int], list[tuple[int, int]]]:
        """Returns for each brace the one that closes it, and the outermost arguments of commands."""
        closes: dict[int, int] = {}
        open_braces: list[int] = []
        arguments: list[tuple[int, int]] = []
        for found in _BRACE.finditer(self.text):
            at = found.start()
            if len(found[0]) > 1 or ((block := self.block(at)) and block[2] < at):
                continue
            if found[0] == "{":
                open_braces.append(at)
            elif open_braces:
                start = open_braces.pop()
                closes[start] = at
                if start and (self.text[start - 1].isalnum() or self.text[start - 1] in "*]}"):
                    while arguments and arguments[-1][0] > start:
                        arguments.pop()
                    arguments.append((start, at))
        return closes, arguments

    def convert(self, start: int, end: int) -> Converted:
        """Returns the text between two offsets as Markdown."""
        out = _Output()
        self._convert(start, end, out, 0)
        return Converted(out.text(), tuple(out.answers), tuple(out.unread))

    def _inner(self, place: tuple[int, int], out: _Output, depth: int) -> str:
        inner = _Output()
        inner.lists = out.lists
        self._convert(*place, inner, depth + 1)
        out.answers += inner.answers
        out.unread += inner.unread
        return inner.text()

    def _convert(self, start: int, end: int, out: _Output, depth: int) -> None:
        if depth > _DEEPEST:
            out.prose(self.text[start:end])
            return
        at = start
        while at < end and (found := _PIECE.search(self.text, at, end)):
            out.prose(_literal(self.text[at : found.start()]))
            if found["name"]:
                at = self._command(found, end, out, depth)
            elif found["math"]:
                at = self._formula(found.start(), found["math"], found["math"], end, out)
            elif found["other"]:
                out.prose({"``": "“", "''": "”", "~": " "}.get(found["other"], ""))
                at = found.end()
            else:
                at = self._sign(found, end, out)
        if at < end:
            out.prose(_literal(self.text[at:end]))

    def _sign(self, found: re.Match[str], end: int, out: _Output) -> int:
        sign = found["sign"]
        if sign in "([":
            return self._formula(found.start(), found[0], "\\)" if sign == "(" else "\\]", end, out)
        if sign in _ACCENTS:
            return self._accent(sign, found.end(), end, out)
        out.prose(_ESCAPES.get(sign, found[0]))
        optional = _OPTIONAL.match(self.text, found.end(), end) if sign == "\\" else None
        return optional.end() if optional else found.end()

    def _accent(self, sign: str, at: int, end: int, out: _Output) -> int:
        place = self.argument(at, end)
        letter = self.text[place[0] : place[1]] if place else self.text[at : at + 1]
        out.prose(unicodedata.normalize("NFC", letter.replace("\\i", "i") + _ACCENTS[sign]) if letter.strip() else "")
        return place[1] + 1 if place else min(at + 1, end)

    def _formula(self, at: int, opening: str, closing: str, end: int, out: _Output) -> int:
        inner = at + len(opening)
        closers = self._closers[closing]
        index = bisect_left(closers, inner)
        while index < len(closers) and closing == "$" and self.text[closers[index] - 1] == "\\":
            index += 1
        if index == len(closers) or closers[index] + len(closing) > end:
            out.prose(f"\\{opening}" if opening[0] == "$" else opening)
            return inner
        formula = self.text[inner : closers[index]]
        if opening in ("$$", "\\["):
            out.fixed(f"\n\n$$\n{textwrap.dedent(formula).strip()}\n$$\n\n")
        else:
            out.prose(f"${' '.join(formula.split())}$")
        return closers[index] + len(closing)

    def _command(self, found: re.Match[str], end: int, out: _Output, depth: int) -> int:
        name, at = found["name"], found.end()
        if name in ("begin", "end", "item", "task"):
            return self._environment(name, found, end, out)
        if name in ("verb", "lstinline") and (code := _VERB.match(self.text, found.start(), end)):
            out.prose(code_span(code[2]))
            return code.end()
        if name in _SIGNS:
            out.prose(_SIGNS[name])
            return at
        optional = _OPTIONAL.match(self.text, at, end)
        after = optional.end() if optional else at
        if name in _DROPPED:
            return self._dropped(name, after, end, out)
        if name == "fillin":
            out.answers += [self._inner(optional.span(1), out, depth)] if optional else []
            out.prose(BLANK)
            length = _OPTIONAL.match(self.text, after, end)
            return length.end() if length else after
        if name in _ACCENTS:
            return self._accent(name, at, end, out)
        place = self.argument(after, end)
        if place is None:
            out.unread.append((found.start(), name))
            out.prose(found[0])
            return at
        return self._with_argument(found, place, end, out, depth)

    def _dropped(self, name: str, at: int, end: int, out: _Output) -> int:
        for _ in range(_DROPPED[name]):
            place = self.argument(at, end)
            at = place[1] + 1 if place else at
        out.prose("\n\n" if name in _BREAKS else " ")
        return at

    def _with_argument(self, found: re.Match[str], place: tuple[int, int], end: int, out: _Output, depth: int) -> int:
        name, after = found["name"], place[1] + 1
        if name in ("section", "subsection", "subsubsection", "paragraph"):
            out.prose(f"\n\n**{self._inner(place, out, depth)}**\n\n")
        elif POINTS.fullmatch(name):
            pass
        elif _ANSWER.fullmatch(name) and name not in _NO_ANSWER:
            answer = self._inner(place, out, depth)
            out.answers += [answer] if answer else []
            out.prose(BLANK)
        elif _CORRECT.fullmatch(name):
            out.prose(f"{MARK}**{self._inner(place, out, depth).strip('*')}**")
        elif name == "underline":
            out.prose(self._inner(place, out, depth).strip() or BLANK)
        elif name in _STYLES:
            inner, mark = self._inner(place, out, depth), _STYLES[name]
            mark = "**" if name == "text" and inner in ("Q", "A") else mark
            mark = "" if "\n\n" in inner or inner.startswith("*") or not inner else mark
            out.prose(f"{mark}{inner}{mark}")
        elif name in _CODE:
            last = self.argument(after, end) if name == "mintinline" else None
            place = last or place
            after = place[1] + 1
            out.prose(code_span(re.sub(r"\\([_%#&${}])", r"\1", self.text[place[0] : place[1]])))
        elif name == "footnote":
            out.prose(f" ({self._inner(place, out, depth)})")
        elif name == "enquote":
            out.prose(f"“{self._inner(place, out, depth)}”")
        elif name == "url":
            out.prose(f"<{self.text[place[0] : place[1]]}>")
        elif name == "href" and (shown := self.argument(after, end)):
            out.prose(f"[{self._inner(shown, out, depth)}]({self.text[place[0] : place[1]]})")
            after = shown[1] + 1
        elif name in ("textcolor", "colorbox", "raisebox", "parbox", "rule") and (shown := self.argument(after, end)):
            out.prose(BLANK if name == "rule" else self._inner(shown, out, depth))
            after = shown[1] + 1
        else:
            out.unread.append((found.start(), name))
            out.fixed(self.text[found.start() : after])
        return after

    def _environment(self, name: str, found: re.Match[str], end: int, out: _Output) -> int:
        at = found.start()
        if name in ("item", "task"):
            label = _OPTIONAL.match(self.text, found.end(), end)
            self._item(label[1] if label else "", out)
            return label.end() if label else found.end()
        block = self.block(at)
        if block and block[0] == at and block[4] <= end:
            self._block(block, out)
            return block[4]
        whole = (_BEGIN if name == "begin" else _END).match(self.text, at, end)
        if whole is None:
            return found.end()
        kind = whole[1].removesuffix("*")
        out.prose("\n\n")
        if name == "end":
            if kind in LISTS and out.lists:
                out.lists.pop()
            return whole.end()
        if kind in LISTS:
            out.lists.append([int(kind in ("enumerate", "compactenum", "inparaenum")), 0])
        elif kind not in _PLAIN:
            out.unread.append((at, f"begin{{{kind}}}"))
        after = whole.end()
        optional = _OPTIONAL.match(self.text, after, end)
        after = optional.end() if optional else after
        if kind in ("minipage", "multicols", "spacing", "parbox") and (place := self.argument(after, end)):
            after = place[1] + 1
        return after

    def _item(self, label: str, out: _Output) -> None:
        indent = "  " * min(max(len(out.lists) - 1, 0), 5)
        counted = out.lists[-1] if out.lists else [0, 0]
        counted[1] += 1
        out.fixed(f"\n{indent}{f'{counted[1]}.' if counted[0] else '-'} ")
        if label:
            out.prose(f"{label} ")

    def _block(self, block: tuple[int, str, int, int, int], out: _Output) -> None:
        start, name, inner, last, end = block
        kind = name.removesuffix("*")
        if kind in _MATH:
            shown = (
                self.text[inner:last].strip() if kind in ("equation", "displaymath", "math") else self.text[start:end]
            )
            out.fixed(f"\n\n$$\n{shown}\n$$\n\n")
        elif kind in _DRAWN:
            out.unread.append((start, f"begin{{{kind}}}"))
            out.fixed(f"\n\n{fence(textwrap.dedent(self.text[start:end]), 'latex')}\n\n")
        elif kind != "comment":
            optional = _OPTIONAL.match(self.text, inner, last)
            inner = optional.end() if optional else inner
            place = self.argument(inner, last) if kind == "minted" else None
            language = self.text[place[0] : place[1]] if place else ""
            code = self.text[place[1] + 1 if place else inner : last].strip("\n").rstrip()
            out.answers += [one[1] for one in _IN_CODE.finditer(code)]
            out.fixed(f"\n\n{fence(textwrap.dedent(_IN_CODE.sub(BLANK, code)), language)}\n\n")


def _literal(text: str) -> str:
    return re.sub(r"[*`]|<(?=[A-Za-z/!?])", r"\\\g<0>", text)


def _without_comments(lines: tuple[str, ...]) -> Iterator[str]:
    """Yields each line without its comment and without characters that stand for marks; code stays as it is."""
    ending = ""
    for line in lines:
        if ending:
            ending = "" if ending in line else ending
            yield line
            continue
        shown = _COMMENT.sub(lambda found: "" if found[0][0] == "%" else found[0], line.replace(MARK, ""))
        begun = _BEGIN.search(shown) if "\\begin" in shown else None
        if begun and begun[1].removesuffix("*") in _VERBATIM:
            closing = f"\\end{{{begun[1]}}}"
            ending = "" if closing in line[begun.start() :] else closing
        yield line if ending else shown
