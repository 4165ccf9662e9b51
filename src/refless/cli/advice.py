"""What to say and to run instead where too many texts have no estimate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refless.cli.reading import command_with

if TYPE_CHECKING:
    from refless.estimators import BLEUNeighbors, Estimator
    from refless.studies.abstention import Abstention

FEWEST = 20  # rated texts
NEXT_TO_NOTHING = 0.01  # of pairs pass tau
NAME = "kernel-weighted mean"
REPLACED = ("--weights", "--power", "--tau", "--min-neighbors", "--max-fraction", "--estimator")
FLAGS = ("--weights", "kernel", "--tau", "0", "--min-neighbors", "0", "--max-fraction", "1")


def weighted_mean(estimator: Estimator) -> BLEUNeighbors | None:
    """BLEU Neighbors with every rated text weighing similarity**power and no limits.

    None for other estimators, and for one that does this already.
    """
    from refless.estimators import BLEUNeighbors

    if not isinstance(estimator, BLEUNeighbors):
        return None
    other = estimator.clone()
    other.set_params(weights="kernel", tau=0.0, min_neighbors=0, max_fraction=1.0)
    return None if other.signature() == estimator.clone().signature() else other


def threshold(estimator: Estimator) -> float:
    """Tau of an estimator that has one."""
    return float(getattr(estimator, "threshold", float("nan")))


def command() -> str:
    """The line that runs it, made from this one."""
    return command_with(REPLACED, FLAGS)


def best_command(estimator: Estimator, missing: Abstention) -> str | None:
    """The line that runs kriging, which suits texts of any length.

    None where that is in use, or where the texts share next to nothing with the rated ones.
    """
    from refless.estimators import BLEUNeighbors

    near = (
        missing.rated >= FEWEST
        and missing.main in {"too-many", "too-few"}
        and missing.passing > NEXT_TO_NOTHING
    )
    if not (near and isinstance(estimator, BLEUNeighbors)):
        return None
    return command_with((*REPLACED, "--kernel"), ("--estimator", "kriging"))
