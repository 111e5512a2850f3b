"""Lists within study text and instructions, which are neither options nor questions."""

from __future__ import annotations

from questions import read_bank


def test_check_boxes_below_one_topic_of_many_are_no_options_of_a_question() -> None:
    topics = ["Views", "Copies", "Leaves", "Hooks", "Graphs", "Strides"]
    boxes = "1. [ ] Storage\n   - holds values\n2. [x] Shape\n   - holds sizes\n"
    text = "".join(
        f"### {n}. {topic}\n\n{boxes if n == 1 else 'Told in week 3.'}\n\n" for n, topic in enumerate(topics, 1)
    )
    assert read_bank(text, name="notes.md").bank.questions == ()
    read = [one.prompt for one in read_bank(text, name="questions.md").bank.questions]
    assert read == topics


def test_bullets_that_name_what_to_click_on_are_no_tasks() -> None:
    steps = ["Provide a **Name** → Click **Create**.", "Choose the **Queue** → Click **Attach**.", "Provide a **Key**."]
    text = "## Setup\n\n### 2. Create a queue\n\n" + "\n".join(f"- {step}" for step in steps)
    assert read_bank(text, name="a.md").bank.questions == ()


def test_bullets_that_say_when_something_is_so_are_no_questions() -> None:
    said = ["You cannot rely on the hook.", "The graph is freed once.", "If memory is short:\n  - call the collector"]
    text = "## Memory\n\n" + "\n".join(f"- {one}" for one in said)
    assert read_bank(text, name="a.md").bank.questions == ()


def test_numbered_headings_below_a_title_with_a_compound_for_questions_are_questions() -> None:
    said = [
        "Eine Sicht teilt den Speicher.",
        "Ein Blatt hat einen Graphen.",
        "Haken laufen zweimal.",
        "Kopien teilen nichts.",
    ]
    said += ["Ein Skalar hat keine Achse."]
    text = "Tensor Lernfragen\n=================\n\n" + "\n\n".join(
        f"##### {n}. {one}\n\n**NEIN.** Siehe Woche {n}." for n, one in enumerate(said, 1)
    )
    assert [one.prompt for one in read_bank(text, name="a.md").bank.questions] == said
