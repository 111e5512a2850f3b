"""docs/kubernetes.md: its commands make the secrets that the chart's pods mount."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.docs.pages import DOCS, ROOT, blocks_of

PAGE = DOCS / "kubernetes.md"
BLOCKS = blocks_of(PAGE, "sh")
KUBECTL = shutil.which("kubectl")
MAKING = "kubectl create secret"
NAMES: dict[str, str] = yaml.safe_load((ROOT / "deploy/chart/values.yaml").read_text(encoding="utf-8"))["secrets"]
READ = {
    "service": {"service_token", "bot_tokens", "token_key"},
    "web": {"service_token", "link_secret"},
    "discord": {"service_token", "link_secret", "discord_token"},
    "slack": {"service_token", "link_secret", "slack_app_token", "slack_bot_token"},
    "database": {"password"},
    "sandboxServer": {"tls.crt", "tls.key", "ca.crt"},
    "sandboxClient": {"tls.crt", "tls.key", "ca.crt"},
}
"""Files that the pods read, by the name of the secret in the chart's values."""


def made(folder: Path) -> dict[str, dict[str, Any]]:
    """Runs the page's commands in a folder, the cluster's without a cluster, and returns the secrets by name."""
    for place, command in (
        ("kubectl", f'{KUBECTL} "$@" --dry-run=client --output=json'),
        (".venv/bin/python", f'{sys.executable} "$@"'),
    ):
        program = folder / place
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"#!/bin/sh\nexec {command}\n")
        program.chmod(0o755)
    for name in ("server.crt", "server.key", "client.crt", "client.key", "ca.crt"):
        (folder / name).write_text(name)
    text = "".join(block for block in BLOCKS if MAKING in block)
    paths = {"PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "KUBECONFIG": os.devnull}
    done = subprocess.run(
        ["sh", "-euc", text], cwd=folder, env=os.environ | paths, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = {}
    for part in re.split(r"(?m)^(?=\{)", done.stdout)[1:]:
        one, _ = json.JSONDecoder().raw_decode(part)
        if one["kind"] == "Secret":
            assert one["metadata"]["namespace"] == "quiz"
            found[one["metadata"]["name"]] = one
    return found


@pytest.mark.skipif(KUBECTL is None, reason="kubectl is not installed")
def test_its_commands_make_every_secret_that_the_chart_names(tmp_path: Path) -> None:
    found = made(tmp_path)
    assert set(found) == set(NAMES.values())
    for name, files in READ.items():
        assert files <= set(found[NAMES[name]]["data"]), name
    bots = base64.b64decode(found[NAMES["service"]]["data"]["bot_tokens"]).decode()
    for bot in ("web", "discord", "slack"):
        token = base64.b64decode(found[NAMES[bot]]["data"]["service_token"]).decode()
        assert f"{bot}={token}" in bots.splitlines()


def test_the_namespace_is_made_before_anything_is_put_into_it() -> None:
    commands = [line for block in BLOCKS if MAKING in block for line in block.splitlines() if "kubectl" in line]
    assert commands[0] == "kubectl create namespace quiz"
    inside = [line for block in BLOCKS for line in block.splitlines() if re.match(r"\s*(kubectl|helm) ", line)]
    assert all("--namespace quiz" in line or line == commands[0] for line in inside)
