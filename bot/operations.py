"""`dailygrad ops`: prints the state of every workspace, read from the database."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from bot.core.text.operations import whole_text
from service.app import Service
from service.cli import in_database
from service.ops import operations
from service.process import now
from service.wire import Operations

operations_command = typer.Typer()


@operations_command.command()
def ops(
    format: Annotated[str, typer.Option(help="text or json.")] = "text",
) -> None:
    """Show the state of every workspace: slots from due to posted, queues, the sandbox and recent failures."""
    if format not in ("text", "json"):
        raise typer.BadParameter("text or json", param_hint="--format")
    found = in_database(_overview)
    sys.stdout.write((whole_text(found) if format == "text" else found.model_dump_json(indent=2)) + "\n")


async def _overview(service: Service) -> Operations:
    sandbox = await operations.sandbox_view(service.sandbox)
    async with service.sessions() as session:
        return await operations.overview(session, None, sandbox, now())
