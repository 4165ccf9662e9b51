"""Published files to this machine: from the network through pooch, or from a mirror; checked."""

import hashlib
from os import fspath
from pathlib import Path, PurePosixPath
from typing import Any

from refless.commands.parameters import Folder
from refless.commands.warnings import note, progress
from refless.extensions.connect.datasets import RAW, Dataset, PublishedFile
from refless.files.untrusted import is_file, is_folder, reading
from refless.files.writing import make_folder, write_atomic
from refless.registry.dialect import Blank, called
from refless.registry.errors import InputError, MissingExtraError, UsageError

PIECE = 1 << 16  # bytes read at once
PATIENCE = 30.0  # seconds without an answer
OTHER_BYTES = "these are not the bytes that were published"


def fetch(dataset: Dataset, folder: Path, mirror: Folder | None) -> tuple[Path, ...]:
    """Fetches a data set, converts it and writes it into FOLDER/NAME; its terms are told.

    Args:
        dataset: what to fetch.
        folder: where its folder is made.
        mirror: a URL or a folder where the files are copied; None for where they are published.

    Raises:
        UsageError: the data set has to be got by hand and no folder has it.
        InputError: a file that cannot be had, or whose bytes are others.
        MissingExtraError: pooch is not installed, which the network needs.
    """
    place = RAW if mirror is None else fspath(mirror)
    remote = place.startswith(("https://", "http://"))
    sources = {}
    done = 0
    with progress(f"fetching {dataset.name}") as share:
        for source in dataset.sources:
            if remote:
                content = _downloaded(dataset, source, place)
            else:
                content = _copied(Path(place), source)
            sources[source.name or source.path] = content
            done += source.size
            if share is not None:
                share(done / max(1, dataset.size))
    paths = _written(dataset, sources, folder)
    if remote:
        note(f"{dataset.name}: downloads are kept in {cache()}")
    note(f"{dataset.name}: licence: {dataset.licence}")
    note(f"{dataset.name}: please cite {dataset.citation}")
    return paths


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


def _downloaded(dataset: Dataset, source: PublishedFile, server: str) -> bytes:
    """The file in the cache, fetched if it is not there; it is kept only if its bytes are right.

    Raises:
        UsageError: the file has to be got by hand.
        InputError: the server cannot be reached or gives something else.
    """
    if not source.sha256:
        raise UsageError(
            f"{dataset.name} cannot be fetched: {dataset.licence}. Get {source.path} from "
            f"{dataset.home}, then: refless list datasets --get {dataset.name} --mirror FOLDER"
        )
    pooch = _pooch()
    import requests  # pooch needs it

    url = f"{server.rstrip('/')}/{source.place}"
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
        raise _unpublished(OTHER_BYTES, url) from fault
    return Path(path).read_bytes()


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


def _copied(folder: Path, source: PublishedFile) -> bytes:
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
    names = (source.place, f"{repository}/{path}", path, path.name)
    copies = [folder / name for name in names if is_file(folder / name)]
    for place in copies:
        with reading(place):
            content = place.read_bytes()
        if not source.sha256 or hashlib.sha256(content).hexdigest() == source.sha256:
            return content
    if copies:
        raise _unpublished(OTHER_BYTES, str(copies[0]))
    problem = f"no file {path} and no {path.name}"
    raise InputError(
        problem, path=str(folder), remedy=f"copy it there: {RAW}/{source.place}"
    )


def _unpublished(problem: str, place: str) -> InputError:
    """The error for a file that is not as it was published."""
    version = "what was published is another version, or was cut off"
    remedy = f"{version}; try again, or another {called('mirror')}"
    return InputError(problem, path=place, remedy=remedy)


def _written(
    dataset: Dataset, sources: dict[str, bytes], folder: Path
) -> tuple[Path, ...]:
    """Converts published files into FOLDER/NAME, with SOURCE.txt beside them.

    Raises:
        InputError: a file that cannot be converted; another one of that name is there already.
    """
    try:
        files = dataset.convert(sources)
    except (ValueError, LookupError, TypeError, AttributeError) as fault:
        problem = f"the file is not as it was published ({fault})"
        raise _unpublished(problem, next(iter(sources))) from fault
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
    return tuple(paths)


def is_written(dataset: Dataset, folder: Path) -> bool:
    """Whether FOLDER/NAME holds it: SOURCE.txt is written last."""
    terms = folder / dataset.name / "SOURCE.txt"
    return is_file(terms) and terms.read_bytes() == terms_of(dataset).encode()


def terms_of(dataset: Dataset) -> str:
    """The file beside the data: its title, its terms, and its origin."""
    lines = [
        f"{dataset.name}: {dataset.about}",
        f"Page: {dataset.home}",
        f"Licence: {dataset.licence}",
        f"Please cite: {dataset.citation}",
        "Converted by `refless list datasets --get` from these files (SHA-256, bytes, place):",
    ]
    for source in dataset.sources:
        digest = source.sha256 or "-"
        address = f"{RAW}/{source.place}" if source.sha256 else source.place
        lines.append(f"{digest} {source.size} {address}")
    return "".join(f"{line}\n" for line in lines)
