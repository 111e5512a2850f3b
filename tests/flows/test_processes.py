"""The parts as separate processes, started as an operator without containers would, over a day in real time."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic

import httpx
import psutil
import psycopg
import pytest

from service.app import Service
from service.banks.imports import import_path
from service.client import ServiceClient, ServiceRefused
from service.store.monitoring import LEADER_LOCK
from service.store.session import libpq_url
from service.wire import AnswerInput, ScheduleSpec, Where, Who
from tests import forked
from tests.conftest import Clock
from tests.forked import Forked

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent
BANK = ROOT / "tests" / "bot" / "fixtures" / "room.md"
TOKEN = "a-token-the-operator-made"
HERE = Where(channel="daily", name="daily")
PATIENCE = 180.0
UNREACHABLE = "postgresql://nobody@127.0.0.1:1/nothing"
EVERY_DAY = tuple(range(7))
ENDED_S = 120.0


def environment(**settings: str) -> dict[str, str]:
    """Returns the environment without our settings, with these added."""
    ours = ("DAILYGRAD_", "DATABASE_URL")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)} | settings


def once(*words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Runs a command that ends by itself."""
    return forked.run(
        [sys.executable, "-m", "dailygrad", *words],
        cwd=ROOT,
        env=environment(**settings),
        text=True,
        timeout=PATIENCE,
    )


def done(*words: str, **settings: str) -> str:
    """Returns the output of a command that must succeed."""
    ended = once(*words, **settings)
    assert ended.returncode == 0, ended.stderr
    assert "Traceback" not in ended.stderr
    return ended.stdout


@dataclass
class Part:
    """A serving process with its output and log so far."""

    process: subprocess.Popen[str]
    printed: list[str] = field(default_factory=list)
    news: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.reader = threading.Thread(target=self.follow, daemon=True)
        self.reader.start()

    def close(self) -> None:
        """Closes the pipe of a process that has ended."""
        self.reader.join()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def follow(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.printed.append(line)
            self.news.set()
        self.news.set()

    @property
    def said(self) -> str:
        return "".join(self.printed)

    def wait_for(self, pattern: str) -> re.Match[str]:
        """Waits until a match is printed."""
        end = monotonic() + PATIENCE
        while (found := re.search(pattern, self.said)) is None:
            assert self.process.poll() is None, f"it ended before {pattern}: {self.said}"
            assert monotonic() < end, f"never {pattern}: {self.said}"
            self.news.wait(0.2)
            self.news.clear()
        return found


@dataclass
class Parts:
    """The processes of a team and their shared files."""

    folder: Path
    started: list[Part] = field(default_factory=list)
    forking: bool = True

    def start(self, *words: str, **settings: str) -> Part:
        # The sandbox checks what a process inherits, so it is not forked but started normally.
        start = Forked if self.forking and words[0] != "sandbox" else subprocess.Popen
        process = start(
            [sys.executable, "-m", "dailygrad", *words],
            cwd=ROOT,
            env=environment(PYTHONUNBUFFERED="1", **settings),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        part = Part(process)
        self.started.append(part)
        return part

    def family(self) -> list[psutil.Process]:
        """Returns all processes and their descendants."""
        found: list[psutil.Process] = []
        for part in self.started:
            with contextlib.suppress(psutil.NoSuchProcess):
                process = psutil.Process(part.process.pid)
                found += [process, *process.children(recursive=True)]
        return found

    def stop(self) -> None:
        """Sends SIGTERM to all at once; each ends cleanly and in time, and leaves nothing behind."""
        family = self.family()
        for part in self.started:
            part.process.send_signal(signal.SIGTERM)
        end = monotonic() + ENDED_S
        for part in self.started:
            assert part.process.wait(max(0.1, end - monotonic())) == 0, part.said
            assert "Traceback" not in part.said
        assert [process for process in psutil.wait_procs(family, timeout=PATIENCE)[1] if process.is_running()] == []

    def kill(self, part: Part) -> None:
        """Kills a process with SIGKILL and forgets it."""
        part.process.kill()
        part.process.wait()
        part.close()
        self.started.remove(part)

    def clear(self) -> None:
        """Kills what still runs; nothing does after `stop`."""
        for process in self.family():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        for part in self.started:
            part.process.wait()
            part.close()


@pytest.fixture
def parts() -> Iterator[Parts]:
    with tempfile.TemporaryDirectory(prefix="dailygrad-", ignore_cleanup_errors=True) as folder:
        parts = Parts(Path(folder))
        try:
            yield parts
        finally:
            parts.clear()
            # A failed test shows them.
            sys.stdout.writelines(line for part in parts.started for line in part.printed if '"level": "error"' in line)


@dataclass
class Browser:
    """A web chat client without a browser: joins, follows the event stream and reads the page."""

    http: httpx.AsyncClient
    ann: Who

    async def reads(self, text: str) -> str:
        """Reads the event stream from the start until the text appears; returns everything read."""
        read = ""
        async with asyncio.timeout(PATIENCE), self.http.stream("GET", f"/m/{self.ann.member}/events?after=0") as news:
            async for line in news.aiter_lines():
                read += line
                if text in line:
                    return read
        raise AssertionError(f"the stream ended before {text}: {read}")

    async def page(self) -> str:
        return (await self.http.get(f"/m/{self.ann.member}/")).raise_for_status().text


@contextlib.asynccontextmanager
async def joined(address: str) -> AsyncIterator[Browser]:
    """Joins as Ann, who is the first member and so the admin."""
    async with httpx.AsyncClient(base_url=address, timeout=PATIENCE) as http:
        token = re.search(r'name="token" value="([^"]+)"', (await http.get("/")).raise_for_status().text)
        assert token
        answer = await http.post("/join", data={"token": token[1], "name": "Ann"})
        member = answer.headers["location"].split("/")[2]
        yield Browser(http, Who(platform="web", workspace="local", member=member, name="Ann", admin=True))


def messages(url: str) -> int:
    """Counts the messages in the web chat."""
    with psycopg.connect(libpq_url(url)) as connection:
        (number,) = connection.execute("select count(*) from web_message").fetchone() or (0,)
        return int(number)


async def test_a_day_with_every_part_as_a_separate_process(parts: Parts, new_database: Callable[[], str]) -> None:
    parts.forking = False
    database = {"DATABASE_URL": new_database()}
    assert "The database is at " in done("migrate", **database)
    assert "room: 6 new" in done("bank", "import", str(BANK), **database)
    assert "6 unchanged" in done("bank", "import", str(BANK), **database)

    sandbox = {"DAILYGRAD_SANDBOX_SOCKET": str(parts.folder / "sandbox.sock")}
    token = {"DAILYGRAD_SERVICE_TOKEN": TOKEN}
    parts.start("sandbox", "serve", "--socket", sandbox["DAILYGRAD_SANDBOX_SOCKET"], "--concurrency", "1")
    serving = parts.start("serve", DAILYGRAD_PORT="0", **database, **sandbox, **token)
    parts.start("work", **database, **sandbox, **token)
    url = f"http://{serving.wait_for(r'listens on ([0-9.:]+)')[1]}"
    chat = {"DAILYGRAD_SERVICE_URL": url, "DAILYGRAD_DATA": str(parts.folder), "DAILYGRAD_WEB_PORT": "0"}
    address = parts.start("bot", "web", **chat, **token).wait_for(r"The web chat is at (\S+)")[1]

    async with joined(address) as browser, ServiceClient.over_http(url, TOKEN) as client:
        await is_refused_without_the_token(url, browser.ann)
        await asks_answers_and_reveals(client, browser)
        page = await browser.page()
    parts.stop()
    for heading in ("Question for ", "Your code: wrong", "The answer<"):
        assert page.count(f">{heading}") == 1
    shown = len(re.findall("<article ", page))
    assert messages(database["DATABASE_URL"]) == shown, "nothing more came while they stopped"
    assert "sandbox.sock" not in [path.name for path in parts.folder.iterdir()]


async def is_refused_without_the_token(url: str, who: Who) -> None:
    async with ServiceClient.over_http(url, "a-token-nobody-made-here") as stranger:
        with pytest.raises(ServiceRefused, match="service token is missing or wrong"):
            await stranger.schedule_list(who)
    async with httpx.AsyncClient(base_url=url) as http:
        assert (await http.post("/v1/admin/schedule/list", json={})).status_code == 401
        assert (await http.get("/readyz")).status_code == 200


async def asks_answers_and_reveals(client: ServiceClient, browser: Browser) -> None:
    ann = browser.ann
    spec = ScheduleSpec(kinds=("code",), weekdays=EVERY_DAY)
    schedule = await client.schedule_add(ann, "add", HERE, spec)
    round_ = await client.post_now(ann, "post", schedule.id)
    assert "Add one to a number." in await browser.reads("Answer</button>")

    code = "def add_one(x: int) -> int:\n    return x + 2\n"
    receipt = await client.answer(ann, HERE, "answer", f"r{round_.id}", AnswerInput(code=code), datetime.now(UTC))
    assert receipt.status == "judging"
    verdict = await browser.reads("Change my answer</button>")
    assert re.search(r"Expected:.*?>2<.*?Got:.*?>3<", verdict, re.DOTALL), verdict

    assert (await client.close_now(ann, "close", HERE)).closed
    await browser.reads(">The answer<")
    await browser.reads(">Your result: ")
    # The sixth and last message is the result in the channel; the question and a low bank came first.
    await browser.reads('id="t6"')


async def test_a_worker_that_is_killed_is_followed_by_the_other(
    parts: Parts, database_url: str, service: Service, client: ServiceClient, clock: Clock
) -> None:
    settings = {"DATABASE_URL": database_url, "DAILYGRAD_SERVICE_TOKEN": TOKEN}
    first = parts.start("work", **settings)
    leading = leader(database_url)
    parts.start("work", **settings).wait_for("The worker is ready")
    assert leader(database_url) == leading
    parts.kill(first)
    assert leader(database_url, after=leading) != leading

    # A schedule created ten minutes ago has a slot due five minutes ago, which only a tick posts.
    clock.now = datetime.now(UTC) - timedelta(minutes=10)
    at = (clock.now + timedelta(minutes=5)).time().replace(second=0, microsecond=0)
    await import_path(service.sessions, BANK, clock.now)
    who = Who(platform="web", workspace="local", member="operator", name="Operator", admin=True)
    await client.schedule_add(who, "add", HERE, ScheduleSpec(at=at, weekdays=EVERY_DAY))
    posted = "select count(*) from outbox where kind = 'question' having count(*) > 0"
    assert row(database_url, posted) == 1
    parts.stop()


def row(database_url: str, query: str) -> int:
    """Waits for the number that a query returns; PostgreSQL itself polls."""
    again = f"""
        do $$ begin
            for i in 1..{PATIENCE * 20:.0f} loop
                exit when exists ({query});
                perform pg_sleep(0.05);
            end loop;
        end $$"""
    with psycopg.connect(libpq_url(database_url), autocommit=True) as connection:
        connection.execute(again.encode())
        found = connection.execute(query.encode()).fetchone()
    assert found, f"never: {query}"
    return int(found[0])


def leader(database_url: str, after: int = 0) -> int:
    """Returns the server process of the leader's connection, once it is not `after`."""
    lock = f"locktype = 'advisory' and classid = {LEADER_LOCK >> 32} and objid = {LEADER_LOCK & 0xFFFFFFFF} and granted"
    here = "database = (select oid from pg_database where datname = current_database())"
    return row(database_url, f"select pid from pg_locks where {lock} and {here} and pid <> {after}")


@pytest.mark.parametrize(
    ("words", "settings", "said"),
    [
        (["serve"], {}, "DATABASE_URL: it is not set"),
        (["work"], {"DATABASE_URL": UNREACHABLE, "DAILYGRAD_SERVICE_TOKEN": "short"}, "at least 16"),
        (["serve"], {"DATABASE_URL": UNREACHABLE, "DAILYGRAD_SERVICE_TOKEN": TOKEN}, "Check DATABASE_URL"),
        (["bank", "import"], {"DATABASE_URL": UNREACHABLE}, "Check DATABASE_URL"),
        (["bot", "web"], {}, "DAILYGRAD_SERVICE_TOKEN"),
    ],
)
def test_a_missing_setting_is_reported_in_one_sentence(words: list[str], settings: dict[str, str], said: str) -> None:
    is_refused(once(*words, **settings), said)


def test_a_worker_waits_for_nothing_in_a_database_that_was_not_migrated(new_database: Callable[[], str]) -> None:
    is_refused(once("work", DATABASE_URL=new_database(), DAILYGRAD_SERVICE_TOKEN=TOKEN), "run `dailygrad migrate`")


def test_a_database_that_a_newer_program_upgraded_is_refused(database_url: str) -> None:
    with psycopg.connect(libpq_url(database_url), autocommit=True) as connection:
        connection.execute("update alembic_version set version_num = '9999'")
    for words in (["serve"], ["work"], ["migrate"], ["bank", "import"], ["ops"]):
        refused = once(*words, DATABASE_URL=database_url, DAILYGRAD_SERVICE_TOKEN=TOKEN)
        is_refused(refused, "the database is at 9999, which this program does not know")


def test_the_service_does_not_serve_a_database_that_was_not_migrated(new_database: Callable[[], str]) -> None:
    is_refused(once("serve", DATABASE_URL=new_database(), DAILYGRAD_SERVICE_TOKEN=TOKEN), "run `dailygrad migrate`")


def test_a_folder_that_cannot_hold_data_is_refused_before_anything_starts(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    is_refused(once("run", "--data", str(file)), "choose another folder with --data or DAILYGRAD_DATA")
    is_refused(once("run", "--data", str(file / "below")), "Not a directory")
    is_refused(once("run", DAILYGRAD_DATA="/proc/none"), "choose another folder")
    is_refused(once("bank", "log", "core", DAILYGRAD_DATA=str(tmp_path)), "`dailygrad run` has not made one in")


@pytest.mark.parametrize(
    ("words", "settings"), [(["--port", "70000"], {}), ([], {"DAILYGRAD_WEB_PORT": "70000"})], ids=["option", "setting"]
)
def test_a_port_out_of_range_is_refused_before_anything_starts(
    words: list[str], settings: dict[str, str], tmp_path: Path
) -> None:
    refused = once("run", "--data", str(tmp_path / "data"), *words, **settings)
    assert refused.returncode == 2
    assert "--port" in refused.stderr
    assert "65535" in refused.stderr
    assert not (tmp_path / "data").exists()


def test_ctrl_c_during_an_import_ends_it_without_a_traceback() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        silent.settimeout(PATIENCE)
        address = f"postgresql://nobody@127.0.0.1:{silent.getsockname()[1]}/nothing"
        importing = subprocess.Popen(
            [sys.executable, "-m", "dailygrad", "bank", "import", str(BANK)],
            cwd=ROOT,
            env=environment(DATABASE_URL=address),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        connection, _ = silent.accept()
        with connection:
            connection.recv(1)  # it is connected, and waits for an answer
            importing.send_signal(signal.SIGINT)
            said, _ = importing.communicate(timeout=PATIENCE)
    assert importing.returncode == 130, said
    assert "Traceback" not in said


def test_the_service_uses_no_other_port_than_configured(database_url: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        refused = once("serve", DATABASE_URL=database_url, DAILYGRAD_SERVICE_TOKEN=TOKEN, DAILYGRAD_PORT=port)
    is_refused(refused, f"port {port} ")


def is_refused(ended: subprocess.CompletedProcess[str], said: str) -> None:
    assert ended.returncode == 2, ended.stderr
    assert re.fullmatch(f"dailygrad: .*{re.escape(said)}.*\n", ended.stderr)


def test_the_doctor_accepts_a_migrated_database(database_url: str) -> None:
    lines = done("doctor", DATABASE_URL=database_url).splitlines()
    assert [line for line in lines if not re.match(r"ok {5}\S+.*: \S|\s+(?:cure|note): ", line)] == []
    assert any("database: at " in line for line in lines)
