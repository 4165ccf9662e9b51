"""refless score --best-of: the best output of each item, where to fall back, what it promises."""

import csv
import io
import json
import math
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from command_line import Ran, headlines, jsonl, output_rows, rated_rows, run, too_wide
from refless import Kriging, UsageError
from refless.records import Estimates, Outputs, Reason, as_outputs, numbered
from refless.signature import Signature
from refless.studies.best_of import BestOf, best_of, choices
from refless.studies.validation import codes
from refless.truth import pool_of

DATA = Path(os.environ.get("REFLESS_DATA", Path(__file__).parents[2] / "shared" / "data"))
SCALE = ("--scale", 1, 5)
RESIDUALS = np.linspace(-0.3, 0.3, 41)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("best-of")
    jsonl(where / "rated.jsonl", rated_rows())
    jsonl(where / "outputs.jsonl", output_rows())
    return where


def best(folder: Path, *more: object, by: str = "item") -> Ran:
    rated = ("--rated", folder / "rated.jsonl")
    return run("score", folder / "outputs.jsonl", *rated, "--best-of", by, *more)


def judged(values: list[float], items: list[str]) -> tuple[Outputs, Estimates]:
    """Outputs of these items with these estimates."""
    n = len(values)
    array = np.array(values, dtype=np.float64)
    reasons: tuple[Reason, ...] = tuple("too-few" if v != v else "" for v in values)
    outputs = Outputs(ids=numbered(n), texts=tuple(f"text {i}" for i in range(n)))
    estimates = Estimates(
        ids=numbered(n),
        values=array,
        reasons=reasons,
        support=np.zeros(n, dtype=np.int64),
        low=array,
        high=array,
    )
    return replace(outputs, sources=tuple(items), items=tuple(items)), estimates


def summed_up(values: list[float], items: list[str], below: float | None = None) -> BestOf:
    return best_of(*judged(values, items), RESIDUALS, fallback_below=below, resamples=200)


VALUES = st.lists(
    st.tuples(
        st.one_of(st.sampled_from([0.25, 0.5]), st.floats(0, 1), st.just(math.nan)),
        st.sampled_from("abcd"),
    ),
    max_size=25,
)


@given(VALUES, st.floats(0, 1))
def test_the_choice_is_that_of_a_slow_loop(rows: list[tuple[float, str]], below: float) -> None:
    """Item by item, row by row: a later row wins only if it is higher."""
    values, items = [value for value, _ in rows], [item for _, item in rows]
    found = choices(*judged(values, items), fallback_below=below)
    assert [choice.item for choice in found] == list(dict.fromkeys(items))
    for choice in found:
        slow = None
        for row, (value, item) in enumerate(rows):
            if item != choice.item or math.isnan(value):
                continue
            if slow is None or value > values[slow]:
                slow = row
        assert choice.best == slow
        assert choice.fallback is (slow is None or values[slow] < below)
        assert choice.rows == tuple(row for row, item in enumerate(items) if item == choice.item)
        assert choice.n_scored + choice.reasons.get("too-few", 0) == len(choice.rows)


@given(VALUES, st.randoms())
def test_order_decides_between_equal_estimates_only(
    rows: list[tuple[float, str]], random: object
) -> None:
    """In another order the same estimates are chosen, and all means are the same to the bit."""
    mixed = list(rows)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    sums, chosen = [], []
    for order in (rows, mixed):
        values, items = [value for value, _ in order], [item for _, item in order]
        found = summed_up(values, items, 0.5)
        sums.append(repr((found.chosen, found.random, found.difference, found.difference_interval)))
        chosen.append(
            {one.item: (one.best and values[one.best], one.tied, one.fallback) for one in found.choices}
            if False
            else {
                one.item: ("" if one.best is None else values[one.best], one.tied, one.fallback)
                for one in found.choices
            }
        )
    assert sums[0] == sums[1]
    assert chosen[0] == chosen[1]
