"""The programs in a document and the output it claims for them. The service runs them in the sandbox."""

from questions.snippets.collect import Snippet, snippets_of
from questions.snippets.findings import draws_numbers, may_be_random, snippet_findings
from questions.snippets.plan import Attempt, RunReport, next_attempt, program_of, read_run

__all__ = [
    "Attempt",
    "RunReport",
    "Snippet",
    "draws_numbers",
    "may_be_random",
    "next_attempt",
    "program_of",
    "read_run",
    "snippet_findings",
    "snippets_of",
]
