"""Commands: a room each, in which a function makes a frozen result."""

from collections.abc import Callable
from typing import Any

from refless.registry.offered import Command, Registry

COMMANDS: Registry[Command] = Registry(
    "commands",
    {
        "validate": Command(
            "Compare held-out estimates of rated texts with their own ratings: is it worth using?",
            "refless.commands.validate.run",
        ),
        "score": Command(
            "Estimate the quality of each output from the rated texts: no reference is needed.",
            "refless.commands.score.run",
        ),
        "stream": Command(
            "Estimate the quality of any number of outputs in little memory.",
            "refless.commands.stream.run",
        ),
        "explain": Command(
            "Show which rated texts an estimate rests on: similarity, rating, shared n-grams.",
            "refless.commands.explain.run",
        ),
        "compare": Command(
            "Which system is better, how sure that is, and how many ratings would settle it.",
            "refless.commands.compare.run",
        ),
        "next": Command(
            "Which outputs to have rated next, and what the ratings should bring.",
            "refless.commands.next.run",
        ),
        "index": Command(
            "Save rated texts, ready to be matched; the folder serves wherever rated texts are "
            "asked for.",
            "refless.commands.index.run",
        ),
        "fit": Command(
            "Fit an estimator once and save it for 'refless score --model DIR'.",
            "refless.commands.fit.run",
        ),
        "metric": Command(
            "Score outputs by one or more metrics, most of them against references.",
            "refless.commands.metric.run",
        ),
        "meta": Command(
            "Test metrics against human ratings: which agree with people, and which do so better.",
            "refless.commands.meta.run",
        ),
        "estimators": Command(
            "List the estimators and kernels, with every parameter.",
            "refless.commands.lists.run",
        ),
        "metrics": Command(
            "List the metrics, what each needs, and every parameter.",
            "refless.commands.lists.run",
        ),
        "demo": Command(
            "Show the main job on a SIMULATED sample: rated texts, new outputs, no file needed.",
            "refless.commands.demo.run",
        ),
    },
)


def function_of(command: str) -> Callable[..., Any]:
    """The function of a command; its module is loaded, and all that it needs."""
    return COMMANDS[command].function(command)
