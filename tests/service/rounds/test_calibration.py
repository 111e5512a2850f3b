"""When a workspace is calibrated, from which answers, and what it changes: the question that is chosen."""

from __future__ import annotations

from datetime import timedelta

from service.domain.calendar import next_slot
from service.domain.difficulty import Scale
from service.domain.selection import Candidate
from service.rounds import planning
from service.rounds.calibration import LEAST_AGE, calibrate_workspace
from service.rounds.choosing import choose_for_day
from service.rounds.rounds import CALIBRATION_DELAY
from service.rounds.schedules import build_timetable
from service.store import calibrations, candidates, questions
from service.store.calibrations import CalibrationRow, ItemDifficulty
from service.store.members import Caller
from service.store.privacy import forget_member
from service.store.session import Sessions
from service.wire import QuestionPost, ScheduleSpec
from tests.conftest import MONDAY, Clock
from tests.service.daily_channel import DAILY, DailyChannel, choice
from tests.service.scenes import NOON, Stage, question

DAY = timedelta(days=1)


async def play(daily: DailyChannel, clock: Clock, right: dict[str, bool]) -> None:
    """Lets today's question be answered, and closes it; ends on the next day at eight."""
    clock.advance(hours=1)
    (post,) = [body for body in await daily.ticked() if isinstance(body, QuestionPost)]
    for name, is_right in right.items():
        await daily.answer(post.ref, "a" if is_right else "b", name)
    clock.advance(hours=8)
    await daily.ticked()
    clock.advance(hours=15)


async def test_a_close_calibrates_its_workspace_once_within_minutes(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(*(choice(f"q{number}") for number in range(4)))
    await daily.schedule()
    await play(daily, clock, {"Ada": True, "Bo": False})
    (row,) = await daily.rows(CalibrationRow)
    assert row.due_at == clock.now - timedelta(hours=15) + CALIBRATION_DELAY and row.at is None
    await daily.service.tick()
    await daily.service.jobs.run_pending()
    (row,) = await daily.rows(CalibrationRow)
    assert (row.due_at, row.at, row.answers, row.members) == (None, clock.now, 2, 2)
    (item,) = await daily.rows(ItemDifficulty)
    assert (item.version, item.answers) == (1, 2) and item.error > 0
    # Nothing new, so nothing is computed again.
    clock.advance(minutes=5)
    await daily.service.tick()
    await daily.service.jobs.run_pending()
    (row,) = await daily.rows(CalibrationRow)
    assert row.at == clock.now - timedelta(minutes=5)


async def test_a_round_that_an_admin_closes_makes_a_calibration_due(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice("q1"))
    await daily.schedule()
    clock.advance(hours=1)
    await daily.ticked()
    await daily.client.close_now(daily.who("Boss", admin=True), "close", DAILY)
    (row,) = await daily.rows(CalibrationRow)
    assert row.due_at == clock.now + CALIBRATION_DELAY


async def test_closes_in_a_row_are_calibrated_together(daily: DailyChannel, clock: Clock) -> None:
    for name in ("home", "away"):
        await daily.client.join(daily.who(workspace=name), DAILY)
    async with daily.service.sessions.begin() as session:
        await calibrations.mark_due(session, 1, clock.now)
        await calibrations.mark_due(session, 2, clock.now)
        await calibrations.mark_due(session, 1, clock.now + DAY)
        await calibrations.save(session, 2, calibrations.Calibration(Scale(), {"": [1.0]}, 1, 1), {}, clock.now)
    async with daily.service.sessions.begin() as session:
        assert await calibrations.claim_due(session, clock.now, LEAST_AGE, 10) == [1]
    async with daily.service.sessions.begin() as session:
        assert await calibrations.claim_due(session, clock.now + LEAST_AGE, LEAST_AGE, 10) == [2]


async def test_a_question_that_the_team_finds_hard_is_expected_to_be_hard(stage: Stage, sessions: Sessions) -> None:
    team = await _team(stage)
    await stage.bank(question("easy"), question("hard"), question("unasked"))
    schedule = await stage.schedule(team[0])
    for number, (key, credit) in enumerate((("easy", 1.0), ("hard", 0.0))):
        round_ = await stage.round(schedule, MONDAY.date() + number * DAY, key)
        for member in team:
            await stage.answer(member, round_, credit=credit)
    await _calibrate(stage, sessions, team[0])
    found = await _candidates(stage, team[0], schedule.id)
    easy, hard, unasked = (found[key].expected or 0.0 for key in ("easy", "hard", "unasked"))
    # Three answers each say little.
    assert hard + 0.08 < unasked < easy - 0.08


async def test_another_workspaces_answers_say_nothing(stage: Stage, sessions: Sessions) -> None:
    home, away = await _team(stage), await _team(stage, "away")
    await stage.bank(question("views"))
    for team, credit in ((home, 1.0), (away, 0.0)):
        round_ = await stage.round(await stage.schedule(team[0]), MONDAY.date())
        for member in team:
            await stage.answer(member, round_, credit=credit)
    await _calibrate(stage, sessions, home[0])
    before = await calibrations.list_difficulties(stage.session, home[0].workspace_id)
    assert (await _candidates(stage, away[0]))["views"].expected is None
    await _calibrate(stage, sessions, away[0])
    assert await calibrations.list_difficulties(stage.session, home[0].workspace_id) == before
    assert ((await _candidates(stage, home[0]))["views"].expected or 0) > 0.7
    assert ((await _candidates(stage, away[0]))["views"].expected or 1) < 0.5


async def test_only_first_answers_to_the_current_version_count(stage: Stage) -> None:
    ada, bo, cy = await _team(stage)
    await stage.bank(question("views"), question("grad"))
    await stage.practiced(ada, "views", credit=0.0)
    stage.now += timedelta(hours=1)
    await stage.practiced(ada, "views", credit=1.0)
    schedule = await stage.schedule(ada)
    stage.now += DAY
    round_ = await stage.round(schedule, stage.now.date())
    for member in (ada, bo):
        await stage.answer(member, round_, credit=1.0)
    # Cy has seen the reveal.
    stage.now += DAY
    await stage.practiced(cy, "views", credit=1.0)
    found = await _first(stage, ada)
    assert found == [(bo.member_id, "views", 1.0, schedule.id), (ada.member_id, "views", 0.0, None)]
    # Rounds are graded again by the new version; practice is not.
    await stage.bank(question("views", prompt="Put better?"), question("grad"))
    assert sorted(await _first(stage, ada)) == sorted((one.member_id, "views", 1.0, schedule.id) for one in (ada, bo))


async def test_open_rounds_and_forgotten_members_say_nothing(stage: Stage) -> None:
    ada, bo, _ = await _team(stage)
    await stage.bank(question("views"), question("grad"))
    schedule = await stage.schedule(ada)
    round_ = await stage.round(schedule, stage.now.date())
    for member in (ada, bo):
        await stage.answer(member, round_)
    await stage.answer(ada, await stage.round(schedule, stage.now.date() + DAY, "grad", closed=False))
    await forget_member(stage.session, bo, stage.now)
    assert [one[:2] for one in await _first(stage, ada)] == [(ada.member_id, "views")]


async def test_linked_workspaces_start_anew(stage: Stage, sessions: Sessions) -> None:
    ada = await stage.caller()
    await stage.bank(question("views"))
    await stage.answer(ada, await stage.round(await stage.schedule(ada), stage.now.date()))
    await _calibrate(stage, sessions, ada)
    await calibrations.forget_workspaces(stage.session, [ada.workspace_id])
    assert await calibrations.find(stage.session, ada.workspace_id) is None
    assert await calibrations.list_difficulties(stage.session, ada.workspace_id) == {}


async def test_the_audience_of_a_schedule_is_who_answers_it(stage: Stage, sessions: Sessions) -> None:
    strong, weak, _ = await _team(stage)
    keys = [f"q{number}" for number in range(12)]
    await stage.bank(*(question(key) for key in keys), question("next"))
    hard, easy = await stage.schedule(strong), await stage.schedule(strong)
    for number, key in enumerate(keys):
        for member, schedule, credit in ((strong, hard, 1.0), (weak, easy, 0.0)):
            round_ = await stage.round(schedule, NOON.date() - 30 * DAY + number * DAY, key)
            await stage.answer(member, round_, credit=credit)
    await _calibrate(stage, sessions, strong)
    shares = [(await _candidates(stage, strong, id_))["next"].expected or 0.0 for id_ in (hard.id, None, easy.id)]
    assert shares[0] > shares[1] + 0.1 > shares[2] + 0.2


async def _team(stage: Stage, workspace: str = "home") -> list[Caller]:
    return [await stage.caller(name, workspace=workspace) for name in ("Ada", "Bo", "Cy")]


async def _calibrate(stage: Stage, sessions: Sessions, caller: Caller) -> None:
    await stage.session.commit()
    await calibrate_workspace(sessions, caller.workspace_id, stage.now + 10 * DAY)


async def _candidates(stage: Stage, caller: Caller, schedule_id: int | None = None) -> dict[str, Candidate]:
    found = await candidates.list_candidates(
        stage.session, workspace_id=caller.workspace_id, schedule_id=schedule_id, anywhere=True
    )
    names = {}
    for candidate in found:
        version = await questions.get_version(stage.session, int(candidate.id))
        names[version.question.id] = candidate
    return names


async def _first(stage: Stage, caller: Caller) -> list[tuple[int, str, float, int | None]]:
    await stage.session.flush()
    found = await calibrations.list_first_answers(stage.session, caller.workspace_id, NOON - 400 * DAY, 100)
    keys = {(await stage.version(key)).question_id: key for key in ("views", "grad")}
    return [(one.member_id, keys[one.question_id], one.credit, one.schedule_id) for one in found]


async def test_the_plan_takes_the_schedules_audience_as_the_post_does(stage: Stage, sessions: Sessions) -> None:
    team = await _team(stage)
    keys = [f"q{number}" for number in range(12)]
    await stage.bank(*(question(key) for key in keys), *(question(f"n{number}") for number in range(8)))
    schedule, other = await stage.schedule(team[0]), await stage.schedule(team[0])
    for number, key in enumerate(keys):
        round_ = await stage.round(other if number % 2 else schedule, NOON.date() - 30 * DAY + number * DAY, key)
        for place, member in enumerate(team):
            await stage.answer(member, round_, credit=float((number + place) % 3 > 0))
    await _calibrate(stage, sessions, team[0])
    boss = await stage.caller("Boss", admin=True)
    spec = ScheduleSpec.model_validate(schedule.spec)
    slot = next_slot(build_timetable(spec), stage.now)
    assert slot is not None
    day = slot.day
    shown = await planning.preview(stage.session, boss, schedule.id, stage.now, day)
    posted = await choose_for_day(stage.session, schedule, spec, day)
    assert posted is not None
    assert shown.question.id == (await questions.get_version(stage.session, int(posted.id))).question.id
