"""What a text says of its dialogue acts, as features: words with placeholders, what is left out.

How an output is worded is rated alike whatever restaurant it is about, and a value of its source
that it leaves out is a fault: words in their place tell neither.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from refless.registry.errors import InputError
from refless.text.meaning import Triple, delexicalized, looks_like_act, triples
from refless.text.words import words

BEGIN, END = "<s>", "</s>"
PLACEHOLDER = "x-"


def mostly_acts(sources: Sequence[str]) -> bool:
    """Whether more than half of the sources are dialogue acts."""
    is_act = {source: _triples(source) is not None for source in set(sources)}
    return 2 * sum(is_act[source] for source in sources) > len(sources)


def features(text: str, source: str) -> tuple[str, ...]:
    """The features of one text and its source; those of its words where that is no dialogue act.

    The values of all slots become placeholders in both.
    """
    acts = _triples(source)
    if acts is None:
        return tuple(pair_features(words(text), ()))
    slots = {triple.slot for triple in acts}
    return tuple(pair_features(*delexicalized(text, acts, slots)))


def pair_features(tokens: Sequence[str], acts: Sequence[Triple]) -> list[str]:
    """Words and pairs of words; acts with slots; values that the text misses; words it doubles.

    Args:
        tokens: the words of the text; acts: triples; both with placeholders for values.
    """
    slots = {f"{triple.act}/{triple.slot}" for triple in acts}
    values = {triple.value for triple in acts if triple.value.startswith(PLACEHOLDER)}
    missing = sorted(values.difference(tokens))
    doubled = sorted(word for word, count in Counter(tokens).items() if count > 1)
    return [
        *tokens,
        *(f"{first} {second}" for first, second in pairwise([BEGIN, *tokens, END])),
        *sorted(slots),
        *(f"missing {value}" for value in missing),
        *(f"doubled {word}" for word in doubled),
    ]


def _triples(source: str) -> tuple[Triple, ...] | None:
    """The triples of a dialogue act; None for any other source, and for a malformed one."""
    if not looks_like_act(source):
        return None
    try:
        return triples(source)
    except InputError:
        return None
