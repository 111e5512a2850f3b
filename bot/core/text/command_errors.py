"""What is missing in a command or a form. What is wrong with a single argument is with its kind, in
`bot.core.argument_kinds`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Final

from bot.core.text.words import Words, day_words
from service.wire import ScheduleView

OUT_OF_DATE: Final[Words] = (
    "Button out of date",
    "This button no longer works. Type `/quiz today` for today's question, or `/quiz help` for all commands.",
)

NO_TEXT: Final = "Your answer is empty. Open the question again and type one."
NO_OPTION: Final = "You chose no option. Choose at least one."
NO_CODE: Final = "There is no code. Open the question again and write some."
MARKED_BOTH: Final[Words] = ("Not marked", "Choose the points that your answer covers, or only `None of them`.")
INCOMPLETE_REPORT: Final = (
    "A report needs the question's id and a sentence that says what is wrong. Open the form again with `/quiz report`."
)

NO_OPPONENT: Final[Words] = ("Nobody chosen", "Choose a member to challenge, such as `/quiz duel @Ada`.")
NO_PICK: Final = "Name the member you pick, such as `/quiz tournament pick @Ada`."
NO_TIME: Final = "Name a time too, such as `/quiz-admin sprint start at:18:00 date:friday`."

NOT_SET_UP: Final = "Not set up"
NO_CHANNEL_OR_TIME: Final[Words] = (NOT_SET_UP, "Choose a channel and a time.")
INCOMPLETE_IMPORT: Final = (
    "An import needs the document's name and its text. Open the form again with `/quiz-admin bank import`."
)
NO_QUESTION: Final = "Name a question by its id, or approve all with `/quiz-admin bank approve all`."
ONE_QUESTION: Final = "Name a question by its id, or what to choose one by: a topic, a level or a kind."
NO_SCHEDULE: Final = "There is no schedule yet. Add one with `/quiz-admin setup`."


def which_schedule(known: Sequence[ScheduleView], usage: str) -> str:
    """Says that the command has to name one of several schedules."""
    return f"There are several schedules: {_numbers(known)}. Name one: `{usage}`."


def unknown_schedule(number: int, known: Sequence[ScheduleView]) -> Words:
    """Says that there is no schedule with the number."""
    title = "Unknown schedule"
    if not known:
        return title, NO_SCHEDULE
    there = f"The only one is schedule {known[0].id}." if len(known) == 1 else f"There are schedules {_numbers(known)}."
    return title, f"There is no schedule {number}. {there}"


def _numbers(known: Sequence[ScheduleView]) -> str:
    return ", ".join(str(one.id) for one in known)


def no_question_on(day: date, schedule: int) -> Words:
    """Says that a schedule has no question on a day."""
    why = "It does not post that day, which is a holiday, skipped, past or too far ahead, or not in its timetable."
    none = f"Schedule {schedule} has no question on {day_words(day)}. {why}"
    return "No question that day", f"{none} `/quiz-admin schedule list` shows the next ones."
