"""The programs in a document and the output it claims for them. The service runs them in the sandbox."""

from questions.snippets.collect import Snippet, snippets_of
from questions.snippets.findings import draws_numbers, judge, random_suspects
from questions.snippets.plan import Attempt, Ran, next_attempt, program_of, read_run

__all__ = [
    "Attempt",
    "Ran",
    "Snippet",
    "draws_numbers",
    "judge",
    "next_attempt",
    "program_of",
    "random_suspects",
    "read_run",
    "snippets_of",
]
