"""One step of training for several networks at once; replayed as a CUDA graph where there is one.

The gradient of the sum of the members' losses is each member's own gradient, and Adam treats every
number by itself, so members that are trained together stay independent of one another.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from refless.estimators.ratpred import targets
from refless.estimators.ratpred.encoders import one_by_one, side_by_side
from refless.estimators.ratpred.network import SIDES, Batch, Encode, Parameters, forward
from refless.estimators.ratpred.settings import Settings
from refless.records import FloatArray

GRAIN = 4  # tokens to which lengths are rounded up for graphs, so that there are few of them


@dataclass(slots=True, eq=False)
class Runner:
    """Parameters, Adam and dropout of several members on one device; [k] levels of the ratings.

    Members that are `stopped` need not be computed any more.
    """

    parameters: Parameters
    settings: Settings
    levels: Tensor
    device: str
    adam: torch.optim.Adam
    generator: torch.Generator
    generators: list[np.random.Generator] = field(default_factory=list)
    graphs: dict[tuple[int, ...], _Graph] | None = None
    stopped: Sequence[bool] = ()

    @classmethod
    def of(
        cls,
        parameters: Parameters,
        settings: Settings,
        levels: Tensor,
        device: str,
        *,
        graphs: bool = True,
    ) -> Runner:
        """Ready for the first step."""
        cuda = torch.device(device).type == "cuda"
        leaves = {name: value.to(device).requires_grad_() for name, value in parameters.items()}
        rate = torch.tensor(settings.rate, device=device) if cuda else settings.rate
        adam = torch.optim.Adam(list(leaves.values()), lr=rate, fused=True, capturable=cuda)
        for value in leaves.values():  # a step without gradients makes Adam's own tables
            value.grad = torch.zeros_like(value)
        adam.step()
        runner = cls(leaves, settings, levels.to(device), device, adam, torch.Generator(device))
        runner.graphs = {} if cuda and graphs else None
        runner._forget()
        return runner

    def _forget(self) -> None:
        for tables in self.adam.state.values():
            for table in tables.values():
                table.zero_()

    def restart(self, parameters: Parameters) -> None:
        """From these parameters, with Adam as new."""
        with torch.no_grad():
            for name, value in self.parameters.items():
                value.copy_(parameters[name])
        self._forget()

    def seed(self, seeds: Sequence[int], number: int) -> None:
        """What is dropped from now on depends on the members' seeds and the number of the pass."""
        drawn = np.random.SeedSequence([number, *seeds]).generate_state(1)
        self.generator.manual_seed(int(drawn[0]))
        self.generators = [np.random.default_rng([seed, number, 1]) for seed in seeds]

    def rounded(self, longest: tuple[int, int], *most: int) -> tuple[int, int]:
        """Lengths to which sequences are cut: rounded up where steps are replayed."""
        if self.graphs is None:
            return longest
        up = [min(-(-n // GRAIN) * GRAIN, top) for n, top in zip(longest, most, strict=True)]
        return up[0], up[1]

    def step(self, batch: Batch, y: Tensor, weights: Tensor) -> Tensor:
        """[m] losses of a batch [m, b], weighted, before the parameters are moved."""
        if packs(self.settings, self.device):
            return self.moved(batch, y, weights, self._packed())
        kept = {side: self._kept(getattr(batch, side)) for side in SIDES}
        if self.graphs is None:
            return self.moved(batch, y, weights, side_by_side(self.settings, kept))
        key = (*batch.source.shape, batch.text.shape[1])
        given = [batch.source, batch.text, y, weights, kept["source"], kept["text"]]
        if key not in self.graphs:
            try:
                self.graphs[key] = _Graph.of(self, given)
            except RuntimeError as error:
                warnings.warn(f"steps are not replayed as graphs: {error}", stacklevel=2)
                self.graphs = None
                return self.moved(batch, y, weights, side_by_side(self.settings, kept))
        return self.graphs[key].replay(given)

    def _packed(self) -> Encode:
        return one_by_one(self.settings, self._factors, self.stopped)

    def _kept(self, tokens: Tensor) -> Tensor:
        """[m, t, b, e] factors of the encoder's inputs: 0, or 1 / (1 - p)."""
        keep = 1.0 - self.settings.dropout
        shape = (*tokens.shape, self.settings.embedding)
        drawn = torch.empty(shape, device=self.device).bernoulli_(keep, generator=self.generator)
        return drawn.div_(keep)

    def _factors(self, member: int, shape: tuple[int, ...]) -> Tensor:
        """The same for one member on a processor, out of 16 random bits each."""
        keep = 1.0 - self.settings.dropout
        bits = np.frombuffer(self.generators[member].bytes(2 * math.prod(shape)), dtype=np.uint16)
        kept = (bits < round(keep * 2**16)).reshape(shape)
        return torch.from_numpy(kept).to(torch.float32).div_(keep)

    def moved(self, batch: Batch, y: Tensor, weights: Tensor, encode: Encode) -> Tensor:
        """The step itself: losses [m], after which the parameters have moved."""
        losses = self.losses(batch, y, weights, encode)
        found = torch.autograd.grad(losses.sum(), list(self.parameters.values()))
        for value, gradient in zip(self.parameters.values(), found, strict=True):
            value.grad = gradient
        self.adam.step()
        return losses.detach()

    def losses(self, batch: Batch, y: Tensor, weights: Tensor, encode: Encode) -> Tensor:
        """[m] weighted losses."""
        values, settings = forward(self.parameters, batch, self.settings, encode), self.settings
        loss = (targets.losses(values, y, settings.target, self.levels) * weights).sum(dim=1)
        if settings.ranking:
            found = targets.estimates(values, settings.target, self.levels)
            wrong = targets.misranked(found, y, weights > 0, batch.source)
            loss = loss + settings.ranking * wrong
        return loss


def packs(settings: Settings, device: str) -> bool:
    """Whether padding is left out: on processors, which gain by it."""
    return settings.unit == "gru" and torch.device(device).type == "cpu"


def predicted(
    parameters: Parameters, batch: Batch, settings: Settings, levels: Tensor
) -> FloatArray:
    """[m, b] predictions without dropout."""
    device = str(batch.text.device)
    encode = one_by_one(settings) if packs(settings, device) else side_by_side(settings)
    with torch.inference_mode():
        values = forward(parameters, batch, settings, encode)
        found = targets.estimates(values, settings.target, levels)
    return np.asarray(found.cpu().numpy(), dtype=np.float64)


@dataclass(slots=True, eq=False)
class _Graph:
    """A step of one shape, recorded once: its inputs lie at fixed places."""

    inputs: list[Tensor]
    losses: Tensor
    graph: Any

    @classmethod
    def of(cls, runner: Runner, given: list[Tensor]) -> _Graph:
        inputs = [value.clone() for value in given]
        batch = Batch(inputs[0], inputs[1])
        encode = side_by_side(runner.settings, {"source": inputs[4], "text": inputs[5]})
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(2):  # libraries set themselves up outside the recording
                losses = runner.losses(batch, inputs[2], inputs[3], encode)
                torch.autograd.grad(losses.sum(), list(runner.parameters.values()))
        torch.cuda.current_stream().wait_stream(stream)
        others = list((runner.graphs or {}).values())
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=others[0].graph.pool() if others else None):
            losses = runner.moved(batch, inputs[2], inputs[3], encode)
        return cls(inputs, losses, graph)

    def replay(self, given: list[Tensor]) -> Tensor:
        for place, value in zip(self.inputs, given, strict=True):
            place.copy_(value)
        self.graph.replay()
        return self.losses
