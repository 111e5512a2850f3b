"""Checks the seccomp profile without an engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from sandbox.inside import seccomp

HOME = Path(seccomp.__file__).parents[1]
PROFILE = json.loads((HOME / "seccomp.json").read_text())
GPU_PROFILE = json.loads((HOME / "seccomp-gpu.json").read_text())
DRIVER_CALLS = {"memfd_create", "mbind", "mincore", "mlock", "munlock", "set_mempolicy"}
DRIVER_CALLS |= {"get_mempolicy", "sched_get_priority_max", "sched_get_priority_min"}
"""What a GPU's driver calls when it starts, besides what every child does."""
FORBIDDEN = {
    "add_key",
    "bpf",
    "clone3",
    "delete_module",
    "finit_module",
    "fsopen",
    "fsmount",
    "init_module",
    "io_uring_enter",
    "io_uring_register",
    "io_uring_setup",
    "kexec_load",
    "keyctl",
    "memfd_create",
    "memfd_secret",
    "mknod",
    "mknodat",
    "mount_setattr",
    "move_mount",
    "name_to_handle_at",
    "open_by_handle_at",
    "open_tree",
    "perf_event_open",
    "pidfd_getfd",
    "process_vm_readv",
    "process_vm_writev",
    "ptrace",
    "quotactl",
    "reboot",
    "request_key",
    "setns",
    "swapon",
    "syslog",
    "umount",
    "userfaultfd",
}


def allowed(profile: dict[str, Any] = PROFILE, *, always: bool = True) -> set[str]:
    """Returns the allowed system calls, with any arguments or only with some."""
    rules = [rule for rule in profile["syscalls"] if rule["action"] == "SCMP_ACT_ALLOW"]
    return {name for rule in rules if ("args" not in rule) is always for name in rule["names"]}


def test_what_is_not_named_is_refused() -> None:
    assert PROFILE["defaultAction"] == "SCMP_ACT_ERRNO"
    assert not (allowed() | allowed(always=False)) & FORBIDDEN


def test_all_that_a_child_may_call_can_be_called_in_the_container() -> None:
    # Pairs of Unix sockets are the one call allowed with some arguments only, here as there.
    assert seccomp.allowed_names() - {"socketpair"} <= allowed()
    assert seccomp.allowed_names(gpu=True) - {"socketpair"} <= allowed(GPU_PROFILE)
    assert "socketpair" in allowed(always=False)


def test_the_profile_for_a_gpu_differs_by_what_its_driver_calls() -> None:
    rules = [rule for rule in GPU_PROFILE["syscalls"] if not set(rule["names"]) & DRIVER_CALLS]
    assert {**GPU_PROFILE, "syscalls": rules} == PROFILE
    assert allowed(GPU_PROFILE) - allowed() == DRIVER_CALLS
    # The driver has started by then: an answer gets none of them but the one that torch's pinned memory uses.
    assert seccomp.allowed_names(gpu=True) & DRIVER_CALLS == {"get_mempolicy"}


def test_the_sandbox_with_a_gpu_is_as_hard_as_the_other() -> None:
    services = yaml.safe_load((Path(seccomp.__file__).parents[2] / "docker-compose.yml").read_text())["services"]
    usual, gpu = services["sandbox"], services["sandbox-gpu"]
    assert gpu["profiles"] == ["gpu"]
    for line in (
        "user",
        "network_mode",
        "read_only",
        "cap_drop",
        "init",
        "runtime",
        "command",
        "volumes",
    ):
        assert gpu[line] == usual[line]
    plain = [line.replace("seccomp-gpu.json", "seccomp.json") for line in gpu["security_opt"]]
    assert plain == usual["security_opt"] and "seccomp=./sandbox/seccomp-gpu.json" in gpu["security_opt"]
    assert usual["cap_drop"] == ["ALL"] and usual["network_mode"] == "none" and usual["read_only"] is True
    (device,) = gpu["deploy"]["resources"]["reservations"]["devices"]
    assert (device["driver"], device["capabilities"]) == ("nvidia", ["gpu"])
    # An answer needs no graphics and no display.
    assert gpu["environment"] == {"NVIDIA_DRIVER_CAPABILITIES": "compute,utility"}


def test_the_gpu_can_be_given_as_a_cdi_device_and_nothing_else_changes() -> None:
    text = (Path(seccomp.__file__).parents[2] / "docker-compose.cdi.yml").read_text()
    assert "devices: !override" in text
    devices = [{"driver": "cdi", "device_ids": ["nvidia.com/gpu=all"], "capabilities": ["gpu"]}]
    changed = {"deploy": {"resources": {"reservations": {"devices": devices}}}}
    # Compose's tag for replacing a list rather than adding to it, which other readers of YAML do not know.
    assert yaml.safe_load(text.replace("!override", "")) == {"services": {"sandbox-gpu": changed}}


def test_sockets_are_unix_or_netlink_and_clone3_makes_libc_fall_back() -> None:
    assert allowed(always=False) == {"socket", "socketpair"}
    families = [rule["args"][0]["value"] for rule in PROFILE["syscalls"] if "args" in rule]
    assert families == [1, 16]
    assert [rule["errnoRet"] for rule in PROFILE["syscalls"] if rule["names"] == ["clone3"]] == [38]
