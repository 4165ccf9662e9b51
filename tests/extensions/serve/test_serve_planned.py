"""Planned looks of a round: when they are due, who is dropped and put back, what is refused."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

import refless
from command_line import headlines, jsonl, run
from refless.commands.compare.certificate import TakenLook
from refless.data.records import Outputs
from refless.data.rows import rows_of
from refless.extensions.serve.analysis_worker import looked
from refless.extensions.serve.careless import FirstAnswer
from refless.extensions.serve.dashboard import CERTIFICATE, Live
from refless.extensions.serve.exports import snapshot
from refless.extensions.serve.items import kept_in
from refless.extensions.serve.planned import Round, is_due, looks_due, looks_from
from refless.extensions.serve.project import Project
from refless.extensions.serve.result import Task
from refless.extensions.serve.store import Store
from refusals import bad_usage
from serving import JOB, client, event, joined, opened, owner_of, told

pytestmark = pytest.mark.usefixtures("looks_here")
LEVELS = {"A": 1, "B": 4, "C": 4}


def three_systems(items: int = 12) -> Outputs:
    """The answers of three systems to so many items."""
    pairs = [*product(range(items), LEVELS)]
    return Outputs(
        ids=tuple(f"{name}{i}" for i, name in pairs),
        texts=tuple(headlines(len(pairs))),
        systems=tuple(name for _, name in pairs),
        items=tuple(f"i{i}" for i, _ in pairs),
    )


def study(folder: Path, until: str, looks: int) -> Store:
    """A round that is looked at so many times."""
    project = Project(until=until, looks=looks)
    task = Task(audit=1, overlap=0, repeat=0, project=project)
    return opened(f"sqlite:///{folder / 'a.sqlite'}", task, three_systems())


def rate(store: Store, n: int) -> list[str]:
    """The systems of so many further texts, or of all there are, rated by two raters in turn."""
    outputs = store.outputs
    systems = dict(zip(outputs.texts, outputs.systems, strict=True))
    raters = [rater for rater in store.raters() if rater.role == "rater"]
    raters = raters or [store.add_rater("") for _ in range(2)]
    rated: list[str] = []
    turns = 0
    while len(rated) < n and turns < 2 * (n + 1):
        rater = raters[turns % 2].id
        turns += 1
        unit = store.next_unit(rater).result()["unit"]
        if unit is None:
            continue
        (text,) = unit["texts"]
        value = LEVELS[systems[text]] + len(text) % 2
        pause = 4000 + 100 * (len(text) % 9)
        sent = event("rated", unit, value=float(value), latency=pause)
        store.save(rater, sent).result()
        rated.append(systems[text])
    return rated


def look(live: Live) -> dict[str, Any]:
    """One look at the ratings: its part of the page."""
    asyncio.run(live._look())
    part: dict[str, Any] = live.looks[-1]["dimensions"]["quality"]
    return part


def test_a_dropped_system_is_put_back(tmp_path: Path) -> None:
    """Raters are asked about it again, also after a restart; the sample waits for its texts."""
    store = study(tmp_path, "best known", 2)
    live = Live(store, "bleu-neighbors")
    rate(store, 6)
    part = look(live)
    assert part["round"]["looks"] == []
    assert part["needed"] == 12
    assert told(live, "said")[-1] == (
        "The first look at the systems is at 6; there are 2 rated items drawn at random by now."
    )
    rate(store, 12)
    part = look(live)
    (taken,) = part["round"]["looks"]
    assert (taken["items"], [*taken["dropped"]]) == (6, ["A"])
    (command,) = live.commands
    assert command.startswith("refless compare outputs.jsonl --rated compared.jsonl ")
    assert command.endswith(" --looks 6,12 --of 12 --scale 1 5")
    assert {*rate(store, 6)} == {"B", "C"}
    drawn = store.database.read(snapshot).drawn
    assert drawn == store.assignment.audited >= 24
    with client(store) as web:
        headers = joined(web, store, owner_of(store))
        page = web.get("/owner").text
        assert page.count("Ask about it again") == 1
        assert f"Then: <code>{command}" in page
        packed = web.get("/owner/export/everything.zip").content
        assert {"outputs.jsonl", "compared.jsonl"} <= {
            *ZipFile(BytesIO(packed)).namelist()
        }
        for system, code in (("B", 404), ("A", 200), ("A", 404)):
            answer = web.post("/owner/systems", content=system, headers=headers)
            assert answer.status_code == code
        assert "put back" in web.get("/owner").text
    store.close()
    store = study(tmp_path, "best known", 2)
    live = Live(store, "bleu-neighbors")
    assert store.retired == frozenset()
    assert store.database.read(kept_in) == ["A"]
    assert store.database.read(snapshot).drawn == store.assignment.audited < 24
    assert "A" in rate(store, 3)
    assert (look(live)["round"]["looks"], live.certificate) == ([taken], None)
    rate(store, 99)
    last = look(live)["round"]["looks"]
    assert [taken["items"] for taken in last] == [6, 12]
    assert last[1]["dropped"] == {}
    assert live.certificate is not None
    (study_of,) = live.certificate["dimensions"].values()
    assert study_of["kept"] == ["A"]
    store.close()


@pytest.mark.parametrize("until", ["difference shown", "difference known to 0.5"])
def test_looks_at_differences(tmp_path: Path, until: str) -> None:
    """The last look ends the round with what is known then; what one skips the other rates."""
    store = study(tmp_path, until, 2)
    live = Live(store, "bleu-neighbors")
    rate(store, 18)
    lines = look(live)["said"]
    assert any(
        "This is look 1 of 2, at 6 of 12 planned items" in line for line in lines
    )
    assert "A difference is shown for" in lines[-3]
    assert live.certificate is None
    rater = store.raters()[0].id
    unit = store.next_unit(rater).result()["unit"]
    store.save(rater, event("skipped", unit)).result()
    rate(store, 16)
    look(live)
    assert live.certificate is None
    rate(store, 2)
    look(live)
    assert store.ended
    verified = refless.compare_certificate(str(live.files[CERTIFICATE]), verify=True)
    assert verified.gate.verdict == "passed"
    (of,) = live.certificate["dimensions"].values()
    assert [taken["items"] for taken in of["looks"]] == [6, 12]
    assert of["looks"][-1]["spent"] == 1
    assert of["claim"] == verified.claims["quality"]
    store.close()


def test_careless_raters_are_named_before_the_first_look() -> None:
    """Items that nobody else rated are not counted, and the page says whose they are."""
    hasty = [FirstAnswer("r01", k, 3.0, 3.0, 0.1) for k in range(10)]
    outputs = [
        {"id": f"{k}{name}", "item": f"i{k}", "system": name}
        for k, name in product("12", "AB")
    ]
    job = replace(JOB, due=(5, 10), answers=hasty, outputs=outputs, ratings=outputs)
    (line,) = [
        line for line in looked(job)["said"] if line.startswith("The first look")
    ]
    assert line.endswith("by now, 2 with those of raters who may be careless.")


def test_a_plan_stays(tmp_path: Path) -> None:
    """Another number of looks, or none, needs another database."""
    study(tmp_path, "best known", 2).close()
    for until, looks in (("best known", 3), ("difference shown", 2), ("", 0)):
        with bad_usage("until = 'best known', looks = 2"):
            study(tmp_path, until, looks)


@pytest.mark.parametrize(
    ("project", "said"),
    [
        ({"looks": 2}, "looks is 2, and until is ''"),
        ({"until": "every system's mean to 1", "looks": 2}, "looks is 2"),
        ({"until": "best known"}, "looks is 0, and until is 'best known'"),
        ({"until": "best known", "looks": 7}, "12 items that all systems answered"),
    ],
)
def test_plans_that_cannot_be(
    tmp_path: Path, project: dict[str, Any], said: str
) -> None:
    """A plan without a goal, a goal without its plan, and more looks than items allow."""
    file = jsonl(tmp_path / "o.jsonl", rows_of(three_systems()))
    page = tmp_path / "p.json"
    page.write_text(json.dumps(project))
    ran = run("rate", file, "--project", page)
    assert ran.refuses("p.json")
    assert said in ran.notes


def test_when_a_look_is_due() -> None:
    """By hand: of ten items two looks are at 5 and 10; a late one moves none of the others."""
    rows = [
        {
            "id": f"{k}{name}",
            "item": f"i{k}",
            "system": name,
        }
        for k, name in product(range(10), "AB")
    ]
    due = looks_due(rows, 2)
    assert due == (5, 10)
    assert looks_due(rows, 0) == ()
    begun = Round()
    late = Round(looks=(TakenLook(items=7, spent=0.5, at=""),))
    for taken, rated, exhausted, expected in (
        (begun, 4, False, False),
        (begun, 5, False, True),
        (begun, 4, True, True),
        (begun, 1, True, False),
        (late, 9, False, False),
        (late, 7, True, False),
        (late, 9, True, True),
        (late, 10, False, True),
    ):
        assert is_due(taken, rated, due, exhausted=exhausted) is expected
    assert looks_from(begun, 6, due) == (6, 10)
    assert looks_from(late, 10, due) == (7, 10)


def test_looks_are_kept_without_careful_raters() -> None:
    """If all raters seem careless, nothing is compared, and the looks taken are not forgotten."""
    taken = Round(looks=(TakenLook(items=5, spent=0.5, at="", dropped={"A": "B"}),))
    result = looked(replace(JOB, due=(5, 10), taken=taken))
    (look_then,) = result["round"]["looks"]
    assert (look_then["items"], look_then["dropped"]) == (5, {"A": "B"})
    assert "certificate" not in result


def certificate(folder: Path, **more: Any) -> Path:
    """A certificate of nothing in particular, with other content if it is given."""
    arguments = {"outputs": ["certified.jsonl"], **more.pop("arguments", {})}
    of = {
        "arguments": arguments,
        "claim": "",
        "known": [],
        "raters": {},
    }
    content = {"until": "", "at": "", "method": "", **more}
    content.setdefault("dimensions", {"quality": {**of, "signature": ""}})
    file = folder / "c.json"
    file.write_text(json.dumps(content))
    return file


@pytest.mark.parametrize(
    ("content", "words", "said"),
    [
        ({"dimensions": {}}, (), "this certificate has no study"),
        ({"more": 1}, (), "this is no certificate: Object contains unknown field"),
        ({"arguments": {"rated": ["../x"]}}, (), "names the file '../x'"),
        ({"arguments": {"outputs": ["/x"]}}, (), "names the file '/x'"),
        ({}, (), ": no such file"),
        ({}, ("--seed", "1"), "leave out --seed"),
        ({}, ("more.json",), "--verify takes one file"),
    ],
)
def test_certificates_that_cannot_be_verified(
    tmp_path: Path, content: dict[str, Any], words: tuple[str, ...], said: str
) -> None:
    """Nothing but a certificate, of files beside it, and no other option."""
    ran = run("compare", certificate(tmp_path, **content), *words, "--verify")
    assert ran.refuses(said)
