"""Sandboxes on other machines: only workers with a certificate reach them; runs of a lost node are done elsewhere."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from sandbox import embedded, wire
from sandbox.client import NobodyThere, SandboxClient, SandboxUnreachable
from sandbox.host.gate import Gate, GateSettings
from sandbox.load_balancer import SandboxPool
from sandbox.tls import Certificates, Node
from sandbox.wire import Limits, Outcome, Run
from tests.certificates import Authority, Files
from tests.docs.pages import DOCS, blocks_of

Answer = Callable[[Run], Coroutine[None, None, Outcome]]
NAME = "localhost"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def server(authority: Authority) -> Certificates:
    return Certificates(*authority.issue(NAME, server=True))


@pytest.fixture(scope="module")
def worker(authority: Authority) -> Certificates:
    return Certificates(*authority.issue("worker", server=False))


@asynccontextmanager
async def gate(socket: Path, certificates: Certificates) -> AsyncIterator[int]:
    """Runs a gate in front of the socket; yields its port."""
    async with Gate(GateSettings(socket, "127.0.0.1", 0, certificates)).serving() as port:
        yield port


class Supervisor:
    """Speaks the wire's language and notes what it was sent and who hung up."""

    def __init__(self, answer: Answer) -> None:
        self.runs: list[str] = []
        self.connections = 0
        self.started = asyncio.Event()
        self.hung_up = asyncio.Event()
        self.tasks: set[asyncio.Task[None]] = set()
        self._answer = answer

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self.tasks.add(task)
        try:
            await self._answer_all(reader, writer)
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            self.hung_up.set()
            writer.transport.abort()

    async def _answer_all(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = await reader.readexactly(wire.header_length(await reader.readexactly(4)))
            kind, fields, length = wire.read_header(head)
            run = wire.read_run(fields, await reader.readexactly(length))
            assert kind == "run"
            self.runs.append(run.id.partition("#")[0])
            self.started.set()
            gone = asyncio.create_task(reader.read(1))
            answer = asyncio.create_task(self._answer(run))
            try:
                await asyncio.wait({gone, answer}, return_when=asyncio.FIRST_COMPLETED)
                if not answer.done():
                    return
                writer.write(wire.encode_outcome(answer.result()))
            finally:
                for task in (gone, answer):
                    task.cancel()
                await asyncio.gather(gone, answer, return_exceptions=True)


@asynccontextmanager
async def supervisor(path: Path, answer: Answer) -> AsyncIterator[Supervisor]:
    found = Supervisor(answer)
    async with await asyncio.start_unix_server(found.handle, path):
        yield found
        for task in found.tasks:
            task.cancel()
        await asyncio.gather(*found.tasks, return_exceptions=True)


async def echo(run: Run) -> Outcome:
    return Outcome(run.id, "ok", stdout=run.code)


async def never(run: Run) -> Outcome:
    await asyncio.Event().wait()
    raise AssertionError


def client(port: int, certificates: Certificates, host: str = NAME) -> SandboxClient:
    return SandboxClient(Node(host, "127.0.0.1", port), certificates)


async def test_a_run_goes_to_another_machine_and_back(
    tmp_path: Path, server: Certificates, worker: Certificates
) -> None:
    large = "#" * wire.MAX_CODE
    async with supervisor(tmp_path / "s", echo) as seen, gate(tmp_path / "s", server) as port:
        one = client(port, worker)
        for code in ("print(1)", large, "print(2)"):
            assert (await one.run(Run("r", code))).stdout == code
        assert seen.connections == 1, "a connection is used again"


async def test_both_ends_ask_a_silent_machine_whether_it_is_there(
    tmp_path: Path, server: Certificates, worker: Certificates
) -> None:
    """A machine that is gone without a word sends nothing: only probes of the kernel notice it."""
    async with supervisor(tmp_path / "s", echo), gate(tmp_path / "s", server) as port:
        one = client(port, worker)
        assert (await one.run(Run("r", ""))).status == "ok"
        timers = timers_of(port)
        while any(kind == UNACKNOWLEDGED for kind, _ in timers):
            await asyncio.sleep(0)
            timers = timers_of(port)
    assert [kind for kind, _ in timers] == [PROBE, PROBE]
    assert all(seconds <= 5 for _, seconds in timers)


UNACKNOWLEDGED, PROBE = "01", "02"
"""Kinds of timers: until data is sent again, and until the other end is probed."""


def timers_of(port: int) -> list[tuple[str, float]]:
    """Returns the kind of timer, and the seconds until it expires, of both ends of the connections to a port."""
    found = []
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, remote, state, _, timer, *_ = line.split()
        if state == "01" and f"{port:04X}" in (local.rpartition(":")[2], remote.rpartition(":")[2]):
            kind, _, left = timer.partition(":")
            found.append((kind, int(left, 16) / 100))
    return found


def made_as_the_manual_says(folder: Path, *parts: str) -> list[Certificates]:
    """Runs the commands of docs/sandbox.md, and returns the certificates of these parts."""
    (made,) = [block for block in blocks_of(DOCS / "sandbox.md", "sh") if "openssl" in block]
    if b"OpenSSL 3" not in subprocess.run(["openssl", "version"], capture_output=True, check=True).stdout:
        pytest.skip("OpenSSL 3 is not installed")
    subprocess.run(["sh", "-euc", made], cwd=folder, check=True, capture_output=True)
    return [Certificates(folder / f"{part}.crt", folder / f"{part}.key", folder / "ca.crt") for part in parts]


async def test_certificates_that_are_made_as_the_manual_says_are_taken(tmp_path: Path) -> None:
    server, worker = made_as_the_manual_says(tmp_path, "server", "client")
    async with supervisor(tmp_path / "s", echo) as seen, gate(tmp_path / "s", server) as port:
        assert (await client(port, worker, "gpu-1").run(Run("r", "print(1)"))).status == "ok"
        assert (await client(port, server, "gpu-1").run(Run("r", "print(1)"))).status == "internal", "not a worker's"
        assert (await client(port, worker, "gpu-2").run(Run("r", "print(1)"))).status == "internal", "not its name"
    assert seen.runs == ["r"]


async def test_a_body_of_any_size_arrives_whole(tmp_path: Path, server: Certificates, worker: Certificates) -> None:
    async def measure(run: Run) -> Outcome:
        return Outcome(run.id, "ok", stdout=str(len(run.cases)), results=run.cases)

    body = os.urandom(20 << 20)
    async with supervisor(tmp_path / "s", measure), gate(tmp_path / "s", server) as port:
        outcome = await client(port, worker).run(Run("r", "", cases=body))
    assert outcome.stdout == str(len(body))
    assert outcome.results == body


async def test_a_caller_without_the_authoritys_certificate_reaches_nothing(
    tmp_path: Path, server: Certificates, authority: Authority
) -> None:
    stranger = Authority(tmp_path / "stranger").issue("worker", server=False)
    bad = {
        "another authority": Certificates(stranger.cert, stranger.key, authority.path),
        "expired": Certificates(*authority.issue("expired", server=False, days=-1)),
        "a server's": Certificates(*authority.issue("other", server=True)),
    }
    async with supervisor(tmp_path / "s", echo) as seen, gate(tmp_path / "s", server) as port:
        for what, certificates in bad.items():
            outcome = await client(port, certificates).run(Run("r", "print(1)"))
            assert outcome.status == "internal", what
        none = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        none.load_verify_locations(authority.path)
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=none, server_hostname=NAME)
        with pytest.raises((ssl.SSLError, ConnectionError)):
            writer.write(wire.encode_run(Run("r", "print(1)")))
            assert await reader.read() == b""
            raise ConnectionResetError
        writer.transport.abort()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(wire.encode_run(Run("r", "print(1)")))
        with contextlib.suppress(ConnectionError):
            assert await reader.read() == b""
        writer.transport.abort()
        assert seen.connections == 0


async def test_neither_side_speaks_an_older_tls(
    tmp_path: Path, server: Certificates, worker: Certificates, authority: Authority
) -> None:
    def old(protocol: int, *files: Path) -> ssl.SSLContext:
        cert, key, trusted = files
        context = ssl.SSLContext(protocol)
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(cert, key)
        context.load_verify_locations(trusted)
        return context

    async with supervisor(tmp_path / "s", echo) as seen, gate(tmp_path / "s", server) as port:
        caller = old(ssl.PROTOCOL_TLS_CLIENT, *authority.issue("old", server=False))
        with pytest.raises((ssl.SSLError, ConnectionError)):
            await asyncio.open_connection("127.0.0.1", port, ssl=caller, server_hostname=NAME)
    node = old(ssl.PROTOCOL_TLS_SERVER, *authority.issue(NAME, server=True))
    async with await asyncio.start_server(seen.handle, "127.0.0.1", 0, ssl=node) as listening:
        with pytest.raises(NobodyThere, match="no TLS connection"):
            await client(listening.sockets[0].getsockname()[1], worker).attempt(Run("r", "print(1)"))
    assert seen.connections == 0


@pytest.mark.parametrize("wrong", ["name", "authority"])
async def test_nothing_is_sent_to_a_node_that_is_not_who_it_says(
    tmp_path: Path, server: Certificates, worker: Certificates, authority: Authority, wrong: str
) -> None:
    other = Authority(tmp_path / "other").issue(NAME, server=True)
    shown = Certificates(other.cert, other.key, authority.path) if wrong == "authority" else server
    async with supervisor(tmp_path / "s", echo) as seen, gate(tmp_path / "s", shown) as port:
        one = client(port, worker, "sandbox.example" if wrong == "name" else NAME)
        with pytest.raises(NobodyThere, match="CERTIFICATE_VERIFY_FAILED"):
            await one.attempt(Run("r", "print(1)"))
        assert seen.runs == []


async def test_who_hangs_up_cancels_the_run(tmp_path: Path, server: Certificates, worker: Certificates) -> None:
    async with supervisor(tmp_path / "s", never) as seen, gate(tmp_path / "s", server) as port:
        running = asyncio.create_task(client(port, worker).run(Run("r", "")))
        await seen.started.wait()
        running.cancel()
        await asyncio.wait_for(seen.hung_up.wait(), 60)


async def test_a_renewed_certificate_is_used_without_a_restart(tmp_path: Path, worker: Certificates) -> None:
    first, second = Authority(tmp_path / "first"), Authority(tmp_path / "second")
    files = Files(tmp_path / "tls.crt", tmp_path / "tls.key", tmp_path / "ca.crt")

    def install(chosen: Authority) -> Certificates:
        for source, target in zip(chosen.issue(NAME, server=True), files, strict=True):
            shutil.copy(source, target)
        return Certificates(*chosen.issue("worker", server=False))

    old = install(first)
    async with supervisor(tmp_path / "s", echo), gate(tmp_path / "s", Certificates(*files)) as port:
        assert (await client(port, old).run(Run("r", "1"))).status == "ok"
        new = install(second)
        assert (await client(port, new).run(Run("r", "1"))).status == "ok"
        assert (await client(port, old).run(Run("r", "1"))).status == "internal"
        files.cert.write_text("half-")
        assert (await client(port, new).run(Run("r", "1"))).status == "ok"


async def test_a_gate_without_a_sandbox_hangs_up_and_another_node_is_asked(
    tmp_path: Path, server: Certificates, worker: Certificates
) -> None:
    async with (
        supervisor(tmp_path / "s", echo),
        gate(tmp_path / "s", server) as good,
        gate(tmp_path / "no", server) as bad,
    ):
        pool = SandboxPool([], nodes=[(NAME, bad), (NAME, good)], certificates=worker)
        assert (await pool.run(Run("r", "1"))).stdout == "1"
        nowhere = SandboxPool([], nodes=[(NAME, bad)], certificates=worker)
        assert (await nowhere.run(Run("r", "1"))).status == "internal"


async def test_a_gate_spreads_over_the_sockets_of_its_machine(
    tmp_path: Path, server: Certificates, worker: Certificates
) -> None:
    async with (
        supervisor(tmp_path / "a.sock", echo) as a,
        supervisor(tmp_path / "b.sock", echo) as b,
        gate(tmp_path, server) as port,
    ):
        for number in range(4):
            await client(port, worker).run(Run(str(number), ""))
        assert len(a.runs) == len(b.runs) == 2


async def test_a_gate_takes_so_many_connections(
    tmp_path: Path, server: Certificates, worker: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandbox.host.gate._MAX_CONNECTIONS", 1)
    async with supervisor(tmp_path / "s", never) as seen, gate(tmp_path / "s", server) as port:
        held = asyncio.create_task(client(port, worker).run(Run("held", "")))
        await seen.started.wait()
        assert (await client(port, worker).run(Run("more", ""))).status == "internal"
        held.cancel()
        await asyncio.gather(held, return_exceptions=True)
    assert seen.runs == ["held"]


async def test_nodes_and_sockets_share_the_load(tmp_path: Path, server: Certificates, worker: Certificates) -> None:
    async with (
        supervisor(tmp_path / "here.sock", echo) as here,
        supervisor(tmp_path / "there", echo) as there,
        gate(tmp_path / "there", server) as port,
    ):
        pool = SandboxPool([tmp_path / "here.sock"], nodes=[(NAME, port)], certificates=worker)
        for number in range(6):
            assert (await pool.run(Run(str(number), ""))).status == "ok"
        assert len(here.runs) == len(there.runs) == 3


async def test_without_a_node_it_is_said_where_one_was_looked_for(worker: Certificates) -> None:
    pool = SandboxPool([], nodes=[("nowhere.invalid", 8443)], certificates=worker)
    assert "no sandbox is at tls://nowhere.invalid:8443" in (await pool.run(Run("r", ""))).detail
    with pytest.raises(SandboxUnreachable, match=r"nowhere\.invalid"):
        await pool.health()


@asynccontextmanager
async def gate_process(socket: Path, files: Files) -> AsyncIterator[tuple[asyncio.subprocess.Process, int]]:
    """Starts `dailygrad sandbox gate`; yields its process and port."""
    words = ["gate", "--socket", str(socket), "--port", "0", "--cert", *map(str, (files.cert, "--key", files.key))]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "sandbox", *words, "--ca", str(files.authority), stderr=asyncio.subprocess.PIPE
    )
    try:
        assert process.stderr is not None
        line = (await asyncio.wait_for(process.stderr.readline(), 60)).decode()
        assert "listens at 127.0.0.1:" in line, line
        yield process, int(line.rsplit(":", 1)[1])
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


@pytest.mark.slow
@pytest.mark.sandbox
async def test_a_node_lost_in_the_middle_of_a_run_loses_nothing(
    tmp_path: Path, authority: Authority, worker: Certificates
) -> None:
    """Two sandboxes behind gates of their own; one gate is killed while it carries runs, which the other then does."""
    files = authority.issue(NAME, server=True)
    first, second = embedded.start(tmp_path / "1", concurrency=1), embedded.start(tmp_path / "2", concurrency=1)
    try:
        await asyncio.gather(first.client.until_ready(), second.client.until_ready())
        async with gate_process(first.socket, files) as (doomed, one), gate_process(second.socket, files) as (_, two):
            pool = SandboxPool([], nodes=[(NAME, one), (NAME, two)], certificates=worker)
            limits = Limits(wall_ms=20_000)
            code = "import time\ntime.sleep(1.5)\nprint('done')"
            running = [asyncio.create_task(pool.run(Run(str(n), code, owner=str(n), limits=limits))) for n in range(4)]
            while (await first.client.health()).running == 0:  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.02)
            doomed.send_signal(signal.SIGKILL)
            outcomes = await asyncio.gather(*running)
            assert [outcome.stdout for outcome in outcomes] == ["done\n"] * 4
            assert (await first.client.health()).running == 0, "the lost runs were cancelled there"
            assert (await pool.run(Run("after", "print(1)"))).stdout == "1\n"
    finally:
        first.stop()
        second.stop()


@pytest.mark.parametrize("missing", ["cert", "key", "authority"])
async def test_a_gate_without_its_files_does_not_start(tmp_path: Path, authority: Authority, missing: str) -> None:
    files = authority.issue(NAME, server=True)._replace(**{missing: tmp_path / "none.pem"})
    with pytest.raises(AssertionError, match="No such file"):
        async with gate_process(tmp_path / "s", files):
            pass
