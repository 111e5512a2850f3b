"""The packages that members expect besides torch and numpy work inside the sandbox."""

from __future__ import annotations

import pytest

from sandbox.client import SandboxClient
from sandbox.wire import Run

pytestmark = pytest.mark.sandbox


async def test_einops_rearranges_tensors_and_differentiates(client: SandboxClient) -> None:
    pytest.importorskip("einops", reason="this environment is older than the lock file")
    code = """
import torch
from einops import einsum, rearrange, reduce
from einops.layers.torch import Rearrange
x = torch.arange(12.0, requires_grad=True)
y = rearrange(x, "(b h d) -> b h d", b=2, h=3)
print(tuple(y.shape), reduce(y, "b h d -> b", "sum").tolist(), tuple(Rearrange("b h d -> h (b d)")(y).shape))
einsum(y, y, "b h d, b g d -> b h g").sum().backward()
print(x.grad.shape)
"""
    outcome = await client.run(Run("x", code))
    assert outcome.status == "ok", outcome
    assert outcome.stdout == "(2, 3, 2) [15.0, 51.0] (3, 4)\ntorch.Size([12])\n"


async def test_tqdm_counts_a_loop_on_stderr(client: SandboxClient) -> None:
    pytest.importorskip("tqdm", reason="this environment is older than the lock file")
    code = "from tqdm import tqdm, trange\nprint(sum(tqdm(range(5))), sum(trange(3, desc='epoch')))"
    outcome = await client.run(Run("x", code))
    assert (outcome.status, outcome.stdout) == ("ok", "10 3\n"), outcome
    assert "5/5" in outcome.stderr
    assert "epoch: 100%" in outcome.stderr
