"""The supervisor as a process: what it survives, whom it listens to, and that it leaves nothing behind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox import embedded, wire
from sandbox.client import SandboxClient, SandboxUnreachable
from sandbox.embedded import Sandbox
from sandbox.wire import Limits, Run

pytestmark = pytest.mark.sandbox


@pytest.fixture(scope="module")
def survivor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A sandbox to be maltreated again and again."""
    started = embedded.start(tmp_path_factory.mktemp("survivor"))
    yield started
    started.stop()


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Sandbox]:
    """A sandbox of this test's own, to be maltreated."""
    started = embedded.start(tmp_path)
    yield started
    started.stop()


def below(pid: int) -> list[int]:
    """Every process that descends from `pid`, parents first."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            found += [child, *below(child)]
    return found


def alive(pids: list[int]) -> list[int]:
    """Those that are still there and no mere zombies of somebody else."""
    left = []
    for pid in pids:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if state not in "ZX":
            left.append(pid)
    return left


async def gone(pids: list[int]) -> bool:
    """Whether all of `pids` end soon."""
    for pid in pids:
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        ended = asyncio.Event()
        asyncio.get_running_loop().add_reader(handle, ended.set)
        try:
            await asyncio.wait_for(ended.wait(), 10)
        finally:
            asyncio.get_running_loop().remove_reader(handle)
            os.close(handle)
    return not alive(pids)


def ran(*words: str) -> subprocess.CompletedProcess[str]:
    """Python, run to its end."""
    command = [sys.executable, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def status(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def environment(pid: int) -> bytes:
    return Path(f"/proc/{pid}/environ").read_bytes()


async def test_stopping_leaves_no_process_and_no_socket(own: Sandbox) -> None:
    await own.client.until_ready()
    running = asyncio.create_task(own.client.run(Run("x", "while True: pass", limits=Limits(wall_ms=60_000))))
    while (await own.client.health()).running == 0:
        await asyncio.wait([running], timeout=0.01)
    everyone = below(own.process.pid)
    assert len(everyone) >= 3  # bubblewrap, the zygote, the run
    assert own.stop() == 0
    assert await gone(everyone)
    assert (await running).status == "internal"
    assert not own.socket.exists()
    assert own.log.read_text() == ""


async def test_killing_it_leaves_no_process_and_another_takes_over_its_socket(own: Sandbox) -> None:
    await own.client.until_ready()
    everyone = below(own.process.pid)
    own.process.kill()
    own.process.wait()
    assert await gone(everyone)
    async with embedded.embedded_sandbox(own.socket.parent) as client:
        assert (await client.run(Run("x", "print(1)"))).stdout == "1\n"
    with pytest.raises(SandboxUnreachable):
        await client.health()


async def test_a_killed_zygote_is_replaced_and_the_runs_it_took_along_are_ours_to_answer_for(survivor: Sandbox) -> None:
    await survivor.client.until_ready()
    endless = asyncio.create_task(survivor.client.run(Run("x", "while True: pass", limits=Limits(wall_ms=60_000))))
    while (await survivor.client.health()).running == 0:
        await asyncio.wait([endless], timeout=0.01)
    bwrap, zygote, *children = below(survivor.process.pid)
    os.kill(zygote, signal.SIGKILL)
    outcome = await endless
    assert (outcome.status, outcome.results) == ("internal", b"")
    assert await gone([bwrap, zygote, *children])
    await survivor.client.until_ready()
    assert (await survivor.client.run(Run("y", "print('again')"))).stdout == "again\n"
    assert "the zygote died" in survivor.log.read_text()


async def test_a_parked_child_that_died_is_not_given_a_run(survivor: Sandbox) -> None:
    await survivor.client.until_ready()
    _, _, *children = below(survivor.process.pid)
    for child in children:
        os.kill(child, signal.SIGKILL)
    assert await gone(children)
    assert (await survivor.client.run(Run("x", "print(1)"))).status == "ok"


async def test_who_hangs_up_frees_the_place(survivor: Sandbox) -> None:
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


async def test_more_runs_than_can_wait_are_told_so(sandbox: Sandbox, client: SandboxClient) -> None:
    runs = [client.run(Run(str(n), "pass", limits=Limits(wall_ms=5000))) for n in range(120)]
    outcomes = await asyncio.gather(*runs)
    kinds = {outcome.status for outcome in outcomes}
    assert kinds == {"ok", "internal"}
    full = [outcome.detail for outcome in outcomes if outcome.status == "internal"]
    assert set(full) == {"64 runs are waiting already"}


async def test_only_this_user_may_come_in(sandbox: Sandbox, client: SandboxClient) -> None:
    assert stat.S_IMODE(sandbox.socket.stat().st_mode) == 0o600
    if os.getuid() != 0:
        pytest.skip("only root can become another user to try")
    home = sandbox.socket.parent
    script = f"s = socket.socket(socket.AF_UNIX); s.connect({str(sandbox.socket)!r}); s.send(b'x' * 9)"
    program = f"import os, socket; os.chdir({str(home)!r}); os.setuid(65534); {script}"
    tried = await asyncio.to_thread(ran, "-c", program)
    assert "PermissionError" in tried.stderr


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
    sandbox: Sandbox, client: SandboxClient, frame: bytes
) -> None:
    reader, writer = await asyncio.open_unix_connection(sandbox.socket)
    writer.write(frame)
    assert await reader.read() == b""
    writer.close()
    assert (await client.run(Run("x", "print(1)"))).stdout == "1\n"


async def test_one_connection_carries_one_run_after_another(sandbox: Sandbox, client: SandboxClient) -> None:
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


async def test_no_process_of_it_is_root_or_knows_our_environment(sandbox: Sandbox, client: SandboxClient) -> None:
    while (await client.health()).ready <= (os.cpu_count() or 1):
        continue  # a child that is not parked yet may still be raising its walls
    _, zygote, *children = below(sandbox.process.pid)
    assert len(children) == (os.cpu_count() or 1) + 1
    for pid in (zygote, *children):
        known = status(pid)
        assert known["Threads"] == "1"
        assert known["CapEff"] == "0000000000000000"
        if os.getuid() == 0:
            assert set(known["Uid"].split()) == {"65534"}
            assert b"PATH" not in environment(pid)
    for pid in children:
        known = status(pid)
        assert (known["NoNewPrivs"], known["Seccomp"]) == ("1", "2")
        assert known["CapBnd"] == "0000000000000000"


def test_a_second_one_at_the_same_socket_leaves_with_a_reason(sandbox: Sandbox, tmp_path: Path) -> None:
    second = ran("-m", "sandbox", "--socket", str(sandbox.socket))
    assert second.returncode == 4
    assert "another sandbox listens there already" in second.stderr


def test_a_socket_that_cannot_be_made_is_told_with_a_cure(tmp_path: Path) -> None:
    tried = ran("-m", "sandbox", "--socket", str(tmp_path / ("x" * 120)))
    assert tried.returncode == 4
    assert "give a shorter path you may write" in tried.stderr


def test_it_leaves_when_its_parent_is_gone_already(tmp_path: Path) -> None:
    assert ran("-m", "sandbox", "--socket", str(tmp_path / "s"), "--parent", "1").returncode == 0


def test_torch_is_imported_by_nobody_outside_the_jail() -> None:
    modules = ["supervisor", "pool", "running", "client", "judge", "challenge", "values", "wire", "host", "embedded"]
    program = f"import sys, json\nfor m in {modules}: __import__('sandbox.' + m)\n"
    program += "print(json.dumps('torch' in sys.modules))"
    assert json.loads(ran("-c", program).stdout) is False


AS_USER = ("unshare", "--user", "--map-user=1000", "--map-group=1000")


def can_be_a_user() -> bool:
    return os.getuid() != 0 or subprocess.run([*AS_USER, "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize(("weaker", "isolation", "pid"), [(False, "full", "1"), (True, "weaker", "")])
async def test_it_runs_for_an_ordinary_user_too(tmp_path: Path, weaker: bool, isolation: str, pid: str) -> None:
    """As on a laptop. Root plays one in a user namespace, where it owns what an ordinary user owns."""
    if not can_be_a_user():
        pytest.skip("this machine lets root make no user namespace")
    started = embedded.start(tmp_path, weaker=weaker, prefix=AS_USER if os.getuid() == 0 else ())
    try:
        health = await started.client.until_ready()
        assert health.isolation == isolation
        assert bool(health.lacks) is weaker
        first = await started.client.run(Run("x", "import os; print(os.getpid() if os.getpid() == 1 else '')"))
        assert (first.stdout, first.isolation) == (f"{pid}\n", isolation)
        for attack in ("import socket; socket.socket()", "import os; os.fork()", "import os; os.kill(os.getppid(), 9)",
                       "import os; os.listdir('/proc')"):  # fmt: skip
            assert (await started.client.run(Run("x", attack))).status == "denied"
        for path in ("/etc/shadow", "/proc/1/environ", f"/proc/{started.process.pid}/environ"):
            outcome = await started.client.run(Run("x", f"print(open({path!r}).read())"))
            assert (outcome.status in ("denied", "error"), outcome.stdout) == (True, "")
        late = await started.client.run(Run("x", "while True: pass", limits=Limits(wall_ms=300)))
        assert late.status == "time"
    finally:
        started.stop()


async def test_a_program_larger_than_a_pipe_and_a_slow_reader_are_no_problem(client: SandboxClient) -> None:
    outcome = await client.run(Run("x", "#" * 200_000 + "\nprint('read')"))
    assert outcome.stdout == "read\n"


def test_the_socket_is_left_alone_when_it_is_something_else(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("mine")
    assert ran("-m", "sandbox", "--socket", str(tmp_path / "s")).returncode == 4
    assert (tmp_path / "s").read_text() == "mine"
