"""Public data sets of human ratings, listed or fetched by name."""

from pathlib import Path

from refless.commands.parameters import Folder, Names, names_in
from refless.extensions.connect.datasets import DATASETS, dataset_of
from refless.extensions.connect.datasets.fetching import cache, fetch, is_written
from refless.extensions.connect.datasets.result import DatasetsResult
from refless.registry.signature import Signature
from refless.registry.version import __version__


def datasets(get: Names, out_dir: Folder, mirror: Folder | None) -> DatasetsResult:
    """The data sets of `refless list datasets`, or those that are fetched by name."""
    chosen = tuple(map(dataset_of, names_in(get)))
    files = {entry.name: fetch(entry, Path(out_dir), mirror) for entry in chosen}
    return DatasetsResult(
        listed=chosen or tuple(DATASETS.values()),
        files=files,
        signature=Signature("list").plus(v=__version__),
    )


def dataset(
    name: str, *, folder: Folder | None = None, mirror: Folder | None = None
) -> Path:
    """The file of a public data set's ratings, fetched and converted where it is not there yet.

    Args:
        name: what `refless list datasets` calls it.
        folder: where its folder is made; the cache of downloads without it.
        mirror: a URL or a folder where the published files are copied.

    Returns:
        The file that `refless.validate` reads, or the folder where nothing is rated.

    Raises:
        UsageError: no such data set, or one that has to be got by hand.
        InputError: a file that cannot be had, or whose bytes are not those that were published.
        MissingExtraError: pooch is not installed.
    """
    chosen = dataset_of(name)
    above = cache() / __version__ if folder is None else Path(folder)
    if not is_written(chosen, above):
        fetch(chosen, above, mirror)
    return above / name / chosen.validate[0] if chosen.validate else above / name
