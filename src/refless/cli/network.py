"""The options of RatPred's networks, for every command that trains some."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated

import typer

NETWORK, SCHEDULE = "RatPred's network", "RatPred's training"


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkOptions:
    """What a network learns from, its size and its schedule."""

    slots: Annotated[
        str | None,
        typer.Option(
            help="Slots of dialogue acts whose values become placeholders, with commas; none for "
            "none. Without it: the paper's.",
            metavar="NAME,...",
            rich_help_panel=NETWORK,
            show_default=False,
        ),
    ] = None
    members: Annotated[
        int, typer.Option(help="Networks whose mean is the estimate.", rich_help_panel=NETWORK)
    ] = 1
    embedding: Annotated[
        int, typer.Option(help="Size of words' vectors.", rich_help_panel=NETWORK)
    ] = 300
    hidden: Annotated[
        int, typer.Option(help="Size of the encoders' states.", rich_help_panel=NETWORK)
    ] = 300
    unit: Annotated[
        str, typer.Option(help="Encoders: gru, lstm or cnn.", rich_help_panel=NETWORK)
    ] = "gru"
    bidirectional: Annotated[
        bool,
        typer.Option("--bidirectional", help="Read in both directions.", rich_help_panel=NETWORK),
    ] = False
    target: Annotated[
        str,
        typer.Option(
            help="number; ordered: a classifier a level, whether it is reached; levels: a "
            "classifier a level, whether it is this one.",
            rich_help_panel=NETWORK,
        ),
    ] = "number"
    vectors: Annotated[
        str | None,
        typer.Option(
            help="File of word vectors in text form, with which words begin; sets --embedding.",
            rich_help_panel=NETWORK,
            metavar="FILE",
            show_default=False,
        ),
    ] = None
    references: Annotated[
        list[str] | None,
        typer.Option(
            help="Files of people's texts (with sources), taken for perfect; repeatable.",
            rich_help_panel=SCHEDULE,
            metavar="FILE",
            show_default=False,
        ),
    ] = None
    no_errors: Annotated[
        bool,
        typer.Option(
            "--no-errors",
            help="Make no errors in texts to learn from.",
            rich_help_panel=SCHEDULE,
        ),
    ] = False
    dropout: Annotated[
        float, typer.Option(help="Share of inputs dropped.", rich_help_panel=SCHEDULE)
    ] = 0.5
    rate: Annotated[float, typer.Option(help="Learning rate.", rich_help_panel=SCHEDULE)] = 1e-4
    batch: Annotated[int, typer.Option(help="Texts a step.", rich_help_panel=SCHEDULE)] = 50
    ranking: Annotated[
        float,
        typer.Option(
            help="Weight of a second loss: texts of one source in the wrong order.",
            rich_help_panel=SCHEDULE,
        ),
    ] = 0.0
    passes: Annotated[
        int, typer.Option(help="Most passes over the rated texts.", rich_help_panel=SCHEDULE)
    ] = 500
    synthetic_passes: Annotated[
        int, typer.Option(help="Passes with made errors before.", rich_help_panel=SCHEDULE)
    ] = 20
    patience: Annotated[
        int,
        typer.Option(
            help="Passes without a better one after which it stops; 0: never.",
            rich_help_panel=SCHEDULE,
        ),
    ] = 50
    device: Annotated[
        str | None,
        typer.Option(
            help="cpu or cuda. Without it: an accelerator where there is one.",
            rich_help_panel=SCHEDULE,
            show_default=False,
        ),
    ] = None
    bfloat16: Annotated[
        bool,
        typer.Option(
            "--bfloat16",
            help="Multiply in bfloat16 on the CPU: faster where it knows these numbers.",
            rich_help_panel=SCHEDULE,
        ),
    ] = False

    def given(self) -> list[str]:
        """Flags that differ from their defaults."""
        changed = [f.name for f in fields(self) if getattr(self, f.name) != f.default]
        return [f"--{name.replace('_', '-')}" for name in changed]
