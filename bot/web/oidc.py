"""Client of an OpenID provider: authorization code with PKCE, and the checks of the ID token. Knows no pages.

Needs the package joserfc, which verifies signatures and claims.
"""

from __future__ import annotations

import hashlib
import importlib
import secrets
import ssl
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Final
from urllib.parse import quote, urlencode, urlsplit

import httpx
from pydantic import BaseModel, ValidationError

from bot.settings import OidcSettings
from service.process import Clock
from service.wire import secret_digest

ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512")
"""Signatures that are accepted: only those for which the provider alone has the key."""
LEEWAY_S: Final = 60
"""How far the provider's clock may be off, seconds."""
TIMEOUT_S: Final = 10.0
KEPT: Final = timedelta(hours=1)
"""How long the provider's description and keys are kept."""
SHORTEST_KEPT: Final = timedelta(minutes=1)
"""Least time between two fetches of keys, even if tokens name unknown ones."""


class ProviderUnreachable(Exception):
    """The provider gave no usable answer; the message says why, for the log."""


class ProviderRefused(Exception):
    """The provider refused the code; the message is the error's code."""


class TokenRefused(Exception):
    """The ID token cannot be trusted; the message says why."""


class Description(BaseModel):
    """What a provider says of itself, as far as it is used."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None = None
    end_session_endpoint: str | None = None
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)
    code_challenge_methods_supported: tuple[str, ...] | None = None


class Tokens(BaseModel):
    """The answer to a code."""

    id_token: str
    access_token: str = ""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt to sign in: the secrets that bind the provider's answer to the browser that asked."""

    state: str
    nonce: str
    verifier: str

    @classmethod
    def new(cls) -> Attempt:
        return cls(secrets.token_urlsafe(24), secrets.token_urlsafe(24), secrets.token_urlsafe(48))


@dataclass(frozen=True, slots=True)
class Account:
    """Who signed in. `admin` is None if the settings leave roles to the chat."""

    digest: str
    """Hash of issuer and subject, which together identify the account forever."""
    name: str
    admin: bool | None


class Provider:
    """One provider, whose description and keys are kept for a while. `clock` tells when tokens expire."""

    def __init__(self, settings: OidcSettings, clock: Clock) -> None:
        importlib.import_module("joserfc")
        self._settings = settings
        self._clock = clock
        self._description: tuple[datetime, Description] | None = None
        self._keys: tuple[datetime, Mapping[str, Any]] | None = None

    @property
    def name(self) -> str:
        """The provider's host name, as members see it."""
        return urlsplit(self._settings.issuer).hostname or self._settings.issuer

    @property
    def issuer(self) -> str:
        return self._settings.issuer

    @property
    def url(self) -> str:
        """The public URL of the web chat, without a slash at the end."""
        return self._settings.url.rstrip("/")

    @property
    def redirect_uri(self) -> str:
        return self._settings.redirect_uri

    @property
    def session_age(self) -> timedelta:
        """How long a sign-in holds."""
        return timedelta(days=self._settings.session_days)

    async def describe(self) -> Description:
        """Returns the provider's description. Raises ProviderUnreachable."""
        now = self._clock()
        if self._description is not None and self._description[0] <= now < self._description[0] + KEPT:
            return self._description[1]
        url = f"{self.issuer.rstrip('/')}/.well-known/openid-configuration"
        try:
            found = Description.model_validate(await _fetch("GET", url))
        except ValidationError as wrong:
            missing = ", ".join(str(error["loc"][0]) for error in wrong.errors() if error["loc"])
            raise ProviderUnreachable(f"{url} has no usable {missing or 'description'}") from None
        if found.issuer != self.issuer:
            raise ProviderUnreachable(f"{url} describes {found.issuer!r}, and DAILYGRAD_OIDC_ISSUER is {self.issuer!r}")
        for address in (found.authorization_endpoint, found.token_endpoint, found.jwks_uri):
            if not is_safe(address):
                raise ProviderUnreachable(f"{url} names {address}, which is not https")
        self._description = now, found
        return found

    async def sign_in_url(self, attempt: Attempt) -> str:
        """Returns where the browser goes to sign in. Raises ProviderUnreachable."""
        endpoint = (await self.describe()).authorization_endpoint
        challenge = urlsafe_b64encode(hashlib.sha256(attempt.verifier.encode()).digest()).rstrip(b"=").decode()
        query = {
            "response_type": "code",
            "client_id": self._settings.client_id,
            "redirect_uri": self.redirect_uri,
            "scope": self._settings.scopes,
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(query)}"

    async def sign_out_url(self) -> str | None:
        """Returns where the browser signs out of the provider too, if it offers that. Raises ProviderUnreachable."""
        endpoint = (await self.describe()).end_session_endpoint
        if endpoint is None or not is_safe(endpoint):
            return None
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode({'client_id': self._settings.client_id})}"

    async def fetch_account(self, code: str, attempt: Attempt) -> Account:
        """Exchanges a code. Returns whose it is.

        Raises ProviderUnreachable, ProviderRefused or TokenRefused.
        """
        description = await self.describe()
        try:
            tokens = Tokens.model_validate(await self._exchange(description, code, attempt))
        except ValidationError:
            raise ProviderUnreachable(f"{description.token_endpoint} sent no ID token") from None
        claims = await self._verify(description, tokens.id_token, attempt.nonce)
        subject: str = claims["sub"]
        wanted = {self._settings.name_claim, *([self._settings.admin_claim] if self._settings.admin_group else ())}
        if tokens.access_token and description.userinfo_endpoint and wanted - set(claims):
            more = await self._user_info(description.userinfo_endpoint, tokens.access_token)
            if more.get("sub") != subject:
                raise TokenRefused("it is about another person than the one who signed in")
            claims = {**more, **claims}
        return Account(secret_digest(f"{self.issuer}\n{subject}"), self._name_in(claims), self._is_admin(claims))

    async def _exchange(self, description: Description, code: str, attempt: Attempt) -> object:
        settings = self._settings
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect_uri,
            "code_verifier": attempt.verifier,
        }
        login = None
        if not settings.secret:
            form["client_id"] = settings.client_id
        elif "client_secret_basic" in description.token_endpoint_auth_methods_supported:
            login = httpx.BasicAuth(quote(settings.client_id, safe=""), quote(settings.secret, safe=""))
        else:
            form |= {"client_id": settings.client_id, "client_secret": settings.secret}
        return await _fetch("POST", description.token_endpoint, form=form, auth=login)

    async def _user_info(self, endpoint: str, token: str) -> dict[str, Any]:
        if not is_safe(endpoint):
            return {}
        found = await _fetch("GET", endpoint, bearer=token)
        return found if isinstance(found, dict) else {}

    async def _verify(self, description: Description, token: str, nonce: str) -> dict[str, Any]:
        """Returns the claims of an ID token that the provider signed for us, for this attempt."""
        from joserfc import jwt
        from joserfc.errors import ExpiredTokenError, InvalidClaimError, JoseError, MissingClaimError
        from joserfc.jwk import KeySet

        decoded = None
        for again in (False, True):
            # A key that is not known may be new, so keys are fetched again once.
            keys = await self.signing_keys(description, fresh=again)
            try:
                decoded = jwt.decode(token, KeySet.import_key_set({"keys": keys}), algorithms=list(ALGORITHMS))
                break
            except (JoseError, ValueError):
                continue
        if decoded is None:
            raise TokenRefused("its signature is not the provider's")
        registry = jwt.JWTClaimsRegistry(
            now=int(self._clock().timestamp()),
            leeway=LEEWAY_S,
            iss={"essential": True, "value": self.issuer},
            aud={"essential": True, "value": self._settings.client_id},
            sub={"essential": True},
            exp={"essential": True},
            iat={"essential": True},
            nonce={"essential": True, "value": nonce},
        )
        claims: dict[str, Any] = dict(decoded.claims)
        try:
            registry.validate(claims)
        except ExpiredTokenError:
            raise TokenRefused("it has expired, or the clocks differ by more than a minute") from None
        except (InvalidClaimError, MissingClaimError) as wrong:
            raise TokenRefused(_WRONG.get(wrong.claim, f"its {wrong.claim} is wrong")) from None
        except JoseError:
            raise TokenRefused("its claims are malformed") from None
        party = claims.get("azp", self._settings.client_id)
        if party != self._settings.client_id:
            raise TokenRefused(_WRONG["aud"])
        return claims

    async def signing_keys(self, description: Description, *, fresh: bool = False) -> list[dict[str, Any]]:
        """Returns the provider's public keys, fetched again if `fresh`. Raises ProviderUnreachable."""
        now = self._clock()
        kept = SHORTEST_KEPT if fresh else KEPT
        if self._keys is None or not self._keys[0] <= now < self._keys[0] + kept:
            found = await _fetch("GET", description.jwks_uri)
            if not isinstance(found, dict) or not isinstance(found.get("keys"), list):
                raise ProviderUnreachable(f"{description.jwks_uri} has no keys")
            self._keys = now, found
        keys: list[dict[str, Any]] = self._keys[1]["keys"]
        return [key for key in keys if isinstance(key, dict) and key.get("use", "sig") == "sig"]

    def _name_in(self, claims: Mapping[str, Any]) -> str:
        """Returns the first usable name; empty if there is none."""
        names = (claims.get(claim) for claim in (self._settings.name_claim, "name", "preferred_username", "nickname"))
        return next((name for name in names if isinstance(name, str) and name.strip()), "")

    def _is_admin(self, claims: Mapping[str, Any]) -> bool | None:
        if not self._settings.admin_group:
            return None
        found = claims.get(self._settings.admin_claim)
        return self._settings.admin_group in (found if isinstance(found, list) else [found])


_WRONG: Final = {
    "iss": "it names another issuer",
    "aud": "it is meant for another application",
    "nonce": "it belongs to another sign-in",
}


def is_safe(url: str) -> bool:
    """Returns whether nobody can listen on the way to a URL: it is https, or on this machine."""
    parts = urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in ("localhost", "127.0.0.1", "::1"))


@cache
def _trusted() -> ssl.SSLContext:
    """Returns the certificates that are trusted. Reading them takes tens of milliseconds, so it happens once."""
    return httpx.create_ssl_context()


async def _fetch(
    method: str,
    url: str,
    *,
    form: Mapping[str, str] | None = None,
    auth: httpx.Auth | None = None,
    bearer: str = "",
) -> object:
    """Returns the JSON of an answer. Raises ProviderRefused for an error of the standard, and ProviderUnreachable."""
    headers = {"Accept": "application/json"} | ({"Authorization": f"Bearer {bearer}"} if bearer else {})
    try:
        async with httpx.AsyncClient(verify=_trusted(), timeout=TIMEOUT_S) as http:
            answer = await http.request(method, url, data=form, auth=auth, headers=headers)
        found: object = answer.json()
    except (httpx.HTTPError, httpx.InvalidURL) as problem:
        raise ProviderUnreachable(f"{url}: {str(problem) or type(problem).__name__}") from None
    except ValueError:
        raise ProviderUnreachable(f"{url}: status {answer.status_code} without JSON") from None
    if form is not None and 400 <= answer.status_code < 500 and isinstance(found, dict) and "error" in found:
        raise ProviderRefused(error_code(found["error"]))
    if not answer.is_success:
        raise ProviderUnreachable(f"{url}: status {answer.status_code}")
    return found


def error_code(error: object) -> str:
    """Returns the code of an error as the standard has them, or `unknown_error`: strangers can write anything there."""
    text = str(error)
    return text if text.isascii() and text.replace("_", "").isalpha() and len(text) <= 40 else "unknown_error"
