"""Which GPUs are found, or why none: every reason on a simulated machine, with a double of NVML."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sandbox.cli import examine_gpus
from sandbox.host.gpu import GpuInventory, Nvml, NvmlError, find_gpus, library_paths
from tests.sandbox.doubles.drivers import build_library

NODES = ("nvidia4", "nvidia5", "nvidiactl", "nvidia-uvm")


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_library("nvml_double.c", tmp_path_factory.mktemp("nvml") / "libnvidia-ml.so.1")


@pytest.fixture
def machine(tmp_path: Path, library: Path) -> Path:
    """Files as on a machine with two GPUs whose driver's libraries lie apart from the system's."""
    for name in NODES:
        (tmp_path / "dev").mkdir(exist_ok=True)
        (tmp_path / "dev" / name).touch()
    (tmp_path / "proc/driver/nvidia").mkdir(parents=True)
    (tmp_path / "proc/driver/nvidia/version").write_text("NVRM version: 999.1")
    libraries = tmp_path / "usr/local/nvidia/lib64"
    libraries.mkdir(parents=True)
    (libraries / "libcuda.so.1").touch()
    shutil.copy(library, libraries)
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch/version.py").write_text("__version__ = '9'\ncuda: Optional[str] = '13.0'\n")
    return tmp_path


def summary_without_devices(machine: Path, choice: str = "all") -> str:
    """Returns why none of the machine's GPUs can be used."""
    found = find_gpus(choice, machine, machine / "torch")
    assert found.devices == ()
    return found.summary


def test_a_gpu_is_found_with_what_its_children_need(machine: Path) -> None:
    found = find_gpus("all", machine, machine / "torch")
    (device,) = found.devices
    assert (device.name, device.title, device.uuid, device.index) == ("cuda", "Double 0, 24 GB", "GPU-00000000", 0)
    assert device.nodes == ("/dev/nvidia4", "/dev/nvidiactl", "/dev/nvidia-uvm")
    assert (device.libraries, device.driver) == (("/usr/local/nvidia/lib64",), "libcuda.so.1")
    assert found.summary == (
        "Double 0, 24 GB; Double 1: it is in MIG mode and has no slices: nvidia-smi mig -cgi 0 -C, "
        "or nvidia-smi -mig 0 for the whole GPU"
    )


def test_a_linked_library_is_used_from_the_folder_that_it_points_to(machine: Path) -> None:
    system = machine / "usr/lib/x86_64-linux-gnu"
    system.mkdir(parents=True)
    for name in ("libcuda.so.1", "libnvidia-ml.so.1"):
        (system / name).symlink_to(machine / "usr/local/nvidia/lib64" / name)
    assert find_gpus("0", machine, machine / "torch").devices[0].libraries == ("/usr/local/nvidia/lib64",)


@pytest.fixture
def sliced(machine: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The machine, whose second GPU has two MIG slices."""
    monkeypatch.setenv("NVML_DOUBLE_SLICES", "2")
    (machine / "dev/nvidia-caps").mkdir()
    for instance, minors in ((7, (66, 67)), (8, (75, 76))):
        folder = machine / f"proc/driver/nvidia/capabilities/gpu5/mig/gi{instance}"
        (folder / "ci0").mkdir(parents=True)
        for path, minor in zip((folder, folder / "ci0"), minors, strict=True):
            (path / "access").write_text(f"DeviceFileMinor: {minor}\nDeviceFileMode: 292\nDeviceFileModify: 1\n")
            (machine / f"dev/nvidia-caps/nvidia-cap{minor}").touch()
    return machine


def test_each_mig_slice_is_a_device_with_its_own_files(sliced: Path) -> None:
    found = find_gpus("all", sliced, sliced / "torch")
    whole, first, second = found.devices
    assert whole.uuid == "GPU-00000000"
    assert (first.title, first.uuid, first.index) == ("Double 1 MIG 1g.6gb, 6 GB", "MIG-00000002", 1)
    common = ("/dev/nvidia5", "/dev/nvidiactl", "/dev/nvidia-uvm")
    assert first.nodes == (*common, "/dev/nvidia-caps/nvidia-cap66", "/dev/nvidia-caps/nvidia-cap67")
    assert second.nodes == (*common, "/dev/nvidia-caps/nvidia-cap75", "/dev/nvidia-caps/nvidia-cap76")
    assert find_gpus("1", sliced, sliced / "torch").devices == (first, second)


def test_a_slice_whose_files_are_missing_is_named(sliced: Path) -> None:
    (sliced / "dev/nvidia-caps/nvidia-cap76").unlink()
    found = find_gpus("all", sliced, sliced / "torch")
    assert [device.index for device in found.devices] == [0]
    assert "Double 1: /dev/nvidia-caps/nvidia-cap76 of a slice is missing or may not be read" in found.summary


def test_the_memory_of_a_slice_is_its_own(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NVML_DOUBLE_SLICES", "2")
    nvml = Nvml([str(library)])
    assert (nvml.memory_mb(1, "MIG-00000003")[1], nvml.memory_mb(1, "GPU-00000001")[1]) == (6144.0, 24576.0)
    nvml.close()


def test_a_gpu_that_was_not_chosen_is_left_alone(machine: Path) -> None:
    assert find_gpus("0,1", machine, machine / "torch").devices[0].index == 0
    assert summary_without_devices(machine, "7").startswith("Double 0: not among --gpus 7; ")
    assert summary_without_devices(machine, "none") == "none is used: started with --gpus none"


@pytest.mark.parametrize(
    ("gone", "summary"),
    [
        (("dev/nvidia4", "dev/nvidia5", "proc/driver/nvidia/version"), "no NVIDIA driver is loaded"),
        (
            ("dev/nvidia4", "dev/nvidia5"),
            "the driver is loaded, but there is no /dev/nvidia0: a container must be given",
        ),
        (("dev/nvidia-uvm",), "/dev/nvidia-uvm is missing: run nvidia-modprobe -c 0 -u as root"),
        (("dev/nvidiactl",), "/dev/nvidiactl is missing: "),
        (("dev/nvidia4",), "Double 0: /dev/nvidia4 is missing or may not be opened by user "),
        (("torch/version.py",), "torch's build cannot be read: "),
        (("usr/local/nvidia/lib64/libnvidia-ml.so.1",), "the driver's library libnvidia-ml.so.1 cannot be loaded: "),
    ],
)
def test_the_summary_names_what_is_missing(machine: Path, gone: tuple[str, ...], summary: str) -> None:
    for path in gone:
        (machine / path).unlink()
    assert summary_without_devices(machine).startswith(summary)


@pytest.mark.parametrize("line", ["cuda: Optional[str] = None", "cuda = None", "hip = '6.2'"])
def test_a_cpu_build_of_torch_is_recognized_without_importing_it(machine: Path, line: str) -> None:
    (machine / "torch/version.py").write_text(f"{line}\n")
    assert summary_without_devices(machine).startswith("this torch is built for the CPU: ")


@pytest.mark.parametrize(("supported", "found"), [("12080", False), ("13000", True), ("13010", True), ("14000", True)])
def test_a_driver_too_old_for_torch_is_named_with_its_cure(
    machine: Path, supported: str, found: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NVML_DOUBLE_CUDA", supported)
    gpus = find_gpus("all", machine, machine / "torch")
    assert (bool(gpus.devices), gpus.cure.startswith("update the driver, or install")) == (found, not found)
    if not found:
        assert gpus.summary == "the driver 999.1 is too old: it is for CUDA 12.8, and torch is built for 13.0"


async def test_the_doctor_reports_an_old_driver_as_broken_and_a_machine_without_a_gpu_as_fine(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NVML_DOUBLE_CUDA", "12080")
    well, finding, cure = await examine_gpus(find_gpus("all", machine, machine / "torch"))
    assert (well, finding) == (
        False,
        "GPU: the driver 999.1 is too old: it is for CUDA 12.8, and torch is built for 13.0",
    )
    assert cure.endswith("pip install torch --index-url https://download.pytorch.org/whl/cu126")
    none = GpuInventory(summary="no NVIDIA driver is loaded")
    assert await examine_gpus(none) == (True, "GPU: no NVIDIA driver is loaded", "")


def test_a_driver_of_the_same_major_version_runs_a_newer_minor_one(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NVML_DOUBLE_CUDA", "12020")
    (machine / "torch/version.py").write_text("cuda = '12.8'\n")
    assert find_gpus("all", machine, machine / "torch").devices


def test_gpus_of_wsl_are_recognized(machine: Path) -> None:
    (machine / "dev/dxg").touch()
    assert summary_without_devices(machine).startswith("GPUs of WSL are not used")


def test_this_machine_is_described_correctly() -> None:
    found = find_gpus()
    assert bool(found.devices) == (Path("/dev/nvidiactl").exists() and "GB" in found.summary)
    assert found.summary


def test_nvml_returns_its_driver_and_the_memory_in_use(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = tmp_path / "used"
    used.write_text("4096")
    monkeypatch.setenv("NVML_DOUBLE", str(used))
    nvml = Nvml(library_paths([str(library.parent)]))
    assert (nvml.driver(), nvml.memory_mb(0)) == ("999.1", (4096.0, 24576.0))
    used.unlink()
    with pytest.raises(NvmlError, match=r"nvmlDeviceGetMemoryInfo: GPU is lost \(error 15\)"):
        nvml.memory_mb(0)
    nvml.close()


def test_a_driver_that_does_not_answer_is_reported(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NVML_DOUBLE_FAILS", "1")
    with pytest.raises(NvmlError, match=r"nvmlInit_v2: Driver Not Loaded \(error 9\)"):
        Nvml([str(library)])
