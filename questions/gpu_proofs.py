"""Says of a code question for a GPU whether one has proved it.

The prover prints a fingerprint of each task that it proved on a GPU, which the author writes into the document:
`- gpu_proof: 3f2a9c41d07b`. The fingerprint covers all that is proved, so a task that is changed later counts as not
yet proved. The mark states that somebody proved the task; only running the prover again shows it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json

from questions.model import CodeTask

NONE = "none"
"""What a document says in place of a fingerprint if no GPU has proved the task."""
_DIGITS = 12
_NOT_PROVED = ("starter", "gpu_proof")
"""Fields of a task that no proof depends on."""


def gpu_fingerprint(task: CodeTask) -> str:
    """Returns the fingerprint of a task, 12 hex digits."""
    data = {name: value for name, value in dataclasses.asdict(task).items() if name not in _NOT_PROVED}
    text = json.dumps(data, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def lacks_gpu_proof(task: CodeTask | None) -> bool:
    """Returns whether a task is for a GPU and none has proved it as it is now."""
    return task is not None and task.device != "cpu" and task.gpu_proof != gpu_fingerprint(task)


def without_stale_proof(task: CodeTask) -> CodeTask:
    """Returns the task without a fingerprint that is not its own, or that it does not need."""
    stale = task.device == "cpu" or lacks_gpu_proof(task)
    return dataclasses.replace(task, gpu_proof="") if stale and task.gpu_proof else task
