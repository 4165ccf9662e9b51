"""lm-evaluation-harness: samples of `--log_samples`. Outputs, with no ratings by people.

Every document is there once for each filter; the first filter that is met is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath

from refless.tables.exports.shape import (
    About,
    Export,
    Found,
    Reader,
    at,
    fields_of,
    items,
    name_in,
    number_in,
    python_in,
    text_in,
)
from refless.tables.table import Row


def is_sample(first: Mapping[str, object]) -> bool:
    """What no other file has."""
    return all(name in first for name in ("doc_id", "filtered_resps", "doc_hash"))


def read_samples(about: About) -> Reader:
    """Reads a document's output; the task and the model are known by the names of the file."""
    path, left = PurePath(about.path), about.told.left_out
    model, task = path.parent.name or None, path.name.removeprefix("samples_").rpartition("_")[0]
    chosen: list[object] = []

    def read(row: Row) -> Found | None:
        way = row.get("filter")
        if not chosen:
            chosen.append(way)
            about.told.notes.append(f"of each document the output of the filter '{way}' is read")
        if way != chosen[0]:
            left[f"outputs of the filter '{way}'"] += 1
            return None
        text = at(row, "filtered_resps", 0)
        if not isinstance(text, str):
            left["documents without a generated text"] += 1
            return None
        number = name_in(row.get("doc_id"))
        names = [one for one in items(row.get("metrics")) if isinstance(one, str)]
        scores = {name: number_in(row.get(name)) for name in names}
        return Found(
            {
                "id": " ".join(one for one in (model, task, number) if one),
                "item": number,
                "text": text,
                "source": text_in(at(row, "arguments", "gen_args_0", "arg_0")),
                "system": model,
                "reference": _references(row.get("target")),
                "scores": scores,
                "doc": fields_of(row.get("doc")),
            },
            [],
        )

    return read


def _references(target: object) -> list[str]:
    """A list of references comes as Python writes it: `['a', 'b']`."""
    read = python_in(target)
    found = read if isinstance(read, list) else [target]
    return [one for one in found if isinstance(one, str) and one]


SAMPLES = Export(
    title="samples of lm-evaluation-harness",
    looks_like=is_sample,
    start=read_samples,
    known=("id", "item", "text", "source", "system", "reference"),
)
