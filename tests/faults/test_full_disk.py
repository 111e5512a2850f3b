"""A bot whose data folder is on a full disk goes on answering and posting, and says in its log what is wrong."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.backend import Backend, Bots
from tests.faults.discord_faults import option, team_ready

pytestmark = pytest.mark.slow


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a file system of its own, of one megabyte."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a small file system")
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True, text=True)
    if mounted.returncode != 0:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def fill(folder: Path) -> Path:
    """Fills the disk to its last byte; returns the file."""
    file = folder / "filling"
    with file.open("wb", buffering=0) as out, contextlib.suppress(OSError):
        while out.write(b"x" * 4096):
            pass
    return file


async def test_a_full_disk_costs_no_answer_and_no_post(backend: Backend, bots: Bots, small_disk: Path) -> None:
    async with team_ready(backend, bots, "one-right") as team:
        bot = await team.starts(data=small_disk.name)
        filling = await asyncio.to_thread(fill, small_disk)
        question = await team.asks()
        opened = await team.opens(team.ann, question)
        card, first = option(opened)
        await team.double.settled(await team.double.press(team.ann, card, first))
        await bot.says("cannot write the journal: database or disk is full")
        rounds = await backend.client.today(team.who(team.ann), team.where(team.daily))
        assert rounds.forms[0].given is not None, "the answer was recorded"
        await asyncio.to_thread(filling.unlink)
        await team.double.settled(await team.double.press(team.bob, question, question.buttons["Answer"]))
        team.kept_the_rules()
