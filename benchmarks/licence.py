"""Does `judge --at-most-wrong` keep its promise, and how much may a judge decide alone?

Half of the sources of a pool license its judge, many times, and the other half counts which share
of the texts that it passes, or fails, is wrong. More than was promised on either side is a broken
promise (a cautious count, as few texts break one by chance). Beside it: the most that thresholds
could decide which know the other half (an oracle); the rule of kunko-judge-audit, if it is
installed, whose promise is one for all that is decided; and the share of wrong texts, on the worse
side, if all are decided from the middle of the scale on.

A second table plants shifts in the other half: does `route` refuse the scores at once, or does its
audit speak within 50 audited texts?

    python benchmarks/licence.py --data ../shared/data [--splits 200] [--quick]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from simulate import simulate

from estimators import pools as rated_pools
from estimators import summeval
from refless.commands.judge.licence import Licence, Promise, licensed
from refless.commands.route.audit import audited, is_broken
from refless.data.records import RatedPool
from refless.evaluation.judge_shift import ScoreSample, shift_between
from refless.evaluation.labels import AllRows, Labels
from refless.evaluation.raters import Votes
from refless.registry.arrays import BoolArray, FloatArray, IntArray, codes

try:
    from judge_audit.metrics.selective import certify_threshold
except ImportError:
    certify_threshold = None

PROMISES = (0.05, 0.1)  # shares of wrong texts, with 90 % confidence
JUDGED = (  # SummEval's dimensions and their judges
    ("coherence", "gpt4"),
    ("consistency", "gpt4"),
    ("consistency", "llama70"),
    ("fluency", "gpt4"),
    ("relevance", "gpt4"),
)
WEAKEST = "llama7"  # of the judges that scored all texts
OTHER = {  # dimension: the one whose scores stand for those of another rubric
    "coherence": "fluency",
    "consistency": "coherence",
    "fluency": "consistency",
    "relevance": "coherence",
}
SIMULATED = ("HUSE summarization", "GRADE")
SLOPE = 3.0  # of the log odds in standard deviations of the ratings
NOISE = 0.6  # standard deviation of a simulated judge's error, in these
WORSE = 4  # times the error of another simulated judge
SHIFTED_PROMISES = (0.05, 0.1, 0.2)
AUDITED = 50  # texts within which a broken promise should be told
KINDS = ("kept", "up to 2 times", "up to 3 times", "over 3 times")
UNSHIFTED = 400  # texts within which a kept one should not


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Judged:
    """A pool with its judge.

    Attributes:
        name: of both; scores: [n]; human: [n] ratings; source: [n] what was drawn as a whole.
        passing, middle: from where on a rating passes, and a score if nobody looks further.
        spread: [n] standard deviation of single ratings; others: scores of a judge that has taken
            the place of this one.
    """

    name: str
    scores: FloatArray
    human: FloatArray
    source: IntArray
    passing: float
    middle: float
    spread: FloatArray
    others: Mapping[str, FloatArray] = field(default_factory=dict)

    @property
    def good(self) -> BoolArray:
        """[n] whether people pass a text."""
        return self.human >= self.passing

    def labels(self, rows: IntArray) -> Labels:
        """The judge beside people on some rows."""
        human = self.human[rows]
        scores = self.scores[rows]
        unit = codes([*map(str, self.source[rows])])
        votes = Votes(text=np.arange(len(rows)), rating=human)
        every = AllRows(human=human, judge=scores, unit=unit, votes=votes)
        return Labels(
            name="judge",
            human=human,
            judge=scores,
            unit=unit,
            votes=votes,
            unlabelled=every.unlabelled,
            every=every,
        )


def spread_of(pool: RatedPool) -> FloatArray:
    """[n] the standard deviation of each text's single ratings."""
    ratings = pool.ratings
    counts = np.bincount(ratings.text, minlength=len(pool))
    means = np.bincount(ratings.text, ratings.values, len(pool)) / counts
    squares = np.square(ratings.values - means[ratings.text])
    return np.asarray(np.sqrt(np.bincount(ratings.text, squares, len(pool)) / counts))


def simulated(
    name: str,
    human: FloatArray,
    source: IntArray,
    passing: float,
    spread: FloatArray,
) -> Judged:
    """A pool with the probabilities of a simulated judge, who knows the ratings with noise."""
    rng = np.random.default_rng(0)
    standard = (human - passing) / human.std()
    scores = []
    for noise in (NOISE, WORSE * NOISE):
        log_odds = SLOPE * (standard + noise * rng.normal(size=len(human)))
        scores.append((1 / (1 + np.exp(-log_odds))).round(3))
    return Judged(
        name=f"{name}, simulated",
        scores=scores[0],
        human=human,
        source=source,
        passing=passing,
        middle=0.5,
        spread=spread,
        others={"another judge": scores[1]},
    )


def pandalm(data: Path) -> Judged:
    """Pairs that the first answer wins by most annotators, and a simulated judge."""
    wins: Counter[str] = Counter()
    votes: dict[str, list[int]] = {}
    prompts = {}
    for line in (data / "pairs/pandalm.jsonl").read_text().strip().split("\n"):
        row = json.loads(line)
        prompts[row["id"]] = row["prompt"]
        vote = {"a": 1, "b": -1}.get(row["winner"], 0)
        wins[row["id"]] += vote
        votes.setdefault(row["id"], []).append(vote)
    human = np.array([float(wins[name]) for name in prompts])
    spread = np.array([np.std(votes[name]) for name in prompts])
    source = codes([*prompts.values()])
    return simulated("PandaLM, first wins", human, source, 0.5, spread)


def judged_pools(data: Path | None) -> Iterator[Judged]:
    """Every pool with its judge, or a small one of self-made ratings."""
    if data is None:
        pool = simulate(400, seed=1).pool
        source = codes(pool.sources)
        yield simulated("self-made", pool.human, source, 0.5, spread_of(pool))
        return
    names = sorted({WEAKEST, *(judge for _, judge in JUDGED)})
    rated = summeval(data, articles=False, judges=names)
    by_dimension = {name.split()[1]: pool for name, pool in rated}
    for dimension, judge in JUDGED:
        pool = by_dimension[dimension]
        rubric = by_dimension[OTHER[dimension]].score(judge)
        scores = pool.score(judge)
        rows = np.flatnonzero(~np.isnan(scores + rubric))
        others = {
            "another judge": pool.score(WEAKEST)[rows],
            "another rubric": rubric[rows],
        }
        yield Judged(
            name=f"SummEval {dimension}, {judge}",
            scores=scores[rows],
            human=1 + 4 * pool.human[rows],
            source=codes([*pool.sources])[rows],
            passing=4.0,
            middle=4.0,
            spread=spread_of(pool)[rows],
            others=others,
        )
    for name, pool in rated_pools(data):
        if name.startswith(SIMULATED):
            bar = float(np.median(pool.human))
            source = codes(pool.sources or pool.ids)
            yield simulated(name, pool.human, source, bar, spread_of(pool))
    yield pandalm(data)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Decided:
    """Rows that are passed and that are failed, and which of them people pass."""

    passes: BoolArray
    fails: BoolArray
    good: BoolArray

    @property
    def share(self) -> float:
        """Share of rows that are decided."""
        return float((self.passes | self.fails).mean())

    @property
    def wrong(self) -> float:
        """The larger share of wrong rows of the two sides; 0 if nothing is decided."""
        shares = [0.0]
        for rows, wrong in ((self.passes, ~self.good), (self.fails, self.good)):
            if rows.any():
                shares.append(float(wrong[rows].mean()))
        return max(shares)


def decided(judged: Judged, rows: IntArray, licence: Licence) -> Decided:
    """The other rows under a licence."""
    scores = judged.scores[rows]
    return Decided(
        passes=scores >= licence.passes.threshold,
        fails=scores <= licence.fails.threshold,
        good=judged.good[rows],
    )


def at_middle(judged: Judged) -> Decided:
    """All rows decided from the middle of the scale on."""
    passes = judged.scores >= judged.middle
    return Decided(passes=passes, fails=~passes, good=judged.good)


def oracle(judged: Judged, rows: IntArray, most: float) -> float:
    """The largest share that thresholds with so few wrong rows on each side decide."""
    scores = judged.scores[rows]
    good = judged.good[rows]
    values = np.unique(scores)
    uppers = [value for value in values if (~good[scores >= value]).mean() <= most]
    lowers = [value for value in values if good[scores <= value].mean() <= most]
    best = 0.0
    for upper in (np.inf, *uppers):
        below = [value for value in lowers if value < upper]
        lower = max(below, default=-np.inf)
        best = max(best, float(((scores >= upper) | (scores <= lower)).mean()))
    return best


def by_kunko(judged: Judged, mine: IntArray, rows: IntArray, most: float) -> BoolArray:
    """[k] whether each of these rows is wrong that kunko-judge-audit's threshold decides."""
    passes = judged.scores >= judged.middle
    correct = passes == judged.good
    confidence = np.abs(judged.scores - judged.middle)
    certified = certify_threshold(
        confidence[mine].tolist(), correct[mine].tolist(), most, delta=0.1
    )
    threshold = certified["threshold"]
    if threshold is None:
        return np.zeros(0, dtype=bool)
    return np.asarray(~correct[rows][confidence[rows] >= threshold])


def halves(judged: Judged, seed: int) -> tuple[IntArray, IntArray]:
    """Rows of half of the sources, and of the others."""
    order = np.random.default_rng(seed).permutation(judged.source.max() + 1) % 2
    first = order[judged.source] == 0
    return np.flatnonzero(first), np.flatnonzero(~first)


def licence_of(judged: Judged, mine: IntArray, most: float) -> Licence:
    """The licence that some rows give."""
    promise = Promise(at_most_wrong=most, sure=0.9)
    return licensed(judged.labels(mine), judged.passing, promise)


def cells_of(judged: Judged, most: float, splits: int) -> tuple[str, ...]:
    """Of one promise: share decided, how often it is broken, kunko's two, the oracle's share."""
    shares = []
    bests = []
    broken = 0
    kunko_shares = []
    kunko_broken = 0
    for seed in range(splits):
        mine, others = halves(judged, seed)
        found = decided(judged, others, licence_of(judged, mine, most))
        shares.append(found.share)
        broken += found.wrong > most
        bests.append(oracle(judged, others, most))
        if certify_threshold is not None:
            wrong = by_kunko(judged, mine, others, most)
            kunko_shares.append(len(wrong) / len(others))
            kunko_broken += len(wrong) > 0 and wrong.mean() > most
    kunko = ("-", "-")
    if kunko_shares:
        kunko = (f"{np.mean(kunko_shares):.2f}", f"{kunko_broken / splits:.3f}")
    return (
        f"{np.mean(shares):.2f}",
        f"{broken / splits:.3f}",
        *kunko,
        f"{np.mean(bests):.2f}",
    )


def line(judged: Judged, splits: int) -> str:
    """A row of the table."""
    cells = [judged.name, f"{judged.good.mean():.2f}"]
    for most in PROMISES:
        cells += cells_of(judged, most, splits)
    cells.append(f"{at_middle(judged).wrong:.2f}")
    return f"| {' | '.join(cells)} |"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Shift:
    """The other half as it is when the licence is used.

    Attributes:
        name: of what has changed; scores: [n] of all rows; among: [n] whether a row still comes.
        texts: that are audited at most.
    """

    name: str
    scores: FloatArray
    among: BoolArray
    texts: int = AUDITED


def shifts_of(judged: Judged) -> list[Shift]:
    """The pool as it was, and after each change."""
    scores = judged.scores
    every = np.ones(len(scores), dtype=bool)
    disputed = np.argsort(-judged.spread, kind="stable")[: len(scores) // 2]
    hard = np.zeros(len(scores), dtype=bool)
    hard[disputed] = True
    halved = (scores + judged.middle) / 2
    return [
        Shift(name="none", scores=scores, among=every, texts=UNSHIFTED),
        *(
            Shift(name=name, scores=column, among=every)
            for name, column in judged.others.items()
        ),
        Shift(name="scale halved", scores=halved, among=every),
        Shift(name="disputed texts", scores=scores, among=hard),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One use of a licence: is the shift told, and was the promise broken?

    Attributes:
        shift: its name; wrong: share on the worse side; most: as promised.
        refused: by its scores; spoken: whether the audit speaks.
    """

    shift: str
    wrong: float
    most: float
    refused: bool
    spoken: bool

    @property
    def kind(self) -> str:
        """How the share of wrong texts lies to the promise."""
        times = self.wrong / self.most
        return KINDS[int(np.searchsorted((1, 2, 3), times))]


def told(
    judged: Judged,
    shift: Shift,
    rows: IntArray,
    licence: Licence,
    most: float,
    seed: int,
) -> Told:
    """The shift in some rows under a licence."""
    rows = rows[shift.among[rows]]
    scores = shift.scores[rows]
    units = [*map(str, judged.source[rows])]
    change = shift_between("", licence.scores, ScoreSample.of(scores, units))
    decisions = licence.thresholds.decisions(scores)
    good = judged.good[rows]
    found = Decided(passes=decisions == "pass", fails=decisions == "fail", good=good)
    alone = np.flatnonzero(decisions != "person")
    spoken = False
    if len(alone):
        drawn = np.random.default_rng(seed).choice(alone, shift.texts)
        spoken = speaks(found, drawn, licence, most)
    return Told(
        shift=shift.name,
        wrong=found.wrong,
        most=most,
        refused=change.shifted,
        spoken=spoken,
    )


def speaks(found: Decided, drawn: IntArray, licence: Licence, most: float) -> bool:
    """Whether the audit of texts drawn one after the other ever says that the promise is broken."""
    masks = {"pass": found.passes, "fail": found.fails}
    sides = [masks[name][drawn] for name in licence.thresholds.sides]
    if len(sides) > 1:
        sides.append(np.ones(len(drawn), dtype=bool))
    wrong = np.where(found.passes, ~found.good, found.good)[drawn]
    counts = [np.cumsum(side).tolist() for side in sides]
    errors = [np.cumsum(side & wrong).tolist() for side in sides]
    for place in range(len(drawn)):
        audits = [
            audited(n[place], k[place], most)
            for n, k in zip(counts, errors, strict=True)
        ]
        if is_broken(audits):
            return True
    return False


def uses_of(judged: Judged, most: float, splits: int) -> Iterator[Told]:
    """The uses of all licences that splits give."""
    for seed in range(splits):
        mine, others = halves(judged, seed)
        licence = licence_of(judged, mine, most)
        if licence.undefined:
            continue
        for shift in shifts_of(judged):
            yield told(judged, shift, others, licence, most, seed)


def shift_lines(uses: Sequence[Told]) -> Iterator[str]:
    """A row of the second table for each shift, by how many were wrong."""
    by_kind: dict[tuple[str, str], list[Told]] = {}
    for use in uses:
        by_kind.setdefault((use.shift, use.kind), []).append(use)
    for (shift, kind), alike in sorted(by_kind.items()):
        passed = [use.spoken for use in alike if not use.refused]
        cells = [
            shift,
            kind,
            str(len(alike)),
            f"{np.mean([use.wrong for use in alike]):.2f}",
            f"{np.mean([use.refused for use in alike]):.2f}",
            f"{np.mean(passed):.2f}" if passed else "-",
            f"{np.mean([use.refused or use.spoken for use in alike]):.2f}",
        ]
        yield f"| {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints two tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the real pools")
    parser.add_argument("--splits", type=int, default=200)
    parser.add_argument(
        "--quick", action="store_true", help="four splits of self-made ratings"
    )
    options = parser.parse_args(arguments)
    splits = 4 if options.quick else options.splits
    pools = [*judged_pools(None if options.quick else options.data)]
    if certify_threshold is None:
        print("kunko-judge-audit is not installed: its columns are empty\n")
    promises = [
        f"{most:.0%}: decided | broken | kunko: decided | broken | oracle"
        for most in PROMISES
    ]
    print(f"| pool, judge | people pass | {' | '.join(promises)} | cut in the middle |")
    print("|---|" + "---:|" * (2 + 5 * len(PROMISES)))
    for judged in pools:
        print(line(judged, splits), flush=True)
    print("\n| shift | promise | uses | wrong | refused | audit | either |")
    print("|---|---|" + "---:|" * 5)
    uses: list[Told] = []
    for most in SHIFTED_PROMISES:
        for judged in pools:
            uses += uses_of(judged, most, splits)
    for row in shift_lines(uses):
        print(row)
    return 0


if __name__ == "__main__":
    sys.exit(main())
