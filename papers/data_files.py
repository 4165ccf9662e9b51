"""Files of data sets that the scripts read."""

from pathlib import Path

from refless.registry.errors import InputError


def absent(path: Path) -> InputError:
    """The error for a file of a data set that is not there: what to call to have it.

    Args:
        path: the file, in a folder of the data set's name, which lies in that of --data.
    """
    fetch = f"refless list datasets --get {path.parent.name} --out-dir data, then --data data"
    remedy = f"name its folder, or fetch it: {fetch}"
    return InputError("no such file", path=str(path), remedy=remedy)
