"""train: a network that reads source and text, saved for later."""

import shutil
from os import fspath
from pathlib import Path
from typing import Annotated, Any

from refless.commands.estimating import shown
from refless.commands.parameters import (
    Argument,
    Declared,
    Files,
    Flag,
    Folder,
    RatedRows,
    Seed,
    Threads,
    command,
)
from refless.commands.rows import outputs_of, rated_of
from refless.commands.warnings import note
from refless.extensions.ratpred.estimator import RatPred
from refless.extensions.ratpred.model import MODEL
from refless.extensions.ratpred.report.course import Trained, kept_aside
from refless.extensions.ratpred.report.result import TrainResult
from refless.files.folders import claimed
from refless.registry.spec import value_of
from refless.text.embed import WordVectors

UNFINISHED = "unfinished"  # folder within the model's, with what a stopped run goes on from
OWN = ("model", "references", "folds", "subsample", "seed", "threads", "checkpoint")
RARE = (
    "layers", "vectors", "ranking", "bfloat16", "device", "rounded", "clipped", "calibrated",
    "slots", "validation_split", "patience", "dropout",
)  # fmt: skip


@command
def train(
    rated: Argument,
    *,
    out_dir: Annotated[Folder, Flag(kind=str)],
    references: Annotated[Files, Flag(metavar="FILE")] = None,
    threads: Threads = None,
    seed: Seed = 0,
    rows: RatedRows,
    **network: Annotated[Any, Declared(RatPred, OWN, RARE)],
) -> TrainResult:
    """Train RatPred on rated texts and save it for 'refless score --estimator ratpred:model=DIR'.

    A quarter of the texts is kept aside: after each epoch the network estimates these, and the
    epoch with the best correlations is kept. A run that was stopped goes on when it is started
    again with the same files and flags. A model that is there already is replaced in one step.

    Args:
        rated: Files of rated texts.
        out_dir: Folder of the model; made where missing.
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
        checkpoint=str(Path(out_dir) / UNFINISHED),
        **{
            name: value_of(RatPred, name, value) if isinstance(value, str) else value
            for name, value in network.items()
        },
    )
    with claimed(out_dir, MODEL, tell=note) as claim:  # first: it may be that it cannot be written
        pool, _ = rated_of(rated, rows)
        with shown(estimator, "training"):
            estimator.fit(pool)
        estimator.trained.put(claim)
        shutil.rmtree(Path(out_dir) / UNFINISHED, ignore_errors=True)
    note(f"wrote {out_dir}")
    return _result(estimator, out_dir)


def _result(estimator: RatPred, out_dir: Folder) -> TrainResult:
    trained = Trained(
        folder=fspath(out_dir),
        model=estimator.trained,
        agreement=kept_aside(estimator.trained, estimator.seed),
        size=len(estimator.rated),
        references=len(estimator.references),
        signature=estimator.signature(),
        seed=estimator.seed,
    )
    return TrainResult(trained=trained, signature=trained.signed)
