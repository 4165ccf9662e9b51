"""The metrics that a user names: of ours, functions, or functions of an own file."""

from __future__ import annotations

import hashlib
import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from refless.data.records import Outputs
from refless.metrics.protocol import Metric, Scores, averaged, metric_of
from refless.registry.errors import InputError, UsageError
from refless.registry.from_file import Named, OwnThing, line_in, own_thing
from refless.registry.signature import Signature

Function = Callable[..., float]


@dataclass(frozen=True, slots=True)
class FunctionMetric:
    """Scores each output by `function(text)`, or `function(text, references)`.

    Attributes:
        function: gives a number; NaN where there is none.
        name: of the metric; path: of its file, or "".
        digest: of the file, or of the function's source.
    """

    function: Function
    name: str
    path: str
    digest: str

    @classmethod
    def of(cls, function: Function) -> FunctionMetric:
        """The metric of a function in Python; its signature has a digest of the source."""
        name = getattr(function, "__name__", type(function).__name__)
        try:
            source = inspect.getsource(function)
        except (OSError, TypeError):
            source = name  # it was typed, or is no function
        digest = hashlib.sha256(source.encode()).hexdigest()[:12]
        return cls(function, name, "", digest)

    @classmethod
    def of_file(cls, own: OwnThing) -> FunctionMetric:
        """The metric of a function in a file.

        Raises:
            UsageError: no function, or parameters, which none takes.
        """
        if not callable(own.thing) or own.parameters:
            raise UsageError(
                f"{own.path}: {own.name}{own.parameters} is no function: a metric takes a text, "
                "and its references if it has a second parameter, and returns a number"
            )
        return cls(own.thing, own.name, own.path, own.digest)

    @property
    def needs(self) -> tuple[str, ...]:
        """`references`, if the function has a second parameter."""
        several = len(inspect.signature(self.function).parameters) > 1
        return ("references",) if several else ()

    def score(self, outputs: Outputs) -> Scores:
        """The number of each output, and their mean.

        Raises:
            UsageError: outputs without references; a function that fails, or returns no number.
            InputError: an output without a list of references.
        """
        if self.needs and not outputs.references:
            raise UsageError(
                f"{self.name} reads references, and the outputs have none; a function of the text "
                "alone has one parameter"
            )
        columns: list[Sequence[object]] = [outputs.ids, outputs.texts]
        if self.needs:
            check_lists(outputs)
            columns.append(outputs.references)
        values = [self._value(*row) for row in zip(*columns, strict=True)]
        return averaged(np.array(values, dtype=np.float64))

    def _value(self, name: object, *row: object) -> float:
        """The number of the output of this id, from its text and perhaps its references."""
        try:
            value = self.function(*row)
            number = float(value)
        except Exception as fault:
            place = f"{self.path or self.name}{line_in(self.path, fault)}"
            raise UsageError(
                f"{place}: {self.name}({row[0]!r:.60}) of output '{name}': {type(fault).__name__}: "
                f"{fault}; it must return a number, NaN where there is no score"
            ) from fault
        if math.isinf(number):
            raise UsageError(
                f"{self.path or self.name}: {self.name}({row[0]!r:.60}) of output '{name}' is "
                "infinite; return NaN where there is no score"
            )
        return number

    def signature(self) -> Signature:
        """The name, and a digest of the file or the source."""
        return Signature(self.name).plus(needs=self.needs, file=self.digest)

    @classmethod
    def missing(cls) -> str:
        """Nothing has to be installed."""
        return ""


def check_lists(outputs: Outputs) -> None:
    """Raises InputError for an output whose list of references is empty."""
    for name, references in zip(outputs.ids, outputs.references, strict=True):
        if not references:
            raise InputError(
                f"output '{name}' has an empty list of references",
                remedy="give it at least one reference, or drop it",
            )


def metrics_of(named: Named) -> dict[str, Metric]:
    """The metrics by what the user called them; what one lacks is said before any work is done.

    Args:
        named: specifications (`bleu:order=2`), functions, or `mine.py:function` of an own file.

    Raises:
        UsageError: an unknown one, one given twice, or one that cannot run here.
    """
    metrics: dict[str, Metric] = {}
    specs: Any = named or ()
    if isinstance(named, str) or callable(named):
        specs = [named]
    for spec in specs:
        metric = _metric(spec)
        name = spec if isinstance(spec, str) else metric.name
        if name in metrics:
            raise UsageError(f"-m {name} is given twice")
        missing = metric.missing()
        if missing:
            raise UsageError(f"-m {name} cannot run here: {missing}")
        metrics[name] = metric
    return metrics


def _metric(spec: str | Function) -> Metric:
    """The metric that a specification names, or that a function is."""
    own = own_thing(spec)
    if own is not None:
        return cast("Metric", FunctionMetric.of_file(own))
    if callable(spec):
        return cast("Metric", FunctionMetric.of(spec))
    return metric_of(spec)
