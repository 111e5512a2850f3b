"""Routes for the bots of the web chat: people, sessions, sign-in links, messages, and waiting for changes.

`http.authorized` refuses them to the bots of other platforms.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated

from fastapi import Body, Depends, Request
from pydantic import Field
from sqlalchemy.ext.asyncio import AsyncSession

from service.api.admin import Id
from service.api.http import WEB_PREFIX, Call, TheCall, while_awaited
from service.api.routes import CallRouter
from service.people import web_chat
from service.store import web_messages, web_people
from service.wire import LONGEST_TYPED_NAME, WebChanges, WebMessage, WebMessages, WebPerson, WebPost, WebSession

router = CallRouter(WEB_PREFIX.removeprefix("/v1").rstrip("/"))

Name = Annotated[str, Body(embed=True, min_length=1, max_length=200)]
Person = Annotated[str, Field(min_length=1, max_length=200)]
PersonBody = Annotated[Person, Body(embed=True)]
Digest = Annotated[str, Field(min_length=64, max_length=64)]
"""SHA-256 of a secret, in hexadecimal digits: the service never sees the secrets of browsers and links."""
DigestBody = Annotated[Digest, Body(embed=True)]
Number = Annotated[int, Body(embed=True, ge=0, lt=2**63)]


@dataclass(frozen=True)
class WebCall:
    """A call about one web chat."""

    call: Call
    workspace: str

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[tuple[AsyncSession, int]]:
        """Yields the call's only transaction, and the id of the chat."""
        async with self.call.transaction() as session:
            yield session, await web_people.find_chat(session, self.workspace, self.call.now)


async def _web_call(call: TheCall, workspace: Name) -> WebCall:
    return WebCall(call, workspace)


TheWebCall = Annotated[WebCall, Depends(_web_call)]


@router.post("/secret")
async def secret(web: TheWebCall) -> str:
    async with web.transaction() as (session, chat):
        return await web_chat.get_secret(session, web.call.parts.cipher, chat)


# People


@router.post("/join")
async def join(web: TheWebCall, name: Annotated[str, Body(embed=True, max_length=LONGEST_TYPED_NAME)]) -> WebPerson:
    async with web.transaction() as (session, chat):
        return await web_chat.join(session, chat, name, web.call.now)


@router.post("/people")
async def people(
    web: TheWebCall, members: Annotated[tuple[Person, ...], Body(embed=True, max_length=1_000)]
) -> tuple[WebPerson, ...]:
    async with web.transaction() as (session, chat):
        return await web_people.list_people(session, chat, members)


@router.post("/role")
async def role(web: TheWebCall, member: PersonBody, admin: Annotated[bool, Body(embed=True)]) -> None:
    async with web.transaction() as (session, chat):
        await web_people.set_admin(session, chat, member, admin)


# Sessions


@router.post("/session/begin")
async def session_begin(
    web: TheWebCall,
    member: PersonBody,
    digest: DigestBody,
    agent: Annotated[str, Body(embed=True, max_length=300)],
) -> bool:
    async with web.transaction() as (session, chat):
        return await web_chat.begin_session(session, chat, member, digest, agent, web.call.now)


@router.post("/session/use")
async def session_use(
    web: TheWebCall, digests: Annotated[tuple[Digest, ...], Body(embed=True, max_length=100)]
) -> dict[str, WebSession]:
    async with web.transaction() as (session, chat):
        return await web_chat.use_sessions(session, chat, digests, web.call.now)


@router.post("/session/list")
async def session_list(
    web: TheWebCall, member: Annotated[Person | None, Body(embed=True)] = None
) -> tuple[WebSession, ...]:
    async with web.transaction() as (session, chat):
        return await web_chat.list_sessions(session, chat, member, web.call.now)


@router.post("/session/end")
async def session_end(
    web: TheWebCall,
    sessions: Annotated[tuple[Annotated[int, Field(ge=1, lt=2**63)], ...], Body(embed=True, max_length=1_000)],
    member: Annotated[Person | None, Body(embed=True)] = None,
) -> int:
    async with web.transaction() as (session, chat):
        return await web_people.end_sessions(session, chat, sessions, member)


# Sign-in links


@router.post("/sign-in/make")
async def sign_in_make(
    web: TheWebCall,
    member: PersonBody,
    digest: DigestBody,
    seconds: Annotated[int, Body(embed=True, ge=1, le=7 * 86_400)],
) -> bool:
    async with web.transaction() as (session, chat):
        until = web.call.now + timedelta(seconds=seconds)
        return await web_chat.make_sign_in(session, chat, member, digest, until)


@router.post("/sign-in/find")
async def sign_in_find(web: TheWebCall, digest: DigestBody) -> WebPerson | None:
    async with web.transaction() as (session, chat):
        return await web_people.find_sign_in(session, chat, digest, web.call.now)


@router.post("/sign-in/use")
async def sign_in_use(web: TheWebCall, digest: DigestBody) -> WebPerson | None:
    async with web.transaction() as (session, chat):
        return await web_people.use_sign_in(session, chat, digest, web.call.now)


# Accounts at an OpenID provider


@router.post("/account/find")
async def account_find(web: TheWebCall, digest: DigestBody) -> WebPerson | None:
    async with web.transaction() as (session, chat):
        return await web_people.find_account(session, chat, digest)


@router.post("/account/join")
async def account_join(
    web: TheWebCall,
    digest: DigestBody,
    name: Annotated[str, Body(embed=True, max_length=LONGEST_TYPED_NAME)],
    member: Annotated[Person | None, Body(embed=True)] = None,
) -> WebPerson | None:
    async with web.transaction() as (session, chat):
        return await web_chat.join_with_account(session, chat, digest, name, member, web.call.now)


@router.post("/account/free")
async def account_free(
    web: TheWebCall, members: Annotated[tuple[Person, ...], Body(embed=True, max_length=1_000)]
) -> tuple[WebPerson, ...]:
    async with web.transaction() as (session, chat):
        return await web_people.list_without_account(session, chat, members)


# Messages


@router.post("/message/post")
async def message_post(web: TheWebCall, post: Annotated[WebPost, Body(embed=True)]) -> WebMessage | None:
    async with web.transaction() as (session, chat):
        return await web_chat.post(session, chat, post, web.call.now)


@router.post("/message/replace")
async def message_replace(
    web: TheWebCall,
    message: Id,
    content: Annotated[str, Body(embed=True, max_length=6_000_000)],
    member: Annotated[Person | None, Body(embed=True)] = None,
) -> WebMessage | None:
    async with web.transaction() as (session, chat):
        return await web_messages.replace(session, chat, message, member, content)


@router.post("/message/key")
async def message_key(
    web: TheWebCall, key: Annotated[str, Body(embed=True, min_length=1, max_length=500)]
) -> int | None:
    async with web.transaction() as (session, chat):
        return await web_messages.find_key(session, chat, key)


@router.post("/message/find")
async def message_find(web: TheWebCall, message: Id, member: PersonBody) -> WebMessage | None:
    async with web.transaction() as (session, chat):
        return await web_messages.find_message(session, chat, message, member)


@router.post("/message/results")
async def message_results(
    web: TheWebCall,
    editor: Id,
    member: PersonBody,
    limit: Annotated[int, Body(embed=True, ge=1, le=100)] = 5,
) -> WebMessages:
    async with web.transaction() as (session, chat):
        return await web_chat.list_results(session, chat, editor, member, limit)


@router.post("/message/list")
async def message_list(
    web: TheWebCall,
    member: PersonBody,
    channel: Name,
    after: Number = 0,
    before: Number = 2**63 - 1,
    limit: Annotated[int, Body(embed=True, ge=1, le=200)] = 200,
) -> WebMessages:
    async with web.transaction() as (session, chat):
        return await web_chat.list_seen(session, chat, member, channel, after=after, before=before, limit=limit)


@router.post("/changes")
async def changes(
    web: TheWebCall,
    request: Request,
    after: Number,
    sign_outs: Number,
    wait_s: Annotated[float, Body(embed=True, ge=0, le=30)] = 0,
) -> WebChanges:
    parts = web.call.parts
    with while_awaited(request) as stopping:
        async with web.transaction() as (_, chat):
            pass
        return await web_chat.changes_or_wait(
            parts.sessions,
            parts.changes,
            chat,
            web_chat.Seen(after, sign_outs),
            wait_s=wait_s,
            stopping=stopping,
        )
