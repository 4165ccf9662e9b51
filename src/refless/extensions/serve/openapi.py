"""The OpenAPI description of the HTTP API."""

from typing import Any

from refless.registry.version import __version__

TEXT = {"type": "string"}
NUMBER = {"type": ["number", "null"]}
OUTPUT = {
    "type": "object",
    "required": ["text"],
    "properties": dict.fromkeys(("text", "id", "source", "system", "item", "task"), TEXT),
    "additionalProperties": True,
}
ESTIMATE = {
    "type": "object",
    "required": ["id", "estimate", "low", "high", "reason", "support"],
    "properties": {
        "id": TEXT,
        "estimate": NUMBER,
        "low": {**NUMBER, "description": "with high, a 95 % interval for the mean rating"},
        "high": NUMBER,
        "reason": {**TEXT, "description": "why there is no estimate, else empty"},
        "support": {"type": "integer", "description": "rated texts behind the estimate"},
    },
}
ESTIMATES = {
    "type": "object",
    "required": ["signature", "scale", "estimates"],
    "properties": {
        "signature": {**TEXT, "description": "everything that can change a number"},
        "scale": {
            "type": ["array", "null"],
            "items": {"type": "number"},
            "description": "of the raters, in whose units estimates are",
        },
        "estimates": {"type": "array", "items": {"$ref": "#/components/schemas/Estimate"}},
    },
}
ASKED = {
    "oneOf": [
        {"type": "object", "required": ["texts"],
         "properties": {"texts": {"type": "array", "items": TEXT}}},
        {"type": "object", "required": ["outputs"],
         "properties": {"outputs": {"type": "array",
                                    "items": {"$ref": "#/components/schemas/Output"}}}},
    ]
}  # fmt: skip
COMPARED = {
    "type": "object",
    "required": ["outputs"],
    "properties": {
        "outputs": {
            "type": "array",
            "description": "rows with system, item (or source), text, and a rating where there is",
            "items": {"$ref": "#/components/schemas/Output"},
        },
        "system": {"type": "array", "items": TEXT},
        "scale": {"type": "array", "items": {"type": "number"}},
        "selection": {"enum": ["random", "active", "unknown"]},
        "baseline": TEXT,
        "seed": {"type": "integer", "minimum": 0},
    },
}
ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {**TEXT, "description": "what is wrong, in a sentence"},
        "line": {"type": "integer", "description": "of a stream: whose answer this is"},
    },
}
REFUSED = {
    "400": "not what is described here",
    "401": "no token, or a wrong one",
    "413": "too large",
    "422": "rows that cannot be used",
    "429": "too many requests",
}


def described() -> dict[str, Any]:
    """The document, OpenAPI 3.1."""
    stream = {"schema": TEXT}
    estimate = _post("Estimates of texts", ASKED, {"$ref": "#/components/schemas/Estimates"})
    estimate["requestBody"]["content"]["application/x-ndjson"] = stream
    estimate["responses"]["200"]["content"]["application/x-ndjson"] = stream
    estimate["responses"]["503"] = {
        **estimate["responses"]["429"],
        "description": "no estimator yet",
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "refless", "version": __version__},
        "security": [{"token": []}],
        "paths": {
            "/estimate": {"post": estimate},
            "/compare": {"post": _post("Which system is better", COMPARED, {"type": "object"})},
            "/healthz": {"get": {**_get("Whether it answers", "application/json"), "security": []}},
            "/metrics": {"get": _get("Counts for Prometheus", "text/plain")},
        },
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {
                "Output": OUTPUT,
                "Estimate": ESTIMATE,
                "Estimates": ESTIMATES,
                "Error": ERROR,
            },
        },
    }


def _post(summary: str, takes: dict[str, Any], gives: dict[str, Any]) -> dict[str, Any]:
    error = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    refused = {code: {"description": why, "content": error} for code, why in REFUSED.items()}
    good = {"description": "the answer", "content": {"application/json": {"schema": gives}}}
    return {
        "summary": summary,
        "requestBody": {"required": True, "content": {"application/json": {"schema": takes}}},
        "responses": {"200": good, **refused},
    }


def _get(summary: str, kind: str) -> dict[str, Any]:
    good = {"description": "the answer", "content": {kind: {"schema": {}}}}
    return {"summary": summary, "responses": {"200": good}}
