"""Folders of mt-metrics-eval.

The folder in `exports/` is made by hand. `data.EvalSet` of mt-metrics-eval 0.0.3 (commit 68a481a)
reads the same texts, sources, human scores, metric scores, documents and domains out of it, and out
of twelve drawn folders with odd blanks and line ends.
"""

import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from command_line import run
from refless import InputError, Reading, read_outputs, read_pool
from refless.data.tables import Columns, SeveralDimensionsError

FOLDER = Path(__file__).parent / "exports" / "mt-metrics-eval"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A folder that may be damaged."""
    return Path(shutil.copytree(FOLDER, tmp_path / "set"))


def test_segments_with_their_human_scores() -> None:
    """A text for each system and line; None and missing translations are no ratings, no texts."""
    read = read_pool(FOLDER, Reading(dimension="mqm"))
    pool = read.pool
    assert pool.ids == ("online-A:1", "online-A:3", "sys.b:1", "sys.b:2", "sys.b:3")
    assert pool.human.tolist() == [-1.5, -5, -2, -25, 0]
    assert pool.texts[0] == "Ein Hund!"
    assert pool.sources == ("One dog.", "Three mice.", "One dog.", "Two cats.", "Three mice.")
    assert pool.items == ("1", "3", "1", "2", "3")
    assert pool.systems[:3] == ("online-A", "online-A", "sys.b")
    assert "left out: 1 segments without a translation" in " ".join(read.notes)
    with pytest.raises(SeveralDimensionsError) as found:
        read_pool(FOLDER)
    assert found.value.names == ("mqm", "wmt-z")


def test_references_and_metrics() -> None:
    """References are not those of themselves; metrics are columns of scores."""
    columns = Columns(score=("scores.*",), task="domain", group="document")
    read = read_outputs(FOLDER, Reading(columns=columns))
    outputs = read.outputs
    known = dict(zip(outputs.ids, outputs.references, strict=True))
    assert (known["refA:1"], known["sys.b:2"]) == ((), ("Zwei Katzen.",))
    assert outputs.score_names == ("scores.BLEU-refA", "scores.QE-src")
    scores = dict(zip(outputs.ids, outputs.scores.tolist(), strict=True))
    assert scores["online-A:3"] == [30, 0.3]
    assert scores["refA:1"][0] != scores["refA:1"][0]  # BLEU has none of its own reference
    assert outputs.tasks[-3:] == ("news", "news", "chat")
    assert read.group[-3:] == ("d1", "d1", "d2")


def test_several_language_pairs(copy: Path) -> None:
    """One has to be named; one that is not there is told."""
    (copy / "sources" / "en-fr.jsonl").write_text('{"source": "One."}\n')
    (copy / "system-outputs" / "en-fr").mkdir()
    (copy / "system-outputs" / "en-fr" / "s.jsonl").write_text('{"hypothesis": "Un."}\n')
    (copy / "human-scores" / "en-fr.da.seg.score").write_text("s 70\n")
    with pytest.raises(InputError, match=r"several language pairs; .*set#en-de'; there are en-d"):
        read_pool(copy)
    with pytest.raises(InputError, match="no language pair 'de'"):
        read_pool(f"{copy}#de")
    pool = read_pool(f"{copy}#en-fr").pool
    assert (pool.texts, pool.sources, pool.human.tolist()) == (("Un.",), ("One.",), [70])


def test_the_command() -> None:
    """A folder is named like a file; human scores are dimensions."""
    ran = run("judge", FOLDER, "--dimension", "wmt-z", "--score-column", "scores.*")
    assert (ran.code, "scores.BLEU-refA" in ran.out) == (0, True)
    ran = run("validate", f"{FOLDER}#en-de", "--estimator", "gp")
    assert (ran.code, "'mqm'" in ran.err, "'wmt-z'" in ran.err) == (2, True, True)
    ran = run("validate", FOLDER.parent / "argilla", "--dimension", "quality", "--estimator", "gp")
    assert ran.code == 0  # the folder of another tool


@pytest.mark.parametrize(
    ("file", "content", "found"),
    [
        ("human-scores/en-de.mqm.seg.score", "sys.b 1\n", "1 scores of 'sys.b', which has 3 segm"),
        ("human-scores/en-de.mqm.seg.score", "sys.b\n", "line 1: 'sys.b' where 'SYSTEM SCORE' is"),
        ("metric-scores/en-de/A-src.seg.score", "sys.b 0.1 x\n", "'sys.b 0.1 x' where"),
        ("system-outputs/en-de/sys.b.txt", "Hund.\n", "1 segments where the source has 3"),
        ("system-outputs/en-de/sys.b.jsonl", "Hund.\n", "line 1: not JSON"),
        ("documents/en-de.docs", "news\n", "not 'DOMAIN DOCUMENT' on each of 3 lines"),
        ("sources/en-de.txt", b"\xff\xfe", "this is not UTF-8"),
    ],
)
def test_damaged_folders(copy: Path, file: str, content: Any, found: str) -> None:
    """Told with the file, the line and what to do."""
    raw = content if isinstance(content, bytes) else content.encode()
    (copy / file).write_bytes(raw)
    with pytest.raises(InputError, match=found) as told:
        read_pool(copy, Reading(dimension="mqm"))
    assert told.value.path == str(copy / file)
    assert told.value.remedy


def test_json_without_a_translation_is_no_text(copy: Path) -> None:
    """A field that is null or missing."""
    (copy / "system-outputs/en-de/sys.b.txt").unlink()
    lines = '{"hypothesis": null}\n{}\n{"hypothesis": "Drei Mäuse."}\n'
    (copy / "system-outputs/en-de/sys.b.jsonl").write_text(lines, encoding="utf-8")
    pool = read_pool(copy, Reading(dimension="mqm")).pool
    assert [text for text in pool.texts if text in {"None", "Drei Mäuse."}] == ["Drei Mäuse."]


def test_other_folders_and_files(tmp_path: Path) -> None:
    """A folder that is none, one that is too large, and a file that is named a folder."""
    with pytest.raises(InputError, match="this is a directory"):
        read_pool(tmp_path)
    with pytest.raises(InputError, match="holds more than 9 bytes"):
        read_pool(FOLDER, Reading(max_bytes=9))
    with pytest.raises(InputError, match="no test set of mt-metrics-eval"):
        read_pool(FOLDER / "sources" / "en-de.txt", Reading(format="mt-metrics-eval"))


SCORES = st.one_of(st.none(), st.integers(-100, 100).map(lambda n: n / 4))
SETS = st.integers(1, 4).flatmap(
    lambda n: st.dictionaries(
        st.sampled_from(["a", "b.c", "d-e"]), st.lists(SCORES, min_size=n, max_size=n), min_size=1
    )
)


@given(SETS.filter(lambda one: any(v is not None for scores in one.values() for v in scores)))
def test_round_trip(
    tmp_path_factory: pytest.TempPathFactory, scores: dict[str, list[float | None]]
) -> None:
    """Every score that a folder holds comes back with its system and segment."""
    folder, n = tmp_path_factory.mktemp("set"), len(next(iter(scores.values())))
    for name in ("sources", "system-outputs/x-y", "human-scores"):
        (folder / name).mkdir(parents=True)
    (folder / "sources" / "x-y.txt").write_text("source\n" * n)
    lines = ""
    for system, given_ in scores.items():
        texts = "".join(f"{system} {i}\n" for i in range(n))
        (folder / "system-outputs" / "x-y" / f"{system}.txt").write_text(texts)
        lines += "".join(f"{system} {value}\n" for value in given_)
    (folder / "human-scores" / "x-y.da.seg.score").write_text(lines)
    pool = read_pool(folder).pool
    found = dict(zip(pool.ids, zip(pool.texts, pool.human, strict=True), strict=True))
    assert found == {
        f"{system}:{i + 1}": (f"{system} {i}", value)
        for system, given_ in scores.items()
        for i, value in enumerate(given_)
        if value is not None
    }
