"""Files as their authors publish them -> files that refless, and `papers/`, read.

A converter takes the bytes of the published files by their paths and gives the bytes of new files
by their names. It knows the shape of its own files only; what does not fit is an error.
"""

import ast
import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

Files = Mapping[str, bytes]
Scores = dict[tuple[str, str], dict[str, float | None]]  # system, dimension; article
Converter = Callable[[Files], dict[str, bytes]]

# HUSE: 1 to 6
BUCKETS = (
    "Invalid",
    "Rare",
    "Specific",
    "Average",
    "Typical",
    "Very Typical",
)
DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")  # SummEval
NUMBERS = ("one", "two", "three", "four", "five")
DIGIT = r"(?<![\d.])[1-5](?:\.\d)?\b"
SAID = rf"({DIGIT}|\b(?:{'|'.join(NUMBERS)})\b)"
# the surest first
SCORED = (
    rf"score:\s*{SAID}",
    rf"scor(?:e|ing)[^.]+?{SAID}",
    rf".*({DIGIT})",
)


def as_it_is(files: Files) -> dict[str, bytes]:
    """The same bytes under the last part of their path."""
    return {PurePosixPath(path).name: content for path, content in files.items()}


def grade(files: Files) -> dict[str, bytes]:
    """GRADE: a row a rating. Slots are places in a list, not people."""
    (content,) = files.values()
    rows = []
    for row in json.loads(content):
        task = row["Dataset"].removesuffix("_EVAL")
        cells = (row["ID"], task, row["DialogModel"], row["Context"], row["Response"])
        for slot, rating in enumerate(json.loads(row["HumanScores"])):
            rows.append((*cells, f"slot{slot}", rating))
    header = ("id", "task", "system", "source", "text", "annotator", "rating")
    return {"judgements.tsv": _tsv(header, rows)}


def huse(files: Files) -> dict[str, bytes]:
    """HUSE: 25 headlines a task of Mechanical Turk, a row a rating; raters become pseudonyms."""
    raw = files["data/summarization_raw_outputs.csv"]
    clean = files["data/summary_clean.csv"]
    tasks: dict[str, int] = {}
    people: dict[str, int] = {}
    rows = []
    for row in _csv(raw):
        task = tasks.setdefault(row["HITId"], len(tasks))
        person = people.setdefault(row["WorkerId"], len(people))
        for i in range(25):
            source, text, logprob = (
                row[f"Input.{name}{i}"] for name in ("CTX", "OUT", "LOGP")
            )
            system = "model" if row[f"Input.TYPE{i}"] == "SUM" else "human"
            rating = BUCKETS.index(row[f"Answer.{i}"]) + 1
            rows.append(
                (f"{task}-{i}", system, source, text, logprob, f"w{person:03}", rating)
            )
    header = ("id", "system", "source", "text", "logprob", "annotator", "rating")
    return {"judgements.tsv": _tsv(header, rows), "summary_clean.csv": clean}


def coco(files: Files) -> dict[str, bytes]:
    """COCO's Karpathy test split: five captions an image, and what four systems wrote."""
    result = {}
    for path, content in files.items():
        rows = json.loads(content)
        name = PurePosixPath(path).name.split("_result")[0]
        result[f"system_{name}.jsonl"] = _jsonl(
            {
                "id": row["image_name"],
                "text": row["prediction"].strip(),
                "references": row["captions"],
            }
            for row in rows
        )
        if name == "zerocap":  # the others have the same captions; one lacks 18 images
            result["references.jsonl"] = _jsonl(
                {"id": i, "references": row["captions"][:5]}
                for i, row in enumerate(rows)
            )
    return result


def summeval(files: Files) -> dict[str, bytes]:
    """SummEval: ratings of three experts on four dimensions, and GPT-4's scores (Shen et al.)."""
    scores: Scores = {}
    rated = []
    for path, content in files.items():
        judged = re.search(r"eval_(M\d+)_generations/(\w+)_rts\.txt$", path)
        if judged:
            by_article = {row["id"]: _score(row["resp"]) for row in _rows(content)}
            scores[judged[1], judged[2]] = by_article
        else:
            rated += _rows(content)
    texts = {row["id"]: row["text"] for row in rated}
    articles = [{"article": id_, "text": text} for id_, text in texts.items()]
    summaries = [_summary(row, scores) for row in rated]
    return {
        "summaries.jsonl": _jsonl(summaries),
        "articles.jsonl": _jsonl(articles),
    }


def _summary(row: Mapping[str, Any], scores: Scores) -> dict[str, Any]:
    """A summary with its ratings and scores by dimension."""
    system = row["model_id"]
    article = row["id"]
    experts = row["expert_annotations"]
    ratings = {}
    for name in DIMENSIONS:
        ratings[name] = [expert[name] for expert in experts]
    judge = {name: scores[system, name][article] for name in DIMENSIONS}
    return {
        "id": f"{system}|{article[-8:]}",
        "system": system,
        "article": article,
        "text": row["decoded"],
        "experts": ratings,
        "judges": {"gpt4": judge},
    }


def _score(answer: str) -> float | None:
    """The score that a judge's answer names, as a digit or a word."""
    for pattern in SCORED:
        match = re.search(pattern, answer.lower(), re.DOTALL)
        if match:
            word = match[1]
            return float(NUMBERS.index(word) + 1 if word in NUMBERS else word)
    return None


def simplification(files: Files) -> dict[str, bytes]:
    """SimpEval and SimpDA: a row a simplification, with its references as a list."""
    ((path, content),) = files.items()
    rows = []
    for row in _csv(content):
        record = {
            "item": row.pop("id"),
            "system": row.pop("system"),
            "source": row.pop("original"),
            "text": row.pop("simple"),
            "references": ast.literal_eval(row.pop("references")),
        }
        ratings = {name: float(value) for name, value in row.items()}
        rows.append(record | ratings)
    return {f"{PurePosixPath(path).stem}.jsonl": _jsonl(rows)}


def asap_sas(files: Files) -> dict[str, bytes]:
    """ASAP-SAS: the table of Kaggle, in UTF-8."""
    (content,) = files.values()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp1252")
    lines = text.splitlines()
    if lines[0].split("\t")[:5] != ["Id", "EssaySet", "Score1", "Score2", "EssayText"]:
        raise ValueError("the columns are not Id, EssaySet, Score1, Score2, EssayText")
    return {"train.tsv": "".join(f"{line}\n" for line in lines).encode()}


def _csv(content: bytes) -> Iterator[dict[str, str]]:
    """Rows of CSV by the names of their columns."""
    return csv.DictReader(io.StringIO(content.decode(), newline=""))


def _rows(content: bytes) -> list[dict[str, Any]]:
    """Rows of JSON lines."""
    return [json.loads(line) for line in content.decode().split("\n") if line]


def _jsonl(rows: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def _tsv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """Cells without quotes; what would end one becomes a space."""
    lines = []
    for row in (header, *rows):
        cells = [re.sub(r"[\t\r\n]+", " ", str(cell)) for cell in row]
        lines.append("\t".join(cells) + "\n")
    return "".join(lines).encode()
