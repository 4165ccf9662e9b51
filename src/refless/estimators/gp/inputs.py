"""Texts and what the kernels read of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from refless.data.records import NO_SCORES
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.progress import Progress
from refless.text.embed import Encoder, VectorArray
from refless.text.surface import relation, surface


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """Texts and what the kernels read of them; source columns are empty without sources.

    Attributes:
        systems: [n] what made each text, or () where that is not read.
        surface, relation: [n, numbers], see `refless.text.surface`.
        meaning, asked: [n, dimensions] vectors of the texts, of the sources, of length 1; empty
            without an encoder.
        relevance: [n, 1] cosine of the two.
        scores: [n, k] what others said of the texts, NaN where nothing; score_names: [k].
    """

    texts: tuple[str, ...]
    sources: tuple[str, ...]
    systems: tuple[str, ...]
    surface: FloatArray
    relation: FloatArray
    meaning: VectorArray
    asked: VectorArray
    relevance: FloatArray
    scores: FloatArray
    score_names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, rows: Iterable[int] | IntArray) -> Inputs:
        """The given rows."""
        which = np.fromiter(rows, dtype=np.int64)

        def picked(column: Any) -> Any:  # noqa: ANN401 - a tuple or an array of any kind
            if len(column) != len(self):
                return column
            return tuple(column[i] for i in which) if isinstance(column, tuple) else column[which]

        columns = {f.name: picked(getattr(self, f.name)) for f in fields(self)}
        return Inputs(**columns | {"score_names": self.score_names})

    def below(self, more: Inputs) -> Inputs:
        """With others, read alike, below them."""

        def both(one: Any, other: Any) -> Any:  # noqa: ANN401 - as in `take`
            return one + other if isinstance(one, tuple) else np.concatenate([one, other])

        columns = {f.name: both(getattr(self, f.name), getattr(more, f.name)) for f in fields(self)}
        return Inputs(**columns | {"score_names": self.score_names})


def inputs_of(
    texts: Sequence[str],
    sources: Sequence[str] = (),
    *,
    systems: Sequence[str] = (),
    encoder: Encoder | None = None,
    scores: FloatArray = NO_SCORES,
    score_names: tuple[str, ...] = (),
    progress: Progress | None = None,
) -> Inputs:
    """Texts, with their sources or with ().

    Args:
        texts: [n]; sources, systems: [n] or ().
        encoder: what gives texts and sources their vectors.
        scores: [n, k]; score_names: [k].
        progress: called with the share of the vectors that is there.
    """
    meaning = asked = np.zeros((0, 0), dtype=np.float32)
    if encoder is not None:
        vectors = encoder.sentences([*texts, *sources], progress)
        meaning, asked = vectors[: len(texts)], vectors[len(texts) :]
    return Inputs(
        texts=tuple(texts),
        sources=tuple(sources),
        systems=tuple(systems),
        surface=surface(texts),
        relation=relation(texts if sources else (), sources),
        meaning=meaning,
        asked=asked,
        relevance=relevance_of(meaning, asked),
        scores=scores,
        score_names=score_names,
    )


def relevance_of(meaning: VectorArray, asked: VectorArray) -> FloatArray:
    """[n, 1] cosine of the vectors of texts and of sources; [0, 1] without the latter."""
    if not len(asked):
        return np.zeros((0, 1))
    return np.asarray(np.einsum("ij,ij->i", meaning, asked, dtype=np.float64)[:, None])
