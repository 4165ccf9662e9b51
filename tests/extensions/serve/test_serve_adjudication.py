"""Items on which raters differ: who decides, what counts, and that the record keeps all."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import sqlalchemy as sa

from command_line import jsonl, output_rows, run, run_well
from refless.extensions.serve.acts import Rater
from refless.extensions.serve.adjudication import TURN, decided
from refless.extensions.serve.exports import snapshot
from refless.extensions.serve.job import job_of
from refless.extensions.serve.project import Gold, Project
from refless.extensions.serve.result import Task
from refless.extensions.serve.schema import assigned
from refless.extensions.serve.store import Store
from rows import read_csv, read_jsonl
from serving import client, event, exported, joined, opened, outputs, owner_of, rows_of

TASK = Task(project=Project(adjudicate=1), repeat=0.0, overlap=0.0, per_item=2)


class Row(NamedTuple):
    """The answer on an item that now holds, by somebody."""

    id: int
    rater: int
    round: int
    dimension: str
    value: float
    kind: str


def _rows(*ratings: tuple[int, int, str, float]) -> list[Any]:
    return [Row(i, *rating, "rated") for i, rating in enumerate(ratings)]


A = (1, 0, "q", 1.0)
B = (2, 0, "q", 4.0)
C = (3, TURN, "q", 5.0)


@pytest.mark.parametrize(
    ("ratings", "differ", "value"),
    [
        ([A], False, None),
        ([A, (2, 0, "q", 2.0)], False, None),
        ([A, B], True, None),
        ([A, B, C], True, 5.0),  # a third one decides, whatever they say
        ([A, (2, 0, "q", 2.0), C], False, None),  # nothing to decide, after a change
        ([A, B, (1, TURN, "q", 3.0)], True, None),  # nobody who rated it
        ([A, B, C, (4, TURN, "q", 4.0)], True, 4.0),  # the latest decision holds
        (
            [A, B, (2, 0, "r", 1.0), C],
            False,
            None,
        ),  # the first one is not through with the item
        (
            [A, (1, 0, "r", 1.0), B, (2, 0, "r", 1.0), C],
            True,
            None,
        ),  # nor the third one
        ([A, (1, 0, "r", 1.0), B], False, None),
        ([A, (2, 0, "r", 4.0)], False, None),  # each is through with another half
        (
            [A, (3, TURN, "q", 1.0), (3, TURN, "r", 5.0)],
            False,
            None,
        ),  # undone after the decision
    ],
)
def test_who_decides(
    ratings: list[tuple[int, int, str, float]], differ: bool, value: float | None
) -> None:
    found, rows = decided(_rows(*ratings), 1.0)
    assert (found, [row.value for row in rows]) == (
        differ,
        [] if value is None else [value],
    )


def _rate(store: Store, rater: Rater, value: float) -> dict[str, Any]:
    """Rates what the rater is shown: the item as it was shown."""
    unit: dict[str, Any] = store.next_unit(rater.id).result()["unit"]
    store.save(rater.id, event("rated", unit, value=value, latency=900)).result()
    return unit


def _disputed(url: str) -> tuple[Store, list[Rater]]:
    """Two raters differ on the only item."""
    store = opened(url, TASK, outputs(1, 1))
    owner_of(store)
    raters = [store.add_rater("") for _ in range(2)]
    for rater, value in zip(raters, (1, 5), strict=True):
        assert "before" not in _rate(store, rater, value)
    assert store.assignment.disputed == {0}
    return store, [*raters, _decider(store)]


def _decider(store: Store) -> Rater:
    """The rater who decides if others differ."""
    return next(rater for rater in store.raters() if rater.name == "decider")


@pytest.mark.parametrize("again", [False, True])
def test_a_change_ends_a_difference(sqlite: str, again: bool) -> None:
    """Whoever changes a rating so that all agree leaves nothing to decide; and the reverse."""
    store, raters = _disputed(sqlite)
    unit = store.unit_at(raters[0].id, 0).result()["unit"]
    for value, disputed in ((4, set()), (2, {0})):
        store.save(raters[0].id, event("rated", unit, value=value)).result()
        assert store.assignment.disputed == disputed
    if again:
        store.save(raters[1].id, event("undone")).result()
        assert store.assignment.disputed == set()
    restarted = store.database.read(store._assignment)
    assert restarted.disputed == store.assignment.disputed


def test_a_third_rater_decides(database: str) -> None:
    """Of all files only the record has the ratings that were decided about; undoing opens it."""
    store, raters = _disputed(database)
    owner = owner_of(store)
    assert [row["rating"] for row in rows_of(store)] == [1, 5]
    unit = _rate(store, raters[2], 4)
    assert unit["before"] == {"quality": [1, 5]}
    assert store.assignment.disputed == set()
    (row,) = rows_of(store)
    assert (row["rating"], row["annotator"], row["stream"], row["probability"]) == (
        4,
        "decider",
        "decide",
        1.0,
    )
    (task,) = json.loads(exported(store, "label-studio.json"))
    assert [part["result"][0]["value"]["number"] for part in task["annotations"]] == [4]
    (item,) = read_csv(exported(store, "items.csv").decode())
    assert (item["mean"], item["apart"]) == ("4.0", "4.0")
    assert (item["ratings"], item["decided"]) == ("r01: 1; r02: 5", "decider: 4")
    acts = read_jsonl(exported(store, "events.jsonl"))
    assert [(act["annotator"], act["round"], act["value"]) for act in acts] == [
        ("r01", 0, 1),
        ("r02", 0, 5),
        ("decider", 2, 4),
    ]
    first = read_jsonl(exported(store, "first.jsonl"))
    assert [(row["annotator"], row["rating"]) for row in first] == [
        ("r01", 1),
        ("r02", 5),
    ]
    settings = {
        "kept": [],
        "estimator": "gp",
        "folder": "",
        "gold": [],
        "rated": [],
        "model": "",
        "until": "",
        "revoked": [],
    }
    job = job_of(settings, store.database.read(snapshot), "quality")
    assert [row["rating"] for row in job.first] == [1, 5]  # by which agreement is told
    assert [row["rating"] for row in job.audit] == [4]
    assert [answer.rater for answer in job.answers] == ["r01", "r02"]
    store.save(raters[2].id, event("undone")).result()
    assert store.assignment.disputed == {0}
    with client(store) as web:
        joined(web, store, owner)
        page = web.get("/owner").text
        assert "<dt>to decide</dt><dd>1</dd>" in page
        assert "r01: 1" in web.get("/owner/items").text
    store.close()


def test_questions_are_summed_up_apart(tmp_path: Path) -> None:
    """Means and differences of an item are of each question by itself."""
    task = replace(TASK, dimensions=("sense", "style"))
    store = opened(f"sqlite:///{tmp_path / 'a.sqlite'}", task, outputs(1, 1))
    for values in ((1, 5), (2, 4)):
        rater = store.add_rater("")
        unit = store.next_unit(rater.id).result()["unit"]
        for name, value in zip(task.dimensions, values, strict=True):
            store.save(
                rater.id, event("rated", unit, dimension=name, value=value)
            ).result()
    (item,) = read_csv(exported(store, "items.csv").decode())
    assert (item["mean"], item["apart"]) == ("sense 1.50; style 4.50", "1.0")
    store.close()


def test_decisions_outlast_the_server(database: str) -> None:
    """Decisions to be made are read again; without the project's line all ratings count."""
    store, raters = _disputed(database)
    store.close()
    store = opened(database, TASK, outputs(1, 1))
    assert store.assignment.disputed == {0}
    _rate(store, raters[2], 4)
    store.close()
    for apart, ratings in ((1.0, [4]), (4.0, [1, 5]), (0.0, [1, 5])):
        task = replace(TASK, project=Project(adjudicate=apart))
        store = opened(database, task, outputs(1, 1))
        assert store.assignment.disputed == set()
        assert [row["rating"] for row in rows_of(store)] == ratings
        store.close()


def test_who_differed_is_not_asked_what_is_right(sqlite: str) -> None:
    """Nor is a third rater; the decider is asked that alone, and not after the raters agree."""
    store, (ann, ben, decider) = _disputed(sqlite)
    third = store.add_rater("")
    for rater in (ann, ben, third):
        assert store.next_unit(rater.id).result()["unit"] is None
    answer = store.next_unit(decider.id).result()
    assert (answer["unit"]["before"], answer["progress"]) == (
        {"quality": [1, 5]},
        {"done": 0, "left": 1, "skipped": 0},
    )
    answer = store.save(decider.id, event("rated", answer["unit"], value=4)).result()
    assert (answer["next"], answer["progress"]["left"]) == (None, 0)
    with client(store) as web:
        joined(web, store, owner_of(store))
        page = web.get("/owner").text
        assert "whoever opens the link of <em>decider</em>" in page
        assert '<dd class="more">of 3 asked</dd>' in page
    store.close()


def test_known_answers_are_not_decided(sqlite: str) -> None:
    """Gold and practice items are in no other stream: not again, not at random, not to decide."""
    gold = (Gold(id="o00", answer=2, practice=True), Gold(id="o03", answer=2))
    project = Project(adjudicate=1, gold=gold, gold_share=1.0)
    store = opened(
        sqlite, Task(project=project, overlap=0.5, per_item=2, repeat=0.5), outputs(30)
    )
    for value in (1, 5):
        rater = store.add_rater("")
        while store.next_unit(rater.id).result()["unit"] is not None:
            _rate(store, rater, value)
    query = sa.select(assigned.c.item, assigned.c.stream)
    streams = store.database.read(lambda db: db.execute(query).all())
    known = {store.items.names.index(item.id) for item in gold}
    assert {stream for item, stream in streams if item - 1 in known} == {"gold"}
    assert len({item for item, _ in streams}) == 30
    assert len(store.assignment.disputed) == 28
    decider = _decider(store)
    while store.next_unit(decider.id).result()["unit"] is not None:
        _rate(store, decider, 4)
    rows = rows_of(store)
    for row in rows:
        assert (row["stream"] == "gold") == (row["id"] in {"o00", "o03"})
        assert row["probability"] == (None if row["stream"] == "gold" else 1.0)
        assert (row["rating"] == 4) == (row["stream"] == "decide")
    assert store.assignment.audited == 28
    restarted = store.database.read(store._assignment)
    assert (restarted.audited, restarted.disputed, restarted.left(decider.id)) == (
        28,
        set(),
        0,
    )
    store.close()


def test_pairs_are_not_adjudicated(tmp_path: Path) -> None:
    project = tmp_path / "p.toml"
    project.write_text("adjudicate = 1", "utf-8")
    path = jsonl(tmp_path / "o.jsonl", output_rows())
    ran = run("rate", path, "--ask", "pair", "--project", project)
    assert ran.refuses("adjudicate is about ratings")
    plain = opened(f"sqlite:///{tmp_path / 'p.sqlite'}", Task(ask="pair"))
    rater = plain.add_rater("")
    unit = plain.next_unit(rater.id).result()["unit"]
    plain.save(rater.id, event("rated", unit, value=0)).result()
    assert b"r00: " in exported(plain, "items.csv")
    plain.close()


@pytest.mark.parametrize("name", ["ratings.jsonl", "ratings.csv"])
def test_validate_reads_what_was_decided(tmp_path: Path, name: str) -> None:
    """Of items on which raters differed the decision alone; of the others the mean of both."""
    store = opened(f"sqlite:///{tmp_path / 'a.sqlite'}", TASK, outputs(24, 2))
    raters = [*(store.add_rater("") for _ in range(2)), _decider(store)]
    for n in range(24):
        for rater, value in zip(
            raters, (1 + n % 3, 5 if n % 2 else 2 + n % 3), strict=False
        ):
            _rate(store, rater, value)
    while store.next_unit(raters[2].id).result()["unit"] is not None:
        _rate(store, raters[2], 4)
    (tmp_path / name).write_bytes(exported(store, name))
    items = read_csv(exported(store, "items.csv").decode())
    means = {row["id"]: float(row["mean"]) for row in items}
    assert all(bool(row["decided"]) == (float(row["apart"]) > 1) for row in items)
    assert any(row["decided"] for row in items)
    store.close()
    ran = run_well(
        "validate",
        tmp_path / name,
        "--scale",
        1,
        5,
        "--estimator",
        "bleu-neighbors",
        "--format",
        "jsonl",
    )
    human = {row["id"]: row["human"] for row in read_jsonl(ran.out)}
    assert human == pytest.approx(means)
