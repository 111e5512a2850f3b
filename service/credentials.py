"""Tokens that processes authenticate to the service with, and the encryption of chat tokens in the database."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar, get_args

import structlog
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from pydantic import SecretStr

from service.errors import Misconfigured
from service.logs import hide
from service.wire import Platform

MIN_TOKEN_LENGTH = 16
"""Length of the shortest service token accepted, characters."""
KEY_COMMAND = "`openssl rand -base64 32 | tr '+/' '-_'`"
"""Shell command that generates an encryption key."""

PLATFORMS: tuple[Platform, ...] = get_args(Platform)

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class BotToken:
    """A token that is valid for the calls of one platform's bots."""

    platform: Platform
    token: str = field(repr=False)


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

    def newest(self, refused: Collection[str] = ()) -> str | None:
        """Returns the newest token that was not refused; None if all were."""
        return next((token for token in self.all if token not in refused), None)

    def accepts(self, header: str) -> bool:
        """Returns whether an Authorization header has a valid token. Compares all of them in constant time."""
        given = header.encode("utf-8", "surrogateescape")
        return sum([secrets.compare_digest(given, f"Bearer {token}".encode()) for token in self.all]) > 0


class BotTokens:
    """Tokens of bots, each for one platform: its holder cannot act on another platform."""

    def __init__(self, *tokens: BotToken) -> None:
        self._all: Sequence[BotToken] = tokens

    @property
    def all(self) -> Sequence[BotToken]:
        """Returns every valid token."""
        return self._all

    def platform_of(self, header: str) -> Platform | None:
        """Returns the platform of the token in an Authorization header; None if it has no valid one.

        Compares all of them in constant time.
        """
        given = header.encode("utf-8", "surrogateescape")
        matches = [(secrets.compare_digest(given, f"Bearer {one.token}".encode()), one.platform) for one in self.all]
        return next((platform for equal, platform in matches if equal), None)


T = TypeVar("T", bound=Sequence[object])


class _WatchedFile(Generic[T]):
    """Tokens in a file, which is read again when it changes. Replace the file atomically, by renaming.

    Any thread may ask: FastAPI checks tokens in a pool of them.
    """

    def __init__(self, path: Path, parse: Callable[[str], T], values: Callable[[T], Iterable[str]]) -> None:
        """Raises OSError if the file cannot be read, and ValueError if it holds an invalid token."""
        self._path = path
        self._parse = parse
        self._values = values
        self._reading = Lock()
        self._state = _state(path)
        self._tokens = parse(path.read_text(encoding="utf-8"))

    @property
    def tokens(self) -> T:
        # Under the lock, so that no thread answers with the previous tokens while another reads the file.
        with self._reading:
            if (state := _state(self._path)) != self._state:
                self._state = state
                self._read()
            return self._tokens

    def _read(self) -> None:
        try:
            self._tokens = self._parse(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            # The file may be half-written; keep the previous tokens.
            why = error.strerror if isinstance(error, OSError) else f"it is not valid: {error}"
            log.warning("token file unusable; keeping the previous tokens", path=str(self._path), why=why)
        else:
            hide(*self._values(self._tokens))
            log.info("tokens reloaded", path=str(self._path), tokens=len(self._tokens))


class TokenFile(ServiceTokens):
    """Service tokens in a file, which is read again when it changes. Replace the file atomically, by renaming."""

    def __init__(self, path: Path) -> None:
        """Raises OSError if the file cannot be read, and ValueError if it holds an invalid token."""
        self._file = _WatchedFile(path, parse_tokens, lambda tokens: tokens)

    @property
    def all(self) -> Sequence[str]:
        return self._file.tokens


class BotTokenFile(BotTokens):
    """Tokens of bots in a file, which is read again when it changes. Replace the file atomically, by renaming."""

    def __init__(self, path: Path) -> None:
        """Raises OSError if the file cannot be read, and ValueError if it holds an invalid token."""
        self._file = _WatchedFile(path, parse_bot_tokens, lambda tokens: [one.token for one in tokens])

    @property
    def all(self) -> Sequence[BotToken]:
        return self._file.tokens


def parse_tokens(text: str) -> tuple[str, ...]:
    """Returns the tokens in a text, separated by commas or newlines.

    Raises ValueError, without quoting the text, if there is none or if one is too short.
    """
    found = _split(text)
    shortest = min(map(len, found), default=0)
    if shortest < MIN_TOKEN_LENGTH:
        raise ValueError(f"{shortest} characters")
    return found


def parse_bot_tokens(text: str) -> tuple[BotToken, ...]:
    """Returns the tokens in a text, each written `PLATFORM=TOKEN`, separated by commas or newlines.

    Raises ValueError, without quoting the text, if one has no known platform, is too short or is there twice.
    """
    found = []
    for number, word in enumerate(_split(text), 1):
        name, _, token = word.partition("=")
        platform = next((known for known in PLATFORMS if known == name.strip()), None)
        if platform is None:
            raise ValueError(f"token {number} has no platform; write it as discord=TOKEN")
        if len(token.strip()) < MIN_TOKEN_LENGTH:
            raise ValueError(f"token {number} has {len(token.strip())} characters")
        found.append(BotToken(platform, token.strip()))
    if len({one.token for one in found}) < len(found):
        raise ValueError("one token is there twice; each platform needs its own")
    return tuple(found)


def _split(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in re.split(r"[,\r\n]", text) if word.strip())


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
        self._newest = Fernet(keys[0]) if keys else None
        self.has_older_keys = len(keys) > 1

    def encrypt(self, secret: SecretStr) -> bytes:
        """Returns the encrypted secret. Raises NoTokenKey."""
        return self._require_key().encrypt(secret.get_secret_value().encode())

    def decrypt(self, encrypted: bytes) -> SecretStr:
        """Returns the secret. Raises NoTokenKey or WrongTokenKey."""
        try:
            return SecretStr(self._require_key().decrypt(encrypted).decode())
        except InvalidToken:
            raise WrongTokenKey from None

    def reencrypt(self, encrypted: bytes) -> bytes:
        """Returns the secret encrypted with the first key. Raises NoTokenKey or WrongTokenKey."""
        return self.encrypt(self.decrypt(encrypted))

    def require_key(self) -> None:
        """Raises NoTokenKey if there is no key."""
        self._require_key()

    @property
    def has_key(self) -> bool:
        """Returns whether there is a key to encrypt with."""
        return self._fernet is not None

    def fits(self, encrypted: bytes) -> bool:
        """Returns whether one of the keys encrypted this."""
        try:
            self.decrypt(encrypted)
        except (NoTokenKey, WrongTokenKey):
            return False
        return True

    def is_current(self, encrypted: bytes) -> bool:
        """Returns whether the first key encrypted this."""
        try:
            return self._newest is not None and bool(self._newest.decrypt(encrypted))
        except InvalidToken:
            return False

    def _require_key(self) -> MultiFernet:
        if self._fernet is None:
            raise NoTokenKey
        return self._fernet
