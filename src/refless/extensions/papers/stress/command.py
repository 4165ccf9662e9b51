"""stress: can this metric, estimator or scorer be fooled?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, TypeVar

from refless.commands.estimating import DEFAULT, chosen, fitted, metrics_of
from refless.commands.parameters import (
    About,
    Argument,
    Chosen,
    Files,
    Metrics,
    Names,
    Rare,
    RatedRows,
    Resamples,
    Rows,
    Seed,
    Several,
    Threads,
    command,
    names_in,
)
from refless.commands.rows import check_standard_input, outputs_of, rated_of
from refless.commands.warnings import progress
from refless.data.records import Outputs, RatedPool
from refless.estimators import Estimator
from refless.extensions.papers.stress.judging import Estimated, Scorer
from refless.extensions.papers.stress.material import material_of
from refless.extensions.papers.stress.plan import PROBES, Plan
from refless.extensions.papers.stress.result import StressResult
from refless.extensions.papers.stress.rows import Stressed
from refless.extensions.papers.stress.run import stress as stressed
from refless.metrics.references import Metric
from refless.metrics.references.protocol import check_references
from refless.registry.errors import UsageError

T = TypeVar("T")
Probing = Annotated[T, About(panel="Probes")]


@dataclass(frozen=True, slots=True, kw_only=True)
class StressRows(RatedRows):
    """The same with references.

    Attributes:
        columns: Column that plays a role, if its name does not say so: rating=score. Repeatable;
            roles: text, id, item, source, system, task, rating (several, or a pattern 'rater*'),
            annotator, time, dimension, reference (several).
    """

    roles: ClassVar[tuple[str, ...]] = (*RatedRows.roles, "reference")


@command
def stress(
    outputs: Argument,
    *,
    metrics: Metrics = None,
    scorer: Annotated[Several, About(metavar="'COMMAND'")] = None,
    rated: Files = None,
    estimator: Chosen = DEFAULT,
    train: Probing[Files] = None,
    probe: Probing[Several] = None,
    words: Probing[Annotated[str | None, About(metavar="WORD,...")]] = None,
    thresholds: Probing[str] = "30,20,10,5,1",
    swap: Probing[Annotated[Several, About(metavar="WORD=WORD")]] = None,
    perturb: Probing[str] = "auto",
    shortlist: Rare[Probing[int]] = 25,
    largest_set: Probing[int] = 3,
    timeout: Rare[Probing[float]] = 600.0,
    system: Probing[str | None] = None,
    threads: Threads = None,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    rows: StressRows,
) -> StressResult:
    """Find out whether a metric, an estimator or a scorer can be fooled.

    Compares references with systems, replaces frequent, rare and random words, searches the one
    training sentence that scores highest for everything, changes outputs in ways whose right
    direction is known, and stuffs an output with what was rated highly. A verdict for each.

    Args:
        outputs: Files of outputs, with references for metrics; - is stdin.
        scorer: A command that reads JSONL (text, references, source) on stdin and writes a score a
            line. Repeatable.
        rated: Files of rated texts: the estimator is put to the test.
        train: Files of a training set's texts: for the search of one sentence, and to know which
            words are rare.
        probe: references, frequent, rare, sentence, direction, useless, stuffing. Repeatable;
            without it: all that can be run.
        words: Frequent words to replace: man,a. Without it: the five most frequent.
        thresholds: Words that occur less often in the training set are replaced.
        swap: Replace one word by another: woman=man. Repeatable.
        perturb: Whose words are replaced: references (the first against the others, as published),
            outputs, or auto: references where every item has two.
        shortlist: Sentences that a metric without a fast way scores, the highest by BLEU.
        largest_set: Also search sets of up to so many sentences; 1 for none.
        timeout: Seconds that one run of --scorer may take.
        system: Of several systems, the one whose outputs are changed. Without it: the first in the
            alphabet.
    """
    check_standard_input(outputs, rated, train)
    if not (metrics or scorer or rated is not None):
        raise UsageError("say what to test: -m METRIC, --scorer 'COMMAND' or --rated POOL")
    plan = Plan(
        probes=names_in(probe) or PROBES,
        seed=seed,
        resamples=resamples,
        words=_words(words),
        thresholds=_numbers(thresholds),
        swaps=_swaps(names_in(swap)),
        base=perturb,
        shortlist=shortlist,
        largest_set=largest_set,
    )
    tested = _tested(metrics, names_in(scorer), timeout)
    found = outputs_of(outputs, rows)
    if train is not None:
        plan = replace(plan, train=outputs_of(train, rows, reference=()).texts)
    pool: RatedPool | None = None
    if rated is not None:
        label = estimator if isinstance(estimator, str) else type(estimator).__name__
        tested[label], pool = _estimated(rated, rows, chosen(estimator, threads, seed))
    return _result(tested, found, plan, pool, system)


def _words(text: str | None) -> tuple[str, ...] | None:
    if text is None:
        return None
    names = tuple(dict.fromkeys(word.strip().lower() for word in text.split(",") if word.strip()))
    if not names:
        raise UsageError("--words needs at least one word")
    return names


def _numbers(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) for part in parts):
        raise UsageError(f"--thresholds must look like 30,20,10, got '{text}'")
    return tuple(sorted({int(part) for part in parts}, reverse=True))


def _swaps(pairs: Sequence[str]) -> Mapping[str, str]:
    found = {}
    for pair in pairs:
        old, equals, new = (part.strip() for part in pair.partition("="))
        if not (old and equals and new):
            raise UsageError(f"--swap must look like woman=man, got '{pair}'")
        found[old.lower()] = new
    return found


def _tested(metrics: Names, scorers: Sequence[str], timeout: float) -> dict[str, Metric]:
    """The metrics and scorers by what the user called them."""
    tested = metrics_of(metrics)
    for line in scorers:
        if line in tested:
            raise UsageError(f"--scorer '{line}' is given twice")
        tested[line] = Scorer(command=line, timeout=timeout)
    return tested


def _estimated(rated: Rows, rows: RatedRows, estimator: Estimator) -> tuple[Metric, RatedPool]:
    """The estimator as a metric, and its rated texts."""
    pool, _ = rated_of(rated, rows)
    return Estimated(estimator=fitted(estimator, pool)), pool


def _result(
    tested: Mapping[str, Metric],
    outputs: Outputs,
    plan: Plan,
    pool: RatedPool | None,
    system: str | None,
) -> StressResult:
    if any("references" in one.needs for one in tested.values()):
        check_references(outputs)
    material = material_of(outputs, system)
    lost = material.dropped
    remarks = (f"{lost} outputs are left out: unread, or not every system's.",) if lost else ()
    found: list[Stressed] = []
    with progress("testing") as show:
        for label, one in tested.items():
            mine = pool if isinstance(one, Estimated) else None
            found.append(stressed(one, material, plan, label=label, pool=mine))
            if show is not None:
                show(len(found) / len(tested))
    return StressResult(
        stressed=tuple(found), material=material, remarks=remarks, signature=found[0].signature
    )
