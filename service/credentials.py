"""The words by which our own processes know one another: several while they are changed, and read anew when changed."""

from __future__ import annotations

import re
import secrets
from collections.abc import Generator, Sequence
from pathlib import Path

import httpx
import structlog
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from pydantic import SecretStr

from service.errors import Refused
from service.logs import hide

SHORTEST_TOKEN = 16

log = structlog.get_logger(__name__)


class ServiceTokens:
    """Service tokens, the newest first. A service takes any of them, a client shows the newest.

    So a token is changed without a failed call: the new one is put before the old one where the service reads it,
    then where clients do, and the old one is taken away when no client has it any more.
    """

    def __init__(self, *tokens: str) -> None:
        self._all: Sequence[str] = tokens

    @property
    def all(self) -> Sequence[str]:
        """Every token that is good now, the newest first."""
        return self._all

    def accepts(self, shown: str) -> bool:
        """Whether an Authorization header shows one of them. Each is compared, in a time that tells nothing of it."""
        given = shown.encode("utf-8", "surrogateescape")
        return sum([secrets.compare_digest(given, f"Bearer {token}".encode()) for token in self.all]) > 0


class TokenFile(ServiceTokens):
    """The tokens in a file, which is looked at whenever they are asked for. Replace it whole: write beside, rename."""

    def __init__(self, path: Path) -> None:
        """Raises OSError where it cannot be read, and ValueError for what is no token."""
        self._path = path
        self._state = _state(path)
        super().__init__(*tokens_in(path.read_text(encoding="utf-8")))

    @property
    def all(self) -> Sequence[str]:
        if (state := _state(self._path)) != self._state:
            self._state = state
            self._read()
        return self._all

    def _read(self) -> None:
        try:
            self._all = tokens_in(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            # Whoever changes it may be half-way: what was good is better than that nobody is let in.
            why = error.strerror if isinstance(error, OSError) else "it holds no token, or one that is too short"
            log.warning("the file of service tokens cannot be used; those before stay", path=str(self._path), why=why)
        else:
            hide(*self._all)
            log.info("service tokens read again", path=str(self._path), tokens=len(self._all))


class ShownToken(httpx.Auth):
    """Shows a service the newest token; where the service does not know it, or no more, whichever else there is."""

    def __init__(self, tokens: ServiceTokens) -> None:
        self._tokens = tokens

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        refused: set[str] = set()
        while (token := next((one for one in self._tokens.all if one not in refused), None)) is not None:
            request.headers["Authorization"] = f"Bearer {token}"
            response = yield request
            if response.status_code != httpx.codes.UNAUTHORIZED:
                return
            refused.add(token)


def tokens_in(text: str) -> tuple[str, ...]:
    """The tokens of a text, apart by commas or lines. Raises ValueError, without any of it, where there is none or
    one is too short."""
    found = tuple(word.strip() for word in re.split(r"[,\r\n]", text) if word.strip())
    shortest = min(map(len, found), default=0)
    if shortest < SHORTEST_TOKEN:
        raise ValueError(f"{shortest} characters")
    return found


def _state(path: Path) -> tuple[int, int, int, int] | None:
    """What tells one state of a file from another; None where it is not there."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size


# Secrets that are kept: encrypted on their way into the database, decrypted on their way out. It logs nothing.


HOW = "`openssl rand -base64 32 | tr '+/' '-_'`"
"""What makes a key."""


class NoTokenKey(Refused):
    """Tokens are kept encrypted, and there is no key for it: set DAILYGRAD_TOKEN_KEY of the service to the output of
    {how}, or DAILYGRAD_TOKEN_KEY_FILE to a file that holds it, and keep it as safe as the database's password."""

    code = "no-token-key"


class WrongTokenKey(Refused):
    """This was encrypted with a key that is not in DAILYGRAD_TOKEN_KEY: add the old key behind the new one, with a
    comma between, or install the bot again."""

    code = "wrong-token-key"


class TokenCipher:
    """Encrypts with the first of its keys and decrypts with any, so that keys can be changed one after the other."""

    def __init__(self, keys: Sequence[str] = ()) -> None:
        """Raises ValueError for what is no key."""
        self._fernet = MultiFernet([Fernet(key) for key in keys]) if keys else None

    def seal(self, secret: SecretStr) -> bytes:
        """Raises NoTokenKey."""
        return self._keyed().encrypt(secret.get_secret_value().encode())

    def unseal(self, sealed: bytes) -> SecretStr:
        """Raises NoTokenKey or WrongTokenKey."""
        try:
            return SecretStr(self._keyed().decrypt(sealed).decode())
        except InvalidToken:
            raise WrongTokenKey from None

    def _keyed(self) -> MultiFernet:
        if self._fernet is None:
            raise NoTokenKey(how=HOW)
        return self._fernet
