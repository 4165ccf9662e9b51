"""Every Eval Ever (schema 0.3.0): estimates of each system, and of each of its outputs."""

import hashlib
import os
import re
import time
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np

from refless.data.human import unscaled
from refless.data.records import RatedPool, Reason
from refless.evaluation.scoring import Mean, Scored
from refless.registry.signature import Signature
from refless.registry.version import __version__
from refless.report.export import as_json, as_jsonl

SCHEMA = "0.3.0"
NAME = "estimated human rating"
COLLECTION = "refless"
NOBODY = "local"  # developer of a system whose name has none before a slash
ABOVE = "the estimate is at least the mean human rating of the rated texts"
_ODD = re.compile(r'[<>:"\\|?*/\x00-\x1f]')


@dataclass(frozen=True, slots=True)
class _Of:
    """One system's name as a model's, the ids of what is written of it, and where."""

    model: str
    run: str
    uuid: str
    folder: str


def every_eval_ever(scored: Scored, rated: RatedPool, signature: Signature) -> dict[str, str]:
    """Files by their places below the store's root, two a system; one without estimates has none.

    Outputs without an estimate have no line, as the schema has no place for them: their share and
    reasons are among the details.
    """
    files: dict[str, str] = {}
    outputs, defined = scored.outputs, scored.estimates.defined
    names = outputs.systems or ("system",) * len(outputs)
    means = scored.systems or {"system": scored.overall}
    for name, mean in means.items():
        mine = np.array([one == name for one in names])
        rows = np.flatnonzero(mine & defined).tolist()
        if not rows:
            continue
        of = _of(name or "system", scored, rows, signature)
        lines = as_jsonl([_line(scored, i, of, rated) for i in rows])
        path = f"{of.folder}/{of.uuid}_samples.jsonl"
        missing = np.flatnonzero(mine & ~defined).tolist()
        reasons = [scored.estimates.reasons[i] for i in missing]
        files[path] = lines
        files[f"{of.folder}/{of.uuid}.json"] = as_json(
            {
                **_run(of),
                "evaluation_results": [_result(of, mean, rated, signature, reasons)],
                "detailed_evaluation_results": {
                    "format": "jsonl",
                    "file_path": path,
                    "hash_algorithm": "sha256",
                    "checksum": hashlib.sha256(lines.encode()).hexdigest(),
                    "total_rows": len(rows),
                },
            }
        )
    return files


def _of(name: str, scored: Scored, rows: list[int], signature: Signature) -> _Of:
    """Ids out of what is written, so that the same result has the same."""
    texts = "\n".join(f"{scored.outputs.ids[i]} {scored.outputs.texts[i]}" for i in rows)
    digest = hashlib.sha256(f"{name}\n{signature}\n{texts}".encode("utf-8", "surrogatepass"))
    uuid = str(UUID(bytes=digest.digest()[:16], version=4))
    model = name if "/" in name.strip("/") else f"{NOBODY}/{name.strip('/')}"
    developer, _, rest = model.partition("/")
    parts = (_ODD.sub("_", part).strip(". ") or "_" for part in (developer, rest))
    return _Of(model, f"{COLLECTION}/{model}/{uuid}", uuid, "/".join(("data", COLLECTION, *parts)))


def _run(of: _Of) -> dict[str, object]:
    now = os.environ.get("SOURCE_DATE_EPOCH") or str(int(time.time()))
    unknown = {"deployment_type": "unknown", "model_availability": "unknown"}
    return {
        "schema_version": SCHEMA,
        "evaluation_id": of.run,
        "retrieved_timestamp": now,
        "source_metadata": {
            "source_name": "refless",
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
        },
        "eval_library": {"name": "refless", "version": __version__},
        "model_info": {"name": of.model, "id": of.model, "additional_details": unknown},
    }


def _result(
    of: _Of, mean: Mean, rated: RatedPool, signature: Signature, reasons: list[Reason]
) -> dict[str, Any]:
    low, high = mean.mean_interval
    ends: tuple[object, object] = rated.scale or ("-Infinity", "Infinity")
    defined = np.isfinite([low, high]).all()
    interval = {"lower": low, "upper": high, "confidence_level": 0.95, "method": "bootstrap"}
    return {
        "evaluation_result_id": f"{of.run}/{NAME}",
        "evaluation_name": NAME,
        "source_data": {"dataset_name": "outputs", "source_type": "other"},
        "metric_config": {
            "evaluation_description": "mean rating that people would give, estimated from rated "
            "texts without references",
            "metric_id": "refless",
            "metric_name": NAME,
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": ends[0],
            "max_score": ends[1],
            "additional_details": {"signature": str(signature), "is_correct": ABOVE},
        },
        "score_details": {
            "score": mean.mean,
            "details": {
                "coverage": f"{mean.coverage:.6g}",
                "n": str(mean.n),
                "n_scored": str(mean.n_scored),
                "signature": str(signature),
                **{f"n_{reason}": str(reasons.count(reason)) for reason in sorted({*reasons})},
            },
            **(
                {"uncertainty": {"confidence_interval": interval, "num_samples": mean.n_scored}}
                if defined
                else {}
            ),
        },
    }


def _line(scored: Scored, i: int, of: _Of, rated: RatedPool) -> dict[str, Any]:
    """One output."""
    outputs, found = scored.outputs, scored.estimates
    text, value = outputs.texts[i], float(found.values[i])
    usual = unscaled(rated.human, rated.scale).mean()
    interval = {"low": f"{found.low[i]:.6g}", "high": f"{found.high[i]:.6g}"}
    return {
        "schema_version": SCHEMA,
        "evaluation_id": of.run,
        "model_id": of.model,
        "evaluation_name": NAME,
        "evaluation_result_id": f"{of.run}/{NAME}",
        "sample_id": outputs.ids[i],
        "interaction_type": "single_turn",
        "input": {
            "raw": outputs.sources[i] if outputs.sources else "",
            "reference": list(outputs.references[i]) if outputs.references else [],
        },
        "output": {"raw": [text]},
        "messages": None,
        "answer_attribution": [
            {
                "turn_idx": 0,
                "source": "output.raw",
                "extracted_value": text,
                "extraction_method": "custom",
                "is_terminal": True,
            }
        ],
        "evaluation": {
            "score": value,
            "is_correct": bool(value >= usual),
        },
        "metadata": {**interval, "support": str(found.support[i])},
    }
