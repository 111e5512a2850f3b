"""Names of discord.py that its documentation does not promise are checked when the bot is imported."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import discord
import pytest

from bot.discord.library import TESTED, USED, check_library
from service.process import CommandFailed

HOME = Path(__file__).parents[3]
UNDOCUMENTED = re.compile(r"discord\.(?:http|gateway|webhook|state)\b|\b_connection\b")


def test_the_installed_version_has_all_of_them() -> None:
    check_library(USED, discord.__version__)


@pytest.mark.parametrize(
    ("used", "missing"),
    [
        ({"discord.http:HTTPClient.get_stranger": ()}, "discord.http.HTTPClient.get_stranger"),
        ({"discord.http:Elsewhere.BASE": ()}, "discord.http.Elsewhere.BASE"),
        ({"discord.http:HTTPClient.get_user": ("user_id", "fast")}, "discord.http.HTTPClient.get_user(fast=…)"),
    ],
)
def test_a_missing_one_is_named_with_the_version(used: dict[str, tuple[str, ...]], missing: str) -> None:
    with pytest.raises(CommandFailed) as failed:
        check_library(used, "9.8.7")
    assert f"discord.py 9.8.7 has no {missing}, which this bot uses." in str(failed.value)
    assert f"discord.py=={TESTED}" in str(failed.value)


def test_the_bot_does_not_start_without_one() -> None:
    program = (
        "from discord.http import HTTPClient; del HTTPClient.get_member\n"
        "from bot.cli import _discord_bot\n"
        "from service.process import CommandFailed\n"
        "try: _discord_bot()\n"
        "except CommandFailed as failed: print(failed)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=HOME, capture_output=True, text=True, check=True)
    assert "has no discord.http.HTTPClient.get_member, which this bot uses" in done.stdout


def test_the_tested_version_is_the_locked_one() -> None:
    locked = re.search(r"^discord-py==(\S+)", (HOME / "requirements.lock").read_text(encoding="utf-8"), re.M)
    assert locked and locked[1] == TESTED


def test_every_use_goes_through_the_list() -> None:
    """Other modules of the bot import none of these modules, and each method they call is listed."""
    sources = {path.name: path.read_text(encoding="utf-8") for path in (HOME / "bot" / "discord").glob("*.py")}
    others = {name: text for name, text in sources.items() if name != "library.py"}
    assert not [name for name, text in others.items() if UNDOCUMENTED.search(text)]
    called = {found for text in others.values() for found in re.findall(r"\bhttp\.([a-z_]+)\(", text)}
    called |= {found for text in others.values() for found in re.findall(r"async_context\.get\(\)\.([a-z_]+)", text)}
    assert called <= {name.rpartition(".")[2] for name in USED}
