"""The application: a function a command. COMMANDS tells where each one is, in the order of help."""

COMMANDS = {
    "validate": "validate",
    "score": "score",
    "explain": "explain",
    "compare": "compare",
    "next": "next",
    "rate": "rate",
    "tune": "tune",
    "join": "join",
    "index": "index",
    "fit": "fit",
    "train": "train",
    "metric": "metric",
    "meta": "meta",
    "huse": "huse",
    "mine": "mine",
    "stress": "stress",
    "estimators": "lists",
    "metrics": "lists",
    "datasets": "datasets",
    "demo": "demo",
}
