"""Questions in programs other than those in Python: SQL, PHP, and texts and parts of texts in JavaScript."""

from __future__ import annotations

import pytest

from questions import read_bank
from tests.questions.formats.readings import read_as

SQL = """-- first week
CREATE TABLE `quiz`.`questions` (
  `id` INT AUTO_INCREMENT PRIMARY KEY, question TEXT NOT NULL, option_a VARCHAR(99), option_b VARCHAR(99),
  correct_option CHAR(1) DEFAULT 'A', price DECIMAL(10, 2), made_at TIMESTAMP, FOREIGN KEY (`id`) REFERENCES x (id)
);
INSERT INTO `questions` (question, option_a, option_b, correct_option, price, made_at) VALUES
('Which call doesn''t copy?', 'view', 'clone', 'A', 1.5, NOW()),
('What does `"a\\'b"` hold; a quote?', 'yes', 'no, (two)', 'B', NULL, NOW());
insert into questions VALUES (3, 'Which one adds?', 'cat', 'add', 'B', -1, CONCAT('a', 'b'));
"""


def test_the_rows_that_statements_of_sql_add() -> None:
    reading = read_bank(SQL, name="seed.sql")
    assert read_as("seed.sql", SQL) == [
        "Which call doesn't copy? | + view | - clone",
        'What does `"a\'b"` hold; a quote? | - yes | + no, (two)',
        "Which one adds? | - cat | + add",
    ]
    assert [(one.place.line, one.place.end_line) for one in reading.bank.questions] == [(7, 7), (8, 8), (9, 9)]
    assert reading.unaccounted() == () and reading.bank.dialects == ("program",)


ASKED = "INSERT INTO questions (text, topic) VALUES ('Which call copies?', 'memory'), ('Which one adds?', 'sums');\n"
OFFERED = """INSERT INTO question_options (question_id, option_text, is_correct, sort_order) VALUES
(1, 'view', false, 1), (1, 'clone', true, 2),
(2, 'add', 1, 1), (2, 'cat', 0, 2);
"""


def test_options_in_a_table_of_their_own_belong_to_the_question_with_their_number() -> None:
    wanted = ["Which call copies? | - view | + clone", "Which one adds? | + add | - cat"]
    assert read_as("seed.sql", ASKED + OFFERED) == wanted
    numbered = ASKED.replace("(text,", "(id, text,").replace("('Which call", "(2, 'Which call")
    numbered = numbered.replace("('Which one", "(1, 'Which one")
    assert read_as("seed.sql", numbered + OFFERED) == [
        "Which call copies? | + add | - cat",
        "Which one adds? | - view | + clone",
    ]


def test_options_with_other_numbers_than_the_questions_belong_to_none() -> None:
    reading = read_bank(ASKED + OFFERED.replace("(2,", "(7,"), name="seed.sql")
    assert not any(one.options for one in reading.bank.questions)


def test_a_backslash_before_a_letter_is_a_sign_only_in_dialects_where_it_is() -> None:
    row = "INSERT INTO questions (question, answer) VALUES ('What is $\\nabla f$ called?', 'the gradient of f'),\n"
    row += "('What is one?', 'a sum of squares');"
    assert read_bank(row, name="a.sql").bank.questions[0].prompt == "What is $\\nabla f$ called?"
    lines = row.replace("$\\nabla f$", "a\\nview").replace("INTO questions", "INTO `questions`")
    assert read_bank(lines, name="a.sql").bank.questions[0].prompt == "What is a\nview called?"


PHP = """<?php
// first week
$quiz['tensors'] = [
    ['question' => 'Which call doesn\\'t copy?', 'options' => ['A' => "view", 'B' => 'clone'], 'correct' => 'A'], # one
    array("question" => "What is \\$x + 1 in " . 'Python?',
          "options" => array('a sum', 'a "call"'), "answer" => 'a sum'),
];
"""


def test_the_arrays_of_a_program_in_php() -> None:
    assert read_as("quiz.php", PHP) == [
        "Which call doesn't copy? | + view | - clone",
        'What is $x + 1 in Python? | + a sum | - a "call"',
    ]
    assert read_bank(PHP, name="quiz.php").unaccounted() == ()


def test_texts_of_several_lines_in_php() -> None:
    program = """<?php
$quiz = [
    ['question' => <<<ASKED
        Which call copies
        both tensors?
        ASKED, 'options' => ['view', 'clone'], 'answer' => 'clone'],
    ['question' => <<<'ASKED'
What is $x called?
ASKED
    , 'options' => ['a view', 'a name'], 'answer' => 'a name'],
    ['question' => <<<ASKED
What is $x called?
ASKED
    , 'options' => ['a view', 'a name'], 'answer' => 'a name'],
];
"""
    assert [one.prompt for one in read_bank(program, name="quiz.php").bank.questions] == [
        "Which call copies\nboth tensors?",
        "What is $x called?",
    ]


def test_an_array_of_arrays_with_one_field_each() -> None:
    rows = "[['question' => 'Which call copies?'], ['answers' => ['view', 'clone']], ['correct_answer' => 'clone']],\n"
    text = f"<?php\nreturn [\n{rows}{rows.replace('copies', 'clones')}];"
    assert read_as("a.php", text) == ["Which call copies? | - view | + clone", "Which call clones? | - view | + clone"]


@pytest.mark.parametrize(
    "text",
    [
        PHP.replace("'Python?'", "$name"),
        PHP.replace("'Python?'", "name()"),
        PHP.replace("\\$x", "$x"),
        PHP.replace("];\n", ""),
    ],
    ids=["a variable", "a call", "a variable in a text", "no end"],
)
def test_what_only_the_program_knows_is_not_read(text: str) -> None:
    assert len(read_bank(text, name="quiz.php").bank.questions) <= 1


TABLE = """export const WEEK_CSV = `
question,option_1,option_2,correct_answer,explanation
Which call copies?,view,clone,2,A view shares memory.
Which one adds?,add,cat,1,
Which one divides?,div,cat,1,
`;
"""


def test_a_table_in_a_text_that_a_program_assigns() -> None:
    reading = read_bank(TABLE, name="week.ts")
    assert read_as("week.ts", TABLE)[0] == "Which call copies? | - view | + clone | why A view shares memory."
    assert [one.place.line for one in reading.bank.questions] == [3, 4, 5]
    assert {one.place.source for one in reading.bank.questions} == {"week.ts"}
    assert reading.bank.dialects == ("program",) and reading.unaccounted() == ()


def test_data_in_a_text_of_a_program_in_python() -> None:
    yaml = "questions:\n  - question: Which call copies?\n    options:\n      - option: view\n      - option: clone\n"
    text = f'import yaml\n\nEXAMPLE = """---\n{yaml}        answer: true\n"""\n'
    assert read_as("example.py", text) == ["Which call copies? | - view | + clone"]


def test_a_text_with_parts_from_elsewhere_is_not_read() -> None:
    assert read_bank(TABLE.replace("add,cat", "${add},cat"), name="week.ts").bank.questions == ()
    assert read_bank(TABLE + TABLE.replace("WEEK", "OTHER"), name="week.ts").bank.questions == ()


PARTS = """import { Kind } from './kinds';
export default {
  questions: [
    {
      question: [
        [Kind.TEXT, 'What does'], [Kind.INLINE_CODE, 'x.clone()'], [Kind.TEXT, ', called on a view, return?'],
      ],
      options: [{ id: '0', answer: [[Kind.TEXT, 'a copy']] }, { id: '1', answer: [[Kind.INLINE_CODE, 'None']] }],
      type: Kind.SINGLE,
      correctAnswer: '0',
    },
    {
      question: [[Kind.TEXT, 'What does this print?'], [Kind.CODE, 'x = 1\\nprint(x)']],
      options: [{ id: '0', answer: 'one' }, { id: '1', answer: '1' }],
      correctAnswer: '1',
    },
  ],
};
"""


def test_texts_in_parts_with_constants_for_their_kinds() -> None:
    assert read_as("a.ts", PARTS) == [
        "What does `x.clone()`, called on a view, return? | + a copy | - `None`",
        "What does this print?\n\n```\nx = 1\nprint(x)\n``` | - one | + 1",
    ]


def test_breaks_and_data_among_the_parts_of_a_text() -> None:
    parts = "[Kind.TEXT, 'Given these:'], [Kind.BREAK], [Kind.TABLE, { a: 1 }], [Kind.TEXT, 'Which call copies?']"
    text = f"const quiz = [{{ question: [{parts}], options: ['view', [Kind.CODE, 'clone']], answer: 'view' }}];"
    assert read_as("a.js", text) == [
        'Given these:\n\n```\n{\n "a": 1\n}\n```\n\nWhich call copies? | + view | - `clone`'
    ]


def test_a_space_within_a_part_stays() -> None:
    part = "[Kind.TEXT, 'What does'], [Kind.CODE, 'git add .'], [Kind.TEXT, '; ls .. do'], [Kind.TEXT, '?']"
    text = (
        f"const quiz = [{{ question: [{part}], options: [[[Kind.CODE, 'cp . ..']], 'it adds'], answer: 'it adds' }}];"
    )
    assert read_as("a.js", text) == ["What does `git add .`; ls .. do? | - `cp . ..` | + it adds"]


def test_texts_in_parts_in_data() -> None:
    parts = '[{"type": "text", "value": "What is"}, {"type": "code", "value": "x.T"}, {"type": "text", "value": "?"}]'
    text = f'[{{"question": {parts}, "options": ["a view", "a copy"], "answer": "a view"}}]'
    assert read_as("a.json", text) == ["What is `x.T`? | + a view | - a copy"]


def test_a_constant_in_a_list_is_no_text() -> None:
    options = "const quiz = [{ question: 'Which call copies?', options: [Call.VIEW, Call.CLONE], answer: 'clone' }];"
    assert not any(one.options for one in read_bank(options, name="a.js").bank.questions)


def test_texts_that_a_program_joins() -> None:
    rows = (
        "{ question: 'Which call ' +\n 'copies' + \"?\", options: ['a ' + 'view', 'clone'], note: A + 'x', answer: 1 }"
    )
    other = "{ question: 'Which adds?', options: ['add', 'cat'], note: 'x' + END, answer: 0 }"
    assert read_as("a.js", f"const quiz = [{rows}, {other}];") == [
        "Which call copies? | - a view | + clone",
        "Which adds? | + add | - cat",
    ]
    unknown = f"const quiz = [{rows.replace(chr(39) + 'a ' + chr(39), 'A')}];"
    assert not any(one.options for one in read_bank(unknown, name="a.js").bank.questions)


def test_the_lines_of_data_that_cannot_be_read_are_no_prose() -> None:
    entry = (
        "    {\n      question: [\n        line('%s'),\n      ],\n      answer: [\n        ...b(),\n      ],\n    },\n"
    )
    asked = ("Which call copies?", "Which one adds?", "Which one divides?")
    text = "export const quiz: Quiz = {\n  questions: [\n" + "".join(entry % one for one in asked) + "  ],\n};\n"
    reading = read_bank(text, name="quiz.ts")
    assert reading.bank.questions == () and reading.unaccounted() == ()


def test_lists_in_columns_of_sql_are_options() -> None:
    wanted = ["Which call copies? | - view | + clone, deep", "Which one adds? | + add | - cat"]
    columns = "INSERT INTO items (prompt, options, answer) VALUES\n"
    array = "('Which call copies?', ARRAY['view', 'clone, deep'], 'clone, deep'),\n-- sums\n"
    array += "('Which one adds?', ARRAY['add', 'cat']::text[], 'add');\n"
    assert read_as("seed.sql", columns + array) == wanted
    written = columns + "('Which call copies?', '{view,\"clone, deep\"}'::text[], 'clone, deep'),\n"
    written += "('Which one adds?', '[\"add\", \"cat\"]'::jsonb, 'add');\n"
    assert read_as("seed.sql", written) == wanted
    plain = written.replace("'{view,\"clone, deep\"}'::text[]", '\'["view", "clone, deep"]\'').replace("::jsonb", "")
    assert read_as("seed.sql", plain) == wanted


def test_a_comment_may_follow_values() -> None:
    text = "INSERT INTO quiz (question, option_a, option_b, correct) VALUES\n\n-- sums\n/* one */\n"
    text += "('Which one adds?', 'add', 'cat', 'A'),\n('Which copies?', 'view', 'clone', 'B')\n"
    text += "ON CONFLICT (id) DO UPDATE SET question = EXCLUDED.question;\n"
    assert read_as("seed.sql", text) == ["Which one adds? | + add | - cat", "Which copies? | - view | + clone"]


def test_numbers_of_several_options_in_one_text() -> None:
    text = "INSERT INTO quiz (question, answer_1, answer_2, answer_3, correct) VALUES\n"
    text += "('Which ones copy?', 'view', 'clone', 'tolist', '2,3'),\n('Which adds?', 'add', 'cat', 'mul', '1');\n"
    assert read_as("seed.sql", text) == [
        "Which ones copy? | - view | + clone | + tolist",
        "Which adds? | + add | - cat | - mul",
    ]
    beyond = text.replace("'2,3'", "'2,30'")
    assert not any(one.options for one in read_bank(beyond, name="seed.sql").bank.questions[:1])


ROWS = "".join(
    f"({number}, 'sums', 'What is {number} + {number}?', 'one', 'two {number}', 'three', '{number % 3 + 1}'),\n"
    for number in range(301, 308)
)


def test_rows_without_names_of_columns_are_read_by_what_is_in_them() -> None:
    reading = read_bank(ROWS, name="extra.txt")
    assert read_as("extra.txt", ROWS)[0] == "What is 301 + 301? | - one | + two 301 | - three"
    assert [one.place.line for one in reading.bank.questions] == [*range(1, 8)]
    inserted = "INSERT INTO quiz VALUES\n" + ROWS.rstrip(",\n") + ";\n"
    assert read_as("seed.sql", inserted) == read_as("extra.txt", ROWS)
    uneven = ROWS + "(308, 'sums');\n"
    assert read_bank(uneven, name="extra.txt").bank.questions == ()


def test_a_list_within_a_function_of_a_program() -> None:
    text = "export const seed = async () => {\n  try {\n    const quiz = [\n"
    text += "      { question_text: 'Which adds?', options: ['add', 'cat'], correct_answer: 'add' },\n"
    text += "    ];\n  } catch {}\n};\n"
    assert read_as("seed.ts", text) == ["Which adds? | + add | - cat"]


def test_texts_of_sql_between_dollars_and_data_in_casts() -> None:
    text = "INSERT INTO quiz (question_text, options, correct_answer, explanation) VALUES\n"
    text += """('Which copies?', $$["view", "it's a clone"]$$::jsonb, 1, $why$A view shares.$why$),\n"""
    text += """('Which adds?', '["add", "cat"]'::jsonb, '"add"'::jsonb, E'It adds.');\n"""
    assert read_as("seed.sql", text.replace(", 1, $why$", """, '"it''s a clone"'::jsonb, $why$""")) == [
        "Which copies? | - view | + it's a clone | why A view shares.",
        "Which adds? | + add | - cat | why It adds.",
    ]


def test_backslashes_in_json_of_sql_are_its_own() -> None:
    text = "INSERT INTO quiz (question, options, correct_index) VALUES\n"
    text += """('Which opens a file?', '["open(\\"a\\")", "close()"]', 0),\n('Which adds?', '["cat", "add"]', 1);\n"""
    assert read_as("seed.sql", text) == ['Which opens a file? | + open("a") | - close()', "Which adds? | - cat | + add"]


def test_a_place_among_options_that_cannot_be_read_is_no_answer() -> None:
    text = "INSERT INTO quiz (question, options, answer) VALUES\n('Which copies?', '[\"view\", clone]', '1'),\n"
    text += "('Which adds?', '[\"add\", cat]', '0');\n"
    reading = read_bank(text, name="seed.sql")
    assert [one.answer for one in reading.bank.questions] == [None, None]
    assert {one.code for one in reading.findings} == {"Q604", "Q606"}


def test_a_statement_with_whether_it_is_true() -> None:
    text = "export const quiz = [\n  { question: 'A view shares memory.', isTrue: true },\n"
    text += "  { question: 'A view copies.', isTrue: false },\n];\n"
    assert read_as("quiz.ts", text) == [
        "A view shares memory. | + True | - False",
        "A view copies. | - True | + False",
    ]


def test_rows_that_calls_of_php_add() -> None:
    listed = "<?php\nclass Seeder {\n  public function run(): void {\n    DB::table('questions')->insert([\n"
    listed += "      ['question' => 'Which copies?', 'answer' => 'clone'],\n"
    listed += "      ['question' => 'Which adds?', 'answer' => 'add'],\n    ]);\n  }\n}\n"
    assert read_as("Seeder.php", listed) == ["Which copies? | = clone", "Which adds? | = add"]
    single = "<?php\nclass Seeder {\n  public function run(): void {\n"
    single += (
        "    Question::create(['question' => 'Which copies?', 'options' => ['view', 'clone'], 'answer' => 'clone']);\n"
    )
    single += (
        "    Question::create(['question' => 'Which adds?', 'options' => ['add', 'cat'], 'answer' => 'add']);\n  }\n}\n"
    )
    assert read_as("Seeder.php", single) == ["Which copies? | - view | + clone", "Which adds? | + add | - cat"]


def test_what_only_a_program_in_php_knows_is_left_out() -> None:
    program = """<?php
$rows = [
    ['material' => $first->id, 'at' => now(), 'question' => 'Which copies?', 'kind' => Kind::Choice,
     'options' => ['A' => 'view', 'B' => 'clone'], 'answer' => 'B'],
    ['material' => $all['x'][0], 'question' => 'Which adds?', 'answer' => 'A',
     'options' => ['A' => 'sum', 'B' => $other]],
];
"""
    assert read_as("Seeder.php", program)[0] == "Which copies? | - view | + clone"
    assert "+" not in read_as("Seeder.php", program)[1]


def test_the_only_text_in_a_table_of_questions_asks_where_another_has_the_options() -> None:
    asked = "INSERT INTO `question` (`id`, `content`) VALUES (1, 'Which call copies'), (2, 'Which one adds');\n"
    offered = """INSERT INTO `answer` (`id`, `content`, `id_question`, `is_right`) VALUES
(1, 'view', 1, 0), (2, 'clone', 1, 1), (3, 'add', 2, 1), (4, 'cat', 2, 0);
"""
    wanted = ["Which call copies | - view | + clone", "Which one adds | + add | - cat"]
    assert read_as("quiz.sql", offered + asked) == wanted == read_as("quiz.sql", asked + offered)
    assert not read_bank(offered + asked.replace("`question`", "`tags`"), name="quiz.sql").bank.questions
