"""Where a run of training is kept, so that a stopped one goes on: safetensors and JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from refless.estimators.ratpred.network import Network
from refless.estimators.ratpred.progress import Epoch, State, TrainingData
from refless.estimators.ratpred.settings import Settings


@dataclass(frozen=True, slots=True)
class Store:
    """A folder with the state of one run; one of other data or settings is not read."""

    folder: Path
    data: TrainingData
    settings: Settings
    levels: Sequence[float] = ()

    def keep(
        self, network: Network, best: dict[str, Tensor], adam: torch.optim.Adam, state: State
    ) -> None:
        """Writes the state, whole or not at all: the JSON file, renamed last, names the other."""
        self.folder.mkdir(parents=True, exist_ok=True)
        tables = {f"now.{name}": value for name, value in network.state_dict().items()}
        tables |= {f"best.{name}": value for name, value in best.items()}
        for name, value in network.named_parameters():
            parts = adam.state[value].items()
            tables |= {f"adam.{name}.{part}": table for part, table in parts}
        name = f"epoch{state.number}.safetensors"
        save_file({key: value.contiguous() for key, value in tables.items()}, self.folder / name)
        kept = {"key": self._key(), "file": name, "state": asdict(state)}
        fresh = self.folder / "state.json.new"
        fresh.write_text(json.dumps(kept), encoding="utf-8")
        fresh.replace(self.folder / "state.json")
        for old in self.folder.glob("epoch*.safetensors"):
            if old.name != name:
                old.unlink()

    def restored(
        self, network: Network, best: dict[str, Tensor], adam: torch.optim.Adam
    ) -> State | None:
        """The state that was kept, its tables copied into place; None where there is none."""
        path = self.folder / "state.json"
        if not path.exists():
            return None
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["key"] != self._key():
            return None
        device = str(next(network.parameters()).device)
        tables = load_file(self.folder / kept["file"], device=device)
        network.load_state_dict({name: tables[f"now.{name}"] for name in best})
        best.update({name: tables[f"best.{name}"] for name in best})
        for name, value in network.named_parameters():
            start = f"adam.{name}."
            adam.state[value] = {
                key.removeprefix(start): table
                for key, table in tables.items()
                if key.startswith(start)
            }
        history = [Epoch(**told) for told in kept["state"].pop("history")]
        return State(**kept["state"], history=history)

    def _key(self) -> str:
        """What a run depends on."""
        data = self.data
        digest = hashlib.sha256(repr((self.settings, [*self.levels])).encode())
        digest.update(repr((data.seed, sorted(data.sizes.items()))).encode())
        for part in (data.rated, data.validation, data.synthetic):
            if part is not None:
                for table in (part.source, part.text, part.y):
                    digest.update(repr(table.shape).encode() + table.tobytes())
        for side, vectors in sorted(data.vectors.items()):
            digest.update(side.encode() + vectors.tobytes())
        return digest.hexdigest()
