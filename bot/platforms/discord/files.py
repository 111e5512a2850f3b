"""Files that members hand in, fetched from Discord and read as text. What is wrong with one is said in a sentence."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import discord

from bot.platforms.discord.reading import Wanted

Fetch = Callable[[str], Awaitable[bytes]]
"""The bytes at an address of Discord's."""


class FileWrong(Exception):
    """A file that cannot be taken; the message says why and what to do."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(why)
        self.name = name


async def read_file(wanted: Wanted, fetch: Fetch) -> str:
    """The text of a file. Raises FileWrong."""
    if wanted.size > wanted.most:
        raise FileWrong(wanted.name, f"It has {wanted.size:,} bytes; at most {wanted.most:,} are taken.")
    try:
        content = await fetch(wanted.url)
    except (discord.HTTPException, OSError) as error:
        raise FileWrong(wanted.name, "Discord would not hand it out; please send it again.") from error
    if len(content) > wanted.most:
        raise FileWrong(wanted.name, f"It has {len(content):,} bytes; at most {wanted.most:,} are taken.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileWrong(wanted.name, "It is no text in UTF-8; save it as such and send it again.") from error
    if "\x00" in text:
        raise FileWrong(wanted.name, "It holds zero bytes, so it is no text; send the source itself.")
    return text
