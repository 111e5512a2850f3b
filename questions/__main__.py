"""`python -m questions FILE…`: reads documents, prints findings, exits with status 1 on errors."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from questions.reader import Reading, read_path
from questions.report import FORMATS, Format, finding_github, reading_text, readings_json, total_text

if TYPE_CHECKING:
    from collections.abc import Sequence


def check_main(paths: Sequence[Path], format: Format = "text") -> int:
    """Reads files and directories and prints the results to stdout. Returns 0, or 1 if there are errors.

    Names paths that cannot be opened on stderr, and then returns 2.
    """
    readings: list[Reading] = []
    missing = False
    for path in paths:
        try:
            readings += read_path(path)
        except OSError as error:
            missing = True
            sys.stderr.write(f"{path}: {error.strerror or error}: pass a Markdown file or a folder\n")
    _show(readings, format)
    if missing:
        return 2
    return int(any(reading.has_errors for reading in readings))


def _show(readings: Sequence[Reading], format: Format) -> None:
    if format == "json":
        sys.stdout.write(readings_json(readings) + "\n")
    elif format == "github":
        for reading in readings:
            sys.stdout.writelines(f"{finding_github(one, reading.source)}\n" for one in reading.findings)
    else:
        console = Console(highlight=False, soft_wrap=True)
        for reading in readings:
            console.print(reading_text(reading), end="")
        console.print(total_text(readings), end="")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m questions", description="Check banks of questions.")
    parser.add_argument("paths", nargs="+", type=Path, metavar="FILE", help="document or folder")
    parser.add_argument("--format", choices=FORMATS, default="text", help="output format")
    options = parser.parse_args(arguments)
    return check_main(options.paths, options.format)


if __name__ == "__main__":
    sys.exit(main())
