"""What is typed after the slash: read, refused with a cure, and completed."""

from __future__ import annotations

from datetime import date, time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.argument_kinds import RelativeDay, Value
from bot.core.command_parser import CommandError, complete, read_command, suggest
from bot.core.command_spec import COMMANDS, Spec, specs_of

READ: list[tuple[str, str, str, dict[str, Value]]] = [
    ("quiz", "", "/quiz help", {}),
    ("quiz", "today", "/quiz today", {}),
    ("quiz", "  TODAY ", "/quiz today", {}),
    ("quiz", "board week topic:autograd", "/quiz board", {"period": "week", "topic": "autograd"}),
    ("quiz", "board autograd all month", "/quiz board", {"period": "month", "topic": "autograd", "all": True}),
    ("quiz", "board ever", "/quiz board", {"period": "all"}),
    ("quiz", "board All time", "/quiz board", {"period": "all"}),
    ("quiz", "board all-time all", "/quiz board", {"period": "all", "all": True}),
    ("quiz", 'board "All time" autograd', "/quiz board", {"period": "all", "topic": "autograd"}),
    ("quiz", "board all", "/quiz board", {"all": True}),
    ("quiz", "practice autograd senior", "/quiz practice", {"topic": "autograd", "level": "senior"}),
    ("quiz", "practice senior", "/quiz practice", {"level": "senior"}),
    ("quiz", 'practice "senior"', "/quiz practice", {"level": "senior"}),
    ("quiz", "practice topic:senior", "/quiz practice", {"topic": "senior"}),
    ("quiz", "practice kind:code", "/quiz practice", {"kind": "code"}),
    (
        "quiz",
        "practice autograd kind:Code mid",
        "/quiz practice",
        {"topic": "autograd", "level": "mid", "kind": "code"},
    ),
    ("quiz", "practice code", "/quiz practice", {"topic": "code"}),
    ("quiz", "run import torch\nprint(  1)", "/quiz run", {"code": "import torch\nprint(  1)"}),
    ("quiz", "run code:x", "/quiz run", {"code": "code:x"}),
    ("quiz", "explain stride-view", "/quiz explain", {"id": "stride-view"}),
    ("quiz", "report stride-view it's wrong", "/quiz report", {"id": "stride-view", "text": "it's wrong"}),
    ("quiz", "privacy export", "/quiz privacy", {"action": "export"}),
    ("quiz-admin", "review", "/quiz-admin review list", {}),
    ("quiz-admin", "schedule skip 2026-03-02", "/quiz-admin schedule skip", {"date": date(2026, 3, 2)}),
    (
        "quiz-admin",
        "schedule skip #3 2026-03-02",
        "/quiz-admin schedule skip",
        {"schedule": 3, "date": date(2026, 3, 2)},
    ),
    ("quiz-admin", "sprint", "/quiz-admin sprint start", {}),
    ("quiz-admin", "schedule edit 1 ping:<@&42>", "/quiz-admin schedule edit", {"schedule": 1, "ping": "42"}),
    (
        "quiz-admin",
        "schedule edit 1 ping:<!subteam^S0AB12|@ml-team>",
        "/quiz-admin schedule edit",
        {"schedule": 1, "ping": "S0AB12"},
    ),
    ("quiz-admin", "schedule edit 1 ping:none", "/quiz-admin schedule edit", {"schedule": 1, "ping": ""}),
    ("quiz-admin", "sprint 10", "/quiz-admin sprint start", {"questions": 10}),
    (
        "quiz-admin",
        "sprint 10 30 autograd",
        "/quiz-admin sprint start",
        {"questions": 10, "seconds": 30, "topic": "autograd"},
    ),
    ("quiz-admin", "sprint seconds:30", "/quiz-admin sprint start", {"seconds": 30}),
    ("quiz-admin", "sprint start autograd 3", "/quiz-admin sprint start", {"topic": "autograd", "questions": 3}),
    ("quiz-admin", "sprint stop", "/quiz-admin sprint stop", {}),
    ("quiz-admin", "sprint cancel", "/quiz-admin sprint cancel", {}),
    ("quiz-admin", "sprint 5 at:18:00", "/quiz-admin sprint start", {"questions": 5, "at": time(18)}),
    ("quiz-admin", "season start Spring in the lab", "/quiz-admin season start", {"name": "Spring in the lab"}),
    (
        "quiz-admin",
        "schedule add 09:00 mon-fri Europe/Berlin open:8h level:mid,senior",
        "/quiz-admin schedule add",
        {"at": time(9), "days": (0, 1, 2, 3, 4), "zone": "Europe/Berlin", "open": 480, "level": ("mid", "senior")},
    ),
    (
        "quiz-admin",
        "schedule add europe/berlin daily at:7.30 speed:on catch-up:1h30m topic:a,b memory:30",
        "/quiz-admin schedule add",
        {
            "zone": "Europe/Berlin",
            "days": tuple(range(7)),
            "at": time(7, 30),
            "speed": True,
            "catch-up": 90,
            "topic": ("a", "b"),
            "memory": 30,
        },
    ),
    (
        "quiz-admin",
        "schedule add every:3d first:2026-03-02 month-days:1,last",
        "/quiz-admin schedule add",
        {"every": 3, "first": date(2026, 3, 2), "month-days": (1, 31)},
    ),
    ("quiz-admin", "schedule edit 3 fri-mon", "/quiz-admin schedule edit", {"schedule": 3, "days": (0, 4, 5, 6)}),
    (
        "quiz-admin",
        'member adjust "Ann B" -5 the key "was" wrong',
        "/quiz-admin member adjust",
        {"name": "Ann B", "points": -5, "reason": 'the key "was" wrong'},
    ),
    (
        "quiz-admin",
        "member adjust Ada de la Cruz 5 well found",
        "/quiz-admin member adjust",
        {"name": "Ada de la Cruz", "points": 5, "reason": "well found"},
    ),
    (
        "quiz-admin",
        "member restore Ann B yesterday",
        "/quiz-admin member restore",
        {"name": "Ann B", "date": RelativeDay(-1)},
    ),
    ("quiz-admin", "tournament captain @Ann B", "/quiz-admin tournament captain", {"member": "@Ann B"}),
    ("quiz", "tournament pick Ann B", "/quiz tournament", {"action": "pick", "member": "Ann B"}),
    (
        "quiz-admin",
        "tournament new Spring cup days:3",
        "/quiz-admin tournament new",
        {"name": "Spring cup", "days": 3},
    ),
    ("quiz-admin", "bank undo My bank", "/quiz-admin bank undo", {"name": "My bank"}),
    ("quiz-admin", "bank undo Week 3 import:7", "/quiz-admin bank undo", {"name": "Week 3", "import": 7}),
    (
        "quiz-admin",
        "member restore “Ann B” 2026-03-02",
        "/quiz-admin member restore",
        {"name": "Ann B", "date": date(2026, 3, 2)},
    ),
]


def test_capitals_make_no_other_command() -> None:
    assert read_command("QUIZ", "TODAY").spec.words == "/quiz today"


@pytest.mark.parametrize(("name", "text", "words", "values"), READ)
def test_what_is_typed_is_read(name: str, text: str, words: str, values: dict[str, Value]) -> None:
    typed = read_command(name, text)
    assert (typed.spec.words, dict(typed.values)) == (words, values)


REFUSED = [
    ("quiz", "borad", "There is no command `/quiz borad`. Did you mean `/quiz board`? `/quiz help` lists them all."),
    (
        "quiz",
        "schedule add",
        "There is no command `/quiz schedule`. Did you mean `/quiz-admin schedule`? `/quiz-admin help` lists them all.",
    ),
    (
        "quiz-admin",
        "member adjust Ann five why",
        "`POINTS` is missing after `Ann five why`: points, such as 5 or -5. Type `/quiz-admin member adjust NAME "
        "POINTS REASON`.",
    ),
    ("quiz-admin", "member adjust Ann 5pt why", "`5pt` is not a number. Write it in digits, such as `3`."),
    (
        "quiz-admin",
        "member restore Ann B friday",
        "`friday` is not a date. Write it as year-month-day, such as `2026-03-02`, or `yesterday`.",
    ),
    (
        "quiz",
        "practice autograd tensors",
        "`tensors` is not one of mid, senior, principal. Did you mean `senior`?",
    ),
    (
        "quiz",
        "explain views more",
        "`more` is one word too many. Type `/quiz explain ID`. Put a value that has spaces in quotes.",
    ),
    ("quiz", "qqqq", "There is no command `/quiz qqqq`. `/quiz help` lists them all."),
    ("quiz", "today now", "`now` is one word too many. Type `/quiz today`."),
    (
        "quiz",
        "board weak",
        'There is no period `weak`. Did you mean `week`? If you mean the topic `weak`, type `"weak"`.',
    ),
    (
        "quiz",
        "board topik:x",
        "`/quiz board` has no `topik:`. It takes period, topic, contest, all. Did you mean `topic`?",
    ),
    ("quiz", "board topic:", "`topic:` is empty. Write it as `topic:autograd`."),
    (
        "quiz",
        "practice kind:codes",
        "Kind: `codes` is not one of choice, value, output, code, open. Did you mean `code`?",
    ),
    ("quiz", "practice level:junior", "Level: `junior` is not one of mid, senior, principal. Did you mean `senior`?"),
    ("quiz", "explain", "`ID` is missing: id of the question, as its card shows it. Type `/quiz explain ID`."),
    ("quiz", "privacy forgte", "`forgte` is not one of see, export, csv, hide, show, forget. Did you mean `forget`?"),
    (
        "quiz",
        "boa`rd `x",
        "There is no command `/quiz boa'rd`. Did you mean `/quiz board`? `/quiz help` lists them all.",
    ),
    (
        "quiz-admin",
        "schedule ad 09:00",
        "`/quiz-admin schedule` has no `ad`. It has add, list, edit, pause, resume, skip, share, unshare, preview, "
        "post-now, remove. Did you mean `add`?",
    ),
    ("quiz-admin", "member", "`/quiz-admin member` needs one of restore, adjust."),
    ("quiz-admin", "schedule add 25:00", "`25:00` is not a time of day. Write it as `09:00`, `17:30` or `9am`."),
    (
        "quiz-admin",
        "schedule add zone:Berlin",
        "Zone: `Berlin` is not a time zone we know. Did you mean `Europe/Berlin`?",
    ),
    (
        "quiz-admin",
        "schedule add Mars/Phobos",
        "`Mars/Phobos` is not a time zone we know. Write it as `Europe/Berlin` or `America/New_York`.",
    ),
    (
        "quiz-admin",
        "schedule add mon-fry",
        "`mon-fry` names no weekdays. Write `mon-fri`, `mon,wed,fri`, `weekdays` or `daily`.",
    ),
    ("quiz-admin", "schedule add every:0", "Every: `0` is not a number of days from 1 to 365. Write it as `3`."),
    (
        "quiz-admin",
        "schedule add month-days:1,32",
        "Month-days: `1,32` names no days of the month. Write `1`, `1,15` or `last`.",
    ),
    (
        "quiz-admin",
        "schedule add open:8",
        "Open: `8` is not a length of time. Write it as `8h`, `90m`, `1h30m` or `2d`.",
    ),
    ("quiz-admin", "schedule add level:mid,boss", "Level: `boss` is not one of mid, senior, principal."),
    (
        "quiz-admin",
        "schedule skip 3 someday",
        "`someday` is not a date. Write it as year-month-day, such as `2026-03-02`, or as `tomorrow` or `friday`.",
    ),
    (
        "quiz-admin",
        "member restore Ann friday",
        "`friday` is not a date. Write it as year-month-day, such as `2026-03-02`, or `yesterday`.",
    ),
    ("quiz-admin", "review fixed four", "`four` is not a number. Write it in digits, such as `3`."),
    (
        "quiz-admin",
        "schedule add ?",
        "`?` does not fit. Expected at (such as `09:00`) or days (such as `mon-fri`) or zone (such as "
        "`Europe/Berlin`). "
        "`/quiz-admin help schedule add` says more.",
    ),
    (
        "quiz-admin",
        "member adjust Ann -5",
        "`REASON` is missing: why; everyone who reads the audit sees it. "
        "Type `/quiz-admin member adjust NAME POINTS REASON`.",
    ),
]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("9am", time(9)),
        ("12am", time(0)),
        ("12PM", time(12)),
        ("5:30pm", time(17, 30)),
        ('"5:30 p.m."', time(17, 30)),
        ("9.05", time(9, 5)),
        ("00:00", time(0)),
    ],
)
def test_a_time_of_day_is_read_as_people_write_it(typed: str, meant: time) -> None:
    assert read_command("quiz-admin", f"schedule add at:{typed}").clock("at", time(1)) == meant


@pytest.mark.parametrize("typed", ["9", "13pm", "0am", "24:00", "9:60am", "am", "930pm"])
def test_what_is_no_time_of_day_is_refused(typed: str) -> None:
    with pytest.raises(CommandError, match="is not a time of day"):
        read_command("quiz-admin", f"schedule add at:{typed}")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("today", date(2026, 3, 4)),
        ("Tomorrow", date(2026, 3, 5)),
        ("friday", date(2026, 3, 6)),
        ("wed", date(2026, 3, 11)),
        ("2026-03-09", date(2026, 3, 9)),
    ],
)
def test_a_day_may_be_named_from_today(typed: str, meant: date) -> None:
    wednesday = date(2026, 3, 4)
    assert read_command("quiz-admin", f"schedule skip 3 {typed}").dated(wednesday).day("date") == meant


def test_a_member_may_be_called_like_a_weekday() -> None:
    typed = read_command("quiz-admin", "member restore Sun yesterday").dated(date(2026, 3, 4))
    assert (typed.text("name"), typed.day("date")) == ("Sun", date(2026, 3, 3))


@pytest.mark.parametrize(("name", "text", "said"), REFUSED)
def test_what_cannot_be_read_is_refused_with_a_cure(name: str, text: str, said: str) -> None:
    with pytest.raises(CommandError) as refused:
        read_command(name, text)
    assert str(refused.value) == said


@given(st.sampled_from(["quiz", "quiz-admin"]), st.text(max_size=80))
def test_anything_typed_is_read_or_refused(name: str, text: str) -> None:
    try:
        typed = read_command(name, text)
    except CommandError as error:
        assert str(error)
    else:
        assert typed.spec.name == name


@given(st.sampled_from(COMMANDS), st.text(max_size=60))
def test_any_argument_is_read_or_refused(spec: Spec, text: str) -> None:
    try:
        typed = read_command(spec.name, " ".join((*spec.path, text)))
    except CommandError as error:
        assert str(error)
    else:
        assert set(typed.values) <= {argument.name for argument in typed.spec.arguments}


def test_every_command_has_help_and_admins_have_their_own() -> None:
    assert all(spec.help.endswith(".") and len(spec.help) <= 60 for spec in COMMANDS)
    assert all(argument.help.endswith(".") for spec in COMMANDS for argument in spec.arguments)
    assert {spec.name for spec in COMMANDS if spec.admin} == {"quiz-admin"}
    assert [spec.path[0] for spec in specs_of("quiz")] == [
        *("today", "answer", "practice", "run", "board", "speed", "duel", "tournament", "me"),
        *("topics", "explain", "report", "suggest", "link", "rules", "notify", "privacy", "help"),
    ]


@pytest.mark.parametrize(
    ("name", "text", "offers"),
    [
        ("quiz", "b", ["board"]),
        ("quiz", "r", ["run", "report", "rules"]),
        ("quiz", "board w", ["board week"]),
        ("quiz", "board week a", ["board week all"]),
        ("quiz", "practice autograd s", ["practice autograd senior"]),
        ("quiz", "practice mid kind:co", ["practice mid kind:code"]),
        ("quiz", "run x", []),
        ("quiz", "zzz", []),
        ("quiz-admin", "season", ["season start", "season end", "season list", "season role"]),
        ("quiz-admin", "schedule add 09:00 level:s", ["schedule add 09:00 level:senior"]),
        ("quiz-admin", "schedule add level:mid l", []),
    ],
)
def test_completion_continues_a_command(name: str, text: str, offers: list[str]) -> None:
    assert complete(name, text) == offers


@given(st.sampled_from(["quiz", "quiz-admin"]), st.text(max_size=40))
def test_completion_only_adds_to_what_was_typed(name: str, text: str) -> None:
    offers = complete(name, text)
    assert len(offers) <= 25
    assert all(offer.lower().startswith(text.lower().lstrip()) for offer in offers)


def test_whole_lines_are_suggested_and_admins_see_their_own() -> None:
    assert suggest("/quiz bo", admin=False) == ["/quiz board"]
    assert suggest("/quiz-admin rev", admin=False) == []
    assert suggest("/quiz-admin rev", admin=True) == [
        "/quiz-admin review list",
        "/quiz-admin review show",
        "/quiz-admin review dismiss",
        "/quiz-admin review fixed",
        "/quiz-admin review suggestions",
        "/quiz-admin review here",
        "/quiz-admin review me",
        "/quiz-admin review answers",
        "/quiz-admin review similarity",
        "/quiz-admin review credit",
    ]
    assert "/quiz today" in suggest("/q", admin=True)


def test_following_completion_always_ends_in_a_known_command() -> None:
    for name in ("quiz", "quiz-admin"):
        for offer in complete(name, ""):
            assert any(" ".join(spec.path) == offer for spec in specs_of(name))


def test_the_last_argument_can_be_named_without_the_others() -> None:
    """A chat that asks for each argument passes the last one by name, without the missing ones before it."""
    said = 'the key says "no": text:really?\n\tx = 1'
    assert read_command("quiz", f"report text:{said}").values == {"text": said}
    assert read_command("quiz", f"report id:grad {said}").values == {"id": "grad", "text": said}
    assert read_command("quiz", "run x: int = 1").values == {"code": "x: int = 1"}


@pytest.mark.parametrize("spec", COMMANDS, ids=lambda spec: spec.words)
def test_descriptions_have_no_markup_which_tables_and_discords_menus_would_show(spec: Spec) -> None:
    assert not [text for text in (spec.help, *(one.help for one in spec.arguments)) if "`" in text]
