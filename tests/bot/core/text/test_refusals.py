"""Every refusal as it is read: the problem in the title, then the cause and the fix, with commands that exist."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from types import UnionType
from typing import get_args

import pytest

from bot.core.command_spec import specs_of
from bot.core.text.refusals import plain_refusal, refusal_words
from service.wire import (
    AdminRoleRefused,
    AdminsOnly,
    AnswerUnreadable,
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
    LinkRefused,
    LinkWaits,
    MarkingRefused,
    MemberAmbiguous,
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
from tests.bot.core.text.instants import read_aloud

DAY = date(2026, 3, 2)

REFUSALS: list[tuple[Refusal, str, str]] = [
    (
        AdminsOnly(),
        "Not allowed",
        "Only quiz admins can do that. Ask one of them for help.",
    ),
    (
        NotFound(what="schedule", name="7"),
        "Not found",
        "There is no schedule `7` here. `/quiz-admin schedule list` shows their numbers.",
    ),
    (
        NotFound(what="question", name="views"),
        "Not found",
        "There is no question `views` here. Its id is written below each question.",
    ),
    (
        NotFound(what="topic", name="tensor", similar=("tensors", "tensors/memory")),
        "Not found",
        "There is no topic `tensor` here. Did you mean `tensors` or `tensors/memory`?",
    ),
    (
        NotFound(what="topic", name="poems"),
        "Not found",
        "There is no topic `poems` here. `/quiz topics` lists all of them.",
    ),
    (
        NotFound(what="level", name="junior", similar=("mid", "senior")),
        "Not found",
        "There is no level `junior`. Choose `mid` or `senior`.",
    ),
    (
        NotFound(what="kind", name="poem", similar=("choice", "value")),
        "Not found",
        "There is no kind of question `poem`. Choose `choice` or `value`.",
    ),
    (
        NotFound(what="report", name="7"),
        "Not found",
        "There is no report `7` here. `/quiz-admin review list` shows their numbers.",
    ),
    (
        NotFound(what="suggestion", name="7"),
        "Not found",
        "There is no suggestion `7` here. `/quiz-admin review suggestions` shows their numbers.",
    ),
    (
        SuggestionRefused(suggestion=7, why="decided"),
        "Already decided",
        "Suggestion 7 has already been accepted or declined. `/quiz-admin review suggestions 7` shows it.",
    ),
    (
        SuggestionRefused(suggestion=7, why="changed"),
        "Just changed",
        "Somebody edited suggestion 7 just now. `/quiz-admin review suggestions 7` shows it.",
    ),
    (
        SuggestionRefused(suggestion=7, why="unsound"),
        "Not accepted",
        "The checks found errors in suggestion 7. `/quiz-admin review suggestions 7` shows it.",
    ),
    (
        TextNeeded(what="suggestion"),
        "No question",
        "Write a question with its answer: `/quiz suggest` has an example.",
    ),
    (
        TextNeeded(what="reason of a decline"),
        "No reason",
        "Say why it is declined: its author gets your reason.",
    ),
    (
        NotFound(what="waiting question", name="views"),
        "Not found",
        "No question `views` is waiting for approval in your own banks. `/quiz-admin bank list` shows "
        "how many wait in each.",
    ),
    (
        NotFound(what="waiting question"),
        "Not found",
        "No question is waiting for approval in your own banks. `/quiz-admin bank list` shows how many wait in each.",
    ),
    (
        NotFound(what="bank", name="torch`s"),
        "Not found",
        "There is no bank `torchs` here. `/quiz-admin bank list` shows all of them.",
    ),
    (
        NotFound(what="bank", name="mine.md", similar=("mine",)),
        "Not found",
        "There is no bank `mine.md` here. Did you mean `mine`?",
    ),
    (
        NotFound(what="member", name="Ada"),
        "Not found",
        "There is no member `Ada` here. Type the name as the board shows it.",
    ),
    (
        ChannelNeeded(),
        "No channel",
        "This command is about a channel. Type it in the channel you mean.",
    ),
    (
        TextNeeded(what="report"),
        "No description",
        "Say in a sentence what is wrong with the question.",
    ),
    (
        TextNeeded(what="reason of a dismissal"),
        "No reason",
        "Say why the question is right: the member who reported it gets your reason.",
    ),
    (
        DailyLimitReached(what="report", most=10),
        "Daily limit reached",
        "You can send 10 reports within a day. This one was not sent: try again tomorrow.",
    ),
    (
        TextNeeded(what="reason of an adjustment"),
        "No reason",
        "Say in a few words what the points are for.",
    ),
    (
        TextNeeded(what="name of a season"),
        "No name",
        "A season needs a name: `/quiz-admin season start NAME`.",
    ),
    (
        EventReused(event_id="e1"),
        "Already answered",
        "This was already used for something else. Type the command again.",
    ),
    (
        InvalidInput(field="open minutes", problem="too small", limit=1),
        "Not accepted",
        "**open** must be at least 1 minute.",
    ),
    (
        InvalidInput(field="open minutes", problem="too large", limit=10_080),
        "Not accepted",
        "**open** can be at most 7 days.",
    ),
    (
        InvalidInput(field="name", problem="too long", limit=200),
        "Not accepted",
        "The name is too long. It takes at most 200 characters.",
    ),
    (
        InvalidInput(field="name", problem="too short", limit=1),
        "Not accepted",
        "The name is empty. Type something.",
    ),
    (
        InvalidInput(field="code", problem="too short", limit=8),
        "Not accepted",
        "**code** is too short. It takes at least 8 characters.",
    ),
    (
        InvalidInput(field="", problem="not storable"),
        "Not accepted",
        "The text contains a character that cannot be stored, or a number is too large. Send it without.",
    ),
    (
        InvalidInput(field="", problem="invalid", detail="Input should be *one*"),
        "Not accepted",
        "The input is not valid: Input should be &#42;one&#42;.",
    ),
    (
        TooManyCalls(retry_s=1),
        "Too fast",
        "That was too many requests at once. Try again in 1 second.",
    ),
    (
        CallTooLarge(most=10_500_000),
        "Too large",
        "At most 10 MB can be sent at once. Nothing was changed.",
    ),
    (
        CallRejected(code="unauthorized", message="The token is wrong."),
        "Not available",
        "Dailygrad is not set up correctly. This is our fault, and nothing is lost. Ask the operator to "
        "run `dailygrad doctor`.",
    ),
    (
        NoHint(closed=False),
        "No hint",
        "This question has no hint.",
    ),
    (
        NoHint(closed=True),
        "No hint",
        "The round is closed: `/quiz explain` has the answer.",
    ),
    (
        QuestionGone(practice=False),
        "Question not found",
        "This question cannot be answered here any more. Type `/quiz today`.",
    ),
    (
        QuestionGone(practice=True),
        "Question not found",
        "This question cannot be answered here any more. Type `/quiz practice`.",
    ),
    (
        AnswerUnreadable(problem="no value"),
        "Answer not readable",
        "Your answer is empty. Write a value, such as `3`, `0.5`, `(1, 4)`, `True` or `float32`. Nothing"
        " was changed: an earlier answer, if you gave one, still counts.",
    ),
    (
        AnswerUnreadable(problem="no output"),
        "Answer not readable",
        "Your answer is empty. Write what the program prints. Nothing was changed: an earlier answer, if"
        " you gave one, still counts.",
    ),
    (
        AnswerUnreadable(problem="no text"),
        "Answer not readable",
        "Your answer is empty. Write a sentence or two. Nothing was changed: an earlier answer, if you "
        "gave one, still counts.",
    ),
    (
        AnswerUnreadable(problem="too long", length=2001, limit=2000),
        "Answer not readable",
        "Your answer has 2,001 characters; a value has at most 2,000. Nothing was changed: an earlier "
        "answer, if you gave one, still counts.",
    ),
    (
        AnswerUnreadable(problem="not a value", text="(2,"),
        "Answer not readable",
        "“(2,” is not a Python value. Write it as Python would, such as `3`, `(1, 4)`, `True` or "
        "`float32`. Nothing was changed: an earlier answer, if you gave one, still counts.",
    ),
    (
        AnswerUnreadable(problem="not computed", text="2 * 3"),
        "Answer not readable",
        "“2 &#42; 3” is not a value yet. Work it out and write the result. Nothing was changed: an "
        "earlier answer, if you gave one, still counts.",
    ),
    (
        AnswerUnreadable(problem="ellipsis"),
        "Answer not readable",
        "`...` is not a value. Write all of it. Nothing was changed: an earlier answer, if you gave one, still counts.",
    ),
    (
        AnswerUnreadable(problem="size"),
        "Answer not readable",
        "A `Size` takes a list. Write `torch.Size([1, 4])` or `(1, 4)`. Nothing was changed: an earlier "
        "answer, if you gave one, still counts.",
    ),
    (
        AnswerUnreadable(problem="no option"),
        "Answer not readable",
        "You chose no option. Choose one. Nothing was changed: an earlier answer, if you gave one, still counts.",
    ),
    (
        AnswerUnreadable(problem="unknown option", text="z"),
        "Answer not readable",
        "The question does not have that option. Open it again and choose one that is shown. Nothing was"
        " changed: an earlier answer, if you gave one, still counts.",
    ),
    (
        AnswerUnreadable(problem="several options"),
        "Answer not readable",
        "Exactly one option is right. Choose one. Nothing was changed: an earlier answer, if you gave "
        "one, still counts.",
    ),
    (
        WrongKindOfAnswer(question="choice"),
        "Wrong kind of answer",
        "This is a choice question. Answer it with one of its options. Nothing was changed: an earlier "
        "answer, if you gave one, still counts.",
    ),
    (
        WrongKindOfAnswer(question="value"),
        "Wrong kind of answer",
        "This is a value question. Answer it with a Python value, such as `(2, 3)`. Nothing was changed:"
        " an earlier answer, if you gave one, still counts.",
    ),
    (
        WrongKindOfAnswer(question="output"),
        "Wrong kind of answer",
        "This is an output question. Answer it with the text that the program prints. Nothing was "
        "changed: an earlier answer, if you gave one, still counts.",
    ),
    (
        WrongKindOfAnswer(question="code"),
        "Wrong kind of answer",
        "This is a code question. Answer it with a Python program. Nothing was changed: an earlier "
        "answer, if you gave one, still counts.",
    ),
    (
        WrongKindOfAnswer(question="open"),
        "Wrong kind of answer",
        "This is an open question. Answer it with a sentence or two. Nothing was changed: an earlier "
        "answer, if you gave one, still counts.",
    ),
    (
        StillOpen(),
        "Question still open",
        "This question is asked right now, in a round, a sprint or a duel of yours, so its answer is secret. "
        "`/quiz today` shows open rounds. Come back when it is closed.",
    ),
    (
        ResultNotReady(closes_at=datetime(2026, 3, 6, 9, tzinfo=UTC), zone="Europe/Berlin"),
        "No result yet",
        "This round is open until Friday 6 March, 10:00 (Europe/Berlin). Your result is here after that.",
    ),
    (
        NotAnswered(),
        "You did not answer",
        "Only members who answered a question can say whether it was a good one.",
    ),
    (
        NotMet(question="views"),
        "Not answered yet",
        "You can see the answer of `views` after you have answered it. Type `/quiz practice` to get it.",
    ),
    (
        MarkingRefused(why="too early"),
        "Question still open",
        "You can mark your answer when the round has closed.",
    ),
    (
        RatingRefused(why="wrong"),
        "Not rated",
        "This answer was not right enough for that rating. The card comes back sooner instead.",
    ),
    (NothingToProve(question="views"), "Nothing to run", "No program proves the answer of `views`."),
    (
        NoSandbox(),
        "Code cannot run now",
        "No sandbox is connected. Try again in a minute; if that does not help, ask an admin to type "
        "`/quiz-admin doctor`.",
    ),
    (
        SandboxBusy(why="full"),
        "Please wait",
        "Many programs are waiting to run. Try again in a minute. Nothing was changed.",
    ),
    (
        SandboxBusy(why="member"),
        "Please wait",
        "One of your programs is waiting to run. Send this one when that one has its result.",
    ),
    (
        InvalidTimetable(field="weekdays"),
        "No weekday",
        "A schedule needs at least one weekday, such as `mon-fri`.",
    ),
    (
        InvalidTimetable(field="days"),
        "No such day",
        "At most one date within a year fits `days`, `every`, `month-days` and `holidays`. Leave one out.",
    ),
    (
        InvalidTimetable(field="time", value="09:00:00+00:00"),
        "Time with a zone",
        "The time `09:00:00+00:00` has a zone of its own. Write it as `09:00` and name the zone.",
    ),
    (
        InvalidTimetable(field="zone", value="Berln", similar=("Europe/Berlin",)),
        "Unknown time zone",
        "There is no time zone `Berln`. Did you mean `Europe/Berlin`?",
    ),
    (
        InvalidTimetable(field="zone", value="Mars"),
        "Unknown time zone",
        "There is no time zone `Mars`. Use an IANA name such as `Europe/Berlin`, `America/New_York` or `UTC`.",
    ),
    (
        InvalidTimetable(field="holidays", value="XX"),
        "Unknown holidays",
        "There is no holiday calendar `XX`. Use a code such as `DE` or `US-CA`.",
    ),
    (
        NothingFits(needs_gpu=False),
        "No question fits",
        "No question fits this schedule. Choose other levels, topics or kinds, or import questions with "
        "`/quiz-admin bank import`.",
    ),
    (
        NothingFits(needs_gpu=True),
        "No question fits",
        "Every question that fits needs a GPU, and no sandbox has one. Choose other levels, topics or "
        "kinds, or import questions with `/quiz-admin bank import`.",
    ),
    (
        NotAskable(question="views", why="asked now"),
        "Not asked",
        "`views` is being asked here now, or in a sprint. Ask it after its answer is revealed.",
    ),
    (
        NotAskable(question="views", why="retired"),
        "Not asked",
        "`views` is retired. `/quiz-admin bank restore` lets it be asked again.",
    ),
    (
        NotAskable(question="views", why="gone"),
        "Not asked",
        "Its document no longer contains `views`. Add it there and import the document again.",
    ),
    (
        NotAskable(question="views", why="held"),
        "Not asked",
        "`views` waits for approval. Approve it with `/quiz-admin bank approve`.",
    ),
    (
        NotAskable(question="views", why="no answer"),
        "Not asked",
        "`views` has no answer, so it cannot be graded. Add one to its document and import it again.",
    ),
    (
        NotAskable(question="views", why="no variants"),
        "Not asked",
        "The variants of `views` are not drawn yet, which needs a sandbox. Try again later.",
    ),
    (
        NotAskable(question="views", why="needs gpu"),
        "Not asked",
        "`views` needs a GPU, and no sandbox has one.",
    ),
    (
        NoSlotAhead(),
        "No date",
        "This schedule has no date within a year: its holidays and skipped days leave none. Change it "
        "with `/quiz-admin schedule edit`.",
    ),
    (
        SlotTaken(day=DAY),
        "Already posted",
        "The question of Monday 2 March was already posted. `/quiz-admin schedule preview` shows the next one.",
    ),
    (
        SkipRefused(day=DAY, why="posted"),
        "Already posted",
        "The question of Monday 2 March has already been posted. Close its round with `/quiz-admin close-now`.",
    ),
    (
        SkipRefused(day=DAY, why="past"),
        "Day over",
        "Monday 2 March is over. Only today and later days can be skipped.",
    ),
    (
        SkipRefused(day=DAY, why="no slot"),
        "Nothing to skip",
        "This schedule has no question on Monday 2 March. `/quiz-admin schedule list` shows the next ones.",
    ),
    (
        NoOpenRound(),
        "No open question",
        "No question is open in this channel. Post one with `/quiz-admin schedule post-now`.",
    ),
    (
        ChannelUnscheduled(),
        "No schedule here",
        "An extra question needs a schedule that posts to this channel. Add one with `/quiz-admin setup`.",
    ),
    (
        ShareRefused(schedule=3, why="shared"),
        "Already shared",
        "Schedule 3 already posts to this channel.",
    ),
    (
        ShareRefused(schedule=3, why="not shared"),
        "Not shared",
        "Schedule 3 does not post to this channel.",
    ),
    (
        ShareRefused(schedule=3, why="only channel"),
        "Only channel",
        "This is the only channel of schedule 3. To end the schedule, type `/quiz-admin schedule remove 3`.",
    ),
    (
        NoSeason(),
        "No season",
        "No season is running. Choose another period, or ask an admin to start one with `/quiz-admin "
        "season start NAME`.",
    ),
    (
        NameRefused(why="length"),
        "Not a name",
        "A name has 1 to 40 letters or digits. Try another.",
    ),
    (
        NameRefused(why="unreadable"),
        "Not a name",
        "This name has characters that cannot be shown. Write it with letters and digits.",
    ),
    (
        NameRefused(why="marks"),
        "Not a name",
        "This name has too many marks on a letter. Write it with fewer.",
    ),
    (
        NameRefused(why="alphabets", name="p\u0430ypal"),
        "Not a name",
        "The letters of `p\u0430ypal` are from two alphabets that look alike. Write the word in one of them.",
    ),
    (
        NameRefused(why="taken", name="Ann"),
        "Name taken",
        "Somebody here is already called `Ann`. Pick another name.",
    ),
    (
        NameRefused(why="alike", name="A*nn"),
        "Name taken",
        "Somebody here has a name that looks like `A*nn`. Pick another name.",
    ),
    (
        AdminRoleRefused(why="elsewhere"),
        "Not a member of this chat",
        "On Discord and Slack, the platform says who is an admin.",
    ),
    (
        AdminRoleRefused(why="self"),
        "That is you",
        "Ask another admin to change your own role, so that one always remains.",
    ),
    (
        SeasonNameTaken(name="Spring"),
        "Name taken",
        "There is already a season `Spring`. Choose another name.",
    ),
    (
        SeasonTooShort(name="Spring"),
        "Season too short",
        "The season `Spring` has only just begun. End it a moment later.",
    ),
    (
        PeriodUnsuitable(contest="rookies"),
        "Choose a period",
        "Rookies are members who joined within a period. Choose a day, week, month or season.",
    ),
    (
        PeriodUnsuitable(contest="improved"),
        "Choose a period",
        "This board compares with the period before. Choose a day, week or month.",
    ),
    (
        MemberAmbiguous(name="Ada", ids=("ada", "twin")),
        "Several members",
        "2 members are called `Ada`. Type the id of one of them: `ada` or `twin`.",
    ),
    (
        NoRoundOn(day=DAY),
        "Nothing to restore",
        "No question was posted on Monday 2 March, so no streak broke that day.",
    ),
    (
        PointsOutOfRange(points=0, most=1_000_000),
        "Points out of range",
        "0 points cannot be added. Use a number from 1 to 1,000,000, or from -1 to -1,000,000.",
    ),
    (
        DuelRefused(why="too many", count=5),
        "Too many challenges",
        "5 of your challenges wait for a response. Withdraw one: `/quiz duel` lists them.",
    ),
    (
        DuelRefused(why="not yours"),
        "Not allowed",
        "Only the member who is challenged can respond. `/quiz duel @member` starts your own.",
    ),
    (
        TournamentRefused(why="live"),
        "One at a time",
        "Another tournament has not ended yet. Wait for its podium, or end it with `/quiz-admin tournament cancel`.",
    ),
    (
        TournamentRefused(why="few days", count=3),
        "Too few days",
        "A bracket of that many teams needs 3 days or more. Add days, choose fewer teams with `count:`, or a table "
        "with `form:table`.",
    ),
    (
        TournamentRefused(why="one chat"),
        "One chat",
        "Teams of chats need two linked chats. Link another one with `/quiz-admin link`, or make teams with "
        "`teams:random`.",
    ),
    (
        TournamentRefused(why="not your turn"),
        "Not your turn",
        "A team with fewer members picks first. Try again when it has.",
    ),
    (
        DocumentRefused(why="memory"),
        "Document refused",
        "The document takes too much memory to read. Split it into several files. Nothing was imported.",
    ),
    (
        DocumentRefused(why="time"),
        "Document refused",
        "The document takes too much time to read. Split it into several files. Nothing was imported.",
    ),
    (
        DocumentRefused(why="blocks", most=150_000),
        "Document refused",
        "The document has more than 150,000 lines and list items. Split it into several files. Nothing was imported.",
    ),
    (
        DocumentRefused(why="depth", most=100),
        "Document refused",
        "The document nests lists or quotes more than 100 deep. Write them with fewer levels. Nothing was imported.",
    ),
    (
        RestoreRefused(question="views"),
        "Not in the document",
        "Its document no longer contains `views`. Add it there and import the document again.",
    ),
    (
        EditRefused(question="views", why="shared"),
        "Not allowed",
        "The bank of `views` is shared with other workspaces. Its operator can edit it. "
        "`/quiz-admin bank retire views` stops it here.",
    ),
    (
        EditRefused(question="views", why="unsound"),
        "Not possible",
        "The text of `views` is not one question with an answer. Fix it first.",
    ),
    (
        EditRefused(question="views", why="changed"),
        "Just changed",
        "`views` has changed since you opened it here. Copy what you wrote, open the question again and "
        "make your change there.",
    ),
    (
        UndoRefused(bank="home", why="shared"),
        "Not allowed",
        "All workspaces share the bank `home`. Its operator can undo the import: `dailygrad bank undo home`.",
    ),
    (
        UndoRefused(bank="home", why="no record"),
        "Not possible",
        "The latest import of `home` did not record its steps. Import the earlier document again instead.",
    ),
    (
        UndoRefused(bank="home", why="no change"),
        "Nothing to undo",
        "No import of `home` changed anything.",
    ),
    (
        UndoRefused(bank="home", why="not latest"),
        "Not possible",
        "That import of `home` is not the latest any more: it was undone, or another one came after it. See "
        "`/quiz-admin bank log home`.",
    ),
    (
        LinkRefused(what="chat", why="wrong code"),
        "Wrong code",
        "The code is wrong, was used, or is older than 15 minutes. Get a new one in the other chat with "
        "`/quiz-admin link`, and type it here.",
    ),
    (
        LinkRefused(what="member", why="wrong code"),
        "Wrong code",
        "The code is wrong, was used, or is older than 15 minutes. Get a new one in the other chat with "
        "`/quiz link`, and type it here.",
    ),
    (
        LinkRefused(what="chat", why="too many codes"),
        "Too many codes",
        "Too many codes were tried here. Wait 15 minutes, then type a new code.",
    ),
    (
        LinkRefused(what="chat", why="linked"),
        "Already linked",
        "These two chats are already linked: they share one board.",
    ),
    (
        LinkRefused(what="member", why="linked"),
        "Already linked",
        "These two accounts are already linked.",
    ),
    (
        LinkRefused(what="member", why="same chat"),
        "Wrong chat",
        "This code was made in this chat. Type it in the other one.",
    ),
    (
        LinkRefused(what="member", why="unlinked chats"),
        "Chats not linked",
        "The code was made in a chat that is not linked with this one. An admin can link the two chats "
        "with `/quiz-admin link`. Then type the code again.",
    ),
    (
        LinkRefused(what="member", why="both known"),
        "Not possible",
        "Both accounts are members of the same chat, so they cannot belong to one person.",
    ),
    (
        LinkWaits(channel="#quiz", closes_at=datetime(2026, 3, 2, 17, tzinfo=UTC)),
        "Question still open",
        "Chats are linked between rounds, and a question is open in `#quiz` until 17:00 (UTC). Close it "
        "there with `/quiz-admin close-now`, or wait; then type the code again.",
    ),
    (
        SprintRefused(why="running"),
        "Sprint running",
        "A sprint is running. Wait for its podium, or stop it with `/quiz-admin sprint stop`.",
    ),
    (
        SprintRefused(why="no questions"),
        "No question fits",
        "A sprint asks choices and values, and no such question fits. Choose another topic, or import questions with "
        "`/quiz-admin bank import`.",
    ),
    (
        SprintRefused(why="not running"),
        "No sprint",
        "No sprint is running in this channel. Start one with `/quiz-admin sprint start`.",
    ),
    (
        SprintRefused(why="closed"),
        "Time is up",
        "Time is up for this question. Your earlier answer, if any, counts. Get ready for the next one.",
    ),
    (
        SprintRefused(why="not begun"),
        "Not open yet",
        "The time for this question begins in a moment. Press **Answer** again.",
    ),
]
COMMANDS = {spec.words for name in ("quiz", "quiz-admin") for spec in specs_of(name)}


@pytest.mark.parametrize(("refusal", "title", "text"), REFUSALS)
def test_a_refusal_names_the_problem_the_cause_and_the_fix(refusal: Refusal, title: str, text: str) -> None:
    assert tuple(map(read_aloud, refusal_words(refusal))) == (title, text)
    assert plain_refusal(refusal)[0] == title


@pytest.mark.parametrize("text", [text for _, _, text in REFUSALS])
def test_a_refusal_names_commands_that_exist(text: str) -> None:
    for command in re.findall(r"`(/quiz[^`]*)`", text):
        assert any(command == known or command.startswith(f"{known} ") for known in COMMANDS), command


def test_every_refusal_is_in_the_table() -> None:
    union: UnionType = get_args(Refusal)[0]
    assert {type(refusal) for refusal, _, _ in REFUSALS} == set(get_args(union))
