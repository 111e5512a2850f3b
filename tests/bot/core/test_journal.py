"""The journal: taken once, durable against a crash, forgotten once answered."""

import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.core.events import Added, Command, Event, Press, Sent, Submit, Visited
from bot.core.journal import Journal, JournalEntry
from service.wire import Where, Who
from tests.calls import calls_of

NOW = datetime(2026, 3, 2, 8, 0, 0, 250_000, tzinfo=UTC)
ADA = Who(platform="discord", workspace="7", member="1", name="Ada ﷽ 🎉", admin=True)
DAILY = Where(channel="9", name="#daily")
ROUTE = {"token": "a-token", "application": "5"}


def press(number: int = 1, at: datetime = NOW) -> Press:
    return Press(f"discord:{number}", at, ADA, DAILY, "o:r1:a")


Journals = Callable[[], Journal]


@pytest.fixture
def journals(tmp_path: Path) -> Iterator[Journals]:
    """Opens the same journal, once or several times."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(closing(Journal(tmp_path / "journal.sqlite")))


EVENTS: list[Event] = [
    Command("c", NOW, ADA, DAILY, "quiz", 'report text:say "no"\nplease'),
    press(),
    Submit("s", NOW, ADA, DAILY, "f:r1", {"options": ("a", "b"), "code": ("x = 1\n\tif x:\x00",), "none": ()}),
    Sent("m", NOW, ADA, DAILY, "```py\nx\n```", (("a.py", "x = 1"), ("b.py", ""))),
    Added("a", NOW, ADA, Where(channel="")),
    Visited("v", NOW, ADA, DAILY),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_an_event_is_read_back_unchanged(tmp_path: Path, event: Event) -> None:
    first = Journal(tmp_path / "journal.sqlite")
    assert first.record(event, ROUTE)
    first.close()
    with closing(Journal(tmp_path / "journal.sqlite")) as journal:
        assert journal.unanswered() == [JournalEntry(event, ROUTE)]


def test_an_event_is_recorded_once_across_processes(journals: Journals) -> None:
    one, other = journals(), journals()
    assert one.record(press(), ROUTE)
    assert not other.record(press(), ROUTE)
    one.mark_answered(press().id)
    assert not other.record(press(), ROUTE)
    assert one.unanswered() == other.unanswered() == []


def test_what_is_left_comes_oldest_first(journals: Journals) -> None:
    journal = journals()
    for number in (3, 1, 2):
        journal.record(press(number), ROUTE)
    journal.mark_answered("discord:1")
    assert [taken.event.id for taken in journal.unanswered()] == ["discord:3", "discord:2"]


def test_nothing_of_an_answered_event_stays_but_its_id(tmp_path: Path, journals: Journals) -> None:
    journal = journals()
    journal.record(Submit("s", NOW, ADA, DAILY, "f:r1", {"text": ("my own words",)}), ROUTE)
    journal.mark_answered("s")
    journal.close()
    kept = (tmp_path / "journal.sqlite").read_bytes()
    assert b"my own words" not in kept and b"a-token" not in kept


def test_only_what_was_answered_is_forgotten(journals: Journals) -> None:
    journal = journals()
    for number, days in ((1, 9), (2, 9), (3, 1)):
        journal.record(press(number, NOW - timedelta(days=days)), ROUTE)
    for number in (1, 3):
        journal.mark_answered(f"discord:{number}")
    journal.prune(NOW - timedelta(days=8))
    assert journal.record(press(1), ROUTE)
    assert not journal.record(press(2), ROUTE)
    assert not journal.record(press(3), ROUTE)


def test_instants_of_other_zones_are_forgotten_by_their_time(journals: Journals) -> None:
    journal = journals()
    journal.record(press(1, datetime.fromisoformat("2026-03-02T09:30:00+02:00")), ROUTE)
    journal.mark_answered("discord:1")
    journal.prune(datetime(2026, 3, 2, 7, 0, tzinfo=UTC))
    assert not journal.record(press(1), ROUTE)
    journal.prune(datetime(2026, 3, 2, 7, 30, 1, tzinfo=UTC))
    assert journal.record(press(1), ROUTE)


def test_no_other_user_of_the_machine_can_read_the_journal(tmp_path: Path, journals: Journals) -> None:
    (tmp_path / "journal.sqlite").touch(mode=0o644)
    journal = journals()
    journal.record(press(), ROUTE)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes == {0o600}


def test_what_was_taken_survives_a_kill(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys\nsys.path.insert(0, os.getcwd())\n"
        "from pathlib import Path\nfrom bot.core.journal import Journal\nfrom bot.core.events import Press\n"
        "from service.wire import Where, Who\nfrom datetime import datetime, UTC\n"
        f"journal = Journal(Path({str(tmp_path / 'journal.sqlite')!r}))\n"
        "who = Who(platform='discord', workspace='7', member='1', name='Ada')\n"
        "for n in range(50):\n"
        "    press = Press(f'discord:{n}', datetime.now(UTC), who, Where(channel='9'), 'o:r1:a')\n"
        "    journal.record(press, {'n': str(n)})\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], cwd=Path.cwd(), timeout=60, check=False)
    assert ended.returncode == -signal.SIGKILL
    with closing(Journal(tmp_path / "journal.sqlite")) as journal:
        assert [taken.route["n"] for taken in journal.unanswered()] == [str(n) for n in range(50)]


def test_taking_costs_one_statement_however_much_is_kept(journals: Journals) -> None:
    journal = journals()
    seen: list[str] = []
    journal._db.set_trace_callback(seen.append)
    costs = []
    for number in range(600):
        seen.clear()
        costs.append(calls_of(lambda number=number: journal.record(press(number), ROUTE)))  # type: ignore[misc]
        assert [statement.split()[0] for statement in seen] == ["insert"]
    assert max(costs[1:]) < 2 * costs[1]
