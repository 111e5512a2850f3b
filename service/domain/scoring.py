"""What an answer is worth: pure rules from an answer to its credit and from a credit to points. No ledger, no wording.

A `code` answer's credit comes from the cases the sandbox judged; every other kind is judged here.
"""

from __future__ import annotations

import ast
import cmath
import math
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final

from questions.model import LEVELS, Kind, Level, Question
from service.domain.smart_text import undo_smart_text
from service.wire import Verdict

# Values as members type them, read without evaluating anything, in a form that compares by meaning. No scoring.


Value = tuple[str, Any]
"""A tag and a hashable content: two values are the same answer when these are equal."""

LONGEST: Final = 2000
"""Characters of a value that are still read."""

_ALIASES = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "int": "int32",
    "long": "int64",
    "short": "int16",
    "cfloat": "complex64",
    "cdouble": "complex128",
    "chalf": "complex32",
}
_WORDS: dict[str, Any] = {
    "true": True,
    "false": False,
    "none": None,
    "null": None,
    "nan": float("nan"),
    "inf": float("inf"),
    "infinity": float("inf"),
}
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+")
_NESTED_IN_FENCE = re.compile(r"\A(?:```\w*\n(.*)\n?```|`([^`]*)`)\Z", re.DOTALL)


def read_value(text: str) -> Value:
    """`text` as a comparable value. Raises ValueError that says what is wrong with it and what to write.

    Lists and tuples are one, at every depth; numbers are equal by value, 1 and 1.0 alike; a bool is no number;
    nan is nan. `torch.Size([1, 4])`, `tensor([1.])`, `torch.float32`, `float32` and `true` are understood.
    """
    typed = _bare(text)
    if not typed:
        raise ValueError("nothing was written; write a value such as 3, 0.5, (1, 4), True or float32")
    if len(typed) > LONGEST:
        raise ValueError(f"{len(typed)} characters are too long for a value; write at most {LONGEST}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _read(ast.parse(typed, mode="eval").body)
    except _NotAValue as error:
        raise ValueError(str(error)) from None
    except (SyntaxError, ValueError, TypeError, OverflowError, RecursionError, MemoryError):
        raise ValueError(
            f"“{_short(typed)}” is not a Python value; write it as Python would, such as 3, (1, 4), True or float32"
        ) from None


def same_value(key: Value, text: str) -> bool:
    """Whether `text` says the value `key`. Raises ValueError where `text` is no value at all.

    What is known of `key` helps to read `text`: a text may come without its quotes, so that anything written is
    one, and a number with commas between its thousands.
    """
    typed = _bare(text)
    if key[0] == "text" and typed:
        return key == _text(typed) or key == _read_or_text(typed)
    if key[0] == "number" and _THOUSANDS.fullmatch(typed):
        typed = typed.replace(",", "")
    return read_value(typed) == key


def _read_or_text(typed: str) -> Value:
    try:
        return read_value(typed)
    except ValueError:
        return _text(typed)


class _NotAValue(Exception):
    """A message that already says what is wrong and what to write."""


def _bare(text: str) -> str:
    """`text` without what chat puts around it."""
    typed = undo_smart_text(text).strip()
    if fenced := _NESTED_IN_FENCE.match(typed):
        typed = (fenced[1] if fenced[1] is not None else fenced[2]).strip()
    return typed


def _short(text: str) -> str:
    line = " ".join(text.replace("`", "'").split())
    return line if len(line) <= 60 else line[:59] + "…"


def _read(node: ast.expr) -> Value:
    match node:
        case ast.Constant():
            return _plain(node.value)
        case ast.Tuple() | ast.List():
            return "sequence", tuple(_read(item) for item in node.elts)
        case ast.Set():
            return "set", frozenset(_read(item) for item in node.elts)
        case ast.Dict() if None not in node.keys:
            pairs = zip(filter(None, node.keys), node.values, strict=True)
            return "dict", frozenset({_read(key): _read(value) for key, value in pairs}.items())
        case ast.UnaryOp() | ast.BinOp():
            return _plain(_number(node))
        case ast.Name() | ast.Attribute():
            return _name(ast.unparse(node))
        case ast.Call(args=[only], keywords=[]) if wrapper := _WRAPPERS.get(ast.unparse(node.func)):
            return wrapper(_read(only))
        case ast.Call(args=[], keywords=[]) if ast.unparse(node.func) == "set":
            return "set", frozenset()
    raise _NotAValue(f"“{_short(ast.unparse(node))}” is not yet a value; work it out and write what it comes to")


def _plain(value: Any) -> Value:
    if isinstance(value, bool):
        return "bool", value
    if isinstance(value, (int, float, complex)):
        # nan differs from itself; as an answer it is nan. An int too large for a float is not nan either.
        return ("nan", None) if not isinstance(value, int) and cmath.isnan(value) else ("number", value)
    if isinstance(value, str):
        return _text(value)
    if value is None or isinstance(value, bytes):
        return type(value).__name__, value
    raise _NotAValue("`...` is not a value; write all of it out")


def _number(node: ast.expr) -> Any:
    """A signed number, or a complex one written as real and imaginary part; not sums in general."""
    match node:
        case ast.Constant(value=bool()):
            pass
        case ast.Constant(value=int() | float() | complex()):
            return node.value
        case ast.UnaryOp(op=ast.USub() | ast.UAdd()):
            number = _number(node.operand)
            return -number if isinstance(node.op, ast.USub) else number
        case ast.BinOp(op=ast.Add() | ast.Sub(), right=ast.Constant(value=complex() as right)):
            left = _number(node.left)
            return left + right if isinstance(node.op, ast.Add) else left - right
        case ast.Name() | ast.Attribute() if _name(ast.unparse(node)) == ("number", float("inf")):
            return float("inf")
    raise _NotAValue(f"“{_short(ast.unparse(node))}” is not yet a value; work it out and write what it comes to")


def _name(name: str) -> Value:
    """A name without quotes: a constant, or the dtype, device or word it spells."""
    ending = name.removeprefix("torch.").removeprefix("math.")
    if ending.lower() in _WORDS:
        return _plain(_WORDS[ending.lower()])
    return _text(name)


def _text(text: str) -> Value:
    """A text; a dtype's under its one name, for torch.float is torch.float32."""
    if (name := text.removeprefix("torch.")) != text and name.isidentifier():
        return "text", _ALIASES.get(name, name)
    return "text", text


def _size(value: Value) -> Value:
    if value[0] != "sequence":
        raise _NotAValue("a Size takes a list; write torch.Size([1, 4]) or (1, 4)")
    return value


def _float(value: Value) -> Value:
    return _name(value[1].strip().lower()) if value[0] == "text" else value


def _same(value: Value) -> Value:
    return value


_WRAPPERS: dict[str, Callable[[Value], Value]] = {
    **dict.fromkeys(("Size", "torch.Size"), _size),
    **dict.fromkeys(("tensor", "torch.tensor", "array", "np.array", "device", "torch.device"), _same),
    "float": _float,
}

# Which key points an open answer mentions: pure and deterministic, never fuzzy on identifiers or numbers.
#
# A key point counts as mentioned when all of its marked terms (**bold** or `code`) are; without marked terms, when
# every identifier and number in it is, and three in five of its significant words; so too what follows a label, where
# the label alone is marked (`**View**: shares the storage`). Identifiers and numbers are matched
# whole: `float16` is not `bfloat16`, numbers compare by value. Words of prose are matched by their stem.
# The rule cannot read: it does not see a negation, so what it finds is always provisional.


SHARE_OF_WORDS = 0.6
"""The share of an unmarked point's significant words that must be there."""

_MARKED = re.compile(r"(?P<ticks>`+)(?P<code>.+?)(?P=ticks)|\*\*(?P<bold>.+?)\*\*", re.DOTALL)
_LABEL = re.compile(r"(?:\*\*[^*]+\*\*|`[^`]+`)[^:]{0,40}:(?:\*\*)?\s+(?=\S)|\*\*[^*]+:\*\*\s+(?=\S)")
_TOKEN = re.compile(
    r"""(?P<number>(?:(?<![\w)\].-])-)?(?<![\w.])(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,6})?(?![\w]|\.\d))
      | (?P<name>\w+(?:\.\w+)*)""",
    re.VERBOSE,
)
_SENTENCE_END = re.compile(r"[.!?:\n]")
_LATIN = frozenset({"e.g", "i.e", "a.k.a", "w.r.t"})
_STOP_WORDS = """a about after all also am an and any are as at be because been before being but by can cannot could
did do does each for from had has have he her his how i if in into is it its just like may me more most much must my
no not of on only onto or other our out over own same shall she should so some such than that the their them then
there these they this those through to too under until up upon us very was we were what when where which while who
whose why will with would you your"""
_STOP = frozenset(_STOP_WORDS.split())
# Longest first; British and American spellings lose theirs alike.
_ENDINGS = """izations isations ization isation ations ating ation izing ising ators ates ated ator ized ised izes ises
ings edly ions ate ize ise ing ion ies ied ers ed er es ly s e y"""
_SUFFIXES = tuple(_ENDINGS.split())


@dataclass(frozen=True, slots=True)
class _MatchTokens:
    """What a text consists of, as far as matching goes."""

    names: set[str] = field(default_factory=set)
    """Every word and dotted name as written."""
    numbers: set[Decimal] = field(default_factory=set)
    stems: set[str] = field(default_factory=set)
    """Stems of the words of prose, short and common ones too."""
    significant: set[str] = field(default_factory=set)
    """Stems of the words that carry the meaning."""
    identifiers: set[str] = field(default_factory=set)
    """The names no one would write in prose: `no_grad`, `float16`, `x.grad`, `DataLoader`."""


def match(key_points: Sequence[str], text: str) -> list[bool]:
    """Whether `text` mentions each of `key_points` (Markdown), by the rule this module opens with."""
    said = undo_smart_text(text)
    tokens = _tokens(said)
    return [_mentions(undo_smart_text(point), tokens, said) for point in key_points]


def _mentions(point: str, said: _MatchTokens, text: str) -> bool:
    terms = list(_MARKED.finditer(point))
    if not terms:
        return _has_prose(_tokens(point), said)
    label = _LABEL.match(point)
    if label and terms[-1].end() <= label.end() and not _has_prose(_tokens(point[label.end() :]), said):
        return False
    return all(
        _has_term(term["code"], said, text) if term["code"] else _has_bold(term["bold"], said, text) for term in terms
    )


def _has_term(code: str, said: _MatchTokens, text: str) -> bool:
    """A term in backticks: every name and number of it, exactly; one of symbols alone, as it stands."""
    wanted = _tokens(code)
    if not wanted.names and not wanted.numbers:
        return code.strip() in text
    return wanted.numbers <= said.numbers and all(_has_name(name, said.names) for name in wanted.names)


def _has_bold(bold: str, said: _MatchTokens, text: str) -> bool:
    """A term in bold: up to three words all of them, by stem; what is in backticks within it exactly."""
    terms = [term["code"] for term in _MARKED.finditer(bold) if term["code"]]
    if not all(_has_term(term, said, text) for term in terms):
        return False
    words = _tokens(_MARKED.sub(" ", bold))
    if not words.names and not words.numbers:
        return bool(terms)
    few = len(words.significant) <= 3
    return _has_prose(words, said) and (not few or words.significant <= said.stems)


def _has_prose(wanted: _MatchTokens, said: _MatchTokens) -> bool:
    if not _has_exact(wanted, said):
        return False
    words = wanted.significant
    if not words:
        # Common words alone must be there in full: nothing among them can be left out.
        return wanted.stems <= said.stems and bool(wanted.names or wanted.numbers)
    return len(words & said.stems) >= math.ceil(SHARE_OF_WORDS * len(words))


def _has_exact(wanted: _MatchTokens, said: _MatchTokens) -> bool:
    return wanted.numbers <= said.numbers and all(_has_name(name, said.names) for name in wanted.identifiers)


def _has_name(wanted: str, names: set[str]) -> bool:
    """Whether `wanted` was written, with or without what qualifies it: `no_grad` and `torch.no_grad` are one."""
    return any(name == wanted or name.endswith("." + wanted) or wanted.endswith("." + name) for name in names)


def _tokens(text: str) -> _MatchTokens:
    found = _MatchTokens()
    end = 0
    for token in _TOKEN.finditer(text):
        if token["number"]:
            found.numbers.add(Decimal(token["number"]))
        else:
            opens_sentence = not end or bool(_SENTENCE_END.search(text, end, token.start()))
            _add_name(found, token["name"], opens_sentence)
        end = token.end()
    return found


def _add_name(found: _MatchTokens, name: str, opens_sentence: bool) -> None:
    if name.casefold() in _LATIN:
        return
    found.names.add(name)
    if opens_sentence and name.istitle() and name.isalpha():
        # Telephones capitalise the first word: "View returns ..." names `view`.
        found.names.add(name.lower())
    if any(c.isdigit() or c in "_." for c in name):
        found.identifiers.add(name)
    if any(c.isdigit() or c == "_" for c in name):
        return
    found.stems.update(map(_stem, name.split(".")))
    if "." not in name and name.casefold() not in _STOP:
        found.significant.add(_stem(name))


def _stem(word: str) -> str:
    """`word` without case and without its ending, so that allocate, allocates and allocation are one."""
    folded = word.casefold()
    for suffix in _SUFFIXES:
        if folded.endswith(suffix) and len(folded) - len(suffix) >= 3:
            return _undouble(folded.removesuffix(suffix))
    return _undouble(folded)


def _undouble(stem: str) -> str:
    """`stopp` of stopped as `stop`."""
    return stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] else stem


_BASE: Mapping[Level, int] = MappingProxyType({"mid": 10, "senior": 15, "principal": 20})


@dataclass(frozen=True, slots=True)
class ScoringPolicy:
    """The numbers points are made of, printed as they are in `/quiz rules`.

    Raises ValueError for numbers that could make points negative.
    """

    base: Mapping[Level, int] = field(default_factory=lambda: _BASE)
    unlevelled: int = 10
    """Base of a question without a level."""
    aim: float = 0.7
    """The share right at which a question is worth just its base."""
    span: float = 0.5
    """How much of the base a share right of 0 rather than 1 adds."""
    speed_bonus: bool = False
    speed_window_s: float = 600.0
    """Seconds after the post within which there is a bonus; it falls evenly to nothing."""
    speed_share: float = 0.2
    """The bonus at once, as a share of the points without it."""
    speed_kinds: frozenset[Kind] = frozenset({"choice", "value", "output"})
    """Kinds with a bonus: writing code or prose is no race."""

    def __post_init__(self) -> None:
        shares = (self.aim, self.span, self.speed_share)
        if min(self.unlevelled, *self.base.values()) < 1 or not all(0 <= share <= 1 for share in shares):
            raise ValueError("scoring policy: a base must be 1 or more, and every share lie between 0 and 1")
        if not self.speed_window_s > 0:
            raise ValueError(f"scoring policy: a speed window of {self.speed_window_s} s; it must be above 0")


@dataclass(frozen=True, slots=True)
class Points:
    """Points for one answer; `total` is `base` + `bonus`, never negative."""

    base: int
    bonus: int

    @property
    def total(self) -> int:
        return self.base + self.bonus


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """What a member gave: option ids for a `choice`, text for every other kind."""

    options: frozenset[str] | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Credit:
    """How much of an answer is right."""

    share: float
    """0 to 1."""
    verdict: Verdict
    """`accepted` for a share of 1; partly right is `wrong` with its share."""
    message: str = ""
    """A sentence for the member, cause and cure; empty where there is nothing to say."""
    provisional: bool = False
    """Whether a person may see it otherwise: key points are matched, not understood."""
    passed: int = 0
    """Right options chosen, key points mentioned, or cases passed."""
    total: int = 0
    """Of how many."""
    matched: tuple[bool, ...] = ()
    """For `open`: which key points were mentioned, in their order."""


@dataclass(frozen=True, slots=True)
class RulesText:
    """The facts of `/quiz rules`: the very numbers `points` uses."""

    base: dict[str, int]
    """By level."""
    unlevelled: int
    aim: float
    worth: tuple[tuple[Level, tuple[int, ...]], ...]
    """By level the whole credit's points at each of `worth_at`."""
    worth_at: tuple[float, ...]
    """Shares right, of all who answered."""
    speed_bonus: bool
    speed_window_s: float
    speed_share: float
    speed_kinds: tuple[Kind, ...]
    most_bonus: dict[str, int]
    """By level, at a question answered at once and worth its base."""
    free: tuple[Verdict, ...] = ("system error",)
    """Verdicts that cost nothing."""


def points(
    kind: Kind,
    level: Level | None,
    difficulty: float | None,
    credit: float,
    seconds: float | None,
    policy: ScoringPolicy = ScoringPolicy(),
) -> Points:
    """The points of an answer worth `credit` (0 to 1), given `seconds` after the post.

    `difficulty` is the share of answers measured right, None where nobody has answered yet. There is a bonus only
    for a full credit. Raises ValueError for a credit or difficulty that is not 0 to 1.
    """
    _must_be_share("credit", credit)
    worth = _worth(level, difficulty, policy)
    earned = _rounded(worth * credit)
    if seconds is None or credit < 1 or kind not in policy.speed_kinds:
        return Points(earned, 0)
    return Points(earned, _bonus(worth, seconds, policy))


def credit(question: Question, answer: ScoredAnswer) -> Credit:
    """How much of `answer` is right. What cannot be read as an answer is `invalid`, never an exception;
    a question whose own key cannot be read is a `system error`. Raises ValueError for a `code` question.
    """
    match question.kind:
        case "choice":
            return _choice(question, answer.options or frozenset())
        case "value":
            return _value(question, answer.text or "")
        case "output":
            return _output(question, answer.text or "")
        case "open":
            return _open(question, answer.text or "")
    raise ValueError(f"question {question.id}: code is judged by its cases; use cases_credit")


def cases_credit(passed: int, total: int, failure: Verdict = "wrong", message: str = "") -> Credit:
    """The credit of a `code` answer that passed `passed` of `total` cases and failed the first other by `failure`.

    Nothing is earned with a `system error` or an `invalid` answer, whatever passed before.
    """
    if total < 1 or not 0 <= passed <= total:
        return Credit(0.0, "system error", message or "no case was judged; this is not your fault, try again later")
    if failure in ("system error", "invalid"):
        return Credit(0.0, failure, message, passed=passed, total=total)
    if passed == total:
        return Credit(1.0, "accepted", message, passed=passed, total=total)
    return Credit(passed / total, failure, message, passed=passed, total=total)


def rules_text(policy: ScoringPolicy = ScoringPolicy()) -> RulesText:
    """What members are told of `policy`, as data."""
    shares = (1.0, policy.aim, 0.4, 0.1)
    worth = tuple((level, tuple(_worth(level, share, policy) for share in shares)) for level in LEVELS)
    return RulesText(
        base={level: policy.base[level] for level in LEVELS},
        unlevelled=policy.unlevelled,
        aim=policy.aim,
        worth=worth,
        worth_at=shares,
        speed_bonus=policy.speed_bonus,
        speed_window_s=policy.speed_window_s,
        speed_share=policy.speed_share,
        speed_kinds=tuple(sorted(policy.speed_kinds)),
        most_bonus={level: _bonus(policy.base[level], 0.0, policy) for level in LEVELS},
    )


def _worth(level: Level | None, difficulty: float | None, policy: ScoringPolicy) -> int:
    base = policy.base[level] if level else policy.unlevelled
    if difficulty is None:
        return base
    _must_be_share("difficulty", difficulty)
    return max(1, base + _rounded(base * policy.span * (policy.aim - difficulty)))


def _bonus(worth: int, seconds: float, policy: ScoringPolicy) -> int:
    if not policy.speed_bonus:
        return 0
    left = 1 - max(seconds, 0.0) / policy.speed_window_s
    return _rounded(worth * policy.speed_share * max(left, 0.0))


def _must_be_share(name: str, share: float) -> None:
    if math.isnan(share) or not 0 <= share <= 1:
        raise ValueError(f"points: a {name} of {share}; it is a share and lies between 0 and 1")


def _rounded(number: float) -> int:
    """To the nearest, halves up: people check points by hand, where 10 * 0.5 * 0.3 is 1.5 and not a hair less."""
    return math.floor(round(number, 9) + 0.5)


def _choice(question: Question, chosen: frozenset[str]) -> Credit:
    right = {option.id for option in question.options if option.right}
    if not right:
        return _broken(question, "none of its options is marked right")
    if not chosen:
        return Credit(0.0, "invalid", "no option was chosen; choose one", total=len(right))
    if unknown := sorted(chosen - {option.id for option in question.options}):
        return Credit(
            0.0,
            "invalid",
            f"the question has no option {', '.join(unknown)}; open it again and choose among those shown",
            total=len(right),
        )
    hits = len(chosen & right)
    share = max(0, hits - len(chosen - right)) / len(right)
    return Credit(share, _verdict(share), passed=hits, total=len(right))


def _value(question: Question, text: str) -> Credit:
    try:
        key = read_value(question.answer or "")
    except ValueError as error:
        return _broken(question, f"its key cannot be read: {error}")
    try:
        share = float(same_value(key, text))
    except ValueError as error:
        return Credit(0.0, "invalid", str(error), total=1)
    return Credit(share, _verdict(share), passed=int(share), total=1)


def _output(question: Question, text: str) -> Credit:
    if question.answer is None:
        return _broken(question, "it has no key")
    key = _printed(question.answer)
    if key and not text.strip():
        return Credit(0.0, "invalid", "nothing was written; write what the program prints", total=1)
    share = float(key in (_printed(text), _printed(undo_smart_text(text))))
    return Credit(share, _verdict(share), passed=int(share), total=1)


def _open(question: Question, text: str) -> Credit:
    if not question.key_points:
        return _broken(question, "it has no key points to match")
    if not text.strip():
        return Credit(
            0.0, "invalid", "nothing was written; answer in a sentence or two", True, 0, len(question.key_points)
        )
    matched = tuple(match(question.key_points, text))
    share = sum(matched) / len(matched)
    return Credit(share, _verdict(share), "", True, sum(matched), len(matched), matched)


def _printed(text: str) -> str:
    """`text` but for line ends and the blanks no one can see: at the end of a line, and of all lines."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(line.rstrip() for line in lines).rstrip("\n")


def _verdict(share: float) -> Verdict:
    return "accepted" if share == 1 else "wrong"


def _broken(question: Question, cause: str) -> Credit:
    return Credit(
        0.0,
        "system error",
        f"question {question.id} cannot be scored: {cause}; nothing is lost to you, please report it with /quiz report",
    )
