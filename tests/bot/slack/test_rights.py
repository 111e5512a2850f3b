"""Which events have Slack asked whether the member still is an admin: those that the quiz refuses to everybody else."""

from __future__ import annotations

from typing import get_args

from bot.core import actions
from bot.core.events import Command, Press, Submit
from bot.core.text.refusals import refusal_words
from bot.slack.handler import is_for_admins
from service.wire import AdminsOnly, Where
from tests.bot.conftest import Room
from tests.conftest import MONDAY, MakeWho

PRESSED = """
a:r1 d:r1 f:r1 x:r1 o:r1:a oq:r1:sure:a hi:r1:ask r:r1 rf:r1:yes oc:r1 om:r1 os:r1 op:r1:1 ok:r1:1 og:1:50
t n:: m:choice:: l:week:channel: y:rookies:week:channel: rs:r1:time rc:r1:on k:one-right e: su u v:see nv
ns:reminders:on dr:1:accept dg:1 dv:1 dm dl dc tj:1 tl tv
h:C1: j:0930:C1: hf:C1: z:C1: w:1 q:1 s:1:fixed sv:1 se:1 sa:1:0a1b2c3d sd:1 ed:1:::: i:check c:ABCDEFGH
"""
"""Ids of every action that is a button."""
SUBMITTED = "f:r1 x:r1 om:r1 e: su u dc b:0930:C1: bh s:1:fixed se:1 sd:1 ed:1:0930:0:: i:apply"
"""Ids of every action that is a form."""
GIVEN = {"text": "x", "at": "09:30", "days": "0", "zone": "UTC", "reason": "x", "channel": "C1", "name": "a.md"}


async def test_rights_are_looked_up_for_what_only_admins_may_do(room: Room, who: MakeWho) -> None:
    ann = who("Ann")
    events: list[Press | Submit] = [
        Press(room.event_id(), room.clock(), ann, room.where, id_) for id_ in PRESSED.split()
    ]
    events += [
        Submit(room.event_id(), room.clock(), ann, room.where, id_, {name: (value,) for name, value in GIVEN.items()})
        for id_ in SUBMITTED.split()
    ]
    kinds = {event.id: type(actions.decode(event.action)) for event in events}
    assert set(kinds.values()) == set(get_args(actions.Action))
    refusal, _ = refusal_words(AdminsOnly())
    refused = {kinds[one.id] for one in events if (await room.quiz.handle(one)).content.title == refusal}
    # The form that the setup ends with is what is refused.
    refused.add(actions.SetupAt)
    assert {kinds[one.id] for one in events if is_for_admins(one)} == refused
    assert {kinds[one.id] for one in events if not is_for_admins(one)} == set(kinds.values()) - refused


def test_rights_are_looked_up_for_the_commands_of_admins(who: MakeWho, where: Where) -> None:
    for name, admins in (("quiz", False), ("quiz-admin", True)):
        assert is_for_admins(Command("e", MONDAY, who("Ann"), where, name, "help")) is admins
