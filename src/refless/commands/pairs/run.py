"""Commands on choices between two texts: how often a method picks what people preferred."""

from collections.abc import Mapping, Sequence

import numpy as np

from refless.commands.estimating import by_title, held_out_of, with_twins
from refless.commands.pairs.judged import JudgedResult
from refless.commands.pairs.pairwise import COIN, Pairwise, pairwise
from refless.commands.warnings import note_few, progress
from refless.data.choices import Choices, choices_in, group_numbers
from refless.data.design import ALONE
from refless.data.human import fingerprint
from refless.data.records import RatedPool
from refless.estimators import Estimator
from refless.evaluation.baselines import length_only, lengths_of, tfidf_ridge
from refless.registry.arrays import FloatArray
from refless.registry.dialect import called
from refless.registry.errors import UsageError
from refless.registry.signature import Signature
from refless.registry.version import __version__

LENGTH = "length"
WORDS = "TF-IDF"


def held_out_differences(
    estimators: Mapping[str, Estimator], pool: RatedPool, choices: Choices
) -> dict[str, FloatArray]:
    """[k] each method's estimate of the first text less that of the second, its source held out.

    Estimators first, then scores of others as they are, then length, TF-IDF and a coin.

    Raises:
        UsageError: one source, or pairs that shared texts make one.
    """
    groups = group_numbers(pool)
    if len(np.unique(groups)) < 2:
        raise UsageError(
            "all pairs are of one source (or connected by texts that they share), so none can be "
            "held out; add a column of sources (source, prompt, question ...)"
        )
    values = {
        name: held_out_of(estimator, pool, groups).values
        for name, estimator in estimators.items()
    }
    with progress("comparing"):
        values |= dict(zip(pool.score_names, pool.scores.T, strict=True))
        values[LENGTH] = length_only(pool.human, lengths_of(pool), groups)
        values[WORDS] = tfidf_ridge(pool, (), groups, groups).estimates[0]
        values[COIN] = np.zeros(len(pool))
    return {name: _difference(column, choices) for name, column in values.items()}


def _difference(values: FloatArray, choices: Choices) -> FloatArray:
    return np.asarray(values[choices.first] - values[choices.second])


def validated(
    pool: RatedPool,
    estimators: Sequence[Estimator],
    next_command: str,
    group: str | None,
    seed: int,
) -> JudgedResult:
    """Held-out choices of estimators side by side with baselines, scores of others and people.

    Args:
        pool: the choices; estimators: the first is the one that is recommended, or not.
        next_command: the command line that estimates outputs with it.
        group, seed: as of `validate`; sources are held out in any case.
    """
    _check_group(group)
    scored = bool(pool.score_names)
    names = by_title(with_twins(estimators) if scored else estimators, scores=scored)
    choices = choices_in(pool)
    differences = held_out_differences(names, pool, choices)
    study = pairwise(pool, choices, differences, seed=seed)
    signature = estimators[0].signature(pool).plus(heldout="source", **_signs(study))
    return JudgedResult(
        pool=pool,
        choices=choices,
        pairwise=study,
        differences=differences,
        baselines=tuple(differences)[len(names) :],
        scores=pool.score_names,
        estimator=estimators[0],
        next_command=next_command,
        signature=signature.plus(ci="boot-1000", seed=seed),
    )


def tested(
    pool: RatedPool,
    scores: Mapping[str, FloatArray],
    group: str | None,
    seed: int,
    resamples: int,
) -> JudgedResult:
    """The share of pairs in which the higher score is that of the text which people preferred.

    Args:
        pool: the choices; scores: by name, [n]; group, seed, resamples: as of `judge`.
    """
    _check_group(group)
    choices = choices_in(pool)
    differences = {
        name: _difference(column, choices) for name, column in scores.items()
    }
    first = pairwise(pool, choices, differences, seed=seed, resamples=resamples)
    best = sorted(first.judges, key=lambda judge: (-judge.accuracy, judge.name))
    ordered = {judge.name: differences[judge.name] for judge in best}
    note_few(first.groups, "source")
    signed = Signature("judge").plus(
        pool=fingerprint(pool),
        choices=first.choices,
        metrics=tuple(ordered),
        **_signs(first),
        ci=f"boot-{resamples}",
        seed=seed,
        v=__version__,
    )
    return JudgedResult(
        pool=pool,
        choices=choices,
        pairwise=pairwise(pool, choices, ordered, seed=seed, resamples=resamples),
        differences=ordered,
        baselines=(),
        scores=tuple(ordered),
        estimator=None,
        signature=signed,
    )


def _signs(study: Pairwise) -> dict[str, object]:
    """The units that were drawn as a whole, as in other signatures."""
    return {"drawn": "source", "units": study.groups}


def _check_group(group: str | None) -> None:
    """Raises UsageError for another group than the source."""
    if group not in {None, ALONE, "source"}:
        raise UsageError(
            f"{called('group', group)}: choices between two texts are held out by source"
        )
