"""torch's compiler is imported when a program uses it, and not before; then it works as if it had been there always."""

from __future__ import annotations

import subprocess
import sys

import pytest

DEFERRED = """
from sandbox.inside.deferred_compiler import defer_compiler, is_deferred
defer_compiler()
"""
TRAINING = """
from torch.utils.checkpoint import checkpoint

model = torch.nn.Linear(4, 4)


def train(optimizer):
    optimizer.zero_grad()
    loss = checkpoint(model, torch.ones(2, 4), use_reentrant=False).pow(2).sum()
    loss.backward()
    optimizer.step()
    return loss


for kind in (torch.optim.SGD, torch.optim.AdamW):
    optimizer = kind(model.parameters(), lr=0.01)
    train(optimizer)
    optimizer.load_state_dict(optimizer.state_dict())
"""
EAGER = """
torch.func.vmap(torch.func.grad(lambda x: x.sin().sum()))(torch.ones(2, 3))
torch.func.hessian(lambda x: x.sin().sum())(torch.ones(2))
torch.jit.trace(torch.nn.Linear(2, 2), torch.ones(1, 2))
assert is_deferred()
default = torch._dynamo.config.error_on_nested_fx_trace
assert is_deferred()
"""
LOADED = """
import types
import torch._dynamo.config as config

assert not is_deferred()
assert config is torch._dynamo.config is sys.modules["torch._dynamo"].config
assert type(sys.modules["torch._dynamo"]) is types.ModuleType
assert config.error_on_nested_fx_trace == default
for name in [name for name in sys.modules if name.startswith("torch._dynamo.")]:
    parent, _, leaf = name.rpartition(".")
    found = vars(sys.modules[parent]).get(leaf, sys.modules[name])
    assert found is sys.modules[name] or not isinstance(found, types.ModuleType), f"{name} was imported twice"
"""
COMPILED = """
graphs = []
compiled = torch.compile(train, backend=lambda graph, _: graphs.append(graph) or graph.forward)
before = model.weight.detach().clone()
compiled(optimizer)
assert not torch.equal(before, model.weight)
print([[str(node.target) for node in graph.graph.nodes if node.op == "call_method"] for graph in graphs])
"""
HELD = """
held, setting = sys.modules["torch._dynamo"], torch._dynamo.config
setting.suppress_errors = True
assert not is_deferred()
import torch._dynamo.config as config
assert config.suppress_errors is True
assert held.graph_break is not torch._dynamo.graph_break  # the stand-in, which passes on
held.graph_break()
assert held.optimize is torch._dynamo.optimize
"""


def ran(*parts: str) -> str:
    # Importing takes a fifth less time without the collector.
    program = "".join(("import gc\ngc.disable()\nimport sys, torch\n", *parts))
    command = [sys.executable, "-W", "ignore", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_eager_torch_leaves_it_out_and_a_program_that_imports_it_gets_the_whole() -> None:
    compiled = ran(DEFERRED, TRAINING, EAGER, LOADED, COMPILED)
    assert "lerp_" in compiled
    assert compiled == ran("import torch._dynamo", TRAINING, COMPILED)


def test_what_a_program_holds_of_the_stand_in_passes_on_to_the_compiler() -> None:
    ran(DEFERRED, TRAINING, HELD)
