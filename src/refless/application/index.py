"""index: rated texts saved once, ready to be matched."""

from __future__ import annotations

from os import fspath
from typing import TYPE_CHECKING, Annotated, Any

from refless.application.notes import note
from refless.application.parameters import Argument, Flag, Folder, RatedRows, Rows, command
from refless.application.rows import ScoredRows, rated_of
from refless.errors import UsageError
from refless.signature import Signature

if TYPE_CHECKING:
    from refless.records import RatedPool
    from refless.report.short import IndexResult

PUBLISHED = "bleu*"


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
        append: Add these ratings to the index that is there.
    """
    from refless.folders import claimed
    from refless.index import INDEX, RatedIndex, add_to_index
    from refless.kernels import BleuStar, kernel_of
    from refless.report.short import IndexResult

    wanted = kernel_of(kernel)
    if not isinstance(wanted, BleuStar):
        raise UsageError(f"an index holds the n-grams of bleu*; got --kernel {kernel}")
    if append:
        shape = wanted.shape if kernel != PUBLISHED else None
        made = add_to_index(out_dir, _pool(rated, rows), shape=shape, tell=note)
    else:
        with claimed(out_dir, INDEX, tell=note) as claim:  # first: it may not be writable
            made = RatedIndex.build(_pool(rated, rows), wanted.shape)
            made.put(claim)
    signed = Signature("index").plus(pool=made.fingerprint, size=len(made.pool))
    return IndexResult(index=made, folder=fspath(out_dir), signature=signed)


def _pool(rated: Rows, rows: RatedRows) -> RatedPool:
    from refless.records import RatedPool

    found, _ = rated_of(rated, rows)
    if not isinstance(found, RatedPool):
        raise UsageError("name files of rated texts, not an index")
    return found
