"""Delta-BLEU (Galley et al. 2015): the author's example and the correlation study on stand-ins.

    python papers/delta_bleu.py --data ../shared/data [--quick] [--format json]

The paper's Twitter data is no longer public. STAND-INS take its place: rated outputs of two systems
(nlg-ratings), and responses that are known to be good or bad (dailydialog-plusplus), out of which
simulated systems answer. Nothing here reproduces Table 2; it asks whether its conclusions hold on
other data. GRADE, which also has rated responses, has no references and does not fit. Exit status 2
where the data is absent.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from data_files import absent

from refless.data.records import Outputs
from refless.extensions.metrics.bleu import BLEU, SentenceBLEU
from refless.extensions.metrics.delta import DeltaBLEU
from refless.extensions.papers.units import InUnits, in_units
from refless.metrics.bleu import NOTHING, Smoothing, log_precisions
from refless.metrics.protocol import Metric, Scores
from refless.registry.arrays import FloatArray
from refless.registry.errors import RefLessError
from refless.report.document import Document, Section, Table
from refless.report.export import as_json
from refless.report.text import as_text
from refless.report.wording import number, with_interval

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
NLG = Path("nlg-ratings")
DIALOGUE = Path("dailydialog-plusplus") / "dev.json"
GOOD = 0.6  # the paper's threshold for references of high quality
UNIT = 100
ASSIGNMENTS = 1_000
SEED = 0
METRICS: dict[str, type[BLEU]] = {
    "BLEU": BLEU,
    "sBLEU": SentenceBLEU,
    "delta-BLEU": DeltaBLEU,
}
THRESHOLDS = (1.0, 0.6, 0.2, -0.2, -0.6, -1.0)  # Figure 2A
PAPER = {  # Table 2, Spearman and Kendall
    ("BLEU", "single"): (0.260, 0.171),
    ("BLEU", "w >= 0.6"): (0.343, 0.232),
    ("BLEU", "all"): (0.318, 0.212),
    ("sBLEU", "single"): (0.265, 0.175),
    ("sBLEU", "w >= 0.6"): (0.330, 0.222),
    ("sBLEU", "all"): (0.258, 0.167),
    ("delta-BLEU", "single"): (0.280, 0.187),
    ("delta-BLEU", "w >= 0.6"): (0.405, 0.281),
    ("delta-BLEU", "all"): (0.484, 0.342),
}
EXAMPLE_REFERENCES = (
    {
        "the food was delicious .": 1.0,
        "it was tasty .": 0.7,
        "it was good .": 0.3,
        "it was ok .": 0.0,
        "it didn't taste that bad": -0.1,
        "it tasted terrible .": -1.0,
    },
    {
        "it was great .": 1.0,
        "i enjoyed the music .": 0.6,
        "i liked the music .": 0.3,
        "it sounded ok .": 0.0,
        "it wasn't that bad .": -0.1,
        "it was awful .": -1.0,
    },
)
EXAMPLE = {  # outputs: delta-BLEU and BLEU as the author published them
    ("the food was quite good .", "the music was great ."): (33.11, 36.28),
    ("the food tasted terrible .", "the music was awful ."): (7.14, 42.04),
}
CAUTION = (
    "The paper's conclusions, by the sign of the difference; where intervals overlap widely, as "
    "with few units, neither answer is proof."
)
# which references (place, weight) a condition keeps
Keep = Callable[[int, float], bool]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Pair:
    """Two systems' outputs for the same items, and how much better people found the first."""

    name: str
    first: Outputs
    second: Outputs
    difference: FloatArray  # [n] rating of the first minus rating of the second


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """How correlations are computed."""

    unit: int = UNIT
    assignments: int = ASSIGNMENTS
    order: int = 2
    seed: int = SEED


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A metric under one condition."""

    metric: str
    condition: str
    found: InUnits

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "metric": self.metric,
            "references": self.condition,
            "spearman": self.found.spearman,
            "spearman_interval": list(self.found.spearman_interval),
            "kendall": self.found.kendall,
            "kendall_interval": list(self.found.kendall_interval),
            "n_units": self.found.n_units,
        }


def conditions() -> dict[str, Keep]:
    """The references of Table 2: the first one, those of quality, all."""
    return {
        "single": lambda place, _: place == 0,
        "w >= 0.6": lambda _, weight: weight >= GOOD,
        "all": lambda *_: True,
    }


def example() -> list[dict[str, Any]]:
    """The author's published example: order 4, 13a tokens, exp smoothing."""
    rows = []
    for texts, (delta, bleu) in EXAMPLE.items():
        outputs = Outputs(
            ids=("1", "2"),
            texts=texts,
            references=tuple(map(tuple, EXAMPLE_REFERENCES)),
            weights=tuple(tuple(row.values()) for row in EXAMPLE_REFERENCES),
        )
        for metric, published in ((DeltaBLEU(), delta), (BLEU(), bleu)):
            scores = metric.score(outputs)
            rows.append(
                {
                    "outputs": " / ".join(texts),
                    "paper": published,
                    "score": scores.corpus,
                    "precisions": precisions_of_sums(
                        scores.statistics.sum(axis=0)
                    ).tolist(),
                    "signature": str(metric.signature()),
                }
            )
    return rows


def precisions_of_sums(sums: FloatArray) -> FloatArray:
    """[order] the precisions that enter the score, 0 to 100."""
    order = (len(sums) - 2) // 2
    matched = np.where(sums[2 : 2 + order] > NOTHING, sums[2 : 2 + order], 0.0)
    logs = log_precisions(matched, sums[2 + order :], Smoothing())
    return np.asarray(np.where((matched > 0).any(), 100 * np.exp(logs), 0.0))


def with_references(outputs: Outputs, keep: Keep) -> Outputs:
    """The outputs with the references that a condition keeps."""
    kept = [
        [
            (text, w)
            for place, (text, w) in enumerate(zip(*row, strict=True))
            if keep(place, w)
        ]
        for row in zip(outputs.references, outputs.weights, strict=True)
    ]
    return replace(
        outputs,
        references=tuple(tuple(text for text, _ in row) for row in kept),
        weights=tuple(tuple(w for _, w in row) for row in kept),
    )


def usable(pairs: Sequence[Pair]) -> tuple[list[Pair], int]:
    """The pairs without items that lack a reference of quality on either side; how many lacked."""
    kept = []
    lost = 0
    for pair in pairs:
        both = zip(pair.first.weights, pair.second.weights, strict=True)
        good = [a[0] > 0 and b[0] > 0 and max(a) >= GOOD <= max(b) for a, b in both]
        lost += good.count(False)
        rows = np.flatnonzero(good)
        if len(rows) == len(good):
            kept.append(pair)
        elif len(rows):
            first = pair.first.take(rows)
            second = pair.second.take(rows)
            difference = pair.difference[rows]
            kept.append(
                replace(pair, first=first, second=second, difference=difference)
            )
    return kept, lost


def correlations(
    pairs: Sequence[Pair], chosen: Mapping[str, Keep], study: Study
) -> tuple[Row, ...]:
    """Every metric under every condition, on the same assignments of items to units."""
    scores = {
        (name, condition): _scores(kind(order=study.order), pairs, keep)
        for condition, keep in chosen.items()
        for name, kind in METRICS.items()
    }
    found = in_units(
        [pair.difference for pair in pairs],
        scores,
        unit=study.unit,
        assignments=study.assignments,
        seed=study.seed,
    )
    return tuple(
        Row(metric=name, condition=condition, found=row)
        for (name, condition), row in found.items()
    )


def _scores(
    metric: Metric, pairs: Sequence[Pair], keep: Keep
) -> list[tuple[Scores, Scores]]:
    """Both sides of each pair scored; a system that stands in several pairs, once."""
    systems = {id(one): one for pair in pairs for one in (pair.first, pair.second)}
    scores = {
        key: metric.score(with_references(one, keep)) for key, one in systems.items()
    }
    return [(scores[id(pair.first)], scores[id(pair.second)]) for pair in pairs]


def nlg_pairs(data: Path) -> list[Pair]:
    """STAND-IN: WEN against LOLS on SFRest and SFHot.

    References of an output: the human one, which nobody rated, with weight 1, and every other
    system's output for the same MR with its median quality on 1..6 as weight (r - 3.5) / 2.5.
    With two systems each is the other's reference, so a better rival means a better weight: this
    works against delta-BLEU, and the units are few.
    """
    with (data / NLG / "emnlp_data_medians.csv").open(
        encoding="utf-8", newline=""
    ) as stream:
        rows = list(csv.DictReader(stream))
    pairs = []
    for dataset, file in (("SFRES", "sfres"), ("SFHOT", "sfhot")):
        texts = json.loads(
            (data / NLG / f"{file}_references.json").read_text(encoding="utf-8")
        )
        chosen = [row for row in rows if row["dataset"] == dataset]
        by_mr: dict[str, dict[str, tuple[str, float, str]]] = {}
        for row, more in zip(chosen, texts, strict=True):
            found = (row["sys_ref"], float(row["quality"]), more["reference"].lower())
            by_mr.setdefault(row["mr"], {}).setdefault(row["system"], found)
        both = {
            mr: found for mr, found in by_mr.items() if {"WEN", "LOLS"} <= found.keys()
        }
        a, b = ([found[name] for found in both.values()] for name in ("WEN", "LOLS"))
        difference = np.array([x[1] - y[1] for x, y in zip(a, b, strict=True)])
        first, second = (_nlg_outputs(list(both), *two) for two in ((a, b), (b, a)))
        pairs.append(
            Pair(name=dataset, first=first, second=second, difference=difference)
        )
    return pairs


def _nlg_outputs(
    names: Sequence[str],
    own: Sequence[tuple[str, float, str]],
    other: Sequence[tuple[str, float, str]],
) -> Outputs:
    return Outputs(
        ids=tuple(names),
        texts=tuple(text for text, _, _ in own),
        references=tuple((human, text) for text, _, human in other),
        weights=tuple((1.0, (rating - 3.5) / 2.5) for _, rating, _ in other),
    )


def dialogue_pairs(data: Path, seed: int = SEED) -> list[Pair]:
    """STAND-IN: simulated systems that answer DailyDialog++ contexts well more or less often.

    One good, one adversarial and one random response of each context are what systems can say; a
    good one counts +1 and the others -1 as a human would. The other 4 + 4 + 4 are the references,
    good ones with weight 1, adversarial ones -0.5 and random ones -1.
    """
    lines = (data / DIALOGUE).read_text(encoding="utf-8").splitlines()
    contexts = [json.loads(line) for line in lines]
    kinds = (
        "positive_responses",
        "adversarial_negative_responses",
        "random_negative_responses",
    )
    weights = tuple([1.0] * 4 + [-0.5] * 4 + [-1.0] * 4)
    rng = np.random.default_rng(seed)
    skill = {"A": 0.7, "B": 0.6, "C": 0.5, "D": 0.4}
    said = {
        name: rng.choice(3, p=[p, (1 - p) / 2, (1 - p) / 2], size=len(contexts))
        for name, p in skill.items()
    }
    references = tuple(
        tuple(text for kind in kinds for text in context[kind][1:5])
        for context in contexts
    )

    def outputs_of(name: str) -> Outputs:
        texts = (
            context[kinds[k]][0]
            for context, k in zip(contexts, said[name], strict=True)
        )
        return Outputs(
            ids=tuple(str(context["id"]) for context in contexts),
            texts=tuple(texts),
            references=references,
            weights=(weights,) * len(contexts),
        )

    def value(name: str) -> FloatArray:
        return np.where(said[name] == 0, 1.0, -1.0)

    outputs = {name: outputs_of(name) for name in skill}
    return [
        Pair(
            name=a + b,
            first=outputs[a],
            second=outputs[b],
            difference=value(a) - value(b),
        )
        for a in skill
        for b in skill
        if a < b
    ]


def conclusions(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The paper's conclusions, tested on a table; a difference counts whatever its size."""
    rho = {(row.metric, row.condition): row.found.spearman for row in rows}
    best = {name: max(rho[name, c] for c in conditions()) for name in METRICS}
    claims = {
        "the best delta-BLEU beats the best BLEU": best["delta-BLEU"] - best["BLEU"],
        "the best delta-BLEU beats the best sBLEU": best["delta-BLEU"] - best["sBLEU"],
        "BLEU loses from w >= 0.6 to all references": rho["BLEU", "w >= 0.6"]
        - rho["BLEU", "all"],
        "delta-BLEU gains from w >= 0.6 to all references": rho["delta-BLEU", "all"]
        - rho["delta-BLEU", "w >= 0.6"],
        "with all references, delta-BLEU beats BLEU": rho["delta-BLEU", "all"]
        - rho["BLEU", "all"],
    }
    return [
        {"claim": claim, "difference": difference, "holds": bool(difference > 0)}
        for claim, difference in claims.items()
    ]


def thresholds(pairs: Sequence[Pair], study: Study) -> tuple[Row, ...]:
    """Figure 2A: references down to a lowest weight; below 0 they speak against an output."""
    chosen: dict[str, Keep] = {
        f"w >= {low:g}": lambda _, w, low=low: w >= low  # type: ignore[misc]
        for low in THRESHOLDS
    }
    return correlations(pairs, chosen, study)


def figures(data: Path, study: Study) -> dict[str, list[dict[str, Any]]]:
    """Figure 2 on simulated systems: lowest weight, size of units, n-gram order."""
    pairs, _ = usable(dialogue_pairs(data))
    fewer = replace(study, assignments=min(study.assignments, 100))
    every: dict[str, Keep] = {"all": conditions()["all"]}
    sweeps = {"Figure 2A, lowest weight": thresholds(pairs, fewer)}
    for unit in (1, 10, 50, 100):
        how = replace(
            fewer, unit=unit, assignments=5 if unit == 1 else fewer.assignments
        )
        sweeps[f"Figure 2B, units of {unit}"] = correlations(pairs, every, how)
    for order in (1, 2, 3, 4):
        how = replace(fewer, order=order)
        sweeps[f"Figure 2C, order up to {order}"] = correlations(pairs, every, how)
    return {title: [row.as_dict() for row in rows] for title, rows in sweeps.items()}


def results(data: Path, *, quick: bool) -> dict[str, Any]:
    """Everything that is printed."""
    study = Study(assignments=20 if quick else ASSIGNMENTS)
    tables = []
    for name, read in (
        ("nlg-ratings", nlg_pairs),
        ("dailydialog-plusplus", dialogue_pairs),
    ):
        pairs, lost = usable(read(data))
        rows = correlations(pairs, conditions(), study)
        tables.append(
            {
                "title": f"Table 2 on a STAND-IN: {name}",
                "about": " ".join((read.__doc__ or "").split()),
                "dropped": lost,
                "rows": [
                    {**row.as_dict(), "paper": PAPER[row.metric, row.condition]}
                    for row in rows
                ],
                "conclusions": conclusions(rows),
            }
        )
    return {
        "format": 1,
        "paper": "delta-bleu",
        "settings": {
            "order": 2,
            "unit": UNIT,
            "assignments": study.assignments,
            "seed": SEED,
        },
        "example": example(),
        "tables": tables,
        "figures": {} if quick else figures(data, study),
    }


def document_of(found: dict[str, Any]) -> Document:
    """The result for people."""
    sections = [
        Section(title="The author's example", table=_example_table(found["example"]))
    ]
    for table in found["tables"]:
        lost = f"{table['dropped']} items without a good reference are left out for all metrics."
        lines = tuple(
            f"{'holds' if claim['holds'] else 'DOES NOT HOLD'}: {claim['claim']} "
            f"({claim['difference']:+.3f})"
            for claim in table["conclusions"]
        )
        sections.append(Section(title=table["title"], lines=(table["about"], lost)))
        sections += [
            Section(table=_rows_table(table["rows"])),
            Section(lines=(CAUTION, *lines)),
        ]
    for title, rows in found["figures"].items():
        title = f"{title}, on the STAND-IN dailydialog-plusplus"
        sections.append(Section(title=title, table=_rows_table(rows)))
    return Document(sections=tuple(sections))


def _example_table(rows: Sequence[dict[str, Any]]) -> Table:
    cells = tuple(
        (
            row["outputs"],
            row["signature"].partition("|")[0],
            number(row["paper"], 2),
            number(row["score"], 2),
            "/".join(number(p, 1) for p in row["precisions"]),
        )
        for row in rows
    )
    header = ("outputs", "metric", "paper", "ours", "precisions")
    return Table(header=header, rows=cells, numeric=(False, False, True, True, False))


def _rows_table(rows: Sequence[dict[str, Any]]) -> Table:
    cells = tuple(
        (
            row["metric"],
            row["references"],
            with_interval(row["spearman"], row["spearman_interval"]),
            number(row["kendall"]),
            str(row["n_units"]),
            "{:.3f} {:.3f}".format(*row["paper"]) if "paper" in row else "-",
        )
        for row in rows
    )
    header = (
        "metric",
        "references",
        "Spearman [95 %]",
        "Kendall",
        "units",
        "paper, Twitter",
    )
    return Table(
        header=header, rows=cells, numeric=(False, False, True, True, True, False)
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the tables; returns the exit status."""
    parser = argparse.ArgumentParser(
        description="Delta-BLEU: the paper's tables beside ours.", allow_abbrev=False
    )
    parser.add_argument(
        "--data", type=Path, default=DATA, help="folder of the real data"
    )
    parser.add_argument(
        "--quick", action="store_true", help="20 assignments instead of 1,000"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    options = parser.parse_args(arguments)
    for path in (
        options.data / NLG / "emnlp_data_medians.csv",
        options.data / DIALOGUE,
    ):
        if not path.exists():
            print(f"error: {absent(path)}", file=sys.stderr)
            return 2
    try:
        found = results(options.data, quick=options.quick)
    except RefLessError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    as_document = as_text(document_of(found), width=100)
    print(as_json(found) if options.format == "json" else as_document, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
