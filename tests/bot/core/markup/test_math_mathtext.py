"""LaTeX as Unicode text, with a readable result for any input."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.core.markup.math import to_unicode


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("O(1)", "O(1)"),
        (r"\text{view()}", "view()"),
        (r"\text{batch_X}", "batch_X"),
        (r"\text{batch\_X}", "batch_X"),
        (r"x \text{ if } y", "x if y"),
        (r"\text{50% of} 10%", "50% of 10%"),
        ("x^2", "x²"),
        ("2^{10}", "2¹⁰"),
        ("x_i^2", "xᵢ²"),
        ("W^T", "Wᵀ"),
        (r"x^\top", "x^⊤"),
        ("W^{(l)}", "W⁽ˡ⁾"),
        (r"\theta_{t+1}", "θₜ₊₁"),
        (r"x_{\text{max}}", "x_max"),
        (r"x^{\text{new}}", "x^(new)"),
        ("e^{-x^2/2}", "e^(-x²/2)"),
        (r"\mathbb{R}^{n \times m}", "ℝ^(n × m)"),
        (r"\nabla_\theta J", "∇_θ J"),
        (r"\sum_{i=1}^{n} x_i", "∑ᵢ₌₁ⁿ xᵢ"),
        ("f'(x)", "f'(x)"),
        (r"f^\prime", "f′"),
        (r"O(\sqrt{N})", "O(√(N))"),
        (r"\sqrt[3]{x}", "³√(x)"),
        (r"\frac{\lambda}{2} ||w||^2", "λ/2 ||w||²"),
        (r"\frac{a+b}{c}", "(a+b)/c"),
        (r"\frac12", "1/2"),
        (r"\frac{\frac{a}{b}}{c}", "(a/b)/c"),
        (r"\binom{n}{k}", "(n choose k)"),
        (r"3 \times 3", "3 × 3"),
        (r"\theta = \theta - \eta \lambda \theta", "θ = θ - η λ θ"),
        (r"\epsilon \sim N(0, 1)", "ϵ ∼ N(0, 1)"),
        (r"a \ne b \iff c", "a ≠ b ⟺ c"),
        (r"\left\| x \right\|_2", "‖ x ‖₂"),
        (r"\left. \frac{a}{b} \right|_0", "a/b |₀"),
        (r"\left( x \right.", "( x"),
        (r"\mathbf{x}, \mathrm{ReLU}", "x, ReLU"),
        (r"\operatorname{softmax}(x)", "softmax(x)"),
        (r"\argmax_x f", "arg maxₓ f"),
        (r"\hat{y}_i", "ŷᵢ"),
        (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", "[ 1 2; 3 4 ]"),
        (r"\begin{align} a &= b \\ c &= d \end{align}", "a = b\nc = d"),
        (r"\unheardof{x}", "unheardof x"),
    ],
)
def test_a_formula(source: str, expected: str) -> None:
    assert to_unicode(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (r"\frac{1}{1+\frac{1}{x}}", "1/(1+1/x)"),
        (r"\frac{\frac{a+b}{c}}{\frac{d}{e-f}}", "((a+b)/c)/(d/(e-f))"),
        (r"\frac{1}{\frac{a}{\frac{b}{c}}}", "1/(a/(b/c))"),
        (r"\cfrac{1}{1+\cfrac{1}{1+x}}", "1/(1+1/(1+x))"),
        (r"\frac{1}{1+e^{-x}}", "1/(1+e⁻ˣ)"),
        (r"e^{\frac{x^2}{2}}", "e^(x²/2)"),
        (r"a_{\frac{1}{2}}", "a_(1/2)"),
        (r"\sqrt[n]{\frac{1}{2}}", "ⁿ√(1/2)"),
        (r"\sqrt[\frac{a}{b}]{x}", "(a/b)√(x)"),
        (r"\frac{\sqrt{a}}{b}", "√(a)/b"),
        (r"\binom{\frac{a}{b}}{c}", "(a/b choose c)"),
        (r"\frac {\mathbf{a} = b} {c}", "(a = b)/c"),
        (r"\frac\alpha\beta", "α/β"),
    ],
)
def test_nested_fractions_show_what_is_divided_by_what(source: str, expected: str) -> None:
    assert to_unicode(source) == expected


@pytest.mark.parametrize("name", ["frac", "dfrac", "tfrac", "cfrac"])
def test_every_kind_of_fraction_is_a_fraction(name: str) -> None:
    assert to_unicode(rf"\{name}{{a+b}}{{2}}") == "(a+b)/2"


@pytest.mark.parametrize("depth", [2, 8, 15])
def test_a_fraction_in_a_fraction_has_brackets_at_every_depth(depth: int) -> None:
    source, expected = "x", "x"
    for level in range(depth):
        source, expected = rf"\frac{{{source}}}{{2}}", (f"({expected})" if level else expected) + "/2"
    assert to_unicode(source) == expected


@pytest.mark.parametrize(
    "name", ["text", "texttt", "textbf", "textit", "textrm", "textsf", "textnormal", "mbox", "hbox"]
)
def test_words_in_a_formula_stay_as_written(name: str) -> None:
    assert to_unicode(rf"\{name}{{a_b ^2 \_c}}") == "a_b ^2 _c"
    assert to_unicode(rf"\alpha\{name}{{x}}") == "αx"


@pytest.mark.parametrize("name", ["mathbf", "mathit", "mathsf", "mathtt", "mathrm", "boldsymbol", "bm"])
def test_a_letter_in_another_style_stays_a_plain_letter(name: str) -> None:
    assert to_unicode(rf"\{name}{{x}}_\{name}{{i}} + \alpha\{name}{{y}}^2") == "xᵢ + αy²"
    assert to_unicode(rf"\{name}{{\frac{{a}}{{b}}}}") == "a/b"


@pytest.mark.parametrize(
    "name",
    [
        *("limits", "nolimits", "displaystyle", "textstyle", "nonumber", "left", "right", "middle", "!"),
        *("big", "Big", "bigg", "Bigg", "bigl", "bigr", "Bigl", "Bigr"),
    ],
)
def test_a_command_for_the_layout_is_not_shown(name: str) -> None:
    assert to_unicode(rf"a \{name} b") == "a b"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (r"a \| b", "a ‖ b"),
        (r"a \ne b", "a ≠ b"),
        (r"a \coloneqq b", "a ≔ b"),
        (r"a \iff b", "a ⟺ b"),
        (r"a \implies b", "a ⟹ b"),
        (r"a \land b", "a ∧ b"),
        (r"a \lor b", "a ∨ b"),
        (r"\argmin_x f", "arg minₓ f"),
        (r"a \bmod b", "a mod b"),
        (r"a \pmod{b}", "a mod b"),
        (r"\underbrace{a+b}_{c} \overbrace{d}", "a+b_c d"),
    ],
)
def test_a_symbol(source: str, expected: str) -> None:
    assert to_unicode(source) == expected


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"),
        ("+-=()", "⁺⁻⁼⁽⁾"),
        ("ni", "ⁿⁱ"),
        ("T", "ᵀ"),
        *(
            (letter, raised)
            for letter, raised in zip("abcdefghjklmoprstuvwxyz", "ᵃᵇᶜᵈᵉᶠᵍʰʲᵏˡᵐᵒᵖʳˢᵗᵘᵛʷˣʸᶻ", strict=True)
        ),
    ],
)
def test_a_superscript_is_raised(letters: str, expected: str) -> None:
    assert to_unicode(f"x^{{{letters}}}") == f"x{expected}"


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("0123456789", "₀₁₂₃₄₅₆₇₈₉"),
        ("+-=()", "₊₋₌₍₎"),
        *((letter, lowered) for letter, lowered in zip("aehijklmnoprstuvx", "ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", strict=True)),
        *((rf"\{name}", lowered) for name, lowered in zip(("beta", "gamma", "rho", "chi"), "ᵦᵧᵨᵪ", strict=True)),
    ],
)
def test_a_subscript_is_lowered(letters: str, expected: str) -> None:
    assert to_unicode(f"x_{{{letters}}}") == f"x{expected}"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x^q", "x^q"),
        ("x_q", "x_q"),
        ("x^{ab,c}", "x^(ab,c)"),
        ("x_{ab,c}", "x_(ab,c)"),
        ("x_{model}", "x_model"),
        ("x^{model}", "x^(model)"),
        ("x^{ab}", "xᵃᵇ"),
        ("f^{}", "f"),
    ],
)
def test_a_script_without_such_letters_keeps_its_sign(source: str, expected: str) -> None:
    assert to_unicode(source) == expected


def test_the_longest_formula_is_converted_and_a_longer_one_kept() -> None:
    formula = r"\alpha  " * 125
    assert len(formula) == 1000
    assert to_unicode(formula) == " ".join(["α"] * 125)
    assert to_unicode(formula + "x") == formula + "x"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (r"\text{with", "with"),
        (r"\frac{a", "a/"),
        ("x^{", "x"),
        ("^", "^"),
        ("}", "}"),
        ("\\", "\\"),
        ("", ""),
        ("{}", "{}"),
        (r"\input{/etc/passwd}", r"\input{/etc/passwd}"),
        ("x" * 1001, "x" * 1001),
        ("a\ue000b\ue003", "ab"),
    ],
)
def test_a_broken_formula_still_shows_something(source: str, expected: str) -> None:
    assert to_unicode(source) == expected


_BITS = [
    "x",
    "1",
    "^",
    "_",
    "{",
    "}",
    "\\frac",
    "\\text{",
    "\\sqrt",
    "[",
    "]",
    "\\",
    " ",
    "&",
    "%",
    "$",
    "\\hat",
    "\\left",
]
_BITS += [
    "\\begin{align}",
    "\\end{align}",
    "\\begin{pmatrix}",
    "\\\\",
    "\\alpha",
    "\\unknown",
    "\ue000",
    "\ue006",
    "#",
    "~",
]


@settings(max_examples=300)
@given(st.one_of(st.lists(st.sampled_from(_BITS), max_size=25).map("".join), st.text(max_size=40)))
@example("{" * 900)
@example("^" * 900)
@example("\\hat{" * 190)
def test_any_source_gives_text_without_our_marks(source: str) -> None:
    text = to_unicode(source)
    assert bool(text) == bool(source) or not source.strip("\ue000\ue006")
    if text != source:
        assert not any("\ue000" <= letter <= "\uf8ff" for letter in text)
