"""Does the test of a random draw keep its level, and what does it see?

Level: labels are drawn at random in each way that the test allows (rows, whole items, rows within
items, another share of each system, every fifth row), from scores that items and systems share,
with ties and gaps. Power: draws that are not random.

    python benchmarks/random_draws.py [--runs 400] [--quick]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

import numpy as np

from refless.registry.arrays import BoolArray, FloatArray, IntArray
from refless.stats.random_draw import LEVEL, PLACE, DrawnRows, draw_p

SIZES = (12, 40, 200, 2_000)
SYSTEMS = 4
USUAL = 0.05
NONE = np.zeros(0, dtype=np.int64)
Draw = Callable[[DrawnRows, np.random.Generator], BoolArray]


def study(
    n: int, rng: np.random.Generator, *, by_system: bool, sort: str = ""
) -> DrawnRows:
    """Items with an answer of each system; a judge's five grades, its fine scores, and lengths.

    A tenth of the fine scores is missing. Rows are in order of items, or of systems or scores.
    """
    items = n // SYSTEMS
    item = np.repeat(np.arange(items), SYSTEMS)
    system = np.tile(np.arange(SYSTEMS), items)
    quality = rng.normal(size=items)[item] + rng.normal(size=SYSTEMS)[system]
    quality = quality + rng.normal(size=n)
    fine = np.where(rng.random(n) < 0.1, np.nan, quality)
    length = np.exp(3 + 0.5 * rng.normal(size=items)[item] + 0.2 * rng.normal(size=n))
    orders = {
        "": np.arange(n),
        "system": np.lexsort((item, system)),
        "score": quality.argsort(),
    }
    place = orders[sort].argsort()
    return DrawnRows(
        drawn=np.zeros(n, dtype=np.bool_),
        strata=system if by_system else np.zeros(n, dtype=np.int64),
        levels=[item],
        numbers={
            "grade": np.rint(np.clip(3 + quality / 2, 1, 5)),
            "fine": fine,
            "length": np.asarray(np.rint(length), dtype=np.float64),
        },
        place=place,
        kinds=NONE if by_system else system,
    )


def system_of(rows: DrawnRows) -> IntArray:
    """[n] the system of each row."""
    return rows.strata if not len(rows.kinds) else rows.kinds


def by_rows(rows: DrawnRows, rng: np.random.Generator) -> BoolArray:
    """A third of the rows."""
    n = len(rows.place)
    return np.asarray(rng.permutation(n) < n / 3)


def by_items(rows: DrawnRows, rng: np.random.Generator) -> BoolArray:
    """All rows of a third of the items."""
    items = int(rows.levels[0].max()) + 1
    return np.asarray((rng.permutation(items) < items / 3)[rows.levels[0]])


def half_rated(rows: DrawnRows, rng: np.random.Generator) -> BoolArray:
    """Half of the rows of half of the items."""
    items = int(rows.levels[0].max()) + 1
    drawn = (rng.permutation(items) < items / 2)[rows.levels[0]]
    return np.asarray(drawn & (rng.random(len(drawn)) < 0.5))


def one_each(rows: DrawnRows, rng: np.random.Generator) -> BoolArray:
    """One row of each item."""
    items = int(rows.levels[0].max()) + 1
    return np.asarray(
        system_of(rows) == rng.integers(SYSTEMS, size=items)[rows.levels[0]]
    )


def few_new(rows: DrawnRows, rng: np.random.Generator) -> BoolArray:
    """Nine of ten rows of the first system, half of two, a tenth of the last."""
    shares = np.array([0.9, 0.5, 0.5, 0.1])
    return np.asarray(rng.random(len(rows.place)) < shares[system_of(rows)])


def fifth(rows: DrawnRows, rng: np.random.Generator) -> BoolArray:
    """Every fifth row from a random one on."""
    return np.asarray(rows.place % 5 == rng.integers(5))


def three(rows: DrawnRows, rng: np.random.Generator) -> BoolArray:
    """Three rows."""
    return np.asarray(rng.permutation(len(rows.place)) < 3)


def first(rows: DrawnRows, rng: np.random.Generator) -> BoolArray:  # noqa: ARG001 - as others
    """The first 300 rows of the file."""
    return np.asarray(rows.place < 300)


def disliked(strength: float) -> Draw:
    """Sixty rows, of which one with a judge's grade 1 is e to the 4 strength times as likely."""

    def drawn(rows: DrawnRows, rng: np.random.Generator) -> BoolArray:
        keys = rng.gumbel(size=len(rows.place)) - strength * rows.numbers["grade"]
        return np.asarray((-keys).argsort().argsort() < 60)

    return drawn


def p_values(rows: DrawnRows, draw: Draw, rng: np.random.Generator) -> dict[str, float]:
    """Those of the columns; of none where all rows are drawn, or none."""
    numbers: dict[str, FloatArray] = dict(rows.numbers)
    return draw_p(
        DrawnRows(
            drawn=draw(rows, rng),
            strata=rows.strata,
            levels=rows.levels,
            numbers=numbers,
            place=rows.place,
            kinds=rows.kinds,
        )
    )


LEVELS: dict[str, tuple[Draw, bool]] = {
    "rows": (by_rows, False),
    "whole items": (by_items, False),
    "half-rated items": (half_rated, False),
    "one row of each item": (one_each, False),
    "three rows": (three, False),
    "every fifth row": (fifth, False),
    "rows, by system": (by_rows, True),
    "another share of each system": (few_new, True),
}
POWERS: dict[str, tuple[Draw, int, bool, str]] = {
    "first 300 of 1,000, sorted by system": (first, 1_000, False, "system"),
    "the same within systems": (first, 1_000, True, "system"),
    "first 300 of 1,000, sorted by score": (first, 1_000, False, "score"),
    "first 300 of 1,000, in no order": (first, 1_000, False, ""),
    "60 of 400, mostly disliked (e)": (disliked(1.0), 400, False, ""),
    "60 of 400, mostly disliked (e to the half)": (disliked(0.5), 400, False, ""),
    "60 of 400, within systems (e)": (disliked(1.0), 400, True, ""),
    "another share of each system, not said": (few_new, 400, False, ""),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints two tables; ends with 1 if there are more false alarms than chance allows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument(
        "--quick", action="store_true", help="four runs of the small sizes"
    )
    options = parser.parse_args(arguments)
    runs = 4 if options.quick else options.runs
    sizes = SIZES[:2] if options.quick else SIZES
    alarms = 0
    trials = 0
    print(
        "| drawn at random | p ≤ .05 | p ≤ .001 | runs |\n|---|---:|---:|---:|",
        flush=True,
    )
    for number, (name, (draw, by_system)) in enumerate(LEVELS.items()):
        smallest = []
        for n in sizes:
            for run in range(runs):
                rng = np.random.default_rng((number, n, run))
                rows = study(
                    n, rng, by_system=by_system, sort=("", "system", "score")[run % 3]
                )
                smallest.append(min(p_values(rows, draw, rng).values(), default=1.0))
        p = np.array(smallest)
        alarms += int((p <= LEVEL).sum())
        trials += len(p)
        print(
            f"| {name} | {(p <= USUAL).mean():.3f} | {(p <= LEVEL).sum()} | {len(p)} |",
            flush=True,
        )
    print(f"\n{alarms} alarms in {trials} runs; {LEVEL * trials:g} are allowed.\n")
    print(
        "| not drawn at random | told | by more than order | runs |\n|---|---:|---:|---:|"
    )
    for name, (draw, n, by_system, sort) in POWERS.items():
        told = 0
        content = 0
        for run in range(runs // 4):
            rng = np.random.default_rng((99, n, run))
            rows = study(n, rng, by_system=by_system, sort=sort)
            found = p_values(rows, draw, rng)
            told += min(found.values(), default=1.0) <= LEVEL
            rest = [p for column, p in found.items() if column != PLACE]
            content += min(rest, default=1.0) <= LEVEL
        share = runs // 4
        print(
            f"| {name} | {told / share:.2f} | {content / share:.2f} | {share} |",
            flush=True,
        )
    return int(alarms > LEVEL * trials + 3 * np.sqrt(LEVEL * trials) + 1)


if __name__ == "__main__":
    sys.exit(main())
