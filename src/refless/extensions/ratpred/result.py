"""A trained model: the result of `refless train`."""

import math
import shlex
from dataclasses import dataclass
from typing import Literal

import numpy as np

from refless.data.records import Predictions, numbered
from refless.evaluation.differences import difference
from refless.evaluation.held_out import Agreement, agreement, measured
from refless.extensions.ratpred.model import Course, Model
from refless.registry.dialect import called
from refless.registry.plural import counted
from refless.report.document import Document, Section, Table
from refless.report.export import Rows
from refless.report.record import Count, Record, Signed
from refless.report.result import Result
from refless.report.wording import number, with_interval
from refless.stats.measures import MEASURES

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
        rated = counted(self.n, "rated text")
        sections = (self._agreement(), self._networks(), self._use())
        return Document(
            title=f"RatPred trained on {rated}",
            verdict=self._verdict(),
            notes=(_optimistic(), *self._against_a_constant()),
            sections=sections,
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
        rows = []
        for i, course in enumerate(self.model.courses, 1):
            numbers = {name: getattr(course, name) for name in Course.__slots__}
            rows.append({"network": i, **numbers})
        return rows

    def _verdict(self) -> str:
        """One sentence on how the model agrees with people on the validation split."""
        agreement = self.agreement
        n = agreement.n
        networks = len(self.model.courses)
        name = "the network" if networks == 1 else f"the mean of {networks:,} networks"
        if n < FEWEST:
            verb = "is" if n == 1 else "are"
            return (
                f"{counted(n, 'rated text')} in the validation split {verb} too few to tell how "
                f"well {name} agrees with people; 'refless validate' is the test."
            )
        start = f"On the {n:,} rated texts of the validation split {name}"
        low, high = agreement.spearman_interval
        if math.isnan(low):
            default = "their agreement has no interval"
            why = agreement.undefined.get("spearman", default)
            return f"{start} cannot be compared with people: {why}."
        if high < 0:
            finding = "ranks texts against people's ratings"
        elif low <= 0:
            finding = "shows no agreement with people that chance could not explain"
        else:
            finding = "agrees with people"
        return (
            f"{start} {finding}, Spearman {measured(agreement, 'spearman')}; this is optimistic, "
            "and 'refless validate' is the test."
        )

    def _against_a_constant(self) -> tuple[str, ...]:
        """A sentence if errors are not shown to be lower than a constant's."""
        human, values = self.model.validation
        if not len(human):
            return ()
        constant = np.full(len(human), human.mean())
        gain = difference("mse", human, constant, values, seed=self.seed)
        if gain.interval[0] > 0 or math.isnan(gain.value):
            return ()
        variance = number(float(np.var(human)), 4)
        sentence = (
            f"Its mean squared error, {measured(self.agreement, 'mse')}, is not shown to be lower "
            f"than that of giving every text the mean rating, {variance} (difference "
            f"{with_interval(gain.value, gain.interval, 4)}): it may rank texts, but its "
            "estimates are no ratings to rely on."
        )
        return (sentence,)

    def _agreement(self) -> Section:
        """Errors and correlations on the validation split."""
        agreement = self.agreement
        rated = counted(self.n, "rated text")
        line = f"Kept aside, and used to choose the epoch: {agreement.n} of {rated}."
        names = [name for name in MEASURES if name != "auc"]
        rows = tuple(
            (MEASURES[name].title, measured(agreement, name)) for name in names
        )
        return Section(
            title="Agreement with people on the validation split",
            lines=(line,),
            table=Table(header=("", "network [95 %]"), rows=rows),
        )

    def _networks(self) -> Section:
        """The epoch of each network that was kept, and whether more may do better."""
        courses = self.model.courses
        most = self.model.settings.epochs
        late = sum(
            course.epochs >= most and course.kept > (1 - LATE) * course.epochs
            for course in courses
        )
        lines = [CHOICE]
        if late:
            of = "" if len(courses) == 1 else f" of {late} of {len(courses)} networks"
            lines.append(
                f"The best epoch{of} is among the last: more epochs may do better."
            )
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
            lines=tuple(lines),
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
