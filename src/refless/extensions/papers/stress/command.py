"""stress: can this metric, estimator or scorer be fooled?"""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from refless.commands.estimating import DEFAULT, chosen, fitted
from refless.commands.parameters import (
    RATED_ROLES,
    About,
    Argument,
    Chosen,
    ColumnRoles,
    Dimension,
    Files,
    LowerIsBetter,
    Metrics,
    RatedReading,
    RatedRows,
    RatingScale,
    Resamples,
    RowFilter,
    Seed,
    Several,
    SkipBad,
    Threads,
    about_columns,
    command,
    names_in,
)
from refless.commands.rows import check_standard_input, outputs_of, rated_of
from refless.commands.warnings import note, progress
from refless.extensions.metrics.references import check_references
from refless.extensions.papers.stress.judging import Estimated, Scorer
from refless.extensions.papers.stress.material import StressItems, material_of
from refless.extensions.papers.stress.plan import PROBES, StressPlan
from refless.extensions.papers.stress.result import StressResult
from refless.extensions.papers.stress.rows import Stressed
from refless.extensions.papers.stress.run import stress as stressed
from refless.extensions.papers.stress.words import stop_words
from refless.metrics.chosen import metrics_of
from refless.registry.dialect import called
from refless.registry.errors import UsageError
from refless.registry.plural import counted

STRESS_ROLES = (*RATED_ROLES, "reference")
StressColumns = Annotated[ColumnRoles, about_columns("rating=score", STRESS_ROLES)]


@dataclass(frozen=True, slots=True, kw_only=True)
class StressRows(RatedRows):
    """The same with references."""

    roles: ClassVar[tuple[str, ...]] = STRESS_ROLES


@command
def stress(
    outputs: Argument,
    *,
    metrics: Metrics = None,
    scorer: Annotated[Several, About(metavar="'COMMAND'")] = None,
    rated: Files = None,
    estimator: Chosen = DEFAULT,
    train: Files = None,
    probe: Several = None,
    threads: Threads = None,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    columns: StressColumns = None,
    reading: RatedReading = None,
    skip_bad: SkipBad = False,
    where: RowFilter = None,
    scale: RatingScale = None,
    dimension: Dimension = None,
    lower_is_better: LowerIsBetter = None,
) -> StressResult:
    """Find out whether a metric, an estimator or a scorer can be fooled.

    For example: refless stress outputs.csv --rated rated.csv --probe useless

    Compares references with systems, replaces frequent, rare and random words, searches the one
    training sentence that scores highest for everything, replaces the outputs by
    useless ones, and stuffs an output with what was rated highly. A verdict for each.

    Args:
        outputs: Files of outputs, with references for metrics; - is stdin.
        scorer: A command that reads JSONL (text, references, source) on stdin and writes a score a
            line. Repeatable.
        rated: Files of rated texts: the estimator is put to the test.
        train: Files of a training set's texts: for the search of one sentence, and to know which
            words are rare.
        probe: references, frequent, rare, sentence, useless, stuffing. Repeatable; without it: all
            that can be run.
    """
    rows = StressRows(
        columns=columns,
        reading=reading,
        skip_bad=skip_bad,
        where=where,
        scale=scale,
        dimension=dimension,
        lower_is_better=lower_is_better,
    )
    check_standard_input(outputs, rated, train)
    tested = metrics_of(metrics)
    for line in names_in(scorer):
        if line in tested:
            raise UsageError(f"{called('scorer', line)} is given twice")
        tested[line] = Scorer(command=line)
    if not tested and rated is None:
        raise UsageError(
            f"say what to test: {called('metrics', 'METRIC')}, "
            f"{called('scorer', 'COMMAND')} or {called('rated', 'POOL')}"
        )
    probes = StressPlan(probes=names_in(probe) or PROBES).probes
    if "frequent" in probes:
        stop_words()  # an extra that is missing is named before any work is done
    read = outputs_of(outputs, rows)
    texts = () if train is None else outputs_of(train, rows, reference=()).texts
    plan = StressPlan(probes=probes, train=texts, seed=seed, resamples=resamples)
    pool = None
    if rated is not None:
        label = estimator if isinstance(estimator, str) else type(estimator).__name__
        pool, _ = rated_of(rated, rows)
        tested[label] = Estimated(
            estimator=fitted(chosen(estimator, threads, seed), pool)
        )
    if any("references" in metric.needs for metric in tested.values()):
        check_references(read)
    material = material_of(read)
    results: list[Stressed] = []
    with progress("testing") as show:
        for label, metric in tested.items():
            behind = pool if isinstance(metric, Estimated) else None
            results.append(stressed(metric, material, plan, label=label, pool=behind))
            if show is not None:
                show(len(results) / len(tested))
    _note_tested(material)
    return StressResult(
        stressed=tuple(results), material=material, signature=results[0].signature
    )


def _note_tested(material: StressItems) -> None:
    """Says which outputs are tested, and how many are left out."""
    n = len(material.items)
    systems = len(material.systems)
    if lost := material.dropped:
        of_all = f"{lost} of {counted(lost + n * systems, 'output')} are left out"
        why = "could not be read"
        if systems > 1:
            why = f"only {counted(n, 'item')} have an output of each of the {systems} systems"
        note(f"{of_all}: {why}")
    if systems > 1:
        note(
            f"tested on {counted(n, 'output')} of {material.first}, the first system by name"
        )
