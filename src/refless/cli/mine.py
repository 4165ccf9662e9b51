"""refless mine: references out of a corpus, out to raters and back as weights."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from refless.cli.console import say
from refless.errors import InputError, UsageError

if TYPE_CHECKING:
    from refless.mining import Candidate, Mining, Triple
    from refless.records import FloatArray
    from refless.tables import Reading

RATERS, KEY, REFERENCES = "raters.jsonl", "key.jsonl", "references.jsonl"


def mine(
    out_dir: Annotated[
        str, typer.Option(help="Folder of the files for raters and of what comes back.")
    ],
    corpus: Annotated[
        list[str] | None,
        typer.Argument(help="Files of triples to mine from: context, message, response."),
    ] = None,
    seeds: Annotated[
        list[str] | None,
        typer.Option(help="Files of the triples that get references.", show_default=False),
    ] = None,
    min_rating: Annotated[
        float | None,
        typer.Option(
            help="Use only seeds whose mean rating is at least this (the paper: 4 on 1..5).",
            show_default=False,
        ),
    ] = None,
    split: Annotated[bool, typer.Option("--split", help="Divide seeds into dev and test.")] = False,
    ratings: Annotated[
        list[str] | None,
        typer.Option(
            help="Second step: files with the raters' rating of each id.", show_default=False
        ),
    ] = None,
    scale: Annotated[
        tuple[float, float],
        typer.Option(help="Lowest and highest rating; become -1 and +1.", metavar="MIN MAX"),
    ] = (1, 5),
    n: Annotated[int, typer.Option("-n", help="References mined for each seed.")] = 15,
    alpha: Annotated[
        float, typer.Option(help="How much likeness of responses counts, 0 to 1.")
    ] = 0.5,
    epsilon: Annotated[
        float, typer.Option(help="Keeps responses that share no word with the seed's.")
    ] = 0.1,
    tokenize: Annotated[str, typer.Option(help="Tokens that BM25 counts.")] = "13a",
    context_column: Annotated[str, typer.Option(help="Column of the context.")] = "context",
    message_column: Annotated[str, typer.Option(help="Column of the message.")] = "message",
    response_column: Annotated[str, typer.Option(help="Column of the response.")] = "response",
    seed: Annotated[int, typer.Option(help="Seed of the split and of the raters' order.")] = 0,
) -> None:
    """Mine references for delta-BLEU, have them rated, get weights.

    First step, CORPUS and --seeds: writes raters.jsonl (in random order, origins hidden) and
    key.jsonl, which raters must not see. Second step, --ratings: writes references.jsonl, with
    each seed's references and weights in [-1, 1].
    """
    from refless.mining import Mining
    from refless.tables import Columns, Reading

    if seed < 0:
        raise UsageError(f"--seed must be 0 or more, got {seed}")
    if not Path(out_dir).is_dir():
        raise UsageError(f"there is no folder '{out_dir}'; make it first")
    if ratings and (corpus or seeds):
        raise UsageError("--ratings is the second step: leave out CORPUS and --seeds")
    if ratings:
        _back(ratings, Path(out_dir), scale)
        return
    if not corpus or not seeds:
        raise UsageError("CORPUS and --seeds are needed, or --ratings for the second step")
    columns = Columns(text=response_column, source=context_column, group=message_column)
    settings = Mining(n=n, alpha=alpha, epsilon=epsilon, tokenize=tokenize)
    reading = Reading(columns=columns)
    chosen = _seeds(seeds, reading, min_rating)
    _out(chosen, _triples(corpus, reading), settings, Path(out_dir), seed, split=split)


def _triples(paths: Sequence[str], reading: Reading) -> list[Triple]:
    from refless.mining import Triple
    from refless.tables import read_outputs

    read = read_outputs(paths, reading)
    found = read.outputs
    rows = zip(found.ids, found.sources, read.group, found.texts, strict=True)
    return [Triple(id=i, context=c, message=m, response=r) for i, c, m, r in rows]


def _seeds(paths: Sequence[str], reading: Reading, least: float | None) -> Sequence[Triple]:
    if least is None:
        return _triples(paths, reading)
    from refless.mining import Triple, seeds_of
    from refless.tables import read_pool

    read = read_pool(paths, reading)
    pool = read.pool
    rows = zip(pool.ids, pool.sources, read.group, pool.texts, strict=True)
    triples = [Triple(id=i, context=c, message=m, response=r) for i, c, m, r in rows]
    truth: FloatArray = pool.truth
    chosen = seeds_of(triples, truth, least)
    say(f"{len(chosen)} of {len(triples)} triples have a mean rating of at least {least:g}")
    return chosen


def _out(
    seeds: Sequence[Triple],
    corpus: Sequence[Triple],
    settings: Mining,
    folder: Path,
    seed: int,
    *,
    split: bool,
) -> None:
    from refless.mining import for_raters, split_of
    from refless.mining import mine as mined

    found: Sequence[Candidate] = mined(seeds, corpus, settings)
    if split:
        halves = split_of(seeds, seed)
        found = [replace(c, split=halves[c.item]) for c in found]
    found = for_raters(found, seed)
    shown = ("id", "context", "message", "response")
    _write(folder / RATERS, ({name: getattr(c, name) for name in shown} for c in found))
    _write(folder / KEY, (asdict(c) for c in found))
    kinds = Counter(c.kind for c in found)
    counts = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    say(f"{len(seeds)} seeds, {len(found)} responses to rate: {counts}")


def _back(paths: Sequence[str], folder: Path, scale: tuple[float, float]) -> None:
    from refless.mining import weighted
    from refless.tables import Columns, Reading, read_pool
    from refless.truth import check_scale

    check_scale(scale)
    key = _key(folder / KEY)
    columns = Columns(text="response", id="id")
    pool = read_pool(paths, Reading(columns=columns)).pool
    _check_texts(key, dict(zip(pool.ids, pool.texts, strict=True)), ", ".join(paths))
    rows = weighted(key, dict(zip(pool.ids, pool.truth.tolist(), strict=True)), scale)
    _write(folder / REFERENCES, map(asdict, rows))
    without = sum(max(row.weights) <= 0 for row in rows)
    say(
        f"{len(rows)} items with {sum(len(row.references) for row in rows)} weighted references; "
        f"{len(key) - len(pool.ids)} responses were not rated; "
        f"{without} items have no positive weight"
    )


def _check_texts(key: Sequence[Candidate], texts: Mapping[str, str], path: str) -> None:
    """Raises InputError where an id stands for another response than the one that went out."""
    for candidate in key:
        if texts.get(candidate.id, candidate.response) != candidate.response:
            raise InputError(
                f"id '{candidate.id}' has another response than in the key",
                path=path,
                column="response",
                remedy="give the ratings of this mining, with the responses as they went out",
            )


def _key(path: Path) -> list[Candidate]:
    from refless.mining import Candidate
    from refless.tables import Columns, Reading, read_outputs

    columns = Columns(text="response", id="id", item="item", source="context", group="message")
    more = Columns(text="response", id="id", system="kind", task="split", group="origin")
    read = read_outputs([str(path)], Reading(columns=columns))
    rest = read_outputs([str(path)], Reading(columns=more))
    one, two = read.outputs, rest.outputs
    return [
        Candidate(
            id=one.ids[i],
            item=one.items[i],
            context=one.sources[i],
            message=read.group[i],
            response=one.texts[i],
            kind=two.systems[i],
            origin=rest.group[i],
            split=two.tasks[i],
        )
        for i in range(len(one))
    ]


def _write(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    from refless.tables import write_atomic

    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    write_atomic(str(path), "".join(lines))
    say(f"wrote {path}")
