"""A fuzzer of the operations that an answer may request from a driver: `make fuzz-operations SECONDS=60 SEED=1`.

Each trial executes one operation with hostile arguments, among tensors that are full of one known byte. Where that byte
has changed, the operation wrote beyond its own memory; where a result has it eight times in a row, it read there; and a
process that ends by a signal touched memory that nobody has. Processes are forked, so that a fault ends one of them.
"""

from __future__ import annotations

import argparse
import contextlib
import mmap
import os
import random
import resource
import sys
from time import monotonic

import torch

from sandbox.inside.operations import ALLOWED, Operations, Rules, _operation
from sandbox.values import Value

BYTE = 0x5A
"""What is in the tensors around an operation's own."""
SIZES = (1, 2, 8, 16, 32, 64, 128, 256, 1024, 4096, 65_536)
TRIALS = 300
"""Trials of one process."""
EXTREME = (-(2**63), -(2**62), -(10**10), -1000, -17, 17, 100, 2**31 - 1, 2**31, 2**33, 2**62, 2**63 - 1)
SMALL = (-2, -1, 0, 1, 2, 3, 4, 5, 16)
SHAPES = ((), (0,), (1,), (3,), (16,), (2, 3), (4, 4), (0, 3), (2, 0), (2, 3, 4), (1, 16), (5, 1))
DTYPES = (
    *("float32", "float64", "float16", "bfloat16", "complex64", "complex128"),
    *("int64", "int32", "int16", "int8", "uint8", "bool"),
)
CREATION = ("layout", "device", "pin_memory", "memory_format")
WORDS = ("sum", "prod", "mean", "amax", "amin", "trunc", "floor", "left", "none", "tanh")

Request = tuple[str, str, list[Value], dict[str, Value]]
"""An operation, its overload, and its arguments, as an answer's process sends them."""


def overloads() -> list[tuple[str, str]]:
    """Returns the overloads that are executed, those in place too, which write to an argument."""
    found = []
    for name in sorted([*ALLOWED, *(f"{name}_" for name in ALLOWED)]):
        for overload in getattr(torch.ops.aten, name).overloads() if hasattr(torch.ops.aten, name) else ():
            try:
                _operation(name, overload)
            except RuntimeError:
                continue
            found.append((name, overload))
    return found


class Arguments:
    """Draws hostile arguments."""

    def __init__(self, rng: random.Random, log: Operations) -> None:
        self._rng = rng
        self._log = log

    def request(self, name: str, overload: str) -> Request:
        """Returns a request of the operation."""
        arguments: list[Value] = []
        options: dict[str, Value] = {}
        for argument in _operation(name, overload)._schema.arguments:
            if argument.name == "dtype":
                options["dtype"] = ("dtype", self._rng.choice(DTYPES)) if self._rng.random() < 0.5 else ("plain", None)
            elif argument.name in CREATION:
                continue
            elif not argument.kwarg_only:
                arguments.append(self.of_type(str(argument.type)))
            elif self._rng.random() < 0.5:
                options[argument.name] = self.of_type(str(argument.type))
        return name, overload, arguments, options

    def of_type(self, kind: str) -> Value:
        """Returns an argument for a type of torch's schemas."""
        rng = self._rng
        if "Optional" in kind and rng.random() < 0.4:
            return ("plain", None)
        if "Tensor" in kind:
            made = [self.tensor() for _ in range(rng.randint(0, 3) if "List" in kind else 1)]
            return ("list", list(made)) if "List" in kind else made[0]
        if "List" in kind:
            return ("list", [("plain", self.integer()) for _ in range(rng.randint(0, 4))])
        if "int" in kind.lower():
            return ("plain", self.integer())
        if "bool" in kind:
            return ("plain", rng.random() < 0.5)
        if "str" in kind:
            return ("plain", rng.choice(WORDS))
        return ("plain", rng.choice((self.integer(), 0.5, -1.5, float("inf"), float("nan"), 1e30)))

    def integer(self) -> int:
        return self._rng.choice(SMALL if self._rng.random() < 0.65 else EXTREME)

    def tensor(self) -> Value:
        """Returns a tensor of the driver's process; of bytes that are no truth values, among others."""
        rng = self._rng
        shape, dtype = rng.choice(SHAPES), getattr(torch, rng.choice(DTYPES))
        if dtype.is_floating_point or dtype.is_complex:
            made = (torch.randn(shape) * rng.choice((1.0, 1.0, 1000.0, float("inf")))).to(dtype)
        elif dtype is torch.bool:
            made = torch.randint(0, rng.choice((2, 256)), shape, dtype=torch.uint8).view(torch.bool)
        elif rng.random() < 0.3:
            more = rng.choice(
                EXTREME[2:-2]
            )  # a large number and one that makes up for it, as in a sum that is believed
            made = torch.tensor([more, rng.choice(SMALL) - more]).to(dtype)
        elif rng.random() < 0.5:
            made = torch.randint(-3, 5, shape).to(dtype)
        else:
            numbers = [self.integer() for _ in range(torch.Size(shape).numel())]
            made = torch.tensor(numbers, dtype=torch.int64).reshape(shape).to(dtype)
        if made.dim() and made.shape[0] and rng.random() < 0.15:
            made = made[:1].expand(rng.choice((1, 3, 1000)), *made.shape[1:])
        if made.dim() > 1 and rng.random() < 0.1:
            made = made.transpose(0, 1)
        return ("withheld", self._log._keep(made))


def fault_of(rng: random.Random, name: str, overload: str, note: mmap.mmap) -> str:
    """Executes an operation once. Returns what it did to foreign memory, or ""."""
    log = Operations(Rules(reads=1_000_000))
    log.withhold(torch.zeros(1))  # without one, nothing is executed; the arguments are known, so it is executed at once
    around = [torch.full((size,), BYTE, dtype=torch.uint8) for size in SIZES for _ in range(6)]
    del around[::3]  # the allocator puts the operation's own tensors there, between the others
    request = Arguments(rng, log).request(name, overload)
    given = len(log._tensors)
    _write(note, repr((request, log._tensors)))
    with contextlib.suppress(Exception):  # most arguments mean nothing
        log.execute(*request)
    if any(bool((one != BYTE).any()) for one in around):
        return "wrote"
    return "read" if any(map(_has_foreign_bytes, log._tensors[given:])) else ""


def _write(note: mmap.mmap, text: str) -> None:
    note[:] = text.encode()[: len(note)].ljust(len(note))


def _has_foreign_bytes(tensor: torch.Tensor) -> bool:
    if not 8 <= tensor.numel() * tensor.element_size() <= 1_000_000:
        return False
    data = tensor.contiguous().reshape(-1).view(torch.uint8)
    return bytes([BYTE] * 8) in data.numpy().tobytes()


def search(seed: int, *, seconds: float, processes: int, only: str = "") -> int:
    """Runs trials in processes that are forked one after the other. Prints what is found; returns how often."""
    torch.set_num_threads(1)
    chosen = [one for one in overloads() if only in ("", one[0])]
    until, faults = monotonic() + seconds, 0
    note = mmap.mmap(-1, 4000)
    for number in range(seed, seed + processes):
        if monotonic() > until:
            break
        child = os.fork()
        if not child:
            _run_trials(random.Random(number), chosen, note)
        _, status = os.waitpid(child, 0)
        if status:
            faults += 1
            how = f"signal {os.WTERMSIG(status)}: " if os.WIFSIGNALED(status) else ""
            sys.stdout.write(f"seed {number}: {how}{note[:].decode(errors='replace').strip()}\n")
    return faults


def _run_trials(rng: random.Random, chosen: list[tuple[str, str]], note: mmap.mmap) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    torch.manual_seed(rng.getrandbits(32))
    for _ in range(TRIALS):
        if fault := fault_of(rng, *rng.choice(chosen), note):
            _write(note, f"{fault}: {note[:].decode(errors='replace')}")
            os._exit(1)
    os._exit(0)


def main() -> int:
    """Parses the arguments and searches. Returns 1 if something was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=1_000_000, help=f"most processes, {TRIALS} trials each")
    parser.add_argument("--only", default="", help="name of one operation")
    given = parser.parse_args()
    faults = search(given.seed, seconds=given.seconds, processes=given.processes, only=given.only)
    sys.stdout.write(f"{faults} faults\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
