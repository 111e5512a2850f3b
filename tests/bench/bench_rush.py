"""Benchmark: three hundred members answer in the minute after the question, at the limits of Slack and of Discord.

`python -m tests.bench.bench_rush [--members 300] [--seconds 60]`. The question asks for a value, so that everyone
needs a form. Prints how many windows opened, how fast each press was acknowledged and each answer confirmed, whether
the names are right, when the question came, and how long an admin waited meanwhile.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from dataclasses import replace
from pathlib import Path
from time import perf_counter

from pydantic import SecretStr
from sqlalchemy import func, select

from bot.slack.manifest import app_manifest
from service.store.tables import Identity
from service.wire import Installation, Where
from tests.bench import rounds
from tests.bench.rush import Rush, RushPlan, play, table
from tests.doubles.discord.world import Member
from tests.doubles.slack import oracle
from tests.doubles.slack.double import slack_double
from tests.doubles.slack.surfaces import Ephemeral, Message, Shown, View
from tests.doubles.slack.world import User
from tests.faults.backend import TOKEN, TOKEN_KEY, Backend, Bots, backend_running, boss_of
from tests.faults.discord_faults import team_ready
from tests.machine import free_port

QUESTION, ANSWER = "the-shape", "(2,)"


async def on_slack(url: str, plan: RushPlan) -> Rush:
    """Measures the rush on Slack: by signed HTTP, with the service and the bot as processes of their own."""
    report = Rush("Slack", plan)
    with tempfile.TemporaryDirectory(prefix="dailygrad-rush-") as folder:
        async with (
            backend_running(url) as backend,
            slack_double(factor=plan.faster, manifest=app_manifest("https://quiz.example.org")) as slack,
        ):
            bots, port = await _apart(backend, Path(folder), url), free_port()
            slack.by_http(f"http://127.0.0.1:{port}")
            team = slack.team("rush")
            people = [slack.user(team, f"Member {number:03}") for number in range(plan.members)]
            chief = slack.user(team, "Boss", admin=True)
            room = slack.channel(team, "daily", chief, *people)
            token = SecretStr(slack.bot_token(team))
            await backend.client.installation_keep(
                Installation(platform="slack", team=team.id, token=token, bot_id=team.bot_id, bot_user=team.bot.id)
            )
            where, boss = Where(channel=room.id, name="#daily"), boss_of("slack", team.id, chief.id)
            await backend.import_bank(boss, QUESTION)
            bot = await bots.start("bot", "slack", **slack.environment() | {"DAILYGRAD_SLACK_PORT": str(port)})
            try:
                await bot.says("requests on port")
                due = perf_counter()
                await backend.posts_now(boss, where)
                await slack.until(lambda: slack.world.messages(room), what="the question")
                report.question_s = perf_counter() - due
                (post,) = slack.world.messages(room)

                def sees(user: User, words: str) -> Shown | None:
                    private = (one for one in reversed(slack.world.ephemerals[-100:]) if one.user == user.id)
                    seen: tuple[Shown, ...] = (*private, *slack.world.stack(user))
                    return next((one for one in seen if words in one.words), None)

                async def form_or_apology(user: User) -> Shown:
                    """Waits for the form, or for the words that the service did not answer."""
                    found = await slack.until(
                        lambda: sees(user, "A Python literal") or sees(user, "try again"),
                        what=f"a form for {user.name}",
                    )
                    assert found is not None
                    return found

                async def answers(number: int) -> None:
                    user = people[number]
                    begun = perf_counter()
                    assert isinstance(post, Message)
                    await slack.click(user, post, "Answer")
                    while "A Python literal" not in (shown := await form_or_apology(user)).words:
                        report.unanswered[shown.words.splitlines()[0]] += 1
                        if isinstance(shown, Ephemeral):
                            slack.world.ephemerals.remove(shown)
                        else:
                            await slack.close_view(user)
                        await slack.click(user, post, "Answer")
                    report.shown["window" if isinstance(shown, View) else "message"] += 1
                    if isinstance(shown, View):
                        await slack.submit_view(user, {"text": ANSWER})
                    else:
                        await slack.click(user, shown, "Answer", values={"text": ANSWER})
                    await slack.until(lambda: sees(user, "is recorded"), what=f"a receipt for {user.name}")
                    report.answered.append(perf_counter() - begun)

                async def administers() -> None:
                    before = len(slack.private(chief))
                    await slack.slash(chief, room, "/quiz-admin", "schedule list")
                    await slack.until(lambda: len(slack.private(chief)) > before, what="the list of schedules")

                await play(report, answers, administers)
                report.acks = list(oracle.ack_times(slack.log, "interactive"))
                report.refused = sum(1 for _ in slack.log.of("limited"))
                report.names_right = await _names_right(backend, [user.name for user in people])
            finally:
                await bots.clear()
    return report


async def on_discord(url: str, plan: RushPlan) -> Rush:
    """Measures the rush on Discord, with the service and the bot as processes of their own."""
    report = Rush("Discord", plan)
    with tempfile.TemporaryDirectory(prefix="dailygrad-rush-") as folder:
        async with backend_running(url) as backend:
            bots = await _apart(backend, Path(folder), url)
            async with team_ready(backend, bots, QUESTION, pace=plan.faster) as team:
                double, people = team.double, [Member(f"Member {number:03}") for number in range(plan.members)]
                chief = next(one for one in team.guild.members.values() if str(one.id) == team.boss.member)
                await team.starts()
                due = perf_counter()
                post = await team.asks()
                report.question_s = perf_counter() - due

                async def answers(number: int) -> None:
                    begun = perf_counter()
                    opened = await double.settled(await double.press(people[number], post, post.buttons["Answer"]))
                    report.shown["window" if opened.modal is not None else "message"] += 1
                    while opened.modal is None:
                        # The form was not ready in time: each press on the card that came instead tries again. If
                        # the service did not answer at all, that card has no button, but the question has.
                        again = opened.original
                        assert again is not None, "a card offers the form"
                        if not again.buttons:
                            report.unanswered[again.text.splitlines()[0]] += 1
                            again = post
                        button = next(iter(again.buttons.values()))
                        opened = await double.settled(await double.press(people[number], again, button))
                    done = await double.answered(await double.submit_modal(opened, {"text": ANSWER}))
                    report.answered.append(perf_counter() - begun)
                    report.acks += [opened.delay, done.delay]

                async def administers() -> None:
                    await double.answered(await double.slash(chief, team.daily, "quiz-admin", "schedule", "list"))

                await play(report, answers, administers)
                report.refused = sum(1 for entry in double.log.of("request") if entry["status"] == 429)
                report.names_right = await _names_right(backend, [member.name for member in people])
    return report


async def _names_right(backend: Backend, names: list[str]) -> int:
    """Returns how many of these members the service knows by the name that the chat shows."""
    async with backend.service.sessions() as session:
        known = select(func.count()).select_from(Identity).where(Identity.name.in_(names))
        return int(await session.scalar(known) or 0)


async def _apart(backend: Backend, folder: Path, url: str) -> Bots:
    """Starts a service of its own for the bots, so that the chat's double does not slow it down."""
    bots = Bots(backend, folder)
    settings = {"DATABASE_URL": url, "DAILYGRAD_PORT": "0", "DAILYGRAD_TOKEN_KEY": TOKEN_KEY}
    served = await bots.start("serve", DAILYGRAD_SERVICE_TOKEN=TOKEN, **settings)
    bots.backend = replace(backend, url=f"http://{(await served.says(r'listens on ([0-9.:]+)'))[1]}")
    return bots


def main() -> None:
    """Runs the command and prints the table. Exit status 1 if a member could not answer."""
    asked = argparse.ArgumentParser(description="Members who all answer in the minute after a question is posted.")
    asked.add_argument("--members", type=int, default=300)
    asked.add_argument("--seconds", type=float, default=60.0)
    asked.add_argument("--faster", type=float, default=1.0, help="how much faster the clock of the chat's limits runs")
    given = asked.parse_args()
    plan = RushPlan(given.members, given.seconds, given.faster)
    reports = []
    for measure in (on_slack, on_discord):
        with rounds.database() as url:
            reports.append(asyncio.run(measure(url, plan)))
    print(table(reports))
    for report in reports:
        for title, count in report.unanswered.items():
            print(f"{report.chat}: {count} presses were answered with {title!r}")
    raise SystemExit(0 if all(len(report.answered) == plan.members for report in reports) else 1)


if __name__ == "__main__":
    main()
