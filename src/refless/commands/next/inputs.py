"""The inputs of `refless next`: outputs to choose from, and texts that are rated."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from refless.commands.compare.inputs import (
    Inputs,
    counting,
    inputs_of,
    looks_drawn,
    read_rated,
)
from refless.commands.parameters import Rows
from refless.commands.rows import (
    ScoredRows,
    check_standard_input,
    note_missing,
    tell,
    told_pool,
)
from refless.commands.warnings import silenced
from refless.data.design import Design
from refless.data.records import Outputs, RatedPool
from refless.data.tables.partly_rated import read_partly
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.dialect import called
from refless.registry.errors import InputError, UsageError
from refless.registry.plural import first_of

FORETOLD = "The forecast is made as if they were."
PAIRED = ("compare", "best")  # goals that pair answers to one item


@dataclass(frozen=True, slots=True, eq=False)
class ChoiceInputs:
    """Outputs and rated texts that were read.

    Attributes:
        pool: the rated texts, if any; outputs, done: outputs without and with a rating.
        design: of all outputs, rated or not.
        called: names of columns by role, which the file for raters takes over: those of the rated
            texts, beside which it will stand, before those of the outputs.
        compared: the same as `compare` has it; None for other goals, or if nothing is rated.
        chances: of the rated outputs to be drawn, if only those drawn count; else None.
    """

    pool: RatedPool | None
    outputs: Outputs
    done: Outputs
    design: Design
    called: Mapping[str, tuple[str, ...]]
    compared: Inputs | None = None
    chances: FloatArray | None = None


def read_choice(
    outputs: Rows,
    rated: Rows,
    rows: ScoredRows,
    goal: str | None,
    systems: Sequence[str] = (),
) -> ChoiceInputs:
    """The rated texts, the outputs that nobody has rated, and those that were.

    Outputs are of all systems, or of these alone.
    """
    check_standard_input(outputs, rated)
    reading = replace(rows.to_reading(), beside_rated=rated is not None)
    read = read_partly(outputs, reading, "" if goal in PAIRED else None)
    tell(read)
    note_missing(read.texts)
    pool = read.pool
    called = {**read.columns}
    ratings = None
    if rated is not None and goal in PAIRED:
        ratings = read_rated(rated, rows)
        tell(ratings)
        pool = ratings.pool
        called |= {role: names for role, names in ratings.columns.items() if names}
    elif rated is not None:
        read_too = told_pool(rated, rows)
        pool = read_too.pool
        called |= {role: names for role, names in read_too.columns.items() if names}
    compared = None
    chances = None
    if goal in PAIRED and pool is not None:
        with silenced():
            compared = inputs_of(read, ratings)
        pool = compared.pool
        looks_drawn(compared, None, FORETOLD)
    done = np.zeros(len(read.texts), dtype=np.bool_)
    done[read.place if compared is None else compared.outputs.place] = True
    if goal == "compare" and compared is not None:
        compared, chances = counting(compared)
    if chances is not None:
        done[:] = False
        done[[] if compared is None else compared.outputs.place] = True
    elif rated is not None and pool is not None and read.named:
        rated_pairs = {*zip(pool.ids, pool.texts, strict=True)}
        pairs = zip(read.texts.ids, read.texts.texts, strict=True)
        done |= np.array([pair in rated_pairs for pair in pairs], dtype=np.bool_)
    asked = _of_systems(read.texts, systems)
    if done[asked].all() and goal != "best":
        remedy = "give outputs that nobody has rated"
        raise InputError("every output has a rating already", remedy=remedy)
    new = read.texts.take(asked[~done[asked]])
    old = read.texts.take(asked[done[asked]])
    design = Design.of(read.texts.take(asked))
    return ChoiceInputs(pool, new, old, design, called, compared, chances)


def _of_systems(outputs: Outputs, systems: Sequence[str]) -> IntArray:
    """The places of the outputs of these systems, of all if none is named."""
    if not systems:
        return np.arange(len(outputs))
    if unknown := {*systems} - {*outputs.systems}:
        given = called("system", [*systems])
        listed = first_of(
            [f"'{name}'" for name in sorted({*outputs.systems} - {""})], 10
        )
        raise UsageError(
            f"{given}: no output is of '{min(unknown)}'; they are of {listed}"
        )
    return np.flatnonzero([name in systems for name in outputs.systems])
