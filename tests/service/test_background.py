"""Work beside a block: it runs meanwhile, and has cleaned up when the block is left."""

from __future__ import annotations

import asyncio

import pytest

from service.background import in_background


async def test_work_runs_beside_the_block_and_has_cleaned_up_afterwards() -> None:
    seen: list[str] = []
    running = asyncio.Event()

    async def work() -> None:
        try:
            running.set()
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            seen.append("cleaned up")

    async with in_background(work()):
        await running.wait()
        seen.append("in the block")
    assert seen == ["in the block", "cleaned up"]


async def test_the_errors_of_the_block_pass_and_those_of_the_work_do_not() -> None:
    async def fails() -> None:
        raise RuntimeError("of the work")

    with pytest.raises(ValueError, match="of the block"):
        async with in_background(fails()):
            await asyncio.sleep(0)
            raise ValueError("of the block")
