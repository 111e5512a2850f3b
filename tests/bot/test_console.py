"""The console chat end to end: scripted input, a transcript, and the real service."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from bot.console import ConsoleStore, run_console
from bot.console.chat import WORKSPACE
from sandbox.client import SandboxClient
from service.app import Service, build
from service.client import ServiceClient
from service.config import Settings
from service.wire import Who
from tests.bot.conftest import BANK
from tests.conftest import TOKEN, Clock
from tests.service.own_variants import bank, typed_family, variant_in

Line = str | Callable[[], Awaitable[object]]


async def talk(client: ServiceClient, service: Service, store: ConsoleStore, *script: Line) -> str:
    """Returns the transcript of typed lines, with actions between them."""
    said: list[str] = []

    async def lines() -> AsyncIterator[str]:
        for line in script:
            if isinstance(line, str):
                yield line
            else:
                await line()

    await run_console(client, clock=service.clock, lines=lines(), write=said.append, store=store, echo=True, live=False)
    return "".join(said)


def imported() -> tuple[str, ...]:
    """Returns the lines that paste the bank into its form."""
    return ("/quiz-admin bank import", "room.md", *BANK.read_text(encoding="utf-8").splitlines(), ".", ".", "1")


async def import_bank(client: ServiceClient) -> None:
    """Imports the bank without its form, into which hundreds of lines take seconds to type."""
    ann = Who(platform="console", workspace=WORKSPACE, member="ann", name="Ann", admin=True)
    view = await client.bank_import(ann, "import", BANK.name, BANK.read_text(encoding="utf-8"), True)
    assert view.applied, view.findings


def assert_told(transcript: str, *parts: str) -> None:
    """Checks that the parts appear in the transcript in order."""
    position = 0
    for part in parts:
        found = transcript.find(part, position)
        assert found >= 0, f"{part!r} does not follow in:\n{transcript[position:]}"
        position = found + len(part)


async def later(service: Service, clock: Clock, **delta: float) -> None:
    clock.advance(**delta)
    await service.tick()
    await service.jobs.run_pending()


ONLY_ONE_CHOICE = tuple(
    f"/quiz-admin bank retire {name}" for name in ("two-right", "the-shape", "two-lines", "why-scale")
)
SCHEDULE = "/quiz-admin schedule add 09:30 mon-fri Europe/Berlin open:4h kind:choice"


async def test_from_the_daily_question_to_the_board(client: ServiceClient, service: Service, clock: Clock) -> None:
    with ConsoleStore() as store:
        text = await talk(
            client,
            service,
            store,
            "/quiz today",
            "/as Ann",
            *imported(),
            *ONLY_ONE_CHOICE,
            SCHEDULE,
            lambda: later(service, clock, minutes=30),
            "1",
            "A",
            "B",
            "/as Bob",
            "/quiz-admin audit",
            "/quiz answer",
            "C",
            "Z",
            lambda: later(service, clock, hours=4),
            "/quiz board",
            "/quit",
            "/quiz rules",
        )
    assert_told(
        text,
        "nobody> /quiz today\n── (console) ──\nChoose a name first: /as NAME.",
        "You are Ann, an admin.",
        "Imported\n\nroom: 6 added",
        "Schedule added\n\nSchedule 1 in daily: 09:30 (Europe/Berlin), Monday to Friday, open for 4 hours;",
        "── (#daily) ──\nQuestion for Monday 2 March\n\nWhat does torch.zeros(2, 3).t().shape give?",
        "── (only you, Ann) ──\nYour answer\n",
        "Open until 13:30 (Europe/Berlin).",
        "Ann> A\n── (only you, Ann) ──\nYour answer is recorded\n\nYou chose A.",
        "Ann> B\n── (only you, Ann) ──\nYour answer is changed\n\nYou chose B.",
        "[A]   [B] (your answer)   [C]",
        "You are Bob.",
        "Only quiz admins can do that.",
        "Bob> C\n── (only you, Bob) ──\nYour answer is recorded",
        "There is no button 'Z' here.",
        "── (#daily, in the thread) ──\nThe answer\n\nRight: (3, 2)\n\nWrong:",
        "Why: t swaps the two dimensions.",
        "How it went:",
        "Points for this question",
        "Next question: Tuesday 3 March, 09:30 (Europe/Berlin).",
        "── (only you, Bob) ──\nThis week\n",
        "Bob (you)",
        "Bob> /quit\n",
    )
    assert "A right answer earns" not in text


async def test_two_members_at_one_terminal_get_different_variants(
    client: ServiceClient, service: Service, clock: Clock
) -> None:
    with ConsoleStore() as store:
        text = await talk(
            client,
            service,
            store,
            "/as Ann",
            lambda: bank(service, typed_family()),
            "/quiz-admin schedule add 09:30 mon-fri Europe/Berlin open:4h variants:on",
            lambda: later(service, clock, minutes=30),
            "/quiz answer",
            "0",
            "/as Bob",
            "/quiz answer",
            "0",
            "/quit",
        )
    parts = [text.index(title) for title in ("Question for Monday", "only you, Ann) ──\nYour answer", "only you, Bob")]
    assert len({variant_in(text[place:]) for place in parts}) == 3
    assert text.count("your own variant") >= 2


@pytest.mark.sandbox
async def test_from_practice_to_a_judged_program(settings: Settings, clock: Clock, sandbox: SandboxClient) -> None:
    async with (
        build(settings, clock, sandbox).running() as service,
        ServiceClient.inside(service.api, TOKEN) as client,
    ):
        with ConsoleStore() as store:
            text = await talk(client, service, store, "/as Ann", lambda: import_bank(client), *practicing(service))
    assert_told(
        text,
        "Your code\nWrite add_one.",
        "    def add_one(x: int) -> int:",
        "[1] Submit   [2] Run the examples   [0] Cancel",
        "Examples: 0 of 2 passed\n\nYour code is not right yet. 0 of 2 cases passed.",
        "Case 1 gave a wrong result:\n\nCall:\n\n    add_one(1)\n\nExpected:\n\n    2\n\nGot:\n\n    3\n\nCases",
        "Current text:\n    def add_one(x):\n        return x + 2",
        "Your code is being judged…",
        "── (only you, Ann) ──\nYour code: wrong",
        "[1] Try again   [2] Show the solution   [3] Next card",
        "Examples:\n\n    >>> add_one(1)\n    2\n    >>> add_one(2)\n    3",
        "Current text:\n    def add_one(x):\n        return x - 1",
        "Your code is being judged…",
        "── (only you, Ann) ──\nYour code: accepted\n\nYour code is right. 7 of 7 cases passed.",
        "   3 │ hidden  │ passed",
        "Finished in ",
        "    tensor(3.)",
    )


def practicing(service: Service) -> tuple[Line, ...]:
    """Practices a code question: runs the examples, submits, and then runs a snippet."""
    others = tuple(f"/quiz-admin bank retire {name}" for name in ("one-right",))
    wrong = ("def add_one(x):", "    return x + 2", ".", "2")
    failing = ("def add_one(x):", "    return x - 1", ".", "1")
    right = ("def add_one(x):", "    return x + 1", ".", "1")
    snippet = "/quiz run import torch\\nprint(torch.ones(3).sum())"
    judged = service.jobs.run_pending
    retry = (*failing, judged, "1", *right, judged)
    return (*ONLY_ONE_CHOICE, *others, "/quiz practice", *wrong, "1", *retry, snippet)


async def test_a_form_can_be_left_and_lists_what_may_follow(client: ServiceClient, service: Service) -> None:
    with ConsoleStore() as store:
        text = await talk(
            client, service, store,
            "/as Ann", "", "/quiz run", "print(1)", "/cancel", "/quiz board ?", "/quiz zzz?", "/weather", "hello",
            "/quiz-admin bank import", ".", "", "room.md", "x", ".", ".", "9", "0", "/quiz help",
        )  # fmt: skip
    assert_told(
        text,
        "Run a snippet",
        "The form is closed; nothing was sent.",
        "/quiz board day\n/quiz board week",
        "Nothing can follow that.",
        "The commands are /quiz, /quiz-admin, /as NAME and /quit.",
        "There is no button 'hello' here. Commands begin with a slash, such as /quiz help.",
        "Name of the document",
        "The document\nMarkdown, CSV",
        "Type a number from 1 to 2, or 0 to close the form.",
        "The form is closed; nothing was sent.",
        "/quiz practice   │",
    )


async def test_a_command_leaves_a_form_and_its_draft_is_kept(client: ServiceClient, service: Service) -> None:
    with ConsoleStore() as store:
        text = await talk(
            client, service, store,
            "/as Ann", "/quiz run", "print(1)", "  /quiz me", "/quizzical", "/quiz topics",
            "/quiz run", "/quiz-admin season list", "/quiz run", "/as Bob", "/quiz run", "/as Ann",
            "/quiz run", "/cancel", "/quiz run", "print(2)", "/quit", "/quiz rules",
        )  # fmt: skip
    left = "You left the form. What you typed is there when you open it again."
    held = "Current text:\n    print(1)\n      /quiz me\n    /quizzical\n"
    leaving = "/cancel closes the form; /quiz, /quiz-admin, /as and /quit leave it, too.\n\nYour program"
    assert_told(
        text,
        leaving,
        f"Ann …> /quiz topics\n── (console) ──\n{left}\n\n── (only you, Ann) ──\nTopics",
        held,
        f"Ann …> /quiz-admin season list\n── (console) ──\n{left}\n\n── (only you, Ann) ──\nSeasons",
        held,
        f"Ann …> /as Bob\n── (console) ──\n{left}\n\n── (console) ──\nYou are Bob.",
        leaving,
        "Bob …> /as Ann\n── (console) ──\nYou are Ann",
        held,
        "The form is closed; nothing was sent.",
        held,
    )
    assert text.endswith("Ann …> /quit\n")


async def test_messages_come_while_nothing_is_typed(client: ServiceClient, service: Service, clock: Clock) -> None:
    said: list[str] = []
    posted = asyncio.Event()

    def write(text: str) -> None:
        said.append(text)
        if "Question for" in text:
            posted.set()

    async def lines() -> AsyncIterator[str]:
        yield "/as Ann"
        await import_bank(client)
        for line in (*ONLY_ONE_CHOICE, SCHEDULE):
            yield line
        await later(service, clock, minutes=30)
        await posted.wait()

    with ConsoleStore() as store:
        await run_console(client, clock=clock, lines=lines(), write=write, store=store)
    post = next(text for text in said if "Question for" in text)
    assert post.startswith("\n── (#daily) ──\nQuestion for Monday 2 March")
    assert post.endswith("[1] Answer   [2] Hint\n\nAnn> ")
    assert "/as Ann" not in "".join(said[1:])


async def test_a_second_start_posts_nothing_twice(
    client: ServiceClient, service: Service, clock: Clock, tmp_path: Path
) -> None:
    path = tmp_path / "console.sqlite"
    with ConsoleStore(path) as store:
        first = await talk(
            client, service, store,
            "/as Ann", lambda: import_bank(client), *ONLY_ONE_CHOICE, SCHEDULE,
            lambda: later(service, clock, minutes=30), "1",
        )  # fmt: skip
    with ConsoleStore(path) as store:
        second = await talk(client, service, store, "/as Bob", "/quiz today", "1", "/as Ann", "/quiz today")
    assert first.count("Question for Monday") == 1
    assert "Question for Monday" not in second
    assert_told(second, "You are Bob.", "Not answered yet.", "[A]   [B]   [C]", "You are Ann, an admin.")


async def test_a_report_is_reviewed_and_its_author_hears_the_outcome(
    client: ServiceClient, service: Service, clock: Clock
) -> None:
    with ConsoleStore() as store:
        text = await talk(
            client,
            service,
            store,
            "/as Ann",
            lambda: import_bank(client),
            SCHEDULE,
            "/as Bob",
            "/quiz report one-right Two are right.",
            "/as Ann",
            lambda: later(service, clock, minutes=1),
            "/quiz-admin review show 1",
            "2",
            "It says t.",
            ".",
            "/as Bob",
            lambda: later(service, clock, minutes=1),
            "/quiz help",
        )
    assert_told(text, "Report 1 on question", "A question was reported", "Two are right.", "[1] Review")
    assert_told(text, "Bob on question one-right", "[2] Dismiss", "Why is the question right?", "is settled")
    assert_told(text, "Your report was reviewed", "It says t.")
