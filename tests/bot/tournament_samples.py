"""Cards of tournaments in all their states, with names that would break careless markup."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from bot.core.cards import Card, Form
from bot.core.text import outbox_card, tournaments
from service.wire import (
    Named,
    TournamentDay,
    TournamentPair,
    TournamentPost,
    TournamentScore,
    TournamentStage,
    TournamentTeam,
    TournamentView,
)

AT = datetime(2026, 3, 3, 12, tzinfo=UTC)
FIRST = date(2026, 3, 3)
JOINING = TournamentView(
    id=7,
    title="Spring *cup*",
    form="table",
    teams_by="random",
    state="joining",
    first_day=FIRST,
    days=7,
    late=True,
    zone="Europe/Berlin",
    starts_at=AT,
    joined=3,
)
PEOPLE = (Named(name="*Ann*"), Named(name="Bob <b>"))
TEAMS = (
    TournamentTeam(number=2, members=3, named=PEOPLE, rank=1, table=4, points=1210, answered=2),
    TournamentTeam(number=1, members=2, named=(Named(name="_Cy_"),), rank=2, table=0, points=90),
)
DAY = TournamentDay(
    day=FIRST,
    rounds=1,
    scores=(
        TournamentScore(team=2, points=30, counted=2, accuracy=1.0, seconds=31.5),
        TournamentScore(team=1, points=10, counted=1, accuracy=0.5, corrected=-5),
    ),
)
REST = TournamentDay(day=FIRST + timedelta(days=1), rounds=0)
RUNNING = JOINING.model_copy(
    update={
        "state": "running",
        "best": 2,
        "joined": 5,
        "teams": TEAMS,
        "results": (DAY, REST),
        "today": FIRST + timedelta(days=2),
        "takes_part": True,
        "team": 2,
        "others": ("Winter <cup>", "Autumn"),
    }
)
OVER = RUNNING.model_copy(update={"state": "over", "today": None, "results": (DAY,)})
STAGES = (
    TournamentStage(
        number=1,
        day=FIRST,
        pairs=(TournamentPair(first=1, winner="first"), TournamentPair(first=2, second=3, winner="both")),
    ),
    TournamentStage(number=2, pairs=(TournamentPair(first=1, second=2), TournamentPair(first=3))),
)
BRACKET = RUNNING.model_copy(
    update={
        "form": "bracket",
        "teams_by": "chats",
        "best": 1,
        "stages": STAGES,
        "teams": (
            TournamentTeam(number=1, platform="discord", members=2, named=PEOPLE, rank=1, points=10),
            TournamentTeam(number=2, platform="slack", chat=1, members=1, rank=1, points=5),
            TournamentTeam(number=3, platform="slack", chat=2, members=1, rank=3, points=1, playing=False),
        ),
        "results": (),
    }
)
PICKING = JOINING.model_copy(
    update={
        "teams_by": "captains",
        "teams": (TournamentTeam(number=1, captain=PEOPLE[0], members=1, named=PEOPLE[:1]),),
        "free": PEOPLE[1:],
        "takes_part": True,
        "picks": True,
    }
)
FEW = JOINING.model_copy(update={"state": "cancelled", "joined": 1})
TOURNAMENTS: dict[str, Card | Form] = {
    "tournament announced": outbox_card(TournamentPost(event="announced", tournament=JOINING)),
    "tournament announced, captains": outbox_card(TournamentPost(event="announced", tournament=PICKING)),
    "tournament started": outbox_card(TournamentPost(event="started", tournament=RUNNING)),
    "tournament bracket started": outbox_card(TournamentPost(event="started", tournament=BRACKET)),
    "tournament day": outbox_card(
        TournamentPost(event="day", tournament=RUNNING.model_copy(update={"results": (DAY,)}), corrected=(FIRST, FIRST))
    ),
    "tournament over": outbox_card(TournamentPost(event="over", tournament=OVER, corrected=(FIRST,))),
    "tournament cancelled": outbox_card(TournamentPost(event="cancelled", tournament=FEW)),
    "tournament joining": tournaments.tournament_card(JOINING, AT),
    "tournament picking": tournaments.tournament_card(PICKING, AT),
    "tournament running": tournaments.tournament_card(RUNNING, AT),
    "tournament bracket": tournaments.tournament_card(BRACKET, AT),
    "tournament is over": tournaments.tournament_card(OVER, AT),
    "tournament joined": tournaments.joined_card(JOINING, AT),
    "tournament joined late": tournaments.joined_card(RUNNING, AT),
    "tournament left": tournaments.left_card(RUNNING),
    "tournament planned": tournaments.planned_card(PICKING),
    "tournament canceled": tournaments.cancelled_card(FEW),
}
