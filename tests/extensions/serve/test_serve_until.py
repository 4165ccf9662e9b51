"""The goal that ends a round, and the certificate of it."""

import asyncio
import json
import math
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from command_line import jsonl, run
from refless import compare_certificate
from refless.commands.compare.claims import Claim, narrow
from refless.extensions.serve.analysis_worker import certificate_of
from refless.extensions.serve.dashboard import CERTIFICATE, Live
from refless.extensions.serve.pages import HOME
from refless.extensions.serve.project import Project
from refless.extensions.serve.result import Ask, Task
from refless.registry.signature import Signature
from refless.report.templates import escaped, rendered
from refless.stats.confidence_sequence import always_interval
from serving import JOB, client, event, joined, opened, outputs, owner_of, told

pytestmark = pytest.mark.usefixtures("looks_here")
SIGNED = Signature("compare")


@pytest.mark.parametrize(
    ("ask", "until", "values"),
    [
        ("rating", "difference known to 4", ("first", "second", "difference")),
        ("rating", "every system's mean to 4", ("system", "mean")),
        ("pair", "win rate known to .5", ("first", "second", "difference")),
    ],
)
def test_round_ends_when_enough_is_known(
    tmp_path: Path, ask: Ask, until: str, values: tuple[str, ...]
) -> None:
    """Nobody is asked any more, also after a restart; the owner has the certificate."""
    url = f"sqlite:///{tmp_path / 'a.sqlite'}"
    task = Task(ask=ask, audit=1, overlap=0, repeat=0, project=Project(until=until))
    store = opened(url, task, outputs(80))
    raters = [store.add_rater("") for _ in range(2)]
    live = Live(store, "bleu-neighbors")
    rater = raters[0]
    for k in range(30):
        rater = raters[k // 2 % 2]
        unit = store.next_unit(rater.id).result()["unit"]
        value = float(k % 2 if ask == "pair" else 1 + k % 4)
        store.save(rater.id, event("rated", unit, value=value, latency=5000)).result()
        if k in {4, 29}:
            asyncio.run(live._look())
            assert (live.certificate is not None) is store.ended is (k == 29)
    (of,) = live.certificate["dimensions"].values()
    assert [*of["raters"]] == [one.name for one in raters]
    # but for those beyond an item that is on a screen
    assert 25 <= sum(of["raters"].values()) <= 30
    verified = compare_certificate(str(live.files[CERTIFICATE]), verify=True)
    assert verified.gate.verdict == "passed", verified.differences
    for row in of["known"]:
        assert {*row} - {"p_holm"} == {*values, "interval"}
        low, high = row["interval"]
        assert 0 < high - low <= 2 * float(until.rsplit(maxsplit=1)[-1])
    last = event("rated", store.next_unit(rater.id).result()["unit"], value=1.0)
    store.save(rater.id, last).result()  # it was on the screen
    answer = store.next_unit(rater.id).result()
    assert (answer["unit"], answer["progress"]["left"]) == (None, 0)
    page = rendered(HOME, "live.html", part="results", task=task, **live.state())
    assert f"The round has ended: {escaped(until)}. certificate.json says so." in page
    assert CERTIFICATE not in " ".join(live.commands)
    store.revoke(raters[0])
    live.rater_changed()
    assert (live.certificate, store.ended, CERTIFICATE in live.files) == (
        None,
        False,
        False,
    )
    asyncio.run(live._look())
    assert live.certificate is None  # one rater is too few
    store.renew(store.rater(raters[0].id))
    asyncio.run(live._look())
    assert live.certificate is not None
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


def test_a_round_ends_by_those_who_have_a_link(tmp_path: Path) -> None:
    """Of three raters one lost the link: the certificate rests on the other two."""
    project = Project(until="difference known to 4")
    task = Task(ask="rating", audit=1, overlap=0, repeat=0, project=project)
    store = opened(f"sqlite:///{tmp_path / 'a.sqlite'}", task, outputs(80))
    raters = [store.add_rater("") for _ in range(3)]
    for k in range(45):
        rater = raters[k // 2 % 3]
        unit = store.next_unit(rater.id).result()["unit"]
        given = event("rated", unit, value=1.0 + k % 4, latency=5000)
        store.save(rater.id, given).result()
    store.revoke(raters[0])
    live = Live(store, "bleu-neighbors")
    asyncio.run(live._look())
    (of,) = live.certificate["dimensions"].values()
    assert [*of["raters"]] == [one.name for one in raters[1:]]
    store.close()


def test_what_is_not_known_ends_nothing() -> None:
    """An interval that is too wide or undefined, none at all, another goal, or one rater."""
    known = [{"interval": (0.0, 0.4)}, {"interval": (1.0, 1.3)}]
    undefined = {"interval": (math.nan, math.nan)}
    assert narrow(known, "difference known to 0.2")
    for goal, rows in (
        ("difference known to .19", known),
        ("difference known to 9", [*known, undefined]),
        ("difference known to 9", []),
        ("difference shown", known),
        ("", known),
    ):
        assert not narrow(rows, goal)
    claim = Claim(said="", known=[], reached=True, raters={"a": 10, "b": 9})
    assert certificate_of(JOB, claim, SIGNED) is None
    two = replace(claim, raters={"a": 10, "b": 10})
    study = certificate_of(JOB, two, SIGNED)
    assert study is not None
    assert study.arguments.rated == ("certified.jsonl",)


@pytest.mark.parametrize("steps", [False, True], ids=["normal", "steps"])
def test_certificates_are_wrong_in_at_most_5_percent(steps: bool) -> None:
    """Of 120 rounds that are looked at after each rating, and end by a difference known to .4."""
    rng = np.random.default_rng(3)
    wrong = 0
    ended = 0
    for _ in range(120):
        values = rng.normal(0.3, 1.0, 400)
        values = np.rint(values) if steps else values
        for n in range(10, 400):
            part = values[:n]
            error = float(part.std(ddof=1)) / math.sqrt(n)
            ends = always_interval(float(part.mean()), error, n, n - 1)
            if narrow([{"interval": ends}], "difference known to 0.4"):
                ended += 1
                wrong += not ends[0] <= 0.3 <= ends[1]
                break
    assert ended > 115
    assert wrong / ended <= 0.05


@pytest.mark.parametrize(
    ("until", "options", "said"),
    [
        ("difference", (), "until"),
        (
            "difference known to 0.2",
            ("--ask", "pair"),
            "choices take 'win rate",
        ),
        ("win rate to 0.1", (), "ratings take 'difference known to 0.2'"),
        ("difference known to 0.2", ("one",), "cannot tell"),
    ],
)
def test_goals_that_cannot_be_reached(
    tmp_path: Path, until: str, options: tuple[str, ...], said: str
) -> None:
    """Another kind of answer, one system, or no number."""
    systems = "a" if "one" in options else "ab"
    rows = [
        {
            "id": f"{i}{name}",
            "item": f"i{i}",
            "system": name,
            "text": f"A text {i} {name}",
        }
        for i, name in product(range(4), systems)
    ]
    file = jsonl(tmp_path / "o.jsonl", rows)
    project = tmp_path / "p.json"
    project.write_text(json.dumps({"until": until}))
    flags = [word for word in options if word != "one"]
    ran = run("rate", file, "--project", project, *flags)
    assert ran.refuses("p.json")
    assert said in ran.err


def test_who_never_reads_ends_no_round(tmp_path: Path) -> None:
    """Two raters, of whom one presses 3, each ninth time 4, in half a second: no certificate.

    With a third one, who reads, there is one; it rests on the two who read, and names them.
    """
    task = Task(
        audit=1, overlap=1, repeat=0, project=Project(until="difference known to 4")
    )
    store = opened(f"sqlite:///{tmp_path / 'a.sqlite'}", task, outputs(40))
    live = Live(store, "bleu-neighbors")
    for name, pause in (("r00", 500), ("r01", 5000), ("r02", 5000)):
        rater = store.add_rater("")
        for k in range(40):
            unit = store.next_unit(rater.id).result()["unit"]
            value = 4 if k % 9 == 8 else 3
            if pause > 1000:
                value = 1 + len(unit["texts"][0]) % 5
            sent = event("rated", unit, value=float(value), latency=pause)
            store.save(rater.id, sent).result()
        asyncio.run(live._look())
        assert (live.certificate is not None) is (name == "r02")
    (of,) = live.certificate["dimensions"].values()
    assert of["raters"] == {"r01": 40, "r02": 40}
    assert any(line.startswith("r00 may be careless") for line in told(live, "said"))
    store.close()
