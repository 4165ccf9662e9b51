"""All probes of one metric, estimator or scorer."""

from collections.abc import Callable
from dataclasses import replace

from refless.data.records import RatedPool
from refless.extensions.papers.stress import sentence
from refless.extensions.papers.stress.judging import Estimated
from refless.extensions.papers.stress.material import Material, with_texts
from refless.extensions.papers.stress.pairing import rounds, rows_of
from refless.extensions.papers.stress.plan import Plan
from refless.extensions.papers.stress.probes import (
    direction_probe,
    frequent_probe,
    rare_probe,
    references_probe,
)
from refless.extensions.papers.stress.rows import Probe, Row, Stressed, changes, percent_of
from refless.extensions.papers.stress.stuffing import stuffing_probe
from refless.extensions.papers.stress.useless import useless_probe
from refless.extensions.papers.stress.words import counted
from refless.metrics.references import Metric
from refless.registry.errors import UsageError

GOOD_ENOUGH = 0.5  # of the outputs' score: more for one sentence is a surprise
ALIKE = 1e-9  # scores that differ by less are one


def stress(
    metric: Metric, material: Material, plan: Plan, *, label: str, pool: RatedPool | None = None
) -> Stressed:
    """Runs the probes that can be run; says why the others cannot.

    Args:
        metric: a metric, `judging.Estimated` or `judging.Scorer`.
        material: items, references and outputs.
        plan: which probes, and how.
        label: what the user called it.
        pool: the rated texts behind an estimator.

    Raises:
        InputError: what scoring the outputs themselves raises.
    """
    train = counted(plan.train) if plan.train else None
    if train is None and pool is not None:
        train = counted(pool.texts)
    makers: dict[str, Callable[[], Probe]] = {
        "references": lambda: references_probe(metric, material, plan),
        "frequent": lambda: frequent_probe(metric, material, plan),
        "rare": lambda: rare_probe(metric, material, train, plan),
        "sentence": lambda: sentence_probe(metric, material, plan),
        "direction": lambda: direction_probe(metric, material, plan),
        "useless": lambda: useless_probe(*_rated(metric, pool, "is for"), material, plan),
        "stuffing": lambda: stuffing_probe(
            *_rated(metric, pool, "attacks"), material.outputs(), plan
        ),
    }
    metric.score(material.outputs())  # what is wrong with the outputs themselves is an error
    probes: list[Probe] = []
    skipped: dict[str, str] = {}
    for name in plan.probes:
        try:
            probes.append(_told(makers[name]()))
        except UsageError as reason:
            skipped[name] = str(reason)
    signature = metric.signature().plus(**plan.as_settings())
    if isinstance(metric, Estimated):
        signature = signature.plus(**plan.of_attacks())
    return Stressed(label=label, signature=signature, probes=tuple(probes), skipped=skipped)


def _told(probe: Probe) -> Probe:
    """The probe; where everything has one score it says nothing of what was changed."""
    scores = [row.score for row in probe.rows if row.score == row.score]
    if probe.fooled is None or len(scores) < 2 or max(scores) - min(scores) > ALIKE:
        return probe
    return replace(
        probe, verdict="It gives all of these one score: nothing is tested.", fooled=None
    )


def _rated(metric: Metric, pool: RatedPool | None, verb: str) -> tuple[Estimated, RatedPool]:
    """The estimator and its rated texts, for a probe that is for estimators."""
    if not isinstance(metric, Estimated) or pool is None:
        raise UsageError(f"it {verb} estimators; there are no rated texts here")
    return metric, pool


def sentence_probe(metric: Metric, material: Material, plan: Plan) -> Probe:
    """One training sentence as the output for every item, and greedy sets (Table 5).

    Raises:
        UsageError: no training set, or no references.
    """
    if isinstance(metric, Estimated):
        raise UsageError("an estimate does not depend on the item; see 'stuffing'")
    if not plan.train:
        raise UsageError("it searches a training set: give --train")
    references = material.items.references
    if not references:
        raise UsageError("it needs references")
    found = sentence.search(
        metric,
        references,
        plan.train,
        shortlist=plan.shortlist,
        largest_set=plan.largest_set,
        weights=material.items.weights,
    )
    best = [
        _row(f"next, {i}" if i > 1 else "one sentence", one) for i, one in enumerate(found.best, 1)
    ]
    sets = [_row(f"best of {len(one.texts)} for each item", one) for one in found.sets]
    rows = _with_intervals(metric, material, best, plan, all_of_them=found.exact)
    verdict, fooled = _verdict(rows[0], rows[1], len(references))
    how = "all scored" if found.exact else f"the {found.n_scored} highest by BLEU scored"
    return Probe(
        name="sentence",
        about=f"One of {found.n_candidates:,} training sentences for every item; {how}.",
        rows=(*rows, *changes(rows[0], sets)),
        verdict=verdict,
        fooled=fooled,
    )


def _row(label: str, found: sentence.Found) -> Row:
    return Row(label=label, score=found.score, texts=found.texts, in_references=found.in_references)


def _with_intervals(
    metric: Metric, material: Material, best: list[Row], plan: Plan, *, all_of_them: bool
) -> tuple[Row, ...]:
    """The outputs' row, and those of the sentences; slow metrics score the first one only."""
    items = material.items
    first = (Row(label=material.first), rounds(metric.score(material.outputs())))
    size = len(best) if all_of_them else 1
    texts = [with_texts(items, row.texts * len(items)) for row in best[:size]]
    scored = [rounds(metric.score(outputs)) for outputs in texts]
    rows = rows_of(first, list(zip(best[:size], scored, strict=True)), plan)
    return (*rows, *changes(rows[0], best[size:]))


def _verdict(base: Row, best: Row, n: int) -> tuple[str, bool | None]:
    if best.score != best.score or base.score != base.score or base.score <= 0:
        return "Undefined: the outputs have no score to compare with.", None
    share = best.score / base.score
    where = "in no references" if not best.in_references else f"in {best.in_references} of {n}"
    said = (
        f"'{best.texts[0]}' for every item scores {best.score:.4g}, {percent_of(share)} of the "
        f"score of {base.label} ({where})"
    )
    if share >= GOOD_ENOUGH:
        return f"{said}: a text that says nothing of its item passes.", True
    return f"{said}.", False
