"""Changes of a saved folder's manifest, whose seal then holds."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from refless.files import folders


def resealed(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Changes a manifest, whose seal then holds."""
    manifest = json.loads(path.read_text())
    change(manifest)
    manifest["sha256"] = folders._seal(manifest)
    path.write_text(json.dumps(manifest))


def put(*keys: str | int, value: object) -> Callable[[dict[str, Any]], object]:
    """A change of one entry."""

    def change(manifest: Any) -> None:
        for key in keys[:-1]:
            manifest = manifest[key]
        manifest[keys[-1]] = value

    return change
