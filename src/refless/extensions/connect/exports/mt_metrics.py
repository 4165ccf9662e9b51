"""mt-metrics-eval: a folder a test set, with human and metric scores of translations, line by line.

As version 2 of its data has it: sources/, system-outputs/, human-scores/, and where they are there
references/, documents/ and metric-scores/. A file of scores has a block of lines for each system.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from glob import escape
from pathlib import Path
from typing import Any

from refless.data.tables.exports.format import About, Entry, Export, Reader
from refless.data.tables.reading import Numbered, Row, Source
from refless.data.tables.streams import Place, text_of
from refless.files.untrusted import is_folder, too_large
from refless.registry.errors import InputError

NO_TRANSLATION = "[No translation supplied]"
FOLDERS = ("sources", "system-outputs", "human-scores")
SEGMENTS = ".seg.score"
_REMEDY = "copy the folder of the test set again"
Scores = dict[str, list[float | None]]  # of each system


def folder_of(path: str) -> tuple[Path, str] | None:
    """The folder and the language pair of `FOLDER#en-de` ("" for none); None for another path."""
    folder, _, pair = path.partition("#")
    known = all(is_folder(f"{folder}/{name}") for name in FOLDERS)
    return (Path(folder), pair) if known else None


@contextmanager
def segments(place: Place) -> Iterator[Source]:
    """A row for each segment of each system, with its number among all.

    Raises:
        InputError: another folder, several language pairs, files that do not fit together.
    """
    result = folder_of(place.path)
    if result is None:
        remedy = f"name a folder with {', '.join(FOLDERS)}"
        raise InputError("no test set of mt-metrics-eval", path=place.path, remedy=remedy)
    folder, pair = result
    if sum(file.stat().st_size for file in folder.rglob("*")) > place.reading.max_bytes:
        raise too_large(place.path, place.reading.max_bytes)
    yield Source(rows=_rows(place, folder, _pair(folder, pair)), lines=False)


def _pair(folder: Path, requested: str) -> str:
    """The language pair that is asked for, or the only one."""
    pairs = sorted({file.stem for file in (folder / "sources").glob("*.*")})
    if requested in pairs or (not requested and len(pairs) == 1):
        return requested or pairs[0]
    problem = f"no language pair '{requested}'" if requested else "several language pairs"
    names = ", ".join(pairs) or "none"
    remedy = f"name one as in '{folder}#{next(iter(pairs), 'en-de')}'; there are {names}"
    raise InputError(problem, path=str(folder), remedy=remedy)


def _rows(place: Place, folder: Path, pair: str) -> Iterator[Numbered]:
    pattern = escape(pair)
    source = min((folder / "sources").glob(f"{pattern}.*"))
    sources = _texts(place, source, "source")
    systems = {
        file.stem: _texts(place, file, "hypothesis", len(sources))
        for file in sorted((folder / "system-outputs" / pair).glob("*.*"))
    }
    references = {
        file.name.split(".")[-2]: _texts(place, file, "target", len(sources))
        for file in sorted((folder / "references").glob(f"{pattern}.*.*"))
    }
    human = _all_scores(place, folder / "human-scores", f"{pair}.", systems)
    metrics = _all_scores(place, folder / "metric-scores" / pair, "", systems)
    documents = _documents(place, folder / "documents" / f"{pair}.docs", len(sources))
    number = 0
    for system, texts in systems.items():
        for i, text in enumerate(texts):
            number += 1
            human_scores = {name: scores.get(system) for name, scores in human.items()}
            yield (
                number,
                {
                    "id": f"{system}:{i + 1}",
                    "item": str(i + 1),
                    "system": system,
                    "text": text,
                    "source": sources[i],
                    "reference": [
                        of[i] for name, of in references.items() if name != system and of[i]
                    ],
                    **{name: column[i] for name, column in documents.items()},
                    "scores": {name: of[system][i] for name, of in metrics.items() if system in of},
                    "ratings": {name: of[i] for name, of in human_scores.items() if of is not None},
                },
            )


def _texts(place: Place, file: Path, field: str, n: int | None = None) -> list[str | None]:
    """The segments of a file: its lines, or a field of each object of JSONL; None for none."""
    lines: list[str | None] = [line for _, line in _lines(place, file)]
    if file.suffix == ".jsonl":
        result = [_object(line, file, number).get(field) for number, line in _lines(place, file)]
        lines = [None if entry is None else str(entry) for entry in result]
    if n is not None and len(lines) != n:
        problem = f"{len(lines)} segments where the source has {n}"
        raise InputError(problem, path=str(file), remedy=_REMEDY)
    return [None if line == NO_TRANSLATION else line for line in lines]


def _lines(place: Place, file: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file by number, without blanks at their ends."""
    with text_of(replace(place, path=str(file), raw=file)) as text:
        for number, line in enumerate(text, 1):
            yield number, line.rstrip()


def _object(line: str, file: Path, number: int) -> dict[str, Any]:
    try:
        result = json.loads(line)
    except (ValueError, RecursionError) as fault:
        raise InputError("not JSON", path=str(file), line=number, remedy=_REMEDY) from fault
    return result if isinstance(result, dict) else {}


def _all_scores(
    place: Place, folder: Path, start: str, systems: Mapping[str, list[str | None]]
) -> dict[str, Scores]:
    """The scores of segments in a folder by name: of files that begin so."""
    return {
        file.name.removeprefix(start).removesuffix(SEGMENTS): _scores(place, file, systems)
        for file in sorted(folder.glob(f"{escape(start)}*{SEGMENTS}"))
    }


def _scores(place: Place, file: Path, systems: Mapping[str, list[str | None]]) -> Scores:
    """The scores of each system, one a segment; `None` is none."""
    result: Scores = {}
    for number, line in _lines(place, file):
        name, _, score = line.replace("\t", " ").partition(" ")
        try:
            value = None if score.strip() == "None" else float(score)
        except ValueError as fault:
            problem = f"{line[:40]!r} where 'SYSTEM SCORE' is needed"
            raise InputError(problem, path=str(file), line=number, remedy=_REMEDY) from fault
        result.setdefault(name, []).append(value)
    for name, scores in result.items():
        n = len(systems.get(name, scores))
        if len(scores) != n:
            problem = f"{len(scores)} scores of '{name}', which has {n} segments"
            raise InputError(problem, path=str(file), remedy=_REMEDY)
    return result


def _documents(place: Place, file: Path, n: int) -> dict[str, list[str]]:
    """The domain and the document of each segment, where there is such a file."""
    if not file.exists():
        return {}
    lines = [line.split() for _, line in _lines(place, file)]
    if len(lines) != n or any(len(parts) != 2 for parts in lines):
        problem = f"not 'DOMAIN DOCUMENT' on each of {n} lines"
        raise InputError(problem, path=str(file), remedy=_REMEDY)
    return {name: [parts[i] for parts in lines] for i, name in enumerate(("domain", "document"))}


def read_segments(about: About) -> Reader:
    """Reads a segment: its scores by people are ratings, of a dimension each."""
    notes = about.notes
    notes.sentences.append("scores of segments are read; MQM errors of single raters are not")

    def read(row: Row) -> Entry | None:
        if row["text"] is None:
            notes.left_out["segments without a translation"] += 1
            return None
        human_scores: Any = row["ratings"]
        entries = [(name, value) for name, value in human_scores.items() if value is not None]
        ratings: list[Row] = [{"rating": value, "dimension": name} for name, value in entries]
        return Entry({name: row[name] for name in row if name != "ratings"}, ratings)

    return read


TEST_SET = Export(
    title="a test set of mt-metrics-eval",
    looks_like=lambda _: False,  # a folder, which its name tells
    start=read_segments,
    roles=("id", "item", "text", "source", "system", "reference", "rating"),
    rows=segments,
    is_folder=lambda path: folder_of(path) is not None,
)
