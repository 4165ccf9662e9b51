"""Outputs that a licensed judge decides, and those for people."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from scipy.stats import binom

from command_line import Ran, headlines, jsonl, run, run_well, too_wide
from refless.commands.route.audit import audited, evidence_of, is_broken
from refless.commands.route.result import RouteResult
from rows import read_csv

TEXTS = headlines(1000)


def rows(
    first: int, last: int, seed: int = 0, noise: float = 0.04
) -> list[dict[str, object]]:
    """Texts that a judge knows well, with people's verdicts."""
    rng = np.random.default_rng(seed)
    quality = rng.random(last)
    good = rng.random(last) < 1 / (1 + np.exp(-25 * (quality - 0.5)))
    scores = np.clip(quality + noise * rng.normal(size=last), 0, 1).round(3)
    return [
        {
            "id": f"t{i}",
            "text": TEXTS[i],
            "p": scores[i],
            "rating": int(good[i]),
        }
        for i in range(first, last)
    ]


def unrated(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """The rows without ratings."""
    return [row | {"rating": None} for row in rows]


@pytest.fixture(scope="module")
def licence(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A licence for at most 10 % errors, by 500 ratings and a rubric."""
    folder = tmp_path_factory.mktemp("licence")
    rated = jsonl(folder / "rated.jsonl", rows(0, 500))
    (folder / "rubric.md").write_text("A good headline is short.")
    words = (
        "--score-column",
        "p",
        "--at-most-wrong",
        "0.1",
        "--resamples",
        "40",
    )
    rubric = ("--rubric", folder / "rubric.md")
    run_well("judge", rated, *words, *rubric, "-o", folder / "licence.json")
    return folder / "licence.json"


def routed(licence: Path, path: Path, *words: object) -> Ran:
    """The command with the right rubric."""
    rubric = ("--rubric", licence.with_name("rubric.md"))
    return run("route", path, "--licence", licence, *rubric, *words)


def test_scores_decide(licence: Path, tmp_path: Path) -> None:
    """Thresholds of the licence, whatever rows stand beside; a missing score is for people."""
    new = [
        *unrated(rows(500, 900)),
        {
            "id": "x",
            "text": "no score",
            "p": None,
        },
    ]
    path = jsonl(tmp_path / "new.jsonl", new)
    out = tmp_path / "out.csv"
    ran = routed(licence, path, "--audit", "0", "-o", out)
    assert ran.code == 0, ran.err
    assert too_wide(ran.out) == []
    found = json.loads(licence.read_text())["judges"][0]["licence"]
    top = found["passes"]["chosen"]["threshold"]
    bottom = found["fails"]["chosen"]["threshold"]
    listed = read_csv(out.read_text())
    written = {row["id"]: row for row in listed}
    assert (written["x"]["decide"], written["x"]["why"]) == ("person", "no score")
    for row in new[:-1]:
        decided = written[str(row["id"])]["decide"]
        expected = "person"
        if row["p"] >= top:  # type: ignore[operator]
            expected = "pass"
        elif row["p"] <= bottom:  # type: ignore[operator]
            expected = "fail"
        assert decided == expected
    assert [row["id"] for row in listed] == [row["id"] for row in new]
    counts = Counter(row["decide"] for row in written.values())
    assert f"p passes {counts['pass']} of 401 outputs" in ran.line


def test_outputs_without_ids_keep_their_rows(licence: Path, tmp_path: Path) -> None:
    """Decisions have the row of the file, its order, and what was asked."""
    new = [row | {"prompt": f"q{row.pop('id')}"} for row in unrated(rows(500, 600))]
    out = tmp_path / "out.csv"
    ran = routed(licence, jsonl(tmp_path / "new.jsonl", new), "-o", out)
    assert ran.code == 0, ran.err
    written = [(row["row"], row["source"]) for row in read_csv(out.read_text())]
    assert written == [(str(k), row["prompt"]) for k, row in enumerate(new, 1)]


def test_the_audit_is_drawn_by_content(licence: Path, tmp_path: Path) -> None:
    """A fifth of the decided texts; the same whatever their order; others by another seed."""
    new = unrated(rows(500, 1000))
    path = jsonl(tmp_path / "new.jsonl", new)
    turned = jsonl(tmp_path / "turned.jsonl", new[::-1])
    words = (
        "--audit",
        "0.2",
        "--format",
        "json",
    )
    found = routed(licence, path, *words).json
    Draft202012Validator(RouteResult.schema()).validate(found)
    assert found["items"] == routed(licence, turned, *words).json["items"]
    assert found["items"] != routed(licence, path, *words, "--seed", "1").json["items"]
    drawn = found["reasons"]["audit"]
    decided = 500 - found["reasons"]["between"]
    assert 0.13 < drawn / decided < 0.27
    rated = jsonl(tmp_path / "rated.jsonl", rows(500, 1000))
    audits = routed(licence, rated, *words).json["audits"]
    assert audits["together"]["n"] == drawn  # ratings of others do not count


def test_sides_are_audited_together(licence: Path, tmp_path: Path) -> None:
    """Errors that are spread over both sides count as one sum; a side without licence does not."""
    path = jsonl(tmp_path / "new.jsonl", rows(500, 900))
    words = ("--audit", "1", "--format", "json")
    audits = routed(licence, path, *words).json["audits"]
    assert [*audits] == ["pass", "fail", "together"]
    for count in ("n", "wrong"):
        both = audits["pass"][count] + audits["fail"][count]
        assert audits["together"][count] == both
    stored = json.loads(licence.read_text())
    stored["judges"][0]["licence"]["fails"]["chosen"] = None
    alone = tmp_path / "licence.json"
    alone.write_text(json.dumps(stored))
    rubric = licence.with_name("rubric.md").read_text()
    alone.with_name("rubric.md").write_text(rubric)
    found = routed(alone, path, *words).json
    assert [*found["audits"]] == ["pass"]
    assert "fail" not in found["decided"]
    half = audited(14, 5, 0.1)
    whole = audited(28, 10, 0.1)
    assert not is_broken([half, half])
    assert is_broken([half, half, whole])


def test_a_broken_promise_is_said(licence: Path, tmp_path: Path) -> None:
    """If people fail half of what passes, all is for people, and the status is 3."""
    new = unrated(rows(500, 900))
    harder = [row | {"rating": i % 2} for i, row in enumerate(rows(900, 1000))]
    all_audited = ("--audit", "1")
    same = jsonl(tmp_path / "kept.jsonl", new + rows(900, 1000))
    kept = routed(licence, same, *all_audited)
    assert kept.code == 0, kept.err
    ran = routed(licence, jsonl(tmp_path / "new.jsonl", new + harder), *all_audited)
    assert ran.code == 3
    said = ran.line
    assert "Gate failed: people decide otherwise on" in said
    assert "more than 10 %: judge again" in said
    assert "p passes 0 of 500 outputs and fails 0" in said


@pytest.mark.parametrize(
    ("change", "words", "problem"),
    [
        (lambda row: row | {"p": row["p"] * 10}, (), "lie outside those of the rated"),
        (lambda row: row | {"p": row["p"] ** 3}, (), "are spread unlike those of the"),
        (lambda row: row, ("--score-column", "q"), "has no licence for 'q'"),
        (lambda row: row, ("--rubric", "pyproject.toml"), "made with another rubric"),
    ],
)
def test_other_judges_are_refused(
    licence: Path, tmp_path: Path, change, words: tuple[str, ...], problem: str
) -> None:
    """Another scale, another spread, another name, another rubric."""
    new = [change(row) | {"q": 1} for row in rows(500, 900)]
    path = jsonl(tmp_path / "new.jsonl", unrated(new))
    (tmp_path / "pyproject.toml").write_text("another rubric")
    words = tuple(str(tmp_path / word) if "toml" in word else word for word in words)
    ran = routed(licence, path, *words)
    assert ran.refuses(problem)


def test_a_file_without_a_licence_is_refused(tmp_path: Path) -> None:
    """JSON of something else, a judge without a licence, and one that may decide nothing."""
    new = jsonl(tmp_path / "new.jsonl", rows(500, 540))
    other = tmp_path / "other.json"
    other.write_text("{}")
    ran = run("route", new, "--licence", other)
    assert ran.refuses("this is no licence of a judge")
    few = jsonl(tmp_path / "few.jsonl", rows(0, 30))
    judged = ("judge", few, "--score-column", "p", "--resamples", "40", "-o", other)
    for more, problem in (
        ((), "--at-most-wrong of 'refless judge' gives"),
        (("--at-most-wrong", "0.1"), "may decide nothing alone"),
    ):
        assert run(*judged, *more).code == 0
        ran = run("route", new, "--licence", other)
        assert ran.refuses(problem)


def test_texts_are_not_needed_and_one_of_several_judges_is_named(
    tmp_path: Path,
) -> None:
    """Of two judges who may decide one is to be named; a judge who may not needs no name."""
    table = rows(0, 500)
    for row in table:
        row |= {"q": row["p"], "one": 1}
        del row["text"]
    path = jsonl(tmp_path / "rated.jsonl", table)
    out = tmp_path / "licence.json"
    promise = ("--at-most-wrong", "0.1", "--resamples", "40", "-o", out)
    for other, code, problem in (("q", 2, "which one decides: p, q"), ("one", 0, "")):
        judges = ("--score-column", "p", "--score-column", other)
        assert run("judge", path, *judges, *promise).code == 0
        ran = run("route", path, "--licence", out)
        assert ran.ended(code, problem)


@given(st.integers(0, 60), st.integers(0, 60), st.sampled_from([0.01, 0.1, 0.3]))
def test_evidence_equals_the_slow_twin(right: int, wrong: int, share: float) -> None:
    """The mean likelihood if the odds of an error are 2, 3 or 4 times those promised."""
    n = right + wrong
    likelihoods = []
    for times in (2, 3, 4):
        odds = times * share / (1 - share)
        likelihoods.append(binom.pmf(wrong, n, odds / (1 + odds)))
    expected = np.mean(likelihoods) / binom.pmf(wrong, n, share)
    assert evidence_of(n, wrong, share) == pytest.approx(expected, rel=1e-8)


def first_alarm(share: float, rng: np.random.Generator, most: int) -> int | None:
    """The number of audited texts at which the promise of 10 % is said to be broken, if it is."""
    decided = np.zeros(2, dtype=int)
    wrong = np.zeros(2, dtype=int)
    for n in range(1, most + 1):
        side = int(rng.random() < 0.5)
        decided[side] += 1
        wrong[side] += int(rng.random() < share)
        counts = [*zip(decided, wrong, strict=True), (n, wrong.sum())]
        if is_broken(audited(int(k), int(w), 0.1) for k, w in counts):
            return n
    return None


def test_the_audit_speaks_in_time_and_not_without_cause() -> None:
    """With 30 % errors within 50 texts in four of five; with 10 % in at most 5 % of 400 texts.

    Half of the texts pass. 4,000 simulated uses say .905 and .036; sides alone would speak in .81.
    """
    rng = np.random.default_rng(0)
    spoken = [first_alarm(0.3, rng, 50) is not None for _ in range(300)]
    assert np.mean(spoken) >= 0.85
    silent = [first_alarm(0.1, rng, 400) is None for _ in range(300)]
    assert np.mean(silent) >= 0.95
