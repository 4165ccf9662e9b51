"""Tools that run evaluations, with a fitted estimator as one of their scorers.

Each module imports its tool, and is imported by nothing but it. All of them ask `judged`.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from refless.registry.dialect import called
from refless.registry.errors import UsageError
from refless.report.wording import with_interval

if TYPE_CHECKING:
    from refless.commands.parameters import Folder
    from refless.estimators import Estimator

# tools ask from many threads; an estimator answers one at a time
_ASKING = threading.Lock()


@dataclass(frozen=True, slots=True)
class Judged:
    """An estimate of one output, or why there is none.

    Attributes:
        value: in [0, 1] where the rated texts have a scale, else in the raters' units; NaN where
            there is no estimate.
        low, high: 95 % interval for the mean rating that people would give.
        reason: why there is no estimate, "" where there is one.
        support: rated texts behind it; signature: everything that can change it.
    """

    value: float
    low: float
    high: float
    reason: str
    support: int
    signature: str

    @property
    def known(self) -> bool:
        """Whether there is an estimate."""
        return not self.reason

    @property
    def said(self) -> str:
        """The estimate, or why there is none, as a sentence without a full stop."""
        if self.reason:
            return f"refless has no estimate: {self.reason}"
        value = with_interval(self.value, (self.low, self.high))
        return f"estimated human rating {value}, from {self.support} rated texts"

    def details(self) -> dict[str, Any]:
        """The details beside the number; undefined numbers are None."""
        return {
            "low": None if math.isnan(self.low) else self.low,
            "high": None if math.isnan(self.high) else self.high,
            "reason": self.reason,
            "support": self.support,
            "signature": self.signature,
        }


def judged(model: Folder, text: str, source: str | None = None) -> Judged:
    """The estimate of one output, by the estimator in a file of `refless fit`.

    Args:
        model: the file; it is opened once, and again when it has changed.
        text: the output; source: what it answers, where the tool says that.

    Raises:
        InputError: no fitted estimator there, or a damaged one.
        UsageError: an estimator that reads sources and no source, or scores of others.
    """
    path = Path(model).absolute()
    changed = path.stat().st_mtime if path.exists() else 0.0
    output = {"text": [text], "system": [""]}  # its system is unknown
    if source is not None:
        output["source"] = [source]
    with _ASKING:
        estimator = _opened(path, changed)
        estimates = estimator.estimate(output)
    return Judged(
        value=float(estimates.values[0]),
        low=float(estimates.low[0]),
        high=float(estimates.high[0]),
        reason=estimates.reasons[0],
        support=int(estimates.support[0]),
        signature=str(estimator.signature()),
    )


def text_in(fields: object, name: str | None) -> str | None:
    """A text, or that of a field that the user names; without a name of the only field, or None.

    Raises:
        UsageError: no such field, or one that is no text.
    """
    if isinstance(fields, str):
        return fields
    fields = fields if isinstance(fields, Mapping) else {}
    if name is None:
        values = [*fields.values()]
        return values[0] if len(values) == 1 and isinstance(values[0], str) else None
    text = fields.get(name)
    if isinstance(text, str):
        return text
    names = ", ".join(map(str, fields)) or "none"
    raise UsageError(f"no text in a field '{name}'; there are {names}")


@lru_cache(maxsize=4)
def _opened(model: Path, changed: float) -> Estimator:  # noqa: ARG001 - opened again when it has
    from refless.estimators.saved import load

    estimator = load(model, threads=1)
    names = estimator.rated.score_names
    if names and estimator.without_scores() is not None:
        raise UsageError(
            f"this estimator reads scores of others ({', '.join(names)}), which outputs do not "
            f"have here; fit one without {called('score_column')}"
        )
    return estimator
