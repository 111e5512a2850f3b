"""Answers that try to pass without solving the challenge. None does, though each beats a grader that shares a process
with the answer.
"""

from __future__ import annotations

import re
import struct
from functools import partial

import pytest

from sandbox.client import SandboxClient
from sandbox.judging.challenge import Challenge, judge_code
from sandbox.judging.judge import Judgement
from sandbox.judging.reference_cache import ReferenceCache
from sandbox.judging.tolerance import NumberTolerance
from sandbox.wire import Limits, Run
from tests.sandbox.attacks import cheating
from tests.sandbox.attacks.forging import FORGERIES, FRAMES
from tests.sandbox.attacks.naive import grader, passed
from tests.sandbox.attacks.worlds import KINDS, Free, World, each
from tests.sandbox.case_text import told

pytestmark = pytest.mark.sandbox

CASES = """
import torch

def examples():
    return [(torch.tensor([3.0, 1.0, 2.0]),), (torch.tensor([[1.0]]),)]

def cases(rng):
    return [(torch.randn(rng.randint(1, 4), rng.randint(2, 5)),) for _ in range(6)]
"""
REFERENCE = "import torch\ndef f(x): return torch.relu(x) * 2 + 1"
RIGHT = f"def f(x): return {cheating.RIGHT}"
SEED = 2**128 - 159
CHEATS = {**cheating.CHEATS, **FORGERIES}
Found = dict[str, dict[str, Judgement]]


async def judged(
    client: SandboxClient, answer: str, references: ReferenceCache | None = None, **changes: object
) -> Judgement:
    given: dict[str, object] = {
        "entry": "f",
        "cases_program": CASES,
        "reference": REFERENCE,
        "limits": Limits(wall_ms=1500),
        "tolerance": NumberTolerance(),
        **changes,
    }
    return await judge_code(client, Challenge(**given), answer, seed=SEED, references=references)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def judgements(request: pytest.FixtureRequest, worlds: dict[str, World]) -> Found:
    """The judgements of the cheats that this session's tests ask for, by sandbox and cheat."""
    calls = [getattr(item, "callspec", None) for item in request.session.items if item.path == request.path]
    names = {call.params["cheat"] for call in calls if call is not None and "cheat" in call.params}
    answers = {name: cheat.answer for name, cheat in CHEATS.items() if name in names}

    def cheated(world: World) -> dict[str, Judgement]:
        # The cases are drawn and the reference is run once for all answers with this seed, as in production.
        return world.sweep(partial(judged, references=ReferenceCache()), answers)

    return each(worlds, cheated)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cheat", CHEATS)
def test_no_cheat_is_accepted_and_none_makes_us_fail(judgements: Found, cheat: str, kind: str) -> None:
    judgement = judgements[kind][cheat]
    assert judgement.verdict not in ("accepted", "system error"), judgement
    assert judgement.share <= 0.25, "at most the two visible cases, known by heart"


@pytest.mark.slow
@pytest.mark.parametrize("cheat", [name for name, one in CHEATS.items() if one.beats])
def test_the_same_cheat_beats_a_naive_grader(free: Free, cheat: str) -> None:
    ended = free.run(cheat, grader(CHEATS[cheat].beats, CHEATS[cheat].answer))
    assert passed(ended), ended


@pytest.mark.parametrize("check", sorted({one.beats for one in CHEATS.values() if one.beats}))
def test_a_naive_grader_fails_what_is_plainly_wrong_and_passes_what_is_right(free: Free, check: str) -> None:
    # Equality is the exception: of tensors with several elements it has no truth at all.
    assert not passed(free.run(check, grader(check, "def f(x): return x - 100")))
    assert passed(free.run(check, grader(check, RIGHT))) is (check != "equality")


def test_all_sixty_cheats_are_tried_and_each_has_a_control_or_a_reason_for_none() -> None:
    assert {number for one in CHEATS.values() for number in one.numbers} | {cheating.ACCEPTED} == set(range(1, 61))
    assert [name for name, one in CHEATS.items() if bool(one.beats) == bool(one.because)] == []


async def test_the_right_answer_is_accepted_by_the_same_judge(client: SandboxClient) -> None:
    assert (await judged(client, RIGHT)).verdict == "accepted"


async def test_an_answer_with_right_numbers_is_accepted_whatever_functions_it_uses(client: SandboxClient) -> None:
    """Cheat number sixty is none: its numbers are right."""
    assert (await judged(client, REFERENCE)).verdict == "accepted"


async def test_forged_results_with_the_right_numbers_are_accepted(client: SandboxClient) -> None:
    """The channel carries numbers and nothing else: who writes the right ones has solved it."""
    forged = (
        f"{FRAMES}from sandbox import values\nfrom sandbox.inside import tensors\n{RIGHT.replace('def f', 'def g')}\n"
    )
    forged += "done = [0]\ndef f(x):\n    frame('C', values.encode(('ok', tensors.from_torch(g(x), 1 << 20))))\n"
    only = forged + "    done[0] += 1\n    if done[0] == 8: end()\n    from sandbox.inside import child\n"
    only += "    child._Execution.put = lambda *a: None\n"
    assert (await judged(client, only)).verdict == "accepted"
    # One result too many per case: positional, so it fails although each number is right.
    assert (await judged(client, forged + "    return g(x)")).verdict != "accepted"


async def test_nothing_of_a_hidden_case_is_shown_even_if_the_answer_prints_it(client: SandboxClient) -> None:
    telling = "import sys\ndef f(x):\n    print('TOLD', x); sys.stderr.write('TOLD')\n    raise ValueError('TOLD')"
    judgement = await judged(client, telling)
    assert [("TOLD" in told(case), case.shown == "") for case in judgement.cases] == [(True, False)] * 2 + [
        (False, True)
    ] * 6
    assert "TOLD" not in judgement.message


_TELLS = f"""{FRAMES}
import sys
def f(x):
    sys.stderr.write(f"TOLD {{x}}")
    sys.stderr.flush()
    report = {{"status": "error", "reached": "REACHED", "exit_code": None, "cause": None}}
    frame("E", json.dumps(report).encode())
    os._exit(1)
"""
PEEKS = {
    "an error in the module": (
        """
import sys
from sandbox import values
from sandbox.inside import tensors
frame = sys._getframe()
while type(frame.f_locals.get("self")).__name__ != "_Execution":
    frame = frame.f_back
told = [tensors.to_torch(case) for case in values.decode(frame.f_locals["self"].run.cases)]
raise ValueError(f"TOLD {told}")
""",
        "",
    ),
    "an error of an example": (
        "seen = []\ndef f(x):\n    seen.append(x)\n    raise ValueError(f'TOLD {seen}')\n",
        "",
    ),
    "the result of an example": ("seen = []\ndef f(x):\n    seen.append(f'TOLD {x}')\n    return seen\n", ""),
    "a report that the module failed": (_TELLS.replace("REACHED", "load"), ""),
    "a report that there is no function": (_TELLS.replace("REACHED", "entry"), ""),
    "the same beside a driver": (
        _TELLS.replace("REACHED", "load"),
        'FACTS = {"result": "value"}\n\ndef drive(answer, x):\n    return {"result": answer(x)}\n',
    ),
}


@pytest.mark.parametrize("peek", PEEKS)
async def test_no_hidden_case_is_in_what_a_program_writes(client: SandboxClient, peek: str) -> None:
    answer, driver = PEEKS[peek]
    judgement = await judged(client, answer, driver=driver, protected=bool(driver))
    assert judgement.verdict in ("wrong", "runtime error", "invalid")
    shown = judgement.message + "".join(told(case) + case.got for case in judgement.cases)
    assert set(re.findall(r"tensor\([^)]*\)", shown)) <= {"tensor([3., 1., 2.])", "tensor([[1.]])"}, "the examples"
    assert "TOLD" in shown


async def test_a_program_that_fails_before_its_first_case_shows_why(client: SandboxClient) -> None:
    for program, text in (("1 / 0\ndef f(x): return x", "division by zero"), ("def g(x): return x", "defines no")):
        assert text in (await judged(client, program)).message


async def test_the_functions_that_cheats_replace_exist(client: SandboxClient) -> None:
    """A cheat that fails to import what it patches would prove nothing."""
    answers = [cheat.answer for cheat in CHEATS.values()]
    imports = {line.strip() for answer in answers for line in answer.splitlines() if line.startswith("from sandbox")}
    assert len(imports) >= 4
    used = "child._send, child._Execution.put, child._Execution.call_case, tensors.from_torch, values.encode"
    program = "\n".join([*sorted(imports), f"print(len([{used}, judge.judge_outcome, comparison.compare]))"])
    outcome = await client.run(Run("x", program))
    assert outcome.stdout == "7\n", outcome


LOOK = """
import sys
def f(x):
    frame = sys._getframe()
    while frame and type(frame.f_locals.get("self")).__name__ != "_Execution":
        frame = frame.f_back
    run = frame.f_locals["self"].run
    raise ValueError(f"role={run.role} owner={run.owner!r} priority={run.priority}")
"""


async def test_neither_an_answer_nor_the_reference_knows_its_role(client: SandboxClient) -> None:
    judgement = await judged(client, LOOK)
    assert "role=program owner='' priority=background" in told(judgement.cases[0]), judgement
    judgement = await judged(client, RIGHT, reference=LOOK)
    assert judgement.verdict == "wrong"


SCAN = """
import os, re, ctypes, gc, torch
def holds(pattern):
    # Page by page through a pipe: the kernel says which address can be read, and no /proc is needed.
    out, into = os.pipe()
    libc = ctypes.CDLL(None, use_errno=True)
    near = sorted({id(one) >> 21 for one in gc.get_objects()} | {id(x) >> 21 for x in (1, "", None, gc, "é")})
    steps = {block + beside for block in near for beside in range(-2, 3)}
    for block in sorted(steps):
        window = b""
        for page in range(block << 21, (block + 1) << 21, 4096):
            if libc.write(into, ctypes.c_void_p(page), ctypes.c_size_t(4096)) != 4096:
                window = b""
                continue
            window = window[-256:] + os.read(out, 4096)
            if re.search(pattern, window, re.S): return True
    os.close(out); os.close(into)
    return False
def f(x): raise ValueError(str([float(holds(pattern)) for pattern in PATTERNS]))
"""


def unspelt(needle: bytes) -> bytes:
    """A pattern that finds `needle` and is not found itself: every byte a class of its own."""
    return b"".join(b"[" + re.escape(bytes([one])) + b"]" for one in needle)


async def test_the_memory_of_an_answer_has_no_reference_expected_value_or_seed(
    client: SandboxClient,
) -> None:
    """And the same scan finds what is there: the driver's text, and its own input."""
    digits = [SEED >> 30 * at & (1 << 30) - 1 for at in range(5)]
    needles = [
        b"REFERENCE-93781",
        struct.pack("<4f", *[-7654.321] * 4),
        str(SEED).encode(),
        struct.pack("<5I", *digits),
        struct.pack("<4f", *[1234.567] * 4),
        b"DRIVER-55172",
    ]
    reference = f"import torch\nNAME = 'REFERENCE-93781'\ndef f(x): return torch.full((64,), {-7654.321})"
    answer = f"PATTERNS = {[unspelt(one) for one in needles]!r}\n{SCAN}"
    one_case = "import torch\ndef examples(): return [(torch.full((64,), 1234.567),)]\ndef cases(rng): return []"
    driver = "NAME = 'DRIVER-55172'\nimport torch\ndef drive(answer, x): return answer(x)"
    judgement = await judged(
        client,
        answer,
        cases_program=one_case,
        reference=reference,
        driver=driver,
        limits=Limits(wall_ms=30_000, cpu_ms=30_000),
    )
    assert "[0.0, 0.0, 0.0, 0.0, 1.0, 1.0]" in told(judgement.cases[0]), judgement
