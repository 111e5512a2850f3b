"""What a program needs that the sandbox does not have: a device, a package, a file, the network."""

from __future__ import annotations

import re

from questions.snippets.planning import Failure

_MESSAGES = (
    (r"cuda|nvidia|nccl|cudnn|no gpu", "a CUDA device"),
    (r"\bmps\b|\bxpu\b|\bhpu\b|\bxla\b", "a device that is not here"),
    (
        r"RANK expected|process group has not been init|MASTER_ADDR|torchelastic|DataLoader worker|gloo|new process",
        "several processes",
    ),
    (r"c\+\+ compiler|inductor|cxxcompiler|triton|ninja|g\+\+", "a C++ compiler"),
    (r"name resolution|network is unreachable|urlopen|connection refused|max retries", "the network"),
    (r"read-only file system|/dev/shm|semaphore", "what the sandbox denies"),
    (r"can't allocate memory|cannot allocate memory|out of memory", "more memory than the sandbox gives"),
)
_KINDS = {
    "FileNotFoundError": "a file that is not here",
    "NotADirectoryError": "a file that is not here",
    "URLError": "the network",
    "HTTPError": "the network",
    "ConnectionError": "the network",
    "gaierror": "the network",
    "PermissionError": "what the sandbox denies",
    "BlockingIOError": "more processes than the sandbox allows",
    "EOFError": "input from the keyboard",
    "MemoryError": "more memory than the sandbox gives",
    "DistStoreError": "several processes",
    "DistNetworkError": "several processes",
}
_STATUSES = {"memory": "more memory than the sandbox gives", "denied": "what the sandbox denies"}
_HERE = frozenset(("torch", "numpy"))
_SEVERAL = re.compile(r"\bmultiprocessing\b|\bmp\.spawn\b|\bnum_workers\b|\binit_process_group\b|\bProcess\(")
_MACHINE = re.compile(
    r"cuda|\bmps\b|__version__|device_count|get_device|nvidia|\btime\b|perf_counter|\bid\(|data_ptr|getpid"
)


def needs_of(failure: Failure | None, status: str, program: str) -> str:
    """What a program lacked here when it failed; empty when the fault is its own."""
    if failure is None:
        if status == "time" and _SEVERAL.search(program):
            return "several processes"
        return _STATUSES.get(status, "")
    if "ModuleNotFoundError" in failure.kinds:
        package = failure.name.partition(".")[0]
        return f"the package `{package}`" if package not in _HERE else ""
    for kind in failure.kinds:
        if kind in _KINDS:
            return _KINDS[kind]
    for pattern, needed in _MESSAGES:
        if failure.kind not in ("NameError", "AttributeError", "SyntaxError") and re.search(
            pattern, failure.text, re.I
        ):
            return needed
    return ""


def hangs_on_machine(statement: str, claim: str) -> bool:
    """Whether what a statement gives depends on the machine: its devices, its clock, its torch."""
    return bool(_MACHINE.search(f"{statement} {claim}"))
