"""A trained model: everything that an estimate needs, as arrays and JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import numpy as np

from refless.data.human import check_scale
from refless.data.records import Scale
from refless.extensions.ratpred.reading import Dictionary, Reader, SourceAndText
from refless.extensions.ratpred.settings import Settings
from refless.files.arrays import Array, Arrays, array_of, require
from refless.registry.arrays import FloatArray
from refless.registry.signature import Signature
from refless.stats.correlation import is_constant
from refless.text.embed.devices import AUTO, CPU, device_of

if TYPE_CHECKING:
    from refless.extensions.ratpred.network import Network

Natural = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """The map from predictions to ratings: y = (rating - offset) / unit.

    Attributes:
        low, high: lowest and highest rating of the training data.
        precision: step of its ratings from `low`, None where they have none.
        start, slope: the line that brings predictions y to the level of the ratings.
    """

    offset: float
    unit: float
    low: float
    high: float
    precision: float | None
    start: float = 0.0
    slope: float = 1.0

    @classmethod
    def of(cls, ratings: FloatArray) -> Range:
        """The range and the precision found in ratings; at least one."""
        ordered = np.sort(ratings)
        unit = 1.0 if is_constant(ordered) else float(ordered.std())
        return cls(
            offset=float(ordered.mean()),
            unit=unit,
            low=float(ordered[0]),
            high=float(ordered[-1]),
            precision=_precision(ordered),
        )

    def calibrated(self, y: FloatArray, ratings: FloatArray) -> Range:
        """With the line of least squares from predictions to ratings of the same texts.

        The epoch that is kept has the best correlations, whatever its level: after an epoch with
        synthetic errors, most of whose ratings are low, estimates are too low. A line that falls
        becomes the mean; without two different predictions only the level is moved.
        """
        if len(y) == 0:
            return self
        target = (ratings - self.offset) / self.unit
        mean = target.mean()
        centred = y - y.mean()
        spread = float(np.square(centred).sum())
        slope = 1.0
        if spread > 1e-12 * len(y):
            covariance = float((centred * (target - mean)).sum())
            slope = max(0.0, covariance / spread)
        return replace(self, start=float(mean - slope * y.mean()), slope=slope)

    def rating(
        self, y: FloatArray, *, calibrated: bool, clipped: bool, rounded: bool
    ) -> FloatArray:
        """Predictions in the units of the ratings; clipped and rounded is published (section 2)."""
        standardised = self.start + self.slope * y if calibrated else y
        values = self.offset + self.unit * standardised
        if clipped:
            values = np.clip(values, self.low, self.high)
        if rounded and self.precision is not None:
            steps = np.rint((values - self.low) / self.precision)
            values = self.low + steps * self.precision
        return values


def _precision(ordered: FloatArray) -> float | None:
    """The least gap between sorted ratings, if all gaps are multiples of it."""
    gaps = np.unique(np.round(np.diff(np.unique(ordered)), 9))
    if len(gaps) == 0:
        return None
    steps = gaps / gaps[0]
    return float(gaps[0]) if np.allclose(steps, np.rint(steps), atol=1e-6) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """The course of one network's training.

    Attributes:
        epochs: how many there were; kept: which one was kept, from 1.
        pearson, spearman: of that one, on the validation split; None where undefined.
    """

    epochs: Natural
    kept: Natural
    pearson: float | None
    spearman: float | None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Model:
    """Trained networks, whose mean is the estimate.

    Attributes:
        networks: one or more, where they were trained if that device is here.
        validation: [2, n] human rating and estimate of the texts that chose the epochs to keep.
        about: the signature of the training, the pool's fingerprint, size and scale.
        courses: how each network was trained.
    """

    networks: tuple[Network, ...]
    settings: Settings
    reader: Reader
    dictionary: Dictionary
    range: Range
    validation: FloatArray
    about: dict[str, Any]
    courses: tuple[Course, ...]

    def predict(self, pairs: Sequence[SourceAndText]) -> FloatArray:
        """[n] mean standardised prediction of the networks, each different pair computed once."""
        from refless.extensions.ratpred.training import predictions

        places = {pair: place for place, pair in enumerate(dict.fromkeys(pairs))}
        encoded = self.dictionary.encoded(list(places))
        values = [predictions(network, encoded) for network in self.networks]
        mean = np.mean(values, axis=0)
        return np.asarray(mean[[places[pair] for pair in pairs]])

    def weights(self) -> Arrays:
        """The networks' tables by number and name."""
        tables = {}
        for i, network in enumerate(self.networks):
            for name, value in network.state_dict().items():
                tables[f"{i}.{name}"] = value.cpu().numpy()
        return tables

    def described(self) -> dict[str, object]:
        """All besides, for JSON."""
        return {
            "settings": asdict(self.settings),
            "reader": {"acts": self.reader.acts, "slots": sorted(self.reader.slots)},
            "dictionary": asdict(self.dictionary),
            "range": asdict(self.range),
            "validation": self.validation.tolist(),
            "about": self.about,
            "courses": [asdict(course) for course in self.courses],
        }


class PoolSummary(msgspec.Struct, frozen=True):
    """A summary of the rated texts that taught a model."""

    pool: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{12}\Z")]
    size: Natural
    scale: Scale | None
    sources: bool
    signature: str


class ModelHeader(msgspec.Struct, frozen=True):
    """The description of a model in its file."""

    settings: Settings
    reader: Reader
    dictionary: Dictionary
    range: Range
    validation: tuple[list[float], list[float]]
    about: PoolSummary
    courses: tuple[Course, ...]


def model_in(described: Mapping[str, Any], weights: Mapping[str, Array]) -> Model:
    """The model that `described` and `weights` gave.

    Raises:
        ValueError: anything that they cannot have given.
    """
    description = msgspec.convert(described, ModelHeader)
    _check(description)
    networks = _networks(weights, description.dictionary, description.settings)
    trained_on = Signature.parse(description.about.signature).get("device")
    device = device_of(CPU if trained_on is None else AUTO)
    return Model(
        networks=tuple(network.to(device) for network in networks),
        settings=description.settings,
        reader=description.reader,
        dictionary=description.dictionary,
        range=description.range,
        validation=np.array(description.validation).reshape(2, -1),
        about=msgspec.to_builtins(description.about),
        courses=description.courses,
    )


def _check(description: ModelHeader) -> None:
    """Raises ValueError for numbers that cannot be."""
    span = [number for number in astuple(description.range) if number is not None]
    finite = all(map(math.isfinite, span))
    positive = description.range.unit > 0 and description.range.precision != 0
    require(finite and positive, "its range is none")
    human, estimates = description.validation
    require(
        bool(np.isfinite([*human, *estimates]).all()), "a validation text has no number"
    )
    require(
        len(human) == len(estimates), "the validation texts have not one estimate each"
    )
    check_scale(description.about.scale)
    Signature.parse(description.about.signature)


def _networks(
    weights: Mapping[str, Array], names: Dictionary, settings: Settings
) -> tuple[Network, ...]:
    """The networks of these tables; ValueError for tables of other sizes."""
    import torch

    from refless.extensions.ratpred.network import Network

    shapes = Network.shapes(names.sizes, settings, most=len(weights))
    count, remainder = divmod(len(weights), len(shapes))
    require(remainder == 0 and count > 0, "the weights are not those of whole networks")
    networks = []
    for i in range(count):
        tables = {
            name: torch.from_numpy(
                array_of(weights, f"{i}.{name}", tuple(shape), "<f4").copy()
            )
            for name, shape in shapes.items()
        }
        network = Network.empty(names.sizes, settings)
        network.load_state_dict(tables)
        networks.append(network)
    return tuple(networks)
