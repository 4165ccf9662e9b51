"""Rivals of estimators: a constant, a line on length, the system's name, a ridge on TF-IDF.

Each text is predicted from the ratings of the other groups alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from refless.data.records import RatedPool
from refless.estimators.cross_validated import CrossValidated, Within
from refless.evaluation.groups import label_means, mean_of_others, sum_of_others
from refless.loops.threads import single_threaded_blas
from refless.registry.arrays import FloatArray, IntArray, numbered

if TYPE_CHECKING:
    from refless.stats.posterior import Precision

# Below this share of the lengths' whole variation, what is left of it is rounding.
NO_VARIATION = 1e-12
WORDS = re.compile(r"(?u)\b\w\w+\b")
SYSTEM = "the system's name"
RIDGE = "TF-IDF ridge"
RIDGE_SOURCES = "TF-IDF + sources"
LENGTH = "length"
CONSTANT = "constant"


def baselines(
    pool: RatedPool, groups: IntArray, blocks: IntArray
) -> dict[str, CrossValidated]:
    """Estimates of each baseline without each text's group and block, by name.

    The order of rows changes nothing. Sources make the ridge better or worse, so it is run with
    them too. The system's name is read if it is known of texts outside the group.
    """
    ridges = {RIDGE: ()} | ({RIDGE_SOURCES: pool.sources} if pool.sources else {})
    methods = {
        name: tfidf_ridge(pool, sources, groups, blocks)
        for name, sources in ridges.items()
    }
    lengths = lengths_of(pool)
    human = pool.human
    plain: dict[str, Within] = {
        LENGTH: lambda rows: partial(length_only, human[rows], lengths[rows]),
        CONSTANT: lambda rows: partial(mean_of_others, human[rows]),
    }
    codes = numbered(pool.systems, len(pool))
    means = label_means(human, codes, groups)
    if len({*pool.systems}) > 1 and not np.isnan(means).all():
        plain = {SYSTEM: partial(_label_only, codes, human), **plain}
    return methods | {
        name: CrossValidated.of(by, groups, blocks) for name, by in plain.items()
    }


def length_only(human: FloatArray, lengths: FloatArray, groups: IntArray) -> FloatArray:
    """[n] rating read off the least-squares line on log(1 + length) of the texts outside the group.

    If all other texts are of one length it is their mean; NaN if there are no others.

    Args:
        human: [n] human ratings; lengths: [n] in characters.
        groups: [n] labels of texts that are held out together.
    """
    if len(human) == 0:
        return np.zeros(0)
    x = np.log1p(lengths)
    y = human
    # Centred first: the sums are then taken apart again without much loss.
    x_mean = x.mean()
    y_mean = y.mean()
    x = x - x_mean
    y = y - y_mean
    n, sx, sy, sxx, sxy = (
        sum_of_others(column, groups)
        for column in (np.ones(len(x)), x, y, x * x, x * y)
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        variation = sxx - sx * sx / n
        covariation = sxy - sx * sy / n
        varied = variation > NO_VARIATION * np.square(x).sum()
        slope = np.where(varied, covariation / variation, 0.0)
        line = y_mean + sy / n + slope * (x - sx / n)
        return np.where(n > 0, line, np.nan)


def lengths_of(pool: RatedPool) -> FloatArray:
    """[n] lengths in characters."""
    return np.array([len(text) for text in pool.texts], dtype=np.float64)


def _label_only(
    codes: IntArray, human: FloatArray, rows: IntArray
) -> Callable[[IntArray], FloatArray]:
    """The mean rating of the texts of the same label, else of all, outside the group or block."""

    def means(groups: IntArray) -> FloatArray:
        values = label_means(human[rows], codes[rows], groups)
        return np.where(np.isnan(values), mean_of_others(human[rows], groups), values)

    return means


def tfidf_ridge(
    pool: RatedPool, sources: Sequence[str], groups: IntArray, blocks: IntArray
) -> CrossValidated:
    """A ridge on TF-IDF, as twenty lines of scikit-learn have it.

    Words and pairs of words of the text, and of the source, each weighed by TF-IDF over all texts
    and scaled to length 1; a ridge with penalty 1 and a free intercept. Each group is left out
    exactly, by the closed form for a Gaussian process with the same kernel.
    """
    from refless.stats.posterior import exact

    human = pool.human
    columns = [pool.texts, sources] if sources else [pool.texts]
    with single_threaded_blas():
        rows = features(*columns)
        kernel = (rows @ rows.T).toarray()
        precision = exact(kernel, np.ones(len(human)), human).precision()
    return CrossValidated.of(partial(_among, precision), groups, blocks)


def _among(precision: Precision, rows: IntArray) -> Callable[[IntArray], FloatArray]:
    with single_threaded_blas():
        part = precision if len(rows) == len(precision.y) else precision.among(rows)
        return lambda labels: part.held_out(labels)[0]


def features(*columns: Sequence[str]) -> Any:  # noqa: ANN401 - a sparse matrix
    """[n, features] TF-IDF of the texts, and of their sources if there are any."""
    from scipy.sparse import hstack

    return hstack([*map(tfidf, columns)], format="csr")


def tfidf(texts: Sequence[str]) -> Any:  # noqa: ANN401 - a sparse matrix
    """[n, features] TF-IDF of words and pairs of words as in scikit-learn; rows of length 1.

    A word is its number, and a pair two numbers in one: strings of pairs would take ten times the
    memory of a long text.
    """
    from scipy.sparse import csr_matrix, diags_array

    place: dict[str, int] = {}
    keys = [np.zeros(0, dtype=np.int64)]
    for text in texts:
        numbers = (
            place.setdefault(word, len(place)) for word in WORDS.findall(text.lower())
        )
        words = np.fromiter(numbers, dtype=np.int64)
        pairs = (words[:-1] + 1 << 32) + words[1:]
        keys.append(np.concatenate([words, pairs]))
    names, columns = np.unique(np.concatenate(keys), return_inverse=True)
    starts = np.cumsum([*map(len, keys)])
    shape = (len(texts), len(names))
    counts = csr_matrix((np.ones(len(columns)), columns, starts), shape=shape)
    counts.sum_duplicates()
    documents = np.bincount(counts.indices, minlength=shape[1])
    rarity = np.log((1 + len(texts)) / (1 + documents)) + 1
    counts.data *= rarity[counts.indices]
    lengths = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    return diags_array(1 / np.where(lengths > 0, lengths, 1)) @ counts
