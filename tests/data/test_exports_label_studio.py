"""Label Studio: tasks by hand, JSON_MIN and CSV made of them by label-studio-sdk 2.1.2."""

import json
from pathlib import Path
from typing import Any

import pytest

from places import EXPORTS
from refless.data.tables import Columns, PoolRead, Reading, read_outputs, read_pool
from refless.data.tables.partly_rated import read_partly
from refless.extensions.serve.project import labelling_project
from refusals import bad_input, bad_usage
from rows import write

FOLDER = EXPORTS / "label-studio"
CONFIG = str(FOLDER / "config.xml")
FILES = ("tasks.json", "min.json", "result.csv")
FLUENCY = {("41", "7", 4), ("41", "8", 5), ("42", "7", 6), ("44", "rater-09d2239c", 2)}
ADEQUACY = {("41", "7", 8.5), ("41", "8", 9), ("42", "7", 0)}
OK = {("41", "7", 2), ("41", "8", 1), ("42", "7", 2), ("44", "rater-09d2239c", 1)}


def read(
    name: str, dimension: str | None, config: str | None = None, **more: Any
) -> PoolRead:
    return read_pool(
        str(FOLDER / name), Reading(dimension=dimension, label_config=config, **more)
    )


def ratings(found: PoolRead) -> set[tuple[str, str, float]]:
    pool = found.pool
    rows = zip(
        pool.ratings.text, pool.ratings.annotator, pool.ratings.values, strict=True
    )
    return {(pool.ids[t], pool.ratings.annotators[a], value) for t, a, value in rows}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    ("dimension", "expected", "scale"),
    [("fluency", FLUENCY, (1, 6)), ("adequacy", ADEQUACY, (0, 10)), ("ok", OK, (1, 2))],
)
def test_ratings(name: str, dimension: str, expected: object, scale: object) -> None:
    """Stars, numbers and choices of three exports; their scale from the configuration."""
    found = read(name, dimension, CONFIG)
    assert ratings(found) == expected
    assert found.pool.scale == scale
    assert found.pool.texts[0] == "Sure, for how many?"
    assert (found.pool.sources[0], found.pool.systems[0]) == ("Book a table", "bot-a")


@pytest.mark.parametrize("name", FILES)
def test_without_a_configuration(name: str) -> None:
    """Ratings stay as they are, and that the scale is not known is said; --scale is heeded."""
    found = read(name, "fluency")
    assert (ratings(found), found.pool.scale) == (FLUENCY, None)
    assert any(
        "scale is in the labelling configuration" in note for note in found.notes
    )
    assert read(name, "fluency", scale=(0, 8)).pool.human.max() == 6 / 8


def test_what_is_no_rating_is_counted() -> None:
    """Drafts and cancelled annotations."""
    notes = " ".join(read("tasks.json", "fluency").notes)
    assert (
        "read as Label Studio JSON (--read format=NAME names another format)" in notes
    )
    assert "left out: 1 drafts, 1 cancelled annotations" in notes


def test_dimensions() -> None:
    """Several need a choice; one that is not there is told."""
    with bad_input(r"'fluency' \(4\), 'adequacy' \(3\), 'ok' \(4\); choose"):
        read("tasks.json", None)
    with bad_input("the dimensions are 'fluency', 'adequacy', 'ok'"):
        read("tasks.json", "grammar")


def test_outputs_need_no_dimension() -> None:
    """Each task once, rated or not; rated in part, with the ratings of one dimension."""
    file = str(FOLDER / "tasks.json")
    assert read_outputs(file).outputs.ids == ("41", "42", "43", "44")
    found = read_partly(file, Reading(dimension="fluency"))
    assert (sorted(found.texts.ids), len(found.pool or ())) == (
        ["41", "42", "43", "44"],
        3,
    )


def test_scores_of_models_are_columns() -> None:
    """Predictions, by the name of the model and its version."""
    columns = Columns(score=("predictions.judge v0.1",))
    pool = read("tasks.json", "fluency", columns=columns).pool
    assert pool.scores[0].tolist() == [0.7]


def task(data: dict[str, Any], *results: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "id": 1,
        "data": data,
        "annotations": [{"completed_by": 7, "result": results, **more}],
    }


def test_columns_of_the_data_that_are_called_like_ratings(tmp_path: Path) -> None:
    """Ratings by people win; the data can still be named."""
    data = {"text": "a", "rating": 9, "score": 8, "id": "mine", "user": "u"}
    one = task(data, {"from_name": "q", "type": "rating", "value": {"rating": 3}})
    file = write(tmp_path, "one.json", json.dumps(one))
    pool = read_pool(file).pool
    assert (pool.ids, pool.human.tolist(), pool.ratings.annotators) == (
        ("1",),
        [3],
        ("7",),
    )
    columns = Columns(id="data.id", score=("data.rating", "score"))
    pool = read_pool(file, Reading(columns=columns)).pool
    assert (pool.ids, pool.scores.tolist()) == (("mine",), [[9, 8]])


def test_choices(tmp_path: Path) -> None:
    """Their own numbers; else words for --read rating-map; several at once are no rating."""
    results = [
        {"from_name": "q", "type": "choices", "value": {"choices": chosen}}
        for chosen in (["4 - good"], ["1 - bad", "2 - poor"], [])
    ]
    file = write(tmp_path, "a.json", json.dumps([task({"text": "a"}, *results)]))
    assert read_pool(file).pool.ratings.values.tolist() == [4]
    words = [{"from_name": "q", "type": "choices", "value": {"choices": ["fine"]}}]
    file = write(tmp_path, "b.json", json.dumps([task({"text": "a"}, *words)]))
    with bad_input("'fine'; say what all rating words mean"):
        read_pool(file)
    assert read_pool(file, Reading(rating_map={"fine": 3})).pool.human.tolist() == [3]


@pytest.mark.parametrize(
    ("config", "found"),
    [
        ("<View", "not XML"),
        ("<View/>", "no Rating, Number or Choices in it; save the code"),
        (
            '<!DOCTYPE x [<!ENTITY a "b">]><View>&a;</View>',
            "more than a labelling configuration",
        ),
    ],
)
def test_configurations_that_are_none(config: str, found: str, tmp_path: Path) -> None:
    """Nothing in them is expanded."""
    with bad_input(found):
        read("tasks.json", "fluency", write(tmp_path, "config.xml", config))


ASKED = """<View><Header value="Rate the summary"/><Text name="t" value="$text"/>
<Choices name="ok" toName="t"><Choice value="bad"/><Choice value="good"/></Choices>
<Choices name="use" toName="t"><Choice value="0 - no"/><Choice value="2 - yes"/></Choices>
<Rating name="fluency" toName="t" maxRating="6"/><Rating name="adequacy" toName="t" maxRating="6"/>
</View>"""


@pytest.mark.parametrize(
    ("names", "scale", "labels"),
    [
        (("ok",), (1, 2), {"1": "bad", "2": "good"}),
        (("use",), (0, 2), {"0": "0 - no", "2": "2 - yes"}),
        (("fluency", "adequacy"), (1, 6), {}),
    ],
)
def test_tasks_are_rated_as_configured(
    tmp_path: Path, names: tuple[str, ...], scale: object, labels: object
) -> None:
    """Tasks as they are imported, without annotations; scale, labels and title of the controls."""
    pytest.importorskip("sqlalchemy")
    from refless.extensions.serve.rate import rate

    rows = [
        {"data": {"text": f"text {k}", "source": "s", "system": f"S{k}"}}
        for k in range(2)
    ]
    tasks = write(tmp_path, "tasks.json", json.dumps(rows))
    found = rate(
        tasks, project=write(tmp_path, "asked.xml", ASKED), dimension=list(names)
    )
    assert (found.task.dimensions, found.task.scale) == (names, scale)
    assert (found.task.project.title, found.task.project.labels) == (
        "Rate the summary",
        labels,
    )
    assert found.outputs.texts == ("text 0", "text 1")
    assert found.outputs.systems == ("S0", "S1")


@pytest.mark.parametrize(
    ("names", "problem"),
    [((), "no scale in common; name one of ok, use, "), (("x",), "no such")],
)
def test_controls_of_several_scales(
    tmp_path: Path, names: tuple[str, ...], problem: str
) -> None:
    with bad_input(problem):
        labelling_project(write(tmp_path, "asked.xml", ASKED), names)


def test_no_configuration() -> None:
    """A file that is not there."""
    with bad_usage(r"nowhere\.xml: no such file"):
        read("tasks.json", "fluency", "nowhere.xml")
