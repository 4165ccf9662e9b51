"""From a rated pool to what networks are trained on, and to a model."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from refless.estimators.folds import folds_of
from refless.extensions.ratpred.batches import Encoded
from refless.extensions.ratpred.model import Model, Range
from refless.extensions.ratpred.progress import Epoch, TrainingData
from refless.extensions.ratpred.reading import Dictionary, Pair, Reader
from refless.extensions.ratpred.settings import Settings
from refless.extensions.ratpred.synthesis import Likert, dictionary_of, synthetic
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.errors import UsageError
from refless.registry.progress import Progress
from refless.text.embed import WordVectors

if TYPE_CHECKING:
    from refless.extensions.ratpred.network import Network

STEPS = 5.0  # an error costs a fifth of the scale: one point of 1..6


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Material:
    """What a model is made of.

    Attributes:
        pairs: [n] tokens of the rated texts, none without tokens; ratings: [n] their human rating.
        names: [n] what each text is; equal ones are on one side of the validation split.
        references: pairs that nobody rated and that are taken for perfect.
        scale: lowest and highest possible rating, for what errors cost.
        synthetic_errors: whether errors are made in the texts, for the first epochs.
        vectors: a file of vectors that words begin with.
    """

    pairs: Sequence[Pair]
    ratings: FloatArray
    names: Sequence[Hashable]
    references: Sequence[Pair]
    scale: tuple[float, float]
    synthetic_errors: bool
    vectors: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a model is made: its size and schedule, seeds, the share kept for model selection."""

    settings: Settings
    ensemble_size: int
    validation_split: float
    seed: int
    device: str
    calibrated: bool
    clipped: bool
    rounded: bool


def validation_rows(names: Sequence[Hashable], share: float) -> IntArray:
    """Rows that choose the epoch to keep; rows of one name are on one side."""
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
    progress: Progress | None = None,
) -> Model:
    """Trains the networks of a model.

    Args:
        material: in canonical order.
        reader: how it was read, and how outputs will be.
        plan: everything else that counts.
        about: kept with the model.
        progress: told the share of the epochs that are done.
    """
    apart = validation_rows(material.names, plan.validation_split)
    inside = np.setdiff1d(np.arange(len(material.pairs)), apart)
    span = Range.of(material.ratings[inside])
    made = [_made(material, inside, seed) for seed in _seeds(plan)]
    synthetic = [pair for some, _ in made for pair in some]
    names = Dictionary.of([*(material.pairs[i] for i in inside), *synthetic])
    lessons = _lessons(material, inside, apart, made, names, span, plan)
    levels = span.levels(plan.settings.target)
    networks, history = _ensemble(lessons, plan, levels, progress)
    model = Model(
        networks=networks,
        settings=plan.settings,
        reader=reader,
        dictionary=names,
        range=span,
        validation=np.zeros((2, 0)),
        about=about,
        history=history,
    )
    y = model.predict([material.pairs[i] for i in apart])
    human = material.ratings[apart]
    span = span.calibrated(y, human)
    values = span.rating(y, calibrated=plan.calibrated, clipped=plan.clipped, rounded=plan.rounded)
    return replace(model, range=span, validation=np.stack([human, values]))


def _lessons(
    material: Material,
    inside: IntArray,
    apart: IntArray,
    made: Sequence[tuple[list[Pair], FloatArray]],
    names: Dictionary,
    span: Range,
    plan: Plan,
) -> list[TrainingData]:
    """What each network learns from: the same ratings, synthetic pairs of its own."""

    def encoded(some: Sequence[Pair], ratings: FloatArray) -> Encoded:
        return names.encoded(some, (ratings - span.offset) / span.unit)

    pairs, ratings = [material.pairs[i] for i in inside], material.ratings[inside]
    rated = encoded(pairs, ratings)
    validation = encoded([material.pairs[i] for i in apart], material.ratings[apart])
    vectors = _vectors(material.vectors, names, plan.settings)
    return [
        TrainingData(
            seed=seed,
            rated=rated,
            validation=validation,
            synthetic=encoded([*pairs, *some], np.concatenate([ratings, lowered]))
            if some
            else None,
            sizes=names.sizes,
            vectors=vectors,
        )
        for seed, (some, lowered) in zip(_seeds(plan), made, strict=True)
    ]


def _ensemble(
    lessons: Sequence[TrainingData],
    plan: Plan,
    levels: Sequence[float],
    progress: Progress | None,
) -> tuple[tuple[Network, ...], tuple[dict[str, Any], ...]]:
    """The networks, trained one after the other, and a line for each epoch of each."""
    from refless.extensions.ratpred.training import train

    networks, history = [], []
    for i, data in enumerate(lessons):
        network, state = train(
            data,
            plan.settings,
            device=plan.device,
            tell=_teller(progress, data, plan, i),
            levels=levels,
        )
        networks.append(network.cpu())
        history += [_line(i, told) for told in state.history]
    return tuple(networks), tuple(history)


def _teller(
    progress: Progress | None, data: TrainingData, plan: Plan, place: int
) -> Callable[[Epoch], None] | None:
    """Tells epochs as a share of the most that all networks can go through."""
    if progress is None:
        return None
    settings = plan.settings
    most = settings.epochs + (settings.synthetic_epochs if data.synthetic is not None else 0)
    return lambda told: progress((place + told.number / most) / plan.ensemble_size)


def _vectors(path: str | None, names: Dictionary, settings: Settings) -> dict[str, FloatArray]:
    """For each side the vectors that its words begin with, NaN for words without."""
    if path is None:
        return {}
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


def _line(place: int, told: Epoch) -> dict[str, Any]:
    """A epoch of one network as JSON can say it: what is undefined is null."""
    line = {name: None if value != value else value for name, value in asdict(told).items()}
    return {"network": place, **line}


def _seeds(plan: Plan) -> list[int]:
    """Each network's own seed."""
    drawn = [np.random.SeedSequence([plan.seed, i]) for i in range(plan.ensemble_size)]
    return [int(sequence.generate_state(1)[0]) for sequence in drawn]


def _made(material: Material, inside: IntArray, seed: int) -> tuple[list[Pair], FloatArray]:
    """Synthetic pairs with their ratings: errors in rated texts; references, and errors in them."""
    best = [material.scale[1]] * len(material.references)
    if not material.synthetic_errors:
        return list(material.references), np.array(best)
    pairs = [material.pairs[i] for i in inside]
    words = dictionary_of([pair.text for pair in pairs])
    low, high = material.scale
    step = (high - low) / STEPS
    likert = Likert(low=low, high=high, step=step, drop=2 * step)
    own = synthetic(pairs, material.ratings[inside].tolist(), words, likert, seed)
    more = synthetic(material.references, best, words, likert, seed)
    return [*own[0], *material.references, *more[0]], np.array([*own[1], *best, *more[1]])
