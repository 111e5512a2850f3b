"""The smallest documents on either side of a rule: how few are too few, and what is left as it is."""

from __future__ import annotations

import pytest

from questions import Question, read_bank

THINGS = ("view", "leaf", "stride", "shape", "clone", "graph", "device", "buffer", "hook", "grad", "type", "layout")


def asked(text: str) -> list[tuple[str, str, str | None]]:
    return [(one.number, one.prompt, one.answer) for one in read_bank(text, name="a.md").bank.questions]


def only(text: str) -> Question:
    (question,) = read_bank(text, name="a.md").bank.questions
    return question


def test_thirteen_labels_that_count_on_are_questions_although_nearly_all_paragraphs_ask() -> None:
    prompts = [f"What is the {thing} of a tensor?" for thing in THINGS]
    prompts.insert(4, "Explain its storage.")
    text = "\n\n".join(f"**Q{at}.** {prompt}\n\n> It is number {at}." for at, prompt in enumerate(prompts, 1))
    assert asked(text) == [(str(at), prompt, f"> It is number {at}.") for at, prompt in enumerate(prompts, 1)]


LABELED = """Q1: What is a view?

It shares memory.

Q2: {task}

{below}

Q3: What is a leaf?

A tensor without a function.

Q4: Compare a list and a tuple.

A tuple cannot change.
"""


def test_text_below_a_task_answers_it_where_it_answers_most_labeled_questions() -> None:
    text = LABELED.format(task="Explain its storage.", below="A block of memory.")
    assert asked(text)[1] == ("2", "Explain its storage.", "A block of memory.")


@pytest.mark.parametrize(
    ("task", "below"),
    [
        ("Explain the following sentence.", "A view shares memory."),
        ("Explain this sentence:", "A view shares memory."),
        ("Explain its storage.", "How large is it?"),
        ("Explain this program.", "```python\nx.t()\n```"),
        ("Gradient clipping.", "It limits the norm."),
    ],
)
def test_text_that_may_belong_to_a_task_does_not_answer_it(task: str, below: str) -> None:
    assert asked(LABELED.format(task=task, below=below))[1] == ("2", f"{task}\n\n{below}", None)


def test_two_answered_questions_do_not_make_the_text_below_a_task_an_answer() -> None:
    text = LABELED.format(task="Explain its storage.", below="A block of memory.").partition("Q4:")[0]
    assert [answer is None for _, _, answer in asked(text)] == [False, True, False]


def test_four_keys_of_a_list_show_which_items_are_questions_and_three_do_not() -> None:
    items = ("The strides of a view", "The storage of a clone", "The device of a leaf", "The hook of a graph")

    def listed(number: int) -> str:
        lines = "".join(f"{at}. {item}\n" for at, item in enumerate(items[:number], 1))
        keys = "".join(f"{at}. It is number {at}.\n" for at in range(1, number + 1))
        return f"# Views\n\n{lines}\n## Answers\n\n{keys}"

    assert asked(listed(4)) == [(str(at), item, f"It is number {at}.") for at, item in enumerate(items, 1)]
    assert asked(listed(3)) == []


def test_three_headings_that_ask_within_an_answer_are_questions_and_two_are_a_part_of_it() -> None:
    inner = ("Why does it share memory?", "When does it copy it?", "How are its strides made?")

    def document(number: int) -> str:
        parts = [f"## {at}. What is a {thing}?\n\nIt is a {thing}.\n\n" for at, thing in enumerate(THINGS[:4], 1)]
        parts.insert(1, "".join(f"### {one}\n\nBecause.\n\n" for one in inner[:number]))
        return f"# Tensors\n\n{''.join(parts)}"

    assert [prompt for _, prompt, _ in asked(document(3))][1:4] == list(inner)
    assert len(asked(document(2))) == 4 and "### Why" in (asked(document(2))[0][2] or "")


def test_the_line_of_choices_below_an_answer_leaves_no_blank_lines_in_the_reason() -> None:
    text = "### Which one copies?\n\n**Answer:** `x.clone()`\n\nChoices: `x.t()`; `x.clone()`\n"
    assert only(text).why == ""
    assert only(f"{text}\nIt has its own memory.\n").why == "It has its own memory."


@pytest.mark.parametrize("listed", ["the only one", "the only one; " + "x" * 401, "x" * 401 + "; the only one"])
def test_a_line_of_choices_with_one_text_or_a_very_long_one_is_no_list_of_options(listed: str) -> None:
    assert only(f"### Which one?\n\nChoices: {listed}\n\n**Answer:** the only one\n").kind != "choice"


def test_answers_indented_by_more_than_their_item_needs_are_read_without_the_rest() -> None:
    text = "".join(
        f"{at}. What is a {thing}?\n\n    It is a {thing}:\n\n    - one\n      and more\n\n"
        for at, thing in enumerate(THINGS[:4], 1)
    )
    assert [answer for _, _, answer in asked(text)] == [
        f"It is a {thing}:\n\n- one\n  and more" for thing in THINGS[:4]
    ]


def test_the_finding_about_a_key_is_at_the_answer_and_not_where_its_letter_is_found_again() -> None:
    text = "### Which one copies?\n\nA) view\nB) clone\n\n**Answer:** D\n\nOption D is left out.\n"
    (finding,) = [one for one in read_bank(text, name="a.md").findings if one.severity == "warning"]
    assert finding.span.line == 6


LISTS = (("a view", "a clone", "nothing"), ("autograd", "the user", "nobody"), ("at once", "later", "never"))


def listed(form: str, lists: tuple[tuple[str, ...], ...]) -> list[tuple[str, str | None]]:
    """Returns kinds and answers of questions with these lists below them."""
    text = "\n".join(
        f"{form.format(f'What is a {thing}?')}\n" + "".join(f"- {one}\n" for one in items)
        for thing, items in zip(THINGS, lists, strict=False)
    )
    return [(one.kind, one.answer) for one in read_bank(text, name="a.md").bank.questions]


@pytest.mark.parametrize("form", ["Q: {}", "**Q: {}**\n", "### {}\n"])
def test_three_lists_of_as_many_short_items_are_options_without_a_key_and_lists_of_any_length_answer(form: str) -> None:
    assert listed(form, LISTS) == [("choice", None)] * 3
    assert listed(form, (*LISTS[:2], ("at once",))) == [
        ("open", "- a view\n- a clone\n- nothing"),
        ("open", "- autograd\n- the user\n- nobody"),
        ("open", "- at once"),
    ]


def test_a_numbered_list_below_a_label_does_not_answer() -> None:
    text = "".join(f"Q: What is a {thing}?\n1. It is one.\n2. It is a {thing}.\n\n" for thing in THINGS[:3])
    assert not any(one.answered for one in read_bank(text, name="a.md").bank.questions)


TOPICS = ("The memory of a view", "The storage of a clone", "The strides of a view")


@pytest.mark.parametrize("above", ["", "# Notes\n\n", "A few notes about tensors.\n\n"])
def test_lines_that_take_turns_with_three_answers_are_questions_although_none_asks(above: str) -> None:
    text = above + "".join(f"{topic}\n\n**Answer:** It is number {at}.\n\n" for at, topic in enumerate(TOPICS))
    assert asked(text) == [("", topic, f"It is number {at}.") for at, topic in enumerate(TOPICS)]


@pytest.mark.parametrize(
    "change", [("**Answer:** It is number 1.\n\n", ""), ("number 0.", "number 0.\n\nIt is small.")]
)
def test_lines_that_do_not_take_turns_with_answers_are_not_read_for_that(change: tuple[str, str]) -> None:
    text = "".join(f"{topic}\n\n**Answer:** It is number {at}.\n\n" for at, topic in enumerate(TOPICS))
    assert len(asked(text.replace(*change))) < 3


def test_a_fold_without_a_summary_is_no_question() -> None:
    folds = [f"<details><summary>What is a {one}?</summary>\n\nIt is a {one}.\n\n</details>\n" for one in THINGS[:3]]
    text = "\n".join([folds[0], "<details>\n\nNotes.\n\n</details>\n", *folds[1:]])
    assert [prompt for _, prompt, _ in asked(text)] == [f"What is a {thing}?" for thing in THINGS[:3]]


@pytest.mark.parametrize("label", ["**Answer:**", "Answer:", "答案："])
def test_three_lines_with_an_answer_in_the_next_line_are_questions_although_none_asks(label: str) -> None:
    text = "".join(f"{topic}\n{label} It is number {at}.\n\n" for at, topic in enumerate(TOPICS))
    assert asked(text) == [("", topic, f"It is number {at}.") for at, topic in enumerate(TOPICS)]
    assert asked(text.replace(f"{label} It is number 2", "It is number 2")) == []


def test_a_table_with_empty_cells_is_to_be_filled_in() -> None:
    table = "| a | b | a xor b |\n|---|---|---|\n| 0 | 0 |   |\n| 0 | 1 |   |\n"
    asked = ("What is a gate?", "Draw the table of XOR", "Draw the table of OR", "What is a bit?", "Explain a gate.")
    for shown in (table, table.replace("|   |", "| 1 |")):
        items = "".join(
            f"{n}. **{one}**  \n{f'{chr(10)}{shown}' if 'XOR' in one else '<br>'}\n\n" for n, one in enumerate(asked, 1)
        )
        question = read_bank(f"# Exam\n\n### Questions\n\n{items}", name="a.md").bank.questions[1]
        assert (question.answer, shown.strip() in question.prompt) == (
            (None, True) if shown is table else (shown.strip(), False)
        )


def test_references_whose_titles_ask_and_have_brackets_are_no_questions() -> None:
    links = "".join(f"- [[Torch] What is a {name}? - A blog](https://a.example/{name})\n" for name in ("view", "leaf"))
    assert read_bank(f"# Views\n\nThey share memory.\n\n#### References\n\n{links}", name="a.md").bank.questions == ()


def test_what_is_looked_for_below_questions_is_no_question() -> None:
    themes = [
        (
            f"Tell me about a time you began a {name}\nHow do you choose a {name}?\nDescribe a change of a {name}",
            f"Systematic approach to a {name}\nWillingness to learn about a {name}\nKnowing when to end a {name}",
        )
        for name in ("project", "model", "release")
    ]
    listed = "".join(
        f"### Theme {n}\n\n**Questions:**\n- {asked.replace(chr(10), chr(10) + '- ')}\n\n"
        f"**They assess:**\n- {wanted.replace(chr(10), chr(10) + '- ')}\n\n"
        for n, (asked, wanted) in enumerate(themes, 1)
    )
    more = [f"What is the {name} of the team?" for name in ("aim", "size", "age", "plan", "way")]
    own = "".join(f"- {one}\n" for one in more)
    text = f"# Behavioral Questions for AI roles\n\n## Themes\n\n{listed}## Questions to ask\n\n### The team\n\n{own}"
    prompts = [one.prompt for one in read_bank(text, name="a.md").bank.questions]
    assert prompts == [one for asked, _ in themes for one in asked.split("\n")] + more


def test_a_second_question_in_the_lines_below_is_no_answer_in_a_list_without_answers() -> None:
    asked = [f"1. What is the {name} of a tensor?\n\n" for name in ("shape", "stride", "device", "dtype", "layout")]
    text = "# Quiz\n\n" + "".join(asked) + "1. What is a view?\n   Which of these is one of them?\n   (more: a paper)\n"
    question = read_bank(text, name="a.md").bank.questions[-1]
    assert (question.prompt, question.answer) == (
        "What is a view?\nWhich of these is one of them?\n(more: a paper)",
        None,
    )


def test_numbered_titles_above_those_of_parts_are_no_questions() -> None:
    asked = "".join(f"{n}. The view of row {n} copies\n\nA. memory\n\nB. nothing\n\nAnswer: B\n\n" for n in range(2, 6))
    for title in ("第一部分：内存", "Part A: Memory", "**第一部分：内存**"):
        text = f"1. Views\n\n{title}\n\n{asked}{asked}6. Strides\n\n{title}\n\n{asked}"
        questions = read_bank(text, name="a.md").bank.questions
        assert [one.prompt for one in questions] == [f"The view of row {n} copies" for n in range(2, 6)] * 3
        assert all(one.answered for one in questions)
