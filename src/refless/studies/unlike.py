"""Outputs that no rated text is like: what is rated tells little of them.

A text's nearest rated text is that with the highest cosine of n-grams. How near texts of one kind
are to each other the rated texts say, each without those of its source. What is less near than 19
of 20 of them counts as unlike; one in twenty is usual.
"""

from dataclasses import dataclass

import numpy as np

from refless.kernels.bleu import PreparedBleu
from refless.matching import Work, hold_out
from refless.ngrams import Shape
from refless.records import FloatArray, IntArray, Outputs, RatedPool
from refless.stats.excess import Marked, Marks, by_name, marked
from refless.studies.copies import groups_of

USUAL = 0.05  # of texts of the same kind are called unlike
FEWEST = 20  # rated sources, or else texts, that say what is usual
MOST_RATED, MOST_OUTPUTS, ROWS = 1_000, 20_000, 2_000  # texts compared; those held at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class Far:
    """One output, its system if it has one, and the cosine of its nearest rated text."""

    id: str
    system: str
    nearest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Unlike:
    """Outputs that are unlike all rated texts.

    Attributes:
        n: outputs that were looked at; of very many, so many are drawn.
        overall: how many are unlike; systems: of each, p-values corrected.
        least: cosine of the nearest rated text from which on a text is like one.
        which: the outputs that are unlike all, the farthest first.
    """

    n: int
    overall: Marked
    systems: dict[str, Marked]
    least: float
    which: tuple[Far, ...]


def unlike(outputs: Outputs, rated: RatedPool, seed: int = 0) -> Unlike | None:
    """Which outputs are unlike the rated texts; None where too few say what is usual.

    Where few sources are rated, or outputs answer no others, rated texts are left out one by one.

    Args:
        outputs: what is judged; rated: what judges; both in an order of their own.
        seed: of what is drawn.
    """
    rng = np.random.default_rng(seed)
    if len(outputs) > MOST_OUTPUTS:
        outputs = outputs.take(_drawn(len(outputs), MOST_OUTPUTS, rng))
    rated = rated.take(_drawn(len(rated), MOST_RATED, rng))
    groups, rated_groups = groups_of(outputs, rated)
    if len(np.unique(rated_groups)) < FEWEST or np.isin(groups, rated_groups).all():
        groups, rated_groups = np.arange(len(groups)), np.arange(len(rated_groups))
    if len(rated) < FEWEST or not len(outputs):
        return None
    pool = PreparedBleu.build(rated.texts, Shape())
    usual = _nearest(pool, rated.texts, rated_groups, rated_groups)
    near = _nearest(pool, outputs.texts, np.full(len(outputs), -1), rated_groups)
    least = float(np.sort(usual)[int(USUAL * len(usual))])
    ours = Marks(near < least, groups, outputs.systems)
    others = Marks(usual < least, rated_groups, rated.systems)
    far = np.argsort(near, kind="stable").tolist()
    return Unlike(
        n=len(outputs),
        overall=marked(ours, others, rng),
        systems=by_name(ours, others, rng),
        least=least,
        which=tuple(
            Far(
                id=outputs.ids[i],
                system=outputs.systems[i] if outputs.systems else "",
                nearest=float(near[i]),
            )
            for i in far
            if near[i] < least
        ),
    )


def _drawn(n: int, most: int, rng: np.random.Generator) -> IntArray:
    """At most so many rows, in their order."""
    return np.sort(rng.permutation(n)[:most])


def _nearest(
    pool: PreparedBleu, texts: tuple[str, ...], groups: IntArray, rated_groups: IntArray
) -> FloatArray:
    """[n] cosine of the nearest rated text of another group; -1 where there is none."""
    found = np.empty(len(texts))
    for begin in range(0, len(texts), ROWS):
        part = slice(begin, begin + ROWS)
        work = Work(held=hold_out(groups[part], rated_groups))
        found[part] = pool.cosine(texts[part], work).max(axis=1, initial=-1.0)
    return found
