"""The web chat's own memory: everything once, and a private message only to its owner."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from bot.core.cards import Card, Form, Text, TextField
from bot.web.store import PRIVATE_KEPT, ChatStore, NameTaken

AT = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
CARD = Card("Title", "Summary", (Text("words"),))
MEMBERS = ("ann", "bob")


@pytest.fixture
def store() -> Iterator[ChatStore]:
    store = ChatStore(":memory:")
    yield store
    store.close()


# People


def test_the_first_to_join_is_the_admin(store: ChatStore) -> None:
    ann, bob = store.join("Ann"), store.join("Bob")

    assert (ann.admin, bob.admin) == (True, False)
    assert store.person(ann.id) == ann
    assert store.person("nobody") is None


@pytest.mark.parametrize("name", ["Ann", "aNN", "Ａｎｎ", "dailygrad", "DAILYGRAD"])
def test_a_name_is_unique_and_the_bots_name_reserved(store: ChatStore, name: str) -> None:
    store.join("ann")

    with pytest.raises(NameTaken):
        store.join(name)


# Messages


def test_a_key_makes_one_message(store: ChatStore) -> None:
    first = store.post("daily", CARD, AT, key="round 1")
    second = store.post("daily", Card("Another", ""), AT, key="round 1")
    other = store.post("daily", CARD, AT, key="round 2")

    assert first == second == store.find("round 1")
    assert other == store.find("round 2") != first
    assert store.find("round 3") is None
    assert [message.content for message in store.seen_by("ann", "daily")] == [CARD, CARD]


def test_an_event_is_answered_with_one_message(store: ChatStore) -> None:
    first = store.post("daily", CARD, AT, event="e1", member="ann")

    assert store.post("daily", CARD, AT, event="e1", member="ann") == first
    assert store.post("daily", CARD, AT, event="e2", member="ann") != first


def test_a_key_and_an_event_of_the_same_name_are_two_things(store: ChatStore) -> None:
    assert store.post("daily", CARD, AT, key="x") != store.post("daily", CARD, AT, event="x", member="ann")


def test_a_private_message_is_its_owners_alone(store: ChatStore) -> None:
    private = store.post("daily", CARD, AT, member="ann", event="e1")

    assert store.message(private, "ann") is not None
    assert store.message(private, "bob") is None
    assert store.seen_by("bob", "daily") == []
    assert not store.replace(private, "bob", Card("Mine now", ""))
    assert store.seen_by("ann", "daily")[0].content == CARD


def test_a_public_message_cannot_be_replaced(store: ChatStore) -> None:
    public = store.post("daily", CARD, AT)

    assert not store.replace(public, "ann", Card("Other", ""))
    assert store.message(public, "ann") == store.message(public, "bob")


def test_a_replaced_message_keeps_its_place_and_counts_as_new(store: ChatStore) -> None:
    first = store.post("daily", CARD, AT, member="ann")
    second = store.post("daily", "hello", AT, author="Bob")
    before = store.version()

    assert store.replace(first, "ann", Card("Changed", ""))

    assert [message.id for message in store.seen_by("ann", "daily")] == [first, second]
    assert [message.id for message in store.seen_by("ann", "daily", before)] == [first]
    assert store.version() == before + 1


def test_only_the_newest_are_read(store: ChatStore) -> None:
    numbers = [store.post("daily", str(number), AT, author="Ann") for number in range(7)]

    assert [message.id for message in store.seen_by("ann", "daily", limit=3)] == numbers[-3:]


def test_instants_come_back_in_utc(store: ChatStore) -> None:
    number = store.post("daily", "hello", AT.astimezone(timezone(timedelta(hours=5))), author="Ann")

    message = store.message(number, "ann")
    assert message is not None
    assert (message.at, message.at.tzinfo) == (AT, UTC)


def test_old_answers_go_but_what_was_delivered_and_what_is_public_stays(store: ChatStore) -> None:
    verdict = store.post("daily", CARD, AT, key="verdict", member="ann")
    public = store.post("daily", "hello", AT, author="Ann")
    others = store.post("daily", CARD, AT, event="b", member="bob")
    mine = [store.post("daily", CARD, AT, event=f"a{n}", member="ann") for n in range(PRIVATE_KEPT + 5)]

    assert [message.id for message in store.seen_by("ann", "daily", limit=1000)] == [verdict, public, *mine[5:]]
    assert store.message(others, "bob") is not None


def test_an_editors_results_are_its_own_and_what_was_delivered_since(store: ChatStore) -> None:
    before = store.post("daily", CARD, AT, key="before", member="ann")
    form = Form("Write", "f:r1", (TextField("code", "Code", code=True),))
    editor = store.post("daily", form, AT, member="ann")
    assert store.result(editor, "ann") is None

    tried = store.post("daily", CARD, AT, member="ann", answers=editor)
    store.post("daily", CARD, AT, member="ann")
    verdict = store.post("daily", CARD, AT, key="verdict", member="ann")
    store.post("daily", CARD, AT, key="bobs", member="bob")

    assert store.result(editor, "ann") == tried
    assert store.result(editor, "bob") is None
    assert [message.id for message in store.results(editor, "ann")] == [verdict, tried]
    assert store.replace(tried, "ann", CARD)
    assert [message.id for message in store.results(editor, "ann")] == [tried, verdict]
    assert before not in [message.id for message in store.results(editor, "ann")]


def test_all_messages_are_kept_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "chat.sqlite"
    first = ChatStore(path)
    ann = first.join("Ann")
    number = first.post("daily", CARD, AT, key="k", reply_to=7)
    secret = first.secret("session")
    kept = first.message(number, ann.id)
    first.close()

    again = ChatStore(path)
    assert again.person(ann.id) == ann
    assert again.message(number, ann.id) == kept
    assert again.post("daily", CARD, AT, key="k") == number
    assert again.secret("session") == secret != again.secret("other")
    again.close()


def test_two_processes_share_a_file(tmp_path: Path) -> None:
    one, two = ChatStore(tmp_path / "chat.sqlite"), ChatStore(tmp_path / "chat.sqlite")

    numbers = [store.post("daily", "hi", AT, author="Ann", event=f"e{n}") for n, store in enumerate((one, two, one))]

    assert len(set(numbers)) == 3
    assert [message.version for message in two.seen_by("ann", "daily")] == [1, 2, 3]
    one.close()
    two.close()


class Chat(RuleBasedStateMachine):
    """Any order of posts and replacements, against a list of what should be seen."""

    def __init__(self) -> None:
        super().__init__()
        self.store = ChatStore(":memory:")
        self.made: dict[int, tuple[str | None, str]] = {}
        self.keys: dict[str, int] = {}
        self.versions = [0]

    @rule(member=st.sampled_from((None, *MEMBERS)), key=st.sampled_from((None, "k1", "k2", "k3")), title=st.text())
    def post(self, member: str | None, key: str | None, title: str) -> None:
        number = self.store.post("daily", Card(title, ""), AT, key=key, member=member)
        if key in self.keys:
            assert number == self.keys[key]
            return
        assert number not in self.made
        self.made[number] = (member, title)
        if key:
            self.keys[key] = number

    @rule(member=st.sampled_from(MEMBERS), place=st.integers(0, 20), title=st.text())
    def replace(self, member: str, place: int, title: str) -> None:
        number = sorted(self.made)[place] if place < len(self.made) else 999
        theirs = number in self.made and self.made[number][0] == member
        assert self.store.replace(number, member, Card(title, "")) is theirs
        if theirs:
            self.made[number] = (member, title)

    @invariant()
    def everyone_sees_what_is_theirs(self) -> None:
        for member in MEMBERS:
            due = [(number, title) for number, (owner, title) in sorted(self.made.items()) if owner in (None, member)]
            seen = self.store.seen_by(member, "daily", limit=1000)
            assert [(m.id, m.content.title) for m in seen if isinstance(m.content, Card)] == due

    @invariant()
    def versions_only_grow(self) -> None:
        version = self.store.version()
        assert version >= self.versions[-1]
        self.versions.append(version)

    def teardown(self) -> None:
        self.store.close()


TestChat = Chat.TestCase
TestChat.settings = settings(max_examples=30, stateful_step_count=25)
