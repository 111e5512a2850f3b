"""The topics a workspace has questions in, and a word of help where one is misspelt."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from sqlalchemy.ext.asyncio import AsyncSession

from service.errors import NotFound
from service.store import banks
from service.wire import TopicCount


async def counted(session: AsyncSession, workspace_id: int) -> tuple[TopicCount, ...]:
    """Every topic with the number of its questions that may be asked, by name."""
    rows = await banks.topic_counts(session, workspace_id)
    return tuple(TopicCount(topic=topic, questions=count) for topic, count in rows)


async def must_exist(session: AsyncSession, workspace_id: int, wanted: Iterable[str]) -> None:
    """Refused, with the closest names, for a topic that no question has and that lies above none."""
    known = _with_above(topic for topic, _ in await banks.topic_counts(session, workspace_id))
    for topic in wanted:
        if topic.strip("/ ").lower() not in known:
            raise NotFound(what=f"topic {topic!r}", cure=_cure(topic, sorted(known)))


def _with_above(topics: Iterable[str]) -> set[str]:
    """`tensors/memory/views` as itself, `tensors/memory` and `tensors`."""
    parts = [topic.lower().split("/") for topic in topics if topic]
    return {"/".join(path[:depth]) for path in parts for depth in range(1, len(path) + 1)}


def _cure(topic: str, known: list[str]) -> str:
    if not known:
        return "The bank names no topics; leave the topic out."
    close = difflib.get_close_matches(topic.lower(), known, 3, 0.6)
    close += [path for path in known if topic.lower() in path.split("/") and path not in close]
    if close:
        return f"Did you mean {' or '.join(close[:3])}?"
    return "See them all with /quiz topics."
