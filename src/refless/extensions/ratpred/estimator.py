"""RatPred: a network that reads source and output and says what people would rate it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from refless.data.human import canonical_order, fingerprint, pool_of
from refless.data.records import (
    Estimates,
    Outputs,
    RatedPool,
    Reason,
    Residuals,
    ends_of,
)
from refless.estimators.crossfit import grouped_refits
from refless.estimators.explanation import Explanation
from refless.estimators.inputs import outputs_in
from refless.estimators.protocol import (
    FOLDS,
    SEED,
    THREADS,
    USE_SOURCE,
    Estimator,
    one_output,
)
from refless.extensions.ratpred.model import Model, model_in
from refless.extensions.ratpred.reading import SLOTS, SourceAndText, reader_of
from refless.extensions.ratpred.settings import TrainingPlan
from refless.files.arrays import Array, Arrays
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.errors import MissingExtraError, UsageError
from refless.registry.signature import Signature
from refless.registry.spec import About
from refless.registry.version import __version__
from refless.stats.intervals import conformal_radius
from refless.text.embed.devices import AUTO, CPU, DEVICE, device_of

FEWEST = 20  # rated texts for a network and for the choice of its epoch
KEPT = ("scale", "pool", "size")  # what a signature says of the rated texts


@dataclass(frozen=True, slots=True, eq=False)
class _Learned:
    """The result of `fit`: the texts in use, canonically; `model` is None for too few."""

    rated: RatedPool
    model: Model | None
    about: dict[str, Any]


@dataclass(kw_only=True, repr=False)
class RatPred(Estimator, TrainingPlan):
    """Two recurrent encoders, of source and text, and fully connected layers (Dusek et al. 2017).

    Sources that are dialogue acts (`inform(name='x',food=y)`) are read as triples, and values of
    their slots are replaced by placeholders in source and text; other sources are read as words.
    Published are clipped and rounded estimates that are not calibrated.

    Attributes:
        slots: slots whose values become placeholders; () reads all words as they are.
        synthetic_errors: learn from rated texts with errors too, in the first epochs (setup 2).
        references: pairs (source, text) of people, taken for perfect, in these epochs.
        ensemble_size: networks from different seeds, whose mean is the estimate.
        calibrated: bring estimates to the level of the ratings, by a line on the texts of the
            validation split.
        threads: torch's own number by default; last digits depend on it.
        device: `auto`, `cpu` or `cuda`: another network comes about on each.
    """

    use_source: Annotated[bool, USE_SOURCE] = True
    slots: Annotated[
        tuple[str, ...], About("slots whose values become placeholders")
    ] = tuple(sorted(SLOTS))
    references: tuple[tuple[str, str], ...] = ()
    folds: Annotated[int, FOLDS] = 5
    seed: Annotated[int, SEED] = 0
    threads: Annotated[int | None, THREADS] = None
    device: Annotated[str, DEVICE] = AUTO

    _later: ClassVar = frozenset(
        {"calibrated", "clipped", "rounded", "folds", "threads"}
    )

    def __post_init__(self) -> None:
        TrainingPlan.__post_init__(self)

    @property
    def title(self) -> str:
        """`RatPred`."""
        return "RatPred"

    @property
    def trained(self) -> Model:
        """The trained model.

        Raises:
            UsageError: too few rated texts for one.
        """
        state: _Learned = self._state()
        if state.model is None:
            raise UsageError(f"RatPred needs {FEWEST} rated texts with words or more")
        return state.model

    def _learn(self, pool: RatedPool) -> _Learned:
        """Trains on rated texts; MissingExtraError without torch, InputError for a broken act."""
        _check_torch(self.threads)
        about = self._about(pool)
        return _Learned(self.drawn(pool), self._trained(self.drawn(pool), about), about)

    def learned(self) -> tuple[dict[str, object], Arrays]:
        """The model: its weights as arrays, everything else as facts."""
        return self.trained.described(), self.trained.weights()

    def _relearn(
        self, pool: RatedPool, facts: Mapping[str, Any], arrays: Mapping[str, Array]
    ) -> _Learned:
        _check_torch(self.threads)
        model = model_in(facts, arrays)
        return _Learned(self.drawn(pool), model, model.about)

    def _about(self, pool: RatedPool) -> dict[str, Any]:
        """The description of a model that is trained on a pool."""
        rated = self.drawn(pool)
        ordered = pool.take(canonical_order(pool))
        several = len(set(rated.sources)) > 1
        return {
            "pool": fingerprint(ordered),
            "size": len(rated),
            "scale": pool.scale,
            "sources": self.use_source and several,
            "signature": str(self._signed()),
        }

    def _trained(self, rated: RatedPool, about: dict[str, Any]) -> Model | None:
        from refless.extensions.ratpred.fitting import Material, modelled

        sources = rated.sources if about["sources"] else ()
        reader = reader_of(sources, frozenset(self.slots))
        read = reader.pairs(sources, rated.texts)
        rows = np.array([i for i, pair in enumerate(read) if pair.text], dtype=np.int64)
        if len(rows) < FEWEST:
            return None
        human = rated.human[rows]
        scale = (0.0, 1.0)
        if rated.scale is None:
            scale = (float(human.min()), float(human.max()))
        texts = [text for _, text in self.references]
        contexts = [source if sources else "" for source, _ in self.references]
        references = [pair for pair in reader.pairs(contexts, texts) if pair.text]
        names = [(sources[i] if sources else "", rated.texts[i]) for i in rows]
        material = Material(
            pairs=[read[i] for i in rows],
            ratings=human,
            names=names,
            references=references,
            scale=scale,
        )
        return modelled(
            material,
            reader,
            self,
            about,
            device=device_of(self.device),
            progress=self.progress,
        )

    def estimate(self, X: Any) -> Estimates:  # noqa: ANN401, N803 - outputs or texts, see `given`
        """Each output's rating, with an interval from the errors on the validation texts.

        Raises:
            UsageError: rated texts with sources and outputs without.
        """
        outputs = outputs_in(X)
        state = self._state()
        values = np.full(len(outputs), np.nan)
        if state.model is not None:
            pairs = self._pairs(outputs, state.model)
            rows = [i for i, pair in enumerate(pairs) if pair.text]
            y = state.model.predict([pairs[i] for i in rows])
            values[rows] = state.model.range.rating(
                y,
                calibrated=self.calibrated,
                clipped=self.clipped,
                rounded=self.rounded,
            )
        return self._answer(outputs, values)

    def _pairs(self, outputs: Outputs, model: Model) -> list[SourceAndText]:
        if model.about["sources"] and not outputs.sources:
            raise UsageError(
                "the rated texts have sources and the outputs have none: give the outputs' "
                "sources too, or train without (ratpred:use_source=no)"
            )
        sources = outputs.sources if model.about["sources"] else ()
        return model.reader.pairs(sources, outputs.texts)

    def held_out(self, pool: RatedPool, groups: IntArray | None = None) -> Estimates:
        """Each text estimated by networks trained on the folds without its group."""
        return grouped_refits(self, pool, groups, self.folds)

    def residuals(self) -> Residuals:
        """Human rating minus estimate of the validation texts.

        These have chosen the epoch, so residuals are a little too small.
        """
        model = self._state().model
        if model is None:
            return Residuals(values=np.zeros(0))
        human, estimates = model.validation
        order = np.argsort(human - estimates, kind="stable")
        return Residuals(values=(human - estimates)[order], human=human[order])

    def _answer(self, outputs: Outputs, values: FloatArray) -> Estimates:
        state = self._state()
        reasons = tuple(_reason(outputs, i, values[i]) for i in range(len(outputs)))
        values = np.where([reason == "" for reason in reasons], values, np.nan)
        radius = conformal_radius(self.residuals().values)
        ends = ends_of(state.rated.scale)
        support = np.where(np.isnan(values), 0, state.about["size"])
        return Estimates(
            ids=outputs.ids,
            values=values,
            reasons=reasons,
            support=support.astype(np.int64),
            low=np.clip(values - radius, *ends),
            high=np.clip(values + radius, *ends),
        )

    def explain(
        self,
        output: str | Outputs,
        *,
        hide: str | None = None,
        most: int | None = None,  # noqa: ARG002 - there are no neighbours to count
    ) -> Explanation:
        """The estimate with its interval: a network rests on no single rated text.

        Args:
            output: a text, or Outputs of length 1.
            hide: id of a rated text to hold out, by training without it.
            most: without effect here.
        """
        outputs = one_output(output)
        rated = self.rated
        if hide is not None and hide in rated.ids:
            return self._without(hide).explain(outputs)
        estimates = self.estimate(outputs)
        return Explanation.of(estimates, len(rated))

    def signature(self, pool: RatedPool | None = None) -> Signature:
        """Parameters and, fitted or with a pool, the rated texts."""
        about = None
        if pool is None and self._fitted is not None:
            about = self._fitted.learned.about
        elif pool is not None:
            about = self._about(pool)
        signed = (
            self._signed() if about is None else Signature.parse(about["signature"])
        )
        signed = signed.plus(
            calibrated=self.calibrated,
            clipped=self.clipped,
            rounded=self.rounded,
            folds=self.folds,
        )
        if about is not None:
            signed = signed.plus(**{name: about[name] for name in KEPT})
        return signed.plus(v=__version__)

    def _signed(self) -> Signature:
        """The signature of all that training depends on."""
        people = self.references
        texts = [text for _, text in people]
        sources = [source for source, _ in people]
        digest = fingerprint(pool_of(texts, [0.0] * len(people), sources=sources))
        slots = "default" if set(self.slots) == SLOTS else tuple(sorted(self.slots))
        signed = Signature("ratpred").plus(
            source=self.use_source,
            delex=slots or None,
            synthetic_errors=self.synthetic_errors,
            references=f"{len(people)}-{digest}" if people else None,
            **asdict(self.settings),
            ensemble_size=self.ensemble_size,
            validation_split=self.validation_split,
            seed=self.seed,
        )
        device = device_of(self.device)
        return signed if device == CPU else signed.plus(device=device)


def _reason(outputs: Outputs, i: int, value: float) -> Reason:
    if outputs.bad and outputs.bad[i]:
        return "bad-row"
    if not outputs.texts[i].strip():
        return "empty"
    return "too-few" if np.isnan(value) else ""


def _check_torch(threads: int | None) -> None:
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError("RatPred", "neural") from error
    if threads is not None:
        torch.set_num_threads(threads)
