"""Routes for bot processes: the outbox, linking, installations and OAuth states."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Annotated

from fastapi import Body, Depends, Request
from pydantic import AwareDatetime, Field, SecretStr, TypeAdapter
from sqlalchemy.ext.asyncio import AsyncSession

from service.api.admin import AdminChange, Id, TheChange, channel_of
from service.api.http import (
    Application,
    Call,
    EventBody,
    TheCall,
    TheCaller,
    WhereBody,
    own_platform,
    scope_of,
    while_awaited,
)
from service.api.routes import CallRouter
from service.people import installations, linking
from service.people.audit import administer, admins_only
from service.rounds import delivery as rounds_delivery
from service.rounds import schedules
from service.rounds.idempotency import EventCall, run_once
from service.store import bots, chats, members, outbox
from service.store import schedules as schedule_rows
from service.store.members import Caller, resolve_caller
from service.wire import (
    AttemptOutcome,
    ChatLinked,
    Delivery,
    EventId,
    Installation,
    InstallationKey,
    LinkCode,
    MemberLinked,
    Platform,
    PostingChannel,
    ReceivedEvent,
    Recorded,
    ScheduleView,
    Secret,
    Shards,
    Where,
    Who,
)

router = CallRouter()


async def _platform_of(request: Request, platform: Annotated[Platform, Body(embed=True)]) -> Platform:
    return own_platform(request, platform)


PlatformBody = Annotated[Platform, Depends(_platform_of)]
"""The platform in a call's body, which the token must be valid for."""

LONGEST_WAIT_S = 30 * 86_400.0
"""Longest wait that a platform may ask for before a retry, seconds."""
LONGEST_ERROR = 20_000
"""Longest text of a failed delivery, characters."""


@router.post("/outbox/claim")
async def outbox_claim(
    call: TheCall,
    request: Request,
    platform: PlatformBody,
    application: Application = "",
    limit: Annotated[int, Body(embed=True, ge=1, le=100)] = 20,
    wait_s: Annotated[float, Body(embed=True, ge=0, le=30)] = 0,
    shards: Annotated[Shards | None, Body(embed=True)] = None,
    kinds: Annotated[tuple[Annotated[str, Field(max_length=100)], ...] | None, Body(embed=True, max_length=200)] = None,
) -> tuple[Delivery, ...]:
    parts = call.parts
    # If the caller has disconnected, release the messages instead of holding them for a whole lease.
    with while_awaited(request) as stopping:
        return await rounds_delivery.claim_or_wait(
            parts.sessions,
            parts.changes,
            rounds_delivery.Claim(platform, application, limit, shards, kinds),
            parts.clock,
            wait_s=wait_s,
            stopping=stopping,
        )


@router.post("/outbox/places")
async def outbox_places(
    call: TheCall, platform: PlatformBody, application: Application = ""
) -> tuple[PostingChannel, ...]:
    async with call.transaction() as session:
        found = await schedule_rows.list_posting_channels(session, platform, application)
        return tuple(PostingChannel(workspace=chat, channel=channel, name=name) for chat, channel, name in found)


@router.post("/outbox/sent")
async def outbox_sent(
    call: TheCall,
    request: Request,
    delivery: Id,
    message_ref: Annotated[str, Body(embed=True, min_length=1, max_length=5_000)],
) -> None:
    async with call.transaction() as session:
        await _own_delivery(session, request, delivery)
        await rounds_delivery.mark_sent(session, delivery, message_ref, call.now)


@router.post("/outbox/failed")
async def outbox_failed(
    call: TheCall,
    request: Request,
    delivery: Id,
    attempt: Id,
    error: Annotated[str, Body(embed=True, max_length=LONGEST_ERROR)],
    outcome: Annotated[AttemptOutcome, Body(embed=True)],
    retry_s: Annotated[float | None, Body(embed=True, ge=0, le=LONGEST_WAIT_S)] = None,
) -> None:
    async with call.transaction() as session:
        await _own_delivery(session, request, delivery)
        await rounds_delivery.mark_failed(
            session, delivery, rounds_delivery.FailedAttempt(attempt, error, outcome, retry_s), call.now
        )


async def _own_delivery(session: AsyncSession, request: Request, delivery: int) -> None:
    """Raises OutOfScope if the request's token belongs to the bots of another platform than the message's."""
    if scope_of(request) is not None and (platform := await outbox.find_platform(session, delivery)) is not None:
        own_platform(request, platform)


@router.post("/outbox/retry")
async def outbox_retry(
    call: TheCall,
    platform: PlatformBody,
    workspace: Annotated[str, Body(embed=True, min_length=1, max_length=200)],
    channel: Annotated[str, Body(embed=True, max_length=200)] = "",
) -> None:
    async with call.transaction() as session:
        await outbox.retry_refused(session, platform, workspace, channel, call.now)


@router.post("/chat/channel")
async def chat_channel(
    call: TheCall,
    platform: PlatformBody,
    workspace: Annotated[str, Body(embed=True, min_length=1, max_length=200)],
    channel: Annotated[str, Body(embed=True, min_length=1, max_length=200)],
    name: Annotated[str, Body(embed=True, min_length=1, max_length=200)],
) -> None:
    async with call.transaction() as session:
        await chats.rename_channel(session, platform, workspace, channel, name)


@router.post("/chat/home")
async def chat_home(
    call: TheCall,
    platform: PlatformBody,
    member: Annotated[str, Body(embed=True, min_length=1, max_length=200)],
    application: Application = "",
) -> str:
    async with call.transaction() as session:
        return await members.find_home(session, platform, application, member)


@router.post("/chat/presence")
async def chat_presence(
    call: TheCall,
    platform: PlatformBody,
    workspace: Annotated[str, Body(embed=True, min_length=1, max_length=200)],
    present: Annotated[bool, Body(embed=True)],
    application: Application = "",
) -> None:
    async with call.transaction() as session:
        key = (platform, workspace)
        await installations.record_presence(session, key, present, application, call.now)


# Linking members and chats, and shared schedules.

CodeBody = Annotated[str, Body(embed=True, max_length=40)]
INSTANT: TypeAdapter[datetime] = TypeAdapter(datetime)


@router.post("/hello")
async def hello(call: TheCall, who: TheCaller, event_id: EventBody, where: WhereBody) -> bool:
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, where, call.now)
        greeting = chats.mark_greeted(session, caller.chat_id, call.now)
        return await run_once(session, caller, EventCall(event_id, "hello", call.now), greeting, bool)


@router.post("/link")
async def link(call: TheCall, who: TheCaller, event_id: EventBody) -> LinkCode:
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, None, call.now)
        codes = linking.codes_for(call.parts.tokens.all, linking.MEMBER, caller.chat_id, event_id)
        work = linking.save_code(session, caller, linking.MEMBER, next(iter(codes)), call.now)
        expires = await run_once(session, caller, EventCall(event_id, "link", call.now), work, INSTANT)
        return LinkCode(code=await _made_first(session, codes), expires_at=expires)


@router.post("/link-with")
async def link_with(call: TheCall, who: TheCaller, event_id: EventBody, code: CodeBody) -> MemberLinked:
    await _note_guess(call, who)
    digests = linking.digests_of(call.parts.tokens.all, linking.MEMBER, code)
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, None, call.now)
        work = linking.link(session, caller, digests, call.now)
        return await run_once(session, caller, EventCall(event_id, "link-with", call.now), work, MemberLinked)


@router.post("/admin/chat/link")
async def chat_link(call: TheCall, who: TheCaller, event_id: EventBody) -> LinkCode:
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, None, call.now)
        codes = linking.codes_for(call.parts.tokens.all, linking.CHAT, caller.chat_id, event_id)
        work = partial(linking.save_code, session, caller, linking.CHAT, next(iter(codes)), call.now)
        expires = await administer(session, caller, EventCall(event_id, "chat link", call.now), {}, work, INSTANT)
        return LinkCode(code=await _made_first(session, codes), expires_at=expires)


@router.post("/admin/chat/join")
async def chat_join(
    call: TheCall, who: TheCaller, event_id: EventBody, code: CodeBody, sure: Annotated[bool, Body(embed=True)]
) -> ChatLinked:
    await _note_guess(call, who, admins=True)
    digests = linking.digests_of(call.parts.tokens.all, linking.CHAT, code)
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, None, call.now)
        admins_only(caller)
        work = linking.join(session, caller, digests, call.now, sure=sure)
        return await run_once(session, caller, EventCall(event_id, "chat join", call.now), work, ChatLinked)


@router.post("/admin/schedule/share")
async def schedule_share(change: TheChange, where: WhereBody, schedule: Id) -> ScheduleView:
    return await _with_channel(change, where, schedule, shared=True)


@router.post("/admin/schedule/unshare")
async def schedule_unshare(change: TheChange, where: WhereBody, schedule: Id) -> ScheduleView:
    return await _with_channel(change, where, schedule, shared=False)


async def _with_channel(change: AdminChange, where: Where, schedule: int, *, shared: bool) -> ScheduleView:
    share, action = (schedules.share, "schedule share") if shared else (schedules.unshare, "schedule unshare")

    async def work(session: AsyncSession, caller: Caller) -> ScheduleView:
        return await share(session, caller, schedule, channel_of(caller), change.now)

    detail = {"schedule": schedule, "channel": where.channel}
    return await change.run(action, work, ScheduleView, detail, where)


async def _made_first(session: AsyncSession, codes: Mapping[str, str]) -> str:
    """Returns the code made for an event. Codes are not stored: they are made again with the token used first."""
    digest = await chats.find_link_code_digest(session, list(codes))
    return codes[digest] if digest is not None else next(iter(codes.values()))


async def _note_guess(call: Call, who: Who, *, admins: bool = False) -> None:
    """Records a guess in its own transaction, which a wrong code does not roll back."""
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, None, call.now)
        if admins:
            admins_only(caller)
        await linking.note_guess(session, caller, call.now)


# Events that bots of several processes record together


@router.post("/events/record")
async def events_record(
    call: TheCall,
    platform: PlatformBody,
    event: Annotated[ReceivedEvent, Body(embed=True)],
    application: Application = "",
) -> Recorded:
    async with call.transaction() as session:
        content, bot = event.model_dump(mode="json"), (platform, application)
        return await bots.record_event(session, bot, event.id, content, event.author, call.now)


@router.post("/events/turn")
async def events_turn(
    call: TheCall, platform: PlatformBody, event: Annotated[EventId, Body(embed=True)], application: Application = ""
) -> bool:
    async with call.transaction() as session:
        return await bots.take_turn(session, (platform, application), event, call.now)


@router.post("/events/answered")
async def events_answered(
    call: TheCall, platform: PlatformBody, event: Annotated[EventId, Body(embed=True)], application: Application = ""
) -> None:
    async with call.transaction() as session:
        await bots.mark_answered(session, (platform, application), event)


@router.post("/events/claim")
async def events_claim(
    call: TheCall,
    platform: PlatformBody,
    limit: Annotated[int, Body(embed=True, ge=1, le=100)] = 50,
    application: Application = "",
) -> tuple[ReceivedEvent, ...]:
    async with call.transaction() as session:
        found = await bots.claim_events(session, (platform, application), call.now, limit)
        return tuple(ReceivedEvent.from_stored(content) for content in found)


# Installations and OAuth states. Tokens in these calls are never logged.


async def _key_of(request: Request, key: Annotated[InstallationKey, Body(embed=True)]) -> InstallationKey:
    own_platform(request, key.platform)
    return key


async def _installation_of(request: Request, installation: Annotated[Installation, Body(embed=True)]) -> Installation:
    own_platform(request, installation.platform)
    return installation


NO_TOKEN = SecretStr("")
KeyBody = Annotated[InstallationKey, Depends(_key_of)]
InstallationBody = Annotated[Installation, Depends(_installation_of)]


@router.post("/installation/keep")
async def installation_keep(
    call: TheCall, installation: InstallationBody, used: Annotated[Secret, Body(embed=True)] = NO_TOKEN
) -> None:
    async with call.transaction() as session:
        if used.get_secret_value():
            await installations.renew(session, call.parts.cipher, installation, used, call.now)
        else:
            await installations.keep(session, call.parts.cipher, installation, call.now)


@router.post("/installation/find")
async def installation_find(call: TheCall, key: KeyBody) -> Installation | None:
    async with call.transaction() as session:
        return await installations.find(session, call.parts.cipher, key)


@router.post("/installation/forget")
async def installation_forget(
    call: TheCall, key: KeyBody, removed_at: Annotated[AwareDatetime | None, Body(embed=True)] = None
) -> None:
    async with call.transaction() as session:
        await installations.forget(session, key, call.now, removed_at)


@router.post("/installation/due")
async def installation_due(call: TheCall, platform: PlatformBody) -> tuple[InstallationKey, ...]:
    async with call.transaction() as session:
        return await installations.due(session, platform, call.now)


@router.post("/installation/lease", response_model=Secret | None)
async def installation_lease(call: TheCall, key: KeyBody) -> SecretStr | None:
    async with call.transaction() as session:
        return await installations.lease(session, call.parts.cipher, key, call.now)


@router.post("/oauth/issue")
async def oauth_issue(call: TheCall, platform: PlatformBody) -> str:
    state = secrets.token_urlsafe(32)
    async with call.transaction() as session:
        await installations.issue(session, platform, state, call.now)
    return state


@router.post("/oauth/consume")
async def oauth_consume(
    call: TheCall, platform: PlatformBody, state: Annotated[str, Body(embed=True, max_length=500)]
) -> bool:
    async with call.transaction() as session:
        return await installations.consume(session, platform, state, call.now)
