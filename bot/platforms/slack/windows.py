"""Slack's views beside a form's own: a wait, a card in a window or on the home page, a form as filled in. Pure."""

from __future__ import annotations

from typing import Any

from bot.core.cards import Card, Form
from bot.core.looks import line_of
from bot.platforms.slack.render import context
from bot.platforms.slack.route import Route, write_metadata
from bot.platforms.slack.views import view

Body = dict[str, Any]

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
