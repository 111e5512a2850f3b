"""How a member is told something: by the payload's own address while that is fresh, else by the bot's token."""

from __future__ import annotations

import logging
from typing import Any

from aiohttp import ClientError
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.core.cards import Card, Form
from bot.core.rendering import line_of
from bot.slack.auth import InstallationTokens
from bot.slack.platform import ready_bodies, shown
from bot.slack.render import bodies, context, pictures
from bot.slack.route import Route, write_metadata
from bot.slack.views import view
from bot.slack.web_api import NotInstalled, RespondFailed, SlackWeb, code_of
from service.client import ServiceRefused, ServiceUnavailable

# Slack's views beside a form's own: a wait, a card in a window or on the home page, a form as filled in. Pure.


_ERROR_LENGTH = 300
_HOME_BLOCKS = 100


def waiting_view(said: str = "One moment…") -> Body:
    """What is shown until there is more to show."""
    return {
        "type": "modal",
        "callback_id": "wait",
        "title": _plain("Dailygrad"),
        "close": _plain("Close"),
        "blocks": [context(said)],
    }


def form_view(form: Form, route: Route) -> Body:
    """A form, with the way back for its answer."""
    return {**view(form), "private_metadata": write_metadata(form.action, route)}


def card_view(card: Card, route: Route) -> Body:
    """A card in a window."""
    body = view(_as_form(card))
    del body["submit"]
    return {
        **body,
        "callback_id": "card",
        "close": _plain("Close"),
        "private_metadata": write_metadata("", route),
    }


def said_view(said: Card | Form, route: Route) -> Body:
    """Whichever it is, in a window."""
    return form_view(said, route) if isinstance(said, Form) else card_view(said, route)


def home_view(card: Card) -> Body:
    """The bot's own page."""
    return {"type": "home", "callback_id": "home", "blocks": view(_as_form(card))["blocks"][:_HOME_BLOCKS]}


def field_errors(payload: Body, card: Card) -> Body | None:
    """The acknowledgement that keeps a form open with a refusal beneath its last field; None where it has none."""
    inputs = [block["block_id"] for block in payload.get("blocks", ()) if block.get("type") == "input"]
    if not inputs:
        return None
    return {"response_action": "errors", "errors": {inputs[-1]: line_of(card.summary, _ERROR_LENGTH)}}


def refilled_view(payload: Body, card: Card) -> Body:
    """The form of a submission as it was filled in, with a refusal above: nothing that was typed is lost."""
    state = (payload.get("state") or {}).get("values") or {}
    body = {name: payload[name] for name in ("type", "callback_id", "private_metadata", "title", "submit", "close")}
    blocks = [_refilled(block, state.get(block.get("block_id"), {})) for block in payload["blocks"]]
    return {**body, "blocks": [context(line_of(card.summary, _ERROR_LENGTH)), *blocks]}


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
    return {**block, "element": element}


def _as_form(card: Card) -> Form:
    """A view is drawn from a form: the same blocks and buttons, nothing to fill in."""
    return Form(card.title, "", (), card.blocks, extras=card.buttons, links=card.links)


def _plain(text: str) -> Body:
    return {"type": "plain_text", "text": text, "emoji": False}


_LOG = logging.getLogger(__name__)

# Docs: a response_url takes five replies.
_RESPONSES = 5
# Where the bot cannot show a private message in a channel, it can still write to the member.
_NOT_THERE = frozenset({"channel_not_found", "not_in_channel", "user_not_in_channel", "is_archived"})

Body = dict[str, Any]
CANNOT = (SlackApiError, ClientError, TimeoutError, NotInstalled, ServiceUnavailable, ServiceRefused)
"""What any of these calls may raise."""


class Replies:
    """Cards to one member, and views."""

    def __init__(self, web: SlackWeb, tokens: InstallationTokens) -> None:
        self._web = web
        self._tokens = tokens

    async def show(self, route: Route, card: Card, *, replaces: bool = False) -> None:
        """Show a card to the member alone; with `replaces` in place of the private card they pressed on."""
        made = bodies(card)
        if pictures(card):
            client = await self._client(route)
            made = await ready_bodies(self._web, str(client.token), card)
        replaces = replaces and bool(route.own)
        for number, body in enumerate(made):
            # An answer by URL beneath a thread would stand in the channel.
            by_url = bool(route.response_url) and number < _RESPONSES and (replaces or not route.thread)
            if not (by_url and await self._responded(route, body, replaces and number == 0)):
                await self._whisper(route, body)

    async def open(self, route: Route, body: Body) -> str | None:
        """Open a view, on top of the one it came from; its id, or None where that cannot be."""
        if not route.trigger:
            return None
        try:
            # A trigger expires before a rate limit does, so these calls are not repeated.
            client = await self._client(route, retries=False)
            call = client.views_push if route.view and route.window != "home" else client.views_open
            said = await call(trigger_id=route.trigger, view=body)
        except CANNOT as error:
            # Too late, used, a fourth view, or Slack away: there are other ways to say it.
            _LOG.info("a view could not be opened: %s", _cause(error))
            return None
        return str(said["view"]["id"])

    async def update(self, route: Route, view_id: str, body: Body) -> bool:
        """Let another body take a view's place; False where that cannot be, such as when it was closed meanwhile."""
        try:
            client = await self._client(route)
            await client.views_update(view_id=view_id, view=body)
        except CANNOT as error:
            _LOG.info("a view could not be filled: %s", _cause(error))
            return False
        return True

    async def publish(self, route: Route, card: Card) -> None:
        """Show a card as the bot's own page."""
        client = await self._client(route)
        await client.views_publish(user_id=route.user, view=home_view(card))

    async def _responded(self, route: Route, body: Body, replaces: bool) -> bool:
        call = {**body, "response_type": "ephemeral", "replace_original": replaces}
        try:
            await self._web.respond(route.response_url, call)
        except RespondFailed as error:
            _LOG.info("a reply goes by the bot's token, for its address took none: %s", error)
            return False
        return True

    async def _whisper(self, route: Route, body: Body) -> None:
        client = await self._client(route)
        if route.channel and not route.direct:
            call: Body = {"channel": route.channel, "user": route.user, **body}
            if route.thread:
                call["thread_ts"] = route.thread
            try:
                await shown(lambda ready: client.chat_postEphemeral(**ready), call)
                return
            except SlackApiError as error:
                if code_of(error) not in _NOT_THERE:
                    raise
        await self._write(client, route, body)

    async def _write(self, client: AsyncWebClient, route: Route, body: Body) -> None:
        channel = route.channel if route.direct else ""
        if not channel:
            opened = await client.conversations_open(users=route.user)
            channel = str(opened["channel"]["id"])
        call: Body = {"channel": channel, **body}
        if route.direct and route.thread:
            call["thread_ts"] = route.thread
        await shown(lambda ready: client.chat_postMessage(**ready), call)

    async def _client(self, route: Route, *, retries: bool = True) -> AsyncWebClient:
        installation = await self._tokens.of(route.team, route.enterprise)
        return self._web.client(installation.token.get_secret_value(), retries=retries)


def _cause(error: Exception) -> str:
    return code_of(error) if isinstance(error, SlackApiError) else str(error) or type(error).__name__
