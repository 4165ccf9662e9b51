"""An output stuffed with n-grams of highly rated texts, and what sub-sampling does against it.

Section 6 of the BLEU Neighbors paper: who knows what an estimator holds for good can build outputs
for it. The attacker here asks the estimator itself, as often as it takes.
"""

import math

import numpy as np

from refless.data.human import canonical_order
from refless.data.records import Outputs, RatedPool
from refless.estimators import Estimator
from refless.extensions.papers.stress.judging import Estimated
from refless.extensions.papers.stress.plan import SUBSAMPLE, TOP, Plan
from refless.extensions.papers.stress.rows import NAN, Probe, Row, changes, percent_of
from refless.registry.arrays import FloatArray
from refless.registry.errors import UsageError
from refless.stats.intervals import UNDEFINED, Interval, quantile

LONGEST = 5  # words of a fragment
FEWEST = 20  # rated texts that an attack needs


def fragments_of(pool: RatedPool, plan: Plan, seed: int) -> list[str]:
    """Pieces of two to five words of the highest-rated texts, drawn if there are too many."""
    size = max(1, round(TOP * len(pool)))
    order = sorted(range(len(pool)), key=lambda i: (-pool.human[i], pool.texts[i]))
    pieces: set[str] = set()
    for i in order[:size]:
        words = pool.texts[i].split()
        for n in range(2, LONGEST + 1):
            pieces.update(" ".join(words[k : k + n]) for k in range(len(words) - n + 1))
    found = sorted(pieces) or sorted({pool.texts[i] for i in order[:size]})
    if len(found) > plan.fragments:
        rng = np.random.default_rng(seed)
        found = sorted(rng.choice(np.array(found, dtype=object), plan.fragments, replace=False))
    return found


def stuffed(estimator: Estimator, pool: RatedPool, plan: Plan, seed: int) -> str:
    """The text that a greedy attacker strings together from pieces of the pool.

    Each step adds the piece with which the estimate is highest, or, where there is none yet, the
    most rated texts are similar; it ends when no piece raises the estimate.

    Args:
        estimator: fitted to what the attacker knows; it is asked, not looked into.
        pool: what the attacker knows.
    """
    pieces = fragments_of(pool, plan, seed)
    text, best = "", (-np.inf, -1)
    for _ in range(plan.steps):
        tries = [f"{text} {piece}".strip() for piece in pieces]
        answer = estimator.estimate(tries)
        values = np.where(np.isnan(answer.values), -np.inf, answer.values)
        ranks = list(zip(np.round(values, 12).tolist(), answer.support.tolist(), strict=True))
        place = max(range(len(tries)), key=lambda i: (ranks[i], -i))
        if (ranks[place][0], ranks[place][1]) <= best:
            break
        text, best = tries[place], ranks[place]
    return text


def stuffing_probe(metric: Estimated, pool: RatedPool, outputs: Outputs, plan: Plan) -> Probe:
    """What a stuffed output gets, from the estimator and from parts of the pool.

    Args:
        metric: an estimator with its parameters; it is fitted anew.
        pool: the rated texts.
        outputs: honest outputs, for comparison.

    Raises:
        UsageError: too few rated texts to plan.
    """
    if len(pool) < FEWEST:
        raise UsageError(f"the attack needs {FEWEST} rated texts, not {len(pool)}")
    estimator, pool = _without_sources(metric.estimator), pool.take(canonical_order(pool))
    whole = estimator.fitted_to(pool)
    honest = whole.predict(outputs)
    rated = whole.predict(pool.texts)
    knows_all = stuffed(whole, pool, plan, plan.seed)
    copy = _highest(rated, pool)
    rows = [
        _mean("honest outputs", honest),
        _one("best rated text, copied", whole, copy),
        _one("stuffed, all ratings known", whole, knows_all),
        _mean(
            f"- judged by {percent_of(SUBSAMPLE)} of the ratings",
            _sampled(estimator, pool, knows_all, plan),
        ),
        *_halves(estimator, whole, pool, plan),
    ]
    rows = [rows[0], *changes(rows[0], rows[1:])]
    verdict, fooled = _verdict(honest, rows)
    return Probe(
        name="stuffing",
        about="An output of pieces of highly rated texts, strung together; no sources.",
        rows=tuple(rows),
        verdict=verdict,
        fooled=fooled,
    )


def _without_sources(estimator: Estimator) -> Estimator:
    """The estimator, which reads no sources and systems: a stuffed output has none."""
    known = estimator.get_params()
    unread = {name: False for name in ("use_source", "use_system") if name in known}
    return estimator.clone().set_params(**unread)


def _highest(rated: FloatArray, pool: RatedPool) -> str:
    values = np.where(np.isnan(rated), -np.inf, np.round(rated, 12))
    return pool.texts[int(np.argmax(values))]


def _sampled(estimator: Estimator, pool: RatedPool, text: str, plan: Plan) -> FloatArray:
    """[draws] the estimate of a text by random sub-samples of the pool."""
    found = []
    for draw in range(plan.draws):
        one = estimator.clone().set_params(subsample=SUBSAMPLE, seed=plan.seed + draw)
        found.append(one.fit(pool).predict([text])[0])
    return np.array(found)


def _halves(estimator: Estimator, whole: Estimator, pool: RatedPool, plan: Plan) -> list[Row]:
    """Attackers who see one half: by that half, by the other half, by all."""
    labels = ("stuffed, half of them known", "- judged by the other half", "- judged by all")
    by: dict[str, list[float]] = {label: [] for label in labels}
    texts = []
    for draw in range(plan.halves):
        rows = np.random.default_rng([plan.seed, draw]).permutation(len(pool))
        mine = pool.take(np.sort(rows[: len(pool) // 2]))
        other = pool.take(np.sort(rows[len(pool) // 2 :]))
        seen = estimator.fitted_to(mine)
        text = stuffed(seen, mine, plan, plan.seed + draw)
        texts.append(text)
        by[labels[0]].append(float(seen.predict([text])[0]))
        unseen = estimator.fitted_to(other)
        by[labels[1]].append(float(unseen.predict([text])[0]))
        by[labels[2]].append(float(whole.predict([text])[0]))
    return [
        _mean(label, np.array(values), tuple(texts) if not place else ())
        for place, (label, values) in enumerate(by.items())
    ]


def _mean(label: str, values: FloatArray, texts: tuple[str, ...] = ()) -> Row:
    known = values[~np.isnan(values)]
    mean = float(known.mean()) if len(known) else NAN
    sd = float(known.std(ddof=1)) if len(known) > 1 else NAN
    half = quantile(0.95) * sd / math.sqrt(max(1, len(known)))
    interval: Interval = (mean - half, mean + half) if half == half else UNDEFINED
    coverage = len(known) / len(values) if len(values) else NAN
    return Row(
        label=label, score=mean, score_interval=interval, sd=sd, coverage=coverage, texts=texts
    )


def _one(label: str, estimator: Estimator, text: str) -> Row:
    answer = estimator.estimate([text])
    return Row(
        label=label,
        score=float(answer.values[0]),
        score_interval=(float(answer.low[0]), float(answer.high[0])),
        coverage=float(answer.defined[0]),
        texts=(text,),
        note="interval: for people's rating of this text" if answer.low[0] == answer.low[0] else "",
    )


def _verdict(honest: FloatArray, rows: list[Row]) -> tuple[str, bool | None]:
    known = honest[~np.isnan(honest)]
    attacked, sampled, unseen = rows[2], rows[3], rows[5]
    if not len(known):
        return "No honest output has an estimate: nothing to compare with.", None
    if attacked.score != attacked.score:
        return "The estimator abstains from what the attacker could build.", False
    beaten = float((known < attacked.score).mean())
    said = (
        f"A stuffed output gets {attacked.score:.3f}, above {percent_of(beaten)} of the honest "
        f"ones (mean {rows[0].score:.3f}); from sub-samples {_said(sampled)}; from ratings that "
        f"the attacker has not seen {_said(unseen)}"
    )
    if beaten < 0.9:
        return f"{said}: it is not fooled.", False
    kept = [row.score for row in (sampled, unseen) if row.score == row.score]
    if kept and min(float((known < score).mean()) for score in kept) >= 0.9:
        return f"{said}: it is fooled, and sub-sampling does not help.", True
    return f"{said}: it is fooled by who knows all ratings, and less without them.", True


def _said(row: Row) -> str:
    return "none" if row.score != row.score else f"{row.score:.3f}"
