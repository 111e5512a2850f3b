"""The schedule editor: what each schedule posts on which day, what a day's post will look like, and its settings."""

from __future__ import annotations

import json
from datetime import date, datetime
from typing import Any

from pydantic import ValidationError
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.core.answers import read_count
from bot.core.cards import Card
from bot.core.text import calendars as text
from bot.core.text.admin_pages import KINDS, LEVELS, Done
from bot.core.text.questions import question_card
from bot.core.text.refusals import plain_refusal
from bot.core.text.web_problems import NO_SUCH_BUTTON, OUT_OF_DATE
from bot.core.text.words import local
from bot.web.admin.frame import AdminFrame, number_of
from bot.web.chat import CHANNEL, WHERE, who_of
from bot.web.security import RequestProblem, refusals_as_pages, text_of
from service.client import ServiceRefused
from service.wire import (
    QuestionPost,
    RoundView,
    ScheduleChanges,
    ScheduleDay,
    ScheduleMonth,
    ScheduleSpec,
    ScheduleView,
    Who,
)

BASE = "/m/{member}/admin/schedules"
MOST_TEXT = 2000
"""Longest field of the form, characters."""
_NUMBERS = ("open_minutes", "every_days", "memory_days", "catch_up_minutes")
_SWITCHES = ("speed_bonus", "confidence", "measure", "contestant", "variants")
_LISTS = ("weekdays", "levels", "kinds")


class SchedulePages:
    """The routes of the editor."""

    def __init__(self, frame: AdminFrame) -> None:
        self._frame = frame
        self._client = frame.client
        self.routes = (
            Route(BASE, self.list),
            Route(f"{BASE}/{{number}}", self.show),
            Route(f"{BASE}/{{number}}", self.submit, methods=["POST"]),
        )

    async def list(self, request: Request) -> Response:
        """Lists the schedules."""
        who = who_of(self._frame.admin(request))
        with refusals_as_pages():
            views, low = await self._client.schedule_list(who), await self._client.bank_low(who)
        left = {one.schedule: one.left for one in low}
        return self._frame.show(
            request, "schedules.html", "schedules", views=views, left=left, text=text, now=self._frame.clock()
        )

    async def show(self, request: Request) -> Response:
        """Shows a month of a schedule, or of a new one, with its settings."""
        who = who_of(self._frame.admin(request))
        with refusals_as_pages():
            view = await self._view(request, who)
            month = _asked_month(request, view, self._frame.clock())
            found = await self._client.schedule_month(who, view.id if view else None, month, ScheduleChanges())
            day = _asked_day(request.query_params.get("day", ""), found)
            post = await self._post(who, view, found, day)
        return await self._page(request, who, view, found, day=day, post=post)

    async def submit(self, request: Request) -> Response:
        """Previews or saves the settings, or pauses, skips and so on."""
        who, fields, event = await self._frame.posted(request)
        action = text_of(fields, "action")
        with refusals_as_pages():
            view = await self._view(request, who)
        if action in ("preview", "save"):
            return await self._set(request, who, view, fields, event)
        if view is None:
            raise RequestProblem(422, *NO_SUCH_BUTTON)
        with refusals_as_pages():
            path, done = await self._act(who, view, action, fields, event)
        return self._frame.after(request, path, done)

    async def _act(self, who: Who, view: ScheduleView, action: str, fields: FormData, event: str) -> tuple[str, Done]:
        path = f"/schedules/{view.id}"
        if action in ("pause", "resume"):
            await self._client.schedule_pause(who, event, view.id, action == "pause")
            return path, "paused" if action == "pause" else "resumed"
        if action in ("skip", "unskip"):
            day = _date_of(text_of(fields, "day"))
            if day is None:
                raise RequestProblem(422, *text.NO_DATE)
            change = self._client.schedule_skip if action == "skip" else self._client.schedule_unskip
            await change(who, event, view.id, day)
            return f"{path}?day={day}", "skipped" if action == "skip" else "unskipped"
        if action == "remove":
            await self._client.schedule_remove(who, event, view.id)
            return "/schedules", "removed"
        if action == "post":
            await self._client.post_now(who, event, view.id)
            return path, "posted"
        raise RequestProblem(422, *NO_SUCH_BUTTON)

    async def _set(
        self, request: Request, who: Who, view: ScheduleView | None, fields: FormData, event: str
    ) -> Response:
        """Saves what differs from the settings that the form was made of, or shows what that would give."""
        month = _date_of(text_of(fields, "month")) or _today(view, self._frame.clock())
        problem, found, typed = "", None, _typed(fields)
        try:
            changes = _changes(typed, fields)
            if text_of(fields, "action") == "save":
                with_new = changes.apply(ScheduleSpec())
                saved = (
                    await self._client.schedule_edit(who, event, view.id, changes)
                    if view
                    else await self._client.schedule_add(who, event, WHERE, with_new)
                )
                return self._frame.after(request, f"/schedules/{saved.id}", "changed" if view else "added")
            found = await self._client.schedule_month(who, view.id if view else None, month, changes)
        except ValidationError as error:
            problem = text.invalid_field(str(error.errors()[0]["loc"][0]))
        except ServiceRefused as refused:
            problem = plain_refusal(refused.refusal)[1]
        if found is None:
            with refusals_as_pages():
                found = await self._client.schedule_month(who, view.id if view else None, month, ScheduleChanges())
        return await self._page(request, who, view, found, typed=typed, problem=problem, was=text_of(fields, "was"))

    async def _page(
        self,
        request: Request,
        who: Who,
        view: ScheduleView | None,
        found: ScheduleMonth,
        *,
        day: ScheduleDay | None = None,
        post: Card | tuple[str, str] | None = None,
        typed: dict[str, Any] | None = None,
        problem: str = "",
        was: str = "",
    ) -> Response:
        with refusals_as_pages():
            topics = await self._client.topics(who)
        spec = view.spec if view else ScheduleSpec()
        return self._frame.show(
            request,
            "schedule.html",
            "schedules",
            422 if problem else 200,
            view=view,
            found=found,
            place=(view.channel_name or view.channel) if view else CHANNEL,
            weeks=text.weeks(found),
            months=text.neighbors(found),
            day=day,
            post=post if isinstance(post, Card) else None,
            no_post=None if isinstance(post, Card) else post,
            typed=typed or _typed_of(spec),
            was=was or spec.model_dump_json(),
            previewed=typed is not None and not problem,
            problem=problem,
            topics=[one.topic for one in topics if one.topic],
            kinds=KINDS,
            levels=LEVELS,
            text=text,
            now=self._frame.clock(),
            today=_today(view, self._frame.clock()),
        )

    async def _view(self, request: Request, who: Who) -> ScheduleView | None:
        """Returns the schedule in the path; None for `new`. Raises RequestProblem if there is no such schedule."""
        named = request.path_params["number"]
        if named == "new":
            return None
        known = await self._client.schedule_list(who)
        found = next((one for one in known if one.id == number_of(named)), None)
        if found is None:
            raise RequestProblem(404, *text.NO_SCHEDULE)
        return found

    async def _post(
        self, who: Who, view: ScheduleView | None, found: ScheduleMonth, day: ScheduleDay | None
    ) -> Card | tuple[str, str] | None:
        """Returns the post of a planned day as it would be, or why there is none."""
        if view is None or day is None or day.state != "planned" or text.beyond(found, day.day):
            return None
        try:
            return _posted(await self._client.schedule_preview(who, view.id, day.day))
        except ServiceRefused as refused:
            return plain_refusal(refused.refusal)


def _posted(view: RoundView) -> Card:
    post = QuestionPost(ref="r0", question=view.question, day=view.day, closes_at=view.closes_at, zone=view.zone)
    return question_card(post)


def _asked_month(request: Request, view: ScheduleView | None, now: datetime) -> date:
    query = request.query_params
    month = _date_of(f"{query.get('month', '')[:7]}-01")
    return month or _date_of(query.get("day", "")) or _today(view, now)


def _asked_day(given: str, found: ScheduleMonth) -> ScheduleDay | None:
    day = _date_of(given)
    return next((one for one in found.days if one.day == day), None)


def _today(view: ScheduleView | None, now: datetime) -> date:
    return local(now, view.spec.zone if view else "UTC").date()


def _date_of(given: str) -> date | None:
    try:
        day = date.fromisoformat(given[:10])
    except ValueError:
        return None
    # A month before the first year or after the last one cannot be shown.
    return day if 1970 <= day.year <= 2200 else None


def _typed(fields: FormData) -> dict[str, Any]:
    """Returns the settings as they were typed, by name."""
    typed: dict[str, Any] = {name: text_of(fields, name).strip()[:MOST_TEXT] for name in ("at", "zone", "country")}
    typed |= {name: text_of(fields, name).strip()[:MOST_TEXT] for name in (*_NUMBERS, "month_days", "first_day")}
    typed |= {name: tuple(str(value)[:200] for value in fields.getlist(name)[:40]) for name in (*_LISTS, "topics")}
    return typed | {name: name in fields for name in _SWITCHES}


def _typed_of(spec: ScheduleSpec) -> dict[str, Any]:
    """Returns a schedule's settings as the form shows them."""
    plain = spec.model_dump(mode="json")
    plain["at"] = f"{spec.at:%H:%M}"
    plain["month_days"] = ", ".join("last" if day == 31 else str(day) for day in spec.month_days)
    return {name: "" if value is None else tuple(map(str, value)) if isinstance(value, list) else value
            for name, value in plain.items()}  # fmt: skip


def _changes(typed: dict[str, Any], fields: FormData) -> ScheduleChanges:
    """Returns what differs from the settings that the form was made of. Raises ValidationError."""
    values = {**typed, "month_days": text.read_month_days(typed["month_days"])}
    values["first_day"] = typed["first_day"] or None
    values["weekdays"] = [day for day in map(read_count, typed["weekdays"]) if day is not None]
    wanted = ScheduleSpec.model_validate(values)
    try:
        was = ScheduleSpec.model_validate(json.loads(text_of(fields, "was")[:20_000]))
    except (ValueError, RecursionError):
        raise RequestProblem(400, *OUT_OF_DATE) from None
    differs = {
        name: getattr(wanted, name) for name in type(wanted).model_fields if getattr(wanted, name) != getattr(was, name)
    }
    return ScheduleChanges.model_validate(differs)
