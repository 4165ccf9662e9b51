"""Metrics: what each offers and returns. METRICS is the registry, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Protocol, cast

import numpy as np

from refless.data.records import Outputs
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.offered import Registry, check_class
from refless.registry.signature import Signature
from refless.registry.spec import made

Combine = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Scores:
    """A metric's scores of outputs.

    Attributes:
        segments: [n] score of each output by itself; NaN where undefined.
        corpus: score of all outputs together.
        statistics: [n, k] what the corpus score is made of, output by output, so that resampling
            adds rows up and never scores again.
        combine: sums of statistics [..., k] -> corpus scores [...].
    """

    segments: FloatArray
    corpus: float
    statistics: FloatArray
    combine: Combine

    def take(self, rows: IntArray) -> Scores:
        """The scores of some outputs."""
        return replace(
            self, segments=self.segments[rows], statistics=self.statistics[rows]
        )


class Metric(Protocol):
    """Scores outputs, mostly by their references; parameters are dataclass fields, by keyword.

    Attributes:
        name: its name in METRICS.
        needs: columns of the outputs that it reads besides the text, and parameters without which
            it cannot run.
    """

    name: ClassVar[str]
    needs: ClassVar[tuple[str, ...]]

    def score(self, outputs: Outputs) -> Scores:
        """Scores of the outputs against their own references."""
        ...

    def signature(self) -> Signature:
        """Everything that can change the scores."""
        ...

    @classmethod
    def missing(cls) -> str:
        """The software that has to be installed first; "" if none."""
        return ""


def averaged(segments: FloatArray) -> Scores:
    """Scores whose corpus score is the mean of the segments that have one."""
    defined = ~np.isnan(segments)
    statistics = np.stack(
        [np.where(defined, segments, 0.0), defined.astype(np.float64)], axis=1
    )
    # in any order of rows
    corpus = float(mean_of_sums(np.sort(statistics, axis=0).sum(axis=0)))
    return Scores(
        segments=segments, corpus=corpus, statistics=statistics, combine=mean_of_sums
    )


def mean_of_sums(sums: FloatArray) -> FloatArray:
    """[...] sum / count out of [..., 2]; NaN without a count."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(sums[..., 0] / sums[..., 1])


METRICS: Registry[type[Metric]] = Registry(  # all come by entry points
    "metrics",
    {},
    partial(check_class, attributes=("name", "needs", "score", "signature", "missing")),
)


def metric_of(metric: str | Metric) -> Metric:
    """The metric that a specification names (`bleu:order=2,smooth=exp`); a metric passes through.

    Raises:
        UsageError: an unknown metric or parameter, or a value that cannot be honoured.
    """
    return cast("Metric", made(metric, METRICS, "metric"))
