"""A trained model: everything that an estimate needs, in a folder of safetensors and JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from refless.errors import InputError, UsageError
from refless.estimators.ratpred.reading import Dictionary, Pair, Reader
from refless.estimators.ratpred.settings import Settings
from refless.records import FloatArray
from refless.version import __version__

if TYPE_CHECKING:
    from refless.estimators.ratpred.network import Network

FORMAT = 2
MOST_LEVELS = 101
WEIGHTS, DESCRIPTION = "model.safetensors", "model.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """How predictions come back to the ratings: y = (rating - offset) / unit.

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
        unit = float(ordered.std())
        return cls(
            offset=float(ordered.mean()),
            unit=unit if unit > 1e-12 else 1.0,
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
        wanted = (ratings - self.offset) / self.unit
        if len(y) == 0:
            return self
        spread = float(np.square(y - y.mean()).sum())
        slope = 1.0
        if spread > 1e-12 * len(y):
            slope = max(0.0, float(((y - y.mean()) * (wanted - wanted.mean())).sum()) / spread)
        return replace(self, start=float(wanted.mean() - slope * y.mean()), slope=slope)

    def rating(
        self, y: FloatArray, *, calibrated: bool, clipped: bool, rounded: bool
    ) -> FloatArray:
        """Predictions in the units of the ratings; clipped and rounded is published (section 2)."""
        values = self.offset + self.unit * (self.start + self.slope * y if calibrated else y)
        if clipped:
            values = np.clip(values, self.low, self.high)
        if rounded and self.precision is not None:
            values = self.low + np.rint((values - self.low) / self.precision) * self.precision
        return values

    def levels(self, target: str) -> tuple[float, ...]:
        """The ratings that there can be, standardised, for a target that classifies them.

        Raises:
            UsageError: ratings without steps, or with too many.
        """
        if target == "number":
            return ()
        count = 0 if self.precision is None else round((self.high - self.low) / self.precision) + 1
        if not 2 <= count <= MOST_LEVELS:
            raise UsageError(
                f"the target {target!r} needs ratings in steps, {MOST_LEVELS} levels at most: "
                + (f"these have {count}" if count > 1 else "these have none")
                + "; use the target 'number'"
            )
        ratings = self.low + np.arange(count) * (self.precision or 0.0)
        return tuple(((ratings - self.offset) / self.unit).tolist())


def _precision(ordered: FloatArray) -> float | None:
    """The least gap between sorted ratings, if all gaps are multiples of it."""
    gaps = np.unique(np.round(np.diff(np.unique(ordered)), 9))
    if len(gaps) == 0:
        return None
    steps = gaps / gaps[0]
    return float(gaps[0]) if np.allclose(steps, np.rint(steps), atol=1e-6) else None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Model:
    """Trained networks, whose mean is the estimate.

    Attributes:
        networks: one or more, on the CPU.
        validation: [2, n] human rating and estimate of the texts that chose the epochs to keep.
        about: the signature of the training, the pool's fingerprint, size, scale and aggregate.
        history: one mapping a network and epoch.
    """

    networks: tuple[Network, ...]
    settings: Settings
    reader: Reader
    dictionary: Dictionary
    range: Range
    validation: FloatArray
    about: dict[str, Any]
    history: tuple[dict[str, Any], ...] = field(default=())

    @property
    def residuals(self) -> FloatArray:
        """[validation texts] human rating minus estimate, sorted."""
        return np.sort(self.validation[0] - self.validation[1])

    def predict(self, pairs: Sequence[Pair]) -> FloatArray:
        """[n] mean standardised prediction of the networks, each different pair computed once."""
        from refless.estimators.ratpred.training import predictions

        known = {pair: place for place, pair in enumerate(dict.fromkeys(pairs))}
        encoded = self.dictionary.encoded(list(known))
        mean = np.mean([predictions(network, encoded) for network in self.networks], axis=0)
        return np.asarray(mean[[known[pair] for pair in pairs]])

    def save(self, folder: Path) -> None:
        """Writes the folder; a model that is there is replaced."""
        from safetensors.torch import save_file

        folder.mkdir(parents=True, exist_ok=True)
        tables = {
            f"{i}.{name}": value.contiguous()
            for i, network in enumerate(self.networks)
            for name, value in network.state_dict().items()
        }
        described = {
            "format": FORMAT,
            "version": __version__,
            "settings": asdict(self.settings),
            "reader": {"acts": self.reader.acts, "slots": sorted(self.reader.slots)},
            "dictionary": asdict(self.dictionary),
            "range": asdict(self.range),
            "validation": self.validation.tolist(),
            "about": self.about,
            "history": self.history,
        }
        (folder / DESCRIPTION).unlink(missing_ok=True)  # half a model is none
        save_file(tables, folder / WEIGHTS)
        text = json.dumps(described, ensure_ascii=False, separators=(",", ":"))
        fresh = folder / f"{DESCRIPTION}.new"
        fresh.write_text(text + "\n", encoding="utf-8")
        fresh.replace(folder / DESCRIPTION)


def load(folder: str | Path) -> Model:
    """The model of a folder.

    Raises:
        InputError: no model there, one of another format, or one that is damaged.
    """
    path = Path(folder)
    for name in (DESCRIPTION, WEIGHTS):
        if not (path / name).is_file():
            raise InputError(
                f"no trained model is there: {name} is missing",
                path=str(path),
                remedy="name a folder made by 'refless train'",
            )
    try:
        described = json.loads((path / DESCRIPTION).read_text(encoding="utf-8"))
        if described["format"] != FORMAT:
            raise InputError(
                f"a model of format {described['format']}, this version reads {FORMAT}",
                path=str(path),
                remedy="train it again with 'refless train'",
            )
        return _described(path, described)
    except (KeyError, TypeError, ValueError) as fault:
        if isinstance(fault, InputError):
            raise
        raise InputError(
            f"the model cannot be read ({fault})",
            path=str(path),
            remedy="train it again with 'refless train'",
        ) from fault


def _described(path: Path, described: dict[str, Any]) -> Model:
    settings, reader = Settings(**described["settings"]), described["reader"]
    names = Dictionary(*(tuple(described["dictionary"][side]) for side in ("source", "text")))
    span = Range(**described["range"])
    return Model(
        networks=_networks(path / WEIGHTS, names, settings, span.levels(settings.target)),
        settings=settings,
        reader=Reader(acts=reader["acts"], slots=frozenset(reader["slots"])),
        dictionary=names,
        range=span,
        validation=np.array(described["validation"]).reshape(2, -1),
        about=described["about"],
        history=tuple(described["history"]),
    )


def _networks(
    path: Path, names: Dictionary, settings: Settings, levels: Sequence[float]
) -> tuple[Network, ...]:
    """The networks in a file; ValueError for one that is damaged or of other sizes."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    from refless.estimators.ratpred.network import Network

    try:
        tables = load_file(path)
        found = []
        for i in range(1 + max(int(name.partition(".")[0]) for name in tables)):
            network, start = Network.empty(names.sizes, settings, levels), f"{i}."
            own = {n.removeprefix(start): t for n, t in tables.items() if n.startswith(start)}
            network.load_state_dict(own)
            found.append(network)
    except (SafetensorError, RuntimeError) as fault:
        raise ValueError(str(fault)) from fault
    return tuple(found)
