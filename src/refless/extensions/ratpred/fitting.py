"""From a rated pool to what networks are trained on, and to a model."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from refless.estimators.folds import folds_of
from refless.extensions.ratpred.batches import Encoded, TrainingData
from refless.extensions.ratpred.model import Course, Model, Range
from refless.extensions.ratpred.reading import Dictionary, Reader, SourceAndText
from refless.extensions.ratpred.settings import TrainingPlan
from refless.extensions.ratpred.synthesis import dictionary_of, synthetic
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.progress import Progress


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Material:
    """The data that a model is trained on.

    Attributes:
        pairs: [n] tokens of the rated texts, none without tokens; ratings: [n] their human rating.
        names: [n] what each text is; equal ones are on one side of the validation split.
        references: pairs that nobody rated and that are taken for perfect.
        scale: lowest and highest possible rating, for what errors cost.
    """

    pairs: Sequence[SourceAndText]
    ratings: FloatArray
    names: Sequence[Hashable]
    references: Sequence[SourceAndText]
    scale: tuple[float, float]


def named_folds(names: Sequence[Hashable], folds: int) -> IntArray:
    """[n] fold of each row; rows of one name are in one fold."""
    numbers = {name: i for i, name in enumerate(dict.fromkeys(names))}
    return folds_of(np.array([numbers[name] for name in names], dtype=np.int64), folds)


def modelled(
    material: Material,
    reader: Reader,
    how: TrainingPlan,
    about: dict[str, Any],
    *,
    device: str,
    progress: Progress | None = None,
) -> Model:
    """Trains the networks of a model.

    Args:
        material: in canonical order.
        reader: how it was read, and how outputs will be.
        how: everything else that counts.
        about: kept with the model.
        device: `cpu` or `cuda`.
        progress: told the share of the epochs that are done.
    """
    from refless.extensions.ratpred.training import train

    folds = named_folds(material.names, max(2, round(1 / how.validation_split)))
    apart: IntArray = np.flatnonzero(folds == 0)
    inside: IntArray = np.flatnonzero(folds)
    span = Range.of(material.ratings[inside])
    seeds = _seeds(how)
    synthetic_data = [
        _synthetic(material, inside, seed, errors=how.synthetic_errors)
        for seed in seeds
    ]
    pairs = [material.pairs[i] for i in inside]
    for synthetic_pairs, _ in synthetic_data:
        pairs += synthetic_pairs
    names = Dictionary.of(pairs)
    networks = []
    courses = []
    for i, seed in enumerate(seeds):
        data = _data(material, inside, apart, synthetic_data[i], names, span, seed)
        network, state = train(
            data, how.settings, device=device, tell=_teller(progress, how, data, i)
        )
        networks.append(network)
        courses.append(
            Course(
                epochs=state.number,
                kept=state.best_epoch + 1,
                pearson=_defined(state.pearson),
                spearman=_defined(state.spearman),
            )
        )
    model = Model(
        networks=tuple(networks),
        settings=how.settings,
        reader=reader,
        dictionary=names,
        range=span,
        validation=np.zeros((2, 0)),
        about=about,
        courses=tuple(courses),
    )
    y = model.predict([material.pairs[i] for i in apart])
    human = material.ratings[apart]
    span = span.calibrated(y, human)
    values = span.rating(
        y, calibrated=how.calibrated, clipped=how.clipped, rounded=how.rounded
    )
    return replace(model, range=span, validation=np.stack([human, values]))


def _data(
    material: Material,
    inside: IntArray,
    apart: IntArray,
    synthetic_data: tuple[list[SourceAndText], FloatArray],
    names: Dictionary,
    span: Range,
    seed: int,
) -> TrainingData:
    """The training data of a network: the same ratings, synthetic pairs of its own."""

    def encoded(pairs: Sequence[SourceAndText], ratings: FloatArray) -> Encoded:
        return names.encoded(pairs, (ratings - span.offset) / span.unit)

    pairs = [material.pairs[i] for i in inside]
    ratings = material.ratings[inside]
    synthetic_pairs, lowered = synthetic_data
    every = (
        encoded([*pairs, *synthetic_pairs], np.concatenate([ratings, lowered]))
        if synthetic_pairs
        else None
    )
    return TrainingData(
        seed=seed,
        rated=encoded(pairs, ratings),
        validation=encoded([material.pairs[i] for i in apart], material.ratings[apart]),
        synthetic=every,
        sizes=names.sizes,
    )


def _defined(value: float) -> float | None:
    return None if value != value else value


def _teller(
    progress: Progress | None, how: TrainingPlan, data: TrainingData, place: int
) -> Callable[[int], None] | None:
    """Tells epochs as a share of the most that all networks can go through."""
    if progress is None:
        return None
    epochs = how.epochs + (how.synthetic_epochs if data.synthetic is not None else 0)
    return lambda number: progress((place + number / epochs) / how.ensemble_size)


def _seeds(how: TrainingPlan) -> list[int]:
    """Each network's own seed."""
    drawn = [np.random.SeedSequence([how.seed, i]) for i in range(how.ensemble_size)]
    return [int(sequence.generate_state(1)[0]) for sequence in drawn]


def _synthetic(
    material: Material, inside: IntArray, seed: int, *, errors: bool
) -> tuple[list[SourceAndText], FloatArray]:
    """Synthetic pairs with their ratings: errors in rated texts; references, and errors in them."""
    best = [material.scale[1]] * len(material.references)
    if not errors:
        return list(material.references), np.array(best)
    pairs = [material.pairs[i] for i in inside]
    words = dictionary_of([pair.text for pair in pairs])
    own = synthetic(
        pairs, material.ratings[inside].tolist(), words, material.scale, seed
    )
    more = synthetic(material.references, best, words, material.scale, seed)
    return [*own[0], *material.references, *more[0]], np.array(
        [*own[1], *best, *more[1]]
    )
