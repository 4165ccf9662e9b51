"""The HTML report as a file: what it holds, what it must not hold, its size, its colours."""

import base64
import hashlib
import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
import pytest

from command_line import jsonl, output_rows, rated_rows, run_well
from refless.commands.judge.metrics_compared import Agreeing, Level
from refless.commands.judge.metrics_shown import (
    card_of_metrics,
    figure_of,
    nearest_to_people,
)
from refless.commands.validate.run import validate
from refless.data.human import pool_of
from refless.estimators.neighbors import BLEUNeighbors
from refless.report import html
from refless.report.charts import row_chart
from refless.report.document import Card, Document, Section, Table
from refless.report.html import LETTERS, as_html
from refless.stats.intervals import UNDEFINED, of_best

SCALE = ("--scale", 1, 5)
NEIGHBORS = ("--estimator", "bleu-neighbors")
NASTY = (
    "</script><script>alert(1)</script>",
    "<!-- --> ]]> <svg onload=alert(2)>",
    "\"quoted\" 'twice' & &amp; `ticks` ${x} $policy",
    "escape \x1b bell \x07 line\u2028separator",
    "right \u202eto left\u202c and \u2067isolated\u2069",
    "👍 and 漢字 and עברית",
)
VOID = {"meta", "br", "col", "input", "circle", "line", "rect", "polyline", "polygon"}


class Outline(HTMLParser):
    """Elements in order, each with its attributes; fails on tags that do not pair."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {key: value or "" for key, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {key: value or "" for key, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("report")
    rows = rated_rows()
    for i, row in enumerate(rows):
        row["task"] = f"task {i // 3 % 2}"
        if i // 3 < len(NASTY):
            row["text"] = f"{row['text']} {NASTY[i // 3]}"
    jsonl(where / "rated.jsonl", rows)
    outputs = [
        {
            **row,
            "task": f"task {i % 2}",
            "text": f"{row['text']} {(*NASTY, *[''] * 9)[i]}",
        }
        for i, row in enumerate(output_rows())
    ]
    jsonl(where / "outputs.jsonl", outputs)
    return where


@pytest.fixture(scope="module")
def report(folder: Path) -> str:
    """Of `validate`; written beside the JSON of the same run."""
    out = ("-o", folder / "trust.html", "-o", folder / "trust.json")
    run_well("validate", folder / "rated.jsonl", *SCALE, *NEIGHBORS, *out)
    return (folder / "trust.html").read_text("utf-8")


@pytest.fixture(scope="module")
def worth(folder: Path) -> str:
    """Of `score`."""
    rated = ("--rated", folder / "rated.jsonl", *SCALE)
    run_well("score", folder / "outputs.jsonl", *rated, "-o", folder / "worth.html")
    return (folder / "worth.html").read_text("utf-8")


@pytest.fixture(params=["report", "worth"])
def any_report(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(request.param))


def test_answers_are_short(report: str, worth: str) -> None:
    """They have at most twenty words, and all that is the same on every page is folded."""
    for page in (report, worth):
        (answer,) = re.findall('<p class="answer">(.*?)</p>', page)
        assert len(answer.replace("\xa0", " ").split()) <= 20
        assert "signature" not in page.split('<details class="fold">')[0]


def test_held_out_estimates_are_in_the_json(report: str, folder: Path) -> None:
    """A text each, in the raters' units; the picture has a dot for each that has an estimate."""
    found = json.loads((folder / "trust.json").read_text("utf-8"))
    held_out = found["held_out"]
    assert len(held_out) == found["n"] == 48
    assert {row["rating"] for row in held_out} <= {*np.arange(1, 5.25, 0.25).tolist()}
    told = [row for row in held_out if row["estimate"] is not None]
    assert len(told) == found["estimator"]["n_scored"]
    assert report.count('class="point"') == len(told)


def test_policy_lets_in_our_own_style_and_script_only(any_report: str) -> None:
    """Everything else is refused, and the hashes are those of the text between the tags."""
    (policy,) = re.findall('Content-Security-Policy" content="(.*?)"', any_report)
    policy = policy.replace("&#39;", "'")
    assert policy.startswith("default-src 'none';")
    for tag in ("style", "script"):
        (text,) = re.findall(f"<{tag}>(.*?)</{tag}>", any_report, flags=re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_nothing_points_outside(any_report: str) -> None:
    """No address but places in the page, no style attribute, no handler."""
    outline = Outline(any_report)
    for tag, attributes in outline.elements:
        assert not attributes.keys() & {"src", "srcset", "style", "xlink:href"}
        assert not [name for name in attributes if name.startswith("on")]
        assert attributes.get("href", "#").startswith("#")
        assert tag not in {"link", "img", "iframe", "object", "base", "form"}
    assert not re.search(r"url\(|@import|https?://", any_report)


def test_texts_are_escaped(any_report: str) -> None:
    """Whatever texts hold, there is one script, and nothing that turns or ends the text around."""
    outline = Outline(any_report)
    assert [script.get("type") for script in outline.all("script")] == [
        "application/json",
        None,
    ]
    assert not re.search("[\x1b\x07\u202e\u2067]", any_report)
    assert "alert(1)" in any_report


def test_headings_and_landmarks(any_report: str) -> None:
    """One h1, levels without gaps, one main, every section and region with a name."""
    outline = Outline(any_report)
    levels = [int(tag[1]) for tag, _ in outline.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert len(outline.all("main")) == len(outline.all("h1")) == 1
    ids = [attributes["id"] for _, attributes in outline.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for section in outline.all("section"):
        assert section["aria-labelledby"] in ids
    for attributes in (
        a for _, a in outline.elements if a.get("role") in {"region", "img"}
    ):
        assert attributes["aria-label"]


def test_every_chart_has_a_name(any_report: str) -> None:
    """Each figure: a drawing with a label, and a caption."""
    figures = re.findall("<figure.*?</figure>", any_report, flags=re.DOTALL)
    assert figures
    for figure in figures:
        assert re.search(
            '<svg viewBox="[^"]+" role="img" [^>]*aria-label="[^"]', figure
        )
        assert "<figcaption>" in figure


def test_chapters(report: str, worth: str) -> None:
    """The numbers have all tables of the terminal; the origin is told."""
    for title in (
        "Side by side on the same texts",
        "Agreement with people",
        "What the correlation is made of",
    ):
        assert f"<h3>{title}</h3>" in report
    for title in ("The numbers", "How these numbers came about"):
        assert f">{title}</h2></summary>" in report
        assert f">{title}</h2></summary>" in worth
    assert "refless validate " in report
    assert "<span>--scale</span> 1 5" in report  # a flag does not break at its hyphens
    assert "bleu-neighbors|kernel" in report
    assert "<h3>Systems</h3>" in worth


def test_every_output_is_on_the_page(worth: str) -> None:
    """With the whole text, and its estimate with the interval."""
    (data,) = re.findall('id="outputs-data">(.*?)</script>', worth)
    rows = json.loads(data)["rows"]
    shown = chain.from_iterable(row["answers"] for row in rows)
    answers = [answer for answer in shown if answer]
    texts = {str(row["text"]) for row in output_rows()}
    assert len(answers) == len(texts)
    for text, people, judge, estimate, why in answers:
        assert any(text.startswith(given) for given in texts)
        assert (people, judge) == (None, None)
        assert why.startswith(f"estimate: {estimate:.2f} [")


@pytest.mark.parametrize(
    "words",
    [
        ("--group", "source"),
        ("--estimator", "bleu-neighbors:tau=1"),
    ],
    ids=str,
)
def test_every_way_to_judge(
    folder: Path, tmp_path: Path, words: tuple[object, ...]
) -> None:
    """Another group, and no estimate at all."""
    out = tmp_path / "any.html"
    run_well("validate", folder / "rated.jsonl", *SCALE, *words, "-o", out)
    Outline(out.read_text("utf-8"))


def test_size_for_many_long_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the texts' length and script: each keeps its beginning.

    A tenth of the room for 200 texts is all of it for 2,000.
    """
    monkeypatch.setattr(html, "LETTERS", LETTERS // 10)
    rng = np.random.default_rng(0)
    texts = ["".join(map(chr, rng.integers(0x4E00, 0x9FFF, 4500))) for _ in range(200)]
    pool = pool_of(texts, rng.integers(1, 6, 200).tolist(), scale=(1, 5))
    found = validate(pool, estimator=BLEUNeighbors(kernel="bleu*:orders=2-2"))
    page = found.content("html")
    assert max(map(len, re.findall("[一-鿿]+", page))) == LETTERS // 4_000
    assert len(page) < LETTERS // 10 + 300_000


def test_any_document() -> None:
    """Other results: their sections, their warnings first, their signature last."""
    table = Table(
        header=("metric", "score"), rows=(("a<b", "0.1"),), numeric=(False, True)
    )
    document = Document(
        title="Metrics",
        verdict="None is best.",
        sections=(
            Section(title="Scores", table=table, lines=("two lines",)),
            Section(lines=("careful", "  refless demo"), warning=True),
        ),
        signatures=("m|v:1",),
        command="refless judge",
    )
    text = as_html(document)
    Outline(text)
    assert text.index("careful") < text.index("Scores")
    assert "<code>refless demo</code>" in text
    assert "a&lt;b" in text
    assert text.count("m|v:1") == 1


def test_commands_of_a_card_stand_apart() -> None:
    """Each has a box, in which no flag is broken; the page says once what its ranges are."""
    lines = "refless judge FILE --score-column x\nrefless demo"
    card = Card(topic="t", question="q", state="yes", label="Yes", answer="a")
    text = as_html(Document(cards=(replace(card, advice="do", command=lines),)))
    flag = "<span>--score-column</span>"
    assert f"<code>refless judge FILE {flag} x</code>" in text
    assert "<code>refless demo</code>" in text
    assert text.count("Ranges are 95\xa0% intervals") == 1


def agreeing(name: str, spearman: float, low: float) -> Agreeing:
    return Agreeing(
        name=name,
        n_scored=50,
        pearson=math.nan,
        pearson_interval=UNDEFINED,
        spearman=spearman,
        spearman_interval=(low, spearman + 0.1),
        accuracy=0.5,
        accuracy_interval=UNDEFINED,
        tie_threshold=0.0,
        tie_accuracy=0.5,
        chance=0.5,
        undefined="",
    )


@pytest.mark.parametrize(
    ("metrics", "best", "words"),
    [
        (
            (("A", 0.5, 0.4), ("B", 0.2, 0.1)),
            ("A",),
            "0.618], significantly better than every",
        ),
        (
            (("A", 0.5, 0.4), ("B", 0.4, 0.3)),
            ("A", "B"),
            ", but it cannot be told apart from B.",
        ),
        (
            (("A", 0.5, 0.4),),
            ("A",),
            "On these 50 texts A agrees with people: Spearman 0.5",
        ),
        (
            (("A", 0.1, -0.1), ("B", 0, -1)),
            ("A", "B"),
            "no metric is shown to agree with",
        ),
        (
            (("A", 0.1, 0.01), ("B", 0, -1)),
            ("A", "B"),
            "The best of 2, A, has Spearman 0.1",
        ),
        (
            (("A", 0.5, 0.4),),
            ("A",),
            "On the 48 of these 50 texts that it scored A agrees",
        ),
        ((("A", math.nan, math.nan),), (), "no metric can be compared with people."),
        ((("A", 0.05, 0.01),), ("A",), "A hardly agrees with people: Spearman 0.05"),
        (
            (("A", 0.08, 0.05), ("B", 0, -1)),
            ("A", "B"),
            "A hardly agrees with people, Spearman 0.08",
        ),
    ],
)
def test_nearest_to_people(
    metrics: tuple[tuple[str, float, float], ...], best: tuple[str, ...], words: str
) -> None:
    """The sentence over metrics: the best one, whether tests tell it apart, or that none agrees."""
    found = tuple(agreeing(*metric) for metric in metrics)
    if "48" in words:
        found = (replace(found[0], n_scored=48),)
    chosen = of_best(metrics[0][1], found[0].spearman_interval, len(found), 50)
    level = Level(name="segment", n=50, metrics=found, best=best, best_interval=chosen)
    assert words in nearest_to_people(level)
    if "hardly" in words:
        low = replace(found[0], accuracy_interval=(0.2, 0.4), tie_accuracy=0.3)
        level = replace(level, metrics=(low, *found[1:]))
        assert "(0.300) than guessing would (0.500)" in nearest_to_people(level)
        card = card_of_metrics(level, "", figure_of(level, "texts"))
        assert (card.state, card.label) == ("no", "No")


def test_meta_has_a_report(folder: Path, tmp_path: Path) -> None:
    """Charts of both levels with their tables, the yardstick, every table of the terminal."""
    rows = rated_rows()
    for i, row in enumerate(rows):
        row |= {"length": len(str(row["text"])), "noise": i * 7 % 11}
    out = tmp_path / "meta.html"
    columns = ("--score-column", "length", "--score-column", "noise")
    run_well(
        "judge", jsonl(tmp_path / "scored.jsonl", merged(rows)), *columns, "-o", out
    )
    text = out.read_text("utf-8")
    Outline(text)
    assert text.count('<article class="card') == 2
    assert "On these 48 texts" in text
    assert "p, Holm" in text


def merged(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """One row a text: its first rating."""
    first: dict[object, dict[str, object]] = {}
    for row in rows:
        first.setdefault(row["id"], row)
    return [*first.values()]


def test_figures_without_data_are_not_offered_a_table() -> None:
    """A drawing alone, in a page without texts."""
    section = Section(title="One", figures=(row_chart([], "x", "a", "drawn"),))
    text = as_html(
        Document(title="t", verdict="v", sections=(section,), signatures=("s",))
    )
    Outline(text)
    main = re.findall("<main>.*</main>", text, flags=re.DOTALL)[0]
    assert "details" not in main.split('<section id="origin"')[0]


def luminance(color: str) -> float:
    """Relative luminance of #rrggbb (WCAG 2.2)."""
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts
    )
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast(report: str) -> None:
    """Every text colour at 4.5:1 or more on every ground, on screen light and dark and on paper."""
    themes = re.findall(r":root \{(.*?)\}", report, flags=re.DOTALL)
    assert len(themes) == 6  # light, dark and paper, of all pages and of cards
    for theme, of_cards in zip(themes[:3], themes[3:], strict=True):
        colors = dict(re.findall(r"--(\w+): (#\w{6});", theme + of_cards))
        for ground in ("paper", "raised", "warn"):
            for ink in ("ink", "soft", "blue", "orange", "yes", "no"):
                ratio = contrast(colors[ink], colors[ground])
                assert ratio >= 4.5, (
                    f"{ink} {colors[ink]} on {ground} {colors[ground]}: {ratio:.2f}"
                )
