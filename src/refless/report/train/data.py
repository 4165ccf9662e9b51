"""A training as JSON and as rows."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Literal

from refless.report.export import Rows
from refless.report.record import Count, Record, Signed, record
from refless.report.train.course import Course, Told, Trained, courses
from refless.studies.held_out import Agreement


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


def train_record(trained: Trained) -> TrainRecord:
    """The object of `refless train --format json`."""
    return TrainRecord(
        signature=str(trained.signed),
        model=trained.folder,
        n=trained.size,
        n_references=trained.references,
        validation=trained.agreement,
        networks=tuple(map(_network, courses(trained.model))),
        curve=tuple(map(_epoch, trained.model.history)),
    )


def train_rows(trained: Trained) -> Rows:
    """One row an epoch of each network."""
    return [asdict(_epoch(told)) for told in trained.model.history]


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
