"""What members see on Slack while the database is locked; no input is lost."""

from __future__ import annotations

from datetime import time

import pytest

from service.wire import ScheduleSpec
from tests.bot.slack.conftest import Workspace
from tests.databases import tables_locked
from tests.doubles.slack.surfaces import View

MEMBERS_TABLES = ("member", "identity", "round", "answer", "inbox")


@pytest.fixture
def view_wait_s() -> float:
    return 0.5


async def test_a_late_refusal_restores_the_form(workspace: Workspace, database_url: str) -> None:
    ann = workspace.ann
    post = await workspace.opens("the-shape")
    await workspace.presses(ann, post, "Answer", "A Python literal")
    async with tables_locked(database_url, *MEMBERS_TABLES):
        sent = await workspace.slack.submit_view(ann, {"text": "(3,"})
        assert (sent.acked, sent.reply["response_action"]) == (True, "update")
        assert workspace.slack.modal(ann).fields == {}
    again = await workspace.sees(ann, "is not a Python value")
    assert isinstance(again, View)
    assert again.fields["text"].element["initial_value"] == "(3,"
    await workspace.fills(ann, {"text": "(3,)"}, "Your answer is recorded")


async def test_a_late_answer_appears_in_its_view(workspace: Workspace, database_url: str) -> None:
    ann = workspace.ann
    post = await workspace.opens("the-shape")
    await workspace.presses(ann, post, "Answer", "A Python literal")
    async with tables_locked(database_url, *MEMBERS_TABLES):
        assert (await workspace.slack.submit_view(ann, {"text": "(3,)"})).acked
    assert await workspace.sees(ann, "Your answer is recorded") is workspace.slack.modal(ann)


async def test_a_closed_view_loses_no_answer(workspace: Workspace, database_url: str) -> None:
    ann = workspace.ann
    post = await workspace.opens("one-right")
    async with tables_locked(database_url, *MEMBERS_TABLES):
        assert (await workspace.slack.click(ann, post, "Answer")).acked
        await workspace.slack.until(lambda: workspace.slack.world.stack(ann))
        await workspace.slack.close_view(ann)
    asked = await workspace.sees(ann, "[A]   [B]   [C]")
    assert asked in workspace.slack.private(ann)


async def test_a_view_waits_for_the_form_of_a_schedule(workspace: Workspace, database_url: str) -> None:
    boss = workspace.boss
    spec = ScheduleSpec(at=time(10), zone="Europe/Berlin", open_minutes=60)
    schedule = await workspace.client.schedule_add(workspace.who(boss), "schedule", workspace.where, spec)
    async with tables_locked(database_url, *MEMBERS_TABLES):
        assert (await workspace.slack.slash(boss, workspace.daily, "/quiz-admin", f"schedule edit {schedule.id}")).acked
        await workspace.slack.until(lambda: workspace.slack.world.stack(boss))
    assert isinstance(await workspace.sees(boss, "Time of the question"), View)


async def test_commands_of_one_person_run_in_order_although_a_look_up_is_slow(workspace: Workspace) -> None:
    """Who pauses a schedule and resumes it has a running schedule."""
    boss, slack = workspace.boss, workspace.slack
    spec = ScheduleSpec(at=time(10), zone="Europe/Berlin", open_minutes=60)
    schedule = await workspace.client.schedule_add(workspace.who(boss), "schedule", workspace.where, spec)
    slack.fail("users.list", "slow", seconds=1.0)
    for word in ("pause", "resume"):
        assert (await slack.slash(boss, workspace.daily, "/quiz-admin", f"schedule {word} {schedule.id}")).acked
    await workspace.sees(boss, "Schedule resumed")
    await workspace.sees(boss, "Schedule paused")
    (left,) = await workspace.client.schedule_list(workspace.who(boss))
    assert not left.paused
