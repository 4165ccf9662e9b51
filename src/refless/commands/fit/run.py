"""fit: an estimator that has learned from rated texts, saved."""

from os import fspath
from typing import Annotated

from refless.commands.estimating import DEFAULT, chosen, fitted
from refless.commands.fit.result import FitResult
from refless.commands.parameters import Argument, Chosen, Flag, Folder, Seed, Threads, command
from refless.commands.rows import ScoredRows, note_unread, rated_of
from refless.commands.warnings import note
from refless.estimators.saved import FITTED, Saved, put
from refless.evaluation.validation import group_labels
from refless.files.folders import claimed
from refless.metrics.index import rated_in


@command
def fit(
    rated: Argument,
    *,
    out_dir: Annotated[Folder, Flag(kind=str)],
    estimator: Chosen = DEFAULT,
    group: str | None = None,
    threads: Threads = None,
    seed: Seed = 0,
    rows: ScoredRows,
) -> FitResult:
    """Fit an estimator once and save it for 'refless score --model DIR'.

    Estimates are those of 'refless score --rated', digit for digit, without the wait. The folder
    holds the rated texts too. One that is there already is replaced in one step.

    Args:
        rated: Files of rated texts, or a folder made by 'refless index'.
        out_dir: Folder of the fitted estimator; made where missing.
        group: What belongs together where errors are measured, as of 'refless score'.
    """
    one = chosen(estimator, threads, seed)
    with claimed(out_dir, FITTED, tell=note) as claim:  # first: it may not be writable
        pool, labels = rated_of(rated, rows, group or "id")
        labels = () if group is None else tuple(group_labels(rated_in(pool), group, labels))
        note_unread([one], rated_in(pool))
        fitted(one, pool, labels)
        put(claim, one, group)
    signature = Saved(one, group).signature
    return FitResult(estimator=one, folder=fspath(out_dir), signature=signature)
