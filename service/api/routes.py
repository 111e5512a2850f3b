"""How a call finds its route: by its path. A route is compiled when it is first called, and its call made again if
PostgreSQL ended its transaction."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import cached_property, wraps
from typing import Any, TypeVar

from fastapi import APIRouter, Depends, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, TypeAdapter, ValidationError
from sqlalchemy.exc import SQLAlchemyError
from starlette.datastructures import URLPath
from starlette.routing import BaseRoute, Match, NoMatchFound, Route
from starlette.types import Receive, Scope, Send

from service import tracing
from service.api.http import MOST_CALLER, admitted, call_of, caller_of, header_of
from service.store.session import is_conflict
from service.wire import APPLICATION_HEADER, CALLER_HEADER

T = TypeVar("T")
Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])

_LOG = logging.getLogger(__name__)

MOST_ATTEMPTS = 3
"""How often a call is made whose transaction fails because of other transactions."""


class RepeatedRoute(APIRoute):
    """A route whose call is made again if PostgreSQL ended its transaction because of another one: of two transactions
    that wait for each other, one always fails, though nothing is wrong with it.

    That transaction is rolled back, and a call that changes something does so in its last one. What a call does
    besides, such as reading a document, can be done twice; a wrong code of a link is then counted twice.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        super().__init__(path, _repeated(endpoint), **options)


def _repeated(endpoint: Callable[..., Awaitable[T]]) -> Callable[..., Awaitable[T]]:
    @wraps(endpoint)
    async def attempt(*args: Any, **arguments: Any) -> T:
        for number in range(1, MOST_ATTEMPTS):
            try:
                return await endpoint(*args, **arguments)
            except SQLAlchemyError as error:
                if not is_conflict(error):
                    raise
                tracing.log_event(
                    _LOG, "call repeated", level=logging.WARNING, attempt=number, cause=type(error).__name__
                )
        return await endpoint(*args, **arguments)

    return attempt


class DirectRoute(RepeatedRoute):
    """A route for a call that is made very often. Its endpoint takes the call, the caller and one model, the body.

    It does what FastAPI does for such an endpoint in a third of the CPU time, because it knows what to read.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **more: Any) -> None:
        super().__init__(path, endpoint, **more)
        assert self.body_field is not None and self.body_field.field_info.annotation is not None
        read_body = TypeAdapter(self.body_field.field_info.annotation).validate_json

        async def respond(scope: Scope, receive: Receive, send: Send) -> None:
            request = Request(scope, receive, send)
            await admitted(request)
            who = caller_of(header_of(request, CALLER_HEADER, MOST_CALLER), header_of(request, APPLICATION_HEADER, 200))
            try:
                body = read_body(await request.body())
            except ValidationError as error:
                raise RequestValidationError(
                    [{**one, "loc": ("body", *one["loc"])} for one in error.errors()]
                ) from error
            result: BaseModel = await self.endpoint(await call_of(request), who, body)
            await Response(result.model_dump_json(), media_type="application/json")(scope, receive, send)

        self.app = respond


class DeferredRoute:
    """A route that FastAPI compiles when it is first called.

    A small team never makes most calls, and the compiled routes of all would be 6 MB. To compile one takes a few ms.
    """

    def __init__(self, path: str, compile_route: Callable[[], Route]) -> None:
        self.path = path
        self._compile = compile_route

    @cached_property
    def route(self) -> Route:
        """The compiled route."""
        return self._compile()


class CallRouter:
    """The calls of one area. All need the token. `prefix` follows `/v1`."""

    def __init__(self, prefix: str = "") -> None:
        self._prefix = f"/v1{prefix}"
        self.routes: list[DeferredRoute | Route] = []

    def post(self, path: str, **options: Any) -> Callable[[Endpoint], Endpoint]:
        """Declares a call like `APIRouter.post`, with the same options. Its route is compiled at the first call."""

        def declare(endpoint: Endpoint) -> Endpoint:
            self.routes.append(
                DeferredRoute(self._prefix + path, lambda: self._compile(path, endpoint, RepeatedRoute, options))
            )
            return endpoint

        return declare

    def post_directly(self, path: str, endpoint: Callable[..., Any]) -> None:
        """Declares a call for a `DirectRoute`, which is compiled now: it is made very often."""
        self.routes.append(self._compile(path, endpoint, DirectRoute, {}))

    def _compile(
        self, path: str, endpoint: Callable[..., Any], kind: type[APIRoute], options: dict[str, Any]
    ) -> APIRoute:
        router = APIRouter(prefix=self._prefix, dependencies=[Depends(admitted)], route_class=kind)
        router.add_api_route(path, endpoint, methods=["POST"], **options)
        (route,) = router.routes
        assert isinstance(route, APIRoute)
        return route


class RoutesByPath(BaseRoute):
    """Many routes, found by their path. FastAPI would build them again at the first call, which took 0.6 s of the event
    loop, and try one after the other at each.

    Raises ValueError if a path has parameters or is there twice.
    """

    def __init__(self, routes: Iterable[DeferredRoute | Route]) -> None:
        self._routes: dict[str, DeferredRoute | Route] = {}
        for route in routes:
            if "{" in route.path or route.path in self._routes:
                raise ValueError(f"{route.path} is not the path of one route")
            self._routes[route.path] = route

    def all(self) -> Sequence[Route]:
        """Returns every route, compiled."""
        return [self._route(path) for path in self._routes]

    def _route(self, path: str) -> Route:
        route = self._routes[path]
        return route.route if isinstance(route, DeferredRoute) else route

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """See `BaseRoute`."""
        if scope["type"] != "http" or scope["path"] not in self._routes:
            return Match.NONE, {}
        return self._route(scope["path"]).matches(scope)

    def url_path_for(self, name: str, /, **path_params: object) -> URLPath:
        """Raises NoMatchFound: the routes have no names."""
        raise NoMatchFound(name, path_params)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See `BaseRoute`."""
        await self._route(scope["path"]).handle(scope, receive, send)
