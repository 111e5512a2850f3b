"""Tournaments: joining, teams, days that are settled once, tables, brackets, and what is refused."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import date, timedelta

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from service.competitions import tournaments
from service.store.audits import Audit
from service.store.competition_tables import Tournament, TournamentDay, TournamentScore
from service.store.members import resolve_caller
from service.store.tables import Ledger, Outbox
from service.wire import (
    AnswerInput,
    ChannelNeeded,
    ExtraRound,
    NotFound,
    QuestionPost,
    ScheduleSpec,
    TournamentPlan,
    TournamentRefused,
    Where,
    WinnerPost,
)
from tests.conftest import MONDAY, Clock
from tests.service.competitions.tournament_scene import TUESDAY, TournamentScene
from tests.service.daily_channel import DAILY, SPEC, DailyChannel, choice, code, play_duel
from tests.service.lock_waits import until_locked_out
from tests.service.refusals import refused

WEDNESDAY, THURSDAY = TUESDAY + timedelta(days=1), TUESDAY + timedelta(days=2)


@pytest.fixture
async def scene(daily: DailyChannel, clock: Clock) -> TournamentScene:
    made = TournamentScene(daily, clock)
    await made.prepares()
    return made


async def _correct_the_keys(scene: TournamentScene) -> None:
    """Imports the questions again: b is right, and not a."""
    options = tuple(replace(option, right=option.id == "b") for option in choice().options)
    await scene.daily.bank(
        *(replace(choice(f"q{number}"), options=options, answer="`x.clone()`") for number in range(6))
    )


async def test_from_the_announcement_to_the_podium_of_a_table(scene: TournamentScene) -> None:
    view = await scene.plans()
    assert (view.title, view.state, view.joined, view.best, view.zone) == ("Spring", "joining", 0, None, "UTC")
    (post,) = await scene.told()
    assert (post.event, post.tournament.first_day) == ("announced", TUESDAY)
    await scene.joins("Ada", "Bob", "Cy", "Dan", "Eve")
    await scene.joins("Ada")
    (started,) = await scene.begins()
    assert (started.event, started.tournament.state, started.tournament.best) == ("started", "running", 2)
    assert started.tournament.at_most is None
    assert sorted(team.members for team in started.tournament.teams) == [2, 3]
    teams = await scene.teams()
    (first,) = [number for number, names in teams.items() if "Ada" in names]

    for day, event in ((TUESDAY, "day"), (WEDNESDAY, "day"), (THURSDAY, "over")):
        (post,) = await scene.plays({name: "a" if name in teams[first] else "b" for name in ("Ada", "Bob", "Cy")})
        assert post.event == event and post.tournament.results[-1].day == day
    final = post.tournament
    assert final.state == "over" and [(team.number, team.rank) for team in final.teams] == [(first, 1), (3 - first, 2)]
    assert (final.teams[0].table, final.teams[1].table, final.teams[1].points) == (6, 0, 0)
    earned = sum(row.points for row in await scene.daily.rows(Ledger))
    assert final.teams[0].points == earned > 0, "the points are those of the rounds"
    assert len(await scene.keys()) == 5 and len(set(await scene.keys())) == 5
    assert await scene.told() == []
    (seen,) = [await scene.view("Zoe", "spring")]
    assert (seen.state, seen.takes_part, seen.team) == ("over", False, None)
    with refused(NotFound(what="tournament", name="Autumn")):
        await scene.view("Ada", "Autumn")


async def test_only_the_best_members_of_each_team_count(scene: TournamentScene) -> None:
    planned = await scene.plans(days=1, best=1)
    assert (planned.best, planned.at_most) == (None, 1), "how many of the best count is known at the start"
    await scene.joins("Ada", "Bob", "Cy", "Dan")
    await scene.begins()
    teams = await scene.teams()
    (post,) = await scene.plays(dict.fromkeys(("Ada", "Bob", "Cy"), "a"))
    scores = {score.team: score for score in post.tournament.results[0].scores}
    assert [scores[number].counted for number in sorted(scores)] == [1, 1]
    points = {row.member_id: row.points for row in await scene.daily.rows(Ledger)}
    assert len(set(points.values())) == 1, "the bonus for speed is off"
    assert {score.points for score in scores.values()} == set(points.values())
    # Equal points and accuracy: the mean time of those who count decides, and Ada was first.
    (ada,) = [number for number, names in teams.items() if "Ada" in names]
    assert post.tournament.teams[0].number == ada and post.tournament.teams[0].rank == 1


async def test_a_bracket_ends_when_one_team_is_left(scene: TournamentScene) -> None:
    await scene.plans(form="bracket", team_count=3, days=5)
    await scene.joins("Ada", "Bob", "Cy")
    (started,) = await scene.begins()
    assert [(pair.first, pair.second) for pair in started.tournament.stages[0].pairs if pair.second is None]
    numbers = {name: number for number, names in (await scene.teams()).items() for name in names}
    bye = next(pair.first for pair in started.tournament.stages[0].pairs if pair.second is None)
    (rest,) = [name for name, number in numbers.items() if number == bye]
    winner, loser = sorted(set(numbers) - {rest})
    (day,) = await scene.plays({winner: "a", loser: "b", rest: "b"})
    assert day.event == "day" and day.tournament.stages[0].day == TUESDAY
    assert {pair.winner for pair in day.tournament.stages[0].pairs} <= {"first", "second"}
    assert {team.number for team in day.tournament.teams if team.playing} == {numbers[winner], numbers[rest]}
    assert [pair.winner for pair in day.tournament.stages[1].pairs] == [None]
    (over,) = await scene.plays({winner: "b", rest: "a", loser: "a"})
    assert over.event == "over", "two days before the last one"
    assert [(team.number, team.rank) for team in over.tournament.teams] == [
        (numbers[rest], 1),
        (numbers[winner], 2),
        (numbers[loser], 3),
    ]


async def test_of_equal_teams_in_a_bracket_both_go_on_and_share_the_first_place(scene: TournamentScene) -> None:
    await scene.plans(form="bracket", days=2)
    await scene.joins("Ada", "Bob")
    await scene.begins()
    (day,) = await scene.plays({})
    assert day.tournament.stages[0].pairs[0].winner == "both"
    assert [team.rank for team in day.tournament.teams] == [0, 0], "nobody leads with nothing"
    scene.clock.now = scene.clock.now.replace(hour=9) + timedelta(days=1)
    (post,) = [body for body in await scene.ticks() if isinstance(body, QuestionPost)]
    for name in ("Ada", "Bob"):
        await scene.daily.answer(post.ref, "a", name)
    scene.clock.advance(hours=8)
    (over,) = await scene.told()
    assert over.event == "over" and [team.rank for team in over.tournament.teams] == [1, 1]


async def test_a_tournament_without_two_teams_is_cancelled(scene: TournamentScene) -> None:
    await scene.plans()
    await scene.joins("Ada")
    (post,) = await scene.begins()
    assert (post.event, post.tournament.state) == ("cancelled", "cancelled")
    assert (await scene.view()).teams[0].rank == 0
    await scene.plans(title="Again", first_day=date(2026, 3, 5))


async def test_a_tournament_that_ended_before_the_leader_came_to_it_is_left_alone(
    scene: TournamentScene, clock: Clock
) -> None:
    plan = await scene.plans()
    await scene.daily.client.tournament_cancel(scene.daily.who("Boss", admin=True), scene.event())
    clock.now = MONDAY + timedelta(days=1, hours=9)
    async with scene.daily.service.sessions.begin() as session:
        await tournaments.advance(session, plan.id, clock.now)
    assert (await scene.view()).state == "cancelled"


async def test_a_day_without_a_question_changes_nothing_and_is_not_told(scene: TournamentScene, clock: Clock) -> None:
    boss = scene.daily.who("Boss", admin=True)
    await scene.daily.client.schedule_skip(boss, "skip", 1, TUESDAY)
    await scene.plans(days=2)
    await scene.joins("Ada", "Bob")
    await scene.begins()
    clock.now = MONDAY + timedelta(days=1, hours=9)
    assert await scene.told() == [] and await scene.daily.rows(TournamentDay) == [], "it is not over yet"
    clock.now = MONDAY + timedelta(days=1, hours=16)
    assert await scene.told() == []
    (day,) = await scene.daily.rows(TournamentDay)
    assert (day.day, day.rounds) == (TUESDAY, 0)
    (over,) = await scene.plays({"Ada": "a", "Bob": "b"})
    assert over.event == "over" and [len(one.scores) for one in over.tournament.results] == [0, 2]


async def test_a_day_waits_for_every_round_that_counts(scene: TournamentScene, clock: Clock) -> None:
    other = Where(channel="second", name="#second")
    late = ScheduleSpec(at=SPEC.at.replace(hour=18), open_minutes=60)
    await scene.daily.schedule(late, where=other)
    await scene.plans(days=1, schedules=(1, 2))
    await scene.joins("Ada", "Bob")
    await scene.begins()
    assert await scene.plays({"Ada": "a"}) == []
    clock.now = MONDAY + timedelta(days=1, hours=10)
    await scene.answers(await scene.ticks(), {"Ada": "a", "Bob": "a"})
    clock.advance(hours=1)
    posts = await scene.told()
    assert [post.event for post in posts] == ["over", "over"], "one message to each channel"
    ada, bob = posts[0].tournament.results[0].scores
    assert posts[0].tournament.results[0].rounds == 2 and ada.points > bob.points > 0


async def test_a_day_waits_for_a_question_that_comes_late(scene: TournamentScene, clock: Clock) -> None:
    late = ScheduleSpec(at=SPEC.at.replace(hour=18), open_minutes=60, catch_up_minutes=30)
    await scene.daily.schedule(late, where=Where(channel="second", name="#second"))
    await scene.plans(days=1, schedules=(1, 2))
    await scene.joins("Ada", "Bob")
    await scene.begins()
    assert await scene.plays({"Ada": "a"}) == []
    clock.now = MONDAY + timedelta(days=1, hours=10, minutes=30)
    await tournaments.advance_all(scene.daily.service.sessions, clock.now)
    assert await scene.daily.rows(TournamentDay) == [], "nobody has posted the question yet"
    await scene.answers(await scene.ticks(), {"Bob": "a"})
    clock.advance(hours=1)
    assert (await scene.told())[0].tournament.results[0].rounds == 2


@pytest.mark.parametrize("how", ["paused", "removed"])
async def test_a_day_does_not_wait_for_a_schedule_that_posts_nothing(
    scene: TournamentScene, clock: Clock, how: str
) -> None:
    late = ScheduleSpec(at=SPEC.at.replace(hour=20), open_minutes=60)
    second = await scene.daily.schedule(late, where=Where(channel="second", name="#second"))
    await scene.plans(days=1, schedules=(1, second))
    await scene.joins("Ada", "Bob")
    await scene.begins()
    client, boss = scene.daily.client, scene.daily.who("Boss", admin=True)
    if how == "paused":
        await client.schedule_pause(boss, "pause", second, True)
    else:
        await client.schedule_remove(boss, "remove", second)
    assert {post.event for post in await scene.plays({"Ada": "a"})} == {"over"}


async def test_extra_questions_do_not_count(scene: TournamentScene, clock: Clock) -> None:
    await scene.plans(days=1)
    await scene.joins("Ada", "Bob")
    await scene.begins()
    clock.now = MONDAY + timedelta(days=1, hours=1)
    await scene.answers(await scene.ticks(), {"Bob": "a"})
    await scene.daily.client.ask_extra(
        scene.daily.who("Boss", admin=True), "extra", DAILY, ExtraRound(open_minutes=24 * 60)
    )
    await scene.answers(await scene.ticks(), {"Ada": "a"})
    clock.advance(hours=8)
    (over,) = await scene.told()
    assert over.event == "over", "it waits for no extra question"
    scores = {score.team: score.points for score in over.tournament.results[0].scores}
    team_of = {name: number for number, names in (await scene.teams()).items() for name in names}
    assert scores[team_of["Ada"]] == 0 < scores[team_of["Bob"]]


async def test_an_extra_question_that_is_closed_first_does_not_count_either(
    scene: TournamentScene, clock: Clock
) -> None:
    await scene.plans(days=1)
    await scene.joins("Ada", "Bob")
    await scene.begins()
    clock.now = MONDAY + timedelta(days=1, hours=1)
    await scene.answers(await scene.ticks(), {"Bob": "a"})
    await scene.daily.client.ask_extra(scene.daily.who("Boss", admin=True), "extra", DAILY, ExtraRound(open_minutes=60))
    await scene.answers(await scene.ticks(), {"Ada": "a"})
    clock.advance(hours=8)
    (over,) = await scene.told()
    scores = {score.team: score.points for score in over.tournament.results[0].scores}
    team_of = {name: number for number, names in (await scene.teams()).items() for name in names}
    assert scores[team_of["Ada"]] == 0 < scores[team_of["Bob"]]


async def test_a_day_waits_an_hour_for_verdicts(daily: DailyChannel, clock: Clock) -> None:
    scene = TournamentScene(daily, clock)
    await daily.bank(code("one"), code("two"))
    await daily.schedule()
    await scene.plans(days=1)
    await scene.joins("Ada", "Bob")
    await scene.begins()
    clock.now = MONDAY + timedelta(days=1, hours=1)
    (post,) = [body for body in await scene.ticks() if isinstance(body, QuestionPost)]
    await daily.answer(post.ref, AnswerInput(code="def double(x):\n    return 2 * x\n"), "Ada")
    clock.advance(hours=8)
    assert await scene.told() == [], "without a sandbox there is no verdict"
    clock.advance(minutes=59)
    assert await scene.told() == []
    clock.advance(minutes=1)
    assert [post.event for post in await scene.told()] == ["over"]


async def test_a_correction_that_is_taken_back_moves_the_table_again(scene: TournamentScene) -> None:
    await scene.plans()
    await scene.joins("Ada", "Bob")
    await scene.begins()
    (first,) = await scene.plays({"Ada": "a", "Bob": "b"})
    await _correct_the_keys(scene)
    await scene.plays({})
    await scene.daily.bank(*(choice(f"q{number}") for number in range(6)))
    (last,) = await scene.plays({})
    assert (last.event, last.corrected) == ("over", (TUESDAY,))
    ranks = [[(team.number, team.rank, team.points) for team in post.tournament.teams] for post in (first, last)]
    assert ranks[0] == ranks[1]


async def test_a_correction_moves_the_table_once_with_the_next_day(scene: TournamentScene) -> None:
    await scene.plans()
    await scene.joins("Ada", "Bob")
    await scene.begins()
    numbers = {name: number for number, names in (await scene.teams()).items() for name in names}
    (post,) = await scene.plays({"Ada": "a", "Bob": "b"})
    assert post.tournament.teams[0].number == numbers["Ada"]
    await _correct_the_keys(scene)
    assert (await scene.view()).teams[0].number == numbers["Ada"], "nothing changes before the next day"
    (post,) = await scene.plays({})
    assert post.corrected == (TUESDAY,) and post.tournament.teams[0].number == numbers["Bob"]
    tuesday = {score.team: score for score in post.tournament.results[0].scores}
    assert tuesday[numbers["Ada"]].points == 0 and tuesday[numbers["Ada"]].corrected < 0
    assert tuesday[numbers["Bob"]].corrected == tuesday[numbers["Bob"]].points > 0
    (post,) = await scene.plays({})
    assert post.corrected == ()
    rows = [row.number for row in await scene.daily.rows(TournamentScore) if row.day == TUESDAY]
    assert sorted(rows) == [0, 0, 1, 1]


async def test_what_a_bracket_decided_stands(scene: TournamentScene) -> None:
    await scene.plans(form="bracket", days=2, team_count=3)
    await scene.joins("Ada", "Bob", "Cy")
    (started,) = await scene.begins()
    numbers = {name: number for number, names in (await scene.teams()).items() for name in names}
    pair = next(pair for pair in started.tournament.stages[0].pairs if pair.second is not None)
    first, second = (next(name for name, number in numbers.items() if number == n) for n in (pair.first, pair.second))
    await scene.plays({first: "a", second: "b"})
    await _correct_the_keys(scene)
    (over,) = await scene.plays({first: "b"})
    assert over.corrected == ()
    assert [pair.winner for pair in over.tournament.stages[0].pairs if pair.second is not None] == ["first"]
    assert next(team for team in over.tournament.teams if team.number == numbers[second]).rank == 3


async def test_captains_pick_in_turn_and_the_rest_is_balanced(scene: TournamentScene) -> None:
    client, boss = scene.daily.client, scene.daily.who("Boss", admin=True)
    await scene.plans(teams="captains")
    await scene.joins("Ada", "Bob", "Cy", "Dan", "Eve")
    for name in ("Ada", "Bob"):
        await client.tournament_captain(boss, scene.event(), name)
    with refused(TournamentRefused(why="not free")):
        await client.tournament_captain(boss, scene.event(), "Ada")
    ada, bob = scene.daily.who("Ada"), scene.daily.who("Bob")
    view = await client.tournament_pick(ada, scene.event(), "Cy")
    assert [person.name for person in view.free] == ["Dan", "Eve"] and not view.picks
    assert view.teams[0].captain is not None and view.teams[0].captain.name == "Ada"
    with refused(TournamentRefused(why="not your turn")):
        await client.tournament_pick(ada, scene.event(), "Dan")
    with refused(TournamentRefused(why="not free")):
        await client.tournament_pick(bob, scene.event(), "Cy")
    with refused(TournamentRefused(why="not captain")):
        await client.tournament_pick(scene.daily.who("Eve"), scene.event(), "Dan")
    assert (await scene.view("Bob")).picks
    await client.tournament_pick(bob, scene.event(), "@Dan")
    await scene.begins()
    teams = await scene.teams()
    assert teams[1] >= {"Ada", "Cy"} and teams[2] >= {"Bob", "Dan"} and sum(map(len, teams.values())) == 5
    with refused(TournamentRefused(why="started")):
        await client.tournament_pick(bob, scene.event(), "Eve")


async def test_no_captain_is_named_after_the_start(scene: TournamentScene) -> None:
    client, boss = scene.daily.client, scene.daily.who("Boss", admin=True)
    await scene.plans(teams="captains")
    await scene.joins("Ada", "Bob", "Cy")
    for name in ("Ada", "Bob"):
        await client.tournament_captain(boss, scene.event(), name)
    await scene.begins()
    await client.join(scene.daily.who("Dan"), DAILY)
    with refused(TournamentRefused(why="started")):
        await client.tournament_captain(boss, scene.event(), "Dan")


async def test_a_captain_is_not_followed_by_a_member_who_left_before(scene: TournamentScene) -> None:
    client, boss = scene.daily.client, scene.daily.who("Boss", admin=True)
    await scene.plans(teams="captains")
    for name in ("Ada", "Bob", "Cy", "Dan", "Eve", "Flo", "Gus"):
        await scene.joins(name)
        scene.clock.advance(minutes=1)
    for name in ("Ada", "Bob"):
        await client.tournament_captain(boss, scene.event(), name)
    for captain, name in (("Ada", "Flo"), ("Bob", "Gus"), ("Ada", "Eve"), ("Bob", "Dan"), ("Ada", "Cy")):
        await client.tournament_pick(scene.daily.who(captain), scene.event(), name)
    await scene.begins()
    for name in ("Cy", "Ada"):
        view = await client.tournament_leave(scene.daily.who(name), scene.event())
    assert [team.captain and team.captain.name for team in view.teams] == ["Eve", "Bob"]


async def test_a_captain_who_leaves_is_followed_by_the_member_who_joined_next(scene: TournamentScene) -> None:
    client, boss = scene.daily.client, scene.daily.who("Boss", admin=True)
    await scene.plans(teams="captains")
    await scene.joins("Ada", "Bob", "Cy", "Dan", "Eve")
    for name in ("Ada", "Bob"):
        await client.tournament_captain(boss, scene.event(), name)
    for captain, name in (("Ada", "Dan"), ("Bob", "Eve"), ("Ada", "Cy")):
        await client.tournament_pick(scene.daily.who(captain), scene.event(), name)
    view = await client.tournament_leave(scene.daily.who("Ada"), scene.event())
    assert [team.captain and team.captain.name for team in view.teams] == ["Cy", "Bob"]


async def test_a_captain_who_leaves_alone_keeps_no_other_one_waiting(scene: TournamentScene) -> None:
    client, boss = scene.daily.client, scene.daily.who("Boss", admin=True)
    await scene.plans(teams="captains")
    await scene.joins("Ada", "Bob", "Cy", "Dan", "Eve")
    for name in ("Ada", "Bob", "Cy"):
        await client.tournament_captain(boss, scene.event(), name)
    view = await client.tournament_leave(scene.daily.who("Ada"), scene.event())
    assert [team.captain and team.captain.name for team in view.teams] == ["Bob", "Cy"]
    await client.tournament_pick(scene.daily.who("Bob"), scene.event(), "Dan")
    view = await client.tournament_captain(boss, scene.event(), "Ada")
    assert [(team.number, team.captain and team.captain.name) for team in view.teams] == [
        (2, "Bob"),
        (3, "Cy"),
        (4, "Ada"),
    ]
    await client.privacy(scene.daily.who("Cy"), "forget", "forget")
    await client.tournament_pick(scene.daily.who("Ada"), scene.event(), "Eve")
    await scene.begins()
    assert {number: len(names) for number, names in (await scene.teams()).items()} == {2: 2, 4: 2}


async def test_teams_at_random_are_balanced_by_recent_points(scene: TournamentScene, clock: Clock) -> None:
    # Ada and Bob have points; without balance they would be in one team half of the time.
    for seed in range(3):
        await scene.plays({"Ada": "a", "Bob": "a", "Cy": "b", "Dan": "b"})
        day = clock.now.date() + timedelta(days=1)
        await scene.plans(title=f"Cup {seed}", first_day=day, days=1)
        await scene.joins("Ada", "Bob", "Cy", "Dan")
        clock.now += timedelta(hours=8)
        await scene.told()
        view = await scene.view()
        assert [len({"Ada", "Bob"} & {one.name for one in team.named}) for team in view.teams] == [1, 1]
        await scene.daily.client.tournament_cancel(scene.daily.who("Boss", admin=True), scene.event())


async def test_teams_at_random_are_balanced_by_the_rating_of_duels(scene: TournamentScene, clock: Clock) -> None:
    who = scene.daily.who
    await play_duel(scene.daily.client, who("Ada"), who("Bob"), DAILY, clock.now)
    for seed in range(4):
        day = clock.now.date() + timedelta(days=1)
        await scene.plans(title=f"Cup {seed}", first_day=day, days=1, balance="rating")
        await scene.joins("Ada", "Bob", "Cy", "Dan")
        clock.now += timedelta(days=1)
        await scene.told()
        # The winner and the loser together, against two who never had a duel.
        assert {"Ada", "Bob"} in [{one.name for one in team.named} for team in (await scene.view()).teams]
        await scene.daily.client.tournament_cancel(who("Boss", admin=True), scene.event())


async def test_a_late_joiner_goes_to_the_smallest_team_and_counts_from_the_next_day(scene: TournamentScene) -> None:
    await scene.plans()
    await scene.joins("Ada", "Bob", "Cy")
    await scene.begins()
    small = min((await scene.teams()).items(), key=lambda pair: len(pair[1]))[0]
    await scene.plays({})
    scene.clock.now = scene.clock.now.replace(hour=9) + timedelta(days=1)
    await scene.answers(await scene.ticks(), {"Dan": "a"})
    view = await scene.daily.client.tournament_join(scene.daily.who("Dan"), scene.event())
    assert view.team == small
    scene.clock.advance(hours=8)
    (wednesday,) = await scene.told()
    assert {score.points for score in wednesday.tournament.results[-1].scores} == {0}
    (over,) = await scene.plays({"Dan": "a"})
    assert over.tournament.teams[0].number == small and over.tournament.teams[0].points > 0


async def test_nobody_joins_when_no_day_is_left_to_count(scene: TournamentScene) -> None:
    await scene.plans(days=1)
    await scene.joins("Ada", "Bob")
    await scene.begins()
    with refused(TournamentRefused(why="closed")):
        await scene.joins("Cy")
    assert not (await scene.view("Cy")).day_left
    await scene.daily.client.tournament_leave(scene.daily.who("Bob"), scene.event())
    assert (await scene.view("Bob")).day_left
    await scene.joins("Bob")
    assert (await scene.view()).joined == 2, "who takes part can come back: the last day is theirs"


async def test_the_day_before_the_last_one_is_early_enough_to_join(scene: TournamentScene) -> None:
    await scene.plans(days=2)
    await scene.joins("Ada", "Bob")
    await scene.begins()
    assert (await scene.view("Cy")).day_left
    await scene.plays({})
    scene.clock.now = scene.clock.now.replace(hour=7) + timedelta(days=1)
    await scene.ticks()
    assert not (await scene.view("Cy")).day_left


async def test_in_several_time_zones_it_begins_where_the_first_day_begins_first(
    scene: TournamentScene, clock: Clock
) -> None:
    boss = scene.daily.who("Boss", admin=True)
    for zone in ("America/New_York", "Asia/Tokyo"):
        spec = SPEC.model_copy(update={"zone": zone})
        await scene.daily.client.schedule_add(boss, scene.event(), Where(channel=zone, name=zone), spec)
    schedules = tuple(one.id for one in await scene.daily.client.schedule_list(boss))
    view = await scene.plans(schedules=schedules)
    assert view.zone == "Asia/Tokyo"
    assert view.starts_at.isoformat() == "2026-03-02T15:00:00+00:00", "no question of Tuesday comes before the start"
    await scene.joins("Ada", "Bob")
    clock.now = view.starts_at
    assert [post.event for post in await scene.told() if post.event == "started"], "each channel is told"
    clock.now = view.starts_at + timedelta(hours=23)
    assert (await scene.view()).results == (), "Tuesday lasts until its rounds are closed everywhere"


async def test_a_late_joiner_goes_to_the_team_that_members_have_left(scene: TournamentScene) -> None:
    await scene.plans()
    await scene.joins("Ada", "Bob", "Cy", "Dan")
    await scene.begins()
    leaving = sorted((await scene.teams())[2])[0]
    await scene.daily.client.tournament_leave(scene.daily.who(leaving), scene.event())
    view = await scene.daily.client.tournament_join(scene.daily.who("Eve"), scene.event())
    assert view.team == 2


async def test_a_late_joiner_goes_to_no_team_that_is_out(scene: TournamentScene) -> None:
    await scene.plans(form="bracket", team_count=4, days=5)
    await scene.joins("Ada", "Bob", "Cy", "Dan")
    (started,) = await scene.begins()
    teams = await scene.teams()
    lost = {pair.first for pair in started.tournament.stages[0].pairs}
    (day,) = await scene.plays({name: "b" if number in lost else "a" for number in teams for name in teams[number]})
    playing = {team.number for team in day.tournament.teams if team.playing}
    assert playing == set(teams) - lost
    for name in ("Eve", "Flo", "Gus", "Hal"):
        view = await scene.daily.client.tournament_join(scene.daily.who(name), scene.event())
        assert view.team in playing


@pytest.mark.parametrize("first", ["start", "join"])
async def test_who_joins_while_the_teams_are_made_has_one(scene: TournamentScene, clock: Clock, first: str) -> None:
    made = await scene.plans()
    await scene.joins("Ada", "Bob")
    clock.now = MONDAY + timedelta(hours=16)
    cy = scene.daily.who("Cy")
    sessions = scene.daily.service.sessions

    async def start(session: AsyncSession) -> None:
        await tournaments.advance(session, made.id, clock.now)

    async def join(session: AsyncSession) -> None:
        await tournaments.join(session, await resolve_caller(session, cy, DAILY, clock.now), made.id, clock.now)

    async def in_transaction(work: Callable[[AsyncSession], Awaitable[None]]) -> None:
        async with sessions.begin() as session:
            await work(session)

    await scene.daily.client.join(cy, DAILY)
    before, after = (start, join) if first == "start" else (join, start)
    async with sessions.begin() as session:
        await before(session)
        waits = asyncio.create_task(in_transaction(after))
        await until_locked_out(session, waits)
    await waits
    assert sorted(name for names in (await scene.teams()).values() for name in names) == ["Ada", "Bob", "Cy"]


async def test_nobody_joins_late_where_the_admin_does_not_allow_it(scene: TournamentScene) -> None:
    await scene.plans(late=False)
    await scene.joins("Ada", "Bob")
    await scene.begins()
    with refused(TournamentRefused(why="closed")):
        await scene.joins("Cy")
    await scene.joins("Ada")


async def test_who_leaves_counts_until_then_and_can_come_back(scene: TournamentScene) -> None:
    client, ada = scene.daily.client, scene.daily.who("Ada")
    with refused(TournamentRefused(why="none")):
        await scene.joins("Ada")
    await scene.plans()
    with refused(TournamentRefused(why="not joined")):
        await client.tournament_leave(ada, scene.event())
    await scene.joins("Ada", "Bob")
    assert (await client.tournament_leave(ada, scene.event())).joined == 1
    await scene.joins("Ada")
    await scene.begins()
    await scene.plays({"Ada": "a"})
    scene.clock.now = scene.clock.now.replace(hour=9) + timedelta(days=1)
    assert not (await client.tournament_leave(ada, scene.event())).takes_part
    await scene.answers(await scene.ticks(), {"Ada": "a"})
    scene.clock.advance(hours=8)
    (post,) = await scene.told()
    tuesday, wednesday = post.tournament.results
    assert tuesday.scores[0].points > 0 and wednesday.scores[0].points == 0
    await scene.joins("Ada")
    (post,) = await scene.plays({"Ada": "a"})
    assert post.tournament.results[-1].scores[0].points > 0


@pytest.mark.parametrize(
    ("plan", "why", "count"),
    [
        ({"first_day": MONDAY.date()}, "past day", 0),
        ({"first_day": date(2027, 6, 1)}, "past day", 0),
        ({"form": "bracket", "team_count": 9, "days": 3}, "few days", 4),
        ({"teams": "chats"}, "one chat", 0),
        ({"schedules": (1, 77)}, "schedules", 0),
    ],
)
async def test_an_impossible_plan_is_refused(
    scene: TournamentScene, plan: dict[str, object], why: str, count: int
) -> None:
    with refused(TournamentRefused.model_validate({"why": why, "count": count})):
        await scene.plans(**plan)
    assert await scene.daily.rows(Tournament) == []


async def test_a_workspace_has_one_tournament_at_a_time_and_the_audit_has_its_plan(scene: TournamentScene) -> None:
    client, boss = scene.daily.client, scene.daily.who("Boss", admin=True)
    with refused(TournamentRefused(why="none")):
        await client.tournament_cancel(boss, scene.event())
    with refused(ChannelNeeded()):
        await client.tournament_plan(boss, scene.event(), Where(channel=""), TournamentPlan(title="X"))
    with refused(TournamentRefused(why="schedules")):
        await client.tournament_plan(boss, scene.event(), Where(channel="empty"), TournamentPlan(title="X"))
    await scene.plans()
    with refused(TournamentRefused(why="live")):
        await scene.plans(title="Another")
    with refused(TournamentRefused(why="no captains")):
        await client.tournament_captain(boss, scene.event(), "Boss")
    assert (await client.tournament_cancel(boss, scene.event())).state == "cancelled"
    made, ended = await scene.daily.rows(Audit)
    assert (made.action, made.detail["title"]) == ("tournament plan", "Spring") and ended.action == "tournament cancel"
    # Without a first day it begins on the next Monday.
    view = await client.tournament_plan(boss, scene.event(), DAILY, TournamentPlan(title="Next"))
    assert (view.first_day, view.others) == (date(2026, 3, 9), ("Spring",))
    with refused(TournamentRefused(why="another")):
        await client.tournament_cancel(boss, scene.event(), ended.detail["tournament"])
    assert (await client.tournament(boss)).state == "joining"
    assert (await client.tournament_cancel(boss, scene.event(), view.id)).state == "cancelled"


async def test_processes_that_tick_at_once_settle_a_day_once(scene: TournamentScene, clock: Clock) -> None:
    await scene.plans()
    await scene.joins("Ada", "Bob")
    clock.now = MONDAY + timedelta(hours=16)
    await asyncio.gather(*(tournaments.advance_all(scene.daily.service.sessions, clock.now) for _ in range(6)))
    clock.now = MONDAY + timedelta(days=1, hours=1)
    await scene.answers(await scene.ticks(), {"Ada": "a", "Bob": "b"})
    await scene.daily.client.close_now(scene.daily.who("Boss", admin=True), "close", DAILY)
    await asyncio.gather(*(tournaments.advance_all(scene.daily.service.sessions, clock.now) for _ in range(6)))
    assert len(await scene.daily.rows(TournamentDay)) == 1
    assert len(await scene.daily.rows(TournamentScore)) == 2
    assert [key.split(":")[2] for key in await scene.keys()] == ["announced", "started", "day"]


async def test_the_numbers_of_an_open_round_say_who_answered_and_not_who_is_right(
    scene: TournamentScene, clock: Clock
) -> None:
    await scene.plans()
    await scene.joins("Ada", "Bob")
    await scene.begins()
    clock.now = MONDAY + timedelta(days=1, hours=1)
    assert (await scene.view()).today == TUESDAY
    await scene.answers(await scene.ticks(), {"Ada": "a"})
    view = await scene.view()
    assert sorted(team.answered for team in view.teams) == [0, 1]
    assert {(team.points, team.rank) for team in view.teams} == {(0, 0)} and view.results == ()
    (answered,) = [team for team in view.teams if team.answered]
    await scene.daily.client.tournament_leave(scene.daily.who(answered.named[0].name), scene.event())
    assert [team.answered for team in (await scene.view()).teams] == [0, 0], "no more than play"


async def test_the_members_of_the_winning_team_are_given_their_role(scene: TournamentScene) -> None:
    boss, client = scene.daily.who("Boss", admin=True), scene.daily.client
    await client.winner_role_set(boss, scene.event(), DAILY, "sprint", "8")
    assert (await client.winner_role_set(boss, scene.event(), DAILY, "tournament", "9")).role == "9"
    assert [(one.event, one.role) for one in await client.winner_roles(boss)] == [("sprint", "8"), ("tournament", "9")]
    await scene.plans(days=1)
    await scene.joins("Ada", "Bob", "Cy", "Dan")
    await client.privacy(scene.daily.who("Dan"), scene.event(), "hide")
    await scene.begins()
    teams = await scene.teams()
    (first,) = [number for number, names in teams.items() if "Ada" in names]
    await scene.plays({name: "a" if name in teams[first] else "b" for name in ("Ada", "Bob", "Cy", "Dan")})
    (row,) = [row for row in await scene.daily.rows(Outbox) if row.kind == "winner"]
    post = WinnerPost.from_stored(row.body)
    assert (post.event, post.season, post.role, post.former) == ("tournament", "Spring", "9", ())
    assert [team.number for team in post.teams] == [first] and post.top == ()
    assert set(post.winners) == {scene.daily.who(name).member for name in teams[first] - {"Dan"}}


async def test_who_left_the_winning_team_is_given_no_role(scene: TournamentScene, clock: Clock) -> None:
    boss, client = scene.daily.who("Boss", admin=True), scene.daily.client
    await client.winner_role_set(boss, scene.event(), DAILY, "tournament", "9")
    await scene.plans(days=1)
    await scene.joins("Ada", "Bob", "Cy", "Dan")
    await scene.begins()
    (mates,) = [names for names in (await scene.teams()).values() if "Ada" in names]
    (mate,) = mates - {"Ada"}
    clock.now = MONDAY + timedelta(days=1, hours=1)
    await scene.answers(await scene.ticks(), {"Ada": "a"})
    await client.tournament_leave(scene.daily.who(mate), scene.event())
    clock.advance(hours=8)
    await scene.told()
    (row,) = [row for row in await scene.daily.rows(Outbox) if row.kind == "winner"]
    assert WinnerPost.from_stored(row.body).winners == (scene.daily.who("Ada").member,)


@pytest.mark.parametrize("form", ["table", "bracket"])
async def test_nobody_wins_a_tournament_in_which_nobody_earned_anything(scene: TournamentScene, form: str) -> None:
    boss, client = scene.daily.who("Boss", admin=True), scene.daily.client
    await client.winner_role_set(boss, scene.event(), DAILY, "tournament", "9")
    await scene.plans(days=1, form=form)
    await scene.joins("Ada", "Bob")
    await scene.begins()
    (over,) = await scene.plays({"Ada": "b"})
    assert over.event == "over"
    assert [team.points for team in over.tournament.teams] == [0, 0]
    assert [row for row in await scene.daily.rows(Outbox) if row.kind == "winner"] == []
