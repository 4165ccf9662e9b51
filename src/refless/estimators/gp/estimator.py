"""The Gaussian process: what an output's rating should be, given how alike it is to rated texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, ClassVar, Self

import numpy as np

from refless.data.records import (
    Estimates,
    Outputs,
    RatedPool,
    Residuals,
    as_outputs,
    ends_of,
)
from refless.estimators.cross_validated import CrossValidated
from refless.estimators.explanation import Explanation
from refless.estimators.folds import FEWEST, folds_in, group_numbers, rows_in
from refless.estimators.gp.data import (
    Data,
    Parameters,
    check_outputs,
    encoder_of,
    kernel_names,
    read,
)
from refless.estimators.gp.model import (
    doubted,
    estimated,
    parts,
    shares,
    together,
    tuned,
)
from refless.estimators.gp.nested_cv import Nested, nested
from refless.estimators.gp.state import Learned, is_own, weight_ways
from refless.estimators.gp.stored import restored, stored
from refless.estimators.inputs import outputs_in
from refless.estimators.intervals import bad_rows, estimates_of, half_widths, reasons_of
from refless.estimators.protocol import ErrorCovariance, Estimator, one_output
from refless.files.arrays import Array, Arrays, require
from refless.loops.threads import single_threaded_blas
from refless.registry.arrays import FloatArray, IntArray, numbered
from refless.registry.signature import Signature
from refless.registry.version import __version__
from refless.stats.intervals import conformal_radius
from refless.text.ngrams import Shape

READING = 0.5  # share of the work that is an encoder's, as progress is told


@dataclass(kw_only=True, repr=False)
class GaussianProcess(Parameters, Estimator):
    """Gaussian-process regression on a sum of kernels, with a standard deviation for each estimate.

    The kernels compare n-grams, words, letters, numbers about the surface of texts, and vectors of
    what they mean; where there are sources, also these, the texts with the source's words masked,
    what is taken from the source, and how near the vectors of a text and its source are. Each score
    that others gave adds one, of its mid-ranks, and all of them two. Each kernel is positive
    semi-definite. What each is worth, and how much belongs to single texts, is a mean of what
    leaving sources out and the marginal likelihood say. All ratings count in estimates; standard
    deviations and intervals come from at most 5,000 that are drawn.

    Attributes:
        use_source: read sources where the rated texts have them.
        use_scores: read scores that others gave, where the rated texts have them.
        use_system: read which system made each text, where two or more did: what a system's rated
            texts have in common counts for its other texts, and is not laid on their words. A name
            that no rated text has is a new system.
        encoder: what gives texts and sources their vectors: `wordllama`, the table of the package
            of that name; a folder, or a name in Hugging Face's cache, best of a model made for
            sentences; None for none.
        device: where a network of transformers runs: `auto` (a graphics card if there is one),
            `cpu` or `cuda`.
        precision: of its numbers: `float32` or `bfloat16`.
        max_sd: no estimate where the standard deviation is larger (in units of the human rating).
        tune_on: most rated texts that the likelihood is computed on, drawn canonically.
        compact: compare outputs with 500 of the rated texts, which stand for the others: many
            times quicker where thousands are rated, and a little less right.
        folds: folds of held-out evaluation in which amplitudes are chosen anew.
        threads: how many work at once; no result depends on it.
    """

    _later: ClassVar = frozenset({"max_sd", "folds", "threads"})

    @property
    def title(self) -> str:
        """`the Gaussian process`."""
        return "the Gaussian process"

    def without_scores(self) -> Self | None:
        """The same of texts alone; None where that is what it is."""
        return self.clone().set_params(use_scores=False) if self.use_scores else None

    def _learn(self, pool: RatedPool) -> Learned:
        """Reads the rated texts, chooses the amplitudes, conditions on the ratings."""
        data = self._read(pool)
        labels = self._labels(data.rated)
        amplitudes = []
        if len(data.y) >= FEWEST:
            with single_threaded_blas():
                amplitudes = tuned(
                    data, np.arange(len(data.y)), weight_ways(data, labels)
                )
        return Learned.of(data, amplitudes, labels)

    def learned(self) -> tuple[dict[str, object], Arrays]:
        """Amplitudes of the kernels, and vectors of an encoder."""
        state: Learned = self._state()
        return {}, stored(state)

    def _relearn(
        self, pool: RatedPool, facts: Mapping[str, Any], arrays: Mapping[str, Array]
    ) -> Learned:
        require(not facts, "it contains more than there is to learn")
        if len(pool) < FEWEST:
            require(not arrays, "it contains more than there is to learn")
            return self._learn(pool)
        return restored(pool, self._labels(pool), self._parameters(), arrays)

    def _parameters(self) -> Parameters:
        """The parameters as they are now."""
        return Parameters(**self.get_params(deep=False))

    def _read(self, pool: RatedPool, groups: IntArray | None = None) -> Data:
        return read(
            pool, self._parameters(), groups, self._progress_between(0.0, READING)
        )

    def estimate(self, X: Any) -> Estimates:  # noqa: ANN401, N803 - outputs or texts, see `given`
        """Mean and standard deviation of each output's rating, with an interval.

        The interval is as many standard deviations wide as hold 95 % of the rated texts when each
        is left out (conformal).

        Raises:
            UsageError: rated texts with sources and outputs without.
        """
        outputs = outputs_in(X)
        state: Learned = self._state()
        data = state.data
        check_outputs(data, outputs)
        y = np.full(len(outputs), np.nan)
        variances = np.full(len(outputs), np.nan)
        if state.model is not None:
            inputs = data.inputs_of(outputs, self._progress_between(0.0, READING))
            begin = READING if data.parameters.encoder else 0.0
            for model, rows in state.parts(inputs):
                end = begin + (1.0 - READING) * len(rows) / len(inputs)
                progress = self._progress_between(begin, end)
                y[rows], variances[rows] = estimated(
                    data, model, inputs.take(rows), progress
                )
                begin = end
        values = data.offset + data.unit * y
        sd = data.unit * np.sqrt(variances)
        labels = self._units_of(outputs)
        widths = half_widths(outputs, labels, state.errors, state.standardized, sd)
        return self._answer(data, outputs, values, sd, widths, len(data.rated))

    def held_out(self, pool: RatedPool, groups: IntArray | None = None) -> Estimates:
        """Each text judged by the others outside its group, in closed form.

        Amplitudes are chosen without it too: in `folds` folds of whole groups, each fold's texts
        are judged with the amplitudes that the other folds ask for. Of more than 5,000 texts each
        is judged by those in the other folds.
        """
        numbers = group_numbers(pool, groups)
        return self._held_out(pool, (numbers,), folds_in(pool, numbers, self.folds))[0]

    def cross_validated(
        self, pool: RatedPool, groups: IntArray, blocks: IntArray
    ) -> tuple[Estimates, CrossValidated]:
        """The cross-validation in closed form; amplitudes are chosen in folds of whole blocks."""
        folds = blocks % self.folds
        estimates, models, apart = self._held_out(pool, (groups, blocks), folds)
        ends = ends_of(pool.scale)
        defined = ~np.isnan(estimates.values)
        every = np.arange(len(pool))

        def cut(values: FloatArray, rows: IntArray) -> FloatArray:
            # abstains as the estimator does
            return np.where(defined[rows], np.clip(values, *ends), np.nan)

        def among(rows: IntArray) -> Callable[[IntArray], FloatArray]:
            with single_threaded_blas():
                part = models if len(rows) == len(pool) else models.among(rows)
            return lambda labels: cut(part.held_out(labels)[0], rows)

        if not models.exact:
            columns = np.stack([estimates.values, cut(apart, every)])
            return estimates, CrossValidated(columns)
        without_group = [*models.tuned(groups)]
        without_block = [*models.tuned(blocks)]
        tuned = cut(np.stack([without_group, without_block], axis=1), every)
        cross_validated = CrossValidated.of(among, groups, blocks)
        return estimates, replace(cross_validated, tuned=tuned)

    def _held_out(
        self, pool: RatedPool, labels: tuple[IntArray, ...], fold: IntArray
    ) -> tuple[Estimates, Nested, FloatArray]:
        """Estimates by the first labels, the models, means by the last labels."""
        groups = labels[0]
        data = self._read(pool, labels[0])
        progress = self._progress_between(READING if data.parameters.encoder else 0.0)
        with single_threaded_blas():
            models, columns = nested(data, fold, labels, progress)
        values, sd = columns[0]
        errors = (pool.human - values) / sd
        size = int(groups.max(initial=0)) + 1
        rated_groups = groups[rows_in(data.pool, data.rated)]
        hidden = np.bincount(rated_groups, minlength=size)[groups]
        widths = conformal_radius(errors[~np.isnan(errors)]) * sd
        support = len(data.rated) - hidden
        answer = self._answer(data, as_outputs(pool), values, sd, widths, support)
        return answer, models, columns[-1][0]

    def _answer(
        self,
        data: Data,
        outputs: Outputs,
        values: FloatArray,
        sd: FloatArray,
        widths: FloatArray,
        support: IntArray | int,
    ) -> Estimates:
        """The estimates with the reasons why there are none."""
        empty = np.array([not text.strip() for text in outputs.texts], dtype=np.bool_)
        max_sd = np.inf if self.max_sd is None else self.max_sd
        reasons = reasons_of(
            [
                ("bad-row", bad_rows(outputs)),
                ("empty", empty),
                ("too-few", np.isnan(values)),
                ("too-uncertain", sd > max_sd),
            ]
        )
        scale = data.rated.scale
        values = np.clip(values, *ends_of(scale))
        support = np.where([reason == "" for reason in reasons], support, 0)
        return estimates_of(outputs, values, scale, reasons, support, widths, sd)

    def residuals(self) -> Residuals:
        """Human rating minus estimate of the rated texts, each held out with its source."""
        return self._state().errors  # type: ignore[no-any-return]

    def together(self, outputs: Outputs, doubt: int = 0) -> ErrorCovariance | None:
        """The errors that outputs share, by the posterior covariance; None without a model.

        If some outputs are of rated sources and some are not, all count as of new ones.
        """
        state: Learned = self._state()
        data = state.data
        if state.model is None:
            return None
        inputs = data.inputs_of(outputs)
        parts = state.parts(inputs)
        model = parts[0][0] if len(parts) == 1 else state.model
        model = doubted(data, model, doubt) if doubt else model
        covariance, noise = together(data, model, inputs)
        return ErrorCovariance(covariance * data.unit**2, noise * data.unit**2)

    def explain(
        self, output: str | Outputs, *, hide: str | None = None, most: int | None = None
    ) -> Explanation:
        """The part of each kind of kernel in one estimate, and the share of each rated text."""
        outputs = one_output(output)
        if hide is not None:
            return self._without(hide).explain(outputs, most=most)
        state: Learned = self._state()
        data = state.data
        explanation = Explanation.of(self.estimate(outputs), len(data.rated))
        if state.model is None:
            return explanation
        inputs = data.inputs_of(outputs)
        model = state.parts(inputs)[0][0]
        explanation = replace(explanation, neighbors=shares(data, model, inputs, most))
        if explanation.reason:
            return explanation
        with single_threaded_blas():
            mean, additions = parts(data, model, inputs)
        return replace(explanation, mean=mean, parts=additions)

    def signature(self, pool: RatedPool | None = None) -> Signature:
        """Parameters and, fitted or with a pool, the rated texts and kernels.

        They settle the amplitudes.
        """
        shape = Shape()
        encoder = encoder_of(self)
        signed = Signature("gp").plus(
            tok=shape.tokenize,
            n=f"{shape.low}-{shape.high}",
            source=self.use_source,
            maxsd=self.max_sd,
            tune=self.tune_on,
            folds=self.folds,
        )
        if not self.use_scores:
            signed = signed.plus(scores=False)
        if self.use_system:
            signed = signed.plus(system=True)
        if self.compact:
            signed = signed.plus(compact=True)
        if encoder is not None:
            signed = signed.plus(**encoder.sentence_settings())
        if pool is not None:
            names = kernel_names(pool, self)
            signed = self._with_pool(signed.plus(k=names), pool)
        elif self._fitted is not None:
            data: Data = self._fitted.learned.data
            signed = signed.plus(k=tuple(data.kernels))
            signed = self._with_pool(signed, data.pool, data.fingerprint)
            labels = self._labels(data.rated)
            if not is_own(data, labels):
                signed = signed.plus(groups=_digest(labels))
        return signed.plus(v=__version__)


def _digest(labels: Sequence[str]) -> str:
    """Twelve hexadecimal digits of what belongs together, whatever it is called."""
    numbers = numbered(labels, len(labels)).astype("<i8")
    return sha256(numbers.tobytes()).hexdigest()[:12]
