"""Each call in one line, by the id of its event, from the client through the API into the job."""

from __future__ import annotations

import logging
from typing import Any

import httpx
import pytest

from service import tracing
from service.app import Service, build
from service.client import ServiceClient, ServiceRefused, ServiceUnavailable
from service.config import Settings
from service.errors import Busy
from service.rounds import grading
from service.rounds.jobs import Work, make_jobs
from service.store.tables import AnswerRow
from service.wire import AnswerInput, VerdictNote, Where
from tests.conftest import TOKEN, Clock, MakeWho
from tests.service.daily_channel import DailyChannel, choice, post_code_question

ID = "slack:12.34/56 ü\n"


def log_fields(caplog: pytest.LogCaptureFixture, what: str = "call answered") -> list[dict[str, Any]]:
    """Returns the fields of each such log line."""
    return [vars(record)["fields"] for record in caplog.records if record.getMessage() == what]


async def test_a_call_for_an_event_is_logged_once(
    client: ServiceClient, who: MakeWho, where: Where, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with tracing.correlate(ID):
        await client.join(who(), where)
    (line,) = log_fields(caplog)
    assert line.pop("ms") >= 0
    assert line == {"call": "join", "http": 200}


async def test_outbox_polling_is_not_logged(client: ServiceClient, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    await client.outbox_claim("web")
    assert log_fields(caplog) == []


async def test_every_refusal_is_logged(
    service: Service, client: ServiceClient, who: MakeWho, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with pytest.raises(ServiceRefused):
        await client.audit(who())
    async with ServiceClient.inside(service.api, "not-the-token-of-this-service") as stranger:
        with pytest.raises(ServiceRefused):
            await stranger.me(who())
    refused, unknown = log_fields(caplog)
    assert (refused["call"], refused["http"]) == ("admin/audit", 403)
    assert (unknown["call"], unknown["http"]) == ("me", 401)
    levels = [record.levelname for record in caplog.records if record.getMessage() == "call answered"]
    assert levels == ["INFO", "WARNING"]


async def test_an_unknown_path_is_not_logged(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    transport = httpx.ASGITransport(app=service.api)
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as http:
        headers = {tracing.EVENT_HEADER: "a", "Authorization": f"Bearer {TOKEN}"}
        assert (await http.post("/v1/what-anybody-writes", headers=headers)).status_code == 404
        assert (await http.get("/readyz", headers=headers)).status_code == 200
    assert log_fields(caplog) == []


async def test_a_failure_is_logged_with_its_event(
    settings: Settings, clock: Clock, who: MakeWho, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.INFO)
    away = settings.model_copy(update={"database_url": "postgresql://nobody@127.0.0.1:1/nothing"})
    # Not connected to anything: every call meets a database that is not there.
    async with ServiceClient.inside(build(away, clock).api, TOKEN) as client:
        with tracing.correlate("web:1"), pytest.raises(ServiceUnavailable):
            await client.me(who())
    (line,) = log_fields(caplog)
    assert (line["call"], line["http"]) == ("me", 500)
    (failed,) = [line for line in capsys.readouterr().out.splitlines() if "call failed" in line]
    assert "event_id=web:1" in failed.replace("\x1b[0m", "").replace("\x1b[36m", "").replace("\x1b[35m", "")


async def test_an_answer_is_logged_by_number_without_its_content(
    daily: DailyChannel, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    await daily.bank(choice())
    form = await daily.client.practice(daily.who(), Where(channel="daily"))
    assert form is not None
    with tracing.correlate(ID):
        await daily.client.answer(
            daily.who(), Where(channel="daily"), ID, form.ref, AnswerInput(options=("a",)), clock()
        )
    (answer,) = await daily.rows(AnswerRow)
    (line,) = log_fields(caplog)
    assert line.pop("ms") >= 0
    about = {"answer": answer.id, "member": answer.member_id, "ref": form.ref, "question": "choice", "status": "judged"}
    assert line == {"call": "answer", "http": 200, **about}


async def test_a_job_follows_its_event_and_one_of_an_older_version_none(settings: Settings) -> None:
    seen: dict[int, str] = {}

    async def judge(answer_id: int, last: bool, priority: str) -> None:
        seen[answer_id] = tracing.current_event_id()

    async def nothing(*given: object) -> None:
        """Does nothing: there is no other job."""

    jobs = make_jobs(settings.database_url, Work(judge, nothing, nothing, nothing, nothing, nothing))
    async with jobs.app.open_async():
        await jobs.judge_answer.defer_async(answer_id=1, event_id=ID)
        await jobs.judge_answer.defer_async(answer_id=2)
        await jobs.run_pending()
    assert seen == {1: ID, 2: ""}


async def test_an_event_that_is_busy_keeps_its_id(settings: Settings) -> None:
    async def judge(answer_id: int, last: bool, priority: str) -> None:
        raise Busy("full")

    async def nothing(*given: object) -> None:
        """Does nothing: there is no other job."""

    jobs = make_jobs(settings.database_url, Work(judge, nothing, nothing, nothing, nothing, nothing))
    async with jobs.app.open_async():
        await jobs.judge_answer.defer_async(answer_id=1, event_id=ID)
        await jobs.run_pending()
        (later,) = await jobs.app.job_manager.list_jobs_async()
    assert (later.task_kwargs, later.attempts) == ({"answer_id": 1, "event_id": ID}, 0)


async def test_an_answer_is_traced_from_its_job_to_the_delivered_verdict(
    daily: DailyChannel, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    await daily.answer(await post_code_question(daily, clock), AnswerInput(code="def double(x): return x"), event=ID)
    (job,) = await daily.service.jobs.app.job_manager.list_jobs_async()
    (answer,) = await daily.rows(AnswerRow)
    assert job.task_kwargs == {"answer_id": answer.id, "event_id": ID}
    await grading.judge_answer(daily.service.sessions, None, answer.id, clock, last=True)
    (judged,) = log_fields(caplog, "answer judged")
    about = {"answer": answer.id, "member": answer.member_id, "ref": f"r{answer.round_id}"}
    assert judged == {**about, "status": "system error", "ms": 0.0}
    assert [body.event_id for body in await daily.ticked() if isinstance(body, VerdictNote)] == [ID]
