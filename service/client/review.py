"""The calls of moderators: reports, suggestions, edits of questions, open answers and who is notified of them."""

# A call is declared by its signature, without a body.
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from service.client.calls import CallSender, call
from service.wire import (
    AnswerCredit,
    DecidedSuggestion,
    EditView,
    QuestionSource,
    ReportedQuestion,
    ReportView,
    Settled,
    SettledReport,
    SuggestedQuestion,
    SuggestionView,
    WaitingAnswers,
    Where,
    Who,
)


class ReviewCalls(CallSender):
    """One method per call, refused to everyone but admins."""

    @call("admin/question/source", repeatable=True)
    async def question_source(self, who: Who, question: str) -> QuestionSource:
        """Returns a question of the workspace's own banks as Markdown. Refused for a shared one."""

    @call("admin/question/edit")
    async def question_edit(
        self, who: Who, event_id: str, question: str, text: str, apply: bool, seen: str = ""
    ) -> EditView:
        """Replaces a question, and judges the answers of closed rounds again; without `apply`, only returns what would
        move. `seen` is the digest of the text that was shown to edit: refused if it is another one now."""

    @call("admin/reports", repeatable=True)
    async def reports(self, who: Who) -> tuple[ReportView, ...]: ...

    @call("admin/report/settle")
    async def report_settle(self, who: Who, event_id: str, report: int, state: Settled, reason: str) -> SettledReport:
        """Settles a report as dismissed or fixed; audited, and its author is notified with the reason."""

    @call("admin/report", repeatable=True)
    async def report_view(self, who: Who, report: int) -> ReportedQuestion:
        """Returns a report beside the question it is about, with the key."""

    @call("admin/suggestions", repeatable=True)
    async def suggestions(self, who: Who) -> tuple[SuggestionView, ...]: ...

    @call("admin/suggestion", repeatable=True)
    async def suggestion_view(self, who: Who, suggestion: int) -> SuggestedQuestion:
        """Returns a suggestion with its question as it was read, and the key."""

    @call("admin/suggestion/edit")
    async def suggestion_edit(self, who: Who, event_id: str, suggestion: int, text: str) -> int:
        """Replaces the text of a waiting suggestion; audited."""

    @call("admin/suggestion/accept")
    async def suggestion_accept(self, who: Who, event_id: str, suggestion: int, seen: str) -> DecidedSuggestion:
        """Adds the question to the workspace's bank; audited, and its author is notified.

        Refused unless the text is still the one that was `seen`, by its digest.
        """

    @call("admin/suggestion/decline")
    async def suggestion_decline(self, who: Who, event_id: str, suggestion: int, reason: str) -> DecidedSuggestion:
        """Declines a suggestion; audited, and its author is notified with the reason."""

    @call("admin/review/here")
    async def review_here(self, who: Who, event_id: str, where: Where) -> None:
        """Sends the notices for moderators to the channel `where` from now on; audited."""

    @call("admin/review/me")
    async def review_me(self, who: Who, event_id: str) -> None:
        """Sends the notices for moderators to the caller privately from now on; audited."""

    @call("admin/open-answers", repeatable=True)
    async def open_answers(self, who: Who) -> WaitingAnswers:
        """Returns open answers that wait for a credit."""

    @call("admin/open-answers/credit")
    async def open_answer_credit(self, who: Who, event_id: str, number: int, percent: int) -> AnswerCredit:
        """Sets the credit of one open answer; audited, and its author is notified."""
