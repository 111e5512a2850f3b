"""Admins' calls through the client: refused to others, once per event, on record; and each does what it says."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime, time, timedelta

import pytest

from questions import read_bank
from questions.export import export_bank
from service.banks.import_history import undo_import
from service.client import ServiceClient, ServiceRefused
from service.store.audits import Audit
from service.store.members import resolve_caller
from service.store.tables import BankRow, Ledger, Schedule, Season
from service.wire import (
    AdminsOnly,
    InvalidInput,
    NoOpenRound,
    NotFound,
    QuestionPost,
    RestoreRefused,
    RevealPost,
    ScheduleChanges,
    ScheduleSpec,
    SlotTaken,
    UndoRefused,
    Who,
)
from tests.conftest import Clock
from tests.service.daily_channel import DAILY, DailyChannel, choice
from tests.service.lock_waits import until_locked_out
from tests.service.refusals import refused

DAY = date(2026, 3, 2)
DOCUMENT = "### 1. Does `x.t()` copy?\n\n**Answer:** No, it returns a view.\n"
Change = Callable[[ServiceClient, Who, str], Awaitable[object]]

CHANGES: dict[str, Change] = {
    "schedule add": lambda client, who, event: client.schedule_add(who, event, DAILY, ScheduleSpec()),
    "schedule edit": lambda client, who, event: client.schedule_edit(who, event, 1, ScheduleChanges(at=time(10))),
    "schedule pause": lambda client, who, event: client.schedule_pause(who, event, 1, True),
    "schedule resume": lambda client, who, event: client.schedule_pause(who, event, 1, False),
    "schedule skip": lambda client, who, event: client.schedule_skip(who, event, 1, DAY + timedelta(days=1)),
    "schedule remove": lambda client, who, event: client.schedule_remove(who, event, 1),
    "schedule post-now": lambda client, who, event: client.post_now(who, event, 1),
    "season start": lambda client, who, event: client.season_start(who, event, "Spring"),
    "bank import": lambda client, who, event: client.bank_import(who, event, "own.md", DOCUMENT, True),
    "bank retire": lambda client, who, event: client.bank_retire(who, event, "views", True),
    "bank restore": lambda client, who, event: client.bank_retire(who, event, "views", False),
    "bank generated": lambda client, who, event: client.bank_generated(who, event, "hold"),
    "member adjust": lambda client, who, event: client.member_adjust(who, event, "Boss", 5, "a gift"),
}
"""Every change that needs nothing but a bank and the schedule 1, by what the record calls it."""

LOOKS: dict[str, Callable[[ServiceClient, Who], Awaitable[object]]] = {
    "schedule list": lambda client, who: client.schedule_list(who),
    "schedule preview": lambda client, who: client.schedule_preview(who, 1),
    "bank list": lambda client, who: client.bank_list(who),
    "bank import": lambda client, who: client.bank_import(who, "look", "own.md", DOCUMENT, False),
    "bank log": lambda client, who: client.bank_log(who, "home"),
    "bank low": lambda client, who: client.bank_low(who),
    "bank stats": lambda client, who: client.bank_statistics(who),
    "question stats": lambda client, who: client.question_statistics(who, "views"),
    "reports": lambda client, who: client.reports(who),
    "audit": lambda client, who: client.audit(who),
    "doctor": lambda client, who: client.doctor(who),
}
"""Every call that changes nothing."""

DayCall = Callable[[ServiceClient, Who, date], Awaitable[object]]
DAY_CALLS: dict[str, DayCall] = {
    "month": lambda client, who, day: client.schedule_month(who, 1, day, ScheduleChanges()),
    "preview": lambda client, who, day: client.schedule_preview(who, 1, day),
    "restore": lambda client, who, day: client.member_restore(who, "restore", "Boss", day),
    "skip": lambda client, who, day: client.schedule_skip(who, "skip", 1, day),
    "unskip": lambda client, who, day: client.schedule_unskip(who, "unskip", 1, day),
}
"""Every call about a local date."""


@pytest.fixture
def boss(daily: DailyChannel) -> Who:
    return daily.who("Boss", admin=True)


@pytest.mark.parametrize("action", CHANGES)
async def test_a_change_is_made_once_and_noted_once(daily: DailyChannel, boss: Who, action: str) -> None:
    await daily.bank(choice())
    await daily.schedule()
    first = await CHANGES[action](daily.client, boss, "the event")
    assert await CHANGES[action](daily.client, boss, "the event") == first
    (noted,) = await daily.rows(Audit)
    assert noted.action == action


@pytest.mark.parametrize("action", CHANGES)
async def test_a_change_by_anybody_else_is_refused_and_leaves_no_trace(daily: DailyChannel, action: str) -> None:
    await daily.bank(choice())
    await daily.schedule()
    before = [str(row.spec) for row in await daily.rows(Schedule)]
    with refused(AdminsOnly()):
        await CHANGES[action](daily.client, daily.who("Ada"), "the event")
    assert await daily.rows(Audit) + await daily.rows(Season) + await daily.rows(Ledger) == []
    assert [str(row.spec) for row in await daily.rows(Schedule)] == before
    assert len(await daily.rows(BankRow)) == 1


@pytest.mark.parametrize("action", LOOKS)
async def test_looking_is_for_admins_too_and_is_not_noted(daily: DailyChannel, boss: Who, action: str) -> None:
    await daily.bank(choice())
    await daily.schedule()
    await LOOKS[action](daily.client, boss)
    assert await daily.rows(Audit) == []
    with refused(AdminsOnly()):
        await LOOKS[action](daily.client, daily.who("Ada"))


async def test_a_schedule_from_its_making_to_its_end(daily: DailyChannel, boss: Who, clock: Clock) -> None:
    client = daily.client
    await daily.bank(choice("views"), choice("grad"))
    made = await client.schedule_add(boss, "e1", DAILY, ScheduleSpec(at=time(10), zone="Europe/Berlin"))
    assert made.next[0] == datetime(2026, 3, 2, 9, tzinfo=UTC)
    preview = await client.schedule_preview(boss, made.id)
    clock.advance(hours=1)
    (post,) = [body for body in await daily.ticked() if isinstance(body, QuestionPost)]
    assert (post.question.id, post.day) == (preview.question.id, preview.day)
    assert preview.zone == "Europe/Berlin"
    skipped = await client.schedule_skip(boss, "e2", made.id, date(2026, 3, 3))
    assert skipped.next[0] == datetime(2026, 3, 4, 9, tzinfo=UTC)
    (low,) = await client.bank_low(boss)
    assert (low.schedule, low.channel_name, low.left) == (made.id, "#daily", 1)
    assert (await client.schedule_pause(boss, "e3", made.id, True)).paused
    edited = await client.schedule_edit(boss, "e4", made.id, ScheduleChanges(at=time(8)))
    assert (edited.paused, edited.spec.at, edited.spec.zone) == (True, time(8), "Europe/Berlin")
    await client.schedule_remove(boss, "e5", made.id)
    assert await client.schedule_list(boss) == ()
    latest = await client.audit(boss, 2)
    assert [line.action for line in latest] == ["schedule remove", "schedule edit"]
    older = await client.audit(boss, 200, before=latest[-1].id)
    assert [line.id for line in (*latest, *older)] == [line.id for line in await client.audit(boss, 200)]


async def test_a_refused_import_is_on_record_as_refused(daily: DailyChannel, boss: Who) -> None:
    for event, document in (
        ("e1", DOCUMENT),
        ("e2", "---\nbank: own\n---\n\n## q · choice · mid\n\nWhich?\n\n- [ ] a\n- [ ] b\n"),
    ):
        await daily.client.bank_import(boss, event, f"{event}.md", document, True)
    refused_, applied = await daily.client.audit(boss, 2)
    assert (applied.action, applied.facts) == ("bank import", {"name": "e1.md"})
    assert (refused_.action, refused_.facts["name"]) == ("bank import", "e2.md")
    assert int(str(refused_.facts["errors"])) > 0


async def test_two_admins_who_edit_at_once_both_change_what_they_name(daily: DailyChannel, boss: Who) -> None:
    await daily.bank(choice())
    schedule = await daily.schedule()
    (before,) = await daily.client.schedule_list(boss)
    edits = (ScheduleChanges(at=time(11)), ScheduleChanges(open_minutes=90), ScheduleChanges(weekdays=(1, 2)))
    await asyncio.gather(
        *(daily.client.schedule_edit(boss, f"e{number}", schedule, edit) for number, edit in enumerate(edits))
    )
    (after,) = await daily.client.schedule_list(boss)
    named = {"at": time(11), "open_minutes": 90, "weekdays": (1, 2)}
    assert after.spec == before.spec.model_copy(update=named)


async def test_posting_and_closing_at_once(daily: DailyChannel, boss: Who) -> None:
    await daily.bank(choice())
    schedule = await daily.schedule()
    posted = await daily.client.post_now(boss, "e1", schedule)
    assert (posted.question.id, posted.day, posted.closed) == ("views", DAY, False)
    assert any(isinstance(delivery.body, QuestionPost) for delivery in await daily.deliver())
    with refused(SlotTaken(day=DAY)):
        await daily.client.post_now(boss, "e2", schedule)
    await daily.answer(f"r{posted.id}", "a")
    closed = await daily.client.close_now(boss, "e3", DAILY)
    assert (closed.id, closed.answers, closed.closed) == (posted.id, 1, True)
    assert any(isinstance(delivery.body, RevealPost) for delivery in await daily.deliver())
    with refused(NoOpenRound()):
        await daily.client.close_now(boss, "e4", DAILY)


async def test_a_preview_of_an_import_its_errors_and_the_import(daily: DailyChannel, boss: Who) -> None:
    preview = await daily.client.bank_import(boss, "e1", "own.md", DOCUMENT, False)
    assert (preview.applied, preview.added, await daily.rows(BankRow)) == (False, 1, [])
    done = await daily.client.bank_import(boss, "e2", "own.md", DOCUMENT, True)
    assert done == preview.model_copy(update={"applied": True, "number": 1})
    broken = await daily.client.bank_import(boss, "e3", "own.md", "---\nbank: [\n---\n", True)
    assert not broken.applied
    assert broken.findings
    (bank,) = await daily.client.bank_list(boss)
    assert (bank.name, bank.questions, bank.retired) == ("own", 1, 0)
    # The audit log tells a refused import from one that was made.
    refused_one, made = await daily.client.audit(boss)
    assert (refused_one.facts, made.facts) == ({"errors": str(broken.errors), "name": "own.md"}, {"name": "own.md"})


async def test_an_import_is_logged_and_undone_once_per_event(daily: DailyChannel, boss: Who) -> None:
    await daily.client.bank_import(boss, "e1", "own.md", DOCUMENT, True)
    await daily.client.bank_import(boss, "e2", "own.md", DOCUMENT.replace("returns", "gives"), True)
    undone = await daily.client.bank_undo(boss, "e3", "own")
    assert (undone.changed, undone.retired) == (1, 0)
    assert await daily.client.bank_undo(boss, "e3", "own") == undone
    log = await daily.client.bank_log(boss, "own")
    assert [(entry.number, entry.changed, entry.undoes) for entry in log.imports] == [
        (3, 1, 2),
        (2, 1, None),
        (1, 0, None),
    ]
    assert (log.shared, log.imports[1].document) == (False, "own.md")
    assert [line.action for line in await daily.client.audit(boss)] == ["bank undo", "bank import", "bank import"]


async def test_two_admins_who_undo_at_once_mean_the_same_import(daily: DailyChannel, boss: Who) -> None:
    await daily.client.bank_import(boss, "e1", "own.md", DOCUMENT, True)
    await daily.client.bank_import(boss, "e2", "own.md", DOCUMENT.replace("returns", "gives"), True)
    async with daily.service.sessions.begin() as session:
        caller = await resolve_caller(session, boss, None, daily.now)
        assert (await undo_import(session, caller.workspace_id, "own", daily.now)).number == 3
        second = asyncio.create_task(daily.client.bank_undo(boss, "e3", "own"))
        await until_locked_out(session, second)
    with refused(UndoRefused(bank="own", why="not latest")):
        await second
    assert [entry.undoes for entry in (await daily.client.bank_log(boss, "own")).imports] == [2, None, None]
    # Afterwards, an undo of the undo is meant.
    assert (await daily.client.bank_undo(boss, "e4", "own")).number == 4


@pytest.mark.parametrize(
    ("name", "similar"),
    [("own.md", ("own",)), ("OWN", ("own",)), ("owm", ("own",)), ("Own.MD", ("own",)), ("poems", ())],
)
async def test_a_bank_that_does_not_exist_is_answered_with_the_one_that_was_meant(
    daily: DailyChannel, boss: Who, name: str, similar: tuple[str, ...]
) -> None:
    await daily.client.bank_import(boss, "e1", "own.md", DOCUMENT, True)
    with pytest.raises(ServiceRefused) as refused:
        await daily.client.bank_log(boss, name)
    assert refused.value.refusal == NotFound(what="bank", name=name, similar=similar)


TABLE = "Aufgabe;Richtig\nWas ist 1 + 1;2\nWas ist 2 + 2;4\n"
COLUMNS = "prompt: Aufgabe\nkey: Richtig"


async def test_a_recipe_is_saved_with_its_bank_used_again_and_forgotten(daily: DailyChannel, boss: Who) -> None:
    client = daily.client
    first = await client.bank_import(boss, "e2", "own.csv", TABLE, True, COLUMNS)
    assert (first.applied, first.added, first.recipe_saved) == (True, 2, False)
    assert [(one.line, one.prompt, one.key) for one in first.questions] == [
        (2, "Was ist 1 + 1", "2"),
        (3, "Was ist 2 + 2", "4"),
    ]
    again = await client.bank_import(boss, "e3", "own.csv", TABLE + "Was ist 3 + 3;6\n", True)
    assert (again.added, again.unchanged, again.recipe_saved) == (1, 2, True)
    assert again.recipe == first.recipe == 'prompt: "Aufgabe"\nkey: "Richtig"'
    # A document that says itself where its questions are is read as it is.
    own = await client.bank_import(boss, "e4", "own.md", "---\nbank: own\n---\n", False)
    assert (own.recipe, own.recipe_saved) == ("", False)
    # The saved recipe does not fit any more: nothing is imported, and the reason is told.
    misfit = await client.bank_import(boss, "e5", "own.csv", TABLE.replace("Aufgabe", "Aufgaben"), True)
    assert not misfit.applied and "did you mean `Aufgaben`?" in misfit.findings
    text = TABLE.replace("Aufgabe", "question").replace("Richtig", "answer")
    assert (await client.bank_import(boss, "e6", "own.csv", text, True, "none")).applied
    assert [row.recipe for row in await daily.rows(BankRow)] == [""]
    await client.bank_undo(boss, "e7", "own")
    assert [row.recipe for row in await daily.rows(BankRow)] == [first.recipe]


async def test_an_export_with_a_recipe_brings_it_along(daily: DailyChannel, boss: Who) -> None:
    bank = read_bank(TABLE, name="own.csv", recipe=COLUMNS).bank
    exported = export_bank(bank, "json").decode()
    assert (await daily.client.bank_import(boss, "e1", "moved.json", exported, True)).applied
    again = await daily.client.bank_import(boss, "e2", "own.csv", TABLE, True)
    assert (again.recipe_saved, again.unchanged) == (True, 2)


async def test_only_the_operator_can_undo_an_import_of_a_shared_bank(daily: DailyChannel, boss: Who) -> None:
    await daily.bank(choice())
    with refused(UndoRefused(bank="home", why="shared")):
        await daily.client.bank_undo(boss, "e1", "home")
    with refused(NotFound(what="bank", name="nowhere")):
        await daily.client.bank_undo(boss, "e2", "nowhere")
    with refused(AdminsOnly()):
        await daily.client.bank_undo(daily.who("Ada"), "e3", "home")
    assert (await daily.client.bank_log(boss, "home")).shared


async def test_a_retired_question_is_not_asked_and_can_be_restored(daily: DailyChannel, boss: Who) -> None:
    await daily.bank(choice("views"), choice("grad"))
    await daily.client.bank_retire(boss, "e1", "VIEWS", True)
    assert (await daily.client.topics(boss))[0].questions == 1
    (bank,) = await daily.client.bank_list(boss)
    assert (bank.questions, bank.retired) == (1, 1)
    await daily.client.bank_retire(boss, "e2", "views", False)
    assert (await daily.client.topics(boss))[0].questions == 2
    await daily.bank(choice("grad"))
    with refused(RestoreRefused(question="views")):
        await daily.client.bank_retire(boss, "e3", "views", False)


async def test_a_restored_day_and_booked_points_show_at_once_and_are_on_record(
    daily: DailyChannel, boss: Who, clock: Clock
) -> None:
    await daily.bank(*(choice(f"q{number}") for number in range(3)))
    await daily.schedule()
    for day in range(3):
        clock.now = datetime(2026, 3, 2 + day, 9, tzinfo=UTC)
        post = next(body for body in await daily.ticked() if isinstance(body, QuestionPost))
        if day != 1:
            await daily.answer(post.ref, "a")
        clock.advance(hours=8)
        await daily.ticked()
    ada = daily.who("Ada")
    assert (await daily.client.me(ada)).streak == 1
    await daily.client.member_restore(boss, "e1", "Ada", date(2026, 3, 3))
    await daily.client.member_adjust(boss, "e2", "ada", -3, "answered twice")
    me = await daily.client.me(ada)
    assert (me.streak, me.points) == (2, 17)
    assert [line.facts for line in await daily.client.audit(boss)] == [
        {"member": "Ada", "points": "-3", "reason": "answered twice"},
        {"day": "2026-03-03", "member": "Ada"},
    ]


async def test_the_doctor_reports_a_working_database_and_no_sandbox(daily: DailyChannel, boss: Who) -> None:
    checks = {check.kind: check for check in await daily.client.doctor(boss)}
    assert checks["database"].ok
    assert checks["schema"].ok
    assert not checks["sandbox"].ok
    # The tests' clock stands in another year than the database's.
    assert not checks["clock"].ok


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda client, who: client.member_adjust(who, "e", "Boss", 2**70, "why"), "points"),
        (lambda client, who: client.schedule_pause(who, "e", 2**70, True), "schedule"),
        (lambda client, who: client.season_start(who, "e", ""), "name"),
        (lambda client, who: client.season_start(who, "e", "x" * 201), "name"),
        (lambda client, who: client.season_start(who, "", "Spring"), "event id"),
        (lambda client, who: client.audit(who, 0), "limit"),
    ],
    ids=["huge points", "huge id", "no name", "long name", "no event", "no limit"],
)
async def test_what_cannot_be_is_refused_by_name(
    daily: DailyChannel, boss: Who, change: Callable[[ServiceClient, Who], Awaitable[object]], said: str
) -> None:
    with pytest.raises(ServiceRefused) as refusal:
        await change(daily.client, boss)
    assert isinstance(refusal.value.refusal, InvalidInput)
    assert refusal.value.refusal.field == said


@pytest.mark.parametrize("name", DAY_CALLS)
async def test_days_at_the_ends_of_the_calendar_are_invalid(daily: DailyChannel, name: str) -> None:
    boss = daily.who("Boss", admin=True)
    await daily.bank(choice())
    await daily.schedule(ScheduleSpec(at=time(23, 30), zone="America/New_York", weekdays=tuple(range(7))))
    field, found = "month" if name == "month" else "day", "name a day from 2000-01-01 to 2999-12-31"
    for day in (date.min, date.max):
        with refused(InvalidInput(field=field, problem="invalid", detail=found)):
            await DAY_CALLS[name](daily.client, boss, day)
