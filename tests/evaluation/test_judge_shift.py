"""A judge that means something else for outputs than for rated texts, or that is the rating."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.stats import ks_2samp

from command_line import Ran, headlines, jsonl, run, too_wide
from places import DATA
from refless.data.records import RatedPool, scored
from refless.data.tables import Reading, read_pool
from refless.evaluation.judge_shift import JudgeShift, judge_shifts, leaks
from refless.registry.arrays import FloatArray
from rows import read_jsonl

SUMMARIES = DATA / "summeval-judges" / "summaries.jsonl"
DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")
JUDGES = ("gpt4", "gpt35", "gpt35mcq", "gpt35star", "llama70", "llama7")
BROKEN: dict[str, Callable[[FloatArray], FloatArray]] = {
    "another scale": lambda column: 20 * column,
    "constant": lambda column: np.full(len(column), 3.0),
    "failed calls": lambda column: np.where(np.arange(len(column)) % 7, column, -1.0),
}


def pool_of(scores: FloatArray, human: FloatArray, sources: list[str]) -> RatedPool:
    """Rated texts with one judge."""
    texts = headlines(len(scores))
    rows = [
        {"text": text, "rating": float(rating), "source": source}
        for text, rating, source in zip(texts, human, sources, strict=True)
    ]
    pool = read_pool(rows, Reading()).pool
    return _with(pool, scores)


def _with(pool: RatedPool, scores: FloatArray) -> RatedPool:
    return replace(pool, **scored({"judge": scores}))


def drawn(n: int, seed: int) -> RatedPool:
    """Texts of their own sources, whose ratings follow a judge's five grades."""
    rng = default_rng(seed)
    scores = rng.integers(1, 6, n).astype(np.float64)
    return pool_of(scores, scores + rng.normal(size=n), [f"s{i}" for i in range(n)])


def shift(
    rated: RatedPool, scores: FloatArray, labels: tuple[str, ...] = ()
) -> JudgeShift:
    """That of the one judge."""
    return judge_shifts(scores[:, None], labels, rated)[0]


@pytest.mark.parametrize("name", BROKEN)
def test_broken_judges_are_caught(name: str) -> None:
    """Each is seen from 60 outputs on; the same scores as they were are not."""
    rated = drawn(60, 0)
    rng = default_rng(1)
    scores = rng.integers(1, 6, 60).astype(np.float64)
    assert not shift(rated, scores).shifted
    assert shift(rated, BROKEN[name](scores)).shifted


def test_what_is_seen() -> None:
    """The note counts scores outside, says if all are one number, and p is near the exact one."""
    rated = drawn(60, 0)
    found = shift(rated, np.array([0.0] * 30 + [3.0] * 30))
    assert (found.n, found.n_outside, found.rated_range) == (60, 30, (1.0, 5.0))
    assert found.outside
    same = shift(rated, np.full(40, 4.0))
    assert (same.equal, same.n_outside, same.outside) == (4.0, 0, False)
    assert np.isnan(shift(rated, np.full(9, 4.0)).equal)
    values = default_rng(0).normal(size=100)
    other = shift(pool_of(values[:60], values[:60], [""] * 60), values[60:] + 0.4)
    assert other.p == pytest.approx(
        ks_2samp(values[:60], values[60:] + 0.4).pvalue, rel=0.3
    )
    assert 0.001 < other.p < 0.2
    assert not np.isfinite(shift(rated, np.full(5, np.nan)).p)


def test_scores_of_one_source_count_together() -> None:
    """Forty texts on two sources, whose scores go by the source, prove nothing."""
    rated = drawn(60, 0)
    labels = tuple(f"q{i // 20}" for i in range(40))
    scores = np.repeat([1.0, 2.0], 20)
    assert shift(rated, scores).shifted
    assert not shift(rated, scores, labels).shifted


def test_false_alarms_of_any_scores() -> None:
    """Scores of one kind are called shifted in at most 1 % of 400 draws, few or many."""
    rng = default_rng(2)
    alarms = 0
    for n, m in [(20, 20), (40, 10), (40, 200), (300, 40)] * 100:
        both = rng.normal(size=n + m)
        rated = (
            pool_of(both[:n], np.zeros(n), [f"s{i}" for i in range(n)])
            if n < 40
            else None
        )
        alarms += shift(rated or _with(TEMPLATES[n], both[:n]), both[n:]).shifted
    assert alarms <= 4


TEMPLATES = {n: drawn(n, 0) for n in (40, 300)}


def test_leaks() -> None:
    """The rating itself, on whatever scale and upside down; not one that differs once."""
    human = np.array([0.1, 0.5, 0.5, 0.9, 0.2, 0.3, 0.4, 0.6, 0.7, 1.0])
    assert leaks(human, human)
    assert leaks(1 + 4 * human, human)
    assert leaks(-human, human)
    assert not leaks(np.where(np.arange(10) == 3, 0.95, human)[::-1], human)
    assert not leaks(human[:9], human[:9])
    assert not leaks(np.ones(10), human)


@pytest.mark.skipif(not SUMMARIES.exists(), reason="the judges are not here")
def test_real_judges() -> None:
    """Six judges of summaries: no false alarm in 240 draws of articles, broken ones are caught."""
    rows = read_jsonl(SUMMARIES.read_text())
    articles = np.unique([row["article"] for row in rows], return_inverse=True)[1]
    texts = [
        {"text": row["text"], "rating": 1, "source": row["article"]} for row in rows
    ]
    pool = read_pool(texts, Reading()).pool
    rng = default_rng(0)
    honest = 0
    missed = []
    for judge in JUDGES:
        for dimension in DIMENSIONS:
            column = np.array(
                [row["judges"][judge].get(dimension) for row in rows], np.float64
            )
            every = _with(pool, column)
            for _ in range(10):
                mine = np.isin(articles, rng.permutation(100)[: rng.integers(20, 60)])
                labels = tuple(np.array(every.sources, dtype=object)[~mine])
                rated = every.take(np.flatnonzero(mine))
                honest += shift(rated, column[~mine], labels).shifted
            for name, broken in BROKEN.items():
                if not (found := shift(rated, broken(column[~mine]), labels)).shifted:
                    missed.append((judge, dimension, name, found))
    assert (honest, missed) == (0, [])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rated headlines, and outputs whose judge is honest, has another scale, or is the rating."""
    where = tmp_path_factory.mktemp("judges")
    rng = default_rng(3)
    rated: list[dict[str, object]] = []
    outputs: list[dict[str, object]] = []
    texts = default_rng(0).permutation(headlines(140)).tolist()  # all of one kind
    for i, text in enumerate(texts):
        judge = int(rng.integers(1, 6))
        rating = int(np.clip(judge + rng.integers(-1, 2), 1, 5))
        row = {"id": f"t{i}", "source": f"s{i}", "text": text, "judge": judge}
        rated += [{**row, "rating": rating}] if i < 80 else []
        outputs += [] if i < 80 else [row]
    jsonl(where / "rated.jsonl", rated)
    jsonl(where / "leaking.jsonl", [{**row, "judge": row["rating"]} for row in rated])
    jsonl(where / "honest.jsonl", outputs)
    jsonl(
        where / "scaled.jsonl",
        [{**row, "judge": f"{row['judge']}0"} for row in outputs],
    )
    words = (
        "--scale",
        1,
        5,
        "--score-column",
        "judge",
        "--to",
        where / "model.safetensors",
    )
    assert run("fit", where / "rated.jsonl", *words).code == 0
    return where


def of(folder: Path, outputs: str, *more: object, rated: str = "rated") -> Ran:
    files = (folder / f"{outputs}.jsonl", "--rated", folder / f"{rated}.jsonl")
    return run("score", *files, "--scale", 1, 5, "--score-column", "judge", *more)


def test_score(folder: Path) -> None:
    """Said before the mean, in the JSON too; nothing of an honest judge, or one that is unread."""
    told = "'judge': 60 of 60 scores of the outputs lie outside those of the rated texts, 1 to 5."
    ran = of(folder, "scaled")
    assert ran.line.startswith(told)
    assert not too_wide(ran.out)
    found = of(folder, "scaled", "--format", "json").json
    assert found["warnings"][-1].startswith(told)
    (judge,) = found["guards"]["judges"]
    assert (judge["name"], judge["n_outside"]) == ("judge", 60)
    honest = of(folder, "honest", "--format", "json").json
    assert (honest["warnings"], honest["guards"]["judges"][0]["shifted"]) == ([], False)
    deaf = of(
        folder, "scaled", "--estimator", "gp:use_scores=no", "--format", "json"
    ).json
    assert (deaf["warnings"], deaf["guards"]["judges"]) == ([], [])


def test_the_rating_as_a_judge(folder: Path) -> None:
    """Named by score and by validate."""
    told = "'judge' orders the rated texts just as their ratings do: it may be the rating itself"
    assert told in of(folder, "honest", rated="leaking").line
    words = ("--scale", 1, 5, "--score-column", "judge", "--estimator", "gp")
    assert told in run("validate", folder / "leaking.jsonl", *words).notes
    assert told not in run("validate", folder / "rated.jsonl", *words).notes
