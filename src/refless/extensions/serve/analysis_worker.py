"""A look at the ratings, as a process: `python -m refless.extensions.serve.analysis_worker`.

Reads what it is told as a line of JSON from standard input, the ratings from the database, and
writes what it found as JSON. What takes long is never computed in the process that answers people;
standard input stays open as long as that process lives, and when it closes, the look ends.
"""

import math
import os
import random
import sys
import threading
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

import msgspec
import numpy as np

from refless.commands.compare.run import compare, compare_choices
from refless.commands.estimating import chosen, cross_validated
from refless.commands.fit.run import fit
from refless.commands.judge.rater_agreement import rater_agreement
from refless.commands.next.run import next as choose
from refless.data.records import RatedPool, picked
from refless.data.tables import Reading, read_pool
from refless.evaluation.comparing import Standing
from refless.evaluation.groups import drawn_rows
from refless.evaluation.jackknife import measured, replicates, split
from refless.evaluation.outlook import outlook
from refless.extensions.serve.careless import FEWEST as JUDGED
from refless.extensions.serve.careless import FirstAnswer as Given
from refless.extensions.serve.careless import answers_of, careless
from refless.extensions.serve.database import engine_of
from refless.extensions.serve.exports import (
    BEFORE,
    COMPARED,
    OUTPUTS,
    Snapshot,
    ratings_of,
    repeats_of,
    snapshot,
)
from refless.extensions.serve.project import UNTIL
from refless.extensions.serve.result import Ask
from refless.registry.arrays import codes
from refless.registry.errors import RefLessError
from refless.registry.plural import counted
from refless.registry.signature import Signature
from refless.report.export import as_jsonl
from refless.stats.answers import UNKNOWN, Answer
from refless.stats.confidence_sequence import always_interval
from refless.stats.forecast import Forecast, Progress, Today
from refless.stats.intervals import Interval

WITHOUT = "careful.jsonl"  # what is compared without careless raters
LIMIT = 1_000  # rated texts that are held out
AHEAD = 60  # items that are chosen ahead of their being rated
FEWEST = 20  # ratings before anything is estimated
Row = dict[str, Any]
Look = dict[str, Any]  # what came of one
Rows = list[Row]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The input of one look at one dimension; rows are as exports have them.

    Attributes:
        ask, dimension: what raters are asked; dimension is "" if it is the only one.
        items: how many there are; scale, seed: of the task; estimator: its specification.
        ratings: those that count; first: before anybody decided; audit: of items drawn at random.
        rated: those of before; outputs: all that are to be rated.
        answers: first answers, for carelessness; gold: right values by item.
        repeats: pairs of ratings of one item by one rater.
        revoked: raters who have no link now.
        until: what ends the round; model: a file for the fitted estimator, if any.
        folder: of the files that are compared; compared: the name of the ratings there.
    """

    ask: Ask
    dimension: str = ""
    items: int
    scale: tuple[float, float]
    seed: int
    estimator: str
    ratings: Rows
    first: Rows
    audit: Rows
    rated: Rows
    outputs: Rows
    answers: Sequence[Given]
    gold: Mapping[int, float]
    repeats: Sequence[tuple[float, float]]
    revoked: Collection[str]
    until: str
    model: str
    folder: str
    compared: str = COMPARED


def looked(job: Job) -> Look:
    """The results of all analyses of the ratings so far."""
    result: Look = {"n": len(job.ratings), "said": [], "systems": [], "active": []}
    parts = RATING if job.ask == "rating" else CHOICE
    for part in parts:
        try:
            part(job, result)
        except RefLessError as fault:
            result["said"].append(str(fault))
    return result


def _held_out(job: Job, result: Look) -> None:
    """Agreement of held-out estimates with people, and of raters; older ratings only teach."""
    if len(job.ratings) < FEWEST:
        result["said"].append(f"Estimates are looked at from {FEWEST} ratings on.")
        return
    pool, labels = _pooled(job)
    parts = split(pool, codes(labels), job.seed)
    estimator = chosen(job.estimator, seed=job.seed)
    _, method = cross_validated(estimator, pool, parts.groups, parts.blocks)
    new = np.isin(pool.ids, [row["id"] for row in job.ratings])
    agreement = replicates(method, parts).on(new)
    result["spearman"], result["spearman_interval"] = measured("spearman", agreement)
    agreed = rater_agreement(_pool(job, job.first))
    alpha = agreed.alpha_ordinal
    result["alpha"] = alpha.value
    result["alpha_interval"] = alpha.interval
    low, high = alpha.interval
    if not math.isnan(alpha.value):
        about = (
            f"alpha {alpha.value:.2f} (ordinal), 95 % interval [{low:.2f}, {high:.2f}]"
        )
        of = f"{counted(agreed.n_annotators, 'rater')}, {counted(agreed.n, 'text')} rated twice"
        result["said"].append(
            f"Agreement of raters: Krippendorff's {about} ({of} or more often)."
        )


def _pooled(job: Job) -> tuple[RatedPool, Sequence[str]]:
    """The rated texts, those of before too, and what is held out together; of many a part."""
    before = job.rated
    if len(before) > LIMIT:
        before = random.Random(job.seed).sample(before, LIMIT)  # noqa: S311 - a sample
    pool = _pool(job, [*before, *job.ratings])
    by_source = len(set(pool.sources)) > FEWEST // 4 and all(pool.sources)
    labels = pool.sources if by_source else pool.ids
    rows = drawn_rows(pool, labels, LIMIT, job.seed)
    return pool.take(rows), picked(labels, rows)


def _pool(job: Job, rows: Rows) -> RatedPool:
    return read_pool(rows, Reading(scale=job.scale), in_order=True).pool


def _repeated(job: Job, result: Look) -> None:
    """Agreement of raters with themselves."""
    pairs = job.repeats
    result["repeats"] = len(job.repeats)
    result["same"] = sum(a == b for a, b in pairs) / len(pairs) if pairs else math.nan


def _compared(job: Job, result: Look) -> None:
    """The systems, by the ratings of items drawn at random."""
    systems = {row.get("system") for row in job.outputs}
    if len(systems) < 2 or None in systems or not job.audit:
        return
    compared = _by_command(job, looks="any")
    pairs = compared.comparison.pairs
    standings = compared.comparison.standings
    values = []
    reach = job.scale[1] - job.scale[0]  # how far ratings can lie apart
    for couple in pairs:
        always = couple.difference
        complete = couple.method.startswith("ratings")
        answer = replace(always, wide=1.0)
        certain = answer if complete else UNKNOWN
        ends = _always(certain, couple.rated, len(pairs), reach)
        row = {
            "first": couple.first,
            "second": couple.second,
            "difference": answer.value,
        }
        values.append({**row, "always": ends})
        result["systems"].append(
            {**row, "interval": answer.interval, "always": always.interval}
        )
        today = couple.today(these=False) if complete else None
        missing = more_to_settle(answer.value, today, len(pairs), reach)
        result["said"].append(_settled(couple.first, couple.second, ends, missing, job))
    if job.until.startswith("every"):
        values = [_mean(system, len(standings), reach) for system in standings]
    result["certificate"] = certificate_of(job, values, compared.signature)


def _mean(system: Standing, questions: int, reach: float) -> Row:
    """A system's mean with its interval for any number of looks."""
    n = system.rated if system.method.startswith("ratings") else 0
    mean = system.mean
    ends = _always(mean, n, questions, reach)
    return {"system": system.name, "mean": mean.value, "always": ends}


def _always(answer: Answer, n: int, questions: int, reach: float = 0.0) -> Interval:
    return always_interval(
        answer.value, answer.error, n, answer.freedom, questions, reach
    )


def certificate_of(job: Job, values: Rows, signature: Signature) -> Row | None:
    """The certificate that ends a round: joint intervals for any number of looks; or None.

    At least two raters of so many ratings that careless ones would be named stand for it.
    """
    goal = UNTIL.fullmatch(job.until)
    if goal is None or not values:
        return None
    low, high = np.array([value["always"] for value in values]).T
    if not (high - low <= 2 * float(goal[2])).all():
        return None
    counts = Counter(row["annotator"] for row in job.audit)
    raters = sorted(name for name, count in counts.items() if count >= JUDGED)
    if len(raters) < 2:
        return None
    rows = [dict(value) for value in values]
    for row in rows:
        row.pop("interval", None)
    return {
        "ratings": len(job.audit),
        "raters": raters,
        "known": rows,
        "signature": str(signature),
    }


def _careless(job: Job, result: Look) -> None:
    """Raters who seem careless; without them, and those who were revoked, the round may end."""
    reach = job.scale[1] - job.scale[0] if job.ask == "rating" else 1.0
    named = careless(job.answers, job.gold, reach)
    for rater, reasons in named.items():
        result["said"].append(f"{rater} may be careless: {'; '.join(reasons)}.")
    left_out = {row["annotator"] for row in job.audit} & {*named, *job.revoked}
    if not left_out or not result["systems"]:
        return
    careful = [row for row in job.audit if row["annotator"] not in left_out]
    Path(job.folder, WITHOUT).write_text(as_jsonl(careful), encoding="utf-8")
    reduced: Look = {"said": [], "systems": []}
    if careful:
        compared = _compared if job.ask == "rating" else _preferred
        compared(replace(job, audit=careful, compared=WITHOUT), reduced)
    result["certificate"] = reduced.get("certificate")
    without = {
        (pair["first"], pair["second"]): pair["difference"]
        for pair in reduced["systems"]
    }
    for pair in result["systems"]:
        couple = (pair["first"], pair["second"])
        if couple in without:
            about = f"{' and '.join(couple)}, without {', '.join(sorted(left_out))}"
            values = f"{without[couple]:.2f} instead of {pair['difference']:.2f}"
            result["said"].append(f"{about}: {values}.")


def _by_command(job: Job, **options: Any) -> Any:  # noqa: ANN401 - a result
    """The result of the command on the owner's page, from the files on that page."""
    folder = Path(job.folder)
    choices = job.ask != "rating"
    if job.dimension:
        options["dimension"] = job.dimension
    if choices:
        return compare_choices(str(folder / job.compared), **options)
    before = [str(folder / BEFORE)] if job.rated else []
    return compare(
        str(folder / OUTPUTS), rated=[*before, str(folder / job.compared)], seed=job.seed,
        estimator=job.estimator, scale=job.scale, **options,
    )  # fmt: skip


def _settled(
    first: str, second: str, always: Interval, missing: int | None, job: Job
) -> str:
    """Whether enough is rated, or how much more it takes; true however often one looks."""
    low, high = always
    if low > 0 or high < 0:
        higher, lower = (second, first) if low > 0 else (first, second)
        return f"{higher} is rated higher than {lower}: for this question, enough is rated."
    if missing is None:
        return f"{first} and {second}: rating all items may not settle it."
    items = counted(missing, "more rated item")
    time = ""
    if job.answers:
        seconds = median(answer.seconds for answer in job.answers)
        time = f" ({counted(math.ceil(missing * seconds / 60), 'minute')} of rating)"
    return f"{first} and {second}: about {items}{time} should settle it, four times out of five."


def more_to_settle(
    value: float, today: Today | None, questions: int, reach: float = 0.0
) -> int | None:
    """Items to rate that should show a difference at any look, four times out of five.

    As differences usually are; None where all items would not do, or nothing is known.

    Args:
        value: the difference as it looks; today: how exactly it is told, and how much is rated.
        questions, reach: as for `always_interval`.
    """
    if today is None:
        return None

    def half_width(then: Forecast) -> float:
        n = int(then.units)
        return always_interval(0.0, then.error, n, then.freedom, questions, reach)[1]

    needed = outlook(value, today, half_width).needed
    return None if needed is None else max(math.ceil(needed - today.progress.done), 1)


def _chosen(job: Job, result: Look) -> None:
    """The items that would teach the estimator most; writes the fitted estimator."""
    if len(job.ratings) < FEWEST:
        return
    rated = {row["id"] for row in job.ratings}
    rows = [*job.rated, *job.ratings]
    scale = job.scale
    if job.model:
        fit(rows, to=job.model, estimator=job.estimator, scale=scale, seed=job.seed)
    unrated = [row for row in job.outputs if row["id"] not in rated]
    if unrated:
        advice = choose(
            unrated, rows, goal="learn", n=AHEAD, estimator=job.estimator, scale=scale,
            seed=job.seed,
        )  # fmt: skip
        place = {row["id"]: i for i, row in enumerate(job.outputs)}  # one an item
        ids = advice.outputs.ids
        result["active"] = [place[ids[i]] for i in advice.choice.rows.tolist()]


def _preferred(job: Job, result: Look) -> None:
    """The shares of one system's texts that were preferred to another's; a tie is half of both."""
    systems = {row["chosen_system"] for row in job.audit}
    systems |= {row["rejected_system"] for row in job.audit}
    if len(systems) < 2:
        return
    compared = _by_command(job)
    for win in compared.wins:
        answer, n = preference(job.audit, win.first, win.second)
        ends = _always(answer, n, len(compared.wins))
        low, high = np.clip(ends, 0, 1).tolist()
        rate = win.by_item
        result["systems"].append({
            "first": win.first, "second": win.second, "difference": rate.rate,
            "interval": rate.interval, "always": (low, high),
        })  # fmt: skip
        progress = Progress(rated=(n,), every=(max(job.items, n),))
        today = Today(progress=progress, error=answer.error, freedom=answer.freedom)
        missing = more_to_settle(answer.value - 0.5, today, len(compared.wins))
        ends = (low - 0.5, high - 0.5)
        result["said"].append(_settled(win.first, win.second, ends, missing, job))
    result["certificate"] = certificate_of(job, result["systems"], compared.signature)


def preference(choices: Rows, first: str, second: str) -> tuple[Answer, int]:
    """The share of items for which the second system is preferred, and their number n.

    The share includes two made-up choices, one each way: without them, a few choices that agree
    would seem exact.
    """
    items: dict[str, list[float]] = {}
    for row in choices:
        if {row["chosen_system"], row["rejected_system"]} == {first, second}:
            share = 0.5 if row["tie"] else float(row["chosen_system"] == second)
            items.setdefault(row.get("item") or row["id"], []).append(share)
    n = len(items)
    shares = [*map(fmean, items.values()), 1.0, 0.0]
    error = stdev(shares) / math.sqrt(len(shares))
    return Answer(value=fmean(shares), error=error, freedom=max(1, n - 1)), n


Part = Callable[[Job, dict[str, Any]], None]
RATING: tuple[Part, ...] = (_held_out, _repeated, _compared, _careless, _chosen)
CHOICE: tuple[Part, ...] = (_repeated, _preferred, _careless)


def job_of(settings: Mapping[str, Any], now: Snapshot, dimension: str) -> Job:
    """The job of one look, from its settings and the ratings of one dimension."""

    def rows_about(rows: Rows) -> Rows:
        return [row for row in rows if row.get("dimension", dimension) == dimension]

    gold = {}
    for item in settings["gold"]:
        if item["id"] in now.names and item["dimension"] in ("", dimension):
            number = now.names.index(item["id"]) + 1
            gold[number] = item["answer"]
    outputs = [*chain(*now.texts)] if now.ask == "rating" else []
    ratings = rows_about(ratings_of(now))
    first = rows_about(ratings_of(now, first=True))
    audit = rows_about(ratings_of(now, audit=True))
    return Job(
        ask=now.ask,
        dimension=dimension if len(now.dimensions) > 1 else "",
        items=len(now.texts),
        scale=now.scales.get(dimension, now.scale),
        seed=now.seed,
        estimator=settings["estimator"],
        ratings=ratings,
        first=first,
        audit=audit,
        rated=rows_about(settings["rated"]),
        outputs=outputs,
        answers=answers_of(now.current, dimension, now.ask),
        gold=gold,
        repeats=repeats_of(now, dimension),
        revoked=settings["revoked"],
        until=settings["until"],
        model=settings["model"] if dimension == now.dimensions[0] else "",
        folder=settings["folder"],
    )


def _end_with_parent() -> None:
    """Waits until standard input closes, which it does when the parent dies, and ends the look."""
    while os.read(0, 1024):
        pass
    os._exit(1)  # not an exception: the look is in another thread


def main() -> None:
    """Looks once at each dimension; people's requests go first."""
    if hasattr(os, "nice"):
        os.nice(10)
    settings = msgspec.json.decode(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    sys.stdout.buffer.write(msgspec.json.encode(results_of(settings)))


def results_of(settings: Mapping[str, Any]) -> dict[str, Look]:
    """A look at each dimension; the ratings that are compared are written to their file."""
    engine = engine_of(settings["url"])
    with engine.connect() as db:
        now = snapshot(db)
    engine.dispose()
    rows = as_jsonl(ratings_of(now, audit=True))
    Path(settings["folder"], COMPARED).write_text(rows, encoding="utf-8")
    return {name: looked(job_of(settings, now, name)) for name in now.dimensions}


if __name__ == "__main__":
    main()
