"""What to say and to run instead where too many texts have no estimate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refless.cli.reading import command_with

if TYPE_CHECKING:
    from refless.estimators import BLEUNeighbors

NAME = "kernel-weighted mean"
REPLACED = ("--weights", "--tau", "--min-neighbors", "--max-fraction", "--estimator")
FLAGS = ("--weights", "kernel", "--tau", "0", "--min-neighbors", "0", "--max-fraction", "1")


def weighted_mean(estimator: BLEUNeighbors) -> BLEUNeighbors:
    """The same estimator with every rated text weighing similarity**power and no limits."""
    other = estimator.clone()
    return other.set_params(weights="kernel", tau=0.0, min_neighbors=0, max_fraction=1.0)


def command() -> str:
    """The line that runs it, made from this one."""
    return command_with(REPLACED, FLAGS)
