"""Neighbours of many texts at many thresholds, for studies that vary tau or the pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import numpy as np

from refless.estimators.neighbors import BLEUNeighbors
from refless.kernels import Kernel, KernelParameters, kernel_of
from refless.matching import Held
from refless.records import FloatArray, IntArray, RatedPool
from refless.truth import exact_truth


def kernel_in(judge: BLEUNeighbors) -> Kernel:
    """The kernel of an estimator, with its parameters."""
    names = (field.name for field in fields(KernelParameters))
    return kernel_of(judge.kernel, KernelParameters(**{n: getattr(judge, n) for n in names}))


def neighbor_means(
    judge: BLEUNeighbors, rated: RatedPool, texts: Sequence[str], taus: FloatArray, held: Held
) -> tuple[FloatArray, IntArray]:
    """[texts, taus] mean truth of the neighbours, in the raters' units, and their number.

    One matching pass for all taus, or one each where neighbours weigh by similarity.
    """
    truth = exact_truth(rated.ratings, len(rated), rated.aggregate)
    prepared = kernel_in(judge).prepare(rated.texts)
    if judge.weights == "uniform":
        sums = prepared.neighbor_sums(
            texts, truth.numerators, taus, held=held, threads=judge.threads
        )
        return truth.means(sums.sums, sums.counts), sums.counts
    ratings = truth.numerators / truth.denominator
    means, counts = np.full((len(texts), len(taus)), np.nan), []
    for i, tau in enumerate(taus.tolist()):
        found = prepared.weighted_sums(
            texts, ratings, tau, judge.power, held=held, threads=judge.threads
        )
        with np.errstate(invalid="ignore"):
            means[:, i] = found.sums / found.weights
        counts.append(found.counts)
    ends = ratings.min(initial=np.inf), ratings.max(initial=-np.inf)
    return np.clip(means, *ends), np.stack(counts, axis=1)
