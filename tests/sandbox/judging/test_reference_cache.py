"""A reference runs once per question and seed, and its results serve no other question, version or device."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sandbox.client import SandboxClient
from sandbox.judging.challenge import Prepared, judge_at_once, judge_code, judge_prepared, prepare_judgement
from sandbox.judging.judge import Judgement
from sandbox.judging.reference_cache import ReferenceCache
from sandbox.judging.tolerance import NumberTolerance
from sandbox.wire import Limits, Outcome, Run
from tests.sandbox.judging import test_challenge_outcomes as outcomes
from tests.sandbox.judging.test_challenge import RIGHT, challenge
from tests.sandbox.judging.test_challenge_outcomes import GROWING, HIDDEN, Written, returned

SEED = 5


class Computed(Written):
    """Answers as written, computed by a platform that a test can change."""

    platform = "torch 2.13.0"

    async def run(self, run: Run) -> Outcome:
        return replace(await super().run(run), platform=self.platform)


async def judged(sandbox: Written, references: ReferenceCache, seed: int = SEED, **changes: Any) -> Judgement:
    return await judge_code(sandbox, outcomes.challenge(**changes), "ANSWER", seed=seed, references=references)


def roles(sandbox: Written) -> list[str]:
    """Returns what was run, besides the examples alone for what is shown of a wrong answer."""
    found: list[str] = [run.role for run in sandbox.runs if run.role != "program"]
    sandbox.runs.clear()
    return found


FRESH = ["cases", "reference", "answer"]


async def test_a_second_verdict_with_the_same_seed_runs_no_reference() -> None:
    sandbox, references = Computed(), ReferenceCache()
    first = await judged(sandbox, references)
    assert roles(sandbox) == FRESH
    assert await judged(sandbox, references) == first
    assert roles(sandbox) == ["answer"]
    assert (await judged(sandbox, references, SEED + 1)).verdict == "accepted"
    assert roles(sandbox) == FRESH


@pytest.mark.parametrize(
    "changes",
    [
        {"reference": "OTHER"},
        {"cases_program": "OTHER"},
        {"entry": "other"},
        {"driver": "def drive(answer): pass"},
        {"device": "cuda"},
        {"limits": Limits(wall_ms=900)},
        {"protected": True},
    ],
)
async def test_an_edited_question_does_not_use_an_old_result(changes: dict[str, Any]) -> None:
    sandbox, references = Computed(), ReferenceCache()
    await judged(sandbox, references)
    sandbox.runs.clear()
    sandbox.reference = lambda number: 3 * number
    assert (await judged(sandbox, references, **changes)).verdict == "wrong"
    assert roles(sandbox) == FRESH


async def test_another_tolerance_judges_the_same_results() -> None:
    sandbox, references = Computed(reference=lambda n: 2.0 * n, answers=(lambda n: 2.0 * n + 0.1,)), ReferenceCache()
    assert (await judged(sandbox, references)).verdict == "wrong"
    sandbox.runs.clear()
    assert (await judged(sandbox, references, tolerance=NumberTolerance(atol=0.2))).verdict == "accepted"
    assert roles(sandbox) == ["answer"]


@pytest.mark.parametrize("platform", ["torch 2.14.0", "torch 2.13.0, NVIDIA H100, 80 GB"])
async def test_results_of_another_version_or_device_are_computed_again(platform: str) -> None:
    sandbox, references = Computed(), ReferenceCache()
    await judged(sandbox, references)
    sandbox.runs.clear()
    sandbox.platform, sandbox.reference = platform, lambda number: 3 * number
    assert (await judged(sandbox, references)).verdict == "wrong"
    assert roles(sandbox) == ["answer", *FRESH]
    assert (await judged(sandbox, references)).verdict == "wrong"
    assert roles(sandbox) == ["answer"]


async def test_a_sandbox_that_fails_leaves_what_is_kept() -> None:
    sandbox, references = Computed(), ReferenceCache()
    await judged(sandbox, references)
    sandbox.answers = (Outcome("x", "internal", detail="no child"),)
    sandbox.platform = ""
    assert (await judged(sandbox, references)).verdict == "system error"
    assert references.get(outcomes.challenge(), SEED) is not None


async def test_the_second_device_gets_the_kept_cases_under_this_judgement_s_name() -> None:
    sandbox, references = Computed(), ReferenceCache()
    await judged(sandbox, references, device="both")
    sandbox.runs.clear()
    await judge_code(sandbox, outcomes.challenge(device="both"), "ANSWER", seed=SEED, id="later", references=references)
    assert [(run.role, run.device, run.id) for run in sandbox.runs] == [
        ("answer", "cpu", "later"),
        ("answer", "cuda", "later"),
    ]
    assert sandbox.runs[0].cases == sandbox.runs[1].cases


@pytest.mark.parametrize(
    "changes",
    [{"cases": ([], HIDDEN, GROWING)}, {"reference": Outcome("x", "time")}, {"reference": returned(b"broken")}],
)
async def test_growing_cases_and_faults_are_not_kept(changes: dict[str, Any]) -> None:
    sandbox, references = Computed(**changes), ReferenceCache()
    await judged(sandbox, references)
    assert references.get(outcomes.challenge(), SEED) is None


async def prepared(seed: int) -> Prepared:
    return await prepare_judgement(Computed(), outcomes.challenge(), seed)


async def test_what_was_not_used_longest_goes_first() -> None:
    references = ReferenceCache(max_entries=2)
    for seed in (1, 2):
        references.put(await prepared(seed))
    assert references.get(outcomes.challenge(), 1)
    references.put(await prepared(3))
    assert [references.get(outcomes.challenge(), seed) is not None for seed in (1, 2, 3)] == [True, False, True]


async def test_the_bytes_kept_have_a_limit() -> None:
    one = await prepared(1)
    references = ReferenceCache(max_bytes=one.bytes * 2)
    for seed in (1, 1, 2, 3):
        references.put(await prepared(seed))
    assert [references.get(outcomes.challenge(), seed) is not None for seed in (1, 2, 3)] == [False, True, True]
    small = ReferenceCache(max_bytes=one.bytes - 1)
    small.put(one)
    assert small.get(outcomes.challenge(), 1) is None


@pytest.mark.sandbox
async def test_a_real_sandbox_names_its_versions_and_its_verdicts_stay_the_same(client: SandboxClient) -> None:
    references = ReferenceCache()
    first = await judge_code(client, challenge(), RIGHT, seed=SEED, references=references)
    kept = references.get(challenge(), SEED)
    assert kept is not None
    versions = (await client.health()).versions
    assert kept.platform == f"torch {versions['torch']} numpy {versions['numpy']}"
    assert await judge_code(client, challenge(), RIGHT, seed=SEED, references=references) == first


ALMOST = RIGHT.replace("return", "return 1 +", 1)


@pytest.mark.sandbox
@pytest.mark.parametrize("program", [RIGHT, ALMOST])
async def test_several_draws_in_one_run_give_the_verdicts_that_each_gives(client: SandboxClient, program: str) -> None:
    draws = [await prepare_judgement(client, challenge(), seed) for seed in (1, 2, 3)]
    at_once = await judge_at_once(client, draws, program)
    assert at_once == [(await judge_prepared(client, one, program))[0] for one in draws]


async def test_what_one_run_cannot_tell_is_not_judged_at_once() -> None:
    for sandbox, changes in ((Computed(), {"device": "cuda"}), (Computed(cases=([], HIDDEN, GROWING)), {})):
        draws = [await prepare_judgement(sandbox, outcomes.challenge(**changes), seed) for seed in (1, 2)]
        sandbox.runs.clear()
        assert await judge_at_once(sandbox, draws, "ANSWER") == []
        assert sandbox.runs == []
