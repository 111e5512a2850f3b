"""What a proof computes about a question's key, and how it names the options and key points. Runs nothing itself.

A proof computes facts and never sees the key, so a wrong key cannot agree with itself. At module level it binds:

- value: `answer`, the computed value;
- choice: `options`, a dict from an option's text, or a part of it that no other option has, to whether it is right;
  or `holds`, a function that is called with each option's text and returns whether it is right; or `answer`, with which
  each option is compared as a value. `options` goes before the other two, which answer for the options it leaves out;
- open: `points`, a dict from a part of a key point to whether it holds. Not every key point has to be in it.
"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from questions.blocks import plain
from questions.model import parse_python

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from questions.model import Kind, Question


ENTRY = "_dailygrad_facts"
"""Function of `facts_program` to call with a list of option texts."""
NAMES: dict[Kind, tuple[str, ...]] = {
    "choice": ("options", "holds", "answer"),
    "value": ("answer",),
    "open": ("points",),
    "output": (),
    "code": (),
}
"""Names that bind a proof to the key, by kind."""

# Appended to a proof. Results are plain data; what they mean is decided outside the process that ran the proof.
_FACTS = """

def _dailygrad_facts(texts):
    import traceback

    import numpy
    import torch

    names = globals()

    def plain(value):
        if isinstance(value, (torch.Tensor, numpy.ndarray, numpy.generic)):
            return value.tolist()
        if isinstance(value, (tuple, list)):
            return (tuple if isinstance(value, tuple) else list)(plain(item) for item in value)
        if isinstance(value, dict):
            return {plain(key): plain(item) for key, item in value.items()}
        if isinstance(value, (torch.dtype, torch.device, torch.layout)):
            return str(value)
        return value

    def fact(value, about):
        if isinstance(value, torch.Tensor) and value.numel() == 1:
            value = value.item()
        value = plain(value)
        if not isinstance(value, bool):
            raise TypeError(f"the fact about {about!r} is {type(value).__name__}, neither True nor False")
        return value

    def held(text):
        try:
            return fact(names["holds"](text), text)
        except Exception as problem:
            frames = traceback.extract_tb(problem.__traceback__)
            lines = [frame.lineno for frame in frames if frame.filename == "<answer>"]
            return f"{type(problem).__name__}: {problem} (line {lines[-1] if lines else 0})"

    found = {}
    if "answer" in names:
        found["answer"] = repr(plain(names["answer"]))
    for name in ("options", "points"):
        if isinstance(names.get(name), dict):
            found[name] = {about: fact(value, about) for about, value in names[name].items()}
    if callable(names.get("holds")):
        found["holds"] = [held(text) for text in texts]
    return found
"""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a proof computed."""

    answer: str | None = None
    """The `repr` of `answer`."""
    named: Mapping[str, bool] = field(default_factory=dict)
    """`options` or `points`."""
    held: Mapping[str, bool | str] = field(default_factory=dict)
    """What `holds` returned for each option's text, or how it failed."""


def facts_program(proof: str) -> str:
    """Returns the proof with the function `ENTRY`, which returns what it computed."""
    return with_harness(proof, _FACTS)


def with_harness(program: str, harness: str) -> str:
    """Returns a program that also defines what is in `harness`. Tracebacks name only lines of the program."""
    return f'{program.rstrip()}\n\nexec(compile({harness!r}, "<prover>", "exec"), globals())\n'


FAMILY_ENTRY = "_dailygrad_family"
"""Function of `FAMILY_PROGRAM` to call with the `facts_program` and the option texts of a variant."""
FAMILY_PROGRAM = f"""
def {FAMILY_ENTRY}(program, texts):
    import torch

    names = {{"__name__": "__main__"}}
    torch.manual_seed(0)
    exec(compile(program, "<answer>", "exec"), names)
    return names["{ENTRY}"](texts)
"""


def facts_from(kind: Kind, texts: Sequence[str], found: Mapping[str, Any]) -> Facts:
    """Returns the facts in what `ENTRY` returned for `texts`. Raises ValueError for anything else."""
    answer, held = found.get("answer"), found.get("holds", [])
    named = found.get("points" if kind == "open" else "options", {})
    if not isinstance(answer, str | None) or not isinstance(named, dict) or not isinstance(held, list):
        raise ValueError("the proof's facts are not data")
    facts = [*named.values(), *(fact for fact in held if not isinstance(fact, str))]
    if len(held) not in (0, len(texts)) or not all(isinstance(fact, bool) for fact in facts):
        raise ValueError("the proof's facts are neither True nor False")
    return Facts(answer, named, dict(zip(texts, held, strict=False)))


def option_text(text: str) -> str:
    """Returns an option as `holds` receives it: what a member reads, without backticks."""
    return plain(text)


def runnable_proof(question: Question) -> str:
    """Returns the proof as a program that prints what it computed, to run on its own."""
    names = bound_names(question)
    if not names:
        return question.proof
    lines = [f"print({name})" for name in names if name != "holds"]
    if "holds" in names:
        texts = [option_text(option.text) for option in question.options]
        lines += [f"for option in {texts!r}:", "    print(option, holds(option))"]
    return "\n".join([question.proof.rstrip(), "", *lines]) + "\n"


# Which part of the key a fact is about


def match_fragments(fragments: Iterable[str], texts: Sequence[str]) -> tuple[dict[int, str], list[str]]:
    """Returns which text each fragment is about, by index, and the fragments that are about none or several.

    A fragment that equals a text is about it, even if others contain it.
    """
    shown = [_shown(text) for text in texts]
    wanted = {fragment: _shown(fragment) if "`" in fragment else " ".join(fragment.split()) for fragment in fragments}
    exact = {fragment: shown.index(words) for fragment, words in wanted.items() if words in shown}
    found = {at: fragment for fragment, at in exact.items()}
    unclear = [fragment for fragment, at in exact.items() if found[at] != fragment]
    for fragment, words in wanted.items():
        if fragment in exact:
            continue
        places = [at for at, text in enumerate(shown) if words and words in text and found.get(at) not in exact]
        if len(places) == 1 and places[0] not in found:
            found[places[0]] = fragment
        else:
            unclear.append(fragment)
    return found, unclear


def _shown(text: str) -> str:
    return " ".join(plain(text).split())


# Static checks of a proof


def bound_names(question: Question) -> tuple[str, ...]:
    """Returns the names with which the proof binds itself to the key; empty if it binds nothing."""
    tree = parse_python(question.proof)
    if isinstance(tree, SyntaxError):
        return ()
    defined = set(_names_bound(tree.body))
    return tuple(name for name in NAMES[question.kind] if name in defined)


def _names_bound(body: Sequence[ast.stmt]) -> Iterator[str]:
    for statement in body:
        match statement:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.Assign(targets=targets):
                yield from (node.id for target in targets for node in ast.walk(target) if _is_stored(node))  # type: ignore[attr-defined]
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
                yield name
        for inner in _blocks(statement):
            yield from _names_bound(inner)


def _is_stored(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Yields the blocks inside a statement, but not the bodies of functions and classes."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return
    for name in ("body", "orelse", "finalbody"):
        yield getattr(statement, name, [])
    for handler in getattr(statement, "handlers", []):
        yield handler.body
    for case in getattr(statement, "cases", []):
        yield case.body


def constant_facts(question: Question) -> list[str]:
    """Returns the facts that the proof states instead of computing them, as the author wrote them."""
    tree = parse_python(question.proof)
    if isinstance(tree, SyntaxError):
        return []
    times = _times_bound(tree)
    constants = _constants(tree, times)
    found: list[str] = []
    for statement in tree.body:
        # Inside a `try` or an `if`, what runs decides which constant it is.
        match statement:
            case ast.Assign(targets=[ast.Name(id="answer")], value=value) if "answer" in NAMES[question.kind]:
                found += ["answer"] if constants.includes(value) and times["answer"] == 1 else []
            case ast.Assign(targets=[ast.Name(id="options" | "points" as name)], value=value):
                found += constants.among(value) if name in NAMES[question.kind] else []
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id="options" | "points"), slice=key)], value=value):
                found += [ast.unparse(key)] if constants.includes(value) else []
            case ast.Assign(targets=[ast.Name(id="holds")], value=ast.Lambda() as function) | (
                ast.FunctionDef(name="holds") as function
            ):
                found += ["holds"] if "holds" in NAMES[question.kind] and constants.decide(function) else []
    return found


_CONVERSIONS = {"bool", "dict", "float", "int", "list", "str", "tuple", "zip"}
"""Functions that make a literal of literals."""
_FILLING = {"add", "append", "extend", "insert", "update"}
"""Methods that put something into a collection."""


@dataclass(frozen=True, slots=True)
class _Constants:
    """The names of a module that stand for one literal each."""

    names: frozenset[str]

    def includes(self, value: ast.expr) -> bool:
        """Returns whether an expression is made of literals, names of literals and logic alone."""
        match value:
            case ast.Constant():
                return True
            case ast.Name(id=name):
                return name in self.names
            case ast.UnaryOp(operand=operand):
                return self.includes(operand)
            case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items):
                return all(map(self.includes, items))
            case ast.Dict(keys=keys, values=values):
                return all(self.includes(item) for item in (*keys, *values) if item is not None)
            case ast.BoolOp(values=values):
                return all(map(self.includes, values))
            case ast.Compare(left=left, comparators=others):
                return all(map(self.includes, (left, *others)))
            case ast.IfExp(test=test, body=body, orelse=other):
                return all(map(self.includes, (test, body, other)))
            case ast.Subscript(value=container, slice=at):
                return all(map(self.includes, (container, at)))
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
                return name in _CONVERSIONS and all(map(self.includes, arguments))
        return False

    def among(self, value: ast.expr) -> list[str]:
        """Returns the facts of a dict that are constants."""
        match value:
            case ast.Dict(keys=keys, values=facts):
                pairs = zip(keys, facts, strict=True)
                return [_key_text(key) for key, fact in pairs if key is not None and self.includes(fact)]
            case ast.DictComp(value=fact, generators=generators):
                drawn = {node.id for one in generators for node in ast.walk(one.target) if isinstance(node, ast.Name)}
                return [ast.unparse(fact)] if _Constants(self.names | drawn).includes(fact) else []
        return [ast.unparse(value)] if self.includes(value) else []

    def decide(self, function: ast.Lambda | ast.FunctionDef) -> bool:
        """Returns whether a function compares its argument with literals only: it calls and looks up nothing."""
        arguments = {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
        body = function.body if isinstance(function.body, list) else [function.body]
        nodes = [node for part in body for node in ast.walk(part)]
        local = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        known = self.names | arguments | local
        return all(
            not isinstance(node, ast.Call) and (not isinstance(node, ast.Name) or node.id in known) for node in nodes
        )


def _times_bound(tree: ast.Module) -> Counter[str]:
    """Returns how often each name is bound anywhere in a program."""
    return Counter(node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))


def _constants(tree: ast.Module, times: Mapping[str, int]) -> _Constants:
    """Returns the names that are bound once, at module level, to a literal that is not filled with something else."""
    return _literals(tree, times, without=_filled(tree, _literals(tree, times)))


def _literals(tree: ast.Module, times: Mapping[str, int], without: frozenset[str] = frozenset()) -> _Constants:
    found = _Constants(frozenset())
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if (
                times[name] == 1 and name not in without and found.includes(value)
            ):
                found = _Constants(found.names | {name})
    return found


def _filled(tree: ast.Module, literals: _Constants) -> frozenset[str]:
    """Returns the names of collections that the program fills with what is not a literal: a list of measured losses."""
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method), args=arguments) if (
                method in _FILLING and not all(map(literals.includes, arguments))
            ):
                found.add(name)
    return frozenset(found)


def _key_text(key: ast.expr) -> str:
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ast.unparse(key)
