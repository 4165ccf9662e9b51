"""An output stuffed with n-grams of highly rated texts, and what sub-sampling does against it.

Section 6 of the BLEU Neighbors paper: who knows what an estimator holds for good can build outputs
for it. The attacker here asks the estimator itself, as often as it takes.
"""

import math

import numpy as np

from refless.data.human import copies_in_order
from refless.data.records import Outputs, RatedPool
from refless.estimators import Estimator
from refless.extensions.papers.stress.judging import Estimated
from refless.extensions.papers.stress.plan import StressPlan
from refless.extensions.papers.stress.rows import NAN, Probe, Row, percent_of
from refless.registry.arrays import FloatArray
from refless.registry.errors import UsageError
from refless.report.wording import numbers
from refless.stats.intervals import UNDEFINED, Interval, quantile

TOP = 0.1  # share of the rated texts that count as highly rated
LONGEST = 5  # words of a fragment
FRAGMENTS = 150  # pieces that are tried at each step
STEPS = 6  # pieces that are strung together at most
SUBSAMPLE = 0.5  # share of the pool that judges the result
DRAWS = 10  # such parts of the pool
FEWEST = 20  # rated texts that an attack needs
SETTINGS = {  # for signatures
    "fragments": FRAGMENTS, "steps": STEPS, "top": TOP, "draws": DRAWS, "drawn": SUBSAMPLE,
}  # fmt: skip


def fragments_of(pool: RatedPool, seed: int) -> list[str]:
    """Pieces of two to five words of the highest-rated texts, drawn if there are too many."""
    size = max(1, round(TOP * len(pool)))
    order = sorted(range(len(pool)), key=lambda i: (-pool.human[i], pool.texts[i]))
    pieces: set[str] = set()
    for i in order[:size]:
        words = pool.texts[i].split()
        for n in range(2, LONGEST + 1):
            starts = range(len(words) - n + 1)
            pieces.update(" ".join(words[k : k + n]) for k in starts)
    fragments = sorted(pieces) or sorted({pool.texts[i] for i in order[:size]})
    if len(fragments) > FRAGMENTS:
        rng = np.random.default_rng(seed)
        drawn = rng.choice(np.array(fragments, dtype=object), FRAGMENTS, replace=False)
        fragments = sorted(drawn)
    return fragments


def stuffed(estimator: Estimator, pool: RatedPool, seed: int) -> str:
    """The text that a greedy attacker strings together from pieces of the pool.

    Each step adds the piece with which the estimate is highest, or, where there is none yet, the
    most rated texts are similar; it ends when no piece raises the estimate.

    Args:
        estimator: fitted to the pool; it is asked, not looked into.
        pool: the rated texts.
        seed: of which pieces are tried.
    """
    pieces = fragments_of(pool, seed)
    text = ""
    best = (-np.inf, -1)
    for _ in range(STEPS):
        tries = [f"{text} {piece}".strip() for piece in pieces]
        answer = estimator.estimate(tries)
        values = np.where(np.isnan(answer.values), -np.inf, answer.values)
        ranks = list(
            zip(np.round(values, 12).tolist(), answer.support.tolist(), strict=True)
        )
        place = max(range(len(tries)), key=lambda i: (ranks[i], -i))
        if ranks[place] <= best:
            break
        text = tries[place]
        best = ranks[place]
    return text


def stuffing_probe(
    metric: Estimated, pool: RatedPool, outputs: Outputs, plan: StressPlan
) -> Probe:
    """The scores of a stuffed output, by the estimator and by parts of the pool.

    Args:
        metric: an estimator with its parameters; it is fitted anew.
        pool: the rated texts.
        outputs: honest outputs, for comparison.

    Raises:
        UsageError: too few rated texts to plan.
    """
    if len(pool) < FEWEST:
        raise UsageError(f"the attack needs {FEWEST} rated texts, not {len(pool)}")
    estimator = _without_sources(metric.estimator)
    whole = estimator.fitted_to(pool)
    honest = whole.predict(outputs)
    text = stuffed(whole, pool, plan.seed)
    base = _mean("honest outputs", honest)
    sampled = _mean(
        f"- judged by {percent_of(SUBSAMPLE)} of the ratings",
        _sampled(estimator, pool, text, plan.seed),
        base,
    )
    copy = _single("best rated text, copied", whole, _highest(whole, pool), base)
    attacked = _single("stuffed, all ratings known", whole, text, base)
    verdict, fooled = _verdict(honest, base, attacked, sampled)
    return Probe(
        name="stuffing",
        about="An output of pieces of highly rated texts, strung together; no sources.",
        rows=(base, copy, attacked, sampled),
        verdict=verdict,
        fooled=fooled,
    )


def _without_sources(estimator: Estimator) -> Estimator:
    """The estimator, which reads no sources and systems: a stuffed output has none."""
    parameters = estimator.get_params()
    unread = {"use_source", "use_system"} & parameters.keys()
    return estimator.clone().set_params(**dict.fromkeys(unread, False))


def _highest(estimator: Estimator, pool: RatedPool) -> str:
    rated = estimator.predict(pool.texts)
    values = np.where(np.isnan(rated), -np.inf, np.round(rated, 12))
    return pool.texts[int(np.argmax(values))]


def _sampled(estimator: Estimator, pool: RatedPool, text: str, seed: int) -> FloatArray:
    """[draws] the estimate of a text by random sub-samples of the pool."""
    parts = (_part(pool, seed + draw) for draw in range(DRAWS))
    return np.array([estimator.fitted_to(part).predict([text])[0] for part in parts])


def _part(pool: RatedPool, seed: int) -> RatedPool:
    """Some of the different texts of a pool in canonical order, with all their copies."""
    copies = copies_in_order(pool)
    n = int(copies.max(initial=-1)) + 1
    size = max(1, round(SUBSAMPLE * n))
    drawn = np.random.default_rng(seed).choice(n, size, replace=False)
    return pool.take(np.flatnonzero(np.isin(copies, drawn)))


def _mean(label: str, values: FloatArray, base: Row | None = None) -> Row:
    defined = values[~np.isnan(values)]
    n = len(defined)
    mean = float(defined.mean()) if n else NAN
    sd = float(defined.std(ddof=1)) if n > 1 else NAN
    half = quantile(0.95) * sd / math.sqrt(max(1, n))
    interval: Interval = (mean - half, mean + half) if half == half else UNDEFINED
    coverage = n / len(values) if len(values) else NAN
    return Row(
        label=label,
        score=mean,
        score_interval=interval,
        sd=sd,
        change=NAN if base is None else mean - base.score,
        coverage=coverage,
    )


def _single(label: str, estimator: Estimator, text: str, base: Row) -> Row:
    """A text's estimate, with an interval for people's rating of it."""
    answer = estimator.estimate([text])
    (value,) = answer.values.tolist()
    (low,) = answer.low.tolist()
    (high,) = answer.high.tolist()
    return Row(
        label=label,
        score=value,
        score_interval=(low, high),
        change=value - base.score,
        coverage=float(answer.defined[0]),
        text=text,
    )


def _verdict(
    honest: FloatArray, base: Row, attacked: Row, sampled: Row
) -> tuple[str, bool | None]:
    estimates = honest[~np.isnan(honest)]
    if not len(estimates):
        return "No honest output has an estimate: nothing to compare with.", None
    if attacked.score != attacked.score:
        return "The estimator abstains from what the attacker could build.", False
    beaten = float((estimates < attacked.score).mean())
    stuffed, mean, rest = numbers([attacked.score, base.score, sampled.score])
    rest = "none" if sampled.score != sampled.score else rest
    verdict = (
        f"A stuffed output gets {stuffed}, above {percent_of(beaten)} of the honest "
        f"ones (mean {mean}); from sub-samples {rest}"
    )
    if beaten < 0.9:
        return f"{verdict}: it is not fooled.", False
    if (
        sampled.score == sampled.score
        and float((estimates < sampled.score).mean()) >= 0.9
    ):
        return f"{verdict}: it is fooled, and sub-sampling does not help.", True
    return (
        f"{verdict}: it is fooled by who knows all ratings, and less without them.",
        True,
    )
