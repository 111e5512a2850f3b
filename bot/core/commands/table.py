"""The commands themselves, as data: names, arguments, help sentences. No reading and no running."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bot.core.commands import kinds
from bot.core.commands.kinds import Kind


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument. Every argument may also be given as `name:value`; with `named` it must be."""

    name: str
    kind: Kind
    help: str
    required: bool = False
    named: bool = False

    @property
    def shown(self) -> str:
        """As a usage line shows it."""
        text = f"{self.name}:{self.kind.example}" if self.named else self.name.upper()
        if self.kind is kinds.EVERYONE:
            text = "all"
        return text if self.required else f"[{text}]"


@dataclass(frozen=True, slots=True)
class Spec:
    """One command: `name` is quiz or quiz-admin, `path` the words that follow it."""

    name: str
    path: tuple[str, ...]
    help: str
    arguments: tuple[Argument, ...] = ()
    admin: bool = False

    @property
    def words(self) -> str:
        """The command as typed, without arguments."""
        return " ".join((f"/{self.name}", *self.path))

    @property
    def usage(self) -> str:
        """The command with its arguments, the optional ones in brackets."""
        named = [argument.shown for argument in self.arguments if argument.named]
        shown = [argument.shown for argument in self.arguments if not argument.named]
        return " ".join((self.words, *shown, *(named if len(named) < 3 else ["[NAME:VALUE …]"])))


def _quiz(path: str, help: str, *arguments: Argument) -> Spec:
    return Spec("quiz", tuple(path.split()), help, arguments)


def _admin(path: str, help: str, *arguments: Argument) -> Spec:
    return Spec("quiz-admin", tuple(path.split()), help, arguments, admin=True)


_PLAN: Final = (
    Argument("at", kinds.TIME, "Time of day, in the schedule's zone."),
    Argument("days", kinds.WEEKDAYS, "Weekdays."),
    Argument("zone", kinds.ZONE, "Time zone."),
    Argument("open", kinds.DURATION, "How long a round stays open.", named=True),
    Argument("level", kinds.LEVELS, "Only these levels.", named=True),
    Argument("topic", kinds.WORDS, "Only these topics.", named=True),
    Argument("kind", kinds.KINDS, "Only these kinds of question.", named=True),
    Argument("holidays", kinds.COUNTRY, "Country whose public holidays are kept, such as DE or US-CA.", named=True),
    Argument("speed", kinds.SWITCH, "Whether fast answers earn a bonus.", named=True),
    Argument("memory", kinds.DAYS_BEFORE, "Days before a question may come again.", named=True),
    Argument("catch-up", kinds.DURATION, "How late a missed question is still posted.", named=True),
)
_SCHEDULE: Final = Argument("schedule", kinds.NUMBER, "Number of the schedule; may be left out when there is one.")
_THIS_SCHEDULE: Final = Argument("schedule", kinds.NUMBER, "Number of the schedule.", required=True)
_QUESTION: Final = Argument("id", kinds.WORD, "Id of the question, as its card shows it.", required=True)
_BANK: Final = Argument("name", kinds.WORD, "Name of the bank; in quotes if it has spaces.", required=True)
_CODE: Final = Argument("code", kinds.CODE, "The code from the other chat; without it you get one.")
_REPORT: Final = Argument("report", kinds.NUMBER, "Number of the report.", required=True)
_MEMBER: Final = Argument("name", kinds.WORD, "Name of the member; in quotes if it has spaces.", required=True)

COMMANDS: Final[tuple[Spec, ...]] = (
    _quiz("today", "Today's question and whether you have answered it."),
    _quiz("answer", "Answer today's question, or change your answer."),
    _quiz(
        "practice",
        "Practise: cards that are due, then new ones.",
        Argument("topic", kinds.WORD, "Only this topic."),
        Argument("level", kinds.LEVEL, "Only this level."),
        Argument("kind", kinds.KIND, "Only this kind of question.", named=True),
    ),
    _quiz("run", "Run a snippet of Python with torch.", Argument("code", kinds.REST, "The program.")),
    _quiz(
        "board",
        "Who has gathered the most points.",
        Argument("period", kinds.PERIOD, "day, week, month, season or ever; else week."),
        Argument("topic", kinds.WORD, "Only this topic."),
        Argument("contest", kinds.CONTEST, "rookies, or improved: who gets more right than before; else everybody."),
        Argument("all", kinds.EVERYONE, "The whole workspace, not only this channel."),
    ),
    _quiz("me", "Your points, streak, cards and weak topics."),
    _quiz("topics", "What there are questions about."),
    _quiz("explain", "The answer to a past question, and why.", _QUESTION),
    _quiz(
        "report",
        "Say that a question is wrong.",
        Argument("id", kinds.WORD, "Id of the question; else today's."),
        Argument("text", kinds.REST, "What is wrong."),
    ),
    _quiz("link", "Be one member in two chats.", _CODE),
    _quiz("rules", "How points and streaks are counted."),
    _quiz(
        "privacy",
        "What is kept about you.",
        Argument("action", kinds.PRIVACY, "see, export, csv, hide, show or forget; else see."),
    ),
    _quiz("help", "This list, or more on one command.", Argument("command", kinds.REST, "A command.")),
    _admin("setup", "A first schedule here, in three clicks."),
    _admin("schedule add", "Post a question here on a schedule.", *_PLAN),
    _admin("schedule list", "The schedules and their next questions."),
    _admin("schedule edit", "Change a schedule; what is not named stays.", _THIS_SCHEDULE, *_PLAN),
    _admin("schedule pause", "Stop posting until resumed; streaks do not break.", _SCHEDULE),
    _admin("schedule resume", "Post again.", _SCHEDULE),
    _admin(
        "schedule skip",
        "Post nothing on one day; streaks do not break.",
        _SCHEDULE,
        Argument("date", kinds.DATE, "The day, such as 2026-03-02.", required=True),
    ),
    _admin("schedule share", "Have a schedule post to this channel too.", _THIS_SCHEDULE),
    _admin("schedule unshare", "Have a schedule no longer post to this channel.", _THIS_SCHEDULE),
    _admin("schedule preview", "The question that would come next.", _SCHEDULE),
    _admin("schedule post-now", "Post today's question at once.", _SCHEDULE),
    _admin("schedule remove", "Remove a schedule; its rounds and points stay.", _THIS_SCHEDULE),
    _admin("close-now", "Close this channel's open round and reveal it."),
    _admin(
        "season start",
        "Start a season; a running one is archived.",
        Argument("name", kinds.REST, "What it is called.", required=True),
    ),
    _admin("season end", "End the season and archive its board."),
    _admin("season list", "The seasons and their winners."),
    _admin("bank import", "Import a document of questions, or check it first."),
    _admin("bank log", "What was imported into a bank, and when.", _BANK),
    _admin("bank undo", "Take back the latest import into a bank of your own.", _BANK),
    _admin("bank list", "The banks and how many questions each has."),
    _admin("bank retire", "Never choose a question again.", _QUESTION),
    _admin("bank restore", "Let a retired question be chosen again.", _QUESTION),
    _admin(
        "bank approve",
        "Have questions made of a document's own prose be asked.",
        Argument("id", kinds.WORD, "Id of such a question, or `all` that wait."),
        Argument("next", kinds.GENERATED, "What imports do with such from now on: `use`, `hold` or `none`."),
    ),
    _admin("bank low", "How many questions each schedule has left."),
    _admin("review list", "Reported questions."),
    _admin("review dismiss", "Settle a report: the question is right.", _REPORT),
    _admin("review fixed", "Settle a report: the question was fixed.", _REPORT),
    _admin(
        "member restore",
        "Let a missed day break no streak.",
        _MEMBER,
        Argument("date", kinds.DATE, "The day, such as 2026-03-02.", required=True),
    ),
    _admin(
        "member adjust",
        "Give or take points, with a reason.",
        _MEMBER,
        Argument("points", kinds.NUMBER, "Points, such as 5 or -5.", required=True),
        Argument("reason", kinds.REST, "Why; everyone who reads the audit sees it.", required=True),
    ),
    _admin("link", "Have two chats share one board.", _CODE),
    _admin("audit", "What admins did lately."),
    _admin("doctor", "Check that everything works."),
    _admin("help", "This list, or more on one command.", Argument("command", kinds.REST, "A command.")),
)


def specs_of(name: str) -> tuple[Spec, ...]:
    """The commands under `/name`, in the order they are shown."""
    return tuple(spec for spec in COMMANDS if spec.name == name)
