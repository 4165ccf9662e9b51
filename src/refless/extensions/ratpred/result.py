"""A trained model: the result of `refless train`."""

import math
import shlex
from dataclasses import dataclass
from typing import Literal

import numpy as np

from refless.data.records import Predictions, numbered
from refless.evaluation.differences import difference
from refless.evaluation.held_out import Agreement, agreement
from refless.extensions.ratpred.model import Course, Model
from refless.registry.dialect import called
from refless.registry.plural import counted
from refless.report.document import Document, Section, Table, caveats
from refless.report.export import Rows
from refless.report.record import Count, Record, Signed
from refless.report.result import Result
from refless.report.wording import MEASURES, fact, measure, number, title, with_interval

FEWEST = 20  # texts that a verdict needs
CHOICE = (
    "After each epoch a network estimates the texts of the validation split, and its epoch with "
    "the highest Pearson + Spearman is kept. Each network is looked at alone, before its estimates "
    "are calibrated and clipped, so these correlations differ a little from those above."
)
LATE = 0.1  # share of the epochs, the last ones, in which the best one suggests that more may help


@dataclass(frozen=True, kw_only=True)
class TrainedNetwork(Course):
    """The course of a network's training, with the network's number, from 1."""

    network: Count


@dataclass(frozen=True, kw_only=True)
class TrainRecord(Record):
    """A trained model.

    Attributes:
        model: its file.
        n: rated texts; n_references: people's texts taken for perfect.
        validation: agreement on the texts that were kept aside.
    """

    command: Literal["train"] = "train"
    signature: Signed
    model: str
    n: Count
    n_references: Count
    validation: Agreement
    networks: tuple[TrainedNetwork, ...]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class TrainResult(Result):
    """A trained model, and how it does on the texts that were kept aside.

    Attributes:
        path: file of the model; model: what is in it.
        agreement: with people, on the validation split.
        n: rated texts; n_references: people's texts added to them.
        seed: of intervals.
    """

    record = TrainRecord
    path: str
    model: Model
    agreement: Agreement
    n: int
    n_references: int
    seed: int

    def _shown(self) -> Document:
        """Agreement of the model with people on the validation split, and its training."""
        return Document(
            title=f"RatPred trained on {counted(self.n, 'rated text')}",
            verdict=self._verdict(),
            notes=(_optimistic(), *self._beside_a_constant()),
            facts=self._facts(),
            sections=(self._agreement(), self._networks(), self._use(), caveats()),
        )

    def _json(self) -> Record:
        return self._record(
            model=self.path,
            n=self.n,
            n_references=self.n_references,
            validation=self.agreement,
            networks=tuple(TrainedNetwork(**row) for row in self._rows()),
        )

    def _rows(self) -> Rows:
        """One mapping a network."""
        return [
            {"network": i, **{name: getattr(course, name) for name in Course.__slots__}}
            for i, course in enumerate(self.model.courses, 1)
        ]

    def _verdict(self) -> str:
        """One sentence on how the model agrees with people on the validation split."""
        found = self.agreement
        networks = len(self.model.courses)
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

    def _beside_a_constant(self) -> tuple[str, ...]:
        """That errors are not shown to be lower than a constant's, where they are not."""
        human, values = self.model.validation
        if not len(human):
            return ()
        constant = np.full(len(human), human.mean())
        found = difference("mse", human, constant, values, seed=self.seed)
        if found.interval[0] > 0 or math.isnan(found.value):
            return ()
        said = (
            f"Its mean squared error, {measure(self.agreement, 'mse')}, is not shown to be lower "
            "than that of giving every text the mean rating, "
            f"{number(float(np.var(human)), 4)} (difference "
            f"{with_interval(found.value, found.interval, 4)}): it may rank texts, but its "
            "estimates are no ratings to rely on."
        )
        return (said,)

    def _facts(self) -> tuple[tuple[str, str, str], ...]:
        found = self.agreement
        (first, *others) = self.model.courses
        kept = ("Kept epoch", str(first.kept), f"of {first.epochs:,}")
        if others:
            kept = ("Networks", str(1 + len(others)), "whose mean is the estimate")
        return (
            ("Spearman", *fact(found.spearman, found.spearman_interval)),
            ("Pearson", *fact(found.pearson, found.pearson_interval)),
            ("Mean squared error", *fact(found.mse, found.mse_interval, 4)),
            kept,
        )

    def _agreement(self) -> Section:
        """Errors and correlations on the validation split."""
        found = self.agreement
        names = [name for name in MEASURES if name != "auc"]
        rated = counted(self.n, "rated text")
        return Section(
            title="Agreement with people on the validation split",
            lines=(f"Kept aside, and used to choose the epoch: {found.n} of {rated}.",),
            table=Table(
                header=("", "network [95 %]"),
                rows=tuple((title(name), measure(found, name)) for name in names),
            ),
        )

    def _networks(self) -> Section:
        """The epoch of each network that was kept, and whether more may do better."""
        courses = self.model.courses
        most = self.model.settings.epochs
        late = sum(
            course.epochs >= most and course.kept > (1 - LATE) * course.epochs
            for course in courses
        )
        where = "" if len(courses) == 1 else f" of {late} of {len(courses)} networks"
        advice = f"The best epoch{where} is among the last: more epochs may do better."
        rows = tuple(
            (
                str(i),
                f"{course.epochs:,}",
                f"{course.kept:,}",
                number(course.pearson),
                number(course.spearman),
            )
            for i, course in enumerate(courses, 1)
        )
        header = ("network", "epochs", "kept", "Pearson", "Spearman")
        return Section(
            title="The epoch that was kept",
            lines=(CHOICE, *((advice,) if late else ())),
            table=Table(header=header, rows=rows, numeric=(True,) * len(header)),
        )

    def _use(self) -> Section:
        """The path of the model, and the command that uses it."""
        command = f"refless score OUTPUTS --model {shlex.quote(self.path)}"
        lines = (f"The model is in {self.path}. To use it:", f"  {command}")
        return Section(title="To use the model", lines=lines)


def kept_aside(model: Model, seed: int) -> Agreement:
    """Agreement of a model with people on the validation split, which chose its epochs."""
    human, values = model.validation
    judged = Predictions(
        id=numbered(len(human)),
        human=human,
        predicted=values,
        reason=("",) * len(human),
    )
    return agreement(judged, seed=seed)


def _optimistic() -> str:
    """The reason why the numbers of a training are better than those of new texts."""
    same = called("estimator")
    return (
        "These texts also chose the epoch to keep, so the numbers are optimistic. 'refless "
        f"validate' with the same {same} estimates every rated text by networks that have not "
        "seen it."
    )
