"""Chooses the questions of slots by the rules in `service.domain.selection`: one, or many at once."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from sqlalchemy.ext.asyncio import AsyncSession

from service.domain.selection import ChosenQuestion, ScheduleFilter, choose_from_groups
from service.errors import Refused
from service.store import banks, candidates, locks, questions, variants
from service.store.tables import Schedule
from service.wire import NotAskable, NotFound, ScheduleSpec


@dataclass(frozen=True, slots=True)
class SlotChoice:
    """A slot whose question is chosen."""

    schedule: Schedule
    spec: ScheduleSpec
    day: date
    """Local date."""
    number: int = 0
    """Number of an extra round of that day."""


def build_filter(spec: ScheduleSpec) -> ScheduleFilter:
    """Returns the filter of a spec."""
    return ScheduleFilter(topics=spec.topics, levels=spec.levels, kinds=spec.kinds, memory_days=spec.memory_days)


def slot_seed(schedule_id: int, day: date, number: int = 0) -> str:
    """Returns the seed with which the question of a slot, or of an extra round, is chosen."""
    return f"{schedule_id}:{day}:{number}" if number else f"{schedule_id}:{day}"


async def choose_for_day(
    session: AsyncSession, schedule: Schedule, spec: ScheduleSpec, day: date, number: int = 0
) -> ChosenQuestion | None:
    """Returns the question for the schedule's slot on local date `day`, or with `number` for an extra round of that
    day; None if none fits. Stable until rows change."""
    return (await choose_for_slots(session, [SlotChoice(schedule, spec, day, number)]))[0]


async def choose_for_slots(session: AsyncSession, slots: Sequence[SlotChoice]) -> list[ChosenQuestion | None]:
    """Returns the question for each slot, in a constant number of statements; None if none fits.

    No two schedules of a workspace get the same. Nothing keeps a concurrent transaction from choosing it too, unless
    the caller has locked the workspaces.
    """
    known = await candidates.load(session, {slot.schedule.workspace_id for slot in slots})
    histories = await candidates.list_past_rounds_each(session, [slot.schedule.id for slot in slots])
    chosen = []
    for slot in slots:
        schedule, history = slot.schedule, histories.get(slot.schedule.id, [])
        groups = known.groups_for(schedule.workspace_id, schedule.id, history)
        seed = slot_seed(schedule.id, slot.day, slot.number)
        choice = choose_from_groups(groups, history, build_filter(slot.spec), seed, slot.day)
        chosen.append(choice)
        if choice is not None:
            known.ask(schedule.workspace_id, choice.id)
    return chosen


async def lock_choosing(session: AsyncSession, workspace_ids: Collection[int]) -> set[int]:
    """Returns those of the workspaces in which nobody else is choosing, locked until the transaction ends: the question
    that one schedule is about to ask must be known when another one's is chosen."""
    return await locks.try_lock(session, locks.CHOOSING, workspace_ids)


async def wait_to_choose(session: AsyncSession, workspace_id: int) -> None:
    """Locks one workspace as `lock_choosing` does, and waits for another that is choosing there: a call has no next
    tick."""
    await locks.lock(session, locks.CHOOSING, workspace_id)


async def is_possible(
    session: AsyncSession,
    spec: ScheduleSpec,
    workspace_id: int,
    *,
    schedule_id: int | None = None,
    with_gpu: bool = False,
) -> bool:
    """Returns whether some question fits the spec, asked lately or not; `with_gpu`, also one that needs a GPU.

    With a schedule, leaves out what the workspace is asking now.
    """
    known = await candidates.load(session, [workspace_id], anywhere=with_gpu, secret=schedule_id is not None)
    anything = dataclasses.replace(build_filter(spec), memory_days=0)
    return choose_from_groups(known.groups_for(workspace_id), [], anything, "", date.min) is not None


async def only_gpu_questions_fit(session: AsyncSession, schedule: Schedule, spec: ScheduleSpec) -> bool:
    """Returns whether the only questions that fit need a GPU, which no sandbox has."""
    return await is_possible(session, spec, schedule.workspace_id, schedule_id=schedule.id, with_gpu=True)


async def find_askable(session: AsyncSession, workspace_id: int, question: str) -> int:
    """Returns the id of the current version of the question with that id, the workspace's own first. Refused if there
    is none, and if it cannot be asked there now, with the reason."""
    found = await banks.find_questions(session, workspace_id, question)
    if not found:
        raise Refused(NotFound(what="question", name=question))
    known = await candidates.load(session, [workspace_id])
    for row, _ in found:
        if (version_id := known.current_version(workspace_id, row.id)) is not None:
            return version_id
    row, version = found[0]
    why: Literal["asked now", "retired", "gone", "held", "no answer", "no variants", "needs gpu"] = "needs gpu"
    if await questions.is_asked_now(session, workspace_id, row.id):
        why = "asked now"
    elif row.retired_at is not None:
        why = "gone"
    elif await banks.is_retired(session, workspace_id, row.id):
        why = "retired"
    elif row.held:
        why = "held"
    elif not version.answered:
        why = "no answer"
    elif version.family and not await variants.are_drawn(session, version.id):
        why = "no variants"
    raise Refused(NotAskable(question=question, why=why))
