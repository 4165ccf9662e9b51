"""Outputs of no use, as a system that fails gives them: what scores say, and what guards.

The score of such outputs has to be lower than that of the outputs themselves, or a guard has to
warn of them, as `score` then does and its gate does not pass.
"""

from dataclasses import replace

import numpy as np

from refless.commands.score.copies import copies
from refless.commands.score.guards import more
from refless.commands.score.novelty import unlike
from refless.data.records import Outputs, RatedPool, picked
from refless.extensions.papers.stress.material import StressItems, with_texts
from refless.extensions.papers.stress.pairing import rounds, rows_of
from refless.extensions.papers.stress.plan import StressPlan
from refless.extensions.papers.stress.rows import Probe, Row
from refless.metrics.protocol import Metric

REFUSAL = "I'm sorry, but I can't help with that."


def useless_probe(
    metric: Metric,
    material: StressItems,
    plan: StressPlan,
    pool: RatedPool | None = None,
) -> Probe:
    """Each kind of useless output in the place of every output.

    Args:
        metric: any; pool: the rated texts behind it if it is an estimator, for guards.
        material: items and outputs.
        plan: how intervals are drawn.
    """
    outputs = material.outputs()
    kinds = useless(outputs, plan.seed)
    scored = {name: with_texts(outputs, texts) for name, texts in kinds.items()}
    base = (Row(label=material.first), rounds(metric.score(outputs)))
    changed = []
    for name, texts in scored.items():
        changed.append((Row(label=name), rounds(metric.score(texts))))
    rows = [*rows_of(base, changed, plan)]
    passed = []
    unseen = []  # by estimates, which guards save
    for i, row in enumerate(rows[1:], 1):
        if pool is not None and warns(scored[row.label], pool):
            rows[i] = replace(row, label=f"{row.label} (a guard warns)")
            if not row.change_interval[1] < 0:
                unseen.append(row.label)
        elif row.score == row.score and not row.change_interval[1] < 0:
            passed.append(row.label)  # without a score, NaN, nothing passes a gate
    odd = pool is not None and warns(outputs, pool)
    verdict, fooled = _verdict(passed, odd, pool is not None)
    if fooled is False and unseen:
        verdict += f" Estimates alone do not show: {', '.join(unseen)}."
    return Probe(
        name="useless",
        about=f"Each output of {material.first} is replaced by a useless one.",
        rows=tuple(rows),
        verdict=verdict,
        fooled=fooled,
    )


def _verdict(passed: list[str], odd: bool, guarded: bool) -> tuple[str, bool | None]:
    """By what nothing shows, and by whether guards warn of the outputs themselves."""
    if passed:
        neither = (
            "Neither a lower estimate nor a guard" if guarded else "No lower score"
        )
        return f"{neither} shows: {', '.join(passed)}.", True
    if odd:
        return "Guards warn of the outputs themselves, so nothing is tested.", None
    either = "A lower estimate or a guard" if guarded else "A lower score"
    return f"{either} shows each of them.", False


def useless(outputs: Outputs, seed: int) -> dict[str, tuple[str, ...]]:
    """The kinds by name, each as many texts as there are outputs."""
    texts = outputs.texts
    n = len(outputs)
    order = np.random.default_rng(seed).permutation(n)
    source = np.empty(n, dtype=np.int64)  # of the answer that each item gets
    source[order] = np.roll(order, 1)
    rng = np.random.default_rng(seed)
    shuffled = []
    for text in texts:
        words = rng.permutation(text.split()).tolist()
        shuffled.append(" ".join(words))
    return {
        "refusal": (REFUSAL,) * n,
        "empty": ("",) * n,
        "truncated": tuple(map(_half, texts)),
        "shuffled": tuple(shuffled),
        "repeated": (texts[int(order[0])],) * n,
        "another item's answer": picked(texts, source),
    }


def _half(text: str) -> str:
    """The first half of a text's words."""
    split = text.split()
    return " ".join(split[: (len(split) + 1) // 2])


def warns(outputs: Outputs, pool: RatedPool) -> bool:
    """Whether a guard of `score` speaks."""
    copied = copies(outputs, pool)[0]
    odd = unlike(outputs, pool)
    return any(
        more(guard.overall, guard.systems)
        for guard in (copied, odd)
        if guard is not None
    )
