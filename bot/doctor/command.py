"""`dailygrad doctor`: checks everything this environment configures, from the database to the chats."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bot.cli import bot_findings, chat_findings, is_bot, keeps_files
from bot.doctor.checks import CheckResult
from bot.doctor.environment import BOT_SETTINGS, find_unknown
from sandbox.cli import examine_machine
from service.config import Settings
from service.logs import Redaction
from service.ops.backups import examine_backups
from service.ops.deployment import (
    Check,
    examine_database,
    examine_embedded,
    examine_folder,
    examine_sandbox,
    examine_secrets,
    secrets_in,
    service_settings,
)
from service.process import DATA, now, out

doctor_command = typer.Typer()


class CheckedChat(StrEnum):
    """Chats whose setup can be checked."""

    discord = "discord"
    slack = "slack"


@doctor_command.command()
def doctor(
    chat: Annotated[
        CheckedChat | None, typer.Argument(help="Check one chat only: discord or slack, with the settings of its bot.")
    ] = None,
    data: Annotated[Path, typer.Option(envvar="DAILYGRAD_DATA", help="Where everything is kept.")] = DATA,
    backups: Annotated[
        Path | None, typer.Option(envvar="DAILYGRAD_BACKUPS", help="Check that this folder has a backup from today.")
    ] = None,
) -> None:
    """Check everything this environment configures and say how to fix what is broken. Exit status 1 if something is.

    With DATABASE_URL: the service's settings, the database, its worker and the sandbox. With DAILYGRAD_SERVICE_URL: the
    service, its token and links. With a chat's tokens: that chat. Otherwise: this machine.
    """
    hiding = Redaction()
    hiding.add(*secrets_in(os.environ))
    good = True
    for found in asyncio.run(run_checks(chat, data.resolve(), backups)):
        good = good and found.good
        out.print("ok     " if found.good else "[bold]broken[/bold] ", end="")
        out.print(hiding.text(found.text), markup=False, soft_wrap=True)
        if found.cure:
            out.print(f"       {'note' if found.good else 'fix'}: ", end="")
            out.print(hiding.text(found.cure), markup=False, soft_wrap=True)
    raise SystemExit(0 if good else 1)


async def run_checks(chat: CheckedChat | None, data: Path, backups: Path | None) -> list[CheckResult]:
    """Runs the checks and returns their results, dependencies first."""
    if chat is not None:
        return await chat_findings(chat.value)
    found = list(find_unknown(os.environ, Settings, *BOT_SETTINGS))
    served = bool(os.environ.get("DATABASE_URL") or os.environ.get("DAILYGRAD_DATABASE_URL"))
    elsewhere: Check | None = None
    if served:
        settings, check = service_settings()
        found += findings([check])
        if settings is not None:
            found += findings(examine_database(settings.database_url, now))
            found += findings(examine_secrets(settings))
            elsewhere = await examine_sandbox(settings)
    if elsewhere is not None:
        found += findings([elsewhere])
    elif served or not is_bot():
        found += [CheckResult(*one) async for one in examine_machine()]
    if not served and not is_bot():
        found += findings(examine_embedded(data, now))
    if elsewhere is None and keeps_files():
        found += findings([examine_folder(data)])
    if backups is not None:
        found += findings([examine_backups(backups, now())])
    return found + [one async for one in bot_findings(now())]


def findings(checks: Iterable[Check]) -> list[CheckResult]:
    """Converts the service's checks to results."""
    return [CheckResult(check.ok, f"{check.name}: {check.found}", check.fix) for check in checks]
