"""Fills nearly every table through calls, for tests of backups and migrations."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from pydantic import SecretStr

from service.banks.imports import import_bank
from service.store.competition_tables import SprintAnswer
from service.wire import (
    AnswerInput,
    Installation,
    ScheduleSpec,
    SprintQuestionPost,
    TournamentPlan,
    Where,
)
from tests.service import own_variants
from tests.service.competitions.sprint_scene import pass_time
from tests.service.daily_channel import SPEC, DailyChannel, choice, code, play_duel, prose, value
from tests.service.scenes import reading
from tests.service.two_chats import GUILD, TEAM, TwoChats

TOKEN_KEY = "Yx0yHkbLn8C8H0bB5v3qkO3m5l8nq8pA9oXJrQ2cF1s="
SECRET = "xoxb-a-secret-of-the-team"
DOUBLED = AnswerInput(code="def double(x):\n    return 2 * x\n")
DOCUMENT = """# The team's own

### Q1. What is `2 + 2` in Python, and why?

**Answer:** It is 4, because integers add exactly and there is no rounding at all.
"""
CHOICES = SPEC.model_copy(update={"kinds": ("choice",)})
FILLED = frozenset(
    {
        "answer", "audit", "bank", "bank_import", "board", "board_block", "board_entry", "board_member", "card",
        "channel", "chat", "digest_plan", "duel", "duel_question", "duel_rating", "duel_turn", "given_credit",
        "hint_taken", "identity",
        "import_step", "inbox", "installation", "ledger", "link_code", "link_guess", "member", "member_variant",
        "notification_setting", "oauth_state", "outbox", "point_mark", "procrastinate_events",
        "procrastinate_jobs", "question", "question_alias", "question_feedback", "question_version",
        "report", "retirement",
        "review_place", "round", "schedule", "schedule_channel", "schedule_skip", "season", "shared_answer",
        "sprint", "sprint_answer", "sprint_question", "sprint_variant", "standing", "streak_grace", "suggestion",
        "tournament", "tournament_day", "tournament_member", "tournament_pair", "tournament_schedule",
        "tournament_score", "tournament_team", "verdict", "workspace",
    }
)  # fmt: skip
"""Tables that have rows then."""


async def fill(chats: TwoChats) -> str:
    """Creates a team on two chats with a history; returns the ref of an open round with an unjudged code answer."""
    daily, clock = chats.daily, chats.clock
    await _import_banks(daily)
    await daily.client.schedule_add(chats.boss("discord"), "schedule", GUILD, CHOICES)
    await _plan_tournament(chats)
    await _answer_rounds(chats)
    ada, cy = (chats.who(name, "discord") for name in ("Ada", "Cy"))
    await play_duel(daily.client, ada, cy, GUILD, clock.now)
    await chats.join_chats()
    await daily.client.schedule_share(chats.boss("slack"), "share", TEAM, 1)
    await chats.link("Ada")
    await _practice(chats)
    await _mark_open_answer(chats)
    await _administer(chats)
    await _ask_own_variants(chats)
    await _sprint(chats)
    await _install(chats)
    await daily.client.board(chats.who("Ada", "slack"), TEAM, "all")
    spec = ScheduleSpec(at=(clock.now + timedelta(hours=1)).time().replace(second=0), kinds=("code",), open_minutes=480)
    where = Where(channel="222", name="#code")
    schedule = await daily.client.schedule_add(chats.boss("discord"), "code schedule", where, spec)
    clock.advance(hours=1)
    posted = await daily.client.post_now(chats.boss("discord"), "code now", schedule.id)
    await chats.deliver()
    ref = f"r{posted.id}"
    await daily.client.answer(chats.who("Ada", "discord"), where, "waits", ref, DOUBLED, clock.now)
    await daily.client.notify(chats.who("Ada", "discord"), "notify", "reminders", True)
    # What is on its way to a channel while all this is kept.
    await daily.client.post_now(chats.boss("discord"), "under way", 1)
    await daily.client.outbox_claim("slack")
    return ref


async def _plan_tournament(chats: TwoChats) -> None:
    """Plans a bracket of one day, which is played with the second round."""
    client, tomorrow = chats.daily.client, chats.clock.now.date() + timedelta(days=1)
    plan = TournamentPlan(title="Cup", first_day=tomorrow, days=1, form="bracket")
    await client.tournament_plan(chats.boss("discord"), "tournament", GUILD, plan)
    for name in ("Ada", "Bo", "Cy"):
        await client.tournament_join(chats.who(name, "discord"), f"{name} takes part")


async def _import_banks(daily: DailyChannel) -> None:
    many = [choice(f"q{number}", title=f"Views, part {number}") for number in range(12)]
    await daily.bank(*many, value(), prose(), code(), code("triple"))
    # Once more with a change, a question less and a new one: versions, steps, an id that has changed.
    await daily.bank(*many[:-1], value(why="Two rows."), prose(), code(), code("triple"), choice("new"))
    await daily.bank(choice("else"), name="other")
    async with daily.service.sessions.begin() as session:
        await import_bank(session, reading(choice("mine"), name="gone"), None, daily.now, True)


async def _answer_rounds(chats: TwoChats) -> None:
    for day in range(3):
        ref = await chats.asked()
        await chats.daily.client.hint(chats.who("Ada", "discord"), GUILD, ref, True)
        for number, name in enumerate(("Ada", "Bo", "Cy", "Dee")):
            await chats.answer(name, "discord", ref, "ab"[(number + day) % 2], after=number)
        await chats.answer("Bo", "discord", ref, "c", after=30)
        await chats.closed()
    await chats.daily.client.feedback(chats.who("Ada", "discord"), "feedback", ref, True)
    await chats.daily.client.privacy(chats.who("Dee", "discord"), "gone", "forget")


async def _practice(chats: TwoChats) -> None:
    client, ada = chats.daily.client, chats.who("Ada", "slack")
    for kind, given in (("choice", AnswerInput(options=("a",))), ("open", AnswerInput(text="They share storage."))):
        form = await client.practice(ada, TEAM, kind=kind)
        assert form is not None
        receipt = await client.answer(ada, TEAM, f"practice {kind}", form.ref, given, chats.clock.now)
        if kind == "open":
            await client.mark(ada, "mark", receipt.ref, (0,))
    await client.suggest(ada, "suggestion", DOCUMENT)
    await client.report(ada, "report", "q1", "b is right as well\t\\N é \U0001f40d\nno?")


async def _mark_open_answer(chats: TwoChats) -> None:
    client, where, boss = chats.daily.client, Where(channel="333", name="#prose"), chats.boss("discord")
    spec = ScheduleSpec(at=(chats.clock.now + timedelta(hours=9)).time().replace(second=0), kinds=("open",))
    schedule = await client.schedule_add(boss, "open schedule", where, spec)
    ref = f"r{(await client.post_now(boss, 'open now', schedule.id)).id}"
    await chats.deliver()
    for name in ("Ada", "Bo"):
        given = AnswerInput(text=f"{name} thinks that they share storage.")
        await client.answer(chats.who(name, "discord"), where, f"open {name}", ref, given, chats.clock.now)
    await client.close_now(boss, "open close", where)
    await chats.deliver()
    await client.mark(chats.who("Ada", "discord"), "mark open", ref, (0,))
    await client.share_answer(chats.who("Ada", "discord"), "share open", ref)
    found = await client.peer_answer(chats.who("Bo", "discord"), ref)
    assert found is not None
    await client.confirm_answer(chats.who("Bo", "discord"), "confirm open", found.answer)


async def _ask_own_variants(chats: TwoChats) -> None:
    """Asks a family in a round in which every member has a variant of their own."""
    client, where, boss = chats.daily.client, Where(channel="555", name="#families"), chats.boss("discord")
    await own_variants.bank(chats.daily.service, replace(own_variants.typed_family(), topic="families"))
    at = (chats.clock.now + timedelta(hours=9)).time().replace(second=0)
    spec = ScheduleSpec(at=at, topics=("families",), variants=True)
    schedule = await client.schedule_add(boss, "family schedule", where, spec)
    ref = f"r{(await client.post_now(boss, 'family now', schedule.id)).id}"
    await chats.deliver()
    await client.ask(chats.who("Ada", "discord"), where, ref)
    await client.close_now(boss, "family close", where)
    await chats.deliver()


async def _sprint(chats: TwoChats) -> None:
    client, where = chats.daily.client, Where(channel="444", name="#sprint")
    await client.sprint_start(chats.boss("discord"), "sprint", where, 2, 20, "families")
    while not await chats.daily.rows(SprintAnswer):
        await pass_time(chats.daily, 15)
        await chats.daily.service.tick()
        for delivery in await chats.deliver():
            if isinstance(delivery.body, SprintQuestionPost):
                form = await client.ask(chats.who("Bo", "discord"), where, delivery.body.ref)
                option = form.question.options[:1]
                given = AnswerInput(options=(option[0].id,)) if option else AnswerInput(text="4")
                await client.answer(
                    chats.who("Bo", "discord"), where, "sprint answer", form.ref, given, chats.clock.now
                )
    await pass_time(chats.daily, 20)
    await chats.daily.service.tick()
    await chats.deliver()


async def _administer(chats: TwoChats) -> None:
    client, boss, clock = chats.daily.client, chats.boss("discord"), chats.clock
    await client.season_start(boss, "season 1", "Spring")
    clock.advance(minutes=1)
    await client.season_end(boss, "season end")
    clock.advance(minutes=1)
    await client.season_start(boss, "season 2", "Summer")
    await client.member_adjust(boss, "adjust", "Bo", 7, "found a fault")
    await client.member_restore(boss, "restore", "Cy", clock.now.date() - timedelta(days=1))
    await client.bank_retire(boss, "retire", "q3", True)
    await client.bank_import(boss, "import", "own.md", DOCUMENT, True)
    await client.bank_import(boss, "edit", "own.md", DOCUMENT.replace("in Python", "in Python 3"), True)
    await client.bank_import(boss, "recipe", "terms.csv", "Frage;Antwort\nWas ist 1 + 1?;2\n", True, "prompt: Frage")
    await client.schedule_skip(boss, "skip", 1, clock.now.date() + timedelta(days=7))
    await client.review_here(boss, "review here", GUILD)
    await client.link(chats.who("Cy", "discord"), "a code nobody types")


async def _install(chats: TwoChats) -> None:
    client = chats.daily.client
    await client.installation_keep(
        Installation(platform="slack", team="T1", token=SecretStr(SECRET), bot_user="U1", name="A team")
    )
    await client.oauth_issue("slack")
