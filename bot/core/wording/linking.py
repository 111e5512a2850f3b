"""What is said about linking: codes, two chats with one board, one person with two accounts."""

from __future__ import annotations

from collections.abc import Sequence

from bot.core.actions import Join, encode
from bot.core.cards import Block, Button, Card, Code, Small, Text
from bot.core.markup import escape
from bot.core.wording.words import and_list, chat_words, in_brief, plural, time_words
from service.wire import ChatLinked, LinkCode, MemberLinked, Platform


def member_code_card(made: LinkCode) -> Card:
    """A member's code, for their account in the other chat."""
    return _code_card(made, "Link your accounts", "quiz", "Your points, streak and cards then are those of one member.")


def chat_code_card(made: LinkCode) -> Card:
    """An admin's code, for the other chat."""
    after = "Both chats then share one board, and a schedule may post to channels of either."
    return _code_card(made, "Link another chat", "quiz-admin", after)


def _code_card(made: LinkCode, title: str, name: str, after: str) -> Card:
    until = time_words(made.expires_at, "UTC")
    blocks = (
        Text("Type this in the other chat:"),
        Code(f"/{name} link {made.code}", ""),
        Text(after),
        Small(f"The code is good once, until {until}. Show it to nobody: whoever types it is taken for you."),
    )
    return Card(title, f"Your code is {made.code}, good until {until}.", blocks)


def member_linked_card(view: MemberLinked) -> Card:
    """Two accounts are one member."""
    chats = _chats(view.platforms)
    said = f"You are one member in {chats} now, **{escape(view.name)}** on the boards."
    blocks: list[Block] = [Text(said)]
    if view.points or view.cards:
        blocks.append(Text(f"Moved: {plural(view.points, 'point')} and {plural(view.cards, 'practice card')}."))
    if view.twice:
        blocks.append(
            Text(f"{plural(view.twice, 'round')} had an answer from each account: of each the better one counts.")
        )
    if view.hidden:
        blocks.append(Small("You are hidden from the boards. `/quiz privacy show` changes that."))
    return Card("Linked", in_brief(said, 250), tuple(blocks))


def chat_linked_card(view: ChatLinked, code: str) -> Card:
    """Two chats are one workspace; or what that will do, to be confirmed."""
    chats = _chats(view.platforms)
    if view.done:
        said = f"Linked: {chats} share one board, its banks and its schedules now."
        more = "`/quiz-admin schedule share NUMBER` has a schedule post to a further channel. Each member types "
        return Card("Linked", said, (Text(said), Text(f"{more}`/quiz link` once to be one member in both.")))
    return Card(
        "Link this chat?",
        f"Linking {chats} brings along what this chat has.",
        (Text(_what_comes(view)), Text("\n".join(f"- {line}" for line in _what_becomes(view)))),
        (Button("Link this chat", encode(Join(code)), "primary"),),
    )


def _what_comes(view: ChatLinked) -> str:
    counts = [
        (view.schedules, "schedule"),
        (view.members, "member"),
        (view.banks, "bank"),
        (view.seasons, "season"),
    ]
    there = [plural(count, what) for count, what in counts if count]
    return f"This chat has {and_list([*there, plural(view.points, 'point')])}. All of it comes along:"


def _what_becomes(view: ChatLinked) -> tuple[str, ...]:
    ending = f"The season **{escape(view.ending)}** ends now and its board is kept." if view.ending else ""
    lines = (
        "Schedules go on in their channels; rounds, streaks and cards stay as they are.",
        "Points stay on the days they were won, and count on the shared board of those days.",
        "Its own banks are asked from in both chats, and what either retired stays retired.",
        ending,
        "Admins of either chat are admins of both. Linking cannot be undone.",
    )
    return tuple(line for line in lines if line)


def _chats(platforms: Sequence[Platform]) -> str:
    return and_list([chat_words(platform) for platform in platforms])
