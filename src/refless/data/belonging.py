"""What belongs together: texts of one source, or of one item if there are no sources.

Every room asks this one place: weights of estimators, held-out errors, intervals and guards.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat

from refless.data.records import Texts

UNITS = ("sources", "items")  # columns; the first that tells texts apart counts


def unit_column(texts: Texts) -> str:
    """Name of the column that says which texts belong together; "" if each stands alone."""
    present = [name for name in UNITS if any(getattr(texts, name))]
    several = [name for name in present if len({*getattr(texts, name)}) > 1]
    return next(iter(several or present), "")


def unit_name(texts: Texts) -> str:
    """`source` or `item`, as people call what belongs together; `text` if each stands alone."""
    return unit_column(texts).removesuffix("s") or "text"


def units_of(
    texts: Texts, groups: Sequence[str] = (), like: Texts | None = None
) -> tuple[str, ...]:
    """[n] label of what each text belongs to; () if each stands alone.

    Args:
        texts: n texts.
        groups: [n] what belongs together, if the user says it.
        like: texts whose column decides, so that labels of both can be compared; by default these.
    """
    if groups:
        return tuple(groups)
    column = unit_column(texts if like is None else like)
    labels: tuple[str, ...] = getattr(texts, column) if column else ()
    return labels


def units_or_texts(texts: Texts, like: Texts) -> tuple[str, ...]:
    """[n] the same; a text without a label belongs with equal texts alone.

    Args:
        texts: n texts; like: rated texts, as of `units_of`.
    """
    column = units_of(like)
    labels = units_of(texts, like=like) if len({*column}) > 1 else ()
    pairs = zip(labels or repeat(""), texts.texts, strict=False)
    return tuple(label or f"\0{text}" for label, text in pairs)
