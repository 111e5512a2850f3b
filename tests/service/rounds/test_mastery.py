"""Mastery of topics: whose it is, what a team's needs, and what practice makes of it."""

from __future__ import annotations

from datetime import timedelta

from service.rounds import mastery, practice
from service.rounds.calibration import calibrate_workspace
from service.store import questions
from service.store.members import Caller
from service.store.session import Sessions
from tests.service.scenes import Stage, question

COUNT = 10
NAMES = ("Ada", "Bo", "Cy")


async def play(stage: Stage, names: tuple[str, ...] = NAMES) -> list[Caller]:
    """Has members answer ten rounds on each of two topics, the first member wrong on `weak`; leaves two new ones."""
    team = [await stage.caller(name) for name in names]
    rounds = [(topic, number) for topic in ("strong", "weak") for number in range(COUNT)]
    await stage.bank(
        *(question(f"{topic}-{number}", topic=topic) for topic, number in rounds),
        question("new-strong", topic="strong"),
        question("new-weak", topic="weak"),
    )
    schedule = await stage.schedule(team[0])
    for at, (topic, number) in enumerate(rounds):
        day = stage.now.date() - timedelta(days=30 - at)
        round_ = await stage.round(schedule, day, f"{topic}-{number}")
        for member in team:
            is_wrong = topic == "weak" and member is team[0]
            await stage.answer(member, round_, credit=0.0 if is_wrong else 1.0)
    return team


async def calibrate(stage: Stage, sessions: Sessions, caller: Caller) -> None:
    await stage.session.commit()
    await calibrate_workspace(sessions, caller.workspace_id, stage.now)


async def test_members_see_what_they_know_and_nobody_elses(stage: Stage, sessions: Sessions) -> None:
    ada, bo, _ = await play(stage)
    before = await mastery.view_member(stage.session, ada, stage.now)
    await calibrate(stage, sessions, ada)
    for found in (before, await mastery.view_member(stage.session, ada, stage.now)):
        assert [(one.topic, one.answers, one.right) for one in found] == [("weak", COUNT, 0.0), ("strong", COUNT, 1.0)]
        assert found[0].high is not None and found[1].low is not None and found[0].high < found[1].low
    assert [one.right for one in await mastery.view_member(stage.session, bo, stage.now)] == [1.0, 1.0]
    eve = await stage.caller("Eve", workspace="away")
    assert await mastery.view_member(stage.session, eve, stage.now) == ()


async def test_a_team_has_ranges_without_names_if_it_has_three_members(stage: Stage, sessions: Sessions) -> None:
    team = await play(stage)
    assert await mastery.view_team(stage.session, team[0].workspace_id) == {}
    await calibrate(stage, sessions, team[0])
    found = await mastery.view_team(stage.session, team[0].workspace_id)
    assert sorted(found) == ["strong", "weak"]
    assert found["weak"].right < found["strong"].right - 0.05 and found["weak"].answers == 3 * COUNT
    known = await mastery.view_topics(stage.session, team[1], stage.now)
    assert [one.topic for one in known.team] == ["strong", "weak"]
    eve = await stage.caller("Eve", workspace="away")
    assert (await mastery.view_topics(stage.session, eve, stage.now)).team == ()


async def test_two_members_are_no_team(stage: Stage, sessions: Sessions) -> None:
    team = await play(stage, ("Ada", "Bo"))
    await calibrate(stage, sessions, team[0])
    assert await mastery.view_team(stage.session, team[0].workspace_id) == {}


async def test_practice_asks_new_questions_of_weak_topics_first(stage: Stage) -> None:
    ada, _, _ = await play(stage)
    met = []
    while (found := await practice.pick_next(stage.session, ada, stage.now)) is not None:
        version = await questions.get_version(stage.session, found[0])
        met.append(version.question.id)
        await stage.practiced(ada, version.question.id)
    assert met == ["new-weak", "new-strong"]
