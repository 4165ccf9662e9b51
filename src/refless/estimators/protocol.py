"""The contract of every estimator, in the way of scikit-learn."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from refless.data.design import units_of
from refless.data.human import canonical_order, fingerprint
from refless.data.records import Estimates, Outputs, RatedPool, Residuals
from refless.estimators.cross_validated import CrossValidated
from refless.estimators.explanation import Explanation
from refless.estimators.inputs import Given, outputs_in, rated_given
from refless.files.arrays import Array, Arrays, require
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.errors import UsageError
from refless.registry.progress import Progress
from refless.registry.signature import Signature
from refless.registry.spec import About, check, made, nested
from refless.registry.version import __version__
from refless.stats.correlation import spearman

SEED = About("of what is drawn", at_least=0)
THREADS = About("threads; none: all cores", at_least=1)
USE_SOURCE = About("read sources where the rated texts have them")
FOLDS = About("folds of held-out evaluation", at_least=2)


@dataclass(frozen=True, slots=True, eq=False)
class _Fitted:
    """A fitted state, the parameters that went into it, and the rated texts, in order."""

    learned: Any  # one frozen object
    parameters: object
    pool: RatedPool


class ErrorCovariance(NamedTuple):
    """The covariance of errors of estimates, in squared units of the human rating.

    Attributes:
        covariance: [n, n] of what the outputs' ratings have in common with others'.
        noise: variance of a rating beyond that, which no other rating tells of.
    """

    covariance: FloatArray
    noise: float


class Estimator(ABC):
    """Learns from rated texts, gives an estimate for an output, needs no reference.

    Subclasses are dataclasses whose fields are the parameters, by keyword; the constructor checks
    and stores them. What `fit` learns is one frozen object.

    Attributes:
        progress: called with the share of the work that is done, or None.
    """

    progress: Progress | None = None
    # parameters that are heeded after fit
    _later: ClassVar[frozenset[str]] = frozenset()
    _fitted: _Fitted | None = None
    # label of each rated text by its id
    _together: Mapping[str, str] = MappingProxyType({})
    name: ClassVar[str] = ""  # in signatures

    def __post_init__(self) -> None:
        """Checks the parameters."""
        check(self)

    def fit(
        self,
        X: RatedPool | Given,  # noqa: N803 - scikit-learn's name
        y: Sequence[float] | Sequence[Sequence[float]] | FloatArray | None = None,
        *,
        sources: Sequence[str] = (),
        groups: Sequence[str] = (),
    ) -> Self:
        """Learns from rated texts.

        Args:
            X: a pool, texts, or anything with a column `text` (and `source`).
            y: [n] ratings, or lists of ratings; None for a pool, which has its own.
            sources: [n] what the texts answer, where X is texts.
            groups: [n] what belongs together, and is held out together where errors are measured
                and weights are chosen; by default texts of one source, or of one item. Outputs
                then count as of other groups.

        Raises:
            UsageError: ratings missing or given twice, or lengths that differ.
        """
        pool = rated_given(X, y, sources)
        if len(groups) not in {0, len(pool)}:
            raise UsageError(f"{len(pool)} texts but {len(groups)} groups")
        self._together = dict(zip(pool.ids, groups, strict=False))
        state = self._learn(pool)
        ordered = pool.take(canonical_order(pool))
        self._fitted = _Fitted(state, self._learned_with(), ordered)
        return self

    def learned(self) -> tuple[dict[str, object], Arrays]:
        """The content of a saved file beside the rated texts: facts for JSON, arrays.

        Nothing if it is quickly learned anew, as here.

        Raises:
            UsageError: before `fit`.
        """
        self._state()
        return {}, {}

    def relearn(
        self,
        pool: RatedPool,
        labels: Sequence[str],
        facts: Mapping[str, Any],
        arrays: Mapping[str, Array],
    ) -> Self:
        """Restores a fitted estimator from what `learned` gave of these rated texts.

        Args:
            pool: in canonical order; labels: [n] as the groups of `fit`, or ().
            facts, arrays: as they were saved; whatever they hold is checked.

        Raises:
            ValueError: facts or arrays that `learned` cannot have given.
        """
        self._together = dict(zip(pool.ids, labels, strict=False))
        state = self._relearn(pool, facts, arrays)
        self._fitted = _Fitted(state, self._learned_with(), pool)
        return self

    def _relearn(
        self,
        pool: RatedPool,
        facts: Mapping[str, Any],
        arrays: Mapping[str, Array],
    ) -> object:
        """The state that `_learn` gives."""
        require(not facts and not arrays, "it contains more than there is to learn")
        return self._learn(pool)

    @property
    def given(self) -> tuple[RatedPool, tuple[str, ...]]:
        """The rated texts as they were given, in canonical order, and their groups, or ().

        Raises:
            UsageError: before `fit`.
        """
        self._state()
        pool = self._fitted.pool if self._fitted is not None else self.rated
        return pool, self._labels(pool) if self._together else ()

    def _labels(self, rated: RatedPool) -> tuple[str, ...]:
        """[n] what each rated text belongs to: the group that was given, or see `units_of`."""
        together = self._together
        return units_of(
            rated, tuple(together[name] for name in rated.ids) if together else ()
        )

    def _units_of(self, outputs: Outputs) -> tuple[str, ...]:
        """[n] the same of outputs; () if only `fit` was told what belongs together."""
        by_column = self._labels(self.rated) == units_of(self.rated)
        return units_of(outputs, like=self.rated) if by_column else ()

    @abstractmethod
    def _learn(self, pool: RatedPool) -> object:
        """The state learned from rated texts, with the texts in use as `rated`."""

    @property
    def rated(self) -> RatedPool:
        """The rated texts in use, in canonical order."""
        pool: RatedPool = self._state().rated
        return pool

    def drawn(self, pool: RatedPool) -> RatedPool:
        """The texts that would be `rated` if fitted to this pool."""
        return pool.take(canonical_order(pool))

    @property
    @abstractmethod
    def title(self) -> str:
        """The name for people."""

    @abstractmethod
    def estimate(self, X: Outputs | Given) -> Estimates:  # noqa: N803 - scikit-learn's name
        """An estimate, or a reason why there is none, for each output."""

    def predict(self, X: Outputs | Given) -> FloatArray:  # noqa: N803
        """[n] the estimates, NaN where undefined; from 0 to 1 if the rated texts have a scale.

        In the raters' units they are `estimate(X).on(self.rated.scale).values`.
        """
        return self.estimate(X).values

    @abstractmethod
    def held_out(self, pool: RatedPool, groups: IntArray | None = None) -> Estimates:
        """Each text of the pool judged by the others outside its group; nothing is fitted."""

    def cross_validated(
        self,
        pool: RatedPool,
        groups: IntArray,  # noqa: ARG002 - whose blocks hold them whole
        blocks: IntArray,
    ) -> tuple[Estimates, CrossValidated]:
        """Held-out estimates, and what they would be of a part of the pool.

        Args:
            pool: the rated texts; groups: [n] what is held out together.
            blocks: [n] folds of whole groups, by number from 0.
        """
        # by refitting: those of a block from one model
        estimates = self.held_out(pool, blocks)
        return estimates, CrossValidated(np.stack([estimates.values] * 2))

    @abstractmethod
    def residuals(self) -> Residuals:
        """Human rating minus held-out estimate of fitted texts; what intervals are made of."""

    def explain(
        self,
        output: str | Outputs,
        *,
        hide: str | None = None,
        most: int | None = None,  # noqa: ARG002 - of estimators that rest on single texts
    ) -> Explanation:
        """The rated texts behind one estimate; here the estimate alone.

        Args:
            output: a text, or Outputs of length 1 (with its source if the pool has sources).
            hide: id of a rated text to hold out (the output itself, when it comes from the pool).
            most: how many rated texts to return.

        Raises:
            UsageError: more than one output.
        """
        outputs = one_output(output)
        fitted = self._without(hide)
        return Explanation.of(fitted.estimate(outputs), len(fitted.rated))

    def without_scores(self) -> Self | None:
        """The same of texts alone; None for one that reads no scores that others gave."""
        return None

    def together(
        self,
        outputs: Outputs,  # noqa: ARG002 - of those that know
        doubt: int = 0,  # noqa: ARG002
    ) -> ErrorCovariance | None:
        """The covariance of errors of estimates for these outputs; None where unknown.

        Args:
            outputs: the texts.
            doubt: rated texts that the model counts as beside those that it has, as if they had
                told nothing of which likeness matters.
        """
        return None

    def signature(self, pool: RatedPool | None = None) -> Signature:
        """The parameters that change estimates, and the rated texts.

        Args:
            pool: rated texts, as whose estimator it signs without being fitted to them.
        """
        parameters = self.get_params(deep=False)
        parameters.pop("threads", None)
        signed = Signature(self.name).plus(**parameters)
        if pool is not None or self._fitted is not None:
            signed = self._with_pool(signed, self.given[0] if pool is None else pool)
        return signed.plus(v=__version__)

    def fitted_to(self, pool: RatedPool) -> Self:
        """A copy of this estimator, fitted to the pool."""
        return self.clone().fit(pool)

    def _without(self, name: str | None) -> Self:
        """A copy that has learned from its rated texts without this one; itself if it has none."""
        if name is None or name not in self.rated.ids:
            return self
        rows = [i for i, id_ in enumerate(self.rated.ids) if id_ != name]
        rated = self.rated.take(np.array(rows))
        labels = self._labels(rated) if self._together else ()
        return self.clone().fit(rated, groups=labels)

    def score(
        self,
        X: RatedPool | Outputs | Given,  # noqa: N803
        y: Sequence[float] | FloatArray,
    ) -> float:
        """Spearman's correlation of estimates and ratings; NaN where undefined.

        Args:
            X: as of `predict`; texts without an estimate are left out.
            y: [n] mean ratings.
        """
        values = self.predict(X)
        human = np.asarray(y, dtype=np.float64)
        defined = ~np.isnan(values)
        return spearman(human[defined], values[defined])

    def _state(self) -> Any:  # noqa: ANN401 - what `_learn` of the same class gave
        """The learned state; UsageError before `fit`, or after a parameter of it was changed."""
        if self._fitted is None:
            raise UsageError("fit a rated pool first")
        if self._fitted.parameters != self._learned_with():
            raise UsageError(
                "parameters have changed since fit; fit the rated pool again"
            )
        return self._fitted.learned

    def _learned_with(self) -> object:
        """The parameters that `fit` reads."""
        every = self.get_params(deep=False)
        return {name: value for name, value in every.items() if name not in self._later}

    def _with_pool(
        self, signed: Signature, pool: RatedPool, digest: str = ""
    ) -> Signature:
        """A signature with the rated texts behind it."""
        digest = digest or fingerprint(pool.take(canonical_order(pool)))
        return signed.plus(scale=pool.scale, pool=digest, size=len(pool))

    def _progress_between(self, begin: float, end: float = 1.0) -> Progress | None:
        """Progress of a part of the work, from one share of the whole to another."""
        show = self.progress
        if show is None:
            return None
        return lambda share: show(begin + (end - begin) * share)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's arguments and their values; `kernel__orders` is the kernel's own."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.init}  # type: ignore[arg-type]
        for name, registry in nested(type(self)).items() if deep else ():
            part = made(values[name], registry, name)
            values |= {f"{name}__{f.name}": getattr(part, f.name) for f in fields(part)}
        return values

    def set_params(self, **parameters: Any) -> Self:  # noqa: ANN401 - any parameter of any estimator
        """Changes parameters in place, checked as the constructor checks them.

        Raises:
            UsageError: a name that is no parameter, or a value that cannot be honoured.
        """
        deep = self.get_params()
        values = self.get_params(deep=False)
        for name in parameters:
            if name not in deep:
                raise UsageError(
                    f"{type(self).__name__} has no parameter '{name}'; it has {', '.join(deep)}"
                )
        values |= {name: value for name, value in parameters.items() if name in values}
        for name, registry in nested(type(self)).items():
            begin = f"{name}__"
            inner = {
                k.removeprefix(begin): v
                for k, v in parameters.items()
                if k.startswith(begin)
            }
            if inner:
                values[name] = replace(made(values[name], registry, name), **inner)
        type(self)(**values)
        for name, value in values.items():
            setattr(self, name, value)
        return self

    def set_known(self, **parameters: Any) -> Self:  # noqa: ANN401 - as of `set_params`
        """Changes those of these parameters that this estimator has."""
        names = self.get_params(deep=False)
        return self.set_params(
            **{name: new for name, new in parameters.items() if name in names}
        )

    def clone(self) -> Self:
        """An unfitted copy with the same parameters."""
        return type(self)(**self.get_params(deep=False))

    def __repr__(self) -> str:
        values = ((f, getattr(self, f.name)) for f in fields(self))  # type: ignore[arg-type]
        pairs = (f"{f.name}={value!r}" for f, value in values if value != f.default)
        return f"{type(self).__name__}({', '.join(pairs)})"

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 - scikit-learn, which calls this, is optional
        from sklearn.utils import InputTags, RegressorTags, Tags, TargetTags

        return Tags(
            estimator_type="regressor",
            target_tags=TargetTags(required=True),
            regressor_tags=RegressorTags(),
            input_tags=InputTags(one_d_array=True, two_d_array=False, string=True),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return self._fitted is not None


def one_output(output: str | Outputs) -> Outputs:
    """The output that is to be explained.

    Raises:
        UsageError: more than one.
    """
    outputs = outputs_in([output] if isinstance(output, str) else output)
    if len(outputs) != 1:
        raise UsageError("explain takes one output at a time")
    return outputs
