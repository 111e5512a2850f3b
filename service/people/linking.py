"""Links chats into one workspace and accounts into one member, by a short code made in one chat and typed in another.

Linking a chat moves everything it has into the other workspace:
- chats, channels, schedules, rounds, answers, streaks and cards continue unchanged;
- members stay separate until each links their own accounts with `/quiz link`;
- points stay on the days they were earned, and count on the shared boards of those days;
- banks are shared, retired questions stay retired; a bank or season whose name is taken gets a number;
- its running season ends and keeps its board; the other workspace's season continues.
Logged rows only change their workspace. A chat with an open round, a running sprint or a tournament cannot be linked
until it ends.
"""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from service.errors import Refused
from service.rounds import leaderboard
from service.store import audits, chats, duels, sprints, tournaments
from service.store import ledger as season_rows
from service.store import members as member_rows
from service.store import privacy as rows
from service.store.chats import Holdings, LinkCodeRow
from service.store.members import Caller
from service.store.privacy import CountingAnswer, LedgerSum
from service.wire import ChatLinked, LinkRefused, LinkWaits, MemberLinked, SprintRefused, TournamentRefused

# Codes. Only a keyed digest of a code is stored.

ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Characters that are hard to confuse when read aloud or copied from a screen."""
LENGTH = 8
"""Characters of a code."""
GOOD_FOR = timedelta(minutes=15)
"""Time for which a code is valid."""
GUESSES = 20
"""Codes that can be tried per workspace within `GOOD_FOR`, out of about 6.6e11."""


def code_for(secret: str, what: str, chat_id: int, event_id: str) -> str:
    """Returns the code for an event: the same for duplicates of the event, unguessable without the secret."""
    number = int.from_bytes(_keyed(secret, f"make {what} {chat_id} {event_id}"))
    letters = []
    for _ in range(LENGTH):
        number, place = divmod(number, len(ALPHABET))
        letters.append(ALPHABET[place])
    return "".join(letters)


def codes_for(secrets: Sequence[str], what: str, chat_id: int, event_id: str) -> dict[str, str]:
    """Returns the event's code under each secret by its digest, newest secret first."""
    codes = {secret: code_for(secret, what, chat_id, event_id) for secret in secrets}
    return {digest_of(secret, what, code): code for secret, code in codes.items()}


def as_typed(code: str) -> str:
    """Returns a code in upper case without spaces and punctuation."""
    return "".join(letter for letter in code.upper() if letter.isalnum())


def digest_of(secret: str, what: str, code: str) -> str:
    """Returns the stored digest of a code. Without the secret, even trying every code reveals nothing."""
    return _keyed(secret, f"keep {what} {as_typed(code)}").hex()


def digests_of(secrets: Sequence[str], what: str, code: str) -> list[str]:
    """Returns a code's digest under every secret: during a rotation any of them may have made it."""
    return [digest_of(secret, what, code) for secret in secrets]


def _keyed(secret: str, text: str) -> bytes:
    return hmac.digest(secret.encode(), text.encode(), hashlib.sha256)


CHAT = "chat"
"""What a code links that joins a chat's workspace to another."""
MEMBER = "member"
"""What a code links that merges a member's accounts."""


async def note_guess(session: AsyncSession, caller: Caller, now: datetime) -> None:
    """Records that the caller tries a code. Refused after too many tries.

    Commit this before trying the code, so that a wrong code does not roll it back.
    """
    if not await chats.record_link_guess(session, caller.workspace_id, now, GOOD_FOR, GUESSES):
        raise Refused(LinkRefused(what="chat", why="too many codes"))


async def save_code(session: AsyncSession, caller: Caller, what: str, digest: str, now: datetime) -> datetime:
    """Stores a code's digest. Returns the code's expiry."""
    caller = await member_rows.lock_caller(session, caller)
    await chats.save_link_code(session, caller, what, digest, now, now + GOOD_FOR)
    return now + GOOD_FOR


async def join(
    session: AsyncSession, caller: Caller, digests: Sequence[str], now: datetime, *, sure: bool
) -> ChatLinked:
    """Joins the caller's workspace to the one that made the code.

    Without `sure`, a workspace with history is left unchanged and the result says what would move. Refused for a bad
    code, and while a round is open here.
    """
    code = await chats.lock_link_code(session, CHAT, digests, now)
    if code is None:
        raise Refused(LinkRefused(what="chat", why="wrong code"))
    old, new = caller.workspace_id, code.workspace_id
    if old == new:
        raise Refused(LinkRefused(what="chat", why="linked"))
    await chats.lock_workspaces(session, [old, new])
    if found := await chats.find_open_round(session, old):
        round_, channel = found
        raise Refused(LinkWaits(channel=channel, closes_at=round_.closes_at))
    if await sprints.find_running(session, old):
        raise Refused(SprintRefused(why="running"))
    if await tournaments.find_live(session, old):
        raise Refused(TournamentRefused(why="live"))
    has = await chats.count_holdings(session, old)
    running = await season_rows.get_running_season(session, old)
    view = ChatLinked(
        done=sure or not has.has_history,
        platforms=tuple(await chats.list_platforms(session, [new, old])),
        schedules=has.schedules,
        members=has.members,
        points=has.points,
        banks=has.banks,
        seasons=has.seasons,
        ending=running.name if running else "",
    )
    if view.done:
        await chats.use_link_code(session, code)
        await _move_workspace(session, caller, new, has, now)
    return view


async def _move_workspace(session: AsyncSession, caller: Caller, new: int, has: Holdings, now: datetime) -> None:
    # Its members and rounds have new ones beside them from now on, who are not part of it.
    await leaderboard.end_seasons_at_once(session, caller.workspace_id, now)
    joining = "+".join(await chats.list_platforms(session, [caller.workspace_id]))
    await chats.merge_workspace(session, caller.workspace_id, new)
    detail = {"chat": joining, "schedules": has.schedules, "members": has.members, "points": has.points}
    audits.add(session, dataclasses.replace(caller, workspace_id=new), "chat join", detail, now)


# Linking two accounts of one person. The member who made the code stays; the one who types it is merged into them.
# - Points move by two ledger rows per round, dated on the day they were earned, so every total stays the same. A round
#   that both answered counts once, with the better result. Existing ledger rows never change.
# - In an open round the newer answer counts, in a closed one the better.
# - Streaks use the rounds of both. Of cards on the same question, the one reviewed last stays.
# - Duels continue with the remaining account, and the longer history of ratings continues.
# - In a tournament that both take part in, the team of the remaining account stays.
# - The member is hidden if either account was hidden. A forgotten member has no account left to link.
# - Nothing of any other member changes.


async def link(session: AsyncSession, caller: Caller, digests: Sequence[str], now: datetime) -> MemberLinked:
    """Merges the caller into the member who made the code. Refused, with nothing changed, if that is not possible."""
    code = await chats.find_link_code(session, MEMBER, digests, now)
    if code is None:
        raise Refused(LinkRefused(what="member", why="wrong code"))
    _refuse_strangers(caller, code)
    # Members before their codes, and both in the order of their ids, as in every transaction that locks them.
    people = await member_rows.lock_current(session, {code.member_id, caller.member_id})
    await member_rows.lock_caller(session, caller)  # refused if they were just forgotten
    if await chats.lock_link_code(session, MEMBER, digests, now) is None:
        raise Refused(LinkRefused(what="member", why="wrong code"))
    kept, gone = people[code.member_id].id, people[caller.member_id].id
    if kept == gone:
        raise Refused(LinkRefused(what="member", why="linked"))
    if await rows.list_member_chats(session, kept) & await rows.list_member_chats(session, gone):
        raise Refused(LinkRefused(what="member", why="both known"))
    await chats.use_link_code(session, code)
    linked = await merge(session, kept, gone, now)
    audits.add(session, dataclasses.replace(caller, member_id=kept), "member link", {"member": kept}, now)
    return linked


async def merge(session: AsyncSession, kept: int, gone: int, now: datetime) -> MemberLinked:
    """Merges member `gone` into `kept`. Both belong to one workspace."""
    people = await rows.lock_members(session, [kept, gone])
    stays, leaves = people[kept], people[gone]
    mine, theirs = await rows.sum_ledger(session, kept), await rows.sum_ledger(session, gone)
    bookings = [booking for each in theirs.values() for booking in _moves(kept, gone, mine.get(each.place), each)]
    twice = await _unite_answers(session, kept, gone, mine, theirs)
    await rows.post_ledger(session, stays.workspace_id, bookings)
    cards = await rows.merge_cards(session, kept, gone)
    await rows.repoint_member(session, kept, gone)
    await duels.merge_players(session, kept, gone, now)
    stays.hidden = stays.hidden or leaves.hidden
    stays.joined_at = min(stays.joined_at, leaves.joined_at)
    leaves.merged_into = kept
    await session.flush()
    # What is kept under the other account, such as in past seasons, is hidden too.
    await rows.set_hidden(session, kept, stays.hidden)
    known = await member_rows.list_identities(session, kept)
    return MemberLinked(
        name=stays.name,
        platforms=tuple([chat.platform for _, chat in known]),
        points=sum(what.points for _, member, what in bookings if member == kept),
        twice=twice,
        cards=cards,
        hidden=stays.hidden,
    )


def _refuse_strangers(caller: Caller, code: LinkCodeRow) -> None:
    if code.workspace_id != caller.workspace_id:
        raise Refused(LinkRefused(what="member", why="unlinked chats"))
    if code.chat_id == caller.chat_id:
        raise Refused(LinkRefused(what="member", why="same chat"))


def _moves(kept: int, gone: int, mine: LedgerSum | None, theirs: LedgerSum) -> list[tuple[str, int, LedgerSum]]:
    """Returns the ledger rows that move `theirs` to the kept member if it is better than `mine`."""
    key = f"link:{gone}:{theirs.place}"
    out = [(f"{key}:out", gone, _difference(theirs, None))]
    if mine is None:
        return [*out, (f"{key}:in", kept, theirs)]
    if theirs.points <= mine.points:
        return out
    return [*out, (f"{key}:in", kept, _difference(mine, theirs))]


def _difference(before: LedgerSum, after: LedgerSum | None) -> LedgerSum:
    """Returns the row that changes one sum into the other, or into zero."""
    return dataclasses.replace(
        before,
        points=(after.points if after else 0) - before.points,
        credit=_minus(after.credit if after else None, before.credit),
        seconds=_minus(after.seconds if after else None, before.seconds),
    )


def _minus(after: float | None, before: float | None) -> float | None:
    """Returns the difference of two sums; None if neither sum has a number."""
    return None if after is None and before is None else (after or 0.0) - (before or 0.0)


async def _unite_answers(
    session: AsyncSession, kept: int, gone: int, mine: dict[str, LedgerSum], theirs: dict[str, LedgerSum]
) -> int:
    """Keeps one counting answer per round. Returns the number of rounds that had two."""
    have, come = await rows.list_counting_answers(session, kept), await rows.list_counting_answers(session, gone)
    both = have.keys() & come.keys()
    better = [
        round_id
        for round_id in both
        if _prevails(have[round_id], come[round_id], mine.get(f"round:{round_id}"), theirs.get(f"round:{round_id}"))
    ]
    await rows.move_counting_answers(session, kept, gone, better)
    return len(both)


def _prevails(have: CountingAnswer, come: CountingAnswer, mine: LedgerSum | None, theirs: LedgerSum | None) -> bool:
    """Returns whether the incoming answer replaces the existing one."""
    if mine is None and theirs is None:
        return (come.at, come.answer_id) > (have.at, have.answer_id)
    return mine is None or (theirs is not None and theirs.points > mine.points)
