"""The attack suite against children on a GPU, whose driver is the stand-in: on a bare host, and where /proc is masked.

One run tries a whole group of those attacks that leave their process alive. The others have a run each, on a bare host.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from sandbox.client import SandboxClient
from sandbox.devices import ChildDevice
from sandbox.embedded import EmbeddedSandbox
from sandbox.wire import Limits, Outcome, Run
from tests.sandbox.attacks import exhausting, inward, kernel, outward
from tests.sandbox.attacks.attack import PRELUDE, Attack
from tests.sandbox.doubles import drivers
from tests.sandbox.inside.test_gpu_child import is_forker
from tests.sandbox.processes import below, gone, status

pytestmark = [
    pytest.mark.slow,
    pytest.mark.sandbox,
    pytest.mark.skipif(drivers.compiler() is None, reason="no C compiler: the stand-in for the driver cannot be built"),
]
GROUPS = {
    name: [one for one in module.ATTACKS if one.ends == ("ok",)]
    for name, module in (("inward", inward), ("outward", outward), ("kernel", kernel))
}
ALONE = {
    one.name: one
    for module in (kernel, exhausting)
    for one in module.ATTACKS
    if module is exhausting or one.ends != ("ok",)
}
"""Attacks that end or exhaust their process."""
DRIVER_CALLS = {"call eventfd2"}
"""What only a child on a GPU may call: the driver wakes its threads so, and no descriptor can be passed on."""
LARGER = {"an anonymous mapping", "a shared mapping"}
LARGER |= {"a bomb of descriptors", "duplicates of a descriptor", "pipes full of bytes"}
"""What has larger limits there, as a driver reserves addresses and opens files. The watch counts memory in use."""
PLACES = ("bare", "masked /proc")
# What Docker does: part of /proc is covered, so that the kernel lets no user namespace mount a new one.
MASK = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o ro none /proc/driver && exec "$@"', "sh")


@contextlib.contextmanager
def started(folder: Path, prefix: tuple[str, ...], device: ChildDevice) -> Iterator[EmbeddedSandbox]:
    path, log = folder / "s.sock", folder / "log"
    card = json.dumps(asdict(device))
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*prefix, sys.executable, "-m", "tests.sandbox.rehearsal", str(path), card],
            cwd=Path(__file__).parents[2],
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    sandbox = EmbeddedSandbox(process, path, log)
    yield sandbox
    sandbox.stop()


def started_masked(folder: Path, device: ChildDevice) -> contextlib.AbstractContextManager[EmbeddedSandbox]:
    """Starts a sandbox where the kernel allows no new /proc. Skips the test unless root runs it."""
    if os.getuid() != 0:
        pytest.skip("only root can mask part of /proc")
    return started(folder, MASK, device)


@pytest.fixture(scope="module")
def masked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedSandbox]:
    """A sandbox where the kernel allows no new /proc, as in a container."""
    with started_masked(tmp_path_factory.mktemp("masked"), drivers.rehearsal_device()) as sandbox:
        yield sandbox


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest) -> EmbeddedSandbox:
    found: EmbeddedSandbox = request.getfixturevalue("rehearsal" if request.param == "bare" else "masked")
    return found


async def run(sandbox: EmbeddedSandbox, code: str) -> Outcome:
    await sandbox.client.until_ready()
    limits = Limits(wall_ms=60_000, cpu_ms=60_000, output_bytes=1 << 20)
    return await sandbox.client.run(Run("x", code, device="cuda", limits=limits))


def one_after_the_other(attacks: list[Attack]) -> str:
    """Returns a program that tries every attack in a module of its own, and names each before it tries."""
    programs = [(one.name, PRELUDE + one.code) for one in attacks]
    return f"""
for name, program in {programs!r}:
    print("##", name, flush=True)
    try:
        exec(compile(program, name, "exec"), {{"__name__": "__main__"}})
    except Exception as problem:
        print("raised", repr(problem))
print("## end", flush=True)
"""


def assert_refused(group: str, outcome: Outcome) -> None:
    """Checks what came of a whole group of attacks."""
    assert outcome.status == "ok", outcome
    parts = [part.partition("\n") for part in outcome.stdout.split("## ")[1:]]
    assert [name for name, _, _ in parts] == [*(one.name for one in GROUPS[group]), "end"]
    assert "BREACH" not in outcome.stderr
    assert {name for name, _, said in parts if "BREACH" in said} == DRIVER_CALLS & {one.name for one in GROUPS[group]}
    silent = [(name, said) for name, _, said in parts[:-1] if "refused" not in said and name not in DRIVER_CALLS]
    assert silent == []


@pytest.mark.parametrize("group", GROUPS)
async def test_an_attack_on_a_gpu_child_comes_to_nothing(place: EmbeddedSandbox, group: str) -> None:
    assert_refused(group, await run(place, one_after_the_other(GROUPS[group])))


@pytest.mark.parametrize("attack", ALONE)
async def test_an_attack_that_exhausts_a_gpu_child_ends_no_more_than_it(
    rehearsal: EmbeddedSandbox, attack: str
) -> None:
    await rehearsal.client.until_ready()
    await assert_ended_alone(rehearsal.client, attack)


async def assert_ended_alone(client: SandboxClient, attack: str, larger: set[str] = LARGER) -> None:
    """Runs an attack that ends or exhausts its process, and checks that no more came of it unless it is `larger`."""
    one = ALONE[attack]
    outcome = await client.run(Run(attack, one.program, device="cuda", limits=one.limits))
    assert ("BREACH" in outcome.stdout + outcome.stderr) == (attack in larger), outcome
    # Some calls are refused where those of the CPU end the process.
    assert outcome.status in one.ends or (outcome.status == "ok" and outcome.stdout), outcome
    assert max(len(outcome.stdout), len(outcome.stderr)) <= one.limits.output_bytes


def test_the_groups_are_the_whole_suite() -> None:
    every = [one.name for module in (inward, outward, kernel, exhausting) for one in module.ATTACKS]
    assert sorted(every) == sorted([*ALONE, *(one.name for group in GROUPS.values() for one in group)])


def test_the_documentation_has_their_numbers() -> None:
    text = (Path(__file__).parents[2] / "docs/gpu.md").read_text(encoding="utf-8")
    for group, attacks in GROUPS.items():
        refused = len(attacks) - len(DRIVER_CALLS & {one.name for one in attacks})
        found = f"{refused} of {len(attacks)} refused"
        assert re.search(rf"^\| {group}: .*(?: \| {found}){{3}} \|$", text, re.MULTILINE)
    assert f"Of the {len(ALONE)} attacks that end or exhaust their process" in text
    assert f"{len(ALONE) - len(LARGER)} are refused or end their own run alone" in text


async def test_the_driver_starts_and_a_child_sees_nothing_of_the_processes(place: EmbeddedSandbox) -> None:
    seen = "import os, torch\nprint(torch.ones(2).sum().item(), *map(os.path.exists, ('/proc/self', '/sys/kernel')))"
    outcome = await run(place, seen)
    assert (outcome.status, outcome.stdout) == ("ok", "2.0 False False\n"), outcome


async def test_where_proc_is_masked_children_end_with_their_forker(masked: EmbeddedSandbox) -> None:
    """No PID namespace ends them there."""
    await run(masked, "pass")
    ours = (pid for pid in below(masked.process.pid) if "gpu_child" in command(pid) and "bwrap" not in command(pid))
    # Parents come first. A child that is being confined has a helper, which may end at any time.
    forker = next(ours)
    children = below(forker)
    assert children
    assert not is_forker(forker)
    assert {len(status(pid)["NSpid"].split()) for pid in (forker, *children) if command(pid)} == {
        len(status(os.getpid())["NSpid"].split())
    }
    os.kill(forker, 9)
    assert await gone(children)
    assert (await run(masked, "print('again')")).stdout == "again\n"


def command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""
