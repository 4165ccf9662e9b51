"""refless train: a network that reads source and text, saved for `refless score`."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from refless.cli.console import progress, say
from refless.cli.options import InputOptions, ResultOptions

if TYPE_CHECKING:
    from refless.estimators import RatPred
    from refless.records import RatedPool
    from refless.report.train import Trained

NETWORK, SCHEDULE = "Network", "Schedule"
UNFINISHED = "unfinished"  # folder within the model's, with what a stopped run goes on from


def train(
    pool: Annotated[list[str], typer.Argument(help="Files of rated texts.")],
    out_dir: Annotated[str, typer.Option(help="Folder of the model; made where missing.")],
    reading: InputOptions,
    result: ResultOptions,
    references: Annotated[
        list[str] | None,
        typer.Option(
            help="Files of people's texts (with sources), taken for perfect; repeatable.",
            show_default=False,
        ),
    ] = None,
    no_errors: Annotated[
        bool, typer.Option("--no-errors", help="Make no errors in texts to learn from.")
    ] = False,
    ignore_source: Annotated[
        bool, typer.Option("--ignore-source", help="Leave the sources unread.")
    ] = False,
    slots: Annotated[
        str | None,
        typer.Option(
            help="Slots of dialogue acts whose values become placeholders, with commas; none for "
            "none. Without it: the paper's.",
            metavar="NAME,...",
            show_default=False,
        ),
    ] = None,
    members: Annotated[
        int, typer.Option(help="Networks whose mean is the estimate.", rich_help_panel=NETWORK)
    ] = 1,
    embedding: Annotated[
        int, typer.Option(help="Size of words' vectors.", rich_help_panel=NETWORK)
    ] = 300,
    hidden: Annotated[
        int, typer.Option(help="Size of the encoders' states.", rich_help_panel=NETWORK)
    ] = 300,
    unit: Annotated[
        str, typer.Option(help="Encoders: gru, lstm or cnn.", rich_help_panel=NETWORK)
    ] = "gru",
    bidirectional: Annotated[
        bool,
        typer.Option("--bidirectional", help="Read in both directions.", rich_help_panel=NETWORK),
    ] = False,
    target: Annotated[
        str,
        typer.Option(
            help="number; ordered: a classifier a level, whether it is reached; levels: a "
            "classifier a level, whether it is this one.",
            rich_help_panel=NETWORK,
        ),
    ] = "number",
    vectors: Annotated[
        str | None,
        typer.Option(
            help="File of word vectors in text form, with which words begin; sets --embedding.",
            rich_help_panel=NETWORK,
            show_default=False,
        ),
    ] = None,
    dropout: Annotated[
        float, typer.Option(help="Share of inputs dropped.", rich_help_panel=NETWORK)
    ] = 0.5,
    rate: Annotated[float, typer.Option(help="Learning rate.", rich_help_panel=SCHEDULE)] = 1e-4,
    batch: Annotated[int, typer.Option(help="Texts a step.", rich_help_panel=SCHEDULE)] = 50,
    ranking: Annotated[
        float,
        typer.Option(
            help="Weight of a second loss: texts of one source in the wrong order.",
            rich_help_panel=SCHEDULE,
        ),
    ] = 0.0,
    passes: Annotated[
        int, typer.Option(help="Most passes over the rated texts.", rich_help_panel=SCHEDULE)
    ] = 500,
    synthetic_passes: Annotated[
        int, typer.Option(help="Passes with made errors before.", rich_help_panel=SCHEDULE)
    ] = 20,
    patience: Annotated[
        int,
        typer.Option(
            help="Passes without a better one after which it stops; 0: never.",
            rich_help_panel=SCHEDULE,
        ),
    ] = 50,
    device: Annotated[
        str | None,
        typer.Option(
            help="cpu or cuda. Without it: an accelerator where there is one.",
            rich_help_panel=SCHEDULE,
            show_default=False,
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(help="Threads on the CPU.", rich_help_panel=SCHEDULE, show_default=False),
    ] = None,
    bfloat16: Annotated[
        bool,
        typer.Option(
            "--bfloat16",
            help="Multiply in bfloat16 on the CPU: faster where it knows these numbers.",
            rich_help_panel=SCHEDULE,
        ),
    ] = False,
) -> None:
    """Train RatPred on rated texts and save it for 'refless score --estimator ratpred --model'.

    A quarter of the texts is kept aside: after each pass the network judges these, and the pass
    with the best correlations is kept. A run that was stopped goes on when it is started again
    with the same files and flags.
    """
    from refless.cli.output import check, emit
    from refless.cli.reading import command_with
    from refless.embed import WordVectors
    from refless.estimators import RatPred
    from refless.estimators.ratpred import Settings
    from refless.report.train import train_view
    from refless.report.train_page import train_page

    check(result, report=True)
    estimator = RatPred(
        use_source=not ignore_source,
        slots=_slots(slots),
        errors=not no_errors,
        references=_references(references or [], reading),
        vectors=vectors,
        settings=Settings(
            embedding=embedding if vectors is None else WordVectors(path=vectors).size(),
            hidden=hidden,
            dropout=dropout,
            rate=rate,
            batch=batch,
            passes=passes,
            synthetic_passes=synthetic_passes,
            patience=patience or None,
            unit=unit,
            bidirectional=bidirectional,
            target=target,
            ranking=ranking,
            narrow=bfloat16,
        ),
        members=members,
        seed=result.seed,
        threads=threads,
        device=device,
        checkpoint=str(Path(out_dir) / UNFINISHED),
    )
    done = _trained(estimator, _rated(pool, reading), out_dir)
    emit(train_view(done), result, lambda: train_page(done, command_with((), ())))


def _slots(text: str | None) -> tuple[str, ...]:
    """Slots whose values become placeholders."""
    from refless.estimators.ratpred.reading import SLOTS

    if text is None:
        return tuple(sorted(SLOTS))
    named = {name.strip() for name in text.split(",")}
    return tuple(sorted(named - {"", "none"}))


def _rated(paths: list[str], reading: InputOptions) -> RatedPool:
    from refless.cli.reading import rated_of
    from refless.index import rated_in

    found, _ = rated_of(paths, reading)
    return rated_in(found)


def _references(paths: list[str], reading: InputOptions) -> tuple[tuple[str, str], ...]:
    """(source, text) of people's texts."""
    from refless.cli.reading import outputs_of_files

    if not paths:
        return ()
    found = outputs_of_files(paths, reading).outputs
    return tuple(zip(found.sources or [""] * len(found), found.texts, strict=True))


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
