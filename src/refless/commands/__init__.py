"""Commands: a room each, in which a function makes a frozen result."""

from collections.abc import Callable
from functools import partial
from typing import Any

from refless.registry.offered import Command, Registry, check_instance

COMMANDS: Registry[Command] = Registry(
    "commands",
    {
        "look": Command(
            "Look at a file: its columns, and what it answers; 'refless FILE' does the same.",
            "refless.commands.look.run",
            "Compare and judge",
        ),
        "validate": Command(
            "Compare held-out estimates of rated texts with their own ratings: is it worth using?",
            "refless.commands.validate.run",
            "Compare and judge",
        ),
        "score": Command(
            "Estimate the quality of each output from the rated texts: no reference is needed.",
            "refless.commands.score.run",
            "Estimate",
        ),
        "explain": Command(
            "Show which rated texts an estimate rests on: similarity, rating, shared n-grams.",
            "refless.commands.explain.run",
            "Estimate",
        ),
        "compare": Command(
            "Which system is better, how sure that is, and how many ratings would settle it.",
            "refless.commands.compare.run",
            "Compare and judge",
        ),
        "gate": Command(
            "Gate: may the new system take the place of the old one? Passed, failed or undecided.",
            "refless.commands.gate.run",
            "Compare and judge",
        ),
        "next": Command(
            "Which outputs to have rated next, and what the ratings should bring.",
            "refless.commands.next.run",
            "Collect",
        ),
        "fit": Command(
            "Fit an estimator once and save it for 'refless score --model FILE'.",
            "refless.commands.fit.run",
            "Estimate",
        ),
        "judge": Command(
            "Can I trust my judge? Its scores beside people's, and what they may be used for.",
            "refless.commands.judge.run",
            "Compare and judge",
        ),
        "route": Command(
            "Decide outputs by a licensed judge: pass, fail, or leave to a person.",
            "refless.commands.route.run",
            "Estimate",
        ),
        "list": Command(
            "List estimators, metrics or public data sets; fetch a data set by name.",
            "refless.commands.lists.run",
            "Data",
        ),
        "demo": Command(
            "Show the main job on a SIMULATED sample: rated texts, new outputs, no file needed.",
            "refless.commands.demo.run",
            "Data",
        ),
    },
    partial(check_instance, kind=Command),
)


def function_of(command: str) -> Callable[..., Any]:
    """The function of a command, for any rows; its module is loaded, and all that it needs."""
    function = COMMANDS[command].function(command)
    return getattr(function, "of_any_rows", function)
