"""Estimators by their specifications, and what they do while somebody may watch."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from refless.commands.warnings import progress
from refless.data.choices import are_choices, group_numbers
from refless.data.records import Estimates, Outputs, RatedPool
from refless.data.tables import OutputsRead, Reading, Rows, read_outputs
from refless.estimators import ESTIMATORS, Estimator, estimator_of, held_out
from refless.estimators.cross_validated import CrossValidated
from refless.estimators.own import own_estimator
from refless.registry.arrays import IntArray
from refless.registry.from_file import own_thing
from refless.registry.signature import Signature
from refless.registry.spec import spec_of

DEFAULT = "gp"
NAMES = {
    "bleu-neighbors": "BLEU Neighbors",
    "gp": "the Gaussian process",
    "ratpred": "RatPred",
}
E = TypeVar("E", bound="Estimator")


def chosen(
    estimator: Any, threads: int | None = None, seed: int | None = None
) -> Estimator:
    """The estimator that a specification names; of one that is given, a copy.

    `mine.py:Class` is one of the user's own file. A seed of its own, and threads, it keeps; else
    those of the call are its.

    Raises:
        UsageError: an unknown estimator or parameter, or a value that cannot be honoured.
    """
    own = own_thing(estimator)
    copy = estimator_of(estimator).clone() if own is None else own_estimator(own)
    parameters = copy.get_params(deep=False)
    if threads is not None and parameters.get("threads") is None:
        copy.set_known(threads=threads)
    if seed is not None and parameters.get("seed", 0) == 0:
        copy.set_known(seed=seed)
    return copy


def with_twins(candidates: Sequence[E]) -> list[E]:
    """The estimators, and each that reads scores of others also without them."""
    specs = {spec_of(estimator, ESTIMATORS) for estimator in candidates}
    estimators: list[E] = []
    for estimator in candidates:
        estimators.append(estimator)
        twin = estimator.without_scores()
        if twin is not None and spec_of(twin, ESTIMATORS) not in specs:
            estimators.append(twin)
    return estimators


def by_title(candidates: Sequence[E], *, scores: bool) -> dict[str, E]:
    """The estimators by name; by specification where two have one name.

    Args:
        candidates: the estimators; scores: whether there are scores of others, which some read.
    """
    titles: list[str] = []
    for estimator in candidates:
        reads = scores and estimator.without_scores() is not None
        titles.append(f"{estimator.title} + scores" if reads else estimator.title)
    return {
        title if titles.count(title) == 1 else named(estimator): estimator
        for title, estimator in zip(titles, candidates, strict=True)
    }


def named(estimator: Estimator) -> str:
    """Its specification without threads, on which no number depends."""
    return spec_of(estimator.clone().set_known(threads=None), ESTIMATORS)


def told_from(signature: Signature) -> str:
    """The parts of outputs that an estimator reads, in words."""
    reads_scores = " + scores" in estimator_name(signature)
    return "texts and scores" if reads_scores else "texts alone"


def estimator_name(signature: Signature) -> str:
    """An estimator's name for people, with its kernel where that is not BLEU*."""
    name = NAMES.get(signature.name, signature.name)
    if ",score " in (signature.get("k") or ""):
        name += " + scores"
    kernel = signature.get("kernel") or "bleu*"
    return name if kernel == "bleu*" else f"{name} with {kernel}"


@contextmanager
def shown(estimator: Estimator, work: str) -> Iterator[None]:
    """Lets whoever watches see how far the estimator's work is."""
    with progress(work) as estimator.progress:
        yield
    estimator.progress = None


def fitted(
    estimator: Estimator, pool: RatedPool, groups: Sequence[str] = ()
) -> Estimator:
    """The estimator, fitted; errors are measured with whole groups held out."""
    # what lost tells what won
    if not groups and not pool.sources and are_choices(pool):
        groups = tuple(map(str, group_numbers(pool)))
    with shown(estimator, "learning from the rated texts"):
        return estimator.fit(pool, groups=groups)


def estimated(estimator: Estimator, outputs: Outputs) -> Estimates:
    """An estimate for each output."""
    with shown(estimator, "estimating"):
        return estimator.estimate(outputs)


def estimated_rows(
    estimator: Estimator, rows: Rows, reading: Reading
) -> tuple[OutputsRead, Estimates]:
    """The outputs in rows, sorted by content, and an estimate for each, in the raters' units.

    It serves shards, and batches on any cluster: how rows are dealt changes no number by more than
    1e-12. Errors are those of `read_outputs` and of the estimator.
    """
    read = read_outputs(rows, reading, in_order=True)
    return read, estimator.estimate(read.outputs).on(estimator.rated.scale)


def held_out_of(estimator: Estimator, pool: RatedPool, groups: IntArray) -> Estimates:
    """Each rated text estimated from the others outside its group."""
    with shown(estimator, f"holding out each text: {estimator.title}"):
        return held_out(estimator, pool, groups)


def cross_validated(
    estimator: Estimator, pool: RatedPool, groups: IntArray, blocks: IntArray
) -> tuple[Estimates, CrossValidated]:
    """The same, and what they would be of a part of the pool; blocks are folds of whole groups."""
    with shown(estimator, f"holding out each text: {estimator.title}"):
        return estimator.cross_validated(pool, groups, blocks)
