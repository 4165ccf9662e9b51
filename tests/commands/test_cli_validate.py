"""refless validate: every format, groups, kinds of ratings, and the published data."""

import functools
import json
import shlex
from itertools import product
from pathlib import Path

import pytest
from benchmarks.simulate import simulate
from numpy.random import default_rng

from command_line import (
    Ran,
    headlines,
    json_of,
    jsonl,
    one_line,
    rated_rows,
    repeated,
    run,
    run_well,
    too_wide,
)
from places import DATA
from published import needed
from refless.registry.signature import Signature

SCALE = ("--scale", 1, 5)
MEASURES = ("mse", "mae", "pearson", "spearman", "kendall")


def validated(path: Path, *words: object, estimator: str = "bleu-neighbors") -> Ran:
    """`refless validate` of one estimator."""
    return run("validate", path, "--estimator", estimator, *words)


known = functools.cache(validated)  # where a run is only looked at


@pytest.fixture(scope="module")
def rated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return jsonl(tmp_path_factory.mktemp("validate") / "rated.jsonl", rated_rows())


def test_published_numbers() -> None:
    """HUSE summarization (docs/estimating.md): BLEU Neighbors, each text held out alone.

    Ethayarajh & Sadigh 2020, Table 1, print 0.0213, 0.325 and 0.99; exact means and the character
    n-grams that reproduce them give these.
    """
    needed("huse-summarization")
    path = DATA / "huse-summarization" / "judgements.tsv"
    ran = validated(path, "--scale", 1, 6, "--group", "id", "--format", "json")
    found = ran.json["estimator"]
    assert found["mse"] == pytest.approx(0.0214, abs=0.0002)
    assert found["spearman"] == pytest.approx(
        0.345, abs=0.004
    )  # within folds; published 0.316
    assert found["coverage"] == 0.995


def test_json(rated: Path) -> None:
    """Every measure has an interval around it, errors their raw units."""
    ran = known(rated, *SCALE, "--format", "json")
    assert ran.code == 0
    found = ran.json
    for name in MEASURES:
        low, high = found["estimator"][f"{name}_interval"]
        assert low <= found["estimator"][name] <= high
    assert found["in_scale"]["mse"] == pytest.approx(16 * found["estimator"]["mse"])
    assert found["in_scale"]["mae"] == pytest.approx(4 * found["estimator"]["mae"])
    assert found["estimator"]["auc"] is None  # ratings of more than two values


@pytest.mark.parametrize("group", ["system", "mood"])
def test_groups(tmp_path: Path, group: str) -> None:
    """Held out together by a known role or by any column; the signature says by what."""
    rows = [
        {**row, "mood": ["good", "bad"][len(str(row["text"])) % 2]}
        for row in rated_rows()
    ]
    found = validated(
        jsonl(tmp_path / "r.jsonl", rows), "--group", group, "--format", "json"
    )
    assert found.code == 0
    assert Signature.parse(found.json["signature"]).get("heldout") == group
    single = validated(tmp_path / "r.jsonl", "--group", "id", "--format", "json")
    assert single.json["estimator"]["mse"] != found.json["estimator"]["mse"]


def test_what_belongs_together_is_held_out(tmp_path: Path) -> None:
    """Sources by default; items if there are no sources, with the same numbers."""
    rows = rated_rows()
    for row in rows:
        row["item"] = row.pop("source")
    of_items = known(
        jsonl(tmp_path / "items.jsonl", rows), *SCALE, "--format", "json"
    ).json
    for row in rows:
        row["source"] = row.pop("item")
    of_sources = known(
        jsonl(tmp_path / "sources.jsonl", rows), *SCALE, "--format", "json"
    ).json
    assert of_sources["estimator"] == of_items["estimator"]
    assert (
        of_sources["side_by_side"]["n_drawn"]
        == of_items["side_by_side"]["n_drawn"]
        == 12
    )
    for name, result in {"source": of_sources, "item": of_items}.items():
        signed = Signature.parse(result["signature"])
        assert (signed.get("heldout"), signed.get("drawn"), signed.get("units")) == (
            name,
            name,
            "12",
        )
        line = f"48 texts from 12 {name}s, which were drawn whole; 3 raters, 3 on each text."
        assert result["design"] == line
        assert line in known(tmp_path / f"{name}s.jsonl", *SCALE).line


def test_the_fair_annotator_is_told(rated: Path) -> None:
    """The first line compares with the mean of the others; the table's people are flattered."""
    ran = known(rated, *SCALE)
    said = ran.line
    assert (
        "On equal terms, both against the mean of the other annotators, Spearman is"
        in said
    )
    found = known(rated, *SCALE, "--format", "json").json["beside"]
    low, high = found["difference_interval"]
    gap = found["estimator"] - found["annotator"]
    assert f"a difference of {gap:.3f} [{low:.3f}, {high:.3f}]" in said


def test_few_groups_are_told(rated: Path) -> None:
    """Four systems say little about others, whatever the interval says."""
    out = validated(rated, *SCALE, "--group", "system").out
    assert "Intervals rest on 4 groups only, too few to rely on." in one_line(out)


def test_groups_of_the_same_texts(tmp_path: Path) -> None:
    """Copies are held out together, so all texts are, and nothing is left: said, with a way out."""
    days = ("monday", "tuesday")
    rows = [
        {"text": text, "rating": i % 5, "day": day}
        for (i, text), day in product(enumerate(headlines(12)), days)
    ]
    ran = validated(jsonl(tmp_path / "r.jsonl", rows), "--group", "day")
    assert ran.code == 2
    for said in ("each day holds the same texts", "--group text", "--column id"):
        assert said in ran.err
    named = [{**row, "id": f"t{i}"} for i, row in enumerate(rows)]
    assert validated(jsonl(tmp_path / "n.jsonl", named), "--group", "day").code == 0


def test_groups_that_are_not_there(tmp_path: Path) -> None:
    """A missing column, or one group only, is wrong usage."""
    rows = [
        {"text": text, "rating": i % 5, "task": "one"}
        for i, text in enumerate(headlines(9))
    ]
    for group in ("source", "task"):
        ran = validated(jsonl(tmp_path / "r.jsonl", rows), "--group", group)
        assert ran.refuses(group)


def test_seeds(rated: Path) -> None:
    """Only intervals hang on them, and the signature names the seed."""
    alone = (
        "--group",
        "id",
        "--format",
        "json",
    )  # more texts than parts of the jackknife
    runs = (validated(rated, *alone, "--seed", seed).json for seed in (0, 0, 7))
    first, again, other = runs
    assert first == again
    assert first["estimator"]["mse"] == other["estimator"]["mse"]
    assert first["estimator"]["mse_interval"] != other["estimator"]["mse_interval"]
    assert Signature.parse(first["signature"]).get("ci") == "jack-20"
    assert Signature.parse(other["signature"]).get("seed") == "7"


def test_thumbs(tmp_path: Path) -> None:
    """Two values of ratings have an AUC; words that speak for themselves are mapped aloud."""
    numbers = [
        {"id": i, "text": text, "rating": int("Torby" in text or "river" in text)}
        for i, text in enumerate(headlines(48))
    ]
    words = [{**row, "rating": "👍" if row["rating"] else "👎"} for row in numbers]
    mapped = [{**row, "rating": "fine" if row["rating"] else "poor"} for row in numbers]
    scale = ("--scale", "0", "1", "--format", "json")
    found = validated(jsonl(tmp_path / "n.jsonl", numbers), *scale)
    assert 0.5 < found.json["estimator"]["auc"] <= 1
    assert "AUC" in validated(tmp_path / "n.jsonl").out
    aloud = validated(jsonl(tmp_path / "w.jsonl", words), "--format", "json")
    assert aloud.found == found.found
    assert "👍" in aloud.err
    assert "on a scale from 0 to 1" in aloud.err
    flags = ("--read", "rating-map=fine=1,poor=0", *scale)
    assert validated(jsonl(tmp_path / "m.jsonl", mapped), *flags).found == found.found
    refused = validated(tmp_path / "m.jsonl")
    assert refused.refuses("'fine', 'poor'")


def test_without_annotators(tmp_path: Path) -> None:
    """If nobody is named there is no human yardstick, and that is said plainly."""
    rows = [{"text": text, "rating": i % 5} for i, text in enumerate(headlines(30))]
    path = jsonl(tmp_path / "r.jsonl", rows)
    said = validated(path).line
    assert "No comparison with single annotators: the ratings do not say" in said
    assert "the ratings do not say who gave them" in said
    found = validated(path, "--format", "json").json
    assert found["beside"] is None
    assert "who gave them" in found["annotators_reason"]


@pytest.mark.parametrize(
    ("ratings", "n"),
    [([3.0] * 20, 20), ([2.0], 1), ([1.0, 2.0], 2), ([1e6 * i for i in range(20)], 20)],
    ids=["equal", "one", "two", "huge"],
)
def test_pools_that_teach_nothing(tmp_path: Path, ratings: list[float], n: int) -> None:
    """Undefined measures are null with a reason, in every format; nothing breaks."""
    rows = [
        {"text": t, "rating": r} for t, r in zip(headlines(n), ratings, strict=True)
    ]
    path = jsonl(tmp_path / "r.jsonl", rows)
    found = validated(path, "--format", "json")
    assert found.code == 0
    for name in MEASURES:
        undefined = found.json["estimator"][name] is None
        assert undefined == (name in found.json["estimator"]["undefined"])
    for shown in ("text", "md", "csv", "jsonl"):
        assert validated(path, "--format", shown).code == 0
    assert not too_wide(validated(path).out)


def test_copies_are_told(tmp_path: Path) -> None:
    """Copies are held out together unless --group id has them judge each other."""
    rows = [{"text": text, "rating": i % 5} for i, text in enumerate(headlines(30))]
    path = jsonl(tmp_path / "copies.jsonl", rows * 3)
    ran = validated(path, "--group", "id", "--format", "json", estimator="gp")
    assert "90 of 90 texts occur more than once" in ran.err
    apart = validated(path, "--format", "json", estimator="gp")
    assert "more than once. If several people rated each, an id" in apart.err
    assert "own copies" not in apart.err
    assert apart.json["design"].endswith("60 texts repeat others and count with them.")
    assert apart.json["estimator"]["mse"] > 5 * ran.json["estimator"]["mse"]
    named = validated(path, "--group", "text", "--format", "json", estimator="gp")
    assert named.json["estimator"] == apart.json["estimator"]
    short = [{"text": ["yes", "no"][i % 2], "rating": i % 5} for i in range(40)]
    ran = validated(jsonl(tmp_path / "short.jsonl", short))
    assert (
        "40 of 40 texts occur more than once" in ran.err
    )  # too short to be called copies


def test_bad_rows_by_what_is_wrong(tmp_path: Path) -> None:
    """Each fault is counted, and its first row is named."""
    rows = [
        {**row, "rating": 1e999 if i % 3 == 0 else 3 + i % 2}
        for i, row in enumerate(rated_rows())
    ]
    rows[1]["text"] = None
    ran = validated(jsonl(tmp_path / "r.jsonl", rows), *SCALE, "--skip-bad")
    told = [line for line in ran.err.splitlines() if "bad row:" in line]
    assert len(told) == 2
    assert "49 bad rows skipped: 48 rating inf is not finite, 1 no text" in ran.err
    assert sorted("no text" in line for line in told) == [False, True]


def test_ratings_given_twice_are_told(tmp_path: Path) -> None:
    """One annotator, one text, two ratings: both count, which is said."""
    rows = rated_rows()
    ran = validated(jsonl(tmp_path / "r.jsonl", [*rows, *rows[:5]]), *SCALE)
    assert (
        "5 times an annotator rated the same text again; every rating counts" in ran.err
    )
    again = validated(jsonl(tmp_path / "q.jsonl", rows), *SCALE)
    assert "rated the same text again" not in again.err


def test_side_by_side(rated: Path) -> None:
    """Without --estimator three are tried, beside baselines, on the same texts.

    Everything after the table is about the one to use; each row is what that method has by itself.
    """
    ran = run_well("validate", rated, *SCALE, "--format", "json")
    found = ran.json
    table = ran.json["side_by_side"]
    names = [one["name"] for one in table["methods"]]
    assert names == [
        "the Gaussian process",
        "BLEU Neighbors",
        *table["baselines"],
    ]
    assert {"length", "constant"} < {*table["baselines"]}
    by_name = {one["name"]: one for one in table["methods"]}
    used = by_name[table["reference"]]
    for measure in ("spearman", "mse", "coverage"):
        assert used[measure] == pytest.approx(found["estimator"][measure], abs=1e-12)
    for name, one in by_name.items():
        low, high = one["gain_interval"]
        if name in {"constant", table["reference"]}:
            assert (low, high) == (None, None)
        else:
            assert one["gain"] == pytest.approx(one["spearman"] - used["spearman"])
            assert low <= one["gain"] <= high
    alone = known(rated, *SCALE, "--format", "json").json
    expected = pytest.approx(alone["estimator"]["spearman"], abs=1e-12)
    assert by_name["BLEU Neighbors"]["spearman"] == expected
    assert alone["side_by_side"]["reference"] == "BLEU Neighbors"


def test_the_recommended_command_runs(rated: Path, tmp_path: Path) -> None:
    """It names the columns, scale, seed and estimator that were validated, and nothing else."""
    rows = rated_rows(144)
    rows = [
        {"words": row["text"], "mark": row["rating"], "id": row["id"]} for row in rows
    ]
    path = jsonl(tmp_path / "odd names.jsonl", rows)
    columns = ("--column", "text=words", "--column", "rating=mark")
    ran = run("validate", path, *columns, *SCALE, "--seed", 3)
    (line,) = (line for line in ran.out.splitlines() if line.startswith("  refless "))
    assert line.startswith("  refless score OUTPUTS --rated ")
    assert line.count("seed") == 1
    outputs = jsonl(tmp_path / "o.jsonl", [{"words": text} for text in headlines(5)])
    words = [
        str(outputs) if word == "OUTPUTS" else word for word in shlex.split(line)[1:]
    ]
    used = run_well(*words, "--format", "json")
    found = json_of("validate", path, *columns, *SCALE, "--seed", 3)
    first, second = (Signature.parse(one["signature"]) for one in (used.json, found))
    assert first.name == second.name
    for name in ("pool", "scale", "seed", "w", "tau"):
        assert first.get(name) == second.get(name)


def test_the_verdict_comes_first(tmp_path: Path) -> None:
    """A few words before the table; the page has the command that goes on."""
    pool = simulate(150).pool
    columns = zip(pool.texts, pool.sources, (1 + 4 * pool.human).tolist(), strict=True)
    rows = [
        {"text": text, "source": source, "rating": human}
        for text, source, human in columns
    ]
    rated = jsonl(tmp_path / "rated.jsonl", rows)
    page = tmp_path / "x.html"
    ran = run("validate", rated, *SCALE, "-o", page, "-o", tmp_path / "x.json")
    out = ran.out
    said = one_line(out)
    found = json.loads((tmp_path / "x.json").read_text("utf-8"))
    assert said.startswith("Yes: better than guessing the average, 3.4, for every")
    assert found["verdict"] in said
    assert out.index("Side by side on the same texts") < out.index(
        "Agreement with people"
    )
    best = found["side_by_side"]["reference"]
    assert found["verdict"].lower().startswith(f"use {best}: it agrees".lower())
    assert not too_wide(out)
    html = page.read_text("utf-8")
    assert "refless score OUTPUTS" in html.split('<section id="numbers"')[0]


def test_nothing_to_recommend(tmp_path: Path) -> None:
    """Ratings dealt out at random, or too few of them: use none, and no command is offered."""
    rng = default_rng(4)
    rows = [{"text": t, "rating": int(rng.integers(1, 6))} for t in headlines(60)]
    ran = run("validate", jsonl(tmp_path / "r.jsonl", rows), *SCALE)
    assert ran.out.startswith("Not shown to be better than guessing the average, 3.3")
    assert "Use none: no agreement with people is shown" in ran.line
    assert "refless score" not in ran.out
    few = run("validate", jsonl(tmp_path / "f.jsonl", rows[:12]), *SCALE)
    assert few.out.startswith("Not known: 12 estimates are too few to tell.")
    assert "refless score" not in few.out


def test_what_is_ahead_comes_first_on_real_ratings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Corrections of learner sentences: length ranks best."""
    needed("edits")
    path = DATA / "edits" / "grammar.jsonl"
    monkeypatch.setattr("refless.commands.validate.run.AT_MOST", 300)
    ran = validated(path, "--group", "item", "--scale", 0, 100, estimator="gp")
    assert ran.out.startswith("The Gaussian process is not shown to be better")
    assert "length is ahead of it in Spearman by 0." in ran.line
    assert "refless score" not in ran.out


def test_what_to_try_where_the_systems_name_is_ahead(tmp_path: Path) -> None:
    """Only of an estimator that does not read it already."""
    rng = default_rng(0)
    rows = [
        {"text": text, "system": f"m{i % 3}", "rating": 1 + i % 3 + rng.normal() / 2}
        for i, text in enumerate(headlines(90))
    ]
    path = jsonl(tmp_path / "r.jsonl", rows)
    ran = validated(path, estimator="gp")
    said = ran.line
    assert (
        "the system's name is ahead" in said
        or "a baseline, the system's name, agrees" in said
    )
    assert "try --estimator gp:use_system=yes." in said
    assert "gp:use_system=yes" not in validated(path, estimator="gp:use_system=yes").out


def test_threads_are_no_name(rated: Path) -> None:
    """No number depends on them, so two estimators are called by what sets them apart."""
    given = ("--estimator", "gp", "--estimator", "gp:use_system=yes", "--threads", 1)
    names = [
        one["name"]
        for one in json_of("validate", rated, *given)["side_by_side"]["methods"]
    ]
    assert names[:2] == ["gp", "gp:use_system=yes"]


def test_estimators_that_are_named(rated: Path) -> None:
    """--estimator is repeatable: the first stands until another one is shown to rank better."""
    given = ("bleu-neighbors:tau=0.05", "bleu-neighbors:tau=0.1", "gp")
    flags = repeated("--estimator", given)
    ran = run_well("validate", rated, *SCALE, *flags, "--format", "json")
    table = ran.json["side_by_side"]
    names = [one["name"] for one in table["methods"]]
    assert names[:3] == [
        "bleu-neighbors:tau=0.05",
        "bleu-neighbors:tau=0.1",
        "the Gaussian process",
    ]
    better = [
        one["name"]
        for one in table["methods"][:3]
        if (one["gain_interval"][0] or 0) > 0
    ]
    assert not better
    single = validated(rated, *SCALE, "--format", "json", estimator="gp").json
    assert [one["name"] for one in single["side_by_side"]["methods"]] == [
        "the Gaussian process",
        *single["side_by_side"]["baselines"],
    ]


@pytest.mark.parametrize(("tail", "said"), [(2, True), (100, False)])
def test_heavy_tails_are_named(tail: int, said: bool, tmp_path: Path) -> None:
    """If few texts make up the MSE, no interval of it knows what these texts lack."""
    rng = default_rng(0)
    ratings = enumerate(rng.standard_t(tail, 100).tolist())
    rows = [
        {"id": f"a{i}", "text": f"text {i % 7} of {i}", "rating": r} for i, r in ratings
    ]
    ran = run("validate", jsonl(tmp_path / "rated.jsonl", rows), "--estimator", "gp")
    assert ("The worst 5 % of the errors make up" in ran.out) is said
