"""Files that scripts/docs writes beside the pages: schemas, llms.txt; and links to them."""

import sys
from pathlib import Path

from jsonschema import Draft202012Validator

from places import ROOT

sys.path.insert(0, str(ROOT / "scripts"))

from site_files import dead_links, llms, pages, schemas


def test_every_schema_has_a_link() -> None:
    """The page links to each schema that is written, and each is valid."""
    page = (ROOT / "docs" / "schemas.md").read_text("utf-8")
    written = schemas()
    for name, schema in written.items():
        Draft202012Validator.check_schema(schema)
        assert f'href="schemas/{name}.json"' in page
    assert page.count("schemas/") == len(written) + 1  # validate and judge share one


def test_agents_get_every_page() -> None:
    """A line of llms.txt a page, below the rules; llms-full.txt holds their texts."""
    short, full = llms()
    assert "Abstention is an answer" in short
    every = {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")}
    named = {Path(f"{name}.md") for name, _ in pages()}
    assert every - named == {Path("index.md"), Path("skills/refless/SKILL.md")}
    assert all(f"]({name}.md): " in short and text in full for name, text in pages())


def test_dead_links_are_named(tmp_path: Path) -> None:
    """Files and headings that are not there; pages elsewhere are not asked."""
    text = '<h1 id="top"></h1><a href="#top"></a><a href="b.html"></a><a href="#x"></a>'
    (tmp_path / "a.html").write_text(f'{text}<a href="https://example.org/c"></a>')
    assert dead_links(tmp_path) == ["a.html: #x", "a.html: b.html"]
