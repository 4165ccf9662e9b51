"""From a rated pool to what networks are trained on, and to a model."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from refless.embed import WordVectors
from refless.errors import UsageError
from refless.estimators.kriging.data import folds_of
from refless.estimators.ratpred.batches import Encoded
from refless.estimators.ratpred.model import Model, Range
from refless.estimators.ratpred.progress import Member, Pass
from refless.estimators.ratpred.reading import Dictionary, Pair, Reader
from refless.estimators.ratpred.settings import Settings
from refless.estimators.ratpred.synthesis import Likert, dictionary_of, synthetic
from refless.records import FloatArray, IntArray

STEPS = 5.0  # an error costs a fifth of the scale: one point of 1..6


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Material:
    """What a model is made of.

    Attributes:
        pairs: [n] tokens of the rated texts, none without tokens; ratings: [n] their truth.
        names: [n] what each text is; equal ones are on one side of the development split.
        references: pairs that nobody rated and that are taken for perfect.
        scale: lowest and highest possible rating, for what errors cost.
        errors: whether errors are made in the texts, for the first passes.
        vectors: a file of vectors that words begin with.
    """

    pairs: Sequence[Pair]
    ratings: FloatArray
    names: Sequence[Hashable]
    references: Sequence[Pair]
    scale: tuple[float, float]
    errors: bool
    vectors: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a model is made: its size and schedule, seeds, the share kept for model selection."""

    settings: Settings
    members: int
    development: float
    seed: int
    device: str
    levelled: bool
    bounded: bool
    rounded: bool


def development_rows(names: Sequence[Hashable], share: float) -> IntArray:
    """Rows that choose the pass to keep; rows of one name are on one side."""
    return np.flatnonzero(named_folds(names, max(2, round(1 / share))) == 0)


def named_folds(names: Sequence[Hashable], folds: int) -> IntArray:
    """[n] fold of each row; rows of one name are in one fold."""
    numbers = {name: i for i, name in enumerate(dict.fromkeys(names))}
    return folds_of(np.array([numbers[name] for name in names], dtype=np.int64), folds)


def modelled(
    material: Material,
    reader: Reader,
    plan: Plan,
    about: dict[str, Any],
    *,
    tell: Callable[[Pass], None] | None = None,
    checkpoint: Path | None = None,
) -> Model:
    """Trains the networks of a model.

    Args:
        material: in canonical order.
        reader: how it was read, and how outputs will be.
        plan: everything else that counts.
        about: kept with the model.
        tell: called after each pass of each member.
        checkpoint: folder from which a stopped run goes on.
    """
    from refless.estimators.ratpred.training import train

    apart = development_rows(material.names, plan.development)
    inside = np.setdiff1d(np.arange(len(material.pairs)), apart)
    span = Range.of(material.ratings[inside])
    pairs = [material.pairs[i] for i in inside]
    made = [_made(material, inside, seed) for seed in _seeds(plan)]
    names = Dictionary.of([*pairs, *(pair for some, _ in made for pair in some)])

    def encoded(some: Sequence[Pair], ratings: FloatArray) -> Encoded:
        return names.encoded(some, (ratings - span.offset) / span.unit)

    rated = encoded(pairs, material.ratings[inside])
    chosen = [material.pairs[i] for i in apart]
    development = encoded(chosen, material.ratings[apart])
    vectors = _vectors(material.vectors, names, plan.settings)
    levels = span.levels(plan.settings.target)
    members = [
        Member(
            seed=seed,
            rated=rated,
            development=development,
            synthetic=encoded([*pairs, *some], np.concatenate([material.ratings[inside], ratings]))
            if some
            else None,
            sizes=names.sizes,
            vectors=vectors,
        )
        for seed, (some, ratings) in zip(_seeds(plan), made, strict=True)
    ]
    best, state = train(
        members,
        plan.settings,
        device=plan.device,
        tell=tell,
        checkpoint=checkpoint,
        levels=levels,
    )
    model = Model(
        parameters={name: value.cpu() for name, value in best.items()},
        settings=plan.settings,
        reader=reader,
        dictionary=names,
        range=span,
        development=np.zeros((2, 0)),
        about=about,
        curve=tuple(map(_line, state.curve)),
    )
    y = model.predict(chosen)
    truth = material.ratings[apart]
    span = span.levelled(y, truth)
    values = span.rating(y, levelled=plan.levelled, bounded=plan.bounded, rounded=plan.rounded)
    return replace(model, range=span, development=np.stack([truth, values]))


def _vectors(
    path: str | None, names: Dictionary, settings: Settings
) -> dict[str, FloatArray] | None:
    """For each side the vectors that its words begin with, NaN for words without."""
    if path is None:
        return None
    found = {}
    for side, size in names.sizes.items():
        words: tuple[str, ...] = getattr(names, side)
        read = WordVectors(path=path).embed(words, lambda word: [word])
        table = np.full((size, settings.embedding), np.nan)
        if len(read.vectors) and read.vectors.shape[1] != settings.embedding:
            raise UsageError(
                f"{path} has vectors of {read.vectors.shape[1]} numbers, the network of "
                f"{settings.embedding}: set the size of embeddings to the former"
            )
        for i in range(len(words)):
            if len(own := read.vectors[read.of(i)]):
                table[i + 2] = own[0]
        found[side] = table
    return found


def _line(told: Pass) -> dict[str, Any]:
    """A pass as JSON can say it: what is undefined is null."""
    return {name: None if value != value else value for name, value in asdict(told).items()}


def _seeds(plan: Plan) -> list[int]:
    """Each member's own seed."""
    drawn = [np.random.SeedSequence([plan.seed, i]) for i in range(plan.members)]
    return [int(sequence.generate_state(1)[0]) for sequence in drawn]


def _made(material: Material, inside: IntArray, seed: int) -> tuple[list[Pair], FloatArray]:
    """Synthetic pairs with their ratings: errors in rated texts; references, and errors in them."""
    best = [material.scale[1]] * len(material.references)
    if not material.errors:
        return list(material.references), np.array(best)
    pairs = [material.pairs[i] for i in inside]
    words = dictionary_of([pair.text for pair in pairs])
    low, high = material.scale
    step = (high - low) / STEPS
    likert = Likert(low=low, high=high, step=step, drop=2 * step)
    own = synthetic(pairs, material.ratings[inside].tolist(), words, likert, seed)
    more = synthetic(material.references, best, words, likert, seed)
    return [*own[0], *material.references, *more[0]], np.array([*own[1], *best, *more[1]])
