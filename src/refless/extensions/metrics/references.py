"""Checks of outputs that every metric with references makes."""

from collections.abc import Sequence

from refless.data.records import Outputs
from refless.metrics.chosen import check_lists
from refless.registry.dialect import called
from refless.registry.errors import InputError


def check_references(outputs: Outputs) -> None:
    """Raises InputError unless there are outputs and each has at least one reference.

    Every way to pass references that is easily got wrong is told apart: none at all, one string
    where a list of strings belongs, streams (as sacrebleu takes them) instead of lists by item,
    another number of lists than of outputs, an output whose list is empty.
    """
    if not len(outputs):
        raise InputError("there are no outputs to score", remedy="give at least one")
    if not outputs.references:
        raise InputError(
            f"output '{outputs.ids[0]}' has no references, nor has any other",
            remedy="give every output a list of references "
            f"({called('columns', {'reference': 'NAME'})})",
        )
    _check_lists("references", outputs.references, outputs)
    rows: Sequence[Sequence[object]] = outputs.references
    for name, references in zip(outputs.ids, rows, strict=True):
        if isinstance(references, str):
            raise InputError(
                f"the references of output '{name}' are one string",
                remedy="a list of references is needed for each output, also of a single one",
            )
    check_lists(outputs)


def check_weights(outputs: Outputs) -> None:
    """Raises InputError unless every reference has a weight in [-1, 1].

    A rating r on 1..5 becomes the weight (r - 3) / 2 (as mined references have).
    """
    check_references(outputs)
    if not outputs.weights:
        raise InputError(
            f"output '{outputs.ids[0]}' has no weights, nor has any other",
            remedy="give each reference a weight in [-1, 1] "
            f"({called('columns', {'weight': 'NAME'})}), from people's ratings of it, as "
            "'refless mine' does",
        )
    _check_lists("weights", outputs.weights, outputs)
    rows = zip(outputs.ids, outputs.references, outputs.weights, strict=True)
    for name, references, weights in rows:
        if len(weights) != len(references):
            raise InputError(
                f"output '{name}' has {len(references)} references but {len(weights)} weights",
                remedy="give each reference one weight",
            )
        for weight in weights:
            if not -1 <= weight <= 1:  # NaN fails too
                raise InputError(
                    f"output '{name}' has a reference with weight {weight:g}, not in [-1, 1]",
                    remedy="scale the ratings to [-1, 1]: r on 1..5 becomes (r - 3) / 2",
                )


def _check_lists(
    kind: str, lists: Sequence[Sequence[object]], outputs: Outputs
) -> None:
    if len(lists) == len(outputs):
        return
    lengths = {None if isinstance(row, str) else len(row) for row in lists}
    if lengths <= {len(outputs)}:
        raise InputError(
            f"the {kind} come stream by stream: {len(lists)} lists of {len(outputs)} entries "
            f"for {len(outputs)} outputs",
            remedy=f"give them item by item, one list for each output: list(zip(*{kind}))",
        )
    raise InputError(
        f"there are {len(outputs)} outputs but {len(lists)} lists of {kind}",
        remedy="give one list for each output, in the same order",
    )


def notes(outputs: Outputs) -> tuple[str, ...]:
    """Sentences on data that may be wrong: outputs that are among their references."""
    n = len(outputs.references)
    pairs = [*zip(outputs.texts[:n], outputs.references, strict=True)]
    copies = sum(text in references for text, references in pairs)
    first = sum(text == references[0] for text, references in pairs if references)
    if n and copies == n:
        return (
            f"every output is one of its own references ({first} of {n} the first one)",
        )
    if n and 2 * copies >= n:
        return (f"{copies} of {n} outputs are among their own references",)
    return ()
