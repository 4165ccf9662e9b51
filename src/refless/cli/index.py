"""refless index: a saved pool."""

from __future__ import annotations

from typing import Annotated

import typer

from refless.cli.options import InputOptions, ShapeOptions
from refless.errors import UsageError


def index(
    pool: Annotated[list[str], typer.Argument(help="Files of rated texts.")],
    out_dir: Annotated[str, typer.Option(help="Folder of the index; made where missing.")],
    reading: InputOptions,
    shape: ShapeOptions,
    append: Annotated[
        bool, typer.Option("--append", help="Add these ratings to the index that is there.")
    ] = False,
) -> None:
    """Save rated texts, ready to be matched; the folder serves wherever rated texts are asked for.

    An index that is there already is replaced in one step: a run that is stopped leaves the old
    one.
    """
    from refless.cli.output import put
    from refless.cli.reading import rated_of, shape_of
    from refless.index import RatedIndex, load_index
    from refless.ngrams import Shape

    found, _ = rated_of(pool, reading)
    if isinstance(found, RatedIndex):
        raise UsageError("name files of rated texts, not an index")
    wanted = shape_of(shape)
    if append:
        there = load_index(out_dir)
        if wanted not in {Shape(), there.shape}:
            raise UsageError("--append keeps the n-grams of the index; make a new one instead")
        made = there.append(found)
    else:
        made = RatedIndex.build(found, wanted)
    made.save(out_dir)
    put(f"{out_dir}: {len(made.pool)} rated texts, pool {made.fingerprint}\n")
