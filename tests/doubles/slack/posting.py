"""Signed requests to the app's own port, as Slack sends them where Socket Mode is off; forged ones for tests."""

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
from tests.doubles.slack.shown import Body
from tests.doubles.slack.world import World

Headers = dict[str, str]


def signature(secret: str, at: int, body: str) -> Headers:
    """The headers that prove who sent a body, and when."""
    digest = hmac.new(secret.encode(), f"v0:{at}:{body}".encode(), hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": str(at), "X-Slack-Signature": f"v0={digest}"}


@dataclass
class Posting:
    """Posts deliveries to the app's request URL and reads its answer as the acknowledgement."""

    world: World
    sent: list[tuple[str, Headers]] = field(default_factory=list)
    """Body and headers of each request, for one who replays them."""
    _session: aiohttp.ClientSession | None = None

    async def carry(self, delivery: Delivery) -> Body | None:
        body, headers = written(delivery)
        headers |= signature(self.world.app.signing_secret, int(time.time()), body)
        if delivery.attempt:
            headers |= {"X-Slack-Retry-Num": str(delivery.attempt), "X-Slack-Retry-Reason": f"http_{delivery.reason}"}
        try:
            status, said, kind, answered = await self.send(body, headers)
        except aiohttp.ClientError as error:
            self.world.log.add("http", status=0, error=repr(error), id=delivery.id)
            return None
        if status >= 300:
            return {"no retry": True} if "X-Slack-No-Retry" in answered else None
        if "json" in kind and said:
            return dict(json.loads(said))
        return {"text": said} if said.strip() else {}

    async def send(self, body: str, headers: Headers) -> tuple[int, str, str, Headers]:
        """Post anything at all; returns status, text, content type and headers."""
        if self._session is None:
            self._session = aiohttp.ClientSession()
        self.sent.append((body, headers))
        async with self._session.post(
            self.world.app.request_url, data=BytesIO(body.encode()), headers=headers
        ) as answer:
            said = await answer.text()
            self.world.log.add("http", status=answer.status)
            return answer.status, said, answer.content_type, dict(answer.headers)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()


def written(delivery: Delivery) -> tuple[str, Headers]:
    """The body and its type, by the kind of what is delivered."""
    if delivery.kind == "events_api":
        return json.dumps(delivery.payload), {"Content-Type": "application/json"}
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    if delivery.kind == "interactive":
        return urlencode({"payload": json.dumps(delivery.payload)}), form
    return urlencode(delivery.payload), form
