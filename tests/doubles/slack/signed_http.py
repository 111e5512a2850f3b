"""Signed HTTP, used instead of Socket Mode. Tests can also forge requests."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from dataclasses import dataclass, field
from io import BytesIO
from urllib.parse import urlencode

import aiohttp

from tests.doubles.slack.delivery import Delivery
from tests.doubles.slack.surfaces import Body
from tests.doubles.slack.world import World

Headers = dict[str, str]


def signature(secret: str, at: int, body: str) -> Headers:
    """Returns the headers that sign a body and its time."""
    digest = hmac.new(secret.encode(), f"v0:{at}:{body}".encode(), hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": str(at), "X-Slack-Signature": f"v0={digest}"}


@dataclass
class SignedHttp:
    """Posts deliveries to the app's request URL; the response is the acknowledgement."""

    world: World
    sent: list[tuple[str, Headers]] = field(default_factory=list)
    """Body and headers of each request, for replays."""
    _session: aiohttp.ClientSession | None = None

    async def deliver(self, delivery: Delivery) -> Body | None:
        body, headers = written(delivery)
        headers |= signature(self.world.app.signing_secret, int(time.time()), body)
        if delivery.attempt:
            headers |= {"X-Slack-Retry-Num": str(delivery.attempt), "X-Slack-Retry-Reason": f"http_{delivery.reason}"}
        try:
            status, text, kind, answered = await self.send(body, headers)
        except aiohttp.ClientError as error:
            self.world.log.add("http", status=0, error=repr(error), id=delivery.id)
            return None
        if status >= 300:
            return {"no retry": True} if "X-Slack-No-Retry" in answered else None
        if "json" in kind and text:
            return dict(json.loads(text))
        return {"text": text} if text.strip() else {}

    async def send(self, body: str, headers: Headers) -> tuple[int, str, str, Headers]:
        """Posts any body; returns status, text, content type and headers."""
        if self._session is None:
            self._session = aiohttp.ClientSession()
        self.sent.append((body, headers))
        async with self._session.post(
            self.world.app.request_url, data=BytesIO(body.encode()), headers=headers
        ) as answer:
            text = await answer.text()
            self.world.log.add("http", status=answer.status)
            return answer.status, text, answer.content_type, dict(answer.headers)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()


def written(delivery: Delivery) -> tuple[str, Headers]:
    """Returns the encoded body of a delivery and its content type."""
    if delivery.kind == "events_api":
        return json.dumps(delivery.payload), {"Content-Type": "application/json"}
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    if delivery.kind == "interactive":
        return urlencode({"payload": json.dumps(delivery.payload)}), form
    return urlencode(delivery.payload), form
