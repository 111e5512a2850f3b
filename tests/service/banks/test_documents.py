"""Documents that come from a chat are read in a child process, within limits, and only for admins."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from questions import Reading, read_bank
from questions.export import export_bank
from questions.worker import Limits, TooMuch, check_complexity
from service.app import Service
from service.banks.documents import DOCUMENTS, DocumentReader
from service.client import ServiceClient, ServiceRefused, caller_header
from service.errors import Refused
from service.wire import PACKED, AdminsOnly, DocumentRefused
from tests.conftest import TOKEN, MakeWho
from tests.questions.formats.test_pages import paragraph, word
from tests.questions.formats.test_workbooks import workbook

BANKS = sorted((Path(__file__).parents[3] / "questions/banks").glob("*.md"))
HOSTILE: dict[str, tuple[str, DocumentRefused]] = {
    "5 MB of headings": ("# a\n" * 1_249_999, DocumentRefused(why="blocks", most=150_000)),
    "lists in lists": (("- " * 59 + "a\n") * 10_000, DocumentRefused(why="blocks", most=150_000)),
    "quotes in quotes": ("> " * 600_000 + "a", DocumentRefused(why="depth", most=100)),
}


@pytest.fixture
def reader() -> Iterator[Callable[[Limits], DocumentReader]]:
    made: list[DocumentReader] = []

    def make(limits: Limits) -> DocumentReader:
        made.append(DocumentReader(limits))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.mark.parametrize("name", HOSTILE)
async def test_a_hostile_document_is_refused_and_the_services_memory_is_bounded(
    client: ServiceClient, who: MakeWho, name: str
) -> None:
    text, refusal = HOSTILE[name]
    before = psutil.Process().memory_info().rss
    with pytest.raises(ServiceRefused) as caught:
        await client.bank_import(who(admin=True), "e1", "hostile.md", text, True)
    assert caught.value.refusal == refusal
    # Copies of the text on its way, and nothing that was made of it.
    assert psutil.Process().memory_info().rss - before < 100 * 2**20


def packed(data: bytes) -> str:
    return PACKED + b64encode(data).decode()


FILES: dict[str, bytes] = {
    "quiz.xlsx": workbook([["Question", "Answer"], ["What is a view?", "A tensor that shares memory."]]),
    "quiz.docx": word(paragraph("1. What is a view?"), paragraph("Answer: A tensor that shares memory.")),
    "quiz.apkg": export_bank(
        read_bank("### 1. What is a view?\n\n**Answer:** It shares memory.\n", name="a.md").bank, "anki"
    ),
}


@pytest.mark.parametrize("name", FILES)
async def test_a_file_that_is_not_text_is_imported(client: ServiceClient, who: MakeWho, name: str) -> None:
    view = await client.bank_import(who(admin=True), "e1", name, packed(FILES[name]), True)
    assert (view.added, view.errors, "1 question · 1 answered" in view.summary) == (1, 0, True)
    assert view.findings == ""


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (word(paragraph("x" * (33 * 2**20))), "`word/document.xml` is larger than 32 MiB"),
        (b"PK\x03\x04 broken", "the package cannot be opened"),
        (b"\x89PNG\r\n\x1a\n\x00", "this is a PNG picture, not a document with questions"),
    ],
    ids=["bomb", "broken", "picture"],
)
async def test_a_file_that_cannot_be_read_is_refused_in_words(
    client: ServiceClient, who: MakeWho, data: bytes, message: str
) -> None:
    view = await client.bank_import(who(admin=True), "e1", "quiz.zip", packed(data), True)
    assert not view.applied, view.findings
    assert message in view.findings


async def test_base64_that_is_none_is_an_empty_document(client: ServiceClient, who: MakeWho) -> None:
    view = await client.bank_import(who(admin=True), "e1", "quiz.zip", f"{PACKED}x", False)
    assert (view.added, "no questions recognized" in view.findings) == (0, True)


async def test_a_members_document_is_not_read(service: Service, client: ServiceClient, who: MakeWho) -> None:
    DOCUMENTS.close()
    with pytest.raises(ServiceRefused) as caught:
        await client.bank_import(who(), "e1", "own.md", "### 1. What?\n\n**Answer:** x\n", False)
    assert caught.value.refusal == AdminsOnly()
    assert DOCUMENTS.pid is None


LONG = "".join(f"### {i}. What is {i}?\n\n**Answer:** x\n\n" for i in range(45_000))
"""More than can be read in a second, or in 230 MiB."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limits", "why"),
    [
        # At some of these limits CPython repeats a MemoryError until the processor time is used up, if it comes to one.
        *((Limits(memory=mebibytes * 2**20, blocks=10**6, cpu_s=600), "memory") for mebibytes in (150, 213, 214, 222)),
        (Limits(cpu_s=1), "time"),
    ],
)
async def test_memory_and_time_are_limited(
    reader: Callable[[Limits], DocumentReader], limits: Limits, why: str
) -> None:
    one = reader(limits)
    with pytest.raises(Refused) as caught:
        await one.read(LONG, "long.md")
    assert caught.value.refusal == DocumentRefused(why=why)
    # The next document is read by another process.
    assert (await one.read("### 1. What?\n\n**Answer:** x\n", "short.md")).answered == 1


WATCHED = """
import sys
from questions.worker import watch_memory
with watch_memory({most}, sys.stdout.buffer):
    for count in range(3_000_000):
        pass
    kept = [bytes(1_000) for _ in range({blocks})]
print("read")
"""
"""A document that takes a while, and `blocks` kilobytes in small objects."""


@pytest.mark.parametrize(
    ("most", "blocks", "said"),
    [
        (300 * 2**20, 600_000, b'refused {"why": "memory"}\n'),
        (4 * 2**30, 600_000, b"read\n"),
        # More is in use before it begins, as after a long document: a short one takes nothing more.
        (1, 0, b"read\n"),
    ],
)
def test_small_objects_end_the_process_before_its_memory_is_full(most: int, blocks: int, said: bytes) -> None:
    program = WATCHED.format(most=most, blocks=blocks)
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout == said


async def test_a_document_that_takes_too_long_is_refused_for_its_time() -> None:
    one = DocumentReader(wall_s=0.5)
    try:
        with pytest.raises(Refused) as caught:
            await one.read(LONG, "long.md")
        assert caught.value.refusal == DocumentRefused(why="time")
    finally:
        one.close()


async def test_a_process_that_linux_kills_ran_out_of_memory(reader: Callable[[Limits], DocumentReader]) -> None:
    one = reader(Limits())
    reading = asyncio.create_task(one.read(LONG, "long.md"))
    child = await asyncio.to_thread(lambda: next(pid for pid in iter(lambda: one.pid, 0) if pid is not None))
    psutil.Process(child).kill()
    with pytest.raises(Refused) as caught:
        await reading
    assert caught.value.refusal == DocumentRefused(why="memory")


async def test_the_result_is_the_readers_own(reader: Callable[[Limits], DocumentReader]) -> None:
    one = reader(Limits())
    for path in BANKS[:3]:
        text = path.read_text(encoding="utf-8")
        found = await one.read(text, path.name)
        assert isinstance(found, Reading) and found == read_bank(text, name=path.name)


async def test_a_document_is_dropped_when_the_caller_leaves(service: Service, who: MakeWho) -> None:
    """The caller disconnects as soon as the child process reads: it ends, and the next document is read."""
    DOCUMENTS.close()

    def started() -> int:
        return next(pid for pid in iter(lambda: DOCUMENTS.pid, 0) if pid is not None)

    sent = asyncio.Event()
    status: list[int] = []
    body = httpx.Request(
        "POST", "http://service/", json={"event_id": "e", "name": "a.md", "text": LONG, "apply": False}
    ).content

    async def receive() -> dict[str, object]:
        if not sent.is_set():
            sent.set()
            return {"type": "http.request", "body": body, "more_body": False}
        child.append(psutil.Process(await asyncio.to_thread(started)))
        return {"type": "http.disconnect"}

    async def send(message: dict[str, object]) -> None:
        if "status" in message:
            status.append(int(str(message["status"])))

    child: list[psutil.Process] = []
    headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json", **caller_header(who(admin=True))}
    scope = {
        "type": "http", "method": "POST", "path": "/v1/admin/bank/import", "raw_path": b"", "root_path": "",
        "query_string": b"", "http_version": "1.1", "scheme": "http", "server": ("service", 80), "client": ("here", 1),
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
    }  # fmt: skip
    await service.api(scope, receive, send)  # type: ignore[arg-type]
    assert status == [499]
    await asyncio.to_thread(child[0].wait, 30)
    assert (await DOCUMENTS.read("### 1. What?\n\n**Answer:** x\n", "short.md")).answered == 1


@pytest.mark.parametrize(
    ("text", "excess"),
    [
        ("a\n\n\r\nb\r\n" * 2, None),
        ("a\n" * 5, TooMuch("blocks", 4)),
        ("- a\n- b\n", None),
        ("- a\n> b\n1. c\n", TooMuch("blocks", 4)),
        ("- " * 3 + "a", None),
        ("- " * 4 + "a", TooMuch("depth", 3)),
        ("> 1) * + a", TooMuch("depth", 3)),
        (">>>>", TooMuch("depth", 3)),
        ("-----\n1.5\n", None),
    ],
)
def test_lines_list_items_and_quotes_are_counted(text: str, excess: TooMuch | None) -> None:
    assert check_complexity(text, Limits(blocks=4, depth=3)) == excess
