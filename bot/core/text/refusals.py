"""Refusals of the service: a title that names the problem, then the cause and the fix with the command to type."""

from __future__ import annotations

from typing import Final, assert_never

from bot.core.markup import escape
from bot.core.text.competition_refusals import competition_refusal
from bot.core.text.notices import NEEDS_GPU, NOTHING_FITS
from bot.core.text.words import (
    Words,
    and_list,
    code_words,
    day_words,
    in_brief,
    minutes_words,
    moment_markdown,
    plural,
    stopped,
    time_words,
)
from service.wire import (
    AdminRoleRefused,
    AdminsOnly,
    AnswerRefusal,
    AnswerUnreadable,
    BankRefusal,
    CallRefusal,
    CallRejected,
    CallTooLarge,
    ChannelNeeded,
    ChannelUnscheduled,
    DailyLimitReached,
    DocumentRefused,
    DuelRefused,
    EditRefused,
    EventReused,
    InvalidInput,
    InvalidTimetable,
    Kind,
    LinkRefusal,
    LinkRefused,
    LinkWaits,
    MarkingRefused,
    MemberAmbiguous,
    MemberRefusal,
    NameRefused,
    NoHint,
    NoOpenRound,
    NoRoundOn,
    NoSandbox,
    NoSeason,
    NoSlotAhead,
    NotAnswered,
    NotAskable,
    NotFound,
    NothingFits,
    NothingToProve,
    NotMet,
    PeriodUnsuitable,
    PointsOutOfRange,
    QuestionGone,
    RatingRefused,
    Refusal,
    RestoreRefused,
    ResultNotReady,
    SandboxBusy,
    ScheduleRefusal,
    SeasonNameTaken,
    SeasonTooShort,
    ShareRefused,
    SkipRefused,
    SlotTaken,
    SprintRefused,
    StillOpen,
    SuggestionRefused,
    TextNeeded,
    TooManyCalls,
    TournamentRefused,
    UndoRefused,
    WrongKindOfAnswer,
)

_ANSWERS: dict[Kind, str] = {
    "choice": "one of its options",
    "value": "a Python value, such as `(2, 3)`",
    "output": "the text that the program prints",
    "code": "a Python program",
    "open": "a sentence or two",
}
_UNCHANGED = "Nothing was changed: an earlier answer, if you gave one, still counts."
_NOT_PERMITTED = "Not allowed"
_NO_MEASUREMENT = (
    "No code was measured there yet. Schedules with `measure:on` measure code that passed, within minutes of the close."
)
_NOT_POSSIBLE = "Not possible"


def refusal_words(refusal: Refusal) -> Words:
    """Returns title and text of a refusal. Markdown."""
    if isinstance(refusal, CallRefusal):
        return _call(refusal)
    if isinstance(refusal, AnswerRefusal):
        return _answer(refusal)
    if isinstance(refusal, ScheduleRefusal):
        return _schedule(refusal)
    if isinstance(refusal, MemberRefusal):
        return _member(refusal)
    if isinstance(refusal, BankRefusal):
        return _bank(refusal)
    if isinstance(refusal, LinkRefusal):
        return _link(refusal)
    if isinstance(refusal, SprintRefused | TournamentRefused):
        return competition_refusal(refusal)
    assert_never(refusal)


UNAVAILABLE = ("The quiz is not responding", "Nothing is lost. Reload the page in a minute.")
"""Title and text of a page whose call to the service failed."""


def plain_refusal(refusal: Refusal) -> Words:
    """Returns title and text of a refusal, without markup."""
    title, text = refusal_words(refusal)
    return title, in_brief(text, 500)


def _call(refusal: CallRefusal) -> Words:
    match refusal:
        case AdminsOnly():
            return _NOT_PERMITTED, "Only quiz admins can do that. Ask one of them for help."
        case NotFound():
            return "Not found", _not_found(refusal)
        case ChannelNeeded():
            return "No channel", "This command is about a channel. Type it in the channel you mean."
        case TextNeeded(what=what):
            return _TEXTS[what]
        case DailyLimitReached(what=what, most=most):
            text = f"You can send {plural(most, what)} within a day. This one was not sent: try again tomorrow."
            return "Daily limit reached", text
        case EventReused():
            return "Already answered", "This was already used for something else. Type the command again."
        case InvalidInput():
            return "Not accepted", _invalid(refusal)
        case CallTooLarge(most=most):
            return "Too large", f"At most {most // 1_000_000} MB can be sent at once. Nothing was changed."
        case TooManyCalls(retry_s=seconds):
            return "Too fast", f"That was too many requests at once. Try again in {plural(seconds, 'second')}."
        case CallRejected():
            text = "Dailygrad is not set up correctly. This is our fault, and nothing is lost."
            return "Not available", f"{text} Ask the operator to run `dailygrad doctor`."
        case _ as never:
            assert_never(never)


_TEXTS: Final[dict[str, Words]] = {
    "report": ("No description", "Say in a sentence what is wrong with the question."),
    "reason of a dismissal": (
        "No reason",
        "Say why the question is right: the member who reported it gets your reason.",
    ),
    "reason of an adjustment": ("No reason", "Say in a few words what the points are for."),
    "suggestion": ("No question", "Write a question with its answer: `/quiz suggest` has an example."),
    "reason of a decline": ("No reason", "Say why it is declined: its author gets your reason."),
    "name of a season": ("No name", "A season needs a name: `/quiz-admin season start NAME`."),
}
_ELSEWHERE: Final[dict[str, str]] = {
    "schedule": "`/quiz-admin schedule list` shows their numbers.",
    "question": "Its id is written below each question.",
    "topic": "`/quiz topics` lists all of them.",
    "report": "`/quiz-admin review list` shows their numbers.",
    "suggestion": "`/quiz-admin review suggestions` shows their numbers.",
    "bank": "`/quiz-admin bank list` shows all of them.",
    "tournament": "`/quiz tournament` names the others.",
    "duel": "`/quiz duel` shows yours.",
    "open answer": "`/quiz-admin review answers` shows their numbers.",
    "member": "Type the name as the board shows it.",
}
"""Where to find what there is instead."""


def _not_found(refusal: NotFound) -> str:
    what, name = refusal.what, code_words(refusal.name) if refusal.name else ""
    similar = and_list(_codes(refusal.similar), "or")
    match what:
        case "level" | "kind":
            return f"There is no {what if what == 'level' else 'kind of question'} {name}. Choose {similar}."
        case "topic" | "bank" if refusal.similar:
            return f"There is no {what} {name} here. Did you mean {similar}?"
        case "waiting question":
            waits = f"question {name} is waiting for approval" if name else "question is waiting for approval"
            return f"No {waits} in your own banks. `/quiz-admin bank list` shows how many wait in each."
        case "tournament" if not name:
            return "There has been no tournament yet. An admin plans one with `/quiz-admin tournament new`."
        case "measurement":
            return _NO_MEASUREMENT
        case _:
            shown = "closed open answer" if what == "open answer" else what
            return f"There is no {shown} {name} here. {_ELSEWHERE[what]}"


def _codes(names: tuple[str, ...]) -> list[str]:
    return [code_words(name) for name in names]


_FIELDS: Final[dict[str, str]] = {
    "text": "What you wrote",
    "name": "The name",
    "open minutes": "**open**",
    "catch up minutes": "**catch-up**",
    "memory days": "**memory**",
    "every days": "**every**",
    "team count": "**count**",
}
"""What members call a field of a call."""


def _invalid(refusal: InvalidInput) -> str:
    field = f"{_FIELDS.get(refusal.field) or f'**{escape(refusal.field)}**'} " if refusal.field else "The input "
    limit = f"{refusal.limit:,g}"
    if refusal.field.endswith(" minutes"):
        limit = minutes_words(int(refusal.limit))
    match refusal.problem:
        case "too long":
            return f"{field}is too long. It takes at most {plural(int(refusal.limit), 'character')}."
        case "too short" if refusal.limit == 1:
            return f"{field}is empty. Type something."
        case "too short":
            return f"{field}is too short. It takes at least {plural(int(refusal.limit), 'character')}."
        case "too small":
            return f"{field}must be at least {limit}."
        case "too large":
            return f"{field}can be at most {limit}."
        case "not storable":
            return "The text contains a character that cannot be stored, or a number is too large. Send it without."
        case "invalid":
            return f"{field}is not valid: {stopped(escape(refusal.detail))}"
        case _ as never:
            assert_never(never)


_MARKING: Final[dict[str, Words]] = {
    "no answer": ("No answer to mark", "You did not answer this question, so there is nothing to mark."),
    "too early": ("Question still open", "You can mark your answer when the round has closed."),
    "marked": ("Already marked", "You already marked this answer, and each answer is marked once."),
    "unknown point": ("Unknown point", "The form is out of date. Open it again and choose from the points shown."),
    "not marked": ("Not marked yet", "Mark your answer to the round first. Then ask for confirmation."),
    "own answer": ("Your own answer", "Somebody else has to confirm your answer."),
    "not shared": ("Answer not shared", "Its author has not shared this answer for confirmation."),
    "settled": ("Already confirmed", "This answer has its credit. A moderator can still change it."),
}
_BUSY: Final[dict[str, str]] = {
    "member": "One of your programs is waiting to run. Send this one when that one has its result.",
    "full": "Many programs are waiting to run. Try again in a minute. Nothing was changed.",
}
_RATING: Final[dict[str, str]] = {
    "wrong": "This answer was not right enough for that rating. The card comes back sooner instead.",
    "due": "The card is due again. Answer it again to rate it.",
    "no review": "This answer has no rating yet. Try again in a moment.",
}


def _answer(refusal: AnswerRefusal) -> Words:
    match refusal:
        case QuestionGone(practice=practice):
            command = "/quiz practice" if practice else "/quiz today"
            return "Question not found", f"This question cannot be answered here any more. Type `{command}`."
        case NoHint(closed=closed):
            text = "The round is closed: `/quiz explain` has the answer." if closed else "This question has no hint."
            return "No hint", text
        case AnswerUnreadable():
            return "Answer not readable", f"{_unreadable(refusal)} {_UNCHANGED}"
        case WrongKindOfAnswer(question=kind):
            article = "an" if kind in ("open", "output") else "a"
            text = f"This is {article} {kind} question. Answer it with {_ANSWERS[kind]}."
            return "Wrong kind of answer", f"{text} {_UNCHANGED}"
        case StillOpen():
            text = "This question is asked right now, in a round, a sprint or a duel of yours, so its answer is secret."
            return "Question still open", f"{text} `/quiz today` shows open rounds. Come back when it is closed."
        case ResultNotReady(closes_at=closes_at, zone=zone):
            text = f"This round is open until {moment_markdown(closes_at, zone)}. Your result is here after that."
            return "No result yet", text
        case NotAnswered():
            return "You did not answer", "Only members who answered a question can say whether it was a good one."
        case NotMet(question=question):
            text = f"You can see the answer of {code_words(question)} after you have answered it."
            return "Not answered yet", f"{text} Type `/quiz practice` to get it."
        case MarkingRefused(why=why):
            return _MARKING[why]
        case RatingRefused(why=why):
            return "Not rated", _RATING[why]
        case NothingToProve(question=question):
            return "Nothing to run", f"No program proves the answer of {code_words(question)}."
        case NoSandbox():
            text = "No sandbox is connected. Try again in a minute; if that does not help, ask an admin to type"
            return "Code cannot run now", f"{text} `/quiz-admin doctor`."
        case SandboxBusy(why=why):
            return "Please wait", _BUSY[why]
        case _ as never:
            assert_never(never)


def _unreadable(refusal: AnswerUnreadable) -> str:
    example = "Write it as Python would, such as `3`, `(1, 4)`, `True` or `float32`."
    match refusal.problem:
        case "no value":
            return "Your answer is empty. Write a value, such as `3`, `0.5`, `(1, 4)`, `True` or `float32`."
        case "no output":
            return "Your answer is empty. Write what the program prints."
        case "no text":
            return "Your answer is empty. Write a sentence or two."
        case "too long":
            return f"Your answer has {plural(refusal.length, 'character')}; a value has at most {refusal.limit:,}."
        case "not a value":
            return f"“{escape(refusal.text)}” is not a Python value. {example}"
        case "not computed":
            return f"“{escape(refusal.text)}” is not a value yet. Work it out and write the result."
        case "ellipsis":
            return "`...` is not a value. Write all of it."
        case "size":
            return "A `Size` takes a list. Write `torch.Size([1, 4])` or `(1, 4)`."
        case "no option":
            return "You chose no option. Choose one."
        case "unknown option":
            return "The question does not have that option. Open it again and choose one that is shown."
        case "several options":
            return "Exactly one option is right. Choose one."
        case _ as never:
            assert_never(never)


def _schedule(refusal: ScheduleRefusal) -> Words:
    match refusal:
        case InvalidTimetable():
            return _timetable(refusal)
        case NothingFits(needs_gpu=needs_gpu):
            why = NEEDS_GPU if needs_gpu else NOTHING_FITS
            return "No question fits", (
                f"{why} Choose other levels, topics or kinds, or import questions with `/quiz-admin bank import`."
            )
        case NotAskable(question=question, why=why):
            return "Not asked", _NOT_ASKABLE[why].format(question=code_words(question))
        case NoSlotAhead():
            text = "This schedule has no date within a year: its holidays and skipped days leave none."
            return "No date", f"{text} Change it with `/quiz-admin schedule edit`."
        case SlotTaken(day=day):
            text = f"The question of {day_words(day)} was already posted."
            return "Already posted", f"{text} `/quiz-admin schedule preview` shows the next one."
        case SkipRefused():
            return _skip_refused(refusal)
        case NoOpenRound():
            text = "No question is open in this channel. Post one with `/quiz-admin schedule post-now`."
            return "No open question", text
        case ChannelUnscheduled():
            text = "An extra question needs a schedule that posts to this channel."
            return "No schedule here", f"{text} Add one with `/quiz-admin setup`."
        case ShareRefused():
            return _share_refused(refusal)
        case _ as never:
            assert_never(never)


_NOT_ASKABLE: Final[dict[str, str]] = {
    "asked now": "{question} is being asked here now, or in a sprint. Ask it after its answer is revealed.",
    "retired": "{question} is retired. `/quiz-admin bank restore` lets it be asked again.",
    "gone": "Its document no longer contains {question}. Add it there and import the document again.",
    "held": "{question} waits for approval. Approve it with `/quiz-admin bank approve`.",
    "no answer": "{question} has no answer, so it cannot be graded. Add one to its document and import it again.",
    "no variants": "The variants of {question} are not drawn yet, which needs a sandbox. Try again later.",
    "needs gpu": "{question} needs a GPU, and no sandbox has one.",
}


def _skip_refused(refusal: SkipRefused) -> Words:
    day = day_words(refusal.day)
    match refusal.why:
        case "posted":
            text = f"The question of {day} has already been posted. Close its round with `/quiz-admin close-now`."
            return "Already posted", text
        case "past":
            return "Day over", f"{day} is over. Only today and later days can be skipped."
        case "no slot":
            return "Nothing to skip", (
                f"This schedule has no question on {day}. `/quiz-admin schedule list` shows the next ones."
            )
        case _ as never:
            assert_never(never)


def _share_refused(refusal: ShareRefused) -> Words:
    number = refusal.schedule
    match refusal.why:
        case "shared":
            return "Already shared", f"Schedule {number} already posts to this channel."
        case "not shared":
            return "Not shared", f"Schedule {number} does not post to this channel."
        case "only channel":
            text = f"This is the only channel of schedule {number}. To end the schedule, type"
            return "Only channel", f"{text} `/quiz-admin schedule remove {number}`."
        case _ as never:
            assert_never(never)


def _timetable(refusal: InvalidTimetable) -> Words:
    value = code_words(refusal.value)
    match refusal.field:
        case "weekdays":
            return "No weekday", "A schedule needs at least one weekday, such as `mon-fri`."
        case "days":
            text = "At most one date within a year fits `days`, `every`, `month-days` and `holidays`. Leave one out."
            return "No such day", text
        case "time":
            return "Time with a zone", f"The time {value} has a zone of its own. Write it as `09:00` and name the zone."
        case "zone" if refusal.similar:
            meant = and_list(_codes(refusal.similar), "or")
            return "Unknown time zone", f"There is no time zone {value}. Did you mean {meant}?"
        case "zone":
            names = "`Europe/Berlin`, `America/New_York` or `UTC`"
            return "Unknown time zone", f"There is no time zone {value}. Use an IANA name such as {names}."
        case "holidays":
            text = f"There is no holiday calendar {value}. Use a code such as `DE` or `US-CA`."
            return "Unknown holidays", text
        case _ as never:
            assert_never(never)


def _name(refusal: NameRefused) -> Words:
    name = code_words(refusal.name) if refusal.name else ""
    match refusal.why:
        case "length":
            return "Not a name", "A name has 1 to 40 letters or digits. Try another."
        case "unreadable":
            return "Not a name", "This name has characters that cannot be shown. Write it with letters and digits."
        case "marks":
            return "Not a name", "This name has too many marks on a letter. Write it with fewer."
        case "alphabets":
            text = f"The letters of {name} are from two alphabets that look alike. Write the word in one of them."
            return "Not a name", text
        case "taken":
            return "Name taken", f"Somebody here is already called {name}. Pick another name."
        case "alike":
            return "Name taken", f"Somebody here has a name that looks like {name}. Pick another name."
        case _ as never:
            assert_never(never)


def _member(refusal: MemberRefusal) -> Words:
    match refusal:
        case NoSeason():
            text = "Choose another period, or ask an admin to start one with `/quiz-admin season start NAME`."
            return "No season", f"No season is running. {text}"
        case NameRefused():
            return _name(refusal)
        case AdminRoleRefused(why="elsewhere"):
            return "Not a member of this chat", "On Discord and Slack, the platform says who is an admin."
        case AdminRoleRefused():
            return "That is you", "Ask another admin to change your own role, so that one always remains."
        case SeasonNameTaken(name=name):
            return "Name taken", f"There is already a season {code_words(name)}. Choose another name."
        case SeasonTooShort(name=name):
            return "Season too short", f"The season {code_words(name)} has only just begun. End it a moment later."
        case PeriodUnsuitable(contest="rookies"):
            text = "Rookies are members who joined within a period. Choose a day, week, month or season."
            return "Choose a period", text
        case PeriodUnsuitable():
            text = "This board compares with the period before. Choose a day, week or month."
            return "Choose a period", text
        case MemberAmbiguous(name=name, ids=ids):
            text = f"{len(ids)} members are called {code_words(name)}. Type the id of one of them:"
            return "Several members", f"{text} {and_list(_codes(ids), 'or')}."
        case NoRoundOn(day=day):
            return "Nothing to restore", f"No question was posted on {day_words(day)}, so no streak broke that day."
        case PointsOutOfRange(points=points, most=most):
            text = f"{points:,} points cannot be added. Use a number from 1 to {most:,}, or from -1 to -{most:,}."
            return "Points out of range", text
        case DuelRefused():
            return competition_refusal(refusal)
        case _ as never:
            assert_never(never)


def _bank(refusal: BankRefusal) -> Words:
    match refusal:
        case DocumentRefused():
            return "Document refused", f"{_too_much(refusal)} Nothing was imported."
        case RestoreRefused(question=question):
            text = (
                f"Its document no longer contains {code_words(question)}. Add it there and import the document again."
            )
            return "Not in the document", text
        case SuggestionRefused():
            return _suggestion_refused(refusal)
        case EditRefused(question=question, why="shared"):
            text = f"The bank of {code_words(question)} is shared with other workspaces. Its operator can edit it."
            return _NOT_PERMITTED, f"{text} {code_words(f'/quiz-admin bank retire {question}')} stops it here."
        case EditRefused(question=question, why="changed"):
            text = f"{code_words(question)} has changed since you opened it here."
            return "Just changed", f"{text} Copy what you wrote, open the question again and make your change there."
        case EditRefused(question=question):
            return (
                _NOT_POSSIBLE,
                f"The text of {code_words(question)} is not one question with an answer. Fix it first.",
            )
        case UndoRefused():
            return _undo_refused(refusal)
        case _ as never:
            assert_never(never)


def _too_much(refusal: DocumentRefused) -> str:
    match refusal.why:
        case "memory" | "time":
            return f"The document takes too much {refusal.why} to read. Split it into several files."
        case "blocks":
            return f"The document has more than {refusal.most:,} lines and list items. Split it into several files."
        case "depth":
            return f"The document nests lists or quotes more than {refusal.most} deep. Write them with fewer levels."
        case _ as never:
            assert_never(never)


def _suggestion_refused(refusal: SuggestionRefused) -> Words:
    show = f"{code_words(f'/quiz-admin review suggestions {refusal.suggestion}')} shows it."
    match refusal.why:
        case "decided":
            return "Already decided", f"Suggestion {refusal.suggestion} has already been accepted or declined. {show}"
        case "changed":
            return "Just changed", f"Somebody edited suggestion {refusal.suggestion} just now. {show}"
        case "unsound":
            return "Not accepted", f"The checks found errors in suggestion {refusal.suggestion}. {show}"
        case _ as never:
            assert_never(never)


def _undo_refused(refusal: UndoRefused) -> Words:
    bank = code_words(refusal.bank)
    match refusal.why:
        case "shared":
            command = code_words(f"dailygrad bank undo {refusal.bank}")
            return _NOT_PERMITTED, f"All workspaces share the bank {bank}. Its operator can undo the import: {command}."
        case "no record":
            text = f"The latest import of {bank} did not record its steps."
            return _NOT_POSSIBLE, f"{text} Import the earlier document again instead."
        case "no change":
            return "Nothing to undo", f"No import of {bank} changed anything."
        case "not latest":
            text = f"That import of {bank} is not the latest any more: it was undone, or another one came after it."
            return _NOT_POSSIBLE, f"{text} See {code_words(f'/quiz-admin bank log {refusal.bank}')}."
        case _ as never:
            assert_never(never)


def _link(refusal: LinkRefusal) -> Words:
    match refusal:
        case LinkWaits(channel=channel, closes_at=closes_at):
            return "Question still open", (
                f"Chats are linked between rounds, and a question is open in {code_words(channel)} until "
                f"{time_words(closes_at, 'UTC')}. Close it there with `/quiz-admin close-now`, or wait; then "
                "type the code again."
            )
        case LinkRefused():
            return _linked(refusal)
        case _ as never:
            assert_never(never)


def _linked(refusal: LinkRefused) -> Words:
    command = "/quiz-admin link" if refusal.what == "chat" else "/quiz link"
    match refusal.why:
        case "wrong code":
            text = "The code is wrong, was used, or is older than 15 minutes. Get a new one in the other chat with"
            return "Wrong code", f"{text} `{command}`, and type it here."
        case "too many codes":
            return "Too many codes", "Too many codes were tried here. Wait 15 minutes, then type a new code."
        case "linked" if refusal.what == "chat":
            return "Already linked", "These two chats are already linked: they share one board."
        case "linked":
            return "Already linked", "These two accounts are already linked."
        case "same chat":
            return "Wrong chat", "This code was made in this chat. Type it in the other one."
        case "unlinked chats":
            text = "The code was made in a chat that is not linked with this one. An admin can link the two chats with"
            return "Chats not linked", f"{text} `/quiz-admin link`. Then type the code again."
        case "both known":
            text = "Both accounts are members of the same chat, so they cannot belong to one person."
            return _NOT_POSSIBLE, text
        case _ as never:
            assert_never(never)
