"""The human rating of rated texts, in exact arithmetic: ties stay ties whatever the order of rows.

A rating such as 4.8 is read as the decimal it is written as. Sums are integers; the one division
comes last, then the scale.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import lt
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from refless.data.records import (
    Outputs,
    RatedPool,
    Ratings,
    Scale,
    Texts,
    numbered,
    scored,
    sortable,
)
from refless.registry.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    Names,
    Strings,
    codes,
)
from refless.registry.errors import InputError, UsageError

MAX_DECIMALS = 6
Numbers = TypeVar("Numbers", FloatArray, IntArray)
EXACT = 2**53  # integers up to here are floats without loss
LIKELY_SCALES = {  # lowest and highest rating
    *((0.0, float(high)) for high in (1, 2, 3, 4, 5, 6, 10, 20, 100)),
    *((1.0, float(high)) for high in (2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 100)),
    *((-float(end), float(end)) for end in (1, 2, 3)),
}
FEWEST_RATINGS = 20  # that tell where a scale ends


@dataclass(frozen=True, slots=True, eq=False)
class ExactRatings:
    """Each text's human rating as numerator / denominator, in the raters' units.

    Attributes:
        numerators: [n] integers; any sum of them is exact.
        denominator: one number for all of them.
    """

    numerators: IntArray
    denominator: int

    def means(self, sums: IntArray, counts: IntArray) -> FloatArray:
        """Means of numerators summed over `counts` texts each; NaN where the count is 0."""
        total = counts.astype(np.float64) * float(self.denominator)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(counts > 0, sums.astype(np.float64) / total, np.nan)


def decimals_of(values: FloatArray) -> int | None:
    """Fewest decimals that write every value exactly, or None if more than six are needed."""
    for decimals in range(MAX_DECIMALS + 1):
        unit = 10.0**decimals
        with np.errstate(invalid="ignore", over="ignore"):
            if np.array_equal(np.rint(values * unit) / unit, values):
                return decimals
    return None


def exact_ratings(ratings: Ratings, n: int) -> ExactRatings:
    """The mean of each of n texts' ratings as integers over one denominator.

    Where the numbers leave no room for that (more than six decimals, or sums beyond 2**53), the
    human ratings are rounded to a fixed point, which keeps every sum independent of its order.
    """
    decimals = decimals_of(ratings.values)
    unit = 1 if decimals is None else 10**decimals
    units = np.rint(ratings.values * unit)
    with np.errstate(over="ignore"):
        if decimals is None or np.abs(units).sum() >= EXACT:
            return _fixed_point(np.divide(*_sums(ratings.values, ratings.text, n)))
    sums, counts = _sums(units.astype(np.int64), ratings.text, n)
    common = math.lcm(*map(int, np.unique(counts)))
    peak = int(np.abs(sums // counts).max(initial=0)) + 1
    if max(peak, unit) * common * n < EXACT:
        return ExactRatings(sums * (common // counts), common * unit)
    # one division each: ties are still ties
    return _fixed_point(sums / (counts * unit))


def _sums(values: Numbers, text: IntArray, n: int) -> tuple[Numbers, IntArray]:
    """The sum of each text's ratings, added in order of size, and how many there are."""
    order = np.lexsort((values, text))
    sums: Numbers = np.zeros(n, dtype=values.dtype)
    np.add.at(sums, text[order], values[order])
    return sums, np.bincount(text, minlength=n).astype(np.int64)


def _fixed_point(values: FloatArray) -> ExactRatings:
    room = max(0, 52 - math.ceil(math.log2(_peak(values))))
    unit = 2 ** min(room, 1000)  # stays a finite float
    return ExactRatings(np.rint(values * unit).astype(np.int64), unit)


def _peak(values: FloatArray) -> float:
    """The largest size of a sum of values; raises UsageError where none of it is exact."""
    peak = max(float(np.abs(values).max(initial=0.0)), 1e-300) * max(len(values), 1)
    if peak >= EXACT:
        raise UsageError(
            "ratings are too large to be summed exactly; divide them by their unit"
        )
    return peak


def scaled(values: FloatArray, scale: Scale | None) -> FloatArray:
    """Values from the raters' units to [0, 1]; unchanged without a scale."""
    return values if scale is None else (values - scale[0]) / (scale[1] - scale[0])


def unscaled(values: FloatArray, scale: Scale | None) -> FloatArray:
    """Values from [0, 1] back to the raters' units; unchanged without a scale."""
    return values if scale is None else values * (scale[1] - scale[0]) + scale[0]


def check_scale(scale: Scale | None) -> None:
    """Raises UsageError unless the scale is None or two finite numbers, the lower first."""
    if scale is not None and not (
        math.isfinite(scale[0]) and scale[0] < scale[1] < math.inf
    ):
        raise UsageError(
            f"a scale needs two numbers, the lower first, got {scale[0]} {scale[1]}"
        )


def human_ratings(
    ratings: Ratings, n: int, *, scale: Scale | None = None
) -> FloatArray:
    """[n] ratings: the mean of each text's ratings, scaled. Every text needs a rating.

    Each is one division of whole numbers, where its own ratings leave room for that; how large the
    ratings of other texts are does not matter.
    """
    decimals = decimals_of(ratings.values)
    fits = np.zeros(n, dtype=np.bool_)
    if decimals is not None:
        units = np.rint(ratings.values * 10.0**decimals)
        fits = np.bincount(ratings.text, np.abs(units), n) < EXACT
    values = np.zeros(n)
    if not fits.all():
        values = np.divide(*_sums(ratings.values, ratings.text, n))
    if decimals is not None:
        short = np.where(fits[ratings.text], units, 0.0).astype(np.int64)
        sums, counts = _sums(short, ratings.text, n)
        values = np.where(fits, sums / (counts * 10**decimals), values)
    _peak(values)
    return scaled(values, scale)


def pool_of(
    texts: RatedPool | Names,
    ratings: Sequence[float] | Sequence[Sequence[float]] | FloatArray | None = None,
    *,
    ids: Sequence[object] | None = None,
    sources: Names = (),
    systems: Names = (),
    items: Names = (),
    tasks: Names = (),
    annotators: Names = (),
    scores: Mapping[str, Sequence[float | None] | FloatArray] = MappingProxyType({}),
    scale: Scale | None = None,
) -> RatedPool:
    """A rated pool from columns: lists, arrays or those of a data frame; a pool passes through.

    Args:
        texts: n texts.
        ratings: n ratings, or n lists of ratings, in the raters' units; None or NaN in a list:
            not rated. A data frame counts as its rows.
        annotators: who gave the k ratings of each text, where they are lists of k.
        ids: n unique names; "1", "2", ... by default.
        scores: columns of scores that somebody else gave, by name; None or NaN where there is none.

    Raises:
        UsageError: lengths that differ, a bare string, a pool together with ratings.
        InputError: a rating that is missing, not finite or outside the scale.
    """
    if isinstance(texts, RatedPool):
        if ratings is not None:
            raise UsageError(
                "a RatedPool has its own ratings; do not pass others beside it"
            )
        return texts
    if isinstance(texts, Mapping) or hasattr(texts, "columns"):
        raise UsageError(
            "pool_of takes one column as the texts; read_pool reads a whole table"
        )
    if isinstance(texts, str) or ratings is None or isinstance(ratings, Mapping):
        raise UsageError("a list of texts and a list of ratings are needed")
    if hasattr(ratings, "to_numpy"):  # a column, or several, of a data frame
        ratings = ratings.to_numpy()
    check_scale(scale)
    names = _named_columns(
        ids=() if ids is None else ids,
        sources=sources,
        systems=systems,
        items=items,
        tasks=tasks,
    )
    _check_texts(texts, len(ratings), names["ids"])
    flat = _flat(ratings, scale, annotators)
    named = bool(names["ids"])
    names["ids"] = names["ids"] or numbered(len(texts))
    return RatedPool(
        **names,
        **scored(scores),
        texts=tuple(texts),
        human=human_ratings(flat, len(texts), scale=scale),
        ratings=flat,
        scale=scale,
        named=named,
    )


def _named_columns(**columns: Sequence[object]) -> dict[str, Any]:
    """Columns of strings by name; None and NaN, a data frame's blanks, are ""."""
    return {name: tuple(map(_name, column)) for name, column in columns.items()}


def _check_texts(texts: Names, n_ratings: int, ids: Strings) -> None:
    """Raises UsageError for texts that are no strings, too few or too many, or share an id."""
    if n_ratings != len(texts):
        raise UsageError(f"{len(texts)} texts but {n_ratings} ratings")
    for number, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise UsageError(f"text {number} is not a string: {text!r}")
    if len({*ids}) != len(ids):
        raise UsageError("ids must be unique")


def _name(value: object) -> str:
    is_blank = value is None or value != value
    return "" if is_blank else str(value)


def _flat(
    ratings: Sequence[float] | Sequence[Sequence[float]] | FloatArray,
    scale: Scale | None,
    annotators: Names,
) -> Ratings:
    rows = [np.atleast_1d(np.asarray(row, dtype=np.float64)) for row in ratings]
    names = sorted(set(annotators))
    widths = [len(row) for row in rows]
    if len(names) != len(annotators):
        raise UsageError("annotators must be unique")
    if names and set(widths) - {len(names)}:
        raise UsageError(
            f"each text needs {len(names)} ratings, one of each annotator, or None"
        )
    text = np.repeat(np.arange(len(rows)), widths)
    values = np.concatenate([*rows, np.zeros(0)])
    is_rated = ~np.isnan(values)
    low, high = (-np.inf, np.inf) if scale is None else scale
    unrated = np.bincount(text[is_rated], minlength=len(rows)) == 0
    unrated[text[np.isinf(values)]] = True
    _refuse(unrated, "no finite rating")
    outside = np.zeros(len(rows), dtype=np.bool_)
    outside[text[(values < low) | (values > high)]] = True
    _refuse(outside, f"a rating outside {low} to {high}")
    annotator = np.zeros(len(text), dtype=np.int64)
    if names:
        annotator = np.tile([names.index(name) for name in annotators], len(rows))
    return Ratings(
        text=text[is_rated],
        annotator=annotator[is_rated],
        values=values[is_rated],
        annotators=tuple(names),
    )


def _refuse(texts: BoolArray, problem: str) -> None:
    if texts.any():
        number = int(np.argmax(texts)) + 1
        raise InputError(
            f"text {number} has {problem}", remedy="correct it, rate it or drop it"
        )


def canonical_order(pool: RatedPool, groups: IntArray | None = None) -> IntArray:
    """[n] rows sorted by content, so that nothing downstream depends on the order of rows.

    Copies of a text stand side by side, sorted by their ratings, their scores and, where groups are
    held out, by what the group holds. No choice may tell them apart: see `copies_of`.

    Groups are [n] labels of what is held out together; the labels themselves do not count.
    """
    content = [*zip(*content_of(pool), strict=True)]
    if all(map(lt, content, content[1:])):
        return np.arange(len(pool))  # nothing else counts where no two are alike
    ratings = [] if pool.named else [ratings_of(pool)]  # ids tell all texts apart
    keys = list(zip(content, *ratings, *scores_in(pool), strict=True))
    order = sorted(range(len(pool)), key=keys.__getitem__)
    if groups is None or pool.named:
        return np.array(order, dtype=np.int64)
    rank = np.zeros(len(pool), dtype=np.int64)
    rank[order] = np.cumsum([0, *(keys[a] != keys[b] for a, b in pairwise(order))])
    members = members_of(groups, rank)
    order.sort(key=lambda row: (rank[row], members[int(groups[row])]))
    return np.array(order, dtype=np.int64)


def copies_of(pool: RatedPool) -> IntArray:
    """[n] place of each row's content among all contents, sorted; copies of a text have one.

    Copies are alike in all columns, ids too, where the user gave any; their ratings do not count,
    nor do scores: a text that a judge scored twice is one text, and held out as one.
    What is drawn or dealt out, is so by these numbers: then no choice depends on a rating.
    """
    return codes(zip(*content_of(pool), strict=True))


def copies_in_order(ordered: RatedPool) -> IntArray:
    """The same of a pool in canonical order, which need not be sorted anew."""
    return np.arange(len(ordered)) if ordered.named else copies_of(ordered)


def members_of(groups: IntArray, places: IntArray) -> dict[int, tuple[int, ...]]:
    """The sorted places of each group's rows, by its label."""
    result: dict[int, list[int]] = {}
    for row in np.argsort(places, kind="stable").tolist():
        result.setdefault(int(groups[row]), []).append(int(places[row]))
    return {group: tuple(inside) for group, inside in result.items()}


def content_of(pool: RatedPool) -> list[Strings]:
    """The columns that say what a text is."""
    return _content(pool, pool.ids if pool.named else ())


def _content(texts: Texts, names: Strings) -> list[Strings]:
    where = (texts.sources, texts.systems, texts.items, texts.tasks)
    return [column for column in (texts.texts, *where, names) if column] or [()]


def scores_in(texts: Texts) -> list[list[tuple[float, ...]]]:
    """The scores of each text as a key to sort by; nothing without any."""
    return [sortable(texts.scores, len(texts))] if texts.score_names else []


def order_of_outputs(outputs: Outputs, groups: Strings = ()) -> IntArray:
    """[n] outputs sorted by content, and by the group that they belong to, if they do.

    Ids, which may be numbers of rows, do not count: no number depends on them.
    """
    content = _content(outputs, groups)
    keys = list(zip(*content, *scores_in(outputs), strict=True))
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)


def with_sorted_ratings(pool: RatedPool) -> RatedPool:
    """The pool with its ratings text by text, and those of a text by annotator and by size."""
    ratings = pool.ratings
    keys = [ratings.values, ratings.annotator, ratings.text]
    order = np.lexsort([ratings.times, *keys] if len(ratings.times) else keys)
    times = ratings.times[order] if len(ratings.times) else ratings.times
    values = ratings.values[order]
    annotator = ratings.annotator[order]
    text = ratings.text[order]
    ordered = replace(
        ratings, text=text, annotator=annotator, values=values, times=times
    )
    return replace(pool, ratings=ordered)


def ratings_of(pool: RatedPool) -> list[tuple[tuple[float, int], ...]]:
    """[n] each text's ratings and whose they are, sorted."""
    ratings = pool.ratings
    order = np.lexsort((ratings.annotator, ratings.values, ratings.text))
    values = ratings.values[order].tolist()
    both = list(zip(values, ratings.annotator[order].tolist(), strict=True))
    ends = np.cumsum(np.bincount(ratings.text, minlength=len(pool))).tolist()
    return [tuple(both[a:b]) for a, b in pairwise([0, *ends])]


def fingerprint(pool: RatedPool) -> str:
    """Twelve hexadecimal digits of the pool's content, for signatures; rows in canonical order."""
    scale = None if pool.scale is None else tuple(map(float, pool.scale))
    digest = hashlib.sha256(repr((scale, "mean")).encode())
    for column in (pool.texts, pool.sources, pool.systems, pool.items, pool.tasks):
        digest.update(f"{len(column)}:".encode())
        raw = [entry.encode("utf-8", "surrogatepass") for entry in column]
        digest.update(b"".join([b"%d:%b" % (len(entry), entry) for entry in raw]))
    if pool.score_names:
        digest.update(repr(pool.score_names).encode("utf-8", "surrogatepass"))
        filled = np.where(np.isnan(pool.scores), np.inf, pool.scores) + 0.0  # -0 is 0
        digest.update(filled.astype("<f8").tobytes())
    digest.update(pool.human.astype("<f8").tobytes())
    ratings = pool.ratings
    order = np.lexsort((ratings.values, ratings.annotator, ratings.text))
    used, annotator = np.unique(ratings.annotator[order], return_inverse=True)
    names = repr([ratings.annotators[i] for i in used if ratings.annotators])
    digest.update(names.encode("utf-8", "surrogatepass"))
    for numbers in (ratings.text[order].astype("<i8"), annotator.astype("<i8")):
        digest.update(numbers.tobytes())
    digest.update(ratings.values[order].astype("<f8").tobytes())
    return digest.hexdigest()[:12]


def cells_of(ratings: Ratings, n: int) -> tuple[Ratings, IntArray, IntArray]:
    """Ratings regrouped so that each pair of annotator and text is one; who and which, sorted."""
    pairs, cell = np.unique(ratings.annotator * n + ratings.text, return_inverse=True)
    regrouped = Ratings(text=cell, annotator=ratings.annotator, values=ratings.values)
    return regrouped, pairs // n, pairs % n
