"""refless metric: parameters, plain files, formats, intervals, misuse."""

import json
from itertools import product

import jsonschema
import numpy as np
import pytest
import sacrebleu

import command_line
from command_line import jsonl, run_well
from refless import gate, metric
from refless.data.records import Outputs
from refless.extensions.metrics.bleu import BLEU
from refless.extensions.metrics.delta import DeltaBLEU
from refless.extensions.metrics.result import MetricResult
from refless.extensions.metrics.scoring import run
from refless.metrics.protocol import metric_of
from rows import without

SCHEMA = MetricResult.schema()
GOOD = "the food was delicious ."
BAD = "it tasted terrible ."
ROWS = [
    ("a", "s1", "the food was quite good .", [GOOD, BAD], [1, -1]),
    ("b", "s1", "the music was great .", ["it was great ."], [1]),
    ("c", "s2", "the food tasted terrible .", [GOOD, BAD], [1, -1]),
]


@pytest.fixture
def file(tmp_path):
    """Three outputs of two systems with weighted references."""
    names = ("id", "system", "text", "references", "weights")
    path = tmp_path / "outputs.jsonl"
    lines = (json.dumps(dict(zip(names, row, strict=True))) for row in ROWS)
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def refless(*arguments, status=0):
    """The command, with the exit status that it has to have."""
    ran = command_line.run(*arguments)
    assert ran.code == status, ran.err
    return ran


def test_json_keeps_its_schema(file) -> None:
    """Scores by metric and system; segments by item; as the library gives them."""
    ran = refless(
        "metric", file, "-m", "bleu:order=2", "-m", "delta-bleu", "--format", "json"
    )
    found = ran.json
    jsonschema.validate(found, SCHEMA)
    bleu, delta = found["metrics"]
    outputs = Outputs(
        ids=("a", "b", "c"),
        texts=tuple(row[2] for row in ROWS),
        references=tuple(tuple(row[3]) for row in ROWS),
        weights=tuple(tuple(row[4]) for row in ROWS),
    )
    assert bleu["score"] == BLEU(order=2).score(outputs).corpus
    assert delta["score"] == DeltaBLEU().score(outputs).corpus
    assert set(delta["systems"]) == {"s1", "s2"}
    assert delta["systems"]["s2"]["score_interval"] == [None, None]
    segments = [item["scores"]["delta-bleu"] for item in found["items"]]
    assert segments == DeltaBLEU().score(outputs).segments.tolist()
    assert delta["signature"].startswith("delta-bleu|order:4|tok:13a")


def test_plain_files_as_sacrebleu_takes_them(tmp_path) -> None:
    """One output a line, one file a reference stream: sacrebleu's number, and it is said aloud."""
    texts = ["the cat sat on a mat", "dogs, bark at night", ""]
    streams = [
        ["a cat sat on the mat", "dogs bark at night", "no"],
        ["x", "dogs, bark", "y"],
    ]
    (tmp_path / "out.en").write_text("\n".join(texts) + "\n", "utf-8")
    for name, lines in zip(("r1", "r2"), streams, strict=True):
        (tmp_path / name).write_text("\n".join(lines) + "\n", "utf-8")
    flags = [
        "-r",
        tmp_path / "r1",
        "-r",
        tmp_path / "r2",
        "-m",
        "bleu",
        "--format",
        "json",
    ]
    ran = refless("metric", tmp_path / "out.en", *flags)
    score = ran.json["metrics"][0]["score"]
    assert score == pytest.approx(sacrebleu.corpus_bleu(texts, streams).score, abs=1e-9)
    assert "plain text, one output a line" in ran.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["-m", "bleux"],
            "no metric 'bleux' (did you mean 'bleu'?); there are bertscore, bleu",
        ),
        (["-m", "bleu:ordr=2"], "bleu takes order=4, tokenize=13a"),
        (["-m", "bleu:order=two"], "order must be a whole number, got 'two'"),
        (["-m", "bleu:lowercase=maybe"], "must be yes or no"),
        (["-m", "bleu", "-m", "bleu"], "given twice"),
        (["-m", "bleu", "--resamples", "3"], "--resamples must be 40 or more"),
        (["-m", "bleu", "--column", "reference=nowhere"], "no column 'nowhere'"),
        (["-m", "bleu", "-r", "x", "--column", "weight=w"], "not from both"),
        ([], "Missing option '-m'"),
    ],
)
def test_misuse_is_told(file, arguments, message) -> None:
    """Exit status 2 and one line that says what to do."""
    ran = refless("metric", file, *arguments, status=2)
    assert message in ran.err
    assert "Traceback" not in ran.err
    assert ran.out == ""


def test_lengths_that_differ(tmp_path) -> None:
    """A reference file with fewer lines is named."""
    (tmp_path / "out").write_text("a\nb\n", "utf-8")
    (tmp_path / "ref").write_text("a\n", "utf-8")
    ran = refless(
        "metric", tmp_path / "out", "-r", tmp_path / "ref", "-m", "bleu", status=2
    )
    assert "ref: 1 lines for 2 outputs" in ran.err


def test_bad_rows_are_kept_as_undefined(tmp_path) -> None:
    """Under --skip-bad a row without a text keeps its place, scores null and is counted."""
    path = tmp_path / "o.jsonl"
    path.write_text(
        '{"text": "a b", "reference": "a b"}\n{"reference": "c"}\n', "utf-8"
    )
    ran = refless(
        "metric", path, "-m", "bleu:order=1", "--skip-bad", "--format", "json"
    )
    found = ran.json
    assert [item["scores"]["bleu:order=1"] for item in found["items"]] == [100, None]
    assert (found["metrics"][0]["n"], found["metrics"][0]["n_scored"]) == (2, 1)
    assert "1 of 2 outputs could not be scored" in ran.err


def test_unread_ratings_lead_to_judge(tmp_path) -> None:
    """Whoever has ratings may ask of agreement, which `metric` does not tell."""
    rows = [{"text": "a good meal", "reference": "a meal", "rating": 3}]
    ran = run_well("metric", jsonl(tmp_path / "rated.jsonl", rows), "-m", "bleu")
    assert "'refless judge FILE -m METRIC' says whether a metric agrees" in ran.err


def test_written_scores_are_compared_in_pairs(tmp_path) -> None:
    """Rows keep their source; without one a gate says so, and asks for scores, not ratings."""
    texts = {"s1": "a good meal", "s2": "a meal"}
    rows = [
        {"source": f"q{i}", "system": name, "text": texts[name] + i * "!"}
        for i, name in product(range(12), texts)
    ]
    path = tmp_path / "scored.csv"
    metric(rows, [len]).save(path)
    paired = gate(str(path), baseline="s1", score_column="len", margin=5).card()
    assert "of 12 items that both answered." in paired.rests
    alone = [{**row, "len": len(row["text"])} for row in without(rows, "source")]
    card = gate(alone, baseline="s1", score_column="len", margin=5).card()
    assert card.rests.endswith("says which outputs belong together.")
    assert "score answers to more items, until" in card.advice
    jsonl(tmp_path / "two.jsonl", [{**row, "quality": 3} for row in alone])
    result = gate(
        str(tmp_path / "two.jsonl"), baseline="s1", score_column="len", margin=5
    )
    assert result.card().advice.startswith("ask first whether ratings that lie unread")
    assert result.card().command == (
        f"refless.judge('{tmp_path}/two.jsonl', columns={{'rating': 'quality'}}, "
        "score_column='len')"
    )


def test_interval_of_a_mean_is_the_known_one() -> None:
    """sBLEU's interval is near mean +- 1.96 s / sqrt(n), the normal approximation."""
    drawn = np.random.default_rng(2).choice([*"abcde"], (3, 300, 6))
    texts, *references = ([*map(" ".join, part)] for part in drawn)
    ids = tuple(map(str, range(300)))
    outputs = Outputs(
        ids=ids, texts=tuple(texts), references=tuple(zip(*references, strict=True))
    )
    found = run(metric_of("sbleu:order=2"), outputs, label="sbleu")
    centre = found.segments.mean()
    half = 1.96 * found.segments.std(ddof=1) / np.sqrt(300)
    assert found.overall.score_interval == pytest.approx(
        (centre - half, centre + half), rel=0.05
    )
