"""One of everything the service says, as the bot's tests show it. The words are awkward on purpose."""

import base64
from datetime import UTC, date, datetime, time, timedelta
from typing import get_args

from bot.core.actions import Open, PracticeFilter, encode
from bot.core.cards import Button, Card, Form, Link, Text
from bot.core.channel_access import ChannelProblem
from bot.core.command_spec import specs_of
from bot.core.text import (
    admin,
    boards,
    doctor,
    duels,
    item_statistics,
    linking,
    marking,
    members,
    notices,
    onboarding,
    outbox_card,
    questions,
    results,
    reveals,
    review,
    similarity,
    sprints,
    suggestions,
)
from bot.pictures.illustration import drawings_of, with_pictures
from service.wire import (
    AnswerCredit,
    AnswerInput,
    AnswerKey,
    AnswerResult,
    AskForm,
    AuditView,
    BankCheck,
    BankLog,
    BankStatistics,
    BankView,
    Board,
    BoardRow,
    CaseView,
    ChannelView,
    ChatLinked,
    ClockCheck,
    ConfidenceShare,
    ContestantAnswer,
    DatabaseCheck,
    DayAnswers,
    DecidedSuggestion,
    DigestQuestion,
    DigestTopic,
    DigestView,
    DuelAnswer,
    DuelPlayer,
    DuelPost,
    DuelReview,
    DuelTurn,
    DuelView,
    ExampleView,
    Explanation,
    FastestAnswer,
    Fate,
    HintView,
    History,
    ImportChange,
    ImportEntry,
    ImportView,
    ItemList,
    ItemStatistics,
    Ladder,
    LadderRow,
    LinkCode,
    LowView,
    MarkingView,
    Me,
    MeasuredRow,
    MeasurementBoard,
    MemberLinked,
    MessagesCheck,
    MyDuels,
    Notice,
    NotificationView,
    OpenAnswerView,
    OptionKey,
    OptionView,
    OutcomePost,
    PeerAnswer,
    PersonView,
    Placed,
    PointsView,
    PostFailed,
    PostUpdate,
    PrivacyView,
    QuestionPost,
    QuestionReported,
    QuestionsCheck,
    QuestionSuggested,
    QuestionView,
    QuickAnswers,
    RankChange,
    ReminderNote,
    ReportedQuestion,
    ReportSettled,
    ReportView,
    RevealPost,
    RoundResult,
    RoundView,
    Rules,
    RunResult,
    SandboxCheck,
    ScheduleSpec,
    ScheduleView,
    SchemaCheck,
    SeasonView,
    SessionProgress,
    SettledReport,
    SharedSolution,
    SimilarAnswers,
    SimilarPair,
    SlotsCheck,
    Spread,
    SprintAnnouncement,
    SprintPodium,
    SprintQuestionPost,
    SprintReveal,
    SprintStanding,
    SprintView,
    SuggestedQuestion,
    SuggestionDecided,
    SuggestionReceipt,
    SuggestionView,
    TodayView,
    TopicCount,
    TopicMastery,
    TopicsKnown,
    TroubleCheck,
    TroubleView,
    Twin,
    ValueDiffers,
    VerdictNote,
    VerdictView,
    WaitingAnswers,
    WeekDigest,
    Where,
    WinnerPost,
    WinnerRoleView,
    WrongOption,
)
from tests.bot.tournament_samples import OVER, TOURNAMENTS

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
"""The smallest picture there is."""

BERLIN = "Europe/Berlin"
GENERAL = Where(channel="C012AB", name="general *x*")
NOW = datetime(2026, 3, 5, 8, 5, tzinfo=UTC)
CLOSE = datetime(2026, 3, 5, 16, 0, tzinfo=UTC)
NEXT = datetime(2026, 3, 6, 8, 0, tzinfo=UTC)

CHOICE = QuestionView(
    id="stride-view",
    version=1,
    kind="choice",
    prompt="What does `x.t().view(-1)` do for a 2×3 tensor `x`?",
    level="senior",
    topic="tensors",
    options=(
        OptionView(id="raises", text="It raises, for the *strides* do not fit."),
        OptionView(id="copies", text="It copies the data."),
        OptionView(id="flat", text="It gives a view of shape `(6,)`."),
    ),
    source="pytorch-core",
    license="MIT",
)
SEVERAL = CHOICE.model_copy(update={"id": "which-copy", "several": True, "prompt": "Which of these copy?"})
VALUE = CHOICE.model_copy(
    update={"id": "shape-of", "kind": "value", "options": (), "prompt": "What is `torch.ones(2, 3).sum(0).shape`?"}
)
OUTPUT = VALUE.model_copy(
    update={"id": "prints", "kind": "output", "prompt": "What does it print?", "program": "print(1)\nprint(2)"}
)
OPEN = VALUE.model_copy(update={"id": "why-fp16", "kind": "open", "prompt": "Why is the loss scaled in fp16?"})
CODE = VALUE.model_copy(
    update={
        "id": "write-softmax",
        "kind": "code",
        "prompt": "Write a softmax that does not overflow.",
        "entry": "softmax",
        "starter": "def softmax(x):\n    ...",
    }
)

CHOICE_KEY = AnswerKey(
    question=CHOICE,
    answer="It raises.",
    why="A transposed tensor is not contiguous.",
    proof="import torch\ntorch.ones(2, 3).t().view(-1)",
    options=(
        OptionKey(id="raises", text=CHOICE.options[0].text, right=True, chosen_by=2),
        OptionKey(id="copies", text="It copies the data.", right=False, reason="`view` never copies.", chosen_by=1),
        OptionKey(id="flat", text="It gives a view of shape `(6,)`.", right=False, reason="No stride walks it."),
    ),
    links=("https://pytorch.org/docs/stable/tensor_view.html",),
    place="tensors.md, line 12",
)
VALUE_KEY = AnswerKey(question=VALUE, answer="(3,)", why="The first dimension is summed away.")
OPEN_KEY = AnswerKey(question=OPEN, answer="Small gradients vanish.", key_points=("gradients underflow", "scaled back"))
MARKING = MarkingView(ref="r13", key=OPEN_KEY, text="Small numbers become zero, so we scale them.", zone=BERLIN)
MARKED = MARKING.model_copy(update={"marks": (True, False)})
PEER = PeerAnswer(answer=7, ref="r13", key=OPEN_KEY, text="They become zero.", marks=(True, False), left=2)
MODERATED = OpenAnswerView(
    answer=7, key=OPEN_KEY, text="They become zero.", day=date(2026, 3, 5), marks=(True, False), shared=True
)

CODE_KEY = AnswerKey(
    question=CODE, answer="def softmax(x):\n    return (x - x.max()).exp().div((x - x.max()).exp().sum())",
    why="Subtracting the maximum changes nothing but the size of the numbers.",
)  # fmt: skip

EVIL = "Bob *[x](http://evil)* @everyone"
ITEM = ItemStatistics(
    question="stride-view", bank=f"Tensors {EVIL}", days=365, rounds=2, answers=61, judged=60, right=0.21,
    right_low=0.13, right_high=0.33, expected=0.24, expected_low=0.15, expected_high=0.35, discrimination=-0.41,
    compared=55, wrong=WrongOption(text=EVIL, share=0.62), wrong_beats_right=True,
    seconds=5400.0, reports=2, rated=9, liked=3, finding="broken",
)  # fmt: skip
EASY_ITEM = ItemStatistics(
    question="add", days=365, retired=True, rounds=1, answers=12, judged=12, right=1.0, right_low=0.76,
    wrong=None, seconds=40.0, finding="easy",
)  # fmt: skip
STATISTICS = BankStatistics(
    days=365,
    asked=90,
    answers=1800,
    lists=(
        ItemList(finding="broken", items=(ITEM,)),
        ItemList(finding="ambiguous"),
        ItemList(finding="disliked", items=(ITEM.model_copy(update={"finding": "disliked"}),)),
        ItemList(finding="hard", items=(ITEM.model_copy(update={"finding": "hard", "discrimination": None}),), more=3),
        ItemList(finding="easy", items=(EASY_ITEM,)),
    ),
    never_asked=("new", "newer"),
    more_never_asked=1200,
)
QUIET_WEEK = WeekDigest(
    first=date(2026, 3, 2),
    last=date(2026, 3, 8),
    rounds=1,
    members=0,
    members_before=3,
    answers=0,
    right=None,
    hardest=None,
    weakest=(),
    reports=0,
)
WEEK = QUIET_WEEK.model_copy(
    update={
        "rounds": 5,
        "members": 12,
        "members_before": 10,
        "answers": 41,
        "right": 0.714,
        "hardest": DigestQuestion(question="stride-view", answers=9, right=0.222),
        "weakest": (DigestTopic(topic="autograd/hooks", answers=12, right=0.41, low=0.3, high=0.55),),
        "reports": 1,
    }
)
ROWS = (
    BoardRow(rank=1, name="Ann", points=1240, answered=12, accuracy=1.0, streak=7),
    BoardRow(rank=2, name=EVIL, points=30, answered=3, accuracy=0.996, streak=3, me=True),
)

QUESTION_POST = QuestionPost(ref="r12", question=CHOICE, day=date(2026, 3, 5), closes_at=CLOSE, zone=BERLIN)
OUTCOME = OutcomePost(
    ref="r12",
    day=date(2026, 3, 5),
    key=CHOICE_KEY,
    answers=3,
    right=2,
    first=PersonView(name=EVIL, points=15, streak=7),
    next_at=NEXT,
    zone=BERLIN,
)
REVEAL = RevealPost(
    ref="r12",
    day=date(2026, 3, 5),
    key=CHOICE_KEY,
    answers=3,
    right=2,
    mean_credit=2 / 3,
    first=PersonView(name="Ann", points=15, streak=7),
    points=(PersonView(name="Ann", points=15, streak=7), PersonView(name=EVIL, points=15, streak=1)),
    board=ROWS[:1],
    next_at=NEXT,
    zone=BERLIN,
)
VALUE_REVEAL = REVEAL.model_copy(
    update={
        "key": VALUE_KEY,
        "wrong_texts": (("(2,)", 1), ("`3` *", 1)),
        "answers": 4,
        "right": 2,
        "contestant": ContestantAnswer(model=EVIL, given=AnswerInput(text=EVIL), verdict="wrong", credit=0.0),
    }
)
RESULT = RoundResult(
    ref="r12",
    day=date(2026, 3, 5),
    key=CHOICE_KEY,
    given=AnswerInput(options=("copies",)),
    verdict=VerdictView(verdict="wrong", credit=0),
    points=PointsView(total=0, full=15),
    streak=7,
    rank=RankChange(before=4, after=2, total=14),
    number=42,
    week_right=3,
    week_asked=4,
    zone=BERLIN,
)
FAILED = VerdictView(
    verdict="wrong",
    credit=1 / 3,
    cases=(
        CaseView(number=1, verdict="accepted", visible=True, shown="softmax(tensor([0., 1.]))"),
        CaseView(
            number=2,
            verdict="wrong",
            visible=True,
            shown="softmax(tensor([1e4]))",
            expected="tensor([1.])",
            got="tensor([nan])",
            difference=ValueDiffers("[0]", "1", "nan"),
        ),
        CaseView(number=3, verdict="time limit", visible=False),
    ),
    judged="def softmax(x):\n    return x.exp() / x.exp().sum()",
    stdout="hello",
)
PASSED = VerdictView(
    verdict="accepted",
    credit=1,
    cases=tuple(CaseView(number=n, verdict="accepted", visible=n < 3) for n in range(1, 41)),
)
OURS = VerdictView(verdict="system error", credit=0, message="The sandbox is away.")
VERDICT = VerdictNote(ref="r13", question=CODE, verdict=FAILED, closes_at=CLOSE, zone=BERLIN)

ASK = AskForm(ref="r12", question=CHOICE, closes_at=CLOSE, zone=BERLIN)
ASK_CODE = ASK.model_copy(
    update={
        "question": CODE,
        "ref": "r13",
        "examples": (ExampleView(call="softmax(tensor([0., 0.]))", result="tensor([0.5, 0.5])"),),
    }
)
ANSWERED = ASK.model_copy(update={"given": AnswerInput(options=("copies",))})
SPEC = ScheduleSpec(at=time(9), zone=BERLIN, levels=("mid", "senior"), country="DE", topics=("autograd",))
SCHEDULE = ScheduleView(id=3, channel="daily", channel_name="#daily", spec=SPEC, paused=False, next=(NEXT,))
ROUND = RoundView(
    id=1, day=date(2026, 3, 6), question=CHOICE, opens_at=NEXT, closes_at=NEXT + timedelta(hours=8), answers=0,
    closed=False, zone=BERLIN,
)  # fmt: skip
SUGGESTION = SuggestionView(id=4, by=EVIL, text=EVIL, at=NOW, state="waiting")
REPORT = ReportView(id=4, question="stride-view", by=EVIL, text="The key is *wrong*.", at=NOW, state="open")
CALIBRATION = (
    ConfidenceShare(said="guess", answers=4, right=0.5, low=0.15, high=0.85),
    ConfidenceShare(said="think", answers=1, right=1.0, low=0.21, high=1.0),
    ConfidenceShare(said="sure", answers=10, right=0.9, low=0.6, high=0.98),
)
ME = Me(
    name="Ann", hidden=False, points=1240, season_points=40, rank=2, answered=12, accuracy=0.75, streak=7,
    best_streak=9, freezes=1, cards=5, cards_due=2, topics=(
        TopicMastery(topic="autograd", answers=14, right=0.5, low=0.38, high=0.63),
        TopicMastery(topic="tensors", answers=4, right=0.75),
    ),
    weeks=(
        (date(2026, 2, 9), 40, 4, 0.75), (date(2026, 2, 16), 120, 5, 1.0), (date(2026, 2, 23), 0, 0, 0.0),
        (date(2026, 3, 2), 75, 3, 0.66),
    ),
)  # fmt: skip
HISTORY = History(
    since=date(2026, 2, 9), until=date(2026, 3, 4), days=(
        DayAnswers(day=date(2026, 2, 10), asked=1, answered=1, right=1.0),
        DayAnswers(day=date(2026, 2, 12), asked=1, answered=0, right=0.0),
        DayAnswers(day=date(2026, 2, 16), asked=2, answered=2, right=1.5),
        DayAnswers(day=date(2026, 3, 4), asked=1, answered=1, right=0.0),
    ),
)  # fmt: skip
PRIVACY = PrivacyView(name="Ann", hidden=True, answers=12, ledger_rows=1, cards=0, export="{}")
IMPORTED = ImportView(
    applied=True, name="tensors.md", number=2, added=3, changed=1, unchanged=0, unanswered=2, findings="", errors=0,
    moved=1, retired=1, exact=1, near=1, near_from=0.65,
    changes=(
        ImportChange(id="views", what="changed", prompt="Why?", line=4, fields=("why", "options"), made="view-or-copy"),
        ImportChange(id="strides", what="added", prompt="What is *this*?", line=9),
        ImportChange(id="old-one", what="retired", prompt="Who knows?"),
    ),
    twins=(
        Twin(id="strides", line=9, other="what-are-strides", bank="core_*of*_all", score=1.0),
        Twin(id="views", line=4, other="strides", score=0.66),
    ),
)  # fmt: skip
LOG = BankLog(
    name="tensors *x*",
    shared=False,
    imports=(
        ImportEntry(
            number=2, at=datetime(2026, 3, 2, 9, tzinfo=UTC), document="", added=0, changed=1, unchanged=0,
            retired=3, returned=1, digest="0123456789ab", undoes=1,
        ),
        ImportEntry(
            number=1, at=datetime(2026, 3, 1, 9, tzinfo=UTC), document="tensors.md", added=3, changed=0, unchanged=4,
            retired=0, returned=0, digest="ba9876543210",
        ),
    ),
)  # fmt: skip
CHECKS = (
    DatabaseCheck(ok=True, version="18"),
    SchemaCheck(ok=False, found="0001", needed="0002"),
    ClockCheck(ok=True, skew_s=0.1),
    SandboxCheck(ok=False, problem="unreachable", trouble="no sandbox answers at /run/sandbox.sock"),
    BankCheck(ok=True, questions=1200, waiting_for_gpu=3),
    QuestionsCheck(ok=False, schedule=1, channel="#ml_quiz", left=4),
    SlotsCheck(ok=True, schedule=1, channel="#ml_quiz", paused=False, next=(NEXT,), zone=BERLIN),
    MessagesCheck(ok=False, waiting=2, age_s=600, error="not_in_channel"),
    TroubleCheck(
        ok=False,
        trouble=TroubleView(kind="refused", channel="#ml_quiz", error="not_in_channel: invite the bot", since=NOW),
    ),
    TroubleCheck(ok=False, trouble=TroubleView(kind="revoked", platform="slack", since=NOW)),
)
SHARED = SCHEDULE.model_copy(
    update={"shared": (ChannelView(platform="slack", channel="C1", name="#ml_quiz"),), "platform": "discord"}
)
LINKED = ChatLinked(
    done=False,
    platforms=("discord", "slack"),
    schedules=1,
    members=12,
    points=340,
    banks=1,
    seasons=2,
    ending="Spring *2026*",
)
RULES = Rules(
    base={"mid": 10, "senior": 15, "principal": 20}, speed_bonus=True, speed_share=0.2, speed_window_s=600,
    thinking_s=15,
    confidence={"guess": (0, 0), "think": (1, -2), "sure": (2, -6)},
    hint_cost=3, participation=0.5, freeze_cap=2, freeze_every=10, catch_up_minutes=120, sprint_right=50,
    sprint_speed=50, sprint_thinking_s=3,
)  # fmt: skip
SPRINT_QUESTION = SprintQuestionPost(ref="s7", number=2, total=5, seconds=20, question=CHOICE)
SPRINT_EXAMPLE = CHOICE.model_copy(update={"variant": "example"})
SPRINT_STANDINGS = (
    SprintStanding(rank=1, name="Ann", points=190, right=2),
    SprintStanding(rank=2, name=EVIL, points=95, right=1),
    SprintStanding(rank=2, name="Zoë 👩‍💻", points=95, right=1),
    SprintStanding(rank=4, name="田中太郎", points=61, right=1),
)
SPRINT_REVEAL = SprintReveal(
    ref="s7", number=2, total=5, key=CHOICE_KEY, answers=3, right=2, fastest=FastestAnswer(name=EVIL, ms=3240),
    standings=SPRINT_STANDINGS, unnamed=12,
)  # fmt: skip


def _receipt(status: str, **more: object) -> AnswerResult:
    base: dict[str, object] = {
        "status": status,
        "ref": "r12",
        "given": AnswerInput(options=("copies",)),
        "zone": BERLIN,
    }
    return AnswerResult.model_validate({**base, **more})


RECORDED = _receipt("recorded", closes_at=CLOSE)
JUDGED = _receipt(
    "judged", ref="p5", verdict=VerdictView(verdict="wrong", credit=0), key=CHOICE_KEY, next_due=NOW + timedelta(days=3)
)

MATRIX = VALUE.model_copy(
    update={
        "id": "determinant",
        "topic": "linear algebra",
        "prompt": "With\n\n$$A = \\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}$$\n\nand $x^2 \\ge 0$, what is "
        "`torch.det(A)`, rounded?\n\n$$\\mathcal{L} = -\\frac{1}{N} \\sum_{i=1}^{N} \\log p_\\theta(y_i \\mid x_i)$$",
    }
)
NAMES = (
    EVIL,
    "שלום עולם",
    "田中太郎",
    "Zoë 👩‍💻",
    "A name that goes on and on " * 3,
    "مرحبا بالعالم",
    "Ив\u200bан",
    "$x^2$",
)
CROWD = tuple(
    BoardRow(rank=place, name=name, points=1300 - 140 * place, answered=20 - place, accuracy=1 - place / 20,
             streak=9 - place, me=place == 3)
    for place, name in enumerate(NAMES, start=1)
)  # fmt: skip
WINNER = WinnerPost(
    season="an *Autumn*",
    top=tuple(Placed(rank=row.rank, name=row.name, points=row.points) for row in CROWD[:3]),
    role="80351110224678912",
    winners=("1",),
)
CROWDED = Board(title="This week in #daily", period="week", scope="channel", rows=CROWD, total=8)
LENGTHY = CHOICE_KEY.model_copy(
    update={
        "why": "| dtype | bytes |\n|---|---:|\n| `float16` | 2 |\n| `bfloat16` | 2 |\n\n"
        + "1. first\n   - nested\n2. second\n\n"
        + "A transposed tensor is not contiguous, and so on. " * 90
        + "\n\n```python\n"
        + "\n".join(f"x{number} = torch.ones({number}).t()" for number in range(90))
        + "\n```",
    }
)


def drawn(said: Card) -> Card:
    """Returns the card with a picture for everything that can be drawn."""
    found = drawings_of(said)
    assert found
    return with_pictures(said, dict.fromkeys(found, PNG))


DUEL = DuelView(
    duel=7,
    state="asked",
    topic="tensors/*memory*",
    questions=5,
    question_seconds=120,
    challenger=DuelPlayer(name="*Ann*"),
    opponent=DuelPlayer(name="Bob <b>"),
    respond_by=NEXT,
    zone=BERLIN,
)
RUNNING_DUEL = DUEL.model_copy(
    update={"state": "running", "you": "challenger", "answered": 2, "next_ref": "d7", "ends_at": NEXT}
)
DUEL_OVER = DUEL.model_copy(
    update={
        "state": "over",
        "winner": "challenger",
        "challenger": DuelPlayer(name="*Ann*", done=True, correct=4, seconds=93.5, rating=1043, change=43),
        "opponent": DuelPlayer(name="Bob <b>", done=True, correct=3, seconds=60.0, rating=927, change=-73),
        "ends_at": NEXT,
    }
)
LADDER_ROW = LadderRow(rank=1, name="Bob <b>", rating=1043, duels=3, wins=2, draws=1)

SIMILAR = SimilarAnswers(
    days=180, compared=300, level=0.01, least_shared=20, least_wrong=6, within_s=15, found=21,
    pairs=20 * (SimilarPair(first="*Ann*", first_id=1, second="W" * 60, second_id=2, shared=40, wrong=12, same=11,
                            expected=4.2, chance=1e-12),),
    quick=(QuickAnswers(name="Bob <b>", member_id=3, right=20, quick=6),),
)  # fmt: skip

SPEED = MeasurementBoard(
    ref="r12",
    day=date(2026, 3, 5),
    question="softmax",
    by="time",
    rows=(
        MeasuredRow(
            rank=1,
            name=EVIL,
            time=Spread(median=3.254, low=3.2, high=3.31),
            memory=Spread(median=0.4, low=0.4, high=0.6),
            better_than=66,
        ),
        MeasuredRow(
            rank=2,
            name="Ann",
            me=True,
            time=Spread(median=1234.5, low=1200.0, high=1300.0),
            memory=Spread(median=65.1, low=64.9, high=65.2),
            better_than=0,
        ),
    ),
    total=4,
    unsteady=1,
    runs=9,
    confidence=0.961,
    time=Spread(median=3.5, low=3.4, high=3.6),
    memory=Spread(median=0.5, low=0.4, high=0.5),
    shared=False,
    solution=SharedSolution(name=EVIL, rank=1, code="def softmax(x):\n    return x  # ``` **x** " + "y" * 3000),
)

PLANNED_SPRINT = SprintView(
    id=2, total=5, seconds=20, topic="a *topic*", starts_at=NOW, zone=BERLIN, channel="#*daily*"
)
GALLERY: dict[str, Card | Form] = {
    "speed": boards.speed_card(SPEED),
    "speed by memory": boards.speed_card(SPEED.model_copy(update={"by": "memory", "shared": True, "solution": None})),
    "speed empty": boards.speed_card(
        SPEED.model_copy(update={"rows": (), "total": 0, "unsteady": 2, "shared": None, "solution": None})
    ),
    "question": outbox_card(QUESTION_POST),
    "question posted late": outbox_card(QUESTION_POST.model_copy(update={"late_minutes": 25})),
    "question code": outbox_card(QUESTION_POST.model_copy(update={"question": CODE})),
    "question with answers": outbox_card(PostUpdate(post=QUESTION_POST, answers=3)),
    "question closed": outbox_card(PostUpdate(post=QUESTION_POST, answers=3, right=2)),
    "outcome": outbox_card(OUTCOME),
    "outcome code": outbox_card(OUTCOME.model_copy(update={"key": CODE_KEY, "answers": 0, "first": None})),
    "reminder": outbox_card(ReminderNote(ref="r12", question=CHOICE, streak=7, closes_at=CLOSE, zone=BERLIN)),
    "notifications": members.notifications_card(
        NotificationView(reminders=True, results=False, platform="discord", refused="the member takes no *messages*")
    ),
    "reveal": outbox_card(REVEAL),
    "reveal suggested": outbox_card(REVEAL.model_copy(update={"suggested_by": EVIL})),
    "reveal value": outbox_card(VALUE_REVEAL),
    "reveal unanswered": outbox_card(REVEAL.model_copy(update={"answers": 0, "right": 0, "points": (), "first": None})),
    "sprint": outbox_card(SprintAnnouncement(total=5, seconds=20, topic="a *topic*", starts_in_s=15)),
    "sprint question": outbox_card(SPRINT_QUESTION),
    "sprint question with answers": outbox_card(SPRINT_QUESTION.model_copy(update={"left_s": 1, "answers": 12})),
    "sprint question closed": outbox_card(SPRINT_QUESTION.model_copy(update={"answers": 12, "right": 7})),
    "sprint question example": outbox_card(SPRINT_QUESTION.model_copy(update={"question": SPRINT_EXAMPLE})),
    "sprint question example closed": outbox_card(
        SPRINT_QUESTION.model_copy(update={"question": SPRINT_EXAMPLE, "answers": 12, "right": 7})
    ),
    "sprint reveal": outbox_card(SPRINT_REVEAL),
    "sprint reveal example": outbox_card(
        SPRINT_REVEAL.model_copy(
            update={"key": CHOICE_KEY.model_copy(update={"question": SPRINT_EXAMPLE}), "family": "shapes"}
        )
    ),
    "sprint reveal value": outbox_card(
        SPRINT_REVEAL.model_copy(update={"key": VALUE_KEY, "answers": 0, "right": 0, "fastest": None, "standings": ()})
    ),
    "sprint podium": outbox_card(
        SprintPodium(asked=2, total=5, players=16, standings=SPRINT_STANDINGS, unnamed=12)
    ),
    "sprint podium empty": outbox_card(SprintPodium(asked=0, total=5, players=0)),
    "winner of a season": outbox_card(WINNER),
    "winners of a season": outbox_card(
        WINNER.model_copy(update={"top": tuple(row.model_copy(update={"rank": 1}) for row in WINNER.top[:2])})
    ),
    "winner's role": boards.winner_role_card(
        WinnerRoleView(role="80351110224678912", channel_name="#daily"), "too high"
    ),
    "no winner's role": boards.winner_role_card(WinnerRoleView()),
    "winner of a sprint": outbox_card(WINNER.model_copy(update={"event": "sprint", "season": ""})),
    "winners of a tournament": outbox_card(
        WINNER.model_copy(update={"event": "tournament", "top": (), "teams": OVER.teams[:2]})
    ),
    "role for a tournament": boards.winner_role_card(
        WinnerRoleView(event="tournament", role="80351110224678912", channel_name="#daily")
    ),
    **{
        f"sprint planned {fate or 'ahead'}": outbox_card(
            SprintAnnouncement(
                total=5, seconds=20, topic="a *topic*", starts_in_s=15, starts_at=NOW, zone=BERLIN, fate=fate
            )
        )
        for fate in get_args(Fate)
    },
    "sprint is planned": sprints.planned_card(PLANNED_SPRINT),
    "sprint cancelled": sprints.cancelled_card(PLANNED_SPRINT),
    "sprints planned": sprints.list_card((PLANNED_SPRINT, PLANNED_SPRINT.model_copy(update={"topic": ""}))),
    "no sprint planned": sprints.list_card(()),
    "sprint started": sprints.started_card(SprintView(id=1, total=5, seconds=20, topic="a *topic*")),
    "sprint stopped": sprints.stopped_card(SprintView(id=1, total=5, seconds=20, asked=2)),
    "ask in a sprint": questions.private_question(AskForm(ref="s7", question=CHOICE, closes_at=CLOSE), NOW),
    "ask value in a sprint": questions.private_question(AskForm(ref="s7", question=VALUE, closes_at=CLOSE), NOW),
    "recorded in a sprint": questions.recorded_card(
        _receipt("recorded", ref="s7", closes_at=CLOSE), ANSWERED.model_copy(update={"ref": "s7"}), NOW
    ),
    "verdict wrong": outbox_card(VERDICT),
    "verdict accepted": outbox_card(VERDICT.model_copy(update={"verdict": PASSED})),
    "verdict ours": outbox_card(
        VERDICT.model_copy(update={"verdict": OURS})
    ),
    "verdict wrong in practice": outbox_card(
        VerdictNote(ref="p7", question=CODE, verdict=FAILED, next_due=NEXT, zone=BERLIN)
    ),
    "verdict in practice": outbox_card(
        VerdictNote(ref="p7", question=CODE, verdict=PASSED, key=VALUE_KEY, next_due=NEXT, zone=BERLIN)
    ),
    "notice suggested": outbox_card(Notice(fact=QuestionSuggested(suggestion=4))),
    "notice accepted": outbox_card(
        Notice(fact=SuggestionDecided(suggestion=4, state="accepted", question="suggestion-4"))
    ),
    "notice declined": outbox_card(Notice(fact=SuggestionDecided(suggestion=4, state="declined", reason=EVIL))),
    "notice reported": outbox_card(Notice(fact=QuestionReported(report=4, question=CHOICE, text=EVIL))),
    "notice reported in public": outbox_card(Notice(fact=QuestionReported(report=4, question=None))),
    "notice fixed": outbox_card(Notice(fact=ReportSettled(question="stride-view", state="fixed", reason=EVIL))),
    "notice dismissed": outbox_card(
        Notice(fact=ReportSettled(question="stride-view", state="dismissed", reason="It is right."))
    ),
    "notice": outbox_card(Notice(fact=PostFailed(message="reveal", channel="#quiz", attempts=3, error="Missing *it*"))),
    "ask choice": questions.private_question(ASK, NOW),
    "ask choice answered": questions.private_question(ANSWERED, NOW),
    "ask several": questions.private_question(ANSWERED.model_copy(update={"question": SEVERAL}), NOW),
    "ask value": questions.private_question(ASK.model_copy(update={"question": VALUE}), NOW),
    "ask output": questions.private_question(ASK.model_copy(update={"question": OUTPUT}), NOW),
    "ask open": questions.private_question(ASK.model_copy(update={"question": OPEN}), NOW),
    "ask code": questions.private_question(ASK_CODE, NOW),
    "practice": questions.private_question(AskForm(ref="p5", question=CHOICE, due=2), NOW),
    "recorded": questions.recorded_card(RECORDED, ANSWERED, NOW),
    "recorded and asked how sure": questions.recorded_card(
        _receipt(
            "changed", given=AnswerInput(options=("copies",), confidence="think"), closes_at=CLOSE, asks_confidence=True
        ),
        ANSWERED.model_copy(update={"asks_confidence": True}),
        NOW,
    ),
    "an offered hint": questions.hint_card(HintView(ref="r12", cost=3, taken=False, kind="choice"), ASK, NOW),
    "a hint": questions.hint_card(
        HintView(ref="r12", cost=3, taken=True, text="Count the *strides*.", kind="value"),
        ASK.model_copy(update={"question": VALUE}),
        NOW,
    ),
    "a hint that names a wrong option": questions.hint_card(
        HintView(ref="r12", cost=3, taken=True, wrong=CHOICE.options[1], kind="choice", answered=True), ANSWERED, NOW
    ),
    "a post with a hint": questions.question_card(
        QUESTION_POST.model_copy(update={"question": CHOICE.model_copy(update={"hint": True})})
    ),
    "recorded text and how sure": questions.recorded_card(
        _receipt(
            "recorded", given=AnswerInput(text="(3,)", confidence="sure"), closes_at=CLOSE, asks_confidence=True
        ),
        None,
        NOW,
    ),
    "recorded and not fetched": questions.recorded_card(RECORDED, None, NOW),
    "recorded text": questions.recorded_card(
        _receipt("changed", given=AnswerInput(text="(3,)"), closes_at=CLOSE), None, NOW
    ),
    "judging": questions.recorded_card(_receipt("judging", given=AnswerInput(code="x"), closes_at=CLOSE), None, NOW),
    "judged": results.practiced_card(JUDGED, NOW),
    "judged in a session": results.practiced_card(
        JUDGED.model_copy(update={"progress": SessionProgress(number=4, of=10, right=3)}), NOW
    ),
    "judged at the end of a session": results.practiced_card(
        JUDGED.model_copy(update={"progress": SessionProgress(number=10, of=10, right=8, missed=(EVIL,))}), NOW
    ),
    "judged open": results.practiced_card(
        _receipt("judged", ref="p9", given=AnswerInput(text="because"), key=OPEN_KEY), NOW
    ),
    "late": results.practiced_card(JUDGED.model_copy(update={"status": "late"}), NOW),
    "marking": marking.marking_card(MARKING, NOW),
    "marking marked": marking.marking_card(MARKED, NOW),
    "marking shared": marking.marking_card(MARKED.model_copy(update={"shared": True}), NOW),
    "marking confirmed": marking.marking_card(MARKED.model_copy(update={"credit": 0.5}), NOW),
    "marking practiced": marking.marking_card(
        MARKED.model_copy(update={"ref": "p9", "next_due": NOW + timedelta(days=1)}), NOW
    ),
    "marking form": marking.marking_form(MARKING),
    "peer answer": marking.peer_card(PEER),
    "peer answer none": marking.peer_card(None),
    "peer answer confirmed": marking.confirmed_card("r13", "7"),
    "open answers": marking.waiting_card(WaitingAnswers(answers=(MODERATED,), total=4)),
    "open answers none": marking.waiting_card(WaitingAnswers(answers=(), total=0)),
    "open answer credited": marking.credited_card(AnswerCredit(answer=7, credit=0.5)),
    "tried": results.tried_card(FAILED, "r13"),
    "explain": results.explain_card(Explanation(key=CHOICE_KEY)),
    "explain answered": results.explain_card(
        Explanation(
            key=CHOICE_KEY, given=AnswerInput(options=("copies",)), verdict=VerdictView(verdict="wrong", credit=0)
        )
    ),
    "my result": reveals.result_card(RESULT),
    "my result liked": reveals.result_card(RESULT.model_copy(update={"liked": True})),
    "my result disliked": reveals.result_card(RESULT.model_copy(update={"liked": False})),
    "my result right": reveals.result_card(
        RESULT.model_copy(
            update={
                "given": AnswerInput(options=("raises",)),
                "verdict": VerdictView(verdict="accepted", credit=1),
                "points": PointsView(total=20, full=17, share_right=0.4, bonus=3),
            }
        )
    ),
    "my result sure": reveals.result_card(
        RESULT.model_copy(update={"points": PointsView(total=-6, full=15, confidence=-6)})
    ),
    "my result code": reveals.result_card(
        RESULT.model_copy(
            update={
                "key": CODE_KEY,
                "given": AnswerInput(code=FAILED.judged),
                "verdict": FAILED,
                "points": PointsView(total=5, full=15, corrected=-2),
            }
        )
    ),
    "my result pending": reveals.result_card(
        RESULT.model_copy(
            update={"key": CODE_KEY, "given": AnswerInput(code="x"), "verdict": None, "points": None}
        )
    ),
    "my result absent": reveals.result_card(
        RESULT.model_copy(update={"given": None, "verdict": None, "points": None, "streak": 0})
    ),
    "today": questions.today_card(TodayView(forms=(ASK,), zone=BERLIN), NOW),
    "today two": questions.today_card(TodayView(forms=(ANSWERED, ASK_CODE)), NOW),
    "today nothing": questions.today_card(TodayView(next_at=NEXT, zone=BERLIN), NOW),
    "today no schedule": questions.today_card(TodayView(), NOW),
    "report form": questions.report_form("stride-view"),
    "report form unnamed": questions.report_form(""),
    "reported": members.reported_card(REPORT),
    "board": boards.board_card(
        Board(title="This week in #daily", period="week", scope="channel", rows=ROWS, total=14)
    ),
    "board of rookies": boards.board_card(
        Board(title="This week", period="week", scope="channel", contest="rookies", rows=ROWS[1:], total=1)
    ),
    "board of the improved": boards.board_card(
        Board(
            title="This month", period="month", scope="workspace", contest="improved", total=9,
            rows=(ROWS[0].model_copy(update={"gain": 0.25}),),
            mine=ROWS[1].model_copy(update={"gain": 0.004, "rank": 7}),
        )
    ),
    "board of the improved, empty": boards.board_card(
        Board(title="Today", period="day", scope="channel", contest="improved", topic="autograd")
    ),
    "board empty": boards.board_card(Board(title="Today in #daily", period="day", scope="channel")),
    "board from below": boards.board_card(
        Board(title="Season", period="season", scope="workspace", rows=ROWS[:1], total=9, mine=ROWS[1])
    ),
    "me": members.me_card(ME),
    "me calibrated": members.me_card(
        ME.model_copy(update={"calibration": CALIBRATION})
    ),
    "me drawn": drawn(members.me_card(ME, HISTORY)),
    "topics": members.topics_card(
        (TopicCount(topic="autograd", questions=12), TopicCount(topic="", questions=1)),
        TopicsKnown(mine=ME.topics, team=(TopicMastery(topic="autograd", answers=80, right=0.6, low=0.5, high=0.7),)),
    ),
    "topics none": members.topics_card(()),
    "privacy": members.privacy_card(PRIVACY),
    "privacy forgotten": members.privacy_card(
        PrivacyView(name="", hidden=True, answers=0, ledger_rows=0, cards=0, forgotten=True)
    ),
    "forget": members.forget_card(),
    "rules": members.rules_card(RULES),
    "help": members.help_card(specs_of("quiz")),
    "help admin": members.help_card(specs_of("quiz-admin")),
    "help schedule add": members.spec_card(next(one for one in specs_of("quiz-admin") if one.path[-1] == "add")),
    "snippet": members.snippet_form(),
    "run": members.run_card(RunResult(status="ok", stdout="tensor(3.)\n", wall_ms=12.3, peak_mb=40)),
    "run that waited": members.run_card(RunResult(status="ok", stdout="1\n", wall_ms=3, queue_ms=2400, before=2)),
    "run error": members.run_card(
        RunResult(status="error", stderr="NameError: name 'x' is not defined", truncated=True)
    ),
    "nothing to practice": members.no_card_left_card(PracticeFilter("autograd", "senior")),
    "import": members.import_form(),
    "imported": admin.imported_card(IMPORTED),
    "import undone": admin.undone_card(IMPORTED.model_copy(update={"exact": 0, "near": 0, "twins": ()})),
    "imports": admin.log_card(LOG),
    "import checked": admin.imported_card(IMPORTED.model_copy(update={"applied": False})),
    "import refused": admin.imported_card(
        IMPORTED.model_copy(update={"applied": False, "errors": 1, "findings": "error: x"})
    ),
    "schedule": admin.schedule_card(SCHEDULE, "Schedule added"),
    "schedule shared": admin.schedule_card(SHARED, "Schedule shared"),
    "schedules": admin.schedules_card((SCHEDULE, SCHEDULE.model_copy(update={"id": 4, "paused": True}))),
    "schedules none": admin.schedules_card(()),
    "link code": linking.member_code_card(LinkCode(code="K7QM2RXN", expires_at=CLOSE)),
    "link chat code": linking.chat_code_card(LinkCode(code="K7QM2RXN", expires_at=CLOSE)),
    "link asked": linking.chat_linked_card(LINKED, "K7QM2RXN"),
    "link done": linking.chat_linked_card(LINKED.model_copy(update={"done": True}), "K7QM2RXN"),
    "linked": linking.member_linked_card(
        MemberLinked(name="Ada *", platforms=("discord", "slack"), points=25, twice=1, cards=3, hidden=True)
    ),
    "round": admin.round_card(ROUND, "The next question"),
    "season": admin.season_card(
        SeasonView(id=1, name="Spring", starts_at=NOW, ends_at=NEXT, archive=ROWS), "Season ended"
    ),
    "season not final": admin.season_card(
        SeasonView(id=1, name="Spring", starts_at=NOW, ends_at=NEXT, final=False), "Season ended"
    ),
    "seasons": admin.seasons_card((SeasonView(id=1, name="Spring", starts_at=NOW, ends_at=None),)),
    "seasons none": admin.seasons_card(()),
    "banks": admin.banks_card((BankView(name="core", title="PyTorch core", questions=28, unanswered=0, retired=1),)),
    "banks none": admin.banks_card(()),
    "retired": admin.retired_card("stride-view", True),
    "low": admin.low_card((LowView(schedule=3, channel_name="#daily", left=4),)),
    "low none": admin.low_card(()),
    "reports": review.reports_card((REPORT,)),
    "reports none": review.reports_card(()),
    "report": review.report_card(ReportedQuestion(report=REPORT, key=CHOICE_KEY, own=True, corrected=False)),
    "report fixed": review.report_card(
        ReportedQuestion(
            report=REPORT.model_copy(update={"state": "fixed", "reason": EVIL, "text": ""}),
            key=CODE_KEY,
            own=False,
            corrected=True,
        )
    ),
    "suggest form": suggestions.suggest_form(""),
    "suggest form with a draft": suggestions.suggest_form(EVIL),
    "suggested": suggestions.receipt_card(SuggestionReceipt(id=4, problem="")),
    "suggestion kept": suggestions.receipt_card(SuggestionReceipt(id=0, problem="errors", findings=EVIL)),
    "suggestions": suggestions.waiting_card((SUGGESTION,)),
    "suggestions none": suggestions.waiting_card(()),
    "suggestion": suggestions.suggestion_card(
        SuggestedQuestion(suggestion=SUGGESTION, problem="", findings="", key=CHOICE_KEY)
    ),
    "suggestion unsound": suggestions.suggestion_card(
        SuggestedQuestion(suggestion=SUGGESTION, problem="no question", findings=EVIL, key=None)
    ),
    "suggestion declined": suggestions.suggestion_card(
        SuggestedQuestion(
            suggestion=SUGGESTION.model_copy(update={"state": "declined", "reason": EVIL, "text": ""}),
            problem="no question",
            findings="",
            key=None,
        )
    ),
    "suggestion form": suggestions.edit_form(SUGGESTION),
    "decline form": suggestions.decline_form(4),
    "suggestion accepted": suggestions.decided_card(
        DecidedSuggestion(id=4, state="accepted", question="suggestion-4")
    ),
    "suggestion refused": suggestions.decided_card(DecidedSuggestion(id=4, state="declined")),
    "settle form": review.settle_form(4, "dismissed"),
    "settled": review.settled_card(SettledReport(id=4, question="stride-view", state="fixed")),
    "review here": review.review_here_card(Where(channel="1", name=f"#{EVIL}")),
    "review me": review.review_me_card(),
    "digest": notices.digest_notice(WEEK),
    "digest drawn": drawn(notices.digest_notice(WEEK)),
    "digest of a quiet week": notices.digest_card(DigestView(digest=QUIET_WEEK, next_at=None, zone="UTC")),
    "digest switched": notices.switched_card(DigestView(digest=QUIET_WEEK, next_at=NOW, zone="Europe/Berlin")),
    "statistics": item_statistics.bank_card(STATISTICS),
    "statistics of nothing": item_statistics.bank_card(BankStatistics(days=365, asked=0, answers=0)),
    "statistics of a question": item_statistics.question_card(ITEM),
    "statistics of an easy question": item_statistics.question_card(EASY_ITEM),
    "statistics of an unasked question": item_statistics.question_card(ItemStatistics(question="new", days=365)),
    "restored": admin.restored_card("Ann", date(2026, 3, 5)),
    "adjusted": admin.adjusted_card("Ann", -5, "was *unfair*"),
    "audit": admin.audit_card((AuditView(at=NOW, by="Ann", action="adjust", facts={"member": "Bob", "points": "-5"}),)),
    "audit refused import": admin.audit_card(
        (AuditView(at=NOW, by="Ann", action="bank import", facts={"errors": "2", "name": "own.md"}),)
    ),
    "audit none": admin.audit_card(()),
    "doctor": doctor.doctor_card(CHECKS, [("#old", ChannelProblem("archived"))]),
    "doctor well": doctor.doctor_card(CHECKS[:1]),
    "hello": onboarding.hello_card(GENERAL),
    "hello nowhere": onboarding.hello_card(Where(channel="")),
    "setup": onboarding.time_card(GENERAL, (SCHEDULE,)),
    "setup without membership": onboarding.with_channel_problem(
        onboarding.time_card(GENERAL, ()), GENERAL, ChannelProblem("not a member", can_join=True)
    ),
    "setup without permissions": onboarding.with_channel_problem(
        onboarding.time_card(GENERAL, ()), GENERAL, ChannelProblem("no permission", ("Send Messages", "Embed Links"))
    ),
    "setup plan": onboarding.plan_form("0930", GENERAL, NOW),
    "setup whole": onboarding.setup_form(GENERAL, (), "", NOW),
    "schedule form": admin.schedule_form(SCHEDULE.model_copy(update={"platform": "discord"})),
    "challenge": duels.challenge_form(),
    "challenge about a topic": duels.challenge_form(("autograd", EVIL, "tensors/views")),
    "begun": onboarding.begun_card(SCHEDULE, ROUND),
    "begun without a question": onboarding.begun_card(SCHEDULE, "the bank is empty"),
    "home": onboarding.home_card(TodayView(forms=(ANSWERED, ASK_CODE), zone=BERLIN), ME, NOW),
    "home quiet": onboarding.home_card(TodayView(next_at=NEXT, zone=BERLIN), ME, NOW),
    "handed in": onboarding.code_submitted_card(
        questions.recorded_card(_receipt("judging", given=AnswerInput(code="x"), closes_at=CLOSE), None, NOW), ASK_CODE
    ),
    "no place for code": onboarding.no_place_for_code_card(2),
    "too many files": onboarding.too_many_files_card(("a_*b*.py", "c.py")),
    "too many programs": onboarding.too_many_programs_card(3),
    "question matrix": outbox_card(QUESTION_POST.model_copy(update={"question": MATRIX})),
    "question matrix drawn": drawn(outbox_card(QUESTION_POST.model_copy(update={"question": MATRIX}))),
    "ask matrix": questions.private_question(ASK.model_copy(update={"question": MATRIX}), NOW),
    "reveal drawn": drawn(outbox_card(REVEAL)),
    "reveal value drawn": drawn(outbox_card(VALUE_REVEAL)),
    "reveal lengthy": outbox_card(REVEAL.model_copy(update={"key": LENGTHY})),
    "duel asked": outbox_card(DuelPost(event="asked", duel=DUEL)),
    "duel asked privately": outbox_card(DuelPost(event="asked", duel=DUEL.model_copy(update={"you": "opponent"}))),
    "duel asked by me": duels.duel_card(DUEL.model_copy(update={"you": "challenger"})),
    "duel accepted": outbox_card(DuelPost(event="accepted", duel=RUNNING_DUEL)),
    "duel accepted for the channel": outbox_card(
        DuelPost(event="accepted", duel=RUNNING_DUEL.model_copy(update={"you": None, "next_ref": ""}))
    ),
    "duel closed for the channel": outbox_card(DuelPost(event="expired", duel=DUEL)),
    "duel waits": duels.duel_card(RUNNING_DUEL.model_copy(update={"next_ref": "", "answered": 5})),
    "duel late": duels.turn_card(DuelTurn(duel=RUNNING_DUEL, late=True)),
    "duel question": questions.private_question(ASK.model_copy(update={"ref": "d7", "given": None}), NOW),
    "duel over": outbox_card(DuelPost(event="over", duel=DUEL_OVER)),
    "duel drawn": duels.duel_card(DUEL_OVER.model_copy(update={"winner": "draw"})),
    "duel declined": duels.duel_card(DUEL.model_copy(update={"state": "declined", "you": "challenger"})),
    "duel expired": duels.duel_card(DUEL.model_copy(update={"state": "expired", "you": "challenger"})),
    "duel cancelled": duels.duel_card(DUEL.model_copy(update={"state": "cancelled", "you": "challenger"})),
    "duel review": duels.review_card(
        DuelReview(
            duel=DUEL_OVER.model_copy(update={"you": "opponent"}),
            answers=(
                DuelAnswer(key=CHOICE_KEY, given=AnswerInput(options=(CHOICE_KEY.options[-1].id,))),
                DuelAnswer(key=VALUE_KEY, given=AnswerInput(text="*2*")),
                DuelAnswer(key=CHOICE_KEY, given=None),
                DuelAnswer(key=None, given=None),
            ),
        )
    ),
    "duels": duels.duels_card(
        MyDuels(
            rating=1043,
            live=tuple(
                one.model_copy(update={"duel": place, "you": you})
                for place, (one, you) in enumerate(
                    ((DUEL, "opponent"), (DUEL, "challenger"), (RUNNING_DUEL, "challenger")), 1
                )
            ),
            past=tuple(
                DUEL_OVER.model_copy(update={"you": "opponent", "winner": winner})
                for winner in ("opponent", "challenger", "draw")
            ),
        )
    ),
    "duels none": duels.duels_card(MyDuels(rating=1000)),
    "ladder": duels.ladder_card(
        Ladder(rows=(LADDER_ROW, LADDER_ROW), total=9, mine=LADDER_ROW.model_copy(update={"me": True}))
    ),
    "ladder none": duels.ladder_card(Ladder()),
    **TOURNAMENTS,
    "similar answers": similarity.similarity_card(SIMILAR),
    "board crowded": boards.board_card(CROWDED),
    "board drawn": drawn(boards.board_card(CROWDED)),
    "pages": Card(
        "The editor", "Write your answer with more room.", (Text("Write your answer with more room."),),
        (Button("Answer here", encode(Open("r13")), "primary"),), (Link("Open the editor", "https://quiz.example/e/1"),),
    ),
    "refused": members.refused_card("the round is closed", "r12"),
    "unavailable": members.unavailable_card(),
    "fault": members.fault_card(),
}  # fmt: skip
"""Every card and form there is, by a name for it."""
