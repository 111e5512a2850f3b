"""Memory gathered into huge pages holds what it held, and code that was moved still runs."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import zlib, json, re
from sandbox.inside import zygote

kept = [bytes([number % 251]) * 1000 for number in range(20_000)]
before = zlib.crc32(b"".join(kept)), json.dumps(sorted(range(3))), re.sub("a+", "b", "caat")
done = zygote.use_huge_pages()
after = zlib.crc32(b"".join(kept)), json.dumps(sorted(range(3))), re.sub("a+", "b", "caat")
assert before == after
huge = sum(int(line.split()[1]) for line in open("/proc/self/smaps") if line.startswith("AnonHugePages:"))
assert huge >= (done.data + done.code) * 2048 * 0.9, (huge, done)
print(done.data)
"""


def test_what_is_gathered_is_the_same_and_lies_in_huge_pages() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    if done.stdout == "0\n":
        pytest.skip("this kernel gathers no pages (before 6.1)")
    assert int(done.stdout) >= 5
