"""Commands in the documents: each one exists, is complete in docs/commands.md, and runs where it can run here."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.core.command_spec import COMMANDS
from dailygrad import COMMANDS as CLI
from dailygrad import load
from tests.docs.pages import DOCS, PAGES, ROOT, blocks_of, commands_of, name_of, prose_of, rows_of, section_of, text_of

PAGE = DOCS / "commands.md"
EXAMPLES = blocks_of(DOCS / "writing-questions.md", "markdown")
# What a placeholder stands for, in commands that documents show with one.
STANDS_FOR = {"ID": "strides-of-a-transpose", "CODE": "P102", "ANSWER": "1", "NAME": "our-team", "COMMAND": "run"}
# These need a database, a chat, or a process that goes on.
NOT_RUN = (
    *(
        "run",
        "serve",
        "work",
        "migrate",
        "ops",
        "regrade",
        "backup",
        "restore",
        "archive",
        "doctor discord",
        "doctor slack",
    ),
    *("bot web", "bot console", "bot discord", "bot discord-sync", "bot slack"),
    *("bank import", "bank approve", "bank log", "bank undo", "sandbox serve", "sandbox gate", "sandbox health"),
)
# Exit statuses other than 0 that a document describes; `doctor` may find something on this machine.
STATUSES = {"bank diff": (0, 1), "doctor": (0, 1)}


def leaves(found: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yields every command that is not a group, with its path."""
    if hasattr(found, "commands"):
        for name, one in found.commands.items():
            yield from leaves(one, (*path, name))
    else:
        yield " ".join(path), found


LEAVES = {path: one for name in CLI for path, one in leaves(load(name), (name,))}
SHOWN = sorted({(name_of(page), words) for page in PAGES for words in commands_of(page)})


def split(words: str) -> tuple[str, list[str]]:
    """Splits a command into its path and its arguments."""
    parts = [STANDS_FOR.get(part, part) for part in shlex.split(words)]
    found = [path for path in LEAVES if parts[: len(path.split())] == path.split()]
    assert found, f"`dailygrad {words}` is not a command"
    path = max(found, key=len)
    return path, parts[len(path.split()) :]


@pytest.mark.parametrize(("page", "words"), SHOWN)
def test_a_command_in_a_document_is_accepted(page: str, words: str) -> None:
    if re.fullmatch(r"((bank|bot|sandbox|COMMAND) ?)?(--help|--version)?", words):
        return
    path, arguments = split(words)
    leaf = LEAVES[path]
    if path == "sandbox run" and arguments:
        arguments[-1] = str(ROOT / "dailygrad.py")
    # A bare name in a sentence is no call: its required arguments may be missing.
    with leaf.make_context(path, [*arguments], resilient_parsing=not arguments) as context:
        assert context.command is leaf


def test_commands_are_found_in_many_documents() -> None:
    assert len(SHOWN) > 40
    assert len({page for page, _ in SHOWN}) > 8


def runnable() -> list[str]:
    """Returns the commands of shell blocks that need only this machine."""
    lines = {words for page in PAGES for block in blocks_of(page, "sh") for words in shown_in(block)}
    return sorted(line for line in lines if not f"{line} ".startswith(tuple(f"{path} " for path in NOT_RUN)))


def shown_in(block: str) -> list[str]:
    return [
        found["words"].strip()
        for found in re.finditer(r"^ *(?:\.venv/bin/)?dailygrad (?P<words>(?:'[^'\n]*'|[^#'\n])*)", block, re.M)
    ]


RUNNER = """
import contextlib, io, json, shlex, sys

# What only the chats install: the documents use these commands after `make run`, which does not.
sys.modules.update(dict.fromkeys(["discord", "slack_bolt", "slack_sdk", "matplotlib"]))
import dailygrad

for words in json.load(sys.stdin):
    sys.argv = ["dailygrad", *shlex.split(words)]
    status = 0
    try:
        with contextlib.redirect_stdout(sys.stderr):
            dailygrad.main()
    except SystemExit as end:
        status = end.code or 0
    print(json.dumps([words, status]), flush=True)
"""


@pytest.fixture(scope="module")
def statuses(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """The exit statuses of all commands in shell blocks, which run in one process to save its start-up time."""
    folder = tmp_path_factory.mktemp("commands")
    for name in ("my-questions.md", "new-edition.md", "questions.md"):
        (folder / name).write_text(EXAMPLES[0], encoding="utf-8")
    (folder / "interview.md").write_text(blocks_of(DOCS / "importing.md", "markdown")[0], encoding="utf-8")
    (folder / "notes.md").write_text("### 1. Which is even?\n\na) 1\nb) 2\n\n> **Answer: b**\n", encoding="utf-8")
    shutil.copytree(ROOT / "questions" / "banks", folder / "questions" / "banks")
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("DAILYGRAD_", "DATABASE", "SLACK_"))
    }
    done = subprocess.run(
        [sys.executable, "-c", RUNNER],
        cwd=folder,
        env={**kept, "PYTHONPATH": str(ROOT)},
        input=json.dumps(runnable()),
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    return dict(json.loads(line) for line in done.stdout.splitlines())


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.parametrize("words", runnable())
def test_a_command_in_a_shell_block_runs(statuses: dict[str, int], words: str) -> None:
    assert statuses[words] in STATUSES.get(split(words)[0], (0,))


def test_the_page_lists_every_command_of_the_command_line() -> None:
    listed = [row[0].strip("`").removeprefix("dailygrad ") for row in rows_of(section_of(PAGE, "Command line"))]
    assert sorted(listed) == sorted(LEAVES)


@pytest.mark.parametrize(("heading", "admin"), [("Members", False), ("Admins", True)])
def test_the_page_lists_every_command_of_the_chats_as_it_is_typed(heading: str, admin: bool) -> None:
    section = section_of(PAGE, heading).partition("### ")[0]
    assert [row[0].strip("`") for row in rows_of(section)] == [one.usage for one in COMMANDS if one.admin is admin]


def test_the_arguments_of_a_schedule_are_those_that_are_read() -> None:
    (add,) = [one for one in COMMANDS if one.path == ("schedule", "add")]
    assert [row[0].strip("`") for row in rows_of(section_of(PAGE, "Schedules"))] == [one.name for one in add.arguments]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_chat_commands_in_a_document_exist(page: Path) -> None:
    for written in re.findall(r"`(/quiz(?:-admin)?[^`]*)`", prose_of(page)):
        name, *words = written[1:].split()
        paths = [one.path for one in COMMANDS if one.name == name]
        assert not words or any(tuple(words[: len(path)]) == path for path in paths), written


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_make_targets_in_a_document_exist(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    shown = re.findall(r"(?:^|`)(?:[A-Z_]+=\S+ )*make ([a-z-]+)", text_of(page), re.M)
    assert set(shown) <= targets


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_compose_commands_in_a_document_name_services_and_profiles(page: Path) -> None:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
    profiles = {profile for service in services.values() for profile in service.get("profiles", ())}
    for line in re.findall(r"docker compose [^`\n#>|]*", text_of(page)):
        assert set(re.findall(r"--profile (\w+)", line)) <= profiles, line
        named = re.findall(r"--scale (\w+)=", line) + re.findall(r"(?:run --rm|exec -T|up) ([a-z][\w-]*)", line)
        assert set(named) <= set(services), line
