"""The terminal chat: the complete quiz without a chat platform, for trying it out and for scripted transcripts."""

from bot.console.chat import run_console, stdin_lines, stdout_write
from bot.console.store import ConsoleStore

__all__ = ["ConsoleStore", "run_console", "stdin_lines", "stdout_write"]
