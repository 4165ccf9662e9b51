"""mine: references out of a corpus, out to raters and back as weights."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Annotated

import msgspec

from refless.commands.parameters import (
    About,
    ColumnRoles,
    FileOptions,
    Files,
    Folder,
    OutputReading,
    Rows,
    Seed,
    check_folder,
    columns_by_role,
    command,
    options_in,
)
from refless.commands.warnings import note
from refless.data.human import check_scale
from refless.data.records import Texts
from refless.data.tables import Columns, Reading, read_outputs, read_pool
from refless.extensions.papers.mined import MineResult
from refless.extensions.papers.mining import (
    N_MINED,
    Candidate,
    MessageTriple,
    for_raters,
    weighted,
)
from refless.extensions.papers.mining import mine as mined
from refless.files.untrusted import is_file, reading
from refless.files.writing import check_writable, write_atomic
from refless.registry.dialect import called
from refless.registry.errors import InputError, UsageError
from refless.registry.signature import Signature

RATERS = "raters.jsonl"
KEY = "key.jsonl"
REFERENCES = "references.jsonl"
ROLES = ("context", "message", "response")
SHOWN = ("id", "context", "message", "response")  # what raters may see


@command
def mine(
    corpus: Annotated[Files, About(argument=True)] = None,
    *,
    out_dir: Annotated[Folder | None, About(kind=str | None)] = None,
    seeds: Files = None,
    min_rating: float | None = None,
    ratings: Files = None,
    scale: Annotated[tuple[float, float], About(metavar="MIN MAX")] = (1, 5),
    n: Annotated[int, About(names=("-n",))] = N_MINED,
    tokenize: str = "13a",
    columns: ColumnRoles = None,
    reading: OutputReading = None,
    seed: Seed = 0,
) -> MineResult:
    """Mine references for delta-BLEU, have them rated, get weights.

    For example: refless mine corpus.jsonl --seeds rated.jsonl --out-dir study

    First step, `corpus` and `seeds`: writes raters.jsonl (in random order, origins hidden) and
    key.jsonl, which raters must not see. Second step, `ratings`: writes references.jsonl, with
    each seed's references and weights in [-1, 1].

    Args:
        corpus: Files of triples to mine from: context, message, response.
        out_dir: Folder of the files for raters and of what comes back.
        seeds: Files of the triples that get references.
        min_rating: Use only seeds whose mean rating is at least this (the paper: 4 on 1..5).
        ratings: Second step: files with the raters' rating of each id.
        scale: Lowest and highest rating; become -1 and +1.
        n: References mined for each seed.
        tokenize: Tokens that BM25 counts.
        columns: Column that plays a role, if its name does not say so: message=question.
            Repeatable; roles: context, message, response.
    """
    how = Reading(**options_in(reading, FileOptions))
    if out_dir is None:
        raise UsageError(
            f"{called('out_dir')} is needed: a folder for raters.jsonl and key.jsonl"
        )
    folder = check_folder(out_dir)
    check_writable(str(folder / RATERS))
    if ratings is not None:
        if corpus is not None or seeds is not None:
            first = f"{called('corpus')} and {called('seeds')}"
            raise UsageError(
                f"{called('ratings')} is the second step: leave out {first}"
            )
        return _back(ratings, folder, scale, how)
    if corpus is None or seeds is None:
        first = f"{called('corpus')} and {called('seeds')}"
        raise UsageError(
            f"{first} are needed, or {called('ratings')} for the second step"
        )
    names = {role: role for role in ROLES} | columns_by_role(columns, ROLES)
    columns_read = Columns(
        text=names["response"], source=names["context"], group=names["message"]
    )
    how = replace(how, columns=columns_read)
    chosen = _seeds(seeds, how, min_rating)
    candidates = for_raters(mined(chosen, _triples(corpus, how), n, tokenize), seed)
    signature = Signature("mine").plus(n=n, tokenize=tokenize, seed=seed)
    return _out(candidates, len(chosen), folder, signature)


def _triples(rows: Rows, reading: Reading) -> list[MessageTriple]:
    read = read_outputs(rows, reading)
    return _of_texts(read.outputs, read.group)


def _of_texts(texts: Texts, messages: Sequence[str]) -> list[MessageTriple]:
    columns = zip(texts.ids, texts.sources, messages, texts.texts, strict=True)
    return [
        MessageTriple(id=i, context=c, message=m, response=r) for i, c, m, r in columns
    ]


def _seeds(
    rows: Rows, reading: Reading, least: float | None
) -> Sequence[MessageTriple]:
    if least is None:
        return _triples(rows, reading)
    read = read_pool(rows, reading)
    triples = _of_texts(read.pool, read.group)
    ratings = zip(triples, read.pool.human.tolist(), strict=True)
    chosen = [triple for triple, rating in ratings if rating >= least]
    note(
        f"{len(chosen)} of {len(triples)} triples have a mean rating of at least {least:g}"
    )
    return chosen


def _out(
    candidates: Sequence[Candidate], n_seeds: int, folder: Path, signature: Signature
) -> MineResult:
    key = [asdict(candidate) for candidate in candidates]
    _write(folder / RATERS, [_for_raters(row) for row in key])
    _write(folder / KEY, key)
    kinds = Counter(c.kind for c in candidates)
    counts = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    return MineResult(
        candidates=tuple(candidates),
        summary=f"{n_seeds} seeds, {len(candidates)} responses to rate: {counts}",
        signature=signature,
    )


def _for_raters(row: Mapping[str, object]) -> Mapping[str, object]:
    return {name: row[name] for name in SHOWN}


def _back(
    rows: Rows, folder: Path, scale: tuple[float, float], how: Reading
) -> MineResult:
    check_scale(scale)
    key = _key(folder / KEY)
    columns = Columns(text="response", id="id")
    pool = read_pool(rows, replace(how, columns=columns)).pool
    texts = dict(zip(pool.ids, pool.texts, strict=True))
    _check_texts(key, texts, rows)
    human = dict(zip(pool.ids, pool.human.tolist(), strict=True))
    items = weighted(key, human, scale)
    _write(folder / REFERENCES, [asdict(item) for item in items])
    n_references = sum(len(item.references) for item in items)
    unrated = len(key) - len(pool.ids)
    without = sum(max(item.weights) <= 0 for item in items)
    summary = (
        f"{len(items)} items with {n_references} weighted references; {unrated} responses "
        f"were not rated; {without} items have no positive weight"
    )
    signature = Signature("mine").plus(scale=scale)
    return MineResult(weighted=tuple(items), summary=summary, signature=signature)


def _check_texts(
    key: Sequence[Candidate], texts: Mapping[str, str], rows: Rows
) -> None:
    """Raises InputError where an id stands for another response than the one that went out."""
    paths = [fspath(path) for path in rows if isinstance(path, str | PathLike)]
    for candidate in key:
        if texts.get(candidate.id, candidate.response) != candidate.response:
            raise InputError(
                f"id '{candidate.id}' has another response than in the key",
                path=", ".join(paths) or None,
                column="response",
                remedy="give the ratings of this mining, with the responses as they went out",
            )


def _key(path: Path) -> list[Candidate]:
    """The candidates that raters were sent, with the origins that they did not see."""
    if not is_file(path):
        remedy = "name the folder of the first step"
        raise InputError("no such file", path=str(path), remedy=remedy)
    with reading(path):
        lines = path.read_bytes().splitlines()
    candidates = []
    for number, line in enumerate(lines, 1):
        try:
            candidates.append(msgspec.json.decode(line, type=Candidate))
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as fault:
            raise InputError(
                f"this is no line of the key ({fault})",
                path=str(path),
                line=number,
                remedy="leave key.jsonl as the first step wrote it",
            ) from fault
    return candidates


def _write(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    write_atomic(str(path), b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    note(f"wrote {path}")
