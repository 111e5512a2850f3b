"""Who may do what: for every route of the service, and every kind of caller, what comes of it.

A member or an admin speaks through a bot, which shows the token; a bot speaks for itself where a call names no member.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from cryptography.fernet import Fernet

from service.api import ROUTES
from service.api.http import EDITOR_CALLS
from service.app import Service
from service.client import caller_header
from service.config import Settings
from service.wire import CallRejected, Failure, ScheduleSpec, Where, digest_of
from tests.conftest import TOKEN, Clock, MakeWho
from tests.service.daily_channel import DailyChannel
from tests.service.tenants import DOCUMENT, SUGGESTION, Team, open_banks

ROLES = ("no token", "wrong token", "bot", "member", "another's admin", "admin")
"""In the order they are tried: whoever may do it comes last."""

Body = dict[str, Any]
Said = tuple[str, str, str, str, str, str]
"""What comes of a call by each of the roles: `ok`, or the code of the failure."""


@dataclass(frozen=True)
class Row:
    """A call with its arguments, and the expected outcome per role."""

    said: Said
    body: Callable[[Team], Awaitable[Body]]


def row(said: Said, **fields: Any) -> Row:
    """Returns a row of the table, whose fields are values or functions of the team."""

    async def body(team: Team) -> Body:
        made = {name: value(team) if callable(value) else value for name, value in fields.items()}
        return {name: await value if isinstance(value, Awaitable) else value for name, value in made.items()}

    return Row(said, body)


OUTSIDE = "out-of-scope"
OUT, UNREADABLE, OK, ADMINS, GONE = "unauthorized", "invalid-input", "ok", "admins-only", "not-found"
WRONG_CODE = "link-refused"
OPEN: Said = (OK,) * 6
"""Told to anybody."""
OPERATORS: Said = (OUT, OUT, OK, OK, OK, OK)
"""Whoever shows the token: it is about the process."""
OWN: Said = (OUT, OUT, UNREADABLE, OK, OK, OK)
"""About the caller, whoever that is."""
THEIRS: Said = (OUT, OUT, UNREADABLE, OK, GONE, OK)
"""About a thing of the caller's workspace."""
THEIR_QUESTION: Said = (OUT, OUT, UNREADABLE, OK, "question-gone", OK)
"""About a question that was put to the caller's workspace."""
ADMIN: Said = (OUT, OUT, UNREADABLE, ADMINS, OK, OK)
"""An admin's, about the workspace they are admin of."""
ADMIN_THEIRS: Said = (OUT, OUT, UNREADABLE, ADMINS, GONE, OK)
"""An admin's, about a thing of the workspace."""
BOTS: Said = (OUT, OUT, OK, OK, OK, OK)
"""A bot's own: it names no member, and does not look at one."""
RESERVED: Said = (OUT, OUT, "name-refused", "name-refused", "name-refused", "name-refused")
"""A bot's own, with the quiz's name, which nobody can join under."""


def channel(team: Team) -> Body:
    return team.channel.model_dump()


def schedule(team: Team) -> int:
    return team.schedule


def aside(team: Team) -> Body:
    return team.aside.model_dump()


def sprint_channel(team: Team) -> Body:
    return team.sprint_channel.model_dump()


def asked(team: Team) -> str:
    return f"r{team.open_round}"


def practiced(team: Team) -> str:
    return f"p{team.question}"


def bank(team: Team) -> str:
    return f"{team.word}-bank"


def ada(team: Team) -> str:
    return team.member.name


SPEC = ScheduleSpec().model_dump(mode="json")
NOWHERE = Where(channel="").model_dump()
NEW = Where(channel="new", name="#new")
INSTALLED = {"platform": "slack", "team": "T1"}
NO_SANDBOX: Said = (OUT, OUT, UNREADABLE, "no-sandbox", "no-sandbox", "no-sandbox")
"""In this test there is none."""


NO_DUEL: Said = (OUT, OUT, UNREADABLE, GONE, GONE, GONE)
"""About a duel or an opponent that does not exist; `tests/service/test_tenants.py` names those of others."""


THEIR_TOURNAMENT: Said = (OUT, OUT, UNREADABLE, OK, "tournament-refused", OK)
"""About a certain tournament, which another workspace cannot join."""
NO_TURN: Said = (OUT, OUT, UNREADABLE, *3 * ("question-gone",))
ROWS: dict[str, Row] = {
    "GET /healthz": row(OPEN),
    "GET /readyz": row(OPEN),
    "GET /metrics": row(OPERATORS),
    "POST /v1/join": row(OWN, where=channel),
    "POST /v1/today": row(OWN, where=channel),
    "POST /v1/ask": row(THEIR_QUESTION, where=aside, ref=asked),
    "POST /v1/answer": row(
        THEIR_QUESTION, where=aside, ref=asked, given=lambda team: team.given, at="2026-03-02T11:30:00Z"
    ),
    "POST /v1/hint": row(THEIR_QUESTION, where=aside, ref=asked, take=False),
    "POST /v1/try-code": row(NO_SANDBOX, ref=asked, code="1"),
    "POST /v1/run": row(NO_SANDBOX, code="1"),
    "POST /v1/me": row(OWN),
    "POST /v1/history": row(OWN),
    "POST /v1/archive": row(OWN, wanted={}),
    "POST /v1/question": row(THEIR_QUESTION, ref=lambda team: f"r{team.closed_round}"),
    "POST /v1/question/prove": row(NO_SANDBOX, ref=lambda team: f"r{team.closed_round}"),
    "POST /v1/topics": row(OWN),
    "POST /v1/mastery": row(OWN),
    "POST /v1/rules": row(OWN),
    "POST /v1/privacy": row(OWN),
    "POST /v1/notifications": row(OWN),
    "POST /v1/notify": row(OWN, what="reminders", on=True),
    "POST /v1/suggest": row(OWN, text="What is a zebra?"),
    "POST /v1/suggest/preview": row(OWN, text="What is a zebra?"),
    "POST /v1/suggest/draft": row(OWN),
    "POST /v1/suggest/mine": row(OWN),
    "POST /v1/report": row(OWN, question="views", text="It is wrong."),
    "POST /v1/practice": row(OWN, where=channel),
    "POST /v1/practice/attempt": row(THEIR_QUESTION, ref=practiced),
    "POST /v1/practice/rate": row(
        (OUT, OUT, UNREADABLE, "rating-refused", "question-gone", "rating-refused"), ref=practiced, rating="good"
    ),
    "POST /v1/practice/session": row(OWN, since="2026-03-02T11:00:00Z"),
    "POST /v1/marking": row(THEIR_QUESTION, ref=practiced),
    "POST /v1/mark": row(THEIR_QUESTION, ref=practiced, covered=[0]),
    "POST /v1/share-answer": row(
        (OUT, OUT, UNREADABLE, "marking-refused", "question-gone", "marking-refused"), ref=practiced
    ),
    "POST /v1/peer-answer": row(THEIR_QUESTION, ref=practiced),
    "POST /v1/confirm-answer": row((OUT, OUT, UNREADABLE, *3 * ("marking-refused",)), number=10**9),
    "POST /v1/explain": row(THEIRS, question=lambda team: f"what-is-a-{team.word}"),
    "POST /v1/result": row(THEIR_QUESTION, ref=lambda team: f"r{team.closed_round}"),
    "POST /v1/feedback": row(
        (OUT, OUT, UNREADABLE, OK, "question-gone", "not-answered"),
        ref=lambda team: f"r{team.closed_round}",
        liked=True,
    ),
    "POST /v1/board": row(OWN, where=channel),
    "POST /v1/measurements": row((OUT, OUT, UNREADABLE, *3 * (GONE,)), where=channel),
    "POST /v1/share-solution": row(
        (OUT, OUT, UNREADABLE, GONE, "question-gone", GONE), ref=lambda team: f"r{team.closed_round}", on=True
    ),
    "POST /v1/seasons": row(OWN),
    "POST /v1/hello": row(OWN, where=NOWHERE),
    "POST /v1/link": row(OWN),
    "POST /v1/link-with": row((OUT, OUT, UNREADABLE, WRONG_CODE, WRONG_CODE, WRONG_CODE), code="22222222"),
    "POST /v1/duel/challenge": row(NO_DUEL, where=channel, member="nobody"),
    "POST /v1/duel/rematch": row(NO_DUEL, where=channel, duel=10**9),
    "POST /v1/duel/respond": row(NO_DUEL, duel=10**9, accept=True),
    "POST /v1/duel/ask": row(NO_TURN, ref=f"d{10**9}"),
    "POST /v1/duel/answer": row(NO_TURN, ref=f"d{10**9}", given={"text": "1"}, at="2026-03-02T11:30:00Z"),
    "POST /v1/duel/show": row(NO_DUEL, duel=10**9),
    "POST /v1/duel/list": row(OWN),
    "POST /v1/duel/ladder": row(OWN),
    "POST /v1/tournament": row(THEIRS, title=lambda team: f"{team.word} cup"),
    "POST /v1/tournament/join": row(THEIR_TOURNAMENT, tournament=lambda team: team.tournament),
    "POST /v1/tournament/pick": row(
        (OUT, OUT, UNREADABLE, "tournament-refused", GONE, "tournament-refused"), member=ada
    ),
    "POST /v1/admin/tournament/captain": row(ADMIN_THEIRS, member=ada),
    "POST /v1/tournament/leave": row(OWN),
    "POST /v1/admin/tournament/plan": row(
        (OUT, OUT, UNREADABLE, ADMINS, *2 * ("tournament-refused",)), where=channel, plan={"title": "A cup"}
    ),
    "POST /v1/admin/review/similarity": row(ADMIN),
    "POST /v1/admin/settings": row(ADMIN),
    "POST /v1/admin/tournament/cancel": row(ADMIN),
    "POST /v1/admin/schedule/add": row(ADMIN, where=channel, spec=SPEC),
    "POST /v1/admin/schedule/edit": row(ADMIN_THEIRS, schedule=schedule, changes={"speed_bonus": True}),
    "POST /v1/admin/schedule/list": row(ADMIN),
    "POST /v1/admin/schedule/pause": row(ADMIN_THEIRS, schedule=schedule, paused=False),
    "POST /v1/admin/schedule/skip": row(ADMIN_THEIRS, schedule=schedule, day="2026-03-10"),
    "POST /v1/admin/schedule/unskip": row(ADMIN_THEIRS, schedule=schedule, day="2026-03-10"),
    "POST /v1/admin/schedule/preview": row(ADMIN_THEIRS, schedule=schedule),
    "POST /v1/admin/schedule/month": row(ADMIN_THEIRS, schedule=schedule, month="2026-03-01", changes={}),
    "POST /v1/admin/schedule/post-now": row(ADMIN_THEIRS, schedule=lambda team: team.scheduled(NEW)),
    "POST /v1/admin/schedule/share": row(ADMIN_THEIRS, schedule=schedule, where=aside),
    "POST /v1/admin/schedule/unshare": row(ADMIN_THEIRS, schedule=schedule, where=aside),
    "POST /v1/admin/schedule/remove": row(ADMIN_THEIRS, schedule=lambda team: team.scheduled()),
    "POST /v1/admin/ask": row((OUT, OUT, UNREADABLE, ADMINS, "channel-unscheduled", OK), where=aside, wanted={}),
    "POST /v1/admin/close-now": row((OUT, OUT, UNREADABLE, ADMINS, "no-open-round", OK), where=aside),
    "POST /v1/admin/sprint/start": row(ADMIN, where=NEW.model_dump(), questions=3, seconds=20),
    "POST /v1/admin/sprint/stop": row((OUT, OUT, UNREADABLE, ADMINS, "sprint-refused", OK), where=sprint_channel),
    "POST /v1/admin/sprint/plan": row(
        ADMIN, where=NEW.model_dump(), sprint_plan={"questions": 3, "seconds": 20, "at": "18:00"}
    ),
    "POST /v1/admin/sprint/cancel": row(
        (OUT, OUT, UNREADABLE, ADMINS, "sprint-refused", OK),
        where=sprint_channel,
        sprint=lambda team: team.planned_sprint,
    ),
    "POST /v1/sprints": row(OWN),
    "POST /v1/sprints/pulse": row(OWN),
    "POST /v1/admin/season/end": row(ADMIN),
    "POST /v1/admin/winner/role": row(ADMIN, where=channel, event="sprint", role="1"),
    "POST /v1/admin/winner/roles": row(ADMIN),
    "POST /v1/admin/season/start": row(ADMIN, name="Spring"),
    "POST /v1/admin/bank/list": row(ADMIN),
    "POST /v1/admin/bank/import": row(ADMIN, name="new.md", text=DOCUMENT.format(word="ibis"), apply=True),
    "POST /v1/admin/bank/log": row(ADMIN_THEIRS, name=bank),
    "POST /v1/admin/bank/undo": row(ADMIN_THEIRS, name=bank),
    "POST /v1/admin/bank/retire": row(ADMIN, question="cast", retired=True),
    "POST /v1/admin/bank/approve": row((OUT, OUT, UNREADABLE, ADMINS, GONE, GONE), question="all"),
    "POST /v1/admin/bank/generated": row(ADMIN, generated="use"),
    "POST /v1/admin/bank/low": row(ADMIN),
    "POST /v1/admin/bank/stats": row(ADMIN),
    "POST /v1/admin/bank/stats/question": row(ADMIN_THEIRS, question=lambda team: f"what-is-a-{team.word}"),
    "POST /v1/admin/suggestions": row(ADMIN),
    "POST /v1/admin/suggestion": row(ADMIN_THEIRS, suggestion=lambda team: team.suggested()),
    "POST /v1/admin/suggestion/edit": row(ADMIN_THEIRS, suggestion=lambda team: team.suggested(), text="Better."),
    "POST /v1/admin/suggestion/accept": row(
        ADMIN_THEIRS,
        suggestion=lambda team: team.suggested(),
        seen=lambda team: digest_of(SUGGESTION.format(word=team.word)),
    ),
    "POST /v1/admin/suggestion/decline": row(
        ADMIN_THEIRS, suggestion=lambda team: team.suggested(), reason="It is known."
    ),
    "POST /v1/admin/reports": row(ADMIN),
    "POST /v1/admin/report/settle": row(ADMIN_THEIRS, report=lambda team: team.reported(), state="fixed", reason=""),
    "POST /v1/admin/report": row(ADMIN_THEIRS, report=lambda team: team.reported()),
    "POST /v1/admin/review/here": row(ADMIN, where=channel),
    "POST /v1/admin/review/me": row(ADMIN),
    "POST /v1/admin/digest": row(ADMIN),
    "POST /v1/admin/digest/switch": row(ADMIN, on=False),
    "POST /v1/admin/open-answers": row(ADMIN),
    "POST /v1/admin/open-answers/credit": row((OUT, OUT, UNREADABLE, ADMINS, GONE, GONE), number=10**9, percent=50),
    "POST /v1/admin/member/restore": row(ADMIN_THEIRS, member=ada, day="2026-03-02"),
    "POST /v1/admin/member/adjust": row(ADMIN_THEIRS, member=ada, points=1, reason="because"),
    "POST /v1/admin/audit": row(ADMIN),
    "POST /v1/admin/overview": row(ADMIN),
    "POST /v1/admin/members": row(ADMIN),
    "POST /v1/admin/member/hide": row(ADMIN_THEIRS, member=ada, hidden=True),
    # On Discord, the platform says who is an admin.
    "POST /v1/admin/member/role": row(
        (OUT, OUT, UNREADABLE, ADMINS, GONE, "admin-role-refused"), member=ada, admin=True
    ),
    "POST /v1/admin/bank/questions": row(ADMIN, wanted={"text": "what"}),
    "POST /v1/admin/bank/question": row(ADMIN_THEIRS, question=lambda team: f"what-is-a-{team.word}"),
    "POST /v1/admin/question/source": row(ADMIN_THEIRS, question=lambda team: f"what-is-a-{team.word}"),
    "POST /v1/admin/question/edit": row(
        ADMIN_THEIRS,
        question=lambda team: f"what-is-a-{team.word}",
        text="# Zoo\n\n## q · choice\n\nWhich?\n\n- [x] one\n- [ ] two\n",
        apply=False,
    ),
    "POST /v1/admin/doctor": row(ADMIN),
    "POST /v1/admin/chat/link": row(ADMIN),
    "POST /v1/admin/chat/join": row((OUT, OUT, UNREADABLE, ADMINS, WRONG_CODE, WRONG_CODE), code="22222222", sure=True),
    "POST /v1/admin/operations": row(ADMIN),
    "POST /v1/outbox/claim": row(BOTS, platform="web"),
    "POST /v1/outbox/places": row(BOTS, platform="web"),
    "POST /v1/outbox/retry": row(BOTS, platform="web", workspace="home"),
    "POST /v1/chat/channel": row(BOTS, platform="web", workspace="home", channel="c", name="#new"),
    "POST /v1/events/record": row(BOTS, platform="web", event={"id": "e", "kind": "Sent", "content": "", "route": {}}),
    "POST /v1/events/turn": row(BOTS, platform="web", event="e"),
    "POST /v1/events/answered": row(BOTS, platform="web", event="e"),
    "POST /v1/events/claim": row(BOTS, platform="web"),
    "POST /v1/chat/home": row(BOTS, platform="web", member="ada"),
    "POST /v1/chat/presence": row(BOTS, platform="web", workspace="home", present=True),
    "POST /v1/outbox/sent": row(BOTS, delivery=1, message_ref="m1"),
    "POST /v1/outbox/failed": row(BOTS, delivery=1, attempt=1, error="gone", outcome="failed"),
    "POST /v1/installation/keep": row(BOTS, installation={**INSTALLED, "token": "xoxb-1"}),
    "POST /v1/installation/find": row(BOTS, key=INSTALLED),
    "POST /v1/installation/due": row(BOTS, platform="slack"),
    "POST /v1/installation/lease": row(BOTS, key=INSTALLED),
    "POST /v1/installation/forget": row(BOTS, key=INSTALLED),
    "POST /v1/oauth/issue": row(BOTS, platform="slack"),
    "POST /v1/oauth/consume": row(BOTS, platform="slack", state="unknown"),
    "POST /v1/web/secret": row(BOTS, workspace="chat"),
    "POST /v1/web/join": row(RESERVED, workspace="chat", name="Dailygrad"),
    "POST /v1/web/people": row(BOTS, workspace="chat", members=["ada"]),
    "POST /v1/web/role": row(BOTS, workspace="chat", member="ada", admin=True),
    "POST /v1/web/session/begin": row(BOTS, workspace="chat", member="ada", digest="d" * 64, agent="a browser"),
    "POST /v1/web/session/use": row(BOTS, workspace="chat", digests=["d" * 64]),
    "POST /v1/web/session/list": row(BOTS, workspace="chat"),
    "POST /v1/web/session/end": row(BOTS, workspace="chat", sessions=[1]),
    "POST /v1/web/sign-in/make": row(BOTS, workspace="chat", member="ada", digest="d" * 64, seconds=60),
    "POST /v1/web/sign-in/find": row(BOTS, workspace="chat", digest="d" * 64),
    "POST /v1/web/sign-in/use": row(BOTS, workspace="chat", digest="d" * 64),
    "POST /v1/web/account/find": row(BOTS, workspace="chat", digest="d" * 64),
    "POST /v1/web/account/join": row(RESERVED, workspace="chat", digest="d" * 64, name="Dailygrad"),
    "POST /v1/web/account/free": row(BOTS, workspace="chat", members=["ada"]),
    "POST /v1/web/message/post": row(BOTS, workspace="chat", post={"channel": "daily", "content": "{}"}),
    "POST /v1/web/message/replace": row(BOTS, workspace="chat", message=10**9, content="{}"),
    "POST /v1/web/message/key": row(BOTS, workspace="chat", key="k"),
    "POST /v1/web/message/find": row(BOTS, workspace="chat", message=1, member="ada"),
    "POST /v1/web/message/results": row(BOTS, workspace="chat", editor=1, member="ada"),
    "POST /v1/web/message/list": row(BOTS, workspace="chat", member="ada", channel="daily"),
    "POST /v1/web/changes": row(BOTS, workspace="chat", after=0, sign_outs=0),
}
"""In the order they are tried, for what is closed or thrown away is not there any more."""


BOT_TOKENS = {platform: f"a-token-of-the-{platform}-bots" for platform in ("web", "discord", "slack")}


@pytest.fixture
def settings(database_url: str) -> Settings:
    bots = ",".join(f"{platform}={token}" for platform, token in BOT_TOKENS.items())
    key = Fernet.generate_key().decode()
    return Settings(database_url=database_url, service_token=TOKEN, bot_tokens=bots, token_key=key)


@pytest.fixture
async def teams(daily: DailyChannel, clock: Clock) -> tuple[Team, Team]:
    await open_banks(daily, clock)
    both = await Team(daily, "zebra").settle(), await Team(daily, "heron").settle()
    clock.advance(minutes=5)
    return both


@pytest.fixture
async def http(service: Service) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=service.api, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
        yield client


@pytest.mark.slow
async def test_every_route_treats_every_role_as_in_the_table(teams: tuple[Team, Team], http: httpx.AsyncClient) -> None:
    team, other = teams
    callers = {"bot": None, "member": team.member, "another's admin": other.boss, "admin": team.boss}
    for route, line in ROWS.items():
        method, path = route.split()
        body = await line.body(team)
        for role, said in zip(ROLES, line.said, strict=True):
            shown = {"no token": {}, "wrong token": {"Authorization": "Bearer a-token-nobody-made-here"}}
            headers = shown.get(role, {"Authorization": f"Bearer {TOKEN}"})
            who = callers.get(role, team.boss)
            sent = body | {"event_id": f"{route} {role}"}
            headers |= caller_header(who) if who else {}
            response = await http.request(method, path, json=sent if method == "POST" else None, headers=headers)
            assert outcome(response) == said, f"{route} by {role}: {response.text}"


@pytest.mark.slow
async def test_a_bots_token_is_valid_for_its_own_platform_only(
    teams: tuple[Team, Team], http: httpx.AsyncClient
) -> None:
    """Every call fails with the token of another platform's bots, and goes as in the table with that of its own."""
    team, _ = teams
    for route, line in ROWS.items():
        method, path = route.split()
        body = await line.body(team)
        place = "slack" if path.startswith(("/v1/installation", "/v1/oauth")) else "web"
        about = {} if line.said is BOTS else caller_header(team.boss)
        for platform in ("discord", place):
            headers = {"Authorization": f"Bearer {BOT_TOKENS[platform]}", **about}
            sent = body | {"event_id": f"{route} {platform}"}
            response = await http.request(method, path, json=sent if method == "POST" else None, headers=headers)
            expected = line.said[-1] if platform == place or line.said is OPEN else OUTSIDE
            assert outcome(response) == (OUTSIDE if line.said is OPERATORS else expected), f"{route} by {platform}"


async def test_no_bots_token_shows_what_concerns_an_installation_of_another(http: httpx.AsyncClient) -> None:
    kept = {"installation": {**INSTALLED, "token": "xoxb-of-the-team"}}
    whole, web, slack = (
        {"Authorization": f"Bearer {token}"} for token in (TOKEN, BOT_TOKENS["web"], BOT_TOKENS["slack"])
    )
    assert (await http.post("/v1/installation/keep", json=kept, headers=whole)).is_success
    refused = await http.post("/v1/installation/find", json={"key": INSTALLED}, headers=web)
    assert refused.status_code == 403 and "xoxb" not in refused.text
    found = await http.post("/v1/installation/find", json={"key": INSTALLED}, headers=slack)
    assert found.json()["token"] == "xoxb-of-the-team"


async def test_the_web_bot_calls_for_members_of_other_chats_in_its_editor_alone(
    http: httpx.AsyncClient, who: MakeWho
) -> None:
    ada = who("Ada").model_copy(update={"platform": "slack"})
    admin = who("Boss", admin=True).model_copy(update={"platform": "slack"})
    for route, line in ROWS.items():
        if line.said in (OPEN, OPERATORS, BOTS):
            continue
        for caller, platform in ((ada, "web"), (admin, "web"), (ada, "discord")):
            headers = {"Authorization": f"Bearer {BOT_TOKENS[platform]}", **caller_header(caller)}
            response = await http.post(route.removeprefix("POST "), json={}, headers=headers)
            editor = route.removeprefix("POST ") in EDITOR_CALLS and (caller, platform) == (ada, "web")
            assert outcome(response) == (UNREADABLE if editor else OUTSIDE), f"{route} by {platform}"


def outcome(response: httpx.Response) -> str:
    """Returns `ok`, or the failure's code after checking that the status fits."""
    if response.is_success:
        return OK
    refusal = Failure.model_validate_json(response.content).refusal
    assert 400 <= response.status_code < 500
    return refusal.code if isinstance(refusal, CallRejected) else refusal.kind


def test_every_route_has_its_row(service: Service) -> None:
    """Every route of the app, documented or not, is in the table that says who may use it."""
    assert service.api.routes == [ROUTES]
    found = {f"{method} {route.path}" for route in ROUTES.all() for method in route.methods or ("?",)}
    assert found == set(ROWS)


UNREAD = [
    (route, role)
    for route, line in ROWS.items()
    for role, said in zip(ROLES, line.said, strict=True)
    # What names no caller cannot be an admin's.
    if route.startswith("POST") and (said in (OUT, ADMINS) or (said == UNREADABLE and "/admin/" in route))
]
"""Every call, by every role that may not make it."""


@pytest.mark.parametrize("length", [None, "1000000000000"])
async def test_the_body_of_a_caller_who_may_not_call_is_not_read(
    http: httpx.AsyncClient, who: MakeWho, length: str | None
) -> None:
    """The caller is checked before anything else, even the length of the body."""
    read = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal read
        while True:
            read += 1
            yield b" " * 65_536

    plain = {"Content-Type": "application/json"} | ({"Content-Length": length} if length else {})
    for route, role in UNREAD:
        path = route.removeprefix("POST ")
        shown = {"no token": {}, "wrong token": {"Authorization": "Bearer a-token-nobody-made-here"}}
        headers = plain | shown.get(role, {"Authorization": f"Bearer {TOKEN}"})
        headers |= {} if role == "bot" else caller_header(who(admin=role != "member"))
        response = await http.post(path, content=endless(), headers=headers)
        assert outcome(response) == ROWS[route].said[ROLES.index(role)], f"{route} by {role}"
        assert read == 0, f"{route} by {role}"
    assert len(UNREAD) > 150
