"""tune: which settings do these ratings ask for, and is choosing them worth anything?"""

from collections.abc import Sequence
from dataclasses import fields
from itertools import product
from os import fspath
from typing import Annotated, Any, Literal

from refless.application.config import TUNED, as_toml
from refless.application.estimating import DEFAULT, chosen
from refless.application.notes import note, progress
from refless.application.parameters import (
    Argument,
    Call,
    Flag,
    Folder,
    Many,
    Rare,
    Seed,
    Share,
    Threads,
    command,
    parameters_of,
    this_call,
)
from refless.application.rows import ScoredRows, note_unread, rated_of
from refless.application.score import score
from refless.errors import UsageError
from refless.estimators import ESTIMATORS, Estimator, estimator_of
from refless.human import canonical_order, fingerprint
from refless.index import rated_in
from refless.records import RatedPool, picked
from refless.report.tune import TuneResult, seen, too_good
from refless.signature import Signature, digest_of
from refless.spec import expanded, spec_of
from refless.studies.sampling import drawn_rows
from refless.studies.tuning import Tuning, ratings_digest, tuning
from refless.studies.validation import codes, group_labels
from refless.version import __version__
from refless.writing import check_writable, write_atomic

PUBLISHED = "bleu-neighbors"
SETS = (  # of settings that need no download; of equally good ones the first is taken
    DEFAULT,
    (
        f"{PUBLISHED}:kernel=bleu*|rouge-l,tau=0.08|0.02|0.04|0.06|0.12|0.16|0.24|0.32,"
        "min_neighbors=5|1|3|10,max_fraction=0.66|0.33|1"
    ),
    (
        f"{PUBLISHED}:weights=kernel,tau=0,min_neighbors=0,max_fraction=1,power=2|1|4|8,"
        "kernel=bleu*|rouge-l|(bleu*:orders=1-4)|(bleu*:rarity=yes)"
    ),
)
AT_MOST = 1_000  # rated texts; of more, so many are drawn
FEWEST = 20  # groups: each fifth then has four
STEPS = 4  # by which weights of n-gram orders are told apart: quarters
WEIGHTS = "kernel__order_weights"
ENDING = ".toml"
REMARK = "What refless tune chose. --config reads it; flags on the command line win."


@command
def tune(
    rated: Argument,
    *,
    estimator: Annotated[Any, Flag(metavar="ESTIMATOR", kind=Many)] = None,
    learn_orders: bool = False,
    objective: Literal["spearman", "mse"] = "spearman",
    min_coverage: Share[float] = 0.4,
    write: Annotated[Folder | None, Flag(metavar="FILE", kind=str | None)] = None,
    group: str | None = None,
    at_most: Rare[int] = AT_MOST,
    threads: Threads = None,
    seed: Seed = 0,
    rows: ScoredRows,
) -> TuneResult:
    """Choose settings by what people rated, and find out whether choosing is worth anything.

    Each fifth of the rated texts is estimated with the settings that the other four fifths ask
    for, so that the numbers tell what chosen settings do on texts that took no part in choosing,
    beside gp as it is and BLEU Neighbors as published. With --write what all texts choose becomes
    a file that --config reads everywhere.

    Args:
        rated: Files of rated texts, or one index folder.
        estimator: An estimator with values to try, | between them: bleu-neighbors:tau=0.04|0.08.
            Repeatable. Without it: gp, and BLEU Neighbors with many settings.
        learn_orders: Also try weights of n-gram orders, wherever the kernel is bleu*.
        objective: What is best: the highest Spearman or the lowest mean squared error.
        min_coverage: Least share of the texts that the chosen settings have estimates for.
        write: Write what was chosen as TOML.
        group: What is held out together: id, text, source, system, item, task or a column's name.
            Without it: source, where there are 20 of them, else id.
        at_most: Rated texts to tune on; of more, so many are drawn.
    """
    file = None if write is None else _checked(fspath(write))
    specs = [estimator] if isinstance(estimator, str) else estimator or SETS
    candidates = {
        spec: chosen(one, threads, seed)
        for spec, one in _named(specs, learn_orders=learn_orders).items()
    }
    found, column = rated_of(rated, rows, group or "id", alone=True)
    whole = rated_in(found)
    by = group or ("source" if len({*whole.sources}) >= FEWEST else "id")
    labels = group_labels(whole, by, column)
    pool, labels = _drawn(whole, labels, at_most, seed)
    if (count := len({*labels})) < FEWEST:
        raise UsageError(
            f"there are {count} different {by}s to hold out, and fewer than {FEWEST} choose by "
            "chance: collect more ratings, or hold out something else with --group"
        )
    readers_last = sorted(candidates.values(), key=lambda one: one.without_scores() is not None)
    note_unread([*{one.title: one for one in readers_last}.values()], pool)
    with progress(f"trying {len(candidates)} settings") as show:
        tuned = tuning(
            candidates,
            {name: chosen(name, threads, seed) for name in (DEFAULT, PUBLISHED)},
            pool,
            codes(labels),
            objective=objective,
            min_coverage=min_coverage,
            seed=seed,
            progress=show,
        )
    return _result(tuned, candidates[tuned.chosen.estimator], (whole, pool), by, file)


def _checked(file: str) -> str:
    """A file that can be written; raises UsageError or InputError before any work is done."""
    if not file.endswith(ENDING) or "\0" in file:
        raise UsageError(f"--write {file}: name a file that ends in {ENDING}")
    check_writable(file)
    return file


def _named(specs: Sequence[Any], *, learn_orders: bool) -> dict[str, Estimator]:
    """Every estimator that specifications with sets of values stand for, by its own one."""
    found = []
    for spec in specs:
        for one in expanded(spec) if isinstance(spec, str) else [spec]:
            made = estimator_of(one)
            found += [made, *(_weighted(made) if learn_orders else ())]
    return {spec_of(one, ESTIMATORS): one for one in found}


def _weighted(estimator: Estimator) -> list[Estimator]:
    """The same with every weight of n-gram orders, in quarters; none without such weights."""
    known = estimator.get_params()
    if known.get(WEIGHTS) != ():
        return []
    low, high = known["kernel__orders"]
    shares = [one for one in product(range(STEPS + 1), repeat=high - low + 1) if sum(one) == STEPS]
    return [estimator.clone().set_params(**{WEIGHTS: tuple(map(float, one))}) for one in shares]


def _drawn(
    pool: RatedPool, labels: tuple[str, ...], at_most: int, seed: int
) -> tuple[RatedPool, tuple[str, ...]]:
    """A part of the rated texts, said aloud, and their labels."""
    if len(pool) <= at_most:
        return pool, labels
    kept = drawn_rows(pool, labels, at_most, seed)
    note(
        f"tuned on {len(kept):,} rated texts drawn from {len(pool):,}; --at-most {2 * at_most} "
        "takes more and longer"
    )
    return pool.take(kept), picked(labels, kept)


def _result(
    tuned: Tuning,
    best: Estimator,
    pools: tuple[RatedPool, RatedPool],
    group: str,
    file: str | None,
) -> TuneResult:
    """The result, with the file written where that is asked for."""
    whole, pool = pools
    signature = _signature(tuned, whole, pool, group)
    flags: dict[str, Any] = {"estimator": tuned.chosen.estimator}
    if this_call().values["seed"]:
        flags["seed"] = this_call().values["seed"]
    text = as_toml(
        flags,
        {TUNED: {**seen(tuned), "ratings": ratings_digest(whole), "signature": str(signature)}},
        (REMARK, f"refless {__version__} on {len(pool)} rated texts: see [{TUNED}]."),
    )
    if file is not None:
        write_atomic(file, text)
        note(f"wrote {file}")
    return TuneResult(
        tuning=tuned,
        n=len(pool),
        group=group,
        chosen_signature=best.signature(pool),
        toml=text,
        commands={
            TUNED: _scoring(best, {"config": file} if file else flags),
            DEFAULT: _scoring(estimator_of(DEFAULT), {}),
            PUBLISHED: _scoring(estimator_of(PUBLISHED), {"estimator": PUBLISHED}),
        },
        signature=signature,
    )


def _signature(tuned: Tuning, whole: RatedPool, pool: RatedPool, group: str) -> Signature:
    """What was tried, on what, and how it was judged."""
    names = [one.estimator for one in tuned.candidates]
    seed = this_call().values["seed"]
    drawn = {} if whole is pool else {"drawnfrom": len(whole)}
    return Signature("tune").plus(
        objective=tuned.objective,
        mincover=tuned.min_coverage,
        tried=len(names),
        settings=digest_of([names]),
        scale=pool.scale,
        aggregate=pool.aggregate,
        pool=fingerprint(pool.take(canonical_order(pool))),
        size=len(pool),
        **drawn,
        heldout=group,
        ci=tuned.method,
        seed=seed,
        v=__version__,
    )


def _scoring(best: Estimator, settings: dict[str, Any]) -> str:
    """The command line that estimates outputs from the same rated texts with some settings."""
    given = this_call().values
    values = {one.name: given[one.name] for one in fields(ScoredRows)}
    values |= {"rated": given["rated"], "outputs": ["OUTPUTS"], **settings}
    if best.without_scores() is None:
        values["score_column"] = None
    return Call("score", parameters_of(score), values).line()


def chosen_here(pool: RatedPool) -> str:
    """That the settings in use were chosen on these very ratings; "" where they were not."""
    tuned = this_call().tuned or {}
    return too_good(tuned) if tuned.get("ratings") == ratings_digest(pool) else ""
