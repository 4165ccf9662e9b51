"""Public data sets: the result of `refless list datasets`."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from refless.extensions.connect.datasets import Dataset
from refless.report.document import Document, Section
from refless.report.export import Rows
from refless.report.record import Count, Record, Signed, record
from refless.report.result import Result


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
        sections = [
            Section(title=dataset.name, lines=self._lines(dataset))
            for dataset in self.listed
        ]
        if not self.files:
            command = "  refless list datasets --get NAME"
            sections.append(Section(title="To fetch one", lines=(command,)))
        return Document(title="Public data sets", sections=tuple(sections))

    def _json(self) -> Record:
        return self._record(datasets=tuple(self._records()))

    def _rows(self) -> Rows:
        """One mapping a data set."""
        rows = []
        for entry in self._records():
            row = asdict(entry) | {"validate": shlex.join(entry.validate)}
            del row["files"]
            rows.append(row)
        return rows

    def _records(self) -> Iterator[DatasetRecord]:
        for dataset in self.listed:
            files = tuple(map(str, self.files.get(dataset.name, ())))
            yield record(DatasetRecord, dataset, files=files)

    def _lines(self, dataset: Dataset) -> tuple[str, ...]:
        """A data set in a list, or the place of its files; and the command that validates it."""
        paths = self.files.get(dataset.name, ())
        lines = [f"wrote {path}" for path in paths]
        if not paths:
            megabytes = f"{dataset.size / 1e6:.1f} MB"
            size = megabytes if dataset.size else "to be got by hand"
            lines = [
                f"{dataset.about}. Good for {dataset.good_for}.",
                f"Size: {size}. Licence: {dataset.licence}.",
                f"{dataset.citation}. {dataset.home}",
            ]
        if not dataset.validate:
            return (*lines, "Nothing in it is rated: it is for metrics.")
        folder = paths[0].parent if paths else Path(dataset.name)
        file, *options = dataset.validate
        words = ["refless", "validate", str(folder / file), *options]
        return (*lines, f"  {shlex.join(words)}")
