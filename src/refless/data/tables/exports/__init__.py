"""Files in which ratings already live: those that packages offer, then pairs of any tool.

Files with ratings by GPT-4 are refused.
"""

from functools import lru_cache, partial

from refless.data.tables.exports import preferences
from refless.data.tables.exports.format import Export, at, exported, refusing
from refless.registry.offered import Registry, check_instance

OF_CHOSEN = {"score_chosen", "chosen_score", "chosen-rating", "chosen_rating"}
BY_GPT4 = Export(
    title="UltraFeedback",
    looks_like=lambda first: (
        "instruction" in first
        and at(first.get("completions"), 0, "annotations") is not None
    ),
    start=refusing(
        "the ratings of UltraFeedback are by GPT-4, not by people",
        "give ratings by people, or name the columns and `reading={'format': 'jsonl'}`, to read "
        "them as rows",
    ),
)
MADE_OF_SCORES = Export(
    title="pairs made of scores",
    looks_like=lambda first: "chosen" in first and not OF_CHOSEN.isdisjoint(first),
    start=refusing(
        "pairs made of scores (score_chosen), which are GPT-4's in the sets of this form",
        "give choices by people; where yours are, `reading={'format': 'preference-pairs'}` reads "
        "them",
    ),
)
CORE: dict[str, Export] = {
    "pairs-of-scores": MADE_OF_SCORES,
    preferences.NAME: preferences.PAIRS,
    "ultrafeedback": BY_GPT4,
}


@lru_cache
def exports() -> dict[str, Export]:
    """Every export by name, in the order in which a file is tested for them.

    An entry point of `refless.formats` is an Export, or a dict of several by name.
    """
    result: dict[str, Export] = {}
    check = partial(check_instance, kind=Export | dict)
    formats: Registry[Export | dict[str, Export]] = Registry("formats", {}, check)
    for name, export in formats.items():
        result |= export if isinstance(export, dict) else {name: export}
    return {**result, **CORE}


__all__ = ["exported", "exports"]
