"""What is made of machines that offer more or less: full walls, weaker ones by name, or a refusal that says why."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox import embedded
from sandbox.client import SandboxUnreachable
from sandbox.host import jail
from sandbox.wire import Limits, Run

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]

AS_USER = ("unshare", "--user", "--map-user=1000", "--map-group=1000")
MASKED = ("unshare", "--mount", "sh", "-c", 'mount --bind /dev/null /proc/interrupts && exec "$@"', "sh")
"""As a container has it: with a part of /proc masked, the kernel gives no fresh one to a namespace."""
NO_NAMESPACES = (
    "unshare",
    "--user",
    "--map-root-user",
    "sh",
    "-c",
    'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"',
    "sh",
)


def test_this_machine_offers_full_walls_and_lacks_nothing() -> None:
    found = jail.probe(weaker=False)
    assert (found.isolation, found.lacks) == ("full", ())
    assert found.bwrap is not None


def test_weaker_is_never_chosen_but_by_name() -> None:
    found = jail.probe(weaker=True)
    assert (found.isolation, found.bwrap) == ("weaker", None)
    assert found.lacks == ("namespaces: --weaker was asked for",)


def can_be_a_user() -> bool:
    return os.getuid() != 0 or subprocess.run([*AS_USER, "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize(("weaker", "isolation", "pid"), [(False, "full", "1"), (True, "weaker", "")])
async def test_the_probe_works_for_an_ordinary_user_too(tmp_path: Path, weaker: bool, isolation: str, pid: str) -> None:
    """As on a laptop: root runs as an ordinary user in a user namespace."""
    if not can_be_a_user():
        pytest.skip("this machine lets root make no user namespace")
    started = embedded.start(tmp_path, weaker=weaker, prefix=AS_USER if os.getuid() == 0 else ())
    try:
        health = await started.client.until_ready()
        assert health.isolation == isolation
        assert bool(health.lacks) is weaker
        first = await started.client.run(Run("x", "import os; print(os.getpid() if os.getpid() == 1 else '')"))
        assert (first.stdout, first.isolation) == (f"{pid}\n", isolation)
        for attack in ("import socket; socket.socket()", "import os; os.fork()", "import os; os.kill(os.getppid(), 9)",
                       "import os; os.listdir('/proc')"):  # fmt: skip
            assert (await started.client.run(Run("x", attack))).status == "denied"
        for path in ("/etc/shadow", "/proc/1/environ", f"/proc/{started.process.pid}/environ"):
            outcome = await started.client.run(Run("x", f"print(open({path!r}).read())"))
            assert (outcome.status in ("denied", "error"), outcome.stdout) == (True, "")
        late = await started.client.run(Run("x", "while True: pass", limits=Limits(wall_ms=300)))
        assert late.status == "time"
    finally:
        started.stop()


def test_where_proc_is_masked_the_one_there_is_gets_mounted() -> None:
    if os.getuid() != 0 or not can_be_a_user():
        pytest.skip("only root can mask a part of /proc")
    asked = "from sandbox.host import jail; print(*jail.find_proc(jail.probe(weaker=False).bwrap))"
    ran = subprocess.run([*MASKED, *AS_USER, sys.executable, "-c", asked], capture_output=True, text=True, check=False)
    assert ran.stdout.split() == [*jail.THIS_PROC], ran.stderr


async def test_where_proc_is_masked_the_walls_are_full_all_the_same(tmp_path: Path) -> None:
    if os.getuid() != 0 or not can_be_a_user():
        pytest.skip("only root can mask a part of /proc")
    started = embedded.start(tmp_path, prefix=(*MASKED, *AS_USER))
    try:
        health = await started.client.until_ready()
        assert (health.isolation, health.lacks) == ("full", ())
        for path in ("/proc", "/proc/1", "/proc/self", f"/proc/{started.process.pid}"):
            looked = await started.client.run(Run("x", f"import os; print(os.listdir({path!r}))"))
            assert (looked.status in ("denied", "error"), looked.stdout) == (True, ""), path
    finally:
        started.stop()


@pytest.mark.parametrize(
    ("weaker", "found"),
    [(False, "full: Landlock: start the kernel"), (True, "refused: without namespaces, only Landlock protects files")],
)
def test_without_landlock_the_walls_are_namespaces_or_it_refuses(weaker: bool, found: str) -> None:
    probe = f"""
import errno, struct
from sandbox import linux
from sandbox.host import jail

def step(code, value, yes=0, no=0):
    return struct.pack("=HBBI", code, yes, no, value)

# landlock_create_ruleset, number 444, does not exist: as a kernel that has no Landlock.
linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
linux.load_filter(step(0x20, 0) + step(0x15, 444, 0, 1) + step(0x06, 0x50000 | errno.ENOSYS) + step(0x06, 0x7FFF0000))
try:
    host = jail.probe(weaker={weaker})
    print(host.isolation, *host.lacks, sep=": ")
except jail.NotIsolated as problem:
    print("refused", problem, sep=": ")
"""
    ran = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, timeout=60, check=False)
    assert ran.stdout.startswith(found), ran.stderr


def test_without_namespaces_it_refuses_and_names_the_cure(tmp_path: Path) -> None:
    if not can_be_a_user():
        pytest.skip("this machine lets root make no user namespace")
    command = [*NO_NAMESPACES, sys.executable, "-m", "sandbox", "serve", "--socket", str(tmp_path / "s")]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 3
    assert "this machine gives no user namespaces, so answers cannot be run safely" in ran.stderr
    assert "sysctl user.max_user_namespaces=10000" in ran.stderr
    assert "ask for it by name: --weaker" in ran.stderr
    assert not (tmp_path / "s").exists()


async def test_a_python_that_only_root_can_read_is_refused_in_the_weaker_tier_with_its_cure(tmp_path: Path) -> None:
    if os.getuid() != 0 or is_readable_by_all(sys.base_prefix):
        pytest.skip("an unprivileged user can read this Python")
    started = embedded.start(tmp_path, weaker=True)
    try:
        with pytest.raises(SandboxUnreachable, match=r"an unprivileged user must be able to read .*python"):
            await started.client.until_ready(60)
    finally:
        started.stop()


def is_readable_by_all(path: str) -> bool:
    return all(folder.stat().st_mode & 0o001 for folder in (Path(path), *Path(path).parents))
