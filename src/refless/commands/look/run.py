"""look: what a file holds, and what it answers, without a question being asked."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from refless.commands.judge.rater_profiles import disputed_texts
from refless.commands.look.asked import Asked
from refless.commands.look.result import LookResult
from refless.commands.parameters import (
    Argument,
    Dimension,
    LowerIsBetter,
    RatedColumns,
    RatedReading,
    RatingScale,
    RowFilter,
    ScoreColumn,
    Seed,
    SkipBad,
    command,
)
from refless.commands.rows import ScoredRows
from refless.commands.side_by_side import side_by_side
from refless.data.records import Texts, columns_of
from refless.registry.signature import Signature
from refless.registry.version import __version__
from refless.report.document import SideBySide

if TYPE_CHECKING:
    from refless.commands.validate.result import ValidateResult


@command
def look(
    outputs: Argument,
    *,
    seed: Seed = 0,
    columns: RatedColumns = None,
    reading: RatedReading = None,
    skip_bad: SkipBad = False,
    where: RowFilter = None,
    scale: RatingScale = None,
    dimension: Dimension = None,
    lower_is_better: LowerIsBetter = None,
    score_column: ScoreColumn = None,
) -> LookResult:
    """Look at a file: its columns, and what it answers; 'refless FILE' does the same.

    For example: refless evals.csv

    It says which column was read as what, whether one version is better, whether a judge's scores
    may decide alone, whether estimates help, and whether raters agree. Each answer names the
    command that goes deeper. -o page.html writes a page with all outputs side by side.

    Args:
        outputs: Files of outputs, some of them with ratings.
    """
    # these load commands, which help does not need
    from refless.commands.look.answers import (
        do_estimates_help,
        do_raters_agree,
        may_judges_decide,
        which_is_better,
    )
    from refless.commands.look.columns import which_is_which

    options: dict[str, Any] = {
        "columns": columns,
        "reading": reading,
        "skip_bad": skip_bad,
        "where": where,
        "scale": scale,
        "dimension": dimension,
        "lower_is_better": lower_is_better,
        "score_column": score_column,
    }
    asked = Asked.of(outputs, ScoredRows(**options), options, seed)
    columns_meant = which_is_which(asked, look)
    versions = which_is_better(asked)
    judges = may_judges_decide(asked)
    estimates, validated = do_estimates_help(asked)
    raters = do_raters_agree(asked)
    # raters who do not agree are the first thing to mend: more of their ratings tell little
    first = [card for card in raters if card.state == "no"]
    last = [card for card in raters if card.state != "no"]
    doubt = not any(card.state == "yes" for card in estimates)
    return LookResult(
        seen=asked.seen,
        scale=asked.scale,
        guessed=asked.guessed,
        cards=(*columns_meant, *first, *versions, *judges, *estimates, *last),
        outputs=_outputs(asked, validated, doubt=doubt),
        file=asked.file,
        signature=Signature("look").plus(seed=seed, v=__version__),
    )


def _outputs(
    asked: Asked, validated: "ValidateResult | None", *, doubt: bool
) -> SideBySide | None:
    """The outputs side by side, with held-out estimates; None of choices."""
    if asked.of_choices:
        return None
    texts = asked.read.texts
    estimates: dict[Hashable, float] = {}
    if validated is not None:
        rated = _names(validated.validation.pool, named=asked.read.named)
        estimates = dict(zip(rated, validated.estimates.values.tolist(), strict=True))
    own = texts if "system" in asked.seen.roles else replace(texts, systems=())
    names = _names(own, named=asked.read.named)
    values = [estimates.get(name, math.nan) for name in names]
    pool = asked.read.pool
    disputed: set[Hashable] = set()
    if pool is not None:
        named = _names(pool, named=asked.read.named)
        disputed = {*compress(named, disputed_texts(pool))}
    return side_by_side(
        texts,
        asked.people,
        np.array(values),
        asked.read.first_rows,
        percent=asked.percent,
        doubt=doubt,
        scale=asked.scale,
        disputed=[name in disputed for name in names],
    )


def _names(texts: Texts, *, named: bool) -> Sequence[Hashable]:
    """The ids of texts if their user gave them; else, as ids count rows, all their columns."""
    columns = columns_of(texts)
    ids: Sequence[Hashable] = columns.pop("ids")
    if named:
        return ids
    return [*zip(*filter(None, columns.values()), strict=True)]
