"""LaTeX as Unicode text: what readers expect to see, and something to read whatever the LaTeX is."""

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
