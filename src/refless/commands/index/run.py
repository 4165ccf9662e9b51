"""index: rated texts saved once, ready to be matched."""

import math
from collections.abc import Iterator
from dataclasses import replace
from os import fspath
from pathlib import Path
from typing import Annotated, Any

from refless.commands.index.result import IndexResult
from refless.commands.parameters import Argument, Flag, Folder, RatedRows, Rows, command
from refless.commands.rows import ScoredRows, index_folder, note_pool, tell
from refless.commands.warnings import note
from refless.data.records import RatedPool
from refless.data.tables import read_pool, read_pools
from refless.data.tables.memory import paths_of
from refless.files.folders import claimed
from refless.files.untrusted import is_file
from refless.metrics.growth import add_to_index, put_batches
from refless.metrics.index import INDEX, load_index
from refless.metrics.kernels import BleuStar, kernel_of
from refless.metrics.kernels.bleu import SEGMENT
from refless.registry.errors import UsageError
from refless.registry.signature import Signature

PUBLISHED = "bleu*"
WHOLE = 1 << 24  # bytes of files that are read at once, so that an error tells both its places


@command
def index(
    rated: Argument,
    *,
    out_dir: Annotated[Folder, Flag(kind=str)],
    kernel: Annotated[Any, Flag(kind=str)] = PUBLISHED,
    append: bool = False,
    rows: ScoredRows,
) -> IndexResult:
    """Save rated texts, ready to be matched; the folder serves wherever rated texts are asked for.

    An index that is there already is replaced in one step: a run that is stopped leaves the old
    one. Of several runs at once each waits for the one before it, for five minutes at most.

    Args:
        rated: Files of rated texts.
        out_dir: Folder of the index; made where missing.
        kernel: BLEU* with parameters: bleu*:tokenize=words,orders=1-4.
        append: Add these ratings to the index that is there, on its scale.
    """
    wanted = kernel_of(kernel)
    if not isinstance(wanted, BleuStar):
        raise UsageError(f"an index holds the n-grams of bleu*; got --kernel {kernel}")
    batches = _batches(rated, _like_the_index(out_dir, rows) if append else rows)
    if append:
        shape = wanted.shape if kernel != PUBLISHED else None
        made = add_to_index(out_dir, batches, shape=shape, tell=note)
    else:
        with claimed(out_dir, INDEX, tell=note) as claim:  # first: it may not be writable
            made = put_batches(claim, batches, wanted.shape)
    note_pool(made.pool)
    signed = Signature("index").plus(pool=made.fingerprint, size=len(made.pool))
    return IndexResult(index=made, folder=fspath(out_dir), signature=signed)


def _like_the_index(folder: Folder, rows: ScoredRows) -> ScoredRows:
    """The scale and the aggregate of the index, which need not be said again.

    Raises:
        IndexFolderError: no index.
        UsageError: another scale was asked for.
    """
    there = load_index(folder).pool
    asked = rows.reading().scale
    if asked not in (None, there.scale):
        had = "none" if there.scale is None else "--scale {:g} {:g}".format(*there.scale)
        raise UsageError(
            f"--append keeps the scale of the index, {had}; got --scale {asked[0]:g} {asked[1]:g}. "
            "For another scale make a new index of all ratings"
        )
    rows = replace(rows, scale=there.scale) if asked is None else rows
    return replace(rows, aggregate=there.aggregate) if rows.aggregate == "mean" else rows


def _batches(rated: Rows, rows: RatedRows) -> Iterator[RatedPool]:
    """The rated texts, so many rows at a time; of small files all at once."""
    if index_folder(rated) is not None:
        raise UsageError("name files of rated texts, not an index")
    small, reading = _bytes(rated) <= WHOLE, rows.reading()
    found = [read_pool(rated, reading)] if small else read_pools(rated, reading, SEGMENT)
    for read in found:
        tell(read)
        yield read.pool


def _bytes(rated: Rows) -> float:
    """The size of all files; infinite where it cannot be known before they are read."""
    paths = paths_of(rated)
    if paths is None or not all(map(is_file, paths)):
        return math.inf
    return sum(Path(path).stat().st_size for path in paths)
