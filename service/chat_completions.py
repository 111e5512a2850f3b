"""Asks a model at an OpenAI-compatible endpoint (`POST /chat/completions`), within bounds of time and size."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal, TypedDict

import httpx
from pydantic import BaseModel, Field, ValidationError

MAX_REPLY_BYTES = 256 * 1024
"""Longest reply that is read."""


class Message(TypedDict):
    """One message of the conversation."""

    role: Literal["system", "user"]
    content: str


class EndpointFailed(Exception):
    """The endpoint gave no reply that can be read. The message says why, without anything that it sent."""


class _Text(BaseModel):
    content: str


class _Choice(BaseModel):
    message: _Text


class _Completion(BaseModel):
    choices: Annotated[list[_Choice], Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class ModelEndpoint:
    """A model, and where it is reached."""

    url: str
    """Base address, such as http://localhost:11434/v1."""
    model: str
    key: str = field(default="", repr=False)
    timeout_s: float = 60.0
    """Time for the whole call, seconds."""

    async def ask(self, messages: Sequence[Message]) -> str:
        """Returns the text of the model's reply. Raises EndpointFailed.

        Follows no redirect, so that the key and the question reach nobody else, and accepts no compressed reply, which
        could be larger than it looks.
        """
        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        request = {"model": self.model, "messages": list(messages), "stream": False}
        try:
            async with (
                asyncio.timeout(self.timeout_s),
                httpx.AsyncClient(timeout=self.timeout_s, follow_redirects=False, trust_env=False) as http,
                http.stream(
                    "POST", f"{self.url.rstrip('/')}/chat/completions", headers=headers, json=request
                ) as response,
            ):
                body = await _read_reply(response)
        except TimeoutError:
            raise EndpointFailed(f"no reply within {self.timeout_s:g} s") from None
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as problem:
            raise EndpointFailed(f"the call failed: {type(problem).__name__}") from None
        try:
            return _Completion.model_validate_json(body).choices[0].message.content
        except ValidationError:
            raise EndpointFailed("its reply is not a chat completion with a text") from None


async def _read_reply(response: httpx.Response) -> bytes:
    if response.status_code != httpx.codes.OK:
        raise EndpointFailed(f"it replied with status {response.status_code}")
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise EndpointFailed("its reply is compressed, which it was asked not to do")
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > MAX_REPLY_BYTES:
            raise EndpointFailed(f"its reply is longer than {MAX_REPLY_BYTES // 1024} KiB")
    return bytes(body)
