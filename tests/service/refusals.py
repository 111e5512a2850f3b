"""What a call is refused with: facts, compared exactly. `tests/bot/core/text` checks the sentences."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from service.client import ServiceRefused
from service.errors import Refused
from service.wire import Refusal


@contextmanager
def refused(*expected: Refusal) -> Iterator[None]:
    """Expects that the block is refused with one of these."""
    with pytest.raises((Refused, ServiceRefused)) as caught:
        yield
    assert isinstance(caught.value, Refused | ServiceRefused)
    assert caught.value.refusal in expected
