"""serve: estimates and comparisons over HTTP, from rated texts or a saved estimator."""

from refless.commands.estimating import DEFAULT, chosen, fitted
from refless.commands.models import saved_in
from refless.commands.parameters import (
    Argument,
    Chosen,
    Dimension,
    LowerIsBetter,
    RatedColumns,
    RatedReading,
    RatingScale,
    RowFilter,
    ScoreColumn,
    Seed,
    SkipBad,
    Threads,
    command,
)
from refless.commands.rows import ScoredRows, note_unread, rated_of
from refless.estimators import Estimator
from refless.extensions.serve.rate import Host, Port, check_served
from refless.extensions.serve.result import ServeResult, Where
from refless.files.arrays import is_saved


@command
def serve(
    rated: Argument,
    *,
    estimator: Chosen = DEFAULT,
    host: Host = "127.0.0.1",
    port: Port = 8000,
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
) -> ServeResult:
    """Serve estimates over HTTP: POST /estimate, POST /compare.

    For example: refless serve rated.csv --scale 1 5 --port 8000

    Learns once at the start, and answers until Ctrl-C. Estimates are those of 'refless score', to
    1e-12. Callers need the token of the environment variable REFLESS_TOKEN, or the one
    that is printed. /openapi.json describes the API.

    Args:
        rated: Files of rated texts, or the file of 'refless fit'.
        host: Address to listen on; 0.0.0.0 for all, behind a proxy with TLS.
        port: Port to listen on.
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
    check_served(host)
    served = _fitted(rated, chosen(estimator, threads, seed), rows)
    address = Where(host=host, port=port)
    return ServeResult(estimator=served, where=address, signature=served.signature())


def _fitted(rated: Argument, estimator: Estimator, rows: ScoredRows) -> Estimator:
    """The fitted estimator: out of a file of `refless fit`, else fitted here."""
    path = rated[0] if isinstance(rated, list | tuple) and len(rated) == 1 else rated
    if is_saved(path):
        threads = estimator.get_params().get("threads")
        return saved_in(
            path, rated=None, estimator=DEFAULT, rows=rows, threads=threads
        ).estimator
    pool, _ = rated_of(rated, rows)
    note_unread([estimator], pool)
    return fitted(estimator, pool)
