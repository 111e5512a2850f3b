"""The methods auth.*, apps.*, users.*, team.*, files.* and oauth.*."""

from __future__ import annotations

import secrets
from typing import Any

from tests.doubles.slack.api_chat import checked, posted
from tests.doubles.slack.calls import Call, method
from tests.doubles.slack.limits import TIER_1, TIER_2, TIER_3
from tests.doubles.slack.surfaces import Body, Message
from tests.doubles.slack.world import TOKEN_LIFE_S, ApiError, Team, User

MAX_SOCKETS = 10


@method("auth.test", tier=0)
def auth_test(call: Call) -> Body:
    team = call.team
    org = call.world.app.organization
    user = {"user": "dailygrad", "user_id": team.bot.id, "bot_id": team.bot_id, "is_enterprise_install": bool(org)}
    return {"url": f"https://{team.name}.slack.com/", "team": team.name, "team_id": team.id} | user


@method("team.info", "team:read", tier=TIER_3, takes_json=False)
def team_info(call: Call) -> Body:
    return {"team": {"id": call.team.id, "name": call.team.name, "domain": call.team.name}}


@method("users.info", "users:read", takes_json=False)
def users_info(call: Call) -> Body:
    user = call.team.users.get(call.text("user"))
    if user is None:
        raise ApiError("user_not_found")
    return {"user": user.body()}


@method("users.list", "users:read", tier=TIER_2, takes_json=False)
def users_list(call: Call) -> Body:
    users = sorted((user for user in call.team.users.values() if not user.home), key=lambda user: user.id)
    start, size = int(str(call.args.get("cursor") or 0)), int(str(call.args.get("limit") or 200))
    after = str(start + size) if start + size < len(users) else ""
    members = [user.body() for user in users[start : start + size]]
    return {"members": members, "response_metadata": {"next_cursor": after}}


@method("apps.uninstall", tier=TIER_1, takes_json=False)
def apps_uninstall(call: Call) -> Body:
    if (call.args.get("client_id"), call.args.get("client_secret")) != _secrets(call):
        raise ApiError("bad_client_secret")
    call.team.installed = False
    call.world.revoke(call.team)
    return {}


def _secrets(call: Call) -> tuple[str, str]:
    return call.world.app.client_id, call.world.app.client_secret


# Files


@method("files.getUploadURLExternal", "files:write", takes_json=False)
def upload_url(call: Call) -> Body:
    length = int(call.text("length"))
    id_ = call.world.new_id("F")
    file = {"id": id_, "name": call.text("filename"), "alt_txt": str(call.args.get("alt_txt") or ""), "size": length}
    call.world.files[id_] = file | {"team": call.team.id, "complete": False}
    return {"upload_url": f"{call.args['_base']}/upload/{id_}", "file_id": id_}


@method("files.completeUploadExternal", "files:write")
def complete_upload(call: Call) -> Body:
    found = []
    for named in call.args.get("files") or []:
        file = call.world.files.get(str(named.get("id")))
        if file is None or file["team"] != call.team.id or file["id"] not in call.world.contents:
            raise ApiError("file_not_found")
        file |= {"complete": True, "title": named.get("title", file["name"])}
        found.append(file)
    if not found:
        raise ApiError("invalid_arguments")
    call.world.log.add("file", files=[file["id"] for file in found], alt=[file["alt_txt"] for file in found])
    if call.args.get("channel_id"):
        _share(call, found)
    return {"files": [{"id": file["id"], "title": file["title"]} for file in found]}


def _share(call: Call, files: list[Body]) -> None:
    channel = call.world.channel_of(call.team, str(call.args["channel_id"]))
    if call.team.bot.id not in channel.members:
        raise ApiError("not_in_channel")
    text = str(call.args.get("initial_comment") or "")
    blocks = checked(call.world, call.team.id, call.method, call.args) if call.args.get("blocks") else []
    message = Message(text, blocks, call.team.id, channel.id, call.world.new_ts(), call.team.bot.id, call.team.bot_id)
    message.thread_ts, message.files = str(call.args.get("thread_ts") or ""), [dict(file) for file in files]
    posted(call.world, channel, message)


@method("files.info", "files:read", takes_json=False)
def files_info(call: Call) -> Body:
    file = call.world.files.get(call.text("file"))
    if file is None or file["team"] != call.team.id:
        raise ApiError("file_not_found")
    return {"file": file | {"mimetype": "image/png" if file["name"].endswith(".png") else "text/plain"}}


# Installation


@method("oauth.v2.access", takes_json=False, token="none")
def oauth_access(call: Call) -> Body:
    if (call.args.get("client_id"), call.args.get("client_secret")) != _secrets(call):
        raise ApiError("invalid_client_id" if call.args.get("client_id") != _secrets(call)[0] else "bad_client_secret")
    if call.args.get("grant_type") == "refresh_token":
        return _refreshed(call)
    team_id, user_id, redirect = call.world.codes.pop(str(call.args.get("code")), ("", "", ""))
    if not team_id:
        raise ApiError("invalid_code")
    if redirect and call.args.get("redirect_uri") != redirect:
        raise ApiError("bad_redirect_uri")
    team = call.world.teams[team_id]
    return _granted(call, team, call.world.app.scopes) | {"authed_user": {"id": user_id}}


def _refreshed(call: Call) -> Body:
    """Refreshes a token. The refresh token is used up; the old access token stays valid until it expires."""
    given = str(call.args.get("refresh_token", ""))
    token = call.world.refresh.pop(given, None)
    if token is None:
        call.world.log.add("token", what="refresh refused", token=given)
        raise ApiError("invalid_refresh_token")
    call.world.log.add("token", what="refreshed", team=token.team)
    return _granted(call, call.world.teams[token.team], token.scopes)


def _granted(call: Call, team: Team, scopes: tuple[str, ...]) -> Body:
    token, again = call.world.issue(team, scopes)
    about: dict[str, Any] = {"app_id": call.world.app.id, "team": {"id": team.id, "name": team.name}}
    kind = {"token_type": "bot", "access_token": token.value, "scope": ",".join(scopes), "bot_user_id": team.bot.id}
    lasting = {"refresh_token": again, "expires_in": TOKEN_LIFE_S} if again else {}
    if org := call.world.app.organization:
        whole = {"team": None, "enterprise": {"id": org, "name": "The organization"}, "is_enterprise_install": True}
        return about | kind | lasting | whole
    return about | kind | lasting | {"enterprise": None, "is_enterprise_install": False}


def new_code(call_world: Any, team: Team, user: User, redirect: str) -> str:
    """Returns a code that the app can exchange for a token once."""
    code = secrets.token_hex(8)
    call_world.codes[code] = (team.id, user.id, redirect)
    return code
