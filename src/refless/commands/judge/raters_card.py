"""The answer of `judge` on ratings alone as a card: how far raters agree, beside luck."""

import numpy as np

from refless.commands.validate.verdict import YES_OR_NO
from refless.data.records import Ratings
from refless.evaluation.further import if_steady
from refless.evaluation.rater_agreement import RELIABLE, TENTATIVE, RaterAgreement
from refless.evaluation.rating_distances import (
    repeated,
    shares_apart,
    shares_by_chance,
)
from refless.registry.arrays import FloatArray
from refless.registry.plural import counted
from refless.report.document import Card, State
from refless.report.pictures import Bar, bars_picture
from refless.report.result import reaches
from refless.report.wording import number, percent
from refless.stats.answers import Estimate

MOST = 6  # points apart that have a bar each
BINS = 5  # of wider scales
SAME = "the same"
TITLE = "two ratings of one text"
CAPTION = (
    "Filled: how far two ratings of one text are apart. Hollow: two ratings of any texts, as luck "
    "would have it."
)
LEADS: dict[State, str] = {
    "yes": "They agree",
    "no": "Only weakly",
    "open": "Perhaps",
}
OF_LUCK: dict[State, str] = {
    "no": "Not shown to be better than luck",
    "open": "Not known yet",
}
UNFIT: dict[State, str] = {
    "yes": "a claim that they are right: people may err together.",
    "no": "trust in single ratings.",
    "open": "a claim that they agree, or that they do not.",
}
ADVICE: dict[State, str] = {
    "yes": "see who differs, and which texts they dispute.",
    "no": "let them talk about the texts that they dispute, and rate those again.",
    "open": "have more texts rated by two people.",
}
TOPIC = "your raters"
QUESTION = "Do the people who rate agree?"
AGAIN = "of the disputed texts again; other texts are not needed."


def card_of(agreement: RaterAgreement, ratings: Ratings, apart: str) -> Card:
    """The card on raters.

    Args:
        agreement: of all; ratings: of all texts, in the raters' units.
        apart: a sentence on the raters who are shown to be kinder or stricter, or "".
    """
    alpha = agreement.alpha_ordinal
    state = reaches(alpha.interval, TENTATIVE)
    bars = _bars(ratings)
    further = if_steady(
        alpha.value, alpha.interval, TENTATIVE, agreement.n, "twice-rated text"
    )
    return Card(
        topic=TOPIC,
        question=QUESTION,
        state=state,
        label=YES_OR_NO[state],
        answer=_answer(alpha, state, bars),
        rests=f"{_rests(agreement)} {apart}".rstrip(),
        further=AGAIN if state == "no" else further,
        unfit=UNFIT[state],
        advice=ADVICE[state],
        figures=(bars_picture(bars, TITLE, CAPTION),) if bars else (),
    )


def _answer(alpha: Estimate, state: State, bars: list[Bar]) -> str:
    """The share of alike ratings of a text, beside what luck gives."""
    low = alpha.interval[0]
    if low != low or not bars:
        return f"Not known: {alpha.undefined or 'all ratings are alike'}."
    alike = bars[0]
    apart = "the same" if alike.name == SAME else f"{alike.name} apart"
    lead = "They agree well" if low >= RELIABLE else LEADS[state]
    if low <= 0:
        lead = OF_LUCK[state]
    luck = f"luck gives {percent(alike.chance)}"
    return (
        f"{lead}: two ratings of a text are {apart} in {percent(alike.share)}, {luck}."
    )


def _rests(agreement: RaterAgreement) -> str:
    """The texts, alpha with the bar that it is held to, and what a mean is worth."""
    rests = f"Rests on {counted(agreement.n, 'text')} with two ratings or more"
    alpha = agreement.alpha_ordinal
    low, high = alpha.interval
    if low == low:
        ends = f"95 % interval {number(low, 2)} to {number(high, 2)}"
        needed = f"{TENTATIVE:g} is needed for tentative conclusions"
        rests += f": alpha {number(alpha.value, 2)} ({ends}), where {needed}"
    mean = agreement.icc_mean.value
    if mean == mean and low > 0:
        reliability = number(mean, 2)
        rests += (
            f". The mean of {agreement.k:.2g} ratings has reliability {reliability}"
        )
    return f"{rests}."


def _bars(ratings: Ratings) -> list[Bar]:
    """Pairs of ratings of one text by how far apart they are; none without such pairs."""
    values, text = repeated(ratings)
    if not len(values) or not np.ptp(values):
        return []
    steps = _steps(values)
    apart = shares_apart(values, text, steps)
    chance = shares_by_chance(values, steps)
    return [
        Bar(name=name, share=share, chance=luck)
        for name, share, luck in zip(_names(steps), apart, chance, strict=True)
    ]


def _steps(values: FloatArray) -> list[float]:
    """The largest distance in each bar: whole points if they are few, else fifths of the range."""
    span = float(np.ptp(values))
    if span <= MOST and not np.any(values % 1):
        return [float(k) for k in range(int(span) + 1)]
    return [span * (k + 1) / BINS for k in range(BINS)]


def _names(steps: list[float]) -> list[str]:
    if steps[0] == 0:
        return [SAME, *(f"{step:g} apart" for step in steps[1:])]
    starts = [0.0, *steps[:-1]]
    return [f"{a:.3g} to {b:.3g}" for a, b in zip(starts, steps, strict=True)]
