"""The client when the supervisor fails: every failure is an internal error, and none is the member's fault."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from sandbox import wire
from sandbox.client import SandboxClient, SandboxUnreachable
from sandbox.wire import Limits, Outcome, Run

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def ran_against(path: Path, handler: Handler, limits: Limits | None = None) -> Outcome:
    """Returns the result of a run if the supervisor behaves like `handler`."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await handler(reader, writer)
        writer.close()

    async with await asyncio.start_unix_server(handle, path):
        return await SandboxClient(path).run(Run("r", "1", limits=limits or Limits()))


async def test_without_a_supervisor_a_run_is_an_internal_error_and_health_raises(tmp_path: Path) -> None:
    client = SandboxClient(tmp_path / "none.sock")
    outcome = await client.run(Run("r", "1"))
    assert (outcome.id, outcome.status) == ("r", "internal")
    assert "none.sock: FileNotFoundError" in outcome.detail
    with pytest.raises(SandboxUnreachable, match=r"no sandbox answers at .*none.sock.*is it started"):
        await client.health()
    with pytest.raises(SandboxUnreachable, match="no child was ready within 0 s"):
        await client.until_ready(0.05)


async def test_a_connection_lost_before_the_reply_is_an_internal_error(tmp_path: Path) -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(4)

    outcome = await ran_against(tmp_path / "s", hang_up)
    assert outcome.status == "internal"


@pytest.mark.parametrize(
    "answer",
    [
        b"\xff\xff\xff\xff",
        b"\0\0\0\2[]",
        wire.encode("health", {}),
        wire.encode("outcome", {"id": "r", "status": "accepted"}),
        wire.encode("outcome", {"id": "r", "status": "ok", "passed": True}),
        wire.encode_outcome(Outcome("r", "ok"))[:-5],
    ],
)
async def test_a_malformed_reply_is_an_internal_error(tmp_path: Path, answer: bytes) -> None:
    async def say(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(4)
        writer.write(answer)
        await writer.drain()

    outcome = await ran_against(tmp_path / "s", say)
    assert (outcome.id, outcome.status) == ("r", "internal")
    assert outcome.detail


async def test_a_run_too_large_for_the_wire_is_the_caller_s_mistake(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a program of more than"):
        await SandboxClient(tmp_path / "s").run(Run("r", "x" * (wire.MAX_CODE + 1)))
