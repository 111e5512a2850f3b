"""The typed client of the question service: one method per call. Over HTTP, or straight into the ASGI app."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import date, datetime
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx
from pydantic import SecretStr, TypeAdapter

from service.credentials import ServiceTokens, ShownToken
from service.tracing import as_header
from service.wire import (
    AnswerInput,
    AnswerKey,
    AnswerResult,
    AskForm,
    AuditView,
    BankLog,
    BankView,
    Board,
    ChatLinked,
    Check,
    Contest,
    Delivery,
    Failure,
    Generated,
    ImportView,
    Installation,
    InstallationKey,
    LinkCode,
    LowView,
    Me,
    MemberLinked,
    Operations,
    Period,
    PostingChannel,
    PrivacyView,
    Rating,
    ReportView,
    RoundView,
    Rules,
    RunResult,
    ScheduleSpec,
    ScheduleView,
    SeasonView,
    Secret,
    TodayView,
    TopicCount,
    VerdictView,
    Where,
    Who,
)

# A call made again when the process it went to goes away, as in a rolling restart, where it may be repeated.


PAUSES = (0.0, 0.1, 0.4, 1.0)
"""Seconds before each further attempt: another process answers at once, and one that restarts needs a moment."""

NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout)
"""Nobody was there to hear the call, so it had no effect."""
HUNG_UP = (httpx.ReadError, httpx.WriteError, httpx.CloseError, httpx.RemoteProtocolError)
"""Somebody was there and went: the call may have had its effect."""

# fmt: off
REPEATABLE = frozenset({
    "admin/audit", "admin/bank/list", "admin/bank/log", "admin/bank/low", "admin/doctor", "admin/reports",
    "admin/schedule/list", "admin/schedule/preview", "ask", "board", "explain", "installation/due",
    "installation/find", "join", "me", "outbox/failed", "outbox/places", "outbox/sent", "rules", "seasons", "today",
    "topics",
})
# fmt: on
"""Calls without an event id that may be made twice: they change nothing, or the second time nothing more."""


async def with_retries(send: Callable[[], Awaitable[httpx.Response]], *, answered_once: bool) -> httpx.Response:
    """The response of the first attempt that reaches somebody. Raises what the last attempt raised.

    `answered_once` says that a call that had its effect has none when it is made again.
    """
    somebody = False
    for pause in PAUSES:
        try:
            return await send()
        except NOT_SENT:
            # Another may be there; but where there never was one, waiting keeps whoever asked from hearing of it.
            if pause and not somebody:
                raise
        except HUNG_UP:
            if not answered_once:
                raise
            somebody = True
        await asyncio.sleep(pause)
    return await send()


T = TypeVar("T")

MAYBE_ASK: TypeAdapter[AskForm | None] = TypeAdapter(AskForm | None)
MAYBE_INSTALLATION: TypeAdapter[Installation | None] = TypeAdapter(Installation | None)
MAYBE_SECRET: TypeAdapter[SecretStr | None] = TypeAdapter(Secret | None)


class _Adapters(dict[Any, TypeAdapter[Any]]):
    """Each made once: to make one costs more than to use it."""

    def __missing__(self, kind: Any) -> TypeAdapter[Any]:
        return self.setdefault(kind, TypeAdapter(kind))


_ADAPTERS = _Adapters()


class ServiceRefused(Exception):
    """The service understood and said no; `failure` says why, in words for people."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class ServiceUnavailable(Exception):
    """The service could not be reached, or failed; nothing is known of the call's effect. Calls may be repeated:
    those that change something are answered once per event id."""


class ServiceClient:
    """Calls raise ServiceRefused or ServiceUnavailable, nothing else."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    @classmethod
    def over_http(cls, url: str, token: str | ServiceTokens) -> Self:
        """A client of a service that listens at `url`."""
        return cls(httpx.AsyncClient(base_url=url, auth=_shown(token), timeout=httpx.Timeout(10, read=40)))

    @classmethod
    def inside(cls, app: Any, token: str | ServiceTokens) -> Self:
        """A client that calls the ASGI `app` in this process, without a socket."""
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        return cls(httpx.AsyncClient(transport=transport, base_url="http://service", auth=_shown(token)))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def _call(self, path: str, answer: type[T] | TypeAdapter[T], **body: object) -> T:
        post = partial(self._http.post, f"/v1/{path}", json=_plain(body), headers=as_header())
        try:
            response = await with_retries(post, answered_once="event_id" in body or path in REPEATABLE)
        except httpx.HTTPError as error:
            raise ServiceUnavailable(f"{path}: {error or type(error).__name__}") from error
        if response.is_success:
            adapter: TypeAdapter[T] = answer if isinstance(answer, TypeAdapter) else _ADAPTERS[answer]
            return adapter.validate_json(response.content)
        if response.status_code >= 500:
            raise ServiceUnavailable(f"{path}: the service failed ({response.status_code})")
        raise ServiceRefused(_failure(response))

    # Members

    async def join(self, who: Who, where: Where) -> None:
        """Make the workspace, channel and member known, or note a new name."""
        await self._call("join", type(None), who=who, where=where)

    async def today(self, who: Who, where: Where) -> TodayView:
        """What is open in the channel, or where its id is empty in the whole workspace."""
        return await self._call("today", TodayView, who=who, where=where)

    async def ask(self, who: Who, where: Where, ref: str) -> AskForm:
        """The question `ref`, options in the member's own order."""
        return await self._call("ask", AskForm, who=who, where=where, ref=ref)

    async def answer(
        self, who: Who, where: Where, event_id: str, ref: str, given: AnswerInput, at: datetime
    ) -> AnswerResult:
        """Hand in an answer made at the instant `at`, as the platform says."""
        return await self._call(
            "answer", AnswerResult, who=who, where=where, event_id=event_id, ref=ref, given=given, at=at
        )

    async def try_code(self, who: Who, ref: str, code: str) -> VerdictView:
        """Judge `code` against the visible examples only; nothing is kept."""
        return await self._call("try-code", VerdictView, who=who, ref=ref, code=code)

    async def run(self, who: Who, code: str) -> RunResult:
        """Run a free snippet; nothing is kept."""
        return await self._call("run", RunResult, who=who, code=code)

    async def practice(
        self, who: Who, where: Where, topic: str = "", level: str = "", kind: str = ""
    ) -> AskForm | None:
        """The next card that is due, or a new question; None when there is nothing to ask."""
        return await self._call("practice", MAYBE_ASK, who=who, where=where, topic=topic, level=level, kind=kind)

    async def rate(self, who: Who, event_id: str, ref: str, rating: Rating) -> datetime:
        """Rate one's own recall of a practised card; returns when it is due again."""
        return await self._call("rate", datetime, who=who, event_id=event_id, ref=ref, rating=rating)

    async def explain(self, who: Who, question: str) -> AnswerKey:
        """The key of a question this member has answered or whose round has closed."""
        return await self._call("explain", AnswerKey, who=who, question=question)

    async def board(
        self, who: Who, where: Where | None, period: Period = "week", topic: str = "", limit: int = 10,
        contest: Contest = "points",
    ) -> Board:  # fmt: skip
        """A channel's board, or with `where` None the workspace's."""
        fields = {"period": period, "topic": topic, "limit": limit, "contest": contest}
        return await self._call("board", Board, who=who, where=where, **fields)

    async def me(self, who: Who) -> Me:
        return await self._call("me", Me, who=who)

    async def topics(self, who: Who) -> tuple[TopicCount, ...]:
        return await self._call("topics", tuple[TopicCount, ...], who=who)

    async def rules(self, who: Who) -> Rules:
        return await self._call("rules", Rules, who=who)

    async def privacy(self, who: Who, event_id: str, action: str = "see") -> PrivacyView:
        """`action`: see, export, csv (exports too), hide, show or forget."""
        return await self._call("privacy", PrivacyView, who=who, event_id=event_id, action=action)

    async def report(self, who: Who, event_id: str, question: str, text: str) -> ReportView:
        """Tell the moderators that a question is wrong."""
        return await self._call("report", ReportView, who=who, event_id=event_id, question=question, text=text)

    async def hello(self, who: Who, event_id: str, where: Where) -> bool:
        """Make the chat known; true for one event per chat, so that the bot says hello once. `where` may be empty."""
        return await self._call("hello", bool, who=who, event_id=event_id, where=where)

    async def link(self, who: Who, event_id: str) -> LinkCode:
        """A code by which the member links their account in another chat of the workspace."""
        return await self._call("link", LinkCode, who=who, event_id=event_id)

    async def link_with(self, who: Who, event_id: str, code: str) -> MemberLinked:
        """Join the member to the one who made `code` in another chat of the workspace."""
        return await self._call("link-with", MemberLinked, who=who, event_id=event_id, code=code)

    # Admins; everyone else is refused

    async def chat_link(self, who: Who, event_id: str) -> LinkCode:
        """A code by which an admin of another chat joins that chat to this workspace."""
        return await self._call("admin/chat/link", LinkCode, who=who, event_id=event_id)

    async def chat_join(self, who: Who, event_id: str, code: str, sure: bool) -> ChatLinked:
        """Join this chat, with all it has, to the workspace that `code` was made in; audited. Unless `sure`, one that
        has any history is left as it is, and the answer says what would be brought along."""
        return await self._call("admin/chat/join", ChatLinked, who=who, event_id=event_id, code=code, sure=sure)

    async def schedule_share(self, who: Who, event_id: str, where: Where, schedule: int) -> ScheduleView:
        """Have the schedule post to the channel `where` too, of whichever chat of the workspace."""
        return await self._call(
            "admin/schedule/share", ScheduleView, who=who, event_id=event_id, where=where, schedule=schedule
        )

    async def schedule_unshare(self, who: Who, event_id: str, where: Where, schedule: int) -> ScheduleView:
        """Have the schedule no longer post to the channel `where`."""
        return await self._call(
            "admin/schedule/unshare", ScheduleView, who=who, event_id=event_id, where=where, schedule=schedule
        )

    async def schedule_add(self, who: Who, event_id: str, where: Where, spec: ScheduleSpec) -> ScheduleView:
        return await self._call("admin/schedule/add", ScheduleView, who=who, event_id=event_id, where=where, spec=spec)

    async def schedule_edit(self, who: Who, event_id: str, schedule: int, spec: ScheduleSpec) -> ScheduleView:
        return await self._call(
            "admin/schedule/edit", ScheduleView, who=who, event_id=event_id, schedule=schedule, spec=spec
        )

    async def schedule_list(self, who: Who) -> tuple[ScheduleView, ...]:
        return await self._call("admin/schedule/list", tuple[ScheduleView, ...], who=who)

    async def schedule_pause(self, who: Who, event_id: str, schedule: int, paused: bool) -> ScheduleView:
        return await self._call(
            "admin/schedule/pause", ScheduleView, who=who, event_id=event_id, schedule=schedule, paused=paused
        )

    async def schedule_skip(self, who: Who, event_id: str, schedule: int, day: date) -> ScheduleView:
        return await self._call(
            "admin/schedule/skip", ScheduleView, who=who, event_id=event_id, schedule=schedule, day=day
        )

    async def schedule_remove(self, who: Who, event_id: str, schedule: int) -> None:
        await self._call("admin/schedule/remove", type(None), who=who, event_id=event_id, schedule=schedule)

    async def schedule_preview(self, who: Who, schedule: int) -> RoundView:
        """The question the next slot would get if nothing changed until then."""
        return await self._call("admin/schedule/preview", RoundView, who=who, schedule=schedule)

    async def post_now(self, who: Who, event_id: str, schedule: int) -> RoundView:
        """Post today's question at once. Refused when today's slot has been posted."""
        return await self._call("admin/schedule/post-now", RoundView, who=who, event_id=event_id, schedule=schedule)

    async def close_now(self, who: Who, event_id: str, where: Where) -> RoundView:
        """Close the channel's open round and reveal it."""
        return await self._call("admin/close-now", RoundView, who=who, event_id=event_id, where=where)

    async def season_start(self, who: Who, event_id: str, name: str) -> SeasonView:
        """Start a season; a running one ends and is archived."""
        return await self._call("admin/season/start", SeasonView, who=who, event_id=event_id, name=name)

    async def season_end(self, who: Who, event_id: str) -> SeasonView:
        return await self._call("admin/season/end", SeasonView, who=who, event_id=event_id)

    async def season_list(self, who: Who) -> tuple[SeasonView, ...]:
        return await self._call("seasons", tuple[SeasonView, ...], who=who)

    async def bank_list(self, who: Who) -> tuple[BankView, ...]:
        return await self._call("admin/bank/list", tuple[BankView, ...], who=who)

    async def bank_import(self, who: Who, event_id: str, name: str, text: str, apply: bool) -> ImportView:
        """Import a document for this workspace; without `apply` only say what would happen."""
        return await self._call(
            "admin/bank/import", ImportView, who=who, event_id=event_id, name=name, text=text, apply=apply
        )

    async def bank_log(self, who: Who, name: str) -> BankLog:
        """What was imported into a bank, the newest first."""
        return await self._call("admin/bank/log", BankLog, who=who, name=name)

    async def bank_undo(self, who: Who, event_id: str, name: str) -> ImportView:
        """Take back the latest import into the workspace's own bank of that name; audited."""
        return await self._call("admin/bank/undo", ImportView, who=who, event_id=event_id, name=name)

    async def bank_retire(self, who: Who, event_id: str, question: str, retired: bool) -> None:
        """Take a question out of the choosing, or put it back."""
        await self._call(
            "admin/bank/retire", type(None), who=who, event_id=event_id, question=question, retired=retired
        )

    async def bank_approve(self, who: Who, event_id: str, question: str) -> int:
        """Have a waiting generated question, or `all` of them, be asked; how many those were."""
        return await self._call("admin/bank/approve", int, who=who, event_id=event_id, question=question)

    async def bank_generated(self, who: Who, event_id: str, generated: Generated) -> None:
        """Say what the workspace's next imports do with choices made of a document's prose."""
        await self._call("admin/bank/generated", type(None), who=who, event_id=event_id, generated=generated)

    async def bank_low(self, who: Who) -> tuple[LowView, ...]:
        return await self._call("admin/bank/low", tuple[LowView, ...], who=who)

    async def reports(self, who: Who) -> tuple[ReportView, ...]:
        return await self._call("admin/reports", tuple[ReportView, ...], who=who)

    async def report_settle(self, who: Who, event_id: str, report: int, state: str) -> ReportView:
        """`state`: dismissed or fixed."""
        return await self._call(
            "admin/report/settle", ReportView, who=who, event_id=event_id, report=report, state=state
        )

    async def member_restore(self, who: Who, event_id: str, member: str, day: date) -> None:
        """Let the rounds of `day` break no streak of the member of that name; audited."""
        await self._call("admin/member/restore", type(None), who=who, event_id=event_id, member=member, day=day)

    async def member_adjust(self, who: Who, event_id: str, member: str, points: int, reason: str) -> None:
        """Book points to the member of that name, with a reason; audited."""
        await self._call(
            "admin/member/adjust", type(None), who=who, event_id=event_id, member=member, points=points, reason=reason
        )

    async def audit(self, who: Who, limit: int = 20) -> tuple[AuditView, ...]:
        return await self._call("admin/audit", tuple[AuditView, ...], who=who, limit=limit)

    async def doctor(self, who: Who) -> tuple[Check, ...]:
        return await self._call("admin/doctor", tuple[Check, ...], who=who)

    async def operations(self, who: Who) -> Operations:
        """How the quiz of this workspace runs."""
        return await self._call("admin/operations", Operations, who=who)

    # The courier: any bot process with the service's token

    async def outbox_claim(self, platform: str, limit: int = 20, wait_s: float = 0) -> tuple[Delivery, ...]:
        """Messages to make now, at most one per channel at a time so that order is kept. Waits up to `wait_s`."""
        return await self._call("outbox/claim", tuple[Delivery, ...], platform=platform, limit=limit, wait_s=wait_s)

    async def outbox_places(self, platform: str) -> tuple[PostingChannel, ...]:
        """Every channel of the platform that a schedule posts to, for whoever checks that it can be posted to."""
        return await self._call("outbox/places", tuple[PostingChannel, ...], platform=platform)

    async def outbox_sent(self, delivery: int, message_ref: str) -> None:
        await self._call("outbox/sent", type(None), delivery=delivery, message_ref=message_ref)

    async def outbox_failed(
        self,
        delivery: int,
        attempt: int,
        error: str,
        *,
        uncertain: bool,
        final: bool = False,
        retry_s: float | None = None,
    ) -> None:
        """It was not posted, or with `uncertain` nobody knows; with `final` it never will be. Heeded only of the
        attempt that holds it now."""
        await self._call(
            "outbox/failed",
            type(None),
            delivery=delivery,
            attempt=attempt,
            error=error[:1000],
            uncertain=uncertain,
            final=final,
            retry_s=retry_s,
        )

    # Installations: any bot process with the service's token. Tokens are never logged by client or service

    async def installation_keep(self, installation: Installation) -> None:
        """Keep a new installation, or the new tokens of one; ends a lease on it."""
        await self._call("installation/keep", type(None), installation=installation)

    async def installation_find(self, platform: str, team: str, enterprise: str = "") -> Installation | None:
        """The team's installation, else its enterprise's; None where the bot is not installed."""
        key = {"platform": platform, "team": team, "enterprise": enterprise}
        return await self._call("installation/find", MAYBE_INSTALLATION, key=key)

    async def installation_forget(self, platform: str, team: str, enterprise: str = "") -> None:
        """Throw the tokens away: the bot was uninstalled, or its token revoked."""
        key = {"platform": platform, "team": team, "enterprise": enterprise}
        await self._call("installation/forget", type(None), key=key)

    async def installation_due(self, platform: str) -> tuple[InstallationKey, ...]:
        """The installations whose token should be refreshed by now, the most urgent first."""
        return await self._call("installation/due", tuple[InstallationKey, ...], platform=platform)

    async def installation_lease(self, platform: str, team: str, enterprise: str = "") -> SecretStr | None:
        """The refresh token, to one caller at a time, who then hands the new tokens to `installation_keep`.
        None where nothing is due, or another caller is at it."""
        key = {"platform": platform, "team": team, "enterprise": enterprise}
        return await self._call("installation/lease", MAYBE_SECRET, key=key)

    async def oauth_issue(self, platform: str) -> str:
        """A state to send along to the platform's consent page: good once, for ten minutes."""
        return await self._call("oauth/issue", str, platform=platform)

    async def oauth_consume(self, platform: str, state: str) -> bool:
        """Whether the state that came back is one of ours, and comes back for the first time and in time."""
        return await self._call("oauth/consume", bool, platform=platform, state=state)


def _shown(token: str | ServiceTokens) -> ShownToken:
    return ShownToken(ServiceTokens(token) if isinstance(token, str) else token)


def _plain(body: Mapping[str, object]) -> dict[str, object]:
    return {name: _ADAPTERS[type(value)].dump_python(value, mode="json") for name, value in body.items()}


def _failure(response: httpx.Response) -> Failure:
    try:
        return Failure.model_validate_json(response.content)
    except ValueError:
        return Failure(code="refused", message=f"the service refused the call ({response.status_code})")
