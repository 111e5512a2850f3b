"""Enough of PromQL to read our own expressions: what is no expression is refused, and what it asks for is listed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?)(?![\w.])|(?P<word>[a-zA-Z_:][\w:]*)|(?P<text>\"(?:[^\"\\]|\\.)*\")"
    r"|(?P<range>\[\d+[smhd]\])|(?P<sign>=~|!~|!=|==|>=|<=|[-+*/%^<>=(){},]))"
)
AGGREGATIONS = frozenset({"sum", "max", "min", "avg", "count"})
COUNTED = frozenset({"rate", "increase", "irate"})
MEASURED = frozenset({"delta", "deriv"})
FUNCTIONS = {"histogram_quantile": 2, "vector": 1, "absent": 1, "abs": 1} | dict.fromkeys(COUNTED | MEASURED, 1)
OPERATORS = frozenset({"+", "-", "*", "/", "%", "^", "<", ">", "==", "!=", ">=", "<=", "and", "or", "unless"})


class NoExpression(ValueError):
    """It cannot be read; the message says where."""


@dataclass
class Asked:
    """One metric, with the labels that are matched and those it is grouped by, and the function over its range."""

    metric: str
    labels: set[str] = field(default_factory=set)
    over: str = ""
    ranged: bool = False


@dataclass
class _Reader:
    tokens: list[tuple[str, str]]
    asked: list[Asked] = field(default_factory=list)

    def look(self) -> str:
        return self.tokens[0][1] if self.tokens else ""

    def take(self, *wanted: str) -> tuple[str, str]:
        if not self.tokens or (wanted and self.look() not in wanted):
            raise NoExpression(f"{' or '.join(wanted) or 'more'} is missing before {self.look() or 'the end'}")
        return self.tokens.pop(0)

    def expression(self, over: str = "") -> None:
        self.one(over)
        while self.look() in OPERATORS:
            self.take()
            self.one("")

    def one(self, over: str) -> None:
        kind, text = self.take()
        if kind == "number":
            return
        if text == "(":
            self.expression()
            self.take(")")
        elif kind != "word":
            raise NoExpression(f"{text} begins nothing")
        elif text in AGGREGATIONS:
            self.aggregation()
        elif text in FUNCTIONS:
            self.call(text)
        elif self.look() == "(":
            raise NoExpression(f"there is no function {text}")
        else:
            self.selector(text, over)

    def aggregation(self) -> None:
        labels = self.names() if self.look() == "by" else set()
        before = len(self.asked)
        self.take("(")
        self.expression()
        self.take(")")
        for each in self.asked[before:]:
            each.labels |= labels

    def names(self) -> set[str]:
        self.take("by")
        self.take("(")
        found = {self.take()[1]}
        while self.take(",", ")")[1] == ",":
            found.add(self.take()[1])
        return found

    def call(self, name: str) -> None:
        self.take("(")
        self.expression(name)
        for _ in range(FUNCTIONS[name] - 1):
            self.take(",")
            self.expression(name)
        self.take(")")

    def selector(self, metric: str, over: str) -> None:
        asked = Asked(metric, over=over)
        if self.look() == "{":
            self.take("{")
            while self.look() != "}":
                asked.labels.add(self.take()[1])
                self.take("=", "!=", "=~", "!~")
                self.string()
                if self.look() == ",":
                    self.take()
            self.take("}")
        if self.tokens and self.tokens[0][0] == "range":
            self.take()
            asked.ranged = True
        if asked.ranged is not (over in COUNTED | MEASURED):
            raise NoExpression(f"{metric}: a range and a function over one belong together")
        self.asked.append(asked)

    def string(self) -> None:
        kind, text = self.take()
        if kind != "text":
            raise NoExpression(f"{text} is no text")
        re.compile(text[1:-1])


def asked_by(expression: str) -> list[Asked]:
    """Returns the series and labels that an expression uses. Raises NoExpression if it cannot be parsed."""
    reader = _Reader(list(_tokens(expression.replace("$__rate_interval", "5m"))))
    reader.expression()
    if reader.tokens:
        raise NoExpression(f"{reader.look()} is too much")
    return reader.asked


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(text.rstrip()):
        found = TOKEN.match(text, at)
        if found is None or found.lastgroup is None:
            raise NoExpression(f"what is {text[at : at + 10]!r}?")
        at = found.end()
        yield found.lastgroup, found[found.lastgroup]
