"""Cards as HTML, compared completely; members' text is always escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jinja2 import Environment

from bot.core.cards import (
    Bar,
    Bars,
    Button,
    Card,
    Code,
    Form,
    Lettered,
    Link,
    Options,
    PickField,
    Picture,
    Small,
    Table,
    Text,
    TextField,
)
from bot.core.charts import MeasuredChart, RangeRow
from bot.core.text import boards
from bot.web.render import HERE, announcement, code_colors, compile_templates, environment, message_html
from bot.web.store import Message
from tests.bot.samples import PNG, SPEED

AT = datetime(2026, 3, 2, 8, 5, tzinfo=UTC)


def message(said: Card | Form | str, member: str | None = None, reply_to: int | None = None) -> Message:
    author = "Bob" if isinstance(said, str) else None
    return Message(7, 9, member, author, reply_to, None, False, said, AT)


def html_of(said: Card | Form | str, member: str | None = None, reply_to: int | None = None, editor: int = 0) -> str:
    """Returns the message's HTML without indentation, with one-time numbers replaced by N."""
    html = message_html(message(said, member, reply_to), "/m/a1", "T", editor)
    html = re.sub(r'(name="event" value=")[0-9a-f]{32}"', r'\1N"', html)
    html = re.sub(r">\s{2,}<", ">\n<", html)
    return "\n".join(line.strip() for line in html.splitlines() if line.strip())


def test_words_of_a_member() -> None:
    assert (
        html_of("a <b> & c")
        == """\
<article id="m7" class="message" tabindex="-1" data-version="9" aria-label="Bob says">
<p class="by">
<strong dir="auto">Bob</strong>
<time datetime="2026-03-02T08:05:00+00:00" data-local="message">2 Mar 08:05 UTC</time>
</p>
<p class="said" dir="auto">a &lt;b&gt; &amp; c</p>
</article>"""
    )


def test_a_private_card_with_its_buttons() -> None:
    card = Card(
        "Your answer",
        "Two options.",
        (Text("Which is $x^2$?"), Options((Lettered("A", "`1`"), Lettered("B", "**2**"))), Small("Open.")),
        (Button("A (your answer)", "o:r1:a", "plain", True), Button("B", "o:r1:b", "primary")),
    )
    html = html_of(card, member="a1", reply_to=3, editor=5)
    math = re.search("<math.*</math>", html)

    assert math is not None
    assert (
        html.replace(math[0], "MATH")
        == """\
<article id="m7" class="message private" tabindex="-1" data-version="9" \
data-short="Dailygrad: Two options." aria-labelledby="t7">
<p class="by">
<strong dir="auto">Dailygrad</strong> <span class="tag">bot</span>
<time datetime="2026-03-02T08:05:00+00:00" data-local="message">2 Mar 08:05 UTC</time>
<span class="tag">only you see this</span>
<a class="thread" href="#m3">in reply to the question</a>
</p>
<h2 id="t7" dir="auto">Your answer</h2>
<div class="text"><p>Which is MATH?</p></div>
<ul class="options" role="list">
<li><span class="letter">A</span><div><p><code>1</code></p></div></li>
<li><span class="letter">B</span><div><p><strong>2</strong></p></div></li>
</ul>
<div class="small"><p>Open.</p></div>
<form method="post" action="/m/a1/press">
<input type="hidden" name="token" value="T">
<input type="hidden" name="event" value="N">
<input type="hidden" name="message" value="7">
<input type="hidden" name="editor" value="5">
<div class="buttons" role="group" aria-labelledby="t7">
<button name="action" value="o:r1:a" class="plain" aria-pressed="true" dir="auto">A (your answer)</button>
<button name="action" value="o:r1:b" class="primary" dir="auto">B</button>
</div>
</form>
</article>"""
    )


def body_of(html: str) -> str:
    return html.split("</h2>\n")[1].removesuffix("\n</article>")


def test_a_distribution_says_its_numbers_and_marks() -> None:
    rows = (Bar("`(4, 1)`", 3, 0.75, "wrong"), Bar("B", 1, 0.25, "right"))

    assert (
        body_of(html_of(Card("T", "", (Bars(rows),))))
        == """\
<ul class="bars" role="list">
<li>
<span class="label"><code>(4, 1)</code> <span class="tag">wrong</span></span>
<progress max="1" value="0.75" aria-hidden="true"></progress>
<span class="count">3 · 75%</span>
</li>
<li>
<span class="label">B <span class="tag">right</span></span>
<progress max="1" value="0.25" aria-hidden="true"></progress>
<span class="count">1 · 25%</span>
</li>
</ul>"""
    )


def test_a_table_labels_the_readers_row() -> None:
    table = Table(("Rank", "Name", "Points"), (("1", "<Bob>", "30"), ("2", "Ann", "20")), "This week", (0, 2), 1)

    assert (
        body_of(html_of(Card("T", "", (table,))))
        == """\
<div class="scroll" role="group" tabindex="0" aria-label="This week">
<table>
<caption dir="auto">This week</caption>
<thead><tr>
<th scope="col" class="number">Rank</th>
<th scope="col">Name</th>
<th scope="col" class="number">Points</th></tr></thead>
<tbody>
<tr>
<td class="number">1</td>
<td dir="auto">&lt;Bob&gt;</td>
<td class="number">30</td></tr>
<tr class="mine">
<td class="number">2</td>
<td dir="auto">Ann <span class="tag">you</span></td>
<td class="number">20</td></tr>
</tbody>
</table>
</div>"""
    )


def test_names_are_headers_of_their_rows_and_lead_to_members_on_a_page_for_admins() -> None:
    table = Table(("Member", "Same"), (('<A> & "b"/é', "7"),), "Pairs", (1,), name_columns=(0,))
    name = "&lt;A&gt; &amp; &#34;b&#34;/é"

    assert f'<th scope="row" dir="auto">{name}</th>' in html_of(Card("T", "", (table,)))
    macros = environment().get_template("blocks.html").make_module({})
    html = vars(macros)["table"](table, "/m/a1/admin/members", ids=((5,),))
    assert f'<a href="/m/a1/admin/members?id=5">{name}</a></th>' in html
    assert '<td class="number">7</td>' in html


def test_a_row_of_numbers_alone_is_marked_once() -> None:
    html = html_of(Card("T", "", (Table(("A", "B"), (("1", "2"),), numeric=(0, 1), mine=0),)))

    assert html.count("you</span>") == 1
    assert '1 <span class="tag">you</span>' in html


def test_code_keeps_its_lines_and_is_colored() -> None:
    html = body_of(message_html(message(Card("T", "", (Code("\n  x = 1 < 2"),))), "/m/a1", "T"))

    assert 'aria-label="Code"><code>\n  <span class="n">x</span>' in html
    assert '<span class="o">&lt;</span>' in html
    assert 'aria-label="Output"' in html_of(Card("T", "", (Code("out", ""),)))


def test_a_form_with_every_kind_of_field() -> None:
    form = Form(
        "Say",
        "f:r1",
        (
            TextField("one", "One `line`", 'a"b', "Such as `3`."),
            TextField("more", "More", "\n<x>", lines=4, required=False, max_length=9),
            PickField("pick", "Which?", (("a", "_A_"), ("b", "B")), ("b",)),
            PickField("any", "Any?", (("c", "C"),), several=True),
        ),
        submit="Answer",
        extras=(Button("Check", "x:r1"),),
    )

    assert (
        body_of(html_of(form))
        == """\
<form method="post" action="/m/a1/submit">
<input type="hidden" name="token" value="T">
<input type="hidden" name="event" value="N">
<input type="hidden" name="message" value="7">
<div class="field">
<label for="f7-one">One <code>line</code></label>
<p class="small" id="f7-one-hint">Such as <code>3</code>.</p>
<input id="f7-one" name="v:one" value="a&#34;b" maxlength="4000" dir="auto"
autocomplete="off" required aria-describedby="f7-one-hint">
</div>
<div class="field">
<label for="f7-more">More</label>
<textarea id="f7-more" name="v:more" rows="4" maxlength="9" dir="auto">
&lt;x&gt;</textarea>
</div>
<fieldset>
<legend>Which?</legend>
<label class="pick"><input type="radio" name="v:pick" value="a" data-key="1" required> <span><em>A</em></span></label>
<label class="pick"><input type="radio" name="v:pick" value="b" checked data-key="2" required> <span>B</span></label>
</fieldset>
<fieldset>
<legend>Any?</legend>
<label class="pick"><input type="checkbox" name="v:any" value="c" data-key="1"> <span>C</span></label>
</fieldset>
<div class="buttons">
<button name="action" value="f:r1" class="primary">Answer</button>
<button name="action" value="x:r1" class="plain" dir="auto">Check</button>
</div>
</form>"""
    )


def test_code_to_write_is_behind_a_link() -> None:
    form = Form("Write", "f:r1", (TextField("code", "Code", "def f(): ...", code=True),), (Text("Do it."),))

    assert (
        body_of(html_of(form))
        == """\
<div class="text"><p>Do it.</p></div>
<p class="buttons"><a class="button primary" href="/m/a1/form/7">Open the editor</a></p>"""
    )


class Reader(HTMLParser):
    """What tags and what words a browser would find."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name in ("href", "src", "action")]


OURS = {
    "article",
    "p",
    "strong",
    "span",
    "time",
    "a",
    "h2",
    "div",
    "form",
    "input",
    "button",
    "pre",
    "code",
    "ul",
    "li",
}
OURS |= {"progress", "table", "caption", "thead", "tbody", "tr", "th", "td", "label", "textarea", "fieldset", "legend"}
OURS |= {"datalist", "option"}
DRAWN = {"svg", "rect"}
PROSE = {"bdi", "em", "del", "ol", "blockquote", "hr", "h3", "h4", "h5", "h6", "br", "math"}

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onfocus='alert(1)",
    "</textarea><script>alert(1)</script>",
    "[x](javascript:alert(1))",
    "{{ 7 * 7 }}",
    "&#x3c;script>",
)


@pytest.mark.parametrize("words", HOSTILE)
def test_nothing_anybody_wrote_becomes_markup(words: str) -> None:
    drawn = MeasuredChart(words, (RangeRow(words, 0.25, words, (0.2, 0.3)),), (words,), words)
    hostile = Card(
        words,
        words,
        (
            *(Text(words), Code(words), Code(words, words), Small(words), Options((Lettered(words, words),))),
            *(Bars((Bar(words, 1, 1.0, words),)), Table((words,), ((words,),), words, mine=0, chart=drawn)),
        ),
        (Button(words, words),),
    )
    fields = (TextField("a", words, words, words), TextField("b", words, words, words, 3), TextField("c", words, words))
    form = Form(words, words, (*fields, PickField("d", words, ((words, words),))), (Text(words),), words)

    for html in (html_of(hostile), html_of(form), html_of(words)):
        found = Reader(html)
        assert found.tags <= OURS | DRAWN
        assert not [name for name in found.attributes if name.startswith("on") or name == "style"]
        assert not [link for link in found.links if link.startswith("javascript")]
        assert "49" not in html


@given(st.from_type(Card) | st.from_type(Form))
@example(Card("", "", (Text("ℵ א"),)))
@settings(max_examples=50)
def test_any_card_can_be_shown(said: Card | Form) -> None:
    html = html_of(said)

    assert html.startswith('<article id="m7"')
    assert html.endswith("</article>")
    assert Reader(html).tags <= OURS | DRAWN | PROSE | {"img"}


def test_a_picture_comes_with_the_page_and_says_what_it_shows() -> None:
    html = html_of(Card("t", "s", (Picture(PNG, 'A "board" <b>'),)))
    found = re.search(
        '<img class="picture" src="data:image/png;base64,[A-Za-z0-9+/=]+" alt="(.*)" width="1" height="1">', html
    )
    assert found is not None
    assert found[1] == "A &#34;board&#34; &lt;b&gt;"


def test_links_open_in_a_new_tab_and_only_web_pages() -> None:
    links = (Link("Open <it>", "https://quiz.example/?a=1&b=2"), Link("x", "javascript:alert(1)"))
    for said in (Card("t", "s", (), (), links), Form("t", "f:r1", (TextField("a", "A"),), links=links)):
        html = html_of(said)
        opened = (
            'href="https://quiz.example/?a=1&amp;b=2" target="_blank" rel="noopener noreferrer">Open &lt;it&gt;</a>'
        )
        assert f'<p class="buttons"><a class="button" dir="auto" {opened}\n</p>' in html.replace(
            '<p class="buttons">\n', '<p class="buttons">'
        )
        assert "javascript" not in html


def test_a_message_in_short() -> None:
    assert announcement(Card("Title", "Sentence.")) == "Dailygrad: Sentence."
    assert announcement(Card("Title", "")) == "Dailygrad: Title"
    assert announcement(Form("Fill in", "f:r1", ())) == "Dailygrad: Fill in"


def test_code_has_colors_for_light_and_dark() -> None:
    light, dark = code_colors().split("@media (prefers-color-scheme: dark) {")

    assert ".code .k" in light
    assert ".code .k" in dark
    assert light.count("{") == light.count("}")
    assert dark.count("{") + 1 == dark.count("}")


def test_the_error_of_a_speed_board_is_drawn_above_its_table() -> None:
    html = html_of(boards.speed_card(SPEED))
    chart, _, table = html.partition("<table>")
    assert html.count('class="range"') == chart.count('class="range"') == 3, "two answers and the reference"
    assert '<rect class="known" x="60.0" y="1" width="5.0" height="6"/>' in chart
    assert "you · place 2 · 1,234 ms (1,200–1,300)" in chart and "2,000 ms" in chart
    assert 'aria-hidden="true"' in chart and "1,234 ms (1,200–1,300)" in table, "screen readers read the table"


def test_known_values_are_offered_while_typing() -> None:
    html = html_of(Form("t", "f:r1", (TextField("topic", "Topic", known=("a<b", "sums")),)))
    assert (
        '<datalist id="f7-topic-known"><option value="a&lt;b"></option><option value="sums"></option></datalist>'
        in html
    )
    assert 'list="f7-topic-known"' in html


@contextmanager
def no_compiling(found: Environment) -> Iterator[None]:
    """Fails if a template is compiled in the block."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(found, "compile", lambda *_: pytest.fail("a template was compiled"))
        yield


def test_no_reader_waits_for_a_page_to_be_compiled() -> None:
    environment.cache_clear()
    compile_templates()
    folder = HERE / "templates"
    files = {str(path.relative_to(folder)) for path in folder.rglob("*.html")}
    with no_compiling(environment()):
        for name in files:
            environment().get_template(name)
