"""huse: quality and diversity in one number."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from refless.commands.estimating import DEFAULT, chosen, held_out_of
from refless.commands.parameters import Argument, Chosen, RatedRows, Rows, Seed, Threads, command
from refless.commands.rows import tell
from refless.commands.warnings import note
from refless.data.human import human_ratings, unscaled
from refless.data.tables import ScoredRead, read_scored
from refless.data.tables.columns import HUSE_ROLES
from refless.extensions.papers.huse.result import HuseResult
from refless.extensions.papers.huse.study import PARTS, Huse
from refless.extensions.papers.huse.study import huse as huse_of
from refless.registry.arrays import BoolArray, FloatArray
from refless.registry.errors import InputError, UsageError
from refless.registry.signature import Signature, digest_of
from refless.registry.version import __version__

HUMAN_LABELS = ("human", "person", "people", "reference")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledRows(RatedRows):
    """The same with what a model thinks of each text, and whose it is.

    Attributes:
        columns: Column that plays a role, if its name does not say so: rating=score. Repeatable;
            roles: text, id, item, source, system, task, rating (several, or a pattern 'rater*'),
            annotator, time, dimension; logprob (the text's log-probability under the model),
            length (its number of tokens; without it words) and label (tells people's texts from
            the model's; without it the system).
    """

    roles: ClassVar[tuple[str, ...]] = (*RatedRows.roles, "logprob", "length", "label")


@command
def huse(
    rated: Argument,
    *,
    human_label: str | None = None,
    estimated: bool = False,
    estimator: Chosen = DEFAULT,
    neighbors: int = 15,
    exact_ties: bool = False,
    threads: Threads = None,
    seed: Seed = 0,
    rows: LabelledRows,
) -> HuseResult:
    """Quality and diversity of a model in one number (HUSE).

    1 where a classifier that sees ratings and the model's log-probabilities cannot tell its texts
    from people's, 0 where it always can; HUSE-Q for quality alone, HUSE-D for diversity.

    Args:
        rated: Files of rated texts by people and by one model.
        human_label: What the column of the role label says of a person's text. Without it: human,
            person, people, reference.
        estimated: Also with estimates (each text held out) in place of human ratings.
        neighbors: Neighbours that vote.
        exact_ties: Let distances that differ by rounding count as equal; the paper's do not.
    """
    one = chosen(estimator, threads, seed)
    read = _read(rated, rows)
    human, lengths, pool = _is_human(read, human_label), _lengths(read), read.pool

    def of(ratings: FloatArray) -> Huse:
        return huse_of(
            ratings,
            read.numbers["logprob"],
            lengths,
            human,
            neighbors=neighbors,
            exact_ties=exact_ties,
            seed=seed,
        )

    # In the raters' units: which distances tie, as the paper has it, changes with the units.
    found = of(human_ratings(pool.ratings, len(pool)))
    ties = "exact" if exact_ties else "float"
    drawn = {"ci": f"jack-{PARTS}", "seed": seed}
    signed = _signature(read, human, lengths, {"k": neighbors, "ties": ties, **drawn})
    result = HuseResult(human=found, signature=signed)
    if not estimated:
        return result
    if not read.texts:
        raise UsageError("--estimated needs a text column")
    values = unscaled(held_out_of(one, pool).values, pool.scale)
    named = one.signature(pool).plus(heldout="id")
    return replace(result, estimated=of(values), estimator=named)


def _read(rated: Rows, rows: LabelledRows) -> ScoredRead:
    read = read_scored(rated, rows.to_reading(), HUSE_ROLES)
    tell(read)
    if "logprob" not in read.numbers:
        raise InputError(
            "no column for the log-probability",
            path=rated[0] if isinstance(rated, list) else None,
            remedy="name it with --column logprob=NAME: HUSE needs what the model thinks of "
            "each text",
        )
    return read


def _is_human(read: ScoredRead, wanted: str | None) -> BoolArray:
    """[n] whether a person wrote the text, by the label column, else by the system."""
    labels = read.labels or read.pool.systems
    if not labels:
        raise UsageError(
            "which texts did people write? Name the column that tells with --column label=NAME or "
            "--column system=NAME"
        )
    seen = sorted(set(labels))
    given = [
        name
        for name in seen
        if (name == wanted if wanted is not None else name.strip().casefold() in HUMAN_LABELS)
    ]
    if len(given) != 1:
        shown = ", ".join(f"'{name}'" for name in seen[:10])
        raise UsageError(
            f"which texts did people write? The labels are {shown}: name the one for people with "
            "--human-label"
        )
    if len(seen) > 2:
        raise UsageError(
            f"HUSE compares one model with people; there are {len(seen) - 1} models here"
        )
    return np.array([name == given[0] for name in labels], dtype=np.bool_)


def _lengths(read: ScoredRead) -> FloatArray:
    if "length" in read.numbers:
        return read.numbers["length"]
    if not read.texts:
        raise UsageError("how long are the texts? Name the column with --column length=NAME")
    note("lengths are the numbers of words of the texts")
    return np.array([max(1, len(text.split())) for text in read.pool.texts], dtype=np.float64)


def _signature(
    read: ScoredRead, human: BoolArray, lengths: FloatArray, settings: dict[str, object]
) -> Signature:
    columns = (read.pool.human, read.numbers["logprob"], lengths, human)
    return Signature("huse").plus(
        **settings,
        scale=read.pool.scale,
        data=digest_of([column.tolist() for column in columns]),
        size=len(read.pool),
        v=__version__,
    )
