"""Renders a tree as one plain line, for notifications, lists and screen readers."""

from wcwidth import iter_graphemes

from bot.core.markup import tree
from bot.core.markup.math import to_unicode

_ELLIPSIS = "…"


def to_summary(document: tree.MarkdownDocument, limit: int) -> str:
    """Returns one line of at most `limit` code points, truncated after a word with an ellipsis."""
    return _cut(" ".join(" ".join(_block_words(block) for block in document.blocks).split()), limit)


def _block_words(block: tree.Block) -> str:
    match block:
        case tree.Paragraph(children) | tree.Heading(_, children):
            return _words(children)
        case tree.Quote(blocks):
            return " ".join(_block_words(inner) for inner in blocks)
        case tree.List(items):
            return "; ".join(" ".join(_block_words(inner) for inner in item) for item in items)
        case tree.CodeBlockNode():
            return "[code]"
        case tree.TableNode():
            return "[table]"
        case _:
            return ""


def _words(children: tree.Inlines) -> str:
    return "".join(_word(child) for child in children)


def _word(inline: tree.Inline) -> str:
    match inline:
        case tree.TextNode(text) | tree.CodeSpan(text) | tree.Instant(text=text) | tree.Mention(text=text):
            return text
        case tree.Math(source):
            return to_unicode(source).replace("\n", "; ")
        case tree.Break():
            return " "
        case tree.Strike(children):
            # Plain text has no strikethrough, so say it: the words must not read as valid.
            return f"[struck out: {_words(children)}]"
        case tree.Strong(children) | tree.Emphasis(children) | tree.LinkNode(_, children):
            return _words(children)


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    kept = ""
    for grapheme in iter_graphemes(text[: limit + 1]):
        if len(kept) + len(grapheme) > limit - len(_ELLIPSIS):
            break
        kept += grapheme
    head, space, _ = kept.rpartition(" ")
    # If no space follows, the last word is incomplete, so drop it. A text without spaces is cut anywhere.
    if space and not text[len(kept) :].startswith(" "):
        kept = head
    return kept.rstrip(" ,;:.") + _ELLIPSIS if limit > 0 else ""
