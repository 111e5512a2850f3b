"""Words of the page on which members suggest a question. Those that cards have too are in `suggestions`."""

from __future__ import annotations

from typing import Final

from bot.core.text.refusals import refusal_words
from bot.core.text.review_pages import first_line as first_line
from bot.core.text.suggestions import HINT as HINT
from bot.core.text.suggestions import LABEL as LABEL
from bot.core.text.suggestions import NOTE as NOTE
from bot.core.text.suggestions import PROBLEMS as PROBLEMS
from bot.core.text.suggestions import SUGGEST as SUGGEST
from bot.core.text.suggestions import TEMPLATE as TEMPLATE
from bot.core.text.suggestions import decision_words as decision_words
from bot.core.text.suggestions import submitted as submitted
from bot.core.text.words import day_words
from service.wire import InvalidInput, Refusal, SuggestionView, TextNeeded

FORMAT: Final = (
    ("# topic", "A topic such as `tensors/views`."),
    (
        "## name · kind · level",
        "Kinds: `choice`, `value`, `output`, `code`, `open`. Levels: `mid`, `senior`, `principal`.",
    ),
    (
        "- [x] right\n- [ ] wrong — why",
        "The options of a choice. After a wrong one, write the mistake that leads to it.",
    ),
    ("### Answer", "The answer to a value or an open question."),
    ("### Why", "The explanation, which everyone reads at the reveal."),
)
"""Parts of a question, and what each is."""
NO_TEXT: Final = "Write a question with its answer. “How to write it” has the format."
READY: Final = "It can be submitted."
NOT_SUBMITTED: Final = "Not submitted yet. Your text is kept as a draft. “As it is read” says why."
NOT_KEPT: Final = "Only you see this preview. Nothing is submitted or kept yet."
NOTHING_YET: Final = "You have suggested nothing yet. What moderators decide about your questions is shown here."
MARKS: Final = {"waiting": ("Waiting", "part"), "accepted": ("Accepted", "good"), "declined": ("Declined", "bad")}
"""The short word for each state, and how it is colored."""


def refused(refusal: Refusal) -> str:
    """Says why a text is refused, by the label of its field. Markdown."""
    if isinstance(refusal, TextNeeded):
        return NO_TEXT
    if isinstance(refusal, InvalidInput):
        refusal = refusal.model_copy(update={"field": LABEL})
    return refusal_words(refusal)[1]


def heading(view: SuggestionView) -> str:
    """Names a suggestion and its day."""
    return f"Suggestion {view.id}, {day_words(view.at.date())}"
