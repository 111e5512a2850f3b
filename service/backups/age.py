"""How old the newest backup of a folder is, and whether it can be read: for the doctor."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from service.backups.archive import Archive, BackupWrong
from service.backups.restoring import refuse_unknown
from service.wire import Check

OLD = timedelta(hours=26)
"""A nightly one may take its time."""
HOW = "have cron run `dailygrad backup FOLDER` each night"


def examine_backups(folder: Path, now: datetime) -> Check:
    """Whether somebody takes backups, and keeps them to themselves. Only the newest one's outline is read."""
    try:
        found = sorted(folder.glob("*.zip"), key=lambda path: path.stat().st_mtime)
        if not found:
            return _wrong(f"none is in {folder}", HOW)
        newest = found[-1]
        with newest.open("rb") as file:
            manifest = Archive(file).manifest
            refuse_unknown(manifest)
        mode = newest.stat().st_mode & 0o777
    except OSError as problem:
        return _wrong(f"{folder} cannot be read ({problem.strerror})", "check its path and its owner")
    except BackupWrong as wrong:
        return _wrong(f"{newest.name} cannot be restored", str(wrong))
    if mode & 0o077:
        return _wrong(f"{newest.name} can be read by others: its mode is {mode:04o}", f"chmod 600 {newest}")
    age = now - manifest.taken_at
    said = f"the newest of {len(found)} is {age.total_seconds() / 3600:,.0f} h old and holds {manifest.rows:,} rows"
    if age > OLD:
        return _wrong(said, HOW)
    return Check(name="backups", ok=True, said=said, cure="`dailygrad restore` reads one to its end before it writes")


def _wrong(said: str, cure: str) -> Check:
    return Check(name="backups", ok=False, said=said, cure=cure)
