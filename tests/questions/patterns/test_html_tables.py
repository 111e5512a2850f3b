"""Tables of HTML in Markdown with a column of questions and one of answers."""

from __future__ import annotations

from questions import Reading, read_bank

HEAD = "<tr>\n<td><strong>No.</strong></td>\n<td><strong>Question</strong></td>\n<td>Answer</td>\n<td>Kind</td>\n</tr>"


def row(number: int, asked: str, said: str) -> str:
    return (
        f'<tr style="height: 9px;">\n<td>&nbsp;{number}</td>\n<td><strong title="">{asked}&nbsp;</strong></td>\n'
        f"<td>{said}</td>\n<td>basic</td>\n</tr>"
    )


ROWS = (
    row(1, "What is a stride?", "The step <b>between</b> two elements."),
    row(2, "Explain views", "<p>They share storage.</p>\n<ul><li>no copy</li>\n<li>same data</li></ul>"),
    row(3, "How is a tensor copied?", "<pre>x.clone()\n\nx.detach()</pre>"),
)


def read(text: str) -> Reading:
    reading = read_bank(text, name="d.md")
    assert reading.unaccounted() == ()
    return reading


def table(*rows: str, head: str = HEAD) -> str:
    return "\n".join(("<table>", "<tbody>", head, *rows, "</tbody>", "</table>"))


def test_each_row_is_a_question_with_the_answer_as_markdown() -> None:
    reading = read(f"# Notes\n\n{table(*ROWS)}\n")
    assert [(one.number, one.prompt, one.answer) for one in reading.bank.questions] == [
        ("1", "What is a stride?", "The step **between** two elements."),
        ("2", "Explain views", "They share storage.\n\n- no copy\n- same data"),
        ("3", "How is a tensor copied?", "```\nx.clone()\n\nx.detach()\n```"),
    ]
    assert [(one.place.line, one.place.end_line) for one in reading.bank.questions] == [(11, 16), (17, 24), (25, 32)]


def test_a_question_in_several_bold_pieces_has_no_marks() -> None:
    asked = "What is a hook?</strong> <strong>Name one."
    assert read(table(*ROWS, row(4, asked, "A function."))).bank.questions[3].prompt == "What is a hook? Name one."


def test_a_table_in_a_cell_belongs_to_the_answer() -> None:
    inner = "<table><tr><td>Question</td><td>Answer</td></tr><tr><td>a</td><td>b</td></tr></table>"
    reading = read(table(*ROWS, row(4, "What is shown?", inner)))
    assert len(reading.bank.questions) == 4
    assert "Question Answer" in str(reading.bank.questions[3].answer)


def test_tables_without_both_columns_and_in_programs_are_not_read() -> None:
    head = HEAD.replace("Answer", "Owner")
    assert read(table(*ROWS, head=head)).bank.questions == ()
    assert read(f"```html\n{table(*ROWS)}\n```\n").bank.questions == ()


def test_a_row_with_another_number_of_cells_is_named_and_not_guessed() -> None:
    reading = read(table(*ROWS, "<tr>\n<td>What is lost here?</td>\n</tr>"))
    assert len(reading.bank.questions) == 3
    assert [one.span.line for one in reading.findings if one.code == "Q006"] == [31]
