"""Members who are forgotten or linked while something else is written about them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from service.client import ServiceRefused
from service.people import linking
from service.rounds import grading, leaderboard
from service.rounds.notifications import Reminders
from service.rounds.rounds import close_round
from service.store import privacy
from service.store.answers import HintTaken
from service.store.cards import CardRow
from service.store.chats import LinkCodeRow
from service.store.competition_tables import Duel
from service.store.markings import SharedAnswer
from service.store.members import resolve_caller
from service.store.notifications import NotificationSetting, Reminder
from service.store.review_tables import ReportRow, ReviewPlace, SuggestionRow
from service.store.tables import AnswerRow, CurrentAnswer, Identity, Ledger, Member, Outbox, Season, StreakGrace
from service.store.web_tables import WebAccountRow, WebMessageRow, WebSessionRow, WebSignInRow
from service.wire import AnswerInput, NotFound, QuestionPost, WebPost, Who
from tests.conftest import MONDAY, Clock
from tests.service.daily_channel import DAILY, DailyChannel, choice, code, prose
from tests.service.full_database import DOCUMENT
from tests.service.lock_waits import until_locked_out
from tests.service.two_chats import HERE, TwoChats


async def _asked(daily: DailyChannel, clock: Clock) -> str:
    await daily.schedule()
    clock.now = MONDAY + timedelta(hours=1)
    return next(body.ref for body in await daily.ticked() if isinstance(body, QuestionPost))


@asynccontextmanager
async def _forgetting(daily: DailyChannel, name: str = "Ada") -> AsyncIterator[AsyncSession]:
    """Forgets a member in a transaction that ends with the block."""
    async with daily.service.sessions.begin() as session:
        caller = await resolve_caller(session, daily.who(name), None, daily.now)
        await privacy.forget_member(session, caller, daily.now)
        yield session


async def _refused_after(calling: asyncio.Task[Any], name: str) -> None:
    with pytest.raises(ServiceRefused) as told:
        await calling
    assert told.value.refusal == NotFound(what="member", name=name)


async def test_an_answer_that_waits_until_its_author_is_forgotten_is_that_of_someone_new(
    daily: DailyChannel, clock: Clock
) -> None:
    await daily.bank(choice())
    ref = await _asked(daily, clock)
    await daily.answer(ref, "a")
    async with _forgetting(daily) as session:
        answering = asyncio.create_task(daily.answer(ref, "b"))
        await until_locked_out(session, answering)
    assert (await answering).status == "recorded"
    gone, new = [row for row in await daily.rows(Member) if row.name != "Boss"]
    assert (gone.name, new.name) == (privacy.FORGOTTEN_NAME, "Ada")
    assert [(row.member_id, row.name) for row in await daily.rows(AnswerRow)] == [(gone.id, ""), (new.id, "Ada")]
    assert [row.member_id for row in await daily.rows(CurrentAnswer)] == [new.id]


async def test_code_that_waits_until_its_author_is_forgotten_is_refused(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(code())
    ref = await _asked(daily, clock)
    given = AnswerInput(code="def double(x):\n    return 2 * x\n")
    await daily.answer(ref, given)
    async with _forgetting(daily) as session:
        answering = asyncio.create_task(daily.answer(ref, given))
        await until_locked_out(session, answering)
    await _refused_after(answering, "Ada")
    assert [(row.name, row.given) for row in await daily.rows(AnswerRow)] == [("", {})]
    assert await daily.rows(CurrentAnswer) == []


@pytest.mark.parametrize("answered", [True, False])
async def test_who_forgets_during_a_close_is_not_named_by_its_board_and_has_no_card(
    daily: DailyChannel, clock: Clock, answered: bool
) -> None:
    await daily.bank(*(choice(f"q{number}") for number in range(9)))
    await daily.answer(await _asked(daily, clock), "a")
    clock.advance(hours=9)
    await daily.ticked()
    clock.advance(hours=15)
    (second,) = [body for body in await daily.ticked() if isinstance(body, QuestionPost)]
    if answered:
        await daily.answer(second.ref, "a", "Bo")
    async with daily.service.sessions.begin() as session:
        assert await close_round(session, 2, daily.now)
        forgetting = asyncio.create_task(daily.client.privacy(daily.who(), "forget", "forget"))
        await until_locked_out(session, forgetting)
    await forgetting
    reveals = [row.body for row in await daily.rows(Outbox) if row.kind == "reveal"]
    names = [privacy.FORGOTTEN_NAME, "Bo"] if answered else [privacy.FORGOTTEN_NAME]
    assert [[row["name"] for row in body["board"]] for body in reveals][-1] == names
    assert "Ada" not in json.dumps([row.body for row in await daily.rows(Outbox)])
    assert await daily.rows(CardRow) == [], "the close made one for who was absent"


async def test_who_forgets_while_a_season_ends_is_not_named_by_its_final_board(
    daily: DailyChannel, clock: Clock
) -> None:
    boss = daily.who("Boss", admin=True)
    await daily.bank(*(choice(f"q{number}") for number in range(9)))
    await daily.client.season_start(boss, "start", "Spring")
    await daily.answer(await _asked(daily, clock), "a")
    clock.advance(hours=9)
    await daily.ticked()
    async with daily.service.sessions.begin() as session:
        caller = await resolve_caller(session, boss, None, daily.now)
        assert (await leaderboard.end_season(session, caller, daily.now)).final
        forgetting = asyncio.create_task(daily.client.privacy(daily.who(), "forget", "forget"))
        await until_locked_out(session, forgetting)
    await forgetting
    (season,) = await daily.rows(Season)
    assert [row["name"] for row in season.archive or ()] == [privacy.FORGOTTEN_NAME]


async def test_a_verdict_that_waits_until_its_author_is_forgotten_is_sent_to_nobody(
    daily: DailyChannel, clock: Clock
) -> None:
    await daily.bank(code())
    await daily.answer("p1", AnswerInput(code="def double(x):\n    return 2 * x\n"))
    async with _forgetting(daily) as session:
        judging = asyncio.create_task(grading.judge_answer(daily.service.sessions, None, 1, clock, last=True))
        await until_locked_out(session, judging)
    await judging
    assert "verdict" not in {row.kind for row in await daily.rows(Outbox)}


@pytest.mark.parametrize(
    "action", ["show", "notify", "hint", "duel", "link", "chat link", "settle", "decline", "review me"]
)
async def test_nothing_is_written_about_a_member_who_was_just_forgotten(
    daily: DailyChannel, clock: Clock, action: str
) -> None:
    await daily.bank(*(choice(f"q{number}", hint="Look at the storage.") for number in range(9)))
    ref = await _asked(daily, clock)
    ada, moderator = daily.who(), daily.who(admin=True)
    for name in ("Ada", "Bo"):
        await daily.client.join(daily.who(name), DAILY)
    report = (await daily.client.report(daily.who("Bo"), "report", "q1", "It is wrong.")).id
    suggestion = (await daily.client.suggest(daily.who("Bo"), "suggest", DOCUMENT)).id
    calls: dict[str, Callable[[], Awaitable[object]]] = {
        "show": lambda: daily.client.privacy(ada, "event", "show"),
        "notify": lambda: daily.client.notify(ada, "event", "reminders", True),
        "hint": lambda: daily.client.hint(ada, DAILY, ref, True),
        "duel": lambda: daily.client.duel_challenge(ada, DAILY, "event", "Bo"),
        "link": lambda: daily.client.link(ada, "event"),
        "chat link": lambda: daily.client.chat_link(moderator, "event"),
        "settle": lambda: daily.client.report_settle(moderator, "event", report, "dismissed", "It is right."),
        "decline": lambda: daily.client.suggestion_decline(moderator, "event", suggestion, "We have one."),
        "review me": lambda: daily.client.review_me(moderator, "event"),
    }
    async with _forgetting(daily) as session:
        calling = asyncio.ensure_future(calls[action]())
        await until_locked_out(session, calling)
    await _refused_after(calling, "Ada")
    (gone,) = [row for row in await daily.rows(Member) if row.forgotten_at]
    assert gone.hidden
    for table in (NotificationSetting, HintTaken, Duel, LinkCodeRow, ReviewPlace):
        assert await daily.rows(table) == []
    assert [row.reason for row in await daily.rows(ReportRow)] == [""]
    assert [row.reason for row in await daily.rows(SuggestionRow)] == [""]


@pytest.mark.parametrize("written", ["message", "private message", "session", "sign-in link", "account"])
async def test_nothing_is_written_about_a_person_of_the_web_chat_who_was_just_forgotten(
    daily: DailyChannel, written: str
) -> None:
    client = daily.client
    person = await client.web_join("local", "Ada")
    ada = Who(platform="web", workspace="local", member=person.id, name="Ada")
    await client.join(ada, DAILY)
    digest = "a" * 64
    calls: dict[str, Callable[[], Awaitable[object]]] = {
        "message": lambda: client.web_message_post("local", WebPost(channel="daily", content='"Hi"', author=person.id)),
        "private message": lambda: client.web_message_post(
            "local", WebPost(channel="daily", content='"For you"', member=person.id)
        ),
        "session": lambda: client.web_session_begin("local", person.id, digest, "A browser"),
        "sign-in link": lambda: client.web_sign_in_make("local", person.id, digest, 60),
        "account": lambda: client.web_account_join("local", digest, "Ada", person.id),
    }
    async with daily.service.sessions.begin() as session:
        caller = await resolve_caller(session, ada, None, daily.now)
        await privacy.forget_member(session, caller, daily.now)
        calling = asyncio.ensure_future(calls[written]())
        await until_locked_out(session, calling)
    assert not await calling
    for table in (WebMessageRow, WebSessionRow, WebSignInRow, WebAccountRow):
        assert await daily.rows(table) == []


async def test_an_open_answer_that_is_shared_while_its_author_is_forgotten_is_shown_to_nobody(
    daily: DailyChannel, clock: Clock
) -> None:
    await daily.bank(prose())
    ref = await _asked(daily, clock)
    await daily.answer(ref, AnswerInput(text="They share memory."))
    clock.advance(hours=9)
    await daily.ticked()
    await daily.client.mark(daily.who(), "mark", ref, (0,))
    async with _forgetting(daily) as session:
        sharing = asyncio.create_task(daily.client.share_answer(daily.who(), "share", ref))
        await until_locked_out(session, sharing)
    await _refused_after(sharing, "Ada")
    assert await daily.rows(SharedAnswer) == []


async def test_who_is_forgotten_is_not_reminded_in_the_same_moment(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(*(choice(f"q{number}") for number in range(9)))
    await _asked(daily, clock)
    await daily.client.notify(daily.who(), "notify", "reminders", True)
    clock.advance(hours=7, minutes=30)
    async with _forgetting(daily) as session:
        reminding = asyncio.create_task(Reminders(daily.service.sessions).check(clock.now))
        await until_locked_out(session, reminding)
    await reminding
    assert await daily.rows(Reminder) == []


@pytest.fixture
async def chats(daily: DailyChannel, clock: Clock) -> TwoChats:
    await daily.bank(*(choice(f"q{number}", hint="Look at the storage.") for number in range(9)))
    made = TwoChats(daily, clock)
    await made.join_chats()
    await made.schedule("discord")
    return made


async def _member_of(chats: TwoChats, who: Who) -> int:
    (identity,) = [row for row in await chats.daily.rows(Identity) if row.external_id == who.member]
    return identity.member_id


@asynccontextmanager
async def _linking(chats: TwoChats) -> AsyncIterator[AsyncSession]:
    """Merges Ada on Slack into Ada on Discord, in a transaction that ends with the block."""
    kept, gone = [await _member_of(chats, chats.who("Ada", each)) for each in ("discord", "slack")]
    async with chats.daily.service.sessions.begin() as session:
        await linking.merge(session, kept, gone, chats.clock.now)
        yield session


async def _join(chats: TwoChats, *names: str) -> None:
    for name in names:
        for platform in ("discord", "slack"):
            await chats.daily.client.join(chats.who(name, platform), HERE[platform])


async def test_points_that_are_given_while_accounts_are_linked_are_those_of_the_member(chats: TwoChats) -> None:
    await _join(chats, "Ada")
    slack = chats.who("Ada", "slack").member
    async with _linking(chats) as session:
        giving = asyncio.create_task(
            chats.daily.client.member_adjust(chats.boss("discord"), "adjust", slack, 7, "a good idea")
        )
        await until_locked_out(session, giving)
    await giving
    board = await chats.daily.client.board(chats.who("Ada", "discord"), None, "all")
    assert [(row.name, row.points) for row in board.rows] == [("Ada", 7)]
    kept = await _member_of(chats, chats.who("Ada", "discord"))
    assert [row.member_id for row in await chats.daily.rows(Ledger)] == [kept]


async def test_who_is_hidden_while_their_accounts_are_linked_is_hidden(chats: TwoChats) -> None:
    await _join(chats, "Ada")
    slack = chats.who("Ada", "slack").member
    async with _linking(chats) as session:
        hiding = asyncio.create_task(chats.daily.client.member_hide(chats.boss("discord"), "hide", slack, True))
        await until_locked_out(session, hiding)
    await hiding
    assert [row.hidden for row in await chats.daily.rows(Member) if row.name == "Ada"] == [True, True]


async def test_who_hides_while_their_accounts_are_linked_is_hidden(chats: TwoChats) -> None:
    await _join(chats, "Ada")
    async with _linking(chats) as session:
        hiding = asyncio.create_task(chats.daily.client.privacy(chats.who("Ada", "slack"), "hide", "hide"))
        await until_locked_out(session, hiding)
    assert (await hiding).hidden
    assert [row.hidden for row in await chats.daily.rows(Member) if row.name == "Ada"] == [True, True]


async def test_who_forgets_while_their_accounts_are_linked_is_forgotten(chats: TwoChats) -> None:
    await _join(chats, "Ada")
    async with _linking(chats) as session:
        forgetting = asyncio.create_task(chats.daily.client.privacy(chats.who("Ada", "slack"), "forget", "forget"))
        await until_locked_out(session, forgetting)
    assert (await forgetting).forgotten
    assert not [row for row in await chats.daily.rows(Identity) if row.name == "Ada"]
    assert not [row for row in await chats.daily.rows(Member) if row.name == "Ada"]


async def test_a_streak_that_is_restored_while_accounts_are_linked_is_that_of_the_member(chats: TwoChats) -> None:
    await _join(chats, "Ada")
    await chats.asked()
    slack, day = chats.who("Ada", "slack").member, chats.clock.now.date()
    async with _linking(chats) as session:
        restoring = asyncio.create_task(chats.daily.client.member_restore(chats.boss("discord"), "restore", slack, day))
        await until_locked_out(session, restoring)
    await restoring
    kept = await _member_of(chats, chats.who("Ada", "discord"))
    assert [row.member_id for row in await chats.daily.rows(StreakGrace)] == [kept]


async def test_a_hint_that_is_taken_while_accounts_are_linked_costs_the_member(chats: TwoChats) -> None:
    await _join(chats, "Ada")
    ref = await chats.asked()
    async with _linking(chats) as session:
        taking = asyncio.create_task(chats.daily.client.hint(chats.who("Ada", "slack"), HERE["slack"], ref, True))
        await until_locked_out(session, taking)
    assert (await taking).taken
    kept = await _member_of(chats, chats.who("Ada", "discord"))
    assert [row.member_id for row in await chats.daily.rows(HintTaken)] == [kept]


async def test_what_is_asked_for_while_accounts_are_linked_is_kept(chats: TwoChats) -> None:
    await _join(chats, "Ada")
    async with _linking(chats) as session:
        asking = asyncio.create_task(chats.daily.client.notify(chats.who("Ada", "slack"), "notify", "results", True))
        await until_locked_out(session, asking)
    assert (await asking).results
    kept = await _member_of(chats, chats.who("Ada", "discord"))
    assert [row.member_id for row in await chats.daily.rows(NotificationSetting)] == [kept]


async def test_the_card_of_a_question_that_closes_while_accounts_are_linked_is_that_of_the_member(
    chats: TwoChats,
) -> None:
    await _join(chats, "Ada")
    await chats.answer("Ada", "slack", await chats.asked())
    await chats.closed()
    await chats.asked()
    async with chats.daily.service.sessions.begin() as session:
        assert await close_round(session, 2, chats.clock.now)
        linking = asyncio.create_task(chats.link("Ada"))
        await until_locked_out(session, linking)
    await linking
    kept = await _member_of(chats, chats.who("Ada", "discord"))
    assert [row.member_id for row in await chats.daily.rows(CardRow)] == [kept]


@pytest.mark.parametrize("challenger", ["Ada", "Bo"])
async def test_a_challenge_while_accounts_are_linked_is_of_the_member(chats: TwoChats, challenger: str) -> None:
    await _join(chats, "Ada", "Bo")
    ada, bo = chats.who("Ada", "slack"), chats.who("Bo", "slack")
    asking, other = (ada, bo) if challenger == "Ada" else (bo, ada)
    async with _linking(chats) as session:
        calling = asyncio.create_task(chats.daily.client.duel_challenge(asking, HERE["slack"], "duel", other.member))
        await until_locked_out(session, calling)
    await calling
    (duel,) = await chats.daily.rows(Duel)
    kept = await _member_of(chats, chats.who("Ada", "discord"))
    assert kept in (duel.challenger_id, duel.opponent_id)


async def test_a_challenge_is_accepted_while_accounts_are_linked(chats: TwoChats) -> None:
    await _join(chats, "Ada", "Bo")
    ada, bo = chats.who("Ada", "slack"), chats.who("Bo", "slack")
    asked = await chats.daily.client.duel_challenge(bo, HERE["slack"], "duel", ada.member)
    async with _linking(chats) as session:
        accepting = asyncio.create_task(chats.daily.client.duel_respond(ada, "accept", asked.duel, True))
        await until_locked_out(session, accepting)
    assert (await accepting).state == "running"
