"""Statements that are built once. SQLAlchemy takes longer to build most of ours than to execute them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from sqlalchemy import Executable, bindparam

P = ParamSpec("P")
S = TypeVar("S", bound=Executable)


def built_once(build: Callable[P, S]) -> Callable[P, tuple[S, dict[str, Any]]]:
    """Decorates a function that builds a statement, so that it runs once, with bound parameters as its arguments.

    The decorated function returns the statement and the values, for `session.execute(*find_it(id_))`. `build` receives
    None for an argument that is None, so that a statement can leave a condition out; it runs once for each set of such
    arguments. Names of arguments must differ from the columns that an INSERT or UPDATE sets, and an INSERT needs the
    execution option `dml_strategy="raw"`: otherwise the ORM takes the values for a row.
    """
    names = tuple(inspect.signature(build).parameters)

    @functools.cache
    def built(given: tuple[str, ...]) -> S:
        return build(**{name: bindparam(name) if name in given else None for name in names})  # type: ignore[arg-type, call-arg]

    @functools.wraps(build)
    def bound(*values: P.args, **named: P.kwargs) -> tuple[S, dict[str, Any]]:
        asked = dict(zip(names, values, strict=False)) | named
        given = {name: asked[name] for name in names if asked.get(name) is not None}
        return built(tuple(given)), given

    return bound
