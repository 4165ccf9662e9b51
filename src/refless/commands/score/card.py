"""The answer of `score` as a card: the mean in few words, one picture, what to do now."""

import math
from collections.abc import Sequence

from refless.data.records import RatedPool, Scale
from refless.evaluation.scoring import Mean
from refless.registry.plural import counted, these
from refless.report.document import Card, Figure
from refless.report.units import RatingUnits
from refless.report.wording import SEVERAL, UNKNOWN, numbers, one_rating, percent


def card_of(
    name: str,
    rated: RatedPool,
    mean: Mean,
    scale: Scale | None,
    figures: Sequence[Figure],
    *,
    of_verdicts: bool,
    command: str = "",
) -> Card:
    """The card on outputs that nobody rated: what people would give them.

    Args:
        name: of the estimator; rated: the texts that it knows.
        mean: of the outputs, in the raters' units; scale: of the ratings.
        figures: that show it.
        of_verdicts: whether ratings are passes and fails.
        command: the line that validates estimates from these rated texts; "" without one.
    """
    outputs = these(mean.n, "output")
    answer = f"Your raters would give {outputs} {_mean(mean, scale, of_verdicts=of_verdicts)}."
    if not mean.n_scored:
        answer = f"Not known: {name} has no estimate for {outputs}."
    return Card(
        topic="quality",
        question="How good are these outputs?",
        state="with" if mean.n_scored else "open",
        label="As far as estimates hold" if mean.n_scored else "Cannot be told yet",
        answer=answer,
        rests=_rests(rated, 1 - mean.coverage),
        further="'refless validate' says whether there are enough.",
        unfit="a decision about a single output: one estimate says little.",
        advice="use this mean if 'refless validate' says Yes of these rated texts.",
        command=command,
        figures=(*figures,),
    )


def _rests(rated: RatedPool, missing: float) -> str:
    """The rated texts behind the estimates, and what part of the outputs has none."""
    texts = counted(len(rated), "rated text")
    none = f"; {percent(missing)} of the outputs have none" if missing else ""
    agree = SEVERAL
    if not rated.has_several_ratings:
        agree = UNKNOWN.format(one_rating(rated.ratings.annotators))
    return f"Rests on estimates from {texts}{none}. {agree}"


def _mean(mean: Mean, scale: Scale | None, *, of_verdicts: bool) -> str:
    """`3.4 on average (95 % interval 3.2 to 3.7), of 1 to 5`; of verdicts `a pass in 56 % (..)`."""
    units = RatingUnits(of_verdicts)
    value = units.mean(mean.mean)
    low, high = map(units.mean, mean.mean_interval)
    if low == high:  # rounded, as of equal ratings
        low, high = numbers(mean.mean_interval)
    ends = (
        "" if math.isnan(mean.mean_interval[0]) else f" (95 % interval {low} to {high})"
    )
    if of_verdicts:
        return f"a pass in {value}{ends}"
    of = "" if scale is None else f", of {scale[0]:g} to {scale[1]:g}"
    return f"{value} on average{ends}{of}"
