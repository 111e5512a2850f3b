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


async def must_exist(session: AsyncSession, workspace_id: int, wanted: Iterable[str]) -> tuple[str, ...]:
    """`wanted` as the bank writes them; refused, with the closest names, for one no question has or lies below."""
    known = _with_above(topic for topic, _ in await banks.topic_counts(session, workspace_id))
    found = []
    for topic in wanted:
        if (path := known.get(topic.strip("/ ").lower())) is None:
            raise NotFound(what=f"topic {topic!r}", cure=_cure(topic, sorted(known)))
        found.append(path)
    return tuple(dict.fromkeys(found))


def _with_above(topics: Iterable[str]) -> dict[str, str]:
    """`Tensors/memory` as itself and as `Tensors`, by its lower-case form."""
    paths = [topic.split("/") for topic in topics if topic]
    above = ("/".join(path[:depth]) for path in paths for depth in range(1, len(path) + 1))
    return {path.lower(): path for path in above}


def _cure(topic: str, known: list[str]) -> str:
    if not known:
        return "The bank names no topics; leave the topic out."
    close = difflib.get_close_matches(topic.lower(), known, 3, 0.6)
    close += [path for path in known if topic.lower() in path.split("/") and path not in close]
    if close:
        return f"Did you mean {' or '.join(close[:3])}?"
    return "See them all with /quiz topics."
