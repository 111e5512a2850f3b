"""Converts plain text and HTML to Markdown that reads the same."""

from __future__ import annotations

import html
import re
from collections import Counter
from typing import TYPE_CHECKING

from bs4 import BeautifulSoup
from bs4.builder import TreeBuilder
from markdownify import MarkdownConverter

from questions.formats.pages.classes import mark_questions, question_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from bs4 import Tag


_CODE = re.compile(r"(`[^`\n]+`)")
_CODE_OR_MATH = re.compile(
    r"(`[^`\n]+`|\\\((?:[^\\]|\\[^()\[\]]){1,500}\\\)|\\\[(?:[^\\]|\\[^()\[\]]){1,500}\\\]|\$\$[^$]{1,500}\$\$)"
)
"""Code, and formulas as web pages mark them."""
_MARKS = re.compile(
    r"\\(?=[!-/:-@\[-`{-~\n]|$)"  # a backslash that Markdown would remove
    r"|[*`]"
    r"|(?<![^\W_])_|_(?![^\W_])"  # literal within a word
    r"|\](?=[(\[:])|(?<=!)\["
    r"|<(?=[A-Za-z/!?])|&(?=#?\w+;)|~(?=~)"
)
_OPENING = re.compile(r"(?P<lead>[ \t]*)(?:(?P<number>\d{1,9})(?=[.)](?:\s|$))|(?=[#>|]|[+=-](?:\s|$|[=-])))")
_TAG = re.compile(
    r"<!--|<(?P<close>/?)(?P<name>[A-Za-z][A-Za-z0-9]*)(?P<attributes>(?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*)>"
)
_KNOWN_TAG = re.compile(
    r"</?(?:p|br|div|span|b|i|u|em|strong|code|pre|tt|ul|ol|li|img|a|sub|sup|table|tr|td|th|h[1-6]|font|hr"
    r"|blockquote)"
    r"(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"([A-Za-z-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
_LONGEST_ATTRIBUTES = 2_000
_MAX_DEPTH = 40
"""Maximum depth of nested tags; deeper tags are ignored and their text is kept."""
_BREAK, _PROGRAM = "\1", "\2"
"""Placeholders in the converted text; removed from the input first."""
_SKIPPED = frozenset({"script", "style", "head", "title"})
"""Tags removed with their text."""
_VOID = frozenset({"br", "hr", "img", "input"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_BLOCKS = frozenset({"p", "div", "section", "blockquote", "hr", "pre", "ul", "ol", "li", "table"}) | _HEADINGS
_KNOWN = (
    _BLOCKS
    | frozenset({"br", "img", "a", "b", "strong", "i", "em", "code", "tt", "kbd", "samp"})
    | frozenset({"tr", "td", "th"})
)
"""Converted tags; other tags are removed and their text is kept."""
_PAGE = frozenset({"details", "summary", "input", "label", "button", "mark"})
"""Tags that are converted in pages only."""
_CELL_ENDS = frozenset({"td", "th", "tr"})
_ENDED_BY = {"p": _BLOCKS, "li": {"li"}, "td": _CELL_ENDS, "th": _CELL_ENDS, "tr": {"tr"}}
"""Start tags that close an open tag whose end tag is optional."""
_SCOPES = frozenset({"ul", "ol", "table", "div", "section", "blockquote"})
"""Tags within which a start tag closes nothing outside."""
_RIGHT_MARKS = ("data-correct", "data-is-correct", "data-right", "data-answer")
"""Attributes of a button that say whether its option is right."""
_TRUE = ("true", "1", "yes", "correct")
_RIGHT_CLASSES = frozenset(("correct", "true", "is-correct", "correct-answer", "right-answer", "answer-correct"))
_WRONG_CLASSES = frozenset(("incorrect", "wrong", "false", "is-incorrect", "is-wrong", "wrong-answer"))
"""Classes of an element of a page that say whether it is the right option."""
_OFFERING = ("li", "a", "p", "div", "label", "button")
_LAYOUT = frozenset(("table", "tr", "td", "th"))
_CHOICE = "choice"
"""Attribute added to the elements that are options."""
_FEWEST_MARKED = 2
"""Fewest questions of a page whose options have a class that says which is right."""
_LETTERS = 26
"""Items of a list that can have letters."""
_LANGUAGE = re.compile(r"\blanguage-([A-Za-z0-9+#-]+)")


def from_plain(text: str) -> str:
    """Returns Markdown that shows `text` literally, except that `code` in backticks stays code."""
    lines = [line.rstrip() for line in text.expandtabs(4).strip("\n").split("\n")]
    shown = [_plain_line(line) for line in lines]
    result = ""
    for index, line in enumerate(shown):
        follows = index + 1 < len(shown)
        hard = follows and line and shown[index + 1]
        result += line + ("\\\n" if hard else "\n" if follows else "")
    return result.strip()


def _plain_line(line: str) -> str:
    indent = len(line) - len(line.lstrip(" "))
    pieces = _CODE.split(line[indent:])
    body = "".join(piece if index % 2 else _MARKS.sub(_backslash, piece) for index, piece in enumerate(pieces))
    found = _OPENING.match(body)
    if found and found["number"]:
        body = f"{found['number']}\\{body[found.end() :]}"
    elif found:
        body = "\\" + body
    # Markdown drops indentation, or takes it for a code block.
    return "\N{NO-BREAK SPACE}" * indent + body


def _backslash(found: re.Match[str]) -> str:
    return "\\" + found[0]


def from_loose(text: str) -> str:
    """Converts text that may be HTML: it is if it contains a common tag."""
    if _KNOWN_TAG.search(text):
        return from_html(text)
    return from_plain(html.unescape(text))


_TAGGED = re.compile(r"<(?:p|div|span|h[1-6]|ul|ol|pre|strong|em|b|i|code)(?:\s[^<>]{0,300})?>", re.IGNORECASE)
"""Beginning of a text that is HTML."""


def from_tagged(text: str) -> str:
    """Converts a text that begins with a common tag, and returns any other, which is Markdown, as it is."""
    return from_html(text) if _TAGGED.match(text) else text


def from_html(text: str, *, page: bool = False) -> str:
    """Converts HTML to Markdown: emphasis, code, lists, links, images and programs are kept.

    Of a `page`, folds and the buttons that choose an option are kept too.
    """
    converter = _Converter()
    text = re.sub(r"[\0-\2]", "", text)
    soup = _parse(text, _KNOWN | _PAGE if page else _KNOWN)
    if page:
        _mark_options(soup)
        mark_questions(soup)
    return _tidy(converter.convert_soup(soup), converter.programs)


def _mark_options(soup: BeautifulSoup) -> None:
    """Adds an attribute to the options of a page whose classes or attributes say which are right. In a list, items
    beside right ones are wrong."""
    marked = [(tag, right) for tag in soup.find_all(_OFFERING) if (right := _is_right(tag)) is not None]
    inside = Counter(id(tag.parent) for tag, _ in marked)
    groups: dict[int, list[tuple[Tag, bool]]] = {}
    for tag, right in marked:
        parent = tag.parent
        # `<p><a class="true">…</a></p>` is beside others like it.
        holder = parent.parent if parent is not None and inside[id(parent)] == 1 and tag.name != "li" else parent
        groups.setdefault(id(holder), []).append((tag, right))
    for group in groups.values():
        first = group[0][0]
        if first.name == "li" and first.parent is not None and all(right for _, right in group):
            known = {id(tag) for tag, _ in group}
            others = first.parent.find_all("li", recursive=False)
            group += [(tag, False) for tag in others if id(tag) not in known]
    offering = [group for group in groups.values() if {right for _, right in group} == {True, False}]
    if len(offering) >= _FEWEST_MARKED and len(offering) * 5 >= len(groups) * 4:
        for group in offering:
            for tag, right in group:
                tag[_CHOICE] = "x" if right else " "
                if tag.name != "li":
                    tag.name = "label"
                for parent in tag.parents:
                    if parent.name in _LAYOUT:
                        # A table around questions only arranges them.
                        parent.name = "div"


def _is_right(tag: Tag) -> bool | None:
    """Returns whether an element is marked as a right option, or as a wrong one; None if it has no mark, or holds the
    button that has."""
    marks = {str(tag[name]).lower() for name in _RIGHT_MARKS if tag.get(name) is not None}
    if tag.get("data-answer") is not None or tag.name in ("p", "div"):
        # A number may be the place of the right option in this question.
        marks -= {"0", "1"}
    classes = set(str(tag.get("class", "")).lower().split())
    if classes & _RIGHT_CLASSES or marks & set(_TRUE):
        right = True
    elif classes & _WRONG_CLASSES or marks & {"false", "0", "no", "wrong"}:
        right = False
    else:
        return None
    says = tag.get_text(strip=True) or tag.find("img") is not None
    return right if says and tag.find(("input", "ul", "ol")) is None else None


def _parse(text: str, known: frozenset[str]) -> BeautifulSoup:
    # Without a tag, BeautifulSoup warns about text that looks like a URL or a file name.
    return BeautifulSoup(f"<html>{text}", builder=_TreeBuilder(known))


class _TreeBuilder(TreeBuilder):
    """Builds a tree of the known tags, up to `_MAX_DEPTH`.

    Finds the tags itself: `html.parser` takes quadratic time on some input and drops the text after a stray `<`.
    """

    def __init__(self, known: frozenset[str]) -> None:
        super().__init__(preserve_whitespace_tags={"pre"})
        self._known_tags = known

    def feed(self, markup: object) -> None:
        assert isinstance(markup, str) and self.soup is not None
        position, skipped = 0, ""
        while position < len(markup):
            found = _TAG.search(markup, position)
            end = found.start() if found else len(markup)
            if not skipped:
                _add_text(self.soup, html.unescape(markup[position:end]))
            if found is None:
                break
            position = found.end()
            name = (found["name"] or "").lower()
            if not name:
                closed = markup.find("-->", position)
                position = len(markup) if closed < 0 else closed + 3
            elif skipped:
                skipped = "" if found["close"] and name == skipped else skipped
            elif name in _SKIPPED:
                skipped = "" if found["close"] or found["attributes"].endswith("/") else name
            else:
                _add_tag(self.soup, name, bool(found["close"]), found["attributes"], self._known_tags)


def _add_text(soup: BeautifulSoup, text: str) -> None:
    if not soup.open_tag_counter["pre"]:
        text = re.sub(r"\s+", " ", text)
    if text:
        soup.handle_data(text)


def _add_tag(soup: BeautifulSoup, name: str, closes: bool, attributes: str, known: frozenset[str]) -> None:
    if name == "mark" and soup.open_tag_counter["mark"]:
        # A second one before the end of the first was meant to end it.
        closes = True
    if name in _VOID and closes:
        if name != "br":
            return
        closes = False  # as in browsers
    if soup.open_tag_counter["pre"] and not (name == "pre" and closes):
        _add_tag_in_pre(soup, name, closes, attributes)
    elif closes:
        soup.handle_endtag(name)
    elif name in known:
        _close_implied(soup, name)
        if len(soup.tagStack) <= _MAX_DEPTH:
            soup.handle_starttag(name, None, None, dict(_attributes(attributes)))
            if name in _VOID:
                soup.handle_endtag(name)


def _add_tag_in_pre(soup: BeautifulSoup, name: str, closes: bool, attributes: str) -> None:
    """Keeps the line breaks and the language of a program, and no other tag."""
    found = _LANGUAGE.search(attributes[:_LONGEST_ATTRIBUTES])
    if name == "code" and found and soup.currentTag:
        soup.currentTag["language"] = found[1]
    elif name in ("br", "div", "p") and not closes:
        soup.handle_data("\n")


def _close_implied(soup: BeautifulSoup, name: str) -> None:
    """Closes the open tags that the start of `name` closes in HTML, such as an `li` before the next `li`."""
    for tag in reversed(soup.tagStack[1:]):
        if name in _ENDED_BY.get(tag.name, ()):
            soup.handle_endtag(tag.name)
        elif tag.name in _SCOPES:
            break


class _Converter(MarkdownConverter):
    """Converts a parsed text to Markdown. Programs and line breaks are placeholders until `_tidy`."""

    def __init__(self) -> None:
        super().__init__(bullets="-")
        self.programs: list[str] = []
        self._numbers: Counter[int] = Counter()

    def escape(self, text: str, parent_tags: set[str]) -> str:
        pieces = _CODE_OR_MATH.split(text)
        return "".join(piece if index % 2 else _MARKS.sub(_backslash, piece) for index, piece in enumerate(pieces))

    def convert_b(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return text if "_noformat" in parent_tags else _marked(text, "**")

    def convert_i(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return text if "_noformat" in parent_tags else _marked(text, "*")

    convert_strong, convert_em = convert_b, convert_i
    convert_mark = convert_b

    def convert_code(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return text if "_noformat" in parent_tags else code_span(text)

    convert_tt = convert_kbd = convert_samp = convert_code

    def convert_pre(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        program = text.strip("\n")
        if not program or "_noformat" in parent_tags:
            return program
        self.programs.append(fence(program, str(el.get("language", ""))))
        return f"\n\n{_PROGRAM}{len(self.programs) - 1}{_PROGRAM}\n\n"

    def convert_br(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return "\n" if "_noformat" in parent_tags else _BREAK

    def convert_hr(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return "\n\n"

    def convert_blockquote(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return f"\n\n{text.strip()}\n\n"

    convert_table = convert_blockquote

    def convert_tr(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return f"\n\n{text.strip(' ')}\n\n"

    def convert_td(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return f" {text.strip(' ')}"

    convert_th = convert_td

    def convert_hN(self, n: int, el: Tag, text: str, parent_tags: set[str]) -> str:
        return f"\n\n{_marked(text.strip(), '**')}\n\n"

    def convert_li(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        text = text.strip()
        if el.get(_CHOICE):
            text = f"[{el[_CHOICE]}] {text}"
        marker = "-"
        if el.parent is not None and el.parent.name == "ol":
            self._numbers[id(el.parent)] += 1
            number = self._numbers[id(el.parent)]
            lettered = el.parent.get("type") in ("A", "a") and number <= _LETTERS
            marker = f"- {chr(ord('A') + number - 1)})" if lettered else f"{number}."
        first, *others = text.split("\n")
        indent = " " * (len(marker) + 1)
        return "\n".join([f"{marker} {first}", *(line and indent + line for line in others)]) + "\n"

    def convert_details(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return f"\n\n<details>{text.strip()}\n\n</details>\n\n"

    def convert_summary(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return f"<summary>{' '.join(text.split())}</summary>\n\n"

    def convert_asked(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return f"\n\n**Q:** {question_text(text)}\n\n"

    def convert_answered(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return f"\n\n**A:** {text.strip()}\n\n"

    def convert_input(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Returns a check box for a button that chooses an option: checked if an attribute says that it is right.

        `checked` says only how the page begins.
        """
        if str(el.get("type", "")).lower() not in ("radio", "checkbox"):
            return ""
        values = [str(el.get(name, "")).lower() for name in _RIGHT_MARKS]
        right = any(one in _TRUE for one in values) or str(el.get("value", "")).lower() in ("correct", "right")
        return f"\n- [{'x' if right else ' '}] "

    def convert_label(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return f"\n- [{el[_CHOICE]}] {' '.join(text.split())}\n" if el.get(_CHOICE) else text

    def convert_a(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        address = _address(str(el.get("href", "")))
        words = text.strip()
        if not address or not words or "\n" in words or _PROGRAM in words or "_noformat" in parent_tags:
            return text
        return f"{_lead(text)}[{words}]({address}){_tail(text)}"

    def convert_img(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        if formula := _formula_of(el):
            return f"${formula}$"
        alt = " ".join(str(el.get("alt", "")).split())
        if "_noformat" in parent_tags:
            return alt
        return f"![{_MARKS.sub(_backslash, alt)}]({_address(str(el.get('src', '')))})"


_LATEX = re.compile(r"\s*LaTeX:\s*(?P<formula>\S.*)", re.DOTALL)


def _formula_of(image: Tag) -> str:
    """Returns the LaTeX of a picture of a formula, as Canvas writes it in attributes; empty for other pictures."""
    formula = " ".join(str(image.get("data-equation-content", "")).split())
    found = _LATEX.fullmatch(str(image.get("alt", "")))
    classes = str(image.get("class", "")).split()
    if not formula and found:
        formula = " ".join(found["formula"].split())
    if not formula and "equation_image" in classes:
        formula = " ".join(str(image.get("title", "")).split())
    return formula.replace("$", "\\$")


def _marked(text: str, mark: str) -> str:
    """Returns the text in emphasis marks if it is one line without emphasis, otherwise unchanged."""
    words = text.strip()
    if not words or "\n" in words or _PROGRAM in words or "*" in words.replace("\\*", ""):
        return text
    return f"{_lead(text)}{mark}{words}{mark}{_tail(text)}"


def _lead(text: str) -> str:
    return text[: len(text) - len(text.lstrip())]


def _tail(text: str) -> str:
    return text[len(text.rstrip()) :]


def _attributes(text: str) -> list[tuple[str, str]]:
    return [
        (found[1].lower(), html.unescape(found[2] or found[3] or found[4] or ""))
        for found in _ATTRIBUTE.finditer(text[:_LONGEST_ATTRIBUTES])
    ]


def _address(text: str) -> str:
    return re.sub(r"[\s<>()\\]", lambda found: f"%{ord(found[0]) & 255:02X}", text)


def _tidy(text: str, programs: list[str]) -> str:
    """Replaces placeholders, and removes trailing spaces and repeated blank lines."""
    text = re.sub(rf"(?: ?{_BREAK})+ ?", lambda found: "\n\n" if found[0].count(_BREAK) > 1 else _BREAK, text)
    # A line break at the start or end of a block has no effect.
    text = re.sub(rf"{_BREAK}(?= ?(?:\n|$))|(?:(?<=\n)|^){_BREAK}", "", text)
    lines = [_block_safe(line.rstrip()) for line in text.replace(_BREAK, "\\\n").split("\n")]
    joined = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
    return re.sub(rf"(?m)^(.*){_PROGRAM}(\d+){_PROGRAM}", lambda found: _program(found, programs), joined)


def _program(found: re.Match[str], programs: list[str]) -> str:
    """Returns a program after its prefix, with all lines indented by the prefix's length."""
    return found[1] + programs[int(found[2])].replace("\n", "\n" + " " * len(found[1]))


def _block_safe(line: str) -> str:
    """Returns the line, escaped if it would start a block other than a list item."""
    found = re.match(r" *(?=[#>|]|=+$)", line)
    return f"{found[0]}\\{line[found.end() :]}" if found else line


def fence(text: str, language: str = "") -> str:
    """Returns the text as a fenced block, with a fence longer than any in the text."""
    marks = "`" * max(3, _longest_run(text) + 1)
    return f"{marks}{language}\n{text}\n{marks}"


def code_span(text: str) -> str:
    """Returns the text as inline code; empty for blank text."""
    shown = " ".join(text.split())
    if not shown:
        return ""
    marks = "`" * (_longest_run(shown) + 1)
    pad = " " if shown[0] == "`" or shown[-1] == "`" else ""
    return f"{marks}{pad}{shown}{pad}{marks}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall(r"`+", text)), default=0)


_CONVERTERS: dict[str, Callable[[str], str]] = {
    "html": from_html,
    "markdown": lambda text: text.strip(),
    "plain": from_plain,
    "plain_text": from_plain,
}


def markdown_converter(name: str) -> Callable[[str], str]:
    """Returns the converter for a format name: html, markdown, plain; for others the text may be HTML."""
    return _CONVERTERS.get(name, from_loose)
