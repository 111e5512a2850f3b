"""What a message to the bot means: the program in it is the answer to the open code question, if there is one."""

from __future__ import annotations

import re

from bot.core.cards import Card
from bot.core.commands import specs_of
from bot.core.events import Sent
from bot.core.hello import NOWHERE
from bot.core.wording import asking, hello, revealing, texts
from service.client import ServiceClient
from service.wire import AskForm, Given, Today

# Read by hand and not as Markdown: chats let a fence open and close within a line.
_FENCED = re.compile(r"```(?:(?:python3?|py)[ \t]*\n|[ \t]*\n)?(.*?)```", re.DOTALL | re.IGNORECASE)
# A message without a fence is prose unless a line of it can be nothing but Python.
_PLAIN_CODE = re.compile(
    r"""^(?:async\s+)?def\s+\w+\s*\( | ^class\s+\w+\s*[(:] | ^import\s+[\w.]+$ | ^from\s+[\w.]+\s+import\s""",
    re.MULTILINE | re.VERBOSE,
)


def programs_of(text: str) -> tuple[str, ...]:
    """The programs in a message: its fenced blocks, or all of it where it is plain code."""
    fenced = tuple(block.rstrip() for block in _FENCED.findall(text) if block.strip())
    if fenced:
        return fenced
    return (text.strip("\n"),) if _PLAIN_CODE.search(text) else ()


class SentDesk:
    """Answers messages."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    async def sent(self, event: Sent) -> Card:
        """Hand in the program that came, or say what to do. Raises what the client raises."""
        if len(event.files) > 1:
            return hello.too_many_files_card(tuple(name for name, _ in event.files))
        programs = tuple(code for _, code in event.files if code.strip()) or programs_of(event.text)
        if len(programs) > 1:
            return hello.too_many_programs_card(len(programs))
        today = await self._open_to(event)
        if programs:
            return await self._hand_in(event, programs[0], today)
        return asking.today_card(today, event.at) if today.forms else texts.help_card(specs_of("quiz"))

    async def _open_to(self, event: Sent) -> Today:
        """What is open where it was written; in a private message to the bot, what is open in the workspace."""
        here = await self._client.today(event.who, event.where)
        return here if here.forms or here.next_at else await self._client.today(event.who, NOWHERE)

    async def _hand_in(self, event: Sent, code: str, today: Today) -> Card:
        ask = _asks_for_code(today)
        if ask is None:
            return hello.no_place_for_code_card(len(today.forms))
        receipt = await self._client.answer(event.who, event.where, event.id, ask.ref, Given(code=code), event.at)
        if receipt.status == "late":
            return revealing.practised_card(receipt, event.at)
        return hello.handed_in_card(asking.recorded_card(receipt, None, event.at), ask)


def _asks_for_code(today: Today) -> AskForm | None:
    """The newest open code question, those without an answer before those with one."""
    forms = [ask for ask in today.forms if ask.question.kind == "code"]
    unanswered = [ask for ask in forms if ask.given is None]
    return next(reversed(unanswered or forms), None)
