"""The view of `refless train`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from refless.records import Judged, numbered
from refless.report.parts import FORMAT, MEASURES, measure, signature_section, title
from refless.report.view import Cell, Section, Table, View, number
from refless.signature import Signature
from refless.stats.resampling import RESAMPLES
from refless.studies.held_out import Agreement, agreement
from refless.studies.held_out import as_dict as agreement_dict

if TYPE_CHECKING:
    from refless.estimators.ratpred.model import Model

SHOWN = 12  # passes of a curve that are shown to people
Told = Mapping[str, Any]  # one pass of one network, as a model keeps it


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Trained:
    """A trained model and where it lies.

    Attributes:
        folder: with the model; model: what is in it.
        agreement: with people, on the texts kept aside.
        size: rated texts; references: people's texts added to them.
        signature: everything that can change its estimates.
        seed: of what is drawn besides.
    """

    folder: str
    model: Model
    agreement: Agreement
    size: int
    references: int
    signature: Signature
    seed: int


def kept_aside(model: Model, seed: int) -> Agreement:
    """How a model agrees with people on the texts that chose its passes."""
    truth, values = model.development
    judged = Judged(
        id=numbered(len(truth)), human=truth, predicted=values, reason=("",) * len(truth)
    )
    return agreement(judged, seed=seed, resamples=RESAMPLES)


def train_view(trained: Trained) -> View:
    """The view of `refless train`: how the model does on the texts kept aside, and its curve."""
    found, networks = trained.agreement, courses(trained.model)
    signature = trained.signature.plus(ci=found.interval_method)
    lines = [_line(told) for told in trained.model.curve]
    json = {
        "format": FORMAT,
        "command": "train",
        "signature": str(signature),
        "model": trained.folder,
        "n": trained.size,
        "n_references": trained.references,
        "development": agreement_dict(found),
        "members": [_member(course) for course in networks],
        "curve": lines,
    }
    sections = (
        agreement_section(trained),
        *(_curve_section(course, i) for i, course in enumerate(networks, 1)),
        use_section(trained),
        signature_section(signature),
    )
    return View(json=json, rows=lines, sections=sections)


def agreement_section(trained: Trained) -> Section:
    """Errors and correlations on the texts kept aside."""
    found = trained.agreement
    return Section(
        title="Agreement with people on the texts kept aside",
        lines=(
            f"{found.n} of {trained.size} rated texts were kept aside and chose the pass to keep.",
            "They are judged a little too kindly: 'refless validate' is the test.",
        ),
        table=Table(
            header=("", "network [95 %]"),
            rows=tuple((title(name), measure(found, name)) for name in MEASURES if name != "auc"),
            numeric=(False, True),
        ),
    )


def use_section(trained: Trained) -> Section:
    """Where the model is, and the command that uses it."""
    command = f"refless score OUTPUTS --estimator ratpred --model {shlex.quote(trained.folder)}"
    return Section(lines=(f"The model is in {trained.folder}. To use it:", f"  {command}"))


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """How one network's training went: its passes in order, and the place of the one kept."""

    passes: Sequence[Told]
    kept: int

    @property
    def synthetic(self) -> int:
        """How many of the passes, the first ones, learned from made errors too."""
        return sum(told["synthetic"] for told in self.passes)


def courses(model: Model) -> list[Course]:
    """Each network's course."""
    found = []
    for member in sorted({told["member"] for told in model.curve}):
        own = [told for told in model.curve if told["member"] == member]
        found.append(Course(own, max(i for i, told in enumerate(own) if told["best"])))
    return found


def _member(course: Course) -> dict[str, Cell]:
    """The pass that was kept, and how many there were."""
    kept = course.passes[course.kept]
    return {
        "best_pass": kept["number"],
        "passes": len(course.passes),
        "pearson": _plain(kept["pearson"]),
        "spearman": _plain(kept["spearman"]),
    }


def _line(told: Told) -> dict[str, Cell]:
    """One pass, for JSON and CSV."""
    return {
        "member": told["member"] + 1,
        "pass": told["number"],
        "synthetic": "yes" if told["synthetic"] else "no",
        "loss": told["loss"],
        "pearson": _plain(told["pearson"]),
        "spearman": _plain(told["spearman"]),
        "best": "yes" if told["best"] else "no",
    }


def _plain(value: float | None) -> float | None:
    return None if value is None or value != value else value


def curve_table(course: Course, places: Sequence[int]) -> Table:
    """The passes at some places of a course."""
    rows = tuple(
        (
            str(course.passes[i]["number"]),
            "made errors too" if course.passes[i]["synthetic"] else "rated texts",
            number(course.passes[i]["loss"]),
            number(course.passes[i]["pearson"]),
            number(course.passes[i]["spearman"]),
            "kept" if i == course.kept else "",
        )
        for i in places
    )
    header = ("pass", "learned from", "loss", "Pearson", "Spearman", "")
    return Table(header=header, rows=rows, numeric=(True, False, True, True, True, False))


def _curve_section(course: Course, number: int) -> Section:
    """Some passes of one network, the one that was kept among them."""
    n = len(course.passes)
    places = {*np.linspace(0, n - 1, min(SHOWN, n)).astype(int).tolist(), course.kept}
    return Section(title=f"Network {number}: {n} passes", table=curve_table(course, sorted(places)))
