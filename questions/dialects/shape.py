"""Heuristics shared by the Markdown dialects: numbers, levels and what reads as a question."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from questions.blocks import content_column, dedent, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from questions.blocks import Block
    from questions.model import Level


__all__ = [
    "BOLD_LINE",
    "QuestionLine",
    "asks_for_questions",
    "content_column",
    "dedent",
    "ends_asking",
    "heading_asks",
    "is_advertisement",
    "is_bold_question",
    "is_marked",
    "level_of",
    "level_under",
    "numbered",
    "question_line",
    "reads_as_question",
    "unbold",
]

_NUMBERED = re.compile(
    r"(?P<mark>\*{1,3}|_{1,3})?(?:q(?:uestion)?[ ]?|вопрос[ ]|frage[ ]|pregunta[ ]|pergunta[ ]|问题[ ]?|第)?#?"
    r"(?:(?P<nested>\d{1,4}(?:\.\d{1,4})+)[.):]?[ ]+"
    r"|(?P<number>\d{1,4})(?:\\?[.):：、．](?!\d)[ ]*|[题問问][:：]?[ ]*|[ ]+[-–—][ ]+))"
    r"(?P<rest>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_UNNUMBERED = re.compile(r"(?:q|question)[ ]?[.:：)][ ]+(?=\S)", re.IGNORECASE)
_ASKING_END = re.compile(r"[?？؟](?=[\s\"'”’)\]*_`]|$)")
_ASKS = re.compile(
    r"(?:what|why|how|when|where|which|who|whose|is|are|was|were|can|could|does|do|did|should|would|will|has|have"
    r"|explain|describe|discuss|compare|contrast|reflect|define|differentiate|distinguish|implement|design|derive"
    r"|prove|show|state|outline|summari[sz]e|name|list|give|write|compute|calculate|predict|tell|identify|mention"
    r"|choose|select|find|sketch|estimate|justify|elaborate|illustrate|true or false|difference between"
    r"|in|under|if|given|suppose|consider|you)\b",
    re.IGNORECASE,
)
_IMPERATIVE = 4
"""Minimum number of words from which a line with an asking word is a question, not a title."""
_LEVELS: dict[str, Level] = {
    "mid": "mid",
    "middle": "mid",
    "medium": "mid",
    "intermediate": "mid",
    "senior": "senior",
    "hard": "senior",
    "advanced": "senior",
    "principal": "principal",
    "staff": "principal",
    "expert": "principal",
}
_LEVEL = re.compile(
    r"(?P<word>[a-z]+)(?:[ -](?:level|tier|engineer|developer|role))*(?:[ ](?:interview )?questions)?:?",
    re.IGNORECASE,
)
_SOURCE = re.compile(
    r"[ ]*(?:\[\[[^\[\]]{0,80}\]\((?P<a>[^()\s]{1,500})\)\]|\(\[[^\[\]]{0,80}\]\((?P<b>[^()\s]{1,500})\)\)"
    r"|\[(?:\\\[)?(?:src|source|ref|reference|link|more|answer|solution|top|back to top|[^\w\s\[\]]{1,3})(?:\\\])?\]"
    r"\((?P<c>[^()\s]{1,500})\))[ ]*",
    re.IGNORECASE,
)
_SOURCE_LENGTH = 600
_WHOLE_LINK = re.compile(r"\[(?P<text>[^\[\]]{1,400})\]\((?P<address>[^()\s]{1,500})\)")
_ANCHOR = re.compile(r"<a\b[^<>]{0,200}>(?:[ ]*</a>)?|</a>", re.IGNORECASE)
_EMPHASIS = re.compile(r"(?P<mark>\*{1,3}|_{1,3})(?P<text>[^*_\s](?:[^*_]{0,400}[^*_\s])?)(?P=mark)[ ]*")
BOLD_LINE = re.compile(
    r"[ ]{0,3}(?P<mark>\*{2,3}|__)(?P<bold>(?:(?!(?P=mark)).){1,600})(?P=mark)(?P<rest>.*)", re.DOTALL
)
"""A paragraph that starts in bold."""
_PROMOTION = re.compile(
    r"\b(?:questions?|quiz(?:zes)?|q\s?&\s?a|q&as?|faqs?|interviews?|exam|exercises?|trivia|flash ?cards?|preguntas"
    r"|perguntas|fragen|вопросы)\b|面试|問題|问题|질문",
    re.IGNORECASE,
)
_OFFER = re.compile(
    r"(?:want|ready|looking|interested|need (?:more|help)|still|did you (?:like|enjoy|find)|do you (?:like|want|need)"
    r"|enjoy(?:ed)?|like (?:this|what|it)|love|liked|found (?:this|a|an)|any (?:questions|feedback|suggest)"
    r"|have (?:any |a |more |you )?(?:questions?|feedback|suggest)|got (?:a|any)|curious|missing (?:a|any|some)"
    r"|who (?:is|are|am) (?:this|we|i)|why (?:this|we|use this)|would you like"
    r"|how (?:to|can i|do i) (?:use this|contribute|help|support)"
    r"|what(?:'s| is) (?:next|inside|in this|this (?:repo|list|doc)))\b",
    re.IGNORECASE,
)
_LINK = re.compile(r"!?\[[^\[\]]{0,200}\]\([^()\s]{0,500}\)|https?://\S{1,500}")
_FEW = 4
"""Maximum number of words beside links without which they are no answer."""
_WHOLE_BOLD = re.compile(r"(\*\*|__)(?P<text>(?:(?!\1).)+)\1[ ]*", re.DOTALL)


def numbered(heading: str) -> tuple[str, str]:
    """Returns the number at the start of a heading, or an empty string, and the rest: `12. What …`, `Q3) …`, `**4.
    …**`."""
    found = _NUMBERED.fullmatch(heading.strip())
    if found is None:
        return "", heading.strip()
    rest = found["rest"].strip()
    mark = found["mark"]
    if mark and rest.startswith(mark):
        rest = rest.removeprefix(mark).strip()
    elif mark:
        rest = rest.removesuffix(mark) if rest.endswith(mark) else mark + rest
    return found["nested"] or found["number"], rest


class QuestionLine(NamedTuple):
    """The question in a heading, line or item, without markup."""

    number: str
    text: str
    links: tuple[str, ...] = ()


def question_line(line: str) -> QuestionLine:
    """Returns number, text and sources of a line that may ask: `#### 4) **Why?** [[src](…)]` without markup."""
    text = line.strip()
    links: list[str] = []
    while text.endswith((")", "]")) and (found := _source_at_end(text)):
        links.insert(0, found["a"] or found["b"] or found["c"])
        text = text[: found.start()].rstrip()
    if "<" in text:
        text = _ANCHOR.sub("", text).strip()
    number, text = numbered(text)
    text = _bare(_UNNUMBERED.sub("", _bare(text), count=1))
    if found := _WHOLE_LINK.fullmatch(text):
        text = found["text"]
        links.append(found["address"])
    if not number:
        number, text = numbered(text)
    return QuestionLine(number, text, tuple(link for link in links if not link.startswith("#")))


def _source_at_end(text: str) -> re.Match[str] | None:
    """Returns the link in brackets, or named `source`, at the end of a line."""
    start = max(len(text) - _SOURCE_LENGTH, 1)
    found = _SOURCE.search(text, start)
    while found and found.end() != len(text):
        found = _SOURCE.search(text, found.end())
    return found


def _bare(text: str) -> str:
    """Returns the text without emphasis around all of it."""
    found = _EMPHASIS.fullmatch(text)
    return found["text"].strip() if found else unbold(text)


def reads_as_question(markdown: str) -> bool:
    """Returns whether a line asks: it contains a question mark or begins with an asking word."""
    text = plain(markdown)
    if _ASKING_END.search(text):
        return True
    return len(text.split()) >= _IMPERATIVE and _ASKS.match(text.lstrip("\"'“‘(")) is not None


def heading_asks(headings: tuple[Block, ...]) -> bool:
    """Returns whether the innermost heading asks, so that the text below it is its answer."""
    if not headings:
        return False
    stem = question_line(headings[-1].text)
    return ends_asking(stem.text) or (bool(stem.number) and reads_as_question(stem.text))


def asks_for_questions(titles: tuple[str, ...]) -> bool:
    """Returns whether a title announces questions below it."""
    return any(_PROMOTION.search(title) for title in titles)


def is_marked(heading: str) -> bool:
    """Returns whether a heading begins with `Q.`, without a number."""
    return _UNNUMBERED.match(heading.lstrip(" *_")) is not None


def is_advertisement(heading: Block, body: Sequence[Block]) -> bool:
    """Returns whether a heading that appears to ask only advertises: links below it, or an offer of more."""
    words = plain(heading.text)
    if _OFFER.match(words.lstrip("\"'“‘*#!¡¿ ")):
        return True
    texts = [inner.text for block in body for inner in block.walk() if inner.kind == "paragraph"]
    linked = [text for text in texts if "](" in text or "://" in text]
    return bool(linked) and all(len(_LINK.sub("", text).split()) <= _FEW for text in texts)


def is_bold_question(paragraph: str) -> bool:
    """Returns whether a paragraph starts with a bold line that asks or has a number."""
    found = BOLD_LINE.match(paragraph)
    if found is None:
        return False
    stem = question_line(found["bold"])
    rest = found["rest"].partition("\n")[0].strip(" .:")
    return bool(stem.number) or (not rest and reads_as_question(stem.text))


def ends_asking(markdown: str) -> bool:
    """Returns whether a line ends in a question mark, ignoring closing marks."""
    return markdown.rstrip(" *_\"'”’)]`").endswith(("?", "？", "؟"))


def unbold(markdown: str) -> str:
    """Returns the text without bold marks around all of it."""
    found = _WHOLE_BOLD.fullmatch(markdown.strip())
    return found["text"].strip() if found else markdown.strip()


def level_of(text: str) -> Level | None:
    """Returns the level in a heading or key, such as `Senior Level`, or None."""
    found = _LEVEL.fullmatch(plain(text))
    return _LEVELS.get(found["word"].lower()) if found else None


def level_under(headings: tuple[str, ...]) -> Level | None:
    """Returns the level in the innermost heading that names one."""
    return next((level for heading in reversed(headings) if (level := level_of(heading))), None)
