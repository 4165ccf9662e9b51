"""Inspect: logs of evaluations, `.eval` (a zip file, most often with zstd) and `.json`.

Scores are by models or programs, unless somebody edited them or a scorer gave a list: a rating by
each of several people. All are columns, too, as they were before any edit. NaN is no score.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from refless.data.tables.exports.format import (
    Entry,
    Export,
    at,
    each,
    fields_of,
    items,
    name_in,
    number_in,
    text_in,
    texts_in,
)
from refless.data.tables.reading import Row, Source
from refless.data.tables.streams import ZIP, Place, beginning, members_of, opened
from refless.files.untrusted import check_foreign
from refless.registry.errors import InputError, MissingExtraError, RefLessError

# of a run that ended, and of one that did not
HEADERS = (
    "header.json",
    "_journal/start.json",
)
GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # as Inspect itself counts them
_SAMPLE = re.compile(r"samples/.*_epoch_0*(\d+)(\.json|/sample\.json)")
_PIECE = 1 << 12  # bytes at a time: what zstd makes of them has a bound
_OF_RUN = "eval"


def is_log(first: Mapping[str, object]) -> bool:
    """The header of a log, its first values, or the stand-in for a header that cannot be read."""
    is_unread = HEADERS[0] in first
    run_id = at(first.get(_OF_RUN), "run_id")
    return is_unread or (first.get("version") == 2 and run_id is not None)


def header_of(place: Place) -> dict[str, object]:
    """The header of a zip file that is a log; nothing of any other."""
    try:
        with _members(place) as packed:
            return _header(packed, place) or {}
    except MissingExtraError:
        return {HEADERS[0]: None}
    except InputError:
        return {HEADERS[0]: None} if place.path.endswith(".eval") else {}


def _header(packed: Any, place: Place) -> Row | None:  # noqa: ANN401 - a zip file of either library
    """The header of a log; None if the zip file has none."""
    for name in HEADERS:
        if name in packed.namelist():
            return _json(packed, name, place)
    return None


@contextmanager
def samples(place: Place) -> Iterator[Source]:
    """A row for each sample, with what its log says of the run."""
    if beginning(place, 4) != ZIP:
        log = fields_of(place.values[0] if place.values else None)
        yield _source(items(log.get("samples")), log)
        return
    with _members(place) as packed:
        header = _header(packed, place)
        if header is None:
            remedy = "an .eval file of Inspect has a header.json"
            raise InputError(
                "a zip file that is no log", path=place.path, remedy=remedy
            )
        yield _source(_samples_of_zip(packed, place), header)


def _source(samples: Iterable[object], log: Row) -> Source:
    run = {_OF_RUN: log.get(_OF_RUN)}
    rows = enumerate((fields_of(sample) | run for sample in samples), 1)
    return Source(rows=rows, lines=False)


def _samples_of_zip(packed: Any, place: Place) -> Iterator[Row]:  # noqa: ANN401 - as above
    """The samples, answers of one sample in the order of their epochs, numbers of any length."""
    names = packed.namelist()
    matches = [match for match in map(_SAMPLE.fullmatch, names) if match]
    matches.sort(key=lambda match: (len(match[1]), match[1]))
    for match in matches:
        name = match[0]
        sample = _json(packed, name, place)
        if name.endswith("/sample.json"):  # in pieces; its metadata lies beside it
            metadata_name = name.replace("/sample.json", "/metadata.json")
            metadata = (
                _json(packed, metadata_name, place) if metadata_name in names else {}
            )
            sample = {"metadata": metadata} | sample
        yield sample


@contextmanager
def _members(place: Place) -> Iterator[Any]:
    """A log as a zip file; an extra reads zstd, and from Python 3.14 on the standard library."""
    try:
        from backports.zstd import zipfile
    except ImportError:
        import zipfile  # type: ignore[no-redef]
    with opened(place) as stream, members_of(stream, place, zipfile) as packed:
        yield packed


def _json(packed: Any, name: str, place: Place) -> Row:  # noqa: ANN401 - as above
    """An object in the zip file; NaN and Infinity are numbers in it."""
    try:
        with packed.open(name) as member:
            result = json.loads(b"".join(iter(lambda: member.read(_PIECE), b"")))
    except NotImplementedError as fault:
        raise MissingExtraError(
            "A log of Inspect, packed with zstd,", "inspect"
        ) from fault
    except RefLessError:
        raise
    except Exception as fault:  # whatever damage makes of it
        check_foreign(fault)
        why = " ".join(str(fault).split())[:80] or type(fault).__name__
        remedy = "copy it again, or write it anew: inspect log convert"
        raise InputError(
            f"damaged at '{name}' ({why})", path=place.path, remedy=remedy
        ) from fault
    return fields_of(result)


def read_samples(sample: Row, left_out: Counter[str]) -> Entry | None:
    """Reads a sample: its last answer, its scores as columns, and the ratings among them."""
    text = _answer(sample)
    if text is None:
        left_out["samples without an answer"] += 1
        return None
    scores = fields_of(sample.get("scores"))
    system = name_in(at(sample, _OF_RUN, "model"))
    name = name_in(sample.get("id"))
    epoch = name_in(sample.get("epoch")) or "1"
    ratings = list[Row]()
    numbers = dict[str, object]()
    for scorer, score in scores.items():
        ratings += _by_people(scorer, score)
        value = _original(score)
        parts = {part: _number(entry) for part, entry in fields_of(value).items()}
        numbers[scorer] = parts or _number(value)
    metadata = fields_of(sample.get("metadata"))
    record = {
        "id": name_in(sample.get("uuid")) or f"{system} {name} {epoch}",
        "item": name,
        "text": text,
        "source": text_in(sample.get("input")),
        "system": system,
        "reference": texts_in(sample.get("target")),
        "scores": numbers,
        "metadata": metadata,
        "epoch": epoch,
    }
    return Entry(metadata | record, ratings)


def _answer(sample: Row) -> str | None:
    """The text of the last answer; older logs have it in the first choice alone."""
    output = sample.get("output")
    attached = fields_of(sample.get("attachments"))
    completion = at(output, "completion") or text_in(
        at(output, "choices", 0, "message", "content")
    )
    text = completion if isinstance(completion, str) else None
    mark, _, key = (text or "").partition("://")
    if mark in {"attachment", "tc"} and isinstance(attached.get(key), str):
        return str(attached[key])
    return text


def _by_people(scorer: str, score: object) -> Iterator[Row]:
    """The ratings by people: edits, else lists."""
    edits = [
        entry
        for entry in items(at(score, "history"))
        if at(entry, "provenance", "author")
    ]
    for edit in edits:
        value = at(edit, "value")
        if value != "UNCHANGED":
            who = {
                "annotator": at(edit, "provenance", "author"),
                "timestamp": at(edit, "provenance", "timestamp"),
            }
            yield from (entry | who for entry in _ratings(scorer, value))
    if not edits and isinstance(value := at(score, "value"), list):
        yield from _ratings(scorer, value)


def _ratings(scorer: str, value: object) -> Iterator[Row]:
    """A rating, one of each in a list, or one of each dimension in an object; none of NaN."""
    for part, entry in fields_of(value).items():
        yield from _ratings(f"{scorer}.{part}", entry)
    for entry in value if isinstance(value, list) else [value]:
        if (number := _number(entry)) is not None:
            yield {"rating": number, "dimension": scorer}


def _original(score: object) -> object:
    """The value before anybody edited it."""
    first = at(score, "history", 0)
    before = None if at(first, "provenance") else at(first, "value")
    return at(score, "value") if before is None else before


def _number(value: object) -> float | None:
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        return GRADES.get(value)
    result = number_in(value)
    try:
        return None if result is None else float(result)
    except OverflowError:
        return None


LOG = Export(
    title="a log of Inspect",
    looks_like=is_log,
    start=each(read_samples),
    roles=("id", "item", "text", "source", "system", "reference", "rating", "annotator",
           "timestamp", "metadata", "epoch"),
    rows=samples,
    header=header_of,
)  # fmt: skip
