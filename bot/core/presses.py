"""What buttons and forms do. Every press carries its whole meaning, so it works after a restart."""

from __future__ import annotations

from typing import cast

from bot.core import actions
from bot.core.admins import AdminDesk
from bot.core.cards import Card, Form
from bot.core.commands import CommandError
from bot.core.events import Event, Press, Submit
from bot.core.hello import HelloDesk
from bot.core.members import MemberDesk, without_fence
from bot.core.wording import asking, revealing, texts
from service.client import ServiceClient, ServiceRefused, ServiceUnavailable
from service.wire import AskForm, Given, Rating, Where

Said = Card | Form


class PressDesk:
    """Answers presses of buttons and submitted forms."""

    def __init__(self, client: ServiceClient, members: MemberDesk, admins: AdminDesk, hello: HelloDesk) -> None:
        self._client = client
        self._members = members
        self._admins = admins
        self._hello = hello

    async def press(self, event: Press) -> Said:
        """Do what the button means. Raises BadAction, CommandError and what the client raises."""
        action = actions.decode(event.action)
        match action:
            case actions.Open(ref) | actions.OpenCard(ref) | actions.Fill(ref) | actions.Try(ref):
                bare, wanted = actions.parted(ref)
                ask = await self._client.ask(event.who, event.where, bare)
                return asking.ask_said(asking.carrying(ask, wanted), event.at)
            case actions.Choose(ref, option):
                return await self._answer(event, ref, Given(options=(option,)))
            case actions.Rate(ref, rating):
                bare, wanted = actions.parted(ref)
                due = await self._client.rate(event.who, event.id, bare, cast(Rating, rating))
                return revealing.rated_card(due, event.at, wanted)
            case actions.Report(question):
                return asking.report_form(question)
            case actions.Snippet():
                return texts.snippet_form()
            case actions.Import():
                return texts.import_form()
            case _:
                return await self._other(event, action)

    async def _other(self, event: Press, action: actions.Action) -> Said:
        match action:
            case actions.Next(level, topic):
                return await self._members.next_card(event, actions.Wanted(topic, level))
            case actions.NextOf(kind, level, topic):
                return await self._members.next_card(event, actions.Wanted(topic, level, kind))
            case actions.ShowBoard(period, scope, topic):
                return await self._members.show_board(event, period, scope, topic)
            case actions.ShowContest(contest, period, scope, topic):
                return await self._members.show_board(event, period, scope, topic, contest)
            case actions.Explain(question):
                return await self._members.explain(event, question)
            case actions.Privacy(what):
                return await self._members.privacy(event, what)
            case actions.Join(code):
                return await self._admins.join(event, code, sure=True)
            case actions.Settle(report, state):
                return await self._admins.settle(event, int(report), state)
            case _:
                return await self._set_up(event, action)

    async def _set_up(self, event: Press, action: actions.Action) -> Said:
        match action:
            case actions.Today():
                return await self._members.today(event)
            case actions.Setup(channel, name):
                return await self._hello.setup(event, Where(channel=channel, name=name))
            case actions.SetupAt(at, channel, name):
                return self._hello.plan(event, at, Where(channel=channel, name=name))
            case actions.PostNow(schedule):
                return await self._hello.post_now(event, int(schedule))
            case _:
                raise actions.BadAction("This button does nothing here. Type `/quiz today` for a fresh one.")

    async def submit(self, event: Submit) -> Said:
        """Do what the form asks for. Raises as `press` does."""
        action = actions.decode(event.action)
        match action:
            case actions.Fill(ref):
                return await self._answer(event, ref, _given(event))
            case actions.Try(ref):
                verdict = await self._client.try_code(event.who, actions.parted(ref)[0], _code(event))
                return revealing.tried_card(verdict, ref)
            case actions.Report(question):
                return await self._members.report(event, question or _one(event, "question"), _one(event, "text"))
            case actions.Snippet():
                return await self._members.run_snippet(event, _code(event))
            case actions.Begin(at, channel, name):
                return await self._hello.begin(event, at, Where(channel=channel, name=name))
            case actions.Import(how):
                return await self._admins.take_document(event, _one(event, "name"), _raw(event, "text"), how == "apply")
            case _:
                raise actions.BadAction("This form is not one of ours. Type `/quiz help` for what there is.")

    async def _answer(self, event: Press | Submit, ref: str, given: Given) -> Said:
        bare, wanted = actions.parted(ref)
        receipt = await self._client.answer(event.who, event.where, event.id, bare, given, event.at)
        if receipt.status in ("judged", "late"):
            return revealing.practised_card(receipt, event.at, wanted)
        ask = await self._ask_again(event, bare) if given.options is not None else None
        return asking.recorded_card(receipt, ask, event.at, wanted)

    async def _ask_again(self, event: Event, ref: str) -> AskForm | None:
        """The question with the member's letters; the answer is safe, so this may fail."""
        try:
            return await self._client.ask(event.who, event.where, ref)
        except (ServiceRefused, ServiceUnavailable):
            return None


def _given(event: Submit) -> Given:
    """What an answer's form holds. A question has one field; which one tells its kind."""
    if "code" in event.values:
        return Given(code=_code(event))
    if "text" in event.values:
        text = _raw(event, "text")
        if not text.strip():
            raise CommandError("Your answer is empty. Open the question again and type one.")
        return Given(text=text)
    options = tuple(option for option in event.values.get("options", ()) if option)
    if not options:
        raise CommandError("You chose no option. Open the question again and choose at least one.")
    return Given(options=options)


def _code(event: Submit) -> str:
    code = without_fence(_raw(event, "code"))
    if not code.strip():
        raise CommandError("There is no code. Open the question again and write some.")
    return code


def _raw(event: Submit, name: str) -> str:
    return next(iter(event.values.get(name, ())), "")


def _one(event: Submit, name: str) -> str:
    return _raw(event, name).strip()
