"""Order of rows, threads and line ends change no digit of what any command prints."""

from __future__ import annotations

import functools
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import refless
from command_line import headlines, json_of, jsonl, output_rows, run_well
from refless.commands import COMMANDS
from refless.data.human import pool_of
from refless.estimators import Estimator, estimator_of
from refless.estimators.gp import data
from rows import Rows, column, only, rated, without

TINY = (
    "--estimator",
    "ratpred:embedding=4,hidden=4,epochs=3,synthetic_epochs=1",
    "--threads",
    1,
)
SPEC = "ratpred:embedding=4,hidden=4,epochs=2,synthetic_epochs=1,folds=2"
NEAR = "bleu-neighbors:tau=0.01"
PARTS = ("gp:use_source=no", NEAR)
TORCH = find_spec("torch") is not None


def files() -> dict[str, Rows]:
    """The files of the commands."""
    texts = headlines(40)
    outputs = [
        {
            **row,
            "references": [texts[i % 13], texts[(i * 5) % 17]],
            "weights": [(i * 7 % 10 + 1) / 10, -0.3],
        }
        for i, row in enumerate(output_rows(70))
    ]
    pairs = [
        {
            "id": f"{system}{i}",
            "system": system,
            "source": f"q{i}",
            "text": texts[(i * step) % 40],
            "references": [texts[(i * 11) % 40], texts[(i * 13) % 40]],
        }
        for i, (system, step) in product(range(16), (("a", 3), ("b", 7)))
    ]
    two = [
        {**row, "system": "human" if i % 4 < 2 else "m"}
        for i, row in enumerate(rated())
    ]
    mined = [
        {
            "id": str(i),
            "context": texts[i],
            "message": texts[i * 3 % 40],
            "response": texts[i - 7],
        }
        for i in range(40)
    ]
    partly = [row if row["item"] < "i3" else {**row, "rating": None} for row in rated()]
    found = {
        "rated": rated(),
        "outputs": outputs,
        "pairs": pairs,
        "two": two,
        "mined": mined,
    }
    apart = {
        "bare": [
            {"id": row["id"], "text": row["text"]}
            for row in rated()
            if row["annotator"] == "ann"
        ],
        "given": only(rated(), "id", "annotator", "rating"),
    }
    crossed = [  # several outputs of a system for an item, of several days
        {
            "system": system,
            "item": f"i{i % 12}",
            "text": texts[(i * step) % 40],
            "day": f"d{i * step % 7}",
            "rating": 1 + i * step % 5,
        }
        for i, (system, step) in product(range(48), (("a", 3), ("b", 11)))
    ]
    timed = [{**row, "rated_at": 1_000 + 7 * i} for i, row in enumerate(rated())]
    nameless = without(rated(), "id", "annotator", "source")
    one_of = [{"item": f"i{i}", "text": texts[i]} for i in range(3)]
    copies = [{**row, **one_of[i % 3]} for i, row in enumerate(nameless)]
    more = {
        "partly": partly,
        "crossed": crossed,
        "timed": timed,
        "copies": copies,
    }
    return {**found, **apart, **more}


def lines(at: Path) -> Iterator[tuple[str, tuple[object, ...]]]:
    """Every command, with settings that take all its ways through the code."""
    pool, outputs, pairs = (
        at / f"{name}.jsonl" for name in ("rated", "outputs", "pairs")
    )
    few = ("--resamples", 50)
    yield "validate", (pool, "--scale", 1, 5)
    yield "validate", (pool, "--scale", 1, 5, "--group", "id")
    yield "validate", (at / "timed.jsonl", "--estimator", NEAR)
    yield "judge", (pool,)
    yield "look", (pool,)
    yield "validate", (pool, "--estimator", "gp:tune_on=20")
    judge = ("--score-column", "good")
    yield "validate", (pool, "--scale", 1, 5, *judge)
    yield "score", (pool, "--rated", pool, "--scale", 1, 5, *judge)
    yield "explain", ("--id", "t004", "--rated", pool, *judge)
    for spec in PARTS:
        yield "validate", (pool, "--estimator", spec, "--group", "system")
        yield "score", (outputs, "--rated", pool, "--estimator", spec, "--scale", 1, 5)
    yield "fit", (pool, "--to", at / "fitted.safetensors")
    yield "score", (outputs, "--model", at / "fitted.safetensors")
    yield "explain", ("the ferry sings", "--source", "what of 3", "--rated", pool)
    yield "explain", ("--id", "t004", "--rated", pool)
    yield "compare", (pool, "--scale", 1, 5, *judge)
    yield "compare", (outputs, "--rated", pool, "--scale", 1, 5)
    yield "compare", (at / "partly.jsonl", "--estimator", NEAR)
    yield "compare", (at / "crossed.jsonl", "--estimator", NEAR, "--group", "day")
    yield "compare", (at / "copies.jsonl", "--estimator", NEAR)
    two = ("--baseline", "a", "--candidate", "b", "--margin", 1)
    yield "gate", (at / "crossed.jsonl", "--estimator", NEAR, *two)
    for goal in ("learn", "mean", "compare"):
        pair = ("--system", "m0", "--system", "m1") if goal == "compare" else ()
        next_ones = (outputs, "--rated", pool, "--goal", goal, "-n", 9, *pair)
        yield "next", next_ones
        yield "next", (*next_ones, "--estimator", NEAR)
    for name in ("bleu", "sbleu", "rouge-l", "cider-d", "delta-bleu"):
        yield "metric", (outputs, "-m", name, "--column", "weight=weights", *few)
    yield "judge", (pool, "-m", "bleu", "-m", "sbleu", "--score-column", "good", *few)
    yield "huse", (at / "two.jsonl", "--human-label", "human")
    yield (
        "mine",
        (at / "mined.jsonl", "--seeds", at / "mined.jsonl", "--out-dir", at, "-n", 2),
    )
    fast = ("--resamples", 40)
    yield "stress", (pairs, "-m", "bleu", *fast)
    yield "stress", (pairs, "--rated", pool, "--estimator", NEAR, *fast)
    if TORCH:
        yield "validate", (pool, "--estimator", SPEC, "--threads", 1)
        yield "train", (pool, "--to", at / "model.safetensors", *TINY)


def by_id(found: Any) -> Any:
    """The object with its rows in the order of their ids, not of the file."""
    if isinstance(found, dict):
        return {name: by_id(part) for name, part in found.items()}
    if not isinstance(found, list):
        return found
    parts = [by_id(part) for part in found]
    rows = bool(parts) and isinstance(parts[0], dict) and "id" in parts[0]
    return sorted(parts, key=lambda part: part["id"]) if rows else parts


def answered(at: Path) -> Iterator[tuple[str, Any]]:
    """The output of each line."""
    for command, words in lines(at):
        ran = run_well(command, *words, "--format", "json")
        yield f"{command} {' '.join(map(str, words))}", by_id(ran.json)


def in_order(at: Path) -> dict[str, Any]:
    """The answers on files in the order in which they were made."""
    for name, rows in files().items():
        jsonl(at / f"{name}.jsonl", rows)
    return dict(answered(at))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("order")


def test_every_command_is_asked(folder: Path) -> None:
    """All that read rows and end; a new command is a new line here.

    Of `route`, which asks for a licence, test_route.py has the order.
    """
    asked = {command for command, _ in lines(folder)} | {"train"}
    assert asked == {*COMMANDS} - {"list", "demo", "rate", "serve", "route"}


def test_shuffled_rows(folder: Path) -> None:
    """Bit-equal JSON from every command, whatever the order of rows and the ends of lines."""
    wanted = in_order(folder)
    shuffler = random.Random(7)
    for name, rows in files().items():
        path = jsonl(folder / f"{name}.jsonl", shuffler.sample(rows, len(rows)))
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    for line, found in answered(folder):
        assert found == wanted[line], line


@pytest.mark.parametrize("command", ["validate", "judge", "score"])
def test_rows_are_listed_as_given(command: str) -> None:
    """Numbers owe nothing to the order of rows; lists of texts keep it."""
    rows = [row for row in rated() if row["annotator"] == "ann"][::-1]
    more = {"rated": rows} if command == "score" else {}
    result = getattr(refless, command)(rows, score_column="good", **more)
    assert [row["id"] for row in result.rows()] == column(rows, "id")


def test_shuffled_rows_of_which_many_are_rated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of more than are inverted; with any number of threads."""
    monkeypatch.setattr(data, "MOST_INVERTED", 20)
    rows = files()["rated"]
    path = jsonl(tmp_path / "rated.jsonl", rows)
    asked = ("validate", path, "--scale", 1, 5, "--threads")
    wanted = by_id(_bare(json_of(*asked, 1)))
    jsonl(path, random.Random(7).sample(rows, len(rows)))
    assert by_id(_bare(json_of(*asked, 3))) == wanted


def test_threads(tmp_path: Path) -> None:
    """Of linear algebra, of our own loops, and other processes: bit-equal JSON."""
    for name, rows in files().items():
        jsonl(tmp_path / f"{name}.jsonl", rows)
    pool = tmp_path / "rated.jsonl"
    outputs = tmp_path / "outputs.jsonl"
    asked = (
        ("score", outputs, "--rated", pool, "--scale", 1, 5),
        ("validate", pool, "--scale", 1, 5),
    )

    def printed(words: Sequence[object], threads: str) -> Any:
        names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")
        command = [
            sys.executable,
            "-m",
            "refless",
            *map(str, words),
            "--format",
            "json",
        ]
        done = subprocess.run(
            command,
            env={
                **os.environ,
                **dict.fromkeys(names, threads),
                "PYTHONHASHSEED": threads,
            },
            capture_output=True,
            check=True,
        )
        return json.loads(done.stdout)

    for words in asked:
        few, many = (json_of(*words, "--threads", n) for n in (1, 3))
        assert _bare(few) == _bare(many) == _bare(printed(words, "2"))


@functools.cache
def taught(spec: str, most: int) -> Estimator:
    """The estimator, fitted to the rated texts, of which `gp` inverts at most so many."""
    first = [row for row in rated() if row["annotator"] == "ann"]
    texts, sources = (column(first, name) for name in ("text", "source"))
    pool = pool_of(texts, [float(str(row["rating"])) for row in first], sources=sources)
    with patch.object(data, "MOST_INVERTED", most):
        return estimator_of(spec).fit(pool)


@pytest.mark.parametrize("most", [20, 5_000])
@pytest.mark.parametrize("spec", ["gp", "gp:use_system=yes", NEAR])
@settings(max_examples=10)
@given(st.lists(st.sampled_from(headlines(60)), min_size=1, max_size=12))
def test_company_of_outputs(spec: str, most: int, texts: list[str]) -> None:
    """An output has the estimate and the interval that it has alone, to the last bit."""
    model = taught(spec, most)

    def asked(some: Sequence[str]) -> list[tuple[str, ...]]:
        rows = {"text": list(some), "source": ["what of 1"] * len(some)}
        found = model.estimate(rows)
        columns = (found.values, found.low, found.high)
        return [tuple(map(repr, row)) for row in zip(*columns, strict=True)]

    for text, answer in zip(texts, asked(texts), strict=True):
        assert asked([text]) == [answer]


def _bare(found: dict[str, Any]) -> dict[str, Any]:
    """Without the command line, which names the threads."""
    return {
        name: part
        for name, part in found.items()
        if name not in {"command_line", "next"}
    }
