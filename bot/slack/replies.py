"""Replies to members: through the payload's `response_url` or trigger while they are valid, else with the bot token."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.core.cards import Card, Form, Small
from bot.core.limits import SLACK
from bot.core.markup import escape
from bot.core.rendering import line_of
from bot.slack.auth import InstallationTokens
from bot.slack.render import bodies, context
from bot.slack.route import Route, write_metadata
from bot.slack.uploads import Uploads
from bot.slack.views import message_form, view
from bot.slack.web_api import CALL_ERRORS, RespondFailed, SlackWeb, cause_of, error_code, retry_after

_LOG = logging.getLogger(__name__)
Body = dict[str, Any]
_NOT_THERE = frozenset({"channel_not_found", "not_in_channel", "user_not_in_channel", "is_archived"})
"""Errors after which a direct message replaces an ephemeral one."""
_ERROR_LENGTH = 300
"""Longest error beside a field, characters."""
_TRIGGER_S = 2.0
"""Time in which a view may still be opened, seconds: a trigger lives three, and a part of that has gone by."""
_LEAST_WAIT_S = 0.1
"""Shortest wait between two attempts, seconds."""


class Replies:
    """Sends private cards and views to a member."""

    def __init__(self, web: SlackWeb, tokens: InstallationTokens, uploads: Uploads) -> None:
        self._web = web
        self._tokens = tokens
        self._uploads = uploads

    async def send_card(self, route: Route, card: Card, *, replaces: bool = False) -> None:
        """Shows a card to the member only; with `replaces`, in place of the private card they clicked on."""
        made = bodies(card)
        if card.pictures:
            made = await self._uploads.bodies(await self._client(route), route.team, card)
        replaces = replaces and bool(route.own)
        for number, body in enumerate(made):
            # In a thread, a reply by URL would appear in the channel.
            by_url = bool(route.response_url) and number < SLACK.responses and (replaces or not route.thread)
            if not (by_url and await self._via_response_url(route, body, replaces and number == 0)):
                await self._post_ephemeral(route, body)

    async def open_view(self, route: Route, body: Body) -> str | None:
        """Opens a view, on top of the current one; returns its id, or None if that fails."""
        if not route.trigger:
            return None
        try:
            client = await self._client(route, retries=False)
            call = client.views_push if route.view and route.window != "home" else client.views_open
            response = await _within_trigger(lambda: call(trigger_id=route.trigger, view=body))
        except CALL_ERRORS as error:
            # Too late, used before, too many views, or Slack is down: the reply takes another way.
            _LOG.info("cannot open a view: %s", cause_of(error))
            return None
        return str(response["view"]["id"])

    async def send_form(self, route: Route, form: Form) -> bool:
        """Shows a form as a private message, for when no view can be opened. Returns False if it does not fit."""
        body = message_form(form)
        if body is None:
            return False
        by_url = bool(route.response_url) and not route.thread
        if not (by_url and await self._via_response_url(route, body, False)):
            await self._post_ephemeral(route, body)
        return True

    async def update_view(self, route: Route, view_id: str, body: Body) -> bool:
        """Updates a view; returns False if that fails, for example because it was closed."""
        try:
            client = await self._client(route)
            await client.views_update(view_id=view_id, view=body)
        except CALL_ERRORS as error:
            _LOG.info("cannot update a view: %s", cause_of(error))
            return False
        return True

    async def publish_home(self, route: Route, card: Card) -> None:
        """Shows a card on the app's Home tab."""
        client = await self._client(route)
        await client.views_publish(user_id=route.user, view=home_view(card))

    async def _via_response_url(self, route: Route, body: Body, replaces: bool) -> bool:
        call = {**body, "response_type": "ephemeral", "replace_original": replaces}
        try:
            await self._web.respond(route.response_url, call)
        except RespondFailed as error:
            _LOG.info("response_url failed, replying with the bot token: %s", error)
            return False
        self._uploads.mark_shown(route.team, body)
        return True

    async def _post_ephemeral(self, route: Route, body: Body) -> None:
        client = await self._client(route)
        if route.channel and not route.direct:
            call: Body = {"channel": route.channel, "user": route.user, **body}
            if route.thread:
                call["thread_ts"] = route.thread
            try:
                await self._uploads.send(client, route.team, lambda ready: client.chat_postEphemeral(**ready), call)
                return
            except SlackApiError as error:
                if error_code(error) not in _NOT_THERE:
                    raise
        await self._post_direct(client, route, body)

    async def _post_direct(self, client: AsyncWebClient, route: Route, body: Body) -> None:
        channel = route.channel if route.direct else ""
        if not channel:
            opened = await client.conversations_open(users=route.user)
            channel = str(opened["channel"]["id"])
        call: Body = {"channel": channel, **body}
        if route.direct and route.thread:
            call["thread_ts"] = route.thread
        await self._uploads.send(client, route.team, lambda ready: client.chat_postMessage(**ready), call)

    async def _client(self, route: Route, *, retries: bool = True) -> AsyncWebClient:
        return await self._tokens.client_of(self._web, route.team, route.enterprise, retries=retries)


async def _within_trigger(call: Callable[[], Awaitable[Any]]) -> Any:
    """Makes a call that needs a trigger, and repeats it while Slack is too busy and the trigger lives."""
    loop = asyncio.get_running_loop()
    end = loop.time() + _TRIGGER_S
    while True:
        try:
            return await call()
        except SlackApiError as error:
            wait = retry_after(error)
            if wait is None or loop.time() + wait >= end:
                raise
            await asyncio.sleep(max(wait, _LEAST_WAIT_S))


# Views around cards and forms. Pure


def waiting_view(text: str = "One moment…") -> Body:
    """Returns the view that is shown while a reply is being prepared."""
    return {
        "type": "modal",
        "callback_id": "wait",
        "title": _plain("Dailygrad"),
        "close": _plain("Close"),
        "blocks": [context(text)],
    }


def form_view(form: Form, route: Route) -> Body:
    """Renders a form, with the route for its answer."""
    return {**view(form), "private_metadata": write_metadata(form.action, route)}


def card_view(card: Card, route: Route) -> Body:
    """Renders a card as a view."""
    body = view(_as_form(card))
    del body["submit"]
    return {
        **body,
        "callback_id": "card",
        "close": _plain("Close"),
        "private_metadata": write_metadata("", route),
    }


def reply_view(content: Card | Form, route: Route) -> Body:
    """Renders a card or a form as a view."""
    return form_view(content, route) if isinstance(content, Form) else card_view(content, route)


def home_view(card: Card) -> Body:
    """Renders a card as the app's Home tab."""
    return {"type": "home", "callback_id": "home", "blocks": view(_as_form(card))["blocks"][: SLACK.view_blocks]}


def field_errors(payload: Body, card: Card) -> Body | None:
    """Returns an acknowledgement that keeps the form open, with the error under its last field; None without fields."""
    inputs = [block["block_id"] for block in payload.get("blocks", ()) if block.get("type") == "input"]
    if not inputs:
        return None
    return {"response_action": "errors", "errors": {inputs[-1]: line_of(card.summary, _ERROR_LENGTH)}}


def refilled_view(payload: Body, card: Card) -> Body:
    """Returns a submitted form with the member's input and an error at the top, so that no input is lost."""
    state = (payload.get("state") or {}).get("values") or {}
    body = {name: payload[name] for name in ("type", "callback_id", "private_metadata", "title", "submit", "close")}
    blocks = [_refilled(block, state.get(block.get("block_id"), {})) for block in payload["blocks"]]
    return {**body, "blocks": [alert(line_of(card.summary, _ERROR_LENGTH)), *blocks]}


def _refilled(block: Body, state: Body) -> Body:
    if block.get("type") != "input":
        return block
    element = {name: value for name, value in block["element"].items() if not name.startswith("initial_")}
    held = state.get(element["action_id"], {})
    if held.get("value"):
        element["initial_value"] = held["value"]
    if held.get("selected_option"):
        element["initial_option"] = held["selected_option"]
    if held.get("selected_options"):
        element["initial_options"] = held["selected_options"]
    if held.get("selected_time"):
        element["initial_time"] = held["selected_time"]
    if held.get("selected_user"):
        element["initial_user"] = held["selected_user"]
    if held.get("selected_conversation"):
        element["initial_conversation"] = held["selected_conversation"]
    return {**block, "element": element}


def alert(text: str) -> Body:
    """Returns a block that shows an error, for modals only."""
    return {"type": "alert", "text": _plain(text), "level": "error"}


def _as_form(card: Card) -> Form:
    """Converts a card to a form without fields, because views are rendered from forms."""
    asked = (Small(escape(card.feedback.question)),) if card.feedback else ()
    return Form(card.title, "", (), (*card.blocks, *asked), extras=card.all_buttons, links=card.links)


def _plain(text: str) -> Body:
    return {"type": "plain_text", "text": text, "emoji": False}
