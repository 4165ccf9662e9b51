"""A look at the ratings, which the process that answers people never computes itself."""

import math
import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Any

import msgspec
import numpy as np

from refless.commands.compare.certificate import (
    CertifiedStudy,
    TakenLook,
    study_of,
)
from refless.commands.compare.claims import Claim, always, always_of_rate
from refless.commands.compare.document import newer_second
from refless.commands.compare.run import compare, compare_choices
from refless.commands.estimating import chosen, cross_validated
from refless.commands.fit.run import fit
from refless.commands.next.run import next as choose
from refless.data.records import RatedPool, picked
from refless.data.tables import Reading, read_pool
from refless.evaluation.groups import drawn_rows
from refless.evaluation.jackknife import measured, replicates, split
from refless.evaluation.outlook import outlook
from refless.evaluation.rater_agreement import rater_agreement
from refless.extensions.serve.careless import FEWEST as JUDGED
from refless.extensions.serve.database import engine_of
from refless.extensions.serve.exports import (
    CERTIFIED,
    COMPARED,
    Snapshot,
    ratings_of,
    snapshot,
)
from refless.extensions.serve.job import Job, Rows, job_of
from refless.extensions.serve.planned import Round, items_answered, looks_due, next_due
from refless.registry.arrays import codes
from refless.registry.errors import RefLessError
from refless.registry.plural import counted
from refless.registry.signature import Signature
from refless.report.export import as_jsonl
from refless.stats.confidence_sequence import always_interval
from refless.stats.forecast import Forecast, Progress, Today
from refless.stats.intervals import Interval

WITHOUT = "careful.jsonl"  # what is compared without careless raters
LIMIT = 1_000  # rated texts that are held out
AHEAD = 60  # items that are chosen ahead of their being rated
FEWEST = 20  # ratings before anything is estimated
Look = dict[str, Any]  # what came of one


def looked(job: Job) -> Look:
    """The results of all analyses of the ratings so far."""
    result: Look = {"n": len(job.first), "said": [], "systems": [], "active": []}
    parts = RATING if job.ask == "rating" else CHOICE
    for part in parts:
        try:
            part(job, result)
        except RefLessError as fault:
            result["said"].append(str(fault))
    return result


def _held_out(job: Job, result: Look) -> None:
    """Agreement of held-out estimates with people, and of raters; older ratings only teach."""
    if len(job.first) < FEWEST:
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
    low, high = alpha.interval
    about = "not known yet"
    if agreed.n > 1 and not math.isnan(alpha.value):
        result["alpha"] = alpha.value
        result["alpha_interval"] = alpha.interval
        about = f"Krippendorff's alpha {alpha.value:.2f} (ordinal)"
        about += "" if math.isnan(low) else f", 95 % interval [{low:.2f}, {high:.2f}]"
    if agreed.n:
        of = f"{counted(agreed.n_annotators, 'rater')}, {counted(agreed.n, 'text')} rated twice"
        result["said"].append(f"Agreement of raters: {about} ({of} or more often).")


def _pooled(job: Job) -> tuple[RatedPool, Sequence[str]]:
    """The rated texts, those of before too, and what is held out together; of many a part."""
    before = job.rated
    if len(before) > LIMIT:
        before = random.Random(job.seed).sample(before, LIMIT)  # noqa: S311 - a sample
    pool = _pool(job, [*before, *job.ratings])
    by_source = len(set(pool.sources)) > FEWEST // 4 and all(pool.sources)
    labels = pool.sources if by_source else pool.texts  # of before, and of now
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
    if job.due:
        _planned(job, result)
        return
    systems = {row.get("system") for row in job.outputs}
    if len(systems) < 2 or None in systems or not job.audit:
        return
    compared = _by_command(job)
    pairs = [*map(newer_second, compared.comparison.pairs)]
    reach = job.scale[1] - job.scale[0]  # how far ratings can lie apart
    for couple in pairs:
        answer = replace(couple.difference, wide=1.0)
        row = _row(couple, answer.value, answer.interval)
        result["systems"].append(row | {"always": couple.difference.interval})
        by_ratings = couple.method.startswith("ratings")
        today = couple.today(these=False) if by_ratings else None
        missing = more_to_settle(answer.value, today, len(pairs), reach)
        ends = always(couple, len(pairs), reach)
        result["said"].append(_settled(couple, ends, missing, job))
    _concluded(job, result, compared)


def _row(pair: Any, value: float, interval: Interval) -> Look:  # noqa: ANN401 - of either question
    """A row of the table of systems."""
    return {
        "first": pair.first,
        "second": pair.second,
        "difference": value,
        "interval": interval,
    }


def _concluded(job: Job, result: Look, compared: Any) -> None:  # noqa: ANN401 - a result
    """The command of a comparison; the round ends if its goal is reached."""
    result["command"] = said_of(compared, job)
    claim = compared.claim(job.until)
    if claim.reached:
        result["certificate"] = certificate_of(job, claim, compared.signature)


def said_of(compared: Any, job: Job) -> str:  # noqa: ANN401 - a result
    """The command line of a comparison, about the files on the owner's page."""
    line: str = compared.command.replace(f"{job.folder}{os.sep}", "")
    return line.replace(" --looks any", "")


def _planned(job: Job, result: Look) -> None:
    """The systems at a planned look, or as they were at the last one."""
    taken = _taken(job, result) if job.now else job.taken
    result["round"] = msgspec.to_builtins(taken)
    result["systems"] = taken.systems
    result["command"] = taken.command
    result["said"] += taken.said
    ahead = next_due(taken, job.due)
    if ahead is None:
        return
    rated = job.rated_items
    result["needed"] = max(ahead - rated, 1) * len(job.systems)
    if not taken.looks:
        items = f"{counted(rated, 'rated item')} drawn at random"
        first = f"The first look at the systems is at {ahead}; there are {items} by now"
        if job.careless:
            every = items_answered(job.ratings, job.systems)
            first += f", {every} with those of raters who may be careless"
        result["said"].append(f"{first}.")


def _taken(job: Job, result: Look) -> Round:
    """The planned looks with the one that is taken now; the round may end by it."""
    compared = _by_command(job)
    claim = compared.claim(job.until)
    behind = {row["system"]: row.get("behind") for row in claim.known if job.race}
    dropped = {
        name: behind[name]
        for name in sorted(job.systems - {*job.kept})
        if behind.get(name)
    }
    rated = job.rated_items
    look = TakenLook(
        items=rated,
        spent=claim.spent,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        dropped=dropped,
    )
    rows = [
        _row(pair, pair.difference.value, pair.difference.interval)
        for pair in map(newer_second, compared.comparison.pairs)
    ]
    taken = Round(
        looks=(*job.taken.looks, look),
        systems=tuple(rows),
        said=claim.lines if job.race else (claim.said, *claim.lines),
        command=said_of(compared, job),
    )
    last = job.exhausted or rated >= job.due[-1]
    reached = len(job.systems - {*dropped}) == 1 if job.race else claim.reached
    if reached or last:
        result["certificate"] = certificate_of(
            job, claim, compared.signature, taken.looks
        )
    return taken


def certificate_of(
    job: Job, claim: Claim, signature: Signature, looks: Sequence[TakenLook] = ()
) -> CertifiedStudy | None:
    """The study whose claim ends a round; or None.

    At least two raters of so many ratings that careless ones would be named stand for it.
    """
    if sum(count >= JUDGED for count in claim.raters.values()) < 2:
        return None
    arguments = replace(job, compared=CERTIFIED).arguments
    study = study_of(arguments, claim, signature)
    return msgspec.structs.replace(study, looks=tuple(looks), kept=tuple(job.kept))


def _careless(job: Job, result: Look) -> None:
    """Raters who seem careless; without them, and those who were revoked, the round may end."""
    for rater, reasons in job.careless.items():
        result["said"].append(
            f"{rater} may be careless: {'; '.join(reasons)}. To leave these ratings out of what a "
            f"command reads, add --where 'annotator!={rater}'."
        )
    left_out = job.left_out
    if not left_out or not result["systems"] or job.due:
        return
    careful = job.careful
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
            title = "they differ by" if job.ask == "rating" else "B is preferred by"
            result["said"].append(f"{about}: {title} {values}.")


def _by_command(job: Job) -> Any:  # noqa: ANN401 - a result
    """The result of the command on the owner's page, from the files on that page."""
    function = compare if job.ask == "rating" else compare_choices
    return job.arguments.compared(Path(job.folder), function)


def _settled(pair: Any, always: Interval, missing: int | None, job: Job) -> str:  # noqa: ANN401
    """Whether enough is rated, or how much more it takes; true however often one looks."""
    low, high = always
    first = pair.first
    second = pair.second
    if low > 0 or high < 0:
        higher, lower = (second, first) if low > 0 else (first, second)
        return f"{higher} is rated higher than {lower}: for this question, enough is rated."
    if missing is None:
        return f"{first} and {second}: all these items may not settle it; others would have to."
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
    questions = len(compared.wins)
    for win in compared.wins:
        rate = win.by_item
        ends = always_of_rate(rate, questions)
        row = _row(win, rate.rate, replace(rate.answer, wide=1.0).interval)
        result["systems"].append(row | {"always": ends})
        n = rate.clusters
        progress = Progress(rated=(n,), every=(max(job.items, n),))
        today = Today(progress=progress, error=rate.error, freedom=rate.freedom)
        missing = more_to_settle(rate.rate - 0.5, today, questions)
        low, high = ends
        beyond = (low - 0.5, high - 0.5)
        result["said"].append(_settled(win, beyond, missing, job))
    _concluded(job, result, compared)


RATING = (_held_out, _repeated, _compared, _careless, _chosen)
CHOICE = (_repeated, _preferred, _careless)


def results_of(settings: Mapping[str, Any]) -> dict[str, Look]:
    """A look at each dimension; the ratings that are compared are written to their file."""
    engine = engine_of(settings["url"])
    with engine.connect() as db:
        now = snapshot(db)
    engine.dispose()
    jobs = {name: job_of(settings, now, name) for name in now.dimensions}
    if settings["looks"]:
        jobs = _with_looks(jobs, settings, now)
    else:
        _write(settings, COMPARED, ratings_of(now, audit=True))
    results = {name: looked(job) for name, job in jobs.items()}
    if all(result.get("certificate") for result in results.values()):
        _write(settings, CERTIFIED, [*chain(*(job.careful for job in jobs.values()))])
    return results


def _with_looks(
    jobs: Mapping[str, Job], settings: Mapping[str, Any], now: Snapshot
) -> dict[str, Job]:
    """The jobs with their planned looks; one is taken for all dimensions at once.

    Careless raters, and those without a link, have no part in it.
    """
    planned = {}
    for name, job in jobs.items():
        unknown = [row for i, row in enumerate(job.outputs, 1) if i not in now.gold]
        planned[name] = replace(
            job,
            audit=job.careful,
            due=looks_due(unknown, settings["looks"]),
            taken=msgspec.convert(settings["rounds"].get(name, {}), Round),
            exhausted=now.drawn == len(now.texts),
        )
    ready = not settings["ended"] and all(job.is_due for job in planned.values())
    if ready:
        _write(settings, COMPARED, [*chain(*(job.audit for job in planned.values()))])
    return {name: replace(job, now=ready) for name, job in planned.items()}


def _write(settings: Mapping[str, Any], name: str, rows: Rows) -> None:
    """Writes a file that the owner can download."""
    Path(settings["folder"], name).write_text(as_jsonl(rows), encoding="utf-8")
