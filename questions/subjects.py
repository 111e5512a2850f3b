"""Determines the subject of a question and the sentences about it, by heuristics."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_COMPARED = re.compile(
    r"\b(?:differs?|different|differences?|vs\.?|versus|compar\w+|distinguish\w*|better than|instead of"
    r"|(?:un)?like|preferred over)\b|\brelationship between\b",
    re.IGNORECASE,
)
_NAME = r"(?:`[^`]+`|[\"“][^\"”]+[\"”]|\$[^$]+\$|[\w.+-]+(?:\(\))?(?: [\w.+-]+){0,2}?)"
_SIDE = r"(?:\s+\([^)]*\)|\s+(?:in|for|with|when|output|as)\b|[?.,]?$|[?,.]\s)"
_PAIRS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"differences? between (?:the |an? )?(?P<one>{_NAME})(?: output format)?,? (?:and|vs\.?|versus) (?:the |an? )?"
        rf"(?P<other>{_NAME}){_SIDE}",
        rf"(?:(?:compare|role of|what is|cost of|explain|\A) ?(?:the )?)(?P<one>{_NAME})(?: optimi[sz]er)?"
        rf"(?: vs\.?| versus| compared to| and| with) (?P<other>{_NAME}){_SIDE}",
        rf"how does (?P<one>{_NAME}) differ from (?P<other>{_NAME}){_SIDE}",
    )
)
_ASIDES = re.compile(r"\s+\((?:[^()]|\([^()]*\))*\)")
_AROUND = re.compile(r"^[\"“*]+|[\"”*?.,]+$")
_INNER = re.compile(r"\([^)]*\)")
_LATER = re.compile(r",[\"”]? and (?:how|why|what|when)\b|[\"”`)] and (?:how|why|what|when)\b")
_OPENING = re.compile(
    r"""(?:(?:can|could|would)\s+you\s+)?(?:
    (?:what|who|which|why|how|when|where)(?:'s|\s+(?:is|are|was|were|does|do|did|can|must|should|would|will))?
    |explain|describe|discuss|define|list|name|give|reflect\s+on|outline|summari[sz]e|tell\s+me\s+about|implement)\s+""",
    re.IGNORECASE | re.VERBOSE,
)
_OF = re.compile(
    r"""(?:(?:the|a|an|different|main|details|pytorch|pytorch's)\s+)*(?:
    (?:concept|idea|notion|role|purpose|function|utility|use|meaning|significance|basics|phenomenon|term|operation
    |(?:logical\s+)?flow|implementation|mechanism|problem|impact|details|importance|memory\s+cost)
    (?:\s+and\s+\w+)?\s+(?:of|behind|with)\s+)?(?:(?:the|a|an)\s+)?""",
    re.IGNORECASE | re.VERBOSE,
)
_END = re.compile(
    r"[,?;:.](?:\s|$)|\s(?:and|how|why|in|work|works|on|during|when|before|after|for|with|as|to|from|used|important|critical"
    r"|work|only|sometimes|handle|handles|provide|at|phenomenon|interaction|dangerous|preferred|faster|into|versus"
    r"|trade|tensor\s+transformation|specifically|solve|by|internally|under|not|impact|useful|needed|necessary)\b",
    re.IGNORECASE,
)
_TERM = re.compile(r"`[^`]+`|[\"“][^\"”]+[\"”]|\*\*[^*]+\*\*")
_ALIAS = re.compile(r"\((?:e\.g\.,? |or |aka )?(`[^`]+`|[A-Z]{2,6})\)")
_SETTING = re.compile(r"(?:In|With|For|Crucially|By definition)\b[^,;:.]{0,40}, (?:a |an |the )?", re.IGNORECASE)
_COMMAND = re.compile(r"\\[a-zA-Z]+")
_WORD = re.compile(r"[A-Za-z]+|\d+")
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_ENDINGS = (
    "izations",
    "ization",
    "ational",
    "ations",
    "ation",
    "ities",
    "ity",
    "ings",
    "ing",
    "ions",
    "ion",
    "ous",
    "ers",
    "er",
)
_SHORT_ENDINGS = ("ies", "ied", "ed", "es", "ly", "s", "e", "y")
_STOP_WORDS = """a about above after again all also always am an and another any are as at be because been before being
below between both but by can cannot could did do does doing done during each either else ever every few for from
further get gets give given gives go goes had has have having he her here him his how however i if in into
is it its itself just let like made make makes many may me might more most much must my name need needed
needs neither never no nor not now of off often on once one only or other our out over own per rather same
say set shall she should simply since so some still such take than that the their them then there therefore
these they this those through thus to too two under until up upon us use used useful uses using usually very
via was we well were what when where whether which while who whose why will with within without would yet
you your example examples explain describe discuss define concept difference differences different main
question answer work works working mean means thing things way ways pytorch torch nn etc eg ie e g vs"""
_STOP = frozenset(_STOP_WORDS.split())
_HELPING = """the a an in pytorch method methods function operation operator attribute argument object class module call
context setting flag loss technique torch nn tensor utils functional mechanism concept system engine"""
"""Words that may be between a name and its verb."""
_HELPERS = frozenset(_HELPING.split())
_VERB = re.compile(r"(?:is|was|has|does|can|will|must|may|should|(?:[a-z]{3,}(?<![sui'])s))\b(?!')")
_PLURAL_VERB = re.compile(r"(?:are|were|have|do|let|allow|describe|enable|hold|store|make|tell|give|provide)\b")
_PIECE = re.compile(r"\([^)]*\)\s*|`[^`]+`(?:\([^)]*\))?\s*|of (?:a |an |the )?\w+\s+(?=[a-z]+s\b)|\S+\s*")
_MAX_WORDS_BEFORE_VERB = 8
"""Maximum number of words before the verb."""
_IT, _THEY = re.compile(r"It(?='s\b|\s)"), re.compile(r"They\s")


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a question."""

    name: str
    """As the question writes it; empty if the heuristics find none or several."""
    stems: frozenset[str]
    """Stems of the words of the name."""
    aliases: frozenset[str]
    """Stems of its short name in parentheses, such as `NLL`."""
    compared: bool
    """Whether the question compares several things, so that `it` would be ambiguous."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """What a sentence says about the subject it begins with."""

    text: str
    """Everything after the subject."""
    plural: bool


def words_of(text: str) -> list[str]:
    """Returns the stems of the meaningful words; a name such as `no_grad` or `LazyLinear` gives one stem per part."""
    return [
        stem(part)
        for word in _WORD.findall(_COMMAND.sub(" ", text))
        for part in (_CAMEL.findall(word) if not word.isdigit() else [word])
        if (len(part) > 1 or part.isdigit()) and part.lower() not in _STOP
    ]


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """Returns the common beginning of the forms of a word: `contiguous` and `contiguity`, `pinned` and `pin`."""
    word = word.lower()
    for endings, least in ((_ENDINGS, 4), (_SHORT_ENDINGS, 3)):
        for ending in endings:
            if word.endswith(ending) and len(word) - len(ending) >= least and not word.endswith("ss"):
                word = word.removesuffix(ending)
                break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "sl":
        word = word[:-1]
    return word[:7]


def subject_of(prompt: str) -> Subject:
    """Returns the subject of `prompt`."""
    line = " ".join(prompt.split())
    compared = bool(_COMPARED.search(_LATER.split(_INNER.sub("", line.partition("?")[0]))[0]))
    opening = _OPENING.match(line)
    if not opening:
        return Subject("", frozenset(), frozenset(), compared)
    rest = line[opening.end() :]
    rest = rest[found.end() :] if (found := _OF.match(rest)) else rest
    end = _END.search(rest)
    if (term := _TERM.match(rest)) is not None or (term := _term_within(rest, end.start() if end else 60)) is not None:
        name = term[0].strip('"“”*').rstrip(",.;:?")
    else:
        name = rest[: end.start()] if end else rest.rstrip("?.")
    name = name.strip(" ,?.:;")
    if not 1 <= len(name.split()) <= 5 or (not words_of(name) and not name.startswith("`")):
        return Subject("", frozenset(words_of(name)), frozenset(), compared)
    alias = _ALIAS.search(rest, rest.find(name), rest.find(name) + len(name) + 30)
    return Subject(name, frozenset(words_of(name)), frozenset(words_of(alias[1]) if alias else ()), compared)


def compared_subjects(prompt: str) -> tuple[Subject, ...]:
    """Returns the two subjects that `prompt` compares; empty if it does not or they cannot be determined."""
    for pattern in _PAIRS:
        if found := pattern.search(_ASIDES.sub("", " ".join(prompt.split()))):
            names = [_AROUND.sub("", name) for name in found.group("one", "other")]
            if all(words_of(name) and len(name.split()) <= 4 for name in names):
                return tuple(Subject(name, frozenset(words_of(name)), frozenset(), compared=False) for name in names)
    return ()


def _term_within(rest: str, end: int) -> re.Match[str] | None:
    """Returns the only marked term before the end of the phrase."""
    found = list(_TERM.finditer(rest[: max(end, 0)]))
    return found[0] if len(found) == 1 else None


def predicate_of(sentence: str, subject: Subject) -> Predicate | None:
    """Returns what `sentence` says about `subject`, if it begins with its name."""
    if not subject.stems or subject.compared:
        return None
    setting = _SETTING.match(sentence)
    start = setting.end() if setting else 0
    known = subject.stems | subject.aliases
    named = set[str]()
    for count, token in enumerate(_PIECE.finditer(sentence[start:])):
        word = token[0].strip()
        if named and (verb := _verb_at(sentence, start + token.start())):
            return verb if _identifies(named, subject) else None
        stems = set(words_of(word))
        bare = word.lower().strip("\"'*_`")
        helps = bare in _HELPERS or word.startswith("(") or word.endswith("'s") or (stems and stems <= known)
        if named and word.startswith("of "):
            continue
        if not helps or bare.endswith((",", ":")) or count > _MAX_WORDS_BEFORE_VERB:
            return None
        named |= stems & known
    return None


def key_terms(subject: Subject) -> frozenset[str]:
    """Returns the words that identify the subject: the last part of a code name, otherwise all."""
    if "`" in subject.name and (path := re.match(r"[\w.]+", subject.name.strip("`."))):
        return frozenset(words_of(path[0].rpartition(".")[2] or path[0])) or subject.stems
    return subject.stems


def _identifies(named: set[str], subject: Subject) -> bool:
    """Returns whether these words are enough to identify the subject."""
    if subject.aliases and subject.aliases <= named:
        return True
    needed = key_terms(subject)
    return needed <= named or (len(needed) > 2 and len(named) * 2 >= len(needed))


def _verb_at(sentence: str, at: int) -> Predicate | None:
    if _VERB.match(sentence, at):
        return Predicate(sentence[at:], plural=False)
    if _PLURAL_VERB.match(sentence, at):
        return Predicate(sentence[at:], plural=True)
    return None


def pronoun_predicate(sentence: str) -> Predicate | None:
    """Returns what a sentence says about `It` or `They`, if it begins with one of them."""
    if found := _IT.match(sentence):
        rest = sentence[found.end() :]
        return Predicate("is" + rest[2:] if rest.startswith("'s") else rest.strip(), plural=False)
    if found := _THEY.match(sentence):
        return Predicate(sentence[found.end() :], plural=True)
    return None
