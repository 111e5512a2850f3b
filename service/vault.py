"""Secrets that are kept: encrypted on their way into the database, decrypted on their way out. It logs nothing."""

from __future__ import annotations

from collections.abc import Sequence

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from pydantic import SecretStr

from service.errors import Refused

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


class Vault:
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
