"""Calibrates how hard questions are for each workspace from its own answers, soon after its rounds close.

Nothing is shared between workspaces, not even about shipped questions: a team's answers are its own.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from service.deferred import load_module
from service.reference_clock import Interval
from service.rounds.jobs import Jobs
from service.store import calibrations
from service.store.calibrations import EVERYBODY, Calibration, FirstAnswer
from service.store.session import Sessions

if TYPE_CHECKING:
    from service.domain.calibration import Fit

CHECK_INTERVAL = timedelta(seconds=60)
"""Interval between checks."""
LEAST_AGE = timedelta(hours=6)
"""Age of a calibration before the next."""
MAX_PER_CHECK = 50
"""Most workspaces queued in one check."""
PERIOD = timedelta(days=365)
"""How old an answer may be."""
MAX_ANSWERS = 200_000
"""Most answers that are used, newest first."""
MAX_MEMBERS = 4_000
"""Most members whose answers are used: those who answered last."""
AUDIENCE_PERIOD = timedelta(days=28)
"""A member is in a schedule's audience by the rounds answered in this time."""


class Calibrations:
    """Queues the calibrations that are due; called at every tick."""

    def __init__(self, sessions: Sessions, jobs: Jobs) -> None:
        self._sessions = sessions
        self._jobs = jobs
        self._interval = Interval(CHECK_INTERVAL)

    async def check(self, now: datetime) -> None:
        """Queues what is due, each workspace once, whichever process is first."""
        if not self._interval.is_due(now):
            return
        async with self._sessions.begin() as session:
            for workspace_id in await calibrations.claim_due(session, now, LEAST_AGE, MAX_PER_CHECK):
                await self._jobs.defer_calibrating(session, workspace_id)


async def calibrate_workspace(sessions: Sessions, workspace_id: int, now: datetime) -> None:
    """Calibrates one workspace from its latest answers. The computation holds no connection."""
    async with sessions.begin() as session:
        answers = await calibrations.list_first_answers(session, workspace_id, now - PERIOD, MAX_ANSWERS)
    answers = _limit_members(answers)
    if not answers:
        return
    await load_module("service.domain.calibration")
    from service.domain.calibration import Item, Response, calibrate

    places = {key: place for place, key in enumerate(dict.fromkeys(map(_key, answers)))}
    about = {_key(one): Item(one.level, one.topic) for one in answers}
    responses = [Response(one.member_id, places[_key(one)], one.credit) for one in answers]
    fit = await asyncio.to_thread(calibrate, [about[key] for key in places], responses)
    found = Calibration(fit.scale, _audiences(fit, answers), len(answers), len(fit.members))
    items = {key: (fit.difficulties[place], fit.answers[place]) for key, place in places.items()}
    async with sessions.begin() as session:
        await calibrations.save(session, workspace_id, found, items, now)


def _key(one: FirstAnswer) -> tuple[int, int]:
    return one.question_id, one.version


def _limit_members(answers: Sequence[FirstAnswer]) -> list[FirstAnswer]:
    """Returns the answers of the members who answered last. `answers` begins with the newest."""
    kept = set(list(dict.fromkeys(one.member_id for one in answers))[:MAX_MEMBERS])
    return [one for one in answers if one.member_id in kept]


def _audiences(fit: Fit, answers: Sequence[FirstAnswer]) -> dict[str, list[float]]:
    """Returns the mean distribution of abilities by schedule, each member weighted by the rounds answered lately."""
    import numpy as np  # the calibration loaded it

    rows = {member: row for row, member in enumerate(fit.members)}
    weights = {EVERYBODY: np.zeros(len(rows))}
    latest: dict[int, datetime] = defaultdict(lambda: answers[-1].at)
    for one in answers:
        if one.schedule_id is not None:
            latest[one.schedule_id] = max(latest[one.schedule_id], one.at)
    for one in answers:
        weights[EVERYBODY][rows[one.member_id]] += 1
        if one.schedule_id is not None and one.at > latest[one.schedule_id] - AUDIENCE_PERIOD:
            weights.setdefault(str(one.schedule_id), np.zeros(len(rows)))[rows[one.member_id]] += 1
    return {
        name: [round(float(share), 6) for share in (each @ fit.abilities) / each.sum()]
        for name, each in weights.items()
    }
