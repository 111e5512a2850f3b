"""One real run per attack and sandbox, and one run of the same program without walls, which must succeed.

The sandboxes are those of the caller, of an ordinary user, and of DAILYGRAD_ATTACK_SOCKET where that is set. `-s`
shows the table of outcomes at the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.client import SandboxClient
from sandbox.wire import Limits, Outcome, Run
from tests.sandbox.attacks import exhausting, inward, kernel, outward
from tests.sandbox.attacks.attack import ABSENT, PATIENT, Attack
from tests.sandbox.attacks.poisoning import POISONS, Poison
from tests.sandbox.attacks.worlds import KINDS, Free, World, each

pytestmark = pytest.mark.sandbox

ATTACKS = {one.name: one for kind in (exhausting, outward, inward, kernel) for one in kind.ATTACKS}
BY_NAME = {one.name: one for one in POISONS}
Found = dict[str, dict[str, Outcome]]
REPOSITORY = Path(__file__).parents[2]


def chosen(request: pytest.FixtureRequest, parameter: str) -> set[str]:
    """The names that this session's tests ask for: who runs one test attacks once."""
    calls = [getattr(item, "callspec", None) for item in request.session.items if item.path == request.path]
    return {call.params[parameter] for call in calls if call is not None and parameter in call.params}


async def tried(client: SandboxClient, attack: Attack) -> Outcome:
    return await client.run(Run(attack.name, attack.program, limits=attack.limits))


async def left(client: SandboxClient, poison: Poison) -> Outcome:
    return await client.run(Run(poison.name, poison.leaving, limits=PATIENT))


async def looked(client: SandboxClient, poison: Poison) -> Outcome:
    return await client.run(Run(poison.name, poison.looking, limits=PATIENT))


@pytest.fixture(scope="module")
def outcomes(request: pytest.FixtureRequest, worlds: dict[str, World]) -> Iterator[Found]:
    """What came of every attack in every sandbox."""
    attacks = {name: ATTACKS[name] for name in ATTACKS if name in chosen(request, "attack")}
    poisons = {name: BY_NAME[name] for name in BY_NAME if name in chosen(request, "poison")}

    def attacked(world: World) -> dict[str, Outcome]:
        world.sweep(left, poisons)
        # Those that look were parked while, or forked after, the others left what they left.
        return {**world.sweep(looked, poisons), **world.sweep(tried, attacks)}

    found: Found = each(worlds, attacked)
    yield found
    for name in [*attacks, *poisons]:
        ends = [f"{of[name].status}, {' '.join(of[name].stdout.split()[:2]) or '-'}" for of in found.values()]
        print(f"{name:<45}", *(f"{end[:28]:<30}" for end in ends))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_comes_to_nothing(outcomes: Found, attack: str, kind: str) -> None:
    outcome = outcomes[kind][attack]
    assert "BREACH" not in outcome.stdout + outcome.stderr, outcome
    assert outcome.status in ATTACKS[attack].ends, outcome
    if outcome.status == "ok":
        assert "refused" in outcome.stdout, "it never came to try"
    assert outcome.isolation == "full"
    assert outcome.wall_ms < ATTACKS[attack].limits.wall_ms + 1500
    assert max(len(outcome.stdout), len(outcome.stderr)) <= ATTACKS[attack].limits.output_bytes


@pytest.mark.slow
@pytest.mark.parametrize("attack", [name for name, one in ATTACKS.items() if not one.uncontrolled])
def test_without_walls_the_same_attack_is_a_breach(free: Free, attack: str) -> None:
    ended = free.run(attack, ATTACKS[attack].program)
    words = ended["stdout"].split()
    if words[:1] == ["refused"] and words[1] in ABSENT:
        pytest.skip(f"this machine has no such thing: {words[1]}")
    assert "BREACH" in ended["stdout"] + ended["stderr"], ended


def test_every_attack_has_a_control_or_says_why_not() -> None:
    assert len(ATTACKS) == sum(len(kind.ATTACKS) for kind in (exhausting, outward, inward, kernel)), "names are unique"
    assert len(ATTACKS) >= 80
    silent = [name for name, one in ATTACKS.items() if "BREACH" not in one.program and not one.uncontrolled]
    assert silent == []
    assert sum(not one.uncontrolled for one in ATTACKS.values()) > 0.8 * len(ATTACKS)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("poison", BY_NAME)
def test_a_run_leaves_nothing_to_the_next(outcomes: Found, poison: str, kind: str) -> None:
    outcome = outcomes[kind][poison]
    assert (outcome.status, outcome.stdout.strip()) == ("ok", "refused"), outcome


@pytest.mark.parametrize("poison", BY_NAME)
def test_one_process_for_both_finds_what_was_left(free: Free, poison: str) -> None:
    one = BY_NAME[poison]
    ended = free.run(poison, one.leaving + one.looking)
    assert "BREACH" in ended["stdout"], ended


@pytest.mark.parametrize("kind", KINDS)
def test_a_sandbox_survives_all_of_it(outcomes: Found, worlds: dict[str, World], kind: str) -> None:
    async def next_one(client: SandboxClient, code: str) -> Outcome:
        return await client.run(Run("next", code))

    after = worlds[kind].sweep(next_one, {"next": "print('next')"})["next"]
    assert (after.status, after.stdout) == ("ok", "next\n")


async def test_nothing_of_the_host_is_readable(client: SandboxClient) -> None:
    """Neither an environment nor a file tells of the host, the banks or the service."""
    code = """
import importlib.util, os
print(sorted(os.environ))
print([name for name in ("bot", "service", "questions", "dailygrad") if importlib.util.find_spec(name)])
print(os.uname().nodename, os.getpid(), os.getcwd(), os.listdir("."), os.environ["USER"])
"""
    outcome = await client.run(Run("x", code))
    environment, found, rest = outcome.stdout.splitlines()
    assert set(eval(environment)) <= {
        "CUDA_VISIBLE_DEVICES",
        "GLIBC_TUNABLES", "HOME", "LANG", "LD_LIBRARY_PATH", "MALLOC_ARENA_MAX", "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS", "PWD", "PYTHONMALLOC", "PYTORCH_NVML_BASED_CUDA_CHECK", "TORCHINDUCTOR_CACHE_DIR",
        "USER",
    }  # fmt: skip
    assert (found, rest) == ("[]", "sandbox 1 /tmp [] answer")


async def test_metadata_of_packages_names_no_folder_of_the_host(client: SandboxClient) -> None:
    code = f"""
import importlib.metadata, io, os, sys, torch
from contextlib import redirect_stdout, suppress
import numpy
texts = {{}}
folders = [folder for folder in sys.path if os.path.isdir(folder) and folder != "/opt/dailygrad"]
for package in importlib.metadata.distributions():
    for name in os.listdir(package._path):
        texts[str(package._path / name)] = package.read_text(name) or ""
for folder in folders:
    for name in os.listdir(folder):
        if name.endswith((".pth", ".egg-link")) or "editable" in name:
            with suppress(PermissionError):
                texts[os.path.join(folder, name)] = open(os.path.join(folder, name)).read()
with redirect_stdout(io.StringIO()) as shown:
    numpy.show_config()
texts["numpy"], texts["torch"] = shown.getvalue(), torch.__config__.show() + torch.__config__.parallel_info()
print(len(texts) > 20)
print([path for path, text in texts.items() if {str(REPOSITORY)!r} in text
       or path.endswith("direct_url.json") and "file:" in text])
print([name for folder in folders for name in os.listdir(folder)
       if name in ("bot", "service", "questions") or name.startswith("dailygrad-")
       if os.listdir(os.path.join(folder, name))])
"""
    outcome = await client.run(Run("x", code, limits=Limits(wall_ms=60_000, cpu_ms=20_000)))
    assert outcome.stdout == "True\n[]\n[]\n", outcome


async def test_descriptors_are_the_five_that_were_handed_over(client: SandboxClient) -> None:
    code = """
import os
for number in range(64):
    try:
        os.fstat(number)
        print(number, end=" ")
    except OSError:
        pass
"""
    assert (await client.run(Run("x", code))).stdout == "0 1 2 3 "
