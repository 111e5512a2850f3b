"""What is shown of sprints: messages to the channel, and the live view of one member. Changes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from sqlalchemy.ext.asyncio import AsyncSession

from service.domain.sprints import SprintScore, rank_scores
from service.rounds.views import build_answer_key, build_question_view
from service.store import questions, schedules
from service.store import sprints as rows
from service.store.competition_tables import Sprint, SprintQuestion
from service.store.members import Caller, list_ids_on
from service.store.questions import Version
from service.store.sprints import Entry
from service.wire import (
    AnswerInput,
    AskForm,
    FastestAnswer,
    LiveSprint,
    QuestionRef,
    SprintPodium,
    SprintPulse,
    SprintQuestionPost,
    SprintResult,
    SprintReveal,
    Sprints,
    SprintStanding,
    SprintView,
    VariantRole,
)

SHOWN_STANDINGS = 10
"""Members whose places a message shows."""


def view_sprint(sprint: Sprint, zone: str = "UTC", channel: str = "") -> SprintView:
    """Returns a sprint as admins see it."""
    return SprintView(
        id=sprint.id,
        total=sprint.total,
        seconds=sprint.seconds,
        topic=sprint.topic,
        asked=sprint.number,
        starts_at=sprint.planned_for if sprint.phase == "planned" else None,
        zone=zone,
        channel=channel,
    )


async def build_question_post(session: AsyncSession, sprint: Sprint, question: SprintQuestion) -> SprintQuestionPost:
    """Returns the message with the question, whose time does not run yet."""
    version: Version = await questions.get_version(session, question.version_id)
    return SprintQuestionPost(
        ref=question_ref(question),
        number=question.number,
        total=sprint.total,
        seconds=sprint.seconds,
        question=build_question_view(version, question_ref(question), variant=_channel_variant(question)),
    )


async def build_reveal(
    session: AsyncSession,
    sprint: Sprint,
    question: SprintQuestion,
    entries: Sequence[Entry],
    right: Collection[int],
) -> SprintReveal:
    """Returns the answer to a settled question. `right` are the members whose answer was fully right."""
    version = await questions.get_version(session, question.version_id)
    named = [entry for entry in entries if entry.member.id in right and not entry.member.hidden]
    first = min(named, key=lambda entry: entry.ms, default=None)
    # Options of different variants cannot be counted together.
    counted = () if question.own_variants else entries
    chosen = Counter(option for entry in counted for option in entry.answer.given.get("options") or ())
    standings, unnamed = await list_standings(session, await rows.list_scores(session, sprint.id))
    ids = await list_ids_on(session, "discord", {first.member.id} if first else ())
    ref = question_ref(question)
    return SprintReveal(
        ref=ref,
        number=question.number,
        total=sprint.total,
        key=build_answer_key(version, ref, chosen, variant=_channel_variant(question)),
        family=await questions.get_key(session, version.question_id) if question.own_variants else "",
        answers=len(entries),
        right=len(right),
        fastest=FastestAnswer(name=first.member.name, discord=ids.get(first.member.id, ""), ms=first.ms)
        if first
        else None,
        standings=standings,
        unnamed=unnamed,
    )


async def build_podium(session: AsyncSession, sprint: Sprint) -> SprintPodium:
    """Returns the result of a sprint."""
    scores = await rows.list_scores(session, sprint.id)
    standings, unnamed = await list_standings(session, scores)
    return SprintPodium(
        asked=sprint.number, total=sprint.total, players=len(scores), standings=standings, unnamed=unnamed
    )


async def list_standings(
    session: AsyncSession, scores: Sequence[tuple[SprintScore, bool]]
) -> tuple[tuple[SprintStanding, ...], int]:
    """Returns the best members so far, and how many more have points. Leaves out hidden members."""
    ranked = rank_scores([score for score, hidden in scores if not hidden])
    best = ranked[:SHOWN_STANDINGS]
    ids = await list_ids_on(session, "discord", [score.member_id for _, score in best])
    shown = tuple(
        SprintStanding(
            rank=rank,
            name=score.name,
            discord=ids.get(score.member_id, ""),
            points=score.points,
            right=score.right,
        )
        for rank, score in best
    )
    return shown, len(ranked) - len(shown)


async def build_form(session: AsyncSession, caller: Caller, sprint: Sprint, question: SprintQuestion) -> AskForm:
    """Returns the question that is asked now for this caller, with options in their own order."""
    version_id = await rows.get_for_member(session, sprint, question, caller.member_id)
    version = await questions.get_version(session, version_id)
    before = await rows.find_answer(session, question.id, caller.member_id)
    variant: VariantRole | None = "own" if question.own_variants else None
    ref = question_ref(question)
    return AskForm(
        ref=ref,
        question=build_question_view(version, ref, caller.member_id, variant=variant),
        given=None if before is None else AnswerInput.from_stored(before.given),
        opens_at=question.opened_at,
        closes_at=question.closes_at,
    )


async def show(session: AsyncSession, caller: Caller) -> Sprints:
    """Returns the sprints of the caller's workspace."""
    zone = await schedules.get_zone(session, caller.workspace_id)
    planned = await rows.list_planned(session, caller.workspace_id)
    sprint = await rows.find_latest(session, caller.workspace_id)
    return Sprints(
        live=None if sprint is None else await _show_live(session, caller, sprint),
        planned=tuple(view_sprint(one, zone, channel) for one, channel in planned),
        step=_step(sprint, [one for one, _ in planned]),
    )


async def pulse(session: AsyncSession, caller: Caller) -> SprintPulse:
    """Returns what changes while a sprint of the caller's workspace runs."""
    planned = await rows.list_planned(session, caller.workspace_id)
    sprint = await rows.find_latest(session, caller.workspace_id)
    question = await rows.get_current_question(session, sprint) if sprint is not None and sprint.number else None
    return SprintPulse(
        step=_step(sprint, [one for one, _ in planned]),
        answers=0 if question is None else await rows.count_answers(session, question.id),
    )


def _step(sprint: Sprint | None, planned: Sequence[Sprint]) -> str:
    """Names the state of the latest sprint and of the planned ones."""
    plans = ",".join(str(one.id) for one in planned)
    now = "none" if sprint is None else f"{sprint.id}-{sprint.number}-{sprint.phase}"
    return f"{now}/{plans}"


async def _show_live(session: AsyncSession, caller: Caller, sprint: Sprint) -> LiveSprint:
    question = await rows.get_current_question(session, sprint) if sprint.number else None
    left = await rows.left_s(session, sprint)
    asked = question is not None and sprint.phase == "asking" and sprint.stopped_at is None and (left or 0) > 0
    settled = await rows.find_settled_question(session, sprint)
    states = {"posting": "posting" if sprint.number else "announced", "ended": "over"}
    state = "announced" if not sprint.number and sprint.phase == "pausing" else states.get(sprint.phase, sprint.phase)
    return LiveSprint.model_validate(
        {
            "id": sprint.id,
            "total": sprint.total,
            "seconds": sprint.seconds,
            "topic": sprint.topic,
            "state": state,
            "number": sprint.number,
            "left_s": None if left is None else max(0.0, left),
            "answers": 0 if question is None else await rows.count_answers(session, question.id),
            "form": await build_form(session, caller, sprint, question) if question is not None and asked else None,
            "reveal": None if settled is None else await _show_reveal(session, sprint, settled),
            "podium": await build_podium(session, sprint) if sprint.phase == "ended" else None,
            "mine": await _show_own(session, caller, sprint, settled),
        }
    )


async def _show_reveal(session: AsyncSession, sprint: Sprint, question: SprintQuestion) -> SprintReveal:
    entries = await rows.list_entries(session, question)
    right = {entry.member.id for entry in entries if entry.answer.credit == 1}
    return await build_reveal(session, sprint, question, entries, right)


async def _show_own(
    session: AsyncSession, caller: Caller, sprint: Sprint, settled: SprintQuestion | None
) -> SprintResult | None:
    scores = await rows.list_scores(session, sprint.id)
    score = next((one for one, _ in scores if one.member_id == caller.member_id), None)
    if score is None:
        return None
    ranked = rank_scores([one for one, hidden in scores if not hidden])
    answer = None if settled is None else await rows.find_answer(session, settled.id, caller.member_id)
    return SprintResult(
        points=score.points,
        rank=next((rank for rank, one in ranked if one.member_id == caller.member_id), None),
        credit=None if answer is None else answer.credit,
        earned=0 if answer is None else answer.points or 0,
    )


def question_ref(question: SprintQuestion) -> str:
    """Returns the reference by which members answer the question."""
    return str(QuestionRef("sprint", question.id))


def _channel_variant(question: SprintQuestion) -> VariantRole | None:
    """Returns what the version that the channel sees is."""
    return "example" if question.own_variants else None
