"""Study notes: numbers across chapters, remarks instead of questions, problems that are none, tasks in paragraphs."""

from __future__ import annotations

import pytest

from questions import Reading, read_bank


def read(text: str) -> Reading:
    reading = read_bank(text, name="notes.md")
    assert reading.unaccounted() == ()
    return reading


def by_topic(*chapters: tuple[int, ...]) -> str:
    return "".join(
        f"## Chapter {at}\n\n" + "".join(f"### Q{n}: What is term {n}?\n\nIt is {n}.\n\n" for n in numbers)
        for at, numbers in enumerate(chapters)
    )


def missing(text: str) -> list[str]:
    named = (one.message for one in read(text).findings if one.code == "Q305")
    return [message.removesuffix(" missing before this question") for message in named]


@pytest.mark.parametrize(
    ("chapters", "named"),
    [
        (((1, 4, 6), (2, 3, 5, 7)), []),
        (((1, 4, 8), (2, 3, 5, 7)), ["number 6 is"]),
        (((1, 9), (2, 5, 7)), ["numbers 3, 4, 6, 8 are"]),
        # Where each chapter begins anew, the numbers of another one say nothing.
        (((1, 2, 3), (1, 3)), ["number 2 is"]),
    ],
)
def test_numbers_that_stand_in_another_chapter_are_not_missing(
    chapters: tuple[tuple[int, ...], ...], named: list[str]
) -> None:
    assert missing(by_topic(*chapters)) == named


def test_a_finding_lists_no_more_than_ten_missing_numbers() -> None:
    (named,) = missing(by_topic((1, 30), (2, 4, 6)))
    assert named == "numbers 3, 5, 7, 8, 9, 10, 11, 12, 13, 14 and others are"


@pytest.mark.parametrize("remark", ["(Missing in source PDF)", "[not available]", "(omitted)"])
def test_a_remark_in_brackets_is_no_question(remark: str) -> None:
    text = (
        by_topic((1, 2))
        + f"### Q3: {remark}\n\nThe numbers go on with 4.\n\n### Q4: What is (omitted) here?\n\nA word.\n"
    )
    reading = read(text)
    assert [one.number for one in reading.bank.questions] == ["1", "2", "4"]


@pytest.mark.parametrize(
    "heading", ["How to contribute?", "Contributing", "**Contribution Guidelines**", "🤝 Contributing!"]
)
def test_an_example_in_advice_on_adding_questions_is_none(heading: str) -> None:
    example = f"## {heading}\n\nWrite it like this:\n\n#### How old are you?\n\nThirty.\n\n"
    asked = "".join(f"#### What is term {n}?\n\nIt is {n}.\n\n" for n in (1, 2, 3))
    reading = read(f"# Questions\n\n{example}## All\n\n{asked}")
    assert [one.prompt for one in reading.bank.questions] == [f"What is term {n}?" for n in (1, 2, 3)]
    assert [one.span.line for one in reading.findings if one.code == "Q006"] == [7]
    # A heading about something else has questions.
    about = example.replace(heading, "How gradients contribute")
    assert len(read(f"# Questions\n\n{about}## All\n\n{asked}").bank.questions) == 4


def test_problems_below_a_heading_are_no_questions_where_nothing_answers_them() -> None:
    text = (
        "### 1、什么是 LangChain？\n\n一个框架。\n\n### 2、LangChain 有哪些缺点？\n\n"
        "问题：令牌计数的效率很低。\n解决方案：使用 Tiktoken。\n\n问题：文档并不充分。\n\n"
        "### 3、什么是 Agent？\n\n它调用工具。\n"
    )
    reading = read(text)
    assert [one.prompt for one in reading.bank.questions] == [
        "什么是 LangChain？",
        "LangChain 有哪些缺点？",
        "什么是 Agent？",
    ]
    asked = "".join(f"问题：什么是第 {n} 个概念？\n答案：概念 {n}。\n\n" for n in (1, 2, 3))
    assert [one.answer for one in read(asked).bank.questions] == ["概念 1。", "概念 2。", "概念 3。"]
    tasks = "".join(f"问题：请解释第 {n} 个概念。\n\n" for n in (1, 2, 3))
    assert len(read(tasks).bank.questions) == 3


def headed(*titles: str) -> str:
    return "".join(f"## {title}\n\nText about it, in a sentence.\n\n" for title in titles)


def test_headings_ask_where_three_quarters_do_and_half_have_a_question_mark() -> None:
    asking = ("What is a cluster", "What is a node?", "What is a pod?", "How are pods placed?", "What does a probe do?")
    reading = read(headed(*asking, "What is a volume (in short)", "A cluster or a single machine", "Kubelet"))
    assert len(reading.bank.questions) == 6
    assert [(one.code, one.span.line) for one in reading.findings] == [("Q006", 25), ("Q006", 29)]
    assert not read(headed(*asking, "Kubelet", "Volumes", "Namespaces")).bank.questions


def test_a_paragraph_that_sets_a_task_below_a_number_is_no_answer() -> None:
    text = (
        "### 1\n\nWodurch unterscheiden sich die Verfahren?\n\nErklären Sie die Unterschiede an einem Beispiel.\n\n"
        "### 2\n\nErläutern Sie den Begriff Bias.\n\n- Ein Fehler des Modells\n\n"
        "### 3\n\nWas ist Varianz?\n\nZeigt sich in schwankenden Vorhersagen.\n\n"
        "### 4\n\nWas ist ein Baum?\n\nEin Graph ohne Kreise.\n"
    )
    first, second, _, fourth = read(text).bank.questions
    assert first.prompt == (
        "Wodurch unterscheiden sich die Verfahren?\n\nErklären Sie die Unterschiede an einem Beispiel."
    )
    assert (first.answer, second.answer, fourth.answer) == (None, "- Ein Fehler des Modells", "Ein Graph ohne Kreise.")
    steps = "".join(
        f"### {n}. How is step {n} made?\n\n{'Write' if n == 1 else 'By'} a loop for it.\n\n" for n in range(1, 6)
    )
    assert read(steps).bank.questions[0].answer == "Write a loop for it."


def topics(title: str, asking: int) -> str:
    asked = "".join(f"## Why is term {n} random?\n\nIt was drawn.\n\n" for n in range(asking))
    return f"# {title}\n\n{asked}## Bias vs variance\n\nBoth err.\n\n## Views\n\nThey share.\n\n## Seeds\n\nA start.\n"


@pytest.mark.parametrize("title", ["Tensors - Questions and Answers", "Tensor Q&A", "Perguntas e respostas"])
def test_topics_below_a_title_that_announces_answers_are_named(title: str) -> None:
    reading = read(topics(title, 1))
    assert [one.prompt for one in reading.bank.questions] == ["Why is term 0 random?"]
    assert [one.span.line for one in reading.findings if one.code == "Q006"] == [7, 11, 15]


def test_topics_are_not_named_beside_many_questions_or_below_another_title() -> None:
    for text in (topics("Tensors - Questions and Answers", 3), topics("Tensor interview", 1), topics("Tensors", 1)):
        assert not [one for one in read(text).findings if one.code == "Q006"]


@pytest.mark.parametrize("struck", ["~~### Q2 What is a leaf?~~", "### ~~Q2 What is a leaf?~~"])
def test_a_heading_struck_out_is_no_question_and_in_no_answer(struck: str) -> None:
    text = (
        f"# Quiz\n\n### Q1 What is a view?\n\n**Answer:** A window.\n\n{struck}\n\n**Answer:** An end.\n\n"
        "### Q3 What is a hook?\n\n**Answer:** A call.\n"
    )
    questions = read(text).bank.questions
    assert [(one.number, one.answer) for one in questions] == [("1", "A window."), ("3", "A call.")]
    # Words struck out in a question or an answer stay.
    questions = read(text.replace(struck, "~~A copy.~~ Or not.").replace("a hook", "~~a call~~ a hook")).bank.questions
    assert "~~A copy.~~ Or not." in (questions[0].answer or "")
    assert questions[1].prompt == "What is ~~a call~~ a hook?"


FAULTS = (
    ("Loss is NaN", "The rate is too high.", "Lower it."),
    ("Out of memory", "The batch is too large.", "Halve it."),
)


@pytest.mark.parametrize(
    "form",
    [
        "## {name}\n\n**Symptoms:** It stops.\n\n**Cause:** {cause}\n\n**Solution:** {cure}\n",
        "### Issue {n}: {name}\n\n**Symptom**: It stops.\n\n**Solution**:\n\n{cure}\n",
        "### Problem: {name}\n\n**Solution:** {cure}\n",
    ],
)
def test_faults_and_their_cures_are_no_questions(form: str) -> None:
    faults = (form.format(n=n, name=name, cause=cause, cure=cure) for n, (name, cause, cure) in enumerate(FAULTS, 1))
    assert read("# Training\n\n## Troubleshooting\n\n" + "\n".join(faults)).bank.questions == ()


def test_faults_that_ask_are_questions() -> None:
    text = "".join(
        f"## Why {name}?\n\n**Symptoms:** It stops.\n\n**Solution:** {cure}\n\n"
        for name, cure in (("is the loss NaN", "Lower the rate."), ("is memory full", "Halve the batch."))
    )
    assert [one.answer for one in read(text).bank.questions] == ["Lower the rate.", "Halve the batch."]


@pytest.mark.parametrize(
    "title", ["### Clarifying questions", "### 1. Questions to ask the interviewer", "**Clarify:**"]
)
def test_what_candidates_ask_back_is_no_question(title: str) -> None:
    text = "".join(
        f"## Design {name}\n\n{title}\n\n- What is its scale?\n- How many users are there?\n- Is it fast?\n\n"
        "### A sketch\n\nTwo towers.\n\n"
        for name in ("a feed", "a search", "a cache")
    )
    assert read(text).bank.questions == ()


LONG = "https://example.org/notes.md#q"


def test_contents_with_sentences_and_brackets_within_links_repeat_the_questions() -> None:
    asked = [
        "Given two arrays, return what both hold? For example, X = [1,5] and Y = [5,2] give [5]",
        "What is the difference between a view and a copy in memory? Name one of each.",
        "How would you find the longest path in a matrix of numbers? It may turn.",
    ]
    entries = "".join(f"* [Q{n}: {one} ]({LONG}{n})\n" for n, one in enumerate(asked, 1))
    text = "".join(f"### Q{n}: {one}\n\nAnswer:\n\nIt is {n}.\n\n" for n, one in enumerate(asked, 1))
    questions = read(f"# Questions\n\n{entries}\n## Questions & Answers\n\n{text}").bank.questions
    assert [one.answer for one in questions] == ["It is 1.", "It is 2.", "It is 3."]


def test_levels_show_that_a_line_asks_like_those_around_it() -> None:
    asked = [
        "**[E] What is a view?**",
        "**[M] Why is a copy slow?**",
        "**[H] A loss falls and then jumps. Walk me through your next steps.**",
        "**[M] When is a graph freed?**",
    ]
    questions = read(
        "# Interview\n\n" + "".join(f"{one}\n\nText {n}.\n\n" for n, one in enumerate(asked))
    ).bank.questions
    assert [one.answer for one in questions] == [f"Text {n}." for n in range(4)]


def test_a_quote_beside_a_picture_and_a_link_answers_in_scripts_without_spaces() -> None:
    names = ("缓存怎么设计?", "召回怎么提升?", "向量库怎么选?", "训练数据怎么构造?")
    text = "# 大模型面试题\n\n## 代表题\n\n" + "".join(
        f'### {name}\n\n<img src="a.svg">\n\n> 先清洗数据再分块写入索引并持续评估结果。\n\n[查看条目](a.md)\n\n---\n\n'
        for name in names
    )
    assert [one.prompt for one in read(text).bank.questions] == list(names)


def test_terms_with_a_meaning_that_begins_like_a_question_are_none() -> None:
    text = (
        "# 面试技巧\n\n### 团队合作\n\n- **沟通**：如何与成员协作\n- **冲突**：如何处理分歧\n- **分享**：如何帮助团队\n"
    )
    assert read(text).bank.questions == ()


def test_a_title_above_the_question_and_labels_in_headings_are_no_part_of_it() -> None:
    text = "# Question 01\n\n### **Can you explain what a tensor view is?**\n\n**Answer:**\nIt shares memory.\n"
    (question,) = read(text).bank.questions
    assert (question.prompt, question.answer) == (
        "Can you explain what a tensor view is?",
        "It shares memory.",
    )


def test_headings_may_name_the_question_that_they_answer() -> None:
    text = "# Quiz\n\n" + "".join(
        f"## Question {n}\nLoad the data {n}. What is its mean?\n\n### Solution to Question {n}\n```\n{n}\n```\n\n"
        for n in (1, 2)
    )
    assert [one.answer for one in read(text).bank.questions] == [f"```\n{n}\n```" for n in (1, 2)]


def test_the_steps_of_a_tutorial_are_no_exercises() -> None:
    steps = ["Start by calling the loader:", "Next, the model is put together.", "Now the loop runs:", "Try the whole:"]
    text = "# Loops\n\n## Exercises\n\n" + "\n".join(
        f"{at}. {step}\n\n    ```bash\n    python run.py {at}\n    ```\n" for at, step in enumerate(steps, 1)
    )
    assert read_bank(text, name="a.md").bank.questions == ()


def test_tasks_with_programs_to_complete_are_exercises() -> None:
    tasks = ["Write the loader.", "Implement the model.", "Complete the loop.", "Explain what it prints."]
    text = "# Loops\n\n## Exercises\n\n" + "\n".join(
        f"{at}. {task}\n\n    ```python\n    run({at})\n    ```\n" for at, task in enumerate(tasks, 1)
    )
    assert len(read_bank(text, name="a.md").bank.questions) == 4
