"""What to do where the data is not there: it has a name, and refless fetches it."""

from pathlib import Path

from refless.errors import InputError


def absent(path: Path, data: str = "data") -> InputError:
    """The error for a file that is not there; the folder it would be in is the data set's name."""
    fetch = f"refless datasets get {path.parent.name} --out-dir data, then --data {data}"
    return InputError(
        "no such file", path=str(path), remedy=f"name its folder, or fetch it: {fetch}"
    )
