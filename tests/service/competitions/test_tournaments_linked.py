"""Tournaments of linked chats, and members who hide, forget their data or turn out to be one person."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from service.store.competition_tables import Tournament, TournamentMember, TournamentTeam
from service.store.tables import Outbox
from service.wire import NotFound, TournamentPlan, TournamentPost, TournamentRefused, TournamentView
from tests.conftest import MONDAY, Clock
from tests.service.competitions.tournament_scene import TUESDAY, TournamentScene
from tests.service.daily_channel import DailyChannel, choice
from tests.service.refusals import refused
from tests.service.two_chats import GUILD, HERE, TwoChats


@pytest.fixture
async def chats(daily: DailyChannel, clock: Clock) -> TwoChats:
    await daily.bank(*(choice(f"q{number}") for number in range(4)))
    made = TwoChats(daily, clock)
    await made.schedule()
    await daily.client.join(made.boss("slack"), HERE["slack"])
    return made


async def plan(chats: TwoChats, **more: Any) -> TournamentView:
    wanted = TournamentPlan.model_validate({"title": "Cup", "first_day": TUESDAY, "days": 2, **more})
    return await chats.daily.client.tournament_plan(chats.boss("discord"), chats.event(), GUILD, wanted)


async def posts(chats: TwoChats) -> list[TournamentPost]:
    for _ in range(2):
        await chats.daily.service.tick()
    return [each.body for each in await chats.deliver() if isinstance(each.body, TournamentPost)]


async def test_linked_chats_are_teams_and_another_workspace_sees_nothing(chats: TwoChats) -> None:
    client = chats.daily.client
    await chats.join_chats()
    await client.schedule_share(chats.boss("slack"), "share", HERE["slack"], 1)
    await plan(chats, teams="chats", late=True)
    for platform, names in (("discord", ("Ada", "Bob")), ("slack", ("Cy",))):
        for name in names:
            await client.tournament_join(chats.who(name, platform), chats.event())  # type: ignore[arg-type]
    assert [post.event for post in await posts(chats)] == ["announced", "announced"], "one for each chat"
    chats.clock.now = MONDAY + timedelta(hours=16)
    started = await posts(chats)
    assert [(team.platform, team.members) for team in started[0].tournament.teams] == [("discord", 2), ("slack", 1)]
    assert started[0].tournament.best == 1
    late = await client.tournament_join(chats.who("Dan", "slack"), chats.event())
    assert late.team == 2
    eve = chats.who("Eve", "discord", workspace="elsewhere")
    with refused(NotFound(what="tournament")):
        await client.tournament(eve)
    with refused(TournamentRefused(why="none")):
        await client.tournament_join(eve, chats.event())


async def test_a_chat_with_a_tournament_is_not_linked_and_brings_it_along_later(chats: TwoChats) -> None:
    client = chats.daily.client
    code = (await client.chat_link(chats.boss("slack"), chats.event())).code
    await plan(chats)
    await client.tournament_join(chats.who("Ada", "discord"), chats.event())
    with refused(TournamentRefused(why="live")):
        await client.chat_join(chats.boss("discord"), chats.event(), code, True)
    await client.tournament_cancel(chats.boss("discord"), chats.event())
    code = (await client.chat_link(chats.boss("slack"), chats.event())).code
    await client.chat_join(chats.boss("discord"), chats.event(), code, True)
    assert (await client.tournament(chats.who("Cy", "slack"))).title == "Cup"
    (home,) = {row.workspace_id for row in await chats.daily.rows(Tournament)}
    assert {row.workspace_id for row in await chats.daily.rows(TournamentMember)} == {home}


@pytest.mark.parametrize("both", [True, False])
async def test_of_two_accounts_in_a_tournament_the_team_of_the_one_that_stays_remains(
    chats: TwoChats, both: bool
) -> None:
    client = chats.daily.client
    await client.join(chats.who("Ada", "discord"), GUILD)
    await chats.join_chats()
    await plan(chats, teams="captains")
    await client.tournament_join(chats.who("Ada", "slack"), chats.event())
    await client.tournament_captain(chats.boss("discord"), chats.event(), "slack-ada")
    if both:
        await client.tournament_join(chats.who("Ada", "discord"), chats.event())
    await chats.link("Ada")
    (row,) = await chats.daily.rows(TournamentMember)
    teams = await chats.daily.rows(TournamentTeam)
    if both:
        assert row.team_id is None and teams == [], "nobody else is in the other account's team"
    else:
        (team,) = teams
        assert (row.team_id, team.captain_id) == (team.id, row.member_id)
    assert (await client.tournament(chats.who("Ada", "discord"))).takes_part


async def test_hidden_members_play_without_a_name(daily: DailyChannel, clock: Clock) -> None:
    scene = TournamentScene(daily, clock)
    await scene.prepares()
    await scene.plans(teams="captains")
    await scene.joins("Ada", "Bob", "Cy")
    for name in ("Ada", "Bob"):
        await daily.client.tournament_captain(daily.who("Boss", admin=True), scene.event(), name)
    await daily.client.privacy(daily.who("Ada"), "hide", "hide")
    await daily.client.privacy(daily.who("Cy"), "hide cy", "hide")
    (started,) = await scene.begins()
    assert [team.captain and team.captain.name for team in started.tournament.teams] == [None, "Bob"]
    assert [person.name for team in started.tournament.teams for person in team.named] == ["Bob"]
    assert sum(team.members for team in started.tournament.teams) == 3
    (day,) = await scene.plays({"Ada": "a"})
    assert day.tournament.teams[0].points > 0


async def test_who_forgets_their_data_leaves_numbers_and_no_name(daily: DailyChannel, clock: Clock) -> None:
    scene = TournamentScene(daily, clock)
    await scene.prepares()
    await scene.plans(teams="captains")
    await scene.joins("Ada", "Bob", "Cy", "Dan")
    for name in ("Ada", "Bob"):
        await daily.client.tournament_captain(daily.who("Boss", admin=True), scene.event(), name)
    await daily.client.tournament_pick(daily.who("Ada"), scene.event(), "Cy")
    await scene.begins()
    (day,) = await scene.plays({"Ada": "a", "Cy": "a"})
    before = day.tournament.teams[0].points
    assert before > 0
    export = (await daily.client.privacy(daily.who("Ada"), "export", "export")).export
    assert '"title": "Spring"' in export
    await daily.client.privacy(daily.who("Ada"), "forget", "forget")
    view = await scene.view("Bob")
    first = next(team for team in view.teams if team.number == 1)
    assert (first.points, first.captain and first.captain.name, first.members) == (before, "Cy", 1)
    assert all("Ada" not in str(row.body) for row in await daily.rows(Outbox) if row.kind == "tournament")
    (day,) = await scene.plays({"Bob": "a"})
    assert day.corrected == (), "what was settled stays as a number"
