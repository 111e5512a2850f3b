"""Runs the commands of `/quiz`. `core.text` writes the replies, `command_parser` parses the commands."""

from __future__ import annotations

import asyncio
from typing import cast

from bot.core import actions
from bot.core.actions import PracticeFilter
from bot.core.answers import code_in, text_in, without_fence, word_in
from bot.core.cards import Card, Content
from bot.core.command_parser import CommandError, Handler, Typed, read_command
from bot.core.command_spec import specs_of
from bot.core.competition_commands import TournamentCommands
from bot.core.duel_commands import DuelCommands
from bot.core.events import Command, Event, Press, Submit
from bot.core.text import boards, command_errors, linking, members, questions, results, suggestions
from service.client import ServiceClient, ServiceRefused
from service.wire import Contest, MeasuredBy, NotFound, NotificationKind, Period, PrivacyAction


class MemberCommands:
    """One method per command, which returns the reply to the member."""

    def __init__(self, client: ServiceClient, duels: DuelCommands) -> None:
        self._client = client
        self._duels = duels
        self._tournaments = TournamentCommands(client)
        self._handlers: dict[str, Handler] = {
            "today": self._today,
            "answer": self._answer,
            "practice": self._practice,
            "run": self._run,
            "board": self._board,
            "speed": self._speed,
            "duel": self._duels.run,
            "tournament": self._tournaments.run,
            "me": self._me,
            "topics": self._topics,
            "explain": self._explain,
            "report": self._report,
            "suggest": self._suggest,
            "link": self._link,
            "rules": self._rules,
            "notify": self._notify,
            "privacy": self._privacy,
            "help": self._help,
        }

    async def run(self, event: Command, typed: Typed) -> Content:
        """Runs a parsed command. Raises CommandError and what the client raises."""
        return await self._handlers[typed.spec.path[0]](event, typed)

    async def press(self, event: Press, action: actions.MemberPress) -> Content:
        """Answers a button. Raises as `run` does."""
        match action:
            case actions.Today():
                return await self._show_today(event)
            case actions.Next(level, topic):
                return await self._next_card(event, PracticeFilter(topic, level))
            case actions.NextOf(kind, level, topic):
                return await self._next_card(event, PracticeFilter(topic, level, kind))
            case actions.ShowBoard(period, scope, topic):
                return await self._show_board(event, period, scope, topic)
            case actions.ShowContest(contest, period, scope, topic):
                return await self._show_board(event, period, scope, topic, contest)
            case actions.ShowSpeed(ref, by):
                return await self._show_speed(event, ref, by)
            case actions.ShareSolution(ref, switch):
                return boards.speed_card(await self._client.share_solution(event.who, event.id, ref, switch == "on"))
            case actions.Explain(question):
                return await self._explain_question(event, question)
            case actions.Report(question):
                return questions.report_form(question)
            case actions.Suggest():
                return await self._suggestion_form(event)
            case actions.Snippet():
                return members.snippet_form()
            case actions.Privacy(what):
                return await self._keep_private(event, what)
            case actions.Notifications():
                return await self._show_notifications(event)
            case actions.SetNotification(what, switch):
                return await self._set_notification(event, what, switch == "on")

    async def submit(self, event: Submit, action: actions.MemberSubmit) -> Content:
        """Answers a form. Raises as `run` does."""
        match action:
            case actions.Report(question):
                return await self._report_question(
                    event, question or word_in(event, "question"), word_in(event, "text")
                )
            case actions.Suggest():
                return suggestions.receipt_card(await self._client.suggest(event.who, event.id, text_in(event, "text")))
            case actions.Snippet():
                return await self._run_snippet(event, code_in(event))

    async def _today(self, event: Command, typed: Typed) -> Content:
        return await self._show_today(event)

    async def _show_today(self, event: Event) -> Content:
        """Shows the open questions of the channel and the member's answers."""
        return questions.today_card(await self._client.today(event.who, event.where), event.at)

    async def _answer(self, event: Command, typed: Typed) -> Content:
        today = await self._client.today(event.who, event.where)
        if len(today.forms) == 1:
            # Only a question that is opened has its examples.
            ask = await self._client.ask(event.who, event.where, today.forms[0].ref)
            return questions.private_question(ask, event.at)
        return questions.today_card(today, event.at)

    async def _practice(self, event: Command, typed: Typed) -> Content:
        return await self._next_card(
            event, PracticeFilter(typed.text("topic"), typed.text("level"), typed.text("kind"))
        )

    async def _next_card(self, event: Event, wanted: PracticeFilter) -> Content:
        """Shows the next practice question; its buttons keep the filter."""
        ask = await self._client.practice(event.who, event.where, wanted.topic, wanted.level, wanted.kind)
        if ask is None:
            return members.no_card_left_card(wanted)
        return questions.private_question(questions.carrying(ask, wanted), event.at)

    async def _run(self, event: Command, typed: Typed) -> Content:
        code = without_fence(typed.text("code"))
        return await self._run_snippet(event, code) if code else members.snippet_form()

    async def _run_snippet(self, event: Event, code: str) -> Content:
        return members.run_card(await self._client.run(event.who, code))

    async def _board(self, event: Command, typed: Typed) -> Content:
        if typed.text("contest") == "ladder":
            return await self._duels.show_ladder(event)
        if typed.text("contest") == "tournament":
            return await self._tournaments.show(event, typed.text("topic"))
        scope = "workspace" if typed.values.get("all") else "channel"
        period, contest = typed.text("period", "week"), typed.text("contest", "points")
        return await self._show_board(event, period, scope, typed.text("topic"), contest)

    async def _show_board(self, event: Event, period: str, scope: str, topic: str, contest: str = "points") -> Content:
        where = event.where if scope == "channel" else None
        board = await self._client.board(event.who, where, cast(Period, period), topic, contest=cast(Contest, contest))
        return boards.board_card(board)

    async def _speed(self, event: Command, typed: Typed) -> Content:
        return await self._show_speed(event, "", typed.text("by", "time"))

    async def _show_speed(self, event: Event, ref: str, by: str) -> Content:
        """Shows the speed board of a round; without `ref`, that of the latest one that was measured."""
        board = await self._client.measurements(event.who, event.where, ref, cast(MeasuredBy, by))
        return boards.speed_card(board)

    async def _me(self, event: Command, typed: Typed) -> Content:
        return members.me_card(*await asyncio.gather(self._client.me(event.who), self._client.history(event.who)))

    async def _topics(self, event: Command, typed: Typed) -> Content:
        topics, known = await asyncio.gather(self._client.topics(event.who), self._client.mastery(event.who))
        return members.topics_card(topics, known)

    async def _explain(self, event: Command, typed: Typed) -> Content:
        return await self._explain_question(event, typed.text("id"))

    async def _explain_question(self, event: Event, question: str) -> Content:
        return results.explain_card(await self._client.explain(event.who, question))

    async def _report(self, event: Command, typed: Typed) -> Content:
        question, text = typed.text("id"), typed.text("text").strip()
        named, question = bool(question), question or await self._only_open(event)
        if not question or not text:
            return questions.report_form(question, text)
        try:
            return await self._report_question(event, question, text)
        except ServiceRefused as refused:
            if not named or not isinstance(refused.refusal, NotFound):
                raise
            # The text was typed without an id: `/quiz report the key is wrong`.
            return questions.report_form(await self._only_open(event), f"{question} {text}", sure=False)

    async def _only_open(self, event: Event) -> str:
        """Returns the id of the channel's open question; empty if there is none or more than one."""
        forms = (await self._client.today(event.who, event.where)).forms
        return forms[0].question.id if len(forms) == 1 else ""

    async def _report_question(self, event: Event, question: str, text: str) -> Content:
        if not question or not text:
            raise CommandError(command_errors.INCOMPLETE_REPORT)
        return members.reported_card(await self._client.report(event.who, event.id, question, text))

    async def _suggest(self, event: Command, typed: Typed) -> Content:
        if "mine" in typed.values:
            return suggestions.own_card(await self._client.own_suggestions(event.who))
        return await self._suggestion_form(event)

    async def _suggestion_form(self, event: Event) -> Content:
        """Asks for a question, beginning with the member's draft."""
        return suggestions.suggest_form(await self._client.suggestion_draft(event.who))

    async def _link(self, event: Command, typed: Typed) -> Content:
        if "code" not in typed.values:
            return linking.member_code_card(await self._client.link(event.who, event.id))
        return linking.member_linked_card(await self._client.link_with(event.who, event.id, typed.text("code")))

    async def _rules(self, event: Command, typed: Typed) -> Content:
        return members.rules_card(await self._client.rules(event.who))

    async def _privacy(self, event: Command, typed: Typed) -> Content:
        return await self._keep_private(event, typed.text("action", "see"))

    async def _keep_private(self, event: Event, what: str) -> Content:
        """Handles a privacy action: `forget` asks for confirmation, `erase` deletes."""
        if what == "forget":
            return members.forget_card()
        action = "forget" if what == "erase" else what
        return members.privacy_card(await self._client.privacy(event.who, event.id, cast(PrivacyAction, action)))

    async def _notify(self, event: Command, typed: Typed) -> Content:
        if "what" not in typed.values:
            return await self._show_notifications(event)
        return await self._set_notification(event, typed.text("what"), bool(typed.values.get("switch", True)))

    async def _show_notifications(self, event: Event) -> Content:
        """Shows which private messages the member wants."""
        return members.notifications_card(await self._client.notifications(event.who))

    async def _set_notification(self, event: Event, what: str, on: bool) -> Content:
        """Turns a kind of private message on or off."""
        view = await self._client.notify(event.who, event.id, cast(NotificationKind, what), on)
        return members.notifications_card(view)

    async def _help(self, event: Command, typed: Typed) -> Content:
        return help_reply(typed)


def help_reply(typed: Typed) -> Card:
    """Lists the commands of `/quiz` or `/quiz-admin`, or describes one."""
    asked = typed.text("command").strip().removeprefix(f"/{typed.spec.name}").strip()
    specs = specs_of(typed.spec.name)
    if not asked:
        return members.help_card(specs)
    wanted = tuple(asked.lower().split())
    found = [spec for spec in specs if spec.path[: len(wanted)] == wanted]
    if len(found) == 1:
        return members.spec_card(found[0])
    # For an unknown command, raise the same error as when it is typed alone.
    return members.help_card(tuple(found)) if found else members.spec_card(read_command(typed.spec.name, asked).spec)
