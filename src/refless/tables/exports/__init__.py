"""Exports of tools in which ratings already live; EXPORTS has them in the order of their tests."""

from refless.tables.exports import label_studio
from refless.tables.exports.shape import Export, exported

EXPORTS: dict[str, Export] = {
    "label-studio": label_studio.JSON,
    "label-studio-min": label_studio.JSON_MIN,
}

__all__ = ["EXPORTS", "exported"]
