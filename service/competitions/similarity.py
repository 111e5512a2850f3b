"""Statistics that help moderators to see who may have shared answers. Computed when somebody asks, and never stored.

They are no proof: who learns together makes the same mistakes. So they name numbers and accuse nobody.
"""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from service.domain import similarity as rules
from service.domain.scoring import ScoringPolicy
from service.store import similarity as rows
from service.store.members import Caller
from service.wire import QuickAnswers, SimilarAnswers, SimilarPair

PERIOD = timedelta(days=180)
"""How far back rounds are compared."""
SHOWN = 20
"""Pairs and members that are listed at most."""
LEAST_QUICK = 5
"""Right answers within the thinking time that a member must have to be listed."""


async def view_similarity(session: AsyncSession, caller: Caller, now: datetime) -> SimilarAnswers:
    """Returns the pairs of the workspace's members whose wrong answers agree, and members who answer very fast."""
    since = now - PERIOD
    questions, names = await rows.list_choices(session, caller.workspace_id, since)
    within_s = ScoringPolicy().thinking_s
    quick = await rows.list_quick(session, caller.workspace_id, since, within_s, LEAST_QUICK)
    found = await asyncio.to_thread(rules.find_similar_pairs, questions)
    return SimilarAnswers(
        days=PERIOD.days,
        compared=found.compared,
        level=rules.LEVEL,
        least_shared=rules.LEAST_SHARED,
        least_wrong=rules.LEAST_WRONG,
        found=len(found.pairs),
        pairs=tuple(
            SimilarPair(
                first=names[pair.first],
                second=names[pair.second],
                shared=pair.shared,
                wrong=pair.wrong,
                same=pair.same,
                expected=pair.expected,
                chance=pair.chance,
            )
            for pair in found.pairs[:SHOWN]
        ),
        within_s=within_s,
        quick=tuple(QuickAnswers(name=one.name, right=one.right, quick=one.quick) for one in quick[:SHOWN]),
    )
