"""A terminal chat: the whole quiz without a chat platform, for trying things out and for scripted transcripts."""

from bot.platforms.console.chat import run_console
from bot.platforms.console.store import ConsoleStore
from bot.platforms.console.terminal import stdin_lines, stdout_write

__all__ = ["ConsoleStore", "run_console", "stdin_lines", "stdout_write"]
