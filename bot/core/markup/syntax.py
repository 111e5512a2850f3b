r"""The Markdown we read, as a configured parser: CommonMark, tables, strike-through, math; nothing of our tree.

Two rules are ours. Math is `$…$`, `$$…$$`, `\(…\)` and `\[…\]`, and a dollar that opens no formula is a dollar.
`__init__` is a Python name, as these texts are about Python, while `__two words__` is strong.
"""

import re

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from mdit_py_plugins.amsmath import amsmath_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin

#: Blocks inside blocks, counted as the parser counts: a list and its item are two.
MAX_NESTING = 40
# The search for an environment's end runs to the end of the text each time, so many beginnings are an attack.
_MAX_ENVIRONMENTS = 50

_BODY = r"((?:[^$\\`]|\\.){1,1000})"
_MATH = {
    "$$": re.compile(r"\$\$" + _BODY + r"\$\$", re.DOTALL),
    "$": re.compile(r"\$(?=[^\s$])" + _BODY + r"(?<!\s)\$(?!\d)", re.DOTALL),
    "\\(": re.compile(r"\\\((.{1,1000}?)\\\)", re.DOTALL),
    "\\[": re.compile(r"\\\[(.{1,1000}?)\\\]", re.DOTALL),
}
_DUNDER = re.compile(r"__[a-z][a-z0-9]*(?:_[a-z0-9]+)*__(?!\w)")


def _math(state: StateInline, silent: bool) -> bool:
    opener = state.src[state.pos : state.pos + 2]
    if opener not in _MATH:
        opener = opener[:1]
    found = _MATH[opener].match(state.src, state.pos, state.posMax) if opener in _MATH else None
    if found is None or not found[1].strip():
        return False
    if not silent:
        token = state.push("math_block" if opener in ("$$", "\\[") else "math_inline", "math", 0)
        token.content = found[1]
    state.pos = found.end()
    return True


def _dunder(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] != "_" or state.src[max(0, state.pos - 1)].isalnum():
        return False
    found = _DUNDER.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        state.pending += found[0]
    state.pos = found.end()
    return True


def _parser() -> MarkdownIt:
    # HTML is off, so a tag is text like any other; links are judged when the tree is built.
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_NESTING})
    parser.enable(["table", "strikethrough"])
    dollarmath_plugin(parser, allow_labels=False, allow_blank_lines=False)
    # The plugin's own inline rule looks before the text's first character and misses `$x$ is 5`.
    parser.inline.ruler.at("math_inline", _math)
    parser.inline.ruler.before("emphasis", "dunder", _dunder)
    return parser


_PLAIN = _parser()
_WITH_ENVIRONMENTS = _parser()
amsmath_plugin(_WITH_ENVIRONMENTS)


def parser_for(source: str) -> MarkdownIt:
    """Give the parser a text is read with; it keeps nothing between two texts."""
    return _PLAIN if source.count("\\begin{") > _MAX_ENVIRONMENTS else _WITH_ENVIRONMENTS
