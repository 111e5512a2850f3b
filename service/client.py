"""The typed client of the question service: one method per call, over HTTP or straight into the ASGI app."""

# A call is declared by its signature, without a body.
# mypy: disable-error-code="empty-body"

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from datetime import date, datetime
from functools import cache, partial, wraps
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeAlias, TypeVar, get_type_hints

import httpx
from pydantic import SecretStr, TypeAdapter

from service.credentials import ServiceTokens, TokenAuth
from service.tracing import event_header
from service.wire import (
    CALLER_HEADER,
    AnswerCredit,
    AnswerInput,
    AnswerResult,
    AskForm,
    AttemptOutcome,
    AuditView,
    BankLog,
    BankView,
    Board,
    CallRejected,
    ChatLinked,
    Contest,
    Delivery,
    Explanation,
    Failure,
    Generated,
    ImportView,
    Installation,
    InstallationKey,
    LinkCode,
    LowView,
    MarkingView,
    Me,
    MemberLinked,
    Operations,
    PeerAnswer,
    Period,
    PostingChannel,
    PrivacyAction,
    PrivacyView,
    Refusal,
    ReportView,
    RoundResult,
    RoundView,
    Rules,
    RunResult,
    ScheduleSpec,
    ScheduleView,
    SeasonView,
    Secret,
    Settled,
    TodayView,
    TopicCount,
    VerdictView,
    WaitingAnswers,
    Where,
    Who,
    WorkspaceCheck,
    describe,
)

RETRY_DELAYS = (0.0, 0.1, 0.4, 1.0)
"""Delays before each retry, seconds: another process answers at once, and one that restarts needs a moment."""
NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout)
"""Errors of calls that never reached the service."""
CONNECTION_LOST = (httpx.ReadError, httpx.WriteError, httpx.CloseError, httpx.RemoteProtocolError)
"""Errors of calls that may have taken effect."""


async def with_retries(send: Callable[[], Awaitable[httpx.Response]], *, idempotent: bool) -> httpx.Response:
    """Sends a request, and retries if the process behind it goes away, as in a rolling restart.

    Retries a request that may have taken effect only if it is `idempotent`. Raises the last attempt's error.
    """
    reached = False
    for delay in RETRY_DELAYS:
        try:
            return await send()
        except NOT_SENT:
            # Another process may be listening. If none ever was, fail fast.
            if delay and not reached:
                raise
        except CONNECTION_LOST:
            if not idempotent:
                raise
            reached = True
        await asyncio.sleep(delay)
    return await send()


T = TypeVar("T")
P = ParamSpec("P")
Method: TypeAlias = Callable[P, Coroutine[Any, Any, T]]

NOTHING: TypeAdapter[None] = TypeAdapter(None)
OPTIONAL_INSTALLATION: TypeAdapter[Installation | None] = TypeAdapter(Installation | None)
OPTIONAL_SECRET: TypeAdapter[SecretStr | None] = TypeAdapter(Secret | None)


class _Adapters(dict[Any, TypeAdapter[Any]]):
    """Caches type adapters, which cost more to create than to use."""

    def __missing__(self, kind: Any) -> TypeAdapter[Any]:
        return self.setdefault(kind, TypeAdapter(kind))


_ADAPTERS = _Adapters()


class ServiceRefused(Exception):
    """The service refused the call. `refusal` has the reason as facts."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(describe(refusal))
        self.refusal = refusal


class ServiceUnavailable(Exception):
    """The service could not be reached, or failed. The call may or may not have taken effect.

    Calls may be repeated: those that change something take effect once per event id.
    """


def call(path: str, *, repeatable: bool = False) -> Callable[[Method[P, T]], Method[P, T]]:
    """Implements a method of ServiceClient from its signature: posts the arguments to `path` and parses the response.

    A call with an `event_id` takes effect once per event, so it can be retried. Any other call is retried only if it
    is `repeatable`: making it twice has the same effect as making it once.
    """

    def declare(method: Method[P, T]) -> Method[P, T]:
        signature = inspect.signature(method)
        retried = repeatable or "event_id" in signature.parameters

        @cache
        def answer() -> TypeAdapter[T]:
            return TypeAdapter(get_type_hints(method)["return"])

        @wraps(method)
        async def post(*args: P.args, **kwargs: P.kwargs) -> T:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            body = dict(bound.arguments)
            client: ServiceClient = body.pop("self")
            return await client.send(path, answer(), repeatable=retried, **body)

        return post

    return declare


class ServiceClient:
    """Calls the service. Every call raises ServiceRefused or ServiceUnavailable, nothing else."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    @classmethod
    def over_http(cls, url: str, token: str | ServiceTokens) -> Self:
        """Returns a client of the service at `url`."""
        return cls(httpx.AsyncClient(base_url=url, auth=_auth(token), timeout=httpx.Timeout(10, read=40)))

    @classmethod
    def inside(cls, app: Any, token: str | ServiceTokens) -> Self:
        """Returns a client that calls the ASGI app in this process, without a socket."""
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        return cls(httpx.AsyncClient(transport=transport, base_url="http://service", auth=_auth(token)))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def send(self, path: str, answer: TypeAdapter[T], *, repeatable: bool, **body: object) -> T:
        """Posts one call. A `repeatable` call may reach the service twice, with the effect of one."""
        who = body.pop("who", None)
        headers = event_header() | (caller_header(who) if isinstance(who, Who) else {})
        post = partial(self._http.post, f"/v1/{path}", json=_to_json(body), headers=headers)
        try:
            response = await with_retries(post, idempotent=repeatable)
        except httpx.HTTPError as error:
            raise ServiceUnavailable(f"{path}: {error or type(error).__name__}") from error
        if response.is_success:
            return answer.validate_json(response.content)
        if response.status_code >= 500:
            raise ServiceUnavailable(f"{path}: the service failed ({response.status_code})")
        raise ServiceRefused(_refusal(response))

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

    @call("topics", repeatable=True)
    async def topics(self, who: Who) -> tuple[TopicCount, ...]: ...

    @call("rules", repeatable=True)
    async def rules(self, who: Who) -> Rules: ...

    @call("privacy")
    async def privacy(self, who: Who, event_id: str, action: PrivacyAction = "see") -> PrivacyView:
        """Shows, exports or changes the data stored about the member: see, export, csv, hide, show or forget."""

    @call("report")
    async def report(self, who: Who, event_id: str, question: str, text: str) -> ReportView:
        """Reports a question to the moderators."""

    @call("hello")
    async def hello(self, who: Who, event_id: str, where: Where) -> bool:
        """Registers the chat. Returns True for only one event per chat, so that the bot greets it once."""

    @call("link")
    async def link(self, who: Who, event_id: str) -> LinkCode:
        """Returns a code with which the member links their account in another chat of the workspace."""

    @call("link-with")
    async def link_with(self, who: Who, event_id: str, code: str) -> MemberLinked:
        """Merges the member with the one who made `code` in another chat of the workspace."""

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
        """Returns the question that the next slot would get if nothing changed until then."""

    @call("admin/schedule/post-now")
    async def post_now(self, who: Who, event_id: str, schedule: int) -> RoundView:
        """Posts today's question now. Refused if today's slot has been posted."""

    @call("admin/close-now")
    async def close_now(self, who: Who, event_id: str, where: Where) -> RoundView:
        """Closes the channel's open round and reveals the answer."""

    @call("admin/season/start")
    async def season_start(self, who: Who, event_id: str, name: str) -> SeasonView:
        """Starts a season. A running one ends and is archived."""

    @call("admin/season/end")
    async def season_end(self, who: Who, event_id: str) -> SeasonView: ...

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

    @call("admin/reports", repeatable=True)
    async def reports(self, who: Who) -> tuple[ReportView, ...]: ...

    @call("admin/report/settle")
    async def report_settle(self, who: Who, event_id: str, report: int, state: Settled) -> ReportView:
        """Settles a report as dismissed or fixed."""

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
    async def audit(self, who: Who, limit: int = 20) -> tuple[AuditView, ...]: ...

    @call("admin/doctor", repeatable=True)
    async def doctor(self, who: Who) -> tuple[WorkspaceCheck, ...]: ...

    @call("admin/operations")
    async def operations(self, who: Who) -> Operations:
        """Returns the workspace's operations page."""

    # The outbox dispatcher's calls: any bot process with the service token

    @call("outbox/claim")
    async def outbox_claim(self, platform: str, limit: int = 20, wait_s: float = 0) -> tuple[Delivery, ...]:
        """Claims messages to post now, at most one per channel to preserve order. Waits up to `wait_s` for new ones."""

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

    @call("chat/presence", repeatable=True)
    async def chat_presence(self, platform: str, workspace: str, present: bool) -> None:
        """Says that the bot is in the chat, or was removed from it: then its schedules post nothing there."""

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


def caller_header(who: Who) -> dict[str, str]:
    """Returns the member who makes a call as an HTTP header."""
    return {CALLER_HEADER: json.dumps(who.model_dump(mode="json"))}


def _auth(token: str | ServiceTokens) -> TokenAuth:
    return TokenAuth(ServiceTokens(token) if isinstance(token, str) else token)


def _to_json(body: Mapping[str, object]) -> dict[str, object]:
    return {name: _ADAPTERS[type(value)].dump_python(value, mode="json") for name, value in body.items()}


def _refusal(response: httpx.Response) -> Refusal:
    try:
        return Failure.model_validate_json(response.content).refusal
    except ValueError:
        return CallRejected(code="http", message=f"the service refused the call ({response.status_code})")
