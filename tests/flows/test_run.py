"""`dailygrad run` as an operator uses it: to a posted question, stopped cleanly, and killed at critical moments."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import TypeVar

import httpx
import psutil
import psycopg
import pytest
from typer.testing import CliRunner

from bot.demo import demo_command
from service.store import migrations
from service.store.session import start_postgres
from tests.forked import Forked
from tests.machine import free_port

ROOT = Path(__file__).parent.parent.parent
PATIENCE = 300.0
ONE_DOCUMENT = ("--bank", str(ROOT / "questions" / "banks" / "pytorch-core.md"))
"""One document of the shipped bank: reading all of them takes a start two seconds of CPU."""
T = TypeVar("T")


@dataclass
class Started:
    """A running `dailygrad run` with its output so far."""

    process: subprocess.Popen[str]
    data: Path
    port: int
    printed: list[str] = field(default_factory=list)
    news: threading.Event = field(default_factory=threading.Event)

    def follow(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.printed.append(line)
            self.news.set()
        self.news.set()

    def wait_for(self, pattern: str) -> re.Match[str]:
        """Waits until a match is printed."""
        return self.until(lambda: re.search(pattern, "".join(self.printed)), pattern)

    def until(self, found: Callable[[], T | None], what: str) -> T:
        """Polls until `found` returns something."""
        end = monotonic() + PATIENCE
        while (there := found()) is None:
            assert self.process.poll() is None, f"it ended before {what}: {''.join(self.printed)}"
            assert monotonic() < end, f"never {what}: {''.join(self.printed)}"
            self.news.wait(0.05)
            self.news.clear()
        return there

    def tree(self) -> list[psutil.Process]:
        """Returns the process and all its descendants, including PostgreSQL."""
        family = [psutil.Process(self.process.pid), *psutil.Process(self.process.pid).children(recursive=True)]
        # PostgreSQL may be starting or ending, with its file empty or left behind.
        with contextlib.suppress(FileNotFoundError, IndexError, psutil.NoSuchProcess):
            postmaster = psutil.Process(int((self.data / "postgres" / "postmaster.pid").read_text().split()[0]))
            family += [postmaster, *postmaster.children(recursive=True)]
        return family

    def kill(self) -> None:
        """Kills all of them at once with SIGKILL."""
        family = self.tree()
        for process in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self.process.wait()
        psutil.wait_procs(family, timeout=PATIENCE)

    def stop(self) -> list[psutil.Process]:
        """Sends Ctrl-C; returns the processes that remain."""
        family = self.tree()
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(PATIENCE) == 0, "".join(self.printed)
        return [process for process in psutil.wait_procs(family, timeout=PATIENCE)[1] if process.is_running()]


@contextlib.contextmanager
def running(
    data: Path,
    *words: str,
    command: str = "run",
    stdin: int = subprocess.DEVNULL,
    start: type[subprocess.Popen[str]] = Forked,
) -> Iterator[Started]:
    port = free_port()
    process = start(
        [sys.executable, "-m", "dailygrad", command, "--data", str(data), *words],
        cwd=ROOT,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"} | {"DATABASE_URL": "", "DAILYGRAD_WEB_PORT": str(port)},
    )
    started = Started(process, data, port)
    reader = threading.Thread(target=started.follow, daemon=True)
    reader.start()
    try:
        yield started
    finally:
        if process.poll() is None:
            started.kill()
        reader.join()
        if process.stdin:
            process.stdin.close()
        if process.stdout:
            process.stdout.close()


@pytest.fixture
def data() -> Iterator[Path]:
    """A folder accessible to every user: PostgreSQL started by root runs as another user, and pytest's folders are
    private."""
    with tempfile.TemporaryDirectory(prefix="dailygrad-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def posts(data: Path) -> list[str]:
    """Returns the keys of the messages in the web chat, in order; none while there is no database."""
    with contextlib.suppress(psycopg.Error), database(data) as connection:
        query = "select key from web_message where key is not null order by id"
        return [row[0] for row in connection.execute(query).fetchall()]
    return []


def database(data: Path) -> psycopg.Connection:
    return psycopg.connect(f"host={data / 'postgres'} user=postgres dbname=postgres")


@pytest.mark.slow
def test_a_question_is_posted_and_kept_after_a_restart(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAILYGRAD_METRICS_PORT", "0")
    with running(data, start=subprocess.Popen) as first:
        address = first.wait_for(r"ready after [\d.]+ s: http://127\.0\.0\.1:(\d+)")
        assert first.port <= int(address[1]) < first.port + 20, "the next free one, if it was taken meanwhile"
        once = first.until(lambda: posts(data) or None, "a question was posted")
        first.wait_for("Sandbox ready: torch")
        page = httpx.get(first.wait_for(r"Metrics are served at (\S+)")[1], timeout=PATIENCE).text
        size = re.search(r"^dailygrad_disk_size_bytes (\S+)$", page, re.MULTILINE)
        assert size and float(size[1]) == shutil.disk_usage(data).total, "the database's disk is watched"
        assert first.stop() == []
    with running(data) as second:
        second.wait_for("ready after")
        assert "unchanged" in "".join(second.printed)
        assert posts(data) == once
        assert second.stop() == []
    assert len(once) == 1


@pytest.mark.slow
def test_a_demo_is_played_once_and_opened_as_its_lead(data: Path) -> None:
    words = ("--weeks", "1", "--members", "4")
    with running(data, *words, command="demo") as first:
        link = first.wait_for(r"ready after [\d.]+ s: (http://\S+/sign-in/\S+)")[1]
        with httpx.Client(follow_redirects=True) as lead:
            token = re.search(r'name="token" value="([^"]+)"', lead.get(link).text)
            assert token
            today = lead.post(link, data={"token": token[1]})
            assert "Not answered yet." in today.text, "the question of the day waits for the lead"
            assert "How sure are you?" in today.text or "Open the editor" in today.text
            me = lead.get(str(today.url).replace("/today", "/me")).text
            ladder = lead.get(str(today.url).replace("/today", "/ladder")).text
        assert "  Week 1 of 1 played\n" in first.printed
        assert "Lead" in me and "No answers yet" not in me
        assert "<table" in ladder.split('id="mine"')[1], "the lead has dueled"
        played = _played(data)
        assert first.stop() == []
    assert played["closed"] == 6 and played["open"] == 1
    assert played["answered"] >= 6 and played["members"] == 6 and played["duels"] == 1
    assert (played["sprints"], played["sprint questions"], played["tournaments"]) == (1, 3, 1)
    assert played["sprint answers"] >= 3 and played["calibrated"] >= 1
    assert played["different"] == 0 < played["compared"], "the board is the sum of the ledger, as after real play"
    with running(data, *words, command="demo") as second:
        second.wait_for("ready after")
        assert "Playing the demo" not in "".join(second.printed)
        assert _played(data) == played
        assert second.stop() == []


def _played(data: Path) -> dict[str, int]:
    """Counts what is in the database of a demo."""
    compared = """
        select count(*) from (select member_id, sum(points) as points from ledger group by member_id) each
        join board on board.period = 'all' and board.channel_id is null and board.topic = ''
        left join board_member kept on kept.member_id = each.member_id and kept.board_id = board.id
    """
    counts = {
        "closed": "select count(*) from round where closed_at is not null",
        "open": "select count(*) from round where closed_at is null",
        "answered": "select count(*) from standing",
        "members": "select count(distinct member_id) from identity",  # four, the lead, and who starts Dailygrad
        "duels": "select count(*) from duel where ended_at is not null",
        "sprints": "select count(*) from sprint where ended_at is not null",
        "sprint questions": "select count(*) from sprint_question where settled_at is not null",
        "sprint answers": "select count(*) from sprint_answer where points is not null",
        "tournaments": "select count(*) from tournament",
        "calibrated": "select count(*) from item_difficulty",
        "compared": compared,
        "different": f"{compared} where kept.points is distinct from each.points",
    }
    with database(data) as connection:
        return {name: connection.execute(query).fetchone()[0] for name, query in counts.items()}  # type: ignore[index]


def test_a_demo_leaves_other_data_alone(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = CliRunner()
    (data / "postgres").mkdir()
    held = run.invoke(demo_command, ["--data", str(data)])
    assert held.exit_code != 0 and "holds something else" in str(held.exception)
    monkeypatch.setenv("DATABASE_URL", "postgresql://somewhere/production")
    other = run.invoke(demo_command, ["--data", str(data / "new")])
    assert other.exit_code != 0 and "unset DATABASE_URL" in str(other.exception) and not (data / "new").exists()


@pytest.mark.slow
def test_the_console_is_a_transcript_and_leaves_by_itself(data: Path) -> None:
    with running(data, "--chat", "console", stdin=subprocess.PIPE) as run:
        assert run.process.stdin is not None
        run.process.stdin.write("/as Ann\n/quiz-admin schedule list\n/quiz practice kind:code\n/quit\n")
        run.process.stdin.flush()
        run.wait_for(r"Ann …> /quit\n")
        run.wait_for("Stopped\\. Everything is kept in ")
        assert run.process.wait(PATIENCE) == 0
    said = "".join(run.printed)
    assert "You are Ann, an admin." in said
    assert "of kind choice, value or" in said
    assert "Your code\n" in said


@pytest.mark.slow
def test_a_second_run_on_the_same_data_is_refused_and_other_commands_work_beside_it(data: Path) -> None:
    with running(data, *ONE_DOCUMENT) as first:
        first.wait_for("ready after")
        with running(data, *ONE_DOCUMENT) as second:
            assert second.process.wait(PATIENCE) == 2
        assert "another `dailygrad run` uses" in "".join(second.printed)
        assert "pytorch-core: 1 import" in beside(data, "bank", "log", "pytorch-core")
        first.wait_for("Sandbox ready: torch")
        assert re.search(r"^Sandbox: .* ready, .* isolation", beside(data, "ops"), re.M)
        assert first.stop() == []
    assert "\nSandbox: No sandbox is connected." in beside(data, "ops")


def beside(data: Path, *words: str) -> str:
    """Returns what a command prints that works on the data folder, beside `dailygrad run` or without it."""
    where = {**os.environ, "DATABASE_URL": "", "DAILYGRAD_DATA": str(data)}
    command = [sys.executable, "-m", "dailygrad", *words]
    return subprocess.run(command, cwd=ROOT, env=where, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_a_folder_without_documents_is_refused(data: Path) -> None:
    (data / "questions").mkdir()
    with running(data, "--bank", str(data / "questions")) as run:
        assert run.process.wait(PATIENCE) == 2
    assert f"there is no document in {data}/questions: pass a file, or a folder with " in "".join(run.printed)


@pytest.mark.slow
def test_killed_after_the_slot_is_written_and_before_it_is_posted_makes_one_post(data: Path) -> None:
    with _held_chat(data) as held:
        with running(data, *ONE_DOCUMENT) as killed:
            killed.until(lambda: _outbox(data, "sending"), "the post was under way")
            killed.kill()
        held.close()
        assert posts(data) == []
        with running(data, *ONE_DOCUMENT) as again:
            again.until(lambda: _outbox(data, "sent"), "the post was sent")
            assert len(posts(data)) == 1
            assert again.stop() == []


@pytest.mark.slow
def test_killed_after_posting_and_before_it_is_noted_makes_one_post(data: Path) -> None:
    with _held_chat(data) as held:
        with running(data, *ONE_DOCUMENT) as killed:
            row = killed.until(lambda: _locked_outbox(data), "the post was under way and its row could be held")
            held.close()
            killed.until(lambda: posts(data) or None, "the message was posted")
            assert _outbox(data, "sent") is None
            killed.kill()
            row.close()
        with running(data, *ONE_DOCUMENT) as again:
            again.until(lambda: _outbox(data, "sent"), "the post was found")
            assert len(posts(data)) == 1
            assert again.stop() == []


@contextlib.contextmanager
def _held_chat(data: Path) -> Iterator[psycopg.Connection]:
    """Starts the database with the web chat's messages locked: nothing can be posted until the connection is closed."""
    postgres = start_postgres(data / "postgres")
    try:
        migrations.upgrade(postgres.url)
        with contextlib.closing(database(data)) as held:
            held.execute("lock table web_message in exclusive mode")
            yield held
    finally:
        postgres.stop()


def _outbox(data: Path, state: str) -> int | None:
    """Counts the question posts in a state; None without any, or without a database."""
    with contextlib.suppress(psycopg.Error), database(data) as connection:
        query = "select count(*) from outbox where state = %s and kind = 'question'"
        return connection.execute(query, (state,)).fetchone()[0] or None  # type: ignore[index]
    return None


def _locked_outbox(data: Path) -> psycopg.Connection | None:
    """Locks the question's row once it is claimed, so that its state cannot be updated."""
    try:
        connection = database(data)
    except psycopg.Error:
        return None
    with contextlib.suppress(psycopg.Error):
        query = "select id from outbox where state = 'sending' and kind = 'question' for update"
        if connection.execute(query).fetchone():
            return connection
    connection.close()
    return None
