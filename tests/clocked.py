"""`python -m tests.clocked COMMAND...`: the `dailygrad` command with a clock that a test can set.

The file in DAILYGRAD_TEST_CLOCK says by how many seconds the time differs from the machine's, for the whole system: the
process does not ask the database. DAILYGRAD_TEST_SKEW names a file too, which sets the clock of this process's machine
alone. The file is read at every look at the clock. Only this program accepts them, and it is in no wheel and no image.
Timeouts and the interval of ticks are measured by the machine's steady clock, which runs on.
"""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

FILE = "DAILYGRAD_TEST_CLOCK"
SKEW_FILE = "DAILYGRAD_TEST_SKEW"


class SharedClock:
    """The clock of all processes that are given its file."""

    def __init__(self, file: Path, at: datetime) -> None:
        self._file = file
        self.set(at)

    def __call__(self) -> datetime:
        return datetime.now(UTC) + difference(self._file)

    def set(self, at: datetime) -> None:
        """Makes it that time now, in every process."""
        new = self._file.with_suffix(".new")
        new.write_text(str((at - datetime.now(UTC)).total_seconds()))
        new.replace(self._file)

    @property
    def settings(self) -> dict[str, str]:
        """The variable for processes that shall have this clock."""
        return {FILE: str(self._file)}


def difference(file: Path) -> timedelta:
    """Returns by how much a clock differs from the machine's."""
    return timedelta(seconds=float(file.read_text()))


class SkewedClock:
    """The clock of one machine, which is wrong."""

    def __init__(self, file: Path, ahead: timedelta) -> None:
        self._file = file
        file.write_text(str(ahead.total_seconds()))

    @property
    def settings(self) -> dict[str, str]:
        """The variable for the processes of that machine."""
        return {SKEW_FILE: str(self._file)}


def main() -> None:
    from service import process
    from service.reference_clock import ReferenceClock

    file, real = Path(os.environ.get(FILE) or os.environ[SKEW_FILE]), process.now
    if FILE in os.environ:
        ReferenceClock.__call__ = lambda clock: clock.machine()  # type: ignore[assignment, method-assign]

    def now() -> datetime:
        return real() + difference(file)

    # Also where it has been imported already, as in a process that was forked.
    for module in list(sys.modules.values()):
        if getattr(module, "now", None) is real:
            module.now = now  # type: ignore[attr-defined]
    from dailygrad import main as dailygrad

    dailygrad()


if __name__ == "__main__":
    main()
