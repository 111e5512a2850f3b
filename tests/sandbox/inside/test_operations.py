"""The log of operations: what it executes, and what it shows of numbers that are withheld. In one process."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from sandbox.inside.answer import drive_directly
from sandbox.inside.driver import AnswerProblem
from sandbox.inside.operations import ALLOWED, Operations, Rules
from sandbox.values import Value


class Log:
    """A log with one withheld tensor, and requests as an answer's process sends them."""

    def __init__(self, tensor: torch.Tensor, **driver: object) -> None:
        self.operations = Operations(Rules.of(driver))
        self.withheld = self.operations.withhold(tensor)
        self.it = ("withheld", self.withheld.number)

    def ask(self, name: str, overload: str, *arguments: Any, **options: Any) -> Any:
        described: list[Value] = [one if isinstance(one, (tuple, list)) else ("plain", one) for one in arguments]
        found: Any = self.operations.execute(name, overload, described, options)
        return found[:2] if isinstance(found, tuple) and found[0] == "withheld" else found

    def read(self, kept: Value) -> Any:
        return self.ask("_local_scalar_dense", "default", kept)


def test_an_operation_is_executed_here_and_its_result_is_described() -> None:
    log = Log(torch.tensor([1.0, 2.0]))
    doubled = log.operations.execute("mul", "Tensor", [log.it, ("plain", 2)], {})
    assert doubled == ("withheld", 1, "float32", (2,), (1,), 0)
    assert torch.equal(log.operations.result(("list", [doubled[:2]]))[0], torch.tensor([2.0, 4.0]))


def test_an_operation_in_place_returns_the_same_tensor() -> None:
    log = Log(torch.tensor([1.0, 2.0]))
    assert log.ask("mul_", "Tensor", log.it, 3) == log.it
    assert torch.equal(log.withheld.now(), torch.tensor([3.0, 6.0]))


@pytest.mark.parametrize(
    "name",
    ["nll_loss_forward", "native_layer_norm", "_fused_adamw_", "bernoulli_", "as_strided", "set_", "resize_",
     "__class__", "aten::add", "add.Tensor", "overloads", "", "_"],
)  # fmt: skip
def test_what_is_not_a_general_operation_is_refused(name: str) -> None:
    with pytest.raises(RuntimeError, match="solved without the operation"):
        Log(torch.ones(2)).ask(name, "default", ("withheld", 0))


def test_a_driver_takes_operations_away_also_in_place() -> None:
    log = Log(torch.ones(2), WITHOUT=["lerp", "stack"])
    for name, overload in (("stack", "default"), ("lerp", "Scalar"), ("lerp_", "Scalar")):
        with pytest.raises(RuntimeError, match=f"without the operation {name}"):
            log.ask(name, overload, ("list", [log.it]), log.it, 0.5)


@pytest.mark.parametrize(
    ("name", "overload"),
    [("add", "nothing"), ("add", "int"), ("add", "out"), ("squeeze_", "default"), ("where", "default"), ("sum", "int")],
)
def test_only_overloads_on_tensors_that_torch_does_not_compose_are_executed(name: str, overload: str) -> None:
    log = Log(torch.ones(2))
    with pytest.raises(RuntimeError):
        log.ask(name, overload, log.it)
    assert log.ask("add", "Tensor", log.it, 1) == ("withheld", 1), "and that did not end the case"


SHOWING: dict[str, tuple[str, str, list[Any]]] = {
    "a number": ("_local_scalar_dense", "default", []),
    "a truth value": ("equal", "default", [("withheld", 0)]),
    "a shape by positions": ("nonzero", "default", []),
    "a shape by a mask": ("masked_select", "default", [("withheld", 0)]),
    "a shape by an index": ("index", "Tensor", [("list", [("withheld", 0)])]),
    "a shape by distinct values": ("_unique2", "default", []),
    "a shape by runs": ("unique_consecutive", "default", []),
}


@pytest.mark.parametrize("name", SHOWING)
def test_what_shows_numbers_is_counted_and_then_ends_the_case(name: str) -> None:
    operation, overload, rest = SHOWING[name]
    log = Log(torch.tensor([True]), READS=2)
    for _ in range(2):
        log.ask(operation, overload, log.it, *rest)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="cannot be read more than 2 times"):
            log.ask(operation, overload, log.it, *rest)
        with pytest.raises(RuntimeError, match="which ends the case"):
            log.ask("logical_not", "default", log.it)
        log.operations.reset()
        log.withheld = log.operations.withhold(torch.tensor([True]))
        for _ in range(2):
            log.ask(operation, overload, log.it, *rest)


def test_a_complex_number_is_two_numbers() -> None:
    log = Log(torch.tensor([1 + 2j]), READS=1)
    with pytest.raises(RuntimeError, match="cannot be read more than 1 times"):
        log.read(log.it)


@pytest.mark.parametrize("number", [2, 7])
def test_an_error_for_a_number_is_no_sign_before_the_answer_has_returned(number: int) -> None:
    """A search by errors that cost nothing until one happens would tell a number of many bits, and so would times."""
    log = Log(torch.tensor([number]), READS=100)
    zeros = log.ask("zeros", "default", ("list", [("plain", 3)]))
    assert log.ask("index_select", "default", zeros, 0, log.it) == ("withheld", 2)
    assert log.ask("neg", "default", log.it) == ("withheld", 3)
    if number < 3:
        log.operations.finish()
        return
    for _ in range(2):
        with pytest.raises(IndexError, match=r"^index_select: "):
            log.operations.finish()
    with pytest.raises(IndexError):
        log.operations.result(log.it)
    with pytest.raises(RuntimeError, match="which ends the case"):
        log.ask("neg", "default", log.it)


def test_a_read_shows_an_error_before_it_instead_of_its_number() -> None:
    log = Log(torch.tensor([7]), READS=100)
    zeros = log.ask("zeros", "default", ("list", [("plain", 3)]))
    log.ask("index_select", "default", zeros, 0, log.it)
    with pytest.raises(IndexError):
        log.read(log.it)
    with pytest.raises(RuntimeError, match="which ends the case"):
        log.read(log.it)


def test_what_fails_for_zeros_in_place_of_the_numbers_is_executed_with_them_a_few_times() -> None:
    log = Log(torch.tensor([3, 2]), READS=1)
    for _ in range(4):
        found = log.ask("div", "Tensor_mode", log.it, log.it, rounding_mode=("plain", "floor"))
        assert log.operations.result(found).tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="too many operations that fail for zeros"):
        log.ask("div", "Tensor_mode", log.it, log.it, rounding_mode=("plain", "floor"))
    with pytest.raises(RuntimeError, match="which ends the case"):
        log.ask("neg", "default", log.it)


def test_the_places_of_a_mask_that_was_read_can_be_written() -> None:
    log = Log(torch.tensor([True, False, True]), READS=8)
    for _ in range(8):
        own = log.ask("zeros", "default", ("list", [("plain", 3)]))
        parts = log.ask("index", "Tensor", log.ask("arange", "default", 3), ("list", [log.it]))
        log.ask("index_put_", "default", own, ("list", [log.it]), log.ask("add", "Tensor", parts, 0.5))
        assert log.operations.result(own).tolist() == [0.5, 0.0, 2.5]


def test_operations_have_the_order_in_which_they_were_requested() -> None:
    """Those on known numbers are executed at once, but what waits for withheld ones must not see them early."""
    log = Log(torch.tensor([1.0, 2.0]))
    known = log.ask("clone", "default", ("plain", torch_value([10.0, 20.0])))
    first = log.ask("mul", "Tensor", log.it, known)
    part = log.ask("select", "int", known, 0, 0)
    log.ask("fill_", "Scalar", part, 7.0)
    second = log.ask("mul", "Tensor", log.it, known)
    assert log.read(part) == ("plain", 7.0)
    log.ask("mul_", "Tensor", log.it, 2.0)
    log.ask("copy_", "default", part, log.ask("select", "int", log.it, 0, 1))
    for kept, numbers in ((first, [10.0, 40.0]), (second, [7.0, 40.0]), (known, [4.0, 20.0]), (log.it, [2.0, 4.0])):
        assert log.operations.result(kept).tolist() == numbers
    assert log.withheld.now().tolist() == [2.0, 4.0]


def test_nothing_is_executed_for_an_answer_from_which_nothing_is_withheld() -> None:
    """It could leave to the driver's process what costs time and memory."""
    operations = Operations(Rules())
    with pytest.raises(RuntimeError, match="no tensor is withheld"):
        operations.execute("zeros", "default", [("list", [("plain", 3)])], {})
    operations.withhold(torch.ones(1))
    operations.execute("zeros", "default", [("list", [("plain", 3)])], {})
    operations.reset()
    with pytest.raises(RuntimeError, match="no tensor is withheld"):
        operations.execute("zeros", "default", [("list", [("plain", 3)])], {})


@pytest.mark.parametrize(
    ("name", "overload", "before", "after"),
    [
        ("gather", "default", [0], []),
        ("scatter", "value", [0], [1.0]),
        ("index_fill", "int_Scalar", [0], [1.0]),
        ("index_select", "default", [0], []),
        ("take", "default", [], []),
    ],
)
def test_an_error_does_not_tell_the_number_that_caused_it(
    name: str, overload: str, before: list[Any], after: list[Any]
) -> None:
    told = set()
    for number in (2**61 + 12_345, -77, 98_765):
        log = Log(torch.tensor([number]))
        zeros = log.ask("zeros", "default", ("list", [("plain", 3)]))
        log.ask(name, overload, zeros, *before, log.it, *after)
        with pytest.raises((IndexError, RuntimeError)) as caught:
            log.operations.finish()
        told.add(str(caught.value))
    assert len(told) == 1, told


def test_an_error_still_tells_the_sizes() -> None:
    log = Log(torch.ones(3, 41))
    with pytest.raises(RuntimeError, match=r"\(41\) must match .* \(7\) at .* dimension 1"):
        log.ask("add", "Tensor", log.it, log.ask("zeros", "default", ("list", [("plain", 3), ("plain", 7)])))


def test_an_error_without_them_does_not() -> None:
    log = Log(torch.tensor([7]))
    zeros = log.ask("zeros", "default", ("list", [("plain", 3)]))
    with pytest.raises(RuntimeError):
        log.ask("view", "default", zeros, ("list", [("plain", 2)]))
    log.ask("neg", "default", log.it)


@pytest.mark.parametrize(
    ("name", "overload", "before", "after"),
    [
        ("full", "default", [("list", [("plain", 1)])], []),
        ("zeros", "default", [], []),
        ("arange", "default", [], []),
        ("view", "default", [("withheld", 1)], []),
        ("select", "int", [("withheld", 1), ("plain", 0)], []),
        ("fill", "Scalar", [("withheld", 1)], []),
    ],
)
def test_a_tensor_in_place_of_a_number_is_refused(
    name: str, overload: str, before: list[Any], after: list[Any]
) -> None:
    log = Log(torch.tensor(1))
    log.ask("zeros", "default", ("list", [("plain", 3)]))
    for given in (log.it, ("list", [log.it])):
        with pytest.raises(TypeError, match="cannot be a tensor"):
            log.ask(name, overload, *before, given, *after)


def test_what_was_written_from_withheld_numbers_is_withheld_too() -> None:
    log = Log(torch.tensor([5.0]))
    own = log.ask("zeros", "default", ("list", [("plain", 1)]))
    view = log.ask("alias", "default", own)
    assert log.read(own) == ("plain", 0.0)
    log.operations.execute("copy_", "default", [], {"self": view, "src": log.it})
    for kept in (own, view):
        log.operations._over = False
        with pytest.raises(RuntimeError, match="cannot be read"):
            log.read(kept)


def test_numbers_that_do_not_depend_on_withheld_ones_are_free() -> None:
    log = Log(torch.tensor([5.0, 6.0]))
    mask = log.ask("clone", "default", ("plain", torch_value([True, False])))
    assert log.ask("index", "Tensor", log.it, ("list", [mask])) == ("withheld", 2), "a known mask shows nothing"
    assert log.read(log.ask("select", "int", mask, 0, 0)) == ("plain", True)


def torch_value(content: list[Any]) -> Value:
    from sandbox.inside import tensors

    return tensors.from_torch(torch.tensor(content), 1000)


@pytest.mark.parametrize("name", ["empty", "new_empty", "empty_like"])
def test_empty_memory_holds_nothing_that_was_there(name: str) -> None:
    overload = "memory_format" if name == "empty" else "default"
    log = Log(torch.tensor([5.0]))
    for _ in range(20):
        used = torch.full((1000,), 7.0)
        del used
        shape = ("list", [("plain", 1000)])
        zeros = log.ask("zeros", "default", shape)
        given = {"empty": [shape], "new_empty": [zeros, shape], "empty_like": [zeros]}[name]
        found = log.operations.result(log.ask(name, overload, *given))
        assert torch.equal(found, torch.zeros(1000))


@pytest.mark.parametrize(("size", "stride"), [(17, 1), (16, 2), (2, 2**62)])
def test_a_view_cannot_reach_beyond_its_memory(size: int, stride: int) -> None:
    """Beyond it are the withheld numbers, the driver's counters, and whatever else this process has."""
    log = Log(torch.ones(16))
    own = log.ask("zeros", "default", ("list", [("plain", 16)]))
    with pytest.raises(RuntimeError, match="beyond the memory of its tensor"):
        log.ask("_reshape_alias", "default", own, ("list", [("plain", size)]), ("list", [("plain", stride)]))
    folded = log.ask("_reshape_alias", "default", own, sizes(4, 4), sizes(4, 1))
    assert log.operations.result(folded).shape == (4, 4), "as torch asks for it in `reshape`"


def sizes(*numbers: int) -> Value:
    return ("list", [("plain", number) for number in numbers])


@pytest.mark.parametrize("repeats", [[3_000_000, -2_999_990], [2**62] * 4, [2**63 - 1, 2**63 - 1, 12]])
@pytest.mark.parametrize("size", [{"output_size": ("plain", 10)}, {}])
def test_repeats_are_not_written_beyond_the_size_that_an_answer_states(repeats: list[int], size: Any) -> None:
    with pytest.raises(RuntimeError, match="repeats must be numbers from 0"):
        Log(torch.ones(1)).ask("repeat_interleave", "Tensor", ("plain", torch_value(repeats)), **size)


def test_a_stated_size_of_repeats_changes_nothing() -> None:
    log = Log(torch.ones(1))
    found = log.ask("repeat_interleave", "Tensor", ("plain", torch_value([2, 0, 1])), output_size=("plain", 2**40))
    assert log.operations.result(found).tolist() == [0, 0, 2]


@pytest.mark.parametrize(
    "described", [("withheld", 99), ("withheld", -1), ("withheld", "0"), ("dtype", "ones"), ("x",)]
)
def test_a_request_that_means_nothing_is_refused(described: Any) -> None:
    log = Log(torch.ones(1))
    with pytest.raises((RuntimeError, ValueError)):
        log.ask("neg", "default", described)
    with pytest.raises(ValueError, match="unknown result"):
        log.operations.result(described)


@pytest.mark.parametrize("driver", [{"WITHOUT": ["stak"]}, {"WITHOUT": "stack"}, {"READS": -1}, {"READS": True}])
def test_rules_that_mean_nothing_are_refused(driver: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"^(WITHOUT|READS)"):
        Rules.of(driver)


def test_every_name_is_an_operation_of_this_torch() -> None:
    assert [name for name in sorted(ALLOWED) if not hasattr(torch.ops.aten, name)] == []


def with_stand_in(answer: Callable[[torch.Tensor], Any], x: torch.Tensor) -> Any:
    """Returns what an answer returns for a tensor that its driver withholds."""
    driver: dict[str, Any] = {}
    exec("def drive(answer, x):\n    return answer(answer.withhold(x))", driver)
    return drive_directly(driver, answer, (x,))


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda x: x.sum().item(), "compute with operations of torch instead of conditions, items and lists"),
        (lambda x: 1 if x.sum() > 0 else 0, "compute with operations of torch instead of conditions, items and lists"),
        (lambda x: torch.tensor([x.sum(), x.sum()]), "torch.tensor cannot read these tensors: use torch.stack"),
        (lambda x: x.numpy(), "cannot be numpy arrays: compute with operations of torch"),
        (lambda x: x.detach().cpu().numpy(), "cannot be numpy arrays: compute with operations of torch"),
        (np.asarray, "cannot be numpy arrays: compute with operations of torch"),
        (np.exp, "cannot be numpy arrays: compute with operations of torch"),
        (lambda x: x.apply_(abs), "compute with operations of torch"),
        (pickle.dumps, "use clone() for a copy"),
        (torch.nn.functional.dropout, "solved without the operation bernoulli_"),
    ],
)
def test_a_line_says_what_to_do_instead(answer: Callable[[torch.Tensor], Any], told: str) -> None:
    with pytest.raises(AnswerProblem) as caught:
        with_stand_in(answer, torch.ones(3))
    assert told in caught.value.text
    assert "\n" not in caught.value.text


def _gradient(x: torch.Tensor) -> torch.Tensor | None:
    x = x.clone().requires_grad_()
    (x**3).sum().backward()  # type: ignore[no-untyped-call]
    return x.grad


@pytest.mark.parametrize(
    "answer",
    [_gradient, torch.func.grad(lambda x: (x**3).sum()), lambda x: copy.deepcopy(x).mul(x).mul(3), lambda x: x**2 * 3],
    ids=["backward", "func", "deepcopy", "by hand"],
)
def test_gradients_and_copies_work_on_stand_ins(answer: Callable[[torch.Tensor], Any]) -> None:
    assert torch.equal(with_stand_in(answer, torch.tensor([1.0, 2.0])), torch.tensor([3.0, 12.0]))


def test_a_stand_in_can_be_printed() -> None:
    shown = []
    with_stand_in(lambda x: shown.append(f"{x:.2f} {x}"), torch.ones(3))
    assert shown == ["tensor(of shape (3,), dtype=torch.float32) tensor(of shape (3,), dtype=torch.float32)"]
