"""The owner's numbers are those of the printed command on the page's files, in every state."""

import contextlib
import json
import math
import shlex
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from command_line import run
from refless.extensions.serve.acts import Refused
from refless.extensions.serve.analysis_worker import results_of
from refless.extensions.serve.dashboard import Live, commands_of
from refless.extensions.serve.exports import COMPARED
from refless.extensions.serve.project import Project
from refless.extensions.serve.result import Ask, Task
from refless.extensions.serve.store import Store
from serving import event, exported, opened, outputs

ACTS = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.sampled_from([*range(1, 9), "skipped", "flagged", "undone"]),
    ),
    min_size=1,
    max_size=60,
)


LONG: list[tuple[int, int | str]] = [(k % 3, 1 + k * k % 7) for k in range(90)]


def act(store: Store, rater: int, kind: int | str, dimension: str) -> None:
    """One act of a rater: a rating or a choice, a skip, a flag, an undoing."""
    unit = store.next_unit(rater).result()["unit"]
    with contextlib.suppress(Refused):  # there was nothing to undo
        if kind == "undone":
            store.save(rater, event("undone")).result()
        elif unit is not None and isinstance(kind, str):
            store.save(rater, event(kind, unit)).result()
        elif unit is not None:
            choices = {"rating": [1, 2, 3, 4, 5], "pair": [-1, 0, 1], "best": [0, 1, 2]}
            offered = choices[store.task.ask]
            value = float(offered[int(kind) % len(offered)])
            store.save(
                rater, event("rated", unit, dimension=dimension, value=value)
            ).result()


def same(first: Any, second: Any) -> bool:
    """Equal to the last digit; what is undefined is NaN here, null there."""
    absent = [
        value is None or (isinstance(value, float) and math.isnan(value))
        for value in (first, second)
    ]
    return all(absent) or first == second


@pytest.mark.parametrize("ask", ["rating", "pair", "best"])
@settings(max_examples=12)
@example(acts=LONG, dimensions=("quality",), apart=0.0)
@example(acts=LONG, dimensions=("sense", "style"), apart=1.0)
@given(
    acts=ACTS,
    dimensions=st.sampled_from([("quality",), ("sense", "style")]),
    apart=st.sampled_from([0.0, 1.0]),
)
def test_numbers_are_the_commands(
    ask: Ask,
    acts: list[tuple[int, int | str]],
    dimensions: tuple[str, ...],
    apart: float,
) -> None:
    """Over random acts of three raters: values and intervals, of one look and of any number."""
    with tempfile.TemporaryDirectory() as folder:
        task = Task(
            ask=ask,
            overlap=0.3,
            repeat=0.1,
            per_item=2,
            dimensions=dimensions,
            scales={"style": (2, 4)},
            project=Project(adjudicate=apart if ask == "rating" else 0.0),
        )
        systems = {"rating": 2, "pair": 2, "best": 3}[ask]
        store = opened(f"sqlite:///{folder}/a.sqlite", task, outputs(24, systems))
        raters = [store.add_rater("").id for _ in range(3)]
        for n, (who, kind) in enumerate(acts):
            act(store, raters[who], kind, dimensions[n % len(dimensions)])
        live = Live(store, "bleu-neighbors")
        results = results_of(json.loads(live._job()))
        assert (live.folder / COMPARED).read_bytes() == exported(store, "audit.jsonl")
        commands = commands_of(results)
        looks = [part for part in results.values() if part["systems"]]
        assert len(looks) == len(dimensions) or acts != LONG
        for command, part in zip(commands, looks, strict=True):
            check(shlex.split(command)[1:], live.folder, part["systems"], ask)
        live.end()
        store.close()


def check(
    words: list[str], folder: Path, shown: list[dict[str, Any]], ask: str
) -> None:
    """Runs the command, and compares what it says with what the page shows."""
    columns = ("interval",) if ask != "rating" else ("interval", "always")
    for column in columns:
        more = ["--looks", "any"] if column == "always" else []
        with contextlib.chdir(folder):
            ran = run(*words, *more, "--format", "json")
        assert ran.code == 0, ran.err
        pairs = json.loads(ran.out)["pairs" if ask == "rating" else "wins"]
        assert len(pairs) == len(shown)
        for row, pair in zip(shown, pairs, strict=True):
            answer = pair["difference"] if ask == "rating" else pair["by_item"]
            value = answer["value" if ask == "rating" else "rate"]
            assert (row["first"], row["second"]) == (pair["first"], pair["second"])
            assert same(row["difference"], value)
            for mine, theirs in zip(
                row[column], answer["interval"] or (None, None), strict=True
            ):
                assert same(mine, theirs)
