"""Training a network: schedule, model selection, early stopping.

An epoch is a pure function of the state before it, the seed and the number of the epoch, so that a
run that was stopped goes on to the same result (on the same machine).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

import numpy as np
import torch
from torch import Tensor

from refless.extensions.ratpred.batches import Encoded, TrainingData, epoch_batches
from refless.extensions.ratpred.network import Batch, Network, dropping, initialise
from refless.extensions.ratpred.settings import Settings
from refless.registry.arrays import FloatArray
from refless.stats.correlation import pearson, spearman
from refless.text.embed.devices import all_digits

ROWS = {  # that are predicted at a time: more would not fit into a processor's fast memory
    "cpu": 64,
    "cuda": 2_048,
}


@dataclass(slots=True)
class State:
    """The state of training: `number` epochs are done.

    `best` is the highest score of an epoch, `best_epoch` which one it was, from 0; `pearson` and
    `spearman` are its correlations on the validation split, NaN where undefined.
    """

    best: float = -math.inf
    best_epoch: int = 0
    number: int = 0
    pearson: float = math.nan
    spearman: float = math.nan


def train(
    data: TrainingData,
    settings: Settings,
    *,
    device: str = "cpu",
    tell: Callable[[int], None] | None = None,
) -> tuple[Network, State]:
    """The network as it was after its best epoch, and how training went.

    Args:
        data: what is learned from.
        settings: of network and schedule.
        device: `cpu` or `cuda`.
        tell: called after each epoch with how many are done.
    """
    run = Training.begin(data, settings, device)
    with all_digits(device):
        while not run.done:
            if run.state.number == run.synthetic_epochs > 0:
                run.restart()
            run.epoch()
            run.select()
            if tell is not None:
                tell(run.state.number)
    run.network.load_state_dict(run.best)
    return run.network, run.state


@dataclass(slots=True, eq=False)
class Training:
    """A training under way: what is learned from, what is learned, how it goes."""

    data: TrainingData
    settings: Settings
    device: str
    network: Network
    adam: torch.optim.Adam
    best: dict[str, Tensor]
    state: State = field(default_factory=State)

    @classmethod
    def begin(cls, data: TrainingData, settings: Settings, device: str) -> Self:
        """Before the first epoch."""
        network = Network.empty(data.sizes, settings)
        initialise(network, data.seed)
        network.to(device)
        return cls(
            data, settings, device, network, _adam(network, settings), _copied(network)
        )

    @property
    def synthetic_epochs(self) -> int:
        """Epochs over all data, before those over the ratings alone."""
        return self.settings.synthetic_epochs if self.data.synthetic is not None else 0

    @property
    def done(self) -> bool:
        """Whether all epochs are through, or the last ones were no better."""
        state = self.state
        patience = self.settings.patience
        if state.number >= self.synthetic_epochs + self.settings.epochs:
            return True
        waited = state.number - 1 - max(state.best_epoch, self.synthetic_epochs)
        return patience is not None and waited >= patience

    def restart(self) -> None:
        """From the best parameters, with Adam as new."""
        self.network.load_state_dict(self.best)
        self.adam = _adam(self.network, self.settings)

    def epoch(self) -> None:
        """Moves the network through one epoch."""
        number = self.state.number
        seed = self.data.seed
        synthetic = self.data.synthetic if number < self.synthetic_epochs else None
        part = self.data.rated if synthetic is None else synthetic
        drawn = np.random.SeedSequence([number, seed]).generate_state(1)
        generator = torch.Generator(self.device).manual_seed(int(drawn[0]))
        drop = dropping(self.settings.dropout, generator)
        rng = np.random.default_rng([seed, number])
        y = torch.from_numpy(part.y.astype(np.float32)).to(self.device)
        for rows in epoch_batches(part.lengths[:, 1], self.settings.batch_size, rng):
            estimates = self.network(Batch.of(part, rows, self.device), drop)
            loss = (estimates - y[rows]).square().mean()
            self.adam.zero_grad()
            loss.backward()
            self.adam.step()

    def select(self) -> None:
        """Keeps the parameters if they are better than ever."""
        state = self.state
        validation = self.data.validation
        values = predictions(self.network, validation)
        score, r, rho = _score(validation.y, values)
        if score > state.best:
            state.best = score
            state.best_epoch = state.number
            state.pearson = r
            state.spearman = rho
            self.best = _copied(self.network)
        state.number += 1


def _adam(network: Network, settings: Settings) -> torch.optim.Adam:
    return torch.optim.Adam(network.parameters(), lr=settings.learning_rate, fused=True)


def _copied(network: Network) -> dict[str, Tensor]:
    return {
        name: value.detach().clone() for name, value in network.state_dict().items()
    }


def _score(y: FloatArray, values: FloatArray) -> tuple[float, float, float]:
    """Pearson + Spearman, and both; where these are undefined, something below, by the error."""
    if len(y) == 0:
        # the first epoch is kept: nothing tells them apart
        return (
            0.0,
            math.nan,
            math.nan,
        )
    r = pearson(y, values)
    rho = spearman(y, values)
    error = float(np.square(y - values).mean())
    return (r + rho if not math.isnan(r + rho) else -2.0 - error), r, rho


def predictions(network: Network, data: Encoded) -> FloatArray:
    """[n] predictions in units of standardised ratings, computed where the network is."""
    device = network.device
    most = ROWS[device]
    values = np.empty(len(data))
    order = np.argsort(data.lengths.sum(axis=1), kind="stable")
    with all_digits(device):
        for start in range(0, len(order), most):
            rows = order[start : start + most]
            values[rows] = network.estimates(Batch.of(data, rows, device))
    return values
