"""Rewrites AsciiDoc as Markdown, line by line, so that line numbers stay those of the document."""

from __future__ import annotations

import re
from string import ascii_lowercase
from typing import TYPE_CHECKING

from questions.wording.labels import ANSWER_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SUFFIXES = (".adoc", ".asciidoc", ".asc")

_DEEPEST = 6
"""Deepest heading of Markdown."""
_TITLE = re.compile(r"(?P<marks>={1,6})[ \t]+(?P<text>\S.*?)(?:[ \t]+=+)?[ \t]*")
_DELIMITER = re.compile(r"(?P<mark>-{4,}|\.{4,}|_{4,}|={4,}|\*{4,}|\+{4,}|/{4,}|`{3,}|--|\|===+)[ \t]*")
_ATTRIBUTE = re.compile(r":!?[\w-]+!?:(?:[ \t].*)?")
_BLOCK = re.compile(r"\[(?P<inside>[^\[\]\n]{0,300})\][ \t]*")
_ANCHOR = re.compile(r"\[\[[^\[\]\n]{1,200}\]\][ \t]*")
_LANGUAGE = re.compile(r"source[ ]*,[ ]*(?:language=)?[\"']?(?P<language>[\w+#-]+)")
_COMMENT = re.compile(r"//(?!/).*")
_DIRECTIVE = re.compile(r"(?:include|ifdef|ifndef|ifeval|endif|toc)::.*")
_IMAGE = re.compile(r"image::(?P<to>[^\[\]\s]{1,400})\[(?P<text>[^\[\]]{0,300})\][ \t]*")
_BLOCK_TITLE = re.compile(r"\.(?P<text>[^\s.].{0,200})")
_ITEM = re.compile(r"[ \t]*(?P<marks>\*{1,5}|\.{1,5}|-)[ \t]+(?P<text>\S.*)")
_TERM = re.compile(r"(?P<term>\S[^\n]{0,300}?)(?P<marks>::{1,3}|;;)(?:[ \t]+(?P<text>\S.*)|[ \t]*)")
_BOLD = re.compile(r"(?<![\w*`])\*(?P<text>[^\s*](?:[^*\n]{0,400}[^\s*])?)\*(?![\w*])")
_LINK = re.compile(
    r"(?:link:|xref:)?(?P<to>(?:https?://|(?<=link:)|(?<=xref:))[^\s\[\]]{1,400})\[(?P<text>[^\[\]]{0,200})\]"
)
_MACRO = re.compile(r"(?:kbd|btn|menu|footnote):(?P<target>[^\s\[\]]{0,100})\[(?P<text>[^\[\]]{0,200})\]")
_PASSED = re.compile(r"\+{3}(?P<html>[^+\n]{1,2000})\+{3}")
"""HTML that is passed through as it is: `+++ <details> +++`."""
_FOLD = re.compile(r"[ \t]*\+{3}[ ]*<details>[ ]*(?:<summary>)?[ ]*\+{3}[ \t]*", re.IGNORECASE)
_FOLD_ENDS = re.compile(r"[ \t]*\+{3}[ ]*(?:</?(?:summary|div|details)>[ ]*){1,4}\+{3}[ \t]*", re.IGNORECASE)
_LONGEST_SUMMARY = 4
"""Lines within which the summary of a fold ends."""
_VERBATIM = ("-", ".", "`", "+")
"""First signs of the delimiters around what is shown as it is."""
_LETTERED = re.compile(r"(?:[^,]*,)?[ ]*(?:lower|upper)(?:alpha|latin)\b.*", re.IGNORECASE)
"""What is in brackets above a list that is shown with letters."""
_KEY = re.compile(
    rf"(?m)^[ \t]*(?:[*_]{{0,2}}(?:{ANSWER_WORDS})[*_]{{0,2}}[ ]?[:：][*_]{{0,2}}"
    rf"|\.(?:{ANSWER_WORDS})[ ]*\n(?:={{4,}}\n)?)[ ]*"
    r"[(]?[a-h](?:[ ]?(?:,|and|&)[ ]?[a-h])*[).]?[ \t]*$",
    re.IGNORECASE,
)
"""An answer that is nothing but letters."""
_LIKELY = re.compile(r"(?m)^(?:\[source\b[^\]\n]{0,200}\]|:[\w-]+:[ \t]|={2,5}[ \t]+\S|\[NOTE\]|\|===)")
_FEWEST_LIKELY = 3


def is_asciidoc(text: str) -> bool:
    """Returns whether a text without a suffix that says so is AsciiDoc: a title, and several marks of its own."""
    first = next((line for line in text[:2000].split("\n") if line.strip()), "")
    titled = _TITLE.fullmatch(first) is not None and not first.startswith("==")
    marks = {found[0][:3] for found in _LIKELY.finditer(text[:200_000])}
    return titled and len(marks) > 1 and sum(1 for _ in _LIKELY.finditer(text[:200_000])) >= _FEWEST_LIKELY


def markdown_of_asciidoc(text: str) -> str:
    """Returns an AsciiDoc document as Markdown with as many lines: titles, lists, programs, bold text, links."""
    lettered = _KEY.search(text) is not None
    return "\n".join(_Rewriter(text.split("\n"), lettered=lettered).rewritten())


class _Rewriter:
    """State while lines are rewritten: the list that is open, and what the next block is."""

    def __init__(self, lines: Sequence[str], *, lettered: bool) -> None:
        self.lines = lines
        self.lettered = lettered
        """Whether answers name the letters that lists of the second depth are shown with."""
        self.letters = False
        """Whether the next list is shown with letters."""
        self.marks: list[str] = []
        """Markers of the items around the current line, outermost first."""
        self.widths: list[int] = []
        """Width of each of these markers in Markdown."""
        self.counts: list[int] = []
        """Number of items so far at each depth."""
        self.alphabetic: set[str] = set()
        """Markers of the open lists that are shown with letters."""
        self.language: str | None = None
        """Language of the program in the next block; None if it is not a program."""
        self.attached = False
        """Whether `+` attaches the next block to the item above."""
        self.folded = False
        """Whether a fold is open whose tags are passed through."""

    def rewritten(self) -> Iterator[str]:
        """Yields as many lines as there are."""
        number = 0
        while number < len(self.lines):
            line = self.lines[number].rstrip()
            found = _DELIMITER.fullmatch(line)
            if found and self._is_verbatim(found["mark"]):
                end = self._end(number, found["mark"])
                yield from self._program(self.lines[number + 1 : end], found["mark"], closed=end < len(self.lines))
                number = end + 1
                continue
            if _FOLD.fullmatch(line) and (summary := self._summary(number)):
                # Markdown would read what follows the tags without a blank line as HTML too.
                self.folded = True
                yield f"<details><summary>{' '.join(summary).strip()}</summary>"
                yield from [""] * (len(summary) + 1)
                number += len(summary) + 2
                continue
            if _FOLD_ENDS.fullmatch(line):
                yield "</details>" if self.folded and "</details>" in line.lower() else ""
                self.folded = self.folded and "</details>" not in line.lower()
                number += 1
                continue
            if self.language is not None and line and not found and not _BLOCK.fullmatch(line):
                # A program without delimiters ends at a blank line; its marks take the places of no line.
                yield f"{self._indent()}    {line}"
                self.language = None if not self._goes_on(number) else self.language
            else:
                yield self._line(number, line, delimiter=found is not None)
            number += 1

    def _summary(self, number: int) -> list[str]:
        """Returns the lines between the tags that open a fold and the one that closes its summary; empty if there are
        none."""
        within = [line.strip() for line in self.lines[number + 1 : number + 2 + _LONGEST_SUMMARY]]
        end = next((at for at, line in enumerate(within) if "</summary>" in line.lower()), 0)
        return within[:end] if end and _FOLD_ENDS.fullmatch(within[end]) else []

    def _goes_on(self, number: int) -> bool:
        following = self.lines[number + 1] if number + 1 < len(self.lines) else ""
        return bool(following.strip()) and following.strip() != "+"

    def _is_verbatim(self, mark: str) -> bool:
        return (mark[0] in _VERBATIM and len(mark) > 2) or mark.startswith("////")

    def _end(self, number: int, mark: str) -> int:
        """Returns the index of the line that closes a block; the number of lines if none does."""
        ahead = range(number + 1, len(self.lines))
        return next((at for at in ahead if self.lines[at].rstrip() == mark), len(self.lines))

    def _program(self, inside: Sequence[str], mark: str, *, closed: bool) -> Iterator[str]:
        indent, language = self._indent(), self.language or ""
        self.language = None
        if mark.startswith("/"):
            yield from [""] * (len(inside) + 1 + closed)
            return
        yield f"{indent}```{language}"
        yield from (f"{indent}{line}" if line.strip() else line for line in inside)
        if closed:
            yield f"{indent}```"

    def _indent(self) -> str:
        return " " * sum(self.widths)

    def _line(self, number: int, line: str, *, delimiter: bool) -> str:
        if not line.strip():
            self.attached = False
            return ""
        if title := _TITLE.fullmatch(line):
            self.marks, self.widths, self.counts, self.language = [], [], [], None
            return f"{'#' * min(len(title['marks']), _DEEPEST)} {_inline(title['text'])}"
        if line == "+":
            self.attached = True
            return ""
        if block := _BLOCK.fullmatch(line):
            self.letters = _LETTERED.fullmatch(block["inside"]) is not None
            language = _LANGUAGE.match(block["inside"])
            self.language = language["language"] if language else "" if block["inside"].startswith("source") else None
            return ""
        if delimiter or any(one.fullmatch(line) for one in (_ATTRIBUTE, _ANCHOR, _COMMENT, _DIRECTIVE)):
            return ""
        if image := _IMAGE.fullmatch(line):
            return f"{self._indent()}![{image['text']}]({image['to']})"
        if item := _ITEM.fullmatch(line):
            return self._item(item["marks"], item["text"])
        if title := _BLOCK_TITLE.fullmatch(line):
            if self.marks and not self.attached and self._stands_apart(number):
                self.marks, self.widths, self.counts = [], [], []
            return f"{self._indent()}**{_inline(title['text'])}**"
        if term := _TERM.fullmatch(line):
            definition = f" {_inline(term['text'])}" if term["text"] else ""
            colon = "" if term["term"].endswith("?") else ":"
            return f"{self._indent()}**{_inline(term['term']).strip('*')}{colon}**{definition}"
        if self.marks and not self.attached and self._stands_apart(number):
            self.marks, self.widths, self.counts = [], [], []
        return f"{self._indent()}{_inline(line.strip() if self.marks else line)}"

    def _stands_apart(self, number: int) -> bool:
        return number > 0 and not self.lines[number - 1].strip()

    def _item(self, marks: str, text: str) -> str:
        at = self.marks.index(marks) if marks in self.marks else len(self.marks)
        count = self.counts[at] + 1 if at < len(self.counts) else 1
        marker = f"{count}. " if marks.startswith(".") else "- "
        if count == 1:
            self.alphabetic = {*(one for one in self.alphabetic if one in self.marks[:at])}
            if marks.startswith(".") and (self.letters or (self.lettered and marks == "..")):
                self.alphabetic.add(marks)
            self.letters = False
        if marks in self.alphabetic and count <= len(ascii_lowercase):
            marker = f"{ascii_lowercase[count - 1]}) "
        self.marks, self.widths, self.counts = self.marks[:at], self.widths[:at], self.counts[:at]
        shown = f"{self._indent()}{marker}{_inline(text)}"
        self.marks.append(marks)
        self.widths.append(len(marker))
        self.counts.append(count)
        return shown


def _inline(text: str) -> str:
    text = _PASSED.sub(lambda found: found["html"].strip(), text) if "+++" in text else text
    shown = _BOLD.sub(r"**\g<text>**", text)
    shown = _MACRO.sub(lambda found: " ".join(part for part in (found["target"], found["text"]) if part), shown)
    return _LINK.sub(lambda found: f"[{found['text'] or found['to']}]({found['to']})", shown)
