"""Where a run of training is kept, so that a stopped one goes on: safetensors and JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from refless.estimators.ratpred.progress import Member, Pass, State
from refless.estimators.ratpred.settings import Settings

if TYPE_CHECKING:
    from refless.estimators.ratpred.network import Parameters
    from refless.estimators.ratpred.steps import Runner


class Store:
    """A folder with the state of one run; a folder of other data or settings is not read."""

    def __init__(
        self,
        folder: Path,
        members: Sequence[Member],
        settings: Settings,
        levels: Sequence[float] = (),
    ) -> None:
        self.folder, self.key = folder, _key(members, settings, levels)

    def keep(self, runner: Runner, best: Parameters, state: State) -> None:
        """Writes the state, whole or not at all: the JSON file, renamed last, names the other."""
        self.folder.mkdir(parents=True, exist_ok=True)
        tables = {f"now.{name}": value.detach() for name, value in runner.parameters.items()}
        tables |= {f"best.{name}": value for name, value in best.items()}
        tables |= _adam(runner)
        name = f"pass{state.number}.safetensors"
        save_file({key: value.contiguous() for key, value in tables.items()}, self.folder / name)
        kept = {"key": self.key, "file": name, "state": asdict(state)}
        fresh = self.folder / "state.json.new"
        fresh.write_text(json.dumps(kept), encoding="utf-8")
        fresh.replace(self.folder / "state.json")
        for old in self.folder.glob("pass*.safetensors"):
            if old.name != name:
                old.unlink()

    def restored(self, runner: Runner, best: Parameters) -> State | None:
        """The state that was kept, its tables copied into place; None where there is none."""
        path = self.folder / "state.json"
        if not path.exists():
            return None
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["key"] != self.key:
            return None
        tables = load_file(self.folder / kept["file"], device=runner.device)
        with torch.no_grad():
            for name, value in runner.parameters.items():
                value.copy_(tables[f"now.{name}"])
                best[name].copy_(tables[f"best.{name}"])
            for name, table in _adam(runner).items():
                table.copy_(tables[name])
        curve = [Pass(**told) for told in kept["state"].pop("curve")]
        return State(**kept["state"], curve=curve)


def _adam(runner: Runner) -> dict[str, Tensor]:
    """Adam's own tables by name."""
    return {
        f"adam.{part}.{name}": table
        for name, value in runner.parameters.items()
        for part, table in runner.adam.state[value].items()
    }


def _key(members: Sequence[Member], settings: Settings, levels: Sequence[float]) -> str:
    """What a run depends on."""
    digest = hashlib.sha256(repr((settings, [*levels])).encode())
    for member in members:
        digest.update(repr((member.seed, sorted(member.sizes.items()))).encode())
        for part in (member.rated, member.development, member.synthetic):
            if part is not None:
                for table in (part.source, part.text, part.y):
                    digest.update(repr(table.shape).encode() + table.tobytes())
        for side, table in sorted((member.vectors or {}).items()):
            digest.update(side.encode() + table.tobytes())
    return digest.hexdigest()
