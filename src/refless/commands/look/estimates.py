"""Do estimates help? A card from what `validate` says."""

import math

import numpy as np

from refless.commands.look.asked import OPEN, Asked, refused
from refless.commands.validate.result import ValidateResult
from refless.commands.validate.run import validate
from refless.commands.validate.verdict import worth_using
from refless.data.human import unscaled
from refless.evaluation.baselines import CONSTANT
from refless.registry.errors import InputError, UsageError
from refless.report.document import Card, Figure
from refless.report.pictures import estimates_picture
from refless.report.units import RatingUnits

TOPIC = "estimates"
QUESTION = "Do estimates help?"


def do_estimates_help(asked: Asked) -> tuple[list[Card], ValidateResult | None]:
    """The card on estimates, and the held-out estimates; none without rated texts."""
    pool = asked.read.pool
    if pool is None or asked.of_choices or not any(pool.texts):
        return [], None
    try:
        result = asked.ask(validate)
    except (InputError, UsageError) as fault:
        return [refused(TOPIC, QUESTION, fault)], None
    helps = worth_using(result.side_by_side) and beats_constant(result)
    answer, advice = _said(asked, result, helps=helps)
    card = Card(
        topic=TOPIC,
        question=QUESTION,
        state="yes" if helps else "open",
        label="Yes" if helps else OPEN,
        answer=answer,
        rests=_rests(asked, result),
        advice=advice,
        command=result.command,
        figures=(_picture(result),),
    )
    return [card], result


def _picture(result: ValidateResult) -> Figure:
    """Held-out estimates against ratings."""
    pool = result.validation.pool
    estimates = unscaled(result.validation.estimates.values, pool.scale)
    people = unscaled(pool.human, pool.scale)
    told = ~np.isnan(estimates)
    average = float(people.mean())
    return estimates_picture(estimates[told].tolist(), people[told].tolist(), average)


def beats_constant(result: ValidateResult) -> bool:
    """Whether estimates are shown to err less than the mean rating."""
    flat = [line for line in result.side_by_side.methods if line.name == CONSTANT]
    return all(line.saved_interval[1] < 0 for line in flat)


def _said(asked: Asked, result: ValidateResult, *, helps: bool) -> tuple[str, str]:
    """The answer, and what to do now."""
    pool = result.validation.pool
    average = float(unscaled(pool.human, pool.scale).mean())
    guess = f"guessing the average, {RatingUnits(asked.percent).mean(average)}"
    if helps:
        return (
            f"Yes: better than {guess}, for every output.",
            "estimate new outputs, and decide by the mean of many.",
        )
    rated = len(pool)
    return (
        f"Not shown to be better than {guess}, with {rated} rated outputs.",
        "do not act on estimates of single outputs; ask again with more ratings.",
    )


def _rests(asked: Asked, result: ValidateResult) -> str:
    table = result.side_by_side
    low, high = result.validation.pool.scale or (0.0, 1.0)
    off = (high - low) * math.sqrt(table.first.mse)
    size = RatingUnits(asked.percent).size(off)
    scored = table.first.n_scored
    return f"Rests on {scored} rated outputs, each estimated without its rating: off by {size}."
