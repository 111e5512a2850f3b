"""The supervisor as a process: what it survives, whom it listens to, and that it leaves nothing behind."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox import embedded, wire
from sandbox.client import SandboxClient, SandboxUnreachable
from sandbox.embedded import EmbeddedSandbox
from sandbox.wire import Limits, Run
from tests.sandbox.processes import below, gone

pytestmark = pytest.mark.sandbox


@pytest.fixture
def own(tmp_path: Path) -> Iterator[EmbeddedSandbox]:
    """A sandbox of this test's own, to be maltreated."""
    started = embedded.start(tmp_path)
    yield started
    started.stop()


def ran(*words: str) -> subprocess.CompletedProcess[str]:
    """Runs Python to its end."""
    command = [sys.executable, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def within(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


@pytest.mark.slow
async def test_stopping_leaves_no_process_and_no_socket(own: EmbeddedSandbox) -> None:
    await own.client.until_ready()
    running = asyncio.create_task(
        own.client.run(Run("x", "import time; time.sleep(60)", limits=Limits(wall_ms=60_000)))
    )
    while (await own.client.health()).running == 0:
        await asyncio.wait([running], timeout=0.01)
    everyone = below(own.process.pid)
    assert len(everyone) >= 3  # bubblewrap, the zygote, the run
    assert own.stop() == 0
    assert await gone(everyone)
    assert (await running).status == "internal"
    assert not own.socket.exists()
    assert own.log.read_text() == ""


@pytest.mark.slow
async def test_killing_it_leaves_no_process_and_another_takes_over_its_socket(own: EmbeddedSandbox) -> None:
    await own.client.until_ready()
    everyone = below(own.process.pid)
    own.process.kill()
    own.process.wait()
    assert await gone(everyone)
    async with embedded.embedded_sandbox(own.socket.parent) as client:
        assert (await client.run(Run("x", "print(1)"))).stdout == "1\n"
    with pytest.raises(SandboxUnreachable):
        await client.health()


async def test_who_hangs_up_frees_the_place(survivor: EmbeddedSandbox) -> None:
    await survivor.client.until_ready()
    runs = [
        asyncio.create_task(survivor.client.run(Run(str(n), "while True: pass", limits=Limits(wall_ms=60_000))))
        for n in range(os.cpu_count() or 1)
    ]
    while (await survivor.client.health()).running < len(runs):
        await asyncio.wait(runs, timeout=0.01)
    for run in runs:
        run.cancel()
    await asyncio.gather(*runs, return_exceptions=True)
    assert (await survivor.client.run(Run("x", "print(1)", limits=Limits(wall_ms=5000)))).stdout == "1\n"


async def test_runs_beyond_the_queue_are_refused(sandbox: EmbeddedSandbox, client: SandboxClient) -> None:
    runs = [client.run(Run(str(n), "pass", limits=Limits(wall_ms=5000), priority="round")) for n in range(120)]
    outcomes = await asyncio.gather(*runs)
    kinds = {(outcome.status, outcome.refused) for outcome in outcomes}
    assert kinds == {("ok", ""), ("internal", "full")}
    # How long that is changes with the runs that end meanwhile.
    for said in {outcome.detail for outcome in outcomes if outcome.refused}:
        assert said.startswith("64 runs are waiting already, and this one would wait about ")
    # Each was told how many were before it when it came.
    places = os.cpu_count() or 1
    before = sorted(outcome.before for outcome in outcomes if not outcome.refused)
    assert before[:places] == [0] * places
    # As many as can wait, and as many more as were done while the others came.
    assert set(before) == {0, *range(places, places + 64)}


async def test_nobody_is_passed_by_those_who_come_later(survivor: EmbeddedSandbox) -> None:
    """More clients than children, and each sends its next run at once."""
    ended: list[tuple[int, int]] = []
    await survivor.client.until_ready()

    async def again_and_again(who: int) -> None:
        for turn in range(6):
            assert (await survivor.client.run(Run("x", "pass"))).status == "ok"
            ended.append((who, turn))

    await asyncio.gather(*(again_and_again(who) for who in range(6)))
    assert max(ended.index((who, 0)) for who in range(6)) < 12


async def test_a_member_s_third_run_is_turned_away_and_another_member_s_is_not(survivor: EmbeddedSandbox) -> None:
    client = survivor.client
    await client.until_ready()
    slow = Run("slow", "while True: pass", limits=Limits(wall_ms=60_000), owner="ada", priority="free")
    runs = [asyncio.create_task(client.run(replace(slow, id=str(n)))) for n in range(2)]
    while (await client.health()).waiting == 0:
        await asyncio.wait(runs, timeout=0.01)
    third = await client.run(replace(slow, id="third"))
    assert (third.status, third.refused) == ("internal", "member")
    assert third.detail == "another run of this owner is waiting already"
    others = await client.run(Run("x", "print(1)", owner="bob", priority="free"))
    assert others.stdout == "1\n"
    runs[0].cancel()
    while (await client.health()).waiting:
        await asyncio.wait(runs, timeout=0.01)
    assert (await client.health()).running == 1
    runs[1].cancel()
    await asyncio.gather(*runs, return_exceptions=True)


async def test_no_child_knows_whose_run_it_is(client: SandboxClient) -> None:
    program = (
        "import gc, sys\n"
        "found = [o for o in gc.get_objects() if type(o).__name__ == 'Run']\n"
        "frame = sys._getframe()\n"
        "while frame:\n"
        "    found += [v for v in frame.f_locals.values() if type(v).__name__ == 'Run']\n"
        "    found += [v.run for v in frame.f_locals.values() if type(getattr(v, 'run', 0)).__name__ == 'Run']\n"
        "    frame = frame.f_back\n"
        "print({(run.id, run.owner, run.priority) for run in found})"
    )
    outcome = await client.run(Run("x", program, owner="ada", priority="round"))
    assert (outcome.id, outcome.stdout) == ("x", "{('', '', 'background')}\n")


async def test_only_this_user_may_come_in(sandbox: EmbeddedSandbox, client: SandboxClient) -> None:
    assert stat.S_IMODE(sandbox.socket.stat().st_mode) == 0o600
    if os.getuid() != 0:
        pytest.skip("only root can become another user to try")
    home = sandbox.socket.parent
    script = f"s = socket.socket(socket.AF_UNIX); s.connect({str(sandbox.socket)!r}); s.send(b'x' * 9)"
    program = f"import os, socket; os.chdir({str(home)!r}); os.setuid(65534); {script}"
    tried = await asyncio.to_thread(ran, "-c", program)
    assert "PermissionError" in tried.stderr


@pytest.mark.slow
async def test_only_a_configured_user_may_connect(tmp_path: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can become another user to try")
    await asyncio.to_thread(tmp_path.chmod, 0o750)
    path, home = tmp_path / "s.sock", str(Path(embedded.__file__).parent.parent)
    words = ("-m", "sandbox", "serve", "--socket", str(path), "--user", "65533")
    process = await asyncio.create_subprocess_exec(sys.executable, *words, cwd=home, stderr=asyncio.subprocess.PIPE)
    try:
        await SandboxClient(path).until_ready()
        assert stat.S_IMODE(path.stat().st_mode) == 0o660
        ask = f"s = socket.socket(socket.AF_UNIX); s.connect('s.sock'); s.send({wire.encode('health', {})!r})"
        for user, told in ((65533, True), (65532, False)):
            program = (
                f"import os, socket; os.chdir({str(tmp_path)!r}); os.setuid({user}); {ask}; print(s.recv(9) != b'')"
            )
            assert ((await asyncio.to_thread(ran, "-c", program)).stdout == "True\n") is told
    finally:
        process.terminate()
        said = (await process.communicate())[1]
    assert b"sandbox: user 65532 was turned away\n" in said


async def test_running_programs_finish_before_it_stops(own: EmbeddedSandbox) -> None:
    await own.client.until_ready()
    running = asyncio.create_task(own.client.run(Run("x", "import time; time.sleep(1.5); print('done')")))
    while (await own.client.health()).running == 0:
        await asyncio.wait([running], timeout=0.01)
    assert await asyncio.to_thread(own.stop) == 0
    assert (await running).stdout == "done\n"


@pytest.mark.parametrize(
    "frame",
    [
        b"\xff\xff\xff\xff",
        b"\0\0\0\2{}",
        wire.encode("run", {"id": "x"}),
        wire.encode("run", {"id": "x", "code": "", "surprise": 1}),
        wire.encode("verdict", {}),
        b"GET / HTTP/1.1\r\n\r\n",
    ],
)
async def test_what_is_no_run_is_dropped_and_the_next_is_served(
    sandbox: EmbeddedSandbox, client: SandboxClient, frame: bytes
) -> None:
    reader, writer = await asyncio.open_unix_connection(sandbox.socket)
    writer.write(frame)
    assert await reader.read() == b""
    writer.close()
    assert (await client.run(Run("x", "print(1)"))).stdout == "1\n"


async def test_one_connection_carries_one_run_after_another(sandbox: EmbeddedSandbox, client: SandboxClient) -> None:
    reader, writer = await asyncio.open_unix_connection(sandbox.socket)
    for number in range(3):
        writer.write(wire.encode_run(Run(str(number), f"print({number})")))
        length = wire.header_length(await reader.readexactly(4))
        _, head, body = wire.read_header(await reader.readexactly(length))
        assert (head["stdout"], await reader.readexactly(body)) == (f"{number}\n", b"")
    writer.close()


async def test_health_tells_versions_and_isolation(client: SandboxClient) -> None:
    health = await client.until_ready()
    assert health.isolation == "full"
    assert health.versions["torch"].startswith("2.")
    assert health.trouble == ""


def test_a_second_one_at_the_same_socket_leaves_with_a_reason(sandbox: EmbeddedSandbox, tmp_path: Path) -> None:
    second = ran("-m", "sandbox", "serve", "--socket", str(sandbox.socket))
    assert second.returncode == 4
    assert "another sandbox listens there already" in second.stderr


def test_a_socket_that_cannot_be_created_is_reported_with_a_fix(tmp_path: Path) -> None:
    tried = ran("-m", "sandbox", "serve", "--socket", str(tmp_path / ("x" * 120)))
    assert tried.returncode == 4
    assert "choose a path of fewer than 100 characters that you may write to" in tried.stderr
    tried = ran("-m", "sandbox", "serve", "--socket", str(tmp_path / "none/s"))
    assert f"make its folder first: mkdir -p {tmp_path}/none" in tried.stderr


def test_a_supervisor_whose_parent_is_gone_ends(tmp_path: Path) -> None:
    assert ran("-m", "sandbox", "serve", "--socket", str(tmp_path / "s"), "--parent", "1").returncode == 0


def test_torch_is_imported_by_nobody_outside_the_jail() -> None:
    modules = ["host.supervisor", "host.executors", "judging.judge", "judging.challenge", "client", "embedded", "cli"]
    program = f"import sys, json\nfor m in {modules}: __import__('sandbox.' + m)\n"
    program += "print(json.dumps('torch' in sys.modules))"
    assert json.loads(ran("-c", program).stdout) is False


async def test_a_program_larger_than_a_pipe_and_a_slow_reader_are_no_problem(client: SandboxClient) -> None:
    outcome = await client.run(Run("x", "#" * 200_000 + "\nprint('read')"))
    assert outcome.stdout == "read\n"


@pytest.mark.slow
async def test_in_a_folder_each_names_its_socket_by_its_host_and_clears_what_dead_ones_left(tmp_path: Path) -> None:
    dead, alive = tmp_path / "dead.sock", tmp_path / "alive.sock"
    with socket.socket(socket.AF_UNIX) as left, socket.socket(socket.AF_UNIX) as other:
        left.bind(str(dead))
        left.close()
        other.bind(str(alive))
        other.listen()
        command = [sys.executable, "-m", "sandbox", "serve", "--socket", str(tmp_path), "--concurrency", "1"]
        process = await asyncio.create_subprocess_exec(*command)
        try:
            own = tmp_path / f"{socket.gethostname()}.sock"
            await SandboxClient(own).until_ready()
            assert within(tmp_path) == sorted([alive, own])
        finally:
            process.terminate()
            await process.wait()
    assert within(tmp_path) == [alive]


def test_the_socket_is_left_alone_when_it_is_something_else(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("mine")
    assert ran("-m", "sandbox", "serve", "--socket", str(tmp_path / "s")).returncode == 4
    assert (tmp_path / "s").read_text() == "mine"
    assert list(tmp_path.iterdir()) == [tmp_path / "s"]
