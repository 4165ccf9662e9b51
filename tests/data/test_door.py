"""Files as people have them: of each kind that misleads, some in the shape of a public tool's.

Words and numbers are made up. For each of twelve questions the new system is rated one step above
the old one, so their difference is 1 where the right cells are read; what must not count differs.
Where a file leaves a choice, the command that is printed for it is run, too.
"""

from __future__ import annotations

import io
import json
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import rows
from command_line import Ran, jsonl, run
from places import EXPORTS
from rows import renamed

QUESTIONS = range(12)
PAIRS = tuple(product(QUESTIONS, ("old", "new")))
STEPS = range(1, 6)
PEOPLE = ("ann", "bob", "cat")
Row = Mapping[str, object]


def answer(i: int, system: str) -> str:
    """A system's answer to question i."""
    manner = "loudly" if system == "old" else "softly"
    return f"Kettle number {i} boils its water within {i + 3} minutes and whistles {manner}."


def rating(i: int, system: str) -> int:
    """2, 3 or 4 for the old system, one more for the new one."""
    return 2 + 7 * i % 3 + (system == "new")


def is_good(i: int, system: str) -> bool:
    """Whether people accept the answer: those rated 4 or 5, half of all."""
    return rating(i, system) >= 4


def turns(i: int, system: str) -> list[Row]:
    """Question and answer as a chat."""
    question = {"role": "user", "content": f"How is kettle {i}?"}
    return [question, {"role": "assistant", "content": answer(i, system)}]


def plain(i: int, system: str, **more: object) -> Row:
    """A row in which refless knows all names, and more."""
    return {"item": i, "model": system, "response": answer(i, system), **more}


def by_people(i: int, system: str) -> list[Row]:
    """A rating by each person; one is stricter than the others by a step."""
    given = rating(i, system)
    return [{"worker_id": who, "rating": given - (who == "ann")} for who in PEOPLE]


def file_each(name: str, row: Callable[[int, str], Row]) -> dict[str, list[Row]]:
    """A file for each system, whose name stands for {} in the file's."""
    files = {}
    for system in ("old", "new"):
        files[name.format(system)] = [row(i, system) for i in QUESTIONS]
    return files


def merged_systems() -> bytes:
    """A workbook in which the name of each system is merged over its rows."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["system", "item", "output", "rating"])
    for system in ("old", "new"):
        first = book.active.max_row + 1
        for i in QUESTIONS:
            book.active.append([system, i, answer(i, system), rating(i, system)])
        book.active.merge_cells(f"A{first}:A{first + len(QUESTIONS) - 1}")
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


@dataclass(frozen=True)
class Sibling:
    """A file and what is right about it.

    Attributes:
        name: the kind and the tool; shape: where its form is described.
        files: name -> rows, an object of JSON, text or bytes.
        command: the command line; right: what `found` gives of its JSON.
        found: `difference` (new minus old), `rate` (of wins of the new one), `annotator` (the
            average one's Spearman), `n` (outputs), or a measure of the judge.
        said: on standard error of that command, each of them.
        printed: the flags in a refusal or note that are then added; NAME, X and NUMBER stand for
            the words of `filled`.
        refused: whether there is no answer before that.
    """

    name: str
    shape: str
    files: Mapping[str, Any]
    command: str
    right: float | None = None
    found: str = "difference"
    said: Sequence[str] = ()
    printed: str = ""
    filled: Sequence[str] = ()
    refused: bool = field(default=False, kw_only=True)


def write(folder: Path, name: str, content: Any) -> None:
    """A file in the format of its ending."""
    if isinstance(content, bytes | str):
        rows.write(folder, name, content)
    elif name.endswith(".jsonl"):
        jsonl(folder / name, content)
    elif name.endswith(".json"):
        rows.write(folder, name, json.dumps(content))
    else:
        delimiter = "\t" if name.endswith(".tsv") else ","
        table = rows.csv_of(content, delimiter=delimiter, restval="")
        rows.write(folder, name, table)


def value(result: Any, found: str) -> float | None:
    """A number of a result on the systems, or on the judge."""
    if found == "difference":
        (pair,) = result["pairs"]
        sign = 1 if Path(pair["second"]).stem == "new" else -1
        return sign * float(pair["difference"]["value"])
    if found == "rate":
        (pair,) = result["wins"]
        rate = float(pair["by_item"]["rate"])
        return rate if pair["second"] == "new" else 1 - rate
    if found == "n":
        return float(result["n"])
    if found == "annotator":
        return float(result["beside"]["annotator"])
    measure = result["judges"][0]["measures"][found]["value"]
    return None if measure is None else float(measure)


def again(command: str, printed: str, filled: Sequence[str]) -> str:
    """The command line with the flags that were printed, their placeholders filled."""
    flags = printed
    for word in filled:
        place = next(name for name in ("NAME", "NUMBER", "X") if name in flags)
        flags = flags.replace(place, word, 1)
    return f"{command} {flags}"


UNREAD = (
    Sibling(
        "unread: Opik, a column a reviewer",
        "github.com/comet-ml/opik, pull request 3544",
        {
            "queue.csv": [
                {
                    "id": f"{i}-{system}",
                    "input": f"How is kettle {i}?",
                    "output": answer(i, system),
                    "model": system,
                    "[ann].quality": rating(i, system),
                    "[ann].quality.reason": "clear",
                    "[bob].quality": 6 - rating(i, system),
                }
                for i, system in PAIRS
            ]
        },
        "compare queue.csv --scale 1 5 --column 'rating=[ann].quality'",
        1,
        said=("left unread: '[ann].quality.reason', '[bob].quality'",),
    ),
    Sibling(
        "unread: SummEval, crowd workers beside experts",
        "github.com/Yale-LILY/SummEval README.md, model_annotations.aligned.jsonl",
        {
            "aligned.jsonl": [
                {
                    "id": f"cnn-{i}",
                    "decoded": answer(i, system),
                    "model_id": system,
                    "reference": f"Kettle {i} boils.",
                    "expert_annotations": [
                        {"coherence": rating(i, system), "fluency": 5}
                    ]
                    * 3,
                    "turker_annotations": [
                        {"coherence": 6 - rating(i, system), "fluency": 4}
                    ]
                    * 5,
                }
                for i, system in PAIRS
            ]
        },
        "compare aligned.jsonl --scale 1 5 --column text=decoded --column system=model_id "
        "--column 'rating=expert_annotations.*.coherence'",
        1,
        said=("'expert_annotations.*.fluency'", "'turker_annotations'"),
    ),
)

OTHER_MEANINGS = (
    Sibling(
        "a usual name: HANNA, whose 'Human' is a story",
        "github.com/dig-team/hanna-benchmark-asg README.md, hanna_stories_annotations.csv",
        {
            "hanna.csv": [
                {
                    "Story ID": PAIRS.index((i, system)),
                    "Prompt": f"Write about kettle {i}.",
                    "Human": f"Once upon a time kettle {i} belonged to a king of the hills.",
                    "Story": answer(i, system),
                    "Model": system,
                    "Relevance": 3,
                    "Coherence": rating(i, system),
                    "Worker ID": who,
                }
                for (i, system), who in product(PAIRS, PEOPLE)
            ]
        },
        "compare hanna.csv --scale 1 5 --column text=Story --dimension Coherence",
        1,
        said=(
            "annotator from 'Worker ID'",
            "left unread: 'Story ID', 'Human', 'Relevance'",
        ),
    ),
    Sibling(
        "a usual name: Prodigy, whose 'answer' is a verdict",
        "prodi.gy/docs/recipes, recipe choice: _annotator_id, accept, answer",
        {
            "choices.jsonl": [
                {
                    "text": answer(i, system),
                    "model": system,
                    "_task_hash": PAIRS.index((i, system)),
                    "accept": [f"{rating(i, system) if who != 'cat' else 1}"],
                    "answer": "accept" if who != "cat" else "ignore",
                    "_annotator_id": f"set-{who}",
                }
                for (i, system), who in product(PAIRS, PEOPLE)
            ]
        },
        "compare choices.jsonl --scale 1 5",
        1,
        said=("left out: 24 ignored tasks",),
    ),
)

QUALTRICS = (
    "StartDate",
    "Status",
    "Finished",
    "ResponseId",
    "item",
    "model",
    "response",
    "Q1",
)
ASKED = (
    "Start Date",
    "Response Type",
    "Finished",
    "Response ID",
    "item",
    "model",
    "response",
    "?",
)


def survey(previews: str) -> list[Row]:
    """Answers of a survey below the lines of questions and import ids; a preview for each."""
    rows = [ASKED, tuple(json.dumps({"ImportId": name}) for name in QUALTRICS)]
    for (i, system), status in product(PAIRS, ("0", previews)):
        number = f"R_{i}{system}{status}"
        choice = rating(i, system) if status == "0" else 1
        own = (i, system, answer(i, system), choice)
        rows.append(("2026-05-01", status, "1", number, *own))
    return [dict(zip(QUALTRICS, row, strict=True)) for row in rows]


def segment(i: int, system: str, *, damaged: bool = False) -> Row:
    """A segment of WMT with its score, or a damaged copy of it, which has 0."""
    return {
        "itemType": "BAD" if damaged else "TGT",
        "documentID": f"news-{i}#bad" if damaged else f"news-{i}",
        "sourceText": f"Kessel {i}",
        "targetText": answer(i, system)[:15] if damaged else answer(i, system),
        "targetID": system,
        "score": 0 if damaged else 20 * rating(i, system),
    }


INVALID = (
    Sibling(
        "invalid rows: Qualtrics, numeric values, lines below the names",
        "qualtrics.com/support, Understanding Your Dataset: 3 rows of headers; Status",
        {"survey.csv": survey("1")},
        "compare survey.csv --scale 1 5 --column rating=Q1",
        1,
        said=("2 lines of questions and import ids", "24 'Survey Preview'"),
    ),
    Sibling(
        "invalid rows: Qualtrics, spam",
        "the same",
        {"survey.csv": survey("8")},
        "compare survey.csv --scale 1 5 --column rating=Q1",
        1,
        said=("24 'Spam'",),
    ),
    Sibling(
        "invalid rows: Toloka, rejected assignments",
        "toloka-kit get_assignments_df: INPUT:, OUTPUT:, ASSIGNMENT:status, ASSIGNMENT:worker_id",
        {
            "assignments.tsv": [
                {
                    "INPUT:text": answer(i, system),
                    "INPUT:model": system,
                    "OUTPUT:rating": rating(i, system)
                    if who != "cat"
                    else 6 - rating(i, system),
                    "GOLDEN:rating": "",
                    "ASSIGNMENT:worker_id": who,
                    "ASSIGNMENT:status": "APPROVED" if who != "cat" else "REJECTED",
                }
                for (i, system), who in product(PAIRS, PEOPLE)
            ]
        },
        "compare assignments.tsv --scale 1 5 --column text=INPUT:text --column system=INPUT:model "
        "--column rating=OUTPUT:rating --column annotator=ASSIGNMENT:worker_id",
        1,
        said=("ASSIGNMENT:status is 24 'REJECTED'",),
    ),
    Sibling(
        "invalid rows: WMT's ESA, damaged segments as controls",
        "github.com/wmt-conference/ErrorSpanAnnotation preparation/wmt24/quality_control.py",
        {
            "esa.jsonl": [
                *(segment(i, system) for i, system in PAIRS),
                *(segment(i, system, damaged=True) for i, system in PAIRS[::4]),
            ]
        },
        "compare esa.jsonl --scale 0 100 --column text=targetText --column rating=score "
        "--column system=targetID --column source=sourceText",
        20,
        said=("itemType is 6 'BAD'",),
    ),
    Sibling(
        "invalid rows: Prolific, returned and timed out",
        "docs.prolific.com, submissions: APPROVED, RETURNED, TIMED-OUT, REJECTED",
        {
            "submissions.csv": [
                plain(i, system, Status=status, rating=rating(i, system) if ok else 1)
                for (i, system), (status, ok) in product(
                    PAIRS,
                    (
                        ("APPROVED", True),
                        ("RETURNED", False),
                        ("TIMED-OUT", False),
                    ),
                )
            ]
        },
        "compare submissions.csv --scale 1 5",
        1,
        said=("24 'RETURNED', 24 'TIMED-OUT'",),
    ),
)

WHO = (
    Sibling(
        "who rated: a list of annotations, in the order of their arrival",
        "label_studio_sdk and the exports of Scale: annotations with a worker's id each",
        {
            "tasks.jsonl": [
                {
                    "task_id": f"{i}-{system}",
                    "response": answer(i, system),
                    "model": system,
                    "annotations": by_people(i, system)[:: 1 if i % 2 else -1],
                }
                for i, system in PAIRS
            ]
        },
        "validate tasks.jsonl --scale 1 5 --column 'rating=annotations.*.rating'",
        1,  # everyone's ratings go up with the mean of the others'; by place they do not
        "annotator",
        said=("annotators from 'annotations.*.worker_id'",),
    ),
    Sibling(
        "who rated: a column of means among those of annotators",
        "github.com/prakharguptaz/multirefeval: human_average_rating beside single ratings",
        {
            "wide.csv": [
                plain(
                    i,
                    system,
                    rater_ann=rating(i, system) - 1,
                    rater_bob=rating(i, system),
                    rater_cat=rating(i, system),
                    rater_mean=round(rating(i, system) - 1 / 3, 2),
                )
                for i, system in PAIRS
            ]
        },
        "validate wide.csv --scale 1 5 --column 'rating=rater_*'",
        1,
        "annotator",
        said=("left unread: 'rater_mean'",),
    ),
)

CRITERIA = (
    Sibling(
        "criteria pooled: MT-Bench, two turns",
        "huggingface.co/datasets/lmsys/mt_bench_human_judgments",
        {
            "human.jsonl": [
                {
                    "question_id": 80 + i,
                    "model_a": "old",
                    "model_b": "new",
                    "winner": "model_b" if (i % 4 > 0) == (turn == 1) else "model_a",
                    "judge": judge,
                    "conversation_a": turns(i, "old"),
                    "conversation_b": turns(i, "new"),
                    "turn": turn,
                }
                for i, judge, turn in product(
                    QUESTIONS, ("expert_1", "author_2"), (1, 2)
                )
            ]
        },
        "compare human.jsonl",
        0.75,
        "rate",
        said=("ratings of several dimensions in 'turn': '1' (48), '2' (48)",),
        printed="--dimension 1",
        refused=True,
    ),
    Sibling(
        "criteria pooled: a table of tidyr's pivot_longer",
        "tidyr.tidyverse.org/reference/pivot_longer.html: columns 'name' and 'value'",
        {
            "long.csv": [
                {
                    "text": answer(i, system),
                    "model": system,
                    "rater": who,
                    "name": name,
                    "value": rating(i, system)
                    if name == "fluency"
                    else 6 - rating(i, system),
                }
                for (i, system), who, name in product(
                    PAIRS, PEOPLE[:2], ("fluency", "adequacy")
                )
            ]
        },
        "compare long.csv --scale 1 5 --column rating=value",
        1,
        said=(
            "ratings of several dimensions in 'name': 'fluency' (48), 'adequacy' (48)",
        ),
        printed="--dimension fluency",
        refused=True,
    ),
)

MERGED = (
    Sibling(
        "merged cells: systems merged over their rows",
        "openpyxl.readthedocs.io, Merge cells: all but the top left cell are removed",
        {"rated.xlsx": merged_systems},
        "compare rated.xlsx --scale 1 5",
        1,
    ),
    Sibling(
        "merged cells: such a sheet saved as CSV",
        "the same; CSV knows no merged cells",
        {
            "rated.csv": [
                {
                    "system": system if i == 0 else "",
                    "item": i,
                    "output": answer(i, system),
                    "rating": rating(i, system),
                }
                for system, i in product(("old", "new"), QUESTIONS)
            ]
        },
        "compare rated.csv --scale 1 5",
        said=(
            "line 3, column 'system': no system",
            "merged cells leave all but the first blank",
        ),
        refused=True,
    ),
)

UNITS = (
    Sibling(
        "units: GEMBA from 0 to 100 beside SQM from 0 to 6",
        "github.com/google/wmt-mqm-human-evaluation README.md (SQM); arXiv 2302.14520 (GEMBA)",
        {
            "sqm.csv": [
                plain(
                    i,
                    system,
                    rating=rating(i, system),
                    GEMBA=19 * rating(i, system) + i % 3,
                )
                for i, system in PAIRS
            ]
        },
        "judge sqm.csv --scale 0 6 --score-column GEMBA",
        None,
        "bias",
        said=("GEMBA: scores go from", "the units differ"),
    ),
    Sibling(
        "units: thumbs of -1 and 1 beside ratings from 1 to 5",
        "langfuse.com/docs, user feedback: thumbs as numeric scores",
        {
            "thumbs.csv": [
                plain(
                    i,
                    system,
                    rating=rating(i, system),
                    thumb=1 if is_good(i, system) else -1,
                )
                for i, system in PAIRS
            ]
        },
        "judge thumbs.csv --scale 1 5 --score-column thumb",
        None,
        "bias",
        said=("thumb: scores go from -1 to 1", "the units differ"),
    ),
)

CODES = (
    Sibling(
        "codes: MT-Bench, -1 where GPT-4 gave no score",
        'github.com/lm-sys/FastChat fastchat/llm_judge/show_result.py: df["score"] != -1',
        {
            "single.jsonl": [
                plain(
                    i,
                    system,
                    rating=2 * rating(i, system),
                    score=-1
                    if system == "old" and i > 9
                    else 2 * rating(i, system) - 1,
                )
                for i, system in PAIRS
            ]
        },
        "judge single.jsonl --scale 1 10 --score-column score",
        -1,
        "bias",
        said=("2 of 24 scores are -1",),
        printed="--read score-map=-1=",
    ),
    Sibling(
        "codes: -99 for a question that was skipped",
        "pypi.org/project/django-ddm 2.1.1, docs: -99 (skipped), -77 (filtered out)",
        {
            "survey.csv": [
                plain(i, system, rating=-99 if i in {3, 7} else rating(i, system))
                for i, system in PAIRS
            ]
        },
        "compare survey.csv",
        1,
        said=("4 of 24 ratings are -99",),
        printed="--read rating-map=-99=",
    ),
)

DIRECTION = (
    Sibling(
        "direction: MQM, mean penalties of segments",
        "github.com/google/wmt-mqm-human-evaluation, mqm_newstest2020_ende.avg_seg_scores.tsv",
        {
            "mqm.tsv": [
                {
                    "system": system,
                    "mqm_avg_score": 10 - rating(i, system),
                    "seg_id": i,
                    "source": f"Kessel {i}",
                    "target": answer(i, system),
                }
                for i, system in PAIRS
            ]
        },
        "compare mqm.tsv --column text=target --column rating=mqm_avg_score",
        1,
        said=("if lower is better, as the name says",),
        printed="--lower-is-better mqm_avg_score",
    ),
    Sibling(
        "direction: HaluEval, yes for a hallucination",
        "github.com/RUCAIBox/HaluEval README.md, data/general_data.json",
        {
            "halu.jsonl": [
                {
                    "user_query": f"How is kettle {i}?",
                    "chatgpt_response": answer(i, system),
                    "model": system,
                    "hallucination_label": "No"
                    if system == "new" or i % 4 == 0
                    else "Yes",
                }
                for i, system in PAIRS
            ]
        },
        "compare halu.jsonl --column text=chatgpt_response --column rating=hallucination_label",
        0.75,
        said=("'yes' is 1, 'no' is 0", "if lower is better, as the name says"),
        printed="--lower-is-better hallucination_label",
    ),
)

THRESHOLDS = (
    Sibling(
        "thresholds: DeepEval, whose verdict is 'success'",
        "deepeval 4.3.1 test_run/api.py, metricsData",
        {
            "run.json": {
                "testCases": [
                    {
                        "input": f"How is kettle {i}?",
                        "actualOutput": answer(i, system),
                        "success": rating(i, system) == 5,
                        "metricsData": [
                            {
                                "name": "Helpful",
                                "score": rating(i, system) / 5,
                                "threshold": 0.9,
                                "success": rating(i, system) == 5,
                            }
                        ],
                        "metadata": {"human": is_good(i, system)},
                    }
                    for i, system in PAIRS
                ],
                "testPassed": 4,
            }
        },
        "judge run.json --score-column metricsData.0.success --column rating=metadata.human",
        1 / 6,  # 4 of 24 are rated 5
        "judge_rate",
        said=("'metricsData.*.score', 'metricsData.*.threshold'",),
    ),
    Sibling(
        "thresholds: Ragas, scores from 0 to 1",
        "ragas 0.4.3 dataset_schema.py",
        {
            "ragas.csv": [
                {
                    "user_input": f"How is kettle {i}?",
                    "response": answer(i, system),
                    "reference": "It boils.",
                    "faithfulness": rating(i, system) / 5,
                    "rating": "pass" if is_good(i, system) else "fail",
                }
                for i, system in PAIRS
            ]
        },
        "judge ragas.csv --score-column faithfulness",
        0.5,  # 4 and 5 of 5
        "judge_rate",
        said=("faithfulness: scores pass from 0.5 on",),
        printed="--pass X",
        filled=("0.8",),
    ),
)

CATEGORIES = (
    Sibling(
        "categories: Langfuse, the API's third version",
        "fern/apis/server/definition/scores-v3.yml",
        {
            "scores.json": {
                "data": [
                    {
                        "id": f"{i}{system}{source}",
                        "name": "helpful",
                        "source": source,
                        "dataType": "CATEGORICAL",
                        "value": "bad"
                        if (i % 4 == 0) == (source == "EVAL")
                        else "good",
                        "subject": {"kind": "trace", "id": f"trace {i} {system}"},
                    }
                    for (i, system), source in product(PAIRS, ("ANNOTATION", "EVAL"))
                ]
            }
        },
        "judge scores.json --dimension helpful --score-column scores.helpful",
        0.25,
        "base_rate",
        said=("'good' is 1, 'bad' is 0",),
    ),
    Sibling(
        "categories: Label Studio, choices without the configuration",
        "label_studio_sdk converter/exports/csv2.py",
        {
            "project.csv": [
                {
                    "id": PAIRS.index((i, system)),
                    "response": answer(i, system),
                    "model": system,
                    "quality": ("Poor", "Fair", "Good", "Great")[rating(i, system) - 2],
                    "annotator": 1,
                    "annotation_id": PAIRS.index((i, system)),
                    "lead_time": 3.2,
                }
                for i, system in PAIRS
            ]
        },
        "compare project.csv --scale 1 5 --dimension quality",
        1,
        said=("ratings that are not numbers: 'fair', 'great', 'poor'",),
        printed="--read rating-map=fair=NUMBER,good=NUMBER,great=NUMBER,poor=NUMBER",
        filled=("3", "4", "5", "2"),
        refused=True,
    ),
)

WORDS = (
    Sibling(
        "words as scores: Phoenix, factual or hallucinated",
        "arize.com/docs/ax/evaluate/evaluators/llm-as-a-judge, output labels",
        {
            "evals.csv": [
                plain(
                    i,
                    system,
                    rating="pass" if is_good(i, system) else "fail",
                    faithful="factual"
                    if system == "new" or i % 4 == 0
                    else "hallucinated",
                )
                for i, system in PAIRS
            ]
        },
        "judge evals.csv --score-column faithful",
        0.625,  # all 12 of the new system and 3 of the old one
        "judge_rate",
        said=("score 'factual' is not a number",),
        printed="--read score-map=factual=NUMBER,hallucinated=NUMBER",
        filled=("1", "0"),
        refused=True,
    ),
    Sibling(
        "words as scores: OpenAI's evals, Y or N",
        "github.com/openai/evals evals/registry/modelgraded/closedqa.yaml: choice_strings YN",
        {
            "graded.jsonl": [
                plain(
                    i,
                    system,
                    rating="pass" if is_good(i, system) else "fail",
                    choice="N" if i % 3 == 0 else "Y",
                )
                for i, system in PAIRS
            ]
        },
        "judge graded.jsonl --score-column choice",
        2 / 3,
        "judge_rate",
        said=("score 'N' is not a number",),
        printed="--read score-map=n=NUMBER,y=NUMBER",
        filled=("0", "1"),
        refused=True,
    ),
)

BLANKS = {"old": " ", "new": "\u00a0"}
KEYS = (
    Sibling(
        "keys: ids of rated texts and of outputs, which differ in capitals and blanks",
        "excel and forms: a trailing blank, a capital at the beginning",
        {
            "rated.csv": [
                {"id": f"q{i}", "text": answer(i, "old"), "rating": rating(i, "old")}
                for i in QUESTIONS
            ],
            "outputs.csv": [
                {"id": f"Q{i} ", "text": answer(i, "old")} for i in QUESTIONS
            ],
        },
        "score outputs.csv --rated rated.csv --scale 1 5",
        12,
        "n",
        said=(
            "ids 'Q0 ' and 'q0' differ in form alone and do not match (12 ids like these)",
        ),
    ),
    Sibling(
        "keys: numbers with zeros before them in one of two files",
        "support.microsoft.com, Keeping leading zeros: Excel removes them from CSV",
        file_each(
            "{}.csv",
            lambda i, system: {
                "id": f"{i:03}" if system == "old" else i,
                "output": answer(i, system),
                "rating": rating(i, system),
            },
        ),
        "compare old.csv new.csv --scale 1 5",
        1,
        said=(
            "ids '0' and '000' differ in form alone and do not match (12 ids like these)",
        ),
    ),
    Sibling(
        "keys: blanks that do not break, as HTML has them",
        "pandas.pydata.org, read_html: &nbsp; becomes U+00A0",
        file_each(
            "{}.csv",
            lambda i, system: {
                "question": f"How is{BLANKS[system]}kettle {i}?",
                "output": answer(i, system),
                "rating": rating(i, system),
            },
        ),
        "compare old.csv new.csv --scale 1 5",
        1,
        said=("differ in form alone and do not match (12 sources like these)",),
    ),
)


def runs(system: str) -> list[Row]:
    """Answers of two versions of an application, which both systems have."""
    return [
        {
            "input": f"How is kettle {i}?",
            "output": answer(i, system),
            "version": version,
            "rating": rating(i, system),
        }
        for i, version in product(QUESTIONS, ("1.0", "1.1"))
    ]


TWO_FILES = (
    Sibling(
        "two files: AlpacaEval, of one generator",
        "github.com/tatsu-lab/alpaca_eval README.md, model_outputs: instruction, output, generator",
        file_each(
            "{}.json",
            lambda i, system: {
                "instruction": f"Describe kettle {i}.",
                "output": answer(i, system),
                "generator": "gemma",
                "human": rating(i, system),
            },
        ),
        "compare old.json new.json --scale 1 5",
        1,
        said=("'generator'",),
    ),
    Sibling(
        "two files: runs of the same versions of an application",
        "langfuse.com/docs, releases and versioning: a column 'version' of each trace",
        {"old.jsonl": runs("old"), "new.jsonl": runs("new")},
        "compare old.jsonl new.jsonl --scale 1 5",
        1,
        said=("the files are compared: each has answers of '1.0', '1.1'",),
    ),
)

BY_MODELS = (
    Sibling(
        "choices of models: distilabel, pairs with GPT-4's scores",
        "huggingface.co/datasets/argilla/distilabel-intel-orca-dpo-pairs",
        {
            "orca.jsonl": [
                {
                    "input": f"How is kettle {i}?",
                    "chosen": answer(i, "new"),
                    "rejected": answer(i, "old"),
                    "labelling_model": "gpt-4-1106-preview",
                    "rating": [9.0, 8.0],
                    "chosen_score": 9.0,
                }
                for i in QUESTIONS
            ]
        },
        "compare orca.jsonl",
        said=("pairs made of scores (score_chosen), which are GPT-4's",),
        refused=True,
    ),
    Sibling(
        "choices of models: a panel of judges as raters",
        "arXiv 2404.18796, Replacing Judges with Juries: Command R, GPT-3.5, Haiku",
        {
            "jury.csv": [
                plain(i, system, rater=rater, rating=rating(i, system))
                for (i, system), rater in product(
                    PAIRS, ("command-r", "gpt-3.5-turbo", "claude-3-haiku")
                )
            ]
        },
        "compare jury.csv --scale 1 5",
        1,
        said=("the annotators are models by their names: 'claude-3-haiku'",),
        printed="--column annotator=rater",
        refused=True,
    ),
)


def by_number(cells: Iterable[object]) -> Row:
    """A column as pandas writes it: an object with the number of each row."""
    return {f"{row}": cell for row, cell in enumerate(cells)}


ERRORS = (
    Sibling(
        "errors: a frame of pandas as JSON, by columns",
        "pandas.pydata.org, DataFrame.to_json: orient='columns' if nothing is said",
        {
            "frame.json": {
                "item": by_number(i for i, _ in PAIRS),
                "system": by_number(system for _, system in PAIRS),
                "text": by_number(answer(*pair) for pair in PAIRS),
                "rating": by_number(rating(*pair) for pair in PAIRS),
            }
        },
        "compare frame.json --scale 1 5",
        1,
        said=("rows by columns",),
    ),
    Sibling(
        "errors: a frame of pandas as a pickle",
        "pandas.pydata.org, DataFrame.to_pickle",
        {"frame.pkl": b"\x80\x05\x95\x1a\x00\x00\x00\x00\x00\x00\x00\x8c\x04text\x94."},
        "compare frame.pkl --scale 1 5",
        said=(
            "this is a pickle",
            "to_json('FILE.jsonl', orient='records', lines=True)",
        ),
        refused=True,
    ),
)

BY_VALUES = (
    Sibling(
        "a usual name: HANNA without a flag for the ratings",
        "github.com/dig-team/hanna-benchmark-asg README.md, hanna_stories_annotations.csv",
        OTHER_MEANINGS[0].files,
        "compare hanna.csv --scale 1 5 --column text=Story",
        1,
        said=("no column for the rating",),
        printed="--column rating=NAME",
        filled=("Coherence",),
        refused=True,
    ),
    Sibling(
        "invalid rows: Argilla's first version, a discarded response in a list",
        "huggingface.co/datasets/carlosug/end2end_textclassification README.md: user_id, value, "
        "status",
        {
            "records.jsonl": [
                {
                    "prompt": f"How is kettle {i}?",
                    "response": answer(i, system),
                    "model": system,
                    "quality": [
                        {
                            "user_id": "ann",
                            "value": rating(i, system),
                            "status": "submitted",
                        },
                        {
                            "user_id": "bob",
                            "value": 6 - rating(i, system),
                            "status": "discarded",
                        },
                    ],
                }
                for i, system in PAIRS
            ]
        },
        "compare records.jsonl --scale 1 5 --column 'rating=quality.*.value'",
        1,
        said=("'discarded'",),
    ),
    Sibling(
        "criteria pooled: a frame of pandas, melted",
        "pandas.pydata.org, melt: columns 'variable' and 'value' if nothing is said",
        {"melted.csv": renamed(CRITERIA[1].files["long.csv"], name="variable")},
        "compare melted.csv --scale 1 5 --column rating=value",
        1,
        said=("'variable' is 'fluency', 'adequacy'",),
        printed="--column dimension=variable --dimension fluency",
        refused=True,
    ),
    Sibling(
        "choices of models: MT-Bench, the pairs that GPT-4 judged",
        "huggingface.co/datasets/lmsys/mt_bench_human_judgments, gpt4_pair: judge is a list",
        {
            "gpt4_pair.jsonl": [
                {
                    "question_id": 80 + i,
                    "model_a": "old",
                    "model_b": "new",
                    "winner": "model_b",
                    "judge": ["gpt-4", "pair-v2"],
                    "conversation_a": turns(i, "old"),
                    "conversation_b": turns(i, "new"),
                    "turn": 1,
                }
                for i in QUESTIONS
            ]
        },
        "compare gpt4_pair.jsonl",
        said=("the annotators are models by their names", "gpt-4"),
        refused=True,
    ),
    Sibling(
        "choices of models: AlpacaEval 2, weighted preferences",
        "github.com/tatsu-lab/alpaca_eval README.md, annotations.json",
        {
            "annotations.json": [
                {
                    "instruction": f"Describe kettle {i}.",
                    "output_1": answer(i, "old"),
                    "output_2": answer(i, "new"),
                    "generator_1": "old",
                    "generator_2": "new",
                    "annotator": "weighted_alpaca_eval_gpt4_turbo",
                    "preference": 1.9,
                }
                for i in QUESTIONS
            ]
        },
        "compare annotations.json",
        said=("the annotators are models by their names",),
        refused=True,
    ),
    Sibling(
        "errors: Kaggle's LMSYS competition, a column a winner",
        "kaggle.com/c/lmsys-chatbot-arena: winner_model_a, winner_model_b, winner_tie",
        {
            "train.csv": [
                {
                    "id": i,
                    "model_a": "old",
                    "model_b": "new",
                    "prompt": f"How is kettle {i}?",
                    "response_a": answer(i, "old"),
                    "response_b": answer(i, "new"),
                    "winner_model_a": int(i % 4 == 0),
                    "winner_model_b": int(i % 4 > 0),
                    "winner_tie": 0,
                }
                for i in QUESTIONS
            ]
        },
        "compare train.csv",
        0.75,
        "rate",
    ),
    Sibling(
        "units: percents as Google Sheets writes them to CSV",
        "support.google.com/docs: a download as CSV has cells as they are shown",
        {
            "percent.csv": [
                plain(i, system, rating=f"{20 * rating(i, system)}%")
                for i, system in PAIRS
            ]
        },
        "compare percent.csv --scale 0 100",
        20,
    ),
)

SIBLINGS = (
    *(
        *UNREAD,
        *OTHER_MEANINGS,
        *INVALID,
        *WHO,
        *CRITERIA,
        *MERGED,
        *UNITS,
        *CODES,
        *DIRECTION,
    ),
    *(
        *THRESHOLDS,
        *CATEGORIES,
        *WORDS,
        *KEYS,
        *TWO_FILES,
        *BY_MODELS,
        *ERRORS,
        *BY_VALUES,
    ),
)


def ran_in(folder: Path, command: str) -> Ran:
    """The command line in a folder; nothing is said of the folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return run(*shlex.split(command), "--format", "json")


@pytest.mark.parametrize("sibling", SIBLINGS, ids=lambda sibling: sibling.name)
def test_siblings(tmp_path: Path, sibling: Sibling) -> None:
    """The right number, or a sentence with the flags that give it; never another number unsaid."""
    for name, content in sibling.files.items():
        write(tmp_path, name, content() if callable(content) else content)
    ran = ran_in(tmp_path, sibling.command)
    assert ran.code == (2 if sibling.refused else 0), ran.err
    for said in (*sibling.said, sibling.printed):
        assert said in ran.err
    if sibling.printed:
        ran = ran_in(tmp_path, again(sibling.command, sibling.printed, sibling.filled))
        assert ran.code == 0, ran.err
    if ran.code == 0:
        found = value(ran.json, sibling.found)
        assert found == (
            sibling.right if sibling.right is None else pytest.approx(sibling.right)
        )


def test_ratings_in_a_column_each(tmp_path: Path) -> None:
    """One column a step of the scale, as forms tabulate a grid: no column is an annotator."""
    rows = []
    for i, system in PAIRS:
        given = {f"rating_{step}": int(rating(i, system) == step) for step in STEPS}
        rows.append(plain(i, system, **given))
    write(tmp_path, "grid.csv", rows)
    ran = ran_in(tmp_path, "compare grid.csv --scale 1 5")
    assert ran.code == 2
    assert "an annotator a column" not in ran.err


CLEAN = {  # a file of each reader, and what else it is asked with
    "inspect": "validate inspect/edited.json --dimension human --scale 1 5",
    "lm-eval": "metric lm-eval/samples_why_2026-11-20T10-00-00.000000.jsonl --metric bleu",
    "argilla": "validate argilla/records.json --dimension ok",
    "label-studio": "validate label-studio/tasks.json --dimension fluency --scale 1 6",
    "label-studio-min": "validate label-studio/result.csv --dimension fluency --scale 1 6",
    "langfuse": "judge langfuse/scores.jsonl --dimension quality --scale 1 5 "
    "--score-column 'scores.*'",
    "mlflow": "validate mlflow/traces.jsonl --dimension quality --scale 1 5",
    "promptfoo": "validate promptfoo/eval.jsonl --scale 0 1",
}


@pytest.mark.parametrize("words", CLEAN.values(), ids=CLEAN)
def test_what_is_said_of_a_clean_file(words: str) -> None:
    """One line on the file, which does not call columns unread that the reader makes itself."""
    ran = ran_in(EXPORTS, words)
    assert ran.code == 0, ran.err
    file = words.split()[1]
    (line,) = (line for line in ran.err.splitlines() if f" {file}: " in line)
    unread = line.partition("left unread: ")[2].partition(";")[0]
    own = (
        "reference",
        "passes",
        "vars",
        "metadata",
        "doc",
        "request",
        "data",
        "timestamp",
    )
    assert not {f"'{name}'" for name in own} & {*unread.split(", ")}
    assert any(file in note for note in ran.json["notes"])


def test_two_lines_of_a_clean_table(tmp_path: Path) -> None:
    """Columns that are read and unread are one line, merged rows another; JSON has them, too."""
    rows = [
        plain(
            i,
            system,
            id=f"{i}{system}",
            annotator=who,
            rating=rating(i, system),
            seconds=3,
        )
        for (i, system), who in product(PAIRS, PEOPLE)
    ]
    write(tmp_path, "rated.csv", rows)
    ran = ran_in(tmp_path, "compare rated.csv --scale 1 5 -o rated.json")
    columns, merged = ran.err.splitlines()[:2]
    assert columns.startswith(
        "refless: rated.csv: text from 'response', id from 'id', item from"
    )
    assert columns.endswith("annotator from 'annotator'; left unread: 'seconds'")
    assert merged == "refless: 72 rows merged into 24 texts on id"
    saved = json.loads((tmp_path / "rated.json").read_text("utf-8"))
    assert saved["notes"][:2] == ran.json["notes"][:2]
    assert "left unread: 'seconds'" in saved["notes"][0]


def test_a_verdict_of_deepeval_as_a_judge(tmp_path: Path) -> None:
    """Its own verdict on a test case is a score of 0 and 1."""
    write(tmp_path, "run.json", THRESHOLDS[0].files["run.json"])
    words = "judge run.json --score-column success --column rating=metadata.human"
    assert value(ran_in(tmp_path, words).json, "judge_rate") == pytest.approx(1 / 6)


def test_columns_of_parquet_that_nobody_reads(tmp_path: Path) -> None:
    """They are named as in other files."""
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    rows = [plain(i, system, rating=rating(i, system), note="x") for i, system in PAIRS]
    pandas.DataFrame(rows).to_parquet(tmp_path / "rated.parquet")
    assert (
        "left unread: 'note'"
        in ran_in(tmp_path, "compare rated.parquet --scale 1 5").err
    )
