r"""Converts LaTeX to Unicode, and to MathML for the web. `x^2` becomes x², `\text{view()}` becomes view(). Never
raises.

Replaces scripts, fractions, roots and the words of `\text` by private-use characters, lets pylatexenc convert the rest,
then replaces those characters by readable text.
"""

import logging
import re
from functools import cache
from html import unescape
from xml.etree.ElementTree import Element

from latex2mathml.converter import Converter
from markupsafe import Markup, escape
from pylatexenc.latex2text import LatexNodes2Text, MacroTextSpec, get_default_latex_context_db
from pylatexenc.latexwalker import get_default_latex_context_db as get_default_commands
from pylatexenc.macrospec import LatexContextDb

# pylatexenc logs every oddity of a formula; untrusted formulas must not fill the log.
logging.getLogger("pylatexenc").setLevel(logging.ERROR)
_LOG = logging.getLogger(__name__)

_MAX_SOURCE = 1000
"""Longest formula that is converted, characters."""
_MAX_DEPTH = 15
"""Groups inside one another that are converted."""

# Marks are private-use characters, which are removed from the source first.
_PRIVATE = re.compile("[\ue000-\uf8ff]")
_SUPER, _SUB, _OVER, _CHOOSE, _ROOT, _MIDDLE, _END = (chr(0xE000 + place) for place in range(7))
_LITERAL = {character: chr(0xE010 + place) for place, character in enumerate("\\{}_^%&#~$ ")}
_AS_LITERAL = str.maketrans(_LITERAL)
_RESTORED = {ord(mark): character for character, mark in _LITERAL.items()}
_MARKED = re.compile(f"([{_SUPER}-{_ROOT}])([^{_SUPER}-{_ROOT}{_END}]*){_END}")

_SUPERS = dict(
    zip(
        "0123456789+-−=()niTabcdefghjklmoprstuvwxyz′",
        "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱᵀᵃᵇᶜᵈᵉᶠᵍʰʲᵏˡᵐᵒᵖʳˢᵗᵘᵛʷˣʸᶻ′",
        strict=True,
    )
)
_SUBS = dict(
    zip(
        "0123456789+-−=()aehijklmnoprstuvxβγρφχ",
        "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ",
        strict=True,
    )
)
_A_WORD = re.compile(r"[^\W\d_]{3}")
_COMPOUND = re.compile(r"[\s+\-−=/]")

_COMMAND = re.compile(r"\\(?:([a-zA-Z]+)\*?|.|$)", re.DOTALL)
_WORDS = {
    *("text", "texttt", "textbf", "textit", "textrm", "textsf", "textnormal", "mbox", "hbox", "operatorname"),
}
_FRACTIONS = {"frac": _OVER, "dfrac": _OVER, "tfrac": _OVER, "cfrac": _OVER, "binom": _CHOOSE}
_NOTHING = "limits nolimits displaystyle textstyle nonumber left right middle big Big bigg Bigg bigl bigr Bigl Bigr"
_SYMBOLS = {
    **{f"\\{name}": "" for name in (*_NOTHING.split(), "!")},
    "\\|": "‖",
    "\\ne": "≠",
    "\\coloneqq": "≔",
    "\\iff": "⟺",
    "\\implies": "⟹",
    "\\land": "∧",
    "\\lor": "∨",
    "\\argmax": "arg max",
    "\\argmin": "arg min",
    "\\bmod": "mod",
    "\\pmod": "mod ",
    "\\prime": "′",
}
# Plain letters are easier to read, for screen readers too, than bold and italic look-alikes.
_UNSTYLED = ("mathbf", "mathit", "mathsf", "mathtt", "mathrm", "boldsymbol", "bm", "underbrace", "overbrace")


def to_unicode(source: str) -> str:
    """Returns the formula as text, one line per row. Returns broken or overlong LaTeX unchanged."""
    if len(source) > _MAX_SOURCE:
        return source
    try:
        marked = _marked(_PRIVATE.sub("", source).replace("\\left.", "").replace("\\right.", ""), 0)
        text = _converter().latex_to_text(marked)
    except Exception as fault:  # untrusted LaTeX: pylatexenc raises more than its own errors
        _LOG.debug("no text for %r: %r", source, fault)
        return source
    lines = (" ".join(line.split()) for line in _unmarked(text).translate(_RESTORED).split("\n"))
    return "\n".join(line for line in lines if line) or source


@cache
def _converter() -> LatexNodes2Text:
    context = get_default_latex_context_db()
    # Silently dropping a command such as `\ne` could negate a statement, so unknown commands show their name.
    context.set_unknown_macro_spec(MacroTextSpec("", simplify_repl=lambda node: f"{node.macroname} "))
    return LatexNodes2Text(context, math_mode="text", keep_comments=True, strict_latex_spaces="based-on-source")


def _marked(source: str, depth: int) -> str:
    if depth > _MAX_DEPTH:
        return source
    parts: list[str] = []
    at = 0
    while at < len(source):
        part, at = _step(source, at, depth)
        parts.append(part)
    return "".join(parts)


def _step(source: str, at: int, depth: int) -> tuple[str, int]:
    """Returns the marked form of the element at `at`, and the position after it."""
    character = source[at]
    if character in "^_":
        inner, end = _argument(source, at + 1)
        return (_SUPER if character == "^" else _SUB) + _marked(inner, depth + 1) + _END, end
    if character == "%":
        return _LITERAL["%"], at + 1
    found = _COMMAND.match(source, at)
    return (character, at + 1) if found is None else _command(source, found, depth)


def _command(source: str, found: re.Match[str], depth: int) -> tuple[str, int]:
    name, end = found[1], found.end()
    if name in _WORDS:
        inner, end = _argument(source, end)
        return "{" + inner.replace("\\_", "_").translate(_AS_LITERAL) + "}", end
    if name in _FRACTIONS:
        above, end = _argument(source, end)
        below, end = _argument(source, end)
        return f"{_FRACTIONS[name]}{_marked(above, depth + 1)}{_MIDDLE}{_marked(below, depth + 1)}{_END}", end
    if name == "sqrt":
        index, end = _optional(source, end)
        inner, end = _argument(source, end)
        return f"{_ROOT}{_marked(index, depth + 1)}{_MIDDLE}{_marked(inner, depth + 1)}{_END}", end
    if name in _UNSTYLED:
        inner, end = _argument(source, end)
        return f"{{{_marked(inner, depth + 1)}}}", end
    if found[0] in _SYMBOLS:
        return _SYMBOLS[found[0]], end
    # The converter drops the space after a command without arguments, so mark it. One before an argument stays outside
    # it.
    spaced = source[end : end + 1].isspace() and name and _takes_nothing(name)
    return found[0] + (f" {_LITERAL[' ']}" if spaced else ""), end


@cache
def _commands() -> LatexContextDb:
    return get_default_commands()


def _takes_nothing(name: str) -> bool:
    known = _commands().get_macro_spec(name)
    return name not in ("begin", "end") and not (known and known.args_parser.argspec)


def _argument(source: str, at: int) -> tuple[str, int]:
    """Parses a command's argument: a group without its braces, a command with its groups, or one character."""
    while at < len(source) and source[at].isspace():
        at += 1
    if at >= len(source):
        return "", at
    if source[at] == "{":
        end = group_end(source, at)
        return source[at + 1 : end], end + 1
    found = _COMMAND.match(source, at)
    if found is None:
        return source[at], at + 1
    end = found.end()
    while source.startswith("{", end):
        end = group_end(source, end) + 1
    return source[at:end], end


def _optional(source: str, at: int) -> tuple[str, int]:
    end = source.find("]", at) if source.startswith("[", at) else -1
    return (source[at + 1 : end], end + 1) if end > 0 else ("", at)


def group_end(source: str, at: int) -> int:
    """Returns the position of the brace that closes a group; the end of the source if none does."""
    depth = 0
    for found in re.finditer(r"\\.|[{}]", source[at:], re.DOTALL):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if depth == 0:
            return at + found.start()
    return len(source)


def _unmarked(text: str) -> str:
    """Replaces the marks by readable text, the innermost first."""
    for _ in range(_MAX_DEPTH + 2):
        text, changed = _MARKED.subn(_resolved, text)
        if not changed:
            break
    return _PRIVATE.sub(lambda mark: _RESTORED.get(ord(mark[0]), ""), text)


def _resolved(found: re.Match[str]) -> str:
    mark, inner = found[1], found[2].strip().translate(_RESTORED)
    if mark == _SUPER:
        return _script(inner, "^", _SUPERS)
    if mark == _SUB:
        return _script(inner, "_", _SUBS)
    first, _, second = (part.strip() for part in inner.partition(_MIDDLE))
    if mark == _CHOOSE:
        return f"({first} choose {second})"
    if mark == _OVER:
        return f"{_bracketed(first)}/{_bracketed(second)}"
    return (_script(first, "", _SUPERS) if first else "") + f"√({second})"


def _script(inner: str, sign: str, letters: dict[str, str]) -> str:
    if not inner or inner == "′":
        return inner
    if all(character in letters for character in inner) and not _A_WORD.search(inner):
        return "".join(letters[character] for character in inner)
    bare = len(inner) == 1 or (sign == "_" and inner.isalnum())
    return sign + (inner if bare else f"({inner})")


def _bracketed(part: str) -> str:
    return f"({part})" if _COMPOUND.search(part) else part


# LaTeX to MathML for the web; None if that cannot be done faithfully
#
# The converter's own writer passes `\text{<script>}`, `\href` and `\style` through. So the elements are written here:
# only known tags and attributes, with all text escaped and as many children as MathML requires.


_MATHML_MAX_DEPTH = 20
"""Groups inside one another that become MathML."""
_PARTS = {"mfrac": 2, "msup": 2, "msub": 2, "mover": 2, "munder": 2, "mroot": 2, "msubsup": 3, "munderover": 3}
_TAGS = frozenset(_PARTS) | {
    *("mrow", "mi", "mn", "mo", "mtext", "mspace", "msqrt", "mtable", "mtr", "mtd", "mstyle", "mpadded", "mphantom"),
    *("menclose", "mmultiscripts", "mprescripts", "none"),
}
_ATTRIBUTES = {
    *("accent", "accentunder", "align", "columnalign", "columnlines", "columnspacing", "depth", "displaystyle"),
    *("fence", "form", "height", "largeop", "linethickness", "lspace", "mathvariant", "maxsize", "minsize"),
    *("movablelimits", "notation", "rowlines", "rowspacing", "rspace", "scriptlevel", "separator", "stretchy"),
    *("symmetric", "voffset", "width"),
}
# Equation numbers mean nothing outside their paper. The converter knows some environments by another name.
_ENVIRONMENTS = {
    **{name: f"{name}*" for name in ("align", "equation", "flalign")},
    **dict.fromkeys(("aligned", "split"), "align*"),
    **dict.fromkeys(("gather", "gathered", "multline", "eqnarray", "gather*", "multline*", "eqnarray*"), "matrix"),
}
_ENVIRONMENT = re.compile(r"(\\(?:begin|end))\{([a-z]+\*?)\}")
# Macros are not expanded: a macro can multiply itself.
_MACROS = re.compile(r"\\(?:newcommand|renewcommand|def|let)\b")
_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)


class _NoMathML(Exception):
    """The source cannot be converted to MathML faithfully."""


def to_mathml(source: str, *, display: bool = False) -> Markup | None:
    """Returns a safe `<math>` element, or None for LaTeX that is broken, too long or unknown to the converter."""
    if len(source) > _MAX_SOURCE or _MACROS.search(source) or not 0 <= _depth(source) <= _MATHML_MAX_DEPTH:
        return None
    mode = "block" if display else "inline"
    try:
        tree = Converter(display=mode).convert_to_element(_ENVIRONMENT.sub(_renamed, source))
        body = Markup("").join(_written(child) for child in tree)
    except _NoMathML:
        return None
    except Exception as fault:  # the converter raises anything on broken input, including IndexError
        _LOG.debug("no MathML for %r: %r", source, fault)
        return None
    return Markup('<math display="{}" alttext="{}">{}</math>').format(mode, to_unicode(source), body)


def _renamed(found: re.Match[str]) -> str:
    return f"{found[1]}{{{_ENVIRONMENTS.get(found[2], found[2])}}}"


def _depth(source: str) -> int:
    """Returns the nesting depth of braces, or -1 if they do not match."""
    depth = deepest = 0
    for brace in _BRACES.findall(source):
        depth += {"{": 1, "}": -1}.get(brace, 0)
        deepest = max(deepest, depth)
        if depth < 0:
            return -1
    return deepest if depth == 0 else -1


def _written(element: Element) -> Markup:
    text = unescape(element.text or "")
    # A command unknown to the converter stays in the text with its backslash.
    if element.tag not in _TAGS or len(element) != _PARTS.get(element.tag, len(element)) or text.startswith("\\"):
        raise _NoMathML(element.tag)
    attributes = Markup("").join(
        Markup(' {}="{}"').format(name, value) for name, value in element.attrib.items() if name in _ATTRIBUTES
    )
    body = Markup("").join(_written(child) for child in element)
    # The tag is a known one here, so escaping leaves it unchanged.
    return Markup("<{0}{1}>{2}{3}</{0}>").format(element.tag, attributes, escape(text), body)
