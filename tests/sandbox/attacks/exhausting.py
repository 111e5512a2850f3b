"""Bombs: CPU, memory, processes, threads, descriptors, disk, inodes, output. Each is bounded: its control ends."""

from __future__ import annotations

from sandbox.wire import Limits
from tests.sandbox.attacks.attack import FLEETING, Attack

_UNTIL = "import time\nend = time.monotonic() + 0.9\n"
_PARSER = "any interpreter gives up on it; here it must be the run that ends, and nothing else"

TIME = [
    Attack(name, _UNTIL + code, ("time",), FLEETING)
    for name, code in {
        "a loop": "while time.monotonic() < end: pass\nbreach()",
        "a sleep": "time.sleep(0.9)\nbreach()",
        "a loop deaf to every signal": "import signal\nfor n in range(1, 65):\n"
        "    try: signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError): pass\n"
        "while time.monotonic() < end: pass\nbreach()",
        "a loop that catches all": "while time.monotonic() < end:\n    try:\n"
        "        while time.monotonic() < end: pass\n"
        "    except BaseException: pass\nbreach()",
        "a loop in C": "import torch\nx = torch.ones(900, 900)\nwhile time.monotonic() < end: x @ x\nbreach()",
        "one call of C that never looks up": "sum(range(60_000_000))\n"
        "time.sleep(max(0, end - time.monotonic()))\nbreach()",
        "eight threads at once": "import threading\ndef spin():\n    while time.monotonic() < end: pass\n"
        "many = [threading.Thread(target=spin) for _ in range(8)]\n[t.start() for t in many]\n"
        "[t.join() for t in many]\nbreach()",
        "a lock held for ever": "import threading\nlock = threading.Lock()\nlock.acquire()\n"
        "lock.acquire(timeout=end - time.monotonic())\nbreach()",
        "a pipe nobody writes": "import select\nselect.select([os.pipe()[0]], [], [], end - time.monotonic())\n"
        "breach()",
        "an exception whose text takes for ever": "class Slow(Exception):\n    def __str__(self):\n"
        "        while time.monotonic() < end: pass\n        breach()\n        return ''\n"
        "try: raise Slow\nexcept Slow as slow: str(slow)",
        "a finalizer that takes for ever": "class Slow:\n    def __del__(self):\n        time.sleep(0.9)\n"
        "        breach()\nSlow()",
        "a fresh interval timer in place of the limit": "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\n"
        "signal.setitimer(signal.ITIMER_PROF, 0)\nwhile time.monotonic() < end: pass\nbreach()",
    }.items()
]

MEMORY = [
    Attack(name, code, ("memory",))
    for name, code in {
        "one block": "x = bytearray(1 << 30)\nbreach()",
        "block by block": "import torch\nx = [torch.empty(1 << 20) for _ in range(256)]\nbreach()",
        "a tensor": "import torch\nx = torch.empty(1 << 28)\nbreach()",
        "a numpy array": "import numpy\nx = numpy.empty(1 << 27)\nbreach()",
        "a model": "import torch\nx = torch.nn.Linear(1 << 14, 1 << 14, device='meta').to_empty(device='cpu')\n"
        "breach()",
        "an anonymous mapping": "import mmap\nx = mmap.mmap(-1, 1 << 30)\nbreach()",
        "a string times many": "x = 'x' * (1 << 30)\nbreach()",
        "a decompression bomb": "import zlib\npacked = zlib.compress(bytes(1 << 20))\n"
        "x = zlib.decompress(packed * 1, bufsize=1 << 30)\nbreach()",
    }.items()
] + [
    Attack(name, code)
    for name, code in {
        "a private mapping behind Python's back": "libc.mmap.restype = ctypes.c_void_p\n"
        "got = libc.mmap(None, ctypes.c_size_t(1 << 30), 3, 0x4022, -1, ctypes.c_long(0))\n"
        "breach() if got != ctypes.c_void_p(-1).value else refused(OSError(ctypes.get_errno(), ''))",
        "a shared mapping": "libc.mmap.restype = ctypes.c_void_p\n"
        "got = libc.mmap(None, ctypes.c_size_t(1 << 30), 3, 0x21, -1, ctypes.c_long(0))\n"
        "breach() if got != ctypes.c_void_p(-1).value else refused(OSError(ctypes.get_errno(), ''))",
        "a mapping that grows": "import mmap\nx = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n"
        "attempt(x.resize, 1 << 30)",
        "the heap's end": "libc.sbrk.restype = ctypes.c_void_p\n"
        "got = libc.sbrk(ctypes.c_long(1 << 30))\n"
        "breach() if got != ctypes.c_void_p(-1).value else refused(OSError(ctypes.get_errno(), ''))",
        "a thread's stack": "import threading\nthreading.stack_size(1 << 30)\n"
        "attempt(threading.Thread(target=print, args=('x',)).start)",
        "pipes full of bytes": "held = 0\ntry:\n    for _ in range(200):\n        _, into = os.pipe()\n"
        "        held += os.write(into, bytes(65536))\n    breach()\nexcept OSError as problem: refused(problem)",
        "larger pipes": "import fcntl\nattempt(fcntl.fcntl, os.pipe()[1], 1031, 1 << 20)",
    }.items()
]

PROCESSES = [
    Attack("a fork bomb", "def burst():\n    for _ in range(40):\n        if os.fork() == 0:\n"
           "            import time; time.sleep(0.2); os._exit(0)\nattempt(burst)"),
    Attack("a bomb of vforks", "def go():\n    if libc.syscall(57, 0) == -1: raise OSError(ctypes.get_errno(), '')\n"
           "if platform.machine() != 'x86_64': refused(OSError(38, ''))\n"
           "else:\n    number = libc.syscall(57)\n    if number == 0: os._exit(0)\n"
           "    breach() if number > 0 else refused(OSError(ctypes.get_errno(), ''))"),
    Attack("a plain clone", "number = raw(56, 220, 17, 0, 0, 0, 0)\nif number == 0: os._exit(0)\n"
           "breach() if number > 0 else refused(OSError(ctypes.get_errno(), ''))"),
    Attack("clone3", "import struct\n"
        "arguments = ctypes.create_string_buffer(struct.pack('8Q', 0, 0, 0, 0, 17, 0, 0, 0))\n"
           "number = raw(435, 435, ctypes.byref(arguments), 64)\nif number == 0: os._exit(0)\n"
           "breach() if number > 0 else refused(OSError(ctypes.get_errno(), ''))"),
    Attack("a subprocess", "import subprocess\nattempt(subprocess.run, ['/bin/true'])"),
    Attack("a shell", "def shell():\n    if os.system('exit 3') >> 8 != 3: raise OSError(1, '')\nattempt(shell)"),
    Attack("a shell from below Python", "breach() if libc.system(b'exit 3') >> 8 == 3 else refused(OSError(1, ''))"),
    Attack("posix_spawn", "attempt(os.posix_spawn, '/bin/true', ['true'], {})"),
    Attack("multiprocessing", "import multiprocessing as m\nattempt(m.get_context('fork').Process(target=int).start)"),
    Attack("a daemon that outlives the run", "def flee():\n    if os.fork() == 0:\n        os.setsid()\n"
           "        if os.fork() == 0:\n            import time; time.sleep(0.3)\n        os._exit(0)\nattempt(flee)"),
    Attack("another program in our place", "attempt(os.execv, sys.executable if os.path.exists(sys.executable) else "
           "'/bin/sh', ['x', '-c', 'print(\"BREACH\")'])"),
    Attack("another program from memory", "call(322, 281, -1, b'', 0, 0, 0x1000)"),
    Attack("a bomb of threads", "import threading\nstop = threading.Event()\nmany = []\ntry:\n"
        "    for _ in range(200):\n"
           "        many.append(threading.Thread(target=stop.wait, daemon=True)); many[-1].start()\n    breach()\n"
           "except RuntimeError as problem: refused(problem)\nstop.set()"),
    Attack("threads that start threads", "import threading, time\ncount, failed = [0], []\ndef more():\n"
           "    count[0] += 1\n    try:\n"
           "        if count[0] < 200: threading.Thread(target=more, daemon=True).start()\n"
           "    except RuntimeError as problem: failed.append(problem)\n    time.sleep(60)\n"
           "threading.Thread(target=more, daemon=True).start()\n"
           "while count[0] < 200 and not failed: time.sleep(0.01)\n"
           "refused(failed[0]) if failed else breach()"),
]  # fmt: skip

DISK = [
    Attack(name, code)
    for name, code in {
        "a bomb of descriptors": "attempt(lambda: [os.open('/dev/null', 0) for _ in range(100)])",
        "duplicates of a descriptor": "attempt(lambda: [os.dup(0) for _ in range(100)])",
        "one large file": "f = open('/tmp/x', 'wb')\nattempt(lambda: [f.write(bytes(1 << 20)) for _ in range(24)])",
        "many files": "attempt(lambda: [open(f'/tmp/{n}', 'wb').write(bytes(1 << 20)) for n in range(24)])",
        "a file that claims a lot": "import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "f = open('/tmp/y', 'wb')\nattempt(f.truncate, 1 << 30)",
        "a file that reserves a lot": "import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "f = open('/tmp/z', 'wb')\nattempt(os.posix_fallocate, f.fileno(), 0, 24 << 20)",
        "a bomb of inodes": "attempt(lambda: [open(f'/tmp/n{n}', 'wb').close() for n in range(600)])",
        "a bomb of directories": "attempt(lambda: [os.mkdir(f'/tmp/d{n}') for n in range(600)])",
        "directories ever deeper": "os.chdir('/tmp')\n"
        "attempt(lambda: [(os.mkdir('d'), os.chdir('d')) for _ in range(600)])",
        "files deleted but held": "def hold():\n    held = []\n    for n in range(24):\n"
        "        held.append(open('/tmp/h', 'wb')); held[-1].write(bytes(1 << 20))\n"
        "        held[-1].flush(); os.unlink('/tmp/h')\n"
        "attempt(hold)",
    }.items()
]

OUTPUT = [
    Attack(name, code, ("output",))
    for name, code in {
        "a flood on stdout": "for _ in range(400): sys.stdout.write('x' * 10_000)\nprint('BREACH', file=sys.stderr)",
        "a flood on stderr": "for _ in range(400): sys.stderr.write('x' * 10_000)\nbreach()",
        "a flood from below Python": "for _ in range(400): os.write(1, b'x' * 10_000)\n"
        "print('BREACH', file=sys.stderr)",
        "a flood of empty lines": "for _ in range(400): os.write(1, b'\\n' * 10_000)\nprint('BREACH', file=sys.stderr)",
        "a flood of results": "frame = b'\\xff\\xff\\0\\0C' + bytes(65535)\nfor _ in range(400):\n"
        "    data = frame\n    while data: data = data[os.write(3, data):]\nbreach()",
        "a result that announces gigabytes": "os.write(3, b'\\xff\\xff\\xff\\xffC')\nimport time\n"
        "time.sleep(1)\nbreach()",
    }.items()
]

PARSERS = [
    Attack(name, code, ("error", "memory", "crash"), uncontrolled=_PARSER)
    for name, code in {
        "recursion": "def f(): f()\nf()",
        "recursion in C": "x = []\nfor _ in range(200_000): x = [x]\nrepr(x)",
        "recursion without a limit": "sys.setrecursionlimit(1 << 30)\nclass A:\n    def __getattr__(self, name):\n"
        "        return getattr(self, name + 'x')\nA().x",
        "nested source": "eval('(' * 5000)",
        "a long chain of signs": "eval('-' * 300_000 + '1')",
        "an exception of many kilobytes": "raise ValueError('x' * (50 << 10))",
        "a very long chain of exceptions": "error = None\nfor n in range(3000):\n    new = ValueError(n)\n"
        "    new.__cause__ = error\n    error = new\nraise error",
        "an exception that cannot be shown": "class Bad(Exception):\n    def __str__(self): raise Bad\n"
        "    __repr__ = __str__\nraise Bad",
        "an abort": "os.abort()",
        "a null pointer": "ctypes.string_at(0)",
        "a broken interpreter": "ctypes.memset(id(type), 0, 200)\nprint(type(1))",
    }.items()
]

# Address space that was there before: what it becomes is not asked for, so no limit of the process sees it.
OWNING = [
    Attack("the libraries' pages made our own", """
import time, torch
class Part(ctypes.Structure):
    _fields_ = [(n, ctypes.c_uint32) for n in ("kind", "flags")] + [
        (n, ctypes.c_uint64) for n in ("offset", "address", "physical", "in_file", "size", "align")
    ]
class Library(ctypes.Structure):
    _fields_ = [("base", ctypes.c_uint64), ("name", ctypes.c_char_p), ("parts", ctypes.POINTER(Part)),
                ("count", ctypes.c_uint16)]
found = []
def look(library, size, data):
    one = library.contents
    found.extend((one.base + part.address, part.size) for part in one.parts[: one.count] if part.kind == 1)
    return 0
visit = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Library), ctypes.c_size_t, ctypes.c_void_p)
libc.dl_iterate_phdr(visit(look), None)
owned = 0
for address, size in sorted(found, key=lambda part: -part[1]):
    first = address & ~4095
    if libc.mprotect(ctypes.c_void_p(first), ctypes.c_size_t(size + address - first), 7):
        continue
    for page in range(first, address + size, 4096):
        byte = ctypes.c_char.from_address(page)
        byte.value = byte.value
        owned += 4096
        if owned > 224 << 20:
            time.sleep(0.2)  # as long as it is ours
            breach()
            raise SystemExit
refused(OSError(0, f"{owned >> 20} MB are all there is"))
""", ("memory",), Limits(wall_ms=60_000, cpu_ms=30_000, memory_mb=64)),
]  # fmt: skip

ATTACKS = TIME + MEMORY + OWNING + PROCESSES + DISK + OUTPUT + PARSERS
