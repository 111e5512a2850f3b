"""Onboarding: the greeting, setup in three clicks, a member's home page, and programs sent as messages."""

from __future__ import annotations

import dataclasses
from datetime import datetime
from typing import Final, assert_never
from zoneinfo import ZoneInfo

from bot.core.actions import (
    Begin,
    BeginHere,
    JoinChannel,
    Next,
    PostNow,
    Setup,
    SetupAt,
    SetupForm,
    ShowBoard,
    Snippet,
    encode,
    fits,
)
from bot.core.actions import Today as ShowToday
from bot.core.cards import Block, Button, Card, ChannelField, Form, PickField, Small, Table, Text, TextField, TimeField
from bot.core.channel_access import ChannelProblem
from bot.core.limits import BUTTON_LABEL
from bot.core.markup import escape
from bot.core.text.admin import plan_words, schedule_card
from bot.core.text.questions import about, answer_button, how
from bot.core.text.words import Words, and_list, code_words, in_brief, moment_markdown, plural, until_markdown
from service.wire import (
    AskForm,
    Me,
    RoundView,
    ScheduleView,
    TodayView,
    Where,
)

TIMES: Final = ("0800", "0900", "1000", "1100", "1200", "1400", "1600")
USUAL_TIME: Final = "0900"
DAYS: Final = (
    ("0,1,2,3,4", "Monday to Friday"),
    ("0,2,4", "Monday, Wednesday and Friday"),
    ("0,1,2,3,4,5,6", "Every day"),
)
# One zone per region, because menus of some chats are short; any other can be typed.
ZONES: Final = (
    *("Pacific/Honolulu", "America/Anchorage", "America/Los_Angeles", "America/Denver", "America/Chicago"),
    *("America/New_York", "America/Sao_Paulo", "UTC", "Europe/London", "Europe/Berlin", "Europe/Paris"),
    *("Europe/Helsinki", "Africa/Lagos", "Africa/Nairobi", "Europe/Istanbul", "Asia/Dubai", "Asia/Kolkata"),
    *("Asia/Bangkok", "Asia/Shanghai", "Asia/Singapore", "Asia/Tokyo", "Australia/Sydney", "Pacific/Auckland"),
)
_NAME_ROOM = 50
"""Longest name of a channel in a button's action, characters."""
_MOST_OPEN = 5
"""Questions listed on a member's home page; a team seldom has more than one."""


def _named(where: Where) -> str:
    """Returns a channel's name, such as `#general`, as Markdown; without a name, “this channel”."""
    return f"**#{escape(where.name.removeprefix('#'))}**" if where.name else "this channel"


def _brief(where: Where) -> str:
    """Shortens the channel's name to fit an action id."""
    return where.name[:_NAME_ROOM] if fits(Begin(USUAL_TIME, where.channel, where.name[:_NAME_ROOM])) else ""


def hello_card(where: Where) -> Card:
    """Greets the person who added the bot."""
    does = (
        "I post a machine-learning question on the days you choose. Everyone answers privately, with a button, a few "
        "words or code. When the round closes, I reveal the answer, why it is right, and how the team did."
    )
    next_step = "Three clicks set it up: the channel, the time, the days."
    elsewhere = "Or type `/quiz-admin setup` in the quiz channel."
    setup: tuple[Button, ...] = ()
    if where.channel:
        place = f"#{where.name.removeprefix('#')}" if where.name else "this channel"
        label = f"Set it up in {place}"[:BUTTON_LABEL]
        setup = (Button(label, encode(Setup(where.channel, _brief(where))), "primary"),)
    return Card(
        "Hello, I am Dailygrad",
        "The daily quiz of your team. Three clicks set it up.",
        (Text(does), Text(f"{next_step} {elsewhere}"), Small("`/quiz help` lists every command.")),
        (*setup, Button("Try a question first", encode(Next()))),
    )


def time_card(where: Where, known: tuple[ScheduleView, ...], *, native: bool = False) -> Card:
    """Asks for the time of day, the second step of the setup. `known` are the channel's schedules.

    With `native`, for a chat that has a menu of channels, any other channel and time can be chosen.
    """
    there = tuple(Text(f"{_named(where)} has schedule {one.id}: {plan_words(one.spec)}.") for one in known)
    another = " This adds another schedule." if known else ""
    asked = f"What time should {_named(where)} get its question? Days and time zone come next.{another}"
    other = "Another time: `/quiz-admin schedule add 09:30 mon-fri Europe/Berlin`."
    buttons = tuple(
        Button(
            f"{at[:2]}:{at[2:]}",
            encode(SetupAt(at, where.channel, _brief(where))),
            "primary" if at == USUAL_TIME else "plain",
        )
        for at in TIMES
    )
    if native:
        buttons += (Button("Another channel or time", encode(SetupForm(where.channel, _brief(where)))),)
    return Card("Choose a time", in_brief(asked, 200), (*there, Text(asked), Small(other)), buttons)


def plan_form(at: str, where: Where, now: datetime) -> Form:
    """Asks for days and zone, the third step of the setup. Each zone shows its current time, to be easy to find."""
    zones = tuple((zone, f"{zone.replace('_', ' ')}: {now.astimezone(ZoneInfo(zone)):%H:%M} now") for zone in ZONES)
    return Form(
        title=f"Every question at {at[:2]}:{at[2:]}",
        action=encode(Begin(at, where.channel, _brief(where))),
        fields=(
            PickField("days", "Days", DAYS, (DAYS[0][0],)),
            PickField("zone", "Time zone", zones, ("UTC",)),
            TextField("other", "Another time zone", "", "For example `Asia/Kathmandu`.", max_length=60, required=False),
        ),
        submit="Start",
    )


def setup_form(where: Where, known: tuple[ScheduleView, ...], zone: str, now: datetime) -> Form:
    """Returns the whole setup as one form, for a chat with inputs of its own for channels and times."""
    there = tuple(Small(f"{_named(where)} has schedule {one.id}: {plan_words(one.spec)}.") for one in known)
    zones = tuple(dict.fromkeys((zone, *ZONES))) if zone else ZONES
    shown = tuple((one, f"{one.replace('_', ' ')}: {now.astimezone(ZoneInfo(one)):%H:%M} now") for one in zones)
    return Form(
        title="Set up the quiz",
        action=encode(BeginHere()),
        fields=(
            ChannelField("channel", "Channel", where.channel),
            TimeField("at", "Time of the question", f"{USUAL_TIME[:2]}:{USUAL_TIME[2:]}"),
            PickField("days", "Days", DAYS, (DAYS[0][0],)),
            PickField("zone", "Time zone", shown, (zone or "UTC",)),
            TextField("other", "Another time zone", "", "For example `Asia/Kathmandu`.", max_length=60, required=False),
        ),
        blocks=there,
        submit="Start",
    )


def with_channel_problem(card: Card, where: Where, problem: ChannelProblem) -> Card:
    """Puts above a card why the bot cannot post in the channel, and what to do about it."""
    name = _brief(where)
    buttons: tuple[Button, ...] = (Button("Check again", encode(Setup(where.channel, name))),)
    if problem.can_join:
        buttons = (Button("Join the channel", encode(JoinChannel(where.channel, name)), "primary"), *buttons)
    text = Text(f"**I cannot post in {_named(where)} yet.** {channel_problem_words(problem)}")
    return dataclasses.replace(card, blocks=(text, *card.blocks), buttons=(*buttons, *card.buttons))


def unknown_channel(name: str, platform: str) -> Words:
    """Says that the quiz does not know a channel by that name, and what to do."""
    do = f"Type the command in {code_words('#' + name)} itself."
    if platform == "slack":
        do += " Or choose the channel from a menu: `/quiz-admin setup`."
    if platform == "discord":
        do += " Or choose the channel from the list that the option `channel` offers."
    return "Unknown channel", f"The quiz does not know a channel {code_words('#' + name)}. {do}"


def channel_problem_words(problem: ChannelProblem) -> str:
    """Explains why the bot cannot post in a channel, and what to do, as Markdown."""
    match problem.reason:
        case "not a member":
            join = "Press **Join the channel**, or invite" if problem.can_join else "Invite"
            return f"I am not a member of it. {join} me there with `/invite @Dailygrad`."
        case "no permission":
            missing = and_list([f"**{name}**" for name in problem.permissions])
            return f"I lack {missing} there. Open the channel's settings, then Permissions, and allow it for my role."
        case "archived":
            return "It is archived. Unarchive it, or choose another channel."
        case _ as never:
            assert_never(never)


def begun_card(view: ScheduleView, first: RoundView | str, head: str = "Schedule added") -> Card:
    """Shows the new schedule with its first question, or why there is none."""
    card = schedule_card(view, head)
    if isinstance(first, str):
        return Card(head, card.summary, (*card.blocks, Text(f"There is no first question yet: {first}")))
    blocks: tuple[Block, ...] = (
        *card.blocks,
        Text(f"First question: {in_brief_markdown(first.question.prompt)}"),
        Small(about(first.question)),
    )
    return Card(head, card.summary, blocks, (Button("Post it now", encode(PostNow(str(view.id)))),))


def in_brief_markdown(markdown: str) -> str:
    """Returns the start of a prompt as one line of Markdown."""
    return escape(in_brief(markdown, 300))


def home_card(today: TodayView, me: Me, now: datetime) -> Card:
    """Shows a member's home page: open questions, standing, and links."""
    blocks: list[Block] = []
    buttons: list[Button] = []
    shown = today.forms[-_MOST_OPEN:]
    for ask in shown:
        blocks += (Text(_open_line(ask, now)), Small(about(ask.question)))
        buttons.append(answer_button(ask, alone=len(shown) == 1))
    if not shown:
        coming = f" Next question: {moment_markdown(today.next_at, today.zone)}." if today.next_at else ""
        blocks.append(Text(f"No question is open right now.{coming}"))
    blocks.append(Table(("What", "How much"), _standing(me)))
    state = f"{plural(len(shown), 'question')} open" if shown else "No question is open"
    summary = f"{state}, streak {me.streak}, {plural(me.cards_due, 'card')} due."
    return Card("Your quiz", summary, tuple(blocks), (*buttons, *_ways()))


def _open_line(ask: AskForm, now: datetime) -> str:
    until = f" Open until {until_markdown(ask.closes_at, ask.zone, now)}." if ask.closes_at else ""
    state = "Answered." if ask.given else how(ask.question)
    return f"{in_brief_markdown(ask.question.prompt)} {state}{until}"


def _standing(me: Me) -> tuple[tuple[str, str], ...]:
    rank = f", rank {me.rank}" if me.rank else ""
    return (
        ("Streak", f"{plural(me.streak, 'round')}; best {me.best_streak}"),
        ("Points", f"{me.points:,}{rank}"),
        ("Practice", f"{plural(me.cards_due, 'card')} due"),
    )


def _ways() -> tuple[Button, ...]:
    return (
        Button("Today", encode(ShowToday())),
        Button("Practice", encode(Next())),
        Button("Weekly board", encode(ShowBoard("week", "workspace"))),
        Button("All-time board", encode(ShowBoard("all", "workspace"))),
        Button("Run a snippet", encode(Snippet())),
    )


def code_submitted_card(card: Card, ask: AskForm) -> Card:
    """Confirms a program sent as a message. Names the question, because the member pressed no button."""
    named = Text(f"Submitted as your answer to: {in_brief_markdown(ask.question.prompt)}")
    return dataclasses.replace(card, blocks=(named, *card.blocks, Small(about(ask.question))))


def no_place_for_code_card(others: int) -> Card:
    """Says that no open question asks for code."""
    if others:
        sentence = f"{plural(others, 'question')} open here, and none asks for code. `/quiz today` shows them."
    else:
        sentence = "No code question is open here, so nothing was submitted."
    more = "Send it where the question was posted, or try it with **Run a snippet**."
    buttons = (Button("Today", encode(ShowToday())), Button("Run a snippet", encode(Snippet())))
    return Card("Not submitted", in_brief(f"{sentence} {more}", 250), (Text(sentence), Text(more)), buttons)


def too_many_files_card(names: tuple[str, ...]) -> Card:
    """Asks for a single file."""
    sentence = (
        f"You sent {len(names)} files: {', '.join(escape(name) for name in names)}. Send only the one with your answer."
    )
    return Card("Which file?", in_brief(sentence, 250), (Text(sentence),))


def too_many_programs_card(count: int) -> Card:
    """Asks for a single program."""
    sentence = f"Your message has {count} blocks of code. Send only the one with your answer, in a message of its own."
    return Card("Which block?", sentence, (Text(sentence),))
