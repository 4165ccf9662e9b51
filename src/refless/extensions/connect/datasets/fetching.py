"""Published files to this machine: from the network through pooch, or from a mirror; checked."""

import hashlib
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

from refless.extensions.connect.datasets import RAW, Dataset, PublishedFile
from refless.files.untrusted import is_file, is_folder, reading
from refless.files.writing import make_folder, write_atomic
from refless.registry.dialect import Blank, called
from refless.registry.errors import InputError, MissingExtraError, UsageError

PIECE = 1 << 16  # bytes read at once
PATIENCE = 30.0  # seconds without an answer
Progress = Callable[[int], None]  # takes the bytes that have come so far


def fetched(
    dataset: Dataset, mirror: str | None, progress: Progress
) -> dict[str, bytes]:
    """The published files of a data set by their paths.

    Args:
        dataset: what to fetch.
        mirror: a URL or a folder where the files are copied; None for where they are published.
        progress: hears how many bytes are there.

    Raises:
        UsageError: the data set has to be got by hand and no folder has it.
        InputError: a file that cannot be had, or whose bytes are others.
        MissingExtraError: pooch is not installed, which the network needs.
    """
    remote = is_remote(mirror)
    if remote and dataset.by_hand:
        raise UsageError(
            f"{dataset.name} cannot be fetched: {dataset.licence}. Get {dataset.by_hand} from "
            f"{dataset.home}, then: refless list datasets --get {dataset.name} --mirror FOLDER"
        )
    result = {}
    done = 0
    for source in dataset.sources:
        if remote:
            url = f"{(mirror or RAW).rstrip('/')}/{source.place}"
            result[source.path] = downloaded(url, source).read_bytes()
        else:
            result[source.path] = copied(Path(mirror or ""), source)
        done += source.size
        progress(done)
    return result


def is_remote(mirror: str | None) -> bool:
    """Whether files come through the network."""
    return mirror is None or mirror.startswith(("https://", "http://"))


def cache() -> Path:
    """The folder of downloads.

    Raises:
        MissingExtraError: pooch is not installed.
    """
    return Path(_pooch().os_cache("refless")) / "datasets"


def _pooch() -> Any:  # noqa: ANN401 - the module
    try:
        import pooch
    except ImportError as fault:
        raise MissingExtraError("Fetching data sets", "datasets") from fault
    return pooch


def downloaded(url: str, source: PublishedFile) -> Path:
    """The file in the cache, fetched if it is not there; it is kept only if its bytes are right.

    Raises:
        InputError: the server cannot be reached or gives something else.
    """
    pooch = _pooch()
    import requests  # pooch needs it

    pooch.get_logger().setLevel("WARNING")
    name = f"{source.sha256[:16]}-{PurePosixPath(source.path).name}"
    try:
        path = pooch.retrieve(
            url,
            known_hash=f"sha256:{source.sha256}",
            fname=name,
            path=cache(),
            downloader=pooch.HTTPDownloader(chunk_size=PIECE, timeout=PATIENCE),
        )
    except requests.RequestException as fault:
        copy = called("mirror", Blank("URL|FOLDER"))
        remedy = f"check the network and try again, or name a copy: {copy}"
        raise InputError(_why(fault), path=url, remedy=remedy) from fault
    except ValueError as fault:  # pooch's word for another digest
        raise _unpublished(url) from fault
    return Path(path)


def _why(fault: Any) -> str:  # noqa: ANN401 - whatever requests raises
    """The reason in a few words why a file could not be fetched."""
    import requests

    if isinstance(fault, requests.HTTPError):
        answer: Any = fault.response
        return f"the server answered {answer.status_code} {answer.reason}"
    if isinstance(fault, requests.Timeout):
        return f"the server did not answer for {PATIENCE:g} seconds"
    if isinstance(fault, requests.exceptions.ChunkedEncodingError):
        return "the download was cut off"
    if isinstance(fault, requests.ConnectionError):
        return "the server cannot be reached"
    return f"the file cannot be fetched ({type(fault).__name__})"


def copied(folder: Path, source: PublishedFile) -> bytes:
    """The file of a folder that is laid out like the network, a clone, or holds files alone.

    Raises:
        UsageError: there is no such folder.
        InputError: it has no such file, or one with other bytes.
    """
    if not is_folder(folder):
        raise UsageError(
            f"{called('mirror', folder)}: no such folder, and no http:// or https:// either"
        )
    path = PurePosixPath(source.path)
    repository = "/".join(source.place.split("/")[1:2])
    places = [
        folder / entry
        for entry in (source.place, f"{repository}/{path}", path, path.name)
    ]
    copies = [entry for entry in dict.fromkeys(places) if is_file(entry)]
    for place in copies:
        with reading(place):
            content = place.read_bytes()
        if not source.sha256 or hashlib.sha256(content).hexdigest() == source.sha256:
            return content
    if copies:
        raise _unpublished(str(copies[0]))
    problem = f"no file {path} and no {path.name}"
    raise InputError(
        problem, path=str(folder), remedy=f"copy it there: {RAW}/{source.place}"
    )


def _unpublished(place: str) -> InputError:
    problem = "these are not the bytes that were published"
    return InputError(problem, path=place, remedy=_another_mirror())


def _another_mirror() -> str:
    """The remedy for files that are not as they were published."""
    version = "what was published is another version, or was cut off"
    return f"{version}; try again, or another {called('mirror')}"


def written(dataset: Dataset, sources: dict[str, bytes], folder: Path) -> list[Path]:
    """Converts published files into FOLDER/NAME, with SOURCE.txt beside them.

    Raises:
        InputError: a file that cannot be converted; another one of that name is there already.
    """
    try:
        files = dataset.convert(sources)
    except (ValueError, LookupError, TypeError, AttributeError) as fault:
        problem = f"the file is not as it was published ({fault})"
        raise InputError(
            problem, path=next(iter(sources)), remedy=_another_mirror()
        ) from fault
    files["SOURCE.txt"] = terms_of(dataset).encode()
    make_folder(folder / dataset.name)
    paths = {folder / dataset.name / name: content for name, content in files.items()}
    for path, content in paths.items():
        if is_file(path) and path.read_bytes() != content:
            remedy = f"move it away, or name another {called('out_dir')}"
            raise InputError(
                "another file is there already", path=str(path), remedy=remedy
            )
    for path, content in paths.items():
        write_atomic(str(path), content)
    return list(paths)


def is_written(dataset: Dataset, folder: Path) -> bool:
    """Whether FOLDER/NAME holds it: SOURCE.txt is written last."""
    progress = folder / dataset.name / "SOURCE.txt"
    return is_file(progress) and progress.read_bytes() == terms_of(dataset).encode()


def terms_of(dataset: Dataset) -> str:
    """The file beside the data: its title, its terms, and its origin."""
    lines = [
        f"{dataset.name}: {dataset.about}",
        f"Page: {dataset.home}",
        f"Licence: {dataset.licence}",
        f"Please cite: {dataset.citation}",
        "Converted by `refless list datasets --get` from these files (SHA-256, bytes, place):",
        *(
            f"{entry.sha256 or '-'} {entry.size} {_address(entry)}"
            for entry in dataset.sources
        ),
    ]
    return "".join(f"{line}\n" for line in lines)


def _address(source: PublishedFile) -> str:
    return f"{RAW}/{source.place}" if source.sha256 else source.place
