"""Careless raters are named, careful ones are not; gold and practice items reach every rater."""

import asyncio
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from refless.extensions.serve.careless import FirstAnswer, careless
from refless.extensions.serve.dashboard import Live
from refless.extensions.serve.project import Gold, Project
from refless.extensions.serve.result import Task
from serving import begun, event, opened, outputs, owner_of, rows_of, told

pytestmark = pytest.mark.usefixtures("looks_here")

KINDS = ("random", "constant", "fast")


def simulated(seed: int, kind: str = "", items: int = 60) -> list[FirstAnswer]:
    """Four raters of 60 items from 1 to 5, the last one of a kind; the rest are careful.

    Careful raters agree by about .6, need 4 to 15 seconds, and may be lenient or severe.
    """
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=items)
    answers = []
    for rater in range(4):
        level = rng.normal(0, 0.4)
        pace = rng.lognormal(2, 0.4)
        mine = careful = np.clip(
            np.rint(3.2 + quality + level + rng.normal(0, 0.8, items)), 1, 5
        )
        seconds = pace * rng.lognormal(0, 0.5, items)
        if rater == 3 and kind == "random":
            mine = rng.integers(1, 6, items).astype(float)
        if rater == 3 and kind == "constant":
            mine = np.where(rng.random(items) < 0.03, careful, 3)
        if rater == 3 and kind == "fast":
            seconds = rng.lognormal(-1.2, 0.3, items)
        answers += [
            FirstAnswer(
                f"r{rater}",
                item,
                float(mine[item]),
                float(mine[item]),
                float(seconds[item]),
            )
            for item in range(items)
        ]
    return answers


@pytest.mark.parametrize("kind", KINDS)
def test_careless_raters_are_named(kind: str) -> None:
    """In at least 90 % of 20 projects; those beside them in at most 2 %."""
    named = [set(careless(simulated(seed, kind), {}, 4.0)) for seed in range(20)]
    assert sum("r3" in names for names in named) >= 18
    assert sum(len(names - {"r3"}) for names in named) <= 0.02 * 3 * 20


def test_who_is_too_fast() -> None:
    """One who hurries is compared with the others; one who cannot have read is not."""
    rows = simulated(0)
    fast = [replace(row, seconds=0.4) for row in rows]
    (said,) = careless(fast, {}, 4.0)["r3"]
    assert said == "needs 0.4 seconds an item, in which nobody reads it"
    hurried = [replace(row, seconds=1.0 + 7 * (row.rater != "r3")) for row in rows]
    (said,) = careless(hurried, {}, 4.0)["r3"]
    assert said == "needs 1.0 seconds an item, the others 8.0"


def test_careful_raters_are_not_named() -> None:
    """800 of them in 200 projects, with gold that is the middle of their ratings."""
    wrong = 0
    for seed in range(200):
        answers = simulated(seed)
        rated = np.array([answer.value for answer in answers]).reshape(4, 60)
        gold = dict(enumerate(np.median(rated, axis=0)[:8].tolist()))
        wrong += len(careless(answers, gold, 4.0))
    assert wrong <= 0.02 * 800


def test_failed_gold_is_counted() -> None:
    """Six of six wrong, by more than a quarter of the scale; one of six is no reason."""
    answers = [
        FirstAnswer("r0", item, 5.0 if item % 2 else 3.0, 5.0, 6.0)
        for item in range(20)
    ]
    reasons = careless(answers, dict.fromkeys(range(6), 1.0), 4.0)
    assert reasons == {"r0": ["fails 6 of 6 gold items"]}
    assert careless(answers, {0: 1.0} | dict.fromkeys(range(1, 6), 4.0), 4.0) == {}


def test_practice_and_gold_reach_every_rater(sqlite: str) -> None:
    """Practice first, with the answer; gold among the rest; both are ratings as others are."""
    gold = (
        Gold(id="o03", answer=2, why="A wrong place.", practice=True),
        Gold(id="o05", answer=4),
    )
    task = Task(overlap=0.0, repeat=0.0, project=Project(gold=gold, gold_share=0.5))
    store = opened(sqlite, task)
    for _ in range(2):
        rater, unit = begun(store)
        assert unit["texts"] == [store.outputs.texts[3]]
        answer = store.save(rater, event("rated", unit, value=5)).result()
        about = {name: answer["unit"][name] for name in ("practice", "told")}
        told = "The right answer is 2. A wrong place."
        assert about == {"practice": "Practice 1 of 1", "told": told}
        for _ in range(5):
            assert "told" not in answer["next"]
            answer = store.save(rater, event("rated", answer["next"], value=3)).result()
    counts = Counter(row["id"] for row in rows_of(store))
    assert counts["o03"] == 2
    assert counts["o05"] >= 1
    store.close()


def test_owner_reads_who_is_careless(tmp_path: Path) -> None:
    """And what leaving them out changes: three raters by the text, one at random."""
    found = outputs(60)
    store = opened(
        f"sqlite:///{tmp_path / 'a.sqlite'}", Task(overlap=1.0, repeat=0.0), found
    )
    owner_of(store)
    rng = np.random.default_rng(1)
    worth = dict(zip(found.texts, rng.integers(1, 6, 60).tolist(), strict=True))
    for k in range(4):
        rater, unit = begun(store)
        while unit is not None:
            value = int(rng.integers(1, 6)) if k == 3 else worth[unit["texts"][0]]
            sent = event("rated", unit, value=value, latency=5000)
            unit = store.save(rater, sent).result()["next"]
    live = Live(store, "bleu-neighbors")
    asyncio.run(live._look())
    lines = told(live, "said")
    (named,) = [line for line in lines if "careless" in line]
    assert named.startswith("r04 may be careless: agrees with the others by")
    assert named.endswith("add --where 'annotator!=r04'.")
    assert any(line.startswith("SYS-0 and SYS-1, without r04: they") for line in lines)
    live.end()
    store.close()
