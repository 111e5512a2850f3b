"""A little OpenID provider on a real socket that enforces the standard's rules: redirect URI, PKCE, one use of a code.

It signs in whoever `user` is, without asking. Its answers can be falsified.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any
from urllib.parse import unquote, urlencode

from joserfc import jwt
from joserfc.jwk import RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from service.process import listen, serve_app

CODE_S, TOKEN_S = 60, 300
"""Lifetime of a code and of a token, seconds."""


@dataclass
class Code:
    """A code that was given out."""

    challenge: str
    nonce: str
    redirect_uri: str
    until: float
    user: dict[str, Any]
    used: bool = False


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def new_key(kid: str) -> RSAKey:
    return RSAKey.generate_key(2048, {"kid": kid, "use": "sig"}, private=True)


@cache
def first_key() -> RSAKey:
    """Returns the key that every provider starts with: making one takes longer than most tests."""
    return new_key("first")


@dataclass
class OpenIdProvider:
    """The provider, with one registered application."""

    clock: Callable[[], datetime]
    redirect_uri: str
    client_id: str = "quiz"
    secret: str = "hush: of the client"
    url: str = ""
    user: dict[str, Any] = field(default_factory=lambda: {"sub": "u-1", "name": "Ann"})
    key: RSAKey = field(default_factory=first_key)
    published: list[RSAKey] = field(default_factory=list)
    codes: dict[str, Code] = field(default_factory=dict)
    access: dict[str, dict[str, Any]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    """Paths of the requests."""
    change: Callable[[dict[str, Any]], dict[str, Any]] = lambda claims: claims
    """Falsifies the claims of ID tokens."""
    sign: Callable[[dict[str, Any]], str] | None = None
    """Signs ID tokens in place of the provider."""
    in_token: bool = True
    """Whether ID tokens have the user's claims, or only the answer of its userinfo endpoint."""
    denies: bool = False
    overrides: dict[str, Any] = field(default_factory=dict)
    """Changes of its description."""

    def __post_init__(self) -> None:
        self.published = [self.key]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        routes = [
            Route("/.well-known/openid-configuration", self._describe),
            Route("/authorize", self._authorize),
            Route("/token", self._token, methods=["POST"]),
            Route("/keys", self._keys),
            Route("/userinfo", self._user_info),
        ]
        with listen("127.0.0.1", 0) as listener:
            self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            async with serve_app(Starlette(routes=routes), listener):
                yield

    async def _describe(self, request: Request) -> Response:
        self.asked.append(request.url.path)
        found = {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "userinfo_endpoint": f"{self.url}/userinfo",
            "end_session_endpoint": f"{self.url}/logout",
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
            "code_challenge_methods_supported": ["S256"],
        }
        return JSONResponse(found | self.overrides)

    async def _keys(self, request: Request) -> Response:
        self.asked.append(request.url.path)
        return JSONResponse({"keys": [key.as_dict(private=False) for key in self.published]})

    async def _authorize(self, request: Request) -> Response:
        query = request.query_params
        # Without the right redirect URI, nothing is sent there.
        if query.get("client_id") != self.client_id or query.get("redirect_uri") != self.redirect_uri:
            return PlainTextResponse("unknown application or redirect URI", 400)
        if self.denies:
            return self._back({"error": "access_denied", "state": query["state"]})
        required = ("state", "nonce", "code_challenge")
        if (
            query.get("response_type") != "code"
            or "openid" not in query.get("scope", "").split()
            or query.get("code_challenge_method") != "S256"
            or not all(query.get(name) for name in required)
        ):
            return self._back({"error": "invalid_request", "state": query.get("state", "")})
        code = secrets.token_urlsafe(16)
        until = self.clock().timestamp() + CODE_S
        self.codes[code] = Code(query["code_challenge"], query["nonce"], query["redirect_uri"], until, self.user)
        return self._back({"code": code, "state": query["state"], "iss": self.url})

    def _back(self, query: dict[str, str]) -> Response:
        return RedirectResponse(f"{self.redirect_uri}?{urlencode(query)}", 303)

    async def _token(self, request: Request) -> Response:
        self.asked.append(request.url.path)
        form = await request.form()
        kind, _, login = request.headers.get("authorization", "").partition(" ")
        wanted = f"{self.client_id}:{self.secret}"
        if kind != "Basic" or unquote(base64.b64decode(login).decode()) != wanted:
            return JSONResponse({"error": "invalid_client"}, 401)
        code = self.codes.get(str(form.get("code")))
        verifier = str(form.get("code_verifier", "")).encode()
        challenge = _encoded(hashlib.sha256(verifier).digest())
        now = self.clock().timestamp()
        if (
            form.get("grant_type") != "authorization_code"
            or code is None
            or code.used
            or code.until <= now
            or code.redirect_uri != form.get("redirect_uri")
            or code.challenge != challenge
        ):
            return JSONResponse({"error": "invalid_grant"}, 400)
        code.used = True
        token = secrets.token_urlsafe(16)
        self.access[token] = code.user
        claims = {
            "iss": self.url,
            "aud": self.client_id,
            "iat": int(now),
            "exp": int(now) + TOKEN_S,
            "nonce": code.nonce,
            **(code.user if self.in_token else {"sub": code.user["sub"]}),
        }
        sign = self.sign or self.signed
        answer = {"id_token": sign(self.change(claims)), "access_token": token, "token_type": "Bearer"}
        return JSONResponse(answer, headers={"Cache-Control": "no-store"})

    async def _user_info(self, request: Request) -> Response:
        self.asked.append(request.url.path)
        user = self.access.get(request.headers.get("authorization", "").removeprefix("Bearer "))
        return JSONResponse({"error": "invalid_token"}, 401) if user is None else JSONResponse(user)

    # How ID tokens are signed, rightly and wrongly

    def signed(self, claims: dict[str, Any]) -> str:
        return jwt.encode({"alg": "RS256", "kid": self.key.kid}, claims, self.key)

    def signed_by_another(self, claims: dict[str, Any]) -> str:
        """Signs with a key that only claims to be the provider's."""
        return jwt.encode({"alg": "RS256", "kid": self.key.kid}, claims, new_key("first"))

    def signed_with_public_key(self, claims: dict[str, Any]) -> str:
        """Signs with a secret that everybody knows: the text of the public key."""
        head, body = (_encoded(json.dumps(one).encode()) for one in ({"alg": "HS256", "kid": self.key.kid}, claims))
        signature = hmac.digest(self.key.as_pem(private=False), f"{head}.{body}".encode(), "sha256")
        return f"{head}.{body}.{_encoded(signature)}"

    def unsigned(self, claims: dict[str, Any]) -> str:
        _, body, _ = self.signed(claims).split(".")
        head = _encoded(b'{"alg": "none"}')
        return f"{head}.{body}."

    def changed_afterwards(self, claims: dict[str, Any]) -> str:
        """Signs, and then changes who signed in."""
        head, _, signature = self.signed(claims).split(".")
        _, body, _ = self.signed({**claims, "sub": "u-2"}).split(".")
        return f"{head}.{body}.{signature}"
