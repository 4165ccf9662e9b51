"""Several predictions of the same human ratings, side by side: differences are drawn together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from refless.records import FloatArray, IntArray
from refless.stats.intervals import UNDEFINED, Interval
from refless.stats.jackknife import jackknife
from refless.stats.measures import MEASURES
from refless.stats.resampling import RESAMPLES, bootstrap
from refless.studies.differences import difference
from refless.studies.held_out import RESAMPLED_ROWS

SHOWN = ("spearman", "mse")
ENOUGH = 2 / 3  # of the texts: an estimator that covers fewer is not preferred to one that does


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One method on the texts for which it has a prediction.

    Attributes:
        name: of the method.
        n_scored: texts with a prediction; coverage: their share.
        spearman, mse: against the human ratings, with 95 % intervals.
        gain: Spearman of this method minus the reference's, on the texts that both predict; 0 for
            the reference itself; gain_interval: 95 %, both drawn together.
        saved: mean squared error of the reference minus this one's, likewise.
    """

    name: str
    n_scored: int
    coverage: float
    spearman: float
    spearman_interval: Interval
    mse: float
    mse_interval: Interval
    gain: float
    gain_interval: Interval
    saved: float
    saved_interval: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySide:
    """Methods on the same texts.

    Attributes:
        methods: one a method, in the order given; reference: the name that others are held against.
        baselines: names of those that are no estimators.
        signatures: of each estimator, by name.
        n_drawn: groups that are drawn together, or texts where each is drawn alone.
    """

    methods: tuple[Line, ...]
    reference: str
    baselines: tuple[str, ...]
    signatures: dict[str, str] = field(default_factory=dict)
    n_drawn: int

    @property
    def first(self) -> Line:
        """The line that others are held against."""
        return next(line for line in self.methods if line.name == self.reference)

    @property
    def rival(self) -> Line:
        """The baseline that gains most over the reference, on the texts that both predict."""
        plain = [line for line in self.methods if line.name in self.baselines]
        return max(plain, key=lambda line: -math.inf if math.isnan(line.gain) else line.gain)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """What is drawn: texts, or whole groups of them; how often, and from which seed."""

    groups: IntArray | None = None
    seed: int = 0
    resamples: int = RESAMPLES


PLAIN = Drawing()


def side_by_side(
    human: FloatArray,
    predicted: Mapping[str, FloatArray],
    *,
    reference: str,
    baselines: Sequence[str] = (),
    unranked: Sequence[str] = (),
    drawing: Drawing = PLAIN,
) -> SideBySide:
    """Agreement of each method, and what it gains over the reference.

    Intervals come from a bootstrap, beyond 20,000 texts from the infinitesimal jackknife.

    Args:
        human: [n] human ratings, finite.
        predicted: by name, [n] predictions made without the text's own rating; NaN where there is
            none.
        reference: one of the names.
        baselines: names of methods that are no estimators.
        unranked: names of methods that rank nothing; their Spearman and gain are undefined.
        drawing: what intervals are drawn from.
    """
    lines = []
    for name, values in predicted.items():
        found = _measured(human, values, drawing)
        gain = saved = (0.0, UNDEFINED)
        if name != reference:
            gain = _gap("spearman", human, predicted[reference], values, drawing)
            saved = _gap("mse", human, values, predicted[reference], drawing)
        if name in unranked:
            found["spearman"] = gain = (math.nan, UNDEFINED)
        known = ~np.isnan(values)
        lines.append(
            Line(
                name=name,
                n_scored=int(known.sum()),
                coverage=float(known.mean()) if len(known) else math.nan,
                spearman=found["spearman"][0],
                spearman_interval=found["spearman"][1],
                mse=found["mse"][0],
                mse_interval=found["mse"][1],
                gain=gain[0],
                gain_interval=gain[1],
                saved=saved[0],
                saved_interval=saved[1],
            )
        )
    return SideBySide(
        methods=tuple(lines),
        reference=reference,
        baselines=tuple(baselines),
        n_drawn=len(human) if drawing.groups is None else len(np.unique(drawing.groups)),
    )


Value = tuple[float, Interval]


def _gap(
    measure: str, human: FloatArray, base: FloatArray, other: FloatArray, drawing: Drawing
) -> Value:
    """A measure of `other` minus that of `base`, drawn as `base` minus `other` is elsewhere."""
    found = difference(
        measure,
        human,
        base,
        other,
        clusters=drawing.groups,
        seed=drawing.seed,
        resamples=drawing.resamples,
    )
    low, high = found.interval
    return -found.value, (-high, -low)


def _measured(human: FloatArray, values: FloatArray, drawing: Drawing) -> dict[str, Value]:
    """Spearman and mean squared error with their intervals, in an order of rows of its own."""
    rows = np.flatnonzero(~np.isnan(values))
    labels = np.zeros(len(human), dtype=np.int64) if drawing.groups is None else drawing.groups
    rows = rows[np.lexsort((labels[rows], values[rows], human[rows]))]
    human, values = human[rows], values[rows]
    clusters = None if drawing.groups is None else labels[rows]
    if len(rows) > RESAMPLED_ROWS:
        measures = {name: MEASURES[name] for name in SHOWN}
        ends = jackknife(measures, human, values, clusters=clusters)
    else:
        prepare = {name: MEASURES[name].weighted for name in SHOWN}
        rng = np.random.default_rng(drawing.seed)
        ends = bootstrap(
            prepare, human, values, resamples=drawing.resamples, rng=rng, clusters=clusters
        )
    return {name: (MEASURES[name].value(human, values), ends[name]) for name in SHOWN}


def to_use(table: SideBySide) -> str:
    """The reference, unless another estimator with enough coverage is shown to rank texts better.

    Where the reference has too few estimates itself, the one with most of them.
    """
    estimators = [line for line in table.methods if line.name not in table.baselines]
    enough = [line for line in estimators if line.coverage >= ENOUGH]
    if table.first not in enough:
        return max(enough or estimators, key=lambda line: line.coverage).name
    better = [line for line in enough if line.gain_interval[0] > 0]
    return max(better, key=lambda line: line.gain).name if better else table.reference
