"""The typed client of the question service: one method per call. `service.calls` makes them."""

# A call is declared by its signature, without a body.
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from datetime import date, datetime

from pydantic import SecretStr, TypeAdapter

from service.calls import RETRY_DELAYS as RETRY_DELAYS
from service.calls import ServiceRefused as ServiceRefused
from service.calls import ServiceUnavailable as ServiceUnavailable
from service.calls import call
from service.calls import caller_header as caller_header
from service.calls import with_retries as with_retries
from service.web_calls import WebCalls
from service.wire import (
    AnswerCredit,
    AnswerInput,
    AnswerResult,
    Archive,
    ArchiveSearch,
    AskForm,
    AttemptOutcome,
    AuditView,
    BankLog,
    BankPage,
    BankStatistics,
    BankView,
    Board,
    ChatLinked,
    Contest,
    DecidedSuggestion,
    Delivery,
    DigestView,
    DuelReview,
    DuelTurn,
    DuelView,
    EditView,
    Explanation,
    ExtraRound,
    Generated,
    HintView,
    History,
    ImportView,
    Installation,
    InstallationKey,
    ItemStatistics,
    Ladder,
    LinkCode,
    LowView,
    MarkingView,
    Me,
    MeasuredBy,
    MeasurementBoard,
    MemberLinked,
    MemberPage,
    MyDuels,
    NotificationKind,
    NotificationView,
    Operations,
    Overview,
    PeerAnswer,
    Period,
    PlannedSprint,
    PostingChannel,
    PracticeAttempt,
    PracticeSession,
    PrivacyAction,
    PrivacyView,
    ProofRun,
    QuestionDetails,
    QuestionFilter,
    QuestionPage,
    QuestionSource,
    Rating,
    ReceivedEvent,
    Recorded,
    ReportedQuestion,
    ReportView,
    RoundResult,
    RoundView,
    Rules,
    RunResult,
    ScheduleChanges,
    ScheduleMonth,
    ScheduleSpec,
    ScheduleView,
    SeasonView,
    Secret,
    Settled,
    SettledReport,
    Shards,
    SimilarAnswers,
    SprintPulse,
    Sprints,
    SprintView,
    SuggestedQuestion,
    SuggestionPreview,
    SuggestionReceipt,
    SuggestionView,
    TodayView,
    TopicCount,
    TopicsKnown,
    TournamentPlan,
    TournamentView,
    VerdictView,
    WaitingAnswers,
    Where,
    Who,
    WinnerOf,
    WinnerRoleView,
    WorkspaceCheck,
    WorkspaceSettings,
)

NOTHING: TypeAdapter[None] = TypeAdapter(None)
OPTIONAL_INSTALLATION: TypeAdapter[Installation | None] = TypeAdapter(Installation | None)
OPTIONAL_SECRET: TypeAdapter[SecretStr | None] = TypeAdapter(Secret | None)


class ServiceClient(WebCalls):
    """One method per call. Every call raises ServiceRefused or ServiceUnavailable, nothing else."""

    # Members

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

    @call("duel/challenge")
    async def duel_challenge(
        self, who: Who, where: Where, event_id: str, member: str, known_as: str = "", topic: str = ""
    ) -> DuelView:
        """Challenges a member, by name or platform id. With `known_as`, their name, the platform says
        that the id is in the chat."""

    @call("duel/rematch")
    async def duel_rematch(self, who: Who, where: Where, event_id: str, duel: int) -> DuelView:
        """Challenges the other member of a duel that is over."""

    @call("duel/respond")
    async def duel_respond(self, who: Who, event_id: str, duel: int, accept: bool) -> DuelView:
        """Accepts or declines a challenge; its challenger withdraws it."""

    @call("duel/ask", repeatable=True)
    async def duel_ask(self, who: Who, ref: str) -> DuelTurn:
        """Returns the member's next question of a duel. Its time counts from the first call."""

    @call("duel/answer")
    async def duel_answer(self, who: Who, event_id: str, ref: str, given: AnswerInput, at: datetime) -> DuelTurn:
        """Answers a question of a duel; the first answer counts."""

    @call("duel/show", repeatable=True)
    async def duel_show(self, who: Who, duel: int) -> DuelReview:
        """Returns a duel of the member, and once it is over the answers."""

    @call("duel/list", repeatable=True)
    async def duel_list(self, who: Who) -> MyDuels: ...

    @call("duel/ladder", repeatable=True)
    async def duel_ladder(self, who: Who, limit: int = 10) -> Ladder:
        """Returns the members of the workspace by their rating."""

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

    @call("measurements", repeatable=True)
    async def measurements(
        self, who: Who, where: Where | None, ref: str = "", by: MeasuredBy = "time"
    ) -> MeasurementBoard:
        """Returns the speed board of a closed round; without `ref`, of the latest one that was measured."""

    @call("share-solution")
    async def share_solution(self, who: Who, event_id: str, ref: str, on: bool) -> MeasurementBoard:
        """Lets the others see the member's measured code, or no longer. Returns the board."""

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

    @call("tournament", repeatable=True)
    async def tournament(self, who: Who, title: str = "") -> TournamentView:
        """Returns the workspace's newest tournament, or the one with that title."""

    @call("tournament/join")
    async def tournament_join(self, who: Who, event_id: str, tournament: int = 0) -> TournamentView:
        """Makes the member take part in a tournament, or with 0 in the one that has not ended."""

    @call("tournament/leave")
    async def tournament_leave(self, who: Who, event_id: str) -> TournamentView:
        """Makes the member no longer take part, from today on."""

    @call("tournament/pick")
    async def tournament_pick(self, who: Who, event_id: str, member: str) -> TournamentView:
        """Takes a member into the caller's team, for captains."""

    # Admins' calls, refused to everyone else

    @call("admin/chat/link")
    async def chat_link(self, who: Who, event_id: str) -> LinkCode:
        """Returns a code with which an admin of another chat joins that chat to this workspace."""

    @call("admin/chat/join")
    async def chat_join(self, who: Who, event_id: str, code: str, sure: bool) -> ChatLinked:
        """Joins this chat, with all its data, to the workspace of `code`; audited.

        Unless `sure`, a chat with any history is left unchanged, and the result lists what would be brought along.
        """

    @call("admin/schedule/share")
    async def schedule_share(self, who: Who, event_id: str, where: Where, schedule: int) -> ScheduleView:
        """Makes the schedule post to the channel `where` too, in any chat of the workspace."""

    @call("admin/schedule/unshare")
    async def schedule_unshare(self, who: Who, event_id: str, where: Where, schedule: int) -> ScheduleView:
        """Stops the schedule from posting to the channel `where`."""

    @call("admin/schedule/add")
    async def schedule_add(self, who: Who, event_id: str, where: Where, spec: ScheduleSpec) -> ScheduleView: ...

    @call("admin/schedule/edit")
    async def schedule_edit(self, who: Who, event_id: str, schedule: int, changes: ScheduleChanges) -> ScheduleView: ...

    @call("admin/schedule/list", repeatable=True)
    async def schedule_list(self, who: Who) -> tuple[ScheduleView, ...]: ...

    @call("admin/schedule/pause")
    async def schedule_pause(self, who: Who, event_id: str, schedule: int, paused: bool) -> ScheduleView: ...

    @call("admin/schedule/skip")
    async def schedule_skip(self, who: Who, event_id: str, schedule: int, day: date) -> ScheduleView: ...

    @call("admin/schedule/remove")
    async def schedule_remove(self, who: Who, event_id: str, schedule: int) -> None: ...

    @call("admin/schedule/unskip")
    async def schedule_unskip(self, who: Who, event_id: str, schedule: int, day: date) -> ScheduleView:
        """Lets a skipped day have its question again."""

    @call("admin/schedule/preview", repeatable=True)
    async def schedule_preview(self, who: Who, schedule: int, day: date | None = None) -> RoundView:
        """Returns the question that the next slot, or that of a local date, would get if nothing changed until then."""

    @call("admin/schedule/month", repeatable=True)
    async def schedule_month(
        self, who: Who, schedule: int | None, month: date, changes: ScheduleChanges
    ) -> ScheduleMonth:
        """Returns a month of a schedule as it would be with changes; of a new one if `schedule` is None."""

    @call("admin/schedule/post-now")
    async def post_now(self, who: Who, event_id: str, schedule: int) -> RoundView:
        """Posts today's question now. Refused if today's slot has been posted."""

    @call("admin/ask")
    async def ask_extra(self, who: Who, event_id: str, where: Where, wanted: ExtraRound) -> RoundView:
        """Posts an extra question in the channel now, beside its schedule's."""

    @call("admin/close-now")
    async def close_now(self, who: Who, event_id: str, where: Where) -> RoundView:
        """Closes the channel's open round and reveals the answer."""

    @call("admin/sprint/start")
    async def sprint_start(
        self, who: Who, event_id: str, where: Where, questions: int, seconds: int, topic: str = ""
    ) -> SprintView:
        """Starts a sprint in the channel: so many questions, with so many seconds for each."""

    @call("admin/sprint/plan")
    async def sprint_plan(self, who: Who, event_id: str, where: Where, sprint_plan: PlannedSprint) -> SprintView:
        """Plans a sprint in the channel, which is told."""

    @call("admin/sprint/cancel")
    async def sprint_cancel(self, who: Who, event_id: str, where: Where, sprint: int = 0) -> SprintView:
        """Cancels a planned sprint of the workspace; without its id, the channel's next one."""

    @call("sprints")
    async def sprints(self, who: Who) -> Sprints:
        """Returns the sprint that runs or ran last, as the member sees it, and the planned ones."""

    @call("sprints/pulse")
    async def sprint_pulse(self, who: Who) -> SprintPulse:
        """Returns what changes while a sprint runs."""

    @call("admin/sprint/stop")
    async def sprint_stop(self, who: Who, event_id: str, where: Where) -> SprintView:
        """Stops the sprint in the channel: its current question is revealed, and the podium follows."""

    @call("admin/tournament/plan")
    async def tournament_plan(self, who: Who, event_id: str, where: Where, plan: TournamentPlan) -> TournamentView:
        """Opens a tournament for members to join, and announces it in the channel; audited."""

    @call("admin/tournament/captain")
    async def tournament_captain(self, who: Who, event_id: str, member: str) -> TournamentView:
        """Gives a member a team to pick, before the tournament starts; audited."""

    @call("admin/tournament/cancel")
    async def tournament_cancel(self, who: Who, event_id: str, tournament: int = 0) -> TournamentView:
        """Ends the workspace's tournament without a result, if it is the given one or none is given; audited."""

    @call("admin/season/start")
    async def season_start(self, who: Who, event_id: str, name: str) -> SeasonView:
        """Starts a season. A running one ends and is archived."""

    @call("admin/season/end")
    async def season_end(self, who: Who, event_id: str) -> SeasonView: ...

    @call("admin/winner/role")
    async def winner_role_set(
        self, who: Who, event_id: str, where: Where, event: WinnerOf, role: str
    ) -> WinnerRoleView:
        """Names the role that the winners of such events are given in this chat, and this channel to announce them."""

    @call("admin/winner/roles", repeatable=True)
    async def winner_roles(self, who: Who) -> tuple[WinnerRoleView, ...]: ...

    @call("seasons", repeatable=True)
    async def season_list(self, who: Who) -> tuple[SeasonView, ...]: ...

    @call("admin/bank/list", repeatable=True)
    async def bank_list(self, who: Who) -> tuple[BankView, ...]: ...

    @call("admin/bank/import")
    async def bank_import(
        self, who: Who, event_id: str, name: str, text: str, apply: bool, recipe: str = ""
    ) -> ImportView:
        """Imports a document for this workspace; without `apply`, only returns what would happen.

        `recipe` says how to read it. Without one, that of the bank's last import is used; `none` forgets it.
        """

    @call("admin/bank/log", repeatable=True)
    async def bank_log(self, who: Who, name: str) -> BankLog:
        """Returns the imports of a bank, newest first."""

    @call("admin/bank/undo")
    async def bank_undo(self, who: Who, event_id: str, name: str) -> ImportView:
        """Undoes the latest import into the workspace's own bank; audited."""

    @call("admin/bank/retire")
    async def bank_retire(self, who: Who, event_id: str, question: str, retired: bool) -> None:
        """Retires a question in this workspace, or restores it."""

    @call("admin/bank/approve")
    async def bank_approve(self, who: Who, event_id: str, question: str) -> int:
        """Approves a waiting generated question, or `all` of them. Returns how many."""

    @call("admin/bank/generated")
    async def bank_generated(self, who: Who, event_id: str, generated: Generated) -> None:
        """Sets what the workspace's next imports do with choices generated from prose."""

    @call("admin/bank/low", repeatable=True)
    async def bank_low(self, who: Who) -> tuple[LowView, ...]: ...

    @call("admin/bank/questions", repeatable=True)
    async def bank_questions(self, who: Who, wanted: QuestionFilter) -> BankPage:
        """Returns a page of the questions that the filter finds."""

    @call("admin/bank/question", repeatable=True)
    async def bank_question(self, who: Who, question: str) -> QuestionDetails:
        """Returns all about one question, without its key while it is being asked."""

    @call("admin/question/source", repeatable=True)
    async def question_source(self, who: Who, question: str) -> QuestionSource:
        """Returns a question of the workspace's own banks as Markdown. Refused for a shared one."""

    @call("admin/question/edit")
    async def question_edit(self, who: Who, event_id: str, question: str, text: str, apply: bool) -> EditView:
        """Replaces a question, and judges the answers of closed rounds again; without `apply`, only returns what would
        move."""

    @call("admin/overview", repeatable=True)
    async def overview(self, who: Who) -> Overview:
        """Returns what waits for the admins, what failed, what is open and what comes next."""

    @call("admin/bank/stats", repeatable=True)
    async def bank_statistics(self, who: Who) -> BankStatistics:
        """Returns the questions that need work, judged by the closed rounds of the workspace."""

    @call("admin/bank/stats/question", repeatable=True)
    async def question_statistics(self, who: Who, question: str) -> ItemStatistics:
        """Returns the figures of one question. Refused while it is asked."""

    @call("admin/reports", repeatable=True)
    async def reports(self, who: Who) -> tuple[ReportView, ...]: ...

    @call("admin/report/settle")
    async def report_settle(self, who: Who, event_id: str, report: int, state: Settled, reason: str) -> SettledReport:
        """Settles a report as dismissed or fixed; audited, and its author is told with the reason."""

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
        """Adds the question to the workspace's bank; audited, and its author is told.

        Refused unless the text is still the one that was `seen`, by its digest.
        """

    @call("admin/suggestion/decline")
    async def suggestion_decline(self, who: Who, event_id: str, suggestion: int, reason: str) -> DecidedSuggestion:
        """Declines a suggestion; audited, and its author is told why."""

    @call("admin/review/here")
    async def review_here(self, who: Who, event_id: str, where: Where) -> None:
        """Has moderators notified in the channel `where` from now on; audited."""

    @call("admin/review/me")
    async def review_me(self, who: Who, event_id: str) -> None:
        """Has the caller notified privately from now on, instead of other moderators; audited."""

    @call("admin/digest", repeatable=True)
    async def digest(self, who: Who) -> DigestView:
        """Returns the digest of the last complete week, and when the next one is sent."""

    @call("admin/digest/switch")
    async def digest_switch(self, who: Who, event_id: str, on: bool) -> DigestView:
        """Turns the workspace's digests on or off; audited."""

    @call("admin/review/similarity", repeatable=True)
    async def similar_answers(self, who: Who) -> SimilarAnswers:
        """Returns pairs of members whose wrong answers agree, and who answers very fast, for moderators."""

    @call("admin/open-answers", repeatable=True)
    async def open_answers(self, who: Who) -> WaitingAnswers:
        """Returns open answers that wait for a credit."""

    @call("admin/open-answers/credit")
    async def open_answer_credit(self, who: Who, event_id: str, number: int, percent: int) -> AnswerCredit:
        """Sets the credit of one open answer; audited, and its author is told."""

    @call("admin/member/restore")
    async def member_restore(self, who: Who, event_id: str, member: str, day: date) -> None:
        """Excuses a member from the rounds of `day`, so that they break no streak; audited."""

    @call("admin/member/adjust")
    async def member_adjust(self, who: Who, event_id: str, member: str, points: int, reason: str) -> None:
        """Adds points to the member with that name, with a reason; audited."""

    @call("admin/audit", repeatable=True)
    async def audit(
        self, who: Who, limit: int = 20, before: int | None = None, action: str = "", by: str = ""
    ) -> tuple[AuditView, ...]:
        """Returns the latest actions of admins, newest first; those before an id for the next page."""

    @call("admin/members", repeatable=True)
    async def members(self, who: Who, text: str = "", page: int = 1, member_id: int | None = None) -> MemberPage:
        """Returns a page of the members whose name has the text, the most active first; by id, only that member."""

    @call("admin/member/hide")
    async def member_hide(self, who: Who, event_id: str, member: str, hidden: bool) -> None:
        """Leaves the member with that name or platform id out of the boards, or shows them again; audited."""

    @call("admin/member/role")
    async def member_role(self, who: Who, event_id: str, member: str, admin: bool) -> None:
        """Records that a chat made the member an admin, or no longer has them as one."""

    @call("admin/settings", repeatable=True)
    async def settings(self, who: Who) -> WorkspaceSettings:
        """Returns the settings of the workspace that no other call returns."""

    @call("admin/doctor", repeatable=True)
    async def doctor(self, who: Who) -> tuple[WorkspaceCheck, ...]: ...

    @call("admin/operations")
    async def operations(self, who: Who) -> Operations:
        """Returns the workspace's operations page."""

    # The outbox dispatcher's calls: any bot process with the service token

    @call("outbox/claim")
    async def outbox_claim(
        self,
        platform: str,
        limit: int = 20,
        wait_s: float = 0,
        shards: Shards | None = None,
        kinds: tuple[str, ...] | None = None,
    ) -> tuple[Delivery, ...]:
        """Claims messages to post now, at most one per channel to preserve order. Waits up to `wait_s` for new ones.

        With `shards`, only those for servers of these shards. With `kinds`, a message of another kind waits, with those
        behind it, for a caller that can read it: after an upgrade, for a newer bot.
        """

    @call("outbox/places", repeatable=True)
    async def outbox_places(self, platform: str) -> tuple[PostingChannel, ...]:
        """Returns every channel of the platform that a schedule posts to, so that the doctor can check it."""

    @call("outbox/sent", repeatable=True)
    async def outbox_sent(self, delivery: int, message_ref: str) -> None: ...

    async def outbox_failed(
        self,
        delivery: int,
        attempt: int,
        error: str,
        *,
        outcome: AttemptOutcome,
        retry_s: float | None = None,
    ) -> None:
        """Reports a delivery that was not, or perhaps not, made.

        Ignored unless `attempt` is the attempt that holds the message now.
        """
        await self.send(
            "outbox/failed",
            NOTHING,
            repeatable=True,
            delivery=delivery,
            attempt=attempt,
            error=error[:1000],
            outcome=outcome,
            retry_s=retry_s,
        )

    @call("outbox/retry", repeatable=True)
    async def outbox_retry(self, platform: str, workspace: str, channel: str = "") -> None:
        """Says that what a chat refused may be accepted now: everything, or only messages to that channel."""

    @call("chat/channel", repeatable=True)
    async def channel_renamed(self, platform: str, workspace: str, channel: str, name: str) -> None:
        """Says that a channel has a new name. Does nothing if the quiz does not know the channel."""

    @call("chat/home", repeatable=True)
    async def member_home(self, platform: str, member: str) -> str:
        """Returns the chat in which the member answered last, or else joined last; empty if none knows them."""

    @call("chat/presence", repeatable=True)
    async def chat_presence(self, platform: str, workspace: str, present: bool) -> None:
        """Says that the bot is in the chat, or was removed from it: then its schedules post nothing there."""

    @call("events/record")
    async def event_record(self, platform: str, event: ReceivedEvent) -> Recorded:
        """Records an event before it is acknowledged, and leases it unless it was recorded before."""

    @call("events/turn", repeatable=True)
    async def event_turn(self, platform: str, event: str) -> bool:
        """Extends the lease of an event; returns whether every earlier event of its author is answered."""

    @call("events/answered", repeatable=True)
    async def event_answered(self, platform: str, event: str) -> None:
        """Says that an event was answered."""

    @call("events/claim")
    async def event_claim(self, platform: str, limit: int = 50) -> tuple[ReceivedEvent, ...]:
        """Leases events that were not answered in time."""

    # Installations: any bot process with the service token. Neither client nor service logs tokens

    @call("installation/keep")
    async def installation_keep(self, installation: Installation) -> None:
        """Stores a new installation, or new tokens of one, and ends its lease."""

    async def installation_find(self, platform: str, team: str, enterprise: str = "") -> Installation | None:
        """Returns the team's installation, or else its enterprise's; None if the bot is not installed."""
        key = {"platform": platform, "team": team, "enterprise": enterprise}
        return await self.send("installation/find", OPTIONAL_INSTALLATION, repeatable=True, key=key)

    async def installation_forget(self, platform: str, team: str, enterprise: str = "") -> None:
        """Deletes the tokens, because the bot was uninstalled or its token revoked."""
        key = {"platform": platform, "team": team, "enterprise": enterprise}
        await self.send("installation/forget", NOTHING, repeatable=False, key=key)

    @call("installation/due", repeatable=True)
    async def installation_due(self, platform: str) -> tuple[InstallationKey, ...]:
        """Returns the installations whose token should be refreshed now, most urgent first."""

    async def installation_lease(self, platform: str, team: str, enterprise: str = "") -> SecretStr | None:
        """Leases the refresh token to one caller, who then passes the new tokens to `installation_keep`.

        Returns None if no refresh is due or another caller has the lease.
        """
        key = {"platform": platform, "team": team, "enterprise": enterprise}
        return await self.send("installation/lease", OPTIONAL_SECRET, repeatable=False, key=key)

    @call("oauth/issue")
    async def oauth_issue(self, platform: str) -> str:
        """Returns an OAuth state for the platform's consent page, valid once, for ten minutes."""

    @call("oauth/consume")
    async def oauth_consume(self, platform: str, state: str) -> bool:
        """Returns whether the OAuth state is valid: issued here, not expired, and not used before."""
