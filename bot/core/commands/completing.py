"""What may be typed next: whole texts, for a list under an input or the tab key. It knows no questions."""

from __future__ import annotations

from bot.core.commands.table import Argument, Spec, specs_of

_MOST = 25


def complete(name: str, text: str) -> list[str]:
    """Texts that begin with `text` and go on sensibly, at most 25; `text` is what follows `/quiz` or `/quiz-admin`."""
    lowered = text.lower().lstrip()
    found = [
        words for spec in specs_of(name) if (words := " ".join(spec.path)).startswith(lowered) and words != lowered
    ]
    for spec in specs_of(name):
        words = " ".join(spec.path)
        if lowered.startswith(words + " "):
            found = _arguments(spec, text.lstrip())
    return found[:_MOST]


def suggest(line: str, admin: bool) -> list[str]:
    """Whole lines that begin with `line`, such as `/quiz board week`; an admin's commands for admins alone."""
    name, space, rest = line.removeprefix("/").partition(" ")
    names = ("quiz", "quiz-admin") if admin else ("quiz",)
    if space:
        return [f"/{name} {text}" for text in complete(name, rest)] if name in names else []
    return [f"/{one} {text}" for one in names if one.startswith(name) for text in complete(one, "")][:_MOST]


def _arguments(spec: Spec, text: str) -> list[str]:
    before, _, last = text.rpartition(" ")
    given = {word.partition(":")[0] for word in before.split()}
    offers = [offer for argument in spec.arguments if argument.name not in given for offer in _offers(argument)]
    return [f"{before} {offer}" for offer in offers if offer.startswith(last.lower()) and offer != last]


def _offers(argument: Argument) -> tuple[str, ...]:
    if argument.kind.rest:
        return ()
    prefix = f"{argument.name}:"
    if argument.named:
        return (prefix, *(prefix + choice for choice in argument.kind.choices))
    return argument.kind.choices or (() if argument.required else (prefix,))
