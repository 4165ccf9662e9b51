"""The input of a look at one dimension, from the database of the ratings."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from refless.commands.compare.certificate import Arguments
from refless.commands.compare.claims import RACE
from refless.extensions.serve.careless import FirstAnswer, answers_of, careless
from refless.extensions.serve.exports import (
    BEFORE,
    COMPARED,
    OUTPUTS,
    Snapshot,
    ratings_of,
    repeats_of,
)
from refless.extensions.serve.planned import (
    Round,
    is_due,
    items_answered,
    looks_from,
)
from refless.extensions.serve.result import Ask

Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The input of one look at one dimension; rows are as exports have them.

    Attributes:
        ask, dimension: what raters are asked; dimension is "" if it is the only one.
        items: how many there are; scale, seed: of the task; estimator: its specification.
        ratings: those that count; first: before anybody decided; audit: of items drawn at random.
        rated: those of before; outputs: all that are to be rated.
        answers: first answers, for carelessness; gold: right values by item.
        repeats: pairs of ratings of one item by one rater.
        revoked: raters who have no link now.
        until: what ends the round; model: a file for the fitted estimator, if any.
        folder: of the files that are compared; compared: the name of the ratings there.
        due: numbers of rated items at which looks are planned; taken: those looks that were.
        kept: systems that were dropped and put back; exhausted: whether nothing is left to rate.
        now: whether a planned look is to be taken.
    """

    ask: Ask
    dimension: str = ""
    items: int
    scale: tuple[float, float]
    seed: int
    estimator: str
    ratings: Rows
    first: Rows
    audit: Rows
    rated: Rows
    outputs: Rows
    answers: Sequence[FirstAnswer]
    gold: Mapping[int, float]
    repeats: Sequence[tuple[float, float]]
    revoked: Collection[str]
    until: str
    model: str
    folder: str
    compared: str = COMPARED
    due: Sequence[int] = ()
    taken: Round = Round()  # noqa: RUF009 - frozen
    kept: Collection[str] = ()
    exhausted: bool = False
    now: bool = False

    @property
    def systems(self) -> set[str]:
        """The systems whose outputs are rated, but for those dropped."""
        return {row.get("system", "") for row in self.outputs} - {
            *self.taken.dropped(self.kept)
        }

    @property
    def careless(self) -> dict[str, list[str]]:
        """The raters who seem careless, with the reasons."""
        reach = self.scale[1] - self.scale[0] if self.ask == "rating" else 1.0
        return careless(self.answers, self.gold, reach)

    @property
    def left_out(self) -> set[str]:
        """The raters on whom no decision rests: careless ones, and those without a link."""
        rated = {row["annotator"] for row in self.audit}
        return rated & {*self.careless, *self.revoked}

    @property
    def careful(self) -> Rows:
        """The ratings of items drawn at random, by the other raters."""
        left_out = self.left_out
        return [row for row in self.audit if row["annotator"] not in left_out]

    @property
    def rated_items(self) -> int:
        """Items of which all systems that are left have a rating."""
        return items_answered(self.audit, self.systems)

    @property
    def race(self) -> bool:
        """Whether the question is which system is the best."""
        return self.until == RACE

    @property
    def is_due(self) -> bool:
        """Whether as many items are rated as the next planned look needs."""
        return is_due(self.taken, self.rated_items, self.due, exhausted=self.exhausted)

    @property
    def arguments(self) -> Arguments:
        """The arguments of the command on the owner's page, about the files on that page."""
        dimension = self.dimension or None
        if self.ask != "rating":
            return Arguments(outputs=(self.compared,), dimension=dimension)
        before = (BEFORE,) if self.rated else ()
        looks = "any"
        if self.due:
            at = looks_from(self.taken, self.rated_items, self.due)
            looks = ",".join(map(str, at))
        return Arguments(
            outputs=(OUTPUTS,),
            rated=(*before, self.compared),
            scale=self.scale,
            dimension=dimension,
            estimator=self.estimator,
            selection="random",
            seed=self.seed,
            looks=looks,
            of=self.due[-1] if self.due else None,
        )


def job_of(settings: Mapping[str, Any], now: Snapshot, dimension: str) -> Job:
    """The job of one look, from its settings and the ratings of one dimension."""

    def rows_about(rows: Rows) -> Rows:
        return [row for row in rows if row.get("dimension", dimension) == dimension]

    gold = {}
    for item in settings["gold"]:
        if item["id"] in now.names and item["dimension"] in ("", dimension):
            number = now.names.index(item["id"]) + 1
            gold[number] = item["answer"]
    outputs = [*chain(*now.texts)] if now.ask == "rating" else []
    ratings = rows_about(ratings_of(now))
    first = rows_about(ratings_of(now, first=True))
    audit = rows_about(ratings_of(now, audit=True))
    return Job(
        ask=now.ask,
        dimension=dimension if len(now.dimensions) > 1 else "",
        items=len(now.texts),
        scale=now.scales.get(dimension, now.scale),
        seed=now.seed,
        estimator=settings["estimator"],
        ratings=ratings,
        first=first,
        audit=audit,
        rated=rows_about(settings["rated"]),
        outputs=outputs,
        answers=answers_of(now.current, dimension, now.ask),
        gold=gold,
        repeats=repeats_of(now, dimension),
        revoked=settings["revoked"],
        until=settings["until"],
        model=settings["model"] if dimension == now.dimensions[0] else "",
        folder=settings["folder"],
        kept=settings["kept"],
    )
