"""Every code of a finding has a section in FINDINGS.md, and the example of each section leads to its finding."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import questions
from questions import read_bank, read_path
from questions.report import explain_code, explanations
from sandbox.client import SandboxClient
from service.banks.proving import collect_results, plan_proofs, prove_all

PACKAGE = Path(questions.__file__).parent
CODES = {
    code
    for path in PACKAGE.rglob("*.py")
    for code in re.findall(r"[\"']([QP]\d{3})[\"']", path.read_text(encoding="utf-8"))
}

FENCE = re.compile(r"^```(?P<language>\w+)\n(?P<body>.*?)^```$", re.M | re.S)
FILES = {
    "markdown": ("example.md",),
    "xml": ("example.xml",),
    "yaml": ("example.yaml",),
    "json": ("example.json",),
    "text": ("example.gift", "example.txt", "example.csv"),
}
"""Names that an example is read under, by the language of its fence."""
SAFEGUARDS = {"Q108", "Q213"}
"""Checks of what the readers cannot produce today: no document leads to them."""
IN_FOLDERS = {"Q307"}
"""Needs two documents, of which only one is shown."""
FRAGMENTS = {"P122", "P123"}
"""Need a whole challenge, of which only the program in question is shown."""


def example_of(code: str) -> tuple[str, str]:
    """Returns the language and the content of a finding's example."""
    found = FENCE.search(explanations()[code])
    assert found
    return found["language"], found["body"]


def test_codes_are_found_in_the_source() -> None:
    assert {"Q001", "P101", "P124"} <= CODES


def test_every_code_has_a_section() -> None:
    missing = sorted(CODES - set(explanations()))
    assert missing == [], f"write `## {missing[0]} title` with meaning, example and fix in questions/FINDINGS.md"


def test_every_section_is_about_a_code_that_exists() -> None:
    assert sorted(set(explanations()) - CODES) == []


@pytest.mark.parametrize("code", sorted(explanations()))
def test_a_section_has_a_meaning_an_example_and_a_fix(code: str) -> None:
    section = explanations()[code]
    heading, _, rest = section.partition("\n\n")
    assert re.fullmatch(r"## [QP]\d{3}(, [QP]\d{3})* \S.*", heading)
    assert re.match(r"\w[^\n]{20,}", rest), "start with the meaning"
    assert len(re.findall(r"^```", rest, re.MULTILINE)) == 2, "show one example in a fence"
    assert re.search(r"^\*\*Fix:\*\* \S", rest, re.MULTILINE)


@pytest.mark.parametrize("written", ["P102", "p102", " P102 ", "error[P102]"])
def test_a_code_is_explained_however_it_is_written(written: str) -> None:
    assert explain_code(written).startswith("## P102 ")


def test_sections_are_in_the_order_of_their_codes() -> None:
    def rank(code: str) -> tuple[bool, str]:
        return code.startswith("P"), code

    assert list(explanations()) == sorted(explanations(), key=rank)


def test_an_unknown_code_is_refused() -> None:
    with pytest.raises(KeyError):
        explain_code("P999")


@pytest.mark.parametrize("code", sorted(code for code in explanations() if code.startswith("Q")))
def test_reading_the_example_leads_to_the_finding(code: str) -> None:
    language, text = example_of(code)
    document = text.replace("\\xe9", "\xe9").encode("latin-1") if code == "Q001" else text
    found = {finding.code for name in FILES[language] for finding in read_bank(document, name=name).findings}
    assert (code in found) is (code not in SAFEGUARDS | IN_FOLDERS)


def test_two_documents_of_a_folder_lead_to_the_finding_about_their_bank(tmp_path: Path) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text(example_of("Q307")[1], "utf-8")
    assert [{one.code for one in reading.findings} & IN_FOLDERS for reading in read_path(tmp_path)] == [{"Q307"}] * 2


@pytest.mark.slow
@pytest.mark.sandbox
async def test_proving_the_examples_leads_to_the_findings(sandbox: SandboxClient) -> None:
    readings = {}
    for code in explanations():
        if code.startswith("P") and code not in FRAGMENTS:
            language, text = example_of(code)
            document = text if language == "markdown" else f"```{language}\n{text}```\n"
            readings[code] = read_bank(document, name=f"{code}.md")
    found = [one async for one in prove_all(plan_proofs([*readings.values()]), sandbox)]
    proving = collect_results([*readings.values()], found, {"torch": "2.13.0"}, 1.0)
    told = [{finding.code for finding in document.findings} for document in proving.documents]
    assert len(told) == len(readings) > 10
    assert [code for code, codes in zip(readings, told, strict=True) if code not in codes] == []
