"""The container as it is started: its privileges, attacks from inside, stopping, and refusing to start unprotected."""

from __future__ import annotations

import asyncio
import json

import pytest

from sandbox.wire import Limits, Run
from tests.container.conftest import Container
from tests.container.engine import said

pytestmark = [pytest.mark.container]

ATTACKS = {
    "internet socket": ("import socket; socket.socket(socket.AF_INET)", "denied"),
    "unix socket": ("import socket; socket.socket(socket.AF_UNIX)", "denied"),
    "netlink socket": ("import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)", "denied"),
    "fork": ("import os; os.fork()", "denied"),
    "another program": ("import os; os.execv('/usr/local/bin/python3', ['python3'])", "denied"),
    "the supervisor's signal": ("import os; os.kill(os.getppid(), 9)", "denied"),
    "unshare": (
        "import ctypes, os; r = ctypes.CDLL(None, use_errno=True).unshare(0x10000000)\n"
        "raise OSError(ctypes.get_errno(), '') if r else SystemExit('BREACH')",
        "denied",
    ),
    "mount": (
        "import ctypes; r = ctypes.CDLL(None, use_errno=True).mount(b'none', b'/tmp', b'tmpfs', 0, None)\n"
        "raise OSError(ctypes.get_errno(), '') if r else SystemExit('BREACH')",
        "denied",
    ),
    "memory": ("import torch; x = [torch.ones(1 << 26) for _ in range(40)]", "memory"),
    "time": ("while True: pass", "time"),
}


@pytest.mark.parametrize("attack", ATTACKS)
async def test_an_attack_comes_to_nothing(container: Container, attack: str) -> None:
    code, status = ATTACKS[attack]
    # Only what is about time may run out of it, however slow the machine is.
    limits = Limits(wall_ms=1500 if status == "time" else 20_000)
    outcome = await container.client.run(Run(attack, code, limits=limits))
    assert (outcome.status, outcome.isolation) == (status, "full"), outcome
    again = await container.client.run(Run("after", "print(1)"))
    assert (again.status, again.stdout) == ("ok", "1\n")


async def test_no_process_of_the_container_is_seen_though_its_proc_is_bound(container: Container) -> None:
    assert "sandbox" in container.shell("cat /proc/*/cmdline"), "there is something to be seen"
    code = """
import os
for path in ("/proc", "/proc/1", "/proc/self", "/proc/1/environ", "/proc/1/cmdline", "/run/dailygrad", "/etc/passwd"):
    for look in (os.listdir, lambda p: open(p).read()):
        try:
            print("BREACH", path, look(path))
        except OSError:
            pass
"""
    outcome = await container.client.run(Run("look", code))
    assert (outcome.status, outcome.stdout) == ("ok", "")


async def test_its_scratch_is_small_and_gone_after_the_run(container: Container) -> None:
    fill = "f = open('/tmp/mark', 'wb')\nfor _ in range(64): f.write(bytes(1 << 20)); f.flush()"
    assert (await container.client.run(Run("fill", fill))).status in ("error", "denied")
    left = await container.client.run(Run("look", "import os; print(os.listdir('/tmp'))"))
    assert left.stdout == "[]\n"


def test_it_has_no_privilege_no_network_and_nothing_to_write_on(container: Container) -> None:
    shown = json.loads(container.shown("{{json .HostConfig}}"))
    assert (shown["Privileged"], shown["NetworkMode"], shown["ReadonlyRootfs"]) == (False, "none", True)
    assert (shown["CapAdd"], shown["CapDrop"]) == (None, ["ALL"])
    assert shown["PidsLimit"] == 256
    assert 0 < shown["Memory"] == shown["MemorySwap"]
    assert any(option.startswith("no-new-privileges") for option in shown["SecurityOpt"])
    inside = dict(line.split(":", 1) for line in container.shell("cat /proc/self/status").splitlines())
    assert inside["Uid"].split() == ["10002"] * 4
    assert {inside[f"Cap{of}"].strip() for of in ("Eff", "Prm", "Inh", "Bnd", "Amb")} == {"0" * 16}
    assert (inside["NoNewPrivs"].strip(), inside["Seccomp"].strip()) == ("1", "2")
    assert container.shell("ls /sys/class/net") == "lo"
    assert container.shell("touch /x /tmp/x /usr/local/x 2>/dev/null || echo refused") == "refused"


def test_only_the_sandbox_is_in_the_image(container: Container) -> None:
    found = container.shell("ls /usr/local/app; find / -xdev -name '*.md' -path '*bank*' 2>/dev/null")
    assert found == "sandbox"
    size = int(said("docker", "image", "inspect", "--format", "{{.Size}}", "dailygrad-sandbox").stdout)
    assert size < 1_200_000_000


async def test_a_killed_zygote_is_replaced_and_its_orphans_are_reaped(started: Container) -> None:
    versions = (await started.client.health()).versions
    assert versions["torch"].startswith("2.")
    started.shell("for p in /proc/[0-9]*; do grep -aq bwrap $p/cmdline && kill -9 ${p#/proc/}; done 2>/dev/null")
    await started.client.until_ready(90)
    assert (await started.client.run(Run("x", "print(1)"))).status == "ok"
    assert "Z" not in started.shell("cat /proc/[0-9]*/stat 2>/dev/null | sed 's/.*) //' | cut -c1")


async def test_stopping_waits_for_a_run_and_ends_it_cleanly(started: Container) -> None:
    client = started.client
    running = asyncio.create_task(client.run(Run("x", "import time; time.sleep(1.5); print('done')")))
    while (await client.health()).running == 0:
        await asyncio.wait([running], timeout=0.01)
    await asyncio.to_thread(started.compose, "stop")
    assert (await running).stdout == "done\n"
    assert started.shown("{{.State.ExitCode}}") == "0"
    assert not list(started.folder.iterdir())


BARE = ("docker", "run", "--rm", "--network=none", "--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges")


def test_without_its_profile_it_refuses_in_one_line_and_names_the_cure(image: str) -> None:
    done = said(*BARE, image)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("sandbox: this machine gives no user namespaces, so answers cannot be run safely")
    assert "seccomp=sandbox/seccomp.json" in done.stderr
    assert "ask for it by name: --weaker" in done.stderr


def test_the_weaker_mode_is_asked_for_by_name_and_shown_on_the_verdict(image: str) -> None:
    ask = """
import asyncio, pathlib
from sandbox.client import SandboxClient
from sandbox.wire import Run
async def main():
    client = SandboxClient(pathlib.Path("/run/dailygrad/s"))
    await client.until_ready()
    outcome = await client.run(Run("x", "import os; os.fork()"))
    print(outcome.isolation, outcome.status)
asyncio.run(main())
"""
    script = 'python -m sandbox serve --weaker --socket /run/dailygrad/s & python -c "$0"; kill $!'
    scratch = ("--tmpfs=/run/dailygrad:uid=10002,size=1m", "--tmpfs=/tmp:size=16m")
    done = said(*BARE, *scratch, "--entrypoint=sh", image, "-c", script, ask)
    assert done.stdout == "weaker denied\n", done.stderr
