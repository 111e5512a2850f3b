"""What a reader of a foreign format fills: questions and findings about one source. Reads nothing itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from questions.diagnostics import Finding
from questions.model import Place

if TYPE_CHECKING:
    from questions.diagnostics import Severity
    from questions.model import Question
    from questions.source import Source

MOST_QUESTIONS = 20_000
"""Of one document; more are named in a finding and left out."""
LONGEST = 200_000
"""Characters of one question with all its marks; a chat takes a hundredth of it."""


@dataclass(slots=True)
class Sheet:
    """What was read of one document."""

    source: Source
    dialect: str
    title: str = ""
    name: str = ""
    """What the document calls its bank, where it does."""
    licence: str = ""
    questions: list[Question] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    _overflowed: bool = False

    @property
    def stem(self) -> str:
        """The document's name without folder and suffix."""
        return Path(self.source.name).stem or "bank"

    def place(self, first: int, last: int) -> Place:
        """A question's place, kept inside the document."""
        count = max(len(self.source.lines), 1)
        first = min(max(first, 1), count)
        return Place(self.source.name, first, self.source.last_filled(first, min(max(last, first), count)))

    def say(
        self,
        code: str,
        message: str,
        cure: str,
        lines: tuple[int, int],
        *,
        severity: Severity = "warning",
        note: str = "",
        label: str = "",
        skipped: bool = False,
    ) -> None:
        """Keep a finding about lines `first` to `last`."""
        place = self.place(*lines)
        span = self.source.span(place.line, place.end_line)
        self.findings.append(Finding(code, severity, message, span, label, note, cure, skipped))

    def unreadable(self, message: str, cure: str, line: int = 1) -> Sheet:
        """Say that the document as a whole cannot be read; the sheet, for a reader to return."""
        self.say("Q601", message, cure, (line, line), severity="error")
        return self

    def refused(self, message: str, cure: str, line: int = 1) -> Sheet:
        """Say that the document is not read for safety's sake; the sheet, for a reader to return."""
        self.say("Q602", message, cure, (line, line), severity="error", note="nothing of it was read")
        return self

    def left_out(self, message: str, cure: str, lines: tuple[int, int]) -> None:
        """Say that something that stands for a question could not become one."""
        self.say("Q603", message, cure, lines, note="it was left out", skipped=True)

    def takes(self, first: int, last: int, size: int) -> bool:
        """Whether another question is taken, whose raw text has `size` characters; where not, it is named."""
        if size > LONGEST:
            self.left_out(f"the question is longer than {LONGEST:,} characters", "shorten it", (first, last))
            return False
        if len(self.questions) < MOST_QUESTIONS:
            return True
        if not self._overflowed:
            self._overflowed = True
            message = f"the document holds more than {MOST_QUESTIONS:,} questions"
            self.left_out(message, "split it into several documents", (first, len(self.source.lines)))
        return False
