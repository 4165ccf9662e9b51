"""Fitted estimators in folders: the rated texts, the specification and what was learned.

A folder of `refless train`, which holds a network and no texts, is opened as well.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from refless.data.human import canonical_order, fingerprint
from refless.data.stored import (
    Array,
    PoolFacts,
    arrays_of,
    check_pool,
    facts_of,
    file_of,
    hold,
    hold_size,
    hold_starts,
    mapped,
    names_of,
    packed,
    pool_in,
    strings,
)
from refless.estimators import ESTIMATORS, estimator_of
from refless.estimators.protocol import Estimator
from refless.files.folders import Claim, Files, Kind, claimed, read
from refless.registry.errors import UsageError
from refless.registry.signature import Signature
from refless.registry.spec import spec_of
from refless.registry.version import __version__

FITTED = Kind(
    name="fitted estimator",
    manifest="fitted.json",
    format=1,
    suffix=".npy",
    alone=True,
    missing="no fitted estimator is there: neither fitted.json nor model.json",
    remedy="name a folder made by 'refless fit', or make it again",
)
HERE = ("threads", "checkpoint")  # parameters that are this machine's
GROUPS = {"groups.bytes", "groups.starts"}
DTYPES = {  # of files by name, and by the last part of the name; others hold float64
    "ratings.text": "<i8", "ratings.annotator": "<i8", "bytes": "|u1", "starts": "<i8",
    "rows": "<i8", "columns": "<i4", "vectors": "<f4",
}  # fmt: skip


class Facts(PoolFacts, frozen=True, kw_only=True):
    """What fitted.json says beside what it says of the rated texts."""

    estimator: str
    signature: str
    group: str | None
    grouped: bool
    learned: dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Saved:
    """A fitted estimator out of a folder.

    Attributes:
        estimator: as after `fit`.
        group: what was held out together where errors were measured; None for the sources.
    """

    estimator: Estimator
    group: str | None = None

    @property
    def signature(self) -> Signature:
        """The estimator's, with what was held out together where that are not the sources."""
        own = self.estimator.signature()
        return own if self.group is None else own.plus(heldout=self.group)


def save(estimator: Estimator, folder: str | os.PathLike[str], *, group: str | None = None) -> None:
    """Writes a fitted estimator; one that is there already is replaced in one step.

    Args:
        estimator: fitted.
        folder: made where missing.
        group: what its groups are called.

    Raises:
        UsageError: an estimator that is not fitted, or whose parameters no specification can say.
        InputError: a folder that holds something else, or that cannot be written.
    """
    with claimed(folder, FITTED) as claim:
        put(claim, estimator, group)


def put(claim: Claim, estimator: Estimator, group: str | None = None) -> None:
    """The same for a folder that is claimed already."""
    if type(estimator) not in {*ESTIMATORS.values()}:
        name = type(estimator).__name__
        raise UsageError(f"{name} cannot be saved: no entry point of refless.estimators names it")
    pool, labels = estimator.given
    learned, arrays = estimator.learned()
    facts = {
        "refless": __version__,
        **facts_of(pool, digest := fingerprint(pool)),
        "estimator": spec_of(estimator.clone().set_known(**dict.fromkeys(HERE)), ESTIMATORS),
        "signature": str(estimator.signature()),
        "group": group,
        "grouped": bool(labels),
        "learned": learned,
    }
    every = {**arrays_of(pool), **(packed("groups", labels) if labels else {}), **arrays}
    contents = ((name, file_of(array, _dtype(name))) for name, array in every.items())
    claim.put(facts, contents, digest)


def load(folder: str | os.PathLike[str], *, threads: int | None = None) -> Estimator:
    """The fitted estimator in a folder of `refless fit`, `refless train` or `save`.

    Raises:
        InputError: none there, a damaged one, or one that another version of refless made.
    """
    return opened(folder, threads).estimator


def opened(folder: str | os.PathLike[str], threads: int | None = None) -> Saved:
    """The same with what its groups are called; threads: for its work."""
    path = Path(folder)
    for kind in ESTIMATORS.values():
        if kind.manifest and (path / kind.manifest).exists():
            return Saved(kind.opened(path, threads))
    return read(path, FITTED, lambda manifest, files: _made(manifest, files, threads))


def is_saved(folder: object) -> bool:
    """Whether this names a folder of a fitted estimator, or of a trained network."""
    return isinstance(folder, str | os.PathLike) and manifest_of(folder) is not None


def manifest_of(folder: str | os.PathLike[str]) -> Path | None:
    """The manifest of the fitted estimator, or of the trained network, in a folder."""
    own = filter(None, (kind.manifest for kind in ESTIMATORS.values()))
    paths = (Path(folder) / name for name in (*own, FITTED.manifest))
    return next((path for path in paths if path.exists()), None)


def _made(manifest: dict[str, Any], files: Files, threads: int | None) -> Saved:
    facts = msgspec.convert(manifest, Facts)
    arrays = {name: mapped(name, file, _dtype(name)) for name, file in files.items()}
    wanted = names_of(facts) | (GROUPS if facts.grouped else set())
    hold(wanted <= set(arrays), "a file of the rated texts is not there")
    check_pool(arrays, facts)
    pool = pool_in(arrays, facts)
    hold(fingerprint(pool) == facts.fingerprint, "the rated texts are others")
    hold(canonical_order(pool).tolist() == [*range(len(pool))], "the rated texts are in disorder")
    labels = _labels(arrays, len(pool)) if facts.grouped else ()
    estimator = estimator_of(facts.estimator).set_known(threads=threads)
    own = {name: array for name, array in arrays.items() if name not in wanted}
    estimator.relearn(pool, labels, facts.learned, own)
    _check_signature(facts.signature, str(estimator.signature()))
    return Saved(estimator, facts.group)


def _labels(arrays: Mapping[str, Array], n: int) -> tuple[str, ...]:
    hold_starts("groups.starts", arrays, len(arrays["groups.bytes"]))
    hold_size("groups.starts", arrays, n + 1)
    return strings("groups", arrays)


def _check_signature(made: str, now: str) -> None:
    """Raises ValueError where the same parameters mean something else by now."""
    if made == now:
        return
    version = Signature.parse(made).get("v")
    hold(version == __version__, f"refless {version} made it, and this is {__version__}")
    hold(holds=False, found=f"it was made as {made}, and would now be {now}")


def _dtype(name: str) -> np.dtype[Any]:
    """The type of a file's numbers."""
    return np.dtype(DTYPES.get(name) or DTYPES.get(name.rpartition(".")[2], "<f8"))
