"""Ids that systems share: they name what was answered, and no text."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from refless.data.tables.columns import Roles


def with_items(
    roles: Roles, names: dict[str, list[str]], texts: Sequence[str]
) -> Roles:
    """The roles of columns, where ids that systems share are items; in the names, too.

    Args:
        names: role -> [n] names; texts: [n], or empty.
    """
    if not texts or not _share_ids(names, texts):
        return roles
    items_of_ids(names)
    columns = {"item": roles.all("id"), **roles.columns}
    del columns["id"]
    return replace(roles, columns=columns)


def _share_ids(names: Mapping[str, Sequence[str]], texts: Sequence[str]) -> bool:
    """Whether systems share ids, but not the texts that have them."""
    if not {"id", "system"} <= names.keys():
        return False
    n_texts = len({*zip(names["id"], names["system"], texts, strict=True)})
    n_of_systems = len({*zip(names["id"], names["system"], strict=True)})
    n_of_ids = len({*zip(names["id"], texts, strict=True)})
    n_ids = len({*names["id"]})
    return n_texts == n_of_systems > n_ids and n_of_ids > n_ids


def items_of_ids(names: dict[str, list[str]]) -> None:
    """Makes ids that systems share the items, and gives each system's text its own id."""
    ids = names["id"]
    names.setdefault("item", ids)
    names["id"] = [*map("{} {}".format, names["system"], ids)]
