"""The answer of `score` as a card: the mean in few words, one picture, what to do now."""

import math
from collections.abc import Sequence

from refless.data.records import Scale
from refless.evaluation.scoring import Mean
from refless.registry.plural import these
from refless.report.document import Card, Figure
from refless.report.units import RatingUnits
from refless.report.wording import numbers, percent


def card_of(
    name: str,
    mean: Mean,
    scale: Scale | None,
    figures: Sequence[Figure],
    *,
    of_verdicts: bool,
) -> Card:
    """The card on outputs that nobody rated: what people would give them.

    Args:
        name: of the estimator.
        mean: of the outputs, in the raters' units; scale: of the ratings.
        figures: that show it.
        of_verdicts: whether ratings are passes and fails.
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
        rests=f"Rests on estimates by {name}, which {_abstains(1 - mean.coverage)}.",
        further="'refless validate' says whether there are enough.",
        unfit="a decision about a single output: one estimate says little.",
        advice="ask 'refless validate' whether to trust estimates from these rated texts.",
        figures=(*figures,),
    )


def _abstains(share: float) -> str:
    """`abstains on 4 %`; of little `less than 1 %`, of none `none`."""
    part = percent(share).replace("<", "less than ").replace(">", "more than ")
    return f"abstains on {part if share else 'none'}"


def _mean(mean: Mean, scale: Scale | None, *, of_verdicts: bool) -> str:
    """`3.4 on average (3.2 to 3.7), of 1 to 5`; of verdicts `a pass in 56 % (48 % to 63 %)`."""
    units = RatingUnits(of_verdicts)
    value = units.mean(mean.mean)
    low, high = map(units.mean, mean.mean_interval)
    if low == high:  # rounded, as of equal ratings
        low, high = numbers(mean.mean_interval)
    ends = "" if math.isnan(mean.mean_interval[0]) else f" ({low} to {high})"
    if of_verdicts:
        return f"a pass in {value}{ends}"
    of = "" if scale is None else f", of {scale[0]:g} to {scale[1]:g}"
    return f"{value} on average{ends}{of}"
