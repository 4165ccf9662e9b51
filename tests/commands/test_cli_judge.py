"""refless judge: metric columns against human ratings."""

import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.stats import rankdata

from command_line import headlines, json_of, jsonl, one_line, run, run_well, too_wide
from rows import column, csv_of, digits, only, without, write
from schemas import fits

QUICK = ("--resamples", "60")
JSON = (*QUICK, "--format", "json")


def rows(n: int = 48, systems: int = 4) -> list[dict[str, object]]:
    """Rated headlines of some systems, with a good, a bad and a wrongly signed score."""
    rng = default_rng(0)
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


def test_who_is_better(rated: Path) -> None:
    """Text at 80 columns: the good column leads, the bad one is beaten."""
    ran = run_well(
        "judge", rated, "--score-column", "good", "--score-column", "bad", *QUICK
    )
    assert too_wide(ran.out) == []
    assert "good > bad" in ran.out
    assert "texts good agrees best with people" in ran.line
    for heading in ("Segments", "Systems"):
        assert heading in ran.out


def test_json_fits_its_schema(rated: Path) -> None:
    """Names, intervals, both levels, signature; a metric computed here brings its own."""
    words = ("--score-column", "good", "--score-column", "bad", "-m", "bleu")
    ran = run_well("judge", rated, *words, *QUICK, "--format", "json")
    found = ran.json
    fits(found)
    assert {one["name"] for one in found["segments"]["metrics"]} == {
        "good",
        "bad",
        "bleu",
    }
    assert found["metrics"]["bleu"].startswith("bleu|")
    assert found["metrics"]["good"] is None
    assert found["segments"]["best"] == ["good"]


def test_metrics_have_an_answer_of_their_own(rated: Path) -> None:
    """In brief too: their numbers, and what to do now, beside a judge or alone."""
    words = (rated, "-m", "bleu", *QUICK, "--format", "brief")
    beside = run_well("judge", *words, "--score-column", "bad").line
    assert "metrics On these 48 texts" in beside
    assert "bleu 48 " in beside
    estimated = run_well("judge", *words, "--estimator", "bleu-neighbors").line
    assert "Do now: " in estimated
    assert "BLEU Neighbors " in estimated
    good = run_well("judge", *words, "--score-column", "good").line
    assert "if metrics On these 48 texts good agrees best" in good
    assert "metrics: good is the nearest of these; its own answer" in good


def test_annotators_and_groups(tmp_path: Path) -> None:
    """Ratings by annotator merge on the id; people stand beside the metrics."""
    rng = default_rng(0)
    many = [
        {
            **row,
            "annotator": f"p{who}",
            "rating": float(row["rating"]) + rng.integers(2),
        }
        for row, who in product(rows(), range(3))
    ]
    path = jsonl(tmp_path / "many.jsonl", many)
    flags = ("--score-column", "good", "--group", "item", *QUICK)
    ran = run_well("judge", path, *flags, "--format", "json")
    found = ran.json
    fits(found)
    assert found["n"] == 48
    assert found["judges"][0]["annotator"]["spearman"]["n"] == 144
    assert "drawn:item|units:12" in found["signature"]
    text = run("judge", path, *flags).out
    assert "One annotator: each against the mean of the others." in one_line(text)
    assert too_wide(text) == []


def test_without_texts_systems_and_some_scores(tmp_path: Path) -> None:
    """Ratings and scores are enough; a blank score is left out and counted."""
    bare = [{"rating": row["rating"], "good": row["good"]} for row in rows()]
    bare[3]["good"] = None
    ran = run_well(
        "judge", jsonl(tmp_path / "b.jsonl", bare), "--score-column", "good", *QUICK
    )
    assert "good: 1 of 48 texts have no score" in ran.err
    assert "there is no system column" in ran.out


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--score-column", "goood"), "did you mean 'good'?"),
        (("--score-column", "text"), "scores are finite numbers"),
        (("--score-column", "good", "--score-column", "good"), "twice"),
        (
            ("--score-column", "good", "--lower-is-better", "bad"),
            "it is no --score-column",
        ),
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
    assert ran.refuses("two")
    nobody = [{"annotator": "p", "rating": 1, "s": 1}]
    ran = run("judge", jsonl(tmp_path / "n.jsonl", nobody), "--score-column", "s")
    assert ran.refuses("which rows are one text")


def test_no_winner_where_chance_explains_all(tmp_path: Path) -> None:
    """A score that is noise is nearest to nobody."""
    rng = default_rng(3)
    some = [{**row, "noise": rng.normal()} for row in rows()]
    ran = run(
        "judge", jsonl(tmp_path / "r.jsonl", some), "--score-column", "noise", *QUICK
    )
    assert (
        "noise shows no agreement with people that chance could not explain" in ran.line
    )


def test_patterns_of_score_columns(rated: Path) -> None:
    """A pattern names several scores; each is known by its own name."""
    wanted = ("--lower-is-better", "errors", *QUICK, "--format", "json")
    each = run(
        "judge", rated, "--score-column", "good", "--score-column", "errors", *wanted
    )
    both = run("judge", rated, "--score-column", "*o*", *wanted)
    assert (both.code, "good" in both.out, "errors" in both.out) == (0, True, True)
    assert both.json == each.json


def test_one_metric_is_not_the_best(rated: Path) -> None:
    """If there is nothing to compare with, its correlation is all there is to say."""
    told = run("judge", rated, "--score-column", "good", *QUICK).line
    assert "good agrees with people: Spearman 0." in told
    assert "best" not in told.split("Segments")[0]


def test_items_are_drawn_as_a_whole(rated: Path) -> None:
    """Twelve items, four outputs each: no --group is needed, and --group id takes it back."""
    flags = ("--score-column", "good", *JSON)
    together, alone = (
        run("judge", rated, *flags, *more).json for more in ((), ("--group", "id"))
    )
    assert "drawn:item|units:12" in together["signature"]
    assert "drawn:text|units:48" in alone["signature"]
    assert together == run("judge", rated, *flags, "--group", "item").json


WORDS = ("fail", "pass")
VERDICTS = ("--score-column", "judge", "--column", "rating=human", *QUICK)


def table(path: Path, rows: list[dict[str, object]]) -> Path:
    """A CSV file; None is a blank cell."""
    return Path(write(path.parent, path.name, csv_of(rows, lineterminator="\n")))


def verdicts(right: float = 0.9, n: int = 120) -> list[dict[str, object]]:
    """Words of a judge, and of people on the first half of the rows."""
    rng = default_rng(0)
    found: list[dict[str, object]] = []
    for i, text in enumerate(headlines(n)):
        human = int(rng.random() < 0.6)
        judge = human if rng.random() < right else 1 - human
        topic = "rare" if i < 4 else ("news", "sport")[i % 2]
        row = {"id": f"t{i:03}", "text": text, "topic": topic, "judge": WORDS[judge]}
        found.append({**row, "human": WORDS[human] if i < n // 2 else None})
    return found


def grades(n: int = 80) -> list[dict[str, object]]:
    """Ratings from 1 to 5 beside judges of many kinds; `kind` adds 1 to texts of its family."""
    rng = default_rng(0)
    found: list[dict[str, object]] = []
    for i, text in enumerate(headlines(n)):
        human = int(rng.integers(1, 6))
        near = [int(np.clip(human + rng.integers(-1, 2), 1, 5)) for _ in range(3)]
        row = {"id": f"t{i:03}", "text": text, "rating": human, "judge": near[0]}
        row |= {f"run{k}": near[k] for k in range(3)}
        row |= {
            "system": ("gpt-a", "gpt-b", "lama", "other")[i % 4],
            "item": f"i{i // 4}",
        }
        row |= {"wide": 20 * near[0], "flat": 3, "coded": near[0] if i % 20 else -1}
        row |= {
            "kind": human + (i % 4 < 2) - (i % 5 == 0),
            "rationale": f"because of {i:03}.",
        }
        row |= {"faults": -near[0]}
        found.append(row)
    return found


def said(path: Path, column: str, *words: object) -> tuple[str, str]:
    """Standard output and error of a judge of grades, in one line each."""
    ran = run_well("judge", path, "--score-column", column, *QUICK, *words)
    return ran.line, ran.notes


@pytest.fixture
def graded(tmp_path: Path) -> Path:
    return table(tmp_path / "grades.csv", grades())


def test_verdicts_in_words(tmp_path: Path) -> None:
    """The sentence, the table of verdicts, and shares that are corrected by all rows."""
    path = table(tmp_path / "words.csv", verdicts())
    ran = run("judge", path, *VERDICTS)
    assert (ran.code, too_wide(ran.out)) == (0, []), ran.err
    told = ran.line
    assert "judge single outputs cannot be told yet" in told
    assert "people pass 26 5 people fail 8 21" in told
    assert "estimate a rate cannot be told" in told
    assert "Of all 120 rows, 60 of them rated" in told
    found = json_of("judge", path, *VERDICTS)
    fits(found)
    (one,) = found["judges"]
    assert one["table"] == {"tp": 26, "fp": 8, "fn": 5, "tn": 21}
    assert (one["n"], one["unlabelled"], one["first"]) == (60, 60, "ratings and scores")
    assert one["measures"]["tpr"]["value"] == pytest.approx(26 / 31)
    share = sum(row["judge"] == "pass" for row in verdicts()) / 120
    means = {name: mean["value"] for name, mean in one["means"].items()}
    assert means["ratings alone"] == pytest.approx(31 / 60)
    assert means["scores alone"] == pytest.approx(share)
    per_pass = 26 / 34 - 5 / 26  # by which passes of people differ, drawn to 0
    kept = (means["ratings and scores"] - 31 / 60) / (share - 34 / 60) / per_pass
    assert 0.75 < kept < 1


@pytest.mark.parametrize(
    ("right", "wanted", "code", "gate"),
    [
        (1.0, "kappa>=0.6", 0, "passed"),
        (0.5, "kappa>=0.6", 3, "failed"),
        (0.9, "kappa>=0.6", 4, "undecided"),
        (0.9, "kappa>=0.2,tnr>=0.99", 3, "failed"),
        (0.9, "mae<=1", 4, "undecided"),
        (0.9, "bias<=-0.1", 2, "the size of the bias is what counts"),
        (0.9, "kappa=0.6", 2, "measures: base_rate"),
    ],
)
def test_gate_on_measures(
    tmp_path: Path, right: float, wanted: str, code: int, gate: str
) -> None:
    """The ends of intervals decide; what is missed is worse than what cannot be told."""
    path = table(tmp_path / "words.csv", verdicts(right))
    ran = run("judge", path, *VERDICTS, "--require", wanted)
    assert ran.ended(code, gate)


@pytest.mark.parametrize(("shift", "code"), [(-1.0, 3), (1.0, 3), (0.0, 0)])
def test_gate_on_the_size_of_the_bias(tmp_path: Path, shift: float, code: int) -> None:
    """A judge that is a point too strict misses bias<=0.2 as one that is a point too kind does."""
    noise = default_rng(0).normal(0, 0.1, 60)
    rows = [
        {"id": i, "rating": 2 + i % 3, "judge": 2 + i % 3 + shift + noise[i]}
        for i in range(60)
    ]
    path = table(tmp_path / "grades.csv", rows)
    ran = run(
        "judge",
        path,
        "--score-column",
        "judge",
        "--scale",
        0,
        6,
        "--require",
        "bias<=0.2",
        *QUICK,
    )
    assert ran.ended(code, "judge: size of the bias")


def test_one_share_of_pairs_of_systems(graded: Path) -> None:
    """The number by which it is told whether a judge may rank systems stands in the table too."""
    words = ("--score-column", "judge", *QUICK, "--format", "json")
    document = run("judge", graded, *words).json
    rank = document["judges"][0]["uses"][0]
    (metric,) = document["systems"]["metrics"]
    assert rank["purpose"] == "rank systems"
    assert rank["estimate"]["value"] == metric["accuracy"]
    assert rank["estimate"]["interval"] == metric["accuracy_interval"]


def test_slices_that_are_named(tmp_path: Path) -> None:
    """By a column; a slice of four ratings is named and not tested."""
    path = table(tmp_path / "words.csv", verdicts())
    told = run("judge", path, *VERDICTS, "--by", "topic").line
    assert "Fewer than 10 ratings, not tested: topic rare." in told
    assert "topic news 28" in told
    assert "length" not in told.split("Where judge errs")[1].split("What is not")[0]


def test_passing_from_where_the_user_says(graded: Path) -> None:
    """Both columns pass from 4 on; errors in the units of the ratings stay."""
    found = json_of("judge", graded, "--score-column", "judge", "--pass", "4", *QUICK)
    fits(found)
    both = [(row["rating"] >= 4, row["judge"] >= 4) for row in grades()]
    counts = [*map(both.count, digits("11 01 10 00"))]
    (one,) = found["judges"]
    assert [*one["table"].values()] == counts
    assert {"kappa", "bias", "quadratic_kappa"} <= {*one["measures"]}
    assert "pass:4" in found["signature"]


def test_own_family(graded: Path) -> None:
    """A judge that is kinder to its own family is told so once; no system is refused."""
    told, _ = said(graded, "kind", "--own", "gpt*")
    assert "Its error differs in: family own, system" in told
    assert "family others" not in told
    assert "family own 40 0.800 1.000 [" in told


@pytest.mark.parametrize("passing", [(), ("--pass", "4")])
def test_runs_of_one_judge(graded: Path, passing: tuple[str, ...]) -> None:
    """The page says how often three runs differ, and what they bring together."""
    words = ("--score-column", "run*", "--runs", *passing, *QUICK, "--format", "json")
    runs = run("judge", graded, *words).json["runs"]
    each = np.array(
        [*zip(*(column(grades(), f"run{k}") for k in range(3)), strict=True)]
    )
    verdict = each >= 4 if passing else each
    assert (runs["runs"], runs["n"]) == (3, 80)
    assert runs["flips"]["value"] == pytest.approx(
        np.mean([len({*row}) > 1 for row in verdict])
    )
    assert runs["sd"] == pytest.approx(np.sqrt(np.var(each, axis=1, ddof=1).mean()))
    assert runs["measure"] == ("kappa" if passing else "spearman")
    single = runs["single"]
    together = runs["together"]
    assert 0.6 < single["value"] < together["value"] < 1
    for number in (single, together):
        assert number["interval"][0] < number["value"] < number["interval"][1]
    ran = run("judge", graded, "--score-column", "judge", "--runs", *QUICK)
    assert ran.refuses("--runs needs a --score-column for each run")


def test_runs_in_rows_are_runs_in_columns(graded: Path, tmp_path: Path) -> None:
    """Rows of one id with a column epoch say what a column a run says."""
    flags = ("--runs", *QUICK, "--format", "json")
    apart = run("judge", graded, "--score-column", "run*", *flags).json
    once = only(grades(), "id", "text", "item", "rating")
    long = [
        {**row, "said": grade[f"run{k}"], "epoch": k}
        for (row, grade), k in product(zip(once, grades(), strict=True), range(3))
    ]
    path = table(tmp_path / "long.csv", long)
    found = run("judge", path, "--score-column", "said", *flags).json
    assert found["runs"] == apart["runs"]
    assert [each["name"] for each in found["judges"]] == ["said 0", "said 1", "said 2"]
    ran = run("judge", path, "--score-column", "said", *QUICK)
    assert ran.refuses("refless judge --runs")
    twice = table(tmp_path / "twice.csv", [*long, long[0] | {"said": 9}])
    ran = run("judge", twice, "--score-column", "said", "--runs", *QUICK)
    assert ran.refuses("id 't000' has two said scores in run '0'")
    nameless = without(long, "id")
    ran = run(
        "judge", table(tmp_path / "n.csv", nameless), "--score-column", "said", "--runs"
    )
    assert ran.refuses("there are runs, but no ids")


def test_one_annotator_beside_the_judge(tmp_path: Path) -> None:
    """Each annotator's ratings against the mean of the others', counted by hand."""
    rng = default_rng(1)
    names = ("rater_a", "rater_b", "rater_c")
    drawn = rng.integers(1, 6, (80, 3))
    raters = [dict(zip(names, ratings, strict=True)) for ratings in drawn.tolist()]
    rows = only(grades(), "id", "text", "judge")
    wide = [row | more for row, more in zip(rows, raters, strict=True)]
    path = table(tmp_path / "wide.csv", wide)
    flags = ("--column", "rating=rater_*", "--pass", "4", *QUICK, "--format", "json")
    found = run("judge", path, "--score-column", "judge", *flags).json
    fits(found)
    one = found["judges"][0]["annotator"]
    cells = [
        (row[name], (sum(row.values()) - row[name]) / 2)
        for row, name in product(raters, names)
    ]
    same = [(mine >= 4) == (others >= 4) for mine, others in cells]
    passed = [mine >= 4 for mine, others in cells if others >= 4]
    assert one["accuracy"]["value"] == pytest.approx(np.mean(same))
    assert one["tpr"]["value"] == pytest.approx(np.mean(passed))
    assert one["mae"]["value"] == pytest.approx(np.mean([abs(m - o) for m, o in cells]))
    assert one["kappa"]["n"] == 240


def test_within_systems(graded: Path) -> None:
    """Spearman of what is left of the ranks after each system's mean."""
    found = json_of("judge", graded, "--score-column", "kind", *QUICK)
    left = []
    for name in ("rating", "kind"):
        column = rankdata([row[name] for row in grades()])
        left.append(
            np.concatenate([column[k::4] - column[k::4].mean() for k in range(4)])
        )
    value = found["judges"][0]["measures"]["within_system"]["value"]
    assert value == pytest.approx(np.corrcoef(*left)[0, 1])


def test_scores_of_a_judge_that_was_judged(graded: Path, tmp_path: Path) -> None:
    """Another judge or another rubric is refused; other ratings and a missed gate are noted."""
    rubric = tmp_path / "rubric.md"
    rubric.write_text("Is it good?")
    record = tmp_path / "judge.json"
    flags = (
        "--score-column",
        "judge",
        "--require",
        "mae<=0.1",
        "--rubric",
        rubric,
        *QUICK,
    )
    assert run("judge", graded, *flags, "--format", "json", "-o", record).code == 3
    score = ("score", graded, "--rated", graded, "--judged-by", record)
    same = run(*score, "--score-column", "judge", "--rubric", rubric)
    assert same.ended(0, "gate failed: judge: mae")
    assert "the ratings are not those" not in same.err
    other = run(*score, "--score-column", "kind", "--rubric", rubric)
    assert other.refuses("judges judge, and not 'kind'")
    plain = run(*score, "--score-column", "judge")
    assert plain.refuses("was made with another rubric")
    fewer = table(tmp_path / "fewer.csv", grades(60))
    few = run(
        "score",
        graded,
        "--rated",
        fewer,
        *score[4:],
        "--score-column",
        "judge",
        "--rubric",
        rubric,
    )
    assert "the ratings are not those by which" in few.err
    record.write_text("[]")
    broken = run(*score, "--score-column", "judge")
    assert broken.refuses("no JSON of refless judge")


@pytest.mark.parametrize(
    ("moved", "most", "code", "unrated"),
    [
        (0, "0.2", 0, 0),
        (0, "0.1", 4, 20),
        (1, "0.1", 3, 20),
        (0.1, "0.1", 4, 0),
        (1, "1.5", 0, 20),
    ],
)
def test_drift(
    tmp_path: Path, moved: float, most: str, code: int, unrated: int
) -> None:
    """A mean that moved fails, one that may have moved is undecided; unrated rows count too.

    That no score of 20 items moved leaves open that one of twenty others does: no proof of 0.1.
    """
    rng = default_rng(1)
    noise = rng.normal(size=80) / 3 if moved else np.zeros(80)
    before = [
        row | {"judge": row["judge"] - moved + noise[i]}
        for i, row in enumerate(grades())
    ]
    older = table(tmp_path / "before.csv", before)
    now = [
        row | ({"rating": None} if i < unrated else {})
        for i, row in enumerate(grades())
    ]
    path = table(tmp_path / "now.csv", now)
    words = ("--score-column", "judge", "--before", older, "--max-drift", most, *QUICK)
    ran = run("judge", path, *words, "--format", "json")
    assert ran.code == code, ran.err
    drift = ran.json["drifts"]["judge"]
    assert drift["n"] == 80
    assert drift["change"]["value"] == pytest.approx(moved - noise.mean())
    assert "change of the mean score" in ran.err


def test_scores_on_another_scale(graded: Path) -> None:
    """0 to 100 against 1 to 5: no bias, and that is said."""
    told, _ = said(graded, "wide")
    four = "bias (minus people), mean absolute error, root mean squared error, quadratic kappa"
    assert (
        f"{four}: undefined, the judge's scores are not in the units of the ratings."
        in told
    )
    assert "judge single outputs only with a limit on errors" in told
    assert "estimate a mean only with people's ratings the judge's scores are" in told


@pytest.mark.parametrize(
    ("column", "note"),
    [
        ("flat", "flat: all scores of the rated texts are 3, which tells nothing"),
        ("coded", "coded: 4 of 80 scores are -1, the others go from"),
    ],
)
def test_strange_scores_are_noted(graded: Path, column: str, note: str) -> None:
    """A constant, and what looks like a failure's code."""
    assert note in said(graded, column)[1]


def test_report_holds_the_worst(graded: Path, tmp_path: Path) -> None:
    """All rows with the judge's reasons, sorted by how far judge and people are apart."""
    report = tmp_path / "report.html"
    said(graded, "judge", "-o", report)
    page = report.read_text()
    assert all(f"judge: because of {i:03}." in page for i in range(len(grades())))
    assert re.search('<select id="sort">\\s*<option value="judge">', page)


def test_turned_scores_of_rows_without_a_rating(tmp_path: Path) -> None:
    """Lower is better: what is corrected by turned scores is what the scores themselves correct."""
    some = [
        row | ({} if i < 40 else {"rating": None}) for i, row in enumerate(grades())
    ]
    path = table(tmp_path / "some.csv", some)
    flags = (*QUICK, "--format", "json")
    plain = run("judge", path, "--score-column", "judge", *flags).json
    turned = run(
        "judge", path, "--score-column", "faults", "--lower-is-better", "faults", *flags
    )
    for name in ("ratings alone", "ratings and scores"):
        assert (
            turned.json["judges"][0]["means"][name] == plain["judges"][0]["means"][name]
        )


def test_before_without_a_common_text(graded: Path, tmp_path: Path) -> None:
    """Nothing can be compared, and that is said."""
    others = [row | {"text": f"another text {i}"} for i, row in enumerate(grades())]
    older = table(tmp_path / "before.csv", others)
    ran = run("judge", graded, "--score-column", "judge", "--before", older, *QUICK)
    assert ran.refuses("--before has none of these texts")


def test_rows_stand_for_many_outputs_in_use(tmp_path: Path) -> None:
    """Corrected means with a column mix are those of rows that are there as often."""
    rng = default_rng(3)
    human = rng.random(120) < 0.6
    judge = human ^ (rng.random(120) < 0.2)
    once = [
        {"id": f"{i:03}", "text": f"answer {i}", "n": 1 + i % 3}
        | {"human": int(human[i]) if i < 60 else "", "judge": int(judge[i])}
        for i in range(120)
    ]
    often = [
        row | {"id": f"{row['id']}.{k}"}
        for row, k in product(once, range(3))
        if k < row["n"]
    ]
    weighted, repeated = (
        run(
            "judge",
            table(tmp_path / name, rows),
            "--score-column",
            "judge",
            *flags,
            *JSON,
        ).json["judges"][0]["means"]
        for name, rows, flags in (
            ("once.csv", once, ("--column", "mix=n")),
            ("often.csv", often, ()),
        )
    )
    for name in ("ratings alone", "scores alone"):
        assert weighted[name]["value"] == pytest.approx(
            repeated[name]["value"], abs=1e-12
        )
    for name in ("ratings alone", "ratings and scores"):
        widths = [np.ptp(means[name]["interval"]) for means in (weighted, repeated)]
        assert widths[0] > widths[1]  # as the same row twice is no new evidence
    once[7]["n"] = -1
    path = table(tmp_path / "bad.csv", once)
    ran = run("judge", path, "--score-column", "judge", "--column", "mix=n", *QUICK)
    assert ran.refuses("mix=n: -1 of id '007' is no number from 0")


def passed(right: float = 0.9, n: int = 60) -> list[dict[str, object]]:
    """Verdicts 1 and 0 of people, and of a judge who is mostly right."""
    rng = default_rng(2)
    human = (rng.random(n) < 0.6).astype(int)
    judge = np.where(rng.random(n) < right, human, 1 - human)
    columns = zip(headlines(n), human.tolist(), judge.tolist(), strict=True)
    return [
        {"id": f"{i}", "text": t, "human": h, "judge": j}
        for i, (t, h, j) in enumerate(columns)
    ]


def measures_of(path: Path, *words: object) -> dict[str, float | None]:
    """The measures of the one judge, by name."""
    ran = run_well("judge", path, "--score-column", "judge", *words, *JSON)
    return {
        name: part["value"] for name, part in ran.json["judges"][0]["measures"].items()
    }


def test_a_verdict_is_a_verdict_on_any_scale(tmp_path: Path) -> None:
    """A judge from 1 to 5 beside pass and fail, the other way round, and two other values."""
    plain = measures_of(table(tmp_path / "plain.csv", passed()))
    assert "kappa" in plain
    graded = [row | {"judge": 3 + 2 * int(str(row["judge"]))} for row in passed()]
    path = table(tmp_path / "graded.csv", graded)
    assert "kappa" not in measures_of(path)
    told = said(path, "judge")[1]
    assert (
        "judge: scores go from 3 to 5 and ratings go from 0 to 1: the units differ"
        in told
    )
    assert "beside verdicts, --pass X is the least" in told
    assert measures_of(path, "--pass", "4") == plain
    rated = [row | {"human": 2 + 3 * int(str(row["human"]))} for row in passed()]
    path = table(tmp_path / "rated.csv", rated)
    assert measures_of(path)["mae"] is None  # verdicts are in other units
    told = said(path, "judge")[1]
    assert (
        "judge: scores go from 0 to 1 and ratings go from 2 to 5: the units differ"
        in told
    )
    assert measures_of(path, "--pass", "4") == plain
    pairs = [
        row | {"human": 1 + int(str(row["human"])), "judge": 1 + int(str(row["judge"]))}
        for row in passed()
    ]
    assert measures_of(table(tmp_path / "pairs.csv", pairs)) == plain
    wide = [row | {"judge": 20 * int(str(row["judge"])) + 60} for row in rated]
    path = table(tmp_path / "wide.csv", wide)
    assert (
        "so --pass 4 makes no verdicts of them" in said(path, "judge", "--pass", "4")[1]
    )


def test_verdicts_that_are_turned(tmp_path: Path) -> None:
    """A judge that passes what people fail is noted; turned it is a judge of verdicts again."""
    plain = measures_of(table(tmp_path / "plain.csv", passed()))
    reverse = [row | {"judge": 1 - int(str(row["judge"]))} for row in passed()]
    path = table(tmp_path / "reverse.csv", reverse)
    note = "judge passes what people fail: --lower-is-better judge turns it"
    assert note in said(path, "judge")[1]
    assert measures_of(path, "--lower-is-better", "judge") == plain
    both = ("--scale", "1", "5", "--lower-is-better", "low")
    low = [row | {"low": 6 - int(str(row["judge"]))} for row in grades()]
    path = table(tmp_path / "low.csv", low)
    told = said(path, "low", *both)[0]
    assert "mean absolute error 0." in told
    assert "undefined" not in told.split("What is not claimed")[0]


def test_a_word_among_verdicts_is_named(tmp_path: Path) -> None:
    """The odd word is at fault, and not the verdicts around it."""
    rows = [
        row | {"judge": "unsure"} if i == 40 else row
        for i, row in enumerate(verdicts())
    ]
    path = table(tmp_path / "words.csv", rows)
    ran = run("judge", path, *VERDICTS)
    assert ran.refuses("line 42, column 'judge': score 'unsure' is not a number")
    ran = run("judge", path, *VERDICTS, "--skip-bad")
    assert (ran.code, "Cohen's kappa" in ran.out) == (0, True), ran.err


def test_votes_of_several_annotators_are_verdicts(tmp_path: Path) -> None:
    """A text that at least half of them pass has passed."""
    votes = [
        {**row, "rater_a": human, "rater_b": human, "rater_c": i % 2}
        for i, (row, human) in enumerate(
            zip(
                only(passed(), "id", "text", "judge"),
                column(passed(), "human"),
                strict=True,
            )
        )
    ]
    path = table(tmp_path / "votes.csv", votes)
    found = measures_of(path, "--column", "rating=rater_*")
    assert found["kappa"] == measures_of(table(tmp_path / "one.csv", passed()))["kappa"]
    assert found["mae"] is not None
    two = ("--column", "rating=rater_a", "--column", "rating=rater_c")
    card, notes = said(path, "judge", *two)
    assert "texts, on which raters are split evenly, pass; --pass 0.51" in notes
    strict = measures_of(path, *two, "--pass", "0.51")["kappa"]
    assert "evenly, pass; with --pass 0.51 they fail, as do scores below it" in card
    assert f"kappa is {strict:.3f}" in card
    like_c = [{**row, "judge": row["rater_c"]} for row in votes]
    card, _ = said(table(tmp_path / "like_c.csv", like_c), "judge", *two)
    assert card.startswith("Not known: it depends on 32 texts on which raters are")
    assert "evenly, pass (rater_a passes" not in card
    assert "judge single outputs cannot be told yet it depends on" in card
    assert re.search("Not for: use by itself to [a-z ]*judge single outputs", card)


@pytest.mark.parametrize("passing", [(), ("--pass", "6")])
def test_a_judge_who_says_one_thing_estimates_nothing(
    tmp_path: Path, passing: tuple[str, ...]
) -> None:
    """However near its mean lies."""
    ratings = [*map(int, "2433333333" * 40)]
    rows: list[dict[str, object]] = [
        {"id": f"{i}", "rating": rating, "judge": 3} for i, rating in enumerate(ratings)
    ]
    told, _ = said(table(tmp_path / "flat.csv", rows), "judge", *passing)
    assert re.search("estimate a (mean|rate) cannot be told yet it says the same", told)


def test_slices_of_columns_with_a_role(graded: Path) -> None:
    """Systems are ranked and the own family found although systems are slices too."""
    told, _ = said(graded, "kind", "--by", "system", "--own", "gpt*")
    assert "compare versions" in told
    assert "system lama" in told
    assert "family own" in told


def test_gates_that_cannot_be_answered_are_refused(
    graded: Path, tmp_path: Path
) -> None:
    """No row with both, no judge, or choices between two texts."""
    apart = [row | {("rating", "judge")[i % 2]: None} for i, row in enumerate(grades())]
    path = table(tmp_path / "apart.csv", apart)
    ran = run(
        "judge", path, "--score-column", "judge", "--require", "kappa>=0.6", *QUICK
    )
    assert ran.refuses("no row has both a rating and a score of judge")
    ran = run("judge", graded, "-m", "bleu", "--require", "kappa>=0.6", *QUICK)
    assert ran.refuses("--require goes with --score-column")
    pairs = [
        {
            "prompt": f"p{i}",
            "response_a": f"{text} a",
            "response_b": f"{text} b",
            "winner": "ab"[i % 2],
            "s_a": i % 3,
            "s_b": i % 5,
        }
        for i, text in enumerate(headlines(40))
    ]
    ran = run(
        "judge",
        jsonl(tmp_path / "pairs.jsonl", pairs),
        "--score-column",
        "s",
        "--require",
        "kappa>=0.6",
        "--runs",
        *QUICK,
    )
    assert ran.refuses("--runs, --require cannot be answered")
    half = table(tmp_path / "half.csv", [row | {"none": None} for row in grades()])
    assert "1 metric." in said(half, "judge", "--score-column", "none")[0]


def test_other_rows_on_another_scale_correct_nothing(tmp_path: Path) -> None:
    """No mean is the one to print: the scale is another one, or the rated rows were selected."""
    mixed = [
        row | ({} if i < 40 else {"rating": None, "judge": 100})
        for i, row in enumerate(grades())
    ]
    path = table(tmp_path / "mixed.csv", mixed)
    ran = run("judge", path, "--score-column", "judge", *JSON)
    (one,) = ran.json["judges"]
    assert (one["first"], one["means"]["ratings and scores"]["value"]) == ("", None)
    assert ran.err.count("40 of 40 scores of the outputs lie outside") == 1


def test_what_is_told_of_metrics(tmp_path: Path) -> None:
    """An estimator is none; empty outputs, and metrics of other texts, are named."""
    texts = ["", *headlines(29)]
    table_of = [
        {"text": text, "rating": i % 5, "short": -i % 7 if i % 2 else None}
        for i, text in enumerate(texts)
    ]
    path = jsonl(tmp_path / "r.jsonl", table_of)
    (tmp_path / "own.py").write_text("def size(text): return len(text)\n")
    ran = run("judge", path, "-m", "bleu-neighbors")
    assert ran.refuses("is an estimator: --estimator bleu-neighbors holds it beside")
    own = f"{tmp_path}/own.py:size"
    ran = run("judge", path, "-m", own, "--score-column", "short", *QUICK)
    assert "1 output is empty, and" in ran.err
    assert "Each metric is over the n segments that it scored." in ran.out


def test_a_judge_that_is_the_rating_or_its_reverse(tmp_path: Path) -> None:
    """The one is noted, the other is no lack of agreement."""
    rows = [
        row | {"copy": row["rating"], "low": 6 - int(str(row["judge"]))}
        for row in grades()
    ]
    path = table(tmp_path / "copy.csv", rows)
    assert (
        "copy orders the texts just as people do, or just the reverse: it may be"
        in said(path, "copy")[1]
    )
    assert (
        "low is low where people rate high (--lower-is-better turns"
        in said(path, "low")[0]
    )


def test_equal_texts_are_told_apart_by_their_ids(tmp_path: Path) -> None:
    """Short answers are often the same; without ids only those that are there once are compared."""
    rows = [row | {"text": ("yes", "no")[i % 2]} for i, row in enumerate(passed())]
    older = [
        row | {"judge": 1 - int(str(row["judge"])) if i % 3 else row["judge"]}
        for i, row in enumerate(rows)
    ]
    path = table(tmp_path / "now.csv", rows)
    before = table(tmp_path / "old.csv", older[::-1])
    words = ("--score-column", "judge", "--before", before, *JSON)
    drift = run("judge", path, *words).json["drifts"]["judge"]
    assert (drift["n"], drift["flips"]["value"]) == (60, pytest.approx(2 / 3))
    for rows_, name in ((rows, "now.csv"), (older, "old.csv")):
        bare = only(rows_, "text", "human", "judge")
        bare[0]["text"] = "perhaps"
        table(tmp_path / name, bare if name == "now.csv" else bare[::-1])
    assert run("judge", path, *words).json["drifts"]["judge"]["n"] == 1


def test_repeated_rows_count_once(tmp_path: Path) -> None:
    """Rows that stand twice are no new evidence, unless --group id says that they are."""
    rows = [
        {**row, "id": i, "text": f"Then {row['text']}"}
        for i, row in enumerate(only(grades() * 2, "rating", "judge", "text"))
    ]
    once, twice = (
        table(tmp_path / name, part)
        for name, part in (("a.csv", rows[:80]), ("b.csv", rows))
    )
    found = [
        run("judge", path, "--score-column", "judge", *JSON, *more).json
        for path, more in ((once, ()), (twice, ()), (twice, ("--group", "id")))
    ]
    assert ["drawn:text|units:80" in one["signature"] for one in found] == [
        True,
        True,
        False,
    ]
    biases = [one["judges"][0]["measures"]["bias"] for one in found]
    widths = [np.ptp(bias["interval"]) for bias in biases]
    assert widths[1] == pytest.approx(widths[0], rel=0.02)
    assert widths[2] < 0.75 * widths[0]
