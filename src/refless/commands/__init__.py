"""The application: a function a command."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

COMMANDS = {  # in the order of help, which says the first sentence of each and loads none
    "validate": "Compare held-out estimates of rated texts with their own ratings: is it worth "
    "using?",
    "score": "Estimate the quality of each output from the rated texts: no reference is needed.",
    "stream": "Estimate the quality of any number of outputs in little memory.",
    "explain": "Show which rated texts an estimate rests on: similarity, rating, shared n-grams.",
    "compare": "Which system is better, how sure that is, and how many ratings would settle it.",
    "next": "Which outputs to have rated next, and what the ratings should bring.",
    "rate": "Serve a page on which people rate outputs, and one that shows what is known so far.",
    "serve": "Serve estimates over HTTP: POST /estimate, POST /compare.",
    "index": "Save rated texts, ready to be matched; the folder serves wherever rated texts are "
    "asked for.",
    "fit": "Fit an estimator once and save it for 'refless score --model DIR'.",
    "train": "Train RatPred on rated texts and save it for 'refless score --estimator "
    "ratpred:model=DIR'.",
    "metric": "Score outputs by one or more metrics, most of them against references.",
    "meta": "Test metrics against human ratings: which agree with people, and which do so better.",
    "huse": "Quality and diversity of a model in one number (HUSE).",
    "mine": "Mine references for delta-BLEU, have them rated, get weights.",
    "stress": "Find out whether a metric, an estimator or a scorer can be fooled.",
    "estimators": "List the estimators and kernels, with every parameter.",
    "metrics": "List the metrics, what each needs, and every parameter.",
    "datasets": "List public data sets of human ratings, or fetch some by name.",
    "demo": "Show the main job on a SIMULATED sample: rated texts, new outputs, no file needed.",
}
_TOGETHER = {"estimators": "lists", "metrics": "lists"}  # modules with another name


def function_of(command: str) -> Callable[..., Any]:
    """The function of a command; its module is loaded, and all that it needs."""
    module = import_module(f"refless.commands.{_TOGETHER.get(command, command)}")
    found: Callable[..., Any] = getattr(module, command)
    return found
