"""The material of a test: items with their references, and each system's output for them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from refless.data.records import Outputs, numbered, picked
from refless.registry.errors import InputError

ONLY = "outputs"  # the system's name where there is no system column


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StressItems:
    """Items in canonical order: no result depends on the order of rows.

    Attributes:
        items: [n] their references and sources; the texts are empty.
        systems: for each system [n] its outputs.
        dropped: outputs of items that not all systems answered, or that could not be read.
    """

    items: Outputs
    systems: dict[str, tuple[str, ...]]
    dropped: int = 0

    @property
    def rounds(self) -> int:
        """C, the number of references that every item has at least."""
        return min(map(len, self.items.references), default=0)

    @property
    def first(self) -> str:
        """The system whose outputs are changed: the first in the alphabet."""
        return min(self.systems)

    def outputs(self) -> Outputs:
        """The outputs to change, with their references."""
        return with_texts(self.items, self.systems[self.first])

    def references_as_outputs(self, out: int) -> Outputs:
        """Each item's reference number `out` against its others (equation 1)."""
        return with_texts(
            self.without(out), [row[out] for row in self.items.references]
        )

    def without(self, out: int) -> Outputs:
        """The items without their reference number `out`."""
        rows = tuple((*row[:out], *row[out + 1 :]) for row in self.items.references)
        weights = tuple((*row[:out], *row[out + 1 :]) for row in self.items.weights)
        return replace(self.items, references=rows, weights=weights)


def with_texts(items: Outputs, texts: Sequence[str]) -> Outputs:
    """The items with these texts as outputs."""
    return replace(items, texts=tuple(texts))


def material_of(outputs: Outputs) -> StressItems:
    """Outputs sorted into items and systems.

    An item is known by its name (`item`, else the source) and its references; where a system has
    several outputs for one, they are told apart by their texts' order.

    Raises:
        InputError: no outputs, or no item that all systems answered.
    """
    good = [i for i in range(len(outputs)) if not (outputs.bad and outputs.bad[i])]
    places: dict[str, dict[tuple[object, ...], int]] = defaultdict(dict)
    times: dict[tuple[object, ...], int] = defaultdict(int)
    for i in sorted(good, key=lambda i: (outputs.texts[i], outputs.ids[i])):
        system = outputs.systems[i] if outputs.systems else ONLY
        columns = (outputs.items, outputs.sources, outputs.references, outputs.weights)
        key = tuple(column[i] if column else "" for column in columns)
        places[system][(*key, times[(system, *key)])] = i
        times[(system, *key)] += 1
    if not places:
        raise InputError("there are no outputs", remedy="give at least one")
    shared = sorted(set.intersection(*map(set, places.values())))
    if not shared:
        raise InputError(
            "no item was answered by all systems",
            remedy="give each item's outputs one source or item, and the same references",
        )
    answered = outputs.take([next(iter(places.values()))[key] for key in shared])
    items = Outputs(
        ids=numbered(len(shared)),
        texts=("",) * len(shared),
        sources=answered.sources,
        systems=("",) * len(shared),  # what is made of an output is of no system
        references=answered.references,
        weights=answered.weights,
    )
    systems = {}
    for name, rows in sorted(places.items()):
        systems[name] = picked(outputs.texts, [rows[key] for key in shared])
    dropped = len(outputs) - len(shared) * len(systems)
    return StressItems(items=items, systems=systems, dropped=dropped)
