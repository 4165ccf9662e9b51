"""What to say and to run where too many texts have no estimate."""

from refless.commands.advised import Advice
from refless.commands.estimating import DEFAULT
from refless.commands.parameters import this_call
from refless.data.records import Estimates, Outputs
from refless.estimators import ESTIMATORS, Estimator
from refless.evaluation.abstention import abstention
from refless.registry.spec import spec_of

FEWEST = 20  # rated texts
NEXT_TO_NOTHING = 0.01  # of pairs pass tau


def advice_on(
    estimator: Estimator, outputs: Outputs, estimates: Estimates, rated: int
) -> Advice | None:
    """Why more than a third of the texts have no estimate, and the command that may do better.

    Args:
        estimator: what made the estimates.
        outputs, estimates: the texts and what was said of them.
        rated: rated texts that each was judged by.
    """
    missing = abstention(outputs, estimates, rated)
    if not missing.serious:
        return None
    near = (
        missing.rated >= FEWEST
        and missing.main in {"too-many", "too-few"}
        and missing.passing > NEXT_TO_NOTHING
    )
    other = spec_of(estimator, ESTIMATORS).partition(":")[0] != DEFAULT
    call = this_call()
    other = other and call.values.get("model") is None  # which has its own estimator
    better = call.line(estimator=DEFAULT) if near and other else None
    return Advice(reason=missing.sentence(estimator.threshold), command=better)
