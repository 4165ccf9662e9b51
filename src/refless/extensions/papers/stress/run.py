"""All probes of one metric, estimator or scorer."""

from collections.abc import Callable
from dataclasses import replace

from refless.data.records import RatedPool
from refless.extensions.papers.stress.judging import Estimated
from refless.extensions.papers.stress.material import StressItems
from refless.extensions.papers.stress.plan import StressPlan
from refless.extensions.papers.stress.probes import (
    frequent_probe,
    rare_probe,
    references_probe,
)
from refless.extensions.papers.stress.rows import Probe, Stressed
from refless.extensions.papers.stress.sentence import sentence_probe
from refless.extensions.papers.stress.stuffing import SETTINGS, stuffing_probe
from refless.extensions.papers.stress.useless import useless_probe
from refless.extensions.papers.stress.words import counted
from refless.metrics.protocol import Metric
from refless.registry.errors import InputError, UsageError

ALIKE = 1e-9  # scores that differ by less are one


def stress(
    metric: Metric,
    material: StressItems,
    plan: StressPlan,
    *,
    label: str,
    pool: RatedPool | None = None,
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
    texts = plan.train or (pool.texts if pool is not None else ())
    train = counted(texts) if texts else None
    makers: dict[str, Callable[[], Probe]] = {
        "references": lambda: references_probe(metric, material, plan),
        "frequent": lambda: frequent_probe(metric, material, plan),
        "rare": lambda: rare_probe(metric, material, train, plan),
        "sentence": lambda: sentence_probe(metric, material, plan),
        "useless": lambda: useless_probe(metric, material, plan, pool),
        "stuffing": lambda: _stuffing(metric, material, plan, pool),
    }
    metric.score(material.outputs())  # raises errors of the outputs themselves
    probes: list[Probe] = []
    skipped: dict[str, str] = {}
    for name in plan.probes:
        try:
            probes.append(_unless_alike(makers[name]()))
        except (UsageError, InputError) as reason:
            skipped[name] = str(reason)
    signature = metric.signature().plus(**plan.as_settings())
    if isinstance(metric, Estimated):
        signature = signature.plus(**SETTINGS)
    return Stressed(
        label=label, signature=signature, probes=tuple(probes), skipped=skipped
    )


def _stuffing(
    metric: Metric, material: StressItems, plan: StressPlan, pool: RatedPool | None
) -> Probe:
    if not isinstance(metric, Estimated) or pool is None:
        raise UsageError("it attacks estimators; there are no rated texts here")
    return stuffing_probe(metric, pool, material.outputs(), plan)


def _unless_alike(probe: Probe) -> Probe:
    """The probe; where everything has one score it says nothing of what was changed."""
    scores = [row.score for row in probe.rows if row.score == row.score]
    if probe.fooled is None or len(scores) < 2:
        return probe
    if max(scores) - min(scores) > ALIKE:
        return probe
    return replace(
        probe,
        verdict="It gives all of these one score: nothing is tested.",
        fooled=None,
    )
