"""The README as PyPI shows it, where links into the repository are dead; hatchling runs this."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

INTO_REPOSITORY = r"\]\((?!https?://|#)([^)]+)\)"


def long_description(text: str, base: str) -> str:
    """The README with links below `base`; without a base, words in the place of links."""
    if base:
        return re.sub(INTO_REPOSITORY, rf"]({base}/\1)", text)
    text = re.sub(rf"^!\[[^]]*{INTO_REPOSITORY}\n+", "", text, flags=re.MULTILINE)
    return re.sub(rf"\[([^]]*){INTO_REPOSITORY}", r"\1", text)


class LongDescription(MetadataHookInterface):
    """Puts it into the metadata of wheel and source archive."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Reads README.md, and where the repository is from pyproject.toml."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        text = long_description(text, self.config["base"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
