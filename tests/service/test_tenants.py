"""Two teams on one service: no call of one shows, changes or betrays anything of the other, whatever it names.

The calls are made of the API's own description, so a new one is tried without being written here. The exception, chats
that were linked with a code the other team's admin gave away, is tested in `test_joining` and `test_shared_schedules`.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from service.wire import Who
from tests.conftest import TOKEN, Clock
from tests.service.calls import body_schema, lift_call_limit, post
from tests.service.daily_channel import DailyChannel
from tests.service.openapi import describe_api
from tests.service.tenants import DOCUMENT, Rows, Team, all_rows, open_banks

OURS, THEIRS = "heron", "zebra"
NOBODYS = "nobody"
PLATFORMS_OWN = {
    "/v1/outbox/claim",
    "/v1/outbox/places",
    "/v1/outbox/sent",
    "/v1/outbox/failed",
    "/v1/outbox/retry",
    "/v1/chat/presence",
    "/v1/chat/channel",
    "/v1/events/claim",
    "/v1/events/record",
    "/v1/events/answered",
    "/v1/events/turn",
    "/v1/chat/home",
    "/v1/installation/keep",
    "/v1/installation/find",
    "/v1/installation/forget",
    "/v1/installation/due",
    "/v1/installation/lease",
    "/v1/oauth/issue",
    "/v1/oauth/consume",
    "/v1/web/secret",
    "/v1/web/join",
    "/v1/web/people",
    "/v1/web/role",
    "/v1/web/session/begin",
    "/v1/web/session/use",
    "/v1/web/session/list",
    "/v1/web/session/end",
    "/v1/web/sign-in/make",
    "/v1/web/sign-in/find",
    "/v1/web/sign-in/use",
    "/v1/web/account/find",
    "/v1/web/account/join",
    "/v1/web/account/free",
    "/v1/web/message/post",
    "/v1/web/message/replace",
    "/v1/web/message/key",
    "/v1/web/message/find",
    "/v1/web/message/results",
    "/v1/web/message/list",
    "/v1/web/changes",
}
"""Calls of the bots themselves, in no member's name: a bot serves every workspace of its platform."""

Body = dict[str, Any]
Schema = Mapping[str, Any]


@dataclass(frozen=True)
class Names:
    """By what a team's things may be named, by the fields of the calls that name them."""

    of: Mapping[str, list[Any]]

    @classmethod
    def team(cls, team: Team) -> Names:
        channels = [where.model_dump() for where in (team.channel, team.aside)]
        rounds = (team.open_round, team.closed_round, team.prose_round)
        asked = [
            *(f"r{each}" for each in rounds),
            f"p{team.question}",
            f"s{team.sprint_question}",
            f"d{team.duel_question}",
        ]
        return cls(
            {
                "schedule": [team.schedule, team.schedule + 1],
                "report": [team.report],
                "suggestion": [team.suggestion],
                "number": [team.prose_answer],
                "duel": [team.duel],
                "tournament": [team.tournament],
                "sprint": [team.planned_sprint],
                "title": [f"{team.word} cup"],
                "ref": asked,
                "question": [f"what-is-a-{team.word}", *asked],
                "name": [f"{team.word}-bank", f"{team.word} season"],
                "member": [team.member.name, team.member.member],
                "topic": [f"{team.word}-topic"],
                "where": channels,
                "event_id": [f"{team.word} event 1"],
            }
        )

    @classmethod
    def nothing(cls) -> Names:
        """Returns values for the same fields that nobody has."""
        far = 10**9
        words: dict[str, list[Any]] = {name: [NOBODYS] for name in ("question", "title", "member", "topic", "event_id")}
        # As much like a name of our own as theirs is: what is similar to what was typed tells nothing of theirs.
        words["name"] = ["tapir-bank", "tapir season"]
        where = {"channel": NOBODYS, "name": NOBODYS}
        numbers: dict[str, list[Any]] = {
            "schedule": [far],
            "report": [far],
            "suggestion": [far],
            "number": [far],
            "duel": [far],
            "tournament": [far],
            "sprint": [far],
        }
        refs = {"ref": [f"r{far}", f"p{far}", f"s{far}", f"d{far}"]}
        return cls({**words, **numbers, **refs, "where": [where]})

    def like(self, field: str, name: Any) -> Any:
        """Returns one of these values of the same kind as a name."""
        kind = str(name)[:1] if field == "ref" else ""
        end = str(name)[-len("bank") :] if field == "name" else ""
        return next(one for one in self.of[field] if str(one).startswith(kind) and str(one).endswith(end))


PLAIN: dict[str, Any] = {
    "code": "22222222",
    "text": DOCUMENT.format(word=OURS),
    "reason": "because",
    "recipe": "",
    "state": "fixed",
    "action": "export",
    "level": "",
    "kind": "",
    "at": "2026-03-02T11:30:00Z",
    "day": "2026-03-09",
    "month": "2026-03-01",
    "given": {"text": "something"},
    "spec": {"at": "12:00"},
    "changes": {"at": "12:00"},
    "wanted": {},
    "questions": 3,
    "seconds": 20,
    "points": 5,
    "percent": 50,
    "covered": [0],
    "after": 0,
    "limit": 50,
    "since": "2026-03-02T08:00:00Z",
    "take": True,
    "liked": True,
    "seen": "00000000",
    "before": None,
    "by": "",
    "page": 1,
    "hidden": True,
    "admin": True,
    "retired": True,
    "paused": True,
    "apply": True,
    "sure": True,
    "on": True,
    "accept": True,
    "known_as": "",
    "role": "123",
    "plan": {"title": "A cup"},
    "sprint_plan": {"questions": 3, "seconds": 20, "at": "18:00"},
}
"""What is handed in where nothing of anybody's is named."""


class Calls:
    """Every call that the service describes, with bodies made of names."""

    def __init__(self, described: Mapping[str, Any]) -> None:
        self._models: Mapping[str, Schema] = described["components"]["schemas"]
        self.fields = {
            path: self._fields(methods["post"]) for path, methods in described["paths"].items() if "post" in methods
        }

    def _fields(self, operation: Schema) -> Mapping[str, Schema]:
        fields: Mapping[str, Schema] = body_schema(operation, self._models)["properties"]
        return fields

    def _found(self, schema: Schema) -> Schema:
        return self._models[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema

    def named(self, path: str) -> list[str]:
        """Returns the fields of a call that may name an object of a team; every call has the event."""
        return [name for name in self.fields[path] if name in Names.nothing().of and name != "event_id"]

    def body(self, path: str, who: Who, names: Mapping[str, Any], event: str) -> Body:
        """Returns a body for the call with these names and otherwise plain values."""
        body: Body = {}
        for name, schema in self.fields[path].items():
            if name == "who":
                body[name] = who.model_dump()
            elif name == "event_id":
                body[name] = names.get(name, event)
            elif name in names:
                body[name] = names[name]
            else:
                body[name] = self._plain(path, name, self._found(schema))
        return body

    def _plain(self, path: str, name: str, schema: Schema) -> Any:
        if name in PLAIN:
            return PLAIN[name]
        if "enum" in schema:
            return schema["enum"][-1]
        raise AssertionError(f"say in PLAIN or in Names what is handed in as {name} of {path}")


@dataclass
class Stage:
    """The two teams, the calls, and what the other team's rows were when all began."""

    http: httpx.AsyncClient
    calls: Calls
    ours: Team
    theirs: Team
    protected: Rows
    """Every row that is not ours, as it was when all began."""
    sent: set[str] = field(default_factory=set)
    """What we have said, which may come back to us."""
    events: Iterator[int] = field(default_factory=itertools.count)

    @property
    def paths(self) -> list[str]:
        """The calls in a member's name; those that make things of a name of ours come last."""
        found = (path for path, fields in self.calls.fields.items() if "who" in fields)
        return sorted(found, key=("/v1/admin/bank/import", "/v1/admin/season/start").__contains__)

    async def call(self, path: str, body: Body) -> str:
        """Returns the status and the response without our own words."""
        self.sent.update(texts_in(body))
        response = await post(self.http, path, body)
        assert response.status_code < 500, (path, body, response.text)
        said = json.dumps(response.json(), ensure_ascii=False)
        for text in sorted(filter(None, self.sent), key=len, reverse=True):
            said = re.sub(rf"(?<!\w){re.escape(text)}(?!\w)", "…", said)
        assert THEIRS not in said, (path, body, said)
        return f"{response.status_code} {said}"

    async def theirs_are_untouched(self) -> None:
        """Returns whether every row of the other team is unchanged."""
        now = await all_rows(self.ours.daily)
        assert {key: now.get(key) for key, row in self.protected.items() if now.get(key) != row} == {}


def texts_in(value: Any) -> Iterator[str]:
    """Returns every text in a body, and every number as text."""
    if isinstance(value, dict):
        for each in value.values():
            yield from texts_in(each)
    elif isinstance(value, str | int) and not isinstance(value, bool):
        yield str(value)


@pytest.fixture
async def stage(daily: DailyChannel, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stage]:
    lift_call_limit(daily.service.api, monkeypatch)
    await open_banks(daily, clock)
    everybodys = await all_rows(daily)
    ours = await Team(daily, OURS).settle()
    of_ours = (await all_rows(daily)).keys() - everybodys.keys()
    theirs = await Team(daily, THEIRS).settle()
    protected = {key: row for key, row in (await all_rows(daily)).items() if key not in of_ours}
    transport = httpx.ASGITransport(app=daily.service.api, raise_app_exceptions=False)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://service", headers=headers) as http:
        yield Stage(http, Calls(describe_api()), ours, theirs, protected)


@pytest.mark.slow
async def test_nothing_of_another_team_is_shown_changed_or_betrayed(stage: Stage) -> None:
    """Every call with each object of another team in each field that names one: as if it did not exist."""
    nothing, theirs = Names.nothing(), Names.team(stage.theirs)
    tried = 0
    for path in stage.paths:
        # A call that names nothing has nothing of another team in it, and may do its own team's work only once.
        for names in filter(None, combinations(theirs, stage.calls.named(path))):
            tried += 1
            twin = {place: nothing.like(place, name) for place, name in names.items()}
            found = await stage.call(path, stage.calls.body(path, stage.ours.boss, names, f"try {tried}"))
            other = await stage.call(path, stage.calls.body(path, stage.ours.boss, twin, f"twin {tried}"))
            assert outcome(found) == outcome(other), (path, names)
    await stage.theirs_are_untouched()
    assert tried > 80


def combinations(names: Names, fields: list[str]) -> Iterator[dict[str, Any]]:
    """Yields every way to fill the fields that name an object."""
    for chosen in itertools.product(*(names.of[name] for name in fields)):
        yield dict(zip(fields, chosen, strict=True))


def outcome(said: str) -> str:
    """Returns the refusal; of a success only that it succeeded."""
    return "200" if said.startswith("200") else said


@st.composite
def tries(draw: st.DrawFn, stage: Stage) -> list[tuple[str, Body]]:
    """Yields calls of our team that name objects of ours, of theirs, or of nobody."""
    teams = [Names.team(stage.ours), Names.team(stage.theirs), Names.nothing()]
    made = []
    for _ in range(draw(st.integers(1, 8))):
        path = draw(st.sampled_from(stage.paths))
        fields = stage.calls.named(path)
        names = {name: draw(st.sampled_from(draw(st.sampled_from(teams)).of[name])) for name in fields}
        who = draw(st.sampled_from([stage.ours.boss, stage.ours.member]))
        body = stage.calls.body(path, who, names, f"event {next(stage.events)}")
        if "action" in body:
            body["action"] = draw(st.sampled_from(["see", "export", "csv", "hide", "show", "forget"]))
        made.append((path, body))
    return made


@pytest.mark.slow
@settings(
    max_examples=15,
    phases=[Phase.explicit, Phase.generate],
)
@given(data=st.data())
async def test_no_action_of_a_team_changes_another(stage: Stage, data: st.DataObject) -> None:
    for path, body in data.draw(tries(stage)):
        await stage.call(path, body)
    await stage.theirs_are_untouched()


def test_calls_without_a_member_are_those_of_bots() -> None:
    fields = Calls(describe_api()).fields
    assert {path for path in fields if "who" not in fields[path]} == PLATFORMS_OWN


async def test_a_leak_would_be_seen(stage: Stage) -> None:
    """The check can fail: the other team finds its own word, and its actions count as changes."""
    body = stage.calls.body("/v1/admin/reports", stage.theirs.boss, {}, "look")
    with pytest.raises(AssertionError, match=THEIRS):
        await stage.call("/v1/admin/reports", body)
    await stage.theirs.reported()
    await stage.theirs.daily.client.schedule_pause(stage.theirs.boss, "pause", stage.theirs.schedule, True)
    with pytest.raises(AssertionError, match="schedule"):
        await stage.theirs_are_untouched()
