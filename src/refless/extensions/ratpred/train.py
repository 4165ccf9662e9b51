"""train: a network that reads source and text, saved for later."""

from dataclasses import replace
from os import fspath
from typing import Annotated, Any

from refless.commands.estimating import chosen, shown
from refless.commands.models import check_saving
from refless.commands.parameters import (
    About,
    Argument,
    Dimension,
    Files,
    LowerIsBetter,
    RatedColumns,
    RatedReading,
    RatedRows,
    RatingScale,
    RowFilter,
    SavedAs,
    Seed,
    SkipBad,
    Threads,
    command,
)
from refless.commands.rows import outputs_of, rated_of
from refless.commands.warnings import note
from refless.estimators.saved import save
from refless.extensions.ratpred.estimator import RatPred
from refless.extensions.ratpred.result import TrainResult, kept_aside
from refless.registry.errors import UsageError


@command
def train(
    rated: Argument,
    *,
    to: SavedAs,
    estimator: Annotated[Any, About(metavar="ESTIMATOR", kind=str)] = "ratpred",
    references: Annotated[Files, About(metavar="FILE")] = None,
    threads: Threads = None,
    seed: Seed = 0,
    columns: RatedColumns = None,
    reading: RatedReading = None,
    skip_bad: SkipBad = False,
    where: RowFilter = None,
    scale: RatingScale = None,
    dimension: Dimension = None,
    lower_is_better: LowerIsBetter = None,
) -> TrainResult:
    """Train RatPred on rated texts and save it for 'refless score --model FILE'.

    For example: refless train rated.csv --scale 1 5 --to model.safetensors

    A quarter of the texts is kept aside: after each epoch the network estimates these, and the
    epoch with the best correlations is kept. A model that is there already is replaced in one step.

    Args:
        rated: Files of rated texts.
        estimator: The network and its training: ratpred, or with parameters,
            ratpred:hidden=100,epochs=50. 'refless list estimators' has them.
        references: Files of people's texts (with sources), taken for perfect; repeatable.
    """
    rows = RatedRows(
        columns=columns,
        reading=reading,
        skip_bad=skip_bad,
        where=where,
        scale=scale,
        dimension=dimension,
        lower_is_better=lower_is_better,
    )
    network = chosen(estimator, threads, seed)
    if not isinstance(network, RatPred):
        raise UsageError(
            f"train trains ratpred, and {estimator} needs no training: use fit"
        )
    if references is not None:
        texts = outputs_of(references, rows)
        sources = texts.sources or [""] * len(texts)
        network = replace(
            network, references=tuple(zip(sources, texts.texts, strict=True))
        )
    check_saving(to)
    pool, _ = rated_of(rated, rows)
    with shown(network, "training"):
        network.fit(pool)
    save(network, to)
    note(f"wrote {fspath(to)}")
    agreement = kept_aside(network.trained, network.seed)
    return TrainResult(
        path=fspath(to),
        model=network.trained,
        agreement=agreement,
        n=len(network.rated),
        n_references=len(network.references),
        seed=network.seed,
        signature=network.signature().plus(ci=agreement.interval_method),
    )
