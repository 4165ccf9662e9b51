"""Fitted estimators in files: the specification, the rated texts and what was learned."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from refless.data.human import canonical_order
from refless.data.stored import PREFIX, PoolFacts, arrays_of, facts_of, pool_in
from refless.estimators import ESTIMATORS, estimator_of
from refless.estimators.protocol import Estimator
from refless.files.arrays import (
    Arrays,
    check_ending,
    damaged,
    json_array,
    json_of,
    named,
    part_of,
    read_arrays,
    require,
    write_arrays,
)
from refless.registry.errors import UsageError
from refless.registry.signature import Signature
from refless.registry.spec import spec_of
from refless.registry.version import __version__
from refless.text.runs import RatedRuns, runs_in

KIND = "fitted estimator"
REMEDY = "name a file made by 'refless fit', or make it again"
GROUPS = f"{PREFIX}groups"
RUNS = "runs."


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """The facts that a file has of its estimator, in JSON."""

    estimator: str
    signature: str
    group: str | None
    pool: PoolFacts
    learned: dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Saved:
    """A fitted estimator out of a file.

    Attributes:
        estimator: as after `fit`.
        group: what was held out together when errors were measured; None for the sources.
        runs: those of the rated texts, which copies of them are found by; None where unread.
    """

    estimator: Estimator
    group: str | None = None
    runs: RatedRuns | None = None

    @property
    def signature(self) -> Signature:
        """The estimator's, with what was held out together if these are not the sources."""
        signature = self.estimator.signature()
        return signature if self.group is None else signature.plus(heldout=self.group)


def save(
    estimator: Estimator, path: str | os.PathLike[str], *, group: str | None = None
) -> None:
    """Writes a fitted estimator to a file; one that is there already is replaced in one step.

    Args:
        estimator: fitted.
        path: ends in `.safetensors`.
        group: what its groups are called.

    Raises:
        UsageError: an estimator that is not fitted, or whose parameters no specification can say;
            another ending.
        InputError: a file that cannot be written.
    """
    check_ending(path)
    check_known(estimator)
    pool, labels = estimator.given
    learned, arrays = estimator.learned()
    facts = {
        "estimator": spec_of(estimator.clone().set_known(threads=None), ESTIMATORS),
        "signature": str(estimator.signature()),
        "group": group,
        "pool": facts_of(pool),
        "learned": learned,
    }
    groups = {GROUPS: json_array(labels)} if labels else {}
    runs = named(RUNS, RatedRuns.of(pool.texts).arrays())
    write_arrays(path, KIND, facts, {**arrays_of(pool), **groups, **runs, **arrays})


def check_known(estimator: Estimator) -> None:
    """Raises UsageError for an estimator that a file could not name."""
    if type(estimator) not in {*ESTIMATORS.values()}:
        raise UsageError(
            f"{estimator.title} cannot be saved: no entry point of refless.estimators names it; "
            "'refless score' estimates with it, if it is given the rated texts and files of outputs"
        )


def load(path: str | os.PathLike[str], *, threads: int | None = None) -> Estimator:
    """The fitted estimator in a file of `refless fit`, `refless train` or `save`.

    Raises:
        InputError: no such file, a damaged one, or one that another version of refless made.
    """
    return opened(path, threads).estimator


def opened(path: str | os.PathLike[str], threads: int | None = None) -> Saved:
    """The same with what its groups are called; threads: for its work."""
    facts, arrays = read_arrays(path, KIND, REMEDY)
    with damaged(path, KIND, REMEDY):
        return _restored(msgspec.convert(facts, Facts), arrays, threads)


def _restored(facts: Facts, arrays: Arrays, threads: int | None) -> Saved:
    """The estimator; raises ValueError for facts and arrays that `save` cannot have written."""
    pool = pool_in(facts.pool, arrays)
    sorted_rows = canonical_order(pool).tolist() == [*range(len(pool))]
    require(sorted_rows, "the rated texts are in disorder")
    labels: Sequence[str] = ()
    if GROUPS in arrays:
        labels = json_of(arrays, GROUPS, tuple[str, ...])
        require(len(labels) == len(pool), f"{GROUPS} has another length")
    estimator = estimator_of(facts.estimator)
    estimator.set_known(threads=threads)
    learned = {
        name: array
        for name, array in arrays.items()
        if not name.startswith((PREFIX, RUNS))
    }
    estimator.relearn(pool, labels, facts.learned, learned)
    _check_signature(facts.signature, str(estimator.signature()))
    return Saved(estimator, facts.group, runs_in(len(pool), part_of(arrays, RUNS)))


def _check_signature(saved: str, current: str) -> None:
    """Raises ValueError if the same parameters mean something else by now."""
    version = Signature.parse(saved).get("v")
    require(
        version == __version__, f"refless {version} made it, and this is {__version__}"
    )
    require(saved == current, f"it was made as {saved}, and would now be {current}")
