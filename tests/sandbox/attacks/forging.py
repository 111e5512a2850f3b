"""Answers that know our own protocol and write, patch or forge what their process sends: more cheats, by number."""

from __future__ import annotations

from tests.sandbox.attacks.cheating import Cheat

FRAMES = """
import json, os, struct
def frame(kind, data):
    os.write(3, struct.pack("<IB", len(data), ord(kind)) + data)
def end():
    frame("E", json.dumps({"status": "ok", "reached": "done", "exit_code": None}).encode())
    os._exit(0)
"""
_OURS = "it speaks our own protocol: results forged with the right numbers are its control"

FORGERIES: dict[str, Cheat] = {
    "a pickle in place of a result": Cheat((34,), FRAMES + """
import pickle
class Evil:
    def __reduce__(self): return (os.system, ("touch /tmp/owned",))
def f(x):
    for _ in range(8): frame("C", pickle.dumps(Evil()))
    end()
""", because=_OURS),
    "patch the sending": Cheat((44,), """
import os, struct, builtins
from sandbox import values
from sandbox.inside import child
from sandbox.judging import comparison, judge
child._send = lambda *a: None
values.encode = lambda *a: b"T"
judge.judge_outcome = comparison.compare = lambda *a, **k: True
def f(x): return x
""", because=_OURS),
    "lie about dtype and shape": Cheat((29, 44), """
from sandbox import values
from sandbox.inside import tensors
tensors.from_torch = lambda *a: values.Tensor("float32", (10 ** 9,), b"", False)
def f(x): return x
""", because=_OURS),
    "patch the methods of Tensor": Cheat((44,), """
import torch
torch.Tensor.numpy = torch.Tensor.detach = lambda self: None
torch.Tensor.shape = torch.Tensor.dtype = property(lambda self: "float32")
def f(x): return x
""", because=_OURS),
    "forge the end": Cheat((14,), FRAMES + "def f(x): end()", because=_OURS),
    "forge results": Cheat(
        (14,), FRAMES + "def f(x):\n    for _ in range(8): frame('C', b'T')\n    end()", because=_OURS),
    "forge more results than cases": Cheat(
        (42,), FRAMES + "def f(x):\n    for _ in range(20): frame('C', b'(\\0\\0\\0\\0')\n    end()", because=_OURS),
    "forge half a result": Cheat(
        (14,), FRAMES + "def f(x):\n    os.write(3, b'\\x40\\0\\0\\0C')\n    end()", because=_OURS),
    "forge results of no cases": Cheat((14,), FRAMES + "end()", because=_OURS),
}  # fmt: skip
