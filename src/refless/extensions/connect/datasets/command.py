"""datasets: public data sets of human ratings, listed or fetched by name."""

from os import fspath
from pathlib import Path
from typing import Annotated

from refless.commands.parameters import Flag, Folder, Many, Names, command, names_in
from refless.commands.warnings import note, progress
from refless.extensions.connect.datasets import DATASETS, Dataset, dataset_of
from refless.extensions.connect.datasets.fetching import (
    cache,
    fetched,
    is_remote,
    is_written,
    written,
)
from refless.extensions.connect.datasets.result import DatasetsResult
from refless.registry.errors import UsageError
from refless.registry.signature import Signature
from refless.registry.version import __version__


@command
def datasets(
    get: Annotated[Names, Flag(argument=True, kind=Many, metavar="get NAME")] = None,
    *,
    out_dir: Annotated[Folder, Flag(kind=str)] = ".",
    mirror: Annotated[Folder | None, Flag(kind=str | None, metavar="URL|FOLDER")] = None,
) -> DatasetsResult:
    """List public data sets of human ratings, or fetch some by name.

    `refless datasets get NAME...` fetches files from where their authors publish them, at one
    commit, checks their SHA-256, and writes them as refless reads them into a folder NAME, with
    their licence and citation in SOURCE.txt.

    Args:
        get: The word get, then names of data sets. Without it: list all.
        out_dir: Folder in which a folder for each data set is made.
        mirror: Copy of the published files: a URL in place of https://raw.githubusercontent.com, or
            a folder, such as a clone of the repository.
    """
    words = names_in(get)
    if words and (words[0] != "get" or len(words) == 1):
        raise UsageError(f"say 'refless datasets get NAME'; there are {', '.join(DATASETS)}")
    chosen = tuple(map(dataset_of, words[1:]))
    files = {one.name: fetch(one, Path(out_dir), mirror) for one in chosen}
    return DatasetsResult(
        listed=chosen or tuple(DATASETS.values()),
        files=files,
        signature=Signature("datasets").plus(v=__version__),
    )


def dataset(name: str, *, folder: Folder | None = None, mirror: Folder | None = None) -> Path:
    """The file of a public data set's ratings, fetched and converted where it is not there yet.

    Args:
        name: what `refless datasets` calls it.
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


def fetch(chosen: Dataset, folder: Path, mirror: Folder | None) -> tuple[Path, ...]:
    """Fetches, converts and writes one data set; its terms are told."""
    copy = None if mirror is None else fspath(mirror)
    with progress(f"fetching {chosen.name}") as share:
        sources = fetched(
            chosen, copy, lambda done: None if share is None else share(done / max(1, chosen.size))
        )
    paths = written(chosen, sources, folder)
    if is_remote(copy):
        note(f"{chosen.name}: downloads are kept in {cache()}")
    note(f"{chosen.name}: licence: {chosen.licence}")
    note(f"{chosen.name}: please cite {chosen.citation}")
    return tuple(paths)
