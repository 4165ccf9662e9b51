"""How far what was rated in one task helps in another (BLEU Neighbors, Table 2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from refless.data.records import RatedPool
from refless.estimators import Scorer
from refless.evaluation.held_out import Agreement, agreement
from refless.extensions.papers.judging import across, beside, judged, signed
from refless.registry.errors import UsageError
from refless.registry.signature import Signature
from refless.stats.resampling import RESAMPLES


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Transfer:
    """Every task's ratings judging every task's texts.

    Attributes:
        tasks: [t] names, sorted.
        n: [t] rated texts of each.
        agreements: [t][t] first the task that was learned from, then the one that was judged, each
            with coverage and intervals; on the diagonal texts are held out.
        signature: everything that can change these numbers.
    """

    tasks: tuple[str, ...]
    n: tuple[int, ...]
    agreements: tuple[tuple[Agreement, ...], ...]
    signature: Signature


def transfer(
    scorer: Scorer,
    pools: Mapping[str, RatedPool],
    labels: Mapping[str, Sequence[str]] | None = None,
    *,
    group: str = "id",
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Transfer:
    """Every pool's ratings judging every pool's texts; coverage may fall far.

    Errors between tasks mean something only where the ratings are on one scale.

    Args:
        scorer: an estimator or given scores.
        pools: rated texts by task, two or more.
        labels: [n] groups of each pool's texts; texts of a group that stands in both pools are
            judged without it.
        group: what the groups are.
        seed, resamples: of the bootstrap behind the intervals.

    Raises:
        UsageError: fewer than two tasks.
    """
    if len(pools) < 2:
        raise UsageError("transfer needs two tasks or more: a task column, or several files")
    tasks = tuple(sorted(pools))
    known = labels or {}

    def cell(learned: str, target: str) -> Agreement:
        pool, own = pools[target], tuple(known.get(target, ()))
        if learned == target:
            found = judged(scorer, pool, own, group)
        else:
            estimates = across(scorer, pools[learned], pool, known.get(learned, ()), own)
            found = beside(pool, estimates, () if group == "id" else own)
        return agreement(found, seed=seed, resamples=resamples)

    signatures = [signed(scorer, pools[task], group) for task in tasks]
    digests = tuple(signature.get("pool") or "" for signature in signatures)
    return Transfer(
        tasks=tasks,
        n=tuple(len(pools[task]) for task in tasks),
        agreements=tuple(tuple(cell(a, b) for b in tasks) for a in tasks),
        signature=signatures[0].plus(
            tasks=tasks,
            pool=digests,
            size=tuple(len(pools[task]) for task in tasks),
            scale=tuple(str(pools[task].scale) for task in tasks),
            ci=f"boot-{resamples}",
            seed=seed,
        ),
    )


def by_task(pool: RatedPool) -> dict[str, RatedPool]:
    """The pool's parts by task.

    Raises:
        UsageError: a pool without a task column.
    """
    if not pool.tasks:
        raise UsageError("the rated texts have no task column")
    tasks = np.array(pool.tasks, dtype=object)
    return {name: pool.take(np.flatnonzero(tasks == name)) for name in sorted(set(pool.tasks))}
