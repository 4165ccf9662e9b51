"""The outputs that are compared, and one entry for each item that a system answered."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refless.data.design import Design
from refless.data.records import Outputs, Scale
from refless.evaluation.raters import Raters
from refless.registry.arrays import FloatArray, IntArray, codes, numbers_of
from refless.stats.group_sequential import LookPlan
from refless.stats.raters import Severity
from refless.stats.samples import NOBODY, Sample, Shares


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Field:
    """The outputs that are compared.

    Attributes:
        outputs: with systems.
        design: what belongs together among them.
        human: [n] human rating, NaN where there is none.
        estimates: [n] estimates that know no rating of the output's unit; NaN where there is none.
        probability: [n] chance of having been drawn to be rated, NaN where it is not known.
        scale: lowest and highest rating, or None.
        drawn: whether rated outputs were drawn at random, so that ratings stand for all outputs.
        raters: who rated them, None if that is not known; severity: how strict each is.
        these: whether the question is about these items, and not about items like them.
        reach: how far ratings can lie apart if answers are to hold however often one looks, else 0.
        plan: when the study looks at its ratings; None if that is not planned.
    """

    outputs: Outputs
    design: Design
    human: FloatArray
    estimates: FloatArray
    probability: FloatArray
    scale: Scale | None = None
    drawn: bool = True
    raters: Raters | None = None
    severity: Severity | None = None
    these: bool = False
    reach: float = 0.0
    plan: LookPlan | None = None


@dataclass(frozen=True, slots=True, eq=False)
class EntryTable:
    """One entry for each item that a system answered, by system and item.

    Attributes:
        system: [m] name; item, unit: [m] numbers.
        human, probability: [m] of the rated outputs of an entry; NaN where there is none.
        proxy_labelled, proxy: [m] mean estimate of its rated outputs, and of all.
        has_proxy: whether any output has an estimate.
        shares: who rated the entries.
    """

    system: np.ndarray[tuple[int], np.dtype[np.object_]]
    item: IntArray
    unit: IntArray
    human: FloatArray
    proxy_labelled: FloatArray
    proxy: FloatArray
    has_proxy: bool
    probability: FloatArray
    shares: Shares

    @classmethod
    def of(cls, field: Field) -> EntryTable:
        """The outputs of one system for one item as one entry."""
        outputs = field.outputs
        items = outputs.items
        if not field.design.paired:
            items = tuple(f"{row:09d}" for row in range(len(outputs)))
        defined = field.estimates[~np.isnan(field.estimates)]
        middle = float(defined.mean()) if len(defined) else 0.0
        estimates = np.where(np.isnan(field.estimates), middle, field.estimates)
        pairs = [*zip(outputs.systems, items, strict=True)]
        names = sorted({*pairs})
        at = codes(pairs)
        # an entry that groups share belongs to that of its first output
        first = np.unique(at, return_index=True)[1]
        rated = np.flatnonzero(~np.isnan(field.human))
        return cls(
            system=np.array([name for name, _ in names], dtype=object),
            item=codes([item for _, item in names]),
            unit=numbers_of(field.design.unit[first]),  # in the order of entries
            human=_averaged(field.human, at, rated, len(names)),
            proxy_labelled=_averaged(estimates, at, rated, len(names)),
            proxy=_averaged(estimates, at, np.arange(len(outputs)), len(names)),
            has_proxy=len(defined) > 0,
            probability=_averaged(field.probability, at, rated, len(names)),
            shares=_shares(field, at, rated),
        )

    def sample(self, rows: IntArray, sign: IntArray, *, drawn: bool = True) -> Sample:
        """Some entries, as the arms of a contrast; without ratings if these were not drawn."""
        human = self.human[rows]
        return Sample.of(
            human if drawn else np.full(len(rows), np.nan),
            self.unit[rows],
            arm=sign,
            item=self.item[rows],
            proxy=self.proxy[rows] if self.has_proxy else None,
            proxy_labelled=self.proxy_labelled[rows] if self.has_proxy else None,
            chance=self.probability[rows],
            shares=self.shares.among(rows, len(self.item)),
        )


def _shares(field: Field, at: IntArray, rated: IntArray) -> Shares:
    """The raters of each entry."""
    raters = field.raters
    if raters is None:
        return NOBODY
    entry = at[raters.text]
    outputs = np.bincount(at[rated])[entry]
    share = raters.shares.share / outputs
    return Shares(entry=entry, rater=raters.rater, share=share)


def _averaged(values: FloatArray, at: IntArray, rows: IntArray, n: int) -> FloatArray:
    """[n] mean of the values at each place, of these rows; NaN without any."""
    counts = np.bincount(at[rows], minlength=n)
    with np.errstate(invalid="ignore"):
        return np.bincount(at[rows], values[rows], minlength=n) / counts
