"""What members wrote is deleted after the time that the settings say; scores, points and statistics stay."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from psycopg.types.json import Jsonb
from sqlalchemy import delete

from service.config import InvalidSettings, Settings, read_settings
from service.rounds.retention import Retention
from service.store import markings
from service.store.answers import read_verdict
from service.store.competition_tables import DuelTurn, SprintAnswer
from service.store.retention import Maintenance, delete_old
from service.store.session import libpq_url
from service.store.tables import AnswerRow, Ledger, VerdictRow
from service.wire import AnswerInput, CaseView, QuestionPost, ValueDiffers, VerdictView
from tests.conftest import Clock
from tests.service.competitions.sprint_scene import SprintScene
from tests.service.daily_channel import DAILY, DailyChannel, choice, play_duel, prose, value

DAYS = 90


async def clear(daily: DailyChannel, days: int = DAYS) -> None:
    """Runs the retention of another leader, which has cleared nothing yet today."""
    async with daily.service.sessions.begin() as session:
        await session.execute(delete(Maintenance))
    await Retention(daily.service.sessions, {"answer_text": days}).check(daily.now)


async def ask(daily: DailyChannel, clock: Clock) -> str:
    """Posts a question; returns its ref."""
    await daily.schedule()
    clock.advance(hours=1)
    return next(body.ref for body in await daily.ticked() if isinstance(body, QuestionPost))


async def close(daily: DailyChannel) -> None:
    await daily.client.close_now(daily.who("Boss", admin=True), "close", DAILY)
    await daily.deliver()


@pytest.fixture
async def closed(daily: DailyChannel, clock: Clock) -> str:
    """A closed round with the key (2, 3), which Ada answered; Bob answered (3, 2)."""
    await daily.bank(value())
    ref = await ask(daily, clock)
    await daily.answer(ref, AnswerInput(text="(2, 3)"), "Ada")
    await daily.answer(ref, AnswerInput(text="(3, 2)"), "Bob")
    await close(daily)
    return ref


async def test_old_text_goes_and_the_result_stays(daily: DailyChannel, clock: Clock, closed: str) -> None:
    before = await daily.client.result(daily.who("Ada"), closed)
    board = await daily.client.board(daily.who("Ada"), DAILY, "all")
    clock.advance(days=DAYS - 1)
    await clear(daily)
    assert await daily.client.result(daily.who("Ada"), closed) == before, "not old enough"
    clock.advance(days=2)
    await clear(daily, 0)
    assert await daily.client.result(daily.who("Ada"), closed) == before, "kept for ever by default"

    await clear(daily)

    after = await daily.client.result(daily.who("Ada"), closed)
    assert before.verdict is not None and before.verdict.credit == 1
    verdict = before.verdict.model_copy(update={"judged": ""})
    assert after == before.model_copy(update={"given": AnswerInput(cleared=True), "verdict": verdict})
    assert (await daily.client.board(daily.who("Ada"), DAILY, "all")).rows == board.rows
    history = await daily.client.history(daily.who("Ada"))
    assert [past.given for past in history.rounds] == [AnswerInput(cleared=True)]
    statistics = await daily.client.question_statistics(daily.who("Boss", admin=True), "shape")
    assert (statistics.answers, statistics.right) == (2, 0.5)
    for row in await daily.rows(AnswerRow):
        assert "(2, 3)" not in str(row.given) and "(3, 2)" not in str(row.given)


async def test_an_export_says_so(daily: DailyChannel, clock: Clock, closed: str) -> None:
    clock.advance(days=DAYS + 1)
    await clear(daily)
    made = await daily.client.privacy(daily.who("Ada"), "export", "export")
    (answer,) = json.loads(made.export)["answers"]
    assert (answer["given"]["cleared"], answer["given"]["text"], answer["credit"]) == (True, None, 1)
    made = await daily.client.privacy(daily.who("Ada"), "csv", "csv")
    assert "(deleted after the time for which it is kept)" in made.export


async def test_a_corrected_key_moves_no_points_of_cleared_answers(
    daily: DailyChannel, clock: Clock, closed: str
) -> None:
    clock.advance(days=DAYS + 1)
    await clear(daily)
    before = await daily.rows(Ledger)
    await daily.bank(replace(value(), answer="(3, 2)"))
    assert [row.id for row in await daily.rows(Ledger)] == [row.id for row in before]


async def test_choices_and_answers_that_are_still_needed_stay(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice())
    ref = await ask(daily, clock)
    await daily.answer(ref, "b", "Ada")
    await close(daily)
    (row,) = await daily.rows(AnswerRow)
    clock.advance(days=DAYS + 1)
    await clear(daily)
    assert [one.given for one in await daily.rows(AnswerRow)] == [row.given]


async def test_an_answer_that_waits_for_its_verdict_stays(daily: DailyChannel, clock: Clock, closed: str) -> None:
    with psycopg.connect(libpq_url(daily.service.settings.database_url)) as connection:
        connection.execute("set session_replication_role = replica")  # no triggers: both are append-only
        connection.execute("delete from verdict")
        connection.execute("update answer set given = %s", (Jsonb({"code": "def double(x): ..."}),))
    clock.advance(days=DAYS + 1)
    await clear(daily)
    assert [row.given for row in await daily.rows(AnswerRow)] == [{"code": "def double(x): ..."}] * 2


async def test_an_open_round_keeps_its_answers_and_those_that_were_changed(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(value())
    ref = await ask(daily, clock)
    for text in ("(3, 2)", "(2, 3)"):
        await daily.answer(ref, AnswerInput(text=text), "Ada")
    clock.advance(days=DAYS + 1)
    await clear(daily)
    assert [row.given["text"] for row in await daily.rows(AnswerRow)] == ["(3, 2)", "(2, 3)"]


async def test_verdicts_of_code_lose_what_was_written_and_printed(
    daily: DailyChannel, clock: Clock, closed: str
) -> None:
    told = ValueDiffers("", "2", "secret 1")
    case = CaseView(
        number=1, verdict="wrong", visible=True, shown="double(1)", expected="2", got="secret 1", difference=told
    )
    view = VerdictView(
        verdict="wrong", credit=0.5, cases=(case,), message="secret 2", judged="secret 3", stdout="secret 4"
    )
    with psycopg.connect(libpq_url(daily.service.settings.database_url)) as connection:
        connection.execute("set dailygrad.forgetting = 'on'")
        connection.execute("update answer set given = %s", (Jsonb({"code": "secret 5", "options": None}),))
        connection.execute("update verdict set detail = %s", (Jsonb({**view.model_dump(mode="json"), "seed": "7"}),))
    clock.advance(days=DAYS + 1)

    await clear(daily)

    for answer in await daily.rows(AnswerRow):
        assert "secret" not in str(answer.given)
    for row in await daily.rows(VerdictRow):
        assert "secret" not in str(row.detail) and row.detail["seed"] == "7"
        kept = case.model_copy(update={"got": "", "difference": None})
        assert read_verdict(row) == view.model_copy(
            update={"cases": (kept,), "message": "", "judged": "", "stdout": ""}
        )


async def test_prose_that_is_gone_waits_for_nobody(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(prose())
    ref = await ask(daily, clock)
    await daily.answer(ref, AnswerInput(text="They share storage."), "Ada")
    await close(daily)

    async def waiting() -> int:
        async with daily.service.sessions() as session:
            return (await markings.list_waiting(session, 1, 10))[1]

    assert await waiting() == 1
    clock.advance(days=DAYS + 1)
    await clear(daily)
    assert await waiting() == 0


async def test_duels_lose_their_text_too(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice(), value(), *(value(f"shape-{number}") for number in range(3)))
    await daily.client.join(daily.who("Ada"), DAILY)
    duel = await play_duel(daily.client, daily.who("Ada"), daily.who("Bob"), DAILY, daily.now)
    clock.advance(days=DAYS + 1)
    await clear(daily)
    view = await daily.client.duel_show(daily.who("Ada"), duel)
    assert "(2, 3)" not in str([answer.given for answer in view.answers])
    made = await daily.client.privacy(daily.who("Ada"), "export", "export")
    assert any(turn["given"].get("cleared") for turn in json.loads(made.export)["duels"])


async def test_of_a_duel_only_what_is_old_enough_goes(daily: DailyChannel, clock: Clock) -> None:
    ada, bob = daily.who("Ada"), daily.who("Bob")
    await daily.bank(*(value(f"shape-{number}") for number in range(5)))
    await daily.client.join(bob, DAILY)
    duel = (await daily.client.duel_challenge(ada, DAILY, "challenge", "Bob")).duel
    await daily.client.duel_respond(bob, "accept", duel, True)
    for who in (ada, bob):
        ref = (await daily.client.duel_show(who, duel)).duel.next_ref
        await daily.client.duel_ask(who, ref)
        await daily.client.duel_answer(who, f"{who.name} answers", ref, AnswerInput(text=f"({who.name})"), clock.now)
        clock.advance(hours=20)
    clock.advance(days=DAYS, hours=-30)
    await clear(daily)
    given = str([row.given for row in await daily.rows(DuelTurn)])
    assert ("(Ada)" in given, "(Bob)" in given) == (False, True)


async def test_of_a_sprint_only_what_is_old_enough_goes(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(value())
    scene = SprintScene(daily, clock)
    await scene.starts(questions=1, seconds=60)
    post = await scene.asks()
    await scene.answers(post, AnswerInput(text="(2, 3)"), "Ada")
    await scene.passes(30)
    await scene.answers(post, AnswerInput(text="(3, 2)"), "Bob")
    await scene.reveals()
    first, _ = sorted(row.at for row in await daily.rows(SprintAnswer))
    async with daily.service.sessions.begin() as session:
        assert await delete_old(session, "answer_text", first + timedelta(seconds=15)) == 1
    texts = [AnswerInput.from_stored(row.given).text for row in await daily.rows(SprintAnswer)]
    assert sorted(texts, key=str) == ["(3, 2)", None]


async def test_a_sprint_keeps_what_it_has_not_graded_and_loses_the_text_after(
    daily: DailyChannel, clock: Clock
) -> None:
    async def given() -> AnswerInput:
        """Clears what was ever written; returns the answer that is left."""
        async with daily.service.sessions.begin() as session:
            await delete_old(session, "answer_text", datetime(3000, 1, 1, tzinfo=UTC))
        (row,) = await daily.rows(SprintAnswer)
        return AnswerInput.from_stored(row.given)

    await daily.bank(value())
    scene = SprintScene(daily, clock)
    await scene.starts(questions=1, seconds=60)
    await scene.answers(await scene.asks(), AnswerInput(text="(2, 3)"))
    assert await given() == AnswerInput(text="(2, 3)")
    assert (await scene.reveals()).right == 1
    assert await given() == AnswerInput(cleared=True)


async def test_a_member_cannot_call_an_answer_cleared(daily: DailyChannel, clock: Clock) -> None:
    """It would never be corrected."""
    await daily.bank(value())
    ref = await ask(daily, clock)
    await daily.answer(ref, AnswerInput(text="(3, 2)", cleared=True), "Ada")
    assert "cleared" not in (await daily.rows(AnswerRow))[0].given


def test_text_is_kept_for_a_month_at_least(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    assert settings.retention_days["answer_text"] == 0
    monkeypatch.setenv("DATABASE_URL", settings.database_url)
    monkeypatch.setenv("DAILYGRAD_SERVICE_TOKEN", "x" * 40)
    monkeypatch.setenv("DAILYGRAD_RETENTION_ANSWER_TEXT_DAYS", "7")
    with pytest.raises(InvalidSettings, match="30 days, or 0"):
        read_settings()
