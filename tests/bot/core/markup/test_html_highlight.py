"""Highlighted code: exact text, classes only, and colors that can be read on their ground."""

import re
from html import unescape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.markup.html import Theme, highlight_css, highlighted

THEMES: tuple[Theme, ...] = ("light", "dark")


def text_of(html: str) -> str:
    """Returns the visible text."""
    return unescape(re.sub(r"<[^>]*>", "", html))


def luminance(color: str) -> float:
    """Returns the relative luminance (WCAG) of a color such as #1f2328."""
    channels = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Returns the contrast ratio (WCAG) of two colors."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_the_measure_of_contrast_itself() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", THEMES)
def test_every_color_can_be_read(theme: Theme) -> None:
    css = highlight_css(theme)
    (ground,) = re.findall(r"background: (#[0-9a-f]{6})", css)
    inks = re.findall(r"[{ ]color: (#[0-9a-f]{6})", css)
    assert len(inks) > 8
    assert {ink: contrast(ink, ground) for ink in inks if contrast(ink, ground) < 4.5} == {}


@pytest.mark.parametrize("theme", THEMES)
def test_every_rule_stays_in_its_scope(theme: Theme) -> None:
    for rule in highlight_css(theme, "[data-theme] .code").splitlines():
        selectors, _, _ = rule.partition(" {")
        assert all(part.strip().startswith("[data-theme] .code") for part in selectors.split(","))


def test_every_class_that_names_a_meaning_has_a_color() -> None:
    css = highlight_css("light")
    for name in ("k", "kn", "kc", "s2", "sa", "mi", "mf", "c1", "nf", "nc", "nd", "nb", "ow"):
        assert re.search(rf"\.code \.{name}\b", css)


@pytest.mark.parametrize("language", ["python", "py", "pycon", "bash", "sh", "cpp", "cuda", "json", "yaml", "diff"])
def test_a_known_language(language: str) -> None:
    assert '<span class="' in highlighted("x = 1  # <b>\n- a: 'b'\n", language)


@pytest.mark.parametrize(
    ("language", "source", "html"),
    [
        *(
            (name, "def f(): ...", '<span class="k">def</span>')
            for name in ("python", "py", "python3", "py3", "ipython", "pytorch")
        ),
        *((name, ">>> 1", '<span class="gp">&gt;&gt;&gt; </span>') for name in ("pycon", "doctest")),
        *((name, "if true; then echo a; fi", '<span class="k">if</span>') for name in ("bash", "sh", "shell", "zsh")),
        *((name, "int a = 1;", '<span class="kt">int</span>') for name in ("c", "cpp", "c++", "cuda", "cu")),
        ("console", "$ ls", '<span class="gp">$ </span>'),
        ("diff", "+a", '<span class="gi">+a</span>'),
        ("docker", "FROM a", '<span class="k">FROM</span>'),
        ("ini", "[a]", '<span class="k">[a]</span>'),
        ("json", "[true]", '<span class="kc">true</span>'),
        ("pytb", "ValueError: a", "ValueError"),
        ("rust", "fn a() {}", '<span class="k">fn</span>'),
        ("sql", "SELECT 1", '<span class="k">SELECT</span>'),
        ("toml", "a = 1", '<span class="mi">1</span>'),
        ("yaml", "a: b", '<span class="nt">a</span>'),
    ],
)
def test_the_words_of_a_language_are_marked(language: str, source: str, html: str) -> None:
    assert html in highlighted(source, language)


@pytest.mark.parametrize("language", ["", "brainfuck", "text", "../../x"])
def test_another_language_stays_plain(language: str) -> None:
    assert highlighted("if x < 1:", language) == "if x &lt; 1:"


def test_very_long_code_stays_plain() -> None:
    assert '<span class="' in highlighted("x=1\n" * 5000, "python")
    assert highlighted("x=1\n" * 5000 + "#", "python") == "x=1\n" * 5000 + "#"
    assert highlighted("x=1\n" * 6000, "python") == "x=1\n" * 6000


@settings(max_examples=100)
@given(
    st.text(alphabet="abx1 =+$'\"#()[]{}<>&\\\n\t:@", max_size=120),
    st.sampled_from(
        [
            "python",
            "pycon",
            "bash",
            "cpp",
            "console",
            "diff",
            "docker",
            "ini",
            "json",
            "pytb",
            "rust",
            "sql",
            "toml",
            "yaml",
        ]
    ),
)
def test_no_letter_is_lost_or_added(source: str, language: str) -> None:
    assert text_of(highlighted(source, language)) == source


LOOKS = {
    # class of a token: style, color on light and on dark ground
    "c1": ("font-style: italic", "#57606a", "#9aa4b2"),
    "k": ("font-weight: 600", "#8a2252", "#ff9bce"),
    "kn": ("font-weight: 600", "#8a2252", "#ff9bce"),
    "ow": ("font-weight: 600", "#8a2252", "#ff9bce"),
    "kc": ("font-weight: 600", "#9a3b00", "#ffbd80"),
    "s2": ("", "#0a5c36", "#8fdca8"),
    "mi": ("", "#9a3b00", "#ffbd80"),
    "nf": ("", "#0b4f9e", "#8ec5ff"),
    "nc": ("font-weight: 600", "#0b4f9e", "#8ec5ff"),
    "nd": ("", "#5b3aa6", "#cdb4ff"),
    "nb": ("", "#5b3aa6", "#cdb4ff"),
    "ne": ("", "#5b3aa6", "#cdb4ff"),
}


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", LOOKS)
def test_each_kind_of_token_has_its_own_look(theme: Theme, name: str) -> None:
    style, *colors = LOOKS[name]
    rules = [line.partition(" { ") for line in highlight_css(theme).splitlines()]
    looks = [look for selectors, _, look in rules if f".code .{name}" in selectors.split(", ")]
    # A browser applies the last rule.
    assert looks[-1] == f"color: {colors[THEMES.index(theme)]};" + (f" {style};" if style else "") + " }"


@pytest.mark.parametrize("name", ["n", "nn", "nv", "o", "p", "x", "w"])
def test_other_tokens_have_the_color_of_the_text(name: str) -> None:
    selectors = [line.partition(" { ")[0].split(", ") for line in highlight_css("light").splitlines()]
    assert not any(f".code .{name}" in names for names in selectors)


@pytest.mark.parametrize(("theme", "ground", "ink"), [("light", "#f6f8fa", "#1f2328"), ("dark", "#161b22", "#e6edf3")])
def test_a_block_has_a_ground_and_an_ink(theme: Theme, ground: str, ink: str) -> None:
    css = highlight_css(theme)
    assert css.startswith(f".code {{ background: {ground}; color: {ink}; }}\n") and css.endswith(" }\n")
