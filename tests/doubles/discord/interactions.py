"""Responses to interactions: the first within three seconds, and further ones within fifteen minutes."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from tests.doubles.discord import checks
from tests.doubles.discord.endpoint import (
    ANSWERED_BEFORE,
    BAD_FORM,
    TOKEN_ENDED,
    UNKNOWN_INTERACTION,
    UNKNOWN_MESSAGE,
    UNKNOWN_WEBHOOK,
    Call,
    Endpoint,
)
from tests.doubles.discord.messages import edit, keep, made, remove
from tests.doubles.discord.payloads import message_json
from tests.doubles.discord.world import EPHEMERAL, LOADING, Interaction, Json, Message

if TYPE_CHECKING:
    from tests.doubles.discord.server import Server

FIRST_S, TOKEN_S = 3.0, 900.0
COMMAND, COMPONENT, AUTOCOMPLETE, SUBMIT = 2, 3, 4, 5
MESSAGE, DEFER, DEFER_UPDATE, UPDATE, CHOICES, MODAL = 4, 5, 6, 7, 8, 9
ALLOWED = {
    COMMAND: {MESSAGE, DEFER, MODAL},
    COMPONENT: {MESSAGE, DEFER, DEFER_UPDATE, UPDATE, MODAL},
    AUTOCOMPLETE: {CHOICES},
    SUBMIT: {MESSAGE, DEFER, DEFER_UPDATE, UPDATE},
}
"""First responses allowed per type of interaction. A modal submission may update a message only if one opened the
modal."""


async def respond(server: Server, call: Call) -> Json | None:
    """Accepts the first response if it is in time and there was none before."""
    interaction = server.world.interactions.get(call.match["interaction_token"])
    if interaction is None or interaction.id != call.number("interaction_id"):
        raise UNKNOWN_INTERACTION
    if interaction.answer is not None:
        raise ANSWERED_BEFORE
    if monotonic() - interaction.born > FIRST_S:
        raise UNKNOWN_INTERACTION
    kind = int(call.body["type"])
    if kind not in ALLOWED[interaction.type] or (kind in (DEFER_UPDATE, UPDATE) and interaction.message is None):
        server.violate(f"a response of type {kind} to an interaction of type {interaction.type}")
        raise BAD_FORM
    _apply(server, interaction, kind, call)
    if kind in (MESSAGE, UPDATE) and interaction.original:
        interaction.shown.append(interaction.original.text)
    interaction.answer, interaction.answered = kind, monotonic()
    server.log.add("response", interaction=interaction.id, type=kind, delay=interaction.delay)
    return _described(interaction) if call.query.get("with_response") in ("1", "true") else None


def _apply(server: Server, interaction: Interaction, kind: int, call: Call) -> None:
    data: Json = call.body.get("data") or {}
    if kind == CHOICES:
        interaction.choices = data["choices"]
    elif kind == MODAL:
        server.check(checks.wrong_in_modal(data))
        interaction.modal = data
    elif kind == MESSAGE:
        interaction.original = _said(server, interaction, data, call.files)
    elif kind == DEFER:
        flags = int(data.get("flags") or 0) & EPHEMERAL | LOADING
        interaction.original = _said(server, interaction, {"flags": flags}, {})
    else:
        interaction.original = interaction.message
        if kind == UPDATE and interaction.message:
            edit(server, interaction.message, data, call.files)


def _said(server: Server, interaction: Interaction, body: Json, files: dict[str, bytes]) -> Message:
    message = made(server, interaction.channel, body, files, interaction=interaction.id)
    message.viewer = interaction.member.id if int(body.get("flags") or 0) & EPHEMERAL else None
    interaction.messages.append(keep(server, message))
    return message


def _described(interaction: Interaction) -> Json:
    """Returns what `with_response` asks for."""
    about: Json = {"id": str(interaction.id), "type": interaction.type}
    resource: Json = {"type": interaction.answer}
    message = interaction.original
    if message is not None:
        about |= {
            "response_message_id": str(message.id),
            "response_message_loading": message.loading,
            "response_message_ephemeral": message.viewer is not None,
        }
        resource["message"] = message_json(message)
    return {"interaction": about, "resource": resource}


def _live(server: Server, call: Call) -> Interaction:
    """Returns the interaction of a token. Raises Refusal if the token has expired."""
    interaction = server.world.interactions.get(call.match["webhook_token"])
    if interaction is None or call.match["webhook_id"] != str(server.world.application):
        raise UNKNOWN_WEBHOOK
    if monotonic() - interaction.token_born > TOKEN_S:
        raise TOKEN_ENDED
    if interaction.answer is None:
        raise UNKNOWN_WEBHOOK
    return interaction


def _original(interaction: Interaction) -> Message:
    message = interaction.original
    if message is None or message.id not in message.channel.messages:
        raise UNKNOWN_MESSAGE
    return message


async def follow_up(server: Server, call: Call) -> Json:
    """Creates a follow-up message; the first one after a deferral replaces the "thinking" message."""
    interaction = _live(server, call)
    if interaction.answer == DEFER and interaction.original and interaction.original.loading:
        message = edit(server, interaction.original, call.body, call.files)
    else:
        message = _said(server, interaction, call.body, call.files)
    interaction.shown.append(message.text)
    interaction.followed_up = True
    server.log.add("follow-up", interaction=interaction.id)
    return message_json(message)


async def change_original(server: Server, call: Call) -> Json:
    """Edits the first response, or the message of the component."""
    interaction = _live(server, call)
    message = edit(server, _original(interaction), call.body, call.files)
    interaction.shown.append(message.text)
    interaction.followed_up = True
    server.log.add("follow-up", interaction=interaction.id)
    return message_json(message)


async def read_original(server: Server, call: Call) -> Json:
    """Returns the first response."""
    return message_json(_original(_live(server, call)))


async def delete_original(server: Server, call: Call) -> None:
    """Deletes the first response."""
    remove(server, _original(_live(server, call)))


def _further(interaction: Interaction, call: Call) -> Message:
    message_id = call.number("message_id")
    found = [message for message in interaction.messages if message.id == message_id]
    if not found or message_id not in found[0].channel.messages:
        raise UNKNOWN_MESSAGE
    return found[0]


async def change_further(server: Server, call: Call) -> Json:
    """Edits a follow-up message."""
    interaction = _live(server, call)
    message = edit(server, _further(interaction, call), call.body, call.files)
    interaction.shown.append(message.text)
    return message_json(message)


async def delete_further(server: Server, call: Call) -> None:
    """Deletes a follow-up message."""
    remove(server, _further(_live(server, call), call))


_HOOK = "/webhooks/{webhook_id}/{webhook_token}"
ENDPOINTS = (
    Endpoint("POST", "/interactions/{interaction_id}/{interaction_token}/callback", respond, free=True),
    Endpoint("POST", _HOOK, follow_up, free=True),
    Endpoint("GET", _HOOK + "/messages/@original", read_original, free=True),
    Endpoint("PATCH", _HOOK + "/messages/@original", change_original, free=True),
    Endpoint("DELETE", _HOOK + "/messages/@original", delete_original, free=True),
    Endpoint("PATCH", _HOOK + "/messages/{message_id}", change_further, free=True),
    Endpoint("DELETE", _HOOK + "/messages/{message_id}", delete_further, free=True),
)
