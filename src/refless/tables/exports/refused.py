"""Files that are refused: ratings by GPT-4."""

from __future__ import annotations

from collections.abc import Mapping

from refless.errors import InputError
from refless.tables.exports.shape import About, Export, Reader, at

_PLAIN = "or name the columns and --input-format"


def is_ultrafeedback(first: Mapping[str, object]) -> bool:
    """UltraFeedback: completions that GPT-4 annotated."""
    return "instruction" in first and at(first.get("completions"), 0, "annotations") is not None


def _by_a_model(about: About) -> Reader:
    raise InputError(
        "the ratings of UltraFeedback are by GPT-4, not by people",
        path=about.path,
        remedy=f"give ratings by people, {_PLAIN} jsonl, to read them as rows",
    )


BY_GPT4 = Export(title="UltraFeedback", looks_like=is_ultrafeedback, start=_by_a_model, known=())
