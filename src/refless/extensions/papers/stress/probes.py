"""The probes of Caglayan et al. (2020) for anything that scores outputs as a metric does."""

from collections.abc import Mapping

import numpy as np

from refless.data.records import Outputs
from refless.extensions.papers.stress import words as w
from refless.extensions.papers.stress.judging import Estimated
from refless.extensions.papers.stress.material import Material, shuffled_words, with_texts
from refless.extensions.papers.stress.pairing import Rounds, rounds, rows_of
from refless.extensions.papers.stress.plan import UNKNOWN, WORDS, Plan
from refless.extensions.papers.stress.rows import Probe, Row, percent_of, relative
from refless.metrics.references import Metric
from refless.registry.errors import UsageError
from refless.text.stopwords import ENGLISH, stop_words


def references_probe(metric: Metric, material: Material, plan: Plan) -> Probe:
    """References and systems, each against all references but one (Table 1, equation 1).

    Raises:
        UsageError: an item with fewer than two references.
    """
    n = material.rounds
    if n < 2:
        raise UsageError("it leaves one reference out, so every item needs two or more")
    people = rounds(*(metric.score(material.references_as_outputs(out)) for out in range(n)))
    fewer = [material.without(out) for out in range(n)]
    systems = [
        (Row(label=name), rounds(*(metric.score(with_texts(items, texts)) for items in fewer)))
        for name, texts in material.systems.items()
    ]
    rows = rows_of((Row(label="references"), people), systems, plan)
    above = [row for row in rows[1:] if row.change_interval[0] > 0]
    below = [row for row in rows[1:] if row.change_interval[1] < 0]
    if above:
        top = max(above, key=lambda row: row.change)
        verdict = (
            f"It prefers {top.label} ({top.score:.4g}) to texts that people wrote "
            f"({rows[0].score:.4g}): no 'human parity' follows from its scores."
        )
    elif len(below) == len(rows) - 1:
        verdict = "It prefers texts that people wrote to every system's."
    else:
        verdict = "It does not tell texts that people wrote from a system's."
    return Probe(
        name="references",
        about=f"Each of {n} references, and each system, against the other {n - 1}; mean.",
        rows=rows,
        verdict=verdict,
        fooled=bool(above),
    )


def subject(metric: Metric, material: Material, base: str) -> tuple[str, Outputs]:
    """The texts to perturb, and what they are.

    Raises:
        UsageError: references are asked for, but an item has fewer than two.
    """
    can = material.rounds > 1
    if base == "references" and not can:
        raise UsageError("the first reference is perturbed, so every item needs two or more")
    if base == "references" or (base == "auto" and can and not isinstance(metric, Estimated)):
        return "first reference", material.references_as_outputs(0)
    return material.first, material.outputs()


def frequent_probe(metric: Metric, material: Material, plan: Plan) -> Probe:
    """Frequent words, each replaced everywhere, and as many content words (Table 2)."""
    label, outputs = subject(metric, material, plan.base)
    stop = stop_words(ENGLISH)
    counts = w.counted(outputs.texts)
    chosen = plan.words or w.most_frequent(counts, WORDS)
    changed = {word: w.substituted(outputs.texts, {word.lower(): UNKNOWN}) for word in chosen}
    largest = max(chosen, key=lambda word: counts[word.lower()])
    random = w.control(outputs.texts, changed[largest].share, UNKNOWN, stop, plan.seed)
    rest = [_after(metric, outputs, f"'{word}'", texts) for word, texts in changed.items()]
    rest.append(_after(metric, outputs, "random content words", random))
    first = (Row(label=label), rounds(metric.score(outputs)))
    rows = rows_of(first, rest, plan)
    word_row = rows[1 + list(chosen).index(largest)]
    verdict, fooled = _frequent_verdict(rows[0], word_row, rows[-1], largest.lower() in stop)
    return Probe(
        name="frequent",
        about=f"Words of the {label} become {UNKNOWN}.",
        rows=rows,
        verdict=verdict,
        fooled=fooled,
    )


def _after(metric: Metric, outputs: Outputs, label: str, new: w.Changed) -> tuple[Row, Rounds]:
    scores = metric.score(with_texts(outputs, new.texts))
    return Row(label=label, share=new.share), rounds(scores)


def _frequent_verdict(base: Row, word: Row, random: Row, function: bool) -> tuple[str, bool | None]:
    one, other = relative(word, base), relative(random, base)
    if one != one or other != other:
        return "Undefined: nothing could be compared.", None
    said = (
        f"Replacing every {word.label} {_costs(one)}, replacing "
        f"{'as many' if random.share >= 0.999 * word.share else 'all'} content words "
        f"{_costs(other)}"
    )
    if not function:
        return f"{said}.", None
    if word.change_interval[1] < random.change_interval[0]:
        return f"{said}: it rewards function words.", True
    if word.change_interval[0] > random.change_interval[1]:
        return f"{said}: content words count for more, as they should.", False
    return f"{said}: no clear difference.", None


def _costs(change: float) -> str:
    return f"{'costs' if change <= 0 else 'gains'} {percent_of(change)}"


def rare_probe(
    metric: Metric, material: Material, train: Mapping[str, int] | None, plan: Plan
) -> Probe:
    """Words rarer than a threshold replaced, and chosen substitutions (Table 3).

    Args:
        train: how often each word occurs in a training set; None counts the references (without
            any, the outputs), which says less.
    """
    label, outputs = subject(metric, material, plan.base)
    where = "training set"
    if train is None:
        where = "references" if outputs.references else "outputs"
        known = [text for row in material.items.references for text in row]
        train = w.counted(known or outputs.texts)
    first = (Row(label=label), rounds(metric.score(outputs)))
    rest = []
    for threshold in plan.thresholds:
        new = w.rare_replaced(outputs.texts, train, threshold, UNKNOWN)
        rest.append(_after(metric, outputs, f"fewer than {threshold} times", new))
    for old, fresh in plan.swaps.items():
        new = w.substituted(outputs.texts, {old.lower(): fresh})
        rest.append(_after(metric, outputs, f"{old} -> {fresh}", new))
    rows = rows_of(first, rest, plan)
    verdict, fooled = _rare_verdict(rows[: 1 + len(plan.thresholds)])
    return Probe(
        name="rare",
        about=f"Words of the {label} that are rare in the {where} become {UNKNOWN}.",
        rows=rows,
        verdict=verdict,
        fooled=fooled,
    )


def _rare_verdict(rows: tuple[Row, ...]) -> tuple[str, bool | None]:
    replaced = [row for row in rows[1:] if row.share > 0]
    if not replaced:
        return "No word is that rare here.", None
    most = max(replaced, key=lambda row: row.share)
    lost = -relative(most, rows[0])
    if lost != lost:
        return "Undefined: nothing could be compared.", None
    least, greatest = (-end / abs(rows[0].score) for end in reversed(most.change_interval))
    said = (
        f"Replacing the {percent_of(most.share)} of words that occur {most.label} {_costs(-lost)}"
    )
    if greatest < most.share:
        return f"{said}: rare words count for less than their share.", True
    if least >= most.share:
        return f"{said}: rare words count for at least their share.", False
    return f"{said}: about their share.", None


def direction_probe(metric: Metric, material: Material, plan: Plan) -> Probe:
    """Outputs made better or worse in ways whose right direction is known."""
    outputs = material.outputs()
    first = (Row(label=material.first), rounds(metric.score(outputs)))
    rest = [
        (Row(label=label, expected=sign), rounds(metric.score(with_texts(outputs, texts))))
        for label, (sign, texts) in variants(outputs, metric, plan.seed).items()
    ]
    rows = rows_of(first, rest, plan)
    wrong = [row.label for row in rows[1:] if _direction(row) < 0]
    unclear = [row.label for row in rows[1:] if _direction(row) == 0]
    if wrong:
        verdict = f"It moves the wrong way for: {', '.join(wrong)}."
    elif len(unclear) == len(rows) - 1:
        verdict = "It is not seen to move for any of them."
    elif unclear:
        verdict = f"It moves the right way, but is not seen to for: {', '.join(unclear)}."
    else:
        verdict = "It moves the right way for all of them."
    return Probe(
        name="direction",
        about=f"The texts of {material.first}, changed so that they are better or worse.",
        rows=rows,
        verdict=verdict,
        fooled=True if wrong else None if unclear else False,
    )


def _direction(row: Row) -> int:
    """+1 the right way, -1 the wrong way, 0 where the interval does not say."""
    low, high = row.change_interval
    if row.expected > 0:
        low, high = -high, -low
    return 1 if high < 0 else -1 if low > 0 else 0


def variants(outputs: Outputs, metric: Metric, seed: int) -> dict[str, tuple[int, tuple[str, ...]]]:
    """Changed outputs by name, with the right direction of the change."""
    texts = outputs.texts
    common = w.most_frequent(w.counted(texts), 3)
    found: dict[str, tuple[int, tuple[str, ...]]] = {
        "shuffle the words": (-1, shuffled_words(texts, seed)),
        "repeat the text": (-1, tuple(f"{text} {text}" for text in texts)),
        "truncate to half": (-1, tuple(half(text) for text in texts)),
        "pad with frequent words": (-1, tuple(_padded(text, common) for text in texts)),
    }
    if outputs.sources:
        found["copy the source"] = (-1, outputs.sources)
    if outputs.references and not isinstance(metric, Estimated):
        found["copy a reference"] = (1, tuple(row[0] for row in outputs.references))
    return found


def half(text: str) -> str:
    """The first half of a text's words."""
    split = text.split()
    return " ".join(split[: (len(split) + 1) // 2])


def _padded(text: str, common: tuple[str, ...]) -> str:
    size = (len(text.split()) + 1) // 2
    return " ".join([text, *(str(word) for word in np.resize(common, size if common else 0))])
