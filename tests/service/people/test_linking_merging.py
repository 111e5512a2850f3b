"""Two accounts of one person become one member: sums stay, a round counts once, and others are unaffected."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select

from sandbox.client import SandboxClient
from service.app import build
from service.config import Settings
from service.people import linking, members
from service.people.privacy import apply_action
from service.rounds import grading, leaderboard, practice
from service.store import chats as chat_rows
from service.store.cards import CardRow
from service.store.members import Caller
from service.store.tables import AnswerRow, CurrentAnswer, Identity, Ledger, Member, Outbox, StreakGrace
from service.wire import AnswerInput, LinkRefused, VerdictNote, Where, WinnerPost
from tests.conftest import Clock
from tests.service.daily_channel import DailyChannel, choice, code, daily_channel_of, prose
from tests.service.refusals import refused
from tests.service.scenes import Stage, question
from tests.service.two_chats import GUILD, TEAM, TwoChats

_numbers = itertools.count()
ROUNDS = 4
Results = tuple[int | None, ...]
"""Of each round the points, or None where it was not answered."""
results = st.tuples(*[st.none() | st.integers(0, 20)] * ROUNDS)


@dataclass
class Two:
    """Two accounts of one person in two linked chats, and another member."""

    kept: Caller
    gone: Caller
    other: Caller


async def two(stage: Stage) -> Two:
    """Creates all members, without any history."""
    tag = next(_numbers)
    kept, other = await stage.caller("Ada", workspace=f"a{tag}"), await stage.caller("Eve", workspace=f"a{tag}")
    gone = await stage.caller("ada.l", workspace=f"b{tag}")
    await stage.session.flush()
    await chat_rows.merge_workspace(stage.session, gone.workspace_id, kept.workspace_id)
    stage.session.expire_all()
    return Two(kept, await stage.caller("ada.l", workspace=f"b{tag}"), other)


async def totals(stage: Stage, member: Caller) -> tuple[int, float, float]:
    rows = (await stage.session.scalars(select(Ledger).where(Ledger.member_id == member.member_id))).all()
    credit, seconds = sum(row.credit or 0.0 for row in rows), sum(row.seconds or 0.0 for row in rows)
    return sum(row.points for row in rows), round(credit, 6), round(seconds, 6)


async def rows_of(stage: Stage, member: Caller) -> list[str]:
    """Returns all rows about a member, by table."""
    found = []
    for table in (Ledger, CurrentAnswer, AnswerRow, CardRow, StreakGrace, Identity):
        query = select(table).where(table.member_id == member.member_id).execution_options(populate_existing=True)
        for row in await stage.session.scalars(query):
            found.append(str([getattr(row, column.key) for column in table.__mapper__.column_attrs]))
    return sorted(found)


@pytest.mark.slow
@settings(max_examples=25)
@given(mine=results, theirs=results, others=results, gifts=st.tuples(*[st.integers(-5, 5)] * 3))
async def test_sums_stay_a_round_counts_once_and_nobody_else_is_touched(
    stage: Stage, mine: Results, theirs: Results, others: Results, gifts: tuple[int, int, int]
) -> None:
    await stage.bank(question())
    people = await two(stage)
    schedule = await stage.schedule(people.kept)
    rounds = [await stage.round(schedule, date(2026, 2, 2) + timedelta(days=day)) for day in range(ROUNDS)]
    for caller, points, gift in zip(
        (people.kept, people.gone, people.other), (mine, theirs, others), gifts, strict=True
    ):
        for round_, worth in zip(rounds, points, strict=True):
            if worth is not None:
                await stage.answer(caller, round_, credit=worth / 20)
                await stage.points(caller, worth, round_=round_, credit=worth / 20)
        await stage.points(caller, gift)
    before, elses = [await totals(stage, one) for one in (people.kept, people.gone)], await rows_of(stage, people.other)
    log = list(await stage.session.scalars(select(Ledger.id).order_by(Ledger.id)))

    linked = await linking.merge(stage.session, people.kept.member_id, people.gone.member_id, stage.now)

    pairs = list(zip(mine, theirs, strict=True))
    lesser = [min(a, b) for a, b in pairs if a is not None and b is not None]
    total, credits, _ = await totals(stage, people.kept)
    assert total == before[0][0] + before[1][0] - sum(lesser)
    assert credits == pytest.approx(before[0][1] + before[1][1] - sum(lesser) / 20, abs=1e-6)
    assert await totals(stage, people.gone) == (0, 0, 0)
    assert linked.twice == len(lesser)
    assert await rows_of(stage, people.other) == elses
    assert set(log) <= set(await stage.session.scalars(select(Ledger.id)))
    everywhere = Caller(people.kept.workspace_id, people.kept.member_id, None, "Ada", False, 0, 0)
    board = await leaderboard.get_board(
        stage.session, everywhere, stage.now, leaderboard.BoardQuery(period="all", limit=9)
    )
    theirs_total = (await totals(stage, people.other))[0]
    assert sorted(row.name for row in board.rows) == [
        name for name, points in (("Ada", total), ("Eve", theirs_total)) if points > 0
    ]
    answered = sum(a is not None or b is not None for a, b in pairs)
    if total > 0:
        assert board.mine is not None
        assert (board.mine.points, board.mine.answered) == (total, answered)
        assert 0 <= board.mine.accuracy <= 1
    standing = list(
        await stage.session.scalars(
            select(CurrentAnswer.round_id).where(CurrentAnswer.member_id == people.kept.member_id)
        )
    )
    assert sorted(standing) == [
        round_.id for round_, (a, b) in zip(rounds, pairs, strict=True) if (a, b) != (None, None)
    ]
    left = select(CurrentAnswer).where(CurrentAnswer.member_id == people.gone.member_id)
    assert (await stage.session.scalars(left)).all() == []


async def test_cards_are_united_and_the_state_reviewed_last_stays(stage: Stage) -> None:
    await stage.bank(question("a"), question("b"), question("c"))
    people = await two(stage)
    ids = {key: (await stage.version(key)).question_id for key in "abc"}
    for caller, key, hours, credit in (
        (people.kept, "a", 1, 0.0),
        (people.gone, "a", 2, 1.0),
        (people.kept, "b", 3, 1.0),
        (people.gone, "b", 1, 0.0),
        (people.gone, "c", 1, 1.0),
    ):
        moment = stage.now + timedelta(hours=hours)
        await practice.record_review(
            stage.session, member_id=caller.member_id, question_id=ids[key], credit=credit, now=moment
        )
    linked = await linking.merge(stage.session, people.kept.member_id, people.gone.member_id, stage.now)
    rows = await stage.session.scalars(select(CardRow).order_by(CardRow.question_id))
    cards = [(row.member_id, row.question_id, row.reviews, row.state["reviewed_at"][11:13]) for row in rows]
    kept = people.kept.member_id
    assert cards == [(kept, ids["a"], 2, "14"), (kept, ids["b"], 2, "15"), (kept, ids["c"], 1, "13")]
    assert linked.cards == 1


async def test_streaks_run_through_the_rounds_of_both(stage: Stage) -> None:
    await stage.bank(question())
    people = await two(stage)
    schedule = await stage.schedule(people.kept)
    for day, caller in enumerate((people.kept, people.gone, people.gone, people.kept), 1):
        await stage.answer(caller, await stage.round(schedule, date(2026, 2, day)))
    await linking.merge(stage.session, people.kept.member_id, people.gone.member_id, stage.now)
    assert (await members.me(stage.session, people.kept, stage.now)).streak == 4


@pytest.mark.parametrize("hidden", ["kept", "gone"])
async def test_who_hid_under_either_account_is_hidden(stage: Stage, hidden: str) -> None:
    people = await two(stage)
    await apply_action(stage.session, getattr(people, hidden), "hide", stage.now)
    assert (await linking.merge(stage.session, people.kept.member_id, people.gone.member_id, stage.now)).hidden
    view = await apply_action(stage.session, people.kept, "see", stage.now)
    assert view.hidden
    await apply_action(stage.session, people.kept, "show", stage.now)
    shown = select(func.count()).select_from(Member).where(Member.hidden.is_(True))
    assert await stage.session.scalar(shown) == 0


async def test_who_hid_is_left_out_of_past_seasons_under_the_other_account_too(stage: Stage) -> None:
    people = await two(stage)
    await leaderboard.start_season(stage.session, people.other, "Spring", stage.now)
    for member in (people.gone, people.other):
        await stage.points(member, 5)
    stage.now += timedelta(days=1)
    ended = await leaderboard.end_season(stage.session, people.other, stage.now)
    assert {row.name for row in ended.archive} == {"ada.l", "Eve"}
    await apply_action(stage.session, people.kept, "hide", stage.now)
    await linking.merge(stage.session, people.kept.member_id, people.gone.member_id, stage.now)
    (spring,) = await leaderboard.list_seasons(stage.session, people.other)
    assert [row.name for row in spring.archive] == ["Eve"]


async def test_an_export_and_forgetting_cover_both(stage: Stage) -> None:
    await stage.bank(question("a"), question("b"))
    people = await two(stage)
    await stage.practiced(people.kept, "a")
    await stage.practiced(people.gone, "b")
    await linking.merge(stage.session, people.kept.member_id, people.gone.member_id, stage.now)
    data = json.loads((await apply_action(stage.session, people.kept, "export", stage.now)).export)
    assert [each["name"] for each in data["member"]["identities"]] == ["Ada", "ada.l"]
    assert [each["question"] for each in data["answers"]] == ["a", "b"]
    await apply_action(stage.session, people.kept, "forget", stage.now)
    theirs = select(Identity).where(Identity.member_id.in_((people.kept.member_id, people.gone.member_id)))
    assert (await stage.session.scalars(theirs)).all() == []
    rows = (await stage.session.execute(select(AnswerRow.name, AnswerRow.given).order_by(AnswerRow.id))).all()
    assert [(name, given) for name, given in rows] == [("", {"options": ["a"]})] * 2
    names = select(Member.name).where(Member.id.in_((people.kept.member_id, people.gone.member_id)))
    assert set(await stage.session.scalars(names)) == {"someone who left"}


async def test_a_third_account_joins_those_who_were_joined(stage: Stage) -> None:
    people = await two(stage)
    await stage.points(people.gone, 5)
    await linking.merge(stage.session, people.kept.member_id, people.gone.member_id, stage.now)
    third = await stage.caller("Ada again", workspace=f"c{next(_numbers)}")
    await chat_rows.merge_workspace(stage.session, third.workspace_id, people.kept.workspace_id)
    stage.session.expire_all()
    await linking.merge(stage.session, third.member_id, people.kept.member_id, stage.now)
    merged = select(Member.id).where(Member.merged_into == third.member_id)
    assert set(await stage.session.scalars(merged)) == {people.kept.member_id, people.gone.member_id}
    assert (await totals(stage, third))[0] == 5


# Through the client


@pytest.fixture
async def chats(daily: DailyChannel, clock: Clock) -> TwoChats:
    await daily.bank(*(choice(f"q{number}") for number in range(20)))
    made = TwoChats(daily, clock)
    await made.join_chats()
    return made


async def test_a_code_typed_in_the_other_chat_makes_one_member(chats: TwoChats) -> None:
    await chats.schedule("discord")
    first = await chats.asked()
    await chats.answer("Ada", "discord", first)
    await chats.closed()
    second = await chats.asked()
    await chats.answer("ada.l", "slack", second)
    await chats.closed()
    assert await chats.standing() == [(1, "Ada", 10, 1), (1, "ada.l", 10, 1)]
    linked = await chats.link("Ada", "ada.l")
    assert (linked.name, linked.platforms, linked.points, linked.twice) == ("Ada", ("discord", "slack"), 10, 0)
    assert await chats.standing() == [(1, "Ada", 20, 2)]
    for platform, name in (("discord", "Ada"), ("slack", "ada.l")):
        me = await chats.daily.client.me(chats.who(name, platform))  # type: ignore[arg-type]
        assert (me.name, me.points, me.streak) == ("Ada", 20, 2)
    trail = await chats.daily.client.audit(chats.boss("discord"))
    assert [(entry.by, entry.action, entry.facts) for entry in trail][:1] == [("Ada", "member link", {"member": "Ada"})]


async def test_of_an_open_round_the_newer_answer_counts_and_may_be_changed_from_either_chat(chats: TwoChats) -> None:
    await chats.schedule("discord")
    ref = await chats.asked()
    await chats.answer("Ada", "discord", ref, "b", after=1)
    await chats.answer("Ada", "slack", ref, "a", after=2)
    await chats.link("Ada")
    (row,) = await chats.daily.rows(CurrentAnswer)
    form = await chats.daily.client.ask(chats.who("Ada", "discord"), Where(channel="111"), ref)
    assert form.given == AnswerInput(options=("a",))
    assert (await chats.answer("Ada", "discord", ref, "c", after=3)).status == "changed"
    assert (await chats.answer("Ada", "slack", ref, "a", after=4)).status == "changed"
    (row,) = await chats.daily.rows(CurrentAnswer)
    await chats.closed()
    assert await chats.standing() == [(1, "Ada", 10, 1)]
    assert len(await chats.daily.rows(AnswerRow)) == 4
    assert row.member_id == min(member.id for member in await chats.daily.rows(Member) if member.name == "Ada")


async def test_a_result_says_the_same_of_its_points_after_linking(chats: TwoChats) -> None:
    await chats.schedule("discord")
    ref = await chats.asked()
    await chats.answer("ada.l", "slack", ref)
    await chats.closed()
    before = (await chats.daily.client.result(chats.who("ada.l", "slack"), ref)).points
    await chats.daily.client.join(chats.who("Ada", "discord"), GUILD)
    await chats.link("Ada", "ada.l")
    after = (await chats.daily.client.result(chats.who("Ada", "discord"), ref)).points
    assert after == before and after is not None and (after.total, after.corrected) == (10, 0)


async def test_impossible_linking_is_refused_with_a_reason(chats: TwoChats) -> None:
    client = chats.daily.client
    ada, ada_too = chats.who("Ada", "discord"), chats.who("Ada", "slack")
    made = await client.link(ada, "make")
    for who, event, why in (
        (chats.who("Eve", "discord"), "same chat", "same chat"),
        (chats.who("Eve", "slack", workspace="elsewhere"), "elsewhere", "unlinked chats"),
    ):
        with refused(LinkRefused.model_validate({"what": "member", "why": why})):
            await client.link_with(who, event, made.code)
    done = await client.link_with(ada_too, "link", made.code)
    assert await client.link_with(ada_too, "link", made.code) == done
    again = await client.link(ada, "again")
    with refused(LinkRefused(what="member", why="linked")):
        await client.link_with(ada_too, "link again", again.code)
    with refused(LinkRefused(what="member", why="both known")):
        await client.link_with(chats.who("Eve", "slack"), "eve", again.code)
    with refused(LinkRefused(what="member", why="wrong code")):
        await client.link_with(chats.who("Eve", "slack"), "guess", "ABCDEFGH")


async def test_a_forgotten_members_code_links_nothing(chats: TwoChats) -> None:
    client = chats.daily.client
    made = await client.link(chats.who("Ada", "discord"), "make")
    await client.privacy(chats.who("Ada", "discord"), "forget", "forget")
    with refused(LinkRefused(what="member", why="wrong code")):
        await client.link_with(chats.who("Ada", "slack"), "link", made.code)


@pytest.mark.sandbox
async def test_a_verdict_after_linking_is_credited_and_sent_to_the_merged_member(
    settings: Settings, clock: Clock, sandbox: SandboxClient
) -> None:
    async with build(settings, clock, sandbox).running() as service:
        chats = TwoChats(daily_channel_of(service), clock)
        await chats.join_chats()
        await chats.daily.bank(code())
        await chats.schedule("discord")
        ref = await chats.asked()
        given = AnswerInput(code="def double(x):\n    return 2 * x\n")
        await chats.daily.client.answer(chats.who("Ada", "slack"), TEAM, "code", ref, given, clock.now)
        await chats.closed()
        assert await chats.standing() == []
        await chats.link("Ada")
        (answer,) = await chats.daily.rows(AnswerRow)
        await grading.judge_answer(service.sessions, service.sandbox, answer.id, clock, last=True)
        notes = [each for each in await chats.deliver() if isinstance(each.body, VerdictNote)]
        # Where the answer came from.
        assert [(note.platform, note.workspace, note.member) for note in notes] == [("slack", "T1", "slack-ada")]
        (booked,) = await chats.daily.rows(Ledger)
        (kept,) = [row for row in await chats.daily.rows(Member) if row.name == "Ada" and row.merged_into is None]
        assert (booked.member_id, answer.member_id != kept.id) == (kept.id, True)
        assert await chats.standing() == [(1, "Ada", 10, 1)]


async def test_the_list_of_members_finds_who_was_merged_by_the_id_of_either(chats: TwoChats) -> None:
    for platform in ("discord", "slack"):
        await chats.daily.client.me(chats.who("Ada", platform))
    ids = [member.id for member in await chats.daily.rows(Member) if member.name == "Ada"]
    await chats.link("Ada")
    for one in ids:
        page = await chats.daily.client.members(chats.boss("discord"), member_id=one)
        assert [len(row.identities) for row in page.members] == [2]
    assert (await chats.daily.client.members(chats.boss("discord"), member_id=max(ids) + 100)).members == ()


@pytest.mark.parametrize(("winner", "former"), [("discord-bo", ("discord-ada",)), ("slack-ada", ())])
async def test_the_role_of_a_winner_who_linked_their_accounts_goes_to_the_next_one(
    chats: TwoChats, winner: str, former: tuple[str, ...]
) -> None:
    client, boss = chats.daily.client, chats.boss("discord")
    for name in ("Ada", "Bo"):
        await client.join(chats.who(name, "discord"), GUILD)
    await client.join(chats.who("Ada", "slack"), TEAM)
    await client.winner_role_set(boss, chats.event(), GUILD, "season", "9")

    async def plays(season: str, best: str) -> WinnerPost:
        await client.season_start(boss, chats.event(), season)
        await client.member_adjust(boss, chats.event(), best, 5, "for the test")
        chats.clock.advance(hours=1)
        await client.season_end(boss, chats.event())
        posts = [row for row in await chats.daily.rows(Outbox) if row.kind == "winner"]
        return WinnerPost.from_stored(posts[-1].body)

    assert (await plays("Autumn", "discord-ada")).winners == ("discord-ada",)
    code = (await client.link(chats.who("Ada", "slack"), chats.event())).code
    await client.link_with(chats.who("Ada", "discord"), chats.event(), code)
    post = await plays("Winter", winner)
    assert (post.winners, post.former) == (("discord-ada",) if not former else ("discord-bo",), former)


async def test_what_was_confirmed_of_an_open_answer_is_no_part_of_taking_part_after_a_link(
    daily: DailyChannel, clock: Clock
) -> None:
    chats = TwoChats(daily, clock)
    await chats.join_chats()
    await daily.bank(prose())
    await chats.schedule("discord")
    ref = await chats.asked()
    slack, discord = chats.who("Ada", "slack"), chats.who("Ada", "discord")
    await daily.client.answer(slack, TEAM, "answer", ref, AnswerInput(text="They share."), clock.now)
    await chats.closed()
    await daily.client.open_answer_credit(chats.boss("discord"), "credit", 1, 100)
    before = (await daily.client.result(slack, ref)).points
    assert before is not None and before.confirmed > 0 < before.taking_part
    await daily.client.join(discord, GUILD)
    await chats.link("Ada")
    assert (await daily.client.result(discord, ref)).points == before
