"""Files in which ratings already live: those that packages offer, then pairs of any tool."""

from functools import lru_cache

from refless.data.tables.exports import preferences, refused
from refless.data.tables.exports.format import Export, exported
from refless.registry.offered import offered

CORE: dict[str, Export] = {
    "pairs-of-scores": refused.MADE_OF_SCORES,
    preferences.NAME: preferences.PAIRS,
    "ultrafeedback": refused.BY_GPT4,
}


@lru_cache
def exports() -> dict[str, Export]:
    """Every export by name, in the order in which a file is tested for them.

    An entry point of `refless.formats` is an Export, or a dict of several by name.
    """
    result: dict[str, Export] = {}
    for name, entry in offered("formats").items():
        export = entry.load()
        result |= export if isinstance(export, dict) else {name: export}
    return {**result, **CORE}


__all__ = ["exported", "exports"]
