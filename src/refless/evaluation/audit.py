"""The audit of one judge: agreement, uses, corrected means, and where it errs."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from refless.evaluation.labels import (
    ALARM,
    Labels,
    contrast,
    errors_of,
    measured,
    of_annotators,
    verdicts,
)
from refless.evaluation.uses import (
    Use,
    as_annotator,
    may_estimate,
    may_filter,
    may_rank,
    may_replace,
    refusals,
)
from refless.registry.arrays import BoolArray, FloatArray, IntArray
from refless.stats import corrected
from refless.stats.corrections import holm
from refless.stats.verdicts import Confusion, Estimate, proportion

FEWEST_IN_SLICE = 10
WORST = 20
FIRST = ("by verdict", "as compare does", "labels alone")  # chosen before the data are seen
OUT_OF_RANGE = "rows without a rating have scores beyond those of rated rows"


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """The judge's mean error in a part of the rows, less that in all others.

    Attributes:
        column, value: which rows; n: labels there.
        error: mean of score less rating in the slice; gap: the same less that elsewhere.
        p_holm: of no gap, after Holm over all slices; NaN where there are too few labels.
    """

    column: str
    value: str
    n: int
    error: float
    gap: Estimate
    p_holm: float = math.nan

    @property
    def name(self) -> str:
        """As it is shown."""
        return f"{self.column} {self.value}"

    @property
    def shown(self) -> bool:
        """Whether the gap is no chance."""
        return self.p_holm < ALARM


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Audit:
    """One judge against people.

    Attributes:
        name: of the judge; n: labels with a score; unlabelled: scores without a label.
        passing: from where on is passed, or None; table: the verdicts, or None.
        same_units: whether scores are in the units of the ratings.
        measures: agreement and errors, by name; annotator: those of one annotator, or empty.
        usual: the judge's most frequent score; usual_share: the share of its scores that it has.
        uses: what the judge may be used for.
        means: the mean rating (or share of passes) of all rows by each method; first: the one to
            print, chosen by what is known before the labels are, "" for none.
        slices: parts of the rows; few: slices that had too few labels.
        worst: ids of the texts on which judge and people are farthest apart, and `errors` there.
        refusals: what is not claimed.
    """

    name: str
    n: int
    unlabelled: int
    passing: float | None
    table: Confusion | None
    same_units: bool
    measures: Mapping[str, Estimate]
    annotator: Mapping[str, Estimate]
    usual: float
    usual_share: float
    uses: tuple[Use, ...]
    means: Mapping[str, Estimate]
    first: str
    slices: tuple[Slice, ...]
    few: tuple[str, ...]
    worst: tuple[str, ...]
    errors: tuple[float, ...]
    refusals: tuple[str, ...]


def audit(labels: Labels, ranked: Estimate, seed: int = 0) -> Audit:
    """The whole audit of one judge.

    Args:
        labels: what it said beside what people said.
        ranked: share of pairs of systems in people's order; NaN with a reason otherwise.
        seed: of what is drawn.
    """
    measures = measured(labels, seed)
    means = corrected_means(labels, seed)
    sound = [name for name in FIRST if name in means and means[name].interval[0] > -math.inf]
    scores = np.concatenate([labels.judge, labels.unlabelled])
    values, counts = np.unique(scores, return_counts=True)
    slices, few = sliced(labels)
    worst, errors = worst_of(labels)
    uses = (
        may_rank(ranked),
        may_estimate(labels, measures),
        may_filter(labels, measures),
        may_replace(labels, as_annotator(labels)),
    )
    return Audit(
        name=labels.name,
        n=len(labels),
        unlabelled=len(labels.unlabelled),
        passing=labels.passing,
        table=None if labels.passing is None else Confusion.of(*verdicts(labels)[:2]),
        same_units=labels.same_units,
        measures=measures,
        annotator=of_annotators(labels, seed),
        usual=float(values[counts.argmax()]) if len(values) else math.nan,
        usual_share=float(counts.max() / len(scores)) if len(values) else math.nan,
        uses=uses,
        means=means,
        first=sound[0] if sound and not labels.selected else "",
        slices=slices,
        few=few,
        worst=worst,
        errors=errors,
        refusals=refusals(labels, uses),
    )


def corrected_means(labels: Labels, seed: int = 0) -> dict[str, Estimate]:
    """The mean rating, or the share of passes, of all rows by each method, by its name."""
    human, judge, unlabelled = labels.human, labels.judge, labels.unlabelled
    if labels.passing is not None:
        human, judge, unlabelled = (column.astype(np.float64) for column in verdicts(labels))
    sample = corrected.Sample(
        human=human,
        judge=judge,
        unlabelled=unlabelled,
        clusters=labels.clusters,
        later=labels.later,
        mass=labels.mass,
    )
    alone, compared = corrected.as_compared(sample)
    mass = None if labels.mass is None else labels.mass[: len(human)]
    if labels.passing is not None:
        alone = proportion(human > 0, labels.clusters, mass=mass)
    means = {"labels alone": alone}
    if not len(unlabelled) and mass is None:
        return means
    if labels.shifted:
        return means | {"as compare does": Estimate(value=math.nan, undefined=OUT_OF_RANGE)}
    if labels.passing is not None:
        means["Rogan-Gladen"] = corrected.rogan_gladen(sample)
        means["by verdict"] = corrected.by_verdict(sample, seed)
    means["PPI++"] = corrected.by_ppi_plus(sample)
    means["as compare does"] = compared
    if labels.same_units:
        every = float(np.average(sample.scores, weights=labels.mass))
        means["judge alone"] = Estimate(
            value=every, n=len(sample.scores), undefined="its errors are in no interval"
        )
    return means


def sliced(labels: Labels) -> tuple[tuple[Slice, ...], tuple[str, ...]]:
    """Where the judge's error differs from elsewhere, and the slices with too few labels."""
    error = errors_of(labels)
    parts, few = [], []
    for column, values in labels.slices.items():
        names = np.array(values, dtype=object)
        for value in sorted({*values} - {""}):
            inside = names == value
            if min(inside.sum(), (~inside).sum()) < FEWEST_IN_SLICE:
                few += [f"{column} {value}"] if inside.sum() < FEWEST_IN_SLICE else []
                continue
            parts.append((column, value, inside, *_gap(error, inside, labels.clusters)))
    corrected_p = holm(np.array([p for *_, p in parts])).tolist()
    slices = [
        Slice(
            column=column,
            value=value,
            n=int(inside.sum()),
            error=float(error[inside].mean()),
            gap=gap,
            p_holm=p,
        )
        for (column, value, inside, gap, _), p in zip(parts, corrected_p, strict=True)
    ]
    return tuple(sorted(slices, key=lambda part: (part.p_holm, part.column, part.value))), (*few,)


def _gap(error: FloatArray, inside: BoolArray, clusters: IntArray) -> tuple[Estimate, float]:
    """The mean error inside less that outside, and the p-value of none.

    Its interval adds to either side two rows, one usual error above and below the mean of all, as
    Agresti & Caffo (2000) add a success and a failure: no error by chance is no proof of none. Its
    variance is at least that of errors around one mean, as if there were no gap.
    """
    usual = error.mean() + error.std() * np.array([1, -1, 1, -1])
    side, added = np.where(inside, 1, -1), clusters.max() + 1 + np.arange(4)
    answer = contrast(
        np.concatenate([error, usual]),
        np.concatenate([side, [1, 1, -1, -1]]),
        np.concatenate([clusters, added]),
    )
    value = float(error[inside].mean() - error[~inside].mean())
    signed = np.where(inside, 1 / inside.sum(), -1 / (~inside).sum())
    sums = np.bincount(clusters, signed * (error - error.mean()))
    count = len(np.unique(clusters))
    alike = float(np.square(sums).sum()) * count / max(count - 1, 1)
    answer = replace(answer, error=math.sqrt(max(answer.error**2, alike)))
    low, high = answer.interval
    ends = min(low, value), max(high, value)
    return Estimate(value=value, interval=ends, n=int(inside.sum())), answer.p


def worst_of(labels: Labels) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Ids of the largest disagreements, and score less rating there; ties as the labels are."""
    error = errors_of(labels)
    order = [i for i in np.argsort(-np.abs(error), kind="stable")[:WORST].tolist() if error[i]]
    return tuple(labels.ids[i] for i in order), tuple(error[order].tolist())
