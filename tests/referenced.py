"""Outputs with references, their ids counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from refless.data.records import Outputs, numbered


def outputs(
    texts: Sequence[str],
    references: Iterable[Iterable[str]],
    weights: Iterable[Iterable[float]] = (),
) -> Outputs:
    """Of each text its references, and their weights if there are any."""
    return Outputs(
        ids=numbered(len(texts)),
        texts=tuple(texts),
        references=tuple(map(tuple, references)),
        weights=tuple(map(tuple, weights)),
    )


def outputs_of_items(items: Sequence[tuple[str, Sequence[str]]]) -> Outputs:
    """Of pairs of a text and its references."""
    return outputs([text for text, _ in items], [many for _, many in items])
