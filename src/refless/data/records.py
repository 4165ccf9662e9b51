"""The frozen records that flow through refless: columns of strings and numpy arrays.

An absent optional column is an empty tuple; a present one has one entry a text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Self, TypeVar

import numpy as np

from refless.registry.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    Names,
    Strings,
    places_of,
)
from refless.registry.errors import UsageError
from refless.registry.plural import counted

Reason = Literal[
    "", "empty", "too-short", "too-few", "too-many", "too-uncertain", "bad-row"
]
Scale = tuple[float, float]

_Entry = TypeVar("_Entry")


class ColumnRecord:
    """Columns of one length, which print as a summary."""

    __slots__ = ()

    def __len__(self) -> int:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}: {self._summary()}"

    def _summary(self) -> str:
        return counted(len(self), "text")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Ratings:
    """Single ratings, in the raters' units, as parallel arrays of length m.

    Attributes:
        text: [m] which text of the pool was rated, an index into its columns.
        annotator: [m] who rated it, an index into `annotators`; all zero where unknown.
        values: [m] the ratings, finite.
        annotators: names, sorted; empty where the file does not say who rated.
        times: [m] when, NaN where that is not known; empty where the file does not say it.
    """

    text: IntArray
    annotator: IntArray
    values: FloatArray
    annotators: Strings = ()
    times: FloatArray = field(default_factory=lambda: np.zeros(0))

    def of(self, rows: IntArray, n: int) -> Ratings:
        """The ratings of some of n texts, which are numbered anew in the order given."""
        text = places_of(rows, n)[self.text]
        kept = text >= 0
        own = {name: getattr(self, name) for name in ("annotator", "values", "times")}
        own = {name: column[kept] for name, column in own.items() if len(column)}
        return replace(self, text=text[kept], **own)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Texts(ColumnRecord):
    """Texts, and where they come from; any sequence becomes a tuple.

    Attributes:
        ids: [n] unique names.
        texts: [n] the texts.
        sources: [n] what each text answers.
        systems: [n] what wrote it.
        items: [n] which texts belong together.
        tasks: [n] what kind of text it is.
        score_names: of k columns of scores that somebody else gave, sorted; see `scored`.
        scores: [n, k], NaN where there is none; [0, 0] without such columns.

    Raises:
        UsageError: columns of different lengths.
    """

    ids: Strings
    texts: Strings
    sources: Strings = ()
    systems: Strings = ()
    items: Strings = ()
    tasks: Strings = ()
    score_names: Strings = ()
    scores: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))

    def __post_init__(self) -> None:
        shape = (len(self.texts), len(self.score_names)) if self.score_names else (0, 0)
        if np.shape(self.scores) != shape:
            raise UsageError(
                f"scores must be an array of {shape}, got {np.shape(self.scores)}"
            )
        for name in COLUMNS:
            column = getattr(self, name)
            if not isinstance(column, tuple):
                object.__setattr__(self, name, column := tuple(column))
            if len(column) != len(self.texts) and (column or name == "ids"):
                raise UsageError(f"{len(self.texts)} texts but {len(column)} {name}")

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, rows: IntArray | Sequence[int]) -> Self:
        """These texts alone, in the order given (of rated texts, each at most once)."""
        kept = {name: picked(column, rows) for name, column in columns_of(self).items()}
        which = np.asarray(rows, dtype=np.int64)
        scores = self.scores[which] if self.score_names else self.scores
        return replace(self, **kept, scores=scores, **self._more(which))

    def with_scores(self, names: Names) -> Self:
        """The same texts with these columns of scores alone; raises KeyError for another name."""
        return replace(self, **scored({name: self.score(name) for name in names}))

    def score(self, name: str) -> FloatArray:
        """[n] one column of scores; raises KeyError for another name."""
        return np.asarray(dict(zip(self.score_names, self.scores.T, strict=True))[name])

    def _more(self, rows: IntArray) -> dict[str, Any]:  # noqa: ARG002 - of those that have more
        """The further columns of some rows."""
        return {}


COLUMNS = tuple(f.name for f in fields(Texts) if not f.name.startswith("score"))


def columns_of(texts: Texts) -> dict[str, Any]:
    """The columns of strings by name, without what else is known of the texts."""
    return {name: getattr(texts, name) for name in COLUMNS}


def scored(
    columns: Mapping[str, Sequence[float | None] | FloatArray],
) -> dict[str, Any]:
    """Columns of scores as `Texts` keep them: `score_names` and `scores`, sorted by name.

    Args:
        columns: by name, [n] scores each; None or NaN where there is none.

    Raises:
        UsageError: columns of different lengths, a score that is no finite number.
    """
    names = tuple(sorted(columns))
    if len({len(columns[name]) for name in names}) > 1:
        raise UsageError("columns of scores must be of one length")
    try:
        values = [np.asarray(columns[name], dtype=np.float64) for name in names]
    except (TypeError, ValueError) as fault:
        raise UsageError(
            f"scores must be numbers, or None where there is none: {fault}"
        ) from fault
    if any(np.isinf(column).any() for column in values):
        raise UsageError("scores must be finite, or NaN where there is none")
    return {
        "score_names": names,
        "scores": np.stack(values, axis=1) if values else NO_SCORES,
    }


NO_SCORES = np.zeros((0, 0))


def sortable(scores: FloatArray, n: int) -> list[tuple[float, ...]]:
    """[n] rows of scores that compare with each other, a missing one as the lowest."""
    if not scores.size:
        return [()] * n
    return list(map(tuple, np.where(np.isnan(scores), -np.inf, scores).tolist()))


def picked(
    column: Sequence[_Entry], rows: IntArray | Sequence[int]
) -> tuple[_Entry, ...]:
    """These entries of a column; an absent column stays absent."""
    return tuple(map(column.__getitem__, np.asarray(rows).tolist())) if column else ()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class RatedPool(Texts):
    """Rated texts: what people have already judged (the papers' S).

    Attributes:
        human: [n] mean of each text's ratings; in [0, 1] with a scale, else in the raters'
            units.
        ratings: the single ratings behind the human rating.
        scale: the ratings' lowest and highest value, or None.
        named: whether the ids came from the user (else they count the texts).
    """

    human: FloatArray
    ratings: Ratings
    scale: Scale | None = None
    named: bool = False

    @property
    def of_verdicts(self) -> bool:
        """Whether all ratings are passes and fails: 1 and 0."""
        return bool(np.isin(self.ratings.values, (0, 1)).all())

    @property
    def has_several_ratings(self) -> bool:
        """Whether any text has two ratings or more."""
        return len(self.ratings.values) > len(self)

    def _more(self, rows: IntArray) -> dict[str, Any]:
        return {"human": self.human[rows], "ratings": self.ratings.of(rows, len(self))}

    def _summary(self) -> str:
        scale = (
            ""
            if self.scale is None
            else f" from {self.scale[0]:g} to {self.scale[1]:g}"
        )
        raters = counted(len(self.ratings.annotators), "annotator")
        rated = f"{counted(len(self.ratings.values), 'rating')}{scale}"
        by = f" by {raters}" if self.ratings.annotators else ""
        return f"{counted(len(self), 'text')}, {rated}{by}"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Outputs(Texts):
    """Texts to be judged.

    Attributes:
        references: [n] each output's own references, any number (for metrics).
        weights: [n] a weight for each of those references (for delta-BLEU).
        bad: [n] rows that could not be read and were kept as place holders, or empty.
    """

    references: tuple[Strings, ...] = ()
    weights: tuple[tuple[float, ...], ...] = ()
    bad: tuple[bool, ...] = ()

    def _more(self, rows: IntArray) -> dict[str, Any]:
        return {
            name: picked(getattr(self, name), rows)
            for name in ("references", "weights", "bad")
        }


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Estimates(ColumnRecord):
    """An estimator's answer for each output; undefined is NaN with a reason.

    Attributes:
        ids: [n] names of the outputs.
        values: [n] estimates, in the units of the pool's human rating; NaN where undefined.
        reasons: [n] why a value is undefined, "" where it is defined.
        support: [n] number of rated texts behind the estimate.
        low, high: [n] interval for the human rating of the text, NaN where there is none.
        sd: [n] posterior standard deviation, or empty for an estimator that has none.
    """

    ids: Strings
    values: FloatArray
    reasons: tuple[Reason, ...]
    support: IntArray
    low: FloatArray
    high: FloatArray
    sd: FloatArray = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def joined(
        cls, ids: Strings, parts: Iterable[tuple[IntArray, Estimates]]
    ) -> Estimates:
        """Estimates of some rows each as those of all; a row of no part has too few rated texts."""
        n = len(ids)
        values, low, high = (np.full(n, np.nan) for _ in range(3))
        support = np.zeros(n, dtype=np.int64)
        reasons = np.full(n, "too-few", dtype=object)
        for rows, part in parts:
            values[rows] = part.values
            support[rows] = part.support
            reasons[rows] = part.reasons
            low[rows] = part.low
            high[rows] = part.high
        given = tuple(reasons.tolist())
        return cls(
            ids=ids, values=values, reasons=given, support=support, low=low, high=high
        )

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, rows: IntArray) -> Self:
        """These estimates alone, in the order given."""
        names = ["values", "support", "low", "high"]
        if len(self.sd):
            names.append("sd")
        columns: dict[str, Any] = {name: getattr(self, name)[rows] for name in names}
        columns |= {
            name: picked(getattr(self, name), rows) for name in ("ids", "reasons")
        }
        return replace(self, **columns)

    def on(self, scale: Scale | None) -> Self:
        """The same in the raters' units, as people read estimates; unchanged without a scale."""
        if scale is None:
            return self
        low = scale[0]
        unit = scale[1] - scale[0]
        moved = {
            name: getattr(self, name) * unit + low for name in ("values", "low", "high")
        }
        return replace(self, **moved, sd=self.sd * unit)

    @property
    def defined(self) -> BoolArray:
        """[n] where there is an estimate."""
        return ~np.isnan(self.values)

    @property
    def coverage(self) -> float:
        """Share of outputs with an estimate (definition 3.3); NaN without outputs."""
        return float(self.defined.mean()) if len(self) else float("nan")

    def _summary(self) -> str:
        return (
            f"{counted(len(self), 'text')}, {int(self.defined.sum())} with an estimate"
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Residuals(ColumnRecord):
    """Human rating minus held-out estimate of rated texts: what intervals are made of.

    Attributes:
        values: [m], finite: each text held out with those of its source, item or group.
        sources, systems: [m] sources (or items, or groups) and systems of these texts, or empty.
        alone: [m] held out alone, for outputs on these sources; afar: [m] held out with its whole
            system, for outputs of others. Empty if there is none, NaN undefined.
        human: [m] the ratings, or empty; ends: the lowest and highest that there are.
    """

    values: FloatArray
    sources: Strings = ()
    systems: Strings = ()
    alone: FloatArray = field(default_factory=lambda: np.zeros(0))
    afar: FloatArray = field(default_factory=lambda: np.zeros(0))
    human: FloatArray = field(default_factory=lambda: np.zeros(0))
    ends: tuple[float, float] = (-np.inf, np.inf)

    @property
    def all_equal(self) -> bool:
        """Whether all ratings are the same; then errors of 0 are no proof of certainty."""
        return len(self.human) > 0 and bool(np.ptp(self.human) == 0)

    def on(self, scale: Scale | None) -> Self:
        """The same in the raters' units; unchanged without a scale."""
        if scale is None:
            return self
        unit = scale[1] - scale[0]
        errors = {
            name: getattr(self, name) * unit for name in ("values", "alone", "afar")
        }
        return replace(self, **errors, human=self.human * unit + scale[0], ends=scale)

    def __len__(self) -> int:
        return len(self.values)


def residuals_of(errors: Residuals | FloatArray) -> Residuals:
    """Residuals from a plain array; Residuals pass through."""
    return (
        errors
        if isinstance(errors, Residuals)
        else Residuals(values=np.asarray(errors))
    )


def ends_of(scale: Scale | None) -> tuple[float, float]:
    """Lowest and highest human rating: those of a scale are 0 and 1, without one there are none."""
    return (-np.inf, np.inf) if scale is None else (0.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbor:
    """One rated text in the evidence for one output.

    Attributes:
        id, text, rating: the rated text and its human rating.
        similarity: kernel value k(output, rated text).
        share: signed share of this text in the estimate.
        shared: longest n-grams that both texts hold, most telling first.
        n_ratings: how many people rated it.
    """

    id: str
    text: str
    rating: float
    similarity: float
    share: float
    shared: Strings = ()
    n_ratings: int = 1


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Predictions(ColumnRecord):
    """Predictions beside human rating: what every study reads.

    Attributes:
        id: [n] names of the texts; item, group, task, system: [n] or empty.
        human: [n] human rating, finite.
        predicted: [n] prediction, NaN where undefined.
        reason: [n] why a prediction is undefined, "" where it is defined.
    """

    id: Strings
    human: FloatArray
    predicted: FloatArray
    reason: Strings
    item: Strings = ()
    group: Strings = ()
    task: Strings = ()
    system: Strings = ()

    def __len__(self) -> int:
        return len(self.id)

    def take(self, rows: IntArray) -> Self:
        """These texts alone, in the order given."""
        names = ("id", "reason", "item", "group", "task", "system")
        columns: dict[str, Any] = {
            name: picked(getattr(self, name), rows) for name in names
        }
        return replace(
            self, **columns, human=self.human[rows], predicted=self.predicted[rows]
        )


def numbered(n: int) -> Strings:
    """Ids for rows without one: "1", "2", ... in the order given."""
    return tuple(map(str, range(1, n + 1)))


def outputs_of(texts: Outputs | Names) -> Outputs:
    """Outputs from plain texts; Outputs pass through.

    Raises:
        UsageError: for a bare string, which would be read letter by letter.
    """
    if isinstance(texts, Outputs):
        return texts
    if isinstance(texts, str):
        raise UsageError("a list of texts is needed, got one string; wrap it in a list")
    return Outputs(ids=numbered(len(texts)), texts=tuple(texts))


def as_outputs(pool: Texts) -> Outputs:
    """The pool's own texts as outputs, for held-out evaluation."""
    return Outputs(**columns_of(pool), score_names=pool.score_names, scores=pool.scores)
