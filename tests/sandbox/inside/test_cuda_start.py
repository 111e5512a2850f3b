"""Starts a stand-in for a CUDA driver behind each set of walls, and checks what is closed to it afterwards."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from sandbox import linux
from sandbox.devices import ChildDevice
from tests.sandbox.doubles import drivers
from tests.sandbox.inside.test_confine import alone

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(drivers.compiler() is None, reason="no C compiler: the stand-in for the driver cannot be built"),
    pytest.mark.skipif(linux.landlock_abi() == 0, reason="the kernel has no Landlock"),
]

START = """
import ctypes, json, struct
from sandbox.devices import ChildDevice
from sandbox.inside import gpu_child, seccomp
device = ChildDevice.from_json(json.loads({device!r}))
readable = (os.path.dirname(os.__file__), sys.prefix, sys.base_prefix, os.path.dirname(gpu_child.__file__), "/usr/lib",
            "/lib", *device.libraries)
namespaces, own_pids, walls = confine.NAMESPACES, True, True
def refuse(number):
    linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
    steps = ((0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x50001), (0x06, 0, 0, 0x7FFF0000))
    linux.load_filter(b"".join(struct.pack("=HBBI", *step) for step in steps))
before = lambda: None
{wall}
user, group = os.getuid(), os.getgid()
sys.stdout.flush()
pid, pidfd = linux.clone(namespaces)
if pid:
    os._exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
def start():
    cuda = ctypes.CDLL(device.driver)
    cuda.cudaDoubleStep.restype = ctypes.c_char_p
    print(cuda.cuInit(0), cuda.cudaDoubleStep().decode(), flush=True)
confinement = confine.Confinement(readable, user, group, 1, own_pids=own_pids)
hide = gpu_child.confine_before_driver(confinement, device) if walls else None
before()
start()
"""

NO_OWN_PROC = "confine.mount_own_proc = lambda: None"
SAME_IDS = "namespaces, own_pids = confine.NAMESPACES & ~linux.CLONE_NEWPID, False"
READ_ONLY_PROC = """
restrict = confine.restrict_files
def restrict_more(readable, *, kernel_folders, **rest):
    return restrict([*readable, *kernel_folders], **rest)
confine.restrict_files = restrict_more
"""
NUMBERS = {"memfd_create": (319, 279), "socket": (41, 198), "bind": (49, 200), "listen": (50, 201)}
NUMBERS["eventfd2"] = (290, 19)


def refused(name: str) -> str:
    """Returns a wall that refuses one system call, as a container's profile does."""
    return f"before = lambda: refuse({NUMBERS[name][linux.machine() == 'aarch64']})"


WALLS = {
    "no walls": ("namespaces, walls = 0, False", "0 "),
    "bare host, as shipped": ("", "0 "),
    "bare host, the jail's /proc (as before)": (NO_OWN_PROC, "304 thread name"),
    "bare host, own /proc that is read only": (READ_ONLY_PROC, "304 thread name"),
    "bare host, the jail's /proc, read only": (NO_OWN_PROC + READ_ONLY_PROC, "304 thread name"),
    "container, as shipped: no process ids of its own": (SAME_IDS, "0 "),
    "container, /proc read only (as before)": (SAME_IDS + READ_ONLY_PROC, "304 thread name"),
    "container, memfd_create refused (as before)": (SAME_IDS + "\n" + refused("memfd_create"), "304 memfd"),
    "socket refused": (refused("socket"), "304 socket"),
    "container, bind refused": (SAME_IDS + "\n" + refused("bind"), "304 bind"),
    "container, listen refused": (SAME_IDS + "\n" + refused("listen"), "304 listen"),
    "eventfd2 refused": (refused("eventfd2"), "304 eventfd"),
    "no device file": ("import dataclasses; device = dataclasses.replace(device, nodes=())", "304 device"),
    "/proc and /sys covered first": ("before = hide_sys = lambda: hide()", "304 thread name"),
}
"""Walls, and what the driver says behind them: error number, and the step that was refused."""


@pytest.mark.parametrize("walls", WALLS)
def test_the_driver_reports_what_each_set_of_walls_refuses(walls: str, tmp_path: Path) -> None:
    wall, result = WALLS[walls]
    program = START.format(device=json.dumps(asdict(drivers.rehearsal_device())), wall=wall)
    assert alone(program, tmp_path) == [result]


def test_the_documentation_has_the_table() -> None:
    text = (Path(drivers.__file__).parents[3] / "docs/gpu.md").read_text(encoding="utf-8")
    for walls, (_, result) in WALLS.items():
        number, _, step = result.partition(" ")
        assert f"| {walls} | {', '.join(filter(None, (number, step)))} |\n" in text


COVERED = """
print(os.path.isdir("/proc/self/task"), any(
    os.readlink(f"/proc/self/fd/{n}").startswith(("/proc", "/sys")) for n in os.listdir("/proc/self/fd")[:-1]
))
gpu_child.release_kernel_files()
hide()
gpu_child.confine_after_driver()
start()
folders = []
for number in range(3, 64):
    try:
        folders += os.listdir(number)
    except OSError:
        pass
print(folders)
for path in ("/proc", "/sys"):
    tried(lambda: os.listdir(path))
tried(lambda: open("/proc/self/comm", "w"))
tried(lambda: os.memfd_create("x"))
sys.stdout.flush()
"""


@pytest.mark.parametrize("wall", ["", SAME_IDS], ids=["own process ids", "no own process ids"])
def test_what_the_driver_had_is_gone_before_an_answer_runs(wall: str, tmp_path: Path) -> None:
    program = START.format(device=json.dumps(asdict(drivers.rehearsal_device())), wall=wall) + COVERED
    assert alone(program, tmp_path) == [
        "0 ", "True True", "304 thread name", "[]", *["PermissionError"] * 2, "FileNotFoundError", "PermissionError",
    ]  # fmt: skip


def test_a_driver_that_does_not_start_is_reported_with_its_number(tmp_path: Path) -> None:
    home = drivers.rehearsal_device()
    lonely = ChildDevice("cpu", "", "", (), home.libraries, driver=home.driver)
    assert Path(lonely.driver).exists()
    program = f"""
from sandbox.inside import gpu_child
linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
confine.restrict_files(["/usr/lib", "/lib", "/proc", sys.base_prefix, *{home.libraries!r}], writable=False)
gpu_child.start_driver("")
try:
    gpu_child.start_driver({lonely.driver!r})
except RuntimeError as problem:
    print(problem)
"""
    message = "cuInit: error 304; the driver needs a system call or a file that it was refused (docs/gpu.md)"
    assert alone(program, tmp_path) == [message]
