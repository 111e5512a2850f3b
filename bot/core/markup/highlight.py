"""Code to highlighted HTML, and the stylesheet for it: Pygments names the tokens, the colours are ours."""

from functools import cache
from typing import Literal

from markupsafe import Markup, escape
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES, Comment, Keyword, Name, Number, Operator, String, _TokenType

Theme = Literal["light", "dark"]

# A stranger names the language, so only these lexers are ever loaded.
_LANGUAGES = {
    **dict.fromkeys(("python", "py", "python3", "py3", "ipython", "pytorch"), "python"),
    **dict.fromkeys(("pycon", "doctest"), "pycon"),
    **dict.fromkeys(("bash", "sh", "shell", "zsh"), "bash"),
    **dict.fromkeys(("c", "cpp", "c++", "cuda", "cu"), "cpp"),
    **{name: name for name in ("console", "diff", "docker", "ini", "json", "pytb", "rust", "sql", "toml", "yaml")},
}
_MAX_SOURCE = 20_000

# What a token is, what it weighs, and its colour on each theme's ground: at least 4.5:1, so that nobody has to guess.
# Later lines win over earlier ones for the kinds inside them.
_ROLES: tuple[tuple[_TokenType, str, str, str], ...] = (
    (Comment, "font-style: italic", "#57606a", "#9aa4b2"),
    (Keyword, "font-weight: 600", "#8a2252", "#ff9bce"),
    (Operator.Word, "font-weight: 600", "#8a2252", "#ff9bce"),
    (String, "", "#0a5c36", "#8fdca8"),
    (Number, "", "#9a3b00", "#ffbd80"),
    (Name.Function, "", "#0b4f9e", "#8ec5ff"),
    (Name.Class, "font-weight: 600", "#0b4f9e", "#8ec5ff"),
    (Name.Decorator, "", "#5b3aa6", "#cdb4ff"),
    (Name.Builtin, "", "#5b3aa6", "#cdb4ff"),
    (Name.Exception, "", "#5b3aa6", "#cdb4ff"),
    (Keyword.Constant, "font-weight: 600", "#9a3b00", "#ffbd80"),
)
_GROUND = {"light": ("#f6f8fa", "#1f2328"), "dark": ("#161b22", "#e6edf3")}


@cache
def _lexer(name: str) -> Lexer:
    return get_lexer_by_name(name, stripnl=False, ensurenl=False)


def highlighted(source: str, language: str) -> Markup:
    """Give the code as escaped HTML with a class per token; a language we do not know stays plain."""
    name = _LANGUAGES.get(language)
    if name is None or len(source) > _MAX_SOURCE:
        return escape(source)
    html = highlight(source, _lexer(name), HtmlFormatter(nowrap=True))
    # The formatter ends the last line with a line feed, whether the code does or not.
    return Markup(html if source.endswith("\n") else html.removesuffix("\n"))  # noqa: S704 - the formatter escapes what it is given


def highlight_css(theme: Theme, scope: str = ".code") -> str:
    """Give the rules for one theme, each selector under `scope` (default: the class `to_html` puts on a code block)."""
    ground, ink = _GROUND[theme]
    rules = [f"{scope} {{ background: {ground}; color: {ink}; }}"]
    for kind, weight, light, dark in _ROLES:
        selector = ", ".join(f"{scope} .{name}" for name in _classes(kind))
        look = f"color: {light if theme == 'light' else dark};" + (f" {weight};" if weight else "")
        rules.append(f"{selector} {{ {look} }}")
    return "\n".join(rules) + "\n"


def _classes(kind: _TokenType) -> list[str]:
    return [name for token, name in STANDARD_TYPES.items() if token[: len(kind)] == kind]
