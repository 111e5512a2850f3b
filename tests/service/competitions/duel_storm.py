"""Ends many duels at once over many connections, with duplicated clicks and crashes, and compares every rating with a
sequential oracle.

`python -m tests.service.competitions.duel_storm --duels 10000` does so on a server of its own, or on the one in
DATABASE_URL.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import timedelta
from itertools import combinations
from time import perf_counter

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession

from questions.model import as_data
from service.competitions import duels
from service.domain.duels import PLAY_WITHIN, QUESTIONS, Rating, Result, rate_match
from service.errors import Refused
from service.store.competition_tables import Duel, DuelQuestion, DuelRating, DuelTurn
from service.store.members import Caller
from service.store.session import Sessions, make_engine, make_sessions
from service.store.tables import Ledger, Outbox
from service.wire import AnswerInput, DuelRefused
from tests.bench.rounds import database
from tests.conftest import MONDAY
from tests.service.daily_channel import choice

CLICKS = 2
"""Clicks on the last answer of each duel; the leader ends each duel once as well."""
CRASHES = 0.05
"""Share of the transactions that are lost just before they commit."""
NOW = MONDAY + timedelta(minutes=1)
_FILL = """
insert into workspace (name, created_at) values ('storm', now());
insert into chat (workspace_id, platform, external_id, created_at) values (1, 'web', 'storm', now());
insert into channel (workspace_id, chat_id, external_id) values (1, 1, 'daily');
insert into bank (name, title) values ('storm', 'Storm');
insert into member (workspace_id, name, joined_at)
    select 1, 'Member ' || n, now() from generate_series(1, {members}) n;
insert into identity (workspace_id, chat_id, member_id, external_id, name)
    select 1, 1, n, n::text, 'Member ' || n from generate_series(1, {members}) n;
insert into question (bank_id, key, current) select 1, 'q' || n, 1 from generate_series(1, {questions}) n;
insert into question_version (question_id, version, kind, topic, answered, digest, body, created_at)
    select n, 1, 'choice', '', true, '', cast(:body as jsonb), now() from generate_series(1, {questions}) n
"""


class Crash(Exception):
    """A process ended before its transaction was committed."""


@dataclass(frozen=True)
class Ending:
    """A duel before its last answer, which is the opponent's."""

    duel: int
    last: int
    """Id of the last question."""
    opponent: int
    given: AnswerInput


@dataclass(frozen=True)
class Report:
    """What happened."""

    duels: int
    attempts: int
    crashes: int
    draws: int
    seconds: float


async def run_storm(sessions: Sessions, count: int, members: int, connections: int, seed: int = 1) -> Report:
    """Ends `count` duels of distinct pairs of `members`. Raises AssertionError unless each is scored exactly once."""
    chance = random.Random(seed)
    async with sessions.begin() as session:
        endings = await _prepare(session, count, members, chance)
    work = [(ending, click) for ending in endings for click in range(CLICKS + 1)]
    # Duplicates stay close to each other, so that they meet.
    work = sorted(work, key=lambda each: each[0].duel + chance.uniform(0, 2 * connections))
    queue, crashes = iter(work), Counter[str]()

    async def take() -> None:
        for ending, click in queue:
            try:
                async with sessions.begin() as session:
                    await _end(session, ending, click)
                    if chance.random() < CRASHES:
                        raise Crash
            except Crash:
                crashes["crash"] += 1

    begun = perf_counter()
    await asyncio.gather(*(take() for _ in range(connections)))
    await _finish(sessions, endings)
    seconds = perf_counter() - begun
    async with sessions() as session:
        draws = await check_scores(session, count)
    return Report(count, len(work), crashes["crash"], draws, seconds)


async def _prepare(session: AsyncSession, count: int, members: int, chance: random.Random) -> list[Ending]:
    """Fills the database with duels in which only the opponent's last answer is missing."""
    for statement in _FILL.format(members=members, questions=QUESTIONS).split(";"):
        values = {"body": json.dumps(as_data(choice()))} if ":body" in statement else {}
        await session.execute(text(statement), values)
    pairs = chance.sample(list(combinations(range(1, members + 1), 2)), count)
    endings = []
    for challenger, opponent in pairs:
        duel = Duel(
            workspace_id=1,
            chat_id=1,
            channel_id=1,
            challenger_id=challenger,
            opponent_id=opponent,
            state="running",
            asked_at=MONDAY,
            respond_by=MONDAY + PLAY_WITHIN,
            accepted_at=MONDAY,
            ends_at=MONDAY + PLAY_WITHIN,
        )
        session.add(duel)
        await session.flush()
        asked = [DuelQuestion(duel_id=duel.id, number=n, version_id=n) for n in range(1, QUESTIONS + 1)]
        session.add_all(asked)
        await session.flush()
        for side in ("challenger", "opponent"):
            for question in asked:
                answered = {"answered_at": MONDAY + timedelta(seconds=chance.choice((10, 20))), "given": {}}
                is_last = side == "opponent" and question is asked[-1]
                turn = {"question_id": question.id, "side": side, "shown_at": MONDAY}
                session.add(
                    DuelTurn(**turn, correct=not is_last and chance.random() < 0.6, **({} if is_last else answered))
                )
        endings.append(Ending(duel.id, asked[-1].id, opponent, AnswerInput(options=(chance.choice("ab"),))))
        await session.flush()
        session.expunge_all()
    return endings


async def _end(session: AsyncSession, ending: Ending, click: int) -> None:
    """Clicks the last answer, or ends the duel as the leader does."""
    if click == CLICKS:
        await duels.settle(session, 1, ending.duel, NOW)
        return
    caller = Caller(1, ending.opponent, 1, "", False, 1, ending.opponent)
    try:
        await duels.answer_question(session, caller, f"d{ending.last}", ending.given, NOW, NOW)
    except Refused as refused:
        # The second click, after the first has ended the duel.
        assert refused.refusal == DuelRefused(why="ended")


async def _finish(sessions: Sessions, endings: list[Ending]) -> None:
    """Repeats the clicks of duels whose transactions were all lost."""
    async with sessions() as session:
        left = set(await session.scalars(select(Duel.id).where(Duel.ended_at.is_(None))))
    for ending in endings:
        if ending.duel in left:
            async with sessions.begin() as session:
                await _end(session, ending, 0)


async def check_scores(session: AsyncSession, count: int) -> int:
    """Compares results, ratings, messages and points with an oracle that scores one duel after the other.

    Returns the number of draws.
    """
    found = {duel.id: duel for duel in await session.scalars(select(Duel))}
    scores = await _scores(session)
    ratings = (await session.scalars(select(DuelRating).order_by(DuelRating.id))).all()
    assert len(found) == count and len(ratings) == 2 * count
    by_duel: dict[int, list[DuelRating]] = defaultdict(list)
    for row in ratings:
        by_duel[row.duel_id].append(row)
    assert all([row.side for row in rows] == ["challenger", "opponent"] for rows in by_duel.values())
    known: dict[int, Rating] = defaultdict(Rating)
    tally: dict[int, Counter[str]] = defaultdict(Counter)
    # Both members are locked when rows are added, so the order of ids is an order in which the duels were scored.
    for duel_id, rows in sorted(by_duel.items(), key=lambda pair: pair[1][0].id):
        duel, (first, second) = found[duel_id], rows
        winner = _winner(scores[duel_id, "challenger"], scores[duel_id, "opponent"])
        assert (duel.state, duel.winner, duel.told) == ("over", winner, True)
        result: Result = "draw" if winner == "draw" else "first" if winner == "challenger" else "second"
        before = known[duel.challenger_id], known[duel.opponent_id]
        for row, start, rating in zip((first, second), before, rate_match(*before, result), strict=True):
            counts = tally[row.member_id]
            counts.update(
                ["duels", "draws"] if winner == "draw" else ["duels", "wins"] if winner == row.side else ["duels"]
            )
            assert (row.mu_before, row.sigma_before) == (start.mu, start.sigma)
            assert (row.mu, row.sigma) == (rating.mu, rating.sigma)
            assert (row.number, row.wins, row.draws) == (counts["duels"], counts["wins"], counts["draws"])
            known[row.member_id] = rating
    keys = Counter(key.split(":")[1] for key in await session.scalars(select(Outbox.key)))
    # To the challenger and to the channel; to the opponent too if the leader's tick ended the duel.
    assert set(keys) == {str(duel_id) for duel_id in found} and set(keys.values()) <= {2, 3}
    assert (await session.scalars(select(Ledger.id))).all() == []
    return sum(duel.winner == "draw" for duel in found.values())


async def _scores(session: AsyncSession) -> dict[tuple[int, str], tuple[int, int]]:
    """Returns right answers and seconds by duel and side, added up by PostgreSQL."""
    rows = await session.execute(
        text(
            "select duel_id, side, count(*) filter (where correct), "
            "round(sum(extract(epoch from answered_at - shown_at)))::int "
            "from duel_turn join duel_question on duel_question.id = question_id group by duel_id, side"
        )
    )
    return {(duel_id, side): (correct, seconds) for duel_id, side, correct, seconds in rows}


def _winner(challenger: tuple[int, int], opponent: tuple[int, int]) -> str:
    if challenger == opponent or (not challenger[0] and not opponent[0]):
        return "draw"
    best = min((challenger, opponent), key=lambda score: (-score[0], score[1]))
    return "challenger" if best == challenger else "opponent"


async def _main(count: int, members: int, connections: int) -> None:
    with database() as url:
        engine = make_engine(url)
        try:
            report = await run_storm(make_sessions(engine), count, members, connections)
        finally:
            await engine.dispose()
    print(
        f"{report.duels:,} duels of {members} members over {connections} connections: {report.attempts:,} clicks in "
        f"{report.seconds:.0f} s, {report.crashes:,} of them lost; {report.draws:,} draws. Each was scored "
        "once, and every rating equals the oracle's."
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--duels", type=int, default=10_000)
    parser.add_argument("--members", type=int, default=200)
    parser.add_argument("--connections", type=int, default=12)
    options = parser.parse_args()
    asyncio.run(_main(options.duels, options.members, options.connections))
