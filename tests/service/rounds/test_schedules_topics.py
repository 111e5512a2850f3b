"""Topics are counted, and looked up with suggestions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.rounds import schedules
from service.rounds.schedules import _topic_paths
from service.wire import NotFound, TopicCount
from tests.service.refusals import refused
from tests.service.scenes import Stage, question


async def test_topics_are_those_of_this_workspace(stage: Stage) -> None:
    ada, eve = await stage.caller(), await stage.caller("Eve", workspace="away")
    await stage.bank(question("a"), question("b"))
    await stage.bank(question("c", topic="secret"), workspace_id=eve.workspace_id)
    assert await schedules.list_topics(stage.session, ada.workspace_id) == (
        TopicCount(topic="tensors/memory", questions=2),
    )
    with refused(NotFound(what="topic", name="secret")):
        await schedules.resolve_topics(stage.session, ada.workspace_id, ["secret"])


@pytest.mark.parametrize(
    ("wanted", "similar"),
    [
        (
            "tensrs",
            (
                "tensors",
                "tensors/memory",
            ),
        ),
        ("memory", ("tensors/memory",)),
        ("philosophy", ()),
    ],
)
async def test_a_misspelt_topic_is_met_with_the_closest(stage: Stage, wanted: str, similar: tuple[str, ...]) -> None:
    ada = await stage.caller()
    await stage.bank(question("a"), question("b", topic="autograd"))
    with refused(NotFound(what="topic", name=wanted, similar=similar)):
        await schedules.resolve_topics(stage.session, ada.workspace_id, [wanted])


async def test_a_bank_without_topics_says_so(stage: Stage) -> None:
    ada = await stage.caller()
    await stage.bank(question("a", topic=""))
    with refused(NotFound(what="topic", name="tensors")):
        await schedules.resolve_topics(stage.session, ada.workspace_id, ["tensors"])


paths = st.lists(st.sampled_from(["a", "B", "c"]), min_size=1, max_size=3).map("/".join)


@given(st.lists(paths))
def test_every_topic_and_all_above_it_are_known_by_their_small_letters(given_topics: list[str]) -> None:
    known = _topic_paths(given_topics)
    for topic in given_topics:
        while topic:
            assert known[topic.lower()].lower() == topic.lower()
            topic = topic.rpartition("/")[0]
    assert len(known) <= sum(topic.count("/") + 1 for topic in given_topics)
