"""Where a run of training is kept, so that a stopped one goes on: safetensors and JSON."""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import msgspec
import torch
from safetensors.torch import save
from torch import Tensor

from refless.extensions.ratpred.network import Network, tables_in
from refless.extensions.ratpred.progress import State, TrainingData
from refless.extensions.ratpred.settings import Settings
from refless.files.folders import Files, Kind, claimed, read
from refless.files.writing import make_folder

CHECKPOINT = Kind(
    name="checkpoint",
    manifest="state.json",
    format=1,
    suffix=".safetensors",
    alone=False,
    missing="no training was stopped there",
    remedy="remove the folder to train from the beginning",
)
TABLES = "tables"


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
        """Writes the state, whole or not at all.

        Raises:
            InputError: no space, or a folder that cannot be written; the state before is kept.
        """
        tables = {f"now.{name}": value for name, value in network.state_dict().items()}
        tables |= {f"best.{name}": value for name, value in best.items()}
        for name, value in network.named_parameters():
            parts = adam.state[value].items()
            tables |= {f"adam.{name}.{part}": table for part, table in parts}
        content = save({key: value.contiguous() for key, value in tables.items()})
        key = self._key()
        with claimed(self.folder, CHECKPOINT) as claim:
            claim.put({"key": key, "state": asdict(state)}, [(TABLES, content)], key[:12])

    def restored(
        self, network: Network, best: dict[str, Tensor], adam: torch.optim.Adam
    ) -> State | None:
        """The state that was kept, its tables copied into place; None where there is none.

        Raises:
            InputError: a state that is damaged, or a folder that cannot be made.
        """
        make_folder(self.folder)
        if not (self.folder / CHECKPOINT.manifest).exists():
            return None

        def made(manifest: dict[str, Any], files: Files) -> State | None:
            if manifest.get("key") != self._key():
                return None
            state = msgspec.convert(manifest.get("state"), State)
            if not 0 <= state.best_epoch < state.number == len(state.history):
                raise ValueError("its epochs are not those that it tells of")
            _restore(_checked(files, network), network, best, adam)
            return state

        return read(self.folder, CHECKPOINT, made)

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


def _checked(files: Files, network: Network) -> dict[str, Tensor]:
    """The tables, in the sizes of the network; ValueError for others."""
    tables = tables_in(files[TABLES]) if TABLES in files else {}
    own = {name: value.shape for name, value in network.state_dict().items()}
    wanted = {f"{part}.{name}": shape for part in ("now", "best") for name, shape in own.items()}
    for name, value in network.named_parameters():
        sizes = {"step": torch.Size(), "exp_avg": value.shape, "exp_avg_sq": value.shape}
        wanted |= {f"adam.{name}.{part}": shape for part, shape in sizes.items()}
    if {name: table.shape for name, table in tables.items()} != wanted:
        raise ValueError("its tables are not those of the network")
    return tables


def _restore(
    tables: dict[str, Tensor], network: Network, best: dict[str, Tensor], adam: torch.optim.Adam
) -> None:
    device = next(network.parameters()).device
    network.load_state_dict({name: tables[f"now.{name}"] for name in best})
    best.update({name: tables[f"best.{name}"].to(device) for name in best})
    for name, value in network.named_parameters():
        parts = ("step", "exp_avg", "exp_avg_sq")
        adam.state[value] = {part: tables[f"adam.{name}.{part}"].to(device) for part in parts}
