"""Small changes to a module's syntax tree, one of which is one mutant.

Left alone, because a change there changes no behavior or is judged by a reader: docstrings, annotations, names of
types, decorators, assertions (also `strict=` of `zip`), code for type checkers, `__all__`, and the texts of exceptions.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from types import CodeType

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
_OPPOSITES = (
    ("min", "max"),
    ("any", "all"),
    ("startswith", "endswith"),
    ("lower", "upper"),
    ("lstrip", "rstrip"),
    ("removeprefix", "removesuffix"),
)
_OPPOSITE = {**dict(_OPPOSITES), **{two: one for one, two in _OPPOSITES}}
_UNSWAPPED = ("isinstance", "issubclass", "cast", "min", "max", "maximum", "minimum", "logaddexp")
"""Functions that raise at once if their arguments are swapped, or return the same."""

_CONTEXT = 60
"""Characters shown before and after a change."""


@dataclass(frozen=True, order=True)
class Mutant:
    """One change to one module."""

    path: str
    line: int
    position: int
    """Index of the changed node in `ast.walk`."""
    variant: int
    operator: str
    function: str
    """Qualified name of the function around the change; empty at the top of the module or of a class."""
    start: int
    """First line of that function, of its decorators if it has some; 0 outside functions."""
    before: str
    after: str

    @property
    def key(self) -> str:
        """What names the mutant wherever its line has moved to."""
        return f"{self.path} {self.function or '<module>'}: {self.before} => {self.after}"


def find_mutants(path: str, source: str) -> list[Mutant]:
    """Returns every mutant of a module, in the order of `ast.walk`."""
    tree = ast.parse(source)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    found = []
    for position, node in enumerate(ast.walk(tree)):
        if _left_alone(node, parents):
            continue
        for variant, (operator, new) in enumerate(_replacements(node, parents)):
            statement = _statement_of(node, parents)
            before = _head(statement)
            after = _head(_with(statement, node, new))
            if before != after:
                lines = _lines_of(statement)
                where, start = _function_of(statement, parents)
                line = min(max(getattr(node, "lineno", lines[0]), lines[0]), lines[1])
                shown = _changed_part(before, after)
                found.append(Mutant(path, line, position, variant, operator, where, start, *shown))
    return found


def compile_mutant(mutant: Mutant, source: str, filename: str) -> CodeType:
    """Returns the code of the module with the change."""
    tree = ast.parse(source)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    node = next(islice(ast.walk(tree), mutant.position, None))
    _, new = list(_replacements(node, parents))[mutant.variant]
    changed = ast.fix_missing_locations(_with(tree, node, new))
    assert isinstance(changed, ast.Module)
    return compile(changed, filename, "exec", dont_inherit=True)


# --- operators --------------------------------------------------------------------------------------------------------


_Change = tuple[str, ast.AST]
_Parents = dict[ast.AST, ast.AST]


def _replacements(node: ast.AST, parents: _Parents) -> Iterator[_Change]:
    for kind, operator in _OPERATORS:
        if isinstance(node, kind):
            yield from operator(node, parents)


def _comparison(node: ast.Compare, parents: _Parents) -> Iterator[_Change]:
    for at, op in enumerate(node.ops):
        for other in _COMPARISONS[type(op)]:
            new = copy.copy(node)
            new.ops = [*node.ops[:at], other(), *node.ops[at + 1 :]]
            yield "comparison", new


def _boolean(node: ast.BoolOp, parents: _Parents) -> Iterator[_Change]:
    new = copy.copy(node)
    new.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield "boolean", new


def _unary(node: ast.UnaryOp, parents: _Parents) -> Iterator[_Change]:
    if isinstance(node.op, ast.Not | ast.USub):
        yield "boolean" if isinstance(node.op, ast.Not) else "arithmetic", node.operand


def _arithmetic(node: ast.BinOp, parents: _Parents) -> Iterator[_Change]:
    textual = any(isinstance(side, ast.JoinedStr | ast.List | ast.Tuple) or _text(side) for side in _sides(node))
    if type(node.op) in _ARITHMETIC and not textual:
        new = copy.copy(node)
        new.op = _ARITHMETIC[type(node.op)]()
        yield "arithmetic", new


def _augmented(node: ast.AugAssign, parents: _Parents) -> Iterator[_Change]:
    if type(node.op) in _ARITHMETIC:
        new = copy.copy(node)
        new.op = _ARITHMETIC[type(node.op)]()
        yield "arithmetic", new


def _constant(node: ast.Constant, parents: _Parents) -> Iterator[_Change]:
    match node.value:
        case bool(value):
            yield "constant", ast.Constant(not value)
        case int(value) | float(value):
            yield "constant", ast.Constant(value + 1)
        case str(value) if not isinstance(parents[node], ast.JoinedStr):
            yield "constant", ast.Constant("" if value else "XX")
        case bytes(value):
            yield "constant", ast.Constant(b"" if value else b"XX")


def _returned(node: ast.Return, parents: _Parents) -> Iterator[_Change]:
    if node.value is not None and not isinstance(node.value, ast.Constant):
        yield "return", ast.Return(ast.Constant(None))


def _condition(node: ast.If | ast.IfExp | ast.While, parents: _Parents) -> Iterator[_Change]:
    if not isinstance(node.test, ast.Compare | ast.Constant | ast.UnaryOp):  # those change in their own ways
        new = copy.copy(node)
        new.test = ast.UnaryOp(ast.Not(), node.test)
        yield "boolean", new
    if isinstance(node, ast.If) and not node.orelse:
        yield "removal", ast.Pass()


def _filter(node: ast.comprehension, parents: _Parents) -> Iterator[_Change]:
    for at in range(len(node.ifs)):
        new = copy.copy(node)
        new.ifs = node.ifs[:at] + node.ifs[at + 1 :]
        yield "removal", new


def _statement(node: ast.Expr, parents: _Parents) -> Iterator[_Change]:
    if isinstance(node.value, ast.Call | ast.Await | ast.Yield | ast.YieldFrom):
        yield "removal", ast.Pass()


def _jump(node: ast.Break | ast.Continue, parents: _Parents) -> Iterator[_Change]:
    yield "jump", ast.Continue() if isinstance(node, ast.Break) else ast.Break()


def _swapped(node: ast.Call, parents: _Parents) -> Iterator[_Change]:
    if len(node.args) < 2 or any(isinstance(one, ast.Starred) for one in node.args[:2]):
        return
    if getattr(node.func, "id", getattr(node.func, "attr", "")) in _UNSWAPPED:
        return
    new = copy.copy(node)
    new.args = [node.args[1], node.args[0], *node.args[2:]]
    yield "arguments", new


def _opposite(node: ast.Name | ast.Attribute, parents: _Parents) -> Iterator[_Change]:
    name = node.id if isinstance(node, ast.Name) else node.attr
    call = parents[node]
    if name in _OPPOSITE and isinstance(call, ast.Call) and call.func is node:
        new = copy.copy(node)
        setattr(new, "id" if isinstance(node, ast.Name) else "attr", _OPPOSITE[name])
        yield "opposite", new


_OPERATORS: tuple[tuple[type[ast.AST] | tuple[type[ast.AST], ...], Callable[..., Iterator[_Change]]], ...] = (
    (ast.Compare, _comparison),
    (ast.BoolOp, _boolean),
    (ast.UnaryOp, _unary),
    (ast.BinOp, _arithmetic),
    (ast.AugAssign, _augmented),
    (ast.Constant, _constant),
    (ast.Return, _returned),
    ((ast.If, ast.IfExp, ast.While), _condition),
    (ast.comprehension, _filter),
    (ast.Expr, _statement),
    ((ast.Break, ast.Continue), _jump),
    (ast.Call, _swapped),
    ((ast.Name, ast.Attribute), _opposite),
)


# --- places in a tree -------------------------------------------------------------------------------------------------


class _Replacement(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        if node is not self.old:
            return self.generic_visit(node)
        return ast.copy_location(self.new, node) if hasattr(node, "lineno") else self.new


def _with(tree: ast.AST, old: ast.AST, new: ast.AST) -> ast.AST:
    """Returns a copy of the tree with one node replaced."""
    memo: dict[int, object] = {}
    copied = copy.deepcopy(tree, memo)
    target = memo[id(old)]
    assert isinstance(target, ast.AST) and isinstance(copied, ast.AST)
    changed: ast.AST = _Replacement(target, copy.deepcopy(new)).visit(copied)
    return changed


def _sides(node: ast.BinOp) -> tuple[ast.expr, ast.expr]:
    return node.left, node.right


def _text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)


def _left_alone(node: ast.AST, parents: _Parents) -> bool:
    child = node
    while parent := parents.get(child):
        match parent:
            case ast.Assert():
                return True
            case ast.Expr(value=ast.Constant()) if isinstance(node, ast.Constant):
                return True
            case ast.FunctionDef() | ast.AsyncFunctionDef() if (
                child in parent.decorator_list or child is parent.returns
            ):
                return True
            case ast.ClassDef() if child in parent.decorator_list:
                return True
            case ast.arg() | ast.AnnAssign() if child is parent.annotation:
                return True
            case ast.Raise() if _text(node):
                return True
            case ast.keyword(arg="strict") | ast.Subscript(value=ast.Name(id="Literal")):
                return True
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                return True
            case ast.Assign(targets=[ast.Name(id="__all__" | "__slots__" | "__match_args__")]):
                return True
        child = parent
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _statement_of(node: ast.AST, parents: _Parents) -> ast.stmt | ast.match_case | ast.ExceptHandler:
    while not isinstance(node, ast.stmt | ast.match_case | ast.ExceptHandler):
        node = parents[node]
    return node


def _function_of(node: ast.AST, parents: _Parents) -> tuple[str, int]:
    """Returns the qualified name and first line of the function that runs a statement.

    The head of a function, with its defaults, runs outside it.
    """
    names: list[str] = []
    start = 0
    while parent := parents.get(node):
        if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.append(parent.name)
            if not start and not isinstance(parent, ast.ClassDef):
                start = min([parent.lineno, *(one.lineno for one in parent.decorator_list)])
        node = parent
    return (".".join(reversed(names)), start) if start else ("", 0)


def _body(statement: ast.AST) -> list[ast.stmt]:
    body = getattr(statement, "body", None)
    return body if isinstance(body, list) else []


def _lines_of(statement: ast.stmt | ast.match_case | ast.ExceptHandler) -> tuple[int, int]:
    """Returns the first and last line of a statement, or of the head of a compound one."""
    placed = statement.pattern if isinstance(statement, ast.match_case) else statement
    if body := _body(statement):
        return placed.lineno, max(body[0].lineno - 1, placed.lineno)
    return placed.lineno, placed.lineno if isinstance(statement, ast.Match) else placed.end_lineno or placed.lineno


def _head(statement: ast.AST) -> str:
    """Returns a statement as text, without the body of a compound one."""
    shown = copy.copy(statement)
    if isinstance(statement, ast.If) or _body(statement):
        shown.body = [ast.Expr(ast.Constant(...))]  # type: ignore[attr-defined]
        for name in ("orelse", "finalbody", "handlers"):
            if hasattr(shown, name):
                setattr(shown, name, [])
    elif isinstance(statement, ast.Match):
        shown.cases = []  # type: ignore[attr-defined]
    return ast.unparse(shown)


def _changed_part(before: str, after: str) -> tuple[str, str]:
    """Returns what differs, each side in one line, with some characters around it."""
    one, two = " ".join(before.split()), " ".join(after.split())
    start = _common(one, two)
    end = _common(one[start:][::-1], two[start:][::-1])
    start, end = one.rfind(" ", 0, max(start - _CONTEXT, 0)) + 1, max(end - _CONTEXT, 0)
    return one[start : len(one) - end], two[start : len(two) - end]


def _common(one: str, two: str) -> int:
    """Returns the number of characters that both begin with."""
    pairs = zip(one, two, strict=False)
    return next((at for at, (left, right) in enumerate(pairs) if left != right), min(len(one), len(two)))
