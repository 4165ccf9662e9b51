"""Every report is one document, which a terminal, Markdown and a browser all can show."""

import re
from dataclasses import replace
from html import unescape
from itertools import chain

import numpy as np
import pytest
from benchmarks.simulate import simulate

from command_line import one_line
from refless.commands.explain.result import ExplainResult
from refless.data.records import Outputs, outputs_of
from refless.estimators.neighbors import BLEUNeighbors
from refless.extensions.metrics.bleu import BLEU
from refless.extensions.metrics.result import MetricResult
from refless.extensions.metrics.scoring import run
from refless.extensions.papers.huse.result import HuseResult
from refless.extensions.papers.huse.study import huse
from refless.extensions.papers.stress.material import StressItems
from refless.extensions.papers.stress.result import StressResult
from refless.extensions.papers.stress.rows import Probe, Row, Stressed
from refless.registry.signature import Signature
from refless.report.charts import row_chart
from refless.report.document import (
    Card,
    Document,
    Section,
    Table,
    folded,
    plain,
)
from refless.report.html import as_html
from refless.report.text import as_markdown, as_text

SIGNATURE = Signature("made", (("v", "1"),))


def referenced(texts: list[str], reference: str) -> Outputs:
    return replace(outputs_of(texts), references=((reference,),) * len(texts))


def explained() -> Document:
    pool = simulate(60, seed=2).pool
    estimator = BLEUNeighbors().fit(pool)
    found = estimator.explain(outputs_of(pool.texts[:1]), hide=None, most=3)
    result = ExplainResult(
        text=pool.texts[0],
        explanation=found,
        estimator=estimator,
        most=3,
        signature=estimator.signature(),
        command="refless",
    )
    return result.document()


def metrics() -> Document:
    outputs = referenced(["a b c d", "a b x d"], "a b c d")
    runs = (run(BLEU(), outputs, label="bleu", resamples=40),)
    return MetricResult(runs=runs, outputs=outputs, signature=SIGNATURE).document()


def human_likeness() -> Document:
    rng = np.random.default_rng(0)
    columns = (
        rng.integers(1, 6, 40) * 1.0,
        rng.normal(size=40) - 30,
        np.full(40, 10.0),
    )
    found = huse(*columns, np.arange(40) % 2 == 0)
    return HuseResult(
        human=found, signature=SIGNATURE, command="refless huse"
    ).document()


def stressed() -> Document:
    rows = (
        Row(label="as it was", score=0.4),
        Row(label="stuffed", score=0.6, change=0.2),
    )
    probes = tuple(
        Probe(
            name=name,
            about="What was done.",
            rows=rows,
            verdict="It rose.",
            fooled=fooled,
        )
        for name, fooled in (("stuffing", True), ("rare", False), ("frequent", None))
    )
    items = referenced([""], "a b")
    one = Stressed(
        label="bleu", signature=SIGNATURE, probes=probes, skipped={"sentence": "why"}
    )
    material = StressItems(items=items, systems={"s": ("a",)})
    result = StressResult(stressed=(one,), material=material, signature=SIGNATURE)
    return result.document()


@pytest.mark.parametrize("made", [explained, metrics, human_likeness, stressed])
def test_html_holds_what_the_terminal_shows(made) -> None:
    """The verdict, the notes, and every cell and line of every section."""
    document = made()
    page = re.sub(r"<[^>]+>", "", unescape(as_html(document))).replace("\xa0", " ")
    text = one_line(as_text(document, width=400))
    assert document.title
    for line in (document.verdict, *document.notes, *document.signatures):
        assert line in page
        assert one_line(line) in text
    for section in plain(document):
        cells = (
            [] if section.table is None else [*chain.from_iterable(section.table.rows)]
        )
        for said in (*section.lines, *cells):
            for part in said.removeprefix("signature: ").split("\n"):
                assert part.strip() in page
                assert one_line(part) in text


def test_stress_counts_what_was_decided() -> None:
    """The verdict counts tests, those without a verdict left out."""
    (card,) = stressed().cards
    assert card.answer == "bleu is fooled by 1 of 2 tests: stuffing."
    assert card.state == "no"
    assert stressed().title == "1 scorer under stress on 1 item"


CHART = Table(header=("name", "value"), rows=(("a", "1"),))
WHOLE = Document(
    title="Heading",
    verdict="All is said.",
    sections=(
        Section(
            title="Drawn",
            figures=(replace(row_chart([], "x", "drawn", "seen"), table=CHART),),
        ),
        Section(
            title="Both",
            figures=(replace(row_chart([], "x", "drawn", "s"), table=CHART),),
            table=CHART,
        ),
        Section(lines=("look out",), warning=True),
    ),
    signatures=("m|v:1",),
)


def test_text_leaves_figures_out() -> None:
    """Warnings first, the verdict next, no drawing, signature last."""
    lines = as_text(WHOLE).splitlines()
    assert lines[0] == "look out"
    assert lines[2] == "All is said."
    assert lines[-1] == "signature: m|v:1"
    assert not {"Drawn", "seen"} & {*lines}
    assert "| a | 1 |" in as_markdown(WHOLE)


def test_order_of_a_page_with_a_card() -> None:
    """The answer, what to do now, the numbers, and last what it rests on; folded on a page."""
    card = Card(
        topic="t",
        question="Is it?",
        state="yes",
        label="Yes",
        answer="It is.",
        rests="Rests on all.",
        advice="take it.",
        command="refless demo",
    )
    numbers = folded([Section(title="Table", table=CHART)])
    document = Document(
        title="Heading", cards=(card,), notes=("a limit",), sections=numbers
    )
    said = as_text(document)
    page = as_html(document)
    order = ["It is.", "Rests on all.", "take it.", "refless demo", "Table", "a limit"]
    assert sorted(order, key=said.index) == order
    assert sorted(order, key=page.index) == order
    head, *folds = page.split('<details class="fold">')
    assert "take it." in head
    assert [re.findall("<h2[^>]*>(.*?)</h2>", fold)[0] for fold in folds] == [
        "The numbers",
        "What this rests on, and what it does not say (1)",
        "How these numbers came about",
    ]


def test_html_folds_a_table_under_its_chart() -> None:
    """A section's table that its chart draws stands there once, folded."""
    part = as_html(WHOLE).split("Both</h2>")[1].split("</section>")[0]
    assert part.count("<table>") == 1
    assert "<details>" in part
