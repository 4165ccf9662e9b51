"""train: a network that reads source and text, saved for later."""

from os import fspath
from typing import Annotated, Any

from refless.commands.estimating import check_saving, shown
from refless.commands.parameters import (
    Argument,
    Declared,
    Files,
    Flag,
    RatedRows,
    SavedAs,
    Seed,
    Threads,
    command,
)
from refless.commands.rows import outputs_of, rated_of
from refless.commands.warnings import note
from refless.estimators.saved import save
from refless.extensions.ratpred.estimator import RatPred
from refless.extensions.ratpred.report.course import Trained, kept_aside
from refless.extensions.ratpred.report.result import TrainResult
from refless.registry.spec import value_of
from refless.text.embed import WordVectors

OWN = ("references", "folds", "subsample", "seed", "threads")
RARE = (
    "layers", "vectors", "ranking", "bfloat16", "device", "rounded", "clipped", "calibrated",
    "slots", "validation_split", "patience", "dropout",
)  # fmt: skip


@command
def train(
    rated: Argument,
    *,
    to: SavedAs,
    references: Annotated[Files, Flag(metavar="FILE")] = None,
    threads: Threads = None,
    seed: Seed = 0,
    rows: RatedRows,
    **network: Annotated[Any, Declared(RatPred, OWN, RARE)],
) -> TrainResult:
    """Train RatPred on rated texts and save it for 'refless score --model FILE'.

    A quarter of the texts is kept aside: after each epoch the network estimates these, and the
    epoch with the best correlations is kept. A model that is there already is replaced in one step.

    Args:
        rated: Files of rated texts.
        references: Files of people's texts (with sources), taken for perfect; repeatable.
    """
    pairs: tuple[tuple[str, str], ...] = ()
    if references is not None:
        found = outputs_of(references, rows)
        pairs = tuple(zip(found.sources or [""] * len(found), found.texts, strict=True))
    if network.get("vectors") is not None:
        network["embedding"] = WordVectors(path=network["vectors"]).size()
    estimator = RatPred(
        references=pairs,
        seed=seed,
        threads=threads,
        **{
            name: value_of(RatPred, name, value) if isinstance(value, str) else value
            for name, value in network.items()
            if value is not None
        },
    )
    check_saving(to)
    pool, _ = rated_of(rated, rows)
    with shown(estimator, "training"):
        estimator.fit(pool)
    save(estimator, to)
    note(f"wrote {fspath(to)}")
    return _result(estimator, fspath(to))


def _result(estimator: RatPred, path: str) -> TrainResult:
    trained = Trained(
        path=path,
        model=estimator.trained,
        agreement=kept_aside(estimator.trained, estimator.seed),
        size=len(estimator.rated),
        references=len(estimator.references),
        signature=estimator.signature(),
        seed=estimator.seed,
    )
    return TrainResult(trained=trained, signature=trained.signed)
