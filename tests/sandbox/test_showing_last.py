"""A free run is shown as a notebook shows a cell: its last value, its own lines, and what came before the end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sandbox.client import SandboxClient
from sandbox.values import decode, encode, split
from sandbox.wire import Limits, Outcome, Run

pytestmark = pytest.mark.sandbox


async def shown(client: SandboxClient, code: str, **changes: Any) -> Outcome:
    return await client.run(replace(Run("run", code, show_last=True), **changes))


@pytest.mark.parametrize(
    ("code", "printed"),
    [
        ("import torch\nx = torch.ones(2)\nprint('first')\nx + 1", "first\ntensor([2., 2.])\n"),
        ("'a'", "'a'\n"),
        ("None", ""),
        ("print('once')", "once\n"),
        ("x = 3\nx;", ""),
        ("x = 3\n(x) ; # said", ""),
        ("x = 3\nx  # a ; in a comment", "3\n"),
        ("'é;'\n'é;'", "'é;'\n"),
        ("(1,\n 2)", "(1, 2)\n"),
        ("def f(): return 7\nf()", "7\n"),
        ("y = [n for n in range(3)]\n[n + len(y) for n in y]", "[3, 4, 5]\n"),
        ("if True:\n  3", ""),
        ("", ""),
        ("# nothing but a comment", ""),
        ("'''only a docstring'''", "'only a docstring'\n"),
        ("from __future__ import annotations\ndef f(x: later): return 1\nf(0)", "1\n"),
    ],
)
async def test_the_value_of_a_last_expression_is_shown_after_the_rest(
    client: SandboxClient, code: str, printed: str
) -> None:
    outcome = await shown(client, code)
    assert (outcome.status, outcome.stdout, outcome.stderr) == ("ok", printed, "")


async def test_only_where_it_is_asked_for(client: SandboxClient) -> None:
    assert (await client.run(Run("run", "1 + 1"))).stdout == ""


async def test_never_where_an_entry_is_called(client: SandboxClient) -> None:
    outcome = await shown(client, "def f(): return 5\n'shown?'", entry="f", cases=encode([()]))
    assert (outcome.status, outcome.stdout) == ("ok", "")
    assert [decode(entry) for entry in split(outcome.results)] == [("ok", 5)]


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("x = 1\n\nx / 0", '  File "<answer>", line 3, in <module>\n    x / 0\n'),
        ("class C:\n  def __repr__(self): return 1 / 0\nC()", '  File "<answer>", line 2, in __repr__\n'),
        ("x = 1\ndef f(:", '  File "<answer>", line 2\n    def f(:\n          ^\nSyntaxError'),
        ("x = 1\nreturn x", "  File \"<answer>\", line 2\n    return x\n    ^^^^^^^^\nSyntaxError: 'return'"),
        ("def f():\n  x = 1\n  global x", '  File "<answer>", line 3\n    global x\n'),
    ],
)
@pytest.mark.parametrize("show_last", [True, False])
async def test_an_error_points_at_the_member_s_line(
    client: SandboxClient, code: str, told: str, show_last: bool
) -> None:
    if "__repr__" in code and not show_last:
        return
    outcome = await shown(client, code, show_last=show_last)
    assert outcome.status == "error"
    assert told in outcome.stderr
    assert 'File "/' not in outcome.stderr


@pytest.mark.parametrize(
    "code",
    [
        "import torch\ntry:\n  torch.ones(2) @ torch.ones(3)\nexcept RuntimeError as e:\n  raise ValueError from e",
        "import torch\nraise ExceptionGroup('two', [ValueError(1), TypeError(2)])",
        "import torch\ndef f():\n  torch.ones(2) @ torch.ones(3)\ntry:\n  f()\nexcept RuntimeError as e:\n"
        "  raise ExceptionGroup('of torch', [e])",
        "import threading\nt = threading.Thread(target=lambda: {}['gone'])\nt.start()\nt.join()",
    ],
)
async def test_causes_groups_and_threads_name_the_member_s_lines_only_too(client: SandboxClient, code: str) -> None:
    outcome = await shown(client, code)
    files = [line for line in outcome.stderr.splitlines() if "File " in line]
    assert files
    assert all('"<answer>"' in line for line in files)
    assert outcome.status == ("ok" if "threading" in code else "error")


@pytest.mark.parametrize(
    ("end", "status"),
    [("while True: pass", "time"), ("import ctypes; ctypes.string_at(0)", "crash"), ("bytearray(1 << 40)", "memory")],
)
async def test_what_was_printed_before_a_sudden_end_is_kept(client: SandboxClient, end: str, status: str) -> None:
    outcome = await shown(client, f"print('step 1')\n{end}", limits=Limits(wall_ms=500))
    assert (outcome.status, outcome.stdout) == (status, "step 1\n")


async def test_the_last_value_is_capped_and_harmless_as_all_output(client: SandboxClient) -> None:
    outcome = await shown(client, "class C:\n  def __repr__(self): return '\\x1b[2J' + 'x' * 10**6\nC()")
    assert (outcome.status, outcome.truncated, outcome.stdout[:4]) == ("output", True, "\ufffd[2J")
    assert len(outcome.stdout) <= Limits().output_bytes


async def test_resource_use_is_reported(client: SandboxClient) -> None:
    outcome = await shown(client, "x = bytearray(64 << 20)\nfor _ in range(3_000_000): pass")
    assert outcome.wall_ms >= outcome.cpu_ms * 0.5 > 5
    assert 60 < outcome.peak_mb < 200
    assert outcome.queue_ms >= 0
    assert outcome.device == "cpu"
