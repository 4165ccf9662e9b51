"""refless stress: verdicts, formats, every kind of judge, misuse."""

import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

from command_line import (
    NEIGHBORS,
    jsonl,
    output_rows,
    rated_rows,
    run,
    run_well,
    too_wide,
)
from places import ROOT
from refless.data.records import Outputs
from refless.extensions.metrics.bleu import BLEU
from refless.registry.signature import Signature
from schemas import fits

FAST = ("--resamples", 50)


def rows(n: int = 20) -> list[dict[str, object]]:
    """Outputs of two systems with three references each."""
    rng = np.random.default_rng(0)
    words = ["the", "a", "dog", "cat", "sits", "runs", "on", "mat", "hill", "fast"]

    def text() -> str:
        return " ".join(rng.choice(words, 6))

    found = []
    for i in range(n):
        references = [text() for _ in range(3)]
        for system in ("s1", "s2"):
            row = {
                "id": f"{system}-{i}",
                "system": system,
                "source": f"q{i}",
                "text": text(),
            }
            found.append({**row, "references": references})
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("stress")
    jsonl(where / "out.jsonl", rows())
    jsonl(where / "plain.jsonl", output_rows())
    jsonl(where / "rated.jsonl", rated_rows())
    train = [str(row["text"]) for row in rows(30)]
    (where / "train.txt").write_text("\n".join(train) + "\n", "utf-8")
    scorer = "import sys\nfor line in sys.stdin: print(len(line) % 7)\n"
    (where / "scorer.py").write_text(scorer, "utf-8")
    return where


def test_what_a_test_lacks_is_said_in_front(folder: Path, tmp_path: Path) -> None:
    """Of tests that cannot be run the reason is the answer; of outputs left out too."""
    few = [{**row, "references": row["references"][:1]} for row in rows()[:-1]]
    ran = run_well(
        "stress",
        jsonl(tmp_path / "o.jsonl", few),
        "-m",
        "bleu",
        "--probe",
        "references",
    )
    assert "No test of bleu could be run." in ran.line
    assert "every item needs two or more. Do now: give what each test lacks" in ran.line
    assert (
        "1 of 39 outputs are left out: only 19 items have an output of each" in ran.err
    )


def test_everything_at_once(folder: Path) -> None:
    """Metrics, an estimator and a scorer; all that can be run is, the rest has a reason."""
    ran = run_well(
        "stress",
        folder / "out.jsonl",
        "-m",
        "bleu",
        "-m",
        "cider-d",
        "-m",
        "rouge-l",
        "--rated",
        folder / "rated.jsonl",
        *NEIGHBORS,
        "--scorer",
        f"{sys.executable} {folder}/scorer.py",
        "--train",
        folder / "train.txt",
        *FAST,
        "--format",
        "json",
    )
    fits(ran.json)
    assert "NaN" not in ran.out
    found = {one["label"]: one for one in ran.json["results"]}
    assert len(found) == 5
    names = ["references", "frequent", "rare", "sentence", "useless"]
    assert [probe["name"] for probe in found["bleu"]["probes"]] == names
    last = [probe["name"] for probe in found["bleu-neighbors"]["probes"]][-2:]
    assert last == ["useless", "stuffing"]
    for one in found.values():
        assert str(Signature.parse(one["signature"])) == one["signature"]
        ran_or_not = [p["name"] for p in one["probes"]] + [*one["skipped"]]
        assert sorted(ran_or_not) == sorted([*names, "stuffing"])
    sentence = found["bleu"]["probes"][3]
    best = sentence["rows"][1]
    references = tuple(
        tuple(row["references"]) for row in rows() if row["system"] == "s1"
    )
    outputs = Outputs(
        ids=tuple(map(str, range(20))),
        texts=(best["text"],) * 20,
        references=references,
    )
    assert best["score"] == pytest.approx(BLEU().score(outputs).corpus)


def test_text_has_a_verdict_a_probe(folder: Path) -> None:
    """Verdicts first, then tables, within 80 columns; the advice of the paper."""
    ran = run_well(
        "stress",
        folder / "out.jsonl",
        "-m",
        "bleu",
        "--train",
        folder / "train.txt",
        *FAST,
    )
    assert not too_wide(ran.out)
    for name in ("references", "frequent", "rare", "sentence", "useless"):
        assert f"({name}): " in ran.out
    assert "no proof of human parity" in ran.line
    assert "signature: bleu|" in ran.out


def test_estimators_need_no_references(folder: Path) -> None:
    """Plain outputs are enough, but not for metrics; those of the first system are changed."""
    flags = ("--rated", folder / "rated.jsonl", *NEIGHBORS, "--scale", 1, 6, *FAST)
    ran = run_well("stress", folder / "plain.jsonl", *flags, "--format", "json")
    fits(ran.json)
    (one,) = ran.json["results"]
    assert one["probes"][0]["rows"][0]["label"] == "m0"
    ran = run("stress", folder / "plain.jsonl", "-m", "bleu")
    assert ran.refuses("has no references")


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["-m", "bleux"], "no metric 'bleux'"),
        (["-m", "bleu", "-m", "bleu"], "given twice"),
        (["-m", "bleu", "--probe", "x"], "no probe 'x'; there are references"),
        (["--scorer", "/no/such"], "cannot run"),
        (["-m", "bleu", "--train", "nowhere.txt"], "nowhere.txt"),
    ],
)
def test_misuse_is_told(folder: Path, flags: list[object], message: str) -> None:
    """Exit status 2, one line, nothing on standard output."""
    ran = run("stress", folder / "out.jsonl", *flags)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert "Traceback" not in ran.err


def test_without_bm25s_the_extra_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before any probe runs; the other probes need none."""
    monkeypatch.setitem(sys.modules, "bm25s", None)
    ran = run("stress", folder / "out.jsonl", "-m", "bleu")
    assert ran.refuses("The probe 'frequent' needs an extra: pip install")
    ran = run_well(
        "stress", folder / "out.jsonl", "-m", "bleu", "--probe", "references", *FAST
    )


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands and Python of docs/stress.md, in their order."""
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs/stress.md").read_text("utf-8")
    blocks = re.findall(
        r"^```(sh|python)\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE
    )
    assert {language for language, _ in blocks} == {"sh", "python"}
    for language, block in blocks:
        if language == "python":
            exec(compile(block, "docs/stress.md", "exec"), {})
            continue
        for line in block.splitlines():
            run_well(*shlex.split(line)[1:])


def test_an_estimator_of_one_answer_is_not_tested(folder: Path, tmp_path: Path) -> None:
    """All ratings alike: every estimate is the same, which neither holds nor is fooled."""
    alike = [{**row, "rating": 3} for row in rated_rows()]
    rated = jsonl(tmp_path / "alike.jsonl", alike)
    flags = ("--rated", rated, "--estimator", "gp", "--probe", "stuffing", *FAST)
    ran = run_well("stress", folder / "plain.jsonl", *flags, "--format", "json")
    (probe,) = ran.json["results"][0]["probes"]
    assert probe["fooled"] is None
    assert "nothing is tested" in probe["verdict"]
