"""What a driver declares about its facts, and which questions score points."""

from __future__ import annotations

import pytest

from questions.drivers import read_facts, scores_points, wrong_facts

DRIVE = "def drive(answer, x):\n"
VALUE = 'FACTS = {"result": "value"}\n' + DRIVE + '    return {"result": answer(x)}\n'


def facts(kind: str, body: str) -> str:
    return f'FACTS = {{"fact": "{kind}"}}\n{DRIVE}{body}'


def test_a_question_scores_points_only_if_nothing_can_be_forged() -> None:
    assert scores_points("")
    assert scores_points(VALUE)
    assert not scores_points(VALUE.replace('"value"', '"unprotected"'))
    assert not scores_points(VALUE.replace('"value"}', '"value", "mode": "unprotected"}'))
    assert not scores_points(DRIVE + "    return answer(x)\n"), "nothing is declared"


@pytest.mark.parametrize(
    "declared",
    ["{}", "[]", "x", '{"result": "safe"}', "{1: 'value'}", "dict(result='value')", "{**OTHER}", "{'result': []}"],
)
def test_what_cannot_be_read_protects_nothing(declared: str) -> None:
    driver = VALUE.replace('{"result": "value"}', declared, 1)
    assert read_facts(driver).problem
    assert not read_facts(driver).protected
    assert not scores_points(driver)


def test_a_driver_has_its_own_process_as_soon_as_one_fact_is_protected() -> None:
    assert read_facts(VALUE).protected
    assert not read_facts(VALUE.replace('"value"', '"unprotected"')).protected


@pytest.mark.parametrize(
    "body",
    [
        "    return {'fact': answer(x)}\n",
        "    return {'fact': [answer.run(f, x)]}\n",
        "    a = answer.run(f, x)\n    b, c = 1, a\n    return {'fact': c}\n",
        "    found = []\n    found.append(answer(x))\n    return {'fact': len(found)}\n",
        "    for one in answer(x):\n        pass\n    return {'fact': one}\n",
        "    n = 0\n    n += answer(x)\n    return {'fact': n}\n",
        "    return {'fact': [y for y in answer(x)]}\n",
        "    if (n := answer(x)):\n        return {'fact': n}\n    return {'fact': 0}\n",
    ],
)
def test_an_effect_that_the_answers_process_states_is_found(body: str) -> None:
    assert ["measured in the process" in message for message, _ in wrong_facts(facts("effect", body))] == [True]
    assert list(wrong_facts(facts("value", body))) == []


@pytest.mark.parametrize(
    "body",
    [
        "    calls = []\n    answer.run(f, answer.lend(calls.append))\n    return {'fact': len(calls)}\n",
        "    held = answer.share(x)\n    kept = answer.keep(f, held)\n    return {'fact': answer.view(kept, held)}\n",
        "    held = answer.share(x)\n    result, now = answer(held), held.now()\n    return {'fact': now}\n",
        "    def lent(t):\n        return t\n    answer.run(f, answer.lend(lent))\n    return {'fact': x}\n",
    ],
)
def test_an_effect_that_is_measured_outside_is_not(body: str) -> None:
    assert list(wrong_facts(facts("effect", body))) == []


@pytest.mark.parametrize(
    "returned", ["answer(x)", "{}", "{'other': 1}", "{'fact': 1, 'other': 2}", "{**x}", "dict(fact=1)"]
)
def test_what_is_returned_is_what_is_declared(returned: str) -> None:
    assert len(list(wrong_facts(facts("value", f"    return {returned}\n")))) == 1
