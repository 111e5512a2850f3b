"""Formulas as pictures: what questions use is drawn, and unsupported LaTeX is rejected."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.charts import FormulaDrawing
from bot.pictures.canvas import WIDTH
from bot.pictures.formulas import BadFormula, Grid, Piece, draw_formula, lines_of
from tests.bot.pictures.pixels import PAPER, Pixels, margins_clear, pixels_of

DRAWN = (
    r"A = \begin{pmatrix} a & b \\ c & d \end{pmatrix}^{-1}, \quad x = \begin{bmatrix} 1 \\ \frac{1}{2} \end{bmatrix}",
    r"f(x) = \begin{cases} x & \text{if } x > 0 \\ 0 & \text{otherwise} \end{cases}",
    r"\begin{aligned} y &= Wx + b \\ \hat y &= \operatorname{softmax}(y) \end{aligned}",
    r"\left[\begin{array}{cc} 1 & 2 \\ \hline 3 & 4 \end{array}\right]",
    r"\begin{vmatrix} a & b \\ c & d \end{vmatrix} = ad - bc",
    r"\begin{Vmatrix} a \end{Vmatrix}, \begin{Bmatrix} 1 \\ 2 \end{Bmatrix}, \begin{matrix} 1 \end{matrix}",
    r"\begin{pmatrix} \begin{pmatrix} 1 \end{pmatrix} & 2 \end{pmatrix}",
    r"\mathcal{L} = -\frac1N \sum_{i=1}^{N} \log p_\theta(y_i \mid x_i)",
    r"\text{Attention}(Q, K, V) = \operatorname{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right) V",
    r"\argmax_x \|x\|_2 \le \left\lVert w \right\rVert",
    r"\int_0^\infty e^{-x^2}\,dx = \frac{\sqrt{\pi}}{2}, \lim\limits_{x \to 0} \frac{\sin x}{x}",
    r"x^\frac12 + \binom n k + \tfrac12 \iff \implies \bigl( x \bigr) \bm{x}",
    r"\mathbb{E}_{x \sim p}[f(x)], \sigma^2 \in \mathbb{R}^{n \times d}, \operatorname*{argmin}_w L",
    r"a = 1 \\ b = 2",
)
REFUSED = (
    r"\underbrace{x}_{n}",
    r"\begin{tikzpicture} x \end{tikzpicture}",
    r"\begin{pmatrix} 1",
    r"\frac{a}",
    r"{a",
    r"a}",
    r"a & b",
    r"a $ b",
    "田",
    "",
    "  ",
    r"\begin{matrix}\end{matrix}",
    "{" * 30 + "}" * 30,
    "x" * 1001,
    r"\begin{matrix}1\end{matrix}" * 5,
    "+".join(["x_{1}^{2}"] * 60),
    r"\\ ".join(["x"] * 60),
)


def inked(pixels: Pixels) -> int:
    return int((pixels != PAPER).any(axis=2).sum())


@pytest.mark.parametrize("source", DRAWN)
def test_what_questions_use_is_drawn(source: str) -> None:
    pixels = pixels_of(draw_formula(FormulaDrawing((source,))))
    assert pixels.shape[1] == 2 * WIDTH
    assert inked(pixels) > 500
    assert margins_clear(pixels)


@pytest.mark.parametrize("source", REFUSED)
def test_what_is_not_understood_is_refused(source: str) -> None:
    with pytest.raises(BadFormula):
        draw_formula(FormulaDrawing((source,)))


def test_formulas_stand_one_beneath_another() -> None:
    one = pixels_of(draw_formula(FormulaDrawing((DRAWN[0],))))
    two = pixels_of(draw_formula(FormulaDrawing((DRAWN[0], DRAWN[1]))))
    assert two.shape[0] > one.shape[0]
    assert inked(two) > inked(one)


def test_a_wide_formula_is_drawn_smaller_until_it_could_not_be_read() -> None:
    wide = pixels_of(draw_formula(FormulaDrawing(("+".join(["x_1"] * 12),))))
    assert margins_clear(wide)
    with pytest.raises(BadFormula, match="too wide"):
        draw_formula(FormulaDrawing(("+".join(["x_1"] * 40),)))


def test_a_grid_is_read_with_its_cells_and_fences() -> None:
    ((first, grid),) = lines_of(r"A = \begin{pmatrix} a & b \\ c & \frac{1}{2} \end{pmatrix}")
    assert first == Piece("A =")
    assert isinstance(grid, Grid)
    assert (grid.opens, grid.closes) == ("(", ")")
    assert grid.rows == (((Piece("a"),), (Piece("b"),)), ((Piece("c"),), (Piece(r"\dfrac{1}{2}"),)))


def test_the_power_of_a_grid_is_a_piece_of_its_own_and_what_follows_stands_on_the_line() -> None:
    ((_, *rest),) = lines_of(r"\begin{pmatrix} a \end{pmatrix}^{-1}, x")
    assert rest == [Piece("{}^{-1}"), Piece(", x")]


def test_the_fences_around_an_array_are_its_own() -> None:
    ((grid,),) = lines_of(r"\left\{\begin{array}{ll} 1 & 2 \end{array}\right.")
    assert isinstance(grid, Grid)
    assert (grid.opens, grid.closes) == ("{", "")


@pytest.mark.parametrize(
    ("source", "written"),
    [
        (r"\frac12", r"\dfrac{1}{2}"),
        (r"\frac{\frac{a}{b}}{c}", r"\dfrac{\frac{a}{b}}{c}"),
        (r"x^\frac12", r"x^{\frac{1}{2}}"),
        (r"\|x", r"\Vert x"),
        (r"a\le b", r"a\leq  b"),
        (r"\text{a $ b}", r"\text{a $ b}"),
        (r"x \tag{1}", "x"),
    ],
)
def test_synonyms_become_mathtexts_own(source: str, written: str) -> None:
    assert lines_of(source) == [(Piece(written),)]


_TOKENS = (
    *(r"\frac", r"\sqrt", r"\sum_", r"\begin{pmatrix}", r"\end{pmatrix}", r"\left(", r"\right)", r"\text{", r"\mathbb"),
    *(r"\,", r"\\", "{", "}", "^", "_", "&", "$", "%", "x", "1", " "),
)


@settings(max_examples=60)
@given(st.one_of(st.lists(st.sampled_from(_TOKENS), max_size=25).map("".join), st.text(max_size=40)))
def test_a_strangers_formula_is_drawn_or_refused_and_nothing_else(source: str) -> None:
    try:
        pixels = pixels_of(draw_formula(FormulaDrawing((source,))))
    except BadFormula:
        return
    assert pixels.shape[1] == 2 * WIDTH
