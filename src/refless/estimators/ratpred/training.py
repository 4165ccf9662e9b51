"""Training several networks side by side: schedule, model selection, early stopping.

A pass is a pure function of the state before it, the seeds and the number of the pass, so that a
run that was stopped goes on to the same result (on the same machine).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from refless.estimators.ratpred.batches import Encoded, ordered_batches
from refless.estimators.ratpred.checkpoints import Store
from refless.estimators.ratpred.network import Batch, Parameters, initial, stacked
from refless.estimators.ratpred.progress import Member, Pass, State
from refless.estimators.ratpred.settings import Settings
from refless.estimators.ratpred.steps import Runner, predicted
from refless.estimators.ratpred.targets import outputs
from refless.records import FloatArray, IntArray
from refless.stats.correlation import pearson, spearman

ROWS = 64  # rows that are predicted at a time: more would not fit into fast memory
STORED = 5  # passes between two checkpoints
Told = Callable[["Pass"], None]


@dataclass(slots=True, eq=False)
class _Run:
    """A run of training: what is learned from, what is learned, how it goes."""

    members: Sequence[Member]
    settings: Settings
    runner: Runner
    best: Parameters
    state: State


def train(
    members: Sequence[Member],
    settings: Settings,
    *,
    device: str = "cpu",
    tell: Told | None = None,
    checkpoint: Path | None = None,
    graphs: bool = True,
    levels: Sequence[float] = (),
) -> tuple[Parameters, State]:
    """The best parameters of each member, stacked, and how training went.

    Args:
        members: networks to train side by side, all with synthetic data or all without.
        settings: shared by all.
        device: `cpu` or `cuda`.
        tell: called after each pass for each member that still trains.
        checkpoint: a folder in which the state is kept and from which a stopped run goes on.
        graphs: whether steps are recorded and replayed on `cuda`.
        levels: the ratings that there can be, ascending and standardised, for targets that
            classify.
    """
    run = _begin(members, settings, device, graphs, levels)
    made = settings.synthetic_passes if members[0].synthetic is not None else 0
    store = Store(checkpoint, members, settings, levels) if checkpoint is not None else None
    if store is not None:
        run.state = store.restored(run.runner, run.best) or run.state
    development = Data.of([member.development for member in members], device)
    data: Data | None = None
    while run.state.number < made + settings.passes and not all(run.state.stopped):
        number, run.runner.stopped = run.state.number, run.state.stopped
        if number == made > 0:
            run.runner.restart(run.best)
        if data is None or number == made:
            parts = [(m.synthetic if number < made else None) or m.rated for m in members]
            data = Data.of(parts, device, ranked=settings.ranking > 0)
        losses = _one_pass(run.runner, data, members, settings, number)
        found = predictions(run.runner.parameters, development, settings, run.runner.levels)
        _select(run, losses, found, made, tell)
        if store is not None and run.state.number % STORED == 0:
            store.keep(run.runner, run.best, run.state)
    return run.best, run.state


def _begin(
    members: Sequence[Member],
    settings: Settings,
    device: str,
    graphs: bool,
    levels: Sequence[float],
) -> _Run:
    """Before training; each member's parameters depend on its seed alone."""
    numbers = outputs(settings.target, len(levels))
    drawn = [_drawn(member, settings, numbers) for member in members]
    runner = Runner.of(stacked(drawn), settings, _tensor(levels), device, graphs=graphs)
    best = {name: value.detach().clone() for name, value in runner.parameters.items()}
    count = len(members)
    state = State([-math.inf] * count, [0] * count, [False] * count)
    return _Run(members, settings, runner, best, state)


def _drawn(member: Member, settings: Settings, numbers: int) -> Parameters:
    """A member's first parameters; words that have vectors of their own begin there."""
    found = initial(member.sizes, settings, torch.Generator().manual_seed(member.seed), numbers)
    for side, vectors in (member.vectors or {}).items():
        known = np.flatnonzero(~np.isnan(vectors).any(axis=1))
        table = found[f"{side}.embedding"]
        table[torch.from_numpy(known)] = torch.from_numpy(vectors[known]).to(table.dtype)
    return found


def _tensor(levels: Sequence[float]) -> Tensor:
    return torch.tensor(list(levels), dtype=torch.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """Several members' data on the device: [m, n, t], filled up with empty rows.

    Attributes:
        lengths: for each member tokens of both sides.
        sources: for each member which rows share a source; empty where nothing is ranked.
    """

    source: Tensor
    text: Tensor
    y: Tensor
    lengths: tuple[IntArray, ...]
    sources: tuple[IntArray, ...]

    @classmethod
    def of(cls, parts: Sequence[Encoded], device: str, *, ranked: bool = False) -> Data:
        rows = max(map(len, parts))

        def whole(tables: list[np.typing.NDArray[np.int32]]) -> Tensor:
            width = max(table.shape[1] for table in tables)
            found = np.zeros((len(tables), rows, width), dtype=np.int32)
            for i, table in enumerate(tables):
                found[i, : table.shape[0], : table.shape[1]] = table
            return torch.from_numpy(found).to(device)

        y = np.zeros((len(parts), rows), dtype=np.float32)
        for i, part in enumerate(parts):
            y[i, : len(part)] = part.y
        return cls(
            whole([part.source for part in parts]),
            whole([part.text for part in parts]),
            torch.from_numpy(y).to(device),
            tuple(part.lengths for part in parts),
            tuple(part.sources for part in parts) if ranked else (),
        )

    def longest(self, rows: IntArray) -> list[tuple[int, int]]:
        """For each batch of rows [batches, m, b], tokens of its longest source and text."""
        most = np.ones((len(rows), 2), dtype=np.int64)
        for i, lengths in enumerate(self.lengths):
            if len(lengths):
                np.maximum(most, lengths[rows[:, i]].max(axis=1), out=most)
        return [(int(source), int(text)) for source, text in most]

    def take(self, rows: Tensor, longest: tuple[int, int]) -> Batch:
        """The given rows [m, b] as sequences in order of time, cut after the longest."""

        def picked(table: Tensor, width: int) -> Tensor:
            members, _, full = table.shape
            which = rows[:, :, None].expand(members, rows.shape[1], full)
            return table.gather(1, which)[:, :, :width].transpose(1, 2).long()

        return Batch(picked(self.source, longest[0]), picked(self.text, longest[1]))


def _one_pass(
    runner: Runner, data: Data, members: Sequence[Member], settings: Settings, number: int
) -> FloatArray:
    """[m] mean loss over the pass."""
    count = max(math.ceil(len(lengths) / settings.batch) for lengths in data.lengths)
    orders = [
        ordered_batches(
            lengths[:, 1],
            count,
            np.random.default_rng([member.seed, number]),
            sources,
        )
        for member, lengths, sources in zip(
            members, data.lengths, data.sources or [None] * len(members), strict=True
        )
    ]
    width = max(order.shape[1] for order in orders)
    filled = [np.pad(o, ((0, 0), (0, width - o.shape[1])), constant_values=-1) for o in orders]
    rows = np.stack(filled, axis=1)  # [count, m, b]
    there = rows >= 0
    rows[~there] = 0
    shares = (there / np.maximum(there.sum(axis=2, keepdims=True), 1)).astype(np.float32)
    longest = data.longest(rows)
    placed = torch.from_numpy(rows).to(runner.device)
    weights = torch.from_numpy(shares).to(runner.device)
    runner.seed([member.seed for member in members], number)
    total = torch.zeros(len(members), device=runner.device)
    for step in range(count):
        widths = runner.rounded(longest[step], data.source.shape[2], data.text.shape[2])
        y = data.y.gather(1, placed[step])
        total += runner.step(data.take(placed[step], widths), y, weights[step])
    return np.asarray((total / count).cpu().numpy(), dtype=np.float64)


def predictions(
    parameters: Parameters, data: Data, settings: Settings, levels: Tensor
) -> list[FloatArray]:
    """Each member's predictions for its rows, in their order, in units of standardised ratings."""
    orders = [np.argsort(lengths.sum(axis=1), kind="stable") for lengths in data.lengths]
    most = max(map(len, orders))
    rows = np.stack([np.pad(order, (most - len(order), 0)) for order in orders])
    values = np.zeros(rows.shape)
    for begin in range(0, most, ROWS):
        part = rows[:, begin : begin + ROWS]
        batch = data.take(torch.from_numpy(part).to(data.y.device), data.longest(part[None])[0])
        values[:, begin : begin + ROWS] = predicted(parameters, batch, settings, levels)
    found = []
    for order, line in zip(orders, values, strict=True):
        own = np.empty(len(order))
        own[order] = line[most - len(order) :]
        found.append(own)
    return found


def _select(
    run: _Run, losses: FloatArray, values: list[FloatArray], made: int, tell: Told | None
) -> None:
    """Keeps the parameters of members that are better than ever; stops those that are not."""
    state, patience = run.state, run.settings.patience
    better = []
    for i, member in enumerate(run.members):
        if state.stopped[i]:
            continue
        score, r, rho = _score(member.development.y, values[i])
        best = score > state.best[i]
        if best:
            state.best[i], state.best_number[i] = score, state.number
            better.append(i)
        waited = state.number - max(state.best_number[i], made)
        state.stopped[i] = patience is not None and waited >= patience
        told = Pass(
            member=i, number=state.number + 1, synthetic=state.number < made,
            loss=float(losses[i]), pearson=r, spearman=rho, best=best,
        )  # fmt: skip
        state.curve.append(told)
        if tell is not None:
            tell(told)
    with torch.no_grad():
        for name, value in run.runner.parameters.items():
            run.best[name][better] = value[better]
    state.number += 1


def _score(y: FloatArray, values: FloatArray) -> tuple[float, float, float]:
    """Pearson + Spearman, and both; where these are undefined, something below, by the error."""
    if len(y) == 0:
        return 0.0, math.nan, math.nan  # the first pass is kept: nothing tells them apart
    r, rho = pearson(y, values), spearman(y, values)
    error = float(np.square(y - values).mean())
    return (r + rho if not math.isnan(r + rho) else -2.0 - error), r, rho


def estimates(
    parameters: Parameters,
    parts: Sequence[Encoded],
    settings: Settings,
    device: str = "cpu",
    levels: Sequence[float] = (),
) -> list[FloatArray]:
    """What each member says of its own rows, in units of standardised ratings."""
    return predictions(parameters, Data.of(parts, device), settings, _tensor(levels).to(device))
