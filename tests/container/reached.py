"""Prints what the web bot's container reaches: `docker compose exec -T web python - < reached.py`."""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path

import httpx

TOKEN = Path("/run/keys/service_token")


def status(path: str, body: object = None) -> int:
    """Returns the status of a call to the service with the web bot's token."""
    headers = {"Authorization": f"Bearer {TOKEN.read_text().strip()}"}
    url = f"http://service:8000{path}"
    answer = httpx.get(url) if body is None else httpx.post(url, json=body, headers=headers)
    return answer.status_code


def connected(host: str, port: int) -> str:
    try:
        socket.create_connection((host, port), 5).close()
    except socket.gaierror:
        return "unknown name"
    except OSError as problem:
        return str(problem)
    return "connected"


if __name__ == "__main__":
    tokens = {"key": {"platform": "slack", "team": "T1"}}
    found = {
        "service": status("/readyz"),
        "postgres": connected("postgres", 5432),
        "worker": connected("worker", 8001),
        "slack tokens": status("/v1/installation/find", tokens),
    }
    sys.stdout.write(json.dumps(found))
