"""A member's words made into Markdown that shows them as they were typed; not for HTML, which `to_html` escapes."""

import re

from bot.core.markup.safety import clean

# Character references and not backslashes: `\(` opens math here, and no chat platform reads `&#64;here` as a mention.
_ANYWHERE = re.compile(r"[\\`*_~\[\]<>&$@]")
_LINE_START = re.compile(r"(\d{0,9})([#+\-=|:.)])")


def escape(text: str) -> str:
    """Give Markdown whose parsed text is `text`: lines kept, blank lines part paragraphs, outer spaces dropped."""
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
