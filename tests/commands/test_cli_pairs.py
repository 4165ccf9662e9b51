"""Commands on preference pairs, as people call them."""

import json
import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from benchmarks.simulate import simulate

from command_line import json_of, jsonl, repeated, run, run_well


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Choices of two raters between simulated systems, by true quality, and new outputs."""
    where = tmp_path_factory.mktemp("pairs")
    found = simulate(120)
    pool = found.pool
    rng = np.random.default_rng(0)
    rows = []
    for a in range(len(pool)):
        for b in range(a + 1, len(pool)):
            if pool.sources[a] != pool.sources[b]:
                continue
            for rater in "pq":
                ahead = 8 * (found.quality[a] - found.quality[b])
                won = rng.random() < 1 / (1 + np.exp(-ahead))
                rows.append(
                    {
                        "prompt": pool.sources[a],
                        "response_a": pool.texts[a],
                        "response_b": pool.texts[b],
                        "winner": "model_a" if won else "model_b",
                        "model_a": pool.systems[a],
                        "model_b": pool.systems[b],
                        "rater": rater,
                        "words_a": len(pool.texts[a].split()),
                        "words_b": len(pool.texts[b].split()),
                        "truth_a": found.quality[a],
                        "truth_b": found.quality[b],
                    }
                )
    jsonl(where / "pairs.jsonl", rows)
    new = simulate(12, seed=9).pool
    columns = zip(new.texts, new.sources, new.systems, strict=True)
    jsonl(
        where / "new.jsonl",
        [{"text": t, "source": s, "system": m} for t, s, m in columns],
    )
    return where


def test_validate(folder: Path) -> None:
    """Held out by source the estimator is of use; length, words, a coin and people stand beside."""
    out = ("-o", folder / "page.html", "-o", folder / "found.json")
    ran = run_well("validate", folder / "pairs.jsonl", *out)
    assert ran.out.startswith("Estimates are right in 87 % of the pairs (")
    assert f"  refless score OUTPUTS --rated {folder / 'pairs.jsonl'}\n" in ran.out
    for name in ("length", "TF-IDF", "a coin", "Beside one person"):
        assert name in ran.out
    lines = [line for line in ran.out.splitlines() if "signature" not in line]
    assert max(len(line) for line in lines if "refless score" not in line) <= 80
    assert "<svg" in (folder / "page.html").read_text()
    found = json.loads((folder / "found.json").read_text())
    names = [line["name"] for line in found["judges"]]
    assert names == ["the Gaussian process", "length", "TF-IDF", "a coin"]
    assert found["use"] is True


def test_scores_beside_the_texts(folder: Path) -> None:
    """A judge's scores are read, judged alone, and left out of the texts' own line."""
    words = ("validate", folder / "pairs.jsonl", "--score-column", "words")
    found = json_of(*words)
    names = [line["name"] for line in found["judges"]]
    assert names[:3] == [
        "the Gaussian process + scores",
        "the Gaussian process",
        "words",
    ]


def test_score(folder: Path) -> None:
    """Careful systems are preferred to broken ones; the estimate is a share of choices."""
    words = ("score", folder / "new.jsonl", "--rated", folder / "pairs.jsonl")
    ran = run_well(*words, "--format", "json")
    means = ran.json["systems"]
    assert 1 > means["careful"]["mean"] > 0.5 > means["broken"]["mean"] > 0
    assert len(ran.json["items"]) == 12


def test_compare(folder: Path) -> None:
    """The win rate of the second system, by item; a gate on it."""
    two = (
        "compare",
        folder / "pairs.jsonl",
        "--system",
        "careful",
        "--system",
        "broken",
    )
    ran = run(*two)
    assert ran.out.startswith("broken wins 16 % of the choices (")
    gate = ("gate", folder / "pairs.jsonl", "--baseline")
    report = ("-o", f"junit:{folder / 'gate.xml'}")
    failed = run(*gate, "careful", "--candidate", "broken", *report)
    assert "<failure" in (folder / "gate.xml").read_text()
    assert failed.ended(3, "gate failed: broken is worse than careful: win rate 16 [")
    assert run(*gate, "broken", "--candidate", "careful").code == 0
    other = (
        "compare",
        folder / "pairs.jsonl",
        "--system",
        "broken",
        "--system",
        "careful",
    )
    one, back = (json_of(*words)["wins"][0] for words in (two, other))
    assert one["by_item"]["rate"] == pytest.approx(1 - back["by_item"]["rate"])


def test_choices_of_the_systems_that_are_compared(folder: Path) -> None:
    """Of two systems their own choices count, of all systems all; what is shown comes first."""
    every = json_of("compare", folder / "pairs.jsonl")
    words = (
        "compare",
        folder / "pairs.jsonl",
        "--system",
        "careful",
        "--system",
        "broken",
    )
    two = json_of(*words)
    assert every["choices"] == sum(pair["by_item"]["choices"] for pair in every["wins"])
    assert two["choices"] == two["wins"][0]["by_item"]["choices"] < every["choices"]
    planned = run("compare", folder / "pairs.jsonl", "--looks", 4)
    assert planned.refuses("--looks any holds however often you look")
    told = run("compare", folder / "pairs.jsonl").line
    assert told.startswith("careful wins most, and is preferred to every other")
    clearest = min(
        every["wins"],
        key=lambda pair: (pair["p_holm"], -abs(pair["by_item"]["rate"] - 0.5)),
    )
    first = told.split("p (Holm)")[1].split("0.")[0]
    assert f"{clearest['second']} over {clearest['first']}" in first


def test_meta(folder: Path) -> None:
    """The score that the choices were made by is right most often; words may be turned."""
    words = (
        "judge",
        folder / "pairs.jsonl",
        "--score-column",
        "words",
        "--score-column",
        "truth",
    )
    ran = run(*words)
    assert ran.line.startswith("truth is right in 94 % of the pairs (")
    turned = json_of(*words, "--lower-is-better", "truth")
    assert [line["name"] for line in turned["judges"]] == ["words", "truth"]
    assert turned["use"] is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("validate pairs.jsonl --scale 1 5", "0 is outside"),
        (
            "validate pairs.jsonl --group system",
            "--group system: choices between two texts are",
        ),
        (
            "compare pairs.jsonl --system nobody",
            "--system nobody is none of the systems: broken",
        ),
        (
            "compare pairs.jsonl --group item",
            "--group is about ratings, and these are choices",
        ),
        ("judge pairs.jsonl", "at least one --score-column"),
        ("judge pairs.jsonl -m bleu", "references"),
        ("score pairs.jsonl --rated pairs.jsonl", "preference pairs are rated texts"),
    ],
)
def test_what_makes_no_sense_of_pairs(folder: Path, words: str, said: str) -> None:
    """One line that names the remedy."""
    asked = [
        folder / word if word[0] == "x" or ".jsonl" in word else word
        for word in words.split()
    ]
    if "--out-dir" in asked:
        (folder / "x").mkdir(exist_ok=True)
    ran = run(*asked)
    assert ran.refuses(said)


def test_a_pipe(folder: Path) -> None:
    """Standard input is read as pairs where that is said."""
    text = (folder / "pairs.jsonl").read_text()
    run_well("validate", "-", "--read", "format=preference-pairs", stdin=text)


def test_the_best_of_many_scores_that_are_noise(tmp_path: Path) -> None:
    """The score that is right most often of twelve is right by chance, and is not recommended."""
    rng = np.random.default_rng(2)
    names = [f"s{j}_{side}" for j, side in product(range(12), "ab")]
    rows = [
        {
            "prompt": f"q{i}",
            "response_a": f"first {i}",
            "response_b": f"second {i}",
            "winner": "ab"[int(rng.integers(2))],
            **dict(zip(names, rng.normal(size=24).tolist(), strict=True)),
        }
        for i in range(80)
    ]
    path = jsonl(tmp_path / "pairs.jsonl", rows)
    words = repeated("--score-column", [f"s{j}" for j in range(12)])
    ran = run("judge", path, *words)
    best = json_of("judge", path, *words)["judges"][0]
    assert best["interval"][0] > 0.5
    said = ran.line
    assert re.match(r"s4 is right in 62 % .* as a coin can be\.", said)
    assert "allows for the choice of the best of 12 scores" in said
