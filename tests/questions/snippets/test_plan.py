"""What a program lacks in the sandbox, derived from the error it raised."""

from __future__ import annotations

import pytest

from questions.snippets.plan import RaisedException, depends_on_machine, missing_requirement


def failure(kind: str, text: str, name: str = "", *bases: str) -> RaisedException:
    return RaisedException(kind, (kind, *bases, "Exception"), text, (1,), name)


@pytest.mark.parametrize(
    ("raised", "needed"),
    [
        (failure("AssertionError", "Torch not compiled with CUDA enabled"), "a CUDA device"),
        (failure("RuntimeError", "Found no NVIDIA driver on your system"), "a CUDA device"),
        (
            failure("ModuleNotFoundError", "No module named 'torchvision.ops'", "torchvision.ops"),
            "the package `torchvision`",
        ),
        (failure("FileNotFoundError", "model.pt", "", "OSError"), "a file that does not exist"),
        (failure("URLError", "<urlopen error>", "", "OSError"), "the network"),
        (failure("OSError", "[Errno 30] Read-only file system"), "something the sandbox does not allow"),
        (failure("ValueError", "Default process group has not been initialized"), "several processes"),
        (failure("EOFError", "EOF when reading a line"), "input from the keyboard"),
        (failure("RuntimeError", "shape '[7]' is invalid for input of size 2"), ""),
        (failure("NameError", "name 'cuda' is not defined", "cuda"), ""),
        (failure("ModuleNotFoundError", "No module named 'torch.nnn'", "torch.nnn"), ""),
    ],
)
def test_what_a_program_needs(raised: RaisedException, needed: str) -> None:
    assert missing_requirement(raised, "ok", "") == needed


def test_what_the_sandbox_stopped() -> None:
    assert missing_requirement(None, "memory", "") == "more memory than the sandbox has"
    assert missing_requirement(None, "time", "DataLoader(d, num_workers=2)") == "several processes"
    assert missing_requirement(None, "time", "while True: pass") == ""


@pytest.mark.parametrize(("statement", "hangs"), [("torch.__version__", True), ("x.device", False), ("id(x)", True)])
def test_what_hangs_on_the_machine(statement: str, hangs: bool) -> None:
    assert depends_on_machine(statement, "") is hangs
