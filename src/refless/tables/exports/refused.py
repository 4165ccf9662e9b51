"""Files that are refused: preference pairs, ratings by GPT-4."""

from __future__ import annotations

from collections.abc import Mapping

from refless.errors import InputError
from refless.tables.exports.shape import About, Export, Reader, at

_PLAIN = "or name the columns and --input-format"


def is_pairs(first: Mapping[str, object]) -> bool:
    """Preference pairs."""
    return "chosen" in first and "rejected" in first


def is_ultrafeedback(first: Mapping[str, object]) -> bool:
    """UltraFeedback: completions that GPT-4 annotated."""
    return "instruction" in first and at(first.get("completions"), 0, "annotations") is not None


def _pairs(about: About) -> Reader:
    raise InputError(
        "preference pairs (chosen, rejected) say which text is better, and rate none",
        path=about.path,
        remedy=f"give texts with a rating each, {_PLAIN} jsonl or parquet, to read them as rows",
    )


def _by_a_model(about: About) -> Reader:
    raise InputError(
        "the ratings of UltraFeedback are by GPT-4, not by people",
        path=about.path,
        remedy=f"give ratings by people, {_PLAIN} jsonl, to read them as rows",
    )


PAIRS = Export(title="preference pairs", looks_like=is_pairs, start=_pairs, known=())
BY_GPT4 = Export(title="UltraFeedback", looks_like=is_ultrafeedback, start=_by_a_model, known=())
