"""BLEU Neighbors (Ethayarajh and Sadigh 2020): the mean rating of sufficiently similar texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np

from refless.data.human import canonical_order, copies_in_order, fingerprint
from refless.data.records import (
    Estimates,
    Outputs,
    RatedPool,
    Reason,
    Residuals,
    as_outputs,
    picked,
)
from refless.estimators.cross_validated import CrossValidated, Within
from refless.estimators.explanation import Explanation
from refless.estimators.folds import group_numbers, rows_in, whole
from refless.estimators.inputs import outputs_in
from refless.estimators.intervals import (
    estimates_of,
    half_widths,
    held_out_ways,
    residuals_in,
)
from refless.estimators.neighborhood import Neighborhood, Rule
from refless.estimators.protocol import THREADS, Estimator, one_output
from refless.files.arrays import Array, Arrays, array_of, require
from refless.metrics.kernels import KERNELS, Kernel, kernel_of
from refless.metrics.kernels.bleu import BleuStar, PreparedBleu
from refless.metrics.kernels.dense import Dense
from refless.metrics.kernels.stored import arrays_of, names_of, prepared_in
from refless.metrics.matching import Exclusions, hold_out
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.signature import Signature
from refless.registry.spec import About, check
from refless.registry.version import __version__
from refless.stats.intervals import conformal_radius

# held-out residuals for intervals come from at most so many texts
CALIBRATION_TEXTS = 2_000
DENSE_TEXTS = 5_000  # up to here all similarities are held at once: 200 MB


@dataclass(frozen=True, slots=True, eq=False)
class _Calibration:
    """The rated texts whose held-out errors are taken.

    Attributes:
        rated: [n] all of them; labels: [n] what each belongs to.
        rows: those that are drawn; ways: see `held_out_ways`.
    """

    rated: RatedPool
    labels: tuple[str, ...]
    rows: IntArray
    ways: Mapping[str, IntArray]

    def residuals(self, errors: FloatArray) -> tuple[FloatArray, Residuals]:
        """[ways, rows] errors, and what intervals make of them."""
        texts = self.rated.take(self.rows)
        by_way = dict(zip(self.ways, errors, strict=True))
        return errors, residuals_in(texts, picked(self.labels, self.rows), **by_way)


@dataclass(kw_only=True, repr=False)
class BLEUNeighbors(Estimator):
    """Nearest-neighbours estimate of quality, with abstention.

    Attributes:
        kernel: similarity of an output to a rated text: `bleu*`, `rouge-l`, `bertscore`,
            with parameters as in `bleu*:tokenize=words`, or a kernel of `refless.metrics.kernels`.
        tau: least similarity of a neighbour; None takes the kernel's published one (0.08, 0.06,
            0.10).
        min_neighbors: a, the fewest neighbours for an estimate; 0 removes the rule.
        max_fraction: b, the largest share of the rated texts; 1 removes the rule.
        threads: number of threads, all cores by default; no result depends on it.
    """

    kernel: Annotated[
        str | Kernel, About("similarity to a rated text", registry=KERNELS)
    ] = "bleu*"
    tau: Annotated[
        float | None,
        About(
            "least similarity; none: the kernel's published one", at_least=0, at_most=1
        ),
    ] = None
    min_neighbors: Annotated[
        int, About("fewest neighbours; 0: no such rule", at_least=0)
    ] = 5
    max_fraction: Annotated[
        float,
        About("largest share of neighbours; 1: no such rule", at_least=0, at_most=1),
    ] = 0.66
    threads: Annotated[int | None, THREADS] = None

    _later: ClassVar = frozenset({"tau", "min_neighbors", "max_fraction", "threads"})

    def __post_init__(self) -> None:
        self._kernel()
        check(self)

    def _kernel(self) -> Kernel:
        return kernel_of(self.kernel)

    def rule(self) -> Rule:
        """The rule for neighbours, by the parameters."""
        return Rule(
            tau=self.threshold,
            least=self.min_neighbors,
            most=self.max_fraction,
            threads=self.threads,
        )

    @property
    def title(self) -> str:
        """`BLEU Neighbors`, `BLEU Neighbors with rouge-l`."""
        name = self._kernel().name
        return (
            "BLEU Neighbors" if name == BleuStar.name else f"BLEU Neighbors with {name}"
        )

    @property
    def threshold(self) -> float:
        """Tau in force."""
        return self._kernel().default_tau if self.tau is None else self.tau

    def _learned_with(self) -> object:
        return self._kernel()

    def _learn(self, pool: RatedPool) -> Neighborhood:
        """Rated texts, read by the kernel."""
        rated = self.drawn(pool)
        prepared = self._kernel().prepare(rated.texts)
        return Neighborhood.of(rated, prepared, fingerprint(rated))

    def estimate(self, X: Any) -> Estimates:  # noqa: ANN401, N803 - outputs or texts, see `given`
        """The mean rating of each output's neighbours, with an interval for its own human rating.

        The interval is the estimate plus and minus the 95 % quantile of held-out errors
        (split-conformal): what it promises, it promises for outputs that resemble the pool.
        """
        outputs = outputs_in(X)
        state = self._state()
        values, support, reasons = self._matched(state, outputs)
        widths = half_widths(outputs, self._units_of(outputs), self.residuals())
        return estimates_of(
            outputs, values, state.rated.scale, reasons, support, widths
        )

    def predict(self, X: Any) -> FloatArray:  # noqa: ANN401, N803
        """[n] the estimates as numbers, NaN where undefined; no interval is computed."""
        return self._matched(self._state(), outputs_in(X))[0]

    def held_out(self, pool: RatedPool, groups: IntArray | None = None) -> Estimates:
        """Each text judged by the others outside its group: exact, without refitting.

        Args:
            pool: the rated texts; this estimator is not fitted to them.
            groups: [n] group numbers from 0; by default each text is a group of its own.
        """
        numbers = group_numbers(pool, groups)
        state = self._learn(pool)
        outputs = as_outputs(pool)
        hidden = hold_out(numbers, numbers[rows_in(pool, state.rated)])
        values, support, reasons = self._matched(state, outputs, hidden)
        errors = pool.human - values
        radius = conformal_radius(errors[~np.isnan(errors)])
        return estimates_of(outputs, values, pool.scale, reasons, support, radius)

    def _matched(
        self, state: Neighborhood, outputs: Outputs, hidden: Exclusions | None = None
    ) -> tuple[FloatArray, IntArray, tuple[Reason, ...]]:
        """Values, NaN if undefined, support and reasons; `hidden`: what each must not see."""
        rule = self.rule()
        sizes = np.full(len(outputs), len(state.rated))
        means, counts = state.means(outputs.texts, rule, hidden, self.progress)
        if hidden is not None:
            sizes -= hidden.sizes()
        reasons = state.reasons(outputs, rule, counts, sizes)
        defined = [reason == "" for reason in reasons]
        return np.where(defined, means, np.nan), counts, reasons

    def residuals(self) -> Residuals:
        """Rating minus held-out estimate, of at most 2,000 rated texts, without those undefined.

        Texts of one source are left out together.
        """
        return self._held_out()[1]

    def _held_out(self) -> tuple[FloatArray, Residuals]:
        """See `Neighborhood`, for the rule as it is now."""
        state: Neighborhood = self._state()
        rule = replace(self.rule(), threads=None)
        if rule not in state.held_out:
            drawn = self._calibration(state.rated)
            texts = state.rated.take(drawn.rows)
            errors = []
            for groups in drawn.ways.values():
                hidden = hold_out(groups[drawn.rows], groups)
                values, _, _ = self._matched(state, as_outputs(texts), hidden)
                errors.append(texts.human - values)
            state.held_out[rule] = drawn.residuals(np.array(errors))
        return state.held_out[rule]

    def _calibration(self, rated: RatedPool) -> _Calibration:
        rng = np.random.default_rng(0)
        rows = whole(copies_in_order(rated), CALIBRATION_TEXTS, rng)
        labels = self._labels(rated)
        return _Calibration(rated, labels, rows, held_out_ways(rated, labels))

    def learned(self) -> tuple[dict[str, object], Arrays]:
        """Held-out errors, and n-grams with their postings."""
        prepared = self._state().prepared
        arrays: Arrays = {"held_out": self._held_out()[0]}
        if isinstance(prepared, PreparedBleu):
            arrays |= arrays_of(prepared)
        return {}, arrays

    def _relearn(
        self, pool: RatedPool, facts: Mapping[str, Any], arrays: Mapping[str, Array]
    ) -> Neighborhood:
        kernel = self._kernel()
        names = {"held_out"}
        if isinstance(kernel, BleuStar):
            names |= names_of(kernel.shape)
        is_whole = not facts and names == {*arrays}
        require(is_whole, "the arrays are not those of its kernel")
        if isinstance(kernel, BleuStar):
            prepared: Dense = prepared_in(pool.texts, kernel.shape, arrays)
        else:
            prepared = kernel.prepare(pool.texts)
        drawn = self._calibration(pool)
        shape = (len(drawn.ways), len(drawn.rows))
        errors = array_of(arrays, "held_out", shape)
        require(not bool(np.isinf(errors).any()), "an error is infinite")
        state = Neighborhood.of(pool, prepared, fingerprint(pool))
        rule = replace(self.rule(), threads=None)
        state.held_out[rule] = drawn.residuals(errors)
        return state

    def explain(
        self, output: str | Outputs, *, hide: str | None = None, most: int | None = None
    ) -> Explanation:
        """The neighbours of one output, most similar first, with their share in the estimate.

        Shared n-grams are looked for with `most` neighbours only, and those are returned.
        """
        outputs = one_output(output)
        fitted = self._without(hide)
        state: Neighborhood = fitted._state()  # noqa: SLF001 - of its own class
        estimates = fitted.estimate(outputs)
        similarities = state.prepared.similarities(outputs.texts)[0]
        text = outputs.texts[0]
        rule = self.rule()
        any_near = estimates.support[0] > 0
        near = state.neighbors(text, similarities, rule, most) if any_near else ()
        return Explanation.of(estimates, len(state.rated), near)

    def cross_validated(
        self, pool: RatedPool, groups: IntArray, blocks: IntArray
    ) -> tuple[Estimates, CrossValidated]:
        """The cross-validation of every scorer, out of one table of similarities."""
        estimates = self.held_out(pool, groups)
        order = canonical_order(pool, groups)
        within = self.within(pool.take(order))
        if within is None:
            blocked = self.held_out(pool, blocks).values
            return estimates, CrossValidated(np.stack([estimates.values, blocked]))
        return estimates, CrossValidated.of(within, groups, blocks, order)

    def within(self, pool: RatedPool) -> Within | None:
        """Held-out estimates of some rows among themselves; all similarities are computed once.

        None if the pool is too large for a table of similarities.
        """
        if len(pool) > DENSE_TEXTS:
            return None
        state = Neighborhood.of(pool, self._kernel().prepare(pool.texts), "")
        return state.among_themselves(self.rule())

    def signature(self, pool: RatedPool | None = None) -> Signature:
        """Parameters and, fitted or with a pool, the rated texts: all that can change estimates."""
        kernel = self._kernel()
        signed = Signature("bleu-neighbors").plus(
            kernel=kernel.name,
            **kernel.settings(),
            tau=self.threshold,
            a=self.min_neighbors,
            b=self.max_fraction,
        )
        if pool is not None:
            signed = self._with_pool(signed, pool)
        elif self._fitted is not None:
            state: Neighborhood = self._fitted.learned
            signed = self._with_pool(signed, state.rated, state.fingerprint)
        return signed.plus(v=__version__)
