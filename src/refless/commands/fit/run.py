"""fit: an estimator that has learned from rated texts, saved."""

from os import fspath

from refless.commands.estimating import DEFAULT, chosen, fitted
from refless.commands.fit.result import FitResult
from refless.commands.models import check_saving
from refless.commands.parameters import (
    Argument,
    Chosen,
    Dimension,
    Group,
    LowerIsBetter,
    RatedColumns,
    RatedReading,
    RatingScale,
    RowFilter,
    SavedAs,
    ScoreColumn,
    Seed,
    SkipBad,
    Threads,
    command,
)
from refless.commands.rows import ScoredRows, note_unread, rated_of
from refless.data.design import group_names
from refless.estimators.saved import Saved, check_known, save


@command
def fit(
    rated: Argument,
    *,
    to: SavedAs,
    estimator: Chosen = DEFAULT,
    group: Group = None,
    threads: Threads = None,
    seed: Seed = 0,
    columns: RatedColumns = None,
    reading: RatedReading = None,
    skip_bad: SkipBad = False,
    where: RowFilter = None,
    scale: RatingScale = None,
    dimension: Dimension = None,
    lower_is_better: LowerIsBetter = None,
    score_column: ScoreColumn = None,
) -> FitResult:
    """Fit an estimator once and save it for 'refless score --model FILE'.

    For example: refless fit rated.csv --scale 1 5 --to model.safetensors

    Estimates are those of 'refless score --rated', digit for digit, without the wait. The file
    contains the rated texts too.

    Args:
        rated: Files of rated texts.
    """
    rows = ScoredRows(
        columns=columns,
        reading=reading,
        skip_bad=skip_bad,
        where=where,
        scale=scale,
        dimension=dimension,
        lower_is_better=lower_is_better,
        score_column=score_column,
    )
    check_saving(to)
    unfitted = chosen(estimator, threads, seed)
    check_known(unfitted)
    pool, column = rated_of(rated, rows, group)
    labels = () if group is None else group_names(pool, group, column)
    note_unread([unfitted], pool)
    result = Saved(fitted(unfitted, pool, labels), group)
    save(result.estimator, to, group=group)
    return FitResult(
        estimator=result.estimator, path=fspath(to), signature=result.signature
    )
