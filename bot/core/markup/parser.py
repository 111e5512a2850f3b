"""Parses Markdown from any source into a `MarkdownDocument`. No other module knows the tokens of the Markdown
library."""

import hmac
import logging
import re
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.amsmath import amsmath_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin

from bot.core.markup import tree

_LOG = logging.getLogger(__name__)

# The configured parser: CommonMark with tables, strikethrough and math.
#
# It has two rules of its own. Math is `$…$`, `$$…$$`, `\(…\)` and `\[…\]`; a dollar that opens no formula is a dollar.
# `__init__` is a Python name, while `__two words__` is strong.


MAX_NESTING = 40
"""Deepest nesting of blocks, as the parser counts: a list and its item are two levels."""
# Limit against a denial of service: each search for an environment's end scans the rest of the text.
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
    # HTML is disabled, so tags are plain text. Links are checked when the tree is built.
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_NESTING})
    parser.enable(["table", "strikethrough"])
    dollarmath_plugin(parser, allow_labels=False, allow_blank_lines=False)
    # The plugin's own inline rule reads before the start of the text and misses `$x$ is 5`.
    parser.inline.ruler.at("math_inline", _math)
    parser.inline.ruler.before("emphasis", "dunder", _dunder)
    return parser


_PLAIN = _parser()
_WITH_ENVIRONMENTS = _parser()
amsmath_plugin(_WITH_ENVIRONMENTS)


def parser_for(source: str) -> MarkdownIt:
    """Returns the parser for a text. It keeps no state between texts."""
    return _PLAIN if source.count("\\begin{") > _MAX_ENVIRONMENTS else _WITH_ENVIRONMENTS


# Cleaning: removes control and direction characters, and accepts only safe links

# C0, DEL and C1 could control a terminal; bidirectional controls could show code in another order than it runs.
_UNWANTED = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_LINKS = re.compile(r"(?:https?://[^\s/?#]|mailto:[^\s@]+@)[^\s<>\"]*\Z", re.IGNORECASE)
_MAX_URL = 2000
"""Longest URL of a link, characters."""


def clean(text: str) -> str:
    """Removes control characters and converts all line breaks to line feeds."""
    return _UNWANTED.sub("", _LINE_ENDS.sub("\n", text))


def link_allowed(url: str) -> bool:
    """Returns whether a URL is a complete http, https or mailto link of acceptable length."""
    return len(url) <= _MAX_URL and _LINKS.match(url) is not None


MAX_SOURCE = 40_000
"""Longest text that is parsed, characters: as long as the longest message of a platform (Slack: 40,000)."""
_MAX_SPANS = 12
"""Deepest nesting of emphasis; deeper marks are dropped and their text kept."""
_LANGUAGE = re.compile(r"[\w+#.-]{1,30}")


def parse(markdown: str) -> tree.MarkdownDocument:
    """Parses Markdown; never raises. Ends with a note if the text is longer than `MAX_SOURCE`."""
    source = clean(markdown)
    document = tree.MarkdownDocument(_blocks_of(source[:MAX_SOURCE]))
    beyond = len(source) - MAX_SOURCE
    if beyond <= 0:
        return document
    note = tree.Paragraph((tree.Emphasis((tree.TextNode(f"… {beyond:,} more characters are not shown"),)),))
    return tree.MarkdownDocument((*document.blocks, note))


def outer_parts(markdown: str) -> tuple[tuple[str, tree.Blocks], ...]:
    """Splits a text between its top-level blocks: returns each part's source and blocks.

    Never raises. Returns a text that cannot be split without loss as one part.
    """
    source, blocks = clean(markdown), parse(markdown).blocks
    whole = ((source, blocks),)
    if len(source) > MAX_SOURCE:
        return whole
    try:
        tokens = parser_for(source).parse(source)
    except Exception:  # already logged by `_blocks_of`
        return whole
    lines = source.splitlines(keepends=True)
    begins = [token.map[0] for token in tokens if token.level == 0 and token.map]
    cuts = [0, *begins[1:], len(lines)]
    sources = ["".join(lines[start:end]) for start, end in pairwise(cuts)]
    parts = tuple((part, parse(part).blocks) for part in sources)
    # Splitting would lose a link whose URL is defined in another part.
    return parts if tuple(block for _, found in parts for block in found) == blocks else whole


def _blocks_of(source: str) -> tree.Blocks:
    try:
        tokens = parser_for(source).parse(source)
    except Exception:  # untrusted text: a bug in the parser must not lose it
        _LOG.warning("a text of %d characters could not be parsed; shown as written", len(source), exc_info=True)
        return _as_written(source)
    # At its nesting limit the parser silently drops blocks, so show the source instead.
    if any(token.level >= MAX_NESTING - 1 for token in tokens):
        return _as_written(source)
    return _Reader(iter(tokens)).blocks("")


def _as_written(source: str) -> tree.Blocks:
    return (tree.CodeBlockNode(source.rstrip()),)


class _Reader:
    """Converts block tokens to a tree. The parser limits the nesting, so recursion is safe."""

    def __init__(self, tokens: Iterator[Token]) -> None:
        self.tokens = tokens

    def blocks(self, end: str) -> tree.Blocks:
        found: list[tree.Block] = []
        for token in self.tokens:
            if token.type == end:
                break
            found.append(_BLOCKS.get(token.type, _unknown)(self, token))
        return tuple(found)

    def inlines(self, end: str) -> tree.Inlines:
        found: tree.Inlines = ()
        for token in self.tokens:
            if token.type == end:
                break
            found += _inlines_of(token.children or [])
        return found

    def listing(self, opening: Token) -> tree.List:
        ordered = opening.type == "ordered_list_open"
        items: list[tree.Blocks] = []
        tight = True
        for token in self.tokens:
            if token.type == opening.type.replace("open", "close"):
                break
            close, blocks = self.item()
            tight = tight and close
            items.append(blocks)
        return tree.List(tuple(items), int(opening.attrs.get("start", 1)) if ordered else None, tight)

    def item(self) -> tuple[bool, tree.Blocks]:
        """Reads a list item; in a tight list the parser hides its paragraph tokens."""
        found: list[tree.Block] = []
        tight = True
        for token in self.tokens:
            if token.type == "list_item_close":
                break
            if token.type == "paragraph_open" and not token.hidden:
                tight = False
            found.append(_BLOCKS.get(token.type, _unknown)(self, token))
        return tight, tuple(found)

    def table(self) -> tree.TableNode:
        rows: list[tuple[tree.Inlines, ...]] = []
        aligns: list[tree.Align] = []
        cells: list[tree.Inlines] = []
        for token in self.tokens:
            if token.type == "table_close":
                break
            if token.type in ("th_open", "td_open"):
                cells.append(self.inlines(token.type.replace("open", "close")))
                if token.type == "th_open":
                    aligns.append(_align(str(token.attrs.get("style", ""))))
            elif token.type == "tr_close":
                rows.append(tuple(cells))
                cells = []
        return tree.TableNode(rows[0], tuple(rows[1:]), tuple(aligns))


def _align(style: str) -> tree.Align:
    return next((align for align in tree.Align if style.endswith(align.value)), tree.Align.LEFT)


def _language(info: str) -> str:
    found = _LANGUAGE.search(info.split()[0]) if info.split() else None
    return found[0].lower() if found else ""


def _code_block(_: _Reader, token: Token) -> tree.Block:
    return tree.CodeBlockNode(clean(token.content).removesuffix("\n"), _language(clean(token.info)))


def _math_block(_: _Reader, token: Token) -> tree.Block:
    return tree.Paragraph((tree.Math(token.content.strip(), display=True),))


def _unknown(_: _Reader, token: Token) -> tree.Block:
    return tree.Paragraph((tree.TextNode(clean(token.content).replace("\n", " ")),))


_BLOCKS: dict[str, Callable[[_Reader, Token], tree.Block]] = {
    "paragraph_open": lambda reader, _: tree.Paragraph(reader.inlines("paragraph_close")),
    "heading_open": lambda reader, token: tree.Heading(int(token.tag[1:]), reader.inlines("heading_close")),
    "bullet_list_open": _Reader.listing,
    "ordered_list_open": _Reader.listing,
    "blockquote_open": lambda reader, _: tree.Quote(reader.blocks("blockquote_close")),
    "table_open": lambda reader, _: reader.table(),
    "hr": lambda *_: tree.Rule(),
    "fence": _code_block,
    "code_block": _code_block,
    "math_block": _math_block,
    "amsmath": _math_block,
}


@dataclass(slots=True)
class _Open:
    """An open mark and its content so far."""

    wrap: Callable[[tree.Inlines], tree.Inline] | None
    children: list[tree.Inline]

    def add(self, inline: tree.Inline) -> None:
        last = self.children[-1] if self.children else None
        if isinstance(inline, tree.TextNode) and isinstance(last, tree.TextNode):
            self.children[-1] = tree.TextNode(last.text + inline.text)
        elif inline != tree.TextNode(""):
            self.children.append(inline)


def _inlines_of(tokens: list[Token]) -> tree.Inlines:
    stack = [_Open(None, [])]
    for token in tokens:
        if token.nesting > 0:
            stack.append(_Open(_wrapper(token) if len(stack) <= _MAX_SPANS else None, []))
        elif token.nesting < 0 and len(stack) > 1:
            _close(stack)
        else:
            stack[-1].add(_leaf(token))
    while len(stack) > 1:
        _close(stack)
    return tuple(stack[0].children)


def _close(stack: list[_Open]) -> None:
    done = stack.pop()
    if done.wrap is None:
        for child in done.children:
            stack[-1].add(child)
    elif done.children:
        stack[-1].add(done.wrap(tuple(done.children)))


_SPANS: dict[str, Callable[[tree.Inlines], tree.Inline]] = {
    "strong_open": tree.Strong,
    "em_open": tree.Emphasis,
    "s_open": tree.Strike,
}


def _wrapper(token: Token) -> Callable[[tree.Inlines], tree.Inline] | None:
    if token.type != "link_open":
        return _SPANS.get(token.type)
    url = str(token.attrs.get("href", ""))
    if instant := _INSTANT.fullmatch(url):
        seconds, form = int(instant["seconds"]), instant["form"]
        return lambda children: _named(
            children, lambda text: tree.Instant(seconds, form == "dated", text, form == "precise")
        )
    if found := _mentioned(url):
        what, platform, id = found["what"], found["platform"], found["id"]
        return lambda children: _named(children, lambda text: tree.Mention(what, platform, id, text))
    return (lambda children: tree.LinkNode(url, children)) if link_allowed(url) else None


_INSTANT = re.compile(r"time:(?P<seconds>\d{1,11})(?::(?P<form>dated|precise))?", re.ASCII)
"""Target of a link that stands for an instant, as `instant_markdown` writes it."""


def instant_markdown(text: str, seconds: int, *, dated: bool = False, precise: bool = False) -> str:
    """Returns Markdown for an instant, in seconds since 1970 in UTC: the time of day, with the date if `dated`, or to
    the second if `precise`. `text` is read where a chat cannot show it in the reader's own time zone; without Markdown
    characters."""
    return f"[{text}](time:{seconds}{':dated' if dated else ':precise' if precise else ''})"


_MENTION = re.compile(r"(?P<what>channel|member):(?P<platform>discord):(?P<id>[0-9]{1,20})", re.ASCII)
"""What a link stands for: a channel or member, as `channel_markdown` and `member_markdown` write it."""
_SIGNING_KEY = secrets.token_bytes(16)
"""Key of this process. Only its own texts mention anybody: a question's author or a member cannot write the signature.
A text that another process stored shows the name."""


def _signed(target: str) -> str:
    """Returns the target of a link that `_mentioned` accepts."""
    return f"{target}:{hmac.digest(_SIGNING_KEY, target.encode(), 'sha256').hex()[:32]}"


def _mentioned(url: str) -> re.Match[str] | None:
    """Returns what a link of our own mentions; None for any other link."""
    target = url.rpartition(":")[0]
    return _MENTION.fullmatch(target) if hmac.compare_digest(_signed(target).encode(), url.encode()) else None


def channel_markdown(name: str, platform: str, id: str) -> str:
    """Returns Markdown for a channel of a chat; any other chat shows its name."""
    return _mention_markdown(name, f"channel:{platform}:{id}")


def member_markdown(name: str, platform: str, id: str) -> str:
    """Returns Markdown for a member of a chat; any other chat shows their name."""
    return _mention_markdown(name, f"member:{platform}:{id}")


def _mention_markdown(name: str, target: str) -> str:
    return f"[{escape(name)}]({_signed(target)})" if _MENTION.fullmatch(target) else escape(name)


def _named(children: tree.Inlines, make: Callable[[str], tree.Inline]) -> tree.Inline:
    """Returns what a link stands for, or a space where a document wrote one without plain words: chats refuse a blank
    one."""
    text = "".join(child.text for child in children if isinstance(child, tree.TextNode))
    return make(text) if text.strip() else tree.TextNode(" ")


def _leaf(token: Token) -> tree.Inline:
    content = clean(token.content)
    if token.type == "code_inline":
        return tree.CodeSpan(content.replace("\n", " "))
    if token.type in ("math_inline", "math_block"):
        return tree.Math(content.strip(), display=token.type == "math_block")
    if token.type == "hardbreak":
        return tree.Break()
    if token.type == "image":
        return _image(token)
    return tree.TextNode(" " if token.type == "softbreak" else content.replace("\n", " "))


def _image(token: Token) -> tree.Inline:
    """Converts an image to a link: loading it from elsewhere would reveal who reads it, and it may disappear."""
    url = str(token.attrs.get("src", ""))
    words = tree.TextNode(clean(token.content).replace("\n", " ") or url)
    return tree.LinkNode(url, (words,)) if link_allowed(url) else words


# Escaping: Markdown that shows text exactly as typed. `to_html` escapes HTML by itself.

# Character references, not backslashes: `\(` opens math here, and no platform reads `&#64;here` as a mention.
_ANYWHERE = re.compile(r"[\\`*_~\[\]<>&$@]")
_LINE_START = re.compile(r"(\d{0,9})([#+\-=|:.)])")


def escape(text: str) -> str:
    """Returns Markdown that is parsed as `text`. Keeps lines and paragraphs and drops surrounding spaces."""
    paragraphs = re.split(r"\n\s*\n", clean(text).strip())
    return "\n\n".join(_paragraph(paragraph) for paragraph in paragraphs)


def _paragraph(text: str) -> str:
    return "\\\n".join(_line(line.strip()) for line in text.split("\n"))


def _line(line: str) -> str:
    start = _LINE_START.match(line)
    if start is None:
        return _ANYWHERE.sub(_reference, line)
    return f"{start[1]}&#{ord(start[2])};" + _ANYWHERE.sub(_reference, line[start.end() :])


def _reference(found: re.Match[str]) -> str:
    return f"&#{ord(found[0])};"
