"""Public data sets of human ratings: what each is, where it is, and under which terms.

Nobody's data is here, only addresses, sizes and digests: `datasets.toml` names each file at a
commit, with the SHA-256 of the bytes that the converters were written for.
"""

import tomllib
from dataclasses import dataclass
from importlib.resources import files

from refless.extensions.connect.datasets import convert
from refless.extensions.connect.datasets.convert import Converter
from refless.registry.errors import UsageError

RAW = "https://raw.githubusercontent.com"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedFile:
    """A published file.

    Attributes:
        place: owner, repository, commit and path, joined by /.
        name: what its converter calls it; its path in the repository unless it is given.
        sha256, size: of its bytes; "" and 0 for a file that users get for themselves.
    """

    place: str
    name: str = ""
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
    sources: tuple[PublishedFile, ...]

    @property
    def size(self) -> int:
        """Bytes to fetch; 0 if that is not known."""
        return sum(source.size for source in self.sources)


def _read() -> dict[str, Dataset]:
    """The data sets of `datasets.toml` by name."""
    file = files("refless.extensions.connect.datasets").joinpath("datasets.toml")
    datasets = {}
    for name, entry in tomllib.loads(file.read_text(encoding="utf-8")).items():
        entry["sources"] = tuple(PublishedFile(**source) for source in entry["sources"])
        entry["convert"] = getattr(convert, entry.get("convert", "as_it_is"))
        entry["validate"] = tuple(entry.get("validate", ()))
        datasets[name] = Dataset(name=name, **entry)
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
