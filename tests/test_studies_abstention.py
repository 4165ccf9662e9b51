"""Why there are no estimates, in the user's terms."""

import numpy as np
import pytest

from refless.commands.advice import LIMIT, _main_reason, why
from refless.data.records import Estimates, Outputs, Reason, numbered


def estimates(reasons: list[Reason], support: list[int]) -> Estimates:
    values = np.array([np.nan if reason else 0.5 for reason in reasons])
    ids = numbered(len(reasons))
    counts = np.array(support, dtype=np.int64)
    return Estimates(
        ids=ids, values=values, reasons=tuple(reasons), support=counts, low=values, high=values
    )


def outputs(texts: list[str]) -> Outputs:
    return Outputs(ids=numbered(len(texts)), texts=tuple(texts))


def test_the_sentence_of_the_design() -> None:
    """Lengths, the share of pairs that pass, and what follows: counted by hand."""
    texts = outputs(["x" * 800, "x" * 1000])
    assert why(texts, estimates(["too-many", "too-many"], [48, 48]), 50, 0.08) == (
        "100 % of the texts have no estimate: your texts average 900 characters; "
        "96 % of pairs pass tau 0.08, so nothing is near."
    )


def test_a_third_is_not_serious() -> None:
    """More than a third is."""
    assert _main_reason(estimates(["too-few", "", ""], [1, 9, 9])) == ("too-few", LIMIT)
    assert _main_reason(estimates(["too-few", "too-few", ""], [1, 0, 9]))[1] > LIMIT
    assert _main_reason(estimates([], [])) == ("", 0.0)


def test_too_few_counts_those_that_abstain() -> None:
    """What the others have near them is no part of it: (1 + 2) / 2 of 20."""
    some = estimates(["too-few", "too-few", "", "too-many"], [1, 2, 9, 19])
    assert "1.5 of 20 rated texts on average" in why(outputs(["abcd"] * 4), some, 20, 0.08)


@pytest.mark.parametrize("reason", ["too-many", "too-few", "too-short", "empty", "bad-row"])
def test_every_reason_has_a_sentence(reason: Reason) -> None:
    """Whole sentences, without the name of the reason."""
    sentence = why(outputs(["abc"]), estimates([reason], [0]), 9, 0.1)
    assert sentence.startswith("100 % of the texts have no estimate: ")
    assert sentence.endswith(".")
    assert reason not in sentence.split()
