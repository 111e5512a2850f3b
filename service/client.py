"""The typed client of the question service: one method per call. Over HTTP, or straight into the ASGI app."""

# A call is declared by its signature, without a body.
# mypy: disable-error-code="empty-body"

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from datetime import date, datetime
from functools import cache, partial, wraps
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeAlias, TypeVar, get_type_hints

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
P = ParamSpec("P")
Method: TypeAlias = Callable[P, Coroutine[Any, Any, T]]

NOTHING: TypeAdapter[None] = TypeAdapter(None)
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


def call(path: str, *, repeatable: bool = False) -> Callable[[Method[P, T]], Method[P, T]]:
    """Makes a method of ServiceClient out of its signature: posts the arguments to `path`, returns the parsed answer.

    A call with an `event_id` is answered once per event, so it can be repeated. Any other is repeated only where it
    is `repeatable`: it changes nothing, or nothing more the second time.
    """

    def declare(method: Method[P, T]) -> Method[P, T]:
        signature = inspect.signature(method)
        again = repeatable or "event_id" in signature.parameters

        @cache
        def answer() -> TypeAdapter[T]:
            return TypeAdapter(get_type_hints(method)["return"])

        @wraps(method)
        async def post(*args: P.args, **kwargs: P.kwargs) -> T:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            body = dict(bound.arguments)
            client: ServiceClient = body.pop("self")
            return await client.send(path, answer(), repeatable=again, **body)

        return post

    return declare


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

    async def send(self, path: str, answer: TypeAdapter[T], *, repeatable: bool, **body: object) -> T:
        """Posts one call. A `repeatable` one may reach the service twice: the second time changes nothing more."""
        post = partial(self._http.post, f"/v1/{path}", json=_plain(body), headers=as_header())
        try:
            response = await with_retries(post, answered_once=repeatable)
        except httpx.HTTPError as error:
            raise ServiceUnavailable(f"{path}: {error or type(error).__name__}") from error
        if response.is_success:
            return answer.validate_json(response.content)
        if response.status_code >= 500:
            raise ServiceUnavailable(f"{path}: the service failed ({response.status_code})")
        raise ServiceRefused(_failure(response))

    # Members

    @call("join", repeatable=True)
    async def join(self, who: Who, where: Where) -> None:
        """Make the workspace, channel and member known, or note a new name."""

    @call("today", repeatable=True)
    async def today(self, who: Who, where: Where) -> TodayView:
        """What is open in the channel, or where its id is empty in the whole workspace."""

    @call("ask", repeatable=True)
    async def ask(self, who: Who, where: Where, ref: str) -> AskForm:
        """The question `ref`, options in the member's own order."""

    @call("answer")
    async def answer(
        self, who: Who, where: Where, event_id: str, ref: str, given: AnswerInput, at: datetime
    ) -> AnswerResult:
        """Hand in an answer made at the instant `at`, as the platform says."""

    @call("try-code")
    async def try_code(self, who: Who, ref: str, code: str) -> VerdictView:
        """Judge `code` against the visible examples only; nothing is kept."""

    @call("run")
    async def run(self, who: Who, code: str) -> RunResult:
        """Run a free snippet; nothing is kept."""

    @call("practice")
    async def practice(
        self, who: Who, where: Where, topic: str = "", level: str = "", kind: str = ""
    ) -> AskForm | None:
        """The next card that is due, or a new question; None when there is nothing to ask."""

    @call("rate")
    async def rate(self, who: Who, event_id: str, ref: str, rating: Rating) -> datetime:
        """Rate one's own recall of a practiced card; returns when it is due again."""

    @call("explain", repeatable=True)
    async def explain(self, who: Who, question: str) -> AnswerKey:
        """The key of a question this member has answered or whose round has closed."""

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
        """A channel's board, or with `where` None the workspace's."""

    @call("me", repeatable=True)
    async def me(self, who: Who) -> Me: ...

    @call("topics", repeatable=True)
    async def topics(self, who: Who) -> tuple[TopicCount, ...]: ...

    @call("rules", repeatable=True)
    async def rules(self, who: Who) -> Rules: ...

    @call("privacy")
    async def privacy(self, who: Who, event_id: str, action: str = "see") -> PrivacyView:
        """`action`: see, export, csv (exports too), hide, show or forget."""

    @call("report")
    async def report(self, who: Who, event_id: str, question: str, text: str) -> ReportView:
        """Tell the moderators that a question is wrong."""

    @call("hello")
    async def hello(self, who: Who, event_id: str, where: Where) -> bool:
        """Make the chat known; true for one event per chat, so that the bot says hello once. `where` may be empty."""

    @call("link")
    async def link(self, who: Who, event_id: str) -> LinkCode:
        """A code by which the member links their account in another chat of the workspace."""

    @call("link-with")
    async def link_with(self, who: Who, event_id: str, code: str) -> MemberLinked:
        """Join the member to the one who made `code` in another chat of the workspace."""

    # Admins; everyone else is refused

    @call("admin/chat/link")
    async def chat_link(self, who: Who, event_id: str) -> LinkCode:
        """A code by which an admin of another chat joins that chat to this workspace."""

    @call("admin/chat/join")
    async def chat_join(self, who: Who, event_id: str, code: str, sure: bool) -> ChatLinked:
        """Join this chat, with all it has, to the workspace that `code` was made in; audited. Unless `sure`, one that
        has any history is left as it is, and the answer says what would be brought along."""

    @call("admin/schedule/share")
    async def schedule_share(self, who: Who, event_id: str, where: Where, schedule: int) -> ScheduleView:
        """Have the schedule post to the channel `where` too, of whichever chat of the workspace."""

    @call("admin/schedule/unshare")
    async def schedule_unshare(self, who: Who, event_id: str, where: Where, schedule: int) -> ScheduleView:
        """Have the schedule no longer post to the channel `where`."""

    @call("admin/schedule/add")
    async def schedule_add(self, who: Who, event_id: str, where: Where, spec: ScheduleSpec) -> ScheduleView: ...

    @call("admin/schedule/edit")
    async def schedule_edit(self, who: Who, event_id: str, schedule: int, spec: ScheduleSpec) -> ScheduleView: ...

    @call("admin/schedule/list", repeatable=True)
    async def schedule_list(self, who: Who) -> tuple[ScheduleView, ...]: ...

    @call("admin/schedule/pause")
    async def schedule_pause(self, who: Who, event_id: str, schedule: int, paused: bool) -> ScheduleView: ...

    @call("admin/schedule/skip")
    async def schedule_skip(self, who: Who, event_id: str, schedule: int, day: date) -> ScheduleView: ...

    @call("admin/schedule/remove")
    async def schedule_remove(self, who: Who, event_id: str, schedule: int) -> None: ...

    @call("admin/schedule/preview", repeatable=True)
    async def schedule_preview(self, who: Who, schedule: int) -> RoundView:
        """The question the next slot would get if nothing changed until then."""

    @call("admin/schedule/post-now")
    async def post_now(self, who: Who, event_id: str, schedule: int) -> RoundView:
        """Post today's question at once. Refused when today's slot has been posted."""

    @call("admin/close-now")
    async def close_now(self, who: Who, event_id: str, where: Where) -> RoundView:
        """Close the channel's open round and reveal it."""

    @call("admin/season/start")
    async def season_start(self, who: Who, event_id: str, name: str) -> SeasonView:
        """Start a season; a running one ends and is archived."""

    @call("admin/season/end")
    async def season_end(self, who: Who, event_id: str) -> SeasonView: ...

    @call("seasons", repeatable=True)
    async def season_list(self, who: Who) -> tuple[SeasonView, ...]: ...

    @call("admin/bank/list", repeatable=True)
    async def bank_list(self, who: Who) -> tuple[BankView, ...]: ...

    @call("admin/bank/import")
    async def bank_import(self, who: Who, event_id: str, name: str, text: str, apply: bool) -> ImportView:
        """Import a document for this workspace; without `apply` only say what would happen."""

    @call("admin/bank/log", repeatable=True)
    async def bank_log(self, who: Who, name: str) -> BankLog:
        """What was imported into a bank, the newest first."""

    @call("admin/bank/undo")
    async def bank_undo(self, who: Who, event_id: str, name: str) -> ImportView:
        """Take back the latest import into the workspace's own bank of that name; audited."""

    @call("admin/bank/retire")
    async def bank_retire(self, who: Who, event_id: str, question: str, retired: bool) -> None:
        """Take a question out of the choosing, or put it back."""

    @call("admin/bank/approve")
    async def bank_approve(self, who: Who, event_id: str, question: str) -> int:
        """Have a waiting generated question, or `all` of them, be asked; how many those were."""

    @call("admin/bank/generated")
    async def bank_generated(self, who: Who, event_id: str, generated: Generated) -> None:
        """Say what the workspace's next imports do with choices made of a document's prose."""

    @call("admin/bank/low", repeatable=True)
    async def bank_low(self, who: Who) -> tuple[LowView, ...]: ...

    @call("admin/reports", repeatable=True)
    async def reports(self, who: Who) -> tuple[ReportView, ...]: ...

    @call("admin/report/settle")
    async def report_settle(self, who: Who, event_id: str, report: int, state: str) -> ReportView:
        """`state`: dismissed or fixed."""

    @call("admin/member/restore")
    async def member_restore(self, who: Who, event_id: str, member: str, day: date) -> None:
        """Let the rounds of `day` break no streak of the member of that name; audited."""

    @call("admin/member/adjust")
    async def member_adjust(self, who: Who, event_id: str, member: str, points: int, reason: str) -> None:
        """Book points to the member of that name, with a reason; audited."""

    @call("admin/audit", repeatable=True)
    async def audit(self, who: Who, limit: int = 20) -> tuple[AuditView, ...]: ...

    @call("admin/doctor", repeatable=True)
    async def doctor(self, who: Who) -> tuple[Check, ...]: ...

    @call("admin/operations")
    async def operations(self, who: Who) -> Operations:
        """How the quiz of this workspace runs."""

    # The courier: any bot process with the service's token

    @call("outbox/claim")
    async def outbox_claim(self, platform: str, limit: int = 20, wait_s: float = 0) -> tuple[Delivery, ...]:
        """Messages to make now, at most one per channel at a time so that order is kept. Waits up to `wait_s`."""

    @call("outbox/places", repeatable=True)
    async def outbox_places(self, platform: str) -> tuple[PostingChannel, ...]:
        """Every channel of the platform that a schedule posts to, for whoever checks that it can be posted to."""

    @call("outbox/sent", repeatable=True)
    async def outbox_sent(self, delivery: int, message_ref: str) -> None: ...

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
        await self.send(
            "outbox/failed",
            NOTHING,
            repeatable=True,
            delivery=delivery,
            attempt=attempt,
            error=error[:1000],
            uncertain=uncertain,
            final=final,
            retry_s=retry_s,
        )

    # Installations: any bot process with the service's token. Tokens are never logged by client or service

    @call("installation/keep")
    async def installation_keep(self, installation: Installation) -> None:
        """Keep a new installation, or the new tokens of one; ends a lease on it."""

    async def installation_find(self, platform: str, team: str, enterprise: str = "") -> Installation | None:
        """The team's installation, else its enterprise's; None where the bot is not installed."""
        key = {"platform": platform, "team": team, "enterprise": enterprise}
        return await self.send("installation/find", MAYBE_INSTALLATION, repeatable=True, key=key)

    async def installation_forget(self, platform: str, team: str, enterprise: str = "") -> None:
        """Throw the tokens away: the bot was uninstalled, or its token revoked."""
        key = {"platform": platform, "team": team, "enterprise": enterprise}
        await self.send("installation/forget", NOTHING, repeatable=False, key=key)

    @call("installation/due", repeatable=True)
    async def installation_due(self, platform: str) -> tuple[InstallationKey, ...]:
        """The installations whose token should be refreshed by now, the most urgent first."""

    async def installation_lease(self, platform: str, team: str, enterprise: str = "") -> SecretStr | None:
        """The refresh token, to one caller at a time, who then hands the new tokens to `installation_keep`.
        None where nothing is due, or another caller is at it."""
        key = {"platform": platform, "team": team, "enterprise": enterprise}
        return await self.send("installation/lease", MAYBE_SECRET, repeatable=False, key=key)

    @call("oauth/issue")
    async def oauth_issue(self, platform: str) -> str:
        """A state to send along to the platform's consent page: good once, for ten minutes."""

    @call("oauth/consume")
    async def oauth_consume(self, platform: str, state: str) -> bool:
        """Whether the state that came back is one of ours, and comes back for the first time and in time."""


def _shown(token: str | ServiceTokens) -> ShownToken:
    return ShownToken(ServiceTokens(token) if isinstance(token, str) else token)


def _plain(body: Mapping[str, object]) -> dict[str, object]:
    return {name: _ADAPTERS[type(value)].dump_python(value, mode="json") for name, value in body.items()}


def _failure(response: httpx.Response) -> Failure:
    try:
        return Failure.model_validate_json(response.content)
    except ValueError:
        return Failure(code="refused", message=f"the service refused the call ({response.status_code})")
