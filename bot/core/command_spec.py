"""The definitions of all commands: names, arguments and help."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bot.core.argument_kinds import (
    BALANCE,
    BANK,
    CHANNEL,
    CODE,
    CONTEST,
    COUNTRY,
    DATE,
    DAYS_BEFORE,
    DURATION,
    EVERY,
    EVERYONE,
    FORM,
    GENERATED,
    KIND,
    KINDS,
    LEVEL,
    LEVELS,
    MEASURE,
    MEMBER,
    MINE,
    MONTH_DAYS,
    NOTIFICATION,
    NUMBER,
    NUMBERS,
    PAST_DAY,
    PERIOD,
    PERSON,
    PRIVACY,
    QUESTION,
    REST,
    ROLE,
    SWITCH,
    TEAMS,
    TIME,
    TITLE,
    TOPIC,
    TOURNAMENT,
    WEEKDAYS,
    WORD,
    WORDS,
    ZONE,
    Kind,
)


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument. It may always be given as `name:value`; with `named` it must be."""

    name: str
    kind: Kind
    help: str
    required: bool = False
    named: bool = False

    @property
    def shown(self) -> str:
        """The argument as shown in a usage line."""
        text = f"{self.name}:{self.kind.example}" if self.named else self.name.upper()
        if self.kind in (EVERYONE, MINE):
            text = self.kind.choices[0]
        return text if self.required else f"[{text}]"


@dataclass(frozen=True, slots=True)
class Spec:
    """A command: `name` is quiz or quiz-admin, `path` the words after it."""

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
        """The command with its arguments, optional ones in brackets."""
        named = [argument.shown for argument in self.arguments if argument.named]
        shown = [argument.shown for argument in self.arguments if not argument.named]
        return " ".join((self.words, *shown, *(named if len(named) < 3 else ["[NAME:VALUE …]"])))


def _quiz(path: str, help: str, *arguments: Argument) -> Spec:
    return Spec("quiz", tuple(path.split()), help, arguments)


def _admin(path: str, help: str, *arguments: Argument) -> Spec:
    return Spec("quiz-admin", tuple(path.split()), help, arguments, admin=True)


_PLAN: Final = (
    Argument("at", TIME, "Time of day, in the schedule's zone."),
    Argument("days", WEEKDAYS, "Weekdays."),
    Argument("zone", ZONE, "Time zone."),
    Argument("every", EVERY, "A question every this many days, such as 3.", named=True),
    Argument("first", DATE, 'The day from which "every" counts (default: the next one).', named=True),
    Argument("month-days", MONTH_DAYS, "Only these days of the month, such as 1,15 or last.", named=True),
    Argument("open", DURATION, "How long a round stays open.", named=True),
    Argument("level", LEVELS, "Only these levels.", named=True),
    Argument("topic", WORDS, "Only these topics.", named=True),
    Argument("kind", KINDS, "Only these kinds of question.", named=True),
    Argument("holidays", COUNTRY, "Country whose public holidays are kept, such as DE or US-CA.", named=True),
    Argument("speed", SWITCH, "Whether fast answers earn a bonus.", named=True),
    Argument("confidence", SWITCH, "Whether members say how sure they are, for points.", named=True),
    Argument("measure", SWITCH, "Whether code that passed is measured: time and memory.", named=True),
    Argument("contestant", SWITCH, "Whether a model answers too, unranked, if the operator set one up.", named=True),
    Argument("variants", SWITCH, "Whether each member gets their own variant of a family.", named=True),
    Argument("ping", ROLE, "Role (Discord), or id of a user group (Slack), that a question notifies.", named=True),
    Argument("memory", DAYS_BEFORE, "Days before a question may come again.", named=True),
    Argument("catch-up", DURATION, "How late a missed question is still posted.", named=True),
)
_CHANNEL: Final = Argument("channel", CHANNEL, "Another channel than this one.", named=True)
_SCHEDULE: Final = Argument("schedule", NUMBER, "Number of the schedule; may be left out when there is one.")
_THIS_SCHEDULE: Final = Argument("schedule", NUMBER, "Number of the schedule.", required=True)
_QUESTION: Final = Argument("id", QUESTION, "Id of the question, as its card shows it.", required=True)
_BANK: Final = Argument("name", BANK, "Name of the bank.", required=True)
_CODE: Final = Argument("code", CODE, "The code from the other chat; without it you get one.")
_REPORT: Final = Argument("report", NUMBER, "Number of the report.", required=True)
_REASON: Final = Argument("reason", REST, "What to tell the member who reported it; without it, a form asks.")
_ROLE: Final = Argument("role", ROLE, "The role, or none; without it, the current one.")
_MEMBER: Final = Argument("name", PERSON, "Name of the member, as the board shows it.", required=True)

COMMANDS: Final[tuple[Spec, ...]] = (
    _quiz("today", "Today's question and whether you have answered it."),
    _quiz("answer", "Answer today's question, or change your answer."),
    _quiz(
        "practice",
        "Practice: due cards, then weak topics, then new ones.",
        Argument("topic", WORD, "Only this topic."),
        Argument("level", LEVEL, "Only this level."),
        Argument("kind", KIND, "Only this kind of question.", named=True),
    ),
    _quiz("run", "Run a snippet of Python with torch.", Argument("code", REST, "The program.")),
    _quiz(
        "board",
        "Who has the most points.",
        Argument("period", PERIOD, "day, week, month, season or ever (default: week)."),
        Argument("topic", WORD, "Only this topic."),
        Argument(
            "contest",
            CONTEST,
            "rookies, improved (who gets more right than before), ladder (of duels) or tournament.",
        ),
        Argument("all", EVERYONE, "The whole workspace, not only this channel."),
    ),
    _quiz(
        "speed",
        "Time and memory of the latest code that was measured.",
        Argument("by", MEASURE, "time or memory (default: time)."),
    ),
    _quiz(
        "duel",
        "Challenge a member, or see your duels and rating.",
        Argument("member", MEMBER, "Whom to challenge; without it, your duels."),
        Argument("topic", TOPIC, "Only this topic."),
    ),
    _quiz(
        "tournament",
        "The tournament: teams, table, joining and leaving.",
        Argument("action", TOURNAMENT, "see, join, leave, or pick for captains (default: see)."),
        Argument("member", MEMBER, "Whom a captain picks."),
    ),
    _quiz("me", "Your points, streak, cards and weak topics."),
    _quiz("topics", "The topics, and what you and your team know of each."),
    _quiz("explain", "The answer to a past question, and why.", _QUESTION),
    _quiz(
        "report",
        "Say that a question is wrong.",
        Argument("id", QUESTION, "Id of the question (default: today's)."),
        Argument("text", REST, "What is wrong."),
    ),
    _quiz(
        "suggest",
        "Suggest a question for the bank, or see yours.",
        Argument("mine", MINE, "Your suggestions, and what was decided about them."),
    ),
    _quiz("link", "Be one member in two chats.", _CODE),
    _quiz("rules", "How points and streaks are counted."),
    _quiz(
        "notify",
        "Private messages: reminders and your results.",
        Argument("what", NOTIFICATION, "reminders or results; without it, your settings."),
        Argument("switch", SWITCH, "on or off (default: on)."),
    ),
    _quiz(
        "privacy",
        "See, export, hide or delete your data.",
        Argument("action", PRIVACY, "see, export, csv, hide, show or forget (default: see)."),
    ),
    _quiz("help", "This list, or more on one command.", Argument("command", REST, "A command.")),
    _admin("setup", "A first schedule here, in three clicks."),
    _admin("schedule add", "Post a question here on a schedule.", *_PLAN, _CHANNEL),
    _admin("schedule list", "The schedules and their next questions."),
    _admin("schedule edit", "Change a schedule; what you leave out stays as it is.", _THIS_SCHEDULE, *_PLAN),
    _admin("schedule pause", "Stop posting until resumed; streaks do not break.", _SCHEDULE),
    _admin("schedule resume", "Post again.", _SCHEDULE),
    _admin(
        "schedule skip",
        "Post nothing on one day; streaks do not break.",
        _SCHEDULE,
        Argument("date", DATE, "The day, such as 2026-03-02 or tomorrow.", required=True),
    ),
    _admin("schedule share", "Let a schedule post to this channel too.", _THIS_SCHEDULE, _CHANNEL),
    _admin("schedule unshare", "Stop a schedule from posting to this channel.", _THIS_SCHEDULE),
    _admin(
        "schedule preview",
        "The question that would come next, or on a day.",
        _SCHEDULE,
        Argument("date", DATE, "The day, such as 2026-03-02 or friday (default: the next one)."),
    ),
    _admin("schedule post-now", "Post today's question at once.", _SCHEDULE),
    _admin("schedule remove", "Remove a schedule; its rounds and points stay.", _THIS_SCHEDULE),
    _admin(
        "ask",
        "Post an extra question here now.",
        Argument("topic", WORDS, "Only these topics."),
        Argument("level", LEVELS, "Only these levels."),
        Argument("kind", KINDS, "Only these kinds of question.", named=True),
        Argument("closes-in", DURATION, "How long it stays open (default: as on the schedule).", named=True),
        Argument("question", QUESTION, "Id of the question to post; without it, one is chosen.", named=True),
        _CHANNEL,
    ),
    _admin("close-now", "Close this channel's open round and reveal it."),
    _admin(
        "sprint start",
        "Start a live quiz in this channel, now or later.",
        Argument("questions", NUMBER, "How many questions, 1 to 20 (default: 5)."),
        Argument("seconds", NUMBER, "Seconds for each question, 10 to 120 (default: 20)."),
        Argument("topic", WORD, "Only this topic."),
        Argument("at", TIME, "When it starts, such as 18:00, in the schedules' zone (default: now).", named=True),
        Argument("date", DATE, "The day, such as 2026-03-02 or friday (default: when that time is next).", named=True),
    ),
    _admin("sprint cancel", "Cancel the next planned sprint of this channel."),
    _admin("sprint list", "The planned sprints."),
    _admin("sprint stop", "End this channel's sprint early, with its podium."),
    _admin("sprint role", "The role that a sprint's winner is given on Discord.", _ROLE),
    _admin(
        "tournament new",
        "Plan a tournament of teams, and let members join.",
        Argument("name", TITLE, "The name of the tournament.", required=True),
        Argument("first", DATE, "Its first day, after today (default: the next Monday).", named=True),
        Argument("days", DAYS_BEFORE, "How many days, 1 to 31 (default: 7).", named=True),
        Argument("teams", TEAMS, "random, captains (who pick) or chats (one team each) (default: random).", named=True),
        Argument("count", NUMBER, "How many teams, 2 to 16, if they are random (default: 2).", named=True),
        Argument("form", FORM, "table (all meet every day) or bracket (winners advance) (default: table).", named=True),
        Argument("best", NUMBER, "Most members of a team that count (default: the smallest team's size).", named=True),
        Argument("schedules", NUMBERS, "Whose daily rounds count (default: those of this channel).", named=True),
        Argument("late", SWITCH, "Whether members can join after the start (default: on).", named=True),
        Argument("balance", BALANCE, "Teams are even by recent points, or by rating.", named=True),
    ),
    _admin(
        "tournament captain",
        "Give a member a team to pick.",
        Argument("member", MEMBER, "Who it is.", required=True),
    ),
    _admin("tournament cancel", "End the tournament without a result."),
    _admin("tournament role", "The role that a tournament's winners are given on Discord.", _ROLE),
    _admin(
        "season start",
        "Start a season; a running one is archived.",
        Argument("name", REST, "The name of the season.", required=True),
    ),
    _admin("season end", "End the season and archive its board."),
    _admin("season list", "The seasons and their winners."),
    _admin("season role", "The role that a season's winner is given on Discord.", _ROLE),
    _admin("bank import", "Import a document of questions, or check it first."),
    _admin("bank log", "What was imported into a bank, and when.", _BANK),
    _admin(
        "bank undo",
        "Take back the latest import into a bank of your own.",
        _BANK,
        Argument("import", NUMBER, "Only if this is the latest one, by its number in the log.", named=True),
    ),
    _admin("bank list", "The banks and how many questions each has."),
    _admin("bank retire", "Never choose a question again.", _QUESTION),
    _admin("bank restore", "Let a retired question be chosen again.", _QUESTION),
    _admin(
        "bank approve",
        "Approve questions made from a document's own prose.",
        Argument("id", QUESTION, "Id of such a question, or all."),
        Argument("next", GENERATED, "What later imports do with them: use, hold or none."),
    ),
    _admin("bank low", "How many questions each schedule has left."),
    _admin(
        "bank stats",
        "How the questions did: which need work, or one of them.",
        Argument("id", QUESTION, "A question's id; without it, the lists of the bank."),
    ),
    _admin("review list", "Reported questions."),
    _admin("review show", "A report beside its question, with the key.", _REPORT),
    _admin("review dismiss", "Settle a report: the question is right.", _REPORT, _REASON),
    _admin("review fixed", "Settle a report: the question was fixed.", _REPORT, _REASON),
    _admin(
        "review suggestions",
        "Questions that members suggest.",
        Argument("suggestion", NUMBER, "Number of the suggestion; without it, those that wait."),
    ),
    _admin("review here", "Show new reports in this channel."),
    _admin("review me", "Send new reports to you privately."),
    _admin(
        "digest",
        "Last week in numbers, also sent on Mondays.",
        Argument("switch", SWITCH, "on or off: whether it is sent; without it, only shown."),
    ),
    _admin("review answers", "Open answers that wait for a credit."),
    _admin("review similarity", "Pairs whose wrong answers agree, and very fast answers."),
    _admin(
        "review credit",
        "Set how much of an open answer is right.",
        Argument("answer", NUMBER, "The answer's number, as listed.", required=True),
        Argument("percent", NUMBER, "Credit, from 0 to 100.", required=True),
    ),
    _admin(
        "member restore",
        "Keep a missed day from breaking a streak.",
        _MEMBER,
        Argument("date", PAST_DAY, "The day, such as 2026-03-02 or yesterday.", required=True),
    ),
    _admin(
        "member adjust",
        "Give or take points, with a reason.",
        _MEMBER,
        Argument("points", NUMBER, "Points, such as 5 or -5.", required=True),
        Argument("reason", REST, "Why; everyone who reads the audit sees it.", required=True),
    ),
    _admin("link", "Let two chats share one board.", _CODE),
    _admin("audit", "What admins did recently."),
    _admin("doctor", "Check that everything works."),
    _admin("help", "This list, or more on one command.", Argument("command", REST, "A command.")),
)

_FORMS: Final = frozenset(
    {
        *(("answer",), ("practice",), ("run",), ("report",), ("suggest",), ("setup",), ("bank", "import")),
        *(("review", "dismiss"), ("review", "fixed"), ("schedule", "edit")),
    }
)
"""Paths of the commands that have a form."""


def may_open_form(text: str) -> bool:
    """Returns whether a command, by the text after its name, may be answered with a form in some chat."""
    words = tuple(text.lower().split()[:2])
    return words in _FORMS or words[:1] in _FORMS


def specs_of(name: str) -> tuple[Spec, ...]:
    """Returns the commands under `/name`, in display order."""
    return tuple(spec for spec in COMMANDS if spec.name == name)
