"""Failures as the bot gets them: `wire.Failure`, with a status from one map."""

from __future__ import annotations

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import DataError
from starlette.exceptions import HTTPException

from service.api.dependencies import Unauthorised
from service.api.door import TooLarge
from service.api.following import event_of
from service.errors import AdminsOnly, Busy, EventReused, NoSandbox, NotFound, Refused
from service.limits import limit_words
from service.tracing import following
from service.wire import Failure

log = structlog.get_logger(__name__)

STATUS: dict[type[Refused], int] = {
    NotFound: 404,
    AdminsOnly: 403,
    EventReused: 409,
    # Not a 5xx: the service is well and says what to do, so nobody should blindly call again.
    NoSandbox: 409,
    Busy: 409,
    Refused: 400,
}


def install(app: FastAPI) -> None:
    """Make every failure of `app` one that the client can read."""
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(Unauthorised, _unauthorised)
    app.add_exception_handler(TooLarge, _too_large)
    app.add_exception_handler(RequestValidationError, _unreadable)
    app.add_exception_handler(DataError, _unkept)
    app.add_exception_handler(HTTPException, _other)
    app.add_exception_handler(Exception, _broken)


def _answer(status: int, code: str, message: str) -> JSONResponse:
    return JSONResponse(Failure(code=code, message=message).model_dump(), status)


async def _refused(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Refused)
    status = next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)
    return _answer(status, error.code, error.message)


async def _unauthorised(request: Request, error: Exception) -> JSONResponse:
    response = _answer(401, "unauthorised", " ".join((Unauthorised.__doc__ or "").split()))
    response.headers["WWW-Authenticate"] = "Bearer"
    return response


async def _too_large(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, TooLarge)
    return _answer(error.status_code, "too-large", error.detail)


async def _unreadable(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    return _answer(422, "unreadable", limit_words(error.errors(), skip=1))


async def _unkept(request: Request, error: Exception) -> JSONResponse:
    # PostgreSQL keeps every character but NUL, and no stranger's text shall look like a failure of ours.
    log.warning("unkept value", path=request.url.path, error=str(getattr(error, "orig", error)))
    said = "a text holds a character that cannot be kept, such as NUL, or a number is too large: send it without"
    return _answer(422, "unreadable", said)


async def _other(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return _answer(error.status_code, "http", f"{request.method} {request.url.path}: {error.detail}")


async def _broken(request: Request, error: Exception) -> JSONResponse:
    # The outermost handler: the call is not followed any more.
    with following(event_of(request.scope)):
        log.error("call failed", path=request.url.path, exc_info=error)
    return _answer(500, "internal", "The service failed; its log says why. Nothing was changed: try again.")
