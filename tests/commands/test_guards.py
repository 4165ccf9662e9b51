"""Copies of rated texts, training files, outputs unlike all rated texts."""

from collections import Counter
from dataclasses import replace
from itertools import chain, pairwise, product

import numpy as np
import pytest
from benchmarks.simulate import simulate
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng
from scipy.special import kolmogorov

from places import DATA
from refless.commands.score.copies import SHORTEST, copies, pairs
from refless.commands.score.guards import LEVEL, guards, more
from refless.commands.score.novelty import FEWEST, KINDS, _numbers, unlike
from refless.data.records import Outputs, RatedPool, as_outputs
from refless.data.tables import Reading, read_pool
from refless.estimators.neighbors import BLEUNeighbors
from refless.evaluation.scoring import scored
from refless.stats.fisher import gap
from refless.text.runs import RatedRuns
from refless.text.words import words
from slow_texts import plain_words
from slow_twins import gram_cosine

WORDS = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=9).map(" ".join)
RUNS_OF_NULL = 60


def halves(pool: RatedPool, seed: int) -> tuple[Outputs, RatedPool]:
    """The texts of half of the sources as outputs, the others as rated texts."""
    names = sorted({*pool.sources})
    first = {*default_rng(seed).permutation(names)[: len(names) // 2]}
    rows = np.array([name in first for name in pool.sources])
    return as_outputs(pool.take(np.flatnonzero(rows))), pool.take(np.flatnonzero(~rows))


def share_held(text: str, other: str) -> float:
    """The definition: clipped runs of three words that the other text has."""
    mine, theirs = (
        Counter(zip(w, w[1:], w[2:], strict=False))
        for w in (text.split(), other.split())
    )
    return sum((mine & theirs).values()) / max(1, sum(mine.values()))


@given(st.lists(WORDS, min_size=1, max_size=8), st.lists(WORDS, min_size=1, max_size=8))
def test_pairs_are_those_of_the_definition(texts: list[str], others: list[str]) -> None:
    """Sparse products give what counting gives."""
    slow = {
        (i, j)
        for (i, text), (j, other) in product(enumerate(texts), enumerate(others))
        if len(text.split()) >= SHORTEST and share_held(text, other) >= 0.8 - 1e-9
    }
    rated = RatedRuns.of(others)
    found: set[tuple[int, int]] = set()
    for rows, columns, _ in pairs(rated.looked_up(texts), rated.runs):
        found |= {*zip(rows.tolist(), columns.tolist(), strict=True)}
    assert found == slow


def test_plain_words() -> None:
    """Case, marks, blanks and widths are nothing; a letter of a script without blanks is a word."""
    assert plain_words("  Don't\tSTOP, now!! ") == ["don", "t", "stop", "now"]
    assert plain_words("\uff21\uff22\uff11") == plain_words("ab1")
    assert plain_words("我吃饭 ok") == ["我", "吃", "饭", "ok"]


def outputs(*rows: tuple[str, str, str]) -> Outputs:
    """Texts, sources and systems."""
    texts, sources, systems = zip(*rows, strict=True)
    ids = tuple(f"o{i}" for i in range(len(rows)))
    return Outputs(ids=ids, texts=texts, sources=sources, systems=systems)


POOL = read_pool(
    [
        {
            "id": "r0",
            "text": "the ferry sinks at noon by the river",
            "source": "s0",
            "rating": 3,
        },
        {
            "id": "r1",
            "text": "a choir sings in the old town hall",
            "source": "s1",
            "rating": 4,
        },
        {"id": "r2", "text": "no", "source": "s2", "rating": 1},
    ],
    Reading(scale=(1, 5)),
).pool


def test_what_counts_as_a_copy() -> None:
    """Of another source, of five words or more, four fifths of its runs; its id is named."""
    given = outputs(
        ("The ferry sinks, at noon by the river!", "s9", "m"),  # word for word
        ("ferry sinks at noon by the", "s9", "m"),  # a part of it
        ("the ferry sinks at noon by the river", "s0", "m"),  # its own source: itself
        ("the ferry sings at noon by a river", "s9", "m"),  # other words
        ("no", "s9", "m"),  # too short
    )
    found, which = copies(given, POOL)
    assert which.tolist() == [True, True, False, False, False]
    assert found.n_itself == 1
    assert {(one.id, one.rated) for one in found.which} == {
        ("o0", "r0"),
        ("o1", "r0"),
    }
    assert found.overall.share == 0.4


def test_without_sources_a_text_is_itself_by_its_id() -> None:
    """The rated text among the outputs is no copy; the same words under another id are one."""
    bare = replace(POOL, sources=())
    both = Outputs(ids=("r0", "x"), texts=(POOL.texts[0],) * 2)
    found, which = copies(both, bare)
    assert which.tolist() == [False, True]
    assert (found.n_itself, found.sources) == (2, False)


def test_copies_go_from_the_mean() -> None:
    """The mean without copies is that of all other outputs."""
    out, rated = halves(simulate(60, seed=3).pool, 0)
    out = planted(out, rated, 0.9, 0)
    fitted = BLEUNeighbors(min_neighbors=1, max_fraction=1.0).fit(rated)
    means = scored(out, fitted.estimate(out), fitted.residuals())
    found = guards(means, fitted.rated, fitted.residuals())
    assert found.without_copies is not None
    assert found.without_copies.n == len(out) - found.copies.overall.count


def planted(out: Outputs, rated: RatedPool, share: float, seed: int) -> Outputs:
    """Some outputs replaced by rated texts of other sources."""
    rng = default_rng(seed)
    rows = rng.choice(len(out), int(share * len(out)), replace=False)
    texts = list(out.texts)
    for row in rows:
        texts[row] = rated.texts[int(rng.integers(len(rated)))]
    return replace(out, texts=tuple(texts))


def test_numbers_of_texts_by_definition() -> None:
    """The nearest text, known pairs and repetition, all without texts of the same source."""
    out, rated = halves(simulate(150, seed=5).pool, 0)
    out = out.take(range(30))
    rated = rated.take(np.arange(70))
    mine, theirs = _numbers(out, rated)
    both = list(zip(rated.texts, rated.sources, strict=True))
    for found, texts, sources in (
        (mine, out.texts, out.sources),
        (theirs, *zip(*both, strict=True)),
    ):
        for row, text, source in zip(found.values, texts, sources, strict=True):
            others = [other for other, own in both if own != source]
            assert row[-2] == pytest.approx(
                max(gram_cosine(text, other) for other in others)
            )
            held = [words(other) for other in others]
            known = {*chain.from_iterable(held)}
            pairs = {*chain.from_iterable(map(pairwise, held))}
            said = words(text)
            asked = [p for p in pairwise(said) if {*p} <= known]
            assert row[-1] == sum(pair in pairs for pair in asked) / max(1, len(asked))
    again = replace(out, texts=(out.texts[0],) * 15 + out.texts[15:], systems=())
    share = _numbers(again, rated)[0].values[:, -3]
    assert (share[:15] >= 0.25).all()
    assert not share[16:].any()
    assert len(KINDS) == mine.values.shape[1]


def test_gaps_are_those_of_kolmogorov_and_smirnov() -> None:
    """Distances and p-values as scipy has them; what is beyond is what the gap counts."""
    from scipy.stats import ks_2samp

    rng = default_rng(0)
    for shift in (0.0, 1.0, -2.0):
        one = rng.integers(0, 9, 50) + shift
        other = rng.integers(0, 9, 80).astype(float)
        found = gap(one, other)
        theirs = ks_2samp(one, other, method="asymp")
        assert found.distance == pytest.approx(theirs.statistic)
        assert found.p(50, 80) == pytest.approx(
            kolmogorov(np.sqrt(50 * 80 / 130) * found.distance)
        )
        apart = found.beyond(one).mean() - found.beyond(other).mean()
        assert apart == pytest.approx(found.distance)
        less = gap(one, other, falling=True).distance
        assert less == pytest.approx(max(0, ks_2samp(one, other, "greater").statistic))


def test_one_source_is_left_out_text_by_text() -> None:
    """One rated source does not say what another is like; too few texts say nothing at all."""
    pool = simulate(60, seed=3).pool
    one = replace(pool, sources=("s",) * 60)
    out = replace(
        as_outputs(pool), sources=("new",) * 60, ids=tuple(f"o{i}" for i in range(60))
    )
    near = _numbers(out, one)[1].values[:, -2]
    assert (
        near.tolist()
        == _numbers(out, replace(pool, sources=()))[1].values[:, -2].tolist()
    )
    assert unlike(out, pool.take(np.arange(FEWEST - 1))) is None


REFUSAL = "I'm sorry, but I can't help with that."


def worse(texts: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """The outputs of failing systems in the place of honest ones."""
    n = len(texts)
    rng = default_rng(0)
    boilerplate = (
        "Thank you for your question!",
        "As an AI language model, I cannot say.",
        "N/A",
    )
    return {
        "refusals": (REFUSAL,) * n,
        "some refusals": tuple(
            REFUSAL if i % 5 < 2 else text for i, text in enumerate(texts)
        ),
        "nothing": ("",) * n,
        "boilerplate": tuple(boilerplate[i % 3] for i in range(n)),
        "halves": tuple(
            " ".join(text.split()[: len(text.split()) // 2]) for text in texts
        ),
        "shuffled": tuple(
            " ".join(rng.permutation(text.split()).tolist()) for text in texts
        ),
        "one text": (texts[0],) * n,
        "tags": tuple(f"<div><p>{text}</p></div>" for text in texts),
    }


def speaks(out: Outputs, rated: RatedPool) -> bool:
    found = unlike(out, rated)
    assert found is not None
    return bool(more(found.overall, found.systems))


def test_useless_outputs_are_unlike() -> None:
    """Refusals, nothing, boilerplate, halves, other orders, one text, tags: each of 3 draws."""
    missed = Counter()
    for seed in range(3):
        out, rated = halves(simulate(150, seed=seed).pool, seed)
        for name, texts in worse(out.texts).items():
            bare = replace(out, texts=texts, systems=())
            missed[name] += not speaks(bare, replace(rated, systems=()))
            missed[name] += not speaks(replace(out, texts=texts), rated)
    assert not +missed, missed


def test_few_sources_raise_no_alarm() -> None:
    """Texts on ten sources beside texts on ten others: sources differ, texts are of one kind."""
    alarms = 0
    for seed in range(20):
        out, rated = halves(
            simulate(60, seed=seed).pool, seed
        )  # three systems answer a source
        alarms += speaks(out, rated)
    assert alarms <= 1


def test_nulls_and_power_of_copies_and_unlike() -> None:
    """Texts of the same kind are called copies, or unlike, in fewer than 5 % of pools.

    Six copies in ten are found where one in ten is usual, and so are texts of another kind.
    """
    false = np.zeros(2)
    true = np.zeros(2)
    for seed in range(RUNS_OF_NULL):
        out, rated = halves(simulate(150, seed=seed % 12).pool, seed)
        own = copies(out, rated)[0]
        far = unlike(out, rated)
        assert far is not None
        false += [bool(more(one.overall, one.systems)) for one in (own, far)]
        if seed < 12:
            out = replace(out, systems=("new",) * len(out))
            own = copies(planted(out, rated, 0.6, seed), rated)[0]
            other = replace(out, texts=tuple(text[::-1] for text in out.texts))
            far = unlike(other, rated)
            assert far is not None
            true += [bool(more(one.overall, one.systems)) for one in (own, far)]
    assert (false <= 0.05 * RUNS_OF_NULL).all(), false
    assert (true == 12).all(), true


@pytest.mark.skipif(not DATA.exists(), reason="the ratings are not here")
def test_real_ratings() -> None:
    """GRADE split at random by source says nothing; responses of another task are unlike."""
    pool = read_pool(
        [str(DATA / "grade" / "judgements.tsv")], Reading(scale=(1, 5))
    ).pool
    tasks = np.array(pool.tasks)
    part = {
        name: pool.take(np.flatnonzero(tasks == name)) for name in sorted({*pool.tasks})
    }
    runs = 0
    for one in part.values():
        for seed in range(10):
            out, rated = halves(one, seed)
            own = copies(out, rated)[0]
            far = unlike(out, rated)
            assert far is not None
            runs += bool(more(own.overall, own.systems)) + bool(
                more(far.overall, far.systems)
            )
    assert runs <= 3
    found = unlike(as_outputs(part["dailydialog"]), part["convai2"])
    assert found is not None
    assert found.overall.p < LEVEL
    assert found.overall.share > 0.2


def test_items_are_what_sources_are() -> None:
    """The same rows with an item in the source's place: mean, interval, copies and odd texts."""
    pool = simulate(120, seed=4).pool
    found = []
    for names in (
        {"sources": pool.sources, "items": ()},
        {"sources": (), "items": pool.sources},
    ):
        texts = replace(pool, **names)
        rated = texts.take(np.arange(80))
        out = as_outputs(texts.take(np.arange(80, 120)))
        fitted = BLEUNeighbors(min_neighbors=1, max_fraction=1.0).fit(rated)
        mean = scored(out, fitted.estimate(out), fitted.residuals())
        odd = guards(mean, fitted.rated, fitted.residuals())
        assert odd.unlike is not None
        found.append(
            (mean.overall, mean.systems, odd.unlike.overall, odd.copies.overall)
        )
    assert found[0] == found[1]
