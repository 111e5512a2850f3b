"""Sprints: a few questions in a row, live in a channel, with little time and points for speed.

A sprint is a state machine in the database. The leader's tick advances it, and the stored deadlines decide:

    announcement posted → pause → question posted → asking → answer, pause → next question … → podium

- A question's time begins when its message has been posted, so a chat that is slow or away costs nobody time.
- PostgreSQL's clock decides what is late, and a question is settled before its answer is shown.
- Every question and every answer is a message of its own: it appears where people look, at the bottom of the channel,
  and an answer may be long. Edits, which nobody is notified of, show only the time left and that a question is closed.
- Points count in the sprint only. Boards and streaks are for what everyone can take part in at their own time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession

from service.domain.sprints import SprintScore, pick_questions, rank_scores, sprint_points
from service.errors import Refused
from service.rounds import leaderboard, practice, schedules
from service.rounds.choosing import choose_for_day
from service.rounds.ledger import grade_answer
from service.rounds.submissions import validate_answer
from service.rounds.views import build_answer_key, build_question_view
from service.store import candidates, members, outbox, questions, sprints, variants
from service.store import schedules as schedule_rows
from service.store import sprints as rows
from service.store.competition_tables import Sprint, SprintQuestion
from service.store.members import Caller
from service.store.questions import Version
from service.store.session import Sessions
from service.store.sprints import Asked
from service.wire import (
    AnswerInput,
    AnswerResult,
    AskForm,
    Body,
    ChannelNeeded,
    FastestAnswer,
    Placed,
    QuestionGone,
    QuestionRef,
    ScheduleSpec,
    SprintAnnouncement,
    SprintPodium,
    SprintQuestionPost,
    SprintRefused,
    SprintReveal,
    SprintStanding,
    SprintView,
    VariantRole,
    WinnerPost,
)

log = structlog.get_logger(__name__)
LEAD = timedelta(seconds=15)
"""Time between the announcement and the first question."""
PAUSE = timedelta(seconds=10)
"""Time to read an answer before the next question."""
EDIT_PACE = timedelta(seconds=5)
"""Least time between two edits of a message that show the time left: Discord allows five edits of a channel in five
seconds, and Slack about fifty a minute in a workspace."""
POST_TIMEOUT = timedelta(minutes=5)
"""How long a message of a sprint is tried to be posted, before the sprint ends without it."""
SHOWN_STANDINGS = 10
"""Members whose places a message shows."""


@dataclass(frozen=True, slots=True)
class SprintPlan:
    """What an admin asked for."""

    total: int
    seconds: int
    topic: str = ""


async def start(session: AsyncSession, caller: Caller, plan: SprintPlan, now: datetime) -> SprintView:
    """Starts a sprint in the caller's channel, with fewer questions if the bank has no more.

    Refused while one is running there, and if no question fits.
    """
    if caller.channel_id is None:
        raise Refused(ChannelNeeded())
    topic = ""
    if plan.topic:
        (topic,) = await schedules.resolve_topics(session, caller.workspace_id, [plan.topic])
    sprint = await rows.add(session, caller, caller.channel_id, total=plan.total, seconds=plan.seconds, topic=topic)
    if sprint is None:
        raise Refused(SprintRefused(why="running"))
    picked = await _pick(session, caller.workspace_id, sprint, now)
    if not picked:
        raise Refused(SprintRefused(why="no questions"))
    for number, version_id in enumerate(picked, start=1):
        drawn = await variants.pick_for_round(session, caller.workspace_id, version_id)
        own = await variants.suffice_for_all(session, drawn)
        rows.add_question(session, sprint, number, drawn, own_variants=own)
    sprint.total = len(picked)
    body = SprintAnnouncement(
        total=sprint.total, seconds=sprint.seconds, topic=topic, starts_in_s=round(LEAD.total_seconds())
    )
    await _post(session, sprint, body, now)
    await session.flush()
    return _view(sprint)


async def stop(session: AsyncSession, caller: Caller) -> SprintView:
    """Stops the sprint in the caller's channel: the current question is revealed, and the podium follows."""
    if caller.channel_id is None:
        raise Refused(ChannelNeeded())
    sprint = await rows.lock_running(session, caller.workspace_id, caller.channel_id)
    if sprint is None:
        raise Refused(SprintRefused(why="not running"))
    await rows.stop(session, sprint)
    return _view(sprint)


async def view_question(session: AsyncSession, caller: Caller, ref: str, now: datetime) -> AskForm:
    """Returns the question for this caller, with options in their own order. Refused unless it is asked now."""
    asked = await _find_open(session, caller, ref, now)
    version_id = await sprints.get_for_member(session, asked.sprint, asked.question, caller.member_id)
    version = await questions.get_version(session, version_id)
    before = await rows.find_answer(session, asked.question.id, caller.member_id)
    variant: VariantRole | None = "own" if asked.question.own_variants else None
    return AskForm(
        ref=ref,
        question=build_question_view(version, ref, caller.member_id, variant=variant),
        given=None if before is None else AnswerInput.from_stored(before.given),
        opens_at=asked.question.opened_at,
        closes_at=asked.question.closes_at,
    )


async def submit_answer(
    session: AsyncSession, caller: Caller, ref: str, given: AnswerInput, now: datetime
) -> AnswerResult:
    """Records an answer, in place of an earlier one. The last answer before the deadline counts, from its own time.

    Refused, changing nothing, after the deadline by the database's clock, and if it does not fit the kind of question.
    """
    # The member first, as in every transaction that locks both.
    caller = await members.lock_caller(session, caller)
    await _find_open(session, caller, ref, now)
    asked = await rows.share_question(session, caller.workspace_id, QuestionRef.parse(ref).id)
    if asked is None or not asked.is_open:
        raise Refused(SprintRefused(why="closed"))
    version_id = await sprints.get_for_member(session, asked.sprint, asked.question, caller.member_id)
    version = await questions.get_version(session, version_id)
    given = validate_answer(version.question, given)
    changed = await rows.save_answer(
        session, caller, asked.question, version_id, given.model_dump(mode="json", exclude={"cleared"})
    )
    return AnswerResult(
        status="changed" if changed else "recorded", ref=ref, given=given, closes_at=asked.question.closes_at
    )


async def advance_all(sessions: Sessions, now: datetime) -> None:
    """Advances every running sprint by at most one step, each in its own transaction. Called at every tick."""
    async with sessions.begin() as session:
        running = await rows.list_running(session)
    for sprint_id in running:
        try:
            async with sessions.begin() as session:
                await advance(session, sprint_id, now)
        except (SQLAlchemyError, ValueError, TypeError, LookupError) as error:
            # A sprint that cannot go on must not hold up the others; the next tick retries it.
            log.error("sprint not advanced", sprint=sprint_id, exc_info=error)


async def advance(session: AsyncSession, sprint_id: int, now: datetime) -> None:
    """Takes the sprint's next step if it is due. Otherwise shows the time left."""
    sprint = await rows.lock_due(session, sprint_id)
    if sprint is None:
        asked = await rows.share_asked(session, sprint_id)
        if asked is not None:
            await _show_time_left(session, asked, now)
    elif sprint.phase == "posting":
        await _begin_if_posted(session, sprint, now)
    elif sprint.phase == "asking":
        await _settle(session, sprint, now)
    elif sprint.number < sprint.total and sprint.stopped_at is None:
        await rows.next_question(session, sprint)
        await _post_question(session, sprint, now)
    else:
        await _end(session, sprint, now)


async def _pick(session: AsyncSession, workspace_id: int, sprint: Sprint, now: datetime) -> list[int]:
    """Chooses the questions, without those that the channel's schedules would ask next."""
    known = await candidates.list_candidates(session, workspace_id=workspace_id, schedule_id=None, secret=True)
    coming = set()
    for schedule, channel in await schedule_rows.list_schedules(session, workspace_id):
        posting = await schedules.next_posting(session, schedule, now) if channel.id == sprint.channel_id else None
        if posting is not None:
            spec = ScheduleSpec.from_stored(schedule.spec)
            choice = await choose_for_day(session, schedule, spec, posting.date())
            coming |= {choice.id} if choice else set()
    asked = await rows.count_times_asked(session, sprint.channel_id)
    picked = pick_questions(known, sprint.total, f"sprint:{sprint.id}", sprint.topic, asked, coming)
    return [int(id_) for id_ in picked]


async def _find_open(session: AsyncSession, caller: Caller, ref: str, now: datetime) -> Asked:
    """Returns the question of `ref` if it can be answered now. Begins its time if its message has just arrived."""
    question_id = QuestionRef.parse(ref).id
    asked = await rows.find_question(session, caller.workspace_id, question_id)
    # A question that is still to come does not exist for members.
    if asked is None or asked.question.number > asked.sprint.number:
        raise Refused(QuestionGone(practice=False))
    if asked.sprint.phase == "posting" and asked.question.number == asked.sprint.number:
        sprint = await rows.lock_due(session, asked.sprint.id)
        if sprint is not None and sprint.phase == "posting":
            await _begin_if_posted(session, sprint, now)
        asked = await rows.find_question(session, caller.workspace_id, question_id)
        assert asked is not None, "questions of a sprint are never deleted"
        if asked.sprint.phase == "posting":
            raise Refused(SprintRefused(why="not begun"))
    if not asked.is_open:
        raise Refused(SprintRefused(why="closed"))
    return asked


async def _begin_if_posted(session: AsyncSession, sprint: Sprint, now: datetime) -> None:
    """Begins the time of the question, or the pause after the announcement. Ends the sprint if its message was given
    up."""
    post = await outbox.find_by_key(session, _key(sprint, "post"))
    assert post is not None, "a message is added with its phase"
    if post.state == "sent":
        if sprint.number == 0:
            await rows.pause(session, sprint, LEAD)
        else:
            await rows.open_question(session, sprint)
    elif post.state in ("skipped", "lost"):
        await _end(session, sprint, now)


async def _show_time_left(session: AsyncSession, asked: Asked, now: datetime) -> None:
    """Edits the question's message. One row of the outbox makes all these edits, before the one that closes it."""
    sprint, question = asked.sprint, asked.question
    body = await _question_post(session, sprint, question)
    answers = await rows.count_answers(session, question.id)
    body = body.model_copy(update={"left_s": math.ceil(asked.left_s), "answers": answers})
    if asked.left_s < sprint.seconds - EDIT_PACE.total_seconds() / 2:
        await outbox.show_in_place(session, await _edit(session, sprint, "time", body), now, EDIT_PACE)


async def _settle(session: AsyncSession, sprint: Sprint, now: datetime) -> None:
    """Grades the answers to the current question and shows its answer. Nobody can answer it any more."""
    question = await rows.get_current_question(session, sprint)
    version = await questions.get_version(session, question.version_id)
    entries = await rows.list_entries(session, question)
    # Where members have variants of their own, each answer has the key of its own.
    asked = await questions.list_versions(session, {entry.answer.version_id for entry in entries})
    grades = []
    for entry in entries:
        given = AnswerInput.from_stored(entry.answer.given)
        credit = grade_answer(asked[entry.answer.version_id].question, given).credit or 0.0
        grades.append((entry.member.id, credit, sprint_points(credit, entry.ms, sprint.seconds), entry.ms))
    await rows.settle(session, question, grades)
    await practice.add_wrong_cards(session, rows.wrong_members(question), version.question_id, now)
    await rows.pause(session, sprint, PAUSE)
    right = {member_id for member_id, credit, _, _ in grades if credit == 1}
    named = [entry for entry in entries if entry.member.id in right and not entry.member.hidden]
    first = min(named, key=lambda entry: entry.ms, default=None)
    # Options of different variants cannot be counted together.
    counted = () if question.own_variants else entries
    chosen = [option for entry in counted for option in entry.answer.given.get("options") or ()]
    standings, unnamed = await _standings(session, sprint)
    body = SprintReveal(
        ref=_ref(question),
        number=sprint.number,
        total=sprint.total,
        key=build_answer_key(version, _ref(question), chosen, variant=_channel_variant(question)),
        family=await questions.get_key(session, version.question_id) if question.own_variants else "",
        answers=len(entries),
        right=len(right),
        fastest=FastestAnswer(name=first.member.name, ms=first.ms) if first else None,
        standings=standings,
        unnamed=unnamed,
    )
    await outbox.delete_unsent(session, _key(sprint, "time"))
    post = await _question_post(session, sprint, question)
    closed = post.model_copy(update={"answers": len(entries), "right": len(right)})
    until = now + outbox.PRIVATE_TIMEOUT
    await outbox.enqueue(session, await _edit(session, sprint, "closed", closed), now, until)
    await outbox.enqueue(session, _message(sprint, _key(sprint, "reveal"), body), now, until)


async def _end(session: AsyncSession, sprint: Sprint, now: datetime) -> None:
    announced = sprint.number > 0 or sprint.phase == "pausing"
    await rows.end(session, sprint)
    if not announced:
        return
    standings, unnamed = await _standings(session, sprint)
    podium = SprintPodium(
        asked=sprint.number,
        total=sprint.total,
        players=len(await rows.list_scores(session, sprint.id)),
        standings=standings,
        unnamed=unnamed,
    )
    message = _message(sprint, f"sprint:{sprint.id}:podium", podium)
    await outbox.enqueue(session, message, now, now + outbox.PRIVATE_TIMEOUT)
    ranked = await _rank(session, sprint)
    won = [score.member_id for rank, score in ranked if rank == 1]
    if won:
        shown = ranked[: max(leaderboard.SHOWN, len(won))]
        top = tuple(Placed(rank=rank, name=score.name, points=score.points) for rank, score in shown)
        post = WinnerPost(event="sprint", top=top, role="")
        await leaderboard.announce_winners(
            session, leaderboard.Won(sprint.workspace_id, f"sprint:{sprint.id}", post, won), now
        )


async def _rank(session: AsyncSession, sprint: Sprint) -> list[tuple[int, SprintScore]]:
    """Returns the members with points and their ranks, best first. Leaves out hidden members."""
    return rank_scores([score for score, hidden in await rows.list_scores(session, sprint.id) if not hidden])


async def _standings(session: AsyncSession, sprint: Sprint) -> tuple[tuple[SprintStanding, ...], int]:
    """Returns the best members so far, and how many more have points. Leaves out hidden members."""
    ranked = await _rank(session, sprint)
    shown = tuple(
        SprintStanding(rank=rank, name=score.name, points=score.points, right=score.right)
        for rank, score in ranked[:SHOWN_STANDINGS]
    )
    return shown, len(ranked) - len(shown)


async def _post_question(session: AsyncSession, sprint: Sprint, now: datetime) -> None:
    question = await rows.get_current_question(session, sprint)
    await _post(session, sprint, await _question_post(session, sprint, question), now)


async def _post(session: AsyncSession, sprint: Sprint, body: Body, now: datetime) -> None:
    message = _message(sprint, _key(sprint, "post"), body)
    await outbox.enqueue(session, message, now, now + POST_TIMEOUT)


async def _question_post(session: AsyncSession, sprint: Sprint, question: SprintQuestion) -> SprintQuestionPost:
    version: Version = await questions.get_version(session, question.version_id)
    return SprintQuestionPost(
        ref=_ref(question),
        number=question.number,
        total=sprint.total,
        seconds=sprint.seconds,
        question=build_question_view(version, _ref(question), variant=_channel_variant(question)),
    )


def _channel_variant(question: SprintQuestion) -> VariantRole | None:
    """Returns what the version that the channel sees is."""
    return "example" if question.own_variants else None


async def _edit(session: AsyncSession, sprint: Sprint, what: str, body: Body) -> outbox.NewMessage:
    post = await outbox.find_by_key(session, _key(sprint, "post"))
    assert post is not None, "a message is added with its phase"
    return _message(sprint, _key(sprint, what), body, edits_id=post.id)


def _message(sprint: Sprint, key: str, body: Body, edits_id: int | None = None) -> outbox.NewMessage:
    return outbox.NewMessage(
        key=key, body=body, workspace_id=sprint.workspace_id, channel_id=sprint.channel_id, edits_id=edits_id
    )


def _key(sprint: Sprint, what: str) -> str:
    return f"sprint:{sprint.id}:{sprint.number}:{what}"


def _ref(question: SprintQuestion) -> str:
    return str(QuestionRef("sprint", question.id))


def _view(sprint: Sprint) -> SprintView:
    return SprintView(id=sprint.id, total=sprint.total, seconds=sprint.seconds, topic=sprint.topic, asked=sprint.number)
