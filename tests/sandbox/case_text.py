"""What members read about a judged case."""

from __future__ import annotations

from sandbox.judging.judge import CaseVerdict


def told(case: CaseVerdict) -> str:
    """Returns why a case failed, as the verdict's card says it; empty for one that passed."""
    # Imported here: `make test-gpu-lean` collects tests that use this on machines without the bot's dependencies.
    from bot.core.text.code_results import case_words
    from service.wire import CaseView

    return case_words(
        CaseView(
            number=case.index + 1,
            verdict=case.verdict,
            visible=case.visible,
            difference=case.difference,
            on_gpu=case.on_gpu,
        )
    )
