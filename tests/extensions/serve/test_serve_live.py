"""The owner's page: a look at the ratings in a process of its own, told as it comes."""

import asyncio
import json
import math
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.simulate import simulate
from numpy.random import default_rng

from command_line import json_of, jsonl, one_line, run_well
from refless.commands.compare.claims import always_of_rate
from refless.commands.compare.wins import rate as rate_of
from refless.data.records import Outputs
from refless.data.rows import rows_of
from refless.extensions.serve.analysis_worker import looked
from refless.extensions.serve.app import latest
from refless.extensions.serve.dashboard import Live, LookFailedError, written
from refless.extensions.serve.exports import COMPARED
from refless.extensions.serve.pages import HOME
from refless.extensions.serve.project import Project
from refless.extensions.serve.rate import rate
from refless.extensions.serve.result import Task
from refless.extensions.serve.store import Store
from refless.report.templates import rendered
from refless.stats.confidence_sequence import always_interval
from rows import columns_of
from serving import (
    JOB,
    begun,
    client,
    event,
    exported,
    joined,
    opened,
    owner_of,
    rate_all,
    told,
)


def sample(n: int = 60) -> tuple[Outputs, dict[str, float]]:
    """Simulated outputs, and what people say of each by its text."""
    pool = simulate(n, seed=3).pool
    columns = {"ids": pool.ids, "texts": pool.texts, "sources": pool.sources}
    found = Outputs(**columns, systems=pool.systems, items=pool.items)
    values = np.clip(np.rint(1 + 4 * pool.human), 1, 5).tolist()
    return found, dict(zip(pool.texts, values, strict=True))


def test_look_after_ratings(tmp_path: Path) -> None:
    """The ratings of a person become agreement, systems, a fitted estimator and the next items."""
    outputs, values = sample()
    store = opened(f"sqlite:///{tmp_path / 'a.sqlite'}", Task(repeat=0.1), outputs)
    live = Live(store, "gp", (), tmp_path / "model.safetensors")
    rater, unit = begun(store)
    for _ in range(40):
        sent = event("rated", unit, value=values[unit["texts"][0]], latency=1500)
        unit = store.save(rater, sent).result()["next"]
    asyncio.run(live._look())
    found = live.state()
    page = rendered(HOME, "live.html", part="results", task=store.task, **found)
    facts = dict(re.findall("<dt>(.+?)</dt><dd>(.+?)</dd>", page))
    assert -1 <= float(facts["held-out agreement"]) <= 1
    assert {"outputs rated", "drawn at random", "the same again"} <= {*facts}
    look = found["dimensions"]["quality"]
    low, high = look["spearman_interval"]
    assert low <= look["spearman"] <= high
    assert f"Spearman of estimates [{low:.2f}, {high:.2f}]" in page
    names = {*outputs.systems}
    compared = columns_of(told(live, "systems"))
    assert {*compared["first"], *compared["second"]} == names
    for one in told(live, "systems"):
        (low, high) = one["interval"]
        (least, most) = one["always"]
        assert least is None or least < low < high < most
    rated = {row.item - 1 for row in _rows(store)}
    assert store.assignment.active
    assert not rated & {*store.assignment.active}
    assert latest(tmp_path / "model.safetensors") is not None
    assert store.fits() == live.looks
    (row,) = found["raters"]
    assert row["pace"] == 1.5
    store.close()


def said(live: Live) -> str:
    """The line on top of the owner's page."""
    page = rendered(
        HOME, "live.html", part="state", task=live.store.task, **live.state()
    )
    return one_line(page)


def test_ratings_given_before_are_told(tmp_path: Path) -> None:
    """Estimates rest on them too."""
    store = opened(f"sqlite:///{tmp_path / 'a.sqlite'}", Task(), sample()[0])
    live = Live(store, "gp", ({"text": "a", "rating": 1}, {"text": "b", "rating": 2}))
    assert said(live).endswith("estimates come with 20.")
    live.looks.append({"n": 19, "dimensions": {"quality": {**looked(JOB), "said": []}}})
    assert said(live).endswith("estimates come with 20.")
    live.looks.append({"n": 24, "dimensions": {"quality": {**looked(JOB), "said": []}}})
    assert said(live).endswith(
        "estimates from 24 of the ratings, and 2 given before, which teach the estimates alone."
    )
    store.close()


@pytest.mark.usefixtures("looks_here")
def test_second_ratings_are_none_that_estimates_need(tmp_path: Path) -> None:
    """Of 20 acts the page counts the exported ratings, fewer than 20; a look says the same."""
    outputs, values = sample()
    asked = Task(repeat=0.5)
    store = opened(f"sqlite:///{tmp_path / 'a.sqlite'}", asked, outputs)
    live = Live(store, "gp")
    rater, unit = begun(store)
    for _ in range(20):
        sent = event("rated", unit, value=values[unit["texts"][0]])
        unit = store.save(rater, sent).result()["next"]
    exports = len(exported(store, "ratings.jsonl").splitlines())
    before = said(live)
    asyncio.run(live._look())
    assert said(live) == before
    assert before.startswith(
        f"{exports} ratings of {exports} of 60 outputs; estimates come"
    )
    assert live.state()["looked"] == live.state()["drawn"] == exports < 20
    store.close()


def _rows(store: Any) -> list[Any]:
    from refless.extensions.serve.schema import CURRENT_ROWS

    return store.database.read(lambda one: [*one.execute(CURRENT_ROWS)])


def test_owner_hears_at_once(tmp_path: Path) -> None:
    """The first event of the stream has what is known; the page's token is not in it."""
    store = opened(f"sqlite:///{tmp_path / 'a.sqlite'}")
    rate_all(store, store.add_rater("Ann"))
    with client(store) as web:
        web.app.state.ended()  # so that the stream ends after what it has to say
        joined(web, store, owner_of(store))
        assert (
            web.get("/owner/live")
            .headers["content-type"]
            .startswith("text/event-stream")
        )
    found = Live(store, "gp").state()
    assert json.loads(json.dumps(found)) == found
    assert found["raters"][0]["done"] >= 12
    store.close()


def test_failed_look_tells_no_text(tmp_path: Path) -> None:
    """The message of a process that fails may quote a text; only the kind of fault is told."""
    store = opened(f"sqlite:///{tmp_path / 'a.sqlite'}", Task(repeat=0.0), sample()[0])
    rate_all(store, store.add_rater(""))
    live = Live(store, "gp")
    live.rated = ["secret text"]  # type: ignore[list-item]
    with pytest.raises(LookFailedError) as caught:
        asyncio.run(live._look())
    assert "secret" not in str(caught.value)
    store.close()


def test_look_ends_with_the_process_that_asked(tmp_path: Path) -> None:
    """Its pipe closes when that process dies, be it by kill -9; imports would go on."""
    store = opened(f"sqlite:///{tmp_path / 'a.sqlite'}")
    slow = "import time; from refless.extensions.serve import look_process as it"
    slow = f"{slow}; it.import_module = lambda _: time.sleep(600)"
    words = [sys.executable, "-c", f"{slow}; it.main()"]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        process.stdin.write(Live(store, "gp")._job() + b"\n")
        process.stdin.close()
        try:
            assert process.wait(60) == 1
            assert process.stderr is not None
            assert process.stderr.read() == b""
        finally:
            process.kill()
    store.close()


def test_fault_of_the_system_does_not_end_the_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second look comes, though the first could not start its process."""
    store = opened(f"sqlite:///{tmp_path / 'a.sqlite'}", Task(repeat=0.0))
    live = Live(store, "gp")
    looks = 0
    rate_all(store, store.add_rater(""))

    async def look() -> None:
        nonlocal looks
        looks += 1
        live._count_then = 0
        if looks == 1:
            raise OSError("no process")
        live.end()

    async def soon(*_: object) -> None:
        await asyncio.sleep(0)

    monkeypatch.setattr(live, "_look", look)
    monkeypatch.setattr("refless.extensions.serve.dashboard.until", soon)
    asyncio.run(live.watch())
    assert looks == 2
    store.close()


@pytest.mark.usefixtures("looks_here")
def test_owner_sees_what_compare_says(tmp_path: Path) -> None:
    """With texts rated before, by the default estimator: as test_serve_numbers has it without."""
    outputs, values = sample(90)
    answers = tmp_path / "my answers.jsonl"
    before = tmp_path / "before.jsonl"
    jsonl(answers, rows_of(outputs))
    pool = simulate(30, seed=9).pool
    people = [1 + 4 * float(value) for value in pool.human]
    jsonl(
        before,
        [
            {**row, "id": f"b{i}", "rating": people[i]}
            for i, row in enumerate(rows_of(pool))
        ],
    )
    result = rate(str(answers), rated=str(before), scale=(1, 5))
    store = Store(result.where.database, result.outputs, result.items, result.task)
    for _ in range(2):
        rater, unit = begun(store)
        for _ in range(25):
            sent = event("rated", unit, value=values[unit["texts"][0]])
            unit = store.save(rater, sent).result()["next"]
    live = Live(store, result.estimator, result.rated)
    asyncio.run(live._look())
    (tmp_path / "audit.jsonl").write_bytes(exported(store, "audit.jsonl"))
    store.close()
    words = ["--rated", str(before), "--rated", str(tmp_path / "audit.jsonl")]
    ran = run_well(
        "compare", str(answers), *words, "--scale", "1", "5", "--format", "json"
    )
    pairs = json.loads(ran.out)["pairs"]
    shown = told(live, "systems")
    assert len(shown) == len(pairs) == 3
    for one, pair in zip(shown, pairs, strict=True):
        assert (one["first"], one["second"]) == (pair["first"], pair["second"])
        there = pair["difference"]
        assert one["difference"] == pytest.approx(there["value"], abs=1e-12)
        assert one["interval"] == pytest.approx(there["interval"], abs=1e-12)


def test_texts_rated_before_need_no_items(tmp_path: Path) -> None:
    """Their source is their item, as where no text has one; the systems are compared all the same.

    The pages' outputs have items, what was rated before has none.
    """
    outputs, values = sample()
    rows = rows_of(outputs)
    rated = [{**row, "annotator": "r01", "rating": values[row["text"]]} for row in rows]
    before = [
        {
            "id": f"b{i}",
            "text": f"An old text {i}",
            "source": f"s{i}",
            "rating": i % 5 + 1,
        }
        for i in range(20)
    ]
    job = replace(
        JOB,
        ratings=rated[:30],
        first=rated[:30],
        audit=rated[:30],
        outputs=rows,
        rated=before,
        folder=str(tmp_path),
    )
    store = opened(f"sqlite:///{tmp_path / 'a.sqlite'}", None, outputs)
    written(store, before, tmp_path)
    store.close()
    jsonl(tmp_path / COMPARED, rated[:30])
    assert len(looked(job)["systems"]) == 3


def test_few_ratings_say_so() -> None:
    assert looked(JOB)["said"] == ["Estimates are looked at from 20 ratings on."]


def test_what_was_rated_before_is_no_part_of_the_agreement() -> None:
    """It teaches alone: of new ratings that are all 3 nothing correlates, and all raters agree."""
    pool = simulate(120, seed=4).pool
    rows = []
    for name, text, human in zip(
        pool.ids, pool.texts, pool.human.tolist(), strict=True
    ):
        row = {"id": name, "text": text}
        rows.append({**row, "annotator": "r0", "rating": 1 + round(4 * human)})
        rows.append({**row, "annotator": "r1", "rating": 1})
    before = rows[80:]
    twice = [{**row, "annotator": "r1"} for row in rows[:80:2]]
    same = [{**row, "rating": 3} for row in rows[:80]]
    found = looked(replace(JOB, ratings=same, first=same, rated=before))
    assert math.isnan(found["spearman"])
    both = [*rows[:80:2], *twice]
    found = looked(replace(JOB, ratings=both, first=both, rated=before))
    assert -1 < found["spearman"] < 1
    assert found["alpha"] == 1  # before, one of them said 1 of all


def choices(values: list[float]) -> list[dict[str, Any]]:
    """Choices between A and B: 1 for B, -1 for A, 0 for neither."""
    return [
        {
            "id": f"i{k}",
            "annotator": "r1",
            "tie": value == 0,
            "chosen": "c",
            "rejected": "r",
            "chosen_system": "B" if value > 0 else "A",
            "rejected_system": "A" if value > 0 else "B",
        }
        for k, value in enumerate(values)
    ]


def preferred(values: list[float]) -> tuple[float, float]:
    """The rate at which B is preferred, at any number of looks."""
    won = (np.array(values) + 1) / 2
    return always_of_rate(rate_of(won, np.arange(len(won))), 1)


def test_preferences_by_system(tmp_path: Path) -> None:
    """Twelve items, B chosen nine times, A twice, one tie: 9.5 of 12, by hand."""
    audit = choices([1.0] * 9 + [-1.0, -1.0, 0.0])
    jsonl(tmp_path / COMPARED, audit)
    job = replace(JOB, ask="pair", audit=audit, folder=str(tmp_path))
    (found,) = looked(job)["systems"]
    assert (found["first"], found["second"]) == ("A", "B")
    assert found["difference"] == pytest.approx(9.5 / 12)


def test_few_who_agree_are_not_certain() -> None:
    """Ten of ten may be nine of ten: the interval is no point, and ends at 1."""
    low, high = preferred([1.0] * 10)
    assert low < 0.9
    assert high == 1


@pytest.mark.parametrize("share", [0.5, 0.95])
def test_choices_are_covered_at_every_look(share: float) -> None:
    """At looks a tenth apart up to 100 choices: wrong at any of them in at most 5 % of 200 runs.

    Without made-up choices it was 36 to 60 % where nearly all agree; 1,000 runs of 200 give .8 to
    3.2 %.
    """
    rng = default_rng(7)
    wrong = 0
    looks = np.unique(np.geomspace(10, 100, 20).astype(int)).tolist()
    for values in np.where(rng.random((200, 100)) < share, 1.0, -1.0).tolist():
        ends = [preferred(values[:n]) for n in looks]
        wrong += any(not low <= share <= high for low, high in ends)
    assert wrong / 200 <= 0.05


def test_so_many_more_settle_it() -> None:
    """Told numbers of items do it four times out of five, of differences that are as is usual.

    300 rounds; with the difference as it looks, .6 to .7 of the numbers did it.
    """
    from refless.extensions.serve.analysis_worker import more_to_settle
    from refless.stats.assurance import USUAL
    from refless.stats.forecast import Progress, Today

    rng = default_rng(1)
    n = 20
    kept = []
    for _ in range(300):
        values = rng.normal(USUAL * rng.normal(), 1, 500)
        error = float(values[:n].std(ddof=1)) / math.sqrt(n)
        progress = Progress(rated=(n,), every=(500,))
        known = Today(progress=progress, error=error, freedom=n - 1)
        more = more_to_settle(float(values[:n].mean()), known, 1)
        if more is None:
            continue
        later = values[: n + more]
        error = float(later.std(ddof=1)) / math.sqrt(n + more)
        low, high = always_interval(float(later.mean()), error, n + more, n + more - 1)
        kept.append(low > 0 or high < 0)
    assert len(kept) > 40
    assert abs(np.mean(kept) - 0.8) < 0.12
    assert more_to_settle(1.0, None, 1) is None


@pytest.mark.usefixtures("looks_here")
@pytest.mark.parametrize("apart", [0.0, 1.0])
def test_agreement_of_raters_can_be_had_from_the_export(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, apart: float
) -> None:
    """The command on the page gives alpha and its interval to the last digit; a line says it."""
    task = Task(
        per_item=2,
        repeat=0.2,
        dimensions=("sense", "style"),
        scales={"style": (1, 3)},
        project=Project(adjudicate=apart),
    )
    store = opened(f"sqlite:///{tmp_path / 'a.sqlite'}", task, sample(30)[0])
    for rater in [store.add_rater("") for _ in range(2)]:
        rate_all(store, rater, (1, 2, 3, 1 + rater.id % 3))
    if apart:
        (decider,) = (rater for rater in store.raters() if rater.name == "decider")
        rate_all(store, decider, (2,))
    live = Live(store, "bleu-neighbors")
    asyncio.run(live._look())
    name = "first.jsonl" if apart else "ratings.jsonl"
    (tmp_path / name).write_bytes(exported(store, name))
    state = live.state()
    looks = live.looks[-1]["dimensions"].values()
    monkeypatch.chdir(tmp_path)
    for command, look in zip(state["agreements"], looks, strict=True):
        program, *words = shlex.split(command)
        assert program == "refless"
        alpha = json_of(*words)["agreement"]["alpha_ordinal"]
        low, high = look["alpha_interval"]
        assert alpha["value"] == look["alpha"]
        assert alpha["interval"] == [low, high]
        line = f"Krippendorff's alpha {look['alpha']:.2f} (ordinal), 95 % interval [{low:.2f}, "
        assert any(line in sentence for sentence in told(live, "said"))
    live.end()
    store.close()
