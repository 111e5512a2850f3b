"""Sends documents that once took the service down: `docker compose exec -T web python - < hostile.py`.

Prints a line of JSON for each: who sent it, the outcome, and how long a health check took meanwhile. Uses only what
the bots' image contains, and the web bot's own token.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from time import monotonic

import httpx

from service.client import ServiceClient, ServiceRefused, ServiceUnavailable
from service.wire import Who

SERVICE = "http://service:8000"
TOKEN = Path("/run/keys/service_token")
DOCUMENTS = {
    "5 MB of headings": "# a\n" * 1_249_999,
    "lists in lists": ("- " * 59 + "a\n") * 10_000,
    "quotes in quotes": "> " * 600_000 + "a",
}


async def health(slowest: list[float]) -> None:
    """Asks for the health until it is canceled, and keeps the longest time in seconds."""
    async with httpx.AsyncClient(base_url=SERVICE, timeout=60) as http:
        while True:
            began = monotonic()
            (await http.get("/healthz")).raise_for_status()
            slowest[0] = max(slowest[0], monotonic() - began)
            await asyncio.sleep(0.05)


async def send(client: ServiceClient, who: Who, text: str) -> str:
    """Imports a document and returns the kind of the outcome."""
    try:
        found = await client.bank_import(who, f"hostile {who.name} {len(text)}", "hostile", text, apply=False)
    except ServiceRefused as refused:
        return refused.refusal.kind
    except ServiceUnavailable as problem:
        return f"unavailable: {problem}"
    return f"read: {found.added} questions"


async def main(token: str) -> None:
    async with ServiceClient.over_http(SERVICE, token) as client:
        for name in ("member", "admin"):
            who = Who(platform="web", workspace="local", member=name, name=name, admin=name == "admin")
            for document, text in DOCUMENTS.items():
                slowest = [0.0]
                watching = asyncio.create_task(health(slowest))
                outcome = await send(client, who, text)
                watching.cancel()
                told = {"who": name, "document": document, "outcome": outcome, "health_s": round(slowest[0], 2)}
                sys.stdout.write(json.dumps(told) + "\n")
                sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(TOKEN.read_text().strip()))
