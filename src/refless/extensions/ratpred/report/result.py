"""A trained model: the result of `refless train`."""

import math
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np

from refless.evaluation.differences import difference
from refless.evaluation.held_out import Agreement
from refless.extensions.ratpred.report.course import Course, Told, Trained, courses
from refless.extensions.ratpred.report.figures import epochs_sections, scatter_section
from refless.registry.plural import counted
from refless.report.document import Document, Section, Table, caveats
from refless.report.export import Rows
from refless.report.record import Count, Record, Signed, record
from refless.report.result import Result
from refless.report.wording import MEASURES, interval, measure, number, title, with_interval

FEWEST = 20  # texts that a verdict needs
OPTIMISTIC = (
    "These texts also chose the epoch to keep, so the numbers are optimistic. With the estimator "
    "ratpred, 'refless validate' estimates every rated text by networks that have not seen it; "
    "they are of the published size and schedule, whatever was asked for here."
)


@dataclass(frozen=True, kw_only=True)
class Epoch:
    """One epoch of a network; `synthetic`: whether it learned from synthetic errors."""

    network: Count
    epoch: Count
    synthetic: Literal["yes", "no"]
    loss: float
    pearson: float
    spearman: float
    best: Literal["yes", "no"]


@dataclass(frozen=True, kw_only=True)
class Network(Epoch):
    """The epoch of a network that was kept, and how many there were."""

    epochs: Count


@dataclass(frozen=True, kw_only=True)
class TrainRecord(Record):
    """A trained model.

    Attributes:
        model: its folder.
        n: rated texts; n_references: people's texts taken for perfect.
        validation: agreement on the texts that were kept aside.
    """

    command: Literal["train"] = "train"
    signature: Signed
    model: str
    n: Count
    n_references: Count
    validation: Agreement
    networks: tuple[Network, ...]
    curve: tuple[Epoch, ...]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class TrainResult(Result):
    """A trained model, and how it does on the texts that were kept aside."""

    record = TrainRecord
    trained: Trained

    def _shown(self) -> Document:
        """How the model agrees with people on the validation split, and how it got there."""
        trained, networks = self.trained, courses(self.trained.model)
        return Document(
            title=f"RatPred trained on {counted(trained.size, 'rated text')}",
            verdict=train_verdict(trained),
            notes=(OPTIMISTIC, *_beside_a_constant(trained)),
            facts=_facts(trained, networks),
            sections=(
                _agreement(trained),
                *scatter_section(trained),
                *epochs_sections(trained, networks),
                _use(trained),
                caveats(),
            ),
        )

    def _json(self) -> Record:
        trained = self.trained
        return self._record(
            model=trained.path,
            n=trained.size,
            n_references=trained.references,
            validation=trained.agreement,
            networks=tuple(map(_network, courses(trained.model))),
            curve=tuple(map(_epoch, trained.model.history)),
        )

    def _rows(self) -> Rows:
        """One mapping an epoch of each network."""
        return [asdict(_epoch(told)) for told in self.trained.model.history]


def _network(course: Course) -> Network:
    kept = _epoch(course.epochs[course.kept])
    return record(Network, kept, epochs=len(course.epochs))


def _epoch(told: Told) -> Epoch:
    return Epoch(
        network=told["network"] + 1,
        epoch=told["number"],
        synthetic="yes" if told["synthetic"] else "no",
        loss=told["loss"],
        pearson=math.nan if told["pearson"] is None else told["pearson"],
        spearman=math.nan if told["spearman"] is None else told["spearman"],
        best="yes" if told["best"] else "no",
    )


def train_verdict(trained: Trained) -> str:
    """One sentence on how the model agrees with people on the validation split."""
    found, networks = trained.agreement, len(courses(trained.model))
    name = "the network" if networks == 1 else f"the mean of {networks:,} networks"
    if found.n < FEWEST:
        return (
            f"{counted(found.n, 'rated text')} in the validation split "
            f"{'is' if found.n == 1 else 'are'} too few to tell how well {name} agrees with "
            "people; 'refless validate' is the test."
        )
    start = f"On the {found.n:,} rated texts of the validation split {name}"
    low, high = found.spearman_interval
    if math.isnan(low):
        why = found.undefined.get("spearman", "their agreement has no interval")
        return f"{start} cannot be compared with people: {why}."
    if high < 0:
        said = "ranks texts against people's ratings"
    elif low <= 0:
        said = "shows no agreement with people that chance could not explain"
    else:
        said = "agrees with people"
    return (
        f"{start} {said}, Spearman {measure(found, 'spearman')}; this is optimistic, and "
        "'refless validate' is the test."
    )


def _beside_a_constant(trained: Trained) -> tuple[str, ...]:
    """That errors are not shown to be lower than a constant's, where they are not."""
    human, values = trained.model.validation
    if not len(human):
        return ()
    constant = np.full(len(human), human.mean())
    found = difference("mse", human, constant, values, seed=trained.seed)
    if found.interval[0] > 0 or math.isnan(found.value):
        return ()
    said = (
        f"Its mean squared error, {measure(trained.agreement, 'mse')}, is not shown to be lower "
        f"than that of giving every text the mean rating, {number(float(np.var(human)), 4)} "
        f"(difference {with_interval(found.value, found.interval, 4)}): it may rank texts, but "
        "its estimates are no ratings to rely on."
    )
    return (said,)


def _facts(trained: Trained, networks: Sequence[Course]) -> tuple[tuple[str, str, str], ...]:
    found, first = trained.agreement, networks[0]
    kept = (
        ("Kept epoch", str(first.kept + 1), f"of {len(first.epochs):,}")
        if len(networks) == 1
        else ("Networks", str(len(networks)), "whose mean is the estimate")
    )
    return (
        ("Spearman", number(found.spearman), interval(found.spearman_interval)),
        ("Pearson", number(found.pearson), interval(found.pearson_interval)),
        ("Mean squared error", number(found.mse, 4), interval(found.mse_interval, 4)),
        kept,
    )


def _agreement(trained: Trained) -> Section:
    """Errors and correlations on the validation split."""
    found = trained.agreement
    names = [name for name in MEASURES if name != "auc"]
    rated = counted(trained.size, "rated text")
    return Section(
        title="Agreement with people on the validation split",
        lines=(f"Kept aside, and used to choose the epoch: {found.n} of {rated}.",),
        table=Table(
            header=("", "network [95 %]"),
            rows=tuple((title(name), measure(found, name)) for name in names),
        ),
    )


def _use(trained: Trained) -> Section:
    """Where the model is, and the command that uses it."""
    command = f"refless score OUTPUTS --model {shlex.quote(trained.path)}"
    lines = (f"The model is in {trained.path}. To use it:", f"  {command}")
    return Section(title="To use the model", lines=lines)
