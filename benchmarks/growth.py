"""What a rated text costs, from 1,000 to a million of them: pairs a second, memory, build, open.

Each cell (so many rated texts of one length, as characters or as words) is measured in processes of
its own: one builds an index from a file, one opens it and has outputs matched by BLEU*.

    python benchmarks/growth.py [--largest 1000000] [-o growth.json] [-o growth.html]
    python benchmarks/growth.py --quick  # a small part: does it run?

An exponent is the slope of log cost against log size between the two largest sizes: 1 is linear,
0 does not grow. Compiling is left out; memory is the peak of the whole process.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matching import peak_mib
from texts import simulated_texts

from refless.metrics.matching import cores
from refless.report.charts import Series, chart
from refless.report.document import Document, Figure, Key, Section, Table
from refless.report.html import as_html
from refless.report.plot import axis_over
from refless.report.text import as_text

SIZES = (1_000, 10_000, 100_000, 1_000_000)
LENGTHS = (20, 200, 2_000)
CHARACTERS = 20_000_000  # of rated texts in a cell, at most; larger cells are left out, aloud
PAIRS = 200_000_000  # of short texts that a cell matches, about
TAU = 0.08
KERNELS = {"characters": "bleu*", "words": "bleu*:tokenize=words,orders=1-2"}
QUICK = ((500, 1_000), (20,))
COSTS = {
    "build_s": "build s",
    "build_mib": "peak MiB",
    "disk_mib": "disk MiB",
    "open_s": "open s",
    "match_mib": "match MiB",
    "pair_ns": "ns a pair",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell of the table; costs that `COSTS` names, and what was measured."""

    tokens: str
    length: int
    texts: int
    outputs: int
    build_s: float
    build_mib: float
    disk_mib: float
    open_s: float
    match_mib: float
    pair_ns: float


def main(argv: Sequence[str] | None = None) -> int:
    """Measures every cell, and shows them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--largest", type=int, default=SIZES[-1], help="rated texts")
    parser.add_argument("--quick", action="store_true", help="two small sizes of one length")
    parser.add_argument("-o", "--out", type=Path, action="append", default=[], help=".json, .html")
    parser.add_argument("--alone", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    asked = parser.parse_args(argv)
    if asked.alone:
        print(json.dumps(ALONE[asked.alone[0]](*asked.alone[1:])))
        return 0
    sizes, lengths = QUICK if asked.quick else (SIZES, LENGTHS)
    cells = list(measured([size for size in sizes if size <= asked.largest], lengths))
    shown = document(cells)
    for path in asked.out:
        json_text = json.dumps([asdict(cell) for cell in cells], indent=2)
        path.write_text(as_html(shown) if path.suffix == ".html" else json_text, encoding="utf-8")
    print(as_text(shown))
    return 0


def measured(sizes: Sequence[int], lengths: Sequence[int]) -> Iterator[Cell]:
    """Every cell that is not too large; progress on standard error."""
    for tokens, kernel in KERNELS.items():
        for length in lengths:
            for texts in sizes:
                name = f"{texts:,} texts of {length:,} characters as {tokens}"
                if texts * length > CHARACTERS and texts > min(sizes):
                    print(f"left out, too large here: {name}", file=sys.stderr)
                    continue
                cell = cell_of(tokens, kernel, length, texts)
                print(f"{name}: {cell.pair_ns:.1f} ns a pair", file=sys.stderr)
                yield cell


def cell_of(tokens: str, kernel: str, length: int, texts: int) -> Cell:
    """One cell, in processes of its own."""
    outputs = int(min(max(PAIRS * 20 / (texts * length), 20), 2_000))
    with tempfile.TemporaryDirectory() as folder:
        rated, index = Path(folder) / "rated.jsonl", Path(folder) / "index"
        with rated.open("w", encoding="utf-8") as file:
            for i, text in enumerate(simulated_texts(texts, length=length)):
                file.write(json.dumps({"id": str(i), "text": text, "rating": i % 5 + 1}) + "\n")
        built = alone("build", rated, index, kernel)
        matched = alone("match", index, kernel, outputs, length)
        disk = sum(path.stat().st_size for path in index.rglob("*") if path.is_file()) / 2**20
    found = {**built, **matched, "disk_mib": disk}
    return Cell(tokens=tokens, length=length, texts=texts, outputs=outputs, **found)


def alone(*words: object) -> dict[str, float]:
    """A function of `ALONE` in a fresh process."""
    command = [sys.executable, __file__, "--alone", *map(str, words)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def build(rated: str, folder: str, kernel: str) -> dict[str, float]:
    """A file into an index."""
    from refless.commands.index.run import index

    warm(kernel)
    began = time.perf_counter()
    index(rated, out_dir=folder, kernel=kernel, scale=(1, 5))
    return {"build_s": time.perf_counter() - began, "build_mib": peak_mib()}


def warm(kernel: str) -> None:
    """Loads, and compiles, what making and opening an index needs."""
    from refless.commands.index.run import index
    from refless.metrics.index import load_index

    with tempfile.TemporaryDirectory() as folder:
        rows = [{"text": text, "rating": 1} for text in simulated_texts(20)]
        index(rows, out_dir=f"{folder}/index", kernel=kernel, scale=(1, 5))
        load_index(f"{folder}/index")


def match(folder: str, kernel: str, outputs: str, length: str) -> dict[str, float]:
    """An index opened, and outputs compared with all of it."""
    from refless.metrics.index import load_index

    texts = simulated_texts(int(outputs), seed=1, length=int(length))
    warm(kernel)
    began = time.perf_counter()
    index = load_index(folder)
    opened = time.perf_counter() - began
    ratings, taus = np.arange(len(index.pool)) % 5, np.array([TAU])
    index.prepared.neighbor_sums(texts[:2], ratings, taus)  # compiles, and reads what is mapped
    began = time.perf_counter()
    index.prepared.neighbor_sums(texts, ratings, taus)
    seconds = time.perf_counter() - began
    pair = 1e9 * seconds / (len(texts) * len(ratings))
    return {"open_s": opened, "pair_ns": pair, "match_mib": peak_mib()}


ALONE: dict[str, Callable[..., dict[str, float]]] = {"build": build, "match": match}


def document(cells: Sequence[Cell]) -> Document:
    """Table, exponents and charts."""
    import numba

    software = f"Python {platform.python_version()}, numba {numba.__version__}"
    return Document(
        title="What rated texts cost",
        verdict=f"{cores()} cores, {platform.machine()}; {software}.",
        sections=(
            Section(title="Costs", table=costs(cells), figures=tuple(figures(cells))),
            Section(title="Growth exponents", table=exponents(cells)),
        ),
    )


def costs(cells: Sequence[Cell]) -> Table:
    """One row a cell."""
    return Table(
        header=("texts", "n", *COSTS.values()),
        rows=tuple(
            (kind(c.tokens, c.length), f"{c.texts:,}", *(digits(getattr(c, k)) for k in COSTS))
            for c in cells
        ),
    )


def kind(tokens: str, length: int) -> str:
    """What the texts of a cell are: so many characters, cut so."""
    return f"{length:,} {tokens[:4]}"


def series(cells: Sequence[Cell]) -> dict[tuple[str, int], list[Cell]]:
    """The cells of each way to cut texts and each length, by size."""
    found: dict[tuple[str, int], list[Cell]] = {}
    for cell in cells:
        found.setdefault((cell.tokens, cell.length), []).append(cell)
    return {key: line for key, line in found.items() if len(line) > 1}


def exponents(cells: Sequence[Cell]) -> Table:
    """How each cost grows, for each kind of texts."""
    return Table(
        header=("texts", *COSTS.values()),
        rows=tuple(
            (kind(*key), *(f"{slope(line, cost):.2f}" for cost in COSTS))
            for key, line in series(cells).items()
        ),
    )


def slope(line: Sequence[Cell], cost: str) -> float:
    """Growth of one cost between the two largest sizes."""
    small, large = line[-2:]
    return math.log(getattr(large, cost) / getattr(small, cost)) / math.log(
        large.texts / small.texts
    )


def figures(cells: Sequence[Cell]) -> Iterator[Figure]:
    """For each cost a chart over sizes, both as powers of ten."""
    lines = {key: line for key, line in series(cells).items() if key[0] == "characters"}
    keys = tuple(
        Key(name=f"{length:,} characters", style=f"c{i}") for i, (_, length) in enumerate(lines)
    )
    for cost, name in COSTS.items():
        drawn = [
            Series(x=logs(line, "texts"), y=logs(line, cost), style=f"c{i}")
            for i, line in enumerate(lines.values())
        ]
        across = axis_over([x for one in drawn for x in one.x], "rated texts, power of ten")
        up = axis_over([y for one in drawn for y in one.y], f"{name}, power of ten")
        svg = chart(across, up, name, series=drawn)
        yield Figure(svg=svg, caption=f"Texts as characters: {name}.", keys=keys)


def logs(line: Sequence[Cell], name: str) -> list[float]:
    """Powers of ten."""
    return [math.log10(getattr(cell, name)) for cell in line]


def digits(value: Any) -> str:
    """Three digits of a cost."""
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


if __name__ == "__main__":
    raise SystemExit(main())
