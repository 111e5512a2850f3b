"""Whatever one workspace does, another sees nothing of it: every call, any doings, told apart by a tell-tale word."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import date, time
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from service.client import ServiceClient, ServiceRefused
from service.wire import AnswerInput, ArchiveSearch, ExtraRound, ScheduleChanges, ScheduleSpec, Where, Who
from tests.conftest import MONDAY
from tests.service.daily_channel import DailyChannel, choice

TELLTALE = "zebra"
"""In every text that the watched workspace writes, and in nothing else."""
THEIRS = Where(channel=f"{TELLTALE}-channel", name=f"#{TELLTALE}")
DAY = date(2026, 3, 9)
OURS = Where(channel="daily", name="#daily")
DOCUMENT = f"""# {TELLTALE}

### 1. What is a {TELLTALE}?

**Answer:** A {TELLTALE} is striped.
"""


@dataclass
class Theirs:
    """The workspace that does things: its admin, and the numbers its things have in the database."""

    client: ServiceClient
    who: Who
    events: Iterator[str]
    schedule: int = 0
    round: int = 0
    report: int = 0
    suggestion: int = 0

    async def do(self, doing: str) -> None:
        """Runs an action, which may be refused."""
        with contextlib.suppress(ServiceRefused):
            await getattr(self, doing)(next(self.events))

    async def import_(self, event: str) -> None:
        view = await self.client.bank_import(self.who, event, f"{TELLTALE}.md", DOCUMENT, True)
        assert view.applied, view.findings

    async def plan(self, event: str) -> None:
        view = await self.client.schedule_add(self.who, event, THEIRS, ScheduleSpec(at=time(10)))
        self.schedule = view.id

    async def post(self, event: str) -> None:
        self.round = (await self.client.post_now(self.who, event, self.schedule)).id

    async def answer(self, event: str) -> None:
        await self.client.answer(self.who, THEIRS, event, f"r{self.round}", AnswerInput(options=("a",)), MONDAY)

    async def close(self, event: str) -> None:
        await self.client.close_now(self.who, event, THEIRS)

    async def praise(self, event: str) -> None:
        await self.client.feedback(self.who, event, f"r{self.round}", True)

    async def season(self, event: str) -> None:
        await self.client.season_start(self.who, event, f"{TELLTALE} {event}")

    async def adjust(self, event: str) -> None:
        await self.client.member_adjust(self.who, event, self.who.name, 5, f"a {TELLTALE}")

    async def complain(self, event: str) -> None:
        self.report = (await self.client.report(self.who, event, "views", f"a {TELLTALE}")).id

    async def suggest(self, event: str) -> None:
        self.suggestion = (await self.client.suggest(self.who, event, DOCUMENT)).id

    async def retire(self, event: str) -> None:
        await self.client.bank_retire(self.who, event, "grad", True)

    async def practice(self, event: str) -> None:
        if form := await self.client.practice(self.who, THEIRS, "tensors"):
            await self.client.answer(self.who, THEIRS, event, form.ref, AnswerInput(options=("a",)), MONDAY)

    async def share(self, event: str) -> None:
        aside = Where(channel=f"{TELLTALE}-aside", name=f"#{TELLTALE}-aside")
        await self.client.schedule_share(self.who, event, aside, self.schedule)


DOINGS = (
    "import_",
    "post",
    "answer",
    "close",
    "praise",
    "season",
    "adjust",
    "complain",
    "suggest",
    "retire",
    "practice",
    "share",
)

FASTER = ScheduleChanges(speed_bonus=True)

LOOKS: dict[str, Callable[[Theirs, Who], Awaitable[Any]]] = {
    "today": lambda they, who: they.client.today(who, OURS),
    "ask theirs": lambda they, who: they.client.ask(who, OURS, f"r{they.round}"),
    "practice": lambda they, who: they.client.practice(who, OURS),
    "practice session": lambda they, who: they.client.practice_session(who, MONDAY),
    "board": lambda they, who: they.client.board(who, OURS, "all"),
    "board everywhere": lambda they, who: they.client.board(who, None, "all"),
    "board of a channel with their name": lambda they, who: they.client.board(who, THEIRS, "all"),
    "me": lambda they, who: they.client.me(who),
    "history": lambda they, who: they.client.history(who),
    "archive": lambda they, who: they.client.archive(who, ArchiveSearch()),
    "question theirs": lambda they, who: they.client.question_page(who, f"r{they.round}"),
    "prove theirs": lambda they, who: they.client.question_prove(who, f"r{they.round}"),
    "mastery": lambda they, who: they.client.mastery(who),
    "topics": lambda they, who: they.client.topics(who),
    "explain": lambda they, who: they.client.explain(who, "views"),
    "explain theirs": lambda they, who: they.client.explain(who, "what-is-a-zebra"),
    "result theirs": lambda they, who: they.client.result(who, f"r{they.round}"),
    "feedback on theirs": lambda they, who: they.client.feedback(who, "look feedback", f"r{they.round}", True),
    "report theirs": lambda they, who: they.client.report(who, "look report", "what-is-a-zebra", "wrong"),
    "export": lambda they, who: they.client.privacy(who, "look", "export"),
    "seasons": lambda they, who: they.client.season_list(who),
    "schedules": lambda they, who: they.client.schedule_list(who),
    "preview theirs": lambda they, who: they.client.schedule_preview(who, they.schedule),
    "pause theirs": lambda they, who: they.client.schedule_pause(who, "look pause", they.schedule, True),
    "edit theirs": lambda they, who: they.client.schedule_edit(
        who, "look edit", they.schedule, ScheduleChanges(speed_bonus=True)
    ),
    "skip theirs": lambda they, who: they.client.schedule_skip(who, "look skip", they.schedule, DAY),
    "remove theirs": lambda they, who: they.client.schedule_remove(who, "look remove", they.schedule),
    "post theirs": lambda they, who: they.client.post_now(who, "look post", they.schedule),
    "ask": lambda they, who: they.client.ask_extra(who, "look ask", THEIRS, ExtraRound()),
    "close": lambda they, who: they.client.close_now(who, "look close", OURS),
    "stop sprint theirs": lambda they, who: they.client.sprint_stop(who, "look stop", THEIRS),
    "banks": lambda they, who: they.client.bank_list(who),
    "retire theirs": lambda they, who: they.client.bank_retire(who, "look retire", "what-is-a-zebra", True),
    "check theirs": lambda they, who: they.client.bank_import(who, "look check", "a.md", DOCUMENT, False),
    "log theirs": lambda they, who: they.client.bank_log(who, TELLTALE),
    "undo theirs": lambda they, who: they.client.bank_undo(who, "look undo", TELLTALE),
    "low": lambda they, who: they.client.bank_low(who),
    "statistics": lambda they, who: they.client.bank_statistics(who),
    "statistics of theirs": lambda they, who: they.client.question_statistics(who, "what-is-a-zebra"),
    "open answers": lambda they, who: they.client.open_answers(who),
    "measurements of theirs": lambda they, who: they.client.measurements(who, OURS, f"r{they.round}"),
    "share solution of theirs": lambda they, who: they.client.share_solution(
        who, "look solution", f"r{they.round}", True
    ),
    "marking theirs": lambda they, who: they.client.marking(who, f"r{they.round}"),
    "reports": lambda they, who: they.client.reports(who),
    "settle theirs": lambda they, who: they.client.report_settle(who, "look settle", they.report, "fixed", ""),
    "suggestions": lambda they, who: they.client.suggestions(who),
    "draft": lambda they, who: they.client.suggestion_draft(who),
    "own suggestions": lambda they, who: they.client.own_suggestions(who),
    "show suggestion of theirs": lambda they, who: they.client.suggestion_view(who, they.suggestion),
    "accept theirs": lambda they, who: they.client.suggestion_accept(who, "look accept", they.suggestion, "0a1b2c3d"),
    "edit suggestion of theirs": lambda they, who: they.client.suggestion_edit(
        who, "look edit suggestion", they.suggestion, DOCUMENT
    ),
    "decline theirs": lambda they, who: they.client.suggestion_decline(who, "look decline", they.suggestion, "no"),
    "show theirs": lambda they, who: they.client.report_view(who, they.report),
    "restore theirs": lambda they, who: they.client.member_restore(who, "look restore", TELLTALE, DAY),
    "adjust theirs": lambda they, who: they.client.member_adjust(who, "look adjust", TELLTALE, 5, "mine"),
    "audit": lambda they, who: they.client.audit(who),
    "doctor": lambda they, who: they.client.doctor(who),
    "share theirs": lambda they, who: they.client.schedule_share(who, "look share", OURS, they.schedule),
    "unshare theirs": lambda they, who: they.client.schedule_unshare(who, "look unshare", THEIRS, they.schedule),
}
NUMBERED = re.compile(r"\b(schedule|report|suggestion|question|name=')( r)?\d+")


async def seen(they: Theirs, who: Who) -> dict[str, str]:
    """Returns everything that an admin of another workspace can see, without numbers that are not theirs."""
    found = {}
    for name, look in LOOKS.items():
        try:
            answer: Any = await look(they, who)
        except ServiceRefused as refusal:
            answer = refusal.refusal
        if name == "doctor":
            # The database's clock goes on.
            answer = [check for check in answer if check.kind != "clock"]
        found[name] = NUMBERED.sub(r"\1 N", str(answer))
    return found


@pytest.mark.slow
@settings(
    max_examples=6,
    # An example is a hundred calls: a failing one is told as it was found.
    phases=[Phase.explicit, Phase.generate],
)
@given(doings=st.lists(st.sampled_from(DOINGS), min_size=2, max_size=10))
async def test_what_is_done_elsewhere_is_as_if_it_were_not(daily: DailyChannel, doings: list[str]) -> None:
    example = next(daily.events)  # the examples share a database
    await daily.bank(choice("views"), choice("grad"))
    ours = daily.who("Admin", workspace=f"ours {example}", admin=True)
    who = daily.who(TELLTALE, workspace=f"theirs {example}", admin=True)
    they = Theirs(daily.client, who, (f"event {number}" for number in itertools.count()), *[10**9] * 4)
    await daily.client.join(ours, OURS)
    before = await seen(they, ours)
    for doing in ("import_", "plan", "post", "answer", "complain", "suggest", *doings):
        await they.do(doing)
    assert 10**9 not in (they.schedule, they.round, they.report, they.suggestion)
    assert await seen(they, ours) == before
