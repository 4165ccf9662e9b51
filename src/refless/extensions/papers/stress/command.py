"""stress: can this metric, estimator or scorer be fooled?"""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from refless.commands.estimating import DEFAULT, chosen, fitted
from refless.commands.parameters import (
    About,
    Argument,
    Chosen,
    Files,
    Metrics,
    RatedRows,
    Resamples,
    Seed,
    Several,
    Threads,
    command,
    names_in,
)
from refless.commands.rows import check_standard_input, outputs_of, rated_of
from refless.commands.warnings import progress
from refless.extensions.papers.stress.judging import Estimated, Scorer
from refless.extensions.papers.stress.material import material_of
from refless.extensions.papers.stress.plan import PROBES, Plan
from refless.extensions.papers.stress.result import StressResult
from refless.extensions.papers.stress.rows import Stressed
from refless.extensions.papers.stress.run import stress as stressed
from refless.metrics.references import metrics_of
from refless.metrics.references.protocol import check_references
from refless.registry.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class StressRows(RatedRows):
    """The same with references.

    Attributes:
        columns: Column that plays a role, if its name does not say so: rating=score. Repeatable;
            roles: {roles}.
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
    train: Files = None,
    probe: Several = None,
    threads: Threads = None,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    rows: StressRows,
) -> StressResult:
    """Find out whether a metric, an estimator or a scorer can be fooled.

    Compares references with systems, replaces frequent, rare and random words, searches the one
    training sentence that scores highest for everything, puts outputs of no use in the place of
    the outputs, and stuffs an output with what was rated highly. A verdict for each.

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
    check_standard_input(outputs, rated, train)
    tested = metrics_of(names_in(metrics))
    for line in names_in(scorer):
        if line in tested:
            raise UsageError(f"--scorer '{line}' is given twice")
        tested[line] = Scorer(command=line)
    if not tested and rated is None:
        raise UsageError("say what to test: -m METRIC, --scorer 'COMMAND' or --rated POOL")
    probes = Plan(probes=names_in(probe) or PROBES).probes
    read = outputs_of(outputs, rows)
    texts = () if train is None else outputs_of(train, rows, reference=()).texts
    plan = Plan(probes=probes, train=texts, seed=seed, resamples=resamples)
    pool = None
    if rated is not None:
        label = estimator if isinstance(estimator, str) else type(estimator).__name__
        pool, _ = rated_of(rated, rows)
        tested[label] = Estimated(estimator=fitted(chosen(estimator, threads, seed), pool))
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
    lost = material.dropped
    remarks = (f"{lost} outputs are left out: unread, or not every system's.",) if lost else ()
    return StressResult(
        stressed=tuple(results), material=material, remarks=remarks, signature=results[0].signature
    )
