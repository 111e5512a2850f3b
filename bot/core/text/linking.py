"""Cards that link the accounts of a member, or two chats, and say what that does."""

from __future__ import annotations

from collections.abc import Sequence

from bot.core.actions import Join, encode
from bot.core.cards import Block, Button, Card, Code, Small, Text
from bot.core.markup import escape
from bot.core.text.words import and_list, chat_words, in_brief, plural, time_markdown
from service.wire import ChatLinked, LinkCode, MemberLinked, Platform


def member_code_card(made: LinkCode) -> Card:
    """Shows a code that links a member's account in the other chat."""
    return _code_card(made, "Link your accounts", "quiz", "Your points, streak and cards then belong to one member.")


def chat_code_card(made: LinkCode) -> Card:
    """Shows a code that links the other chat."""
    after = "Both chats then share one board, and a schedule can post to channels in either."
    return _code_card(made, "Link another chat", "quiz-admin", after)


def _code_card(made: LinkCode, title: str, name: str, after: str) -> Card:
    until = time_markdown(made.expires_at, "UTC")
    blocks = (
        Text("Type this in the other chat:"),
        Code(f"/{name} link {made.code}", ""),
        Text(after),
        Small(f"The code works once, until {until}. Keep it secret: anyone who types it is treated as you."),
    )
    return Card(title, f"Your code is {made.code}, good until {in_brief(until)}.", blocks)


def member_linked_card(view: MemberLinked) -> Card:
    """Confirms that two accounts are merged."""
    chats = _chats(view.platforms)
    sentence = f"You are one member in {chats} now, **{escape(view.name)}** on the boards."
    blocks: list[Block] = [Text(sentence)]
    if view.points or view.cards:
        blocks.append(Text(f"Moved: {plural(view.points, 'point')} and {plural(view.cards, 'practice card')}."))
    if view.twice:
        blocks.append(Text(f"{plural(view.twice, 'round')} had an answer from both accounts: the better one counts."))
    if view.hidden:
        blocks.append(Small("You are hidden from the boards. `/quiz privacy show` changes that."))
    return Card("Linked", in_brief(sentence, 250), tuple(blocks))


def chat_linked_card(view: ChatLinked, code: str) -> Card:
    """Confirms that two chats are linked, or warns of what linking does and asks for confirmation."""
    chats = _chats(view.platforms)
    if view.done:
        sentence = f"Linked: {chats} share one board, its banks and its schedules now."
        more = "`/quiz-admin schedule share NUMBER` makes a schedule post to another channel too. Each member types "
        return Card("Linked", sentence, (Text(sentence), Text(f"{more}`/quiz link` once to be one member in both.")))
    return Card(
        "Link this chat?",
        f"Linking {chats} brings everything in this chat along.",
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
    return f"This chat has {and_list([*there, plural(view.points, 'point')])}. All of it is kept:"


def _what_becomes(view: ChatLinked) -> tuple[str, ...]:
    ending = f"The season **{escape(view.ending)}** ends now and its board is kept." if view.ending else ""
    lines = (
        "Schedules continue in their channels; rounds, streaks and cards stay as they are.",
        "Points stay on the days they were earned, and count on the shared board of those days.",
        "Its own banks are used in both chats, and retired questions stay retired.",
        ending,
        "Admins of either chat are admins of both. Linking cannot be undone.",
    )
    return tuple(line for line in lines if line)


def _chats(platforms: Sequence[Platform]) -> str:
    return and_list([chat_words(platform) for platform in platforms])
