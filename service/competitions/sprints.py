"""Sprints: a few questions in a row, live in a channel, with little time and points for speed.

A sprint is a state machine in the database. The leader's tick advances it, and the stored deadlines decide:

    planned → announcement posted → pause → question posted → asking → answer, pause → next question … → podium

- A planned sprint is shown in the channel at once. Its questions are chosen when it begins.
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

from service.competitions.sprint_views import (
    build_form,
    build_podium,
    build_question_post,
    build_reveal,
    view_sprint,
)
from service.domain.calendar import get_zone, local_instant
from service.domain.sprints import SprintScore, pick_questions, rank_scores, sprint_points
from service.errors import Refused
from service.rounds import leaderboard, practice, schedules
from service.rounds.choosing import choose_for_day, lock_choosing, wait_to_choose
from service.rounds.grading import grade_answer
from service.rounds.submissions import validate_answer
from service.store import candidates, members, outbox, questions, variants
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
    Fate,
    Placed,
    PlannedSprint,
    QuestionGone,
    QuestionRef,
    ScheduleSpec,
    SprintAnnouncement,
    SprintRefused,
    SprintView,
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
LATEST_START = timedelta(minutes=15)
"""How late a planned sprint still begins."""
FARTHEST = timedelta(days=60)
"""How far ahead a sprint can be planned."""
MOST_PLANNED = 10
"""Planned sprints of a workspace."""


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
    channel_id, topic = await _read_plan(session, caller, plan)
    # Before the row, as where a planned sprint begins: each would otherwise wait for the other.
    await wait_to_choose(session, caller.workspace_id)
    sprint = await rows.add(session, caller, channel_id, total=plan.total, seconds=plan.seconds, topic=topic)
    if sprint is None:
        raise Refused(SprintRefused(why="running"))
    if not await _announce(session, sprint, now):
        raise Refused(SprintRefused(why="no questions"))
    return view_sprint(sprint)


async def plan_later(session: AsyncSession, caller: Caller, wanted: PlannedSprint, now: datetime) -> SprintView:
    """Plans a sprint in the caller's channel at a local time, on that day or else when it is next, and tells the
    channel.

    Refused for a time that is over or far away, and if no question fits today.
    """
    plan = SprintPlan(wanted.questions, wanted.seconds, wanted.topic)
    channel_id, topic = await _read_plan(session, caller, plan)
    zone = await schedule_rows.get_zone(session, caller.workspace_id)
    today = now.astimezone(get_zone(zone)).date()
    day = wanted.day or today
    # Days are compared first, because those at the ends of the calendar have no instant in some zones.
    if day < today:
        raise Refused(SprintRefused(why="past"))
    if day > today + FARTHEST:
        raise Refused(SprintRefused(why="far"))
    instant = local_instant(zone, day, wanted.at)
    if wanted.day is None and instant <= now:
        instant = local_instant(zone, today + timedelta(days=1), wanted.at)
    if instant <= now:
        raise Refused(SprintRefused(why="past"))
    if instant - now > FARTHEST:
        raise Refused(SprintRefused(why="far"))
    # One after the other, so that the plan which another admin is making is counted.
    await wait_to_choose(session, caller.workspace_id)
    if len(await rows.list_planned(session, caller.workspace_id)) >= MOST_PLANNED:
        raise Refused(SprintRefused(why="many"))
    values = {"total": plan.total, "seconds": plan.seconds, "topic": topic, "planned_for": instant}
    # PostgreSQL's clock decides when it begins, so it gets the time until then.
    sprint = await rows.add_planned(session, caller, channel_id, instant - now, **values)
    if not await _pick(session, sprint, now):
        raise Refused(SprintRefused(why="no questions"))
    message = _message(sprint, _plan_key(sprint), _plan_post(sprint, zone))
    await outbox.enqueue(session, message, now, instant)
    return view_sprint(sprint, zone)


async def cancel(session: AsyncSession, caller: Caller, sprint_id: int, now: datetime) -> SprintView:
    """Cancels a planned sprint; without an id, the next one of the caller's channel."""
    if not sprint_id and caller.channel_id is None:
        raise Refused(ChannelNeeded())
    sprint = await rows.lock_planned(session, caller.workspace_id, caller.channel_id, sprint_id)
    if sprint is None:
        raise Refused(SprintRefused(why="not planned"))
    zone = await schedule_rows.get_zone(session, caller.workspace_id)
    view = view_sprint(sprint, zone)
    await rows.end(session, sprint)
    await _tell_fate(session, sprint, "cancelled", now)
    return view


async def stop(session: AsyncSession, caller: Caller) -> SprintView:
    """Stops the sprint in the caller's channel: the current question is revealed, and the podium follows."""
    if caller.channel_id is None:
        raise Refused(ChannelNeeded())
    sprint = await rows.lock_running(session, caller.workspace_id, caller.channel_id)
    if sprint is None:
        raise Refused(SprintRefused(why="not running"))
    await rows.stop(session, sprint)
    return view_sprint(sprint)


async def view_question(session: AsyncSession, caller: Caller, ref: str, now: datetime) -> AskForm:
    """Returns the question for this caller, with options in their own order. Refused unless it is asked now."""
    asked = await _find_open(session, caller, ref, now)
    return await build_form(session, caller, asked.sprint, asked.question)


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
    version_id = await rows.get_for_member(session, asked.sprint, asked.question, caller.member_id)
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
            # A sprint that cannot continue must not hold up the others; the next tick retries it.
            log.error("sprint not advanced", sprint=sprint_id, exc_info=error)


async def advance(session: AsyncSession, sprint_id: int, now: datetime) -> None:
    """Takes the sprint's next step if it is due. Otherwise shows the time left."""
    sprint = await rows.lock_due(session, sprint_id)
    if sprint is None:
        asked = await rows.share_asked(session, sprint_id)
        if asked is not None:
            await _show_time_left(session, asked, now)
    elif sprint.phase == "planned":
        await _begin_planned(session, sprint, now)
    elif sprint.phase == "posting":
        await _begin_if_posted(session, sprint, now)
    elif sprint.phase == "asking":
        await _settle(session, sprint, now)
    elif sprint.number < sprint.total and sprint.stopped_at is None:
        await rows.next_question(session, sprint)
        await _post_question(session, sprint, now)
    else:
        await _end(session, sprint, now)


async def _read_plan(session: AsyncSession, caller: Caller, plan: SprintPlan) -> tuple[int, str]:
    """Returns the channel and the topic, which may be empty. Refused without a channel, and for an unknown topic."""
    if caller.channel_id is None:
        raise Refused(ChannelNeeded())
    if not plan.topic:
        return caller.channel_id, ""
    (topic,) = await schedules.resolve_topics(session, caller.workspace_id, [plan.topic])
    return caller.channel_id, topic


async def _announce(session: AsyncSession, sprint: Sprint, now: datetime) -> bool:
    """Chooses the questions and posts the announcement. Returns False, changing nothing, if no question fits."""
    picked = await _pick(session, sprint, now)
    if not picked:
        return False
    for number, version_id in enumerate(picked, start=1):
        drawn = await variants.pick_for_round(session, sprint.workspace_id, version_id)
        own = await variants.suffice_for_all(session, drawn)
        rows.add_question(session, sprint, number, drawn, own_variants=own)
    sprint.total = len(picked)
    body = SprintAnnouncement(
        total=sprint.total, seconds=sprint.seconds, topic=sprint.topic, starts_in_s=round(LEAD.total_seconds())
    )
    await _post(session, sprint, body, now)
    await session.flush()
    return True


async def _begin_planned(session: AsyncSession, sprint: Sprint, now: datetime) -> None:
    """Begins a planned sprint whose time has come. Waits while another one runs in the channel."""
    if await rows.lateness(session, sprint) > LATEST_START:
        await rows.end(session, sprint)
        await _tell_fate(session, sprint, "missed", now)
    elif await rows.lock_running(session, sprint.workspace_id, sprint.channel_id) is None:
        if not await lock_choosing(session, [sprint.workspace_id]):
            return  # a round of the workspace is being made; the next tick tries again
        if await _announce(session, sprint, now):
            await rows.begin(session, sprint)
            await _tell_fate(session, sprint, "started", now)
        else:
            await rows.end(session, sprint)
            await _tell_fate(session, sprint, "no questions", now)


def _plan_post(sprint: Sprint, zone: str, fate: Fate = "") -> SprintAnnouncement:
    return SprintAnnouncement(
        total=sprint.total,
        seconds=sprint.seconds,
        topic=sprint.topic,
        starts_in_s=round(LEAD.total_seconds()),
        starts_at=sprint.planned_for,
        zone=zone,
        fate=fate,
    )


async def _tell_fate(session: AsyncSession, sprint: Sprint, fate: Fate, now: datetime) -> None:
    """Edits the message that the sprint is planned. Deletes it if it was not sent yet."""
    await outbox.delete_unsent(session, _plan_key(sprint))
    post = await outbox.find_by_key(session, _plan_key(sprint))
    if post is not None:
        zone = await schedule_rows.get_zone(session, sprint.workspace_id)
        edit = _message(sprint, f"{_plan_key(sprint)}:{fate}", _plan_post(sprint, zone, fate), edits_id=post.id)
        await outbox.enqueue(session, edit, now, now + outbox.PRIVATE_TIMEOUT)


async def _pick(session: AsyncSession, sprint: Sprint, now: datetime) -> list[int]:
    """Chooses the questions, without those that the channel's schedules would ask next."""
    workspace_id = sprint.workspace_id
    known = await candidates.list_candidates(session, workspace_id=workspace_id, schedule_id=None, secret=True)
    here = [one for one, _ in await schedule_rows.list_schedules(session, workspace_id, sprint.channel_id)]
    following = await schedules.next_postings(session, here, now)
    coming = set()
    for schedule in here:
        if (slot := following.get(schedule.id)) is not None:
            choice = await choose_for_day(session, schedule, ScheduleSpec.from_stored(schedule.spec), slot.day)
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
    body = await build_question_post(session, sprint, question)
    answers = await rows.count_answers(session, question.id)
    body = body.model_copy(update={"left_s": math.ceil(asked.left_s), "answers": answers})
    if asked.left_s < sprint.seconds - EDIT_PACE.total_seconds() / 2:
        await outbox.show_in_place(session, await _edit(session, sprint, "time", body), now, EDIT_PACE)


async def _settle(session: AsyncSession, sprint: Sprint, now: datetime) -> None:
    """Grades the answers to the current question and shows its answer. Nobody can answer it any more."""
    question = await rows.get_current_question(session, sprint)
    version = await _correct_question(session, question)
    entries = await rows.list_entries(session, question)
    # Where members have variants of their own, each answer has the key of its own.
    asked = await questions.list_versions(session, {entry.answer.version_id for entry in entries})
    grades = []
    for entry in entries:
        given = AnswerInput.from_stored(entry.answer.given)
        deciding = asked[entry.answer.version_id] if question.own_variants else version
        credit = grade_answer(deciding.question, given).credit or 0.0
        grades.append((entry.member.id, credit, sprint_points(credit, entry.ms, sprint.seconds), entry.ms))
    await rows.settle(session, question, grades)
    await practice.add_wrong_cards(session, rows.wrong_members(question), version.question_id, now)
    await rows.pause(session, sprint, PAUSE)
    right = {member_id for member_id, credit, _, _ in grades if credit == 1}
    body = await build_reveal(session, sprint, question, entries, right)
    await outbox.delete_unsent(session, _key(sprint, "time"))
    post = await build_question_post(session, sprint, question)
    closed = post.model_copy(update={"answers": len(entries), "right": len(right)})
    until = now + outbox.PRIVATE_TIMEOUT
    await outbox.enqueue(session, await _edit(session, sprint, "closed", closed), now, until)
    await outbox.enqueue(session, _message(sprint, _key(sprint, "reveal"), body), now, until)


async def _correct_question(session: AsyncSession, question: SprintQuestion) -> Version:
    """Has a question that was corrected since it was chosen be asked, or decided and shown, in its newest version.
    Returns that. No further correction comes until the transaction ends."""
    await questions.hold_current(session, question.version_id)
    chosen = await questions.get_version(session, question.version_id)
    version = await questions.get_deciding_version(session, chosen)
    if version.id != chosen.id:
        await rows.correct_question(session, question, version.id)
    return version


async def _end(session: AsyncSession, sprint: Sprint, now: datetime) -> None:
    announced = sprint.number > 0 or sprint.phase == "pausing"
    await rows.end(session, sprint)
    if not announced:
        return
    podium = await build_podium(session, sprint)
    message = _message(sprint, f"sprint:{sprint.id}:podium", podium)
    await outbox.enqueue(session, message, now, now + outbox.PRIVATE_TIMEOUT)
    ranked = await _rank(session, sprint)
    won = [score.member_id for rank, score in ranked if rank == 1]
    if won:
        shown = ranked[: max(leaderboard.WINNERS_NAMED, len(won))]
        top = tuple(Placed(rank=rank, name=score.name, points=score.points) for rank, score in shown)
        post = WinnerPost(event="sprint", top=top, role="")
        await leaderboard.announce_winners(
            session, leaderboard.Won(sprint.workspace_id, f"sprint:{sprint.id}", post, won), now
        )


async def _rank(session: AsyncSession, sprint: Sprint) -> list[tuple[int, SprintScore]]:
    """Returns the members with points and their ranks, best first. Leaves out hidden members."""
    return rank_scores([score for score, hidden in await rows.list_scores(session, sprint.id) if not hidden])


async def _post_question(session: AsyncSession, sprint: Sprint, now: datetime) -> None:
    question = await rows.get_current_question(session, sprint)
    await _correct_question(session, question)
    await _post(session, sprint, await build_question_post(session, sprint, question), now)


async def _post(session: AsyncSession, sprint: Sprint, body: Body, now: datetime) -> None:
    message = _message(sprint, _key(sprint, "post"), body)
    await outbox.enqueue(session, message, now, now + POST_TIMEOUT)


async def _edit(session: AsyncSession, sprint: Sprint, part: str, body: Body) -> outbox.NewMessage:
    post = await outbox.find_by_key(session, _key(sprint, "post"))
    assert post is not None, "a message is added with its phase"
    return _message(sprint, _key(sprint, part), body, edits_id=post.id)


def _message(sprint: Sprint, key: str, body: Body, edits_id: int | None = None) -> outbox.NewMessage:
    return outbox.NewMessage(
        key=key, body=body, workspace_id=sprint.workspace_id, channel_id=sprint.channel_id, edits_id=edits_id
    )


def _key(sprint: Sprint, part: str) -> str:
    return f"sprint:{sprint.id}:{sprint.number}:{part}"


def _plan_key(sprint: Sprint) -> str:
    return f"sprint:{sprint.id}:plan"
