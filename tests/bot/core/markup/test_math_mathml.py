"""LaTeX as MathML: only elements that are known, complete and escaped; otherwise none at all."""

import re
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


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        (r"\frac{1}{1+\frac{1}{x}}", ["<mfrac>", "<mfrac>", "</mfrac>", "</mfrac>"]),
        (r"\frac{\frac{a}{b}}{\frac{c}{d}}", ["<mfrac>", "<mfrac>", "</mfrac>", "<mfrac>", "</mfrac>", "</mfrac>"]),
    ],
)
def test_nested_fractions_are_nested_elements(source: str, parts: list[str]) -> None:
    assert re.findall("</?mfrac>", str(to_mathml(source))) == parts


@pytest.mark.parametrize(
    ("source", "inside"),
    [
        (r"\begin{array}{c|c}a&b\\\hline c&d\end{array}", '<mtable columnlines="solid" rowlines="solid">'),
        (r"\begin{cases}a\\b\end{cases}", '<mtd columnalign="left"><mi>a</mi></mtd>'),
        (r"\begin{align}a&=b\end{align}", '<mtable displaystyle="true" rowspacing="3pt" columnspacing="0em 2em">'),
        (r"\big( x", '<mo minsize="1.2em" maxsize="1.2em">(</mo>'),
        (r"\overline{x}", '<mover><mrow><mi>x</mi></mrow><mo accent="true">―</mo></mover>'),
        (r"\phantom{x}", "<mphantom><mrow><mi>x</mi></mrow></mphantom>"),
        (r"\boxed{x}", '<menclose notation="box">'),
        (r"a\quad b", '<mspace width="1em"></mspace>'),
        (r"\sum_{i}^n", "<munderover><mo>∑</mo><mrow><mi>i</mi></mrow><mi>n</mi></munderover>"),
        (r"\left( x \right)", '<mo stretchy="true" fence="true" form="prefix">(</mo>'),
        (r"\displaystyle x", '<mstyle displaystyle="true" scriptlevel="0">'),
        (r"\sqrt[3]{x}", "<mroot><mrow><mi>x</mi></mrow><mn>3</mn></mroot>"),
        (r"\sqrt{x}", "<msqrt><mrow><mi>x</mi></mrow></msqrt>"),
        (r"\underset{a}{b}", "<munder><mrow><mi>b</mi></mrow><mrow><mi>a</mi></mrow></munder>"),
        (r"\smash{x}", '<mpadded height="0px" depth="0px">'),
        (r"\binom{n}{k}", '<mfrac linethickness="0">'),
        (r"x_i^2", "<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>"),
    ],
)
def test_the_layout_of_a_formula_is_kept(source: str, inside: str) -> None:
    assert inside in str(to_mathml(source, display=True))


@pytest.mark.parametrize("name", ["aligned", "split"])
def test_rows_inside_a_formula_are_aligned_without_their_marks(name: str) -> None:
    html = str(to_mathml(rf"\begin{{{name}}}a&=b\\c&=d\end{{{name}}}"))
    assert html.count("<mtr>") == 2
    assert "&amp;" not in html


def test_the_deepest_and_longest_formulas_are_written() -> None:
    assert to_mathml("{" * 20 + "x" + "}" * 20) is not None
    assert to_mathml("{" * 21 + "x" + "}" * 21) is None
    assert to_mathml("x" * 1000) is not None
    assert to_mathml("x}{") is None


@pytest.mark.parametrize(("display", "mode"), [(True, "block"), (False, "inline")])
def test_a_formula_of_its_own_is_a_block(display: bool, mode: str) -> None:
    assert str(to_mathml("x", display=display)).startswith(f'<math display="{mode}" alttext="x"><mrow>')


@pytest.mark.parametrize(
    "name", ["align", "align*", "equation", "gather", "gathered", "multline*", "eqnarray", "pmatrix"]
)
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
def test_a_formula_that_cannot_be_converted_faithfully_gives_none(source: str) -> None:
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
def test_output_is_well_formed_and_inert(source: str) -> None:
    html = to_mathml(source)
    if html is None:
        return
    for element in ElementTree.fromstring(html).iter():
        assert element.tag[0] == "m" or element.tag == "none"
        assert not {"href", "style", "class", "id"} & set(element.attrib)
        assert not any(name.startswith("on") for name in element.attrib)


def written(monkeypatch: pytest.MonkeyPatch, inside: str) -> str:
    """Returns what is written of an element, whatever source the converter read."""

    class Converted:
        def __init__(self, display: str) -> None:
            assert display == "inline"

        def convert_to_element(self, source: str) -> ElementTree.Element:
            return ElementTree.fromstring(f"<math>{inside}</math>")

    monkeypatch.setattr("bot.core.markup.math.Converter", Converted)
    found = to_mathml("x")
    return "" if found is None else str(found).partition(">")[2].removesuffix("</math>")


@pytest.mark.parametrize(
    "name",
    [
        *("accent", "accentunder", "align", "columnalign", "columnlines", "columnspacing", "depth", "displaystyle"),
        *("fence", "form", "height", "largeop", "linethickness", "lspace", "mathvariant", "maxsize", "minsize"),
        *("movablelimits", "notation", "rowlines", "rowspacing", "rspace", "scriptlevel", "separator", "stretchy"),
        *("symmetric", "voffset", "width"),
    ],
)
def test_attributes_of_the_layout_are_kept_and_escaped(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    html = written(monkeypatch, f'<mo {name}="a&quot;b" onclick="x" style="y" href="z" class="c" id="i">+</mo>')
    assert html == f'<mo {name}="a&#34;b">+</mo>'


@pytest.mark.parametrize(
    "name",
    [
        *("mrow", "mi", "mn", "mo", "mtext", "mspace", "msqrt", "mtable", "mtr", "mtd", "mstyle", "mpadded"),
        *("mphantom", "menclose", "mmultiscripts", "mprescripts", "none"),
    ],
)
@pytest.mark.parametrize("children", [0, 1, 3])
def test_elements_with_any_number_of_parts(name: str, children: int, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = f"<{name}>{'<mi>a</mi>' * children}</{name}>"
    assert written(monkeypatch, inside) == inside


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        *((name, 2) for name in ("mfrac", "msup", "msub", "mover", "munder", "mroot")),
        *((name, 3) for name in ("msubsup", "munderover")),
    ],
)
def test_an_element_with_a_part_missing_is_not_written(name: str, parts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for children in range(5):
        inside = f"<{name}>{'<mi>a</mi>' * children}</{name}>"
        assert written(monkeypatch, inside) == (inside if children == parts else "")


@pytest.mark.parametrize("inside", ["<script>x</script>", "<mi>\\unknown</mi>", "<mrow><a>x</a></mrow>", "<maction/>"])
def test_an_unknown_element_or_command_is_not_written(inside: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert written(monkeypatch, inside) == ""


@pytest.mark.parametrize(
    "name", ["gather*", "multline", "eqnarray*", "gathered", "gather", "multline*", "eqnarray", "split", "aligned"]
)
def test_rows_of_an_environment_stay_rows(name: str) -> None:
    html = str(to_mathml(rf"\begin{{{name}}} a \\ b \end{{{name}}}", display=True))
    assert html.count("<mtr>") == 2
    assert "<mi>a</mi>" in html and "<mi>b</mi>" in html and "(1)" not in html


@pytest.mark.parametrize("name", ["align", "equation", "flalign"])
def test_equations_have_no_numbers(name: str) -> None:
    assert "(1)" not in str(to_mathml(rf"\begin{{{name}}} a \end{{{name}}}", display=True))
