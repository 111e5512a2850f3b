"""Assigns each claim in a program to a statement, from comments and the syntax tree."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from questions.snippets.claims import Items, Number, ParsedClaim, mentions_failure, read_claim


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment, or consecutive comments on lines of their own."""

    text: str
    line: int
    column: int
    """Column of its `#`, from 0."""
    end_line: int
    alone: bool
    """Whether nothing precedes it on its line."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim and its statement."""

    parsed: ParsedClaim
    line: int
    """Line of the claim in the program, from 1."""
    column: int
    """From 0."""


@dataclass(slots=True)
class Probe:
    """A statement whose result the sandbox reports."""

    line: int
    column: int
    shown: str
    """The statement on one line."""
    prints: bool = False
    """Whether it is a call of print."""
    bare: bool = False
    """Whether it is an expression statement."""
    may_fail: bool = False
    claims: list[Claim] = field(default_factory=list)
    also: list[str] = field(default_factory=list)
    """Expressions to evaluate after it: what its claims name, and what it changes in place."""


def probes_of(tree: ast.Module, text: str) -> list[Probe]:
    """Returns the statements of a program that have claims."""
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    probes: dict[tuple[int, int], Probe] = {}
    for comment in comments_of(text):
        found = _statement_of(comment, statements)
        if found is None:
            continue
        node, above = found
        probe = probes.get((node.lineno, node.col_offset)) or _probe(node, text)
        probe.may_fail |= mentions_failure(comment.text)
        for claim in _claims_of(comment, probe, above):
            probe.claims.append(claim)
            if claim.parsed.name:
                probe.also.append(claim.parsed.name)
        if probe.claims or probe.may_fail:
            probes[node.lineno, node.col_offset] = probe
    return _without_steps(sorted(probes.values(), key=lambda probe: (probe.line, probe.column)))


def comments_of(text: str) -> list[Comment]:
    """Returns the comments of a program in order; consecutive comments on lines of their own are one."""
    found: list[Comment] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                line, column = token.start
                found.append(Comment(token.string, line, column, line, not token.line[:column].strip()))
    except (tokenize.TokenError, SyntaxError):
        pass  # keep what was read so far
    return list(_joined(found))


def _joined(comments: list[Comment]) -> Iterator[Comment]:
    last: Comment | None = None
    for comment in comments:
        joins = last is not None and last.end_line + 1 == comment.line and comment.alone
        # A tensor of several lines may start after a statement.
        if last and joins and (last.column == comment.column and (last.alone or _open(last.text))):
            last = replace(last, text=f"{last.text}\n{comment.text}", end_line=comment.line)
            continue
        if last:
            yield last
        last = comment
    if last:
        yield last


def _open(text: str) -> bool:
    return sum(text.count(mark) for mark in "([{") > sum(text.count(mark) for mark in ")]}")


def _statement_of(comment: Comment, statements: list[ast.stmt]) -> tuple[ast.stmt, bool] | None:
    """Returns the statement a comment is about, and whether the comment is above it."""
    simple = [node for node in statements if isinstance(node, _SIMPLE)]
    if not comment.alone:
        ending = [node for node in simple if node.end_lineno == comment.line]
        prints = [node for node in ending if _is_print(node)]
        chosen = prints or ending
        return (max(chosen, key=lambda node: (node.lineno, node.col_offset)), False) if chosen else None
    before = [node for node in simple if node.end_lineno == comment.line - 1 and node.col_offset == comment.column]
    if before and isinstance(before[-1], ast.Expr):
        return before[-1], False
    behind = [node for node in simple if node.lineno == comment.end_line + 1 and node.col_offset == comment.column]
    return (behind[0], True) if behind else None


_SIMPLE = (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Assert)


def _is_print(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(value=ast.Call(func=ast.Name(id="print" | "pprint"), keywords=words)):
            return all(word.arg != "file" for word in words)
    return False


def _probe(node: ast.stmt, text: str) -> Probe:
    shown = " ".join((ast.get_source_segment(text, node) or "").split())
    bare = isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)
    return Probe(node.lineno, node.col_offset, shown, _is_print(node), bare, also=_changed(node))


def _changed(node: ast.stmt) -> list[str]:
    """Returns the name a statement changes in place: `x` in `x.add_(1)` and in `x[0] = 5`."""
    target: ast.expr | None = None
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=value))):
            target = value
        case ast.Assign(targets=[ast.Subscript(value=value)]) | ast.AugAssign(target=ast.Subscript(value=value)):
            target = value
        case ast.AugAssign(target=ast.Name() as value):
            target = value
    while isinstance(target, ast.Subscript):
        target = target.value
    return [ast.unparse(target)] if isinstance(target, ast.Name | ast.Attribute) else []


def _claims_of(comment: Comment, probe: Probe, above: bool) -> Iterator[Claim]:
    bodies = [line.lstrip().lstrip("#") for line in comment.text.split("\n")]
    text = "\n".join(bodies)
    if comment.alone and len(bodies) > 1:
        # `# Output:` on a line of its own is about the lines below it.
        text = (
            text if _open(bodies[0]) or re.match(r"\s*(?:output|prints?|result)\b\W*$", bodies[0], re.I) else bodies[0]
        )
    parsed = read_claim(text)
    if parsed is None or not _stands(parsed, comment, probe, above):
        return
    head = text[: parsed.start]
    line = comment.line + head.count("\n")
    if "\n" in head:
        raw = comment.text.split("\n")[head.count("\n")]
        inside = comment.column + (len(raw) - len(raw.lstrip().lstrip("#")))
        column = inside + parsed.start - head.rfind("\n") - 1
    else:
        raw = comment.text.split("\n")[0]
        column = comment.column + len(raw) - len(bodies[0]) + parsed.start
    yield Claim(parsed, line, column)


def _stands(parsed: ParsedClaim, comment: Comment, probe: Probe, above: bool) -> bool:
    """Returns whether a claim at this position is about the statement."""
    if above:
        return parsed.kind == "raises"
    if parsed.kind == "raises" or parsed.name:
        return True
    if comment.alone and not parsed.marked:
        bare_number = isinstance(parsed.shown, Number) and parsed.shown.whole
        return parsed.kind == "value" and not bare_number
    if probe.prints or probe.bare:
        return True
    return parsed.kind != "words" and not _is_range(parsed)


def _is_range(parsed: ParsedClaim) -> bool:
    """Returns whether `[0, 1]` after an assignment may be the range of the values."""
    if not isinstance(parsed.shown, Items) or len(parsed.shown.items) != 2:
        return False
    first, second = parsed.shown.items
    return (
        isinstance(first, Number)
        and isinstance(second, Number)
        and first.value in (0, -1)
        and second.value in (1, 255)
        and not parsed.label
    )


def _without_steps(probes: list[Probe]) -> list[Probe]:
    """Returns the probes without claims that only number the steps: 1, 2, 3."""
    numbers = [
        claim.parsed.shown.value.real
        for probe in probes
        for claim in probe.claims
        if _is_step(claim) and isinstance(claim.parsed.shown, Number)
    ]
    if len(numbers) > 1 and numbers == [numbers[0] + at for at in range(len(numbers))] and numbers[0] in (0, 1):
        for probe in probes:
            probe.claims = [claim for claim in probe.claims if not _is_step(claim)]
    return [probe for probe in probes if probe.claims or probe.may_fail]


def _is_step(claim: Claim) -> bool:
    parsed = claim.parsed
    return (
        isinstance(parsed.shown, Number) and parsed.shown.whole and not (parsed.marked or parsed.label or parsed.name)
    )
