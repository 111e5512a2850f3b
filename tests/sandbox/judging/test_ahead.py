"""A judgement that was prepared ahead is the one that its seed gives anyway, takes one run, and is used once."""

from __future__ import annotations

import pytest

from sandbox.client import SandboxClient
from sandbox.judging.ahead import JudgementsAhead
from sandbox.judging.challenge import judge_code
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


async def ahead_of(client: Recording, now: list[float], **changes: object) -> JudgementsAhead:
    ahead = JudgementsAhead(client, lambda: now[0])
    task = ahead.prepare(challenge(**changes))
    assert task is not None
    assert ahead.prepare(challenge(**changes)) is None  # it is being prepared
    await task
    return ahead


@pytest.mark.parametrize(("answer", "verdict"), [(RIGHT, "accepted"), (WRONG, "wrong")])
async def test_the_judgement_is_that_of_its_seed_and_takes_one_run(
    client: SandboxClient, answer: str, verdict: str
) -> None:
    seen = Recording(client)
    prepared = (await ahead_of(seen, [0.0])).take(challenge())
    assert prepared is not None
    seen.runs.clear()
    judgement = await judge_code(seen, challenge(), answer, seed=prepared.seed, prepared=prepared)
    assert [run.role for run in seen.runs] == ["answer"]
    assert judgement.verdict == verdict
    assert judgement == await judge_code(client, challenge(), answer, seed=prepared.seed)


async def test_each_is_used_once_and_has_a_seed_of_its_own(client: SandboxClient) -> None:
    ahead = await ahead_of(Recording(client), [0.0])
    assert ahead.prepare(challenge()) is None  # one is ready
    first = ahead.take(challenge())
    assert ahead.take(challenge()) is None
    task = ahead.prepare(challenge())
    assert task is not None
    await task
    second = ahead.take(challenge())
    assert first is not None
    assert second is not None
    assert first.seed != second.seed
    assert first.run.cases != second.run.cases
    with pytest.raises(ValueError, match="another challenge or seed"):
        await judge_code(client, challenge(), RIGHT, seed=first.seed, prepared=second)


async def test_one_too_old_is_not_used(client: SandboxClient) -> None:
    now = [0.0]
    ahead = await ahead_of(Recording(client), now)
    now[0] = 3600.0
    assert ahead.take(challenge()) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"cases_program": challenge().cases_program + GROWING},  # needs a reference run at the same time
        {"reference": "def softmax(x, dim): 1 / 0 if x.numel() > 1 else 0\nimport sys; sys.exit(1)"},
        {"cases_program": "def examples(): return 1 / 0"},
    ],
)
async def test_some_are_not_kept(client: SandboxClient, changes: dict[str, object]) -> None:
    assert (await ahead_of(Recording(client), [0.0], **changes)).take(challenge(**changes)) is None


async def test_what_is_kept_has_a_limit(client: SandboxClient, monkeypatch: pytest.MonkeyPatch) -> None:
    ahead = await ahead_of(Recording(client), [0.0])
    monkeypatch.setattr("sandbox.judging.ahead._MAX_CHALLENGES", 1)
    other = challenge(reference=REFERENCE + "\n")
    task = ahead.prepare(other)
    assert task is not None
    await task
    assert ahead.take(challenge()) is None
    assert ahead.take(other) is not None
