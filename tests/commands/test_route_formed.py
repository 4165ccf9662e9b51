"""Outputs decided by votes of runs, and by what an estimator makes of texts and scores."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from command_line import Ran, headlines, jsonl, run, run_well
from places import DATA
from published import needed
from rows import read_csv, without

TEXTS = headlines(700)
Row = dict[str, object]


def rows(first: int, last: int) -> list[Row]:
    """Texts with people's verdicts, which a word tells, and three runs of a judge who often errs.

    In every 40th row the last run has no score.
    """
    rng = np.random.default_rng(0)
    good = rng.random(last) < 0.5
    errs = rng.random((3, last)) < 0.08
    table = []
    for i in range(first, last):
        word = "splendid" if good[i] else "dreadful"
        row: Row = {"id": f"t{i}", "text": f"{TEXTS[i]} {word}", "human": int(good[i])}
        for k in range(3):
            row[f"run{k}"] = int(good[i] != errs[k, i])
        if i % 40 == 0:
            row["run2"] = None
        table.append(row)
    return table


def in_rows(table: Sequence[Row]) -> list[Row]:
    """A row for each run."""
    apart = []
    for row in table:
        (shared,) = without([row], "run0", "run1", "run2")
        apart += [
            {
                **shared,
                "epoch": k + 1,
                "run0": row[f"run{k}"],
            }
            for k in range(3)
        ]
    return apart


def judged(path: Path, *words: object, most: str = "0.1") -> Path:
    """The licence for a file of rated texts."""
    licence = path.with_name("licence.json")
    promise = ("--at-most-wrong", most, "--resamples", "40")
    run_well("judge", path, *promise, *words, "-o", licence)
    return licence


def decided(ran: Ran, out: Path) -> dict[str, dict[str, str]]:
    """The rows that `route` wrote, by id."""
    assert ran.code == 0, ran.err
    return {row["id"]: row for row in read_csv(out.read_text())}


@pytest.mark.parametrize("layout", ["columns", "rows"])
def test_votes_are_formed_of_the_runs(tmp_path: Path, layout: str) -> None:
    """The share of runs with a score that pass, counted by hand; the thresholds of the licence."""
    new = rows(300, 500)
    shaped = in_rows if layout == "rows" else list
    column = "run0" if layout == "rows" else "run*"
    path = jsonl(tmp_path / "rated.jsonl", shaped(rows(0, 300)))
    outputs = jsonl(tmp_path / "new.jsonl", shaped(without(new, "human")))
    licence = judged(path, "--score-column", column, "--runs")
    out = tmp_path / "out.csv"
    words = ("--licence", licence, "--audit", "0", "-o", out)
    written = decided(run("route", outputs, *words), out)
    stored = json.loads(licence.read_text())["judges"][0]["licence"]
    top = stored["passes"]["chosen"]["threshold"]
    for row in new:
        votes = [row[f"run{k}"] for k in range(3) if row[f"run{k}"] is not None]
        cells = written[str(row["id"])]
        share = sum(votes) / len(votes)  # type: ignore[arg-type]
        assert float(cells["votes"]) == pytest.approx(share)
        assert (cells["decide"] == "pass") == (share >= top)
    rated = jsonl(tmp_path / "audited.jsonl", shaped(new))
    words = ("--licence", licence, "--audit", "1", "--format", "json")
    found = run("route", rated, *words).json
    assert found["audits"]["together"]["n"] == 200 - found["reasons"].get("between", 0)


def test_runs_that_are_missing_or_spread_otherwise_are_refused(tmp_path: Path) -> None:
    """Fewer runs than the licence names; votes that are spread unlike those of the rated texts."""
    path = jsonl(tmp_path / "rated.jsonl", in_rows(rows(0, 300)))
    licence = judged(path, "--score-column", "run0", "--runs")
    new = in_rows(without(rows(300, 500), "human"))
    fewer = [row for row in new if row["epoch"] != 3]
    alike = [row | {"run0": 1} for row in new]
    for changed, problem in (
        (fewer, "votes has 3 runs; of run0 3 there is no score here"),
        (alike, "all 200 scores of the outputs are 1"),
    ):
        outputs = jsonl(tmp_path / "new.jsonl", changed)
        ran = run("route", outputs, "--licence", licence)
        assert ran.refuses(problem)


@pytest.fixture(scope="module")
def estimating(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of rated texts, licensed with an estimator, and of new ones."""
    folder = tmp_path_factory.mktemp("estimating")
    path = jsonl(folder / "rated.jsonl", rows(0, 200))
    jsonl(folder / "new.jsonl", without(rows(200, 400), "human"))
    words = ("--score-column", "run0", "--estimator", "gp:encoder=none")
    judged(path, *words)
    fit = ("--estimator", "gp:encoder=none", "--score-column", "run0")
    run_well("fit", path, *fit, "--to", folder / "model.safetensors")
    return folder


def routed(folder: Path, outputs: str, *words: object) -> Ran:
    """The outputs routed by the judge of texts and scores."""
    licence = ("--licence", folder / "licence.json")
    chosen = ("--score-column", "gp + scores")
    return run("route", folder / outputs, *licence, *chosen, *words)


def test_estimates_decide(estimating: Path, tmp_path: Path) -> None:
    """Estimates are those of `score`; model and rated texts decide alike; few are wrong."""
    out = tmp_path / "out.csv"
    rated = ("--rated", estimating / "rated.jsonl")
    model = ("--model", estimating / "model.safetensors")
    more = ("--audit", "0", "-o", out)
    written = decided(routed(estimating, "new.jsonl", *rated, *more), out)
    assert decided(routed(estimating, "new.jsonl", *model, *more), out) == written
    scored = tmp_path / "scored.csv"
    ran = run("score", estimating / "new.jsonl", *model, "-o", scored)
    for name, row in decided(ran, scored).items():
        assert written[name]["gp + scores"] == row["estimate"]
    people = {str(row["id"]): row["human"] for row in rows(200, 400)}
    alone = {name: row["decide"] for name, row in written.items()}
    wrong = 0
    n_alone = 0
    for name, word in alone.items():
        if word != "person":
            n_alone += 1
            wrong += (word == "pass") != people[name]
    assert n_alone > 100
    assert wrong <= 0.1 * n_alone


def test_the_audit_leaves_out_what_the_estimator_knows(
    estimating: Path, tmp_path: Path
) -> None:
    """Of rated texts that license it and of new ones only the new ones are audited."""
    both = jsonl(tmp_path / "both.jsonl", rows(0, 400))
    (tmp_path / "licence.json").write_text((estimating / "licence.json").read_text())
    rated = ("--rated", estimating / "rated.jsonl")
    found = routed(tmp_path, both.name, *rated, "--audit", "1", "--format", "json").json
    assert found["decided"]["pass"] + found["decided"]["fail"] > 300
    assert 100 < found["audits"]["together"]["n"] <= 200


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ((), "give either these with --rated, or what 'refless fit' made of them"),
        (("--rated", "rated.jsonl", "--model", "m"), "give either these with --rated"),
        (("--rated", "other.jsonl"), "--rated is not what licensed gp + scores"),
        (("--model", "other.safetensors"), "is not what licensed gp + scores"),
    ],
)
def test_another_estimator_is_refused(
    estimating: Path, words: Sequence[str], problem: str
) -> None:
    """None, both, other rated texts, another model."""
    other = jsonl(estimating / "other.jsonl", rows(1, 201))
    fit = ("--estimator", "gp:encoder=none", "--score-column", "run0")
    run("fit", other, *fit, "--to", estimating / "other.safetensors")
    at = [estimating / word if "." in word else word for word in words]
    ran = routed(estimating, "new.jsonl", *at)
    assert ran.refuses(problem)


def test_a_licence_runs_no_file(estimating: Path, tmp_path: Path) -> None:
    """An estimator in a file of one's own is refused before the file is read."""
    licence = (estimating / "licence.json").read_text()
    stored = licence.replace("gp:encoder=none", "own.py:Own")
    (tmp_path / "licence.json").write_text(stored)
    (tmp_path / "own.py").write_text("raise SystemExit(7)")
    outputs = jsonl(tmp_path / "new.jsonl", rows(200, 300))
    ran = routed(tmp_path, outputs.name, "--rated", estimating / "rated.jsonl")
    assert ran.refuses("a licence may run none")


def test_a_judge_with_scores_needs_no_estimator(estimating: Path) -> None:
    """The flag that is too much is named."""
    licence = ("--licence", estimating / "licence.json", "--score-column", "run0")
    rated = ("--rated", estimating / "rated.jsonl")
    ran = run("route", estimating / "new.jsonl", *licence, *rated)
    assert ran.refuses("run0 needs no estimator: leave --rated out")


def test_the_line_that_is_advised_works(tmp_path: Path) -> None:
    """For an estimator beside the judge, with the columns that were named."""
    table = rows(0, 200)
    for row in table:
        row["words"] = row.pop("text")
    path = jsonl(tmp_path / "rated.jsonl", table)
    new = jsonl(tmp_path / "new.jsonl", without(table, "human"))
    words = ("--score-column", "run0", "--estimator", "gp:encoder=none")
    words += ("--column", "text=words", "--column", "rating=human")
    words += ("--column", "rationale=run1")
    promise = ("--at-most-wrong", "0.1", "--resamples", "40")
    licence = tmp_path / "licence.json"
    shown = run("judge", path, *words, *promise, "-o", licence).out
    lines = [line for line in shown.splitlines() if "--score-column 'gp + " in line]
    refless, *given = shlex.split(lines[0])
    assert (refless, given[:2]) == ("refless", ["route", "OUTPUTS"])
    names = {"OUTPUTS": new, "FILE.json": licence}
    run_well(*[names.get(word, word) for word in given])


def summeval(dimension: str) -> tuple[list[Row], list[Row]]:
    """50 articles of SummEval by halves, with the scores of three judges and three experts."""
    needed("summeval-judges/summaries.jsonl")
    lines = (DATA / "summeval-judges/summaries.jsonl").read_text().splitlines()
    read = [json.loads(line) for line in lines]
    places = {
        name: i for i, name in enumerate(sorted({row["article"] for row in read}))
    }
    halves: tuple[list[Row], list[Row]] = ([], [])
    for row in read:
        table: Row = {"id": row["id"], "source": row["article"], "text": row["text"]}
        for judge in ("gpt4", "gpt35", "gpt35mcq"):
            table[judge] = row["judges"][judge][dimension]
        for i, rating in enumerate(row["experts"][dimension]):
            table[f"rater{i}"] = rating
        place = places[row["article"]]
        if place < 50:
            halves[place % 2].append(table)
    return halves


@pytest.mark.parametrize(
    ("dimension", "words", "name"),
    [
        ("consistency", ("--score-column", "gpt*", "--runs"), "votes"),
        (
            "fluency",
            ("--score-column", "gpt4", "--estimator", "gp:encoder=none"),
            "gp + scores",
        ),
    ],
)
def test_real_judges_keep_their_promise(
    tmp_path: Path, dimension: str, words: Sequence[str], name: str
) -> None:
    """Licensed by half of the articles; on the others experts decide few texts otherwise."""
    rated, new = summeval(dimension)
    path = jsonl(tmp_path / "rated.jsonl", rated)
    outputs = jsonl(tmp_path / "new.jsonl", new)
    people = ("--column", "rating=rater*", "--scale", "1", "5", "--pass", "4")
    licence = judged(path, *words, *people, most="0.2")
    more = ("--score-column", name, "--column", "rating=rater*")
    if name != "votes":
        more += ("--rated", str(path))
    more += ("--audit", "1", "--format", "json")
    ran = run_well("route", outputs, "--licence", licence, *more)
    audits = ran.json["audits"]
    assert audits["pass"]["n"] > 150
    assert all(side["wrong"] <= 0.2 * side["n"] for side in audits.values())
