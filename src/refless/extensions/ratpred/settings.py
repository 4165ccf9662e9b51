"""The network and its schedule, and how networks become an estimator."""

from dataclasses import dataclass, fields
from typing import Annotated

from refless.registry.spec import About, check


@dataclass(kw_only=True)
class Settings:
    """Size of the network and schedule of its training; RatPred's parameters begin with these.

    The defaults are the paper's (section 3.4 and footnote 9), but for `patience`, which was none.
    """

    embedding: Annotated[int, About("size of the vectors of words", at_least=1)] = 300
    hidden: Annotated[int, About("size of the encoders' states", at_least=1)] = 300
    layers: Annotated[int, About("fully connected tanh layers", at_least=0)] = 2
    dropout: Annotated[float, About("share of inputs dropped", at_least=0, below=1)] = (
        0.5
    )
    learning_rate: Annotated[float, About("Adam's", above=0)] = 1e-4
    batch_size: Annotated[int, About("texts a step", at_least=1)] = 50
    epochs: Annotated[int, About("most epochs over the rated texts", at_least=1)] = 500
    synthetic_epochs: Annotated[
        int, About("epochs with synthetic errors, before the others", at_least=0)
    ] = 20
    patience: Annotated[
        int | None,
        About("epochs without a better one after which it stops", at_least=1),
    ] = 50

    def __post_init__(self) -> None:
        check(self)


@dataclass(kw_only=True)
class TrainingPlan(Settings):
    """The plan of training: the data, the number of networks, and the range of predictions."""

    synthetic_errors: Annotated[
        bool, About("learn from texts with errors made on purpose")
    ] = True
    ensemble_size: Annotated[
        int, About("networks whose mean is the estimate", at_least=1)
    ] = 1
    validation_split: Annotated[
        float,
        About("share of the rated texts that chooses the epoch", above=0, at_most=0.5),
    ] = 0.25
    calibrated: Annotated[
        bool, About("bring estimates to the level of the ratings")
    ] = True
    clipped: Annotated[bool, About("clip estimates to the range of the ratings")] = True
    rounded: Annotated[bool, About("round them to the steps of the ratings")] = False
    seed: int = 0

    @property
    def settings(self) -> Settings:
        """The network and its schedule alone."""
        return Settings(**{f.name: getattr(self, f.name) for f in fields(Settings)})
