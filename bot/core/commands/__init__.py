"""`/quiz` and `/quiz-admin`: the one definition of them, reading of what was typed, and completion. It runs nothing."""

from bot.core.commands.completing import complete, suggest
from bot.core.commands.kinds import Unreadable
from bot.core.commands.reading import CommandError, Typed, read_command
from bot.core.commands.table import COMMANDS, Argument, Spec, specs_of

__all__ = [
    "COMMANDS",
    "Argument",
    "CommandError",
    "Spec",
    "Typed",
    "Unreadable",
    "complete",
    "read_command",
    "specs_of",
    "suggest",
]
