"""Actions of buttons and forms, encoded whole in their action ids, so that they still work after a restart."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass

from bot.core.limits import ACTION_ID
from service.wire import QuestionRef


class BadAction(Exception):
    """An action id that no card uses. The message is for the member who pressed the button."""


@dataclass(frozen=True, slots=True)
class Open:
    """Shows the question `ref`, so that it can be answered."""

    ref: str


@dataclass(frozen=True, slots=True)
class OpenCard:
    """Like `Open`, but for questions answered by buttons only."""

    ref: str


@dataclass(frozen=True, slots=True)
class Choose:
    """Answers with one option."""

    ref: str
    option: str


@dataclass(frozen=True, slots=True)
class Confide:
    """Answers with one option, and says how sure the member is."""

    ref: str
    confidence: str
    option: str


@dataclass(frozen=True, slots=True)
class Fill:
    """Answers with the values of the form."""

    ref: str


@dataclass(frozen=True, slots=True)
class Try:
    """Runs the form's code on the visible examples, without submitting it."""

    ref: str


@dataclass(frozen=True, slots=True)
class Hint:
    """Shows what the hint to a question costs, or takes it."""

    ref: str
    how: str


@dataclass(frozen=True, slots=True)
class Next:
    """Shows the next practice question. An empty level or topic means any."""

    level: str = ""
    topic: str = ""


@dataclass(frozen=True, slots=True)
class NextOf:
    """Like `Next`, for one kind of question."""

    kind: str
    level: str = ""
    topic: str = ""


@dataclass(frozen=True, slots=True)
class Compare:
    """Shows the member's open answer beside the model answer."""

    ref: str


@dataclass(frozen=True, slots=True)
class Mark:
    """As a button, shows the form that marks an open answer; as a form, saves the marks."""

    ref: str


@dataclass(frozen=True, slots=True)
class ShareAnswer:
    """Lets others who answered the question read the member's open answer and confirm its marks."""

    ref: str


@dataclass(frozen=True, slots=True)
class PeerAnswers:
    """Shows the next shared answer to an open question whose id is above `after`."""

    ref: str
    after: str


@dataclass(frozen=True, slots=True)
class ConfirmMarks:
    """Confirms the marks of another member's answer."""

    ref: str
    answer: str


@dataclass(frozen=True, slots=True)
class Credit:
    """Sets the credit of an open answer, for moderators."""

    answer: str
    percent: str


@dataclass(frozen=True, slots=True)
class RespondDuel:
    """Accepts or declines a challenge to a duel, or withdraws it."""

    duel: str
    response: str


@dataclass(frozen=True, slots=True)
class Rematch:
    """Challenges the other member of a duel again."""

    duel: str


@dataclass(frozen=True, slots=True)
class ShowDuel:
    """Shows a duel of the member, and once it is over the answers."""

    duel: str


@dataclass(frozen=True, slots=True)
class ShowDuels:
    """Shows the member's duels and rating."""


@dataclass(frozen=True, slots=True)
class Challenge:
    """As a button, asks which member to challenge to a duel; as a form, challenges that member."""


@dataclass(frozen=True, slots=True)
class ShowLadder:
    """Shows the ladder of ratings."""


@dataclass(frozen=True, slots=True)
class JoinTournament:
    """Makes the member take part in a tournament."""

    tournament: str


@dataclass(frozen=True, slots=True)
class LeaveTournament:
    """Makes the member no longer take part in the tournament."""


@dataclass(frozen=True, slots=True)
class ShowTournament:
    """Shows the newest tournament."""


@dataclass(frozen=True, slots=True)
class Report:
    """As a button, shows the report form; as a form, reports the question. If empty, the form has a field for it."""

    question: str = ""


@dataclass(frozen=True, slots=True)
class Explain:
    """Explains the answer to a question."""

    question: str


@dataclass(frozen=True, slots=True)
class MyResult:
    """Shows the member's own result of a closed round."""

    ref: str


@dataclass(frozen=True, slots=True)
class GiveFeedback:
    """Says whether the question of a closed round was a good one."""

    ref: str
    answer: str


@dataclass(frozen=True, slots=True)
class ShowSpeed:
    """Shows the speed board of a closed round, by time or by memory."""

    ref: str
    by: str


@dataclass(frozen=True, slots=True)
class ShareSolution:
    """Shows the member's measured code to the others, or hides it."""

    ref: str
    switch: str


@dataclass(frozen=True, slots=True)
class Snippet:
    """Runs the form's code as a free run."""


@dataclass(frozen=True, slots=True)
class ShowBoard:
    """Shows a leaderboard."""

    period: str
    scope: str
    topic: str = ""


@dataclass(frozen=True, slots=True)
class ShowContest:
    """Shows a leaderboard of rookies or of the most improved."""

    contest: str
    period: str
    scope: str
    topic: str = ""


@dataclass(frozen=True, slots=True)
class Privacy:
    """Shows, exports, hides, unhides or forgets the member's data; `forget` asks for confirmation, `erase` does it."""

    what: str


@dataclass(frozen=True, slots=True)
class Notifications:
    """Shows which private messages the member wants."""


@dataclass(frozen=True, slots=True)
class SetNotification:
    """Turns a kind of private message on or off."""

    what: str
    switch: str


@dataclass(frozen=True, slots=True)
class Import:
    """Imports the form's document, or only checks it."""

    how: str


@dataclass(frozen=True, slots=True)
class Review:
    """Shows a report beside its question and the key, for moderators."""

    report: str


@dataclass(frozen=True, slots=True)
class Settle:
    """As a button, asks a moderator what to tell the author of a report; as a form, marks it as dismissed or fixed."""

    report: str
    state: str


@dataclass(frozen=True, slots=True)
class Suggest:
    """As a button, shows the form that suggests a question, with the member's draft; as a form, submits it."""


@dataclass(frozen=True, slots=True)
class ReviewSuggestion:
    """Shows a suggestion with its question and the key, for moderators."""

    suggestion: str


@dataclass(frozen=True, slots=True)
class EditSuggestion:
    """As a button, shows a moderator the form with the suggestion's text; as a form, saves it."""

    suggestion: str


@dataclass(frozen=True, slots=True)
class AcceptSuggestion:
    """Adds a suggested question to the bank, if its text is still the one that was seen, by its digest."""

    suggestion: str
    seen: str


@dataclass(frozen=True, slots=True)
class DeclineSuggestion:
    """As a button, asks a moderator for the reason; as a form, declines the suggestion."""

    suggestion: str


@dataclass(frozen=True, slots=True)
class Today:
    """Shows the open questions of the channel; of the workspace if there is no channel."""


@dataclass(frozen=True, slots=True)
class Setup:
    """Starts the setup of a channel's schedule, here with the channel's name: asks for the time."""

    channel: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class JoinChannel:
    """Makes the bot a member of a channel, here with the channel's name, and continues with the setup."""

    channel: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class SetupAt:
    """Continues the setup with the time, as `HHMM`: asks for days and zone."""

    at: str
    channel: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class SetupForm:
    """Asks for everything that the setup needs in one form, which begins with this channel."""

    channel: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class BeginHere:
    """Completes the setup with a form that has the channel and the time too."""


@dataclass(frozen=True, slots=True)
class EditSchedule:
    """As a button, shows a form with what a schedule is now; as a form, changes what differs from that.

    The action holds what the form showed, so that another admin's change in the meantime stays.
    """

    schedule: str
    at: str = ""
    days: str = ""
    ping: str = ""
    zone: str = ""


@dataclass(frozen=True, slots=True)
class Begin:
    """Completes the setup: creates the schedule at this time, with the form's days and zone."""

    at: str
    channel: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class PostNow:
    """Posts the day's question of a schedule now."""

    schedule: str


@dataclass(frozen=True, slots=True)
class Join:
    """Links this chat and its data to the workspace that created the code."""

    code: str


# What each class of `core` answers when it is pressed as a button, or submitted as a form.
_Answering = Open | OpenCard | Fill | Try | Choose | Confide | Hint
_Answered = MyResult | GiveFeedback | Compare | Mark | ShareAnswer | PeerAnswers | ConfirmMarks
QuestionPress = _Answering | _Answered
QuestionSubmit = Fill | Try | Mark
MemberPress = (
    Today
    | Next
    | NextOf
    | ShowBoard
    | ShowContest
    | ShowSpeed
    | ShareSolution
    | Explain
    | Report
    | Suggest
    | Snippet
    | Privacy
    | Notifications
    | SetNotification
)
MemberSubmit = Report | Suggest | Snippet
DuelPress = RespondDuel | Rematch | ShowDuel | ShowDuels | ShowLadder | Challenge
TournamentPress = JoinTournament | LeaveTournament | ShowTournament
SetupPress = Setup | SetupAt | SetupForm | JoinChannel | PostNow
SetupSubmit = Begin | BeginHere
ReviewPress = Review | Settle | Credit | ReviewSuggestion | EditSuggestion | AcceptSuggestion | DeclineSuggestion
ReviewSubmit = Settle | EditSuggestion | DeclineSuggestion
AdminPress = EditSchedule | Import | Join
AdminSubmit = EditSchedule | Import
Action = QuestionPress | MemberPress | DuelPress | TournamentPress | SetupPress | SetupSubmit | ReviewPress | AdminPress

_ANY = r"[^\x00-\x1f]*"
_SOME = r"[^\x00-\x1f]+"
_CHANNEL = r"[^\x00-\x1f:]+"
_CLOCK = "([01][0-9]|2[0-3])[0-5][0-9]"
_PERIOD = "day|week|month|season|all"
_LEVEL = "(mid|senior|principal)?"
_KIND = "(choice|value|output|code|open)"
# The ref of a practice question may carry a practice filter, see `ref_with_filter`.
_REF = rf"[rpsd][0-9]{{1,18}}|p[0-9]{{1,18}},{_KIND}?,{_LEVEL},[^\x00-\x1f:]*"

# Only the last field may contain a colon, because it takes the rest. Never reuse a tag: old cards keep their buttons.
_SHAPES: dict[str, tuple[type[Action], tuple[str, ...]]] = {
    "a": (Open, (_REF,)),
    "d": (OpenCard, (_REF,)),
    "o": (Choose, (_REF, _SOME)),
    "oq": (Confide, (_REF, "guess|think|sure", _SOME)),
    "f": (Fill, (_REF,)),
    "x": (Try, (_REF,)),
    "hi": (Hint, (_REF, "ask|take")),
    "n": (Next, (_LEVEL, _ANY)),
    "m": (NextOf, (_KIND, _LEVEL, _ANY)),
    "oc": (Compare, (_REF,)),
    "om": (Mark, (_REF,)),
    "os": (ShareAnswer, (_REF,)),
    "op": (PeerAnswers, (_REF, "[0-9]{1,18}")),
    "ok": (ConfirmMarks, (_REF, "[0-9]{1,18}")),
    "og": (Credit, ("[0-9]{1,18}", "[0-9]{1,3}")),
    "dr": (RespondDuel, ("[0-9]{1,18}", "accept|decline")),
    "dg": (Rematch, ("[0-9]{1,18}",)),
    "dv": (ShowDuel, ("[0-9]{1,18}",)),
    "dm": (ShowDuels, ()),
    "dc": (Challenge, ()),
    "dl": (ShowLadder, ()),
    "tj": (JoinTournament, ("[0-9]{1,18}",)),
    "tl": (LeaveTournament, ()),
    "tv": (ShowTournament, ()),
    "e": (Report, (_ANY,)),
    "k": (Explain, (_SOME,)),
    "r": (MyResult, ("r[0-9]{1,18}",)),
    "rf": (GiveFeedback, ("r[0-9]{1,18}", "yes|no")),
    "rs": (ShowSpeed, ("r[0-9]{1,18}", "time|memory")),
    "rc": (ShareSolution, ("r[0-9]{1,18}", "on|off")),
    "u": (Snippet, ()),
    "l": (ShowBoard, (_PERIOD, "channel|workspace", _ANY)),
    "y": (ShowContest, ("rookies|improved", _PERIOD, "channel|workspace", _ANY)),
    "v": (Privacy, ("see|export|csv|hide|show|forget|erase",)),
    "nv": (Notifications, ()),
    "ns": (SetNotification, ("reminders|results", "on|off")),
    "i": (Import, ("check|apply",)),
    "q": (Review, ("[0-9]{1,18}",)),
    "s": (Settle, ("[0-9]{1,18}", "dismissed|fixed")),
    "su": (Suggest, ()),
    "sv": (ReviewSuggestion, ("[0-9]{1,18}",)),
    "se": (EditSuggestion, ("[0-9]{1,18}",)),
    "sa": (AcceptSuggestion, ("[0-9]{1,18}", "[0-9a-f]{8}")),
    "sd": (DeclineSuggestion, ("[0-9]{1,18}",)),
    "c": (Join, ("[0-9A-Z]{8}",)),
    "t": (Today, ()),
    "h": (Setup, (_CHANNEL, _ANY)),
    "z": (JoinChannel, (_CHANNEL, _ANY)),
    "j": (SetupAt, (_CLOCK, _CHANNEL, _ANY)),
    "b": (Begin, (_CLOCK, _CHANNEL, _ANY)),
    "hf": (SetupForm, (_CHANNEL, _ANY)),
    "bh": (BeginHere, ()),
    "ed": (EditSchedule, ("[0-9]{1,18}", f"({_CLOCK})?", "[0-6]{0,7}", "[0-9A-Z]{0,31}", _ANY)),
    "w": (PostNow, ("[0-9]{1,18}",)),
}
_TAGS = {kind: tag for tag, (kind, _) in _SHAPES.items()}


def encode(action: Action) -> str:
    """Returns the id of an action. Raises ValueError if it would be too long or contain a control character."""
    fields = [str(getattr(action, field.name)) for field in dataclasses.fields(action)]
    text = ":".join((_TAGS[type(action)], *fields))
    if len(text) > ACTION_ID or decode(text) != action:
        raise ValueError(f"{action} does not fit an action id of {ACTION_ID} characters: {text!r}")
    return text


def fits(action: Action) -> bool:
    """Returns whether an action can be encoded: authors choose the ids of options, questions and topics."""
    try:
        encode(action)
    except (ValueError, BadAction):
        return False
    return True


def decode(text: str) -> Action:
    """Returns the action of an id. Raises BadAction for an id that `encode` never returns."""
    tag, _, rest = text.partition(":")
    kind, patterns = _SHAPES.get(tag, (None, ()))
    fields = rest.split(":", len(patterns) - 1) if patterns else [rest] * bool(rest)
    fit = len(fields) == len(patterns) and all(map(re.fullmatch, patterns, fields))
    if kind is None or not fit or len(text) > ACTION_ID:
        raise BadAction(text[:ACTION_ID])
    return kind(*fields)


# The filter of practice, which the buttons of a practice question carry on to the next one.

_TRAILING_LENGTH = 60
"""Longest ref with its filter, characters: an option's id must fit next to it."""


@dataclass(frozen=True, slots=True)
class PracticeFilter:
    """Restricts practice to a topic, a level or a kind; an empty field means any."""

    topic: str = ""
    level: str = ""
    kind: str = ""

    @property
    def trail(self) -> str:
        """The filter as text, which `read_trail` reads; empty if there is none."""
        return f"{self.kind},{self.level},{self.topic}" if self != PracticeFilter() else ""

    @property
    def next(self) -> Next | NextOf:
        """The action that shows the next matching question."""
        return NextOf(self.kind, self.level, self.topic) if self.kind else Next(self.level, self.topic)


NO_FILTER = PracticeFilter()


def ref_with_filter(ref: str, wanted: PracticeFilter) -> str:
    """Returns the ref of a practice question with its filter, so that the next question matches it too.

    Returns `ref` alone if there is no filter, or if it does not fit an action id.
    """
    trail = f"{ref},{wanted.trail}"
    fit = len(trail) <= _TRAILING_LENGTH and re.fullmatch(_REF, trail)
    return trail if fit and wanted != NO_FILTER else ref


def read_trail(trail: str) -> PracticeFilter:
    """Returns the filter of a trail; none for a text that is not one."""
    kind, *rest = trail.split(",", 2)
    return PracticeFilter(rest[1], rest[0], kind) if len(rest) == 2 else NO_FILTER


def split_ref(ref: str) -> tuple[str, PracticeFilter]:
    """Splits a ref into the ref the service knows and the practice filter."""
    bare, _, trail = ref.partition(",")
    return bare, read_trail(trail)


def question_ref(ref: str) -> QuestionRef:
    """Parses a ref, with or without a filter."""
    return QuestionRef.parse(split_ref(ref)[0])
