"""A Web API call before it reaches its method: caller, arguments, and the checks that all methods share."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tests.doubles.slack.limits import TIER_4
from tests.doubles.slack.surfaces import Body
from tests.doubles.slack.world import ApiError, Channel, Team, Token, World

# Form arguments that may contain JSON.
_JSON_ARGS = ("blocks", "view", "metadata", "files", "attachments", "users_json")


@dataclass
class Call:
    """A call. `token` is None for methods without one."""

    world: World
    method: str
    args: Body
    token: Token | None = None

    @property
    def team(self) -> Team:
        assert self.token is not None
        return self.world.teams[self.token.team]

    def need(self, *scopes: str) -> None:
        """Raises missing_scope if the token has none of these scopes."""
        assert self.token is not None
        if not set(scopes) & set(self.token.scopes):
            raise ApiError("missing_scope", needed=",".join(scopes), provided=",".join(self.token.scopes))

    def text(self, name: str) -> str:
        """Returns a required argument."""
        value = self.args.get(name)
        if value in (None, ""):
            raise ApiError("invalid_arguments", response_metadata={"messages": [f"[ERROR] missing field: {name}"]})
        return str(value)

    def flag(self, name: str) -> bool:
        return str(self.args.get(name, "")).lower() in ("1", "true")

    def channel(self) -> Channel:
        return self.world.channel_of(self.team, self.text("channel"))


Handler = Callable[[Call], Body]


@dataclass(frozen=True)
class Method:
    """How a method is called: its scopes (any of them), its tier, whether it accepts JSON, and the kind of token."""

    handler: Handler
    scopes: tuple[str, ...] = ()
    tier: int = TIER_4
    takes_json: bool = True
    token: str = "bot"


METHODS: dict[str, Method] = {}


def method(
    name: str, *scopes: str, tier: int = TIER_4, takes_json: bool = True, token: str = "bot"
) -> Callable[[Handler], Handler]:
    """Registers the handler of a method."""

    def register(handler: Handler) -> Handler:
        METHODS[name] = Method(handler, scopes, tier, takes_json, token)
        return handler

    return register


async def read_args(request: web.Request, found: Method) -> Body:
    """Returns the arguments of a form, query or JSON body. Slack ignores JSON for methods that do not accept it."""
    args: dict[str, Any] = dict(request.query)
    if request.content_type == "application/json":
        body = await request.json()
        if not isinstance(body, dict):
            raise ApiError("json_not_object")
        args |= body if found.takes_json else {}
    else:
        args |= {name: value for name, value in (await request.post()).items() if isinstance(value, str)}
    for name in _JSON_ARGS:
        if isinstance(args.get(name), str):
            args[name] = _json(name, args[name])
    return args


def _json(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise ApiError("invalid_blocks_format" if name == "blocks" else "invalid_arguments") from None


def token_of(request: web.Request, world: World, args: Body, kind: str) -> Token | None:
    """Returns the token of a call. Raises the API's token errors."""
    given = request.headers.get("Authorization", "").removeprefix("Bearer ") or str(args.get("token", ""))
    if kind == "none":
        return None
    if not given:
        raise ApiError("not_authed")
    if kind == "app":
        if given != world.app.app_token:
            raise ApiError("not_allowed_token_type" if given in world.tokens else "invalid_auth")
        return None
    token = world.tokens.get(given)
    if token is None:
        raise ApiError("not_allowed_token_type" if given == world.app.app_token else "invalid_auth")
    if token.revoked:
        raise ApiError("token_revoked" if world.teams[token.team].installed else "account_inactive")
    if token.ends is not None and world.clock.slack() > token.ends:
        raise ApiError("token_expired")
    return token
