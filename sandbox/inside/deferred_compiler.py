"""Defers the import of torch's compiler, which takes a second of CPU time, until a program uses it.

Eager torch imports `torch._dynamo` in places (an optimizer's first step, `torch.func.grad`, checkpoints) only to tell
the compiler, which may be tracing, to leave a function alone. Before it is imported, nothing can be tracing, so a
stand-in answers these calls. It imports the compiler when anything else is asked of it, and from then on passes every
call to it.

Gradients with `grad_outputs`, Hessians and `torch.broadcast_shapes` ask in the same way whether a number is a symbol of
the compiler. It depends on sympy, which has 500 modules, so two more stand-ins answer as long as there are no symbols.
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
_SYMBOLS = "torch.fx.experimental.symbolic_shapes"
_SYMPY = "sympy"


def defer_compiler() -> None:
    """Puts the stand-ins where torch looks for its compiler. Does nothing if the compiler was imported already."""
    import torch
    import torch.fx.experimental

    if _NAME in sys.modules:
        return
    stand_in = _StandIn()
    sys.modules[_NAME] = torch._dynamo = stand_in
    sys.meta_path.insert(0, _SubmoduleFinder())
    if _SYMPY not in sys.modules:
        sys.modules[_SYMBOLS] = torch.fx.experimental.symbolic_shapes = _Symbols()
        sys.modules[_SYMPY] = _Sympy()
        # Without it, `assert_close` would import torch's distributed tensors, which need both: half a second. A program
        # cannot have such a tensor, because it may not start a process group.
        torch.testing._comparison._HAS_DTENSOR = False


def is_deferred(name: str = _NAME) -> bool:
    """Returns whether the compiler, or another module with a stand-in, has still not been imported."""
    return isinstance(sys.modules.get(name), _Delegate)


_PUBLIC = ("__all__", "__version__")


class _Delegate(types.ModuleType):
    """A module that has a few names of its own and takes all others from the module it stands for."""

    def __init__(self, name: str, file: str, load: Callable[[], types.ModuleType]) -> None:
        super().__init__(name)
        self.__dict__.update(_load=load, __file__=file)

    def __getattr__(self, name: str) -> Any:
        # `inspect` looks at such names of every module.
        if name.startswith("__") and name not in _PUBLIC and is_deferred(self.__name__):
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


class _Symbols(_Delegate):
    """Stands for `torch.fx.experimental.symbolic_shapes`."""

    def __init__(self) -> None:
        parent = sys.modules[_SYMBOLS.rpartition(".")[0]]
        spec = importlib.machinery.PathFinder.find_spec(_SYMBOLS, parent.__path__)
        super().__init__(_SYMBOLS, str(spec and spec.origin), functools.partial(_load, _SYMBOLS))
        functions = {name: _passing_on(name, answer, _are_booleans) for name, answer in _ON_BOOLEANS.items()}
        functions |= {name: _passing_on(name, answer, _are_numbers) for name, answer in _ON_NUMBERS.items()}
        functions["sym_eq"] = _passing_on("sym_eq", lambda one, other: list(one) == list(other), _are_sizes)
        self.__dict__.update(functions, __package__=parent.__name__, __spec__=spec)


def _same(value: object) -> object:
    return value


_ON_BOOLEANS: dict[str, Callable[..., object]] = {
    **dict.fromkeys(("expect_true", "guard_or_false", "guard_or_true", "statically_known_true"), _same),
    "guard_size_oblivious": _same,
    "sym_and": lambda *values: all(values),
    "sym_or": lambda *values: any(values),
}
_ON_NUMBERS: dict[str, Callable[..., object]] = {
    "guarding_hint_or_throw": _same,
    "has_guarding_hint": lambda _: True,
    "is_nested_int": lambda _: False,
}
"""What torch's functions of these names return when no argument is a symbol."""


def _are_booleans(*values: object) -> bool:
    return all(type(value) is bool for value in values)


def _are_numbers(*values: object) -> bool:
    return all(type(value) in (bool, int, float) for value in values)


def _are_sizes(*values: object) -> bool:
    return all(isinstance(value, (tuple, list)) and _are_numbers(*value) for value in values)


def _passing_on(name: str, answer: Callable[..., object], can_answer: Callable[..., bool]) -> Callable[..., object]:
    """Returns a function that calls `answer` where it can, and otherwise torch's own function of that name."""

    def call(*arguments: Any, **keywords: Any) -> object:
        if not keywords and can_answer(*arguments):
            return answer(*arguments)
        return getattr(_load(_SYMBOLS), name)(*arguments, **keywords)

    return call


class _Sympy(_Delegate):
    """Stands for `sympy`."""

    def __init__(self) -> None:
        spec = importlib.machinery.PathFinder.find_spec(_SYMPY)
        super().__init__(_SYMPY, str(spec and spec.origin), functools.partial(_load, _SYMPY))
        self.__dict__.update(__path__=spec and spec.submodule_search_locations, __package__=_SYMPY, __spec__=spec)

    @property
    def Basic(self) -> Any:
        """The class of all symbols, or its stand-in."""
        return _Basic() if is_deferred(_SYMPY) else self._load().Basic


class _Basic:
    """Stands for `sympy.Basic`. Torch only asks what is an instance of it, and without sympy nothing is."""

    def __instancecheck__(self, instance: object) -> bool:
        return not is_deferred(_SYMPY) and isinstance(instance, _load(_SYMPY).Basic)

    def __subclasscheck__(self, kind: type) -> bool:
        return not is_deferred(_SYMPY) and issubclass(kind, _load(_SYMPY).Basic)

    def __mro_entries__(self, bases: object) -> tuple[type, ...]:
        return (_load(_SYMPY).Basic,)

    def __call__(self, *arguments: Any) -> Any:
        return _load(_SYMPY).Basic(*arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(_load(_SYMPY).Basic, name)


def _load(name: str = _NAME) -> types.ModuleType:
    """Imports a module in place of its stand-in, once."""
    if is_deferred(name):
        del sys.modules[name]
        parent, _, leaf = name.rpartition(".")
        if parent:
            vars(sys.modules[parent]).pop(leaf, None)
    return importlib.import_module(name)


class _SubmoduleFinder:
    """Imports the compiler, or sympy, before one of its submodules is imported."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Returns a spec of a submodule that was imported together with its package, or None."""
        package = _SYMPY if name.startswith(f"{_SYMPY}.") else _NAME
        if not name.startswith(f"{package}.") or not is_deferred(package):
            return None
        _load(package)
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
