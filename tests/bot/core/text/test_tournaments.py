"""What tournaments are put into words as."""

from __future__ import annotations

import pytest

from bot.console.render import card_text
from bot.core.cards import Card, Charted
from bot.core.charts import PodiumChart
from bot.core.text import outbox_card, tournaments
from service.wire import Named, TournamentEvent, TournamentPair, TournamentPost, TournamentTeam, TournamentView
from tests.bot.tournament_samples import AT, BRACKET, JOINING, OVER, PICKING, RUNNING, TOURNAMENTS


def text_of(name: str) -> str:
    card = TOURNAMENTS[name]
    assert isinstance(card, Card)
    return " ".join(card_text(card).split())


@pytest.mark.parametrize(
    ("team", "name"),
    [
        (TournamentTeam(number=1, members=1), "Team Red"),
        (TournamentTeam(number=16, members=1), "Team Gray"),
        (TournamentTeam(number=17, members=1), "Team 17"),
        (TournamentTeam(number=2, members=1, captain=Named(name="Ann")), "Ann's team"),
        (TournamentTeam(number=2, members=1, platform="slack"), "Slack"),
        (TournamentTeam(number=2, members=1, platform="discord", chat=2), "Discord 2"),
    ],
)
def test_a_team_is_called_by_its_captain_its_chat_or_a_color(team: TournamentTeam, name: str) -> None:
    assert tournaments.team_name(team) == name


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        (TournamentPair(first=1), "Discord advances without an opponent"),
        (TournamentPair(first=1, second=2), "Discord meets Slack 1"),
        (TournamentPair(first=1, second=2, winner="first"), "Discord beat Slack 1"),
        (TournamentPair(first=1, second=2, winner="second"), "Slack 1 beat Discord"),
        (TournamentPair(first=1, second=2, winner="both"), "Discord and Slack 1 tied, and both advance"),
    ],
)
def test_a_pair_says_who_goes_on(pair: TournamentPair, words: str) -> None:
    assert tournaments.pair_words(BRACKET, pair) == words


def test_the_daily_line_has_the_day_the_corrections_and_the_table() -> None:
    text = text_of("tournament day")
    assert text.startswith("Tournament: day 1 of 7 Tuesday 3 March: Team Blue 30, Team Red 10 (corrected by -5).")
    assert "were corrected, and the table with them." in text and "1,210" in text


def test_a_day_without_a_question_is_named() -> None:
    assert "Wednesday 4 March: no question, so nothing changed." in text_of("tournament running")


def test_the_podium_names_the_winner_and_shared_places() -> None:
    assert "Team Blue wins the tournament." in text_of("tournament over")
    shared = OVER.model_copy(update={"teams": tuple(team.model_copy(update={"rank": 1}) for team in OVER.teams)})
    assert tournaments.state_words(shared) == "Team Blue and Team Red win the tournament."


@pytest.mark.parametrize(("event", "words"), [("day", "Nobody leads."), ("over", "Nobody wins the tournament.")])
def test_nobody_leads_or_wins_with_nothing(event: TournamentEvent, words: str) -> None:
    nothing = tuple(team.model_copy(update={"rank": 0, "table": 1, "points": 0}) for team in OVER.teams)
    card = outbox_card(TournamentPost(event=event, tournament=OVER.model_copy(update={"teams": nothing})))
    assert isinstance(card, Card)
    assert card.summary == words
    assert "🥇" not in card_text(card)


def test_the_podiums_picture_has_what_decides_the_place_and_nothing_that_is_cut_off() -> None:
    card = TOURNAMENTS["tournament over"]
    assert isinstance(card, Card)
    (chart,) = (block.chart for block in card.blocks if isinstance(block, Charted))
    assert isinstance(chart, PodiumChart)
    assert [place.score for place in chart.places] == ["4 table points", "0 table points"]
    assert "Team Blue: 4 table points, 1,210 points" in text_of("tournament over")


def test_members_who_are_not_named_are_counted() -> None:
    assert "Team Blue: *Ann*, Bob <b> and 1 more" in text_of("tournament running")
    assert "Slack 1: 1 member" in text_of("tournament bracket started")


def test_the_most_members_that_count_are_named_before_the_start() -> None:
    planned = tournaments.rules_words(JOINING.model_copy(update={"at_most": 3}))
    assert "as many as the smallest team has members, at most 3." in planned
    assert "at most" not in tournaments.rules_words(JOINING)


def test_only_who_can_join_is_offered_to() -> None:
    labels = {name: [b.label for b in card.buttons] for name, card in TOURNAMENTS.items() if isinstance(card, Card)}
    assert labels["tournament announced"][0] == "Join" and "Join" not in labels["tournament over"]
    assert labels["tournament running"] == ["See the tournament", "Leave"]
    closed = RUNNING.model_copy(update={"takes_part": False, "late": False})
    assert [b.label for b in tournaments.left_card(closed).buttons] == []
    running = RUNNING.model_copy(update={"takes_part": False})
    assert [b.label for b in tournaments.tournament_card(running, AT).buttons] == ["Join", "See the tournament"]
    last_day = running.model_copy(update={"day_left": False})
    assert [b.label for b in tournaments.tournament_card(last_day, AT).buttons] == ["See the tournament"]


def test_a_captain_is_asked_to_pick_only_while_somebody_is_left() -> None:
    turn = "it is your turn"
    assert turn in card_text(tournaments.tournament_card(PICKING, AT))
    assert turn not in card_text(tournaments.tournament_card(PICKING.model_copy(update={"free": ()}), AT))


def test_who_joins_is_told_once_that_they_take_part() -> None:
    shown = card_text(tournaments.joined_card(JOINING.model_copy(update={"takes_part": True}), AT))
    assert shown.count("You take part.") == 1
    late = card_text(tournaments.joined_card(RUNNING, AT))
    assert "You take part in Team Blue. Your answers count from tomorrow." in late and "You play for" not in late


@pytest.mark.parametrize(("view", "shown"), [(JOINING, False), (PICKING, False), (RUNNING, True)])
def test_a_canceled_tournament_has_no_rules_and_no_empty_table(view: TournamentView, shown: bool) -> None:
    canceled = view.model_copy(update={"state": "cancelled"})
    text = card_text(tournaments.tournament_card(canceled, AT))
    assert "It was canceled." in text
    assert ("Rank" in text) == shown, text
    assert "On each day" not in text
