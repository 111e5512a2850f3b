"""Runs `/quiz duel` and answers the buttons of duels. `core.text.duels` writes the replies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from bot.core import actions
from bot.core.answers import word_in
from bot.core.cards import Card, Content
from bot.core.channel_access import ChannelAccess
from bot.core.command_parser import CommandError, Typed
from bot.core.events import Command, Event, Press, Submit
from bot.core.text import command_errors, duels, questions
from service.client import ServiceClient, ServiceRefused
from service.wire import AnswerInput, MemberAmbiguous, NotFound

_MENTION: Final = re.compile(r"<@!?([^<>|]+)(?:\|([^<>]*))?>")
_LONGEST: Final = 80
"""Length of a name, characters."""


def mention(member: str, name: str) -> str:
    """Returns a member as a command names one that the platform has resolved."""
    return f"<@{member}|{name.translate({ord(mark): None for mark in '<>|'})}>"


def named_member(platform: str, typed: str) -> tuple[str, str]:
    """Returns the id or name of the member that a command names, and the name that the platform itself vouches for."""
    typed = typed.strip()
    if found := _MENTION.fullmatch(typed):
        # Only Discord names a member by an option that nobody can type.
        return found[1], (found[2] or "") if platform == "discord" else ""
    return typed, ""


def _is_unknown_member(refused: ServiceRefused) -> bool:
    return isinstance(refused.refusal, NotFound) and refused.refusal.what == "member"


def _may_be_misread(refused: ServiceRefused) -> bool:
    refusal = refused.refusal
    return isinstance(refusal, MemberAmbiguous) or (
        isinstance(refusal, NotFound) and refusal.what in ("member", "topic")
    )


def readings(member: str, topic: str) -> Iterator[tuple[str, str]]:
    """Yields the members and topics that a command may mean, first what it says. Names have spaces, so that what was
    read as a topic may begin with the rest of a name: the longest name that a member may have is tried first."""
    yield member, topic
    words = topic.split()
    if _MENTION.fullmatch(member):
        return
    for count in range(len(words), 0, -1):
        name = " ".join([member, *words[:count]])
        if len(name) <= _LONGEST:
            yield name, " ".join(words[count:])


class DuelCommands:
    """The command and the buttons of duels."""

    def __init__(self, client: ServiceClient, access: ChannelAccess | None) -> None:
        self._client = client
        self._access = access

    async def run(self, event: Command, typed: Typed) -> Content:
        """Challenges the named member; without one, shows the caller's duels."""
        named, topic = typed.text("member").strip(), typed.text("topic")
        if not named and topic:
            raise CommandError.of(command_errors.NO_OPPONENT)
        if not named:
            return await self._show_own(event)
        problem: ServiceRefused | None = None
        for member, about in readings(named, topic):
            try:
                return await self._challenge(event, member, about)
            except ServiceRefused as refused:
                if not _may_be_misread(refused):
                    raise
                # A topic that there is not says more than a name that is nobody's.
                if problem is None or (_is_unknown_member(problem) and not _is_unknown_member(refused)):
                    problem = refused
        assert problem is not None, "there is one reading at least"
        raise problem

    async def challenge(self, event: Submit) -> Card:
        """Challenges the member named in a form. Raises CommandError without one."""
        named, topic = word_in(event, "member"), word_in(event, "topic")
        if not named:
            raise CommandError.of(command_errors.NO_OPPONENT)
        return await self._challenge(event, named, topic)

    async def _challenge(self, event: Event, named: str, topic: str) -> Card:
        member, name = named_member(event.who.platform, named)
        try:
            view = await self._client.duel_challenge(event.who, event.where, event.id, member, name[:_LONGEST], topic)
        except ServiceRefused as refused:
            if self._access is None or not _is_unknown_member(refused):
                raise
            # Somebody who has never used the quiz is known to the chat only.
            found = await self._access.find_member(event.who, member)
            if found is None:
                raise
            view = await self._client.duel_challenge(
                event.who, event.where, event.id, found[0], found[1][:_LONGEST], topic
            )
        return duels.duel_card(view)

    async def _show_own(self, event: Event) -> Card:
        return duels.duels_card(await self._client.duel_list(event.who))

    async def show_ladder(self, event: Event) -> Card:
        return duels.ladder_card(await self._client.duel_ladder(event.who))

    async def press(self, event: Press, action: actions.DuelPress) -> Content:
        """Answers a button of a duel, except for those of its questions."""
        match action:
            case actions.RespondDuel(duel, response):
                view = await self._client.duel_respond(event.who, event.id, int(duel), response == "accept")
                return duels.duel_card(view)
            case actions.Rematch(duel):
                return duels.duel_card(await self._client.duel_rematch(event.who, event.where, event.id, int(duel)))
            case actions.ShowDuel(duel):
                return duels.review_card(await self._client.duel_show(event.who, int(duel)))
            case actions.ShowDuels():
                return await self._show_own(event)
            case actions.ShowLadder():
                return await self.show_ladder(event)
            case actions.Challenge():
                return duels.challenge_form(tuple(one.topic for one in await self._client.topics(event.who)))

    async def ask(self, event: Event, ref: str) -> Content:
        """Opens a question of a duel."""
        turn = await self._client.duel_ask(event.who, ref)
        return duels.turn_card(turn) if turn.ask is None else questions.private_question(turn.ask, event.at)

    async def answer(self, event: Press | Submit, ref: str, given: AnswerInput) -> Card:
        """Answers a question of a duel."""
        return duels.turn_card(await self._client.duel_answer(event.who, event.id, ref, given, event.at))
