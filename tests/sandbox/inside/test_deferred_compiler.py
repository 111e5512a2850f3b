"""torch's compiler and sympy are imported when a program uses them, and not before; then they work as if they had been
there always.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

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
x = torch.ones(3, requires_grad=True)
(x * 2).backward(torch.ones(3))
torch.func.jacrev(lambda x: x**2)(torch.ones(3))
torch.autograd.gradcheck(lambda x: x**2, torch.ones(3, dtype=torch.double, requires_grad=True))
assert torch.broadcast_shapes((2, 1), (3,)) == (2, 3)
torch.testing.assert_close(torch.ones(2), torch.ones(2))
assert torch.nn.Linear(3, 4, device="meta")(torch.empty(2, 3, device="meta")).shape == (2, 4)
assert torch.unravel_index(torch.tensor(3), (2, 2))[0] == 1
assert is_deferred() and is_deferred("sympy") and is_deferred("torch.fx.experimental.symbolic_shapes")
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
REFUSED = """
for wrong in (lambda: torch.broadcast_shapes((2,), (3,)), lambda: (x * 2).backward(torch.ones(4))):
    try:
        wrong()
    except RuntimeError as problem:
        print(problem)
"""
SYMBOLS = """
import types
import sympy as held
from torch.fx.experimental import symbolic_shapes
Early = held.Basic


def is_expression(one):
    return isinstance(one, (int, Early)) and isinstance(one, (int, held.Basic))


assert not is_expression("x")
assert is_deferred("sympy")
from sympy import *
import sympy
import sympy.abc

assert type(sympy) is type(sys) and sympy.Symbol is Symbol is held.Symbol and sympy.Basic is held.Basic
assert sympy.abc.x == Symbol("x") and is_expression(Symbol("x")) and not is_expression("x")
assert issubclass(Symbol, Early) and issubclass(types.new_class("Own", (Early,)), Basic)
assert Early(Symbol("x")).args == Basic(Symbol("x")).args and Early.subs is Basic.subs
print(diff(sin(Symbol("x")) ** 2), held.__version__)
assert symbolic_shapes.ShapeEnv is sys.modules["torch.fx.experimental.symbolic_shapes"].ShapeEnv
assert symbolic_shapes.sym_eq((1, (2,)), (1, (2,))) and not symbolic_shapes.sym_eq((1, 2), (1, 3))
shape = symbolic_shapes.ShapeEnv().create_unbacked_symint()
assert not symbolic_shapes.guard_or_false(shape == 7) and symbolic_shapes.guard_or_true(shape == 7)
"""


def ran(*parts: str) -> str:
    # Importing takes a fifth less time without the collector.
    program = "".join(("import gc\ngc.disable()\nimport sys, torch\n", *parts))
    command = [sys.executable, "-W", "ignore", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_eager_torch_leaves_it_out_and_a_program_that_imports_it_gets_the_whole() -> None:
    compiled = ran(DEFERRED, TRAINING, EAGER, LOADED, COMPILED)
    assert "lerp_" in compiled
    assert compiled == ran("import torch._dynamo", TRAINING, COMPILED)


def test_what_a_program_holds_of_the_stand_in_passes_on_to_the_compiler() -> None:
    ran(DEFERRED, TRAINING, HELD)


def test_sympy_is_imported_when_a_program_asks_for_more_than_torch_does() -> None:
    assert ran(DEFERRED, SYMBOLS).startswith("2*sin(x)*cos(x) ")


def test_wrong_sizes_are_refused_in_torchs_own_words_without_sympy() -> None:
    eager = ran(
        "import sympy, torch.fx.experimental.symbolic_shapes\n", "x = torch.ones(3, requires_grad=True)", REFUSED
    )
    deferred = ran(DEFERRED, "x = torch.ones(3, requires_grad=True)", REFUSED, "assert is_deferred('sympy')")
    assert "Mismatch in shape" in deferred
    assert deferred == eager
