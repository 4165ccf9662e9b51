"""Ratings without texts answer all that needs no text: which system is better, who agrees."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng
from scipy.stats import ttest_rel

import refless
from command_line import ANY_NEIGHBOR, json_of, jsonl, one_line, run
from refless.data.human import pool_of
from refless.evaluation.rater_agreement import rater_agreement
from refusals import bad_input, bad_usage
from rows import without

Rows = list[dict[str, Any]]
PEOPLE = ("ann", "bob", "cid")


def rated(items: int = 30, gap: float = 0.6, texts: bool = False) -> Rows:
    """Three people's ratings of two systems' answers to the same items, and texts if asked for."""
    rows: Rows = []
    for i in range(items):
        for k, system in enumerate(("old", "new")):
            for j, person in enumerate(PEOPLE):
                rating = 1 + (3 * i + 5 * j + i * j) % 4 + round(k * gap * (i % 3))
                row = {"item": f"i{i:02}", "system": system, "annotator": person}
                text = (
                    {"text": f"answer {i} of {system} in five words"} if texts else {}
                )
                rows.append({**row, "rating": min(rating, 5), **text})
    return rows


def compared(rows: Rows, **more: Any) -> refless.CompareResult:
    return refless.compare(rows, scale=(1, 5), estimator=ANY_NEIGHBOR[1], **more)


@pytest.mark.parametrize(
    "more", [{}, {"these_items": True}, {"looks": "any"}, {"group": "item"}], ids=str
)
def test_the_same_numbers_as_with_texts(more: dict[str, Any]) -> None:
    """All are rated, so that texts change nothing; the signature tells both apart."""
    with_texts = compared(rated(texts=True), **more)
    alone = compared(rated(), **more)
    assert alone.comparison == with_texts.comparison
    assert str(alone.signature).startswith("ratings|scale:1,5|pool:")
    assert with_texts.signature.name == "bleu-neighbors"


def test_ratings_of_some_items() -> None:
    """The others stay unknown: nothing is estimated, as one sentence says."""
    rows = [
        row | {"rating": row["rating"] if row["item"] < "i20" else None}
        for row in rated()
    ]
    result = compared(rows, system=["old", "new"])
    (pair,) = result.comparison.pairs
    assert (pair.method, pair.both_rated, pair.items) == ("ratings", 20, 30)
    assert result.comparison.coverage == 0
    half = compared([row for row in rows if row["rating"] is not None])
    assert pair.difference == half.comparison.pairs[0].difference.turned()
    shown = str(result)
    assert (
        "It rests on ratings alone, of 20 items with ratings for both, out of 30."
        in shown
    )
    assert "--selection" not in shown
    assert sum("without estimates" in note for note in result.notes) == 1


def test_an_item_stands_for_the_text() -> None:
    """Rows of one item and system are one output, also if several items share a source."""
    rows = [row | {"source": f"s{row['item'][1]}"} for row in rated()]
    (standing, _) = compared(rows).comparison.standings
    assert (standing.outputs, standing.rated) == (30, 30)


def test_a_system_without_ratings() -> None:
    """It is named, as there is nothing to estimate it from."""
    rows = [
        row | {"rating": None if row["system"] == "new" else row["rating"]}
        for row in rated()
    ]
    assert "Not known: no output of new is rated." in str(compared(rows))


def test_annotators_without_a_name_for_what_they_rated() -> None:
    """Nothing says which ratings are of one output."""
    with bad_input(r"neither texts nor ids .*'item': 'NAME'"):
        compared(without(rated(), "item"))


def test_nothing_teaches_estimates() -> None:
    """Ratings that do not stand for the others would need texts."""
    with bad_usage(r"selection='unknown' needs texts"):
        compared(rated(), selection="unknown")


def test_further_ratings_need_texts() -> None:
    """They only teach estimates."""
    with bad_input("no column for the text"):
        compared(rated(), rated=rated(texts=True))


def runs(items: int = 40, repeats: int = 2) -> Rows:
    """Scores of two runs of two systems; the new one is helpful, and as brief as the old one."""
    rng = default_rng(7)
    rows: Rows = []
    for i in range(items):
        easy = rng.normal()
        for k, system in enumerate(("old", "new")):
            for repeat in range(repeats):
                helpful = round(easy + 0.8 * k + 0.3 * rng.normal(), 3)
                brief = round(easy + 0.3 * rng.normal(), 3)
                row = {"item": f"i{i:02}", "system": system, "run": repeat}
                rows.append({**row, "score": helpful, "brief_score": brief})
    return rows


def averaged(rows: Rows, system: str, name: str = "score") -> list[float]:
    """Mean score of each item of a system, in the order of items."""
    items: dict[str, list[float]] = {}
    for row in rows:
        if row["system"] == system:
            items.setdefault(row["item"], []).append(row[name])
    return [float(np.mean(items[item])) for item in sorted(items)]


def by_scores(rows: Rows, **more: Any) -> Any:
    return refless.compare_scores(rows, **{"system": ["old", "new"], **more})


def test_runs_without_people() -> None:
    """Runs of one item are one unit: the paired t-test of the means of items, by hand."""
    rows = without(runs(), "brief_score")
    result = by_scores(rows)
    (pair,) = result.metrics["score"].pairs
    old = averaged(rows, "old")
    new = averaged(rows, "new")
    truth = ttest_rel(new, old)
    assert pair.difference.value == pytest.approx(np.mean(new) - np.mean(old))
    assert pair.difference.interval == pytest.approx(
        truth.confidence_interval(), rel=0.02
    )
    assert result.states == {"score": ("different",)}
    first = str(result).splitlines()[0]
    assert first.startswith("new leads by 0.85 points (")
    (card,) = result.cards()
    rests = "Rests on scores in 'score', not people's ratings, of"
    assert card.rests == f"{rests} {pair.both_rated} items that both answered."
    assert str(result.signature).startswith("scores|metrics:score|")
    assert not [note for note in result.notes if "unread" in note]


def test_several_metrics_are_corrected_together() -> None:
    """Holm over all pairs of all metrics; the margin rules out a difference by the other one."""
    result = by_scores(runs(), margin=0.3)
    pairs = [comparison.pairs[0] for comparison in result.metrics.values()]
    assert [*result.metrics] == ["brief_score", "score"]
    brief, helpful = pairs
    assert helpful.p_holm == pytest.approx(min(1, 2 * helpful.difference.p))
    assert brief.p_holm == pytest.approx(max(brief.difference.p, helpful.p_holm))
    assert result.states == {"brief_score": ("alike",), "score": ("different",)}
    alike, different = result.cards()
    assert alike.answer.startswith("They differ by less than 0.3: ")
    assert different.label == "Yes, new is better"


def test_metrics_in_rows() -> None:
    """A column that tells metrics apart makes the same numbers as a column for each."""
    names = ("score", "brief_score")
    rows = [
        {**without([row], *names)[0], "metric": name, "score": row[name]}
        for row, name in product(runs(), names)
    ]
    result = by_scores(rows)
    wide = by_scores(runs())
    for name in wide.metrics:
        assert result.metrics[name].pairs == wide.metrics[name].pairs


def test_files_are_runs(tmp_path: Path) -> None:
    """Ids that files share are their items."""
    rows = without(runs(repeats=1), "brief_score", "run")
    for system in ("old", "new"):
        own = [
            {"id": r["item"], "score": r["score"]}
            for r in rows
            if r["system"] == system
        ]
        jsonl(tmp_path / f"{system}.jsonl", own)
    old = tmp_path / "old.jsonl"
    new = tmp_path / "new.jsonl"
    found = json_of("compare", old, new)
    assert found["metrics"]["score"]["pairs"][0]["items"] == 40
    gate = ("gate", new, old, "--baseline")
    assert run(*gate, "old").code == 0
    failed = run(*gate, "new")
    assert failed.ended(3, "gate failed: old is worse than new: score -0.")
    assert run(*gate, "new", "--margin", "0.8").code == 4


def test_scores_of_texts_are_named() -> None:
    """Beside texts a column may hold people's ratings, so that it has to be said."""
    rows = [row | {"text": f"a text {i}"} for i, row in enumerate(runs())]
    with bad_input("may be a judge's scores or people's"):
        by_scores(rows)
    named = by_scores(rows, score_column="score")
    assert (
        named.metrics["score"]
        == by_scores(without(runs(), "brief_score")).metrics["score"]
    )


def test_errors_are_turned() -> None:
    """A name that means errors is noticed; the flag turns it; a wrong name is refused."""
    rows = [
        row | {"error_score": -row["score"]} for row in without(runs(), "brief_score")
    ]
    rows = without(rows, "score")
    assert any(
        "--lower" in note or "lower_is_better" in note for note in by_scores(rows).notes
    )
    result = by_scores(rows, lower_is_better="error_score")
    straight = by_scores(without(runs(), "brief_score"))
    assert result.metrics["error_score"].pairs == straight.metrics["score"].pairs
    with bad_usage("is no score_column"):
        by_scores(rows, lower_is_better="nothing")


def test_outputs_without_a_score() -> None:
    """They are counted, and left out."""
    rows = without(runs(), "brief_score")
    for row in rows[:3]:
        row["score"] = None
    result = by_scores(rows)
    assert "score: 1 of 80 outputs have no score" in result.notes
    assert result.metrics["score"].pairs[0].both_rated == 39


def test_neither_ratings_nor_scores() -> None:
    """The error says what could be either."""
    with bad_input("no column for the rating"):
        by_scores([{"item": "a", "system": "old"}, {"item": "a", "system": "new"}])


def test_unnamed_scores_on_standard_input() -> None:
    """They would have to be read twice."""
    lines = "item,system,score\na,old,1\na,new,2\n"
    ran = run("compare", "-", stdin=lines)
    assert ran.refuses("standard input")
    assert run("compare", "-", "--score-column", "score", stdin=lines).code == 0


def test_rows_of_runs_that_are_bad() -> None:
    """They are skipped and counted; if all are, the first is told."""
    rows = without(runs(), "brief_score")
    rows[0]["score"] = "high"
    with bad_input("row 1, column 'score'"):
        by_scores(rows)
    assert any(
        "1 bad row skipped" in note for note in by_scores(rows, skip_bad=True).notes
    )
    bad = [row | {"score": "high" if i else "low"} for i, row in enumerate(rows)]
    with bad_input("no usable row is left"):
        by_scores(bad, skip_bad=True, score_column="score")


def test_judge_with_scores_and_without_texts() -> None:
    """All that it says needs ratings and scores alone; only metrics need texts."""
    rows = [
        row | {"judge": sum(map(ord, row["item"] + row["system"])) % 5}
        for row in rated(texts=True)
    ]
    more: dict[str, Any] = {"score_column": "judge", "scale": (1, 5), "resamples": 40}
    with_texts = refless.judge(rows, **more)
    alone: Any = refless.judge(without(rows, "text"), **more)
    for kind in ("measures", "means"):
        without_texts = getattr(alone.audits[0], kind)
        for name, found in getattr(with_texts.audits[0], kind).items():
            wanted = pytest.approx((found.value, *found.interval), nan_ok=True)
            other = without_texts[name]
            assert (other.value, *other.interval) == wanted
    with bad_usage(r"metrics needs a text column"):
        refless.judge(without(rows, "text"), metrics="bleu")


def agreeing(rows: Rows, **more: Any) -> Any:
    return refless.judge_raters(rows, scale=(1, 5), **more)


def test_do_my_raters_agree() -> None:
    """Without scores the raters are looked at; texts change no number."""
    result = agreeing(rated())
    with_texts = agreeing(rated(texts=True))
    for name in ("alpha_ordinal", "alpha_interval", "icc", "icc_mean"):
        estimate = getattr(result.agreement, name)
        same = getattr(with_texts.agreement, name)
        assert (estimate.value, *estimate.interval) == pytest.approx(
            (same.value, *same.interval)
        )
        assert estimate.interval[0] < estimate.value < estimate.interval[1]
    assert [profile.name for profile in result.raters] == ["bob", "ann", "cid"]
    assert [profile.n for profile in result.raters] == [60, 60, 60]
    assert sum(profile.bias.value for profile in result.raters) == pytest.approx(0)
    assert str(result).startswith("Only weakly: two ratings of a text are the same in")
    assert "fewer than four stand for no others" in str(result)
    assert result.to_dict()["of"] == "raters"


def test_disputed_texts() -> None:
    """Half the scale apart: two points of 1 to 5, farthest first, with a share of all texts."""
    rows = [
        {"id": f"t{i}", "annotator": "ab"[rater], "rating": int(rating)}
        for (i, rater), rating in np.ndenumerate(
            np.array([(1, 2), (1, 5), (2, 4), (3, 3), (5, 4)])
        )
    ]
    found = agreeing(rows).disputes
    assert found.least == 2
    assert [(text.id, text.ratings) for text in found.texts] == [
        ("t1", (1, 5)),
        ("t2", (2, 4)),
    ]
    assert found.share.value == pytest.approx(0.4)
    assert found.share.interval[0] < 0.4 < found.share.interval[1]
    assert [row["id"] for row in agreeing(rows).rows()] == ["t1", "t2"]


def test_a_rater_who_differs() -> None:
    """One who rates two points higher is shown, in the table and in a sentence."""
    rng = default_rng(3)
    rows: Rows = []
    for i in range(60):
        quality = rng.normal()
        for person in ("ann", "bob", "cid", "dan"):
            rating = 3 + quality + 0.5 * rng.normal() + 2 * (person == "dan")
            rows.append({"item": f"i{i}", "annotator": person, "rating": rating})
    result: Any = refless.judge_raters(rows)
    strict, *_, lenient = result.raters
    assert lenient.name == "dan"
    assert 1.7 < lenient.bias.interval[0] < 2 < lenient.bias.interval[1] < 2.4
    assert strict.bias.value < 0
    assert any(
        "rate higher or lower" in line and "dan (+" in line for line in result.findings
    )
    assert result.agreement.icc.value < result.agreement.icc_mean.value


def test_luck_and_the_rater_who_always_passes() -> None:
    """Raters who agree as luck has it do not agree weakly; the one who passes all is named."""
    rows = [
        {"id": f"t{i}", "annotator": name, "rating": int(name == "bob" or i % 2)}
        for i, name in product(range(40), ("ann", "bob"))
    ]
    text = one_line(refless.judge_raters(rows))
    assert text.startswith("Not shown to be better than luck: two ratings of a text")
    assert "Where they differ, bob always passes." in text
    assert "reliability" not in text
    assert "average several" not in text


def test_raters_without_names() -> None:
    """Alpha needs none; what does says so."""
    rows = [
        {"item": f"i{i}", "rating": [1 + i % 4, 1 + i % 4 + i % 2]} for i in range(12)
    ]
    result = agreeing(rows)
    assert result.agreement.alpha_ordinal.value > 0.5
    assert result.agreement.icc.undefined == "nobody says who rated"
    assert result.raters == ()


def test_one_rating_a_text() -> None:
    """There is nothing to agree on, and no scores."""
    rows = [row for row in rated() if row["annotator"] == "ann"]
    with bad_usage("two ratings of some text, or at least one score_column"):
        agreeing(rows)
    with bad_usage("of ratings without a judge's scores passing"):
        agreeing(rated(), passing=3)


def test_equal_ratings_tell_no_agreement() -> None:
    rows = [row | {"rating": 3} for row in rated(items=4)]
    assert "Not known: all ratings are equal." in str(agreeing(rows))


@given(st.randoms(use_true_random=False))
@settings(max_examples=10)
def test_order_of_rows_changes_nothing(random: Any) -> None:
    for rows, answer in ((runs(items=12), by_scores), (rated(items=10), agreeing)):
        result = answer(rows).to_dict()
        random.shuffle(rows)
        assert answer(rows).to_dict() == result


def test_raters_and_units_were_drawn() -> None:
    """The interval of alpha holds the truth in 19 of 20 studies: here texts 1, rest 1, raters .25.

    Of 50 simulated studies at least 43; 94 of 100 is the long-run share.
    """
    rng = default_rng(1)
    hits = 0
    for _ in range(50):
        values = (
            rng.normal(size=(30, 1))
            + 0.5 * rng.normal(size=5)
            + rng.normal(size=(30, 5))
        )
        items = [*map(str, range(30))]
        pool = pool_of([""] * 30, values.tolist(), annotators=[*"abcde"], items=items)
        low, high = rater_agreement(pool).alpha_interval.interval
        hits += low <= 1 / 2.25 <= high
    assert hits >= 43


def test_a_gate_with_nothing_changed() -> None:
    """By swapped labels it fails in about 2.5 % of draws; on these items alone in half of them."""
    rows = without(runs(), "brief_score")
    plain = refless.gate(rows, baseline="old")
    assert 0 <= plain.false_alarms <= 0.06
    assert "With nothing changed this gate would fail in" in str(plain)
    fixed = refless.gate(rows, baseline="old", these_items=True)
    assert fixed.false_alarms == pytest.approx(0.5, abs=0.1)
    assert refless.gate(rows, baseline="old", margin=1.0).false_alarms == 0
    apart = refless.gate(without(rows, "item"), baseline="old")
    assert np.isnan(apart.false_alarms)
