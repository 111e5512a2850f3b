"""Item statistics over the rounds of a workspace: what they count, whom, and what they keep secret."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import insert, text, update

from questions.model import Option, Question
from service.banks import item_statistics, moderation
from service.domain.item_statistics import find_problem, known_discrimination
from service.rounds import rounds
from service.store.members import Caller
from service.store.privacy import forget_member
from service.store.tables import AnswerRow, CurrentAnswer, Member, Round, Schedule
from service.wire import StillOpen
from tests.service.refusals import refused
from tests.service.rounds.test_rounds_scale import MONDAY
from tests.service.scenes import Stage, question
from tests.service.simulated_answers import AMBIGUOUS, BANK, BROKEN, EASY, GOOD, HARD, Choices, items_of, simulate
from tests.service.statements import counted


def asked(id_: str, key: str = "a") -> Question:
    """Returns a question with four options."""
    options = tuple(
        Option(each, f"option {each} of {id_}", each == key, "" if each == key else "no") for each in "abcd"
    )
    return question(id_, options=options, answer=f"option {key} of {id_}")


@dataclass
class Team:
    """A workspace whose members answer a question a day."""

    stage: Stage
    boss: Caller
    schedule: Schedule
    members: dict[int, int] = field(default_factory=dict)
    """Ids of the members by number."""
    days: int = 0

    async def play(self, id_: str, choices: Mapping[int, str], *, closed: bool = True) -> Round:
        """Has a question answered on the next day, half an hour after the post, and closes it."""
        session, day = self.stage.session, MONDAY + timedelta(days=self.days)
        self.days += 1
        round_ = await self.stage.round(self.schedule, day, id_, closed=False)
        await self._join(choices)
        given: list[dict[str, Any]] = [
            {
                "member_id": self.members[number],
                "round_id": round_.id,
                "version_id": round_.version_id,
                "number": 1,
                "event_id": f"answer {round_.id}",
                "given": {"options": [option]},
                "name": f"Member {number}",
                "at": round_.opens_at + timedelta(minutes=30),
            }
            for number, option in choices.items()
        ]
        made = (await session.execute(insert(AnswerRow).returning(AnswerRow.id, AnswerRow.member_id), given)).all()
        current = [{"round_id": round_.id, "member_id": member, "answer_id": answer} for answer, member in made]
        await session.execute(insert(CurrentAnswer), current)
        await session.execute(text("analyze member, answer, standing, ledger, round, verdict"))
        if closed:
            self.stage.now = round_.closes_at
            assert await rounds.close_round(session, round_.id, self.stage.now)
        return round_

    async def play_all(self, choices: Choices) -> None:
        for id_, by in choices.items():
            await self.play(id_, by)

    async def _join(self, choices: Mapping[int, str]) -> None:
        new = [number for number in choices if number not in self.members]
        for number in new:
            row = {"workspace_id": self.boss.workspace_id, "name": f"Member {number}", "joined_at": self.stage.now}
            made = insert(Member).values(row).returning(Member.id)
            self.members[number] = (await self.stage.session.execute(made)).scalar_one()


async def team_of(stage: Stage, workspace: str = "home") -> Team:
    boss = await stage.caller("Boss", workspace=workspace, admin=True)
    return Team(stage, boss, await stage.schedule(boss))


@pytest.fixture
async def team(stage: Stage) -> Team:
    return await team_of(stage)


@pytest.mark.slow
async def test_a_simulated_season_lists_the_bad_questions_and_computes_as_by_hand(team: Team, stage: Stage) -> None:
    await stage.bank(*(asked(item.id, item.key) for item in BANK), asked("new"))
    choices = simulate(seed=1)
    await team.play_all(choices)
    view = await item_statistics.view_bank(stage.session, team.boss, stage.now)
    found = {one.finding: [item.question for item in one.items] for one in view.lists}
    assert (view.asked, view.answers, view.never_asked, view.more_never_asked) == (24, 24 * 60, ("new",), 0)
    assert found["broken"] == [BROKEN.id] and found["ambiguous"] == [AMBIGUOUS.id]
    assert EASY.id in found["easy"] and found["hard"][0] == HARD.id
    assert not {item.id for item in GOOD} & {*found["broken"], *found["ambiguous"]}
    by_hand = items_of(choices)
    for id_ in (BROKEN.id, AMBIGUOUS.id, HARD.id, GOOD[5].id):
        item = by_hand[id_]
        figures = await item_statistics.view_item(stage.session, team.boss, id_, stage.now)
        assert (figures.rounds, figures.answers, figures.judged) == (1, 60, 60)
        assert figures.right == pytest.approx(item.right) and figures.seconds == 1800
        assert figures.discrimination == pytest.approx(known_discrimination(item))
        assert figures.finding == find_problem(item)
        assert item.top_wrong is None or figures.wrong is not None
        if figures.wrong is not None and item.top_wrong is not None:
            assert figures.wrong.share == pytest.approx(item.top_wrong.count / 60)
    wrong = await item_statistics.view_item(stage.session, team.boss, BROKEN.id, stage.now)
    assert wrong.wrong is not None and wrong.wrong.text == f"option a of {BROKEN.id}" and wrong.wrong_beats_right


async def test_lists_are_cut_and_say_how_many_more_and_retired_questions_come_last(team: Team, stage: Stage) -> None:
    names = [f"q{n:02}" for n in range(13)]
    await stage.bank(*(asked(name) for name in names), *(asked(f"new{n:02}") for n in range(14)))
    for name in names:
        await team.play(name, dict.fromkeys(range(14), "a"))
    await moderation.set_retired(stage.session, team.boss, "q00", True, stage.now)
    with counted() as sent:
        view = await item_statistics.view_bank(stage.session, team.boss, stage.now)
    assert len(sent) == 4, "whatever the number of questions"
    (easy,) = [one for one in view.lists if one.items]
    assert (easy.finding, easy.more, len(easy.items)) == ("easy", 3, 10)
    assert [item.question for item in easy.items] == names[1:11] and not any(item.retired for item in easy.items)
    assert (len(view.never_asked), view.more_never_asked) == (10, 4)
    card = await item_statistics.view_item(stage.session, team.boss, "q00", stage.now)
    assert card.retired and card.discrimination is None, "everybody is the same"


async def test_an_open_question_says_nothing_and_is_in_no_list(team: Team, stage: Stage) -> None:
    await stage.bank(asked("one"), asked("two"))
    everyone = dict.fromkeys(range(14), "a")
    await team.play("one", everyone)
    await team.play("two", everyone)
    before = await item_statistics.view_bank(stage.session, team.boss, stage.now)
    again = await team.play("one", dict.fromkeys(range(14), "b"), closed=False)
    during = await item_statistics.view_bank(stage.session, team.boss, stage.now)
    assert ([before.asked, during.asked], during.never_asked) == ([2, 1], ())
    with refused(StillOpen()):
        await item_statistics.view_item(stage.session, team.boss, "one", stage.now)
    await rounds.close_round(stage.session, again.id, again.closes_at)
    after = await item_statistics.view_item(stage.session, team.boss, "one", stage.now)
    assert (after.rounds, after.answers, after.right) == (2, 28, 0.5)


async def test_hidden_members_count_forgotten_ones_are_gone_and_merged_ones_are_one(team: Team, stage: Stage) -> None:
    await stage.bank(asked("one"))
    round_ = await team.play("one", {0: "a", 1: "b", 2: "b", 3: "c"})
    # What linking accounts leaves of the account that is gone: its points, moved to the other one.
    merged = await stage.caller("Merged")
    await stage.points(merged, 10, round_=round_)
    await stage.points(merged, -10, round_=round_, credit=-1.0)
    await stage.session.execute(update(Member).where(Member.id == merged.member_id).values(merged_into=team.members[0]))
    await stage.session.execute(update(Member).where(Member.id == team.members[0]).values(hidden=True))
    gone = dataclasses.replace(team.boss, member_id=team.members[3], name="Member 3")
    await forget_member(stage.session, gone, stage.now)
    card = await item_statistics.view_item(stage.session, team.boss, "one", stage.now)
    assert card.answers == 3 and card.right == pytest.approx(1 / 3)
    assert card.wrong is not None and card.wrong.share == pytest.approx(2 / 3)


async def test_another_workspace_sees_none_of_it_and_old_rounds_do_not_count(team: Team, stage: Stage) -> None:
    await stage.bank(asked("one"))
    await team.play("one", dict.fromkeys(range(14), "b"))
    other = await team_of(stage, "other")
    await moderation.report(stage.session, team.boss, "one", "It is wrong.", stage.now)
    assert (await item_statistics.view_item(stage.session, team.boss, "one", stage.now)).reports == 1
    theirs = await item_statistics.view_item(stage.session, other.boss, "one", stage.now)
    assert (theirs.rounds, theirs.answers, theirs.right, theirs.reports, theirs.wrong) == (0, 0, None, 0, None)
    view = await item_statistics.view_bank(stage.session, other.boss, stage.now)
    assert (view.asked, view.never_asked) == (0, ("one",))
    late = stage.now + item_statistics.PERIOD + timedelta(days=1)
    old = await item_statistics.view_item(stage.session, team.boss, "one", late)
    assert (old.rounds, old.right) == (0, None)


async def test_a_corrected_question_starts_anew(team: Team, stage: Stage) -> None:
    await stage.bank(asked("one"))
    await team.play("one", dict.fromkeys(range(14), "b"))
    await stage.bank(asked("one", "b"))
    assert (await item_statistics.view_item(stage.session, team.boss, "one", stage.now)).rounds == 0
    await team.play("one", dict.fromkeys(range(14), "b"))
    card = await item_statistics.view_item(stage.session, team.boss, "one", stage.now)
    assert (card.rounds, card.right, card.wrong) == (1, 1.0, None)
