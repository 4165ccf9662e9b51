"""The probes to run, and the draws of their intervals: everything here is in the signature."""

import hashlib
from dataclasses import dataclass

from refless.registry.errors import UsageError
from refless.stats.resampling import RESAMPLES

PROBES = ("references", "frequent", "rare", "sentence", "useless", "stuffing")


@dataclass(frozen=True, slots=True, kw_only=True)
class StressPlan:
    """The probes to run, with their settings.

    Attributes:
        probes: names of PROBES.
        train: sentences of a training set, for frequencies and the search; or empty.
        seed, resamples: of intervals, and of what is drawn.
    """

    probes: tuple[str, ...] = PROBES
    train: tuple[str, ...] = ()
    seed: int = 0
    resamples: int = RESAMPLES

    def __post_init__(self) -> None:
        for name in self.probes:
            if name not in PROBES:
                raise UsageError(f"no probe '{name}'; there are {', '.join(PROBES)}")

    def as_settings(self) -> dict[str, object]:
        """The same for signatures."""
        joined = "\n".join(sorted(self.train)).encode("utf-8", "surrogatepass")
        digest = hashlib.sha256(joined).hexdigest()[:12]
        return {
            "probes": self.probes,
            **({"train": digest, "train-size": len(self.train)} if self.train else {}),
            "ci": f"boot-{self.resamples}",
            "seed": self.seed,
        }
