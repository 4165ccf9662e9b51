"""The outputs that are compared, who rated them, and one entry for each item that was answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refless.data.human import cells_of, human_ratings
from refless.data.records import Outputs, RatedPool
from refless.evaluation.groups import codes
from refless.loops.threads import single_threaded_blas
from refless.registry.arrays import FloatArray, IntArray
from refless.stats.prediction_powered import Cells
from refless.stats.raters import Severity, severity


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Raters:
    """Who rated the outputs.

    Attributes:
        output, rater: [m] which output was rated by whom, each pair once.
        severity: how much higher one rates than another.
    """

    output: IntArray
    rater: IntArray
    severity: Severity

    @classmethod
    def of(cls, rated: RatedPool, place: IntArray, every: RatedPool) -> Raters | None:
        """The raters of the outputs at these places; None if ratings do not name them.

        Args:
            rated: the rated outputs; every: all rated texts, by which severity is told too.
        """
        if not rated.ratings.annotators:
            return None
        _, rater, text = cells_of(rated.ratings, len(rated))
        shared = max(_severity(rated), _severity(every), key=lambda estimate: estimate.freedom)
        return cls(output=place[text], rater=rater, severity=shared)


def _severity(pool: RatedPool) -> Severity:
    """By texts that raters share, or by the texts of a system if that links more of the raters.

    The latter takes the texts of a system as dealt to its raters at random.
    """
    if not pool.ratings.annotators:
        return Severity()
    cells, rater, text = cells_of(pool.ratings, len(pool))
    values = human_ratings(cells, len(rater))
    blocks = (text, codes(pool.systems)[text] if pool.systems else text)
    with single_threaded_blas():
        return max(
            (severity(block, rater, values) for block in blocks),
            key=lambda estimate: estimate.freedom,
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Field:
    """The outputs that are compared.

    Attributes:
        outputs: with systems; items say what belongs together in pairs.
        human: [n] human rating, NaN where there is none.
        estimates: [n] estimates that know no rating of the output's item; NaN where there is none.
        probability: [n] chance of having been drawn to be rated, NaN where it is not known.
        together: [n] what is drawn as a whole, or empty: the items.
        drawn: whether rated outputs were drawn at random, so that ratings stand for all outputs.
        raters: who rated them, where that is known.
        these: whether the question is about these items, and not about items like them.
        reach: how far ratings can lie apart if answers are to hold however often one looks, else 0.
    """

    outputs: Outputs
    human: FloatArray
    estimates: FloatArray
    probability: FloatArray
    together: Sequence[str] = ()
    drawn: bool = True
    raters: Raters | None = None
    these: bool = False
    reach: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """One entry for each item that a system answered.

    Attributes:
        system: [m] name; item, cluster: [m] numbers.
        human, beside, estimate, probability: [m] as `Cells` have them.
        entry, rater, share: [k] the share of each rater in the human rating of an entry.
    """

    system: np.ndarray[tuple[int], np.dtype[np.object_]]
    item: IntArray
    cluster: IntArray
    human: FloatArray
    beside: FloatArray
    estimate: FloatArray
    probability: FloatArray
    entry: IntArray
    rater: IntArray
    share: FloatArray

    @classmethod
    def of(cls, field: Field) -> Table:
        """The outputs of one system for one item as one entry, in an order of their own."""
        outputs = field.outputs
        items = outputs.items or _apart(field)
        known = field.estimates[~np.isnan(field.estimates)]
        middle = float(np.sort(known).mean()) if len(known) else 0.0
        estimates = np.where(np.isnan(field.estimates), middle, field.estimates)
        together = field.together or items
        names = sorted({*zip(outputs.systems, items, strict=True)})
        place = {name: i for i, name in enumerate(names)}
        at = np.array(
            [place[pair] for pair in zip(outputs.systems, items, strict=True)], dtype=np.int64
        )
        first = np.unique(at, return_index=True)[1]
        rated = np.flatnonzero(~np.isnan(field.human))
        entry, rater, share = _shares(field, at, rated)
        return cls(
            system=np.array([name for name, _ in names], dtype=object),
            item=codes([item for _, item in names]),
            cluster=codes(together)[first],
            human=_averaged(field.human, at, rated, len(names)),
            beside=_averaged(estimates, at, rated, len(names)),
            estimate=_averaged(estimates, at, np.arange(len(outputs)), len(names)),
            probability=_averaged(field.probability, at, rated, len(names)),
            entry=entry,
            rater=rater,
            share=share,
        )

    def cells(self, rows: IntArray, sign: IntArray, *, drawn: bool = True) -> Cells:
        """Some entries, as the arms of a contrast."""
        human = self.human[rows]
        return Cells(
            arm=sign,
            human=human if drawn else np.full(len(rows), np.nan),
            beside=np.nan_to_num(self.beside[rows]),
            estimate=self.estimate[rows],
            cluster=self.cluster[rows],
            probability=self.probability[rows],
            shares=self._shares_of(rows),
        )

    def _shares_of(self, rows: IntArray) -> FloatArray:
        """[rows, raters] of each rater of some of them."""
        place = np.full(len(self.item), -1)
        place[rows] = np.arange(len(rows))
        at = place[self.entry]
        who = np.unique(self.rater[at >= 0], return_inverse=True)[1]
        shares = np.zeros((len(rows), int(who.max(initial=-1)) + 1))
        np.add.at(shares, (at[at >= 0], who), self.share[at >= 0])
        return shares

    def raters(self, rows: IntArray) -> set[int]:
        """Who rated some entries."""
        return {*self.rater[np.isin(self.entry, rows)].tolist()}


def _shares(field: Field, at: IntArray, rated: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
    """The entry, the rater and the share of each, in an order of their own."""
    raters = field.raters
    if raters is None:
        nothing = np.zeros(0, dtype=np.int64)
        return nothing, nothing, np.zeros(0)
    share = 1 / (
        np.bincount(raters.output)[raters.output] * np.bincount(at[rated])[at[raters.output]]
    )
    order = np.lexsort((share, raters.rater, at[raters.output]))
    return at[raters.output][order], raters.rater[order], share[order]


def _apart(field: Field) -> tuple[str, ...]:
    """[n] a number for each output, the same in whatever order they are given."""
    outputs = field.outputs
    numbers = np.nan_to_num(np.stack([field.human, field.estimates], axis=1), nan=-np.inf)
    keys = [*zip(outputs.systems, outputs.texts, numbers.tolist(), strict=True)]
    labels = np.empty(len(keys), dtype=object)
    labels[sorted(range(len(keys)), key=keys.__getitem__)] = [
        *map("{:09d}".format, range(len(keys)))
    ]
    return tuple(labels.tolist())


def _averaged(values: FloatArray, at: IntArray, rows: IntArray, n: int) -> FloatArray:
    """[n] mean of the values at each place, of these rows, in no order; NaN without any."""
    rows = rows[np.lexsort((values[rows], at[rows]))]
    counts = np.bincount(at[rows], minlength=n)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.bincount(at[rows], values[rows], minlength=n) / counts)
