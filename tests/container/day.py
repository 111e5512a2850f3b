"""Plays one day of a team from within a container: `docker compose exec -T web python - < day.py`.

Prints a line of JSON for each observation. Uses only what the bots' image contains.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

import httpx

from service.client import ServiceClient
from service.wire import AnswerInput, ScheduleSpec, Where, Who

WEB = "http://127.0.0.1:8765"
TOKEN = Path("/run/keys/service_token")
HERE = Where(channel="daily", name="daily")
PATIENCE_S = 90.0
CODE = "def solution(*arguments):\n    return None\n"
BEGAN = monotonic()


def tell(what: str, **more: object) -> None:
    sys.stdout.write(json.dumps({"seen": what, "after_s": round(monotonic() - BEGAN, 2), **more}) + "\n")
    sys.stdout.flush()


async def joined(http: httpx.AsyncClient) -> Who:
    """Joins as Ann, who is the first member and so the admin."""
    token = re.search(r'name="token" value="([^"]+)"', (await http.get("/")).raise_for_status().text)
    assert token
    answer = await http.post("/join", data={"token": token[1], "name": "Ann"})
    return Who(
        platform="web", workspace="local", member=answer.headers["location"].split("/")[2], name="Ann", admin=True
    )


async def reads(http: httpx.AsyncClient, who: Who, text: str) -> None:
    """Reads the event stream until the text appears."""
    async with asyncio.timeout(PATIENCE_S), http.stream("GET", f"/m/{who.member}/events?after=0") as news:
        async for line in news.aiter_lines():
            if text in line:
                return


async def main(token: str) -> None:
    async with (
        httpx.AsyncClient(base_url=WEB, timeout=PATIENCE_S) as http,
        ServiceClient.over_http("http://service:8000", token) as client,
    ):
        ann = await joined(http)
        run = await client.run(ann, "import torch; print(torch.arange(4).sum())")
        tell("snippet", status=run.status, stdout=run.stdout, isolation=run.isolation)
        spec = ScheduleSpec(kinds=("code",), weekdays=(0, 1, 2, 3, 4, 5, 6))
        schedule = await client.schedule_add(ann, "add", HERE, spec)
        put = await client.post_now(ann, "post", schedule.id)
        await reads(http, ann, "Answer</button>")
        tell("posted", question=put.question.id)
        receipt = await client.answer(ann, HERE, "answer", f"r{put.id}", AnswerInput(code=CODE), datetime.now(UTC))
        tell("answered", status=receipt.status)
        await reads(http, ann, "Your code: ")
        tell("judged")
        await client.close_now(ann, "close", HERE)
        await reads(http, ann, ">The answer<")
        tell("revealed")
        result = await client.result(ann, f"r{put.id}")
        verdict, points = result.verdict, result.points
        tell("result", verdict=verdict and verdict.verdict, points=points.total if points else 0)
        board = await client.board(ann, HERE)
        tell("board", rows=[row.name for row in board.rows])


if __name__ == "__main__":
    asyncio.run(main(TOKEN.read_text().strip()))
