"""`dailygrad bank prove` and `dailygrad bank explain` as typed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests import forked

ROOT = Path(__file__).parent.parent
READABLE = "---\nbank: b\n---\n\n# t\n\n## two-ones · value · mid\n\nWhat?\n\n### Answer\n\n`2`\n"


def bank(*words: str) -> subprocess.CompletedProcess[str]:
    return forked.run(
        [sys.executable, "-m", "dailygrad", "bank", *words], cwd=ROOT, capture_output=True, text=True, timeout=150
    )


def test_a_finding_is_explained() -> None:
    done = bank("explain", "p102")
    assert (done.returncode, done.stderr) == (0, "")
    assert "P102" in done.stdout and "Fix:" in done.stdout


def test_an_unknown_finding() -> None:
    done = bank("explain", "P999")
    assert done.returncode == 2
    assert done.stderr.startswith("dailygrad: unknown finding P999; choose one of P101, P102, ")


def test_a_document_that_is_not_there() -> None:
    done = bank("prove", "no-such.md")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "dailygrad: there is no no-such.md: pass a document or a folder\n"


def test_nothing_to_prove_is_no_success(tmp_path: Path) -> None:
    done = bank("prove", str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"dailygrad: there is no document in {tmp_path}: pass a file, or a folder with documents\n"
    (tmp_path / "d.md").write_bytes(bytes(range(256)) * 8)
    done = bank("prove", str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert "d.md: this is a binary file, not a document with questions; export it as text" in done.stderr


def test_a_mistyped_id_to_prove_is_told_the_nearest(tmp_path: Path) -> None:
    document = tmp_path / "d.md"
    document.write_text(READABLE, "utf-8")
    done = bank("prove", str(document), "--only", "two-one")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "dailygrad: no question has the id two-one: did you mean `two-ones`?\n"


@pytest.mark.sandbox
def test_an_error_sets_the_exit_status_and_the_report_names_torch(tmp_path: Path) -> None:
    document = tmp_path / "d.md"
    document.write_text("```python\nimport torch\nprint(torch.ones(1))  # 2.0\n```\n", encoding="utf-8")
    done = bank("prove", str(document), "--draws", "2", "--format", "json")
    told = json.loads(done.stdout)
    assert (done.returncode, told["draws"]) == (1, 2)
    assert [found["code"] for found in told["documents"][0]["findings"]] == ["P102"]
    assert told["torch"].startswith("2.")


@pytest.mark.sandbox
def test_what_cannot_be_read_is_not_proved_either(tmp_path: Path) -> None:
    document = tmp_path / "d.md"
    document.write_text(f"{READABLE}\n## no-key · choice · mid\n\nWhich?\n\n- [ ] `1`\n- [ ] `2`\n", "utf-8")
    checked = json.loads(bank("check", str(document), "--format", "json").stdout)
    done = bank("prove", str(document), "--format", "json")
    found = json.loads(done.stdout)["documents"][0]["findings"]
    errors = [one for one in checked["documents"][0]["findings"] if one["severity"] == "error"]
    assert done.returncode == 1
    assert errors and [one["code"] for one in found if one["severity"] == "error"] == [one["code"] for one in errors]
    # Another question of the document can be proved alone.
    assert bank("prove", str(document), "--only", "two-ones").returncode == 0


@pytest.mark.sandbox
def test_another_torch_than_the_one_named_is_refused(tmp_path: Path) -> None:
    document = tmp_path / "d.md"
    document.write_text("text\n", encoding="utf-8")
    done = bank("prove", str(document), "--torch", "1.0")
    assert (done.returncode, done.stdout) == (2, "")
    assert "runs here, not 1.0: install torch==1.0" in done.stderr
