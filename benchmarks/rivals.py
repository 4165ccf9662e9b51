"""Is the Gaussian process better than what scikit-learn does in ten lines, with no tuning?

Six rivals: ridge regression on TF-IDF of words (plain); on words, characters and surface numbers
(ridge); on surface numbers and the vectors that ours reads too (vectors); extremely randomized
trees (trees) and a Gaussian process of scikit-learn's (sklearn GP), both on surface numbers and 50
components of the words; a line on the number of characters (length). All of them, and ours, are
fitted on all folds but one, of whole groups, and estimate that one. The groups are sources where
there are some, or with --by single texts or systems. A stack weighs all of them by what they said
of the other folds.

    python benchmarks/rivals.py --data ../shared/data [--pool NAME] [--by text] [--save FOLDER]
    python benchmarks/rivals.py --file rated.csv [--text C] [--rating C ...] [--scale 1 5]
    python benchmarks/rivals.py --few 50 --most 400  # 50 ratings, the other sources estimated
    python benchmarks/rivals.py --quick  # three folds of self-made ratings: does it run?
"""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from simulate import simulate
from surface import surface

from estimators import Gain, gain_of, newer, pools, summeval
from refless.data.records import RatedPool, as_outputs
from refless.data.tables import Columns, Reading, read_pool
from refless.data.tables.reading import scale_of
from refless.estimators.folds import folds_of
from refless.estimators.gp import GaussianProcess
from refless.registry.arrays import FloatArray, IntArray, codes
from refless.registry.errors import RefLessError
from refless.stats.corrections import holm
from refless.stats.correlation import spearman
from refless.stats.intervals import percentile_interval
from refless.stats.resampling import weights_of
from refless.text.embed import BUILT_IN, Encoder

OURS = "gp"
PENALTIES = np.logspace(-2, 3, 11)
COMPONENTS = 50  # of the TF-IDF of words
SIZE = 4.0  # of a vector, beside standardized numbers
RESAMPLES = 4_000
LEVEL = 0.05
FAR = 0.02
QUICK = 90  # self-made texts
DRAWS, LEAST = 4, 60  # of few ratings; texts to estimate with them
ROLES = ("text", "id", "source")  # columns of a file that have a flag of one name


@dataclass(frozen=True, slots=True)
class Two:
    """Features of the texts of nine folds, and of those of the tenth."""

    fit: Any
    judged: Any

    def each(self, function: Callable[[Any], Any]) -> Two:
        """The function of both."""
        return Two(function(self.fit), function(self.judged))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """What the rivals see of one fold.

    Attributes:
        y: human ratings of the texts to fit.
        lengths: [n, 1] characters; words: TF-IDF of words and pairs; characters: of 2 to 5 of
            them; surface: standardized.
        dense: surface and the first components of the words; vectors: surface, the text's vector,
            and its cosine with its source's.
    """

    y: FloatArray
    lengths: Two
    words: Two
    characters: Two
    surface: Two
    dense: Two
    vectors: Two


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One pool: held-out estimates of every method, and how ours does beside the best rival.

    Attributes:
        stack: Spearman of all methods together.
    """

    name: str
    human: FloatArray
    groups: IntArray
    fold: IntArray
    estimates: dict[str, FloatArray]
    best: str
    gain: Gain
    stack: float
    r2: dict[str, float]
    r2_high: float

    def spearman(self, method: str) -> float:
        """Of one method, over all texts."""
        return spearman(self.human, self.estimates[method])


def fold_of(
    pool: RatedPool,
    numbers: FloatArray,
    vectors: FloatArray,
    fit: IntArray,
    judged: IntArray,
) -> Fold:
    """The features of these texts, learned from those to fit alone."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import StandardScaler

    def counted(**how: Any) -> Two:
        vectors = TfidfVectorizer(sublinear_tf=True, **how)
        texts = [[pool.texts[i] for i in rows] for rows in (fit, judged)]
        return Two(vectors.fit_transform(texts[0]), vectors.transform(texts[1]))

    words = counted(ngram_range=(1, 2), token_pattern=r"\w+")
    looks = Two(numbers[fit], numbers[judged])
    looks = looks.each(StandardScaler().fit(looks.fit).transform)
    svd = TruncatedSVD(min(COMPONENTS, words.fit.shape[1] - 1), random_state=0).fit(
        words.fit
    )
    parts = words.each(svd.transform)
    return Fold(
        y=pool.human[fit],
        lengths=Two(fit, judged).each(
            lambda rows: np.array(
                [[len(pool.texts[i])] for i in rows], dtype=np.float64
            )
        ),
        words=words,
        characters=counted(analyzer="char_wb", ngram_range=(2, 5)),
        surface=looks,
        dense=Two(
            *map(np.hstack, ((looks.fit, parts.fit), (looks.judged, parts.judged)))
        ),
        vectors=Two(
            np.hstack([looks.fit, vectors[fit]]),
            np.hstack([looks.judged, vectors[judged]]),
        ),
    )


def _ridge(x: Two, y: FloatArray) -> FloatArray:
    from sklearn.linear_model import RidgeCV

    return np.asarray(RidgeCV(PENALTIES).fit(x.fit, y).predict(x.judged))


def plain(fold: Fold) -> FloatArray:
    """Ridge regression on words and pairs of words."""
    return _ridge(fold.words, fold.y)


def ridge(fold: Fold) -> FloatArray:
    """The same with characters and surface numbers beside them."""
    from scipy.sparse import csr_array, hstack

    looks = fold.surface.each(lambda numbers: csr_array(0.1 * numbers))
    parts = (fold.words, fold.characters, looks)
    sides = ([part.fit for part in parts], [part.judged for part in parts])
    return _ridge(Two(*(hstack(side).tocsr() for side in sides)), fold.y)


def vectors(fold: Fold) -> FloatArray:
    """Ridge regression on surface numbers and vectors; all vectors count as a few numbers do."""
    return _ridge(fold.vectors, fold.y)


def trees(fold: Fold) -> FloatArray:
    """Extremely randomized trees on surface numbers and components of words."""
    from sklearn.ensemble import ExtraTreesRegressor

    model = ExtraTreesRegressor(
        300, min_samples_leaf=3, max_features=0.4, random_state=0
    )
    return np.asarray(model.fit(fold.dense.fit, fold.y).predict(fold.dense.judged))


def sklearn_gp(fold: Fold) -> FloatArray:
    """A Gaussian process with a bell over the same."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
    from sklearn.preprocessing import StandardScaler

    x = fold.dense.each(StandardScaler().fit(fold.dense.fit).transform)
    kernel = ConstantKernel(1.0) * RBF(10.0) + WhiteKernel(1.0)
    model = GaussianProcessRegressor(kernel, normalize_y=True, random_state=0)
    return np.asarray(model.fit(x.fit, fold.y).predict(x.judged))


def length(fold: Fold) -> FloatArray:
    """A line on the number of characters."""
    x = fold.lengths.fit[:, 0]
    y = fold.y
    slope = np.cov(x, y)[0, 1] / max(float(x.var(ddof=1)), 1e-12)
    return np.asarray(y.mean() + slope * (fold.lengths.judged[:, 0] - x.mean()))


RIVALS: dict[str, Callable[[Fold], FloatArray]] = {
    "plain": plain,
    "ridge": ridge,
    "vectors": vectors,
    "trees": trees,
    "sklearn GP": sklearn_gp,
    "length": length,
}


def stacked(
    human: FloatArray, estimates: dict[str, FloatArray], fold: IntArray
) -> FloatArray:
    """[n] all methods together, in shares that those of the other folds ask for."""
    from scipy.optimize import nnls

    columns = np.column_stack(list(estimates.values()))
    values = np.empty(len(human))
    for number in np.unique(fold):
        fit = fold != number
        middle = columns[fit].mean(axis=0)
        level = human[fit].mean()
        shares = nnls(columns[fit] - middle, human[fit] - level)[0]
        values[~fit] = level + (columns[~fit] - middle) @ shares
    return values


def meanings(pool: RatedPool, sources: Sequence[str | None]) -> FloatArray:
    """[n, d] vectors of texts, and their cosines with those of their sources, about as large."""
    encoder = Encoder(model=BUILT_IN)
    texts = encoder.sentences(pool.texts)
    cosines = (texts * encoder.sentences([source or "" for source in sources])).sum(
        axis=1
    )
    return np.asarray(
        np.hstack([texts * SIZE, cosines[:, None] * SIZE]), dtype=np.float64
    )


def methods_of(
    pool: RatedPool,
) -> Callable[[IntArray, IntArray], dict[str, FloatArray]]:
    """What fits every method to some rows of a pool and has it estimate others."""
    sources = pool.sources if len(set(pool.sources)) > 1 else [None] * len(pool)
    looks = np.array([surface(*both) for both in zip(pool.texts, sources, strict=True)])
    about = meanings(pool, sources)

    def estimates(fit: IntArray, judged: IntArray) -> dict[str, FloatArray]:
        fitted = GaussianProcess().fit(pool.take(fit))
        values = fitted.estimate(as_outputs(pool.take(judged))).values
        ours = np.where(np.isnan(values), pool.human[fit].mean(), values)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of optimizers at their limits
            seen = fold_of(pool, looks, about, fit, judged)
            return {OURS: ours} | {name: rival(seen) for name, rival in RIVALS.items()}

    return estimates


def judged_by_all(pool: RatedPool, fold: IntArray) -> dict[str, FloatArray]:
    """Estimates of every text [n] by every method, fitted on the other folds [n]."""
    estimates = methods_of(pool)
    columns = {name: np.empty(len(pool)) for name in (OURS, *RIVALS)}
    for number in np.unique(fold):
        judged = np.flatnonzero(fold == number)
        for name, values in estimates(np.flatnonzero(fold != number), judged).items():
            columns[name][judged] = values
    return columns


def rated_first(
    groups: IntArray, ratings: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """[n] each row's place by its group in a drawn order, and the first so many rows by place."""
    place = np.argsort(rng.permutation(groups.max() + 1))[groups]
    return place, np.argsort(place, kind="stable")[:ratings]


def with_few(pool: RatedPool, ratings: int) -> dict[str, FloatArray]:
    """Mean Spearman and R² of every method on the other sources, of so many ratings; {} if none."""
    groups = codes(pool.sources if len(set(pool.sources)) > 1 else pool.ids)
    estimates = methods_of(pool)
    cells = dict[str, list[Any]]()
    for draw in range(DRAWS):
        place, fit = rated_first(
            groups, ratings, np.random.default_rng([ratings, draw])
        )
        judged = np.flatnonzero(place > place[fit].max())
        if len(judged) < LEAST:
            return {}
        human = pool.human[judged]
        for name, values in estimates(fit, judged).items():
            rank = spearman(human, values) if np.ptp(values) > 0 else 0.0
            cells.setdefault(name, []).append((rank, r2(human, values)))
    return {name: np.mean(pairs, axis=0) for name, pairs in cells.items()}


def row_of(name: str, pool: RatedPool, folds: int, by: str = "source") -> Row:
    """All methods on one pool; intervals are over sources, whatever is held out."""
    by_source = len(set(pool.sources)) > 1
    groups = codes(pool.sources if by_source else pool.ids)
    held = {
        "source": groups,
        "text": codes(pool.ids),
        "system": codes(pool.systems or pool.ids),
    }
    fold = folds_of(held[by], folds)
    y = pool.human
    found = judged_by_all(pool, fold)
    best = max(RIVALS, key=lambda rival: spearman(y, found[rival]))
    way = "text" if by == "source" and not by_source else by
    rng = np.random.default_rng(0)
    draws = weights_of(len(y), resamples=RESAMPLES, rng=rng, clusters=groups)
    drawn = np.concatenate([r_squared(y, found[OURS], weights) for weights in draws])
    return Row(
        name=name,
        human=y,
        groups=groups,
        fold=fold,
        estimates=found,
        best=best,
        stack=spearman(y, stacked(y, found, fold)),
        gain=gain_of(name, way, y, found[OURS], found[best], groups, RESAMPLES),
        r2={method: r2(y, values) for method, values in found.items()},
        r2_high=percentile_interval(drawn)[1],
    )


def r_squared(human: FloatArray, values: FloatArray, weights: FloatArray) -> FloatArray:
    """[b] 1 less the squared errors over those of the mean, for each of [b, n] weights."""
    means = weights @ human / weights.sum(axis=1)
    spread = weights @ human**2 - weights.sum(axis=1) * means**2
    return np.asarray(1.0 - weights @ (values - human) ** 2 / spread)


def r2(human: FloatArray, values: FloatArray) -> float:
    """Of one set of estimates."""
    return float(r_squared(human, values, np.ones((1, len(human))))[0])


def table(rows: Sequence[Row]) -> list[str]:
    """Spearman and R² of every method, a line a pool."""
    names = (OURS, *RIVALS)
    lines = [
        f"| pool | held out | {' | '.join(names)} | gain over the best [95 %] | p, Holm |"
    ]
    lines.append("|---|---|" + "---:|" * (len(names) + 2))
    for row, p in zip(rows, corrected(rows), strict=True):
        gain = row.gain
        cells = [f"{row.spearman(name):.3f} / {row.r2[name]:.3f}" for name in names]
        beside = f"{gain.gain:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}]"
        between = f"{row.best} {beside} | {p:.4f} |"
        lines.append(
            f"| {row.name} | {gain.held_out} | {' | '.join(cells)} | {between}"
        )
    return lines


def corrected(rows: Sequence[Row]) -> FloatArray:
    """The p-values of all gains after Holm."""
    return holm(np.array([row.gain.p for row in rows]))


def summary(rows: Sequence[Row]) -> list[str]:
    """Mean correlations; where the Gaussian process is below a rival, and below a constant."""
    means = (
        f"{m} {np.mean([row.spearman(m) for row in rows]):.3f}" for m in (OURS, *RIVALS)
    )
    ps = dict(zip((row.name for row in rows), corrected(rows), strict=True))
    below = [row for row in rows if row.gain.gain < 0]
    surely = [f"{row.name} ({row.best})" for row in below if ps[row.name] < LEVEL]
    alone = [
        f"{row.name} ({row.best})"
        for row in below
        if row.gain.p < LEVEL <= ps[row.name]
    ]
    none = [row for row in rows if row.r2[OURS] < 0]
    far = [
        f"{row.name} ({row.best} {row.gain.gain:+.3f})"
        for row in below
        if row.gain.gain < -FAR
    ]
    ahead = float(np.mean([row.gain.gain for row in rows]))
    together = float(np.mean([row.stack - row.spearman(OURS) for row in rows]))
    return [
        f"Mean Spearman over {len(rows)} pools: {', '.join(means)}.",
        f"{OURS} gains {ahead:+.3f} over the best rival of each; a stack {together:+.3f} more.",
        f"{OURS} is more than {FAR} below a rival on: {', '.join(far) or 'none'};",
        f"{OURS} is significantly below its best rival on: {', '.join(surely) or 'none'};",
        f"before Holm also on: {', '.join(alone) or 'none'}.",
        f"R² of {OURS} is below 0 on: {', '.join(row.name for row in none) or 'none'};",
        f"significantly on: {', '.join(r.name for r in none if r.r2_high < 0) or 'none'}.",
    ]


def save(folder: Path, row: Row) -> None:
    """The held-out estimates of one pool, with human ratings, groups and folds."""
    columns: dict[str, Any] = {
        "human": row.human,
        "group": row.groups,
        "fold": row.fold,
    }
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(
        folder / (re.sub(r"[^\w-]+", "_", row.name) + ".npz"), **columns | row.estimates
    )


def chosen(options: argparse.Namespace) -> Iterator[tuple[str, RatedPool]]:
    """The pools that the command line asks for."""
    if options.file:
        named = {role: getattr(options, role) for role in ROLES}
        columns = Columns(rating=tuple(options.rating), **named)
        reading = Reading(
            columns=columns, scale=options.scale and scale_of(options.scale)
        )
        yield options.file.stem, read_pool([str(options.file)], reading).pool
    elif options.quick:
        yield "self-made", simulate(QUICK).pool
    else:
        yield from pools(options.data)
        yield from summeval(options.data, articles=True)
        yield from newer(options.data)


def some_of(pool: RatedPool, most: int | None) -> RatedPool:
    """About so many texts at most, of sources drawn whole."""
    groups = codes(pool.sources) if len({*pool.sources}) > 1 else np.arange(len(pool))
    order = np.random.default_rng(0).permutation(groups.max() + 1)
    ends = np.cumsum(np.bincount(groups)[order])
    count = (
        max(5, int(np.searchsorted(ends, most, side="right"))) if most else len(order)
    )
    return pool.take(np.flatnonzero(np.isin(groups, order[:count])))


def _has(pool: RatedPool, by: str) -> bool:
    """Whether a pool can be held out that way, and is not so by source already."""
    if by == "system":
        return len({*pool.systems}) > 1
    return by == "source" or len({*pool.sources}) > 1


def few_rows(options: argparse.Namespace) -> int:
    """Prints a line for each pool of few ratings, and one of their means."""
    rows = []
    for name, pool in chosen(options):
        row = (
            with_few(some_of(pool, options.most), options.few)
            if options.pool in name
            else {}
        )
        if row:
            rows.append(row)
            print(f"{name}: {few_cells(row)}", flush=True)
    mean = (
        {name: np.mean([row[name] for row in rows], axis=0) for name in rows[0]}
        if rows
        else {}
    )
    print(f"{len(rows)} pools: {few_cells(mean)}")
    return 0


def few_cells(row: dict[str, FloatArray]) -> str:
    """Spearman and R² of every method."""
    return ", ".join(f"{name} {rank:.3f}/{r2:.3f}" for name, (rank, r2) in row.items())


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a table and what it says; progress goes to standard error."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--pool", default="", help="only pools whose name holds this")
    parser.add_argument("--file", type=Path, help="your own rated texts instead")
    for role in ROLES:
        parser.add_argument(f"--{role}", help=f"its column for {role}")
    parser.add_argument(
        "--rating", nargs="+", default=[], help="its columns for ratings"
    )
    parser.add_argument(
        "--scale", nargs=2, type=float, help="lowest and highest rating"
    )
    parser.add_argument("--most", type=int, help="texts a pool, of whole sources")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--by", choices=("source", "text", "system"), default="source")
    parser.add_argument(
        "--quick", action="store_true", help="three folds, self-made ratings"
    )
    parser.add_argument("--few", type=int, help="so many ratings, drawn four times")
    parser.add_argument("--save", type=Path, help="folder for held-out estimates")
    options = parser.parse_args(arguments)
    rows = []
    if options.few:
        return few_rows(options)
    try:
        for name, pool in chosen(options):
            if options.pool in name and _has(pool, options.by):
                folds = 3 if options.quick else options.folds
                few = some_of(pool, options.most)
                rows.append(row_of(name, few, folds, options.by))
                print(table(rows[-1:])[-1], file=sys.stderr, flush=True)
                if options.save:
                    save(options.save, rows[-1])
    except (OSError, RefLessError) as fault:
        print(f"error: {fault}", file=sys.stderr)
        return 2
    print("\n".join([*table(rows), "", *summary(rows)] if rows else ["no such pool"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
