"""A rated pool as the Gaussian process reads it: standardized ratings, their noise, features."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any

import numpy as np

from refless.data.design import units_or_texts
from refless.data.human import canonical_order, copies_in_order, fingerprint
from refless.data.records import NO_SCORES, Outputs, RatedPool, Texts
from refless.estimators.folds import whole
from refless.estimators.gp.features import Encode, KernelInputs, inputs_of
from refless.estimators.gp.kernels import (
    MEANING,
    SOURCE,
    SOURCE_MEANING,
    SYSTEM,
    TEXT,
    LearnedKernel,
    Points,
    learned,
    score_kernels,
)
from refless.estimators.protocol import FOLDS, THREADS, USE_SOURCE
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.dialect import called
from refless.registry.errors import UsageError
from refless.registry.progress import Progress
from refless.registry.spec import About
from refless.stats.correlation import is_constant
from refless.text.embed import BUILT_IN, Encoder
from refless.text.embed.devices import AUTO, DEVICE, FLOAT32, PRECISION

SIZE = 10  # the least that sizes can be set to
MOST_INVERTED = 5_000  # rated texts whose covariance is inverted


@dataclass(kw_only=True, repr=False)
class Parameters:
    """The parameters of `GaussianProcess`, which explains them."""

    use_source: Annotated[bool, USE_SOURCE] = True
    use_scores: Annotated[
        bool, About("read judges' scores if the rated texts have them")
    ] = True
    use_system: Annotated[
        bool, About("read which system made a text; new names are new systems")
    ] = False
    encoder: Annotated[
        str | None, About("gives vectors of texts: a folder or a name; or none")
    ] = BUILT_IN
    device: Annotated[str, DEVICE] = AUTO
    precision: Annotated[str, PRECISION] = FLOAT32
    max_sd: Annotated[
        float | None, About("no estimate with a larger deviation", above=0)
    ] = None
    tune_on: Annotated[
        int, About("most rated texts for the likelihood", at_least=SIZE)
    ] = 1_000
    compact: Annotated[
        bool, About("compare outputs with 500 rated texts: quicker if more are rated")
    ] = False
    folds: Annotated[int, FOLDS] = 5
    threads: Annotated[int | None, THREADS] = None


def kernel_names(rated: RatedPool, parameters: Parameters) -> tuple[str, ...]:
    """Names of the kernels for these rated texts."""
    has_sources = parameters.use_source and len(set(rated.sources)) > 1
    names: tuple[str, ...] = TEXT
    if has_sources:
        names += SOURCE
    if parameters.encoder is not None:
        names += MEANING
    if parameters.encoder is not None and has_sources:
        names += SOURCE_MEANING
    if parameters.use_system and len({*rated.systems} - {""}) > 1:
        names += SYSTEM
    return names + score_kernels(rated.score_names if parameters.use_scores else ())


def encoder_of(parameters: Parameters) -> Encoder | None:
    """The encoder that gives texts their vectors, or None."""
    if parameters.encoder is None:
        return None
    return Encoder(
        model=parameters.encoder,
        device=parameters.device,
        precision=parameters.precision,
    )


def _encode(parameters: Parameters, progress: Progress | None) -> Encode | None:
    encoder = encoder_of(parameters)
    return None if encoder is None else partial(encoder.sentences, progress=progress)


def _read_texts(
    texts: Texts,
    names: Iterable[str],
    rated: RatedPool,
    parameters: Parameters,
    encode: Encode | None,
    numbers: FloatArray | None = None,
) -> KernelInputs:
    """The inputs of the kernels of these names; `rated` says which texts belong together."""
    names = {*names}
    return inputs_of(
        texts.texts,
        texts.sources if SOURCE[0] in names else (),
        units=units_or_texts(texts, rated),
        systems=texts.systems if SYSTEM[0] in names else (),
        encode=encode,
        scores=texts.scores if parameters.use_scores else NO_SCORES,
        score_names=texts.score_names if parameters.use_scores else (),
        numbers=numbers,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """The content of a file about rated texts, which need not be read again.

    Attributes:
        encode, numbers: as `inputs_of` takes them.
        kernel: the kernel of a name, given the inputs.
    """

    encode: Encode | None
    numbers: FloatArray
    kernel: Callable[[str, KernelInputs], LearnedKernel]


class Lazy(Mapping[str, Any]):
    """Values by names, each computed when it is first asked for."""

    def __init__(self, names: Iterable[str], value: Callable[[str], Any]) -> None:
        self._names = tuple(names)
        self._value = value
        self._found: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - whatever is kept so
        if name not in self._found:
            self._found[name] = self._value(name)
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """A rated pool as numbers: ratings of mean 0 and variance 1, and their own noise."""

    pool: RatedPool  # as it was read
    rated: RatedPool  # in canonical order
    inputs: KernelInputs  # what the kernels read of the rated texts
    kernels: Mapping[str, LearnedKernel]  # learned from all rated texts, by their names
    points: Mapping[str, Points]  # where the rated texts lie
    y: FloatArray  # [n] (human rating - offset) / unit
    offset: float
    unit: float
    noise: FloatArray  # [n] variance of each human rating as an average of few, over unit**2
    fingerprint: str
    parameters: Parameters
    # [n, n] values among the rated texts, by the kernel's name, where they are kept
    compared: Mapping[str, FloatArray] = field(default_factory=dict)

    def in_units_of(self, rows: IntArray) -> Data:
        """The same texts with offset, unit and noise as these rated texts alone have them."""
        offset, unit = _units(self.rated.human[rows])
        noise = rating_noise(self.rated, rows) / unit**2
        y = (self.rated.human - offset) / unit
        return replace(self, y=y, offset=offset, unit=unit, noise=noise)

    def drawn(self) -> IntArray:
        """Rows of at most 5,000 rated texts, whole copies, whatever their ratings are."""
        copies = copies_in_order(self.rated)
        return whole(copies, MOST_INVERTED, np.random.default_rng(1))

    def at(self, rows: IntArray) -> Mapping[str, Points]:
        """The points of rated texts, by the kernel's name."""
        if isinstance(self.points, Lazy):  # others than these may never be asked for
            inputs = self.inputs.take(rows)
            return Lazy(self.points, lambda name: self.kernels[name].points(inputs))
        return {name: points[rows] for name, points in self.points.items()}

    def among(self, name: str, rows: IntArray) -> FloatArray:
        """[rows, rows] values of a kernel among rated texts."""
        if name in self.compared:
            return self.compared[name][np.ix_(rows, rows)]
        kernel = self.kernels[name]
        points = self.points[name][rows]
        return kernel.between(points, kernel.anchors(points))

    def with_compared(self) -> Data:
        """The same, which keeps the values of all kernels: for models of many of its parts."""
        every = np.arange(len(self.y))
        compared = {name: self.among(name, every) for name in self.kernels}
        return replace(self, compared=compared)

    def inputs_of(
        self, outputs: Outputs, progress: Progress | None = None
    ) -> KernelInputs:
        """The kernels' inputs of outputs, as of the rated texts; see `check_outputs`."""
        check_outputs(self, outputs)
        encode = _encode(self.parameters, progress)
        inputs = _read_texts(outputs, self.kernels, self.rated, self.parameters, encode)
        name = MEANING[0]
        rated = self.inputs.columns.get(name)
        if rated is not None and rated.shape[1] != inputs.columns[name].shape[1]:
            raise UsageError(
                "the encoder gives other vectors than those of the rated texts"
            )
        return inputs

    def take(self, rows: IntArray) -> Data:
        """These rated texts alone, in the same units."""
        return replace(
            self,
            rated=self.rated.take(rows),
            inputs=self.inputs.take(rows),
            points=self.at(rows),
            y=self.y[rows],
            noise=self.noise[rows],
            compared={name: self.among(name, rows) for name in self.compared},
        )


def read(
    pool: RatedPool,
    parameters: Parameters,
    groups: IntArray | None = None,
    progress: Progress | None = None,
    known: Known | None = None,
) -> Data:
    """A pool in canonical order, as numbers.

    Args:
        pool: the rated texts.
        parameters: say what is read.
        groups: [n] break ties of the order.
        progress: called with the share of the encoder's vectors that is computed.
        known: what is not to be computed.
    """
    rated = pool.take(canonical_order(pool, groups))
    names = kernel_names(rated, parameters) if len(rated) else ()
    points: Mapping[str, Points]
    if known is None:
        encode = _encode(parameters, progress)
        inputs = _read_texts(rated, names, rated, parameters, encode)
        both = {name: learned(name, inputs) for name in names}
        kernels = {name: kernel for name, (kernel, _) in both.items()}
        points = {name: lying for name, (_, lying) in both.items()}
        inputs.found.clear()  # it takes more memory than the texts
    else:
        inputs = _read_texts(
            rated, names, rated, parameters, known.encode, known.numbers
        )
        kernels = {name: known.kernel(name, inputs) for name in names}
        points = Lazy(names, lambda name: kernels[name].points(inputs))
    offset, unit = _units(rated.human)
    return Data(
        pool=pool,
        rated=rated,
        inputs=inputs,
        kernels=kernels,
        points=points,
        y=(rated.human - offset) / unit,
        offset=offset,
        unit=unit,
        noise=rating_noise(rated) / unit**2,
        fingerprint=fingerprint(rated),
        parameters=parameters,
    )


def check_outputs(data: Data, outputs: Outputs) -> None:
    """Raises UsageError for outputs without a column that is read of the rated texts."""
    if data.inputs.sources and not outputs.sources:
        raise UsageError(
            "the rated texts have sources and the outputs have none: give the outputs' sources "
            f"too (a column, or explain's {called('source')}), or leave the sources unread "
            "(gp:use_source=no)"
        )
    if "system" in data.inputs.columns and not outputs.systems:
        raise UsageError(
            "the systems of the rated texts are read and the outputs have none: give the outputs' "
            "systems too (a column; names that no rated text has are new systems), or leave "
            "systems unread (gp:use_system=no)"
        )
    if not data.parameters.use_scores:
        return
    names = {*data.rated.score_names}
    columns = {*outputs.score_names}
    lacking = names - columns
    surplus = columns - names
    sides = ((lacking, "rated texts", "outputs"), (surplus, "outputs", "rated texts"))
    for difference, here, elsewhere in sides:
        if difference:
            raise UsageError(
                f"the {here} have scores that the {elsewhere} lack: "
                f"{', '.join(sorted(difference))}; name the same {called('score_column')} for "
                "both, or leave "
                "scores unread (gp:use_scores=no)"
            )


def _units(human: FloatArray) -> tuple[float, float]:
    """Mean and standard deviation, 1 if there is none to speak of."""
    if len(human) == 0:
        return 0.0, 1.0
    ordered = np.sort(human)
    mean = float(ordered.mean())
    spread = float(ordered.std())
    return mean, 1.0 if is_constant(human) else spread


def rating_noise(pool: RatedPool, rows: IntArray | None = None) -> FloatArray:
    """[n] variance of each text's mean rating as an average of few, scaled; 0 if unknown.

    The variance of one rating is pooled over all texts, or over those in `rows`.
    """
    text = pool.ratings.text
    values = pool.ratings.values
    if pool.scale is not None:
        values = values / (pool.scale[1] - pool.scale[0])
    order = np.lexsort((values, text))
    text = text[order]
    values = values[order]
    counts = np.maximum(np.bincount(text, minlength=len(pool)), 1)
    means = np.bincount(text, values, len(pool)) / counts
    spread = np.bincount(text, (values - means[text]) ** 2, len(pool))
    pooled = slice(None) if rows is None else rows
    freedom = float((counts[pooled] - 1).sum())
    if freedom <= 0:
        return np.zeros(len(pool))
    return np.asarray(np.sort(spread[pooled]).sum() / freedom / counts)
