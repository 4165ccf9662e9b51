"""What estimators have to beat: a constant, a line on length, the system's name, a ridge on TF-IDF.

Each text is predicted from the ratings of the other groups alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import scipy

from refless.data.human import canonical_order
from refless.data.records import RatedPool, picked
from refless.estimators.gp.data import folds_of
from refless.estimators.gp.exact import Precision, exact
from refless.estimators.scorer import Held, Tried, Within
from refless.loops.threads import calm
from refless.registry.arrays import FloatArray, IntArray
from refless.stats.clusters import numbered
from refless.text.tokenize import IdArray

# Below this share of the lengths' whole variation, what is left of it is rounding.
NO_VARIATION = 1e-12
WORDS = re.compile(r"(?u)\b\w\w+\b")
SYSTEM, CONSTANT = "the system's name", "constant"
MOST_EXACT, FOLDS = 6_000, 5


def constant(human: FloatArray, groups: IntArray) -> FloatArray:
    """[n] mean human rating of the texts outside each text's group; NaN where there are none.

    Its errors are what a predictor has to beat. Its correlations mean nothing: a text's own rating
    is missing from its prediction, so single texts give exactly -1.
    """
    count, total = _outside(np.ones(len(human)), human, groups), _outside(human, human, groups)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(count > 0, total / count, np.nan)


def length_only(human: FloatArray, lengths: FloatArray, groups: IntArray) -> FloatArray:
    """[n] rating read off the least-squares line on log(1 + length) of the texts outside the group.

    Args:
        human: [n] human rating.
        lengths: [n] lengths in characters.
        groups: [n] labels of texts that are held out together.

    Where all the others are of one length it is their mean; NaN where there are no others.
    """
    if len(human) == 0:
        return np.zeros(0)
    x, y = np.log1p(lengths), human
    # Centred first: the sums are then taken apart again without much loss.
    x_mean, y_mean = np.sort(x).mean(), np.sort(y).mean()
    x, y = x - x_mean, y - y_mean
    n, sx, sy, sxx, sxy = (
        _outside(column, x, groups) for column in (np.ones(len(x)), x, y, x * x, x * y)
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        variation, together = sxx - sx * sx / n, sxy - sx * sy / n
        varied = variation > NO_VARIATION * np.square(np.sort(x)).sum()
        slope = np.where(varied, together / variation, 0.0)
        line = y_mean + sy / n + slope * (x - sx / n)
        return np.where(n > 0, line, np.nan)


def tfidf_ridge(
    texts: Sequence[str],
    sources: Sequence[str],
    human: FloatArray,
    groups: IntArray,
    folds: IntArray | None = None,
) -> FloatArray:
    """[n] human rating by a ridge on TF-IDF, as twenty lines of scikit-learn have it.

    Words and pairs of words of the text, and of the source where there is one, each weighed by
    TF-IDF over all texts and scaled to length 1; a ridge with penalty 1 and a free intercept. With
    up to 6,000 texts each group is left out exactly (by the closed form for a Gaussian process with
    the same kernel), beyond that in five folds of whole groups.

    Args:
        texts: n texts.
        sources: n sources, or none.
        human: [n] human ratings.
        groups: [n] labels of texts that are held out together.
        folds: [n] the five folds; by default whole groups in the order of rows.
    """
    if len(set(groups.tolist())) < 2:
        return np.full(len(texts), np.nan)
    rows = features(texts, sources)
    if len(texts) <= MOST_EXACT:
        return _whole(rows, human).held_out(groups)[0]
    found = np.full(len(texts), np.nan)
    fold = folds_of(groups, FOLDS) if folds is None else folds
    for number in range(FOLDS):
        known, asked = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        if len(known) and len(asked):
            found[asked] = _ridge(rows[known], human[known], rows[asked])
    return found


def baselines(pool: RatedPool, groups: IntArray, blocks: IntArray) -> dict[str, Tried]:
    """What each baseline says of each text, its group or its block held out, by name.

    The order of rows changes nothing. Sources make the ridge better or worse, so it is there twice.
    """
    read = {"TF-IDF ridge": ()} | ({"TF-IDF + sources": pool.sources} if pool.sources else {})
    found = {name: _tried_ridge(pool, sources, groups, blocks) for name, sources in read.items()}
    known = label_means(pool.human, numbered(pool.systems, len(pool)), groups)
    if len({*pool.systems}) > 1 and not np.isnan(known).all():  # where no system is held out whole
        found[SYSTEM] = tried_labels(pool.systems, pool.human, groups, blocks)
    return found | tried_plain(pool, groups, blocks)


def tried_labels(
    labels: Sequence[str], human: FloatArray, groups: IntArray, blocks: IntArray
) -> Tried:
    """The mean rating of the texts of the same label, else of all, outside the group or block."""
    codes = numbered(labels, len(human))

    def within(rows: IntArray) -> Callable[[IntArray], FloatArray]:
        return lambda out: _filled(
            label_means(human[rows], codes[rows], out), constant(human[rows], out)
        )

    return Tried.out_of(within, groups, blocks)


def _filled(values: FloatArray, others: FloatArray) -> FloatArray:
    return np.where(np.isnan(values), others, values)


def label_means(human: FloatArray, codes: IntArray, groups: IntArray) -> FloatArray:
    """[n] mean rating of the texts of the same label outside each text's group, NaN without any."""
    order = np.lexsort((human, codes))  # sums do not depend on the order of rows
    pairs = np.unique(np.stack([codes, groups]), axis=1, return_inverse=True)[1].ravel()
    sums, counts = np.zeros(len(human)), np.zeros(len(human))
    for sign, labels in ((1, codes), (-1, pairs)):
        sums += sign * np.bincount(labels[order], human[order])[labels]
        counts += sign * np.bincount(labels)[labels]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(counts > 0, sums / counts, np.nan)


def tried_plain(pool: RatedPool, groups: IntArray, blocks: IntArray) -> dict[str, Tried]:
    """The same of those that read no words."""
    lengths, human = lengths_of(pool), pool.human
    plain: dict[str, Within] = {
        "length": lambda rows: partial(length_only, human[rows], lengths[rows]),
        CONSTANT: lambda rows: partial(constant, human[rows]),
    }
    return {name: Tried.out_of(within, groups, blocks) for name, within in plain.items()}


def _tried_ridge(
    pool: RatedPool, sources: tuple[str, ...], groups: IntArray, blocks: IntArray
) -> Tried:
    order = canonical_order(pool)
    texts, read, human = picked(pool.texts, order), picked(sources, order), pool.human[order]
    if len(pool) > MOST_EXACT:
        dealt, values = blocks[order], np.empty(len(pool))
        with calm():
            values[order] = tfidf_ridge(texts, read, human, dealt, dealt % FOLDS)
        return Tried(Held(values, values))
    whole = _whole(features(texts, read), human)

    def among(rows: IntArray) -> Callable[[IntArray], FloatArray]:
        with calm():
            some = whole if len(rows) == len(pool) else whole.among(rows)
            return lambda labels: some.held_out(labels)[0]

    return Tried.out_of(among, groups, blocks, order)


def lengths_of(pool: RatedPool) -> FloatArray:
    """[n] lengths in characters."""
    return np.array([len(text) for text in pool.texts], dtype=np.float64)


def features(texts: Sequence[str], sources: Sequence[str]) -> scipy.sparse.csr_matrix:
    """[n, features] TF-IDF of the texts, and of their sources where there are any."""
    rows = tfidf(texts)
    return scipy.sparse.hstack([rows, tfidf(sources)], format="csr") if sources else rows


def _whole(rows: scipy.sparse.csr_matrix, human: FloatArray) -> Precision:
    with calm():
        return exact((rows @ rows.T).toarray(), np.ones(rows.shape[0]), human).precision()


def tfidf(texts: Sequence[str]) -> scipy.sparse.csr_matrix:
    """[n, features] TF-IDF of words and pairs of words as in scikit-learn; rows of length 1."""
    columns, starts = _columns(texts)
    shape = (len(texts), int(columns.max(initial=-1)) + 1)
    counts = scipy.sparse.csr_matrix((np.ones(len(columns)), columns, starts), shape=shape)
    counts.sum_duplicates()
    seen = np.bincount(counts.indices, minlength=shape[1])
    counts.data *= (np.log((1 + len(texts)) / (1 + seen)) + 1)[counts.indices]
    lengths = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    return scipy.sparse.diags_array(1 / np.where(lengths > 0, lengths, 1)) @ counts


def _columns(texts: Sequence[str]) -> tuple[IdArray, IntArray]:
    """Words and pairs of words of one text after the other, numbered as they appear; the starts.

    A word is its number, and a pair two numbers in one: strings of pairs would take ten times the
    memory of a long text.
    """
    place: dict[str, int] = {}
    parts = [np.zeros(0, dtype=np.int64)]
    for text in texts:
        found = (place.setdefault(m.group(), len(place)) for m in WORDS.finditer(text.lower()))
        words = np.fromiter(found, dtype=np.int64)
        parts.append(np.concatenate([words, (words[:-1] + 1 << 32) + words[1:]]))
    starts, keys = np.cumsum([0, *map(len, parts[1:])]), np.concatenate(parts)
    parts.clear()  # of a long text each array is large
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    new = np.ones(len(keys), dtype=np.bool_)
    new[1:] = keys[1:] != keys[:-1]
    first = order[new]
    number = np.empty(len(first), dtype=np.int32)
    number[np.argsort(first)] = np.arange(len(first))
    columns = np.empty(len(keys), dtype=np.int32)
    columns[order] = number[np.cumsum(new, dtype=np.int32) - 1]
    return columns, starts


def _ridge(
    known: scipy.sparse.csr_matrix, human: FloatArray, asked: scipy.sparse.csr_matrix
) -> FloatArray:
    """Ridge regression with penalty 1; the mean rating is the intercept of the mean text."""
    from scipy.sparse.linalg import LinearOperator, lsmr

    middle = np.asarray(known.mean(axis=0)).ravel()
    level = float(np.sort(human).mean())

    def centred(rows: scipy.sparse.csr_matrix) -> LinearOperator:
        return LinearOperator(
            rows.shape,
            matvec=lambda w: rows @ w - middle @ w,
            rmatvec=lambda r: rows.T @ r - middle * r.sum(),
        )

    weights = lsmr(centred(known), human - level, damp=1.0, atol=1e-8, btol=1e-8)[0]
    return np.asarray(level + centred(asked).matvec(weights))


def _outside(column: FloatArray, key: FloatArray, groups: IntArray) -> FloatArray:
    """[n] sum of the column over all rows outside each row's group.

    Summed in the order of (key, column), so neither the order of rows nor the labels matter.
    """
    order = np.lexsort((column, key))
    _, codes = np.unique(groups, return_inverse=True)
    of_groups = np.bincount(codes[order], weights=column[order])
    return np.asarray(column[order].sum() - of_groups[codes], dtype=np.float64)
