"""What a button or a form means, packed into its action id, so that it works after a restart. Nothing is done here."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass

from service.wire import QuestionRef

MAX_LENGTH = 100
"""Characters of an action id that every chat takes."""


class BadAction(Exception):
    """An action id that none of our cards carries; the message is for the one who pressed it."""


@dataclass(frozen=True, slots=True)
class Open:
    """Show the question put as `ref`, to be answered."""

    ref: str


@dataclass(frozen=True, slots=True)
class OpenCard:
    """Put a question to the member that is answered by pressing an option: `Open`, of which it is known that it asks
    for no form."""

    ref: str


@dataclass(frozen=True, slots=True)
class Choose:
    """Answer with one option."""

    ref: str
    option: str


@dataclass(frozen=True, slots=True)
class Fill:
    """Answer with what the form holds."""

    ref: str


@dataclass(frozen=True, slots=True)
class Try:
    """Run the form's code on the visible examples; nothing is kept."""

    ref: str


@dataclass(frozen=True, slots=True)
class Next:
    """Practice the next card, of any level and topic where these are empty."""

    level: str = ""
    topic: str = ""


@dataclass(frozen=True, slots=True)
class NextOf:
    """Practice the next card of one kind of question, of any level and topic where these are empty."""

    kind: str
    level: str = ""
    topic: str = ""


@dataclass(frozen=True, slots=True)
class Rate:
    """Rate one's own recall."""

    ref: str
    rating: str


@dataclass(frozen=True, slots=True)
class Report:
    """Pressed: show the form. Submitted: report the question; where it is empty the form names it."""

    question: str = ""


@dataclass(frozen=True, slots=True)
class Explain:
    """Show the key of a question."""

    question: str


@dataclass(frozen=True, slots=True)
class Snippet:
    """Run the form's code freely."""


@dataclass(frozen=True, slots=True)
class ShowBoard:
    """Show a board."""

    period: str
    scope: str
    topic: str = ""


@dataclass(frozen=True, slots=True)
class ShowContest:
    """Show a board of rookies, or of those who improved."""

    contest: str
    period: str
    scope: str
    topic: str = ""


@dataclass(frozen=True, slots=True)
class Privacy:
    """See, export, csv (exports too), hide, show, forget (which asks first) or erase (which does it)."""

    what: str


@dataclass(frozen=True, slots=True)
class Import:
    """Import the form's document, or only check it."""

    how: str


@dataclass(frozen=True, slots=True)
class Settle:
    """Settle a report as dismissed or fixed."""

    report: str
    state: str


@dataclass(frozen=True, slots=True)
class Today:
    """Show what is open in this channel, or where none is named in the workspace."""


@dataclass(frozen=True, slots=True)
class Setup:
    """Set up the daily question of a channel, here with its name: ask for its time."""

    channel: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class SetupAt:
    """The time is chosen, as hours and minutes in four digits: ask for days and zone."""

    at: str
    channel: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Begin:
    """Begin a channel's schedule at that time, on the days and in the zone of the form."""

    at: str
    channel: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class PostNow:
    """Post a schedule's question of the day at once."""

    schedule: str


@dataclass(frozen=True, slots=True)
class Join:
    """Link this chat, with all it has, to the workspace that the code was made in."""

    code: str


Action = (
    Open
    | OpenCard
    | Choose
    | Fill
    | Try
    | Next
    | NextOf
    | Rate
    | Report
    | Explain
    | Snippet
    | ShowBoard
    | ShowContest
    | Privacy
    | Import
    | Settle
    | Join
    | Today
    | Setup
    | SetupAt
    | Begin
    | PostNow
)

_ANY = r"[^\x00-\x1f]*"
_SOME = r"[^\x00-\x1f]+"
_CHANNEL = r"[^\x00-\x1f:]+"
_CLOCK = "([01][0-9]|2[0-3])[0-5][0-9]"
_PERIOD = "day|week|month|season|all"
_LEVEL = "(mid|senior|principal)?"
_KIND = "(choice|value|output|code|open)"
# A practiced question's ref may be followed by what practice is kept to, see `trailing`.
_REF = rf"[rp][0-9]{{1,18}}|p[0-9]{{1,18}},{_KIND}?,{_LEVEL},[^\x00-\x1f:]*"
_TRAILING_LENGTH = 60
"""Characters of a ref with its trail: an option's id must fit beside it."""

# Only the last field may hold a colon, for it takes the rest. A tag once given keeps its meaning for ever: cards
# posted last year are still pressed.
_SHAPES: dict[str, tuple[type[Action], tuple[str, ...]]] = {
    "a": (Open, (_REF,)),
    "d": (OpenCard, (_REF,)),
    "o": (Choose, (_REF, _SOME)),
    "f": (Fill, (_REF,)),
    "x": (Try, (_REF,)),
    "n": (Next, (_LEVEL, _ANY)),
    "m": (NextOf, (_KIND, _LEVEL, _ANY)),
    "g": (Rate, (_REF, "again|hard|good|easy")),
    "e": (Report, (_ANY,)),
    "k": (Explain, (_SOME,)),
    "u": (Snippet, ()),
    "l": (ShowBoard, (_PERIOD, "channel|workspace", _ANY)),
    "y": (ShowContest, ("rookies|improved", _PERIOD, "channel|workspace", _ANY)),
    "v": (Privacy, ("see|export|csv|hide|show|forget|erase",)),
    "i": (Import, ("check|apply",)),
    "s": (Settle, ("[0-9]{1,18}", "dismissed|fixed")),
    "c": (Join, ("[0-9A-Z]{8}",)),
    "t": (Today, ()),
    "h": (Setup, (_CHANNEL, _ANY)),
    "j": (SetupAt, (_CLOCK, _CHANNEL, _ANY)),
    "b": (Begin, (_CLOCK, _CHANNEL, _ANY)),
    "w": (PostNow, ("[0-9]{1,18}",)),
}
_TAGS = {kind: tag for tag, (kind, _) in _SHAPES.items()}


def encode(action: Action) -> str:
    """The id of `action`. Raises ValueError where it would be too long or hold what no id can; see `fits`."""
    fields = [str(getattr(action, field.name)) for field in dataclasses.fields(action)]
    text = ":".join((_TAGS[type(action)], *fields))
    if len(text) > MAX_LENGTH or decode(text) != action:
        raise ValueError(f"{action} does not fit an action id of {MAX_LENGTH} characters: {text!r}")
    return text


def fits(action: Action) -> bool:
    """Whether `encode` takes it: ids of options, questions and topics are their authors' and may be long."""
    try:
        encode(action)
    except (ValueError, BadAction):
        return False
    return True


def decode(text: str) -> Action:
    """The action of an id. Raises BadAction for anything `encode` never gives."""
    tag, _, rest = text.partition(":")
    kind, patterns = _SHAPES.get(tag, (None, ()))
    fields = rest.split(":", len(patterns) - 1) if patterns else [rest] * bool(rest)
    fit = len(fields) == len(patterns) and all(map(re.fullmatch, patterns, fields))
    if kind is None or not fit or len(text) > MAX_LENGTH:
        raise BadAction("This button belongs to no question we know. Type `/quiz today` for a fresh one.")
    return kind(*fields)


@dataclass(frozen=True, slots=True)
class PracticeFilter:
    """What practice is kept to; empty means any."""

    topic: str = ""
    level: str = ""
    kind: str = ""

    @property
    def next(self) -> Next | NextOf:
        """Practice the next such card."""
        return NextOf(self.kind, self.level, self.topic) if self.kind else Next(self.level, self.topic)


ANYTHING = PracticeFilter()


def trailing(ref: str, wanted: PracticeFilter) -> str:
    """A practiced question's `ref` with what practice is kept to, so that answering it leads on to the like.

    `ref` alone where nothing is wanted, or where no id could hold it.
    """
    trail = f"{ref},{wanted.kind},{wanted.level},{wanted.topic}"
    fit = len(trail) <= _TRAILING_LENGTH and re.fullmatch(_REF, trail)
    return trail if fit and wanted != ANYTHING else ref


def parted(ref: str) -> tuple[str, PracticeFilter]:
    """A ref as the service knows it, and what practice was kept to."""
    bare, *trail = ref.split(",", 3)
    kind, level, topic = trail or ("", "", "")
    return bare, PracticeFilter(topic, level, kind)


def question_ref(ref: str) -> QuestionRef:
    """Parses a ref, with or without a trail."""
    return QuestionRef.parse(parted(ref)[0])
