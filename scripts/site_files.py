"""Writes what the site has beside its pages, then checks links: `site_files.py FOLDER`.

schemas/*.json come from the results' records, llms.txt and llms-full.txt from the pages, in the
order of docs/index.md.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, get_args
from urllib.parse import unquote, urlsplit

from refless.commands import COMMANDS, function_of
from refless.commands.lists.result import ListResult
from refless.extensions.connect.datasets.result import DatasetsResult
from refless.report.result import Result

DOCS = Path(__file__).parents[1] / "docs"
SKILL = "skills/refless/SKILL.md"


def schemas() -> dict[str, Any]:
    """The JSON Schema of each result by its class's name."""
    results = {}
    for name in COMMANDS:
        returned = function_of(name).__annotations__["return"]
        lists = (ListResult, DatasetsResult) if returned is Result else (returned,)
        for result in get_args(returned) or lists:
            results[result.__name__] = result.schema()
    return results


def pages() -> list[tuple[str, str]]:
    """Names and texts of the pages, in the order of the tables of contents."""
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    blocks = re.findall(
        r"^```\{toctree\}\n(.*?)^```$", index, flags=re.DOTALL | re.MULTILINE
    )
    lines = [line for block in blocks for line in block.splitlines()]
    names = [line for line in lines if line and not line.startswith(":")]
    return [(name, (DOCS / f"{name}.md").read_text(encoding="utf-8")) for name in names]


def title_of(text: str) -> str:
    """The first heading."""
    return re.findall(r"^# (.+)$", text, flags=re.MULTILINE)[0]


def gist_of(text: str) -> str:
    """The first sentence below the title, without links."""
    body = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    parts = [
        part.strip() for part in f"\n{body}".partition("\n# ")[2].split("\n\n")[1:]
    ]
    first = next(part for part in parts if part and part[0] not in "|#<-{")
    sentence = re.split(r"(?<=[.?:])\s(?=[A-Z`])|:\s*$", first)[0].replace("\n", " ")
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", sentence)


def llms() -> tuple[str, str]:
    """llms.txt: rules of honest use and a list of pages; llms-full.txt: the skill and all pages."""
    skill = (DOCS / SKILL).read_text(encoding="utf-8")
    rules = skill.partition("## Rules\n\n")[2].partition("\n## ")[0]
    about = title_of(skill), skill.partition("\n# ")[2].split("\n\n")[1]
    listed = "".join(f"- [{title_of(t)}]({n}.md): {gist_of(t)}\n" for n, t in pages())
    head = f"# refless\n\n> {about[1]}\n\n## Rules\n\n{rules}\n"
    short = (
        f"{head}## Docs\n\n- [Skill for coding agents]({SKILL}): {about[0]}\n{listed}"
    )
    return short, "\n\n".join([skill, *(text for _, text in pages())])


class Links(HTMLParser):
    """Targets and anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, _: str, attrs: list[tuple[str, str | None]]) -> None:
        """Takes what leads somewhere, and what can be led to."""
        for name, value in attrs:
            if value and name in ("id", "name"):
                self.anchors.add(value)
            elif value and name in ("href", "src"):
                self.targets.add(value)


def dead_links(site: Path) -> list[str]:
    """Links within the site whose file or heading is not there."""
    parsed = {
        path: Links(path.read_text(encoding="utf-8"))
        for path in sorted(site.rglob("*.html"))
    }
    dead = []
    for page, links in parsed.items():
        for link in sorted(links.targets):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (
                (page.parent / unquote(parts.path)).resolve() if parts.path else page
            )
            anchors = parsed[target].anchors if target in parsed else None
            missing = (
                anchors is not None and parts.fragment and parts.fragment not in anchors
            )
            if not target.exists() or missing:
                dead.append(f"{page.relative_to(site)}: {link}")
    return dead


def main(site: Path) -> None:
    """Writes the files and ends with the links that lead nowhere, if any."""
    (site / "schemas").mkdir(exist_ok=True)
    for name, schema in schemas().items():
        text = json.dumps(schema, indent=1, ensure_ascii=False)
        (site / "schemas" / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    for name, text in zip(("llms.txt", "llms-full.txt"), llms(), strict=True):
        (site / name).write_text(text, encoding="utf-8")
    for page in [*(name for name, _ in pages()), SKILL.removesuffix(".md")]:
        (site / page).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(DOCS / f"{page}.md", site / f"{page}.md")
    if dead := dead_links(site.resolve()):
        raise SystemExit("\n".join(["links that lead nowhere:", *dead]))


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
