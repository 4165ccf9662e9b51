"""Raters who differ, and ratings that drift over time."""

from dataclasses import replace
from itertools import permutations, product
from math import erfc, sqrt

import numpy as np
import pytest
from numpy.random import default_rng

from command_line import headlines, json_of, jsonl, run, run_well
from refless.commands.validate.findings import drift_lines, drift_sections
from refless.data import human
from refless.data.records import RatedPool
from refless.data.tables import Reading, read_pool
from refless.evaluation.drift import Drift, _slots, drift
from refless.registry.arrays import FloatArray
from refless.stats.corrections import holm

RUNS = 100
TEXTS = 60
FOLLOW = "Raters who use less of the scale"
HIGHER = "Raters who rate higher or lower"
CHANGE = "Raters who change"
OVER = "Ratings fall over time"
BESIDE = "Beside the estimates ratings fall"


def pool_of(values: FloatArray, times: FloatArray | None = None) -> RatedPool:
    """Ratings [texts, raters], NaN where a rater left a text out."""
    ids = [f"t{i:03}" for i in range(len(values))]
    names = [f"w{i}" for i in range(values.shape[1])]
    pool = human.pool_of(ids, values, ids=ids, annotators=names)
    given = np.zeros(0) if times is None else times[~np.isnan(values)]
    return replace(pool, ratings=replace(pool.ratings, times=given))


def studied(pool: RatedPool, estimates: FloatArray | None = None) -> Drift:
    values = np.full(len(pool), np.nan) if estimates is None else estimates
    return drift(pool, values, np.arange(len(pool)))


def rated(
    rng: np.random.Generator, n: int = TEXTS, raters: int = 6
) -> tuple[FloatArray, FloatArray]:
    """Ratings from 1 to 5 of texts of some quality by like raters, and that quality."""
    quality = rng.normal(3.0, 0.8, n)
    noisy = quality[:, None] + rng.normal(0.0, 0.9, (n, raters))
    return np.clip(np.rint(noisy), 1, 5), quality


def exchanged(values: FloatArray) -> list[FloatArray]:
    """Every way in which each text's ratings may have come from its raters."""
    return [np.array(rows) for rows in product(*(permutations(row) for row in values))]


def chance(total: float, variance: float) -> float:
    return erfc(abs(total) / sqrt(2 * variance))


def test_level_and_follows_have_the_moments_of_all_exchanges() -> None:
    """Three texts by three raters, once by enumeration of 216 exchanges; ten times over."""
    values = np.array([[1.0, 3, 5], [2, 2, 4], [5, 4, 1]])
    mean = values.mean(axis=1)
    centred = mean - mean.mean()
    every = exchanged(values - mean[:, None])
    level = np.var([one[:, 0].sum() for one in every])
    follows = np.var([(one[:, 0] * centred).sum() for one in every])
    many = np.tile(values, (10, 1))
    found = studied(pool_of(many)).raters[0]
    off = (values - mean[:, None])[:, 0]
    assert found.level == pytest.approx((off * 3 / 2).mean())  # beside the two others
    assert found.level_p == pytest.approx(
        min(1, 3 * chance(10 * off.sum(), 10 * level))
    )
    slopes = 10 * centred @ (values - mean[:, None])
    below = np.array([chance(t, 10 * follows) / 2 for t in slopes])
    below = np.where(slopes < 0, below, 1 - below)
    np.testing.assert_allclose(
        [one.follows_p for one in studied(pool_of(many)).raters], holm(below)
    )


def test_trend_has_the_moments_of_all_exchanges() -> None:
    """The same for the change over time, with every rater's own mean time taken out."""
    values = np.array([[1.0, 3, 5], [2, 2, 4], [5, 4, 1]])
    times = np.array([[0.0, 1, 2], [3, 4, 5], [8, 7, 6]])
    many = np.tile(values, (10, 1))
    when = np.concatenate([times + 9 * i for i in range(10)])
    place = when / when.max()
    place = place - place.mean(axis=0)
    mean = values.mean(axis=1)[:, None]
    top = ((many - np.tile(mean, (10, 1))) * place).sum()
    variance = 0.0
    for own in place.reshape(10, 3, 3):
        sums = [(one * own).sum() for one in exchanged(values - mean)]
        variance += np.var(sums)
    found = studied(pool_of(many, when)).over_time
    assert found is not None
    assert found.n == 90
    assert found.p == pytest.approx(chance(float(top), float(variance)))


def test_others_and_variance() -> None:
    """Of each rating: the mean of the text's others and the variance of all; single ones go."""
    nan = np.nan
    pool = pool_of(np.array([[1.0, 3, 5], [2, nan, nan]]))
    slots = _slots(pool, np.arange(len(pool.ratings.values)))
    assert slots.others_mean.tolist() == [4.0, 3.0, 2.0]
    assert slots.variance.tolist() == pytest.approx([8 / 3] * 3)


def times_of(
    rng: np.random.Generator, values: FloatArray, *, blocks: bool
) -> FloatArray:
    """The time of each rating: one rater after the other, or all at once."""
    n, raters = values.shape
    if not blocks:
        return rng.permutation(n * raters).reshape(n, raters).astype(np.float64)
    return np.stack([rng.permutation(n) + n * i for i in range(raters)], axis=1).astype(
        np.float64
    )


@pytest.mark.parametrize("alike", [True, False], ids=["alike", "levels"])
def test_nulls(alike: bool) -> None:
    """Like raters get each sentence in at most 5 % of pools.

    Raters of other levels, who work one after the other, do not drift either.
    """
    said = []
    for seed in range(RUNS):
        rng = default_rng(seed)
        values, quality = rated(rng)
        if not alike:
            values = values + rng.normal(0, 0.5, values.shape[1])
        pool = pool_of(values, times_of(rng, values, blocks=not alike))
        said.append(drift_lines(studied(pool, quality), (1, 5)))
    pages = ["\n" + "\n".join(lines) for lines in said]
    for start in (FOLLOW, HIGHER) if alike else ():
        assert sum(f"\n{start}" in page for page in pages) <= 0.05 * RUNS
    for part in ("change over time", "over time"):
        assert sum(part in page for page in pages) <= 0.05 * RUNS


def careless(
    values: FloatArray, rng: np.random.Generator, when: FloatArray
) -> FloatArray:
    values[:, 2] = rng.integers(1, 6, len(values))
    return values


def constant(
    values: FloatArray, rng: np.random.Generator, when: FloatArray
) -> FloatArray:
    values[:, 2] = 3.0
    return values


def strict(
    values: FloatArray, rng: np.random.Generator, when: FloatArray
) -> FloatArray:
    values[:, 2] = np.maximum(values[:, 2] - 1, 1)
    return values


def tired(values: FloatArray, rng: np.random.Generator, when: FloatArray) -> FloatArray:
    values[:, 2] -= (when[:, 2] > np.median(when)) * 2.0
    return values


def falling(
    values: FloatArray, rng: np.random.Generator, when: FloatArray
) -> FloatArray:
    return values - 1.5 * when / when.max()


@pytest.mark.parametrize(
    ("change", "start"),
    [
        (careless, FOLLOW),
        (constant, FOLLOW),
        (strict, HIGHER),
        (tired, CHANGE),
        (falling, OVER),
    ],
)
def test_what_is_there_is_said(change, start: str) -> None:
    """A careless, a constant, a strict and a tiring rater are named; a common fall is told."""
    rng = default_rng(3)
    values, quality = rated(rng, 150)
    when = times_of(rng, values, blocks=False)
    changed = change(values, rng, when)
    pool = pool_of(changed, when)
    lines = drift_lines(studied(pool, quality), None)
    (line,) = (line for line in lines if line.startswith(start))
    assert start == OVER or "w2 (" in line
    assert change is not constant or "w2 (one number), of 6 raters. In brackets" in line
    (section,) = drift_sections(studied(pool, quality), None)
    assert section.lines == lines


def test_of_two_raters_nobody_follows_less() -> None:
    """One rises more than their mean, so the other less; one number alone tells which is odd."""
    values = np.array([[float(i % 5), 2.0] for i in range(300)])
    constant = studied(pool_of(values))
    (line,) = drift_lines(constant, None)
    assert "tell texts apart: w1 (one number), of 2 raters." in line
    values[0, 1] = 3.0
    found = studied(pool_of(values))
    assert found.raters[1].follows_p < 0.01
    assert drift_lines(found, None) == ()


def test_what_is_tested_is_what_is_printed() -> None:
    """A rater of half the range agrees as well as others, whose ratings rise twice as much."""
    rng = default_rng(0)
    values, _ = rated(rng, 300)
    values[:, 2] = 3 + (values[:, 2] - 3) / 2
    found = studied(pool_of(values))
    others = [one.agreement for one in found.raters if one.name != "w2"]
    assert found.raters[2].agreement == pytest.approx(np.mean(others), abs=0.05)
    mean = values.mean(axis=1)
    slope = np.polyfit(mean, values[:, 2], 1)[0]
    assert found.raters[2].follows == pytest.approx(slope)
    assert drift_lines(found, None)[0].startswith(
        f"{FOLLOW} than the others to tell texts apart: w2 ({slope:.2f}), of 6 raters."
    )


def test_errors_drift() -> None:
    """One rating a text: only the estimates can tell that ratings fall."""
    rng = default_rng(0)
    quality = rng.normal(size=200)
    when = rng.permutation(200) * 1.0
    values = (quality + rng.normal(0, 0.3, 200) - when / 200)[:, None]
    found = studied(pool_of(values, when[:, None]), quality)
    assert (found.raters, found.over_time) == ((), None)
    assert found.errors is not None
    assert found.errors.change == pytest.approx(-1, abs=0.2)
    assert [line.startswith(BESIDE) for line in drift_lines(found, None)] == [True]


@pytest.mark.parametrize(
    ("cells", "times"),
    [
        (["2026-01-02", "2026-01-01T12:00", "2026-01-01T12:00:00+00:00"], [1, 0, 0]),
        ([30, "4.5", ""], [30, 4.5, np.nan]),
        (["2026-01-01T12:00Z", "2026-01-01T13:30+01:30", None], [0, 0, np.nan]),
    ],
)
def test_times_are_read(cells: list[object], times: list[float]) -> None:
    """Dates with and without zones, and numbers; blank ones are not known."""
    rows = [
        {"text": f"a{i}", "rating": 1, "timestamp": cell}
        for i, cell in enumerate(cells)
    ]
    found = read_pool(rows, Reading()).pool.ratings.times
    if any(isinstance(cell, str) and "-" in cell for cell in cells):
        noon = 1767268800.0  # 2026-01-01T12:00 in UTC, as date -d gives it
        times = [noon + 12 * 3600 * time for time in times]
    np.testing.assert_array_equal(found, times)


def test_times_that_are_none(tmp_path) -> None:
    """A column found by its name is left alone with a note; one that is named is refused."""
    rows = [{"text": f"a{i}", "rating": i % 2, "timestamp": "late"} for i in range(30)]
    file = jsonl(tmp_path / "rows.jsonl", rows)
    ran = run_well("validate", file, "--estimator", "bleu-neighbors")
    assert "column 'timestamp' holds no times: 'late' is no time" in ran.err
    ran = run("validate", file, "--column", "time=timestamp")
    assert ran.refuses("line 1")


def test_validate_tells(tmp_path) -> None:
    """On the terminal and on the page what is shown, in JSON all of it."""
    rng = default_rng(3)
    values, _ = rated(rng)
    values[:, 2] = 3.0
    rows = [
        {
            "id": f"t{i}",
            "text": text,
            "annotator": f"w{j}",
            "rating": values[i, j],
            "rated_at": i,
        }
        for (i, text), j in product(enumerate(headlines(TEXTS)), range(values.shape[1]))
    ]
    file = jsonl(tmp_path / "rows.jsonl", rows)
    page = tmp_path / "page.html"
    given = ("validate", file, "--scale", 1, 5, "--estimator", "bleu-neighbors")
    ran = run(*given, "-o", page)
    assert f"Raters and time\n{FOLLOW}" in ran.out
    found = json_of(*given)
    drift = found["drift"]
    assert len(drift["raters"]) == 6
    assert drift["raters"][2]["same"] == 1
    assert drift["over_time"]["n"] == 5 * TEXTS  # that one makes no trend
    assert found["findings"][0].startswith(FOLLOW)
    assert FOLLOW in page.read_text()
