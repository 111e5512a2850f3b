"""`dailygrad doctor`: checks everything this environment names, from the database to the chats."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bot.cli import bot_findings, chat_findings, is_bot
from bot.doctor.checks import CheckResult
from sandbox.cli import examine_machine
from service.logs import Redaction
from service.ops.backups import examine_backups
from service.ops.doctor import (
    examine_database,
    examine_embedded,
    examine_folder,
    examine_sandbox,
    secrets_in,
    service_settings,
)
from service.process import DATA, now, out
from service.wire import Check

doctor_command = typer.Typer()


class Patient(StrEnum):
    """What the doctor can examine beside this machine."""

    discord = "discord"
    slack = "slack"


@doctor_command.command()
def doctor(
    chat: Annotated[
        Patient | None, typer.Argument(help="A chat's setup alone: discord or slack, with the settings of its bot.")
    ] = None,
    data: Annotated[Path, typer.Option(envvar="DAILYGRAD_DATA", help="Where everything is kept.")] = DATA,
    backups: Annotated[
        Path | None, typer.Option(envvar="DAILYGRAD_BACKUPS", help="A folder that should hold a backup of today.")
    ] = None,
) -> None:
    """Say what works of all that this environment names, and how to mend the rest. Exit status 1 if something does not.

    Where DATABASE_URL is set: the service's settings, the database, its worker, the sandbox. Where
    DAILYGRAD_SERVICE_URL is: the service, its token, links. Where a chat's tokens are: that chat. Else this machine.
    """
    hiding = Redaction()
    hiding.add(*secrets_in(os.environ))
    good = True
    for found in asyncio.run(examined(chat, data.resolve(), backups)):
        good = good and found.good
        out.print("ok     " if found.good else "[bold]broken[/bold] ", end="")
        out.print(hiding.text(found.said), markup=False, soft_wrap=True)
        if found.cure:
            out.print(f"       {'note' if found.good else 'cure'}: ", end="")
            out.print(hiding.text(found.cure), markup=False, soft_wrap=True)
    raise SystemExit(0 if good else 1)


async def examined(chat: Patient | None, data: Path, backups: Path | None) -> list[CheckResult]:
    """What the doctor found, in the order in which one part stands on another."""
    if chat is not None:
        return await chat_findings(chat.value)
    found: list[CheckResult] = []
    served = bool(os.environ.get("DATABASE_URL") or os.environ.get("DAILYGRAD_DATABASE_URL"))
    elsewhere: Check | None = None
    if served:
        settings, check = service_settings()
        found += findings([check])
        if settings is not None:
            found += findings(examine_database(settings.database_url, now))
            elsewhere = await examine_sandbox(settings)
    if elsewhere is not None:
        found += findings([elsewhere])
    elif served or not is_bot():
        found += [CheckResult(*one) async for one in examine_machine()]
    if not served and not is_bot():
        found += findings(examine_embedded(data, now))
    if elsewhere is None:
        found += findings([examine_folder(data)])
    if backups is not None:
        found += findings([examine_backups(backups, now())])
    return found + [one async for one in bot_findings(now())]


def findings(checks: Iterable[Check]) -> list[CheckResult]:
    """The service's checks as the bot's doctors tell theirs."""
    return [CheckResult(check.ok, f"{check.name}: {check.said}", check.cure) for check in checks]
