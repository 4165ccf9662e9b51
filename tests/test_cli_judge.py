"""refless judge: metric columns against human ratings."""

from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from command_line import headlines, jsonl, run, too_wide
from refless.commands.judge.result import JudgeResult

QUICK = ("--resamples", "60")


def rows(n: int = 48, systems: int = 4) -> list[dict[str, object]]:
    """Rated headlines of some systems, with a good, a bad and a wrongly signed score."""
    rng = np.random.default_rng(0)
    found = []
    for i, text in enumerate(headlines(n)):
        human = (i % systems) + rng.normal()
        found.append(
            {
                "id": f"t{i:03}",
                "item": f"i{i // systems}",
                "system": f"m{i % systems}",
                "text": text,
                "rating": round(human, 1),
                "good": human + rng.normal() / 2,
                "bad": rng.normal(),
                "errors": -human + rng.normal() / 4,
                "reference": text.split()[0] + " sings at noon",
            }
        )
    return found


@pytest.fixture
def rated(tmp_path: Path) -> Path:
    return jsonl(tmp_path / "rated.jsonl", rows())


def fits(found: object) -> None:
    """The schema of its record."""
    schema = JudgeResult.schema()
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(found)


def test_who_is_better(rated: Path) -> None:
    """Text at 80 columns: the good column leads, the bad one is beaten."""
    ran = run("judge", rated, "--score-column", "good", "--score-column", "bad", *QUICK)
    assert ran.code == 0, ran.err
    assert too_wide(ran.out) == []
    assert "good > bad" in ran.out
    assert "texts good agrees best with people" in " ".join(ran.out.split())
    for heading in ("Segments", "Systems", "Pairs of systems in units"):
        assert heading in ran.out


def test_json_fits_its_schema(rated: Path) -> None:
    """Names, intervals, both levels, signature; a metric computed here brings its own."""
    words = ("--score-column", "good", "--score-column", "bad", "-m", "bleu", "--unit", "4")
    ran = run("judge", rated, *words, *QUICK, "--format", "json")
    assert ran.code == 0, ran.err
    found = ran.json
    fits(found)
    assert {one["name"] for one in found["segments"]["metrics"]} == {"good", "bad", "bleu"}
    assert found["metrics"]["bleu"].startswith("bleu|")
    assert found["metrics"]["good"] is None
    assert found["segments"]["best"] == ["good"]
    assert found["units"]["good"]["n_units"] == 18  # 6 pairs of systems, 12 items each
    assert "measure:spearman" in found["signature"]
    assert found["annotators"] is None


def test_lower_is_better(rated: Path) -> None:
    """The sign is turned."""
    flags = ("--score-column", "errors", *QUICK, "--format", "json")
    plain = run("judge", rated, *flags).json["segments"]["metrics"][0]
    turned = run("judge", rated, *flags, "--lower-is-better", "errors").json["segments"]["metrics"][
        0
    ]
    assert plain["spearman"] == pytest.approx(-turned["spearman"])
    assert turned["spearman"] > 0.9


def test_annotators_and_groups(tmp_path: Path) -> None:
    """Ratings by annotator merge on the id; people stand beside the metrics."""
    rng = np.random.default_rng(0)
    many = [
        {**row, "annotator": f"p{who}", "rating": float(row["rating"]) + rng.integers(2)}
        for row in rows()
        for who in range(3)
    ]
    path = jsonl(tmp_path / "many.jsonl", many)
    flags = ("--score-column", "good", "--group", "item", *QUICK)
    ran = run("judge", path, *flags, "--format", "json")
    assert ran.code == 0, ran.err
    found = ran.json
    fits(found)
    assert found["n"] == 48
    assert found["annotators"]["n"] == found["annotators_left_out"]["n"] == 3
    assert found["annotators"]["average"]["mse"] < found["annotators_left_out"]["average"]["mse"]
    assert found["raters"]["alpha_interval"] > 0.5
    assert "group:item" in found["signature"]
    text = run("judge", path, *flags).out
    assert "the others' ratings" in text
    assert too_wide(text) == []


def test_rows_in_any_order(rated: Path, tmp_path: Path) -> None:
    """The same file upside down gives the same JSON."""
    flags = ("--score-column", "good", "--score-column", "bad", *QUICK, "--format", "json")
    other = jsonl(tmp_path / "other.jsonl", rows()[::-1])
    assert run("judge", rated, *flags).json == run("judge", other, *flags).json


def test_without_texts_systems_and_some_scores(tmp_path: Path) -> None:
    """Ratings and scores are enough; a blank score is left out and counted."""
    bare = [{"rating": row["rating"], "good": row["good"]} for row in rows()]
    bare[3]["good"] = None
    ran = run("judge", jsonl(tmp_path / "b.jsonl", bare), "--score-column", "good", *QUICK)
    assert ran.code == 0, ran.err
    assert "good: 1 of 48 texts have no score" in ran.err
    assert "there is no system column" in ran.out


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ((), "--score-column or -m METRIC is needed"),
        (("--score-column", "goood"), "did you mean 'good'?"),
        (("--score-column", "text"), "scores are finite numbers"),
        (("--score-column", "good", "--score-column", "good"), "twice"),
        (("--score-column", "good", "--measure", "kendall"), "--measure must be"),
        (("--score-column", "good", "--lower-is-better", "bad"), "it is no --score-column"),
        (("--score-column", "good", "--resamples", "3"), "--resamples must be 40"),
        (("-m", "nothing"), "nothing"),
        (("--score-column", "good", "--group", "task"), "no task column"),
    ],
)
def test_wrong_usage(rated: Path, flags: tuple[str, ...], said: str) -> None:
    """Exit 2, with what to do."""
    ran = run("judge", rated, *flags)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_disagreeing_scores(tmp_path: Path) -> None:
    """One id with two scores, or annotators without any way to tell texts apart."""
    two = [{"id": "a", "rating": 1, "s": 1}, {"id": "a", "rating": 2, "s": 2}]
    ran = run("judge", jsonl(tmp_path / "two.jsonl", two), "--score-column", "s")
    assert ran.code == 2
    assert "two" in ran.err
    nobody = [{"annotator": "p", "rating": 1, "s": 1}]
    ran = run("judge", jsonl(tmp_path / "n.jsonl", nobody), "--score-column", "s")
    assert ran.code == 2
    assert "which rows are one text" in ran.err


def test_no_winner_where_chance_explains_all(tmp_path: Path) -> None:
    """A score that is noise is nearest to nobody."""
    rng = np.random.default_rng(3)
    some = [{**row, "noise": rng.normal()} for row in rows()]
    ran = run("judge", jsonl(tmp_path / "r.jsonl", some), "--score-column", "noise", *QUICK)
    assert "noise shows no agreement with people that chance could not explain" in " ".join(
        ran.out.split()
    )
    assert "Nearest" not in ran.out
    more = ("--score-column", "noise2", *QUICK)
    some = [{**row, "noise2": rng.normal()} for row in some]
    ran = run("judge", jsonl(tmp_path / "r.jsonl", some), "--score-column", "noise", *more)
    said = " ".join(ran.out.split())
    assert "no metric is shown to agree with people. The best of 2, noise2, has Spearman" in said


def test_patterns_of_score_columns(rated: Path) -> None:
    """A pattern names several scores; each is known by its own name."""
    wanted = ("--lower-is-better", "errors", *QUICK, "--format", "json")
    each = run("judge", rated, "--score-column", "good", "--score-column", "errors", *wanted)
    both = run("judge", rated, "--score-column", "*o*", *wanted)
    assert (both.code, "good" in both.out, "errors" in both.out) == (0, True, True)
    assert both.json == each.json


def test_one_metric_is_not_the_best(rated: Path) -> None:
    """Where there is nothing to compare with, its correlation is all there is to say."""
    told = " ".join(run("judge", rated, "--score-column", "good", *QUICK).out.split())
    assert "good agrees with people: Spearman 0." in told
    assert "best" not in told.split("Segments")[0]


def test_few_items_are_told(rated: Path) -> None:
    """Twelve items, four outputs each: intervals draw items."""
    ran = run("judge", rated, "--score-column", "good", *QUICK)
    assert "intervals are drawn over 12 items; with fewer than 20 they are too narrow" in ran.err
