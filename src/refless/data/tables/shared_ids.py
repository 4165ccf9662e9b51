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
    if not (texts and _share_ids(names, texts)):
        return roles
    items_of_ids(names)
    columns = {"item": roles.all("id"), **roles.columns}
    del columns["id"]
    return replace(roles, columns=columns)


def _share_ids(names: Mapping[str, Sequence[str]], texts: Sequence[str]) -> bool:
    """Whether systems share ids, but not the texts that have them."""
    if not {"id", "system"} <= names.keys():
        return False
    ids = names["id"]
    systems = names["system"]
    n_ids = len({*ids})
    by_system = {*zip(ids, systems, strict=True)}
    by_text = {*zip(ids, texts, strict=True)}
    by_both = {*zip(ids, systems, texts, strict=True)}
    return len(by_both) == len(by_system) > n_ids < len(by_text)


def items_of_ids(names: dict[str, list[str]]) -> None:
    """Makes ids that systems share the items, and gives each system's text its own id."""
    ids = names["id"]
    names.setdefault("item", ids)
    names["id"] = [*map("{} {}".format, names["system"], ids)]
