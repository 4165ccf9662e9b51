"""What is published of the network and its training, and what can be changed."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from refless.errors import UsageError

UNITS = ("gru", "lstm", "cnn")
TARGETS = ("number", "ordered", "levels")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The network and its schedule; the defaults are the paper's (section 3.4 and footnote 9).

    Attributes:
        embedding: size of the vectors of words; hidden: of an encoder's state.
        layers: fully connected tanh layers.
        dropout: share of the encoders' inputs that is dropped in training.
        rate: Adam's learning rate.
        batch: texts a step.
        passes: most passes over the rated texts.
        synthetic_passes: passes over all data, made errors included, before these.
        patience: passes without a better development score after which training stops; None goes
            through all passes, as published.
        unit: of the encoders: `gru` as published, `lstm`, or `cnn`: windows of three tokens, of
            whose features the highest over the sequence count.
        bidirectional: read each sequence in both directions.
        target: `number` as published; `ordered`: a classifier for each level of the ratings but
            the lowest, whether the rating reaches it; `levels`: one for each level, whether it is
            the rating's (section 2.1).
        ranking: weight of a second loss, over pairs of texts with one source in one batch: the
            logistic loss of the difference of their estimates.
        narrow: whether processors multiply matrices in bfloat16 (8 bits of mantissa; all else
            stays float32): two to four times as fast where they know these numbers.
    """

    embedding: int = 300
    hidden: int = 300
    layers: int = 2
    dropout: float = 0.5
    rate: float = 1e-4
    batch: int = 50
    passes: int = 500
    synthetic_passes: int = 20
    patience: int | None = 50
    unit: str = "gru"
    bidirectional: bool = False
    target: str = "number"
    ranking: float = 0.0
    narrow: bool = False

    def __post_init__(self) -> None:
        checks = {
            "embedding, hidden, batch and passes must be 1 or more": min(
                self.embedding, self.hidden, self.batch, self.passes
            )
            >= 1,
            "layers and synthetic_passes must be 0 or more": min(self.layers, self.synthetic_passes)
            >= 0,
            "dropout must lie in [0, 1)": 0 <= self.dropout < 1,
            "rate must be positive": self.rate > 0,
            "patience must be 1 or more": self.patience is None or self.patience >= 1,
            f"unit must be one of {', '.join(UNITS)}": self.unit in UNITS,
            "a cnn reads no direction: leave bidirectional out": self.unit != "cnn"
            or not self.bidirectional,
            f"target must be one of {', '.join(TARGETS)}": self.target in TARGETS,
            "ranking must be 0 or more": 0 <= self.ranking < math.inf,
        }
        for rule, holds in checks.items():
            if not holds:
                raise UsageError(rule)

    def changed(self) -> dict[str, object]:
        """What differs from the defaults, by name."""
        return {
            f.name: getattr(self, f.name)
            for f in fields(self)
            if getattr(self, f.name) != f.default
        }

    @property
    def directions(self) -> tuple[str, ...]:
        """In which directions a sequence is read."""
        return ("forward", "backward") if self.bidirectional else ("forward",)

    @property
    def encoded(self) -> int:
        """Size of what one encoder says of a sequence."""
        return self.hidden * len(self.directions)
