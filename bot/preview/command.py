"""`dailygrad bank preview`: shows a question as each chat would post, answer and reveal it. Needs no database."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from bot.preview.scenes import PLATFORMS, make_scenes, scene_data, scene_text, write_page
from questions.cli import bank_at, bank_command, question_named
from questions.families import InvalidVariant
from questions.model import Question
from sandbox import embedded as sandboxes
from service.banks.proving import SandboxFailed, generate_variants
from service.process import CommandFailed, out
from service.rounds.views import preview_question


@bank_command.command("preview")
def bank_preview(
    id: Annotated[str, typer.Argument(metavar="ID", help="The id of a question.")],
    paths: Annotated[list[Path] | None, typer.Argument(help="Documents or folders; default: the shipped bank.")] = None,
    platform: Annotated[str, typer.Option(help=f"One of {', '.join(PLATFORMS)}, or all.")] = "all",
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the page.")] = Path(),
    count: Annotated[int, typer.Option(min=1, max=5, help="Variants of a family to show.")] = 1,
    raw: Annotated[bool, typer.Option("--json", help="Print the request bodies for Discord or Slack.")] = False,
) -> None:
    """Show a question as it would be posted, answered and revealed, without a database.

    The console, Discord and Slack are shown as text; web and all write a page with the pictures of three chats.
    """
    if platform not in (*PLATFORMS, "all"):
        raise typer.BadParameter(f"one of {', '.join(PLATFORMS)} or all", param_hint="--platform")
    if raw and platform not in ("discord", "slack"):
        raise typer.BadParameter("it needs --platform discord or slack", param_hint="--json")
    bank = bank_at(paths)
    question = question_named(bank, id)
    asked = asyncio.run(_draw_variants(question, count)) if question.draw else (question,)
    shown = [(one.id, make_scenes(*preview_question(one, bank))) for one in asked]
    if raw:
        several = len(shown) > 1
        bodies = {
            f"{name}: {scene.name}" if several else scene.name: scene_data(scene, platform)
            for name, found in shown
            for scene in found
        }
        sys.stdout.write(json.dumps(bodies, indent=2, ensure_ascii=False) + "\n")
        return
    for chat in [chat for chat in PLATFORMS[1:] if platform in (chat, "all")]:
        for name, found in shown:
            for scene in found:
                out.rule(f"{chat} · {name} · {scene.name}", style="dim")
                out.print(scene_text(scene, chat), markup=False, soft_wrap=True)
    if platform in ("web", "all"):
        try:
            page = write_page(id, shown, output)
        except OSError as problem:
            raise CommandFailed(
                f"the page cannot be written to {output} ({problem.strerror}): choose another folder with --output"
            ) from None
        out.print(f"Pictures: {page}", markup=False, soft_wrap=True)


async def _draw_variants(family: Question, count: int) -> tuple[Question, ...]:
    with tempfile.TemporaryDirectory() as directory:
        async with sandboxes.embedded_sandbox(Path(directory)) as sandbox:
            try:
                return await generate_variants(family, sandbox, seed=1, count=count)
            except (InvalidVariant, SandboxFailed) as problem:
                raise CommandFailed(
                    f"{family.id} could not be drawn: {problem}; `dailygrad bank prove` says more"
                ) from None
