"""Defers the import of torch's compiler, which takes a second of CPU time, until a program uses it.

Eager torch imports `torch._dynamo` in places (an optimizer's first step, `torch.func.grad`, checkpoints) only to tell
the compiler, which may be tracing, to leave a function alone. Before it is imported, nothing can be tracing, so a
stand-in answers these calls. It imports the compiler when anything else is asked of it, and from then on passes every
call to it.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

_NAME = "torch._dynamo"


def defer_compiler() -> None:
    """Puts the stand-in where torch looks for its compiler. Does nothing if the compiler was imported already."""
    import torch

    if _NAME in sys.modules:
        return
    stand_in = _StandIn()
    sys.modules[_NAME] = torch._dynamo = stand_in
    sys.meta_path.insert(0, _SubmoduleFinder())


def is_deferred() -> bool:
    """Returns whether the compiler has still not been imported."""
    return isinstance(sys.modules.get(_NAME), _StandIn)


class _Delegate(types.ModuleType):
    """A module that has a few names of its own and takes all others from the compiler."""

    def __init__(self, name: str, file: str, load: Callable[[], types.ModuleType]) -> None:
        super().__init__(name)
        self.__dict__.update(_load=load, __file__=file)

    def __getattr__(self, name: str) -> Any:
        # `inspect` looks at such names of every module.
        if name.startswith("__") and is_deferred():
            raise AttributeError(name)
        return getattr(self._load(), name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._load(), name, value)


class _Config(_Delegate):
    """Stands for `torch._dynamo.config`."""

    error_on_nested_fx_trace = True
    """Read by every checkpoint. A program that sets it imports the compiler first."""

    def __getattribute__(self, name: str) -> Any:
        if name == "error_on_nested_fx_trace" and not is_deferred():
            return getattr(super().__getattribute__("_load")(), name)
        return super().__getattribute__(name)


class _CompiledAutograd(_Delegate):
    """Stands for `torch._dynamo.compiled_autograd`."""

    def _disable(self) -> AbstractContextManager[object]:
        return contextlib.nullcontext() if is_deferred() else self._load()._disable()


class _StandIn(_Delegate):
    """Stands for `torch._dynamo`."""

    def __init__(self) -> None:
        spec = importlib.machinery.PathFinder.find_spec(_NAME, sys.modules["torch"].__path__)
        folder = (spec.submodule_search_locations or [""])[0] if spec else ""
        super().__init__(_NAME, f"{folder}/__init__.py", _load)
        own: dict[str, Any] = {"__path__": [folder], "__package__": _NAME, "__spec__": spec}
        for kind, name in ((_Config, "config"), (_CompiledAutograd, "compiled_autograd")):
            full = f"{_NAME}.{name}"
            own[name] = kind(full, f"{folder}/{name}.py", functools.partial(importlib.import_module, full))
        self.__dict__.update(own)

    def graph_break(self, msg: str = "") -> None:
        """Does nothing, as without a compiler at work."""
        if not is_deferred():
            self._load().graph_break(msg)

    def disable(self, fn: Any = None, recursive: bool = True, **named: Any) -> Any:
        """Returns `fn`, or a decorator, that tells the compiler to leave `fn` alone once it has been imported."""
        if fn is None or not is_deferred():
            return self._load().disable(fn, recursive, **named)
        disabled: list[Callable[..., Any]] = []

        @functools.wraps(fn)
        def call(*arguments: Any, **keywords: Any) -> Any:
            if is_deferred():
                return fn(*arguments, **keywords)
            if not disabled:
                disabled.append(self._load().disable(fn, recursive, **named))
            return disabled[0](*arguments, **keywords)

        return call


def _load() -> types.ModuleType:
    """Imports the compiler in place of the stand-in, once."""
    if is_deferred():
        import torch

        del sys.modules[_NAME]
        vars(torch).pop("_dynamo", None)
    return importlib.import_module(_NAME)


class _SubmoduleFinder:
    """Imports the compiler before one of its submodules is imported."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Returns a spec of a submodule that was imported together with the compiler, or None."""
        if not name.startswith(f"{_NAME}.") or not is_deferred():
            return None
        _load()
        module = sys.modules.get(name)
        return importlib.machinery.ModuleSpec(name, _Imported(module)) if module else None


class _Imported(importlib.abc.Loader):
    """Loads a module that is there already."""

    def __init__(self, module: types.ModuleType) -> None:
        self._module = module

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return self._module

    def exec_module(self, module: types.ModuleType) -> None:
        """Does nothing: the module was executed."""
