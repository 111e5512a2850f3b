"""Words of the web's page about the reader: their numbers, last weeks, topics, next step, latest rounds and
browsers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from bot.core.actions import Notifications, Privacy, encode
from bot.core.cards import Button
from bot.core.charts import HeatmapChart, HeatWeek, Level
from bot.core.markup import escape
from bot.core.text.questions import lettered
from bot.core.text.suggestions import SUGGEST as SUGGEST
from bot.core.text.words import (
    CONFIDENCE_WORDS,
    MONTHS,
    and_list,
    brief_markdown,
    day_words,
    mastery_words,
    percent,
    plural,
    short_day,
)
from service.wire import DayAnswers, History, Me, PastRound

MOST_TOPICS = 8
WEAK = 0.9
"""Upper end of what is known below which a topic is called the weakest."""


def points(me: Me) -> str:
    """Returns the points, and those of the season."""
    if not me.season_points:
        return plural(me.points, "point")
    season = "all" if me.season_points == me.points else f"{me.season_points:,} of them"
    return f"{plural(me.points, 'point')}, {season} this season"


def numbers(me: Me) -> tuple[tuple[str, str], ...]:
    """Returns the four numbers that a member looks for, each with what it counts."""
    unranked = "hidden from the boards" if me.hidden else "no rank yet"
    return (
        (str(me.streak), f"{'round' if me.streak == 1 else 'rounds'} in a row, best {me.best_streak}"),
        (percent(me.accuracy), f"right of {plural(me.answered, 'answer')}") if me.answered else ("–", "no answers yet"),
        (f"#{me.rank}", f"of {me.ranked:,}, all time") if me.rank else ("–", unranked),
        (str(me.cards_due), f"{'card' if me.cards_due == 1 else 'cards'} due, {me.cards:,} in all"),
    )


# The last weeks


@dataclass(frozen=True, slots=True)
class Cell:
    """One day of the heatmap."""

    week: int
    """From 0, oldest first."""
    weekday: int
    level: Level
    title: str


def cells(history: History) -> tuple[Cell, ...]:
    """Returns a cell for each day up to today, without weekends if they had no questions."""
    found = {day.day: day for day in history.days}
    last = 7 if any(day.weekday() > 4 for day in found) else 5
    days = [history.since + timedelta(days=number) for number in range((history.until - history.since).days + 1)]
    return tuple(_cell(history.since, day, found.get(day)) for day in days if day.weekday() < last)


def _cell(since: date, day: date, found: DayAnswers | None) -> Cell:
    week, weekday = divmod((day - since).days, 7)
    if found is None:
        return Cell(week, weekday, "blank", f"{day_words(day)}: no question")
    if found.asked == 1:
        words = {"missed": "missed", "answered": "answered", "part": "partly right", "right": "right"}[_level(found)]
    else:
        words = f"{found.answered} of {found.asked} answered"
    return Cell(week, weekday, _level(found), f"{day_words(day)}: {words}")


def _level(found: DayAnswers) -> Level:
    """Returns how a day is drawn. A day with neither credit nor a verdict yet is only answered."""
    if not found.answered:
        return "missed"
    share = found.right / found.answered
    return "right" if share > 1 - 1e-9 else "part" if share > 0 else "answered"


def heatmap(history: History) -> HeatmapChart:
    """Returns the same days as a chart."""
    count = (history.until - history.since).days // 7 + 1
    days: list[list[Level]] = [[] for _ in range(count)]
    for cell in cells(history):
        days[cell.week].append(cell.level)
    mondays = [history.since + timedelta(weeks=week) for week in range(count)]
    weeks = (HeatWeek(short_day(monday), tuple(week)) for monday, week in zip(mondays, days, strict=True))
    return HeatmapChart(tuple(weeks), months(history))


def months(history: History) -> tuple[tuple[int, str], ...]:
    """Returns the week in which each month begins, with the month's name in short."""
    weeks = range((history.until - history.since).days // 7 + 1)
    mondays = [history.since + timedelta(weeks=week) for week in weeks]
    starts = [(week, MONTHS[day.month - 1][:3]) for week, day in enumerate(mondays) if day.day <= 7]
    # A name at the last week would be cut off.
    return tuple((week, name) for week, name in starts if week < len(mondays) - 1)


def weeks(history: History) -> tuple[tuple[str, str, str], ...]:
    """Returns the same as a table, newest first: the week's Monday, answered of asked, and how many were right."""
    found: dict[date, list[DayAnswers]] = {}
    for day in history.days:
        found.setdefault(day.day - timedelta(days=day.day.weekday()), []).append(day)
    return tuple(
        (
            f"{monday.day} {MONTHS[monday.month - 1]}",
            f"{sum(day.answered for day in week)} of {sum(day.asked for day in week)}",
            f"{sum(day.right for day in week):.3g}",
        )
        for monday, week in reversed(found.items())
    )


def weeks_in_brief(history: History) -> str:
    """Says how many questions were answered."""
    asked, answered = sum(day.asked for day in history.days), sum(day.answered for day in history.days)
    if not answered:
        return "No answers yet. Each day you answer is marked here."
    return f"You answered {answered:,} of {plural(asked, 'question')}."


# Topics and the next step


@dataclass(frozen=True, slots=True)
class ShareRight:
    """A topic, or how sure the member was, with the share that is right."""

    name: str
    share: float
    right: str
    answers: str
    low: float | None = None
    high: float | None = None
    """Ends of the range in which the true share lies, if enough is known."""


def topics(me: Me) -> tuple[ShareRight, ...]:
    """Returns the topics, weakest first, those with few answers last."""
    ordered = sorted(me.topics, key=lambda topic: topic.low is None)
    return tuple(
        ShareRight(
            one.topic or "Without a topic",
            one.right,
            f"{percent(one.right)} right" if one.low is None else mastery_words(one.low, one.high),
            plural(one.answers, "answer")
            + (", too few to tell" if one.low is None else f", {percent(one.right)} right"),
            one.low,
            one.high,
        )
        for one in ordered[:MOST_TOPICS]
    )


def calibration(me: Me) -> tuple[ShareRight, ...]:
    """Returns how often the member was right, by how sure they were."""
    return tuple(
        ShareRight(
            CONFIDENCE_WORDS[one.said],
            one.right,
            f"{percent(one.right)} right",
            plural(one.answers, "answer"),
            one.low,
            one.high,
        )
        for one in me.calibration
    )


def more_topics(me: Me) -> str:
    """Says how many topics are left out."""
    left = len(me.topics) - MOST_TOPICS
    return f"{plural(left, 'more topic', 'more topics')} not shown." if left > 0 else ""


def next_step(me: Me) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Returns what to do next, and what can be practiced: label and topic; an empty topic means any."""
    due = f"**{plural(me.cards_due, 'card')}** {'is' if me.cards_due == 1 else 'are'} due." if me.cards_due else ""
    weak = next((one for one in me.topics if one.topic and one.high is not None and one.high < WEAK), None)
    everything = (f"Practice {plural(me.cards_due, 'card')}" if due else "Practice", "")
    if weak is None:
        return due or "Nothing is due. Practice asks questions that are new to you.", (everything,)
    known = f"you know {mastery_words(weak.low, weak.high)} of it, from {plural(weak.answers, 'answer')}"
    weakest = f"Your weakest topic is **{escape(weak.topic)}**: {known}."
    return f"{due} {weakest}".strip(), (everything, (f"Practice {weak.topic}", weak.topic))


def data_buttons(me: Me) -> tuple[Button, ...]:
    """Returns the buttons about the data that is stored of the reader."""
    return (
        Button("Notifications", encode(Notifications())),
        Button("Export as JSON", encode(Privacy("export"))),
        Button("Export as CSV", encode(Privacy("csv"))),
        Button("Show me on the boards", encode(Privacy("show")))
        if me.hidden
        else Button("Hide me from the boards", encode(Privacy("hide"))),
        Button("Forget me…", encode(Privacy("forget")), "danger"),
    )


# Rounds


def answer_words(one: PastRound) -> str:
    """Returns what the reader answered, as Markdown."""
    if one.given.options is not None:
        chosen = [
            f"**{letter}** {brief_markdown(text)}"
            for letter, id_, text in lettered(one.question)
            if id_ in one.given.options
        ]
        return f"You chose {and_list(chosen)}" if chosen else "You chose nothing"
    if one.question.kind == "code":
        return "You submitted code"
    if one.given.cleared:
        return "What you wrote was deleted at the end of its retention time"
    return f"You answered {brief_markdown(one.given.text or '')}"


def outcome(one: PastRound) -> tuple[str, str]:
    """Returns how right the answer was, and the kind of its mark: good, part, bad or none."""
    if one.verdict is None or one.verdict == "system error":
        return "Not judged yet" if one.verdict is None else "Not judged (our fault)", "none"
    if one.credit is None:
        return "Waits for marking", "none"
    if one.credit >= 1:
        return "Right", "good"
    return (f"Partly right, {percent(one.credit)}", "part") if one.credit > 0 else ("Not right", "bad")


UNKNOWN: Final = ("This browser is signed out", "It was signed out before, or it is not yours. Nothing was done.")
_BROWSERS: Final = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/|FxiOS", "Firefox"),
    ("Chrome/|CriOS", "Chrome"),
    ("Safari/", "Safari"),
)
"""Patterns in the order in which to look: browsers also name those that they resemble."""
_SYSTEMS: Final = (
    ("Android", "Android"),
    ("iPhone", "an iPhone"),
    ("iPad", "an iPad"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)


def browser(agent: str) -> str:
    """Returns the name of a browser and its system, from what it calls itself."""
    name = next((name for pattern, name in _BROWSERS if re.search(pattern, agent)), "A browser")
    system = next((name for pattern, name in _SYSTEMS if pattern in agent), "")
    return f"{name} on {system}" if system else name
