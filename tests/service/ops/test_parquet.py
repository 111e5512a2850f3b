"""The archive for analysis: closed months, one workspace a file, nothing that members wrote."""

from __future__ import annotations

import asyncio
import stat
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest

from service.ops.parquet import Archived, Arrow, parse_month, write_archive
from service.process import CommandFailed
from service.store.analysis import Row
from service.store.session import libpq_url
from service.wire import AnswerInput
from tests.conftest import Clock
from tests.service.daily_channel import SPEC, DailyChannel, choice, prose
from tests.service.two_chats import GUILD, TwoChats

pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install -e '.[archive]'")

MARCH, APRIL = (datetime(2026, month, 1, tzinfo=UTC) for month in (3, 4))
SECRET = "canary_that_a_member_wrote"


def table(folder: Path, kind: str, workspace: int, month: str = "2026-03") -> list[dict[str, Any]]:
    """Returns the rows of a file."""
    file = folder / kind / f"workspace={workspace}" / f"month={month}" / "rows.parquet"
    found: list[dict[str, Any]] = Arrow().parquet.read_table(file, partitioning=None).to_pylist()
    return found


async def archived(daily: DailyChannel, folder: Path, at: datetime, **wanted: Any) -> list[Archived]:
    url = daily.service.settings.database_url
    return await asyncio.to_thread(write_archive, Arrow(), url, folder, at, **wanted)


async def test_a_month_is_written_by_workspace_without_names_or_texts(
    daily: DailyChannel, clock: Clock, tmp_path: Path
) -> None:
    await daily.bank(choice())
    await daily.schedule()
    clock.advance(hours=1)
    (post,) = [body for body in await daily.ticked() if body.kind == "question"]
    assert (await daily.answer(post.ref, "b")).status == "recorded"
    assert (await daily.answer(post.ref, "a")).status == "changed"
    clock.advance(hours=9)
    await daily.ticked()
    done = await archived(daily, tmp_path, APRIL)
    assert [(one.month, one.files) for one in done] == [("2026-03", 3)]
    (round_,) = table(tmp_path, "rounds", 1)
    assert (round_["question"], round_["kind"], round_["day"].isoformat()) == ("views", "choice", "2026-03-02")
    first, second = table(tmp_path, "answers", 1)
    assert [(one["options"], one["counts"], one["number"]) for one in (first, second)] == [
        (["b"], False, 1),
        (["a"], True, 2),
    ]
    assert (second["verdict"], second["credit"], second["round"]) == ("accepted", 1.0, round_["round"])
    (points,) = table(tmp_path, "ledger", 1)
    assert (points["member"], points["round"]) == (second["member"], round_["round"])
    assert points["points"] > 0 and points["at"] == round_["opens_at"]
    assert not {"name", "member_name", "given", "text", "code"} & {*first, *points}
    files = await asyncio.to_thread(lambda: [path for path in tmp_path.rglob("*") if path.is_file()])
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert not [path for path in files if b"Ada" in path.read_bytes()]


async def test_names_are_added_on_request_except_of_members_who_were_forgotten(
    daily: DailyChannel, clock: Clock, tmp_path: Path
) -> None:
    await daily.bank(choice())
    await daily.schedule()
    clock.advance(hours=1)
    (post,) = [body for body in await daily.ticked() if body.kind == "question"]
    for name in ("Ada", "Bo"):
        await daily.answer(post.ref, "a", name)
    clock.advance(hours=9)
    await daily.ticked()
    await daily.client.privacy(daily.who("Bo"), "forgets", "forget")
    await archived(daily, tmp_path, APRIL, names=True)
    assert sorted(one["member_name"] or "" for one in table(tmp_path, "ledger", 1)) == ["", "Ada"]


async def test_what_members_wrote_is_left_out(daily: DailyChannel, clock: Clock, tmp_path: Path) -> None:
    await daily.bank(prose())
    await daily.schedule()
    clock.advance(hours=1)
    (post,) = [body for body in await daily.ticked() if body.kind == "question"]
    await daily.answer(post.ref, AnswerInput(text=SECRET), "Ada")
    clock.advance(hours=9)
    await daily.ticked()
    await archived(daily, tmp_path, APRIL, names=True)
    (answer,) = table(tmp_path, "answers", 1)
    assert (answer["kind"], answer["options"]) == ("open", None)
    assert not any(SECRET in str(one) for one in answer.values())


async def test_a_workspace_has_its_own_files_and_can_be_written_alone(
    daily: DailyChannel, clock: Clock, tmp_path: Path
) -> None:
    for workspace in ("home", "away"):
        await daily.bank(choice(), name=workspace)
        await daily.schedule(workspace=workspace)
    clock.advance(hours=1)
    assert [body.kind for body in await daily.ticked()].count("question") == 2
    clock.advance(hours=9)
    await daily.ticked()
    await archived(daily, tmp_path / "all", APRIL)
    for number in (1, 2):
        assert {one["schedule"] for one in table(tmp_path / "all", "rounds", number)} == {number}
    await archived(daily, tmp_path / "one", APRIL, workspaces=[2])
    assert table(tmp_path / "one", "rounds", 2) == table(tmp_path / "all", "rounds", 2)
    with pytest.raises(FileNotFoundError):
        table(tmp_path / "one", "rounds", 1)
    assert len(await archived(daily, tmp_path / "one", APRIL)) == 1, "the month was not there as a whole"
    assert table(tmp_path / "one", "rounds", 1) == table(tmp_path / "all", "rounds", 1)


async def test_accounts_that_were_linked_are_one_member(daily: DailyChannel, clock: Clock, tmp_path: Path) -> None:
    chats = TwoChats(daily, clock)
    await daily.bank(choice())
    await daily.client.schedule_add(chats.boss("discord"), "schedule", GUILD, SPEC)
    await chats.join_chats()
    ref = await chats.asked("discord")
    await chats.answer("Ada", "discord", ref)
    await chats.answer("Ada", "slack", ref, "b", after=2)
    await chats.closed()
    await chats.link("Ada")
    await archived(daily, tmp_path, APRIL)
    answers = table(tmp_path, "answers", 1)
    assert (len(answers), len({one["member"] for one in answers})) == (2, 1)


class WritesMeanwhile(Arrow):
    """Has the question renamed once the first file is written."""

    def __init__(self, database_url: str) -> None:
        super().__init__()
        self.database_url = database_url

    def write(self, file: Path, schema: Any, rows: Iterator[Row]) -> int:
        count = super().write(file, schema, rows)
        with psycopg.connect(libpq_url(self.database_url)) as connection:
            connection.execute("update question set key = 'renamed'")
        return count


async def test_all_files_of_a_month_show_one_instant(daily: DailyChannel, clock: Clock, tmp_path: Path) -> None:
    await daily.bank(choice())
    await daily.schedule()
    clock.advance(hours=1)
    (post,) = [body for body in await daily.ticked() if body.kind == "question"]
    await daily.answer(post.ref, "a")
    clock.advance(hours=9)
    await daily.ticked()
    url = daily.service.settings.database_url
    await asyncio.to_thread(write_archive, WritesMeanwhile(url), url, tmp_path, APRIL)
    (round_,), (answer,) = table(tmp_path, "rounds", 1), table(tmp_path, "answers", 1)
    assert (round_["question"], answer["question"]) == ("views", "views")


def test_a_file_that_cannot_be_finished_leaves_the_one_of_before(tmp_path: Path) -> None:
    def broken() -> Iterator[Row]:
        yield (1,)
        raise psycopg.OperationalError("the connection was lost")

    arrow, file = Arrow(), tmp_path / "rows.parquet"
    schema = arrow.arrow.schema([("round", arrow.arrow.int64())])
    assert arrow.write(file, schema, iter([(7,), (8,)])) == 2
    before = file.read_bytes()
    with pytest.raises(psycopg.OperationalError):
        arrow.write(file, schema, broken())
    assert file.read_bytes() == before


async def test_a_day_that_was_skipped_keeps_no_month_open(daily: DailyChannel, clock: Clock, tmp_path: Path) -> None:
    await daily.schedule()
    clock.advance(hours=1)
    await daily.ticked()
    (done,) = await archived(daily, tmp_path, APRIL)
    (round_,) = table(tmp_path, "rounds", 1)
    assert (done.rows, round_["skipped"], round_["closed_at"]) == (1, "no question", None), "there is no bank"


async def test_a_month_is_written_once_and_again_on_request(daily: DailyChannel, clock: Clock, tmp_path: Path) -> None:
    await daily.bank(choice())
    await daily.schedule()
    clock.advance(hours=1)
    (post,) = [body for body in await daily.ticked() if body.kind == "question"]
    assert await archived(daily, tmp_path, APRIL) == [], "a round of the month is open"
    clock.advance(hours=9)
    await daily.ticked()
    assert await archived(daily, tmp_path, datetime(2026, 3, 31, 23, tzinfo=UTC)) == [], "the month is not over"
    with pytest.raises(CommandFailed, match="2026-03 is not over"):
        await archived(daily, tmp_path, datetime(2026, 3, 31, 23, tzinfo=UTC), months=[MARCH])
    assert len(await archived(daily, tmp_path, APRIL)) == 1
    assert await archived(daily, tmp_path, APRIL) == []
    again = await archived(daily, tmp_path, APRIL, months=[MARCH])
    assert [(one.month, one.rows) for one in again] == [("2026-03", 1)]
    assert post.ref


def test_a_month_is_a_year_and_a_number() -> None:
    assert parse_month("2026-03") == MARCH
    for wrong in ("2026-13", "26-03", "2026-3", "March"):
        with pytest.raises(Exception, match="is not a month such as"):
            parse_month(wrong)


def test_without_pyarrow_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(CommandFailed, match=r"pip install 'dailygrad\[archive\]'"):
        Arrow()
