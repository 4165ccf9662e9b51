"""A Cautionary Tale (Caglayan et al. 2020): Tables 1, 2, 3 and 5, the paper's numbers beside ours.

    python papers/cautionary_tale.py --data ../shared/data [--quick] [--meteor] [--model DIR]

COCO, DailyDialog and Flickr30k, as far as their data can be reached; what cannot is named. METEOR
needs Java and minutes, so it is asked for; BERTScore needs a model. `--quick` takes 300 items of
each and few training captions: does it run? Exit status 2 where the data is absent.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from cautionary_tale_cider import ConstantCIDErD
from data_files import absent

from refless.data.records import Outputs, numbered
from refless.extensions.metrics.bertscore import BERTScore
from refless.extensions.metrics.bleu import BLEU
from refless.extensions.metrics.cider import CIDErD
from refless.extensions.metrics.meteor import METEOR
from refless.extensions.metrics.rouge import ROUGEL
from refless.extensions.papers.stress.material import StressItems, material_of
from refless.extensions.papers.stress.plan import StressPlan
from refless.extensions.papers.stress.probes import (
    frequent_probe,
    rare_probe,
    references_probe,
)
from refless.extensions.papers.stress.rows import Row
from refless.extensions.papers.stress.sentence import repeated, search
from refless.extensions.papers.stress.words import counted
from refless.metrics.protocol import METRICS, Metric
from refless.registry.errors import InputError, RefLessError
from refless.report.document import Document, Section, Table
from refless.report.export import as_json
from refless.report.text import as_text
from refless.report.wording import clipped

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
QUICK = 300
WORDS = ("people", "standing", "sitting", "man", "a")
THRESHOLDS = (30, 20, 10, 5, 3, 2, 1)
TOKEN = re.compile(r"\w+(?:-\w+)*")
FACTORS = {"BL1": 1.0, "BL4": 1.0, "MT": 100.0, "CR": 1.0, "RG": 100.0, "BS": 1.0}
DIGITS = {"BL1": 1, "BL4": 2, "MT": 2, "CR": 3, "RG": 1, "BS": 3}
Paper = Mapping[str, float]

PAPER_1 = {
    "references": {"BL4": 19.5, "MT": 24.2, "CR": 0.88, "RG": 46.7, "BS": 0.55},
    "Neural Baby Talk": {"BL4": 30.3, "MT": 25.1, "CR": 1.05, "RG": 53.0, "BS": 0.61},
}
PAPER_2 = {
    "first reference": {
        "BL4": 19.95,
        "MT": 24.41,
        "CR": 0.896,
        "RG": 47.4,
        "BS": 0.551,
    },
    "'people'": {"BL4": 19.53, "MT": 24.24, "CR": 0.878, "RG": 47.0, "BS": 0.547},
    "'standing'": {"BL4": 19.45, "MT": 24.12, "CR": 0.869, "RG": 47.0, "BS": 0.542},
    "'sitting'": {"BL4": 19.11, "MT": 24.02, "CR": 0.859, "RG": 47.0, "BS": 0.540},
    "'man'": {"BL4": 19.11, "MT": 23.66, "CR": 0.859, "RG": 46.6, "BS": 0.539},
    "'a'": {"BL4": 9.20, "MT": 20.03, "CR": 0.490, "RG": 34.8, "BS": 0.480},
    "random content words": {
        "BL4": 13.63,
        "MT": 19.58,
        "CR": 0.500,
        "RG": 41.7,
        "BS": 0.413,
    },
}
PAPER_3 = {
    "first reference": {
        "BL4": 19.95,
        "MT": 24.41,
        "CR": 0.896,
        "RG": 47.4,
        "BS": 0.551,
    },
    "fewer than 30 times": {
        "BL4": 19.80,
        "MT": 24.25,
        "CR": 0.882,
        "RG": 47.2,
        "BS": 0.543,
    },
    "fewer than 20 times": {
        "BL4": 19.84,
        "MT": 24.30,
        "CR": 0.887,
        "RG": 47.3,
        "BS": 0.545,
    },
    "fewer than 10 times": {
        "BL4": 19.89,
        "MT": 24.34,
        "CR": 0.891,
        "RG": 47.3,
        "BS": 0.548,
    },
    "fewer than 5 times": {
        "BL4": 19.91,
        "MT": 24.37,
        "CR": 0.893,
        "RG": 47.3,
        "BS": 0.549,
    },
    "fewer than 1 times": {
        "BL4": 19.96,
        "MT": 24.41,
        "CR": 0.896,
        "RG": 47.4,
        "BS": 0.551,
    },
    "woman -> man": {"BL4": 19.63, "MT": 24.15, "CR": 0.889, "RG": 47.0, "BS": 0.549},
}
PIZZA = "a pizza is sitting on top of a table"
SHIRT = "a man in a blue shirt standing in front of a building"
WHERE = "where do you want to go ?"
PAPER_5: dict[str, Paper] = {
    PIZZA: {"BL1": 46.4, "BL4": 9.1, "MT": 10.5, "CR": 0.07, "RG": 34.8, "BS": 0.373},
    SHIRT: {"BL1": 46.2, "BL4": 12.2, "MT": 11.6, "CR": 0.07, "RG": 32.7},
    WHERE: {"BL1": 36.5, "BL4": 3.8, "MT": 10.9, "CR": 0.04, "RG": 24.3, "BS": 0.225},
    "HRED": {"BL1": 45.8, "BL4": 6.2, "MT": 11.1, "CR": 0.10, "RG": 32.9, "BS": 0.289},
}
RESCORED = "Rescored, not searched: the training set cannot be reached."
PIZZA_NOTE = (
    "BLEU-1 does not come out: 50.0 for 46.4. Against references 2 to 5 it is 46.5, "
    "but BLEU-4 6.5."
)
METEOR_NOTE = "METEOR 1.5 gives 11.5 and 10.8 where the paper has 11.1 and 10.9."
UNREACHABLE = (
    "Not reachable: Neural Baby Talk's outputs (four other systems stand in its place); the "
    "training sets of COCO and DailyDialog (their sentences are scored again, not searched; words "
    "are counted in COCO's test references); MSVD, VATEX, NIST 2008 and STAIR."
)
ADVICE = (
    "The paper's advice: no claim of human parity from metrics, no conclusion from small "
    "differences; a high correlation with human ratings is not enough."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A row of a table: for each metric the paper's number and ours with its interval."""

    label: str
    share: float
    paper: Paper
    ours: dict[str, Row]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A table: title, rows, what has to be known, and what made the numbers."""

    title: str
    lines: tuple[Line, ...]
    notes: tuple[str, ...]
    signatures: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What is computed, and on how much."""

    data: Path
    metrics: dict[str, Metric]
    items: int | None
    plan: StressPlan


def words_of_caption(text: str) -> str:
    """Words of letters, digits and inner hyphens in lower case, as PTB's tokens come out."""
    return " ".join(TOKEN.findall(text.lower()))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Captions:
    """COCO's items, and each system's captions by the place of the item."""

    items: Outputs
    systems: dict[str, dict[int, str]]

    def outputs(self, system: str) -> Outputs:
        """A system's captions with their references, for the items that it has."""
        places = sorted(self.systems[system])
        return Outputs(
            ids=tuple(self.items.ids[i] for i in places),
            texts=tuple(self.systems[system][i] for i in places),
            systems=(system,) * len(places),
            items=tuple(self.items.ids[i] for i in places),
            references=tuple(self.items.references[i] for i in places),
        )


def coco(run: Run) -> Captions:
    """COCO's references, and the outputs of the other systems by name."""
    rows = lines_of(run.data / "coco" / "references.jsonl")[: run.items]
    place = {letters(row["references"]): i for i, row in enumerate(rows)}
    systems = {
        path.stem.removeprefix("system_"): {
            place[key]: words_of_caption(row["text"])
            for row in lines_of(path)
            if (key := letters(row["references"])) in place
        }
        for path in sorted((run.data / "coco").glob("system_*.jsonl"))
    }
    if not systems or not all(systems.values()):
        raise InputError("no system's outputs fit", path=str(run.data / "coco"))
    references = tuple(tuple(map(words_of_caption, row["references"])) for row in rows)
    items = Outputs(
        ids=numbered(len(rows)), texts=("",) * len(rows), references=references
    )
    return Captions(items=items, systems=systems)


def references_of(captions: Captions) -> Outputs:
    """All items, each with its first reference as output."""
    items = captions.items
    return Outputs(
        ids=items.ids,
        texts=tuple(row[0] for row in items.references),
        references=items.references,
    )


def letters(references: Sequence[str]) -> str:
    """What two files have of the same first five references, however they split words."""
    return "|".join(
        "".join(filter(str.isalnum, text.lower())) for text in references[:5]
    )


def lines_of(path: Path) -> list[dict[str, Any]]:
    """Rows of a JSONL file."""
    return [json.loads(line) for line in read(path).splitlines()]


def read(path: Path) -> str:
    """A text file, unpacked if it is gzip.

    Raises:
        InputError: it is absent.
    """
    if not path.is_file():
        raise absent(path)
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")


def flickr(run: Run) -> tuple[Outputs, list[str]]:
    """Flickr30k's test references, and its training captions."""

    def captions(name: str) -> list[str]:
        text = read(run.data / "flickr30k" / name)
        return [words_of_caption(line) for line in text.splitlines()]

    streams = [captions(f"test_2016.{i}.en.gz") for i in range(1, 6)]
    references = tuple(zip(*streams, strict=True))[: run.items]
    train = [
        text for i in range(1, 6) for text in captions(f"train.{i}.en.gz")[: run.items]
    ]
    return Outputs(
        ids=numbered(len(references)),
        texts=("",) * len(references),
        references=references,
    ), train


def dailydialog(run: Run) -> tuple[Outputs, tuple[str, ...]]:
    """The 6,740 contexts' references, and HRED's outputs; lower case, split at spaces."""
    folder = run.data / "dailydialog-multiref"
    turns = {
        f"{i}_{j}": turn.get("responses", ())
        for i, row in enumerate(lines_of(folder / "multireftest.json"))
        for j, turn in enumerate(row["dialogue"])
    }
    place = dict(
        list(json.loads(read(folder / "test_duid_mapping.json")).items())[: run.items]
    )
    hred = read(folder / "hredf.txt").splitlines()
    items = Outputs(
        ids=tuple(place),
        texts=("",) * len(place),
        references=tuple(tuple(text.lower() for text in turns[name]) for name in place),
    )
    return items, tuple(hred[place[name] - 1].lower() for name in place)


def table_1(run: Run, captions: Captions) -> Block:
    """References against references, systems against references, leave-one-out."""
    found: dict[str, list[Row]] = {}
    for name, metric in run.metrics.items():
        if name != "BL1":
            materials = [
                material_of(captions.outputs(system)) for system in captions.systems
            ]
            probes = [references_probe(metric, one, run.plan) for one in materials]
            most = max(range(len(materials)), key=lambda i: len(materials[i].items))
            found[name] = [probes[most].rows[0], *(probe.rows[1] for probe in probes)]
    rows = lines(found, PAPER_1)
    nobody = Line(
        label="Neural Baby Talk", share=0, paper=PAPER_1["Neural Baby Talk"], ours={}
    )
    few = [
        f"{name} has outputs for {len(captions.systems[name]):,} images only."
        for name in captions.systems
        if len(captions.systems[name]) < len(captions.items)
    ]
    return Block(
        title=f"Table 1: COCO, {len(captions.items):,} x 5, each against four of five references",
        lines=(rows[0], nobody, *rows[1:]),
        notes=(
            "Neural Baby Talk cannot be reached; four other systems stand in its place.",
            *few,
        ),
        signatures=signatures(run, found),
    )


def table_2(run: Run, material: StressItems) -> Block:
    """Frequent words of the first reference become UNK."""
    found = {
        name: frequent_probe(metric, material, run.plan, WORDS).rows
        for name, metric in run.metrics.items()
        if name != "BL1"
    }
    return Block(
        title="Table 2: COCO, words of the first reference become UNK",
        lines=lines(found, PAPER_2),
        notes=(
            "The share of words is below the paper's row. The random control is another draw.",
            "Content words: those that are not on bm25s's list of English stop words.",
        ),
        signatures=signatures(run, found, words=WORDS, unk="UNK", stop="english"),
    )


def table_3(run: Run, material: StressItems) -> Block:
    """Rare words of the first reference become UNK; woman becomes man."""
    counts = counted([text for row in material.items.references for text in row])
    size = sum(map(len, material.items.references))
    found = {
        name: rare_probe(
            metric,
            material,
            counts,
            run.plan,
            thresholds=THRESHOLDS,
            swaps={"woman": "man"},
        ).rows
        for name, metric in run.metrics.items()
        if name != "BL1"
    }
    return Block(
        title="Table 3: COCO, rare words of the first reference become UNK",
        lines=lines(found, PAPER_3),
        notes=(
            f"Frequencies come from the {size:,} test references, not from 550,000 training",
            "captions: thresholds reach many more words here.",
            "Compare rows of one share: the paper's thresholds take 1.44, 1.07, 0.67, 0.41 %.",
            "The row of T = 1 and 'woman -> man' need no frequencies.",
        ),
        signatures=signatures(
            run, found, thresholds=THRESHOLDS, unk="UNK", swaps="woman=man"
        ),
    )


def table_5(run: Run) -> list[Block]:
    """One sentence for everything, beside systems."""
    pizza = coco(run)
    items = pizza.items
    whole = {
        name: tuple(texts[i] for i in range(len(items)))
        for name, texts in pizza.systems.items()
        if len(texts) == len(items)
    }
    captions, train = flickr(run)
    dialogue, hred = dailydialog(run)
    best, notes = searched(run, captions, train)
    return [
        sentences(run, "COCO", items, {PIZZA: None, **whole}, (RESCORED, PIZZA_NOTE)),
        sentences(run, "Flickr30k", captions, {SHIRT: None, **best}, notes),
        sentences(
            run,
            "DailyDialog",
            dialogue,
            {WHERE: None, "HRED": hred},
            (RESCORED, METEOR_NOTE),
        ),
    ]  # fmt: skip


def searched(
    run: Run, items: Outputs, train: Sequence[str]
) -> tuple[dict[str, None], tuple[str, ...]]:
    """The best training captions by BLEU-4 and by CIDEr-D, and what was searched."""
    bleu = search(run.metrics["BL4"], items.references, train)
    cider = run.metrics["CR"]
    assert isinstance(cider, CIDErD)
    candidates = sorted({*train})
    scores = ConstantCIDErD(cider, items.references).scores(candidates)
    # of equal ones the first in the alphabet
    place = int(np.argmax(np.round(scores, 10)))
    best = {bleu.text: None, candidates[place]: None}
    among = f"Best of {len(candidates):,} distinct training captions by"
    notes = []
    for name, text, score in (
        ("BL4", bleu.text, bleu.score),
        ("CR", candidates[place], float(scores[place])),
    ):
        signature = run.metrics[name].signature()
        notes.append(f"{among} {name}: '{text}' ({score:.4g}). signature: {signature}")
    notes.append(f"The former is in the references of {bleu.in_references} items.")
    notes.append(
        "The paper searched 149,000 captions; its sentence is not the best here."
    )
    notes.append("Its sentence has its BLEU here, but ROUGE-L 34.6 for 32.7.")
    return best, tuple(notes)


def sentences(
    run: Run,
    name: str,
    items: Outputs,
    rows: Mapping[str, tuple[str, ...] | None],
    notes: tuple[str, ...],
) -> Block:
    """Scores of constant outputs (None) and of systems."""
    from refless.extensions.papers.stress.pairing import rounds, rows_of
    from refless.metrics.protocol import Scores

    def scored(metric: Metric, label: str, texts: tuple[str, ...] | None) -> Scores:
        outputs = repeated(label, items.references)
        if texts is not None:
            outputs = Outputs(ids=items.ids, texts=texts, references=items.references)
        return metric.score(outputs)

    found = {}
    for key, metric in run.metrics.items():
        pairs = [
            (Row(label=label), rounds(scored(metric, label, texts)))
            for label, texts in rows.items()
        ]
        found[key] = rows_of(pairs[0], pairs[1:], run.plan)
    return Block(
        title=f"Table 5: {name}, {len(items)} items, one sentence for all of them",
        lines=lines(found, PAPER_5),
        notes=notes,
        signatures=signatures(run, found),
    )


def lines(
    found: Mapping[str, Sequence[Row]], paper: Mapping[str, Paper]
) -> tuple[Line, ...]:
    """The rows of all metrics side by side."""
    some = next(iter(found.values()))
    return tuple(
        Line(
            label=row.label,
            share=row.share,
            paper=paper.get(row.label, {}),
            ours={name: rows[i] for name, rows in found.items()},
        )
        for i, row in enumerate(some)
    )


def signatures(
    run: Run, names: Mapping[str, object], **settings: object
) -> tuple[str, ...]:
    """What made the numbers, metric by metric."""
    drawn = {"ci": f"boot-{run.plan.resamples}", "seed": run.plan.seed}
    return tuple(
        str(run.metrics[name].signature().plus(**settings, **drawn)) for name in names
    )


def all_shown(blocks: Sequence[Block]) -> tuple[dict[str, object], Document]:
    """The result as JSON has it and as a document."""
    return (
        {
            "format": 1,
            "paper": "cautionary-tale",
            "tables": [
                {
                    "title": block.title,
                    "rows": [as_row(line) for line in block.lines],
                    "notes": list(block.notes),
                    "signatures": list(block.signatures),
                }
                for block in blocks
            ],
            "unreachable": UNREACHABLE,
        },
        Document(
            sections=(
                *(section for block in blocks for section in shown(block)),
                Section(lines=(UNREACHABLE,)),
                Section(lines=(ADVICE,)),
            )
        ),
    )


def as_row(line: Line) -> dict[str, Any]:
    """A line as JSON has it, in the paper's units."""
    ours = {name: FACTORS[name] * row.score for name, row in line.ours.items()}
    return {
        "label": line.label,
        "share": line.share,
        "paper": dict(line.paper),
        "ours": ours,
        "intervals": {
            name: [FACTORS[name] * end for end in row.score_interval]
            for name, row in line.ours.items()
        },
        "sd": {name: FACTORS[name] * row.sd for name, row in line.ours.items()},
    }


def shown(block: Block) -> list[Section]:
    """The table for people: under each of our numbers its interval's half width."""
    names = [name for name in FACTORS if any(name in line.ours for line in block.lines)]
    rows = []
    most = 34 if len(names) < 4 else 22
    for line in block.lines:
        share = f"{100 * line.share:.2f} %" if line.share > 0 else ""
        label = line.label
        if line.paper:
            rows.append(
                (
                    clipped(label, most),
                    "paper",
                    *(plain(line.paper.get(n), n) for n in names),
                )
            )
            label = ""
        if line.ours:
            first = f"{label} {share}".strip()
            rows.append(
                (
                    clipped(first, most),
                    "ours",
                    *(cell(line.ours.get(n), n) for n in names),
                )
            )
    table = Table(
        header=("", "", *names),
        rows=tuple(rows),
        numeric=(False, False, *(True for _ in names)),
    )
    long = [f"'{line.label}'" for line in block.lines if len(line.label) > most]
    named = (f"Sentences: {'; '.join(long)}.",) if long else ()
    return [
        Section(title=block.title, table=table),
        Section(
            lines=(*named, *block.notes, "Behind ±: half a 95 % interval over items.")
        ),
        Section(lines=tuple(f"signature: {one}" for one in block.signatures)),
    ]


def plain(value: float | None, name: str) -> str:
    """A number of the paper's, as printed there."""
    return "" if value is None else f"{value:.{DIGITS[name]}f}"


def cell(row: Row | None, name: str) -> str:
    """Our number with half its interval."""
    if row is None:
        return ""
    half = FACTORS[name] * (row.score_interval[1] - row.score_interval[0]) / 2
    digits = DIGITS[name]
    return f"{FACTORS[name] * row.score:.{digits}f} ±{half:.{digits}f}"


def metrics_of(*, meteor: bool, model: str | None) -> dict[str, Metric]:
    """coco-caption's metrics, and those that are asked for.

    Raises:
        InputError: METEOR cannot run here.
    """
    found: dict[str, Metric] = {
        "BL1": BLEU(order=1, tokenize="words", smooth="coco"),
        "BL4": BLEU(tokenize="words", smooth="coco"),
        "CR": CIDErD(tokenize="words"),
        "RG": ROUGEL(variant="coco"),
    }
    if meteor:
        if missing := METRICS["meteor"].missing():
            raise InputError(f"METEOR cannot run here: {missing}")
        found["MT"] = METEOR()
    if model:
        found["BS"] = BERTScore(model=model)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the tables; returns the exit status."""
    parser = argparse.ArgumentParser(
        description="A Cautionary Tale: the paper's tables beside ours.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--data", type=Path, default=DATA, help="folder of the real data"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("--quick", action="store_true", help="300 items: does it run?")
    parser.add_argument(
        "--meteor", action="store_true", help="also METEOR (Java; minutes)"
    )
    parser.add_argument(
        "--model", help="also BERTScore, with this encoder: a folder or a name"
    )
    options = parser.parse_args(arguments)
    try:
        run = Run(
            data=options.data,
            metrics=metrics_of(meteor=options.meteor, model=options.model),
            items=QUICK if options.quick else None,
            plan=StressPlan(resamples=100 if options.quick else 1_000),
        )
        captions = coco(run)
        material = material_of(references_of(captions))
        tables = [
            table_1(run, captions),
            table_2(run, material),
            table_3(run, material),
        ]
        result, document = all_shown([*tables, *table_5(run)])
    except RefLessError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(as_json(result) if options.format == "json" else as_text(document), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
