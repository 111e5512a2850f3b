"""The calls of admins about schedules, seasons, banks, members and the workspace."""

# A call is declared by its signature, without a body.
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from datetime import date

from service.client.calls import CallSender, call
from service.wire import (
    AuditView,
    BankLog,
    BankPage,
    BankStatistics,
    BankView,
    ChatLinked,
    DigestView,
    ExtraRound,
    Generated,
    ImportView,
    ItemStatistics,
    LinkCode,
    LowView,
    MemberPage,
    Operations,
    Overview,
    QuestionDetails,
    QuestionFilter,
    RoundView,
    ScheduleChanges,
    ScheduleMonth,
    ScheduleSpec,
    ScheduleView,
    SeasonView,
    Where,
    Who,
    WinnerOf,
    WinnerRoleView,
    WorkspaceCheck,
    WorkspaceSettings,
)


class AdminCalls(CallSender):
    """One method per call, refused to everyone but admins."""

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
        """Restores a day that was skipped, so that it has a question."""

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

    @call("admin/overview", repeatable=True)
    async def overview(self, who: Who) -> Overview:
        """Returns what waits for the admins, what failed, what is open and what comes next."""

    @call("admin/digest", repeatable=True)
    async def digest(self, who: Who) -> DigestView:
        """Returns the digest of the last complete week, and when the next one is sent."""

    @call("admin/digest/switch")
    async def digest_switch(self, who: Who, event_id: str, on: bool) -> DigestView:
        """Turns the workspace's digests on or off; audited."""

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
        """Makes a member of the web chat an admin, or no longer one; audited. Refused for the caller's own role."""

    @call("admin/settings", repeatable=True)
    async def settings(self, who: Who) -> WorkspaceSettings:
        """Returns the settings of the workspace that no other call returns."""

    @call("admin/doctor", repeatable=True)
    async def doctor(self, who: Who) -> tuple[WorkspaceCheck, ...]: ...

    @call("admin/operations")
    async def operations(self, who: Who) -> Operations:
        """Returns the workspace's operations page."""

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
    async def bank_undo(self, who: Who, event_id: str, name: str, number: int | None = None) -> ImportView:
        """Undoes the latest import into the workspace's own bank, with a number only if it is that one; audited."""

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

    @call("admin/bank/stats", repeatable=True)
    async def bank_statistics(self, who: Who) -> BankStatistics:
        """Returns the questions that need work, judged by the closed rounds of the workspace."""

    @call("admin/bank/stats/question", repeatable=True)
    async def question_statistics(self, who: Who, question: str) -> ItemStatistics:
        """Returns the figures of one question. Refused while it is asked."""
