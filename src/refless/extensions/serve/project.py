"""The task as raters see it: a file of title, guidelines, consent, labels, gold items."""

import json
import re
import tomllib
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from refless.commands.compare.claims import GOAL
from refless.data.records import Scale
from refless.extensions.connect.exports.label_studio import (
    Control,
    controls_in,
    number_of_choice,
    tree_in,
)
from refless.files.untrusted import reading
from refless.registry.dialect import called
from refless.registry.errors import InputError
from refless.report.templates import escaped

# who speaks, at a line's start
TURN = re.compile(r"^[ \t]*(\w[\w -]{0,30}):[ \t]*", re.MULTILINE)
WEB = re.compile(r"((?i:https?)://\w\S*)?")  # a link to a host, or none
Render = Literal["plain", "markdown", "chat"]
Share = Annotated[float, Meta(ge=0, le=1)]
Amount = Annotated[float, Meta(ge=0, le=1e9)]


class Gold(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An output whose right rating is known.

    Attributes:
        id: of the output; answer: its right rating, of `dimension` if there are several.
        why: what a rater is told after a practice item.
        practice: whether raters begin with it, and are shown the answer.
    """

    id: str
    answer: float
    dimension: str = ""
    why: str = ""
    practice: bool = False


class Project(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a project file; all of it may be left out.

    Attributes:
        title: above the items; guidelines: Markdown, in a file the name of one that ends in .md.
        consent: what a rater agrees to before the first item.
        questions: a sentence for a dimension; labels: words for points of the scale, or of that of
            a dimension (`tone=1`).
        render: how sources and outputs are shown.
        lease: seconds for which an item is reserved for the rater who was shown it; ahead: items
            that their page holds besides, for when there is no connection.
        gold: outputs with right ratings; gold_share: share of items that are gold until all were.
        adjudicate: points of the scale beyond which raters differ, and somebody decides; 0: nobody.
        until: "difference known to 0.2", or "every system's mean to 0.15": what ends the round; of
            pairs "win rate known to 0.1"; with looks also "difference shown", or "best known".
        looks: at which the round may end, equally far apart; 0 for any number.
        join: whether one link makes a rater of each person who opens it; contact: who asks them.
        most_items: that a rater is shown; 0 for no limit. pay: for all of them, in money.
        completion_code, return_url: what a rater who is through is shown.
    """

    title: str = ""
    guidelines: str = ""
    consent: str = ""
    questions: dict[str, str] = {}
    labels: dict[str, str] = {}
    render: Render = "plain"
    lease: Annotated[float, Meta(gt=0, le=1e9)] = 900.0
    ahead: Annotated[int, Meta(ge=0, le=50)] = 0
    gold: tuple[Gold, ...] = ()
    gold_share: Share = 0.1
    adjudicate: Amount = 0.0
    until: Annotated[str, Meta(pattern=f"^({GOAL.pattern})?$")] = ""
    looks: Annotated[int, Meta(ge=0, le=50)] = 0
    join: bool = False
    contact: str = ""
    most_items: Annotated[int, Meta(ge=0)] = 0
    pay: Amount = 0.0
    completion_code: str = ""
    return_url: str = ""

    @property
    def plan(self) -> str:
        """The plan of the looks, which no later run changes; "" without one."""
        return f"until = '{self.until}', looks = {self.looks}" if self.looks else ""


def project_of(path: str) -> Project:
    """The project of a file, TOML or JSON, with the text of its guidelines.

    Raises:
        InputError: no such file, or one with an unknown name or a value of another type.
    """
    with reading(path):
        text = Path(path).read_text(encoding="utf-8")
        try:
            table = json.loads(text) if path.endswith(".json") else tomllib.loads(text)
            project = msgspec.convert(table, Project)
        except tomllib.TOMLDecodeError as fault:
            raise InputError(f"this is not TOML: {fault}", path=path) from None
        except msgspec.ValidationError as fault:
            remedy = f"a project has {', '.join(Project.__struct_fields__)}"
            raise InputError(str(fault), path=path, remedy=remedy) from None
    if not WEB.fullmatch(project.return_url):
        problem = f"return_url is {project.return_url!r}, which is no web address"
        remedy = "give a link that begins with https:// or http://"
        raise InputError(problem, path=path, remedy=remedy)
    if not project.guidelines.endswith(".md"):
        return project
    page = Path(path).parent / project.guidelines
    with reading(page):
        return msgspec.structs.replace(
            project, guidelines=page.read_text(encoding="utf-8")
        )


def labelling_project(
    path: str, names: Sequence[str]
) -> tuple[Project, Scale, tuple[str, ...]]:
    """The rating page of a labelling configuration of Label Studio, its scale, its dimensions.

    Args:
        path: of the configuration; names: of the controls that are asked; without any all are.

    Raises:
        InputError: no such controls, or some that are not alike.
    """
    tree = tree_in(path)
    every = controls_in(tree, path)
    controls = {name: every[name] for name in every if name in names or not names}
    alike = {*controls.values()}
    control = alike.pop() if len(alike) == 1 else Control(None)
    if control.scale is None:
        problem = (
            "its controls have no scale in common" if controls else "no such control"
        )
        remedy = f"name one of {', '.join(every)} with {called('dimension')}"
        raise InputError(problem, path=path, remedy=remedy)
    labels = {f"{number_of_choice(word, control):g}": word for word in control.choices}
    title = next((str(tag.get("value")) for tag in tree.iter("Header")), "")
    return Project(title=title, labels=labels), control.scale, tuple(controls)


@cache
def _markdown() -> Any:  # noqa: ANN401 - markdown-it is imported lazily
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")


def markdown(text: str) -> str:
    """Markdown as HTML; HTML in it is shown as it is written, and links lead to no script."""
    return str(_markdown().render(text))


def turns_of(text: str) -> list[tuple[str, str]]:
    """The speaker and the words of each turn: JSON messages, or lines that begin with `User:`."""
    try:
        messages = json.loads(text)
        return [(str(turn["role"]), str(turn["content"])) for turn in messages]
    except (ValueError, TypeError, KeyError, RecursionError):
        before, *parts = TURN.split(text)
    turns = [("", before.strip())] if before.strip() else []
    for speaker, words in zip(parts[::2], parts[1::2], strict=True):
        turns.append((speaker, words.strip()))
    return turns


def chat(text: str) -> str:
    """A chat as HTML, a turn a paragraph."""
    paragraphs = []
    for speaker, words in turns_of(text):
        name = f"<strong>{escaped(speaker)}</strong> " if speaker else ""
        paragraphs.append(f'<p class="turn" dir="auto">{name}{escaped(words)}</p>')
    return "".join(paragraphs)


RENDERERS = {"markdown": markdown, "chat": chat}


@lru_cache(maxsize=10_000)
def html_of(text: str, render: Render) -> str | None:
    """The text as safe HTML; None for plain text."""
    return RENDERERS[render](text) if render in RENDERERS else None


def dressed(unit: dict[str, Any] | None, render: Render) -> dict[str, Any] | None:
    """An item for a page, with its texts as HTML."""
    if unit is None or render == "plain":
        return unit
    texts: Sequence[str] = unit["texts"]
    html = {
        "source": html_of(unit["source"], render),
        "texts": [html_of(text, render) for text in texts],
    }
    return {**unit, "html": html}
