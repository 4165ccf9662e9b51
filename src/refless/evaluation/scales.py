"""Whether a judge's scores and people's ratings share a unit, and from where on each is a pass."""

import numpy as np

from refless.data.human import FEWEST_RATINGS, LIKELY_SCALES
from refless.registry.arrays import FloatArray
from refless.stats.intervals import VERDICTS, Interval

SMALL_PART = 0.2  # of the highest rating: the highest of scores in smaller units


def are_verdicts(values: FloatArray) -> bool:
    """Whether all of some numbers are passes and fails, 1 and 0."""
    return {*values.tolist()} <= {*VERDICTS}


def ends_of(human: FloatArray, scale: Interval | None) -> Interval:
    """The lowest and the highest rating, as far as is known; those of verdicts are 0 and 1."""
    if scale is not None:
        return scale
    if are_verdicts(human):
        return VERDICTS
    return float(human.min()), float(human.max())


def are_ratings(human: FloatArray, scores: FloatArray, scale: Interval | None) -> bool:
    """Whether scores could be ratings: neither column, nor the scale, speaks of another scale."""
    low, high = ends_of(human, scale)
    beyond = 0.0 if scale else (high - low) / 2
    above_low = low - beyond <= float(scores.min())
    below_high = float(scores.max()) <= high + beyond
    inside = above_low and below_high
    wider = scale is None and _on_narrower_scale(scores, human, None)
    return inside and not wider and not _on_narrower_scale(human, scores, scale)


def _on_narrower_scale(
    human: FloatArray, scores: FloatArray, scale: Interval | None
) -> bool:
    """Whether scores that lie among the ratings seem to have a shorter scale of their own.

    They do if they are 0 to 1 beside ratings that are mostly higher, or that fall below 0; if even
    their highest is small beside the ratings; if they fill a usual scale beyond which the ratings
    go far, as far again if the scale of the ratings is known.
    """
    low, high = ends_of(human, scale)
    smallest = float(scores.min())
    largest = float(scores.max())
    enough = len(scores) >= FEWEST_RATINGS
    if smallest >= 0 and largest <= 1:
        return largest < float(np.median(human)) or (low < 0 and enough)
    if float(np.quantile(human, 0.75)) <= largest:
        return False
    room = (1.0 if scale else 0.5) * (largest - smallest)
    fills = enough and (smallest, largest) in LIKELY_SCALES
    small = smallest >= 0 and SMALL_PART * high >= largest
    return small or (fills and largest + room <= high)


def bar_of(
    votes: FloatArray, scale: Interval | None, passing: float | None
) -> float | None:
    """From where on people's rating is a pass; None if nothing tells it.

    Args:
        votes: ratings of single annotators; scale, passing: as of `bars_of`.
    """
    values = {*votes.tolist()}
    if values <= {*VERDICTS} and scale in {None, VERDICTS}:
        return passing if passing is not None and 0 < passing <= 1 else 0.5
    low: float = min(values)
    high: float = max(values)
    if passing is None and len(values) == 2 and scale in {None, (low, high)}:
        return (low + high) / 2
    return passing


def bars_of(
    human: FloatArray,
    votes: FloatArray,
    scores: FloatArray,
    scale: Interval | None,
    passing: float | None,
) -> tuple[float, float] | None:
    """From where on a rating, and a judge's score, is a pass; None where nothing passes or fails.

    Ratings of 0 and 1 are verdicts, and so are two other values that ratings and scores share.
    What is 0 or 1 has passed or failed already, whatever `passing` says of the other column.

    Args:
        human: [n] ratings; votes: those of single annotators; scores: the judge's, without NaN.
        scale: lowest and highest rating, if known; passing: what the user calls a pass, or None.
    """
    judged = {*scores.tolist()}
    of_people = bar_of(votes, scale, passing)
    if not judged or of_people is None:
        return None
    values = {*votes.tolist()}
    of_verdicts = values <= {*VERDICTS} and scale in {None, VERDICTS}
    if passing is None:
        alike = judged <= values
        if of_verdicts:
            alike = min(judged) >= 0 and max(judged) <= 1
        return (of_people, of_people) if alike else None
    judge_is_verdicts = judged <= {*VERDICTS}
    on_a_scale = not of_verdicts and not judge_is_verdicts
    if on_a_scale and not are_ratings(human, scores, scale):
        return None
    middle = passing if 0 < passing <= 1 else 0.5
    return of_people, middle if judge_is_verdicts else passing
