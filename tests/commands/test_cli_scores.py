"""--score-column: what texts add to a judge, estimates that hear it, indexes that keep it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from command_line import Ran, headlines, jsonl, run, run_well, too_wide
from records import fixed
from refless.commands.validate.findings import judge_lines
from refless.commands.validate.leaderboard import Leaderboard, against
from refless.commands.validate.verdict import verdict
from refless.commands.validate.versus_judges import VersusJudges
from refless.evaluation.differences import Difference
from refless.registry.arrays import FloatArray
from rows import without

SCALE = ("--scale", 1, 5)
JUDGES = ("--score-column", "judge", "--score-column", "deaf")
RNG = np.random.default_rng(3)


def rows(n: int) -> list[dict[str, object]]:
    """Headlines with two ratings each, of which a judge hears half and a deaf one nothing."""
    found = []
    for i, text in enumerate(headlines(n)):
        words = 2.0 if "Torby" in text or "river" in text else 0.0
        heard = RNG.normal()
        for who in "ab":
            rating = float(np.clip(2 + words + heard + RNG.normal() / 4, 1, 5))
            row = {
                "id": f"t{i:03}",
                "source": f"s{i // 2}",
                "text": text,
                "annotator": who,
            }
            judged = {"judge": None if i == 5 else -round(heard, 2), "deaf": i * i % 7}
            found.append({**row, **judged, "rating": round(rating, 2)})
    return found


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Rated texts and outputs, with both judges."""
    at = tmp_path_factory.mktemp("scores")
    every = rows(110)
    outputs = without(every[200::2], "rating")
    return jsonl(at / "rated.jsonl", every[:200]), jsonl(at / "outputs.jsonl", outputs)


@pytest.fixture(scope="module")
def validated(files: tuple[Path, Path]) -> Ran:
    return run(
        "validate", files[0], *SCALE, *JUDGES, "--estimator", "gp", "--format", "json"
    )


def test_the_table(validated: Ran) -> None:
    """Texts and scores, texts alone, each score, all scores, and the baselines of before."""
    assert validated.code == 0, validated.err
    table = validated.json["side_by_side"]
    rho = {line["name"]: line["spearman"] for line in table["methods"]}
    assert list(rho) == [
        "the Gaussian process + scores",
        "the Gaussian process",
        "a line on deaf",
        "a line on judge",
        "the mean of all judges",
        "all scores together",
        "TF-IDF ridge",
        "TF-IDF + sources",
        "length",
        "constant",
    ]
    assert table["scores"] == [*rho][2:6]
    both = rho["the Gaussian process + scores"]
    texts = rho["the Gaussian process"]
    assert both > max(texts, rho["a line on judge"]) > rho["a line on deaf"]
    found = validated.json["beside_scores"]
    assert found["columns"] == ["deaf", "judge"]
    assert found["scores_add"]["value"] == pytest.approx(both - texts)
    assert found["texts_add"]["value"] == pytest.approx(both - rho[found["scores"]])
    assert (
        "together agree with people better than"
        in validated.json["texts_and_scores"][0]
    )
    assert "no scores of others" not in validated.err
    assert "judge: 1 of 100 texts have no score" in validated.err


def test_the_reports(files: tuple[Path, Path], tmp_path: Path) -> None:
    """On a terminal of 80 columns and in HTML the same sentences; the next command hears it too."""
    page = tmp_path / "report.html"
    ran = run_well(
        "validate", files[0], *SCALE, *JUDGES[:2], "--estimator", "gp", "-o", page
    )
    assert (
        "Texts and 'judge' together agree with people better than 'judge' alone"
        in ran.out
    )
    assert not too_wide(ran.out)
    assert "refless score OUTPUTS" in ran.out
    assert "--score-column judge" in ran.out
    html = page.read_text("utf-8")
    assert "together agree with people better than" in html
    assert "a straight line on one" in html


def test_estimators_that_read_no_scores(files: tuple[Path, Path]) -> None:
    """A note where one is asked for by name; beside it the scores alone."""
    words = ("validate", files[0], *SCALE, *JUDGES, "--estimator", "bleu-neighbors")
    ran = run(*words, "--format", "json")
    assert "BLEU Neighbors reads no scores of others" in ran.err
    assert ran.json["beside_scores"] is None
    assert ran.json["texts_and_scores"] == []
    assert "a line on judge" in ran.json["side_by_side"]["scores"]
    silent = run(
        "score",
        files[1],
        "--rated",
        files[0],
        *JUDGES,
        "--estimator",
        "gp:use_scores=no",
    )
    assert "reads no scores of others" in silent.err


def test_score_and_explain(files: tuple[Path, Path]) -> None:
    """The outputs' scores move the estimates; the rest of the command line stays."""
    rated, outputs = files
    words = ("score", outputs, "--rated", rated, *SCALE, "--format", "json")
    plain = run(*words).json
    heard = run(*words, *JUDGES).json
    pairs = zip(plain["items"], heard["items"], strict=True)
    assert all(one["estimate"] != other["estimate"] for one, other in pairs)
    assert "score deaf,score judge,scores,judges" in str(heard["signature"])
    words = ("explain", "--rated", rated, *SCALE, *JUDGES, "--format", "json")
    name = heard["items"][0]["id"]
    shown = run(*words, "--outputs", outputs, "--id", name).json
    assert shown["estimate"] == pytest.approx(heard["items"][0]["estimate"])
    assert run(*words, "--id", "t003").code == 0
    text = run_well(*words, "a ferry sings in Torby", "--source", "s1")
    assert "TEXT has no scores: they count as missing" in text.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--score-column", "jugde"), "did you mean 'judge'?"),
        (("--score-column", "source"), "is not a number"),
        (("--score-column", "judge", "--score-column", "judge"), "twice"),
        (("--score-column", "x*"), "no column matches 'x*'"),
        (
            ("--column", "rating=judge", "--score-column", "j*"),
            "'judge' holds ratings: as a score",
        ),
        (
            ("--score-column", "rating"),
            "'rating' holds ratings: as a score it would tell what is",
        ),
    ],
)
def test_wrong_usage(
    files: tuple[Path, Path], words: tuple[str, ...], message: str
) -> None:
    assert run("validate", files[0], *words).refuses(message)


def test_a_judge_that_does_better_is_the_one_to_use() -> None:
    """Shown to be better; one that is ahead and not shown to be is named first all the same."""
    human = np.arange(60.0)
    noise = np.random.default_rng(0).normal(size=60)
    ahead = (
        "No reason to use gp is shown: gpt4 alone is ahead of it in Spearman by 0.156 ["
    )
    for judge, wanted in (
        (human, "Use gpt4 alone: it agrees"),
        (human + 20 * noise, ahead),
        (human + 40 * noise, "Gp agrees with people"),
    ):
        estimators = {"gp": fixed(human, human + 20 * noise[::-1])}
        table = against(estimators, {"gpt4 alone": fixed(human, judge)}, {}, "gp")
        assert wanted in verdict(table)


SHOWN = (0.1, 0.3)
HIDDEN = (-0.1, 0.3)
BELOW = (-0.3, -0.1)


@pytest.mark.parametrize(
    ("columns", "texts_add", "scores_add", "wanted"),
    [
        (
            ("gpt4",),
            SHOWN,
            SHOWN,
            ("better than 'gpt4' alone", "better than the texts alone"),
        ),
        (
            ("gpt4",),
            HIDDEN,
            SHOWN,
            (
                "Beside 'gpt4' the texts add nothing that can be shown, but may add up to 0.300: S",
                "better",
            ),
        ),
        (
            ("gpt4",),
            SHOWN,
            HIDDEN,
            ("better", "Beside the texts 'gpt4' adds nothing that can be shown"),
        ),
        (
            ("gpt4",),
            BELOW,
            BELOW,
            ("less well than 'gpt4' alone", "less well than the texts alone"),
        ),
        (
            ("a", "gpt4"),
            SHOWN,
            HIDDEN,
            (
                "better than the best of the scores, gpt4 alone",
                "Beside the texts the scores add nothing that can be shown",
            ),
        ),
        (
            ("a", "b"),
            HIDDEN,
            HIDDEN,
            ("Beside the scores the texts add nothing", "add nothing"),
        ),
    ],
)
def test_sentences(
    columns: tuple[str, ...],
    texts_add: tuple[float, float],
    scores_add: tuple[float, float],
    wanted: tuple[str, str],
) -> None:
    """Better is said only where the interval leaves out 0."""
    found = beside(columns, (0.2, *texts_add), (0.1, *scores_add))
    for sentence, part in zip(judge_lines(found, compared(HUMAN)), wanted, strict=True):
        assert part in sentence
        assert "Spearman 1.000 against 1.000, difference 0." in sentence


HUMAN = np.arange(30.0)
NAN = float("nan")


def beside(
    columns: tuple[str, ...],
    texts_add: tuple[float, ...],
    scores_add: tuple[float, ...],
) -> VersusJudges:
    """Differences with their intervals."""
    texts, scores = (
        Difference(measure="spearman", value=value, interval=(low, high))
        for value, low, high in (texts_add, scores_add)
    )
    return VersusJudges(
        columns=columns,
        both="both",
        texts="texts",
        scores="gpt4 alone",
        texts_add=texts,
        scores_add=scores,
    )


def compared(judge: FloatArray) -> Leaderboard:
    """Both, the texts and a judge that says this."""
    predicted = {"both": HUMAN, "texts": HUMAN, "gpt4 alone": judge}
    trials = {name: fixed(HUMAN, values) for name, values in predicted.items()}
    return against(trials, {}, {}, "both")


@pytest.mark.parametrize(
    ("judge", "value", "wanted"),
    [
        (np.ones(30), NAN, "with 'gpt4': gpt4 alone ranks no text above another."),
        (np.full(30, NAN), NAN, "with 'gpt4': gpt4 alone has no estimate."),
        (HUMAN, 0.0, "with 'gpt4': too few texts have an estimate of both."),
    ],
)
def test_without_a_difference(judge: FloatArray, value: float, wanted: str) -> None:
    """An undefined number is not called unclear, and the sentence says why it is undefined."""
    found = beside(("gpt4",), (value, NAN, NAN), (0.0, 0.0, 0.0))
    first, second = judge_lines(found, compared(judge))
    assert first == f"The texts cannot be compared {wanted}"
    assert second.startswith("Beside the texts 'gpt4' adds nothing that can be shown")


def test_a_difference_on_fewer_texts() -> None:
    """If one of them is silent on some texts, the sentence says of which texts it is."""
    judge = np.where(HUMAN < 5, NAN, HUMAN)
    first, second = judge_lines(
        beside(("gpt4",), (0.2, *SHOWN), (0.1, *SHOWN)), compared(judge)
    )
    assert "difference on the texts that both have 0.200 [0.100, 0.300]" in first
    assert "difference 0.100 [0.100, 0.300]" in second


def test_a_judge_that_says_one_thing(tmp_path: Path) -> None:
    """It is noted, the texts alone are the estimator to use, and the command leaves it out."""
    same = [{**row, "judge": 3} for row in rows(40)]
    words = ("validate", jsonl(tmp_path / "same.jsonl", same), *SCALE, *JUDGES[:2])
    ran = run_well(*words, "--estimator", "gp")
    assert "judge: all scores of the rated texts are 3" in ran.err
    assert "The texts cannot be compared with 'judge'" in ran.out
    assert "--score-column" not in ran.out
    assert "Spearman minus that of the Gaussian process," in ran.line
