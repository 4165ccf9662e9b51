"""BLEU Neighbors (Ethayarajh and Sadigh 2020): the mean rating of sufficiently similar texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from refless import matching
from refless.errors import UsageError
from refless.estimators.explanation import Explanation
from refless.estimators.given import outputs_in
from refless.estimators.neighborhood import Neighborhood, Rule
from refless.estimators.protocol import (
    SEED,
    SUBSAMPLE,
    THREADS,
    Estimator,
    group_numbers,
    one_output,
    rows_in,
    subsampled,
    whole,
)
from refless.estimators.reach import half_widths, held_out_ways
from refless.estimators.scorer import Comparison, Held, Sweep, Tried, Within
from refless.estimators.shards import FIRST, Read, Shards, read
from refless.human import canonical_order, copies_in_order, fingerprint, scaled
from refless.index import RatedIndex, rated_in
from refless.kernels import KERNELS, Kernel, Prepared, kernel_of
from refless.kernels.bleu import BleuStar
from refless.matching import hold_out
from refless.records import (
    Estimates,
    FloatArray,
    IntArray,
    Outputs,
    RatedPool,
    Reason,
    Residuals,
    as_outputs,
    ends_of,
    picked,
    residuals_in,
)
from refless.signature import Signature
from refless.spec import About, check
from refless.stats.intervals import conformal_radius
from refless.version import __version__

CALIBRATION_TEXTS = 2_000  # held-out residuals for intervals come from at most so many texts
DENSE_TEXTS = 5_000  # up to here all similarities are held at once: 200 MB
POWER = 2.0  # of the kernel as a weight, where neighbours are weighed

_Found = tuple[FloatArray, IntArray, tuple[Reason, ...]]


@dataclass(kw_only=True, repr=False)
class BLEUNeighbors(Estimator):
    """Nearest-neighbours estimate of quality, with abstention.

    Attributes:
        kernel: similarity of an output to a rated text: `bleu*`, `rouge-l`, `meteor`, `bertscore`,
            with parameters as in `bleu*:tokenize=words`, or a kernel of `refless.kernels`.
        tau: least similarity of a neighbour; None takes the kernel's published one (0.08, 0.06,
            0.18, 0.10).
        min_neighbors: a, the fewest neighbours for an estimate; 0 removes the rule.
        max_fraction: b, the largest share of the rated texts; 1 removes the rule.
        weights: `uniform` as published, or `kernel`: neighbours weigh similarity**power.
        power: that power.
        precision: an output reads rated texts, in random order, until its estimate is known to lie
            within so much of the one from all of them, with 95 %; None reads all. On the unit scale
            where the ratings have a scale, else in the raters' units.
        subsample: share of the pool used in this evaluation, drawn with `seed`.
        seed: seed of the sub-sampling, and of that order.
        threads: number of threads, all cores by default; no result depends on it.
    """

    kernel: Annotated[str | Kernel, About("similarity to a rated text", registry=KERNELS)] = "bleu*"
    tau: Annotated[
        float | None,
        About("least similarity; none: the kernel's published one", at_least=0, at_most=1),
    ] = None
    min_neighbors: Annotated[int, About("fewest neighbours; 0: no such rule", at_least=0)] = 5
    max_fraction: Annotated[
        float, About("largest share of neighbours; 1: no such rule", at_least=0, at_most=1)
    ] = 0.66
    weights: Annotated[
        Literal["uniform", "kernel"], About("kernel: neighbours weigh similarity**power")
    ] = "uniform"
    power: Annotated[float, About("that power", above=0)] = POWER
    precision: Annotated[
        float | None,
        About("read rated texts until an estimate is known so well; none: all", above=0),
    ] = None
    subsample: Annotated[float, SUBSAMPLE] = 1.0
    seed: Annotated[int, SEED] = 0
    threads: Annotated[int | None, THREADS] = None

    _later: ClassVar = frozenset(
        {"tau", "min_neighbors", "max_fraction", "weights", "power", "threads"}
    )

    def __post_init__(self) -> None:
        self._kernel()
        check(self)
        if self.weights != "kernel" and self.power != POWER:
            raise UsageError("power goes with weights=kernel")
        if self.weights == "kernel" and self.precision is not None:
            raise UsageError("precision goes with weights=uniform")

    def _kernel(self) -> Kernel:
        return kernel_of(self.kernel)

    def _rule(self) -> Rule:
        return Rule(
            tau=self.threshold,
            least=self.min_neighbors,
            most=self.max_fraction,
            power=self.power if self.weights == "kernel" else None,
            threads=self.threads,
        )

    @property
    def title(self) -> str:
        """`BLEU Neighbors`, `BLEU Neighbors with rouge-l`, `the kernel-weighted mean`."""
        name = self._kernel().name
        plain = "BLEU Neighbors" if self.weights == "uniform" else "the kernel-weighted mean"
        return plain if name == BleuStar.name else f"{plain} with {name}"

    @property
    def threshold(self) -> float:
        """Tau in force."""
        return self._kernel().default_tau if self.tau is None else self.tau

    @property
    def _draws(self) -> bool:
        """Whether not all rated texts have a say in each estimate."""
        return self.subsample < 1.0 or self.precision is not None

    def _learned_with(self) -> object:
        drawn = (self.subsample, self.seed) if self._draws else ()
        return (self._kernel(), self.precision is not None, *drawn)

    def _learn(self, given: RatedPool | RatedIndex, groups: IntArray | None = None) -> Neighborhood:
        """Rated texts, read by the kernel.

        Raises:
            UsageError: an index that was made with other n-grams than these parameters ask for.
        """
        if isinstance(given, RatedIndex):
            self._check_index(given)
            if self.subsample == 1.0:
                prepared = self._prepared(given.pool, given.prepared)
                return Neighborhood.of(given.pool, given.pool, prepared, given.fingerprint)
        pool = rated_in(given)
        ordered = pool.take(canonical_order(pool, groups if self.subsample < 1.0 else None))
        rated = subsampled(ordered, self.subsample, self.seed)
        return Neighborhood.of(pool, rated, self._prepared(rated), fingerprint(ordered))

    def _prepared(self, rated: RatedPool, whole: Prepared | None = None) -> Prepared:
        """The kernel against these texts; in shards, each read when it is needed, or whole."""
        if self.precision is not None:
            return Shards.of(self._kernel(), rated, self.seed, whole)
        return self._kernel().prepare(rated.texts) if whole is None else whole

    def _check_index(self, index: RatedIndex) -> None:
        kernel = self._kernel()
        if not isinstance(kernel, BleuStar) or kernel.weighing:
            raise UsageError(
                "an index serves plain bleu* only; name the rated file instead, or leave out "
                "another kernel, stop_words and rarity"
            )
        if index.shape != kernel.shape:
            raise UsageError(
                f"the index holds {index.shape}, but {kernel.shape} is asked for; make another "
                "index with these settings, or name the rated file instead"
            )

    def estimate(self, X: Any) -> Estimates:  # noqa: ANN401, N803 - outputs or texts, see `given`
        """The mean rating of each output's neighbours, with an interval for its own human rating.

        The interval is the estimate plus and minus the 95 % quantile of held-out errors
        (split-conformal): what it promises, it promises for outputs that resemble the pool.
        """
        outputs = outputs_in(X)
        state: Neighborhood = self._state()
        found = self._found(state, outputs, None)
        return _answer(state, outputs, found, half_widths(outputs, self.residuals()))

    def predict(self, X: Any) -> FloatArray:  # noqa: ANN401, N803
        """[n] the estimates as numbers, NaN where undefined; no interval is computed."""
        return self._found(self._state(), outputs_in(X), None)[0]

    def held_out(self, pool: RatedPool | RatedIndex, groups: IntArray | None = None) -> Estimates:
        """Each text judged by the others outside its group: exact, without refitting.

        Args:
            pool: the rated texts; this estimator is not fitted to them.
            groups: [n] group numbers from 0; by default each text is a group of its own.
        """
        numbers = group_numbers(rated_in(pool), groups)
        state = self._learn(pool, numbers)
        outputs = as_outputs(state.pool)
        rated_groups = numbers[rows_in(state.pool, state.rated)]
        found = self._found(state, outputs, numbers, rated_groups)
        errors = state.pool.human - found[0]
        radius = conformal_radius(errors[~np.isnan(errors)])
        return _answer(state, outputs, found, np.full(len(outputs), radius))

    def _found(
        self,
        state: Neighborhood,
        outputs: Outputs,
        groups: IntArray | None,
        rated_groups: IntArray | None = None,
    ) -> _Found:
        """Values, support and reasons; each output does not see the rated texts of its group."""
        rule, held, hidden = self._rule(), None, np.zeros(len(outputs), dtype=np.int64)
        if groups is not None and rated_groups is not None:
            held = hold_out(groups, rated_groups)
            hidden = held.sizes()
        if isinstance(state.prepared, Shards):
            got = self._read(state, state.prepared, outputs, held)
            values, support, sizes = state.human.means(got.sums, got.counts), got.counts, got.seen
            values = scaled(values, state.rated.scale)
        else:
            tau = np.array([rule.tau])
            means, counts = state.means(outputs.texts, tau, rule, held, self.progress)
            values, support, sizes = means[:, 0], counts[:, 0], len(state.rated) - hidden
        reasons = state.reasons(outputs, rule, support, sizes)
        undefined = np.array([reason != "" for reason in reasons], dtype=np.bool_)
        return np.where(undefined, np.nan, values), support, reasons

    def _read(
        self, state: Neighborhood, shards: Shards, outputs: Outputs, held: matching.Held | None
    ) -> Read:
        """As many rated texts as the precision needs."""
        low, high = state.rated.scale or (0.0, 1.0)
        precision = (self.precision or 0.0) * (high - low)
        return read(shards, state.human, outputs.texts, self._rule(), precision, held)

    def reading(self, X: Any) -> Reading:  # noqa: ANN401, N803
        """How far rated texts were read for each output, and what is known of its exact estimate.

        Raises:
            UsageError: without `precision`, when all are read.
        """
        state: Neighborhood = self._state()
        if not isinstance(state.prepared, Shards):
            raise UsageError("all rated texts are read; precision=0.01 reads as many as it takes")
        outputs = outputs_in(X)
        got = self._read(state, state.prepared, outputs, None)
        scale = state.rated.scale
        low, high = scale or (0.0, 1.0)
        means = scaled(state.human.means(got.sums, got.counts), scale)
        reach = got.half / (high - low)
        return Reading(ids=outputs.ids, seen=got.seen, low=means - reach, high=means + reach)

    def residuals(self) -> Residuals:
        """Rating minus held-out estimate, of at most 2,000 rated texts, without those undefined.

        Texts of one source are left out together.
        """
        key = str(self.signature())
        state: Neighborhood = self._state()
        if key not in state.residuals:
            rated = state.rated
            labels = self._labels(rated)
            rows = whole(copies_in_order(rated), CALIBRATION_TEXTS, np.random.default_rng(0))
            texts = rated.take(rows)
            found = {
                way: texts.human - self._found(state, as_outputs(texts), groups[rows], groups)[0]
                for way, groups in held_out_ways(rated, labels).items()
            }
            state.residuals[key] = residuals_in(texts, picked(labels, rows), **found)
        return state.residuals[key]

    def explain(
        self, output: str | Outputs, *, hide: str | None = None, most: int | None = None
    ) -> Explanation:
        """The neighbours of one output, most similar first, with their share in the estimate.

        Shared n-grams are looked for with `most` neighbours only, and those are returned.
        """
        outputs = one_output(output)
        state: Neighborhood = self._state()
        hidden = np.array([0 if name == hide else -1 for name in state.rated.ids], dtype=np.int64)
        found = self._found(state, outputs, np.zeros(1, dtype=np.int64), hidden)
        answer = _answer(state, outputs, found, half_widths(outputs, self.residuals()))
        row = state.prepared.similarities(outputs.texts)[0]
        row[hidden >= 0] = -1.0
        some = answer.support[0] > 0
        near = state.neighbors(outputs.texts[0], row, self._rule(), most) if some else ()
        return Explanation.of(answer, int((hidden < 0).sum()), near)

    def similarity(self, rated: RatedPool) -> Comparison:
        """The kernel, against these rated texts."""
        kernel = self._kernel()
        return Comparison(
            similarities=kernel.prepare(rated.texts).similarities,
            least=self.threshold,
            name=kernel.name,
        )

    def sweep(
        self,
        pool: RatedPool,
        groups: IntArray,
        taus: Sequence[float],
        min_neighbors: Sequence[int],
        max_fractions: Sequence[float],
    ) -> Sweep:
        """Held-out estimates over grids of tau, a and b, out of one matching pass."""
        grid = (
            np.unique(np.asarray(taus, dtype=np.float64)),
            np.unique(np.asarray(min_neighbors, dtype=np.int64)),
            np.unique(np.asarray(max_fractions, dtype=np.float64)),
        )
        state, rule = self._learn(pool, groups), self._rule()
        rated_groups = groups[rows_in(state.pool, state.rated)]
        held = hold_out(groups, rated_groups)
        means, counts = state.means(pool.texts, grid[0], rule, held, self.progress)
        sizes = len(state.rated) - held.sizes()

        def at(i: int, j: int, k: int) -> FloatArray:
            limits = replace(rule, least=int(grid[1][j]), most=float(grid[2][k]))
            return np.where(limits.admits(counts[:, i], sizes), means[:, i], np.nan)

        return Sweep(
            axes=("tau", "min_neighbors", "max_fraction"),
            grid=grid,
            at=at,
            setting=(self.threshold, float(self.min_neighbors), self.max_fraction),
            settings={"tau": "grid", "a": "grid", "b": "grid"},
        )

    def tried(
        self, pool: RatedPool | RatedIndex, groups: IntArray, blocks: IntArray
    ) -> tuple[Estimates, Tried]:
        """As of every scorer, out of one table of similarities."""
        found, rated = self.held_out(pool, groups), rated_in(pool)
        if self._draws or len(rated) > DENSE_TEXTS:
            return found, Tried(Held(found.values, self.held_out(pool, blocks).values))
        order = canonical_order(rated, groups)
        return found, Tried.out_of(self.within(rated.take(order)), groups, blocks, order)

    def within(self, pool: RatedPool) -> Within:
        """Held-out estimates of some rows among themselves; all similarities computed once."""
        if self._draws or len(pool) > DENSE_TEXTS:
            return super().within(pool)
        state = Neighborhood.of(pool, pool, self._kernel().prepare(pool.texts), "")
        return state.among_themselves(self._rule())

    def signature(self, pool: RatedPool | RatedIndex | None = None) -> Signature:
        """Parameters and, fitted or with a pool, the rated texts: all that can change estimates."""
        kernel = self._kernel()
        signed = Signature("bleu-neighbors").plus(
            kernel=kernel.name,
            **kernel.settings(),
            tau=self.threshold,
            a=self.min_neighbors,
            b=self.max_fraction,
            w=self.weights,
            **({"power": self.power} if self.weights == "kernel" else {}),
            **self._shard_settings(),
        )
        if pool is not None:
            signed = self._with_pool(signed, rated_in(pool))
        elif self._fitted is not None:
            known: Neighborhood = self._fitted.learned
            signed = self._with_pool(signed, known.pool, known.fingerprint)
        return signed.plus(v=__version__)

    def _shard_settings(self) -> dict[str, object]:
        """What a signature says of the reading of shards."""
        if self.precision is None:
            return {}
        return {"precision": self.precision, "shards": FIRST, "shardseed": self.seed}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Reading:
    """How far rated texts were read, and what is known of the estimates from all of them.

    Attributes:
        ids: [n] names of the outputs.
        seen: [n] rated texts that were read.
        low, high: [n] 95 % interval of the mean rating of all neighbours; of no width where all
            rated texts were read, NaN without any neighbour.
    """

    ids: tuple[str, ...]
    seen: IntArray
    low: FloatArray
    high: FloatArray


def _answer(state: Neighborhood, outputs: Outputs, found: _Found, reach: FloatArray) -> Estimates:
    """The estimates with their intervals, which stay within the scale."""
    values, support, reasons = found
    ends = ends_of(state.rated.scale)
    return Estimates(
        ids=outputs.ids,
        values=values,
        reasons=reasons,
        support=support,
        low=np.clip(values - reach, *ends),
        high=np.clip(values + reach, *ends),
    )
