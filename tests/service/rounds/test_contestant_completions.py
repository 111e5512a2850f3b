"""The call to a model's endpoint: what is sent, and its bounds on time, size and redirects."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from service.process import listen
from service.rounds.contestant import MAX_REPLY_BYTES, EndpointFailed, Message, ModelEndpoint
from tests.doubles.models import ModelDouble, model_double

KEY = "sk-secret-of-the-endpoint"
MESSAGES: tuple[Message, ...] = ({"role": "system", "content": "Reply."}, {"role": "user", "content": "Why?"})


@pytest.fixture
async def model() -> AsyncIterator[ModelDouble]:
    async with model_double() as double:
        yield double


def reach(model: ModelDouble, *, key: str = KEY, timeout_s: float = 60.0) -> ModelEndpoint:
    return ModelEndpoint(model.url, "tiny", key, timeout_s)


async def test_the_text_of_the_reply(model: ModelDouble) -> None:
    model.reply = "Because."
    assert await reach(model).ask(MESSAGES) == "Because."
    assert model.asked == [{"model": "tiny", "messages": list(MESSAGES), "stream": False}]
    assert model.keys == [f"Bearer {KEY}"]


async def test_no_key_is_sent_where_there_is_none(model: ModelDouble) -> None:
    await reach(model, key="").ask(MESSAGES)
    assert model.keys == [""]


async def test_a_redirect_is_not_followed(model: ModelDouble) -> None:
    async with model_double() as other:
        model.redirect = f"{other.url}/chat/completions"
        with pytest.raises(EndpointFailed, match="status 307"):
            await reach(model).ask(MESSAGES)
        assert not other.asked, "neither the key nor the question may go elsewhere"


async def test_no_proxy_of_the_environment_is_used(model: ModelDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    async with model_double() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url.removesuffix("/v1"))
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        await reach(model).ask(MESSAGES)
        assert (len(model.asked), proxy.asked) == (1, [])


@pytest.mark.parametrize("status", [201, 204, 400, 401, 429, 500])
async def test_only_200_is_a_reply(model: ModelDouble, status: int) -> None:
    model.status = status
    with pytest.raises(EndpointFailed, match=f"status {status}"):
        await reach(model).ask(MESSAGES)
    assert len(model.asked) == 1, "a question is asked once"


async def test_a_reply_as_long_as_is_read(model: ModelDouble) -> None:
    shell = len(b'{"choices": [{"message": {"content": ""}}]}')
    for extra in (0, 1):
        text = "x" * (MAX_REPLY_BYTES - shell + extra)
        model.body = b'{"choices": [{"message": {"content": "%s"}}]}' % text.encode()
        if extra:
            with pytest.raises(EndpointFailed, match="longer than 256 KiB"):
                await reach(model).ask(MESSAGES)
        else:
            assert await reach(model).ask(MESSAGES) == text


async def test_a_reply_without_an_end(model: ModelDouble) -> None:
    model.fault = "endless"
    with pytest.raises(EndpointFailed, match="longer than"):
        await reach(model).ask(MESSAGES)


async def test_a_compressed_reply_is_refused(model: ModelDouble) -> None:
    model.compressed = True
    with pytest.raises(EndpointFailed, match="compressed"):
        await reach(model).ask(MESSAGES)


@pytest.mark.parametrize("fault", ["silent", "drips"])
async def test_the_time_is_that_of_the_whole_call(model: ModelDouble, fault: str) -> None:
    model.fault = fault
    with pytest.raises(EndpointFailed, match=r"no reply within 0\.3 s|call failed: \w*Timeout"):
        await reach(model, timeout_s=0.3).ask(MESSAGES)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"null",
        b'{"choices": []}',
        b'{"choices": [{"message": {"content": null}}]}',
        b'{"choices": [{"message": {"content": 5}}]}',
        b'{"choices": [{"message": {"content": "\\ud800"}}]}',
        b'{"choices": [{"message": {"content": "\xff"}}]}',
        b'{"choices": ' + b"[" * 100_000,
    ],
)
async def test_what_is_no_completion(model: ModelDouble, body: bytes) -> None:
    model.body = body
    with pytest.raises(EndpointFailed, match="not a chat completion"):
        await reach(model).ask(MESSAGES)


async def test_an_endpoint_that_does_not_listen_is_reported() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(EndpointFailed, match="ConnectError"):
        await ModelEndpoint(f"http://127.0.0.1:{port}/v1", "tiny", KEY).ask(MESSAGES)


async def test_the_key_is_in_no_message(model: ModelDouble) -> None:
    model.body = KEY.encode()
    with pytest.raises(EndpointFailed) as failed:
        await reach(model).ask(MESSAGES)
    assert KEY not in str(failed.value)
    assert KEY not in repr(reach(model))
