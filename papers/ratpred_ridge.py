"""A ridge regression on words, pairs of words and triples that learns from synthetic errors too.

The network's synthetic data (setup 4: errors in rated outputs, human texts of the training rows and
of the systems' training data, errors in these) beside the rated rows, each counting little. How
little, and the penalty, are chosen by cross-validation within the rows to learn from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from ratpred_data import Rated, Split, made_of
from scipy.sparse import csr_matrix, diags_array
from scipy.sparse.linalg import LinearOperator, cg

from refless.extensions.ratpred.fitting import named_folds
from refless.extensions.ratpred.reading import SLOTS, Reader, SourceAndText
from refless.registry.arrays import FloatArray, IntArray

SETUP = 4
SEED = 0
INNER = 5  # folds within the known rows
WEIGHTS = (0.0, 0.01, 0.03, 0.1)  # of a made row, beside 1 of a rated one
PENALTIES = (1.0, 3.0)


def ridge_made(rated: Rated, known: IntArray, asked: IntArray) -> FloatArray:
    """Estimates of the asked rows from the known ones and what is made of these."""
    hows = [(weight, penalty) for weight in WEIGHTS for penalty in PENALTIES]
    judged = {how: np.zeros(len(known)) for how in hows}
    fold = named_folds([(rated.mr[i], rated.text[i]) for i in known], INNER)
    for i in range(INNER):
        found = _estimates(rated, known[fold != i], known[fold == i], hows)
        for how in hows:
            judged[how][fold == i] = found[how]
    human = rated.rating[known]
    best = max(hows, key=lambda how: float(np.corrcoef(human, judged[how])[0, 1]))
    return _estimates(rated, known, asked, [best])[best]


def _estimates(
    rated: Rated, known: IntArray, asked: IntArray, hows: Sequence[tuple[float, float]]
) -> dict[tuple[float, float], FloatArray]:
    """For each weight of made rows and penalty the estimates of the asked rows."""
    reader = Reader(acts=True, slots=SLOTS)

    def read(rows: IntArray) -> list[SourceAndText]:
        return reader.pairs([rated.mr[i] for i in rows], [rated.text[i] for i in rows])

    pairs = read(known)
    none = np.zeros(0, dtype=np.int64)
    split = Split(train=known, validation=none, test=none)
    made, lowered = made_of(rated, split, SETUP, pairs, reader, SEED)
    names: dict[str, int] = {}
    x = _counted(map(features, [*pairs, *made]), names, grow=True)
    other = _counted(map(features, read(asked)), names, grow=False)
    idf = 1.0 + np.log((1.0 + len(known)) / (1.0 + (x[: len(known)] > 0).sum(axis=0)))
    rarity = diags_array(np.asarray(idf).ravel())
    x, other = (_unit(csr_matrix(part @ rarity)) for part in (x, other))
    ratings = rated.rating[known]
    y = np.concatenate([ratings - ratings.mean(), lowered - lowered.mean()])
    found = {}
    for weight, penalty in hows:
        shares = np.concatenate([np.ones(len(known)), np.full(len(made), weight)])
        found[weight, penalty] = ratings.mean() + other @ _solved(x, y, shares, penalty)
    return found


def _solved(
    x: csr_matrix, y: FloatArray, shares: FloatArray, penalty: float
) -> FloatArray:
    """Coefficients of the weighted ridge, by conjugate gradients."""
    size = x.shape[1]

    def times(v: FloatArray) -> FloatArray:
        return np.asarray(x.T @ (shares * (x @ v)) + penalty * v)

    found, _ = cg(
        LinearOperator((size, size), matvec=times), x.T @ (shares * y), rtol=1e-4
    )
    return np.asarray(found)


def features(pair: SourceAndText) -> list[str]:
    """Words and pairs of words; acts with slots; values that the text misses; words it doubles."""
    acts = [pair.source[i : i + 3] for i in range(0, len(pair.source), 3)]
    slots = {f"{act}/{slot}" for act, slot, _ in acts}
    values = {value for _, _, value in acts if value.startswith("x-")}
    doubled = sorted(word for word, count in Counter(pair.text).items() if count > 1)
    return [
        *pair.text,
        *(
            f"{first} {second}"
            for first, second in pairwise(["<s>", *pair.text, "</s>"])
        ),
        *sorted(slots),
        *(f"missing {value}" for value in sorted(values.difference(pair.text))),
        *(f"doubled {word}" for word in doubled),
    ]


def _counted(
    rows: Iterable[list[str]], names: dict[str, int], *, grow: bool
) -> csr_matrix:
    """log(1 + count) of each feature; `grow`: features not in `names` join them."""
    starts = [0]
    places = []
    for row in rows:
        if grow:
            places += [names.setdefault(name, len(names)) for name in row]
        else:
            places += [names[name] for name in row if name in names]
        starts.append(len(places))
    shape = (len(starts) - 1, len(names))
    counts = csr_matrix(
        (np.ones(len(places)), np.array(places, dtype=np.int64), starts), shape
    )
    counts.sum_duplicates()
    counts.data = np.log1p(counts.data)
    return counts


def _unit(x: csr_matrix) -> csr_matrix:
    norms = np.sqrt(np.asarray(x.multiply(x).sum(axis=1)).ravel())
    return csr_matrix(diags_array(1.0 / np.where(norms > 0, norms, 1.0)) @ x)
