"""The methods views.*: modals and Home tabs, with triggers, hashes and a stack of three."""

from __future__ import annotations

import secrets
from typing import Any

from tests.doubles.slack.calls import Call, method
from tests.doubles.slack.rules import wrong_in_view
from tests.doubles.slack.surfaces import Body, View, with_ids
from tests.doubles.slack.world import ApiError, Trigger, User, World

STACK = 3


def checked_view(world: World, what: str, view: Any) -> Body:
    """Returns a valid view. Otherwise records a violation and raises Slack's error."""
    error, reasons = wrong_in_view(view)
    if error:
        world.log.add("violation", what=what, error=error, reasons=reasons)
        raise ApiError(error, response_metadata={"messages": [f"[ERROR] {reason}" for reason in reasons]})
    assert isinstance(view, dict)
    return view


def new_view(world: World, user: User, body: Body, parent: View | None = None) -> View:
    """Returns a new view for a person."""
    view = View("", with_ids(body["blocks"]), world.new_id("V"), user.team, user.id, body, secrets.token_hex(6))
    view.root, view.previous = (parent.root, parent.id) if parent else (view.id, "")
    world.views[view.id] = view
    world.log.add("view", what="opened", user=user.id, view=view.id, title=view.title)
    return view


def change_view(world: World, view: View, body: Body) -> None:
    """Replaces the body of a view."""
    view.body, view.blocks, view.hash = body, with_ids(body["blocks"]), secrets.token_hex(6)
    view.versions += 1
    world.log.add("view", what="updated", user=view.user, view=view.id, title=view.title)


def view_body(world: World, view: View, state: Body | None = None) -> Body:
    """Returns a view as in the API and in payloads."""
    names = ("type", "callback_id", "private_metadata", "title", "submit", "close", "notify_on_close", "external_id")
    fields = {name: view.body.get(name, "" if name in ("callback_id", "private_metadata") else None) for name in names}
    team = world.teams[view.team]
    home = team.users[view.user].home if view.user in team.users else ""
    ids = {
        "id": view.id,
        "team_id": home or view.team,
        "root_view_id": view.root,
        "previous_view_id": view.previous or None,
    }
    app = {"app_id": world.app.id, "app_installed_team_id": view.team, "bot_id": team.bot_id}
    return ids | app | fields | {"blocks": view.blocks, "hash": view.hash, "state": {"values": state or {}}}


def exchange(call: Call) -> Trigger:
    """Uses up a trigger, which is valid once and for three real seconds."""
    trigger = call.world.triggers.get(call.text("trigger_id"))
    if trigger is None:
        raise ApiError("invalid_trigger_id")
    error = ""
    if trigger.used:
        error = "exchanged_trigger_id"
    elif call.world.clock.real() > trigger.ends:
        error = "expired_trigger_id"
    if error:
        call.world.log.add("violation", what=call.method, error=error, reasons=[f"user {trigger.user.id}"])
        raise ApiError(error)
    trigger.used = True
    return trigger


@method("views.open")
def views_open(call: Call) -> Body:
    body = _modal(call)
    trigger = exchange(call)
    for view in call.world.stack(trigger.user):
        view.open = False
    return {"view": view_body(call.world, new_view(call.world, trigger.user, body))}


@method("views.push")
def views_push(call: Call) -> Body:
    body = _modal(call)
    trigger = exchange(call)
    stack = call.world.stack(trigger.user)
    if not trigger.from_view or not stack:
        raise ApiError("not_found")
    if len(stack) >= STACK:
        call.world.log.add("violation", what="views.push", error="push_limit_reached", reasons=[f"{STACK} views"])
        raise ApiError("push_limit_reached")
    return {"view": view_body(call.world, new_view(call.world, trigger.user, body, stack[-1]))}


@method("views.update")
def views_update(call: Call) -> Body:
    body = _modal(call)
    view = _named(call)
    if not view.open:
        raise ApiError("not_found")
    if call.args.get("hash") not in (None, "", view.hash):
        raise ApiError("hash_conflict")
    change_view(call.world, view, body)
    return {"view": view_body(call.world, view)}


@method("views.publish")
def views_publish(call: Call) -> Body:
    body = checked_view(call.world, "views.publish", call.args.get("view"))
    user = call.team.users.get(call.text("user_id"))
    if body["type"] != "home" or user is None:
        raise ApiError("invalid_arguments")
    old = call.world.homes.get(user.id)
    if old and call.args.get("hash") not in (None, "", old.hash):
        raise ApiError("hash_conflict")
    home = View("", with_ids(body["blocks"]), call.world.new_id("V"), user.team, user.id, body, secrets.token_hex(6))
    home.root = home.id
    call.world.homes[user.id] = home
    call.world.log.add("home", user=user.id)
    return {"view": view_body(call.world, home)}


def _modal(call: Call) -> Body:
    body = checked_view(call.world, call.method, call.args.get("view"))
    if body["type"] != "modal":
        raise ApiError("invalid_arguments")
    return body


def _named(call: Call) -> View:
    if external := call.args.get("external_id"):
        found = [one for one in call.world.views.values() if one.body.get("external_id") == external]
    else:
        found = [one for one in call.world.views.values() if one.id == call.text("view_id")]
    if not found or found[-1].team != call.team.id:
        raise ApiError("not_found")
    return found[-1]
