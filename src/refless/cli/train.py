"""refless train: a network that reads source and text, saved for `refless score`."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from refless.cli.console import progress, say
from refless.cli.network import SCHEDULE, NetworkOptions
from refless.cli.options import InputOptions, ResultOptions

if TYPE_CHECKING:
    from refless.estimators import RatPred
    from refless.records import RatedPool
    from refless.report.train import Trained

UNFINISHED = "unfinished"  # folder within the model's, with what a stopped run goes on from


def train(
    pool: Annotated[list[str], typer.Argument(help="Files of rated texts.")],
    out_dir: Annotated[str, typer.Option(help="Folder of the model; made where missing.")],
    reading: InputOptions,
    result: ResultOptions,
    network: NetworkOptions,
    ignore_source: Annotated[
        bool, typer.Option("--ignore-source", help="Leave the sources unread.")
    ] = False,
    threads: Annotated[
        int | None,
        typer.Option(help="Threads on the CPU.", rich_help_panel=SCHEDULE, show_default=False),
    ] = None,
) -> None:
    """Train RatPred on rated texts and save it for 'refless score --estimator ratpred --model'.

    A quarter of the texts is kept aside: after each pass the network judges these, and the pass
    with the best correlations is kept. A run that was stopped goes on when it is started again
    with the same files and flags.
    """
    from refless.cli.output import check, emit
    from refless.cli.reading import command_with, network_of
    from refless.estimators import RatPred
    from refless.report.train import train_view
    from refless.report.train_page import train_page

    check(result, report=True)
    estimator = RatPred(
        use_source=not ignore_source,
        **network_of(network, reading),
        seed=result.seed,
        threads=threads,
        checkpoint=str(Path(out_dir) / UNFINISHED),
    )
    done = _trained(estimator, _rated(pool, reading), out_dir)
    emit(train_view(done), result, lambda: train_page(done, command_with((), ())))


def _rated(paths: list[str], reading: InputOptions) -> RatedPool:
    from refless.cli.reading import rated_of
    from refless.index import rated_in

    found, _ = rated_of(paths, reading)
    return rated_in(found)


def _trained(estimator: RatPred, pool: RatedPool, out_dir: str) -> Trained:
    from refless.report.train import Trained, kept_aside

    with progress("training") as show:
        estimator.progress = show
        estimator.fit(pool)
    estimator.save(out_dir)
    shutil.rmtree(Path(out_dir) / UNFINISHED, ignore_errors=True)
    say(f"wrote {out_dir}")
    return Trained(
        folder=out_dir,
        model=estimator.trained,
        agreement=kept_aside(estimator.trained, estimator.seed),
        size=len(estimator.rated),
        references=len(estimator.references),
        signature=estimator.signature(),
        seed=estimator.seed,
    )
