"""Do estimates help? A card from what `validate` says."""

from refless.commands.look.asked import Asked, refused
from refless.commands.validate.card import QUESTION
from refless.commands.validate.result import ValidateResult
from refless.commands.validate.run import validate
from refless.registry.errors import InputError, UsageError
from refless.report.document import Card


def do_estimates_help(asked: Asked) -> tuple[list[Card], ValidateResult | None]:
    """The card on estimates, and the held-out estimates; none without rated texts."""
    pool = asked.read.pool
    if pool is None or asked.of_choices or not any(pool.texts):
        return [], None
    try:
        result = asked.ask(validate)
    except (InputError, UsageError) as fault:
        return [refused("estimates", QUESTION, fault)], None
    return [asked.leading_on(result.card(), validate, ValidateResult)], result
