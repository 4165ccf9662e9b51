"""What is fuzzed: a function of bytes each, from which only errors of refless may come out."""

from __future__ import annotations

import io
import json
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from fuzz import making
from refless.data.choices import choices_in
from refless.data.tables import (
    Columns,
    Reading,
    cells,
    parse_word_map,
    ratings,
    read_both,
    read_outputs,
    read_pool,
    read_scored,
    scale_of,
)
from refless.data.tables.columns import roles_of
from refless.data.tables.roles import roles_in
from refless.estimators import ESTIMATORS
from refless.extensions.ratpred import acts as dialogue
from refless.metrics.kernels import KERNELS
from refless.metrics.protocol import METRICS
from refless.registry.errors import RefLessError
from refless.registry.signature import Signature
from refless.registry.spec import parse, spec_of
from refless.text import masking, surface
from refless.text.tokenize import tokenizer

EXPORTS = Path(__file__).parents[1] / "tests" / "data" / "exports"
LOG = (EXPORTS / "inspect" / "edited.eval").read_bytes()


def _first_line(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8").split("\n")[0])


EXAMPLES: dict[str, Any] = {
    "label-studio": json.loads((EXPORTS / "label-studio" / "tasks.json").read_bytes())[
        0
    ],
    "label-studio-min": json.loads(
        (EXPORTS / "label-studio" / "min.json").read_bytes()
    )[0],
    "inspect": json.loads((EXPORTS / "inspect" / "edited.json").read_bytes()),
    "promptfoo": json.loads((EXPORTS / "promptfoo" / "eval.json").read_bytes()),
    "lm-eval": _first_line(next((EXPORTS / "lm-eval").glob("*.jsonl"))),
    "argilla": json.loads((EXPORTS / "argilla" / "records.json").read_bytes())[0],
    "langfuse-scores": json.loads((EXPORTS / "langfuse" / "scores.json").read_bytes()),
    "langfuse-traces": json.loads((EXPORTS / "langfuse" / "traces.json").read_bytes())[
        0
    ],
    "langsmith-feedback": _first_line(EXPORTS / "langsmith" / "feedback.jsonl"),
    "phoenix-annotations": json.loads(
        (EXPORTS / "phoenix" / "annotations.json").read_bytes()
    ),
    "mlflow": {
        "trace_id": "t",
        "request": {"q": "a"},
        "response": "b",
        "assessments": [
            {
                "assessment_name": "good",
                "source": {"source_type": "HUMAN", "source_id": "a@b.c"},
                "feedback": {"value": 1},
                "create_time": "2026-01-01",
            }
        ],
    },
}
_CHAT = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
PAIRS: tuple[Any, ...] = (
    {
        "prompt": "p",
        "chosen": "x",
        "rejected": "y",
        "judge_chosen": 1,
        "judge_rejected": 2,
    },
    {"chosen": _CHAT, "rejected": [*_CHAT, *_CHAT]},
    {
        "prompt": "p",
        "response_1": "x",
        "response_2": "y",
        "preference_strength": -2,
        "all_preferences_unprocessed": [{"strength": -100}, "{'strength': 1}"],
    },
    {
        "question_id": 7,
        "conversation_a": _CHAT,
        "conversation_b": _CHAT[:1],
        "winner": "tie (bothbad)",
        "model_a": "m",
        "model_b": "n",
        "judge": "a@b.c",
    },
)
READINGS = (
    Reading(),
    Reading(skip_bad=True),
    Reading(scale=(1, 5), skip_bad=True),
    Reading(columns=Columns(rating=("rater*",), text="Text")),
    Reading(rating_map={"up": 1.0, "down": 0.0}),
    Reading(quoting=False),
    Reading(quoting=True, columns=Columns(group="group")),
    Reading(encoding="latin-1"),
    Reading(encoding="utf-16", skip_bad=True),
    Reading(encoding="utf-7"),
    Reading(encoding="shift_jis"),
    Reading(columns=Columns(id="", source=" ")),
    Reading(
        columns=Columns(rating=("rating.*",), source="x.0.y", score=("s*.a",)),
        skip_bad=True,
    ),
    Reading(dimension="fluency", skip_bad=True),
    Reading(dimension="rating*"),
    Reading(dimension="a.b", columns=Columns(dimension="x.y"), skip_bad=True),
    Reading(
        dimension="fluency", label_config=str(EXPORTS / "label-studio" / "config.xml")
    ),
)
READERS: tuple[Callable[..., Any], ...] = (
    read_pool,
    read_outputs,
    read_both,
    read_scored,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What is fuzzed.

    Attributes:
        call: takes bytes; anything but a RefLessError that comes out of it is a fault.
        make: makes such bytes by grammar.
        cheap: whether a million of executions are asked for, not a hundred thousand.
    """

    call: Callable[[bytes], None]
    make: making.Maker
    cheap: bool = False


def attempt(call: Callable[[bytes], None], data: bytes) -> BaseException | None:
    """What comes out of a target that may not come out of it; None where all is well."""
    try:
        call(data)
    except RefLessError as error:
        try:
            str(error).encode("utf-8", "surrogatepass")
        except Exception as fault:  # noqa: BLE001 - whatever it is, it is found
            return fault
    except BaseException as fault:
        if isinstance(fault, KeyboardInterrupt | SystemExit):
            raise
        return fault
    return None


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _spec(data: bytes) -> None:
    registries: tuple[Any, ...] = (ESTIMATORS, KERNELS, METRICS)
    for registry in registries:
        thing = None
        try:
            thing = parse(_text(data), registry, "thing")
        except RefLessError:
            continue
        again = spec_of(thing, registry)
        assert spec_of(parse(again, registry, "thing"), registry) == again


def _signature(data: bytes) -> None:
    found = Signature.parse(_text(data))
    assert Signature.parse(str(found)) == found
    found.plus(seed=1)


def _tokenizers(data: bytes) -> None:
    for name in ("char", "words", "13a", "intl", "zh", "none"):
        tokenizer(name)(_text(data))


def _acts(data: bytes) -> None:
    text = _text(data)
    assert masking.masked(text, text[::-1]) is not None
    numbers = surface.surface([text]), surface.relation([text], [text[:9]])
    assert all(np.isfinite(some).all() for some in numbers)
    if dialogue.looks_like_act(text):
        acts = dialogue.triples(text)
        dialogue.delexicalized(text, acts, {"name", "food"})
    else:
        dialogue.triples(text)


def _cells(data: bytes) -> None:
    text = _text(data)
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        value = text
    for call in (
        cells.text_of_cell,
        cells.name_of_cell,
        cells.source_of_cell,
        lambda one: cells.references_of_cells([one]),
        lambda one: cells.weights_of_cell(one, 2),
        lambda one: _rated(ratings.spelled(one)),
        lambda _: parse_word_map(text),
        scale_of,
    ):
        try:
            call(value)
        except RefLessError as error:
            str(error).encode("utf-8", "surrogatepass")


def _rated(spelled: float | str | None) -> None:
    words, _ = ratings.words_of([spelled], None)
    if spelled is not None:
        ratings.rating_of(spelled, words, (0, 5))


def _columns(data: bytes) -> None:
    names = _text(data).split("|")
    half = len(names) // 2
    header = [*dict.fromkeys(names[half:])]
    given = Columns(
        text=names[0] or None, rating=tuple(names[1:half]), id=names[-1] or None
    )
    for columns in (given, Columns()):
        try:
            needed = ("text", "rating")
            roles_of(
                columns, roles_in("rated"), header, "file", needed, (), lambda *_: True
            )
        except RefLessError as error:
            str(error)


@contextmanager
def _piped(data: bytes) -> Iterator[None]:
    with mock.patch.object(
        sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8")
    ):
        yield


def _reader(format_: str | None) -> Callable[[bytes], None]:
    """Reads a file's bytes with settings that the first two bytes choose."""

    def call(data: bytes) -> None:
        reading = replace(READINGS[data[:1][0] % len(READINGS)], format=format_)
        with _piped(data[2:]):
            check(READERS[data[1] % len(READERS)]("-", reading))

    return lambda data: call(data) if len(data) > 2 else None


def check_texts(record: Any) -> None:
    """Texts and names that UTF-8 can hold."""
    for text in (*record.texts, *record.ids, *record.sources, *record.systems):
        assert type(text) is str
        text.encode()


def check(read: Any) -> None:
    """What holds of whatever has been read: texts that UTF-8 can hold, numbers that are finite."""
    for one in read if isinstance(read, tuple) else (read,):
        records = [
            getattr(one, name) for name in ("pool", "outputs") if hasattr(one, name)
        ]
        for record in records:
            check_texts(record)
            human = getattr(record, "human", None)
            assert human is None or bool(
                ((human == human) & (abs(human) < 1e308)).all()
            )
        for note in one.notes:
            note.encode("utf-8", "surrogatepass")


def _pairs(data: bytes) -> None:
    """Preference pairs; with `judge` as a score where the first byte is odd."""
    odd = bool(data) and data[0] % 2 == 1
    columns = Columns(score=("judge",)) if odd else Columns()
    with _piped(data[1:]):
        found = read_pool("-", Reading(columns=columns, skip_bad=True))
    choices = choices_in(found.pool)
    check_texts(found.pool)
    assert ((choices.share >= 0) & (choices.share <= 1)).all()
    assert len(choices.groups) == len(choices) == len(found.pool) // 2 > 0
    assert (choices.first != choices.second).all()
    for note in found.notes:
        note.encode("utf-8", "surrogatepass")


def _any_pair(rng: random.Random) -> bytes:
    """Rows of one of the shapes, mutated."""
    return rng.choice((b"0", b"1")) + making.tool(rng.choice(PAIRS))(rng)


def _chosen(make: making.Maker) -> making.Maker:
    """The same behind two bytes that choose the settings, most often the plain ones."""

    def made(rng: random.Random) -> bytes:
        head = bytes((rng.choice((0, 1, rng.randrange(256))), rng.randrange(256)))
        return head + make(rng)

    return made


def _frames(data: bytes) -> None:
    """Rows in memory, drawn from a seed: of Arrow, pandas, polars, numpy, lists and dicts."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    rng = random.Random(data)
    table = making.arrow_table(rng)
    way = rng.randrange(6)
    try:
        given: Any = table
        if way == 1:
            given = table.to_pandas()
        elif way == 2:
            given = pl.from_arrow(table)
        elif way == 3:
            given = {name: table[name].to_pylist() for name in table.column_names}
        elif way == 4:
            given = pd.DataFrame(table.to_pydict())
        elif way == 5:
            given = table.to_pylist()
    except (
        pa.ArrowException,
        ValueError,
        OverflowError,
        TypeError,
        KeyError,
        pl.exceptions.PolarsError,
    ):
        return  # the library cannot hold it either
    except BaseException as panic:
        if type(panic).__name__ != "PanicException":
            raise
        return
    check(READERS[rng.randrange(4)](given, rng.choice(READINGS)))


def _seed(rng: random.Random) -> bytes:
    return rng.randbytes(8)


FOLDER = (
    Path(tempfile.gettempdir()) if not Path("/dev/shm").is_dir() else Path("/dev/shm")
)


@contextmanager
def _file(data: bytes, ending: str) -> Iterator[str]:
    with tempfile.NamedTemporaryFile(dir=FOLDER, suffix=ending) as file:
        file.write(data)
        file.flush()
        yield file.name


def _key(data: bytes) -> None:
    """The key that 'refless mine' reads back."""
    from refless.extensions.papers.mine import _key as read_key

    with _file(data, ".jsonl") as name:
        read_key(Path(name))


def _pooling(data: bytes) -> None:
    """What an encoder's folder says of itself."""
    from refless.text.embed import Encoder

    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        where = Path(folder)
        (where / "1_Pooling").mkdir()
        for name in (
            "1_Pooling/config.json",
            "modules.json",
            "sentence_bert_config.json",
        ):
            (where / name).write_bytes(data)
        Encoder(model=folder).pooling()


def _static(data: bytes) -> None:
    """A sound table of four vectors beside any tokenizer."""
    from refless.text.embed import Encoder

    head = b'{"embeddings":{"dtype":"I8","shape":[4,2],"data_offsets":[0,8]}}'
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        table = len(head).to_bytes(8, "little") + head + bytes(range(8))
        (Path(folder) / "model.safetensors").write_bytes(table)
        (Path(folder) / "tokenizer.json").write_bytes(data)
        found = Encoder(model=folder).sentences(["the fox", "\ud800 wolf", ""])
        assert abs(found).max() < 1.1  # no NaN either


def _logs(rng: random.Random) -> bytes:
    """A log of Inspect as it is, or with a member that is mutated."""
    if rng.random() < 0.3:
        return LOG
    from backports.zstd import zipfile

    return making.repacked(LOG, rng, zipfile)


TARGETS: dict[str, Target] = {
    "spec": Target(call=_spec, make=making.spec, cheap=True),
    "signature": Target(call=_signature, make=making.signature, cheap=True),
    "cells": Target(call=_cells, make=making.plain_json, cheap=True),
    "acts": Target(call=_acts, make=making.act, cheap=True),
    "columns": Target(
        call=_columns,
        make=lambda rng: "|".join(rng.choices(making.NAMES, k=6)).encode(),
        cheap=True,
    ),
    "tokenizers": Target(call=_tokenizers, make=making.text),
    "jsonl": Target(call=_reader("jsonl"), make=_chosen(making.jsonl)),
    "csv": Target(call=_reader("csv"), make=_chosen(making.cells(","))),
    "semicolons": Target(call=_reader("csv"), make=_chosen(making.cells(";"))),
    "tsv": Target(call=_reader("tsv"), make=_chosen(making.cells("\t"))),
    "text": Target(call=_reader("text"), make=_chosen(making.text)),
    "unnamed": Target(call=_reader(None), make=_chosen(making.jsonl)),
    "gzip": Target(call=_reader(None), make=_chosen(making.packed(making.jsonl))),
    "gzip-csv": Target(
        call=_reader("csv"), make=_chosen(making.packed(making.cells(",")))
    ),
    "parquet": Target(call=_reader("parquet"), make=_chosen(making.parquet)),
    "json": Target(call=_reader("json"), make=_chosen(making.json_array)),
    "inspect-zip": Target(call=_reader("inspect"), make=_chosen(_logs)),
    "excel": Target(call=_reader("excel"), make=_chosen(making.excel)),
    **{
        f"export-{name}": Target(call=_reader(name), make=_chosen(making.tool(example)))
        for name, example in EXAMPLES.items()
    },
    "pairs": Target(call=_pairs, make=_any_pair),
    "frames": Target(call=_frames, make=_seed),
    "key": Target(call=_key, make=making.jsonl),
    "pooling": Target(call=_pooling, make=making.plain_json),
    "static": Target(call=_static, make=making.tokenizer),
}
