"""Public data sets of human ratings: what each is, where it is, and under which terms.

Nobody's data is here, only addresses, sizes and digests: `sources.tsv` names each file at a commit,
with the SHA-256 of the bytes that the converters were written for; `datasets.toml` says the rest.
"""

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from refless.extensions.connect.datasets import convert
from refless.extensions.connect.datasets.convert import Converter
from refless.registry.errors import InputError, UsageError

RAW = "https://raw.githubusercontent.com"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedFile:
    """A published file.

    Attributes:
        place: owner, repository, commit and path, joined by /.
        sha256, size: of its bytes; "" and 0 for a file that users get for themselves.
    """

    place: str
    sha256: str = ""
    size: int = 0

    @property
    def path(self) -> str:
        """Its path in the repository."""
        return self.place.split("/", 3)[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A data set.

    Attributes:
        name: what it and its folder are called.
        about: what it holds; good_for: what for.
        licence, citation: as its authors state them.
        home: a page about it.
        validate: words for `refless validate`, the file first; empty if nothing is rated.
        convert: published files to files.
        by_hand: the file that users get from `home` for themselves, if it cannot be fetched.
        sources: its published files.
    """

    name: str
    about: str
    good_for: str
    licence: str
    citation: str
    home: str
    validate: tuple[str, ...] = ()
    convert: Converter = convert.as_it_is
    by_hand: str = ""
    sources: tuple[PublishedFile, ...]

    @property
    def size(self) -> int:
        """Bytes to fetch; 0 if that is not known."""
        return sum(source.size for source in self.sources)


def _read() -> dict[str, Dataset]:
    """The data sets of `datasets.toml` by name, with their rows of `sources.tsv`."""
    folder = files("refless.extensions.connect.datasets")
    entries = tomllib.loads(
        folder.joinpath("datasets.toml").read_text(encoding="utf-8")
    )
    lines = folder.joinpath("sources.tsv").read_text(encoding="utf-8").splitlines()[1:]
    rows = [line.split("\t") for line in lines]
    datasets = {}
    for name, entry in entries.items():
        sources = [
            PublishedFile(place=place, sha256=digest, size=int(size))
            for owner, digest, size, place in rows
            if owner == name
        ]
        if by_hand := entry.get("by_hand"):
            sources = [PublishedFile(place=by_hand)]
        entry["convert"] = getattr(convert, entry.get("convert", "as_it_is"))
        entry["validate"] = tuple(entry.get("validate", ()))
        datasets[name] = Dataset(name=name, sources=tuple(sources), **entry)
    return datasets


DATASETS = _read()


def dataset_of(name: str) -> Dataset:
    """The data set of a name.

    Raises:
        UsageError: there is none.
    """
    if name not in DATASETS:
        raise UsageError(f"no data set '{name}'; there are {', '.join(DATASETS)}")
    return DATASETS[name]


def absent(path: Path, data: str = "data") -> InputError:
    """The error for a file of a data set that is not there: what to call to have it.

    Args:
        path: the file, in a folder of the data set's name.
        data: what a script is to be told with --data.
    """
    fetch = f"refless list datasets --get {path.parent.name} --out-dir data, then --data {data}"
    remedy = f"name its folder, or fetch it: {fetch}"
    return InputError("no such file", path=str(path), remedy=remedy)
