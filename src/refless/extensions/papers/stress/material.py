"""What is put to the test: items with their references, and each system's output for them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from refless.data.records import Outputs, numbered
from refless.registry.errors import InputError, UsageError

ONLY = "outputs"  # the system's name where there is no system column


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Material:
    """Items in canonical order: no result depends on the order of rows.

    Attributes:
        items: [n] their references and sources; the texts are empty.
        systems: for each system [n] its outputs.
        subject: the system whose outputs are changed; None for the first in the alphabet.
        dropped: outputs of items that not all systems answered, or that could not be read.
    """

    items: Outputs
    systems: dict[str, tuple[str, ...]]
    subject: str | None = None
    dropped: int = 0

    def __post_init__(self) -> None:
        if self.subject is not None and self.subject not in self.systems:
            names = ", ".join(self.systems)
            raise UsageError(f"there is no system '{self.subject}'; there are {names}")

    @property
    def rounds(self) -> int:
        """C, the number of references that every item has at least."""
        return min(map(len, self.items.references), default=0)

    def outputs(self, system: str | None = None) -> Outputs:
        """One system's outputs, or those of the one to change, with their references."""
        return with_texts(self.items, self.systems[system or self.first])

    @property
    def first(self) -> str:
        """The system whose outputs are changed."""
        return self.subject or min(self.systems)

    def references_as_outputs(self, out: int) -> Outputs:
        """Each item's reference number `out` against its others (equation 1)."""
        return with_texts(self.without(out), [row[out] for row in self.items.references])

    def without(self, out: int) -> Outputs:
        """The items without their reference number `out`."""
        rows = tuple((*row[:out], *row[out + 1 :]) for row in self.items.references)
        weights = tuple((*row[:out], *row[out + 1 :]) for row in self.items.weights)
        return replace(self.items, references=rows, weights=weights)


def with_texts(items: Outputs, texts: Sequence[str]) -> Outputs:
    """The items with these texts as outputs."""
    return replace(items, texts=tuple(texts))


def material_of(outputs: Outputs, subject: str | None = None) -> Material:
    """Outputs sorted into items and systems.

    An item is known by its name (`item`, else the source) and its references; where a system has
    several outputs for one, they are told apart by their texts' order.

    Raises:
        UsageError: a subject that is no system.
        InputError: no outputs, or no item that all systems answered.
    """
    good = [i for i in range(len(outputs)) if not (outputs.bad and outputs.bad[i])]
    found: dict[str, dict[tuple[object, ...], int]] = defaultdict(dict)
    times: dict[tuple[object, ...], int] = defaultdict(int)
    for i in sorted(good, key=lambda i: (outputs.texts[i], outputs.ids[i])):
        system = outputs.systems[i] if outputs.systems else ONLY
        name = outputs.items[i] if outputs.items else ""
        references = outputs.references[i] if outputs.references else ()
        weights = outputs.weights[i] if outputs.weights else ()
        source = outputs.sources[i] if outputs.sources else ""
        key = (name, source, references, weights)
        found[system][(*key, times[(system, *key)])] = i
        times[(system, *key)] += 1
    if not found:
        raise InputError("there are no outputs", remedy="give at least one")
    shared = sorted(set.intersection(*map(set, found.values())))
    if not shared:
        raise InputError(
            "no item was answered by all systems",
            remedy="give each item's outputs one source or item, and the same references",
        )
    rows = [next(iter(found.values()))[key] for key in shared]
    systems = {
        name: outputs.take([places[key] for key in shared]).texts
        for name, places in sorted(found.items())
    }
    answered = outputs.take(rows)
    items = Outputs(
        ids=numbered(len(rows)),
        texts=("",) * len(rows),
        sources=answered.sources,
        systems=("",) * len(rows),  # what is made of an output is of no system
        references=answered.references,
        weights=answered.weights,
    )
    return Material(
        items=items,
        systems=systems,
        subject=subject,
        dropped=len(outputs) - len(rows) * len(systems),
    )


def shuffled_words(texts: Sequence[str], seed: int) -> tuple[str, ...]:
    """Each text's words in another order, where it has two or more."""
    rng = np.random.default_rng(seed)
    return tuple(" ".join(rng.permutation(text.split()).tolist()) for text in texts)
