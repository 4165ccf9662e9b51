"""The sampling design: who is independent of whom, decided once for every interval.

Texts were drawn as a whole with those of their item, their source, or a column that the user names:
such a whole is a unit, for intervals, for what is held out, for weights of estimators, for guards.
What a shared label connects is one unit, so items that share sources, and sources that share items,
are one. Raters cross the units.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from refless.data.records import COLUMNS as COLUMNS_OF_TEXTS
from refless.data.records import Ratings, Texts, columns_of, picked
from refless.registry.arrays import IntArray, Names, Strings, count_different, numbered
from refless.registry.dialect import called
from refless.registry.errors import UsageError
from refless.registry.plural import counted

ALONE = "id"  # the group in which each text is a unit
COLUMNS = {
    "text": "texts",
    "item": "items",
    "source": "sources",
    "system": "systems",
    "task": "tasks",
}
# columns that make units; of two as coarse the first one says it
JOINED = (
    "source",
    "item",
)
LINKED = "linked-items"  # what connects is both: items share sources, and sources items
FEWEST_WORDS = 5  # of a text that is not often written twice


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Design:
    """The units of n texts that were drawn at random, and groups of texts that belong together.

    Attributes:
        unit: [n] number of what was drawn as a whole; the numbers themselves do not count.
        item: [n] number of what pairs the texts of two systems.
        labels: [n] the name of each unit, blank for a text that is one; () if all texts are.
        level: what a unit is called: text, item, source, a column's name, or LINKED.
        paired: whether a column tells items.
        copies: texts that repeat another, which nothing tells apart from it.
        constant: columns that are the same throughout: the answer is about this one value alone.
    """

    unit: IntArray
    item: IntArray
    level: str
    paired: bool
    labels: Strings = ()
    copies: int = 0
    constant: Strings = ()

    @classmethod
    def of(cls, texts: Texts, group: str | None = None, column: Names = ()) -> Design:
        """The design of texts by their columns.

        Args:
            texts: rated texts, outputs, or both.
            group: what is drawn as a whole: None for items and sources, `id` for each text alone,
                `text`, `item`, `source`, `system`, `task`, or a column whose values are given.
            column: [n] values of that column.

        Raises:
            UsageError: there is no such column.
        """
        n = len(texts)
        paired = bool(texts.items)
        item = numbered(texts.items, n) if paired else np.arange(n)
        if group == ALONE:
            return cls(unit=np.arange(n), item=item, level="text", paired=paired)
        if group is not None:
            labels = _labels(texts, group, column)
            unit = numbered(labels, n)
            copies = n - count_different(unit) if group == "text" else 0
            return cls(
                unit=unit,
                item=item,
                level=group,
                paired=paired,
                labels=labels,
                copies=copies,
            )
        whole = _wholes(texts)
        if not whole.column:
            unit = numbered(_copies(texts), n)
            return cls(
                unit=unit,
                item=item,
                level="text",
                paired=paired and not whole.constant,
                copies=n - count_different(unit),
                constant=whole.constant,
            )
        return cls(
            unit=whole.unit,
            item=item,
            level=whole.level,
            paired=paired,
            labels=whole.labels,
            constant=whole.constant,
        )

    @classmethod
    def labelled(cls, texts: Texts, level: str, labels: Names) -> Design:
        """The design of texts with the labels of their units; () if each text is one."""
        if not labels:
            return cls.of(texts, ALONE)
        return cls.of(texts, level, labels)

    def __len__(self) -> int:
        return len(self.unit)

    def take(self, rows: IntArray) -> Design:
        """The design of some of the texts."""
        labels = picked(self.labels, rows)
        return replace(self, unit=self.unit[rows], item=self.item[rows], labels=labels)

    @property
    def units(self) -> int:
        """Number of units."""
        return count_different(self.unit)

    @property
    def together(self) -> bool:
        """Whether any texts share a unit."""
        return self.units < len(self)

    def apart(self, texts: Texts) -> Strings:
        """[n] a name of each text's unit, also if it has none; () if each text is one."""
        if not self.together:
            return ()
        systems = texts.systems or ("",) * len(self)
        content = [*zip(texts.texts, systems, strict=True)]
        names = self.labels or ("",) * len(self)
        unit_names: dict[int, str] = {}
        counts: Counter[tuple[str, str]] = Counter()
        for number, label, words in zip(
            self.unit.tolist(), names, content, strict=True
        ):
            if number not in unit_names:
                counts[words] += 1
                unit_names[number] = label or "\0".join(
                    ("", *words, str(counts[words]))
                )
        return tuple(unit_names[number] for number in self.unit.tolist())

    @property
    def signs(self) -> dict[str, object]:
        """The design in a signature."""
        return {"drawn": self.level, "units": self.units}

    def said(self, ratings: Ratings | None = None, noun: str = "text") -> str:
        """The design in a sentence, for a page.

        Args:
            ratings: of rated texts among these; None to leave raters out.
            noun: what the texts are called.
        """
        parts = [drawn_said(len(self), self.units, self.level, noun)]
        if self.copies:
            words = "repeats another and counts with it"
            if self.copies > 1:
                words = "repeat others and count with them"
            parts.append(f"{counted(self.copies, noun)} {words}")
        parts += [f"all are of one {name}" for name in self.constant]
        if ratings is not None and ratings.annotators:
            parts.append(raters_said(ratings, len(self)))
        return "; ".join(filter(None, parts)) + "."


def drawn_said(n: int, units: int, level: str, noun: str) -> str:
    """The units in which n texts were drawn at random, in words."""
    texts = counted(n, noun)
    if level == "text" or units == n:
        return f"{texts}, each drawn by itself"
    names = counted(units, level)
    if level == LINKED:
        names = f"{counted(units, 'group')} of items that share sources"
    verb = "was" if units == 1 else "were"
    return f"{texts} from {names}, which {verb} drawn whole"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Wholes:
    """The groups that items and sources make one.

    Attributes:
        column: the coarsest of them, "" if neither tells texts apart; level: what a whole is.
        unit: [n] number of each text's whole; labels: [n] its name.
        constant: columns that are the same throughout.
    """

    column: str = ""
    level: str = "text"
    unit: IntArray
    labels: Strings = ()
    constant: Strings = ()


def _wholes(texts: Texts) -> _Wholes:
    """The groups that items and sources connect; the coarsest of them if all is connected."""
    given = {name: getattr(texts, COLUMNS[name]) for name in JOINED}
    if texts.items == texts.sources:  # which stand in for items
        del given["item"]
    varied = {name: labels for name, labels in given.items() if len({*labels}) > 1}
    constant = tuple(
        name for name, labels in given.items() if any(labels) and name not in varied
    )
    if not varied:
        return _Wholes(unit=np.arange(len(texts)), constant=constant)
    numbers = {name: numbered(labels, len(texts)) for name, labels in varied.items()}
    sizes = {name: count_different(column) for name, column in numbers.items()}
    coarsest = min(sizes, key=sizes.__getitem__)
    unit = connected([*numbers.values()])
    count = count_different(unit)
    if count == 1:
        unit = numbers[coarsest]
    return _Wholes(
        column=coarsest,
        level=coarsest if count in {1, sizes[coarsest]} else LINKED,
        unit=unit,
        labels=_named(unit, varied[coarsest]),
        constant=constant,
    )


def group_names(texts: Texts, group: str | None = None, column: Names = ()) -> Strings:
    """[n] the name of what each text is held out with; its id if it stands alone.

    Args:
        texts, group, column: as of `Design.of`.

    Raises:
        UsageError: as `Design.of`.
    """
    design = Design.of(texts, group, column)
    if group is None:
        return design.apart(texts) or texts.ids
    return design.labels or texts.ids


def column_of(group: str | None) -> str | None:
    """The user's own column that a group is; None for the known ones."""
    return None if group in {None, ALONE, *COLUMNS} else group


def unit_name(texts: Texts) -> str:
    """`source` or `item`, as people call what belongs together; `text` if each stands alone."""
    return _wholes(texts).column or "text"


def unit_level(texts: Texts) -> str:
    """The level of `Design.of`."""
    return _wholes(texts).level


def units_of(texts: Texts, groups: Names = (), like: Texts | None = None) -> Strings:
    """[n] label of what each text belongs to; () if each stands alone.

    Args:
        texts: n texts.
        groups: [n] what belongs together, if the user says it.
        like: texts whose columns decide, so that labels of both can be compared; by default these.
    """
    if groups:
        return tuple(groups)
    reference = texts if like is None else like
    whole = _wholes(reference)
    if not whole.column:
        return ()
    of_reference = getattr(reference, COLUMNS[whole.column])
    names = dict(zip(of_reference, whole.labels, strict=True))
    return tuple(
        names.get(label, label) for label in getattr(texts, COLUMNS[whole.column])
    )


def units_or_texts(texts: Texts, like: Texts) -> Strings:
    """[n] the same; a text without a label belongs with equal texts alone.

    Args:
        texts: n texts; like: rated texts, as of `units_of`.
    """
    labels = units_of(texts, like=like) or ("",) * len(texts)
    return tuple(
        label or f"\0{text}" for label, text in zip(labels, texts.texts, strict=True)
    )


def joined(first: Texts, second: Texts) -> Texts:
    """Both lists of texts as one, with the columns that both have; one may be empty."""
    if not len(first) or not len(second):
        parts = first if len(first) else second
        return Texts(**columns_of(parts))
    columns = {
        name: (getattr(first, name), getattr(second, name)) for name in COLUMNS_OF_TEXTS
    }
    values: dict[str, Any] = {
        name: a + b if a and b else () for name, (a, b) in columns.items()
    }
    values["ids"] = tuple(map(str, range(len(first) + len(second))))
    return Texts(**values)


def raters_said(ratings: Ratings, n: int) -> str:
    """Number of raters, and of those of a text, among n texts that need not be rated."""
    raters = counted(len(np.unique(ratings.annotator)), "rater")
    pairs = np.unique(np.stack([ratings.text, ratings.annotator]), axis=1)
    of_text = np.unique(pairs[0], return_counts=True)[1]
    noun = "text" if len(of_text) == n else "rated text"
    if len(np.unique(of_text)) == 1:
        return f"{raters}, {of_text[0]} on each {noun}"
    return f"{raters}, {of_text.mean():.2g} on a {noun} on average"


def _labels(texts: Texts, group: str, column: Names) -> Strings:
    """[n] the values of a column; a blank one stands alone."""
    labels = column or (getattr(texts, COLUMNS[group]) if group in COLUMNS else ())
    if len(labels) != len(texts):
        raise UsageError(f"{called('group', group)}: the texts have no {group} column")
    return tuple(labels)


def _named(unit: IntArray, labels: Names) -> Strings:
    """[n] the first label of each unit in the order of the alphabet, whatever that of rows."""
    first: dict[int, str] = {}
    for number, label in zip(unit.tolist(), labels, strict=True):
        earlier = first.get(number, "")
        first[number] = min(earlier, label) if earlier and label else earlier or label
    return tuple(first[number] for number in unit.tolist())


def _copies(texts: Texts) -> list[Hashable]:
    """[n] the text and its system, if it is long enough to be told from a chance repeat."""
    systems = texts.systems or ("",) * len(texts)
    return [
        (text, system) if len(text.split()) >= FEWEST_WORDS else place
        for place, (text, system) in enumerate(zip(texts.texts, systems, strict=True))
    ]


def connected(columns: Sequence[IntArray]) -> IntArray:
    """[n] number of what a shared label of any of the columns connects."""
    if len(columns) == 1:
        return columns[0]
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    n = len(columns[0])
    ends = np.cumsum([n, *(int(column.max(initial=-1)) + 1 for column in columns)])
    rows = np.tile(np.arange(n), len(columns))
    names = np.concatenate(
        [end + column for end, column in zip(ends, columns, strict=False)]
    )
    size = (int(ends[-1]), int(ends[-1]))
    graph = coo_matrix((np.ones(len(rows)), (rows, names)), shape=size)
    number = connected_components(graph, directed=False)[1][:n]
    return numbered(number.tolist(), len(number))
