"""Public data sets: the result of `refless list datasets`."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from refless.extensions.connect.datasets import Dataset
from refless.report.document import Document, Section
from refless.report.export import Rows
from refless.report.record import Count, Record, Signed, record
from refless.report.result import Result

GET = "  refless list datasets --get NAME"


@dataclass(frozen=True, kw_only=True)
class DatasetRecord:
    """A data set.

    Attributes:
        size: bytes to fetch; 0 for one that users get for themselves.
        validate: words for `refless validate`; none where nothing is rated.
        files: those that were written; none in a list.
    """

    name: str
    about: str
    good_for: str
    size: Count
    licence: str
    citation: str
    home: str
    validate: tuple[str, ...]
    files: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class DatasetsRecord(Record):
    """Data sets that there are, or those that were fetched."""

    command: Literal["list"] = "list"
    signature: Signed
    kind: Literal["datasets"] = "datasets"
    datasets: tuple[DatasetRecord, ...]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class DatasetsResult(Result):
    """Data sets.

    Attributes:
        listed: all of them, or those that were fetched.
        files: what was written for each, by its name.
    """

    record = DatasetsRecord
    signs = False
    listed: tuple[Dataset, ...]
    files: Mapping[str, tuple[Path, ...]]

    def _shown(self) -> Document:
        """A section for each: what it is, its terms, and the command to go on with."""
        sections = tuple(
            Section(title=dataset.name, lines=self._lines(dataset))
            for dataset in self.listed
        )
        how = () if self.files else (Section(title="To fetch one", lines=(GET,)),)
        return Document(title="Public data sets", sections=(*sections, *how))

    def _json(self) -> Record:
        result = (
            record(DatasetRecord, dataset, files=self._files(dataset))
            for dataset in self.listed
        )
        return self._record(datasets=tuple(result))

    def _rows(self) -> Rows:
        """One mapping a data set."""
        plain = ("name", "about", "good_for", "size", "licence", "citation", "home")
        rows = []
        for dataset in self.listed:
            row = {key: getattr(dataset, key) for key in plain}
            row["validate"] = shlex.join(dataset.validate)
            rows.append(row)
        return rows

    def _files(self, dataset: Dataset) -> tuple[str, ...]:
        return tuple(map(str, self.files.get(dataset.name, ())))

    def _lines(self, dataset: Dataset) -> tuple[str, ...]:
        """A data set in a list, or the place of its files; and the command that validates it."""
        paths = self.files.get(dataset.name, ())
        size = f"{dataset.size / 1e6:.1f} MB" if dataset.size else "to be got by hand"
        lines = (
            f"{dataset.about}. Good for {dataset.good_for}.",
            f"Size: {size}. Licence: {dataset.licence}.",
            f"{dataset.citation}. {dataset.home}",
        )
        if dataset.validate:
            folder = paths[0].parent if paths else Path(dataset.name)
            file, *options = dataset.validate
            words = ["refless", "validate", str(folder / file), *options]
            next_step = f"  {shlex.join(words)}"
        else:
            next_step = "Nothing in it is rated: it is for metrics."
        return (*(tuple(f"wrote {path}" for path in paths) or lines), next_step)
