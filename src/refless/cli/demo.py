"""refless demo: the main job on a self-made sample."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from refless.cli.console import colored, width

if TYPE_CHECKING:
    from refless.estimators import Estimator
    from refless.records import Outputs, RatedPool
    from refless.report.view import Section

RATED, NEW = 240, 60


def demo(
    out_dir: Annotated[
        str | None,
        typer.Option(
            help="Also write the sample as rated.jsonl and outputs.jsonl into this folder.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the sample.")] = 0,
) -> None:
    """Show the main job on a SIMULATED sample: rated texts, new outputs, no file needed.

    Texts, systems and annotators are made up by a program, so nothing here says how well refless
    does on your ratings; `refless validate` on your own file does.
    """
    import numpy as np

    from refless.cli.output import put
    from refless.errors import UsageError
    from refless.estimators import BLEUNeighbors, Kriging
    from refless.records import as_outputs, take
    from refless.report.render import as_text
    from refless.report.scores import scored_view
    from refless.report.view import Section, View
    from refless.simulate import simulate
    from refless.studies.scoring import scored

    if seed < 0:
        raise UsageError(f"--seed must be 0 or more, got {seed}")
    pool = simulate(RATED + NEW, seed=seed).pool
    rated, fresh = take(pool, np.arange(RATED)), take(pool, np.arange(RATED, RATED + NEW))
    outputs = as_outputs(fresh)
    kriging = Kriging().fit(rated)
    found = scored(outputs, kriging.predict(outputs), kriging.residuals())
    signature = kriging.signature().plus(ci="boot-1000", seed=0)
    sections = (
        Section(lines=("This sample is SIMULATED: a program wrote the texts and rated them.",)),
        Section(title=f"1. Does it deserve trust? BLEU Neighbors on {RATED} SIMULATED rated texts"),
        *_trust(BLEUNeighbors(), rated),
        Section(title="2. The same texts with kriging, which also reads what was asked for"),
        *_trust(Kriging(), rated),
        Section(title=f"3. What are {NEW} new SIMULATED outputs worth, by kriging?"),
        *scored_view(found, signature, rated.scale, None).sections,
        Section(title="4. On your own files", lines=_next(out_dir)),
    )
    if out_dir is not None:
        _write(Path(out_dir), rated, outputs)
    view = View(json={}, rows=[], sections=sections)
    put(as_text(view, color=colored(), width=width()))


def _trust(estimator: Estimator, rated: RatedPool) -> tuple[Section, ...]:
    """What `refless validate` says of the estimator."""
    from refless.report.agreement import validation_view
    from refless.studies.validation import validation

    held_out = estimator.held_out(rated)
    found = validation(rated, held_out, rated.ids, estimator.signature())
    return validation_view(found, None).sections


def _next(out_dir: str | None) -> tuple[str, ...]:
    """Command lines that do the same."""
    folder = f"{out_dir}/" if out_dir else ""
    rated, kriging = f"{folder}rated.jsonl", "--scale 1 5 --estimator kriging"
    lines = (
        f"  refless validate {rated} --scale 1 5",
        f"  refless validate {rated} {kriging}",
        f"  refless score {folder}outputs.jsonl --rated {rated} {kriging}",
    )
    if out_dir:
        return lines
    return (*lines, "To have this sample as files: refless demo --out-dir sample")


def _write(folder: Path, rated: RatedPool, outputs: Outputs) -> None:
    """The sample as files: one rating a line, one output a line."""
    import msgspec

    from refless.tables import write_atomic

    folder.mkdir(parents=True, exist_ok=True)
    ratings = rated.ratings
    rows = [
        {
            "id": rated.ids[i],
            "source": rated.sources[i],
            "item": rated.items[i],
            "system": rated.systems[i],
            "text": rated.texts[i],
            "annotator": ratings.annotators[who],
            "rating": value,
        }
        for i, who, value in zip(
            ratings.text.tolist(), ratings.annotator.tolist(), ratings.values.tolist(), strict=True
        )
    ]
    columns = zip(
        outputs.ids, outputs.sources, outputs.items, outputs.systems, outputs.texts, strict=True
    )
    names = ("id", "source", "item", "system", "text")
    fresh = [dict(zip(names, row, strict=True)) for row in columns]
    for name, table in (("rated.jsonl", rows), ("outputs.jsonl", fresh)):
        lines = b"".join(msgspec.json.encode(row) + b"\n" for row in table)
        write_atomic(str(folder / name), lines)
