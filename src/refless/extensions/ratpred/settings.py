"""The network and its schedule: what is published, and what can be changed."""

from dataclasses import dataclass
from typing import Annotated

from refless.registry.errors import UsageError
from refless.registry.spec import About, check

CELLS = ("gru", "lstm", "cnn")
TARGETS = ("number", "ordered", "levels")


@dataclass(kw_only=True)
class Settings:
    """Size of the network and schedule of its training; RatPred's parameters begin with these.

    The defaults are the paper's (section 3.4 and footnote 9), but for `patience`, which was none.

    Attributes:
        cell: `gru` as published, `lstm`, or `cnn`: windows of three tokens, of whose features the
            highest over the sequence count.
        target: `number` as published; `ordered`: a classifier for each level of the ratings but
            the lowest, whether the rating reaches it; `levels`: one for each level, whether it is
            the rating's (section 2.1).
        ranking: weight of a second loss, over pairs of texts with one source in one batch: the
            logistic loss of the difference of their estimates.
        bfloat16: multiply matrices with 8 bits of mantissa: faster on processors that know these
            numbers.
    """

    embedding: Annotated[int, About("size of the vectors of words", at_least=1)] = 300
    hidden: Annotated[int, About("size of the encoders' states", at_least=1)] = 300
    layers: Annotated[int, About("fully connected tanh layers", at_least=0)] = 2
    cell: Annotated[str, About("of the encoders", choices=CELLS)] = "gru"
    bidirectional: Annotated[bool, About("read each sequence in both directions")] = False
    target: Annotated[
        str, About("a number, or classifiers of the ratings' levels", choices=TARGETS)
    ] = "number"
    dropout: Annotated[float, About("share of inputs dropped", at_least=0, below=1)] = 0.5
    learning_rate: Annotated[float, About("Adam's", above=0)] = 1e-4
    batch_size: Annotated[int, About("texts a step", at_least=1)] = 50
    epochs: Annotated[int, About("most epochs over the rated texts", at_least=1)] = 500
    synthetic_epochs: Annotated[
        int, About("epochs with synthetic errors, before the others", at_least=0)
    ] = 20
    patience: Annotated[
        int | None, About("epochs without a better one after which it stops", at_least=1)
    ] = 50
    ranking: Annotated[
        float, About("weight of a loss over texts of one source in the wrong order", at_least=0)
    ] = 0.0
    bfloat16: Annotated[bool, About("multiply with 8 bits of mantissa")] = False

    def __post_init__(self) -> None:
        check(self)
        if self.cell == "cnn" and self.bidirectional:
            raise UsageError("a cnn reads no direction: leave bidirectional out")

    @property
    def encoded(self) -> int:
        """Size of what one encoder says of a sequence."""
        return self.hidden * (1 + self.bidirectional)
