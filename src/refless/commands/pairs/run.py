"""Commands on pairs of texts, of which people said which is better."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from refless.commands.estimating import by_title, chosen, shown, with_twins
from refless.commands.pairs.chances import ChancesResult
from refless.commands.pairs.judged import JudgedResult
from refless.commands.pairs.wins import WinsResult
from refless.commands.parameters import RatedRows, Rows
from refless.commands.rows import check_standard_input, note_missing, outputs_of, tell
from refless.commands.warnings import note, note_few, progress
from refless.data.preferences import Pairs, digest, groups_in, votes_of
from refless.data.tables import Reading, holds_pairs, read_pairs
from refless.estimators import GaussianProcess
from refless.estimators.protocol import whole
from refless.evaluation import preferences as study
from refless.evaluation.preferences import Opinion
from refless.evaluation.wins import Wins, wins
from refless.metrics.index import RatedIndex
from refless.registry.errors import UsageError
from refless.registry.signature import Signature
from refless.registry.version import __version__
from refless.report.result import GateRecord

READ = {  # what says how pairs are read
    *("annotator_column", "source_column", "id_column", "score_column", "input_format"),
    *("encoding", "quoting", "max_bytes", "skip_bad"),
}
OF_OUTPUTS = ("text_column", "item_column", "system_column", "task_column")


def given_pairs(rows: Rows, options: RatedRows) -> bool:
    """Whether rows are pairs of texts."""
    reading = Reading(
        format=options.input_format, encoding=options.encoding, max_bytes=options.max_bytes
    )
    return not isinstance(rows, RatedIndex) and rows is not None and holds_pairs(rows, reading)


def pairs_in(rows: Rows, options: RatedRows) -> Pairs:
    """The pairs, with what was noticed told.

    Raises:
        UsageError: an option that is about ratings.
    """
    check_plain({name: value for name, value in options.given().items() if name not in READ}, {})
    read = read_pairs(rows, options.reading())
    tell(read)
    note_missing(read.pairs.texts)
    return read.pairs


def check_plain(given: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
    """Raises UsageError for a flag that pairs do not heed."""
    for name, value in given.items():
        if value != defaults.get(name):
            raise UsageError(f"--{name.replace('_', '-')} is about ratings, and these are pairs")


def learner(estimator: Any, threads: int | None, seed: int) -> GaussianProcess:
    """The estimator; raises UsageError for one that learns from ratings alone."""
    one: GaussianProcess = chosen(estimator, threads, seed).of_pairs()
    return one


def validated(
    rated: Rows,
    estimators: Sequence[Any],
    at_most: int,
    threads: int | None,
    seed: int,
    rows: Any,
    scoring: Callable[[GaussianProcess], str],
) -> JudgedResult:
    """Held-out choices of estimators beside those of baselines, scores of others and people.

    Args:
        rated: the pairs; estimators: specifications; at_most: texts, of which a pair has two.
        threads, seed, rows: as of `validate`.
        scoring: the command line that estimates outputs with an estimator.
    """
    asked = [learner(one, threads, seed) for one in estimators or ("gp",)]
    pairs = _drawn(pairs_in(rated, rows), at_most // 2, seed)
    votes = votes_of(pairs)
    fold = study.dealt(asked[0], pairs, votes)
    note_few(len({*pairs.groups}), "source")
    opinions: dict[str, Opinion] = {}
    scored = bool(pairs.texts.score_names)
    judges = with_twins(asked) if scored else asked
    for name, one in by_title(judges, scores=scored).items():
        with shown(one, f"holding out each source: {one.title}"):
            opinions[name] = study.held_out(one, pairs, fold)
    with progress("comparing"):
        scores = study.of_scores(pairs, votes)
        plain = {study.LENGTH: study.length(pairs, votes, fold)}
        plain |= {study.WORDS: study.words(pairs, votes, fold), study.COIN: study.coin(votes)}
        found = study.judged(pairs, {**opinions, **scores, **plain}, seed=seed)
    return JudgedResult(
        pairs=pairs,
        judged=found,
        opinions={**opinions, **scores, **plain},
        baselines=(*scores, *plain),
        scores=tuple(scores),
        estimator=asked[0],
        next_command=scoring(asked[0]),
        signature=_signed(asked[0].signed(pairs), seed),
    )


def chances(outputs: Rows, rated: Rows, estimator: GaussianProcess, rows: Any) -> ChancesResult:
    """The chance of each output to be preferred to an average text of those compared."""
    check_standard_input(outputs, rated)
    plain = dict.fromkeys(OF_OUTPUTS)
    pairs = pairs_in(rated, replace(rows, **plain))
    found = outputs_of(outputs, replace(rows, input_format=None))
    with shown(estimator, "learning from the pairs"):
        known = estimator.preferences(pairs)
        estimates = estimator.preferred(known, found)
    return ChancesResult(
        outputs=found,
        estimates=estimates,
        choices=len(pairs),
        signature=estimator.signed(pairs),
    )


def _signed(signature: Signature, seed: int) -> Signature:
    return signature.plus(heldout="source", ci="boot-1000", seed=seed)


def _drawn(pairs: Pairs, most: int, seed: int) -> Pairs:
    """The pairs of some sources, said aloud, where there are more."""
    votes = votes_of(pairs)
    if len(votes.wins) <= most:
        return pairs
    kept = whole(groups_in(pairs, votes), most, np.random.default_rng(seed))
    note(
        f"validated on {len(kept):,} pairs drawn from {len(votes.wins):,}; --at-most {4 * most} "
        "takes more and longer"
    )
    return pairs.take(np.flatnonzero(np.isin(votes.of, kept)))


def compared(
    given: Rows,
    baseline: Any,
    systems: Sequence[str],
    margin: float,
    rows: Any,
    *,
    gated: bool,
) -> WinsResult:
    """How often each system is preferred to another."""
    pairs = pairs_in(given, rows)
    order = _order(pairs, baseline, systems)
    found = wins(pairs, order)
    if not found:
        raise UsageError(f"nobody chose between {' and '.join(order)}")
    if gated and (len(order) != 2 or (baseline is None and not systems)):
        raise UsageError("--fail-if-worse is about two systems: name them with --system, old first")
    gate = _gate(found[0], margin) if gated else GateRecord()
    if gate.reason:
        note(gate.reason)
    signed = Signature("wins").plus(ties="half", systems=tuple(order), ci="wilson-clustered")
    signed = signed.plus(drawn="source", choices=len(pairs), pairs=digest(pairs), v=__version__)
    return WinsResult(
        wins=found,
        choices=len(pairs),
        groups=len({*pairs.groups}),
        gate=gate,
        signature=signed.plus(margin=margin) if gated else signed,
    )


def _order(pairs: Pairs, baseline: Any, systems: Sequence[str]) -> list[str]:
    """The systems, the old one first.

    Raises:
        UsageError: none, one, or a name that none has.
    """
    known = sorted({name for both in pairs.systems for name in both} - {""})
    first = baseline[0] if isinstance(baseline, list | tuple) and len(baseline) == 1 else baseline
    named = [*([] if first is None else [first]), *systems]
    if wrong := [name for name in named if name not in known]:
        told = (
            ", ".join(known) or "the pairs name none (model_a and model_b, system_a and system_b)"
        )
        raise UsageError(f"'{wrong[0]}' is none of the systems: {told}")
    order = [*dict.fromkeys([*named, *([] if systems else known)])]
    if len(order) < 2:
        raise UsageError(
            "a comparison needs the systems of both texts: columns model_a and model_b, or "
            "system_a and system_b, that end as those of the texts do"
        )
    return order


def _gate(found: Wins, margin: float) -> GateRecord:
    """Whether the second system is preferred less often than half the time, less the margin."""
    low, high = found.by_item.interval
    least = 0.5 - margin
    ends = f"the interval of its win rate, {low:.3f} to {high:.3f},"
    if high < least:
        return GateRecord("failed", f"gate failed: {found.second} is worse: {ends} ends below it")
    if not low >= least:
        return GateRecord("undecided", f"gate undecided: {ends} does not tell if it is {least:g}")
    return GateRecord("passed", f"gate passed: {found.second} is not worse: {ends} says so")


def judges(
    given: Rows, lower: Sequence[str], metrics: Any, seed: int, resamples: int, rows: Any
) -> JudgedResult:
    """How often the higher of two scores is that of the text which people preferred."""
    if metrics:
        raise UsageError("-m is about outputs with references, and these are pairs")
    pairs = pairs_in(given, rows)
    opinions = study.of_scores(pairs, votes_of(pairs))
    if not opinions:
        raise UsageError("at least one --score-column is needed")
    for name in lower:
        if name not in opinions:
            raise UsageError(f"--lower-is-better {name}: it is no --score-column")
        opinions[name] = study.Opinion(-opinions[name].sides, opinions[name].chances)
    first = study.judged(pairs, opinions, seed=seed, resamples=resamples)
    best = sorted(first.lines, key=lambda line: (-line.accuracy, line.name))
    ordered = {line.name: opinions[line.name] for line in best}
    note_few(first.groups, "source")
    signed = Signature("meta").plus(
        pairs=digest(pairs), choices=len(pairs), metrics=tuple(ordered), lower=tuple(lower)
    )
    return JudgedResult(
        pairs=pairs,
        judged=study.judged(pairs, ordered, seed=seed, resamples=resamples),
        opinions=ordered,
        baselines=(),
        scores=tuple(ordered),
        estimator=None,
        signature=signed.plus(ci=f"boot-{resamples}", seed=seed, v=__version__),
    )
