"""Outputs that copy rated texts.

A text is held by another that has four fifths of its runs of three words. A copy of a rated text is
estimated as what it copies, whether it fits its own source or not. Texts that nobody copied are
alike too, so outputs stand beside the rated texts, which hold texts of other sources as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from refless.data.design import units_of
from refless.data.records import Outputs, RatedPool, picked
from refless.registry.arrays import BoolArray, FloatArray, IntArray, numbered
from refless.stats.fisher import Marked, Marks, by_name, marked
from refless.text.runs import RUN, RatedRuns, WordRuns

SHARE = 0.8  # of a text's runs that another one has
SHORTEST = 5  # words: shorter texts are alike by chance
ROWS = 512  # texts compared at a time
MOST_ASKED = 10_000  # rated texts that say how alike texts are that nobody copied


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """One output, and the rated text that holds most of it."""

    id: str
    rated: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Copies:
    """Outputs that copy rated texts of other sources; of any, where sources are not known.

    Attributes:
        n_itself: outputs that are a rated text of their own source, word for word.
        overall: of all outputs, beside rated texts, which are held by those of other sources too;
        systems: of each, p-values corrected.
        sources: whether sources are known.
        which: the copies.
    """

    n_itself: int
    overall: Marked
    systems: dict[str, Marked]
    sources: bool
    which: tuple[Copied, ...]


def copies(
    outputs: Outputs,
    rated: RatedPool,
    seed: int = 0,
    runs: RatedRuns | None = None,
) -> tuple[Copies, BoolArray]:
    """The copies among outputs, and [n] whether each is one.

    Args:
        outputs: what is judged; rated: what judges; both in an order of their own.
        seed: of what is drawn.
        runs: of the rated texts, where they are known.
    """
    rng = np.random.default_rng(seed)
    sample = rng.permutation(len(rated))[:MOST_ASKED]
    runs = runs or RatedRuns.of(rated.texts)
    queries = runs.looked_up((*outputs.texts, *picked(rated.texts, sample)))
    groups, rated_groups = groups_of(outputs, rated)
    both = np.concatenate([groups, rated_groups[sample]])
    holder = _holders(queries, runs.runs, both, rated_groups)
    is_held, between_rated = np.split(holder >= 0, [len(outputs)])
    ours = Marks(is_held, groups, outputs.systems)
    against = Marks(between_rated, rated_groups[sample], picked(rated.systems, sample))
    copied = [
        Copied(id=outputs.ids[i], rated=rated.ids[holder[i]])
        for i in np.flatnonzero(is_held).tolist()
    ]
    result = Copies(
        n_itself=_itself(outputs, rated),
        overall=marked(ours, against, rng),
        systems=by_name(ours, against, rng),
        sources=bool(outputs.sources and rated.sources),
        which=tuple(copied),
    )
    return result, is_held


def _itself(outputs: Outputs, rated: RatedPool) -> int:
    """The number of outputs that are a rated text, of their own source if there are sources."""
    if not (outputs.sources and rated.sources):
        corpus = {*rated.texts}
        return sum(text in corpus for text in outputs.texts)
    pairs = {*zip(rated.texts, rated.sources, strict=True)}
    queries = zip(outputs.texts, outputs.sources, strict=True)
    return sum(pair in pairs for pair in queries)


def groups_of(outputs: Outputs, rated: RatedPool) -> tuple[IntArray, IntArray]:
    """Numbers of what outputs and rated texts belong to: their source or item, or each text alone.

    An output that has the id and the words of a rated text is that text.
    """
    n = len(rated)
    rated_labels = units_of(rated)
    labels = units_of(outputs, like=rated)
    if rated_labels and labels:
        groups = numbered((*rated_labels, *labels), n + len(outputs))
        return groups[n:], groups[:n]
    pairs = [*zip(outputs.ids, outputs.texts, strict=True)]
    rated_pairs = enumerate(zip(rated.ids, rated.texts, strict=True))
    wanted = {*pairs}
    row_of = {pair: row for row, pair in rated_pairs if pair in wanted}
    new = count(n)
    numbers = [row_of[pair] if pair in row_of else next(new) for pair in pairs]
    return np.array(numbers, dtype=np.int64), np.arange(n)


def _holders(
    queries: WordRuns, corpus: WordRuns, groups: IntArray, corpus_groups: IntArray
) -> IntArray:
    """[n] row of the text of another group that holds the most of each, -1 where none does."""
    holder = np.full(len(groups), -1, dtype=np.int64)
    sizes = np.diff(queries.starts)
    corpus_sizes = np.diff(corpus.starts)
    for rows, candidates, share in pairs(queries, corpus):
        free = groups[rows] != corpus_groups[candidates]
        rows = rows[free]
        candidates = candidates[free]
        share = share[free]
        longer = np.abs(corpus_sizes[candidates] - sizes[rows])
        order = np.lexsort((candidates, longer, -share))
        best = order[::-1]  # the last of a row is written
        holder[rows[best]] = candidates[best]
    return holder


def pairs(
    queries: WordRuns, corpus: WordRuns
) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
    """Rows of texts, rows of texts that hold them, and the shares, some texts at a time."""
    width = int(max(queries.ids.max(initial=-1), corpus.ids.max(initial=-1))) + 1
    rows = _matrix(queries, width)
    columns = _matrix(corpus, width)
    present = np.zeros(width, dtype=np.int32)
    present[corpus.ids] = 1
    runs = np.diff(queries.starts)
    least = SHARE * runs - 1e-9
    is_long = runs > SHORTEST - RUN
    sample = np.flatnonzero(is_long & (rows @ present >= least))
    turned = columns.T.tocsr()
    for begin in range(0, len(sample), ROWS):
        part = sample[begin : begin + ROWS]
        shared = (rows[part] @ turned).tocoo()
        enough = shared.data >= least[part][shared.row]
        row = part[shared.row[enough]]
        column = shared.col[enough].astype(np.int64)
        yield row, column, shared.data[enough] / runs[row]


def _matrix(texts: WordRuns, width: int) -> Any:
    """[texts, runs] 1 where a text has a run, each time that it has it."""
    from scipy.sparse import csr_matrix

    ones = np.ones(len(texts.ids), dtype=np.int32)
    shape = (len(texts.starts) - 1, width)
    return csr_matrix((ones, texts.ids, texts.starts), shape=shape)
