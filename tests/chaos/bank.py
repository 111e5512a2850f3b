"""The questions of a chaos day: each has its own topic, so that only one schedule asks it."""

from __future__ import annotations

import random
from typing import Final

from tests.chaos.diary import BASE, Kind, Slot

_HEAD: Final = "---\nbank: chaos\ntitle: A day of faults\nlicense: MIT\n---\n"
_CHOICE: Final = """
# topic-{mark}

## {mark} · choice · {level}

How much is {n} and {n}, as {mark} asks?

- [x] `right {mark}`
- [ ] `wrong {mark} a` — one too many
- [ ] `wrong {mark} b` — one too few
"""
_VALUE: Final = """
# topic-{mark}

## {mark} · value · {level}

How long is `range({n})`, as {mark} asks?

### Answer

`{n}`
"""
_CODE: Final = """
# topic-{mark}

## {mark} · code · {level}

Add {n} to a number, as {mark} asks.

### Starter

```python
def add(x: int) -> int:
    ...
```

### Reference

```python
def add(x):
    return x + {n}
```

### Cases

```python
def examples():
    return [(1,)]


def cases(rng):
    return [(rng.randint(-9, 9),) for _ in range(3)]
```

### Wrong: adds nothing

```python
def add(x):
    return x
```

### Wrong: takes away

```python
def add(x):
    return x - {n}
```

### Wrong: doubles

```python
def add(x):
    return 2 * x + 1
```
"""
_TEXTS: Final[dict[Kind, str]] = {"choice": _CHOICE, "value": _VALUE, "code": _CODE}


def document(slots: list[Slot]) -> str:
    """Returns the bank with all questions."""
    return _HEAD + "".join(
        _TEXTS[slot.kind].format(mark=slot.mark, level=slot.level, n=_n(slot.mark)) for slot in slots
    )


def topic(slot: Slot) -> str:
    """Returns the topic of a slot."""
    return f"topic-{slot.mark}"


def planned(seed: int, channels: list[tuple[str, str]], count: int, at_once: int) -> list[Slot]:
    """Returns slots for the channels (chat and id) in turn, of every kind, in waves of `at_once`."""
    chance = random.Random(f"slots {seed}")
    kinds: tuple[Kind, ...] = ("choice", "code", "value")
    return [
        Slot(f"q{n:03}", kinds[n // len(channels) % 3], chance.choice(list(BASE)), *_in(channels, n), n // at_once)
        for n in range(count)
    ]


def _in(channels: list[tuple[str, str]], number: int) -> tuple[str, str]:
    return channels[number % len(channels)]


def given(slot: Slot, *, right: bool, chance: random.Random) -> str:
    """Returns a member's answer: the text of an option, a value, or a program that may take a moment."""
    if slot.kind == "choice":
        return f"right {slot.mark}" if right else f"wrong {slot.mark} {chance.choice('ab')}"
    if slot.kind == "value":
        return str(_n(slot.mark) if right else chance.randrange(1000, 2000))
    pause = f"import time\ntime.sleep({chance.choice((0.2, 0.5, 1.0))})\n" if chance.random() < 0.5 else ""
    more = _n(slot.mark) if right else chance.randrange(1000, 2000)
    return f"{pause}def add(x):\n    return x + {more}\n"


def _n(mark: str) -> int:
    return 11 + int(mark[1:])
