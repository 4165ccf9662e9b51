"""A rated pool as the GP reads it: ratings of mean 0 and variance 1, their noise, folds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from refless.data.human import canonical_order, copies_of, fingerprint, members_of
from refless.data.records import NO_SCORES, Outputs, RatedPool
from refless.estimators.gp.components import (
    ACTS,
    MEANING,
    SOURCE,
    SOURCE_MEANING,
    SYSTEM,
    TEXT,
    Component,
    Points,
    components_of,
    score_numbers,
)
from refless.estimators.gp.covariance import rows_of
from refless.estimators.gp.dialogue_acts import mostly_acts
from refless.estimators.gp.inputs import Inputs, inputs_of
from refless.estimators.gp.scores import scores_for
from refless.estimators.gp.tfidf import Bag
from refless.estimators.protocol import subsampled
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.errors import UsageError
from refless.registry.progress import Progress
from refless.stats.correlation import is_constant
from refless.text.embed import Encoder
from refless.text.ngrams import Shape

FEWEST = 5  # rated texts for a model
KEPT = 50_000  # texts whose points are kept; of more, so many drawn say what words and numbers tell


@dataclass(frozen=True, slots=True, kw_only=True)
class Reads:
    """What is read beside the texts, where the rated texts have it, and how; see `GaussianProcess`.

    Attributes:
        source, scores, system: whether these are read.
        encoder: what gives texts their vectors, or None.
        shape: of the n-grams.
        threads: how many work at once; no result depends on it.
    """

    source: bool
    scores: bool
    system: bool
    encoder: Encoder | None
    shape: Shape
    threads: int | None = None

    def kernels_of(self, rated: RatedPool) -> tuple[str, ...]:
        """Names of the kernels that rated texts ask for."""
        sources = rated.sources if self.source and len(set(rated.sources)) > 1 else ()
        names = (*TEXT, *(SOURCE if sources else ()), *(ACTS if mostly_acts(sources) else ()))
        if self.encoder is not None:
            names += (*MEANING, *(SOURCE_MEANING if sources else ()))
        if self.system and len({*rated.systems} - {""}) > 1:
            names += SYSTEM
        return (*names, *score_numbers(rated.score_names if self.scores else ()))

    def beside(self, rated: RatedPool, names: Sequence[str]) -> dict[str, Any]:
        """The columns of `Inputs` that the kernels of these names read as they are."""
        return {
            "sources": rated.sources if SOURCE[0] in names else (),
            "systems": rated.systems if SYSTEM[0] in names else (),
            "scores": rated.scores if self.scores else NO_SCORES,
            "score_names": rated.score_names if self.scores else (),
        }

    def components(
        self, names: Sequence[str], inputs: Inputs, bags: Mapping[str, Bag] = MappingProxyType({})
    ) -> tuple[Component, ...]:
        """The kernels of these names, learned from rated texts; bags: those that are known."""
        return components_of(names, usual(inputs), self.shape, self.threads, bags)


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """A rated pool as numbers: ratings of mean 0 and variance 1, and their own noise.

    Attributes:
        pool: as given; rated: in canonical order, sub-sampled.
        inputs: what the kernels read of the rated texts; of those that were saved, what is needed
            once their points are known.
        components: the kernels, learned from all rated texts, or from a drawn part of many.
        points: where the rated texts lie, by the kernel's name; None of many.
        y: [n] human rating as (human rating - offset) / unit.
        noise: [n] variance of each text's human rating as an average of few ratings, over unit**2.
        reads: what is read beside the texts.
        origin: the fingerprint of the rated texts that kernels and units were learned from, where
            ratings have come since.
    """

    pool: RatedPool
    rated: RatedPool
    inputs: Inputs
    components: Mapping[str, Component]
    points: Mapping[str, Points] | None
    y: FloatArray
    offset: float
    unit: float
    noise: FloatArray
    fingerprint: str
    reads: Reads
    origin: str = ""

    def in_units_of(self, rows: IntArray) -> Data:
        """The same texts with offset, unit and noise as these rated texts alone have them."""
        offset, unit = _units(self.rated.human[rows])
        noise = rating_noise(self.rated, rows) / unit**2
        y = (self.rated.human - offset) / unit
        return replace(self, y=y, offset=offset, unit=unit, noise=noise)

    def at(self, rows: IntArray, names: Iterable[str] | None = None) -> dict[str, Points]:
        """Where some rated texts lie, by the kernel's name, for these kernels or for all."""
        names = self.components if names is None else names
        if self.points is not None:
            return rows_of({name: self.points[name] for name in names}, rows)
        inputs = self.inputs.take(rows)
        return {name: self.components[name].points(inputs) for name in names}

    def inputs_of(self, outputs: Outputs, progress: Progress | None = None) -> Inputs:
        """What the kernels read of outputs, as they read the rated texts; see `check_outputs`."""
        check_outputs(self, outputs)
        names = self.inputs.score_names
        found = inputs_of(
            outputs.texts,
            outputs.sources if self.inputs.sources else (),
            systems=outputs.systems if self.inputs.systems else (),
            encoder=self.reads.encoder,
            scores=scores_for(outputs, names) if self.reads.scores else NO_SCORES,
            score_names=names,
            progress=progress,
        )
        if self.reads.encoder and found.meaning.shape[1] != self.inputs.meaning.shape[1]:
            raise UsageError("the encoder gives other vectors than those of the rated texts")
        return found

    def take(self, rows: IntArray) -> Data:
        """These rated texts alone, in the same units."""
        return replace(
            self,
            rated=self.rated.take(rows),
            inputs=self.inputs.take(rows),
            points=None if self.points is None else rows_of(self.points, rows),
            y=self.y[rows],
            noise=self.noise[rows],
        )


def read(
    pool: RatedPool,
    reads: Reads,
    *,
    subsample: float,
    seed: int,
    groups: IntArray | None = None,
    progress: Progress | None = None,
) -> Data:
    """A pool in canonical order and sub-sampled, as numbers."""
    ordered = pool.take(canonical_order(pool, groups))
    rated = subsampled(ordered, subsample, seed)
    names = reads.kernels_of(rated)
    inputs = inputs_of(
        rated.texts, **reads.beside(rated, names), encoder=reads.encoder, progress=progress
    )
    learned = reads.components(names, inputs) if len(rated) else ()
    components = dict(zip(names, learned, strict=bool(learned)))
    kept = components if few(len(rated)) else {}
    return data_of(
        pool=pool,
        rated=rated,
        inputs=inputs,
        components=components,
        points={name: one.points(inputs) for name, one in kept.items()} if kept else None,
        fingerprint=fingerprint(ordered),
        reads=reads,
    )


def few(n: int) -> bool:
    """Whether all points of so many rated texts are kept."""
    return n <= KEPT


def usual(inputs: Inputs) -> Inputs:
    """Texts that say how frequent words are and how numbers spread; of many, a drawn part."""
    if few(len(inputs)):
        return inputs
    return inputs.take(np.sort(np.random.default_rng(5).choice(len(inputs), KEPT, replace=False)))


def data_of(*, rated: RatedPool, **known: Any) -> Data:  # noqa: ANN401 - the other fields of Data
    """The numbers of rated texts whose kernels and points are known."""
    offset, unit = _units(rated.human)
    return Data(
        rated=rated,
        y=(rated.human - offset) / unit,
        offset=offset,
        unit=unit,
        noise=rating_noise(rated) / unit**2,
        **known,
    )


def check_outputs(data: Data, outputs: Outputs) -> None:
    """Raises UsageError for outputs without the sources or systems that are read."""
    if data.inputs.sources and not outputs.sources:
        raise UsageError(
            "the rated texts have sources and the outputs have none: give the outputs' sources "
            "too (a column, or explain's --source), or leave the sources unread "
            "(gp:use_source=no)"
        )
    if data.inputs.systems and not outputs.systems:
        raise UsageError(
            "the systems of the rated texts are read and the outputs have none: give the outputs' "
            "systems too (a column; names that no rated text has are new systems), or leave "
            "systems unread (gp:use_system=no)"
        )


def _units(human: FloatArray) -> tuple[float, float]:
    """Mean and standard deviation, 1 where there is none to speak of."""
    if len(human) == 0:
        return 0.0, 1.0
    ordered = np.sort(human)
    mean, spread = float(ordered.mean()), float(ordered.std())
    return mean, 1.0 if is_constant(human) else spread


def rating_noise(pool: RatedPool, rows: IntArray | None = None) -> FloatArray:
    """[n] variance of each text's mean rating as an average of few, scaled; 0 where unknown.

    The variance of one rating is pooled over all texts that were rated more than once, or over
    those in `rows`.
    """
    text, values = pool.ratings.text, pool.ratings.values
    if pool.scale is not None:
        values = values / (pool.scale[1] - pool.scale[0])
    order = np.lexsort((values, text))
    text, values = text[order], values[order]
    counts = np.maximum(np.bincount(text, minlength=len(pool)), 1)
    means = np.bincount(text, values, len(pool)) / counts
    spread = np.bincount(text, (values - means[text]) ** 2, len(pool))
    pooled = slice(None) if rows is None else rows
    freedom = float((counts[pooled] - 1).sum())
    if freedom <= 0:
        return np.zeros(len(pool))
    return np.asarray(np.sort(spread[pooled]).sum() / freedom / counts)


def folds_in(
    pool: RatedPool, groups: IntArray, folds: int, seed: int | tuple[int, ...] = 2
) -> IntArray:
    """[n] fold of each text; groups stay whole, and copies of a text that no group sets apart.

    Groups of the same contents share a fold, so neither ratings nor the order of rows nor labels
    decide where a text goes. Folds are those of any multiple of their number, put together.
    """
    members = members_of(groups, copies_of(pool))
    place = {inside: i for i, inside in enumerate(sorted(set(members.values())))}
    drawn = _dealt(len(place), folds, seed)
    return np.array([drawn[place[members[group]]] for group in groups.tolist()], dtype=np.int64)


def folds_of(groups: IntArray, folds: int) -> IntArray:
    """[n] fold of each row; groups stay whole and are dealt out in a drawn, repeatable order."""
    _, first = np.unique(groups, return_index=True)
    by_place = groups[np.sort(first)]  # in the order of rows, not of labels
    fold = dict(zip(by_place.tolist(), _dealt(len(by_place), folds).tolist(), strict=True))
    return np.array([fold[group] for group in groups.tolist()], dtype=np.int64)


def _dealt(n: int, folds: int, seed: int | tuple[int, ...] = 2) -> IntArray:
    """Fold of each of n groups."""
    return np.asarray(np.random.default_rng(seed).permutation(n) % folds)
