"""Pairs of texts of which people said which one is better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from refless.data.human import human_ratings
from refless.data.records import Columns, Outputs, RatedPool, Ratings, columns_of, picked
from refless.registry.arrays import BoolArray, FloatArray, IntArray
from refless.registry.signature import digest_of


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Pairs(Columns):
    """Choices of people between two texts; several people may have judged one pair.

    Attributes:
        texts: [n] the different texts, with their sources and scores of others; no systems.
        first, second: [m] rows of the two texts of each choice.
        outcomes: [m] 1 where the first was preferred, 0 where the second was, 0.5 for a tie.
        ids: [m] name of the pair.
        annotators: [m] who chose, or empty.
        systems: [m] what wrote the first and the second, or empty.
    """

    texts: Outputs
    first: IntArray
    second: IntArray
    outcomes: FloatArray
    ids: tuple[str, ...]
    annotators: tuple[str, ...] = ()
    systems: tuple[tuple[str, str], ...] = ()

    def __len__(self) -> int:
        return len(self.outcomes)

    def take(self, rows: IntArray) -> Pairs:
        """Some of the choices; the texts stay."""
        return replace(
            self,
            first=self.first[rows],
            second=self.second[rows],
            outcomes=self.outcomes[rows],
            ids=picked(self.ids, rows),
            annotators=picked(self.annotators, rows),
            systems=picked(self.systems, rows),
        )

    @property
    def groups(self) -> tuple[str, ...]:
        """[m] what is held out together: the source, else all that shared texts connect."""
        if self.texts.sources:
            return tuple(self.texts.sources[i] for i in self.first.tolist())
        return tuple(map(str, _connected(self.first, self.second, len(self.texts)).tolist()))

    def _summary(self) -> str:
        return f"{len(self)} choices between {len(self.texts)} texts"

    def _row(self, i: int) -> tuple[str, ...]:
        texts = self.texts.texts
        return self.ids[i], f"{self.outcomes[i]:g}", texts[self.first[i]], texts[self.second[i]]


@dataclass(frozen=True, slots=True, eq=False)
class Votes:
    """The choices pair by pair, in an order of their own.

    Attributes:
        first, second: [k] rows of texts, the first one the lower.
        wins: [k] choices for the first, ties half; counts: [k] of choices.
        of: [m] the pair of each choice.
    """

    first: IntArray
    second: IntArray
    wins: FloatArray
    counts: FloatArray
    of: IntArray

    @property
    def share(self) -> FloatArray:
        """[k] of the choices that the first won."""
        return self.wins / self.counts

    def take(self, rows: IntArray | BoolArray) -> Votes:
        """Some of the pairs, without whose choices they are."""
        of = np.zeros(0, dtype=np.int64)
        return Votes(self.first[rows], self.second[rows], self.wins[rows], self.counts[rows], of)


def votes_of(pairs: Pairs) -> Votes:
    """The choices with those of one pair added up, whichever text stood first."""
    turned = pairs.first > pairs.second
    low, high = np.minimum(pairs.first, pairs.second), np.maximum(pairs.first, pairs.second)
    won = np.where(turned, 1.0 - pairs.outcomes, pairs.outcomes)
    keys, of = np.unique(np.stack([low, high], axis=1), axis=0, return_inverse=True)
    of = of.reshape(-1)
    wins = np.asarray(np.bincount(of, won, len(keys)), dtype=np.float64)
    counts = np.bincount(of, minlength=len(keys)).astype(np.float64)
    return Votes(keys[:, 0], keys[:, 1], wins, counts, of)


def groups_in(pairs: Pairs, votes: Votes) -> IntArray:
    """[k] number of what each pair is held out with, in the order of the pairs."""
    of_choice = np.unique(pairs.groups, return_inverse=True)[1]
    groups = np.zeros(len(votes.wins), dtype=np.int64)
    groups[votes.of] = of_choice
    return groups


def pairs_of(
    sides: Sequence[tuple[tuple[str, str], tuple[str, str]]],
    outcomes: Sequence[float],
    *,
    ids: Sequence[str] = (),
    annotators: Sequence[str] = (),
    systems: Sequence[tuple[str, str]] = (),
    scores: Sequence[tuple[tuple[float, ...], tuple[float, ...]]] = (),
    score_names: tuple[str, ...] = (),
) -> Pairs:
    """Pairs out of plain columns; equal texts for one source are one text.

    Args:
        sides: [m] (source, text) of the first and of the second.
        outcomes: [m] 1, 0.5 or 0; ids, annotators, systems: [m] or nothing.
        scores: [m] those of the first and the second by `score_names`, NaN where there is none.
    """
    told = scores or [((), ())] * len(sides)
    keys: list[tuple[Any, ...]] = [
        (*side, *("" if x != x else x for x in values))
        for both, given in zip(sides, told, strict=True)
        for side, values in zip(both, given, strict=True)
    ]
    place: dict[tuple[Any, ...], int] = {}
    row = np.array([place.setdefault(key, len(place)) for key in keys], dtype=np.int64)
    order = sorted(range(len(place)), key=list(map(repr, place)).__getitem__)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    row, known = rank[row].reshape(-1, 2), [[*place][i] for i in order]
    sources = tuple(str(key[0]) for key in known)
    values = [[np.nan if x == "" else x for x in key[2:]] for key in known]
    texts = Outputs(
        ids=tuple(map(str, range(1, len(known) + 1))),
        texts=tuple(str(key[1]) for key in known),
        sources=sources if any(sources) else (),
        score_names=score_names,
        scores=np.array(values, dtype=np.float64).reshape(
            (len(known), len(score_names)) if score_names else (0, 0)
        ),
    )
    return Pairs(
        texts=texts,
        first=row[:, 0],
        second=row[:, 1],
        outcomes=np.asarray(outcomes, dtype=np.float64),
        ids=tuple(ids) or tuple(map(str, range(1, len(sides) + 1))),
        annotators=tuple(annotators),
        systems=tuple(systems),
    )


def pool_in(pairs: Pairs) -> RatedPool:
    """The texts that were compared: 1 where one was preferred, 0 where not, 0.5 for a tie."""
    used, text = np.unique(np.concatenate([pairs.first, pairs.second]), return_inverse=True)
    values = np.concatenate([pairs.outcomes, 1.0 - pairs.outcomes])
    names = tuple(sorted({*pairs.annotators}))
    number = {name: i for i, name in enumerate(names)}
    who = np.array([number[name] for name in pairs.annotators] or [0] * len(pairs), dtype=np.int64)
    ratings = Ratings(
        text=text.reshape(-1).astype(np.int64),
        annotator=np.concatenate([who, who]),
        values=values,
        annotators=names,
    )
    given = pairs.texts.take(used)
    return RatedPool(
        **columns_of(given),
        score_names=given.score_names,
        scores=given.scores,
        human=human_ratings(ratings, len(used), scale=(0.0, 1.0), aggregate="mean"),
        ratings=ratings,
        scale=(0.0, 1.0),
        named=True,
    )


def digest(pairs: Pairs) -> str:
    """Twelve hexadecimal digits of choices, scores and systems, whatever the order."""
    texts, sources = pairs.texts.texts, pairs.texts.sources or ("",) * len(pairs.texts)
    scores = pairs.texts.scores.tolist() if pairs.texts.score_names else [()] * len(texts)
    turned = pairs.first > pairs.second
    sides = np.where(turned, pairs.second, pairs.first), np.where(turned, pairs.first, pairs.second)
    won = np.where(turned, 1.0 - pairs.outcomes, pairs.outcomes)
    columns = [[(sources[i], texts[i], *scores[i]) for i in side.tolist()] for side in sides]
    systems = [
        both[::-1] if turn else both
        for both, turn in zip(pairs.systems or [("", "")] * len(pairs), turned, strict=True)
    ]
    return digest_of([*columns, won.tolist(), pairs.annotators or [""] * len(pairs), systems])


def _connected(first: IntArray, second: IntArray, n: int) -> IntArray:
    """[m] number of the part of the graph that each pair lies in."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    edges = coo_array((np.ones(len(first)), (first, second)), shape=(n, n))
    labels = connected_components(edges, directed=False)[1]
    return np.asarray(labels[first], dtype=np.int64)
