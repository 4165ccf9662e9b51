"""One look at the ratings, in a process of its own: `python -m refless.service.looking`.

Reads a JSON object from standard input, writes one to standard output. What people wait for is
never computed in the process that answers them.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean, stdev
from typing import Any

from refless.application.compare import compare
from refless.application.fit import fit
from refless.application.next import next as choose
from refless.application.validate import validate
from refless.errors import RefLessError
from refless.nouns import counted
from refless.report.validate.drift import drifted
from refless.report.validate.result import ValidateResult
from refless.stats.anytime import always_interval
from refless.studies.drift import Drift, drift
from refless.studies.rater_agreement import rater_agreement
from refless.studies.validation import codes

AT_MOST = 1_000  # rated texts that are held out
AHEAD = 60  # items that are chosen ahead of their being rated
LOOKS = 10  # at raters, of twice as many ratings each
FEWEST = 20  # ratings before anything is estimated
Job = Mapping[str, Any]
Rows = list[dict[str, Any]]


def looked(job: Job) -> dict[str, Any]:
    """What the ratings are worth now.

    Args:
        job: `ask`; `scale`, `estimator`, `seed`; `ratings`, `audit`, `rated`, `outputs`: rows as
            exports have them; `repeats`: pairs of ratings of one item by one rater; `odd`: what the
            look before said of odd raters; `model`: a folder for the fitted estimator.
    """
    found: dict[str, Any] = {"n": len(job["ratings"]), "said": [], "systems": [], "active": []}
    parts = RATING if job["ask"] == "rating" else CHOICE
    for part in parts:
        try:
            part(job, found)
        except RefLessError as fault:
            found["said"].append(str(fault))
    return found


def _held_out(job: Job, found: dict[str, Any]) -> None:
    """How far held-out estimates agree with people, and how far people do."""
    rows = [*job["rated"], *job["ratings"]]
    if len(job["ratings"]) < FEWEST:
        found["said"].append(f"Estimates are looked at from {FEWEST} ratings on.")
        return
    sources = {row.get("source") for row in rows}
    group = "source" if len(sources) > FEWEST // 4 and None not in sources else "id"
    result: Any = validate(  # of ratings, never of pairs
        rows, estimator=job["estimator"], group=group, at_most=AT_MOST, scale=tuple(job["scale"]),
        seed=job["seed"],
    )  # fmt: skip
    one = result.to_dict()["estimator"]
    found["spearman"] = one["spearman"]
    found["spearman_interval"] = one["spearman_interval"]
    found["coverage"] = one["coverage"]
    pool = result.validation.pool
    found["odd"] = _odd(job, result)
    found["said"] += found["odd"]["said"]
    agreed = rater_agreement(pool, resamples=200)
    found["alpha"] = agreed.alpha_ordinal
    found["alpha_interval"] = agreed.alpha_ordinal_interval
    found["alpha_n"] = agreed.n


def _odd(job: Job, result: ValidateResult) -> dict[str, Any]:
    """Raters who differ from the others, and drifts: asked at each doubling of the ratings.

    p-values are corrected for that many looks, so that alike raters are seldom called odd at any.
    """
    before, n = job["odd"], len(job["ratings"])
    if before and n < 2 * before["n"]:
        return dict(before)
    pool, labels = result.validation.pool, result.how.labels
    told = drift(pool, result.validation.estimates.values, codes(labels))
    return {"n": n, "said": drifted(corrected(told), pool.scale)}


def corrected(found: Drift) -> Drift:
    """The same with p-values for LOOKS looks (Bonferroni)."""
    names = ("level_p", "follows_p", "drift_p")
    raters = tuple(
        replace(one, **{name: LOOKS * getattr(one, name) for name in names}) for one in found.raters
    )
    trends = {
        name: one and replace(one, p=LOOKS * one.p)
        for name, one in (("over_time", found.over_time), ("errors", found.errors))
    }
    return replace(found, raters=raters, **trends)


def _repeated(job: Job, found: dict[str, Any]) -> None:
    """How far raters agree with themselves."""
    pairs = job["repeats"]
    found["repeats"] = len(pairs)
    found["same"] = sum(a == b for a, b in pairs) / len(pairs) if pairs else math.nan


def _compared(job: Job, found: dict[str, Any]) -> None:
    """The systems, by the ratings of items drawn by lot."""
    systems = {row.get("system") for row in job["outputs"]}
    if len(systems) < 2 or None in systems or not job["audit"]:
        return
    ratings: dict[str, Rows] = {}
    for row in job["audit"]:
        ratings.setdefault(row["id"], []).append(row)
    rows = [
        {**row, "annotator": one.get("annotator"), "rating": one.get("rating")}
        for row in job["outputs"]
        for one in ratings.get(row["id"], [{}])
    ]
    result: Any = compare(
        rows, rated=job["rated"] or None, estimator=job["estimator"], selection="random",
        scale=tuple(job["scale"]), seed=job["seed"],
    )  # fmt: skip
    pairs = result.comparison.pairs
    for pair in pairs:
        n, it = pair.both_rated + pair.one_rated, pair.answer
        always = always_interval(it.value, it.error, n, it.freedom, len(pairs))
        known = pair.method.startswith("ratings")
        found["systems"].append(
            {
                "first": pair.first,
                "second": pair.second,
                "difference": pair.answer.value,
                "interval": pair.answer.interval,
                "always": always if known else (math.nan, math.nan),
            }
        )
        found["said"].append(_settled(pair.first, pair.second, always, n, pair.needed, pair.items))


def _settled(
    first: str, second: str, always: Sequence[float], n: int, needed: int | None, items: int
) -> str:
    """Whether enough is rated, or how much more it takes; true however often one looks."""
    if always[0] > 0 or always[1] < 0:
        higher, lower = (second, first) if always[0] > 0 else (first, second)
        return f"{higher} is rated higher than {lower}: for this question, enough is rated."
    if n < items and needed is not None and needed > n:
        more = counted(needed - n, "more rated item")
        return f"{first} and {second}: about {more} should settle it, if they differ as it looks."
    if n < items and needed is None:
        return f"{first} and {second}: all {items:,} items may not settle it, they look so alike."
    return f"{first} and {second}: not settled yet."


def _chosen(job: Job, found: dict[str, Any]) -> None:
    """Which items would teach the estimator most, and the fitted estimator."""
    if len(job["ratings"]) < FEWEST:
        return
    rated = {row["id"] for row in job["ratings"]}
    rows, scale = [*job["rated"], *job["ratings"]], tuple(job["scale"])
    if job["model"]:
        fit(rows, out_dir=job["model"], estimator=job["estimator"], scale=scale, seed=job["seed"])
    left = [row for row in job["outputs"] if row["id"] not in rated]
    if left:
        result = choose(
            left, rows, goal="learn", n=AHEAD, estimator=job["estimator"], scale=scale,
            seed=job["seed"],
        )  # fmt: skip
        found["active"] = [result.outputs.ids[i] for i in result.choice.rows.tolist()]


def _preferred(job: Job, found: dict[str, Any]) -> None:
    """How often one system's texts were preferred to another's; a tie is half of both."""
    wins: dict[tuple[str, str], dict[str, list[float]]] = {}
    for row in job["audit"]:
        best, others = row["chosen_system"], row["rejected_system"]
        for other in others if isinstance(others, list) else [others]:
            first, second = sorted((best, other))
            value = 0.0 if row["tie"] else 1.0 if best == second else -1.0
            if first != second:
                wins.setdefault((first, second), {}).setdefault(row["id"], []).append(value)
    for (first, second), items in sorted(wins.items()):
        values = [fmean(one) for one in items.values()]
        n = len(values)
        mean, error = fmean(values), stdev(values) / math.sqrt(n) if n > 1 else math.nan
        once = (mean - 1.96 * error, mean + 1.96 * error)
        always = always_interval(mean, error, n, max(1, n - 1), len(wins))
        found["systems"].append(
            {"first": first, "second": second, "difference": mean, "interval": once,
             "always": always}
        )  # fmt: skip
        found["said"].append(_settled(first, second, always, n, n, n + 1))


Part = Callable[[Job, dict[str, Any]], None]
RATING: tuple[Part, ...] = (_held_out, _repeated, _compared, _chosen)
CHOICE: tuple[Part, ...] = (_repeated, _preferred)


def main() -> None:
    """Looks once."""
    import msgspec

    found = looked(json.load(sys.stdin))
    sys.stdout.buffer.write(msgspec.json.encode(found))


if __name__ == "__main__":
    main()
