r"""LaTeX to MathML for the web, or None where that cannot be done well; LaTeX comes from strangers.

The converter's own writer leaves `\text{<script>}`, `\href` and `\style` as they are, so its elements are written
here: only known tags and attributes, every text escaped, every element with as many parts as MathML asks for.
"""

import logging
import re
from html import unescape
from xml.etree.ElementTree import Element

from latex2mathml.converter import Converter
from markupsafe import Markup, escape

from bot.core.markup.mathtext import to_unicode

_MAX_SOURCE = 1000
_MAX_DEPTH = 20
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
# An equation's number means nothing away from its paper, and some environments the converter knows by another name.
_ENVIRONMENTS = {
    **{name: f"{name}*" for name in ("align", "equation", "flalign")},
    **dict.fromkeys(("gather", "multline", "eqnarray", "gather*", "multline*", "eqnarray*"), "matrix"),
}
_ENVIRONMENT = re.compile(r"(\\(?:begin|end))\{([a-z]+\*?)\}")
# A macro can multiply itself.
_MACROS = re.compile(r"\\(?:newcommand|renewcommand|def|let)\b")
_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)
_LOG = logging.getLogger(__name__)


class _NoMathML(Exception):
    """The source has no faithful MathML."""


def to_mathml(source: str, *, display: bool = False) -> Markup | None:
    """Give a safe `<math>` element, or None for LaTeX that is broken, too long or unknown to the converter."""
    if len(source) > _MAX_SOURCE or _MACROS.search(source) or not 0 <= _depth(source) <= _MAX_DEPTH:
        return None
    mode = "block" if display else "inline"
    try:
        tree = Converter(display=mode).convert_to_element(_ENVIRONMENT.sub(_renamed, source))
        body = Markup("").join(_written(child) for child in tree)
    except _NoMathML:
        return None
    except Exception as fault:  # the converter raises what it meets on broken input, IndexError and others included
        _LOG.debug("no MathML for %r: %r", source, fault)
        return None
    return Markup('<math display="{}" alttext="{}">{}</math>').format(mode, to_unicode(source), body)


def _renamed(found: re.Match[str]) -> str:
    return f"{found[1]}{{{_ENVIRONMENTS.get(found[2], found[2])}}}"


def _depth(source: str) -> int:
    """Give how deep braces go, or -1 where they do not match."""
    depth = deepest = 0
    for brace in _BRACES.findall(source):
        depth += {"{": 1, "}": -1}.get(brace, 0)
        deepest = max(deepest, depth)
        if depth < 0:
            return -1
    return deepest if depth == 0 else -1


def _written(element: Element) -> Markup:
    text = unescape(element.text or "")
    # A command that the converter does not know stays in the text with its backslash.
    if element.tag not in _TAGS or len(element) != _PARTS.get(element.tag, len(element)) or text.startswith("\\"):
        raise _NoMathML(element.tag)
    attributes = Markup("").join(
        Markup(' {}="{}"').format(name, value) for name, value in element.attrib.items() if name in _ATTRIBUTES
    )
    body = Markup("").join(_written(child) for child in element)
    # The tag is one of ours by now, and escaping leaves it as it is.
    return Markup("<{0}{1}>{2}{3}</{0}>").format(element.tag, attributes, escape(text), body)
