"""A judgement that was prepared ahead is the one that its seed gives anyway, takes one run, and is used once."""

from __future__ import annotations

import pytest

from sandbox.client import SandboxClient
from sandbox.judging.challenge import judge_code
from sandbox.judging.reference_cache import JudgementsAhead, ReferenceCache
from sandbox.wire import Outcome, Run
from tests.sandbox.judging.test_challenge import REFERENCE, RIGHT, challenge

pytestmark = pytest.mark.sandbox
WRONG = RIGHT.replace("e / e.sum(dim, keepdim=True)", "e")
GROWING = """
def growing(rng):
    return [(torch.randn(4), 0)]
"""


class Recording:
    """Passes runs on and keeps them."""

    def __init__(self, client: SandboxClient) -> None:
        self.client = client
        self.runs: list[Run] = []

    async def run(self, run: Run) -> Outcome:
        self.runs.append(run)
        return await self.client.run(run)


async def ahead_of(client: Recording, references: ReferenceCache, **changes: object) -> JudgementsAhead:
    ahead = JudgementsAhead(client, references)
    task = ahead.prepare(challenge(**changes))
    assert task is not None
    assert ahead.prepare(challenge(**changes)) is None  # it is being prepared
    await task
    return ahead


@pytest.mark.parametrize(("answer", "verdict"), [(RIGHT, "accepted"), (WRONG, "wrong")])
async def test_the_judgement_is_that_of_its_seed_and_takes_one_run(
    client: SandboxClient, answer: str, verdict: str
) -> None:
    seen, references = Recording(client), ReferenceCache()
    seed = (await ahead_of(seen, references)).take(challenge())
    assert seed is not None
    seen.runs.clear()
    judgement = await judge_code(seen, challenge(), answer, seed=seed, references=references)
    # What is shown of a wrong answer is from a run of the examples alone.
    assert [run.role for run in seen.runs] == ["answer"] + ["program"] * (verdict == "wrong")
    assert judgement.verdict == verdict
    assert judgement == await judge_code(client, challenge(), answer, seed=seed)


async def test_each_is_used_once_and_has_a_seed_of_its_own(client: SandboxClient) -> None:
    references = ReferenceCache()
    ahead = await ahead_of(Recording(client), references)
    assert ahead.prepare(challenge()) is None  # one is ready
    first = ahead.take(challenge())
    assert ahead.take(challenge()) is None
    task = ahead.prepare(challenge())
    assert task is not None
    await task
    second = ahead.take(challenge())
    assert first is not None
    assert second is not None
    assert first != second
    kept = [references.get(challenge(), seed) for seed in (first, second)]
    assert kept[0] and kept[1] and kept[0].run.cases != kept[1].run.cases


@pytest.mark.parametrize(
    "changes",
    [
        {"cases_program": challenge().cases_program + GROWING},  # needs a reference run at the same time
        {"reference": "def softmax(x, dim): 1 / 0 if x.numel() > 1 else 0\nimport sys; sys.exit(1)"},
        {"cases_program": "def examples(): return 1 / 0"},
    ],
)
async def test_some_are_not_kept(client: SandboxClient, changes: dict[str, object]) -> None:
    ahead = await ahead_of(Recording(client), ReferenceCache(), **changes)
    assert ahead.take(challenge(**changes)) is None


async def test_what_is_kept_has_a_limit(client: SandboxClient, monkeypatch: pytest.MonkeyPatch) -> None:
    ahead = await ahead_of(Recording(client), ReferenceCache())
    monkeypatch.setattr("sandbox.judging.reference_cache._MAX_CHALLENGES", 1)
    other = challenge(reference=REFERENCE + "\n")
    task = ahead.prepare(other)
    assert task is not None
    await task
    assert ahead.take(challenge()) is None
    assert ahead.take(other) is not None
