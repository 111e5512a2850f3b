"""Which channels a platform's bot must be able to post to: those of schedules, shared ones too, none twice."""

from __future__ import annotations

from service.client import ServiceClient
from service.wire import PostingChannel, ScheduleSpec, Where, Who
from tests.service.daily_channel import DailyChannel, choice


async def test_a_platform_gets_its_own_scheduled_channels(daily: DailyChannel, client: ServiceClient) -> None:
    await daily.bank(choice())
    boss = Who(platform="discord", workspace="G1", member="1", name="Boss", admin=True)
    for number, channel in enumerate(("C1", "C2", "C1")):
        where = Where(channel=channel, name=f"#{channel.lower()}")
        view = await client.schedule_add(boss, f"add-{number}", where, ScheduleSpec())
    await client.join(boss, Where(channel="C3"))
    wanted = (
        PostingChannel(workspace="G1", channel="C1", name="#c1"),
        PostingChannel(workspace="G1", channel="C2", name="#c2"),
    )
    assert await client.outbox_places("discord") == wanted
    assert await client.outbox_places("slack") == ()
    await client.schedule_share(boss, "share", Where(channel="C3", name="#c3"), view.id)
    assert [place.channel for place in await client.outbox_places("discord")] == ["C1", "C2", "C3"]
    await client.schedule_remove(boss, "remove", view.id)
    assert [place.channel for place in await client.outbox_places("discord")] == ["C1", "C2"]
