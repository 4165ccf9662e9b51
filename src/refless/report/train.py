"""The view of `refless train`."""

from __future__ import annotations

from collections.abc import Mapping
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


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Trained:
    """A trained model and where it lies.

    Attributes:
        folder: with the model; model: what is in it.
        size: rated texts; references: people's texts added to them.
        signature: everything that can change its estimates; seed: of the bootstrap too.
    """

    folder: str
    model: Model
    size: int
    references: int
    signature: Signature
    seed: int


def train_view(trained: Trained) -> View:
    """The view of `refless train`: how the model does on the texts kept aside, and its curve."""
    model = trained.model
    found = _agreement(trained)
    members = _members(model.curve)
    json = {
        "format": FORMAT,
        "command": "train",
        "signature": str(trained.signature.plus(ci=found.interval_method)),
        "model": trained.folder,
        "n": trained.size,
        "n_references": trained.references,
        "development": agreement_dict(found),
        "members": members,
        "curve": [_line(told) for told in model.curve],
    }
    kept = f"{found.n} of {trained.size} rated texts were kept aside and chose the pass to keep."
    sections = (
        Section(
            title="Agreement with people on the texts kept aside",
            lines=(kept, "They are judged a little too kindly: 'refless validate' is the test."),
            table=Table(
                header=("", "network [95 %]"),
                rows=tuple(
                    (title(name), measure(found, name)) for name in MEASURES if name != "auc"
                ),
                numeric=(False, True),
            ),
        ),
        *(_curve_section(model.curve, i) for i in range(len(members))),
        Section(lines=(f"The model is in {trained.folder}. To use it:", _use(trained))),
        signature_section(trained.signature.plus(ci=found.interval_method)),
    )
    return View(json=json, rows=[_line(told) for told in model.curve], sections=sections)


def _use(trained: Trained) -> str:
    import shlex

    return f"  refless score OUTPUTS --estimator ratpred --model {shlex.quote(trained.folder)}"


def _agreement(trained: Trained) -> Agreement:
    truth, values = trained.model.development
    judged = Judged(
        id=numbered(len(truth)), human=truth, predicted=values, reason=("",) * len(truth)
    )
    return agreement(judged, seed=trained.seed, resamples=RESAMPLES)


def _members(curve: tuple[dict[str, Any], ...]) -> list[dict[str, Cell]]:
    """For each network the pass that was kept, and how many there were."""
    found = []
    for member in sorted({told["member"] for told in curve}):
        own = [told for told in curve if told["member"] == member]
        kept = [told for told in own if told["best"]][-1]
        found.append(
            {
                "best_pass": kept["number"],
                "passes": len(own),
                "pearson": _plain(kept["pearson"]),
                "spearman": _plain(kept["spearman"]),
            }
        )
    return found


def _line(told: Mapping[str, Any]) -> dict[str, Cell]:
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


def _curve_section(curve: tuple[dict[str, Any], ...], member: int) -> Section:
    """Some passes of one network, the one that was kept among them."""
    own = [told for told in curve if told["member"] == member]
    best = max(i for i, told in enumerate(own) if told["best"])
    places = {*np.linspace(0, len(own) - 1, min(SHOWN, len(own))).astype(int).tolist(), best}
    rows = tuple(
        (
            str(own[i]["number"]),
            "made errors too" if own[i]["synthetic"] else "rated texts",
            number(own[i]["loss"]),
            number(_plain(own[i]["pearson"])),
            number(_plain(own[i]["spearman"])),
            "kept" if i == best else "",
        )
        for i in sorted(places)
    )
    header = ("pass", "learned from", "loss", "Pearson", "Spearman", "")
    return Section(
        title=f"Network {member + 1}: {len(own)} passes",
        table=Table(header=header, rows=rows, numeric=(True, False, True, True, True, False)),
    )
