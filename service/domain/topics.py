"""Topics of questions: paths such as `autograd/hooks`."""

from __future__ import annotations


def area_of(topic: str) -> str:
    """Returns the first step of a topic's path. Nobody answers enough questions of `autograd/hooks` to be known by it
    soon; of `autograd` they do."""
    return topic.partition("/")[0]
