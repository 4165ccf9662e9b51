"""index: rated texts saved once, ready to be matched."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from os import fspath
from typing import TYPE_CHECKING, Annotated, Any

from refless.application.notes import note
from refless.application.parameters import Flag, Folder, RatedRows, Rows, command
from refless.application.result import Result
from refless.errors import UsageError
from refless.signature import Signature

if TYPE_CHECKING:
    from refless.index import RatedIndex
    from refless.report.document import Document
    from refless.report.record import Record

PUBLISHED = "bleu*"


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class IndexResult(Result):
    """A saved index and its folder."""

    record = "refless.report.short:IndexRecord"
    index: RatedIndex
    folder: str

    @property
    def signature(self) -> Signature:
        """The rated texts in it."""
        return Signature("index").plus(pool=self.index.fingerprint, size=len(self.index.pool))

    def document(self) -> Document:
        """What the terminal shows."""
        from refless.nouns import counted
        from refless.report.document import Document, Section

        size = counted(len(self.index.pool), "rated text")
        use = shlex.join(["refless", "score", "OUTPUTS", "--rated", self.folder])
        return Document(
            title="refless index",
            verdict=f"An index of {size}, pool {self.index.fingerprint}.",
            sections=(Section(title="To use it", lines=(f"  {use}",)),),
            command=self.command,
        )

    def json(self) -> Record:
        """What `--format json` prints."""
        return self._record(n=len(self.index.pool))


@command
def index(
    rated: Annotated[Rows, Flag(help="Files of rated texts.", argument=True, kind=list[str])],
    *,
    out_dir: Annotated[Folder, Flag(help="Folder of the index; made where missing.", kind=str)],
    kernel: Annotated[
        Any, Flag(help="BLEU* with parameters: bleu*:tokenize=words,orders=1-4.", kind=str)
    ] = PUBLISHED,
    append: Annotated[bool, Flag(help="Add these ratings to the index that is there.")] = False,
    rows: RatedRows,
) -> IndexResult:
    """Save rated texts, ready to be matched; the folder serves wherever rated texts are asked for.

    An index that is there already is replaced in one step: a run that is stopped leaves the old
    one. Of several runs at once each waits for the one before it, for five minutes at most.
    """
    from refless.application.rows import rated_of
    from refless.folders import claimed
    from refless.index import INDEX, RatedIndex, add_to_index
    from refless.kernels import BleuStar, kernel_of

    found, _ = rated_of(rated, rows)
    if isinstance(found, RatedIndex):
        raise UsageError("name files of rated texts, not an index")
    wanted = kernel_of(kernel)
    if not isinstance(wanted, BleuStar):
        raise UsageError(f"an index holds the n-grams of bleu*; got --kernel {kernel}")
    if append:
        shape = wanted.shape if kernel != PUBLISHED else None
        made = add_to_index(out_dir, found, shape=shape, tell=note)
    else:
        with claimed(out_dir, INDEX, tell=note) as claim:
            made = RatedIndex.build(found, wanted.shape)
            made.put(claim)
    return IndexResult(index=made, folder=fspath(out_dir))
