"""The outputs that are compared, with ratings and estimates in the raters' units."""

from collections import Counter
from dataclasses import replace

import numpy as np

from refless.commands.compare.inputs import Inputs, Selection
from refless.commands.estimating import estimated, fitted, shown
from refless.commands.warnings import note
from refless.data.human import unscaled
from refless.data.records import RatedPool, Residuals, Scale
from refless.estimators import Estimator
from refless.estimators.crossfit import crossed
from refless.evaluation.entries import Field
from refless.evaluation.groups import mean_of_others
from refless.evaluation.raters import Raters, severity_in
from refless.registry.arrays import FloatArray
from refless.registry.plural import counted
from refless.stats.contrast import mean_of
from refless.stats.intervals import VERDICTS
from refless.stats.proxies import FEWEST


def field_of(
    inputs: Inputs, estimator: Estimator, seed: int, selection: Selection
) -> Field:
    """The outputs with ratings and estimates, in the raters' units."""
    outputs = inputs.outputs
    scale = inputs.pool.scale
    drawn = selection != "unknown"
    texts = outputs.texts
    pool = outputs.pool
    raters = None if pool is None else Raters.of(pool)
    severity = None
    if pool is not None and raters is not None:
        raters = replace(raters, text=outputs.place[raters.text])
        severities = (severity_in(pool), severity_in(inputs.pool))
        severity = max(severities, key=lambda severity: severity.freedom)
    probability = np.full(len(texts), np.nan)
    if selection == "active":
        probability = outputs.probability
    estimates = _estimates(inputs, estimator, seed, drawn=drawn)
    return Field(
        outputs=texts,
        design=inputs.design,
        human=unscaled(outputs.human, scale),
        estimates=unscaled(estimates, scale),
        probability=probability,
        scale=scale or _verdicts(inputs.pool),
        drawn=drawn,
        raters=raters,
        severity=severity,
    )


def _verdicts(pool: RatedPool) -> Scale | None:
    """The ends 0 and 1 of ratings without a scale of which all are one of the two."""
    return VERDICTS if {*np.unique(pool.human)} == {*VERDICTS} else None


def _estimates(
    inputs: Inputs, estimator: Estimator, seed: int, *, drawn: bool
) -> FloatArray:
    """[n] estimates by ratings of other items; NaN if they would not be used."""
    outputs = inputs.outputs
    labels = inputs.labels
    pool = inputs.pool
    texts = outputs.texts
    unknown = np.full(len(labels), np.nan)
    every_output_rated = not np.isnan(outputs.human).any()
    if not inputs.has_texts or (drawn and every_output_rated):
        return unknown
    rated = {labels[i] for i in outputs.place.tolist()}
    if not rated and {*texts.texts}.isdisjoint(pool.texts):
        return estimated(estimator, texts).values  # it was fitted for its errors
    fewest = FEWEST if drawn else 2
    if len(pool) == len(outputs.place) and len(rated) < fewest:
        items = counted(len(rated), "item")
        note(f"{items} with ratings, fewer than {fewest}: estimates are not used")
        return unknown
    with shown(estimator, "estimating each output without ratings of its item"):
        held_out = crossed(estimator, pool, inputs.rated_labels, texts, labels, seed)
    return held_out.values


def errors_of(inputs: Inputs, estimator: Estimator, *, drawn: bool) -> Residuals:
    """Held-out errors of estimates in the raters' units, empty if every system has ratings."""
    systems = inputs.outputs.texts.systems
    rated = Counter(systems[i] for i in inputs.outputs.place.tolist())
    if not inputs.has_texts or (drawn and all(rated[name] > 1 for name in {*systems})):
        return Residuals(values=np.zeros(0))
    errors = fitted(estimator, inputs.pool, inputs.rated_labels).residuals()
    return errors.on(inputs.pool.scale)


def estimates_help(field: Field) -> bool:
    """Whether estimates are shown to err less than the average on single rated outputs."""
    rated = ~(np.isnan(field.human) | np.isnan(field.estimates))
    human = field.human[rated]
    unit = field.design.unit[rated]
    constant = mean_of_others(human, unit)
    less = np.square(human - constant) - np.square(human - field.estimates[rated])
    return bool(len(human)) and mean_of(less, unit).interval[0] > 0
