"""Converters of public data sets: on miniatures of our own, and on the data where it is here."""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from command_line import ANY_NEIGHBOR, run_well
from places import DATA
from published import needed
from refless.extensions.connect.datasets import DATASETS, convert
from rows import csv_of, read_jsonl


def rows_of(content: bytes) -> list[dict[str, Any]]:
    return read_jsonl(content.decode())


def test_grade() -> None:
    """Tabs and line ends of a text become spaces, so that each rating is one line."""
    reply = {
        "ID": 7,
        "Dataset": "x_EVAL",
        "DialogModel": "m",
        "Context": "a|||b",
        "Response": "c\n\td",
        "HumanScores": "[2, 5]",
    }
    assert convert.grade({"any": json.dumps([reply]).encode()})[
        "judgements.tsv"
    ].decode() == (
        "id\ttask\tsystem\tsource\ttext\tannotator\trating\n"
        "7\tx\tm\ta|||b\tc d\tslot0\t2\n7\tx\tm\ta|||b\tc d\tslot1\t5\n"
    )


def turk(worker: str, kind: str, answer: str) -> dict[str, object]:
    """A task of 25 headlines that one person gave the same answer."""
    row: dict[str, object] = {"HITId": f"task of {kind}", "WorkerId": worker}
    for i in range(25):
        row |= {
            f"Input.CTX{i}": f"article {i}",
            f"Input.TYPE{i}": kind,
            f"Input.OUT{i}": f"t{i}",
            f"Input.LOGP{i}": "-1.50",
            f"Answer.{i}": answer,
        }
    return row


def test_huse() -> None:
    """A rater is a pseudonym, the same throughout; words are 1 to 6; tasks are counted."""
    raw = csv_of(
        [
            turk("A2LM", "SUM", "Very Typical"),
            turk("B3", "SUM", "Invalid"),
            turk("A2LM", "HUMAN_SUM", "Specific"),
        ]
    ).encode()
    files = convert.huse(
        {"data/summarization_raw_outputs.csv": raw, "data/summary_clean.csv": b"x"}
    )
    assert files["summary_clean.csv"] == b"x"
    lines = files["judgements.tsv"].decode().splitlines()
    assert len(lines) == 1 + 3 * 25
    assert b"A2LM" not in files["judgements.tsv"]
    assert lines[1] == "0-0\tmodel\tarticle 0\tt0\t-1.50\tw000\t6"
    assert lines[50] == "0-24\tmodel\tarticle 24\tt24\t-1.50\tw001\t1"
    assert lines[51] == "1-0\thuman\tarticle 0\tt0\t-1.50\tw000\t3"


def summeval(answers: Mapping[str, str]) -> dict[str, bytes]:
    """One summary of system M8, rated by two experts, with an answer of the judge by dimension."""
    ratings = [
        dict.fromkeys(convert.DIMENSIONS, 3),
        dict.fromkeys(convert.DIMENSIONS, 5),
    ]
    row = {
        "id": "cnn-0123456789",
        "model_id": "M8",
        "decoded": "short",
        "text": "long",
        "expert_annotations": ratings,
    }
    files = {
        "model_output_annotations/M8_outputs_annotations.jsonl": json.dumps(row) + "\n"
    }
    for name, answer in answers.items():
        path = f"eval_model_generations/gpt-4-0314/eval_M8_generations/{name}_rts.txt"
        files[path] = json.dumps({"id": row["id"], "resp": answer}) + "\n"
    return convert.summeval({path: text.encode() for path, text in files.items()})


def test_summeval() -> None:
    files = summeval(
        {
            "coherence": "It jumps. Score: 2",
            "consistency": "All three claims hold, earning a score of four.",
            "fluency": "Readable, 16 words, but no capitals. 4.5",
            "relevance": "I cannot say.",
        }
    )
    (summary,) = rows_of(files["summaries.jsonl"])
    assert (summary["id"], summary["article"]) == ("M8|23456789", "cnn-0123456789")
    assert summary["experts"]["fluency"] == [3, 5]
    judged = {"coherence": 2.0, "consistency": 4.0, "fluency": 4.5, "relevance": None}
    assert summary["judges"] == {"gpt4": judged}
    assert rows_of(files["articles.jsonl"]) == [
        {"article": "cnn-0123456789", "text": "long"}
    ]


def test_nlg_ratings() -> None:
    """Files that other scripts read, under names that tell them apart."""
    names = {
        "emnlp_data_medians.csv",
        "sfhot_references.json",
        "rnnlg_hotel_test.json",
        "bagel_ACL10-inform-training.txt",
    }
    dataset = DATASETS["nlg-ratings"]
    files = {source.name or source.path: b"" for source in dataset.sources}
    assert names <= dataset.convert(files).keys()


def test_coco() -> None:
    """A system may lack an image; an image may have a sixth caption."""
    images = [
        {
            "image_name": f"{i}.jpg",
            "captions": list("abcdef"[: 5 + i]),
            "prediction": f" cat {i}\u00e9",
        }
        for i in range(2)
    ]
    found = convert.coco(
        {
            "mscoco/baselines/zerocap_result.json": json.dumps(images).encode(),
            "mscoco/baselines/top_k_result_run_1.json": json.dumps(images[:1]).encode(),
        }
    )
    assert sorted(found) == [
        "references.jsonl",
        "system_top_k.jsonl",
        "system_zerocap.jsonl",
    ]
    references = [{"id": i, "references": list("abcde")} for i in range(2)]
    assert rows_of(found["references.jsonl"]) == references
    assert rows_of(found["system_top_k.jsonl"]) == [
        {"id": "0.jpg", "text": "cat 0\u00e9", "references": list("abcde")}
    ]


def test_simplification() -> None:
    row: dict[str, object] = {
        "id": 3,
        "original": "a, b",
        "simple": "a",
        "references": "['it\\'s', 'b']",
        "fluency": 0.5,
        "meaning": -1.25,
        "system": "m",
    }
    found = convert.simplification({"x/simpda.csv": csv_of([row]).encode()})
    assert rows_of(found["simpda.jsonl"]) == [
        {
            "item": "3",
            "system": "m",
            "source": "a, b",
            "text": "a",
            "references": ["it's", "b"],
            "fluency": 0.5,
            "meaning": -1.25,
        }
    ]


@pytest.mark.parametrize("code", ["__import__('os').getcwd()", "open('x','w')"])
def test_references_are_no_code(code: str) -> None:
    """A cell is read as a literal, never run."""
    row: dict[str, object] = {
        "id": 1,
        "original": "a",
        "simple": "b",
        "references": code,
        "system": "m",
    }
    with pytest.raises(ValueError, match="malformed"):
        convert.simplification({"simpda.csv": csv_of([row]).encode()})


@pytest.mark.parametrize(
    "name", ["dailydialog-multiref", "dailydialog-plusplus", "flickr30k"]
)
def test_files_that_are_kept_are_those_here(name: str) -> None:
    """Files that are not converted have the digests that the registry names."""
    needed(name)
    known = {Path(one.path).name: one.sha256 for one in DATASETS[name].sources}
    here = {
        file.name: sha256(file.read_bytes()).hexdigest()
        for file in (DATA / name).iterdir()
    }
    assert here == known


def text_of(name: str, file: str) -> str:
    """A file of a data set as it is fetched; where only the published one is here, converted."""
    published = f"edits/{name}.csv"
    if (DATA / published).exists():
        content = (DATA / published).read_bytes()
        return convert.simplification({published: content})[file].decode()
    needed(f"{name}/{file}")
    return (DATA / name / file).read_text("utf-8")


@pytest.mark.parametrize(
    "name", [one.name for one in DATASETS.values() if one.validate]
)
def test_validate_reads_it_with_the_flags_that_are_told(
    name: str, tmp_path: Path
) -> None:
    """The command that the list prints, on the first texts of the data that is here."""
    file, *flags = DATASETS[name].validate
    lines = text_of(name, file).split("\n")[:101]
    (tmp_path / file).write_text("\n".join(lines), "utf-8")
    run_well("validate", tmp_path / file, *flags, *ANY_NEIGHBOR)
