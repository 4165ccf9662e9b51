"""The results of `refless rate` and `refless serve`: items to be rated, a served estimator."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from refless.data.records import Outputs
from refless.estimators import Estimator
from refless.extensions.serve.project import Project
from refless.registry.plural import counted
from refless.report.document import Document, Section
from refless.report.record import Count, Record, Signed
from refless.report.result import Result

Ask = Literal["rating", "pair", "best"]
LOCAL = {"127.0.0.1", "localhost", "::1"}  # addresses that only this machine opens


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """The questions that raters are asked, and of which items.

    Attributes:
        ask: for a number on the scale, for the better one of a pair, or for the best of several.
        scale: lowest and highest rating; dimensions: what is rated, at least one name; scales: of
            dimensions that have another one.
        per_item: ratings of each item; overlap: share of the items that every rater is shown.
        repeat: share of what a rater is shown that was rated before; audit: share at random.
        seed: of all orders; project: what raters are told, and the lease of items.
    """

    ask: Ask = "rating"
    scale: tuple[float, float] = (1.0, 5.0)
    dimensions: tuple[str, ...] = ("quality",)
    scales: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    per_item: int = 1
    overlap: float = 0.1
    repeat: float = 0.05
    audit: float = 0.5
    seed: int = 0
    project: Project = Project()  # noqa: RUF009 - frozen

    def scale_of(self, dimension: str) -> tuple[float, float]:
        """Lowest and highest rating of a dimension."""
        return self.scales.get(dimension, self.scale)

    def steps_of(self, dimension: str) -> tuple[int, ...]:
        """The ratings that can be given."""
        low, high = map(int, self.scale_of(dimension))
        return tuple(range(low, high + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """The address of a service, and its database: SQLAlchemy's URL, if any.

    Headers of a `proxy`, an address or a network, say whence a request came.
    """

    host: str
    port: int
    proxy: str = ""
    database: str = ""

    @property
    def place(self) -> str:
        """The name of SQLite's file; of a server, which has a password in its URL, its kind."""
        name = self.database.removeprefix("sqlite:///")
        return "PostgreSQL" if "://" in name else name


@dataclass(frozen=True, kw_only=True)
class RateRecord(Record):
    """The question, the number of items, and the place of the ratings."""

    command: Literal["rate"] = "rate"
    signature: Signed
    ask: Ask
    scale: tuple[float, float]
    dimensions: tuple[str, ...]
    n_items: Count
    n_rated: Count
    database: str


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class RateResult(Result):
    """The items to be rated; `app.run` serves them.

    Attributes:
        outputs: the texts; items: [n] which of them each item asks about.
        rated: rows of rated texts that were there before, as plain dicts.
        task: how; where: on which address, into which database.
        estimator: its specification; raters: personal links that are printed.
        backup: a file to copy the database to, instead of serving it; restore: a file to put in
            its place.
    """

    record = RateRecord
    server = "refless.extensions.serve.app"
    signs = False
    outputs: Outputs
    items: tuple[tuple[int, ...], ...]
    rated: tuple[Mapping[str, Any], ...] = ()
    task: Task
    where: Where
    estimator: str
    raters: int = 1
    backup: str | None = None
    restore: str | None = None

    def _shown(self) -> Document:
        """The text in the terminal before the links."""
        items = counted(len(self.items), "item")
        low, high = self.task.scale_of(self.task.dimensions[0])
        verdict = (
            f"{counted(len(self.items), 'output')} to rate, from {low:g} to {high:g}."
        )
        if self.task.ask != "rating":
            verdict = f"{items} to compare, {counted(len(self.items[0]), 'text')} each."
        lines = [f"Ratings are kept in {self.where.place}."]
        if self.where.host in LOCAL:
            lines.append(
                "Only this machine opens the links. Phones in the same Wi-Fi do with --host "
                "0.0.0.0: unencrypted, so in a network that you trust."
            )
        return Document(
            title="refless rate",
            verdict=verdict,
            sections=(Section(lines=tuple(lines)),),
        )

    def _json(self) -> Record:
        n = len(self.items)
        place = self.where.place
        return self._record(
            self.task, n_items=n, n_rated=len(self.rated), database=place
        )


@dataclass(frozen=True, kw_only=True)
class ServeRecord(Record):
    """The number of rated texts behind the served estimator."""

    command: Literal["serve"] = "serve"
    signature: Signed
    n: Count


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ServeResult(Result):
    """An estimator to serve. `estimator` is fitted."""

    record = ServeRecord
    server = "refless.extensions.serve.app"
    estimator: Estimator
    where: Where

    def _shown(self) -> Document:
        """The text in the terminal before the address."""
        n = counted(len(self.estimator.rated), "rated text")
        verdict = f"Estimates by {self.estimator.title}, from {n}."
        return Document(title="refless serve", verdict=verdict)

    def _json(self) -> Record:
        return self._record(n=len(self.estimator.rated))
