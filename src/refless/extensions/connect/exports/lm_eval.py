"""lm-evaluation-harness: samples of `--log_samples`. Outputs, with no ratings by people.

Every document is there once for each filter; the first filter that is met is read.
"""

from pathlib import PurePath

from refless.data.tables.exports.format import (
    Entry,
    Export,
    Reader,
    ReaderRequest,
    at,
    fields_of,
    has,
    items,
    name_in,
    number_in,
    python_in,
    text_in,
    texts_in,
)
from refless.data.tables.reading import Row


def read_samples(about: ReaderRequest) -> Reader:
    """Reads a document's output; the task and the model are known by the names of the file."""
    path = PurePath(about.path)
    left_out = about.notes.left_out
    model = path.parent.name or None
    task = path.name.removeprefix("samples_").rpartition("_")[0]
    filters: dict[str, object] = {}

    def read(row: Row) -> Entry | None:
        way = row.get("filter")
        chosen = filters.setdefault("first", way)
        if way != chosen:
            left_out[f"outputs of the filter '{way}', not '{chosen}'"] += 1
            return None
        text = at(row, "filtered_resps", 0)
        if not isinstance(text, str):
            left_out["documents without a generated text"] += 1
            return None
        number = name_in(row.get("doc_id"))
        target = row.get("target")
        listed = python_in(target)  # a list of references comes as Python writes it
        names = [entry for entry in items(row.get("metrics")) if isinstance(entry, str)]
        scores = {name: number_in(row.get(name)) for name in names}
        references = listed if isinstance(listed, list) else target
        record: Row = {
            "id": " ".join(filter(None, (model, task, number))),
            "item": number,
            "text": text,
            "source": text_in(at(row, "arguments", "gen_args_0", "arg_0")),
            "system": model,
            "reference": texts_in(references),
            "scores": scores,
            "doc": fields_of(row.get("doc")),
        }
        return Entry(record, [])

    return read


SAMPLES = Export(
    title="samples of lm-evaluation-harness",
    looks_like=has("doc_id", "filtered_resps", "doc_hash"),
    start=read_samples,
    roles=("id", "item", "text", "source", "system", "reference", "doc"),
)
