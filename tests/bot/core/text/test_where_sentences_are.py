"""Every sentence that members and admins read is in `bot/core/text`, where it can be found, compared and reworded."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[4]
TEXT = REPOSITORY / "bot/core/text"
FEWEST_WORDS, MANY_WORDS = 4, 7
"""Words of a sentence; of one that has no full stop. What is shorter is a title, a label or a name."""
ELSEWHERE = {
    # Descriptions of commands, and what is wrong with a typed argument, stand with what they are about.
    "bot/core/command_spec.py",
    "bot/core/argument_kinds.py",
    "bot/core/command_parser.py",
    "bot/discord/commands.py",
    "bot/slack/manifest.py",
    # Text alternatives of pictures stand with the pictures.
    "bot/pictures/illustration.py",
    # Only operators read these: they start, configure, measure and check.
    "bot/all_in_one.py",
    "bot/cli.py",
    "bot/demo.py",
    "bot/settings.py",
    "bot/core/metrics.py",
    "bot/discord/client.py",
    "bot/discord/settings.py",
    "bot/discord/platform.py",
    "bot/slack/settings.py",
    "bot/slack/socket.py",
    "bot/slack/web_api.py",
}
FOLDERS_ELSEWHERE = ("bot/doctor/", "bot/preview/", "bot/core/text/")
VALUE = "{…}"
FOR_OPERATORS = ("_LOG.", "TokenRejected", "BoltError")
"""Calls whose text goes to the log or ends the process."""

MODULES = sorted(
    path.relative_to(REPOSITORY).as_posix()
    for path in (REPOSITORY / "bot").rglob("*.py")
    if not path.relative_to(REPOSITORY).as_posix().startswith(FOLDERS_ELSEWHERE)
)


def sentences(tree: ast.AST, call: str = "") -> Iterator[str]:
    """Yields the strings that read as sentences, without docstrings and what only operators read. A value in a string
    counts as a word."""
    for node in ast.iter_child_nodes(tree):
        is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_docstring or isinstance(node, ast.Assert):
            continue
        if isinstance(node, ast.Call):
            yield from sentences(node, ast.unparse(node.func))
            continue
        text = text_of(node)
        if is_sentence(text) and not call.startswith(FOR_OPERATORS):
            yield text
        if not isinstance(node, ast.JoinedStr):
            yield from sentences(node, call)


def is_sentence(text: str) -> bool:
    words, ends = len(text.split()), text.rstrip().endswith((".", "?", "!"))
    if text.startswith(VALUE):
        return ends and words >= FEWEST_WORDS
    return text[:1].isupper() and words >= (FEWEST_WORDS if ends else MANY_WORDS)


def text_of(node: ast.AST) -> str:
    """Returns the text of a string; empty for anything else."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(text_of(part) or VALUE for part in parts)
        case _:
            return ""


@pytest.mark.parametrize("module", [module for module in MODULES if module not in ELSEWHERE])
def test_a_module_outside_the_text_package_has_no_sentence(module: str) -> None:
    found = list(sentences(ast.parse((REPOSITORY / module).read_text())))
    assert not found, f"move to bot/core/text: {found}"


@pytest.mark.parametrize("module", sorted(ELSEWHERE))
def test_an_exception_is_still_needed(module: str) -> None:
    assert list(sentences(ast.parse((REPOSITORY / module).read_text()))), f"{module} has no sentences any more"


def test_the_check_finds_sentences_but_neither_docstrings_nor_logs() -> None:
    code = (
        '"""Does a thing with care."""\n'
        'raise Problem(422, f"Type at least {words} words.")\n'
        '_LOG.warning("Nobody but operators reads this")\n'
    )
    assert list(sentences(ast.parse(code))) == ["Type at least {…} words."]
