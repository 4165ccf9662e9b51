"""Held-out estimates of rated texts, in closed form, with amplitudes that have not seen them."""

import numpy as np

from refless.estimators.gp.data import FEWEST, Data, folds_in
from refless.estimators.gp.model import Method, conditioned, estimated, tuned
from refless.estimators.protocol import rows_in
from refless.matching import Progress
from refless.records import FloatArray, IntArray, as_outputs, take


def nested(
    data: Data, groups: IntArray, folds: int, method: Method, told: Progress | None = None
) -> tuple[FloatArray, FloatArray]:
    """Means and standard deviations of the pool's ratings, in the order given; NaN without a model.

    Each text is judged by the others outside its group. In folds of whole groups, each fold's
    texts are judged with the amplitudes that the other folds ask for: nothing that is read off the
    ratings of a fold is used on it, no amplitude, no unit. Texts that a sub-sample leaves out are
    judged by its texts in the other folds.
    """
    values, variances = np.full(len(groups), np.nan), np.full(len(groups), np.nan)
    fold = folds_in(data.pool, groups, folds)
    rated = rows_in(data.pool, data.rated)
    for number in range(folds):
        outside = np.flatnonzero(fold[rated] != number)
        if len(outside) < FEWEST or not (fold == number).any():
            continue
        others = data.in_units_of(outside)
        amplitudes = tuned(others, outside, method)
        left, spread = conditioned(others, amplitudes, method).posterior.held_out(groups[rated])
        inside = np.flatnonzero(fold[rated] == number)
        values[rated[inside]] = others.offset + others.unit * left[inside]
        variances[rated[inside]] = others.unit**2 * spread[inside]
        unseen = np.setdiff1d(np.flatnonzero(fold == number), rated)
        if len(unseen):
            model = conditioned(others.take(outside), amplitudes, method)
            inputs = others.inputs_of(as_outputs(take(data.pool, unseen)))
            left, spread = estimated(others, model, inputs)
            values[unseen] = others.offset + others.unit * left
            variances[unseen] = others.unit**2 * spread
        if told is not None:
            told((number + 1) / folds)
    return values, np.sqrt(variances)
