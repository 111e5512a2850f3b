"""LaTeX as MathML: only elements that are known, complete and escaped; otherwise none at all."""

from xml.etree import ElementTree

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.core.markup.math import to_mathml


@pytest.mark.parametrize(
    ("source", "inside"),
    [
        ("O(1)", '<mi>O</mi><mo stretchy="false">(</mo><mn>1</mn><mo stretchy="false">)</mo>'),
        ("x^2", "<msup><mi>x</mi><mn>2</mn></msup>"),
        (r"\frac{a}{b}", "<mfrac><mrow><mi>a</mi></mrow><mrow><mi>b</mi></mrow></mfrac>"),
        (r"\text{batch_X}", "<mtext>batch_X</mtext>"),
        ("a<b", "<mi>a</mi><mo>&lt;</mo><mi>b</mi>"),
        (r"\text{<script>}", "<mtext>&lt;script&gt;</mtext>"),
        (r"\text{&lt;script&gt;}", "<mtext>&lt;script&gt;</mtext>"),
        (r"\href{javascript:alert(1)}{x}", "<mrow><mrow><mi>x</mi></mrow></mrow>"),
        (r"\style{color:red}{x}", "<mrow><mi>x</mi></mrow>"),
    ],
)
def test_a_formula(source: str, inside: str) -> None:
    assert f"<mrow>{inside}</mrow></math>" in str(to_mathml(source))


@pytest.mark.parametrize("name", ["align", "align*", "equation", "gather", "multline*", "eqnarray", "pmatrix"])
def test_an_environment_without_its_numbers(name: str) -> None:
    html = str(to_mathml(rf"\begin{{{name}}} a \\ b \end{{{name}}}", display=True))
    assert html.startswith('<math display="block"')
    assert "<mtext>(1)</mtext>" not in html
    assert "<mi>a</mi>" in html


@pytest.mark.parametrize(
    "source",
    [
        "",
        "}",
        "x^",
        r"\frac{a}",
        r"\text{with",
        r"\unheardof{x}",
        r"\newcommand{\a}{\a\a}\a",
        r"\def\a{b}\a",
        "{" * 30 + "}" * 30,
        "x" * 1001,
    ],
)
def test_none_where_it_cannot_be_done_well(source: str) -> None:
    assert to_mathml(source) is None


def test_the_alternative_text_is_readable() -> None:
    assert 'alttext="(a+&#34;)/c"' in str(to_mathml(r'\frac{a+"}{c}'))


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
    "\\",
    " ",
    "&",
    "%",
    "<",
    ">",
    '"',
    "\\left(",
    "\\right)",
]
_BITS += [
    "\\begin{align}",
    "\\end{align}",
    "\\\\",
    "\\alpha",
    "\\href{",
    "\\style{",
    "\\class{",
    "\\color{",
    "<script>",
    "&#60;",
]


@settings(max_examples=300)
@given(
    st.one_of(
        st.lists(st.sampled_from(_BITS), max_size=25).map("".join),
        st.text(st.characters(exclude_categories=["C"]), max_size=40),
    )
)
@example(r'\class{x" onclick="y}{z}')
def test_whatever_comes_out_is_well_formed_and_inert(source: str) -> None:
    html = to_mathml(source)
    if html is None:
        return
    for element in ElementTree.fromstring(html).iter():
        assert element.tag[0] == "m" or element.tag == "none"
        assert not {"href", "style", "class", "id"} & set(element.attrib)
        assert not any(name.startswith("on") for name in element.attrib)
