"""Where a member is stored: for each column that leads to one, what an export has of it and what forgetting leaves.

A test finds these columns in the tables, so that none is overlooked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Left: TypeAlias = Literal["nothing", "emptied", "numbers"]
"""What forgetting leaves: no row; a row without names and without what the member wrote; or a row that was numbers and
times all along, which keep totals right."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What happens to the rows that lead to a member by one column. They are exported, or `omitted` says why not."""

    left: Left
    export: tuple[str, ...] = ()
    """Names in the JSON export."""
    omitted: str = ""


_BOARD = "computed from the points, which are exported"
_DEED = "an admin's action, which is exported as that"
_HASH = "a hash and a time; of no use to anybody"
_SENT = "a message of the quiz to the member, made from what is exported; it is in their chat"
_DRAWN = "a random choice that says nothing about the member"

COLUMNS: dict[str, Stored] = {
    "answer.member_id": Stored("emptied", ("answers",)),
    "audit.member_id": Stored("emptied", ("admin_actions",)),
    "board_block.member_id": Stored("numbers", omitted=_BOARD),
    "board_entry.member_id": Stored("numbers", omitted=_BOARD),
    "board_member.member_id": Stored("numbers", omitted=_BOARD),
    "card.member_id": Stored("nothing", ("cards",)),
    "duel.challenger_id": Stored("numbers", ("duel_list", "duels")),
    "duel.opponent_id": Stored("numbers", ("duel_list", "duels")),
    "duel_rating.member_id": Stored("numbers", ("ratings",)),
    "given_credit.member_id": Stored("numbers", ("credits_given",)),
    "hint_taken.member_id": Stored("nothing", ("hints",)),
    "identity.member_id": Stored("nothing", ("member",)),
    "ledger.member_id": Stored("numbers", ("points",)),
    "link_code.member_id": Stored("nothing", omitted=_HASH),
    "member.merged_into": Stored("emptied", ("member",)),
    "member_variant.member_id": Stored("nothing", omitted=_DRAWN),
    "notification_setting.member_id": Stored("nothing", ("notifications",)),
    "outbox.member_id": Stored("emptied", omitted=_SENT),
    "question_feedback.member_id": Stored("nothing", ("feedback",)),
    "received_event.author": Stored("emptied", omitted="empty once the event is answered, within minutes"),
    "reminder.member_id": Stored("nothing", ("reminders",)),
    "report.member_id": Stored("emptied", ("reports",)),
    "report.settled_by": Stored("emptied", ("decisions",)),
    "review_place.member_id": Stored("nothing", omitted=_DEED),
    "schedule.made_by": Stored("numbers", omitted=_DEED),
    "sprint.started_by": Stored("numbers", omitted=_DEED),
    "sprint_answer.member_id": Stored("emptied", ("sprints",)),
    "sprint_variant.member_id": Stored("nothing", omitted=_DRAWN),
    "standing.member_id": Stored("numbers", ("ranks",)),
    "streak_grace.member_id": Stored("nothing", ("excused_rounds",)),
    "suggestion.decided_by": Stored("emptied", ("decisions",)),
    "suggestion.member_id": Stored("emptied", ("suggestions",)),
    "tournament.started_by": Stored("numbers", omitted=_DEED),
    "tournament_member.member_id": Stored("numbers", ("tournaments",)),
    "tournament_team.captain_id": Stored("numbers", ("tournaments",)),
    "web_account.person": Stored("nothing", ("web_people",)),
    "web_message.author": Stored("nothing", ("web_messages",)),
    "web_message.member": Stored("nothing", omitted=_SENT),
    "web_session.person": Stored("nothing", ("web_sessions",)),
    "web_sign_in.person": Stored("nothing", omitted=_HASH),
}
"""By table and column."""
