"""The calls of members."""

# A call is declared by its signature, without a body.
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from datetime import datetime

from service.client.calls import CallSender, call
from service.wire import (
    AnswerInput,
    AnswerResult,
    Archive,
    ArchiveSearch,
    AskForm,
    Board,
    Contest,
    Explanation,
    HintView,
    History,
    LinkCode,
    MarkingView,
    Me,
    MemberLinked,
    NotificationKind,
    NotificationView,
    PeerAnswer,
    Period,
    PracticeAttempt,
    PracticeSession,
    PrivacyAction,
    PrivacyView,
    ProofRun,
    QuestionPage,
    Rating,
    ReportView,
    RoundResult,
    Rules,
    RunResult,
    SeasonView,
    SuggestionPreview,
    SuggestionReceipt,
    SuggestionView,
    TodayView,
    TopicCount,
    TopicsKnown,
    VerdictView,
    Where,
    Who,
)


class MemberCalls(CallSender):
    """One method per call."""

    @call("join", repeatable=True)
    async def join(self, who: Who, where: Where) -> None:
        """Registers the workspace, channel and member, or updates their names."""

    @call("today", repeatable=True)
    async def today(self, who: Who, where: Where) -> TodayView:
        """Returns the open questions of the channel, or of the whole workspace if the channel's id is empty."""

    @call("ask", repeatable=True)
    async def ask(self, who: Who, where: Where, ref: str) -> AskForm:
        """Returns the question `ref` with its options in the member's own order."""

    @call("answer")
    async def answer(
        self, who: Who, where: Where, event_id: str, ref: str, given: AnswerInput, at: datetime
    ) -> AnswerResult:
        """Submits an answer. `at` is the platform's time of the answer."""

    @call("hint", repeatable=True)
    async def hint(self, who: Who, where: Where, ref: str, take: bool) -> HintView:
        """Returns the hint to a question, which costs points in a round; without `take` only its price."""

    @call("try-code")
    async def try_code(self, who: Who, ref: str, code: str) -> VerdictView:
        """Judges code against the visible examples only. Stores nothing."""

    @call("run")
    async def run(self, who: Who, code: str) -> RunResult:
        """Runs a snippet. Stores nothing."""

    @call("practice")
    async def practice(
        self, who: Who, where: Where, topic: str = "", level: str = "", kind: str = ""
    ) -> AskForm | None:
        """Returns the next card that is due or a new question; None if there is neither."""

    @call("practice/attempt", repeatable=True)
    async def practice_attempt(self, who: Who, ref: str) -> PracticeAttempt:
        """Returns the member's latest practice answer to a question, with its result."""

    @call("practice/rate")
    async def practice_rate(self, who: Who, event_id: str, ref: str, rating: Rating) -> PracticeAttempt:
        """Rates how well the member knew a card, after a right answer; the card comes back accordingly."""

    @call("practice/session", repeatable=True)
    async def practice_session(self, who: Who, since: datetime | None = None) -> PracticeSession:
        """Returns what the member has practiced since then; None begins a session."""

    @call("marking", repeatable=True)
    async def marking(self, who: Who, ref: str) -> MarkingView:
        """Returns the member's open answer beside the model answer, after the round closed."""

    @call("mark")
    async def mark(self, who: Who, event_id: str, ref: str, covered: tuple[int, ...]) -> MarkingView:
        """Marks which key points the member's open answer covers, by index from 0. Each answer is marked once."""

    @call("share-answer")
    async def share_answer(self, who: Who, event_id: str, ref: str) -> MarkingView:
        """Lets others who answered the round read the member's marked answer, without a name, and confirm it."""

    @call("peer-answer", repeatable=True)
    async def peer_answer(self, who: Who, ref: str, after: int = 0) -> PeerAnswer | None:
        """Returns the next shared answer of the round, with an id above `after`; None if none is left."""

    @call("confirm-answer")
    async def confirm_answer(self, who: Who, event_id: str, number: int) -> None:
        """Confirms another member's marks, which credits the answer once."""

    @call("explain", repeatable=True)
    async def explain(self, who: Who, question: str) -> Explanation:
        """Returns the key of a question that the member has answered or whose round has closed, with their answer."""

    @call("result", repeatable=True)
    async def result(self, who: Who, ref: str) -> RoundResult:
        """Returns the member's own result of a closed round."""

    @call("feedback")
    async def feedback(self, who: Who, event_id: str, ref: str, liked: bool) -> RoundResult:
        """Stores whether the member found the question of a closed round good. Returns their result."""

    @call("board", repeatable=True)
    async def board(
        self,
        who: Who,
        where: Where | None,
        period: Period = "week",
        topic: str = "",
        limit: int = 10,
        contest: Contest = "points",
    ) -> Board:
        """Returns a channel's leaderboard, or the workspace's if `where` is None."""

    @call("me", repeatable=True)
    async def me(self, who: Who) -> Me: ...

    @call("history", repeatable=True)
    async def history(self, who: Who) -> History:
        """Returns the member's answers of the last weeks, and their latest closed rounds with what they answered."""

    @call("archive", repeatable=True)
    async def archive(self, who: Who, wanted: ArchiveSearch) -> Archive:
        """Returns a page of closed rounds, and how the member did in them."""

    @call("question", repeatable=True)
    async def question_page(self, who: Who, ref: str) -> QuestionPage:
        """Returns the question of a closed round, with the member's own result and the statistics."""

    @call("question/prove", repeatable=True)
    async def question_prove(self, who: Who, ref: str) -> ProofRun:
        """Runs the proof of a closed round's question in the sandbox. Stores nothing."""

    @call("topics", repeatable=True)
    async def topics(self, who: Who) -> tuple[TopicCount, ...]: ...

    @call("mastery", repeatable=True)
    async def mastery(self, who: Who) -> TopicsKnown:
        """Returns how well the member, and the average member of the team, know each topic."""

    @call("rules", repeatable=True)
    async def rules(self, who: Who) -> Rules: ...

    @call("privacy")
    async def privacy(self, who: Who, event_id: str, action: PrivacyAction = "see") -> PrivacyView:
        """Shows, exports or changes the data stored about the member: see, export, csv, hide, show or forget."""

    @call("notifications", repeatable=True)
    async def notifications(self, who: Who) -> NotificationView: ...

    @call("notify")
    async def notify(self, who: Who, event_id: str, what: NotificationKind, on: bool) -> NotificationView:
        """Turns a kind of private message on or off."""

    @call("report")
    async def report(self, who: Who, event_id: str, question: str, text: str) -> ReportView:
        """Reports a question to the moderators."""

    @call("suggest")
    async def suggest(self, who: Who, event_id: str, text: str) -> SuggestionReceipt:
        """Suggests a question to the moderators, or keeps it as a draft if something must be fixed."""

    @call("suggest/preview", repeatable=True)
    async def suggestion_preview(self, who: Who, text: str) -> SuggestionPreview:
        """Returns how a suggestion is read, without submitting or keeping it."""

    @call("suggest/draft", repeatable=True)
    async def suggestion_draft(self, who: Who) -> str:
        """Returns the member's draft of a suggestion; empty if there is none."""

    @call("suggest/mine", repeatable=True)
    async def own_suggestions(self, who: Who) -> tuple[SuggestionView, ...]:
        """Returns what the member suggested, oldest first, with what was decided."""

    @call("hello")
    async def hello(self, who: Who, event_id: str, where: Where) -> bool:
        """Registers the chat. Returns True for only one event per chat, so that the bot greets it once."""

    @call("link")
    async def link(self, who: Who, event_id: str) -> LinkCode:
        """Returns a code with which the member links their account in another chat of the workspace."""

    @call("link-with")
    async def link_with(self, who: Who, event_id: str, code: str) -> MemberLinked:
        """Merges the member with the one who made `code` in another chat of the workspace."""

    @call("seasons", repeatable=True)
    async def season_list(self, who: Who) -> tuple[SeasonView, ...]: ...
