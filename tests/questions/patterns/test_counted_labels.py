"""Documents of labels whose numbers count on: each begins a question, and quotes below nearly all of them answer."""

from __future__ import annotations

from questions import read_bank

ASKED = [f"What is the {name} of a tensor?" for name in ("view", "leaf", "stride", "shape", "clone", "graph", "device")]
ASKED += ["Explain what a storage is.", "What are its strides? How many are there?", "When is a view a copy?"]
QUOTED = "\n\n".join(
    f"**Q{at}.** About `tensor{at}`.\n\nIn `file.py`\n\n{text}\n\n> It is number {at}.\n> And more."
    for at, text in enumerate(ASKED, 1)
)


def test_each_label_begins_a_question_and_its_quote_answers() -> None:
    reading = read_bank(f"# Interview questions\n\n{QUOTED}\n", name="a.md")
    assert [(one.number, one.prompt, one.answer) for one in reading.bank.questions] == [
        (str(at), f"About `tensor{at}`.\n\nIn `file.py`\n\n{text}", f"It is number {at}.\nAnd more.")
        for at, text in enumerate(ASKED, 1)
    ]


def test_a_quote_that_the_questions_are_about_does_not_answer() -> None:
    text = QUOTED.replace("?\n\n>", " in the following passage?\n\n>")
    assert not any(one.answered for one in read_bank(text, name="a.md").bank.questions)


def test_a_few_quotes_do_not_answer() -> None:
    text = QUOTED.replace("> And more.", "").replace("> It", "It").replace("It is number 4", "> It is number 4")
    assert not any(one.answered for one in read_bank(text, name="a.md").bank.questions)


def test_a_word_for_interview_questions_is_a_label_in_headings() -> None:
    text = "# 笔记\n\n## Vue\n\n### 基本使用\n\n先安装。\n\n" + "".join(
        f"### 面试题：{name}\n\n这是{name}的答案。\n\n" for name in ("生命周期", "双向绑定", "路由懒加载")
    )
    questions = read_bank(text, name="a.md").bank.questions
    assert [(one.prompt, one.answer) for one in questions] == [
        (name, f"这是{name}的答案。") for name in ("生命周期", "双向绑定", "路由懒加载")
    ]


def test_a_word_for_questions_within_another_word_is_no_label() -> None:
    text = "# 分析\n\n## 問題根因\n\n步幅沒有讀取。\n\n## 问题描述\n\n参数缺失。\n"
    assert read_bank(text, name="a.md").bank.questions == ()
    counted = "".join(f"## 问题{n}\n\n张量{n}是什么？\n\n它是视图。\n\n" for n in "一二三")
    assert len(read_bank(counted, name="a.md").bank.questions) == 3
