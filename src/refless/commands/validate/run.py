"""validate: does anything automatic agree with these raters?"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

import numpy as np

from refless.commands import function_of
from refless.commands.calls import check_asked, returning
from refless.commands.estimating import by_title, chosen, cross_validated, with_twins
from refless.commands.pairs.judged import JudgedResult
from refless.commands.pairs.run import validated
from refless.commands.parameters import (
    About,
    Argument,
    Call,
    Dimension,
    Group,
    LowerIsBetter,
    Many,
    RatedColumns,
    RatedReading,
    RatingScale,
    RowFilter,
    ScoreColumn,
    Seed,
    SkipBad,
    Threads,
    command,
    parameters_of,
    this_call,
)
from refless.commands.rows import ScoredRows, note_unread, told_pool
from refless.commands.validate.result import ValidateResult
from refless.commands.validate.source_study import source_study
from refless.commands.validate.validation import validation
from refless.commands.warnings import note, note_repeated, progress
from refless.data.choices import CHOICES, are_choices
from refless.data.design import ALONE, Design, group_names
from refless.data.records import RatedPool, picked
from refless.data.tables import PoolRead
from refless.estimators import ESTIMATORS, Estimator
from refless.estimators.cross_validated import CrossValidated
from refless.evaluation.groups import drawn_rows
from refless.evaluation.jackknife import split
from refless.evaluation.judge_shift import leaks
from refless.registry.arrays import IntArray, codes
from refless.registry.dialect import called
from refless.registry.errors import UsageError
from refless.registry.spec import spec_of

CANDIDATES = ("gp", "bleu-neighbors")
AT_MOST = 6_000  # rated texts; of more, so many are drawn


NAMES = {ValidateResult: "validate", JudgedResult: "validate_choices"}


@returning(ValidateResult, NAMES)
@command
def validate(
    rated: Argument,
    *,
    estimator: Annotated[Any, About(metavar="ESTIMATOR", kind=Many)] = None,
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
) -> ValidateResult | JudgedResult:
    """Compare held-out estimates of rated texts with their own ratings: is it worth using?

    For example: refless validate rated.csv --scale 1 5 -o page.html

    Each text is estimated from the other rated texts. Shows errors and correlations with 95 %
    intervals and coverage, beside what a constant, the length alone and a ridge on TF-IDF achieve,
    and beside an average annotator where the ratings name them. Says which estimator to use and,
    with `score_column`, what the texts add to those scores. Of preference pairs (chosen and
    rejected, or who won) it shows how often the text that people preferred is picked.

    Args:
        rated: Files of rated texts, or of preference pairs.
        estimator: An estimator, with parameters if any: gp:max_sd=0.2. Repeatable. Without it: gp
            and bleu-neighbors.
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
    is_single = isinstance(estimator, str) or hasattr(estimator, "fit")
    specs = [estimator] if is_single else estimator
    candidates = [chosen(spec, threads, seed) for spec in specs or CANDIDATES]
    read = told_pool(rated, rows, group)
    pool = read.pool
    labels = group_names(pool, group, read.group)
    design = Design.of(pool, group, read.group)
    held_out = group or (design.level if design.together else ALONE)
    if held_out != ALONE and len({*labels}) < 2:
        raise UsageError(
            f"{called('group', held_out)}: all texts are of one; nothing would be left"
        )
    drawn: dict[str, object] = {}
    if len(pool) > AT_MOST:
        drawn = {"drawnfrom": len(pool), "drawseed": seed}
        sample = drawn_rows(pool, labels, AT_MOST, seed)
        note(
            f"validated on {len(sample):,} rated texts drawn from {len(pool):,}, each estimated "
            "from the others of these; with all of them an estimator may do better"
        )
        pool = pool.take(sample)
        read = replace(read, pool=pool, first=picked(read.first, sample))
        labels = picked(labels, sample)
        design = design.take(sample)
    if specs:
        note_unread(candidates, pool)
    if are_choices(pool):
        check_asked(JudgedResult, CHOICES)
        candidates = candidates if specs else candidates[:1]
        return validated(
            pool, candidates, scoring(candidates[0], group=None), group, seed
        )
    check_asked(ValidateResult, "ratings of texts")
    _note_repeated(pool, held_out)
    _note_leaks(pool)
    if pool.score_names:
        candidates = with_twins(candidates)
    signs = {**drawn, "heldout": held_out, **design.signs}
    result = _result(candidates, read, labels, seed, signs, design)
    return replace(result, named=bool(specs))


validate_choices = returning(JudgedResult, NAMES)(validate)


def _result(
    candidates: Sequence[Estimator],
    read: PoolRead,
    labels: tuple[str, ...],
    seed: int,
    signs: dict[str, object],
    design: Design,
) -> ValidateResult:
    """Splits, held-out estimates of each candidate, and what they are worth."""
    pool = read.pool
    group = str(signs["heldout"])
    parts = split(pool, codes(labels), seed)
    _check_apart(parts.blocks, group)
    names = by_title(candidates, scores=bool(pool.score_names))
    methods = {
        name: cross_validated(estimator, pool, parts.groups, parts.blocks)
        for name, estimator in names.items()
    }
    twins = _twins(names) if pool.score_names else {}
    with progress("comparing"):
        result = validation(pool, parts, methods, group=group, twins=twins, seed=seed)
    reference = result.side_by_side.reference
    best = names[reference]

    def crossed(groups: IntArray, blocks: IntArray) -> CrossValidated:
        """Held-out estimates of the estimator to use; those that are there are taken."""
        if _are_equal(groups, parts.groups):
            return methods[reference][1]
        return cross_validated(best, pool, groups, blocks)[1]

    sources = source_study(pool, crossed, seed)
    signatures = {
        name: estimator.signature(pool).plus(**signs)
        for name, estimator in names.items()
    }
    signature = signatures[reference]
    return ValidateResult(
        validation=result,
        sources=sources,
        design=design.said(pool.ratings),
        unit=design.unit,
        estimator=best,
        signatures={name: str(signed) for name, signed in signatures.items()},
        next_command=scoring(best),
        listed=read.listed,
        left=read.n_unrated,
        named=False,
        signature=signature.plus(ci=result.estimator.interval_method, seed=seed),
    )


def _are_equal(groups: IntArray, others: IntArray) -> bool:
    """Whether both put the same texts together, whatever the numbers."""
    both = np.stack([groups, others])
    pairs = len(np.unique(both, axis=1).T)
    return len(np.unique(groups)) == pairs == len(np.unique(others))


def _twins(names: dict[str, Estimator]) -> dict[str, str]:
    """The names of estimators that read scores, and of each without them."""
    place = {spec_of(estimator, ESTIMATORS): name for name, estimator in names.items()}
    alone = {name: estimator.without_scores() for name, estimator in names.items()}
    return {
        name: place[spec_of(twin, ESTIMATORS)]
        for name, twin in alone.items()
        if twin is not None
    }


def scoring(estimator: Estimator, **changes: Any) -> str:
    """The line that estimates outputs with an estimator, from the same rated texts."""
    call = this_call()
    plain = estimator.clone()
    for name, default in (("seed", 0), ("threads", None)):
        if call.values[name] != default:  # which has a flag of its own
            plain.set_known(**{name: default})
    spec = spec_of(plain, ESTIMATORS)
    values = {**call.values, "outputs": ["OUTPUTS"], "estimator": spec}
    if estimator.without_scores() is None:
        values["score_column"] = None
    return Call("score", parameters_of(function_of("score")), values).said(**changes)


def _check_apart(blocks: IntArray, group: str) -> None:
    """Raises UsageError where no group differs from the others, so that all are held out at once.

    Copies of a text are held out together, and here each group has a copy of each.
    """
    if group not in {ALONE, "text"} and len(set(blocks.tolist())) == 1:
        raise UsageError(
            f"{called('group', group)}: each {group} holds the same texts, and copies of "
            "a text are held "
            "out together, so nothing would be left to estimate them from. Use "
            f"{called('group', 'text')}; or "
            f"give the rows ids ({called('columns', {'id': 'NAME'})}) if they are different texts"
        )


def _note_repeated(pool: RatedPool, group: str) -> None:
    """Says so where texts are estimated from their own copies, or rows may be ratings of one."""
    remedies = []
    if group == ALONE:
        remedies.append(
            "Each is estimated from its own copies too, so errors look smaller than they are. "
            f"{called('group', 'text')} holds equal texts out together"
        )
    if not pool.named:
        remedies.append(
            "If several people rated each, an id or an annotator column makes its rows one text"
        )
    if remedies:
        note_repeated(pool.texts, ". ".join(remedies))


def _note_leaks(pool: RatedPool) -> None:
    """Says which scores of others are the ratings themselves, or as good as these."""
    for name, column in zip(pool.score_names, pool.scores.T, strict=True):
        if leaks(column, pool.human):
            note(
                f"'{name}' orders the rated texts just as their ratings do: it may be the rating "
                "itself, and then nothing that is said of it here holds for other texts"
            )
