"""What every process relies on: a port that answers without delay, background work that cleans up, short collections
of garbage."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys

import pytest

from service.process import LONG_COLLECTION, MOST_FREEZES, CommandFailed, in_background, listen
from tests import forked

_PROGRAM = """
import gc, weakref
import service.app
from service.process import run_process

gc.unfreeze()  # what the process froze that this one is a fork of

class Node:
    pass

def looked_at():
    gc.collect()
    return len(gc.get_objects())

async def main():
    kept = []
    print(len(gc.get_objects()))  # before any collection
    for _ in range({times}):
        kept.append([[] for _ in range({growth})])
        gc.collect()
    print(looked_at())
    node = Node()
    node.itself = node
    seen = weakref.ref(node)
    del node
    gc.collect()
    print("freed" if seen() is None else "kept")

run_process(main())
print(len(gc.callbacks))
"""


async def test_what_is_accepted_sends_each_write_at_once() -> None:
    seen: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def met(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted = writer.get_extra_info("socket")
        seen.set_result(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    with listen("127.0.0.1", 0) as listener:
        async with await asyncio.start_server(met, sock=listener):
            _, writer = await asyncio.open_connection(*listener.getsockname())
            assert await seen
            writer.close()


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


def _measured(times: int, growth: int) -> tuple[int, int]:
    """Returns how many objects a collection looks at, at first and after the process grew that many times."""
    program = _PROGRAM.format(times=times, growth=growth)
    done = forked.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    first, last, cycle, callbacks = done.stdout.split()
    assert (cycle, callbacks) == ("freed", "0")
    return int(first), int(last)


def test_collections_of_garbage_do_not_look_at_what_stays() -> None:
    """The modules alone are more than 100,000 objects, for which a collection takes a tenth of a second."""
    first, last = _measured(times=5, growth=2 * LONG_COLLECTION)
    assert first < LONG_COLLECTION
    assert last < 2 * LONG_COLLECTION


@pytest.mark.parametrize(("times", "growth"), [(20, LONG_COLLECTION // 50), (MOST_FREEZES + 3, LONG_COLLECTION + 100)])
def test_a_process_that_grows_little_or_without_end_is_still_collected(times: int, growth: int) -> None:
    """A cycle of frozen objects would never be freed."""
    _, last = _measured(times, growth)
    assert last > (times if times < MOST_FREEZES else 3) * growth


def test_a_refused_port_is_named_with_those_that_were_tried_and_no_other() -> None:
    with contextlib.ExitStack() as stack:
        for port in (65534, 65535):
            taken = stack.enter_context(socket.socket())
            with contextlib.suppress(OSError):  # another program has it
                taken.bind(("127.0.0.1", port))
        with pytest.raises(CommandFailed, match="cannot listen on any of the ports 65534 to 65535 of "):
            stack.enter_context(listen("127.0.0.1", 65534))
        with pytest.raises(CommandFailed, match="cannot listen on port 65535 of"):
            stack.enter_context(listen("127.0.0.1", 65535))
