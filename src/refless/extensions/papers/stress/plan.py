"""Which probes are run, and how: everything here is in the signature."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from refless.registry.errors import UsageError
from refless.stats.resampling import RESAMPLES
from refless.text.stopwords import ENGLISH, stop_settings

PROBES = ("references", "frequent", "rare", "sentence", "direction", "useless", "stuffing")
BASES = ("auto", "references", "outputs")
WORDS = 5  # Table 2 has five
UNKNOWN = "UNK"  # what a replaced word becomes
TOP = 0.1  # share of the rated texts that count as highly rated
SUBSAMPLE = 0.5  # share of the pool that judges a stuffed output


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Which probes are run, and how.

    Attributes:
        probes: names of PROBES.
        seed, resamples: of intervals.
        train: sentences of a training set, for frequencies and the search; or empty.
        words: the frequent words to replace; None for the five most frequent ones.
        thresholds: words that are rarer in the training set are replaced (Table 3).
        swaps: words and what stands for them, such as woman -> man.
        base: whose texts are perturbed: `references`, the first reference against the others as
            published, or `outputs`; `auto`: references where every item has two.
        shortlist: how many sentences a metric without a fast way scores.
        largest_set: of greedy sets.
        fragments: pieces of highly rated texts that an attacker tries at each step.
        steps: pieces that are strung together at most.
        halves: attackers who each see another random half of the pool.
        draws: random sub-samples of the pool that judge the result.
    """

    probes: tuple[str, ...] = PROBES
    seed: int = 0
    resamples: int = RESAMPLES
    train: tuple[str, ...] = ()
    words: tuple[str, ...] | None = None
    thresholds: tuple[int, ...] = (30, 20, 10, 5, 1)
    swaps: Mapping[str, str] = field(default_factory=dict)
    base: str = "auto"
    shortlist: int = 25
    largest_set: int = 3
    fragments: int = 150
    steps: int = 6
    halves: int = 5
    draws: int = 10

    def __post_init__(self) -> None:
        if self.base not in BASES:
            raise UsageError(f"base must be one of {', '.join(BASES)}, got '{self.base}'")
        if any(threshold < 1 for threshold in self.thresholds):
            raise UsageError("a threshold must be 1 or more")
        for name in self.probes:
            if name not in PROBES:
                raise UsageError(f"no probe '{name}'; there are {', '.join(PROBES)}")
        if self.shortlist < 1 or self.largest_set < 1:
            raise UsageError("shortlist and largest set must be 1 or more")

    def of_words(self) -> dict[str, object]:
        """Settings of the probes of words, for signatures."""
        return {
            "words": self.words or f"{WORDS}-most-frequent",
            "unk": UNKNOWN,
            **stop_settings(ENGLISH),
            "thresholds": self.thresholds,
            "swaps": tuple(f"{a}={b}" for a, b in sorted(self.swaps.items())) or "none",
            "base": self.base,
            "ci": f"boot-{self.resamples}",
            "seed": self.seed,
        }

    def of_attacks(self) -> dict[str, object]:
        """Settings of the attack on estimators, for signatures."""
        return {
            "fragments": self.fragments,
            "steps": self.steps,
            "top": TOP,
            "halves": self.halves,
            "draws": self.draws,
            "drawn": SUBSAMPLE,
        }

    def as_settings(self) -> dict[str, object]:
        """Settings of all probes of metrics, for signatures."""
        joined = "\n".join(sorted(self.train)).encode("utf-8", "surrogatepass")
        digest = hashlib.sha256(joined).hexdigest()[:12]
        size = {"train": digest, "train-size": len(self.train)} if self.train else {}
        return {
            "probes": self.probes,
            **size,
            **self.of_words(),
            "shortlist": self.shortlist,
            "sets": self.largest_set,
        }
