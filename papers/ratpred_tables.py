"""RatPred's tables: what the paper printed beside what the kept results say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

import numpy as np
from ratpred_data import Rated, Split
from ratpred_runs import Result, Run
from reranking import reranking
from williams import williams

from refless.evaluation import jackknife
from refless.extensions.ratpred.model import Range
from refless.registry.arrays import FloatArray, IntArray, codes
from refless.report.document import Section, Table
from refless.report.wording import number, with_interval
from refless.stats.correlation import pearson, spearman
from refless.stats.intervals import fisher_interval

MEASURES = ("pearson", "spearman", "mae", "rmse")
NAMES = {
    1: "1: base",
    2: "2: + errors in outputs",
    3: "3: + training references",
    4: "4: + systems' training data",
    5: "5: + test references*",
    6: "6: + complete data sets*",
}
METRICS = ("BLEU", "METEOR", "ROUGE-L", "CIDEr")
NOTHING = float("nan")
Values = tuple[float, float, float, float]
PAPER: dict[str, dict[str | int, Values]] = {
    "folds": {
        "constant": (NOTHING, NOTHING, 1.013, 1.233),
        "BLEU": (0.074, 0.061, 2.264, 2.731),
        "METEOR": (0.095, 0.099, 1.820, 2.129),
        "ROUGE-L": (0.079, 0.072, 1.312, 1.674),
        "CIDEr": (0.061, 0.058, 2.606, 2.935),
        1: (0.273, 0.260, 0.948, 1.258),
        2: (0.283, 0.268, 0.948, 1.273),
        3: (0.278, 0.261, 0.930, 1.257),
        4: (0.330, 0.274, 0.914, 1.226),
        5: (0.331, 0.265, 0.937, 1.245),
        6: (0.354, 0.287, 0.909, 1.208),
    },
    "domain": {
        "constant": (NOTHING, NOTHING, 0.994, 1.224),
        "BLEU": (0.033, 0.016, 2.235, 2.710),
        "METEOR": (0.076, 0.074, 1.719, 2.034),
        "ROUGE-L": (0.064, 0.049, 1.255, 1.620),
        "CIDEr": (0.048, 0.043, 2.590, 2.921),
    },
    "domain-C1": {
        1: (0.147, 0.136, 1.086, 1.416),
        2: (0.196, 0.176, 1.059, 1.364),
        3: (0.176, 0.163, 1.093, 1.420),
        4: (0.264, 0.218, 0.983, 1.307),
        5: (0.280, 0.221, 1.009, 1.341),
        6: (0.271, 0.202, 0.991, 1.331),
    },
    "domain-C2": {
        1: (0.162, 0.152, 0.985, 1.281),
        2: (0.197, 0.189, 1.003, 1.311),
        3: (0.147, 0.134, 1.037, 1.366),
        4: (0.162, 0.138, 1.084, 1.448),
        5: (0.173, 0.145, 1.077, 1.438),
        6: (0.188, 0.178, 1.037, 1.392),
    },
    "domain-C3": {
        1: (0.170, 0.166, 1.003, 1.315),
        2: (0.219, 0.218, 0.988, 1.296),
        3: (0.219, 0.216, 0.979, 1.302),
        4: (0.247, 0.211, 0.983, 1.306),
        5: (0.210, 0.162, 1.095, 1.442),
        6: (0.224, 0.210, 1.002, 1.339),
    },
    "system": {
        "constant": (NOTHING, NOTHING, 1.060, 1.301),
        "BLEU": (0.079, 0.043, 2.514, 2.971),
        "METEOR": (0.141, 0.122, 1.929, 2.238),
        "ROUGE-L": (0.064, 0.048, 1.449, 1.802),
        "CIDEr": (0.127, 0.106, 2.801, 3.112),
    },
    "system-C1": {
        1: (0.341, 0.334, 1.054, 1.405),
        2: (0.358, 0.345, 1.007, 1.342),
        3: (0.378, 0.365, 0.971, 1.326),
        4: (0.390, 0.360, 0.981, 1.311),
        5: (0.398, 0.364, 1.043, 1.393),
        6: (0.390, 0.353, 1.036, 1.389),
    },
    "system-C2": {
        1: (0.097, 0.117, 1.052, 1.336),
        2: (0.115, 0.119, 1.057, 1.355),
        3: (0.112, 0.094, 1.059, 1.387),
        4: (0.247, 0.189, 1.011, 1.338),
        5: (0.229, 0.174, 1.025, 1.328),
        6: (0.332, 0.262, 0.969, 1.280),
    },
    "system-C3": {
        1: (0.174, 0.179, 1.114, 1.455),
        2: (0.203, 0.222, 1.253, 1.613),
        3: (0.404, 0.377, 0.968, 1.277),
        4: (0.370, 0.346, 0.997, 1.312),
        5: (0.386, 0.356, 0.975, 1.301),
        6: (0.374, 0.330, 0.979, 1.298),
    },
}
TABLE1 = {
    ("LOLS", "BAGEL"): 202, ("LOLS", "SFRES"): 581, ("LOLS", "SFHOT"): 398,
    ("WEN", "SFRES"): 600, ("WEN", "SFHOT"): 477, ("Dusek", "BAGEL"): 202,
}  # fmt: skip
TABLE2 = {1: 1_476, 2: 3_937, 3: 13_442, 4: 45_137, 5: 57_372, 6: 80_522}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Row:
    """One line of a table: predictions of one or several runs over the same rows.

    Attributes:
        name: as shown; paper: the published values, or None.
        runs: one [n] column a seed, unrounded; quantised: whether they are clipped and rounded.
    """

    name: str
    runs: tuple[FloatArray, ...]
    paper: Values | None = None
    quantised: bool = True

    def shown(self) -> list[FloatArray]:
        """The predictions as they are judged."""
        return [rounded(run) if self.quantised else run for run in self.runs]


def rounded(values: FloatArray) -> FloatArray:
    """Clipped to 1-6 and rounded to halves, as published."""
    return np.asarray(np.clip(np.rint(values * 2) / 2, 1.0, 6.0))


def judged(human: FloatArray, values: FloatArray) -> Values:
    """Pearson, Spearman, MAE, RMSE."""
    errors = values - human
    return (
        pearson(human, values),
        spearman(human, values),
        float(np.abs(errors).mean()),
        float(np.sqrt(np.square(errors).mean())),
    )


def pooled(
    results: Mapping[Run, Result], splits: Mapping[Run, Split], n: int
) -> FloatArray:
    """[n] predictions of all folds of one seed, each row's from the fold that tests it."""
    values = np.full(n, np.nan)
    for run, result in results.items():
        values[splits[run].test] = result.test
    return values


def metric_rows(
    rated: Rated, rows: IntArray, paper: Mapping[str | int, Values]
) -> list[Row]:
    """The file's metric columns on the scale of the ratings, rounded and as they are."""
    found = [
        Row(
            name="constant 4.5",
            runs=(np.full(len(rows), 4.5),),
            paper=paper.get("constant"),
        )
    ]
    for name in METRICS:
        column = rated.metrics[name][rows] / (10.0 if name == "CIDEr" else 1.0)
        values = 1.0 + 5.0 * column
        found.append(Row(name=f"{name}*", runs=(values,), paper=paper.get(name)))
        found.append(Row(name=f"{name}*, unrounded", runs=(values,), quantised=False))
    return found


def as_dict(row: Row, human: FloatArray, against: Mapping[str, Row]) -> dict[str, Any]:
    """A row's numbers: means over seeds, their spread, Williams' tests (median p over seeds)."""
    scores = np.array([judged(human, run) for run in row.shown()])
    mean = scores.mean(axis=0)
    spread = scores.std(axis=0, ddof=1) if len(scores) > 1 else np.full(4, np.nan)
    found: dict[str, Any] = {"name": row.name, "seeds": len(row.runs), "n": len(human)}
    for i, name in enumerate(MEASURES):
        found[name] = float(mean[i])
        found[f"{name}_sd"] = float(spread[i])
        found[f"{name}_paper"] = NOTHING if row.paper is None else row.paper[i]
    for i, name in enumerate(("pearson", "spearman")):
        ends = fisher_interval(float(mean[i]), len(human), ranked=bool(i))
        found[f"{name}_interval"] = list(ends)
    for name, other in against.items():
        found[f"p_{name}"] = _williams(row, other, human)
    return found


def choosing(row: Row, human: FloatArray, sources: Sequence[str]) -> dict[str, Any]:
    """What choosing the highest of each source's outputs is worth: means over seeds.

    The ends of intervals are means over seeds too, so as wide as one seed's; networks stay as they
    are.
    """
    groups = codes(sources)
    parts = min(jackknife.PARTS, int(groups.max()) + 1)
    fixed = np.zeros((0, 2, len(human)))
    split = jackknife.Split(
        human=human, groups=groups, blocks=groups, part=groups % parts + 1, parts=parts
    )
    several = [
        reranking(sources, jackknife.Replicates(split, np.array([[run, run]]), fixed))
        for run in row.shown()
    ]
    found = [one for one in several if one is not None]
    return {
        "sources": found[0].n,
        "gain": float(np.mean([one.gain for one in found])),
        "gain_interval": np.mean([one.gain_interval for one in found], axis=0).tolist(),
        "share": float(np.mean([one.share for one in found])),
        "share_interval": np.mean(
            [one.share_interval for one in found], axis=0
        ).tolist(),
    }


def choosing_section(title: str, rows: Sequence[dict[str, Any]]) -> Section:
    """The rows that say what choosing is worth, as a table."""
    shown = [row for row in rows if "gain" in row]
    table = Table(
        header=("", "gain [95 %]", "share [95 %]", "seeds"),
        rows=tuple(
            (
                row["name"],
                with_interval(row["gain"], row["gain_interval"]),
                with_interval(row["share"], row["share_interval"]),
                str(row["seeds"]),
            )
            for row in shown
        ),
        numeric=(False, True, True, True),
    )
    count = shown[0]["sources"]
    lines = (
        f"Of each of {count:,} sources' outputs the one with the highest estimate: its rating less",
        "that of one at random, and as a share of what the one that people rate best gains.",
    )
    return Section(title=f"{title}: choosing", lines=lines, table=table)


def _williams(row: Row, other: Row, human: FloatArray) -> float:
    """Median over seeds of the two-sided p of no difference in Pearson's r."""
    values = []
    for i, run in enumerate(row.shown()):
        rival = other.shown()[i % len(other.runs)]
        test = williams(
            pearson(human, run), pearson(human, rival), pearson(run, rival), len(human)
        )
        values.append(test.p)
    known = [p for p in values if p == p]
    return median(known) if known else NOTHING


def sections(
    title: str, rows: Sequence[dict[str, Any]], notes: Sequence[str]
) -> list[Section]:
    """Two tables for people: correlations, then errors."""

    def spread(row: dict[str, Any], name: str) -> str:
        return number(row[f"{name}_sd"]) if row["seeds"] > 1 else "-"

    def p(row: dict[str, Any]) -> str:
        value = row.get("p_setup 1", NOTHING)
        return (
            "-"
            if value != value
            else ("<.001" if value < 0.001 else f"{value:.3f}"[1:])
        )

    first = Table(
        header=("", "paper", "Pearson [95 %]", "sd", "p", "paper", "Spearman", "seeds"),
        rows=tuple(
            (
                row["name"],
                number(row["pearson_paper"]),
                with_interval(row["pearson"], row["pearson_interval"]),
                spread(row, "pearson"),
                p(row),
                number(row["spearman_paper"]),
                number(row["spearman"]),
                str(row["seeds"]),
            )
            for row in rows
        ),
        numeric=(False, *[True] * 7),
    )
    second = Table(
        header=("", "paper", "MAE", "sd", "paper", "RMSE", "sd"),
        rows=tuple(
            (
                row["name"],
                number(row["mae_paper"]),
                number(row["mae"]),
                spread(row, "mae"),
                number(row["rmse_paper"]),
                number(row["rmse"]),
                spread(row, "rmse"),
            )
            for row in rows
        ),
        numeric=(False, *[True] * 6),
    )
    return [
        Section(title=title, lines=tuple(notes), table=first),
        Section(title=f"{title}: errors", table=second),
    ]


Component = Callable[[Run], Result | None]


def calibrated(result: Result, human: FloatArray, split: Split) -> Result:
    """The test predictions at the level of the ratings, as the estimator brings them there.

    Folds whose epoch is one of those with synthetic errors have lower estimates than others,
    which blurs correlations over all folds.
    """
    ratings = human[split.validation]
    # predictions are in raters' units
    raw = replace(Range.of(ratings), offset=0.0, unit=1.0)
    line = raw.calibrated(result.validation, ratings)
    test = line.rating(result.test, calibrated=True, clipped=False, rounded=False)
    return replace(result, test=test)


def combined(
    human: FloatArray, splits: Sequence[Split], parts: Sequence[Sequence[Result]]
) -> FloatArray:
    """[n] a weighted sum of several estimators, its weights from each fold's validation rows.

    Args:
        human: [n] ratings.
        splits: one a fold.
        parts: for each fold, each estimator's result.

    Each column is brought to mean 0 and spread 1 on the validation rows; weights are a ridge's
    towards equal shares (as much prior as there are rows), never below 0, so that 492 rows cannot
    do harm; then a line on the validation rows brings the sum to the scale of the ratings.
    """
    values = np.full(len(human), np.nan)
    for split, results in zip(splits, parts, strict=True):
        y = human[split.validation]
        inside = np.stack([result.validation for result in results], axis=1)
        centre = inside.mean(axis=0)
        width = inside.std(axis=0)
        inside = (inside - centre) / width
        outside = (
            np.stack([result.test for result in results], axis=1) - centre
        ) / width
        weights = _weights(inside, (y - y.mean()) / y.std())
        sums = inside @ weights
        slope = float(
            ((sums - sums.mean()) * (y - y.mean())).sum()
            / np.square(sums - sums.mean()).sum()
        )
        values[split.test] = y.mean() + slope * (outside @ weights - sums.mean())
    return values


def _weights(x: FloatArray, y: FloatArray) -> FloatArray:
    """Non-negative weights near equal shares."""
    from scipy.optimize import nnls

    count = x.shape[1]
    equal = x.mean(axis=1)
    scale = float((equal * y).sum() / np.square(equal).sum())
    prior = np.full(count, max(scale, 0.0) / count)
    strength = np.sqrt(len(x))
    wide = np.vstack([x, strength * np.eye(count)])
    found, _ = nnls(wide, np.concatenate([y, strength * prior]))
    return np.asarray(found, dtype=np.float64)
