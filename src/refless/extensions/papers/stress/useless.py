"""Outputs of no use, as a system that fails gives them: what an estimator says, and what guards.

The estimate of such outputs has to be lower than that of the outputs themselves, or a guard has to
warn of them, as `score` then does and its gate does not pass.
"""

from dataclasses import replace

import numpy as np

from refless.data.records import Outputs, RatedPool
from refless.evaluation.copies import copies
from refless.evaluation.guards import more
from refless.evaluation.novelty import unlike
from refless.extensions.papers.stress.judging import Estimated
from refless.extensions.papers.stress.material import Material, shuffled_words, with_texts
from refless.extensions.papers.stress.pairing import rounds, rows_of
from refless.extensions.papers.stress.plan import Plan
from refless.extensions.papers.stress.probes import half
from refless.extensions.papers.stress.rows import Probe, Row

REFUSAL = "I'm sorry, but I can't help with that."


def useless_probe(metric: Estimated, pool: RatedPool, material: Material, plan: Plan) -> Probe:
    """Each kind of useless output in the place of every output.

    Args:
        metric: the estimator; material: items and outputs; pool: the rated texts behind it.
        plan: how intervals are drawn.
    """
    outputs = material.outputs()
    kinds = useless(outputs, plan.seed)
    scored = {name: with_texts(outputs, texts) for name, texts in kinds.items()}
    rows = rows_of(
        (Row(label=material.first), rounds(metric.score(outputs))),
        [(Row(label=name), rounds(metric.score(one))) for name, one in scored.items()],
        plan,
    )
    warned = [name for name, one in scored.items() if warns(one, pool)]
    passed = [  # what has no estimate at all, NaN, passes no gate
        row.label
        for row in rows[1:]
        if row.label not in warned and row.score == row.score and not row.change_interval[1] < 0
    ]
    if passed:
        verdict = f"Neither a lower estimate nor a guard shows: {', '.join(passed)}."
    elif warns(outputs, pool):
        verdict, passed = "Guards warn of the outputs themselves, so nothing is tested.", []
    else:
        verdict = "A lower estimate or a guard shows each of them."
    return Probe(
        name="useless",
        about=f"Outputs of no use in the place of those of {material.first}.",
        rows=tuple(
            replace(row, label=f"{row.label} (a guard warns)" * (row.label in warned) or row.label)
            for row in rows
        ),
        verdict=verdict,
        fooled=True if passed else False if verdict.startswith("A lower") else None,
    )


def useless(outputs: Outputs, seed: int) -> dict[str, tuple[str, ...]]:
    """The kinds by name, each as many texts as there are outputs."""
    texts, n = outputs.texts, len(outputs)
    order = np.random.default_rng(seed).permutation(n)
    other = dict(zip(order.tolist(), np.roll(order, 1).tolist(), strict=True))
    return {
        "refusal": (REFUSAL,) * n,
        "empty": ("",) * n,
        "truncated": tuple(map(half, texts)),
        "shuffled": shuffled_words(texts, seed),
        "repeated": (texts[int(order[0])],) * n,
        "another item's answer": tuple(texts[other[i]] for i in range(n)),
    }


def warns(outputs: Outputs, pool: RatedPool) -> bool:
    """Whether a guard of `score` speaks."""
    copied, odd = copies(outputs, pool)[0], unlike(outputs, pool)
    return any(more(one.overall, one.systems) for one in (copied, odd) if one is not None)
