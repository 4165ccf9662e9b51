"""validate: does anything automatic agree with these raters?"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from refless.commands.advice import advice_on
from refless.commands.estimating import by_title, chosen, named, tried_of, with_twins
from refless.commands.pairs.judged import JudgedResult
from refless.commands.pairs.run import validated
from refless.commands.parameters import (
    About,
    Argument,
    Call,
    Flag,
    Many,
    Rare,
    Seed,
    Threads,
    command,
    parameters_of,
    this_call,
)
from refless.commands.rows import ScoredRows, note_unread, rated_of
from refless.commands.score.run import score
from refless.commands.validate.result import HeldOut, ValidateResult
from refless.commands.warnings import note, note_few, progress
from refless.data.choices import are_choices
from refless.data.records import Estimates, RatedPool, as_outputs, picked
from refless.estimators import ESTIMATORS, Estimator
from refless.evaluation.baselines import baselines
from refless.evaluation.jackknife import Deal, Trial, dealt, trial
from refless.evaluation.judge_shift import leaks
from refless.evaluation.leaderboard import SideBySide, side_by_side, to_use
from refless.evaluation.subsample import drawn_rows
from refless.evaluation.validation import codes, group_labels, repeated, validation
from refless.evaluation.versus_judges import beside_scores, tried_scores
from refless.registry.errors import UsageError
from refless.registry.spec import spec_of

CANDIDATES = (
    "gp",
    "bleu-neighbors",
    "bleu-neighbors:weights=kernel,tau=0,min_neighbors=0,max_fraction=1",
)
FEWEST = 20  # rated texts
AT_MOST = 20_000  # rated texts; of more, so many are drawn
MANY_COPIES = 0.05  # of the rated texts


@command
def validate(
    rated: Argument,
    *,
    estimator: Annotated[Any, Flag(metavar="ESTIMATOR", kind=Many)] = None,
    group: str = "id",
    at_most: Annotated[Rare[int], About("", at_least=FEWEST)] = AT_MOST,
    threads: Threads = None,
    seed: Seed = 0,
    rows: ScoredRows,
) -> ValidateResult | JudgedResult:
    """Compare held-out estimates of rated texts with their own ratings: is it worth using?

    Each text is estimated from the other rated texts. Shows errors and correlations with 95 %
    intervals and coverage, beside what a constant, the length alone and a ridge on TF-IDF achieve,
    and beside single annotators where the ratings name them. Says which estimator to use and, with
    --score-column, what the texts add to those scores. Of preference pairs (chosen and rejected,
    or who won) it shows how often the text that people preferred is picked.

    Args:
        rated: Files of rated texts, or one index folder, or files of preference pairs.
        estimator: An estimator, with parameters if any: gp:max_sd=0.2. Repeatable. Without it: gp,
            bleu-neighbors and a kernel-weighted mean.
        group: What is held out together: id (each text alone), text (equal texts), source, system,
            item, task or a column's name.
        at_most: Rated texts to validate on; of more, so many are drawn.
    """
    given = [estimator] if isinstance(estimator, str) or hasattr(estimator, "fit") else estimator
    asked = [chosen(one, threads, seed) for one in given or CANDIDATES]
    pool, column = rated_of(rated, rows, group)
    how = HeldOut(group, group_labels(pool, group, column), seed)
    if len(pool) > at_most:
        pool, how = _drawn(pool, how, at_most)
    if given:
        note_unread(asked, pool)
    if are_choices(pool):
        asked = asked if given else asked[:1]
        return validated(pool, asked, scoring(asked[0], group=None), group, seed)
    _note_repeated(pool, group)
    _note_leaks(pool)
    if group != "id":
        note_few(len(set(how.labels)), group)
    return _result(with_twins(asked) if pool.score_names else asked, pool, how)


def _drawn(pool: RatedPool, how: HeldOut, at_most: int) -> tuple[RatedPool, HeldOut]:
    """A part of the rated texts, said aloud, and how they are held out."""
    kept = drawn_rows(pool, how.labels, at_most, how.seed)
    note(
        f"validated on {len(kept):,} rated texts drawn from {len(pool):,}, each estimated from the "
        f"others of these; with all of them an estimator may do better. --at-most {2 * at_most} "
        "takes more and longer"
    )
    labels = picked(how.labels, kept)
    return pool.take(kept), replace(how, labels=labels, drawn_from=len(pool))


def _result(tried: Sequence[Estimator], pool: RatedPool, how: HeldOut) -> ValidateResult:
    """All that were tried side by side, and the validation of the one to use."""
    groups = codes(how.labels)
    _check_once(tried)
    names = by_title(tried, scores=bool(pool.score_names))
    deal = dealt(pool, groups, how.seed)
    _check_apart(deal, how.group)
    estimates: dict[str, Estimates] = {}
    trials: dict[str, Trial] = {}
    for name, one in names.items():
        estimates[name], found = tried_of(one, pool, groups, deal.blocks)
        trials[name] = trial(found, deal)
    with progress("comparing"):
        plain = {
            name: trial(one, deal) for name, one in baselines(pool, groups, deal.blocks).items()
        }
        judges = tried_scores(pool, deal.blocks) if pool.score_names else {}
        scores = {name: trial(one, deal) for name, one in judges.items()}
        twins = _twins(names) if pool.score_names else {}
        table = _side_by_side(trials, scores, plain, twins)
        beside = beside_scores(table, {**trials, **scores}, twins, pool.score_names)
        best, values = names[table.reference], estimates[table.reference]
        validated = validation(
            pool,
            values,
            trials[table.reference],
            how.labels,
            how.signed(best.signature(pool)),
            group=how.group,
            seed=how.seed,
        )
    others = len(pool) - (how.group == "id")
    signed = {name: how.signed(one.signature(pool)) for name, one in names.items()}
    signatures = {name: str(one.plus(heldout=how.group)) for name, one in signed.items()}
    return ValidateResult(
        validation=validated,
        estimator=best,
        side_by_side=replace(table, signatures=signatures),
        beside_scores=beside,
        next_command=scoring(best),
        advice=advice_on(best, as_outputs(pool), values, others),
        how=how,
        signature=validated.signature,
    )


def _twins(names: dict[str, Estimator]) -> dict[str, str]:
    """The names of estimators that read scores, and of each without them."""
    place = {spec_of(one, ESTIMATORS): name for name, one in names.items()}
    alone = {name: one.without_scores() for name, one in names.items()}
    return {
        name: place[spec_of(twin, ESTIMATORS)] for name, twin in alone.items() if twin is not None
    }


def _check_once(tried: Sequence[Estimator]) -> None:
    """Raises UsageError for an estimator that is given twice."""
    specs = [named(one) for one in tried]
    for spec in specs:
        if specs.count(spec) > 1:
            raise UsageError(f"--estimator {spec} is given twice")


def _side_by_side(
    trials: dict[str, Trial],
    scores: dict[str, Trial],
    plain: dict[str, Trial],
    twins: dict[str, str],
) -> SideBySide:
    """Estimators, scores of others and baselines, each held against the estimator to use."""
    others = {**scores, **plain}
    against = partial(
        side_by_side, {**trials, **others}, baselines=tuple(others), scores=tuple(scores)
    )
    found = against(reference=next(iter(trials)))
    for _ in trials:  # each one that takes the place has more to show for it
        if (best := to_use(found, twins)) == found.reference:
            break
        found = against(reference=best)
    return found


def scoring(estimator: Estimator, **changes: Any) -> str:
    """The command line that estimates outputs with an estimator, from the same rated texts."""
    call, plain = this_call(), estimator.clone()
    for name, default in (("seed", 0), ("threads", None)):
        if call.values[name] != default:  # which has a flag of its own
            plain.set_known(**{name: default})
    spec = spec_of(plain, ESTIMATORS)
    values = {**call.values, "outputs": ["OUTPUTS"], "estimator": spec}
    if estimator.without_scores() is None:
        values["score_column"] = None
    return Call("score", parameters_of(score), values).line(**changes)


def _check_apart(deal: Deal, group: str) -> None:
    """Raises UsageError where no group differs from the others, so that all are held out at once.

    Copies of a text are held out together, and here each group has a copy of each.
    """
    if group != "id" and len(set(deal.blocks.tolist())) == 1:
        raise UsageError(
            f"--group {group}: each {group} holds the same texts, and copies of a text are held "
            "out together, so nothing would be left to estimate them from. Use --group text; or "
            "give the rows ids (--id-column) if they are different texts"
        )


def _note_repeated(pool: RatedPool, group: str) -> None:
    """Says so where texts are estimated from their own copies."""
    copies = repeated(pool)
    if group == "id" and copies > MANY_COPIES * len(pool):
        more = "" if pool.named else "; an id or an annotator column makes rows of one text one"
        note(
            f"{copies} of {len(pool)} rated texts occur more than once. Each is estimated from "
            "its own copies too, so errors look smaller than they are. --group text holds "
            f"equal texts out together{more}"
        )


def _note_leaks(pool: RatedPool) -> None:
    """Says which scores of others are the ratings themselves, or as good as these."""
    for name, column in zip(pool.score_names, pool.scores.T, strict=True):
        if leaks(column, pool.human):
            note(
                f"'{name}' orders the rated texts just as their ratings do: it may be the rating "
                "itself, and then nothing that is said of it here holds for other texts"
            )
