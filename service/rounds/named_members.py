"""Finds the member whom somebody names, as on the board or by their id in the chat."""

from __future__ import annotations

from sqlalchemy.ext.asyncio import AsyncSession

from service.errors import Refused
from service.store import members
from service.store.members import Caller
from service.store.tables import Member
from service.wire import MemberAmbiguous, NotFound


async def find_named(session: AsyncSession, caller: Caller, name: str) -> Member:
    """Returns the member of the caller's workspace with that name. Refused if there is none, or more than one."""
    found = await members.find_members(session, caller.workspace_id, name)
    if not found:
        raise Refused(NotFound(what="member", name=name))
    if len(found) > 1:
        ids = await members.list_platform_ids(session, [member.id for member in found])
        raise Refused(MemberAmbiguous(name=name, ids=tuple(ids)))
    return found[0]
