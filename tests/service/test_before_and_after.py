"""Boards, ratings and statistics before and after a corrected key and a member who forgets: one table, cell by cell."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from service.store.tables import Ledger
from service.wire import QuestionPost
from tests.conftest import Clock
from tests.service.competitions.test_duels import KEYS, RIGHT, WRONG, Players
from tests.service.daily_channel import DAILY, SPEC, DailyChannel, choice

EVERY_DAY = SPEC.model_copy(update={"weekdays": tuple(range(7))})
ASKED = "asked"


@dataclass(frozen=True)
class Standing:
    """What everybody sees at one moment."""

    board: dict[str, tuple[int, int, int]]
    """Rank, points and answered rounds of each member, of all time."""
    ladder: dict[str, int]
    """Ratings of duels."""
    answers: int
    right: float | None
    """Answers to the question in its statistics, and the share of them that is right."""
    wrong: str
    """Most chosen wrong option."""
    ledger: int
    """Points of everybody in the ledger, whether they are on a board or not."""


async def look(players: Players, of: str = "Cleo") -> Standing:
    client, who = players.client, players.daily.who(of)
    board = await client.board(who, DAILY, "all")
    item = await client.question_statistics(players.daily.who("Boss", admin=True), ASKED)
    return Standing(
        board={row.name: (row.rank, row.points, row.answered) for row in board.rows},
        ladder={row.name: row.rating for row in (await client.duel_ladder(who)).rows},
        answers=item.answers,
        right=None if item.right is None else round(item.right, 3),
        wrong=item.wrong.text if item.wrong else "",
        ledger=sum(row.points for row in await players.daily.rows(Ledger)),
    )


def table(moments: dict[str, Standing]) -> str:
    """Returns the moments side by side as a Markdown table."""
    names = sorted({name for one in moments.values() for name in one.board | one.ladder})
    rows: list[tuple[str, ...]] = [("", *moments), tuple("---" for _ in range(len(moments) + 1))]
    for name in names:
        seen = [one.board.get(name) for one in moments.values()]
        rows.append((f"board: {name}", *(f"#{s[0]}, {s[1]} points, {s[2]} answered" if s else "–" for s in seen)))
    for name in names:
        rows.append((f"rating: {name}", *(str(one.ladder.get(name, "–")) for one in moments.values())))
    rows.append(("question: answers", *(str(one.answers) for one in moments.values())))
    rows.append(
        ("question: right", *(f"{one.right:.0%}" if one.right is not None else "–" for one in moments.values()))
    )
    rows.append(("question: wrong option", *(one.wrong or "–" for one in moments.values())))
    rows.append(("ledger: points", *(str(one.ledger) for one in moments.values())))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


@pytest.fixture
async def players(daily: DailyChannel, clock: Clock) -> Players:
    """A round that Ada, Bo, Cleo and Dan answered, and a duel that Ada won against Bo."""
    await daily.bank(choice(ASKED))
    await daily.schedule(EVERY_DAY)
    clock.advance(hours=1)
    players = Players(daily, clock)
    (post,) = [body for body in await daily.ticked() if isinstance(body, QuestionPost)]
    for name, option in {"Ada": "a", "Bo": "b", "Cleo": "b", "Dan": "c"}.items():
        clock.advance(minutes=1)
        await daily.answer(post.ref, option, name)
    await daily.client.close_now(daily.who("Boss", admin=True), "close", DAILY)
    await daily.ticked()
    await daily.bank(*(choice(key) for key in KEYS), name="duels")
    duel = (await players.begun()).duel
    await players.plays("Ada", duel, [RIGHT] * len(KEYS))
    await players.plays("Bo", duel, [WRONG] * len(KEYS))
    return players


async def test_a_correction_and_members_who_forget_change_what_they_should(players: Players) -> None:
    moments = {"before": await look(players)}

    async def forgets(name: str) -> None:
        await players.client.privacy(players.daily.who(name), f"{name} forgets", "forget")
        await players.daily.ticked()
        moments[f"{name} forgets"] = await look(players)

    await forgets("Dan")
    first = choice(ASKED)
    options = tuple(replace(one, right=one.id == "b", reason="" if one.id == "b" else "no") for one in first.options)
    await players.daily.bank(replace(first, options=options, answer="`x.clone()`"))
    moments["b is right"] = await look(players)
    await forgets("Ada")
    await forgets("Bo")
    print(table(moments))
    before = Standing({"Ada": (1, 10, 1)}, {"Ada": 1138, "Bo": 927}, 4, 0.25, "`x.clone()`", ledger=10)
    # The answer of who forgets leaves the statistics. A corrected question starts anew, and its points move once.
    dan = replace(before, answers=3, right=0.333)
    corrected = Standing({"Bo": (1, 10, 1), "Cleo": (2, 10, 1)}, before.ladder, 0, None, "", ledger=20)
    # Who forgets leaves boards and ladder. What they earned stays in the ledger, and the ratings of others stay.
    ada = replace(corrected, ladder={"Bo": 927})
    bo = replace(corrected, ladder={}, board={"Cleo": (1, 10, 1)})
    assert list(moments.values()) == [before, dan, corrected, ada, bo]
