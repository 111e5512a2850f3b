"""What `dailygrad run` decides at its first start: the schedule. The run itself is tried in `flows`."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from bot.all_in_one import Chat, first_schedule, zone_name
from service.app import Service
from service.banks.imports import import_path
from service.client import ServiceClient, ServiceRefused
from service.store.tables import Outbox
from service.wire import INSTALLATION, QuestionPost, ScheduleView, Where, Who
from tests.bot.conftest import BANK

OPERATOR = Who(platform="web", workspace="local", member="boss", name="Boss", admin=True)


@pytest.mark.parametrize(
    ("zone", "name"),
    [
        ("Europe/Berlin", "Europe/Berlin"),
        ("America/Indiana/Knox", "America/Indiana/Knox"),
        ("Etc/UTC", "UTC"),
        ("UTC", "UTC"),
        ("local", "UTC"),
    ],
)
def test_names_of_utc_and_zones_without_a_place_become_utc(zone: str, name: str) -> None:
    assert zone_name(zone) == name


async def started(client: ServiceClient, service: Service, *, shipped: bool, chat: Chat = Chat.web) -> ScheduleView:
    """Returns the schedules after a first and after a second start."""
    await import_path(service.sessions, BANK, service.clock())
    for _ in range(2):
        await first_schedule(client, chat, shipped=shipped)
    installation = OPERATOR.model_copy(update={"platform": chat.value, "member": INSTALLATION, "name": "Dailygrad"})
    (schedule,) = await client.schedule_list(installation)
    return schedule


async def test_the_first_question_is_an_inviting_one_and_code_comes_where_there_is_an_editor(
    client: ServiceClient, service: Service
) -> None:
    schedule = await started(client, service, shipped=True)
    assert schedule.spec.kinds == ("choice", "value", "output", "code")
    posts = [one.body for one in await client.outbox_claim("web") if isinstance(one.body, QuestionPost)]
    assert [(post.question.kind, post.question.level) for post in posts] == [("choice", "mid")]


async def test_without_an_editor_the_daily_takes_a_minute(client: ServiceClient, service: Service) -> None:
    schedule = await started(client, service, shipped=True, chat=Chat.console)
    assert schedule.spec.kinds == ("choice", "value", "output")


async def test_an_own_bank_is_asked_with_every_kind(client: ServiceClient, service: Service) -> None:
    assert (await started(client, service, shipped=False)).spec.kinds == ()


async def test_who_added_the_first_schedule_is_no_member(client: ServiceClient, service: Service) -> None:
    await started(client, service, shipped=True)
    ada, where = OPERATOR.model_copy(update={"member": "ada", "name": "Ada"}), Where(channel="daily")
    await client.join(ada, where)
    found = await client.members(ada)
    assert ([one.name for one in found.members], found.total) == (["Ada"], 1)
    with pytest.raises(ServiceRefused, match="member"):
        await client.member_adjust(ada, "adjusted", "Dailygrad", 5, "why not")
    await client.report(ada, "reported", "one-right", "The key is wrong.")
    async with service.sessions() as session:
        told = [row for row in await session.scalars(select(Outbox)) if "question-reported" in str(row.body)]
    assert [row.member_id for row in told] == [None], "a private message would reach nobody"
