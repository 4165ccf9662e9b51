"""Do the people who rate agree? A card from what `judge` says of ratings alone."""

from functools import partial

from refless.commands.judge.raters import RatersResult
from refless.commands.judge.run import judge
from refless.commands.look.asked import Asked, answered, refused
from refless.registry.errors import InputError
from refless.report.document import Card
from refless.report.wording import one_rating

TOPIC = "your raters"
QUESTION = "Do the people who rate agree?"


def do_raters_agree(asked: Asked) -> list[Card]:
    """The card on raters; none without ratings."""
    pool = asked.read.pool
    if pool is None or asked.of_choices:
        return []
    if not pool.has_several_ratings:
        alone = f"nobody knows: {one_rating(pool.ratings.annotators)}"
        remedy = "have a second person rate some of them; 'refless rate' asks both."
        return [refused(TOPIC, QUESTION, InputError(alone, remedy=remedy))]
    return [answered(TOPIC, QUESTION, partial(_card, asked))]


def _card(asked: Asked) -> Card:
    result: RatersResult = asked.ask(judge)
    return asked.leading_on(result.card(), judge, RatersResult)
