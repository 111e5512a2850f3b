"""One real run per attack: what an answer tries, and that nothing comes of it.

Each program prints BREACH when it got what it wanted; a control at the end proves that printing it is seen.
"""

from __future__ import annotations

import platform

import pytest

from sandbox.client import SandboxClient
from sandbox.wire import Limits, Outcome, Run, Status

pytestmark = pytest.mark.sandbox
LIMITS = Limits(wall_ms=800, memory_mb=256)

LIBC = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    if libc.syscall(number, *arguments) != -1:
        print("BREACH")
"""

# Ends as the status says, without a BREACH.
REFUSED: dict[str, tuple[Status, str]] = {
    "network": ("denied", "import socket; socket.socket(); print('BREACH')"),
    "network udp": ("denied", "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM); print('BREACH')"),
    "docker socket": ("denied", "import socket; socket.socket(socket.AF_UNIX).connect('/var/run/docker.sock')"),
    "kernel sockets": ("denied", "import socket; socket.socket(socket.AF_NETLINK); print('BREACH')"),
    "download": ("error", "import urllib.request; urllib.request.urlopen('http://127.0.0.1/'); print('BREACH')"),
    "shadow": ("error", "open('/etc/shadow'); print('BREACH')"),
    "passwd": ("error", "open('/etc/passwd'); print('BREACH')"),
    "root listing": ("denied", "import os; os.listdir('/'); print('BREACH')"),
    "neighbours": ("denied", "import os; os.listdir('/proc'); print('BREACH')"),
    "parent's environ": ("error", "open('/proc/1/environ'); print('BREACH')"),
    "own memory": ("error", "open('/proc/self/mem', 'r+b'); print('BREACH')"),
    "mounts": ("error", "open('/proc/self/mountinfo'); print('BREACH')"),
    "kernel settings": ("error", "open('/proc/sys/kernel/core_pattern', 'w'); print('BREACH')"),
    "devices": ("error", "open('/dev/shm/x', 'w'); print('BREACH')"),
    "terminal": ("denied", "open('/dev/tty'); print('BREACH')"),
    "torch on disk": ("denied", "import torch; open(torch.__file__, 'a'); print('BREACH')"),
    "our package": ("denied", "import sandbox; open(sandbox.__file__, 'a'); print('BREACH')"),
    "kill init": ("denied", "import os; os.kill(1, 9); print('BREACH')"),
    "kill everyone": ("denied", "import os; os.kill(-1, 9); print('BREACH')"),
    "fork": ("denied", "import os\nwhile True: os.fork(); print('BREACH')"),
    "subprocess": ("denied", "import subprocess; subprocess.run(['/bin/true']); print('BREACH')"),
    "multiprocessing": (
        "denied",
        "import multiprocessing as m; m.get_context('fork').Process(target=print).start(); print('BREACH')",
    ),
    "exec": ("denied", "import os; os.execv('/bin/sh', ['sh']); print('BREACH')"),
    "memfd": ("denied", "import os; os.memfd_create('x'); print('BREACH')"),
    "link": ("denied", "import os; os.symlink('/etc/shadow', '/tmp/x'); print('BREACH')"),
    "chroot": ("denied", "import os; os.chroot('/tmp'); print('BREACH')"),
    "become root": ("denied", "import os; os.setuid(0); print('BREACH')"),
    "raise own limits": (
        "error",
        "import resource as r; r.setrlimit(r.RLIMIT_AS, (-1, -1)); print('BREACH')",
    ),
    "another's limits": ("denied", "import resource as r; r.prlimit(2, r.RLIMIT_AS, (0, 0)); print('BREACH')"),
    "ptrace": ("ok", LIBC + "call(101, 16, 1, 0, 0); call(101, 0, 0, 0, 0)"),
    "another's memory": ("ok", LIBC + "call(310, 1, 0, 0, 0, 0, 0)"),
    "user namespace": ("ok", LIBC + "call(272, 0x10000000); call(56, 0x10000011, 0, 0, 0, 0)"),
    "mount": ("ok", LIBC + "call(165, b'none', b'/tmp', b'tmpfs', 0, 0); call(166, b'/tmp', 0)"),
    "join namespace": ("ok", LIBC + "call(308, 0, 0)"),
    "io_uring": ("ok", LIBC + "call(425, 8, ctypes.create_string_buffer(200))"),
    "bpf, keyctl, userfaultfd": ("ok", LIBC + "call(321, 0, 0, 0); call(250, 0, 0, 0); call(323, 0)"),
    "32-bit calls": ("denied", LIBC + "call(0x40000000 | 39)"),
}


async def run(client: SandboxClient, code: str, limits: Limits = LIMITS) -> Outcome:
    return await client.run(Run("attack", code, limits=limits))


@pytest.mark.parametrize("name", REFUSED)
async def test_what_is_not_allowed_is_refused(client: SandboxClient, name: str) -> None:
    status, code = REFUSED[name]
    if code.startswith(LIBC) and platform.machine() != "x86_64":
        pytest.skip("the numbers are those of x86-64")
    outcome = await run(client, code)
    assert (outcome.status, "BREACH" in outcome.stdout) == (status, False), outcome
    assert outcome.isolation == "full"


async def test_the_breach_of_a_program_that_breaks_out_would_be_seen(client: SandboxClient) -> None:
    outcome = await run(client, LIBC + "call(39)")
    assert (outcome.status, outcome.stdout) == ("ok", "BREACH\n")


@pytest.mark.skipif(platform.machine() != "x86_64", reason="machine code of x86")
async def test_calls_of_the_32_bit_abi_kill(client: SandboxClient) -> None:
    """Numbers mean other calls there: 41, socket here, is dup there."""
    code = r"""
import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=7)
page.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # mov eax, 20 (getpid); int 0x80; ret
call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
print("BREACH", call())
"""
    outcome = await run(client, code)
    # A kernel without that ABI ends it with SIGSEGV instead.
    assert (outcome.status in ("denied", "crash"), outcome.stdout) == (True, ""), outcome


async def test_there_is_nothing_of_ours_to_read(client: SandboxClient) -> None:
    """Neither an environment nor a file tells of the host, the banks or the service."""
    code = """
import importlib.util, os
print(sorted(os.environ))
print([name for name in ("bot", "service", "questions", "dailygrad") if importlib.util.find_spec(name)])
print(os.uname().nodename, os.getpid(), os.getcwd(), os.listdir("."))
"""
    outcome = await run(client, code)
    environment, found, rest = outcome.stdout.splitlines()
    assert set(eval(environment)) <= {
        "CUDA_VISIBLE_DEVICES",
        "GLIBC_TUNABLES", "HOME", "LANG", "LD_LIBRARY_PATH", "MALLOC_ARENA_MAX", "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS", "PWD", "PYTHONMALLOC", "PYTORCH_NVML_BASED_CUDA_CHECK", "TORCHINDUCTOR_CACHE_DIR",
    }  # fmt: skip
    assert (found, rest) == ("[]", "sandbox 1 /tmp []")


async def test_descriptors_are_the_five_that_were_handed_over(client: SandboxClient) -> None:
    code = """
import os
for number in range(64):
    try:
        os.fstat(number)
        print(number, end=" ")
    except OSError:
        pass
"""
    assert (await run(client, code)).stdout == "0 1 2 3 "


# Ends by a limit.
EXHAUSTING: dict[str, tuple[Status, str]] = {
    "loop": ("time", "while True: pass"),
    "sleep": ("time", "import time; time.sleep(60)"),
    "deaf loop": (
        "time",
        "import signal\nfor n in range(1, 32):\n  try: signal.signal(n, signal.SIG_IGN)\n"
        "  except (OSError, ValueError): pass\nwhile True: pass",
    ),
    "loop in C": ("time", "import torch; x = torch.ones(3000, 3000)\nwhile True: x = x @ x"),
    "bytes": ("memory", "x = bytearray(1 << 30)"),
    "bytes by and by": ("memory", "import torch\nx = []\nwhile True: x.append(torch.empty(1 << 20))"),
    "tensor": ("memory", "import torch; torch.ones(1 << 28)"),
    "mmap": ("memory", "import mmap; mmap.mmap(-1, 1 << 30)"),
    "print": ("output", "while True: print('x' * 1000)"),
    "complain": ("output", "import sys\nwhile True: sys.stderr.write('x' * 1000)"),
    "one large file": ("error", "f = open('x', 'wb')\nwhile True: f.write(b'x' * (1 << 20))"),
    "many files": ("error", "for n in range(99): open(str(n), 'wb').write(b'x' * (1 << 20))"),
    "many empty files": ("error", "for n in range(9999): open(str(n), 'wb')"),
    "descriptors": ("error", "import os\nwhile True: os.pipe()"),
    "threads": (
        "error",
        "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(9,), daemon=True).start()",
    ),
    "recursion": ("error", "def f(): f()\nf()"),
    "nested source": ("error", "(" * 5000),
}


@pytest.mark.parametrize("name", EXHAUSTING)
async def test_what_is_used_up_ends_the_run_and_nothing_else(client: SandboxClient, name: str) -> None:
    status, code = EXHAUSTING[name]
    outcome = await run(client, code)
    assert outcome.status == status, outcome
    assert outcome.wall_ms < 2000
    assert len(outcome.stdout) <= LIMITS.output_bytes
    assert (await run(client, "print('next')")).stdout == "next\n"


async def test_a_run_leaves_nothing_to_the_next(client: SandboxClient) -> None:
    leave = """
import builtins, torch
builtins.left = torch.left = 1
torch.allclose = lambda *_: True
open('/tmp/left', 'w').write('x')
"""
    look = """
import builtins, os, torch
close = torch.allclose(torch.ones(1), torch.zeros(1))
print(hasattr(builtins, 'left'), hasattr(torch, 'left'), close, os.listdir('/tmp'))
"""
    for _ in range(4):
        assert (await run(client, leave)).status == "ok"
        assert (await run(client, look)).stdout == "False False False []\n"
