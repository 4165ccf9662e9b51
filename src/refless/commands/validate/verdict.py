"""What agreement amounts to, in sentences that numbers and their intervals alone decide."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from refless.commands.advice import LIMIT
from refless.evaluation.annotators import annotator_interval, over_annotators
from refless.evaluation.jackknife import FEWEST
from refless.evaluation.leaderboard import Leaderboard
from refless.evaluation.validation import Validation
from refless.registry.plural import these
from refless.registry.signature import Signature
from refless.report.wording import (
    abstains,
    estimator_name,
    number,
    percent,
    sentence,
    with_interval,
)
from refless.stats.intervals import UNDEFINED, Interval

Side = Literal["better", "unclear", "worse"]  # of a difference
Standing = Literal["few", "score", "none", "baseline", "behind", "better", "alike"]
FEWEST_DRAWN, ENOUGH_DRAWN = 20, 60  # texts or groups; see benchmarks/promises.py
NEARLY_ALL = 0.995  # of the texts: below this share the coverage is told
LIKE_AN_ANNOTATOR: dict[Side, str] = {
    "better": "agrees with people better than one average annotator does",
    "unclear": "agrees with people; no difference from one average annotator is shown, and it may "
    "agree up to {} less well",
    "worse": "agrees with people, but less well than one average annotator does",
}
LIKE_A_CONSTANT: dict[Side, str] = {
    "better": "errs less than a constant",
    "unclear": "shows no difference in error from a constant",
    "worse": "errs more than a constant",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """What a verdict rests on; NaN where undefined, intervals 95 %.

    Attributes:
        estimator: its name, for people.
        n, n_scored: texts, and those with an estimate.
        spearman, mse: of the estimates against the human rating.
        annotator: Spearman of one average annotator against the mean of the others, NaN without a
            yardstick.
        paired: Spearman of the estimates against the same, annotator by annotator, on the texts
            of each; paired_interval: of paired - annotator.
        published: the same against a mean that holds the annotator's own rating.
        length: Spearman of a line on lengths, which tells nothing below 0; length_interval: of
            spearman - length.
        constant: MSE of the mean rating; constant_interval: of constant - mse.
    """

    estimator: str
    n: int
    n_scored: int
    spearman: float
    spearman_interval: Interval
    mse: float = math.nan
    mse_interval: Interval = UNDEFINED
    annotator: float = math.nan
    annotator_interval: Interval = UNDEFINED
    paired: float = math.nan
    paired_interval: Interval = UNDEFINED
    published: float = math.nan
    published_interval: Interval = UNDEFINED
    length: float = math.nan
    length_interval: Interval = UNDEFINED
    constant: float = math.nan
    constant_interval: Interval = UNDEFINED


def grounds_of(result: Validation, signature: Signature) -> Grounds:
    """The grounds in a validation's numbers; annotators are drawn with the signature's seed."""
    agreement, people, beside = result.estimator, result.annotators, result.beside
    seed = int(dict(signature.settings)["seed"])
    alone = UNDEFINED
    if beside is not None:
        both = ~np.isnan(beside.spearman).any(axis=1)
        if both.sum() > 2:  # each of two has the same correlation, that with the other one
            alone = over_annotators(beside.spearman[both, 0], seed)
    return Grounds(
        estimator=estimator_name(signature),
        n=agreement.n,
        n_scored=agreement.n_scored,
        spearman=agreement.spearman,
        spearman_interval=agreement.spearman_interval,
        mse=agreement.mse,
        mse_interval=agreement.mse_interval,
        annotator=math.nan if beside is None else beside.annotator,
        annotator_interval=alone,
        paired=math.nan if beside is None else beside.estimator,
        paired_interval=UNDEFINED if beside is None else beside.difference_interval,
        published=math.nan if people is None else people.average["spearman"],
        published_interval=annotator_interval(people, "spearman", seed),
        length=result.baselines["length_only"].spearman,
        length_interval=result.differences["length_only"].interval,
        constant=result.baselines["constant"].mse,
        constant_interval=result.differences["constant"].interval,
    )


def verdict(grounds: Grounds) -> str:
    """One sentence on whether an estimator agrees with people, its abstention included.

    Agreement is Spearman's: errors favour whatever stays near the mean. A difference counts where
    its 95 % interval leaves out 0; where a constant or length does better, that comes first.
    """
    n, missing = grounds.n, 1 - grounds.n_scored / grounds.n if grounds.n else 1.0
    if grounds.n_scored == 0:
        return f"On {these(n, 'text')} {grounds.estimator} has no estimate at all."
    agreement = _agreement(grounds)
    if grounds.n_scored >= FEWEST and (first := beaten(grounds)):
        agreement = f"{first}; it {agreement}"
    start = f"On {these(n, 'text')} {grounds.estimator}"
    if missing > LIMIT:
        return f"{start} {abstains(missing)}; on the other {grounds.n_scored:,} it {agreement}."
    return f"{start} {agreement}; it {abstains(missing)}."


def _agreement(grounds: Grounds) -> str:
    low, high = grounds.spearman_interval
    if grounds.n_scored < FEWEST:
        return "has too few estimates to tell how well it agrees with people"
    if math.isnan(grounds.spearman) or math.isnan(low):
        return "cannot be compared with people: their agreement is undefined"
    if high < 0:
        return "shows no agreement with people"
    if low <= 0:
        return (
            "shows no agreement with people that chance could not explain, though there may be "
            f"as much as {number(high)}"
        )
    if not math.isnan(grounds.paired_interval[0]):
        worst = number(-grounds.paired_interval[0])
        return LIKE_AN_ANNOTATOR[standing(grounds.paired_interval)].format(worst)
    length, ranked = against_length(grounds), not math.isnan(grounds.length)
    better = ranked and length == "better"  # texts of one length are not ranked by it
    like = "ranks texts better than their length alone does" if better else "agrees with people"
    if beaten(grounds):
        return like
    error = standing(grounds.constant_interval)
    line = f"{like} {'and' if error == 'better' else 'but'} {LIKE_A_CONSTANT[error]}"
    if ranked and length == "unclear":
        line += (
            "; no difference from ranking texts by their length alone is shown, and it may rank "
            f"them up to {number(-_gap(grounds)[0])} worse"
        )
    return line


def beaten(grounds: Grounds) -> str:
    """What does better by itself without reading a word, or ""; shown or not, it comes first."""
    lines = []
    if grounds.mse > grounds.constant:
        shown = standing(grounds.constant_interval) == "worse"
        errors = f"{number(grounds.mse, 4)} against {number(grounds.constant, 4)}"
        lines.append(f"errs {'more' if shown else 'no less'} than a constant ({errors})")
    if grounds.length > max(grounds.spearman, 0.0):
        shown = against_length(grounds) == "worse"
        how = "worse" if shown else "no better"
        ranks = f"{number(grounds.spearman)} against {number(grounds.length)}"
        lines.append(f"ranks texts {how} than their length alone does ({ranks})")
    return " and ".join(lines)


def against_length(grounds: Grounds) -> Side:
    """How Spearman stands to that of a line on lengths; one below 0 counts as 0."""
    return standing(_gap(grounds))


def _gap(grounds: Grounds) -> Interval:
    return grounds.length_interval if grounds.length > 0 else grounds.spearman_interval


def standing(interval: Interval) -> Side:
    """Whether a difference is shown to lie above 0 or below, or neither."""
    low, high = interval
    if low > 0:
        return "better"
    return "worse" if high < 0 else "unclear"


def notes(grounds: Grounds) -> tuple[str, ...]:
    """The numbers behind the verdict, and what speaks against it."""
    own = with_interval(grounds.spearman, grounds.spearman_interval)
    lines = [f"Spearman's rank correlation with the mean rating is {own} (95 % interval)."]
    if grounds.n_scored < FEWEST:
        return tuple(lines)  # no difference of so few is worth a word
    if math.isnan(grounds.spearman):
        lines = ["Spearman's rank correlation with the mean rating is undefined."]
    elif math.isnan(grounds.annotator):
        lines[0] = f"{lines[0][:-1]}, and there are no single annotators to compare it with."
    else:
        gap = with_interval(grounds.paired - grounds.annotator, grounds.paired_interval)
        lines.append(
            "On equal terms, both against the mean of the other annotators, Spearman is "
            f"{number(grounds.paired)} for the estimates and "
            f"{with_interval(grounds.annotator, grounds.annotator_interval)} for the average "
            f"annotator: a difference of {gap}."
        )
        if not math.isnan(grounds.published):
            lines.append(
                "As published, against a mean that includes their own rating and so favours them, "
                "the average annotator's is "
                f"{with_interval(grounds.published, grounds.published_interval)}."
            )
    error = standing(grounds.constant_interval)
    if not math.isnan(grounds.mse) and error != "better":
        gap = with_interval(grounds.constant - grounds.mse, grounds.constant_interval, 4)
        lines.append(
            f"Its mean squared error is {with_interval(grounds.mse, grounds.mse_interval, 4)}, and "
            f"that of giving every text the mean rating {number(grounds.constant, 4)}. It "
            f"{LIKE_A_CONSTANT[error]}: the difference is {gap}."
        )
    return tuple(lines)


def worth_using(table: Leaderboard) -> bool:
    """Whether the chosen estimator is shown to agree with people, and nothing simple is ahead."""
    return standing_of(table) in {"better", "alike"}


def standing_of(table: Leaderboard) -> Standing:
    """How the chosen estimator stands to people and to the best baseline, in a word.

    `few` estimates; a `score` that others gave is better; `none` agrees with people; a `baseline`
    is shown to be better; it is `behind` one, or errs more than a constant, as far as numbers go;
    it is `better` than the best baseline; or they are `alike`, as far as is shown.
    """
    line, rival = table.first, table.rival
    if line.n_scored < FEWEST:
        return "few"
    if rival.name in table.scores and rival.gain_interval[0] > 0:
        return "score"
    if not line.spearman_interval[0] > 0:
        return "none"
    if rival.gain_interval[0] > 0:
        return "baseline"
    if rival.gain > 0 or table.constant is not None:
        return "behind"
    return "better" if rival.gain_interval[1] < 0 else "alike"


def recommendation(table: Leaderboard) -> str:
    """Which estimator to use, and whether it is worth using at all, in a sentence or two."""
    if table.n_drawn >= ENOUGH_DRAWN:
        return _recommended(table)
    few = "which is few: they are wide, and rough"
    if table.n_drawn < FEWEST_DRAWN:
        few = "too few to rely on"
    return f"{_recommended(table)} Intervals rest on {table.n_drawn} groups only, {few}."


def _recommended(table: Leaderboard) -> str:
    line, rival, standing = table.first, table.rival, standing_of(table)
    agreed = f"Spearman {with_interval(line.spearman, line.spearman_interval)}"
    if line.coverage < NEARLY_ALL:
        agreed += f" on the {percent(line.coverage)} of the texts with an estimate"
    lost = with_interval(rival.gain, rival.gain_interval)
    gap = with_interval(-rival.gain, [-end for end in rival.gain_interval[::-1]])
    ranked, errs = _ahead(table), _constant(table)
    both = ", and ".join(filter(None, (ranked, errs)))
    name = sentence(line.name)
    behind = f"{name} ranks texts as people do, {agreed}, but {errs}."
    if ranked:
        behind = f"No reason to use {line.name} is shown: {both}. {name} has {agreed}."
    return {
        "few": f"{line.n_scored} estimates are too few to tell which estimator to use.",
        "score": f"Use {rival.name}: it agrees with people better than {line.name}, by {lost}.",
        "none": f"Use none: no agreement with people is shown ({line.name}: {agreed})"
        f"{f', and {both}' if both else ''}.",
        "baseline": f"Use none: a baseline, {rival.name}, agrees with people better than "
        f"{line.name}, by {lost}{f', and {errs}' if errs else ''}.",
        "behind": behind,
        "better": f"Use {line.name}: it agrees with people, {agreed}, better than the best "
        f"baseline, {rival.name}, by {gap}.",
        "alike": f"{name} agrees with people, {agreed}, but it is not shown to do "
        f"better than the best baseline, {rival.name}: the difference is {gap}.",
    }[standing]


def _ahead(table: Leaderboard) -> str:
    """Which baselines have a higher correlation with people; "" if none has."""
    names = [line.name for line in table.rivals if line.gain > 0]
    if not names:
        return ""
    lost = with_interval(table.rival.gain, table.rival.gain_interval)
    also = f" (so {'is' if len(names) == 2 else 'are'} {' and '.join(names[1:])})"
    return f"{names[0]} is ahead of it in Spearman by {lost}{also if names[1:] else ''}"


def _constant(table: Leaderboard) -> str:
    """That a constant has the smaller mean squared error; "" if it has not."""
    line = table.constant
    if line is None:
        return ""
    saved = with_interval(line.saved, line.saved_interval, 4)
    return f"a constant errs less, by {saved} in mean squared error"
