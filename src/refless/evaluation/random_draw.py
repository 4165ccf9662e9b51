"""Were the rated rows drawn at random from all? What would tell that they were not."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from refless.data.records import Texts
from refless.registry.arrays import BoolArray, FloatArray, IntArray, codes, numbered
from refless.stats.random_draw import KIND, LEVEL, PLACE, DrawnRows, draw_p
from refless.text.words import words

Column = Literal["order", "score", "words", "system"]
WORDS = "words"
SCORE = "score "


@dataclass(frozen=True, slots=True, kw_only=True)
class Differing:
    """A column in which rated rows differ from the unrated.

    Attributes:
        name: of the score column; else what `by` says.
        by: order in the file, a score, words of a text, or the system.
        rated, unrated: means, within systems if these may be rated unlike; of systems the highest
            and the lowest share of rows that are rated, of which `systems` tells the names.
        p: corrected for the number of columns.
    """

    name: str
    by: Column
    rated: float
    unrated: float
    p: float
    systems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomDraw:
    """Whether rated rows look drawn at random from all.

    Attributes:
        n, n_rated: rows, and those that are rated.
        differing: columns that tell that they were not, the surest first.
        end: whether exactly the first or the last rows of the file are rated.
        wanted: by system, the ratings with which as large a share of each is rated, if rows look
            drawn at random within systems and no more than these shares tell otherwise.
    """

    n: int
    n_rated: int
    differing: tuple[Differing, ...]
    end: Literal["", "first", "last"] = ""
    wanted: Mapping[str, int] = field(default_factory=dict)

    @property
    def by_content(self) -> bool:
        """Whether rated rows differ in more than their place in the file."""
        return any(column.by != "order" for column in self.differing)


def random_draw(
    rated: Texts,
    unrated: Texts,
    first_rows: tuple[IntArray, IntArray] | None,
    *,
    by_system: bool,
    labels: tuple[Sequence[str], Sequence[str]] = ((), ()),
) -> RandomDraw:
    """Compares rated rows with the unrated: place in the file, scores, words, systems.

    Rows of one label, source or item may have been drawn together: see `draw_p`.

    Args:
        rated, unrated: the rows; scores that both have are compared.
        first_rows: [n] where in the file each is; None if that tells nothing.
        by_system: whether another share of each system may be rated. If not, that is looked at.
        labels: of each row, what is drawn as a whole besides sources and items.
    """
    n = len(rated) + len(unrated)
    if len(rated) in {0, n}:
        return RandomDraw(n=n, n_rated=len(rated), differing=())
    drawn = np.arange(n) < len(rated)
    systems = _numbers(rated.systems, unrated.systems, n)
    # what each row belongs to; blank ones stand alone
    together = [labels, (rated.sources, unrated.sources), (rated.items, unrated.items)]
    place = np.zeros(0, dtype=np.int64)
    if first_rows is not None and all(map(len, first_rows)):
        place = np.concatenate(first_rows)
    levels = [
        numbered([*mine, *theirs], n) for mine, theirs in together if mine and theirs
    ]
    rows = DrawnRows(
        drawn=drawn,
        strata=systems if by_system else np.zeros_like(systems),
        levels=levels,
        numbers=_columns(rated, unrated),
        place=place,
        kinds=systems[:0] if by_system else systems,
    )
    small = {name: p for name, p in draw_p(rows).items() if p <= LEVEL}
    differing = [_differing(rows, name, p) for name, p in small.items() if name != KIND]
    wanted: dict[str, int] = {}
    if KIND in small:
        inside = random_draw(rated, unrated, first_rows, by_system=True, labels=labels)
        if not inside.by_content:
            wanted = _wanted(rated, unrated)
            differing = [column for column in differing if column.by == "order"]
        differing.append(_of_systems(rated, unrated, small[KIND]))
    differing.sort(key=lambda column: (column.p, column.by, column.name))
    end = _end(drawn, place)
    return RandomDraw(
        n=n, n_rated=len(rated), differing=tuple(differing), end=end, wanted=wanted
    )


def _numbers(mine: Sequence[str], theirs: Sequence[str], n: int) -> IntArray:
    """[n] number of each row's name, all 0 if one side has none."""
    if not (mine and theirs):
        return np.zeros(n, dtype=np.int64)
    return codes([*mine, *theirs])


def _columns(rated: Texts, unrated: Texts) -> dict[str, FloatArray]:
    """[n] scores that both have, and words of the texts, by name."""
    shared = [name for name in rated.score_names if name in unrated.score_names]
    columns = {
        SCORE + name: np.concatenate([rated.score(name), unrated.score(name)])
        for name in shared
    }
    lengths = [float(len(words(text))) for text in (*rated.texts, *unrated.texts)]
    return columns | {WORDS: np.array(lengths)}


def _differing(rows: DrawnRows, name: str, p: float) -> Differing:
    """The description of a column whose p-value is small."""
    if name == PLACE:
        mine, theirs = _means(rows, rows.place.astype(np.float64))
        return Differing(name="order", by="order", rated=mine, unrated=theirs, p=p)
    mine, theirs = _means(rows, rows.numbers[name])
    by: Column = "words" if name == WORDS else "score"
    return Differing(
        name=name.removeprefix(SCORE), by=by, rated=mine, unrated=theirs, p=p
    )


def _means(rows: DrawnRows, values: FloatArray) -> tuple[float, float]:
    """Means of drawn rows and of the others, over strata that have both, as drawn rows share."""
    defined = ~np.isnan(values)
    sums = np.zeros(3)
    for stratum in np.unique(rows.strata).tolist():
        inside = defined & (rows.strata == stratum)
        mine = values[inside & rows.drawn]
        theirs = values[inside & ~rows.drawn]
        if len(mine) and len(theirs):
            sums += len(mine) * np.array([1.0, mine.mean(), theirs.mean()])
    drawn, undrawn = (sums[1:] / sums[0]).tolist()
    return drawn, undrawn


def _of_systems(rated: Texts, unrated: Texts, p: float) -> Differing:
    """The systems of which the largest and the smallest share of rows is rated."""
    counts, all_counts = _counts(rated, unrated)
    shares = {name: counts[name] / all_counts[name] for name in all_counts}
    highest = max(shares, key=shares.__getitem__)
    lowest = min(shares, key=shares.__getitem__)
    return Differing(
        name="system",
        by="system",
        rated=shares[highest],
        unrated=shares[lowest],
        p=p,
        systems=(highest, lowest),
    )


def _wanted(rated: Texts, unrated: Texts) -> dict[str, int]:
    """By system, the ratings that it needs for the largest share; of that one none."""
    counts, all_counts = _counts(rated, unrated)
    most = max(counts[name] / n for name, n in all_counts.items())
    wanted = {name: round(most * n) - counts[name] for name, n in all_counts.items()}
    return {name: more for name, more in wanted.items() if more}


def _counts(rated: Texts, unrated: Texts) -> tuple[Counter[str], dict[str, int]]:
    """Rated rows by system, and all rows, by name."""
    counts = Counter(rated.systems)
    all_counts = counts + Counter(unrated.systems)
    return counts, {name: all_counts[name] for name in sorted(all_counts)}


def _end(drawn: BoolArray, place: IntArray) -> Literal["", "first", "last"]:
    """Whether the drawn rows are the first ones of the file, or the last."""
    if not len(place):
        return ""
    rated = place[drawn]
    unrated = place[~drawn]
    if rated.max() < unrated.min():
        return "first"
    return "last" if rated.min() > unrated.max() else ""
