"""What members read about a judged case."""

from __future__ import annotations

from bot.core.text.differences import case_words
from sandbox.judging.judge import CaseVerdict
from service.wire import CaseView


def told(case: CaseVerdict) -> str:
    """Returns why a case failed, as the verdict's card says it; empty for one that passed."""
    return case_words(
        CaseView(
            number=case.index + 1,
            verdict=case.verdict,
            visible=case.visible,
            difference=case.difference,
            on_gpu=case.on_gpu,
        )
    )
