"""The goal that ends a round, and the certificate of it."""

import asyncio
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command_line import jsonl, run
from refless.extensions.serve.analysis_worker import certificate_of
from refless.extensions.serve.dashboard import CERTIFICATE, Live
from refless.extensions.serve.project import Project
from refless.extensions.serve.result import Ask, Task
from refless.registry.signature import Signature
from refless.stats.confidence_sequence import always_interval
from serving import client, event, joined, opened, outputs, owner_of

SIGNED = Signature("compare")


@pytest.mark.parametrize(
    ("ask", "until", "values"),
    [("rating", "difference known to 4", ("first", "second", "difference")),
     ("rating", "every system's mean to 4", ("system", "mean")),
     ("pair", "win rate known to .5", ("first", "second", "difference"))],
)  # fmt: skip
def test_round_ends_when_enough_is_known(
    tmp_path: Path, ask: Ask, until: str, values: tuple[str, ...]
) -> None:
    """Nobody is asked any more, also after a restart; the owner has the certificate."""
    url = f"sqlite:///{tmp_path / 'a.sqlite'}"
    task = Task(ask=ask, audit=1, overlap=0, repeat=0, project=Project(until=until))
    store = opened(url, task, outputs(80))
    rater, live = store.add_rater(""), Live(store, "bleu-neighbors")
    for k in range(30):
        unit = store.next_unit(rater.id).result()["unit"]
        value = float(k % 2 if ask == "pair" else 1 + k % 4)
        store.save(rater.id, event("rated", unit, value=value)).result()
        if k in {4, 29}:
            asyncio.run(live._look())
            assert (live.certificate is not None) is store.ended is (k == 29)
    (of,) = live.certificate["dimensions"].values()
    assert of["ratings"] == 30
    for row in of["known"]:
        assert {*row} == {*values, "always"}
        assert 0 < row["always"][1] - row["always"][0] <= 2 * float(until.rsplit(maxsplit=1)[-1])
    last = event("rated", store.next_unit(rater.id).result()["unit"], value=1.0)
    store.save(rater.id, last).result()  # it was on the screen
    answer = store.next_unit(rater.id).result()
    assert (answer["unit"], answer["progress"]["left"]) == (None, 0)
    assert f"The round has ended: {until}." in live.state()["said"][0]
    assert CERTIFICATE not in " ".join(live.commands)
    store.close()
    store = opened(url, task, outputs(80))
    with client(store) as web:
        joined(web, store, owner_of(store))
        shown = web.get(f"/owner/export/{CERTIFICATE}").json()
        assert shown == live.certificate
        assert CERTIFICATE in web.get("/owner").text
    store.close()
    other = Task(ask=ask, audit=1, overlap=0, repeat=0)
    store = opened(url, other, outputs(80))
    assert Live(store, "gp").certificate is None
    assert store.next_unit(rater.id).result()["unit"] is not None
    store.close()


def job(until: str) -> dict[str, Any]:
    return {"until": until, "audit": []}


def test_what_is_not_known_ends_nothing() -> None:
    """An interval that is too wide or undefined, none at all, or no goal."""
    known = [{"always": (0.0, 0.4)}, {"always": (1.0, 1.3)}]
    assert certificate_of(job("difference known to 0.2"), known, SIGNED) is not None
    for until, rows in (
        ("difference known to .19", known),
        ("difference known to 9", [*known, {"always": (math.nan, math.nan)}]),
        ("difference known to 9", []),
        ("", known),
    ):
        assert certificate_of(job(until), rows, SIGNED) is None


@pytest.mark.parametrize("steps", [False, True], ids=["normal", "steps"])
def test_certificates_are_wrong_in_at_most_5_percent(steps: bool) -> None:
    """Of 120 rounds that are looked at after each rating, and end by a difference known to .4."""
    rng, wrong, ended = np.random.default_rng(3), 0, 0
    for _ in range(120):
        values = rng.normal(0.3, 1.0, 400)
        values = np.rint(values) if steps else values
        for n in range(10, 400):
            part = values[:n]
            error = float(part.std(ddof=1)) / math.sqrt(n)
            ends = always_interval(float(part.mean()), error, n, n - 1)
            known = [{"always": ends}]
            if certificate_of(job("difference known to 0.4"), known, SIGNED):
                ended += 1
                wrong += not ends[0] <= 0.3 <= ends[1]
                break
    assert ended > 115
    assert wrong / ended <= 0.05


@pytest.mark.parametrize(
    ("until", "options", "said"),
    [("difference", (), "until"), ("win rate to 0.1", (), "cannot tell"),
     ("difference known to 0.2", ("--ask", "pair"), "cannot tell"),
     ("difference known to 0.2", ("one",), "cannot tell")],
)  # fmt: skip
def test_goals_that_cannot_be_reached(
    tmp_path: Path, until: str, options: tuple[str, ...], said: str
) -> None:
    """Another kind of answer, one system, or no number."""
    systems = "a" if "one" in options else "ab"
    rows = [{"id": f"{i}{name}", "item": f"i{i}", "system": name, "text": f"A text {i} {name}"}
            for i in range(4) for name in systems]  # fmt: skip
    file = jsonl(tmp_path / "o.jsonl", rows)
    project = tmp_path / "p.json"
    project.write_text(json.dumps({"until": until}))
    flags = [word for word in options if word != "one"]
    ran = run("rate", file, "--project", project, *flags)
    assert ran.code == 2
    assert "p.json" in ran.err
    assert said in ran.err
