"""Inspect: logs that inspect-ai 0.3.285 wrote, with a scorer by hand, a judge, and two edits of it.

The scorer `human` gave lists of two, `judge` gave C, NaN and I; ann made I of the first, bob C of
the last.
"""

import io
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from places import EXPORTS
from refless.data.tables import Columns, Reading, read_outputs, read_pool
from refless.registry.errors import MissingExtraError
from refusals import bad_input
from rows import write

pytest.importorskip("backports.zstd", reason="zstd is not in this Python")
FOLDER = EXPORTS / "inspect"
FILES = ("edited.eval", "edited.json")
HEADER = {
    "version": 2,
    "status": "success",
    "eval": {"run_id": "r", "model": "m/x", "task": "t"},
}


def read(path: object, **more: Any) -> Any:
    return read_pool(str(path), Reading(**more))


@pytest.mark.parametrize("name", FILES)
def test_lists_are_ratings_by_several_people(name: str) -> None:
    """By nobody knows whom; texts, sources, systems and items beside them."""
    pool = read(FOLDER / name, dimension="human").pool
    assert pool.texts == (
        "Sorry! Let me check.",
        "It is on its way.",
        "You are welcome",
    )
    assert (pool.human.tolist(), pool.ratings.annotators) == ([4.5, 2.5, 1], ())
    assert pool.sources == ("Hi, my parcel is late", "Where is it?", "Thanks")
    assert (pool.items, {*pool.systems}) == (("q1", "q2", "q3"), {"mockllm/model"})


@pytest.mark.parametrize("name", FILES)
def test_edits_are_ratings_by_their_authors(name: str) -> None:
    """The judge's own score stays a score; NaN is none."""
    columns = Columns(score=("scores.judge",))
    found = read(FOLDER / name, dimension="judge", columns=columns)
    pool = found.pool
    assert dict(zip(pool.items, pool.human.tolist(), strict=True)) == {"q1": 0, "q3": 1}
    assert dict(zip(pool.items, pool.scores[:, 0].tolist(), strict=True)) == {
        "q1": 1,
        "q3": 0,
    }
    assert sorted(pool.ratings.annotators) == ["bob", "rater-438c4c7a"]


@pytest.mark.parametrize("name", FILES)
def test_outputs(name: str) -> None:
    """With their references; columns of the samples' metadata."""
    outputs = read_outputs(
        str(FOLDER / name), Reading(columns=Columns(task="segment"))
    ).outputs
    assert outputs.references == (
        ("Sorry to hear that.", "Oh no."),
        ("Soon",),
        ("Welcome",),
    )
    assert outputs.tasks == ("delivery", "", "")


def test_a_scorer_that_people_stand_behind() -> None:
    """Named as a column, a score of any scorer is a rating."""
    pool = read(FOLDER / "edited.eval", columns=Columns(rating=("scores.judge",))).pool
    assert pool.human.tolist() == [1, 0]


def log(samples: list[dict[str, Any]]) -> dict[str, Any]:
    return HEADER | {"samples": samples}


def sample(**more: Any) -> dict[str, Any]:
    output = {
        "choices": [{"message": {"content": [{"type": "text", "text": "hello"}]}}]
    }
    return {"id": 1, "epoch": 1, "input": "hi", "target": "", "output": output} | more


def test_several_dimensions_in_one_scorer(tmp_path: Path) -> None:
    """A scorer that gives an object, edited; parts of it are dimensions, and columns of scores."""
    value = {"tone": 4, "facts": "C"}
    edit = {
        "value": value,
        "provenance": {"author": "ann", "timestamp": "2026-09-01T10:00:00Z"},
    }
    before = {"value": {"tone": 1, "facts": "I"}, "provenance": None}
    score = {"q": {"value": value, "history": [before, edit]}}
    file = write(tmp_path, "log.json", json.dumps(log([sample(scores=score)])))
    with bad_input(r"'q\.tone' \(1\), 'q\.facts' \(1\); choose one"):
        read(file)
    columns = Columns(score=("scores.q.*",))
    pool = read(file, dimension="q.facts", columns=columns).pool
    assert (pool.human.tolist(), pool.texts) == ([1], ("hello",))
    assert dict(zip(pool.score_names, pool.scores[0], strict=True)) == {
        "scores.q.facts": 0,
        "scores.q.tone": 1,
    }


def test_chats_attachments_and_errors(tmp_path: Path) -> None:
    """Turns are lines; long texts are looked up; what has no answer is counted."""
    chat = [{"role": "system", "content": "be kind"}, {"role": "user", "content": "hi"}]
    samples = [
        sample(
            input=chat,
            output={"completion": "attachment://ab"},
            attachments={"ab": "long"},
        ),
        sample(id=2, output={"choices": []}, error={"message": "timeout"}),
    ]
    read_ = read_outputs(write(tmp_path, "log.json", json.dumps(log(samples))))
    assert read_.outputs.texts == ("long",)
    assert read_.outputs.sources == ("system: be kind\nuser: hi",)
    assert any("left out: 1 samples without an answer" in note for note in read_.notes)


def test_samples_in_pieces(tmp_path: Path) -> None:
    """A folder a sample, beside whole samples; an unfinished run has its header elsewhere."""
    file = tmp_path / "log.eval"
    rest = sample(uuid="b", scores={"h": {"value": [2]}})
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr("_journal/start.json", json.dumps(HEADER))
        packed.writestr(
            "samples/1_epoch_1.json", json.dumps(sample(scores={"h": {"value": [5]}}))
        )
        packed.writestr("samples/2_epoch_1/sample.json", json.dumps(rest))
        packed.writestr("samples/2_epoch_1/metadata.json", '{"task": "t9"}')
        packed.writestr("samples/2_epoch_1/events/0.json", "[]")
    pool = read(file).pool
    assert (pool.ids, pool.human.tolist(), pool.tasks) == (
        ("m/x 1 1", "b"),
        [5, 2],
        ("", "t9"),
    )


def test_logs_that_are_none(tmp_path: Path) -> None:
    """Other zip files, damage, and what unpacks to too much."""
    whole = (FOLDER / "edited.eval").read_bytes()
    with bad_input("not a sound zip file"):
        read(write(tmp_path, "cut.eval", whole[:4000]))
    at = whole.index(b"samples/q2") + 400
    with bad_input(r"damaged at 'samples/q2_epoch_1.json'"):
        read(
            write(tmp_path, "broken.eval", whole[:at] + b"xxxx" + whole[at + 4 :]),
            dimension="human",
        )
    with bad_input("more than 9000 bytes, unpacked"):
        read(FOLDER / "edited.eval", max_bytes=9000)
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w", zipfile.ZIP_BZIP2) as packed:
        packed.writestr("header.json", json.dumps(HEADER))
    with bad_input(r"packed in a way that is not read \(method 12\)"):
        read(write(tmp_path, "bz.eval", other.getvalue()))
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as packed:
        packed.writestr("samples/1_epoch_1.json", "{}")
    with bad_input("a zip file that is no log"):
        read(write(tmp_path, "no.eval", other.getvalue()), format="inspect")


def test_epochs_of_any_length(tmp_path: Path) -> None:
    """Samples are in their order, also where one has more digits than Python reads."""
    log = io.BytesIO()
    with zipfile.ZipFile(log, "w") as packed:
        packed.writestr("header.json", json.dumps(HEADER))
        for epoch in ("9" * 5_000, "10", "02"):
            one = sample(id=epoch[:2], scores={"h": {"value": [1]}})
            packed.writestr(f"samples/1_epoch_{epoch}.json", json.dumps(one))
    assert read(write(tmp_path, "log.eval", log.getvalue())).pool.items == (
        "02",
        "10",
        "99",
    )


def test_without_zstd(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is the line that installs it."""
    if sys.version_info >= (3, 14):
        pytest.skip("Python itself reads it")
    monkeypatch.setitem(sys.modules, "backports.zstd", None)
    with pytest.raises(
        MissingExtraError, match=r"packed with zstd, needs .*'\.\[inspect\]'"
    ):
        read(FOLDER / "edited.eval")
