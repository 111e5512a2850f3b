"""Every refusal reads well: its docstring, filled in, and a status of the right sort."""

from __future__ import annotations

import pytest

from service import errors
from service.api.http import STATUS
from service.errors import NotFound, NotPossible, Refused, refusing

KINDS = sorted(Refused.__subclasses__(), key=lambda kind: kind.__name__)


def test_the_message_contains_the_facts() -> None:
    refused = NotFound(what="round r9", cure="Ask for today's.")
    assert refused.message == str(refused) == "There is no round r9 here. Ask for today's."


@pytest.mark.parametrize("kind", KINDS)
def test_every_refusal_has_a_distinct_code_and_is_not_a_server_error(kind: type[Refused]) -> None:
    assert [other.code for other in KINDS].count(kind.code) == 1
    status = next(STATUS[base] for base in kind.__mro__ if base in STATUS)
    assert 400 <= status < 500


def test_a_rules_complaint_becomes_a_refusal() -> None:
    with pytest.raises(NotPossible, match="no season is running"), refusing():
        raise ValueError("no season is running")


def test_other_errors_pass() -> None:
    with pytest.raises(LookupError), refusing():
        raise LookupError(errors.__name__)
