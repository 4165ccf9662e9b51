"""The data behind Figures 2 to 4 and section 5.3 of BLEU Neighbors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from bleu_neighbors_studies import (
    FEWEST_TEXTS,
    REPETITIONS,
    LearningCurve,
    Point,
    easy_texts,
    learning_curve,
    point_at,
    signed,
)

from refless.data.records import RatedPool
from refless.estimators.neighbors import BLEUNeighbors
from refless.evaluation.annotators import annotators
from refless.report.document import Section, Table
from refless.report.wording import number, with_interval
from refless.stats.resampling import RESAMPLES

FEWEST = (1, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50)  # a of Figure 2
SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.66, 0.7, 0.8, 0.9, 1.0)  # b of Figure 2
DEFAULT = (0.08, 5, 0.66)
KERNELS = ("bleu*", "rouge-l")
FRUIT_NOTE = (
    "Mean MSE of annotators; paired bootstrap over them (the paper names no test). As in the "
    "paper, no difference on summaries. Its dialogue data, where it found one, is no longer "
    "public, and GRADE's slotN is not one person throughout."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """The data behind one figure, and what has to be known to read it."""

    title: str
    header: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]
    notes: tuple[str, ...]
    signature: str

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        rows = [{k: v for k, v in row.items() if k != "shown"} for row in self.rows]
        return {
            "title": self.title,
            "rows": rows,
            "notes": self.notes,
            "signature": self.signature,
        }

    def sections(self) -> tuple[Section, ...]:
        """For people."""
        cells = tuple(tuple(row["shown"]) for row in self.rows)
        table = Table(
            header=self.header,
            rows=cells,
            numeric=(False, *[True] * (len(self.header) - 1)),
        )
        return (
            Section(title=self.title, table=table),
            Section(lines=self.notes),
            Section(lines=(f"signature: {self.signature}",)),
        )


def figures(pools: Mapping[str, RatedPool], seed: int) -> tuple[Figure, ...]:
    """Figures 2 to 4 for each pool; a title says whether it is a stand-in."""
    found: list[Figure] = []
    for name, pool in pools.items():
        found += [_evidence(name, pool), _training(name, pool, seed)]
    return tuple(found)


def _evidence(name: str, pool: RatedPool) -> Figure:
    """Figures 2 and 3: Spearman and coverage as a or b changes and the other stays."""
    tau, a, b = DEFAULT
    people = annotators(pool)
    human = None if people is None else people.average.get("spearman")
    settings = [(f"a {x}", x, b) for x in FEWEST] + [(f"b {x:g}", a, x) for x in SHARES]
    rows = [_point(label, point_at(pool, tau, x, y), human) for label, x, y in settings]
    notes = ["The other threshold stays at a 5 or b 0.66; intervals by Fisher's z."]
    if human is not None:
        above = [row["threshold"] for row in rows if row["above_human"]]
        notes.append(
            f"Average annotator {human:.3f}; above it: {', '.join(above) or 'nothing'}."
        )
    return Figure(
        title=f"Figures 2 and 3: {name}",
        header=("", "Spearman [95 %]", "coverage", "MSE"),
        rows=tuple(rows),
        notes=tuple(notes),
        signature=str(signed(BLEUNeighbors(), pool, tau="grid", a="grid", b="grid")),
    )


def _point(label: str, found: Point, human: float | None) -> dict[str, Any]:
    shown = with_interval(found.spearman, found.interval)
    above = found.n >= FEWEST_TEXTS and human is not None and found.spearman > human
    return {
        "threshold": label,
        "spearman": _plain(found.spearman),
        "spearman_interval": [_plain(x) for x in found.interval],
        "coverage": found.coverage,
        "mse": _plain(found.mse),
        "above_human": None if human is None else above,
        "shown": (label, shown, number(found.coverage), number(found.mse, 4)),
    }


def _training(name: str, pool: RatedPool, seed: int) -> Figure:
    """Figure 4: the mean of 20 random subsets of each size, and one standard deviation."""
    found = learning_curve(pool, seed=seed)
    rows = tuple(_size(found, i) for i in range(len(found.sizes)))
    notes = (f"Mean and standard deviation over {REPETITIONS} random subsets.",)
    return Figure(
        title=f"Figure 4: {name}",
        header=("texts", "Spearman", "sd", "coverage", "sd"),
        rows=rows,
        notes=notes,
        signature=str(found.signature),
    )


def _size(found: LearningCurve, i: int) -> dict[str, Any]:
    parts = [
        (found.mean[name][i], found.sd[name][i]) for name in ("spearman", "coverage")
    ]
    (rho, rho_sd), (coverage, coverage_sd) = parts
    size = int(found.sizes[i])
    return {
        "n": size,
        "spearman": _plain(rho),
        "spearman_sd": _plain(rho_sd),
        "coverage": _plain(coverage),
        "coverage_sd": _plain(coverage_sd),
        "shown": (str(size), *(number(float(x)) for pair in parts for x in pair)),
    }


def hanging(name: str, pool: RatedPool, seed: int) -> Figure:
    """Section 5.3: annotators' MSE on all texts, and on those with an estimate."""
    found = []
    signature = ""
    for kernel in KERNELS:
        estimator = BLEUNeighbors(kernel=kernel)
        found.append(easy_texts(pool, estimator.held_out(pool).defined, seed=seed))
        how = {"heldout": "id", "easy_texts": f"boot-{RESAMPLES}", "seed": seed}
        signature = signature or str(estimator.signature(pool).plus(**how))
    rows = tuple(
        {
            "kernel": kernel,
            "n_scored": one.n_scored,
            "all_texts": one.all_texts,
            "estimated": one.estimated,
            "difference": one.difference,
            "difference_interval": list(one.interval),
            "difference_p": one.p,
            "shown": (
                kernel,
                number(one.all_texts, 4),
                number(one.estimated, 4),
                with_interval(one.difference, one.interval, 4),
                number(one.p),
            ),
        }
        for kernel, one in zip(KERNELS, found, strict=True)
    )
    return Figure(
        title=f"Section 5.3, low-hanging fruit: {name}",
        header=("kernel", "MSE, all texts", "estimated", "difference [95 %]", "p"),
        rows=rows,
        notes=(FRUIT_NOTE,),
        signature=signature,
    )


def _plain(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def all_sections(found: Sequence[Figure]) -> tuple[Section, ...]:
    """Every figure for people."""
    return tuple(section for figure in found for section in figure.sections())
