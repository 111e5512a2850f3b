"""Chinese, Japanese and Korean exams: numbers, letters of options and keys in the forms that these languages have."""

from __future__ import annotations

import pytest

from questions import Question, Reading, read_bank


def read(text: str) -> Reading:
    reading = read_bank(text, name="d.md")
    assert reading.unaccounted() == ()
    return reading


def shown(question: Question) -> str:
    options = " ".join(f"{'*' * one.right}{one.text}" for one in question.options)
    return f"{question.number}|{question.prompt}|{options or question.answer}"


def exam(title: str, option: str, key: str) -> str:
    """Returns two questions; `key` is of the second option."""
    asked = (("什么共享内存？", "克隆", "视图", "复制"), ("什么是步长？", "深度", "距离", "宽度"))
    return "\n\n".join(
        "\n".join(
            (
                title.format(number) + text,
                *(option.format(letter) + one for letter, one in zip("ABC", options, strict=True)),
                key,
            )
        )
        for number, (text, *options) in enumerate(asked, 7)
    )


READ = ["7|什么共享内存？|克隆 *视图 复制", "8|什么是步长？|深度 *距离 宽度"]


@pytest.mark.parametrize(
    "title",
    ["{}.", "{}．", "{}、", "（{}）", "({}) ", "第{}题 ", "第{}题\n", "【第{}题】", "问题{}：", "问{} ", "Q{}."],
)
@pytest.mark.parametrize("option", ["{}．", "{}、", "{}.", "({})", "（{}）"])
@pytest.mark.parametrize("key", ["答案：B", "【答案】B", "参考答案：B", "正解：Ｂ"])
def test_numbers_letters_and_keys_in_any_form(title: str, option: str, key: str) -> None:
    reading = read(exam(title, option, key))
    assert [shown(one) for one in reading.bank.questions] == READ
    assert reading.findings == ()


@pytest.mark.parametrize("title", ["第七题：", "【第七题】", "问题七：", "７．", "第7题："])
def test_numbers_in_words_and_full_width_digits(title: str) -> None:
    text = exam("{}", "{}．", "答案：B").replace("7什么共", f"{title}什么共")
    text = text.replace("8什么是", f"{title.replace('七', '八').replace('7', '8').replace('７', '８')}什么是")
    assert [shown(one) for one in read(text).bank.questions] == READ


def test_words_that_hold_a_number_are_no_titles() -> None:
    text = "问题一直存在，什么是过拟合？\n答案：误差\n\n问题二分了，什么是步长？\n答案：距离\n"
    assert [one.prompt for one in read(text).bank.questions] == [
        "问题一直存在，什么是过拟合？",
        "问题二分了，什么是步长？",
    ]


@pytest.mark.parametrize("space", [" ", "\u3000", "\u3000\u3000"])
def test_japanese_letters_without_a_mark(space: str) -> None:
    letters = ("ア", "イ", "ウ", "エ")
    text = "".join(
        f"問{n}{space}{asked}\n"
        + "".join(f"{space}{letter}{space}{one}\n" for letter, one in zip(letters, said, strict=True))
        + f"{key}\n\n"
        for n, asked, said, key in (
            (1, "過学習とは何か。", ("適合しすぎる", "学習しない", "ない", "速い"), "正解：ア"),
            (2, "最小化するものはどれか。", ("データ", "最適化", "評価", "表示"), "【正解】イ"),
        )
    )
    assert [shown(one) for one in read(text).bank.questions] == [
        "1|過学習とは何か。|*適合しすぎる 学習しない ない 速い",
        "2|最小化するものはどれか。|データ *最適化 評価 表示",
    ]


@pytest.mark.parametrize("key", ["정답: ②", "정답: ②번", "답: ②번."])
def test_a_counter_behind_a_korean_key(key: str) -> None:
    text = f"1. 최소화하는 것은?\n① 데이터\n② 최적화\n③ 평가\n{key}\n"
    assert [shown(one) for one in read(text).bank.questions] == ["1|최소화하는 것은?|데이터 *최적화 평가"]


def test_korean_numbers_as_keys() -> None:
    asked = (("과적합은?", 1), ("최소화하는 것은?", 2), ("학습률은?", 2))
    text = "\n".join(
        f"문제 {n}. {one}\n1) 데이터\n2) 최적화\n3) 평가\n정답: {key}번\n" for n, (one, key) in enumerate(asked, 1)
    )
    assert [shown(one).rpartition("|")[2] for one in read(text).bank.questions] == [
        "*데이터 최적화 평가",
        "데이터 *최적화 평가",
        "데이터 *최적화 평가",
    ]


@pytest.mark.parametrize(("sign", "word"), [("√", "正确"), ("×", "错误"), ("（√）", "正确"), ("✗", "错误")])
def test_a_sign_is_a_key_in_words(sign: str, word: str) -> None:
    (question,) = read(f"1.判断：卷积是线性运算。（ ）\n答案：{sign}\n").bank.questions
    assert question.answer == word


def test_questions_without_blank_lines_between_them() -> None:
    text = "１．什么是过拟合？\nＡ．误差　　Ｂ．速度　　Ｃ．宽度\n答：Ａ\n"
    text += "２．什么是步长？\nＡ．深度　　Ｂ．距离　　Ｃ．宽度\n答：Ｂ\n"
    assert [shown(one) for one in read(text).bank.questions] == [
        "1|什么是过拟合？|*误差 速度 宽度",
        "2|什么是步长？|深度 *距离 宽度",
    ]
    text = "第一题 什么是过拟合？\n答案：误差\n第二题 什么是步长？\n答案：距离\n"
    assert [shown(one) for one in read(text).bank.questions] == ["1|什么是过拟合？|误差", "2|什么是步长？|距离"]


def test_circled_numbers_that_share_a_line() -> None:
    text = "（1）卷积的作用是什么？\n①提取特征；②加密；③压缩\n答案：①\n"
    text += "（2）池化的作用是什么？\n①加密；②下采样；③压缩\n答案：②\n"
    assert [shown(one) for one in read(text).bank.questions] == [
        "1|卷积的作用是什么？|*提取特征 加密 压缩",
        "2|池化的作用是什么？|加密 *下采样 压缩",
    ]


STATEMENTS = "①卷积是线性运算\n②池化有参数\n③步长可以大于一\n"


@pytest.mark.parametrize("options", ["A. ①② B. ②③ C. ①③ D. ①②③\n", "A. ①②\nB. ②③\nC. ①③\nD. 以上都不对\n"])
def test_options_that_name_statements_with_circled_numbers(options: str) -> None:
    (question,) = read(f"1. 下列说法正确的是（ ）\n{STATEMENTS}{options}答案：C\n").bank.questions
    assert [one.text for one in question.options if one.right] == ["①③"]
    assert question.prompt == f"下列说法正确的是（ ）\n{STATEMENTS}".strip()
    assert len(question.options) == 4


LISTED = "".join(
    f"{n}.{one}是（ ）\nA.甲\nB.乙\nC.丙\n\n" for n, one in enumerate(("卷积", "池化", "步长", "填充", "批次"), 1)
)


@pytest.mark.parametrize(
    "keys",
    [
        "参考答案\n1.A\n2.B\n3.C\n4.C\n5.A",
        "参考答案\n\n1.A 2.B 3.C 4.C 5.A",
        "参考答案：1.A 2.B 3.C 4.C 5.A",
        "答案：1-5 ABCCA",
        "答案：\n1~5：ABCCA",
        "参考答案\n1—3 ABC  4—5 CA",
        "【答案】1-3：A B C，4-5：C A",
    ],
)
def test_keys_of_all_questions_at_the_end(keys: str) -> None:
    reading = read(f"{LISTED}{keys}\n")
    right = [one.id for question in reading.bank.questions for one in question.options if one.right]
    assert right == ["a", "b", "c", "c", "a"]


def test_keys_that_do_not_fit_their_range_are_not_used() -> None:
    reading = read(f"{LISTED}答案：1-5 ABCC\n")
    assert not any(question.answered for question in reading.bank.questions)


def test_sections_by_the_kind_of_their_questions() -> None:
    first = "一、单选题\n1.卷积的作用是（A）。\nA.特征 B.加密 C.压缩\n2.池化的作用是（B）。\nA.加密 B.采样 C.压缩\n"
    second = "二、多选题（每题2分）\n3.优化器是（AB）。\nA.SGD B.Adam C.ReLU\n"
    reading = read(f"{first}\n{second}")
    assert [shown(one) for one in reading.bank.questions] == [
        "1|卷积的作用是（  ）。|*特征 加密 压缩",
        "2|池化的作用是（  ）。|加密 *采样 压缩",
        "3|优化器是（  ）。|*SGD *Adam ReLU",
    ]
    assert [one.section[0][0] for one in reading.bank.questions] == ["一", "一", "二"]


def test_numbers_without_a_space_in_a_list_without_options() -> None:
    text = "1.什么是过拟合？\n训练误差小。\n\n2.什么是步长？\n移动的距离。\n\n3.解释批次的概念\n一次的样本。\n"
    first, second, third = read(text).bank.questions
    assert [shown(first), shown(second)] == ["1|什么是过拟合？|训练误差小。", "2|什么是步长？|移动的距离。"]
    assert third.prompt.startswith("解释批次的概念")


def test_steps_in_brackets_stay_a_part_of_the_answer() -> None:
    text = "1. 什么是反向传播？\n\n（1）计算损失\n（2）求导\n\n2. 什么是步长？\n\n移动的距离。\n"
    first, second = read(text).bank.questions
    assert first.answer == "（1）计算损失\n（2）求导" and second.answer == "移动的距离。"


def test_programs_stay_as_they_are() -> None:
    program = "```\n第一题：ア　イ\n（1）什么？\n（2）什么？\n答案：√\n```"
    assert read(f"# 1. 这打印什么？\n\n{program}\n").source.text(3, 8) == program
