"""Service tokens, which processes authenticate with, and the encryption of chat tokens in the database."""

from __future__ import annotations

import re
import secrets
from collections.abc import Generator, Sequence
from pathlib import Path
from threading import Lock

import httpx
import structlog
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from pydantic import SecretStr

from service.errors import Misconfigured
from service.logs import hide

MIN_TOKEN_LENGTH = 16
"""Length of the shortest service token accepted, characters."""
KEY_COMMAND = "`openssl rand -base64 32 | tr '+/' '-_'`"
"""Shell command that generates an encryption key."""

log = structlog.get_logger(__name__)


class ServiceTokens:
    """Service tokens, newest first. A service accepts any of them; a client sends the newest.

    This allows rotation without a failed call: put the new token before the old one where the service reads it, then
    where clients do, and remove the old one when no client uses it any more.
    """

    def __init__(self, *tokens: str) -> None:
        self._all: Sequence[str] = tokens

    @property
    def all(self) -> Sequence[str]:
        """Returns every valid token, newest first."""
        return self._all

    def accepts(self, header: str) -> bool:
        """Returns whether an Authorization header has a valid token. Compares all of them in constant time."""
        given = header.encode("utf-8", "surrogateescape")
        return sum([secrets.compare_digest(given, f"Bearer {token}".encode()) for token in self.all]) > 0


class TokenFile(ServiceTokens):
    """Service tokens in a file, which is read again when it changes. Replace the file atomically, by renaming.

    Any thread may ask: FastAPI checks tokens in a pool of them.
    """

    def __init__(self, path: Path) -> None:
        """Raises OSError if the file cannot be read, and ValueError if it holds an invalid token."""
        self._path = path
        self._reading = Lock()
        self._state = _state(path)
        super().__init__(*parse_tokens(path.read_text(encoding="utf-8")))

    @property
    def all(self) -> Sequence[str]:
        # Under the lock, so that no thread answers with the previous tokens while another reads the file.
        with self._reading:
            if (state := _state(self._path)) != self._state:
                self._state = state
                self._read()
            return self._all

    def _read(self) -> None:
        try:
            self._all = parse_tokens(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            # The file may be half-written; keep the previous tokens.
            why = error.strerror if isinstance(error, OSError) else "it holds no token, or one that is too short"
            log.warning("service token file unusable; keeping the previous tokens", path=str(self._path), why=why)
        else:
            hide(*self._all)
            log.info("service tokens reloaded", path=str(self._path), tokens=len(self._all))


class TokenAuth(httpx.Auth):
    """Sends the newest token, and the other ones in turn if the service refuses it."""

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


def parse_tokens(text: str) -> tuple[str, ...]:
    """Returns the tokens in a text, separated by commas or newlines.

    Raises ValueError, without quoting the text, if there is none or if one is too short.
    """
    found = tuple(word.strip() for word in re.split(r"[,\r\n]", text) if word.strip())
    shortest = min(map(len, found), default=0)
    if shortest < MIN_TOKEN_LENGTH:
        raise ValueError(f"{shortest} characters")
    return found


def _state(path: Path) -> tuple[int, int, int, int] | None:
    """Returns values that differ when the file has changed; None if there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size


class NoTokenKey(Misconfigured):
    """There is no key to encrypt tokens with."""

    def __init__(self) -> None:
        super().__init__(
            "no-token-key",
            "Tokens are kept encrypted, and there is no key for it: set DAILYGRAD_TOKEN_KEY of the service to the "
            f"output of {KEY_COMMAND}, or DAILYGRAD_TOKEN_KEY_FILE to a file that holds it, and keep it as safe as "
            "the database's password.",
        )


class WrongTokenKey(Misconfigured):
    """A token was encrypted with a key that is no longer known."""

    def __init__(self) -> None:
        super().__init__(
            "wrong-token-key",
            "This was encrypted with a key that is not in DAILYGRAD_TOKEN_KEY: add the old key behind the new one, "
            "with a comma between, or install the bot again.",
        )


class TokenCipher:
    """Encrypts secrets for the database with the first key and decrypts with any, so that keys can be rotated."""

    def __init__(self, keys: Sequence[str] = ()) -> None:
        """Raises ValueError if a key is invalid."""
        self._fernet = MultiFernet([Fernet(key) for key in keys]) if keys else None

    def encrypt(self, secret: SecretStr) -> bytes:
        """Returns the encrypted secret. Raises NoTokenKey."""
        return self._require_key().encrypt(secret.get_secret_value().encode())

    def decrypt(self, encrypted: bytes) -> SecretStr:
        """Returns the secret. Raises NoTokenKey or WrongTokenKey."""
        try:
            return SecretStr(self._require_key().decrypt(encrypted).decode())
        except InvalidToken:
            raise WrongTokenKey from None

    def _require_key(self) -> MultiFernet:
        if self._fernet is None:
            raise NoTokenKey
        return self._fernet
