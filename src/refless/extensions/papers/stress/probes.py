"""The probes of Caglayan et al. (2020) for anything that scores outputs as a metric does."""

from collections.abc import Mapping, Sequence
from itertools import chain

from refless.data.records import Outputs
from refless.extensions.papers.stress import words as w
from refless.extensions.papers.stress.judging import Estimated
from refless.extensions.papers.stress.material import StressItems, with_texts
from refless.extensions.papers.stress.pairing import Rounds, rounds, rows_of
from refless.extensions.papers.stress.plan import StressPlan
from refless.extensions.papers.stress.rows import Probe, Row, percent_of, relative
from refless.metrics.protocol import Metric
from refless.registry.errors import UsageError

UNKNOWN = "UNK"  # what a replaced word becomes
WORDS = 5  # the most frequent ones that are replaced; Table 2 has five
THRESHOLDS = (30, 20, 10, 5, 1)  # words that are rarer in the training set are replaced


def references_probe(metric: Metric, material: StressItems, plan: StressPlan) -> Probe:
    """References and systems, each against all references but one (Table 1, equation 1).

    Raises:
        UsageError: an item with fewer than two references.
    """
    n = material.rounds
    if n < 2:
        raise UsageError("it leaves one reference out, so every item needs two or more")
    by_people = [material.references_as_outputs(out) for out in range(n)]
    people = rounds(*map(metric.score, by_people))
    fewer = [material.without(out) for out in range(n)]
    systems = []
    for name, texts in material.systems.items():
        by_system = [with_texts(items, texts) for items in fewer]
        systems.append((Row(label=name), rounds(*map(metric.score, by_system))))
    rows = rows_of((Row(label="references"), people), systems, plan)
    above = [row for row in rows[1:] if row.change_interval[0] > 0]
    if above:
        top = max(above, key=lambda row: row.change)
        verdict = (
            f"It prefers {top.label} ({top.score:.4g}) to texts that people wrote "
            f"({rows[0].score:.4g}): no 'human parity' follows from its scores."
        )
    elif all(row.change_interval[1] < 0 for row in rows[1:]):
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


def subject(metric: Metric, material: StressItems) -> tuple[str, Outputs]:
    """The texts to change, and what they are: the first reference, as published, if possible."""
    if material.rounds > 1 and not isinstance(metric, Estimated):
        return "first reference", material.references_as_outputs(0)
    return material.first, material.outputs()


def frequent_probe(
    metric: Metric, material: StressItems, plan: StressPlan, words: Sequence[str] = ()
) -> Probe:
    """Frequent words, each replaced everywhere, and as many content words (Table 2).

    Args:
        words: in lower case; without them the five most frequent ones.

    Raises:
        UsageError: texts without words.
        MissingExtraError: no bm25s, which has the list of words that are no content words.
    """
    stop = w.stop_words()
    label, outputs = subject(metric, material)
    counts = w.counted(outputs.texts)
    chosen = words or w.most_frequent(counts, WORDS)
    if not chosen:
        raise UsageError("the texts contain no words")
    changed = {word: w.replaced(outputs.texts, {word: UNKNOWN}) for word in chosen}
    largest = max(chosen, key=lambda word: counts[word])
    random = w.control(outputs.texts, changed[largest].share, UNKNOWN, stop, plan.seed)
    replaced = [
        _after(metric, outputs, f"'{word}'", texts) for word, texts in changed.items()
    ]
    replaced.append(_after(metric, outputs, "random content words", random))
    rows = rows_of((Row(label=label), rounds(metric.score(outputs))), replaced, plan)
    word_row = rows[1 + list(changed).index(largest)]
    verdict, fooled = _frequent_verdict(rows[0], word_row, rows[-1], largest in stop)
    return Probe(
        name="frequent",
        about=f"Words of the {label} become {UNKNOWN}.",
        rows=rows,
        verdict=verdict,
        fooled=fooled,
    )


def _after(
    metric: Metric, outputs: Outputs, label: str, new: w.Changed
) -> tuple[Row, Rounds]:
    scores = metric.score(with_texts(outputs, new.texts))
    return Row(label=label, share=new.share), rounds(scores)


def _frequent_verdict(
    base: Row, word: Row, random: Row, function: bool
) -> tuple[str, bool | None]:
    lost = relative(word, base)
    control = relative(random, base)
    if lost != lost or control != control:
        return "Undefined: nothing could be compared.", None
    verdict = (
        f"Replacing every {word.label} {_costs(lost)}, replacing "
        f"{'as many' if random.share >= 0.999 * word.share else 'all'} content words "
        f"{_costs(control)}"
    )
    if not function:
        return f"{verdict}.", None
    if word.change_interval[1] < random.change_interval[0]:
        return f"{verdict}: it rewards function words.", True
    if word.change_interval[0] > random.change_interval[1]:
        return f"{verdict}: content words count for more, as they should.", False
    return f"{verdict}: no clear difference.", None


def _costs(change: float) -> str:
    return f"{'costs' if change <= 0 else 'gains'} {percent_of(change)}"


def rare_probe(
    metric: Metric,
    material: StressItems,
    train: Mapping[str, int] | None,
    plan: StressPlan,
    thresholds: Sequence[int] = THRESHOLDS,
    swaps: Mapping[str, str] | None = None,
) -> Probe:
    """Words rarer than a threshold replaced, and chosen substitutions (Table 3).

    Args:
        train: how often each word occurs in a training set; None counts the references (without
            any, the outputs), which says less.
        thresholds: words that occur fewer times are replaced.
        swaps: words in lower case and what stands for them, such as woman -> man.
    """
    label, outputs = subject(metric, material)
    where = "training set"
    if train is None:
        where = "references" if outputs.references else "outputs"
        references = [*chain(*material.items.references)]
        train = w.counted(references or outputs.texts)
    words = w.counted(outputs.texts)
    replaced = []
    for threshold in thresholds:
        rare = {word for word in words if train.get(word, 0) < threshold}
        new = w.replaced(outputs.texts, dict.fromkeys(rare, UNKNOWN))
        replaced.append(_after(metric, outputs, f"fewer than {threshold} times", new))
    for old, fresh in (swaps or {}).items():
        new = w.replaced(outputs.texts, {old: fresh})
        replaced.append(_after(metric, outputs, f"{old} -> {fresh}", new))
    base = (Row(label=label), rounds(metric.score(outputs)))
    rows = rows_of(base, replaced, plan)
    verdict, fooled = _rare_verdict(rows[: 1 + len(thresholds)])
    return Probe(
        name="rare",
        about=f"Words of the {label} that are rare in the {where} become {UNKNOWN}.",
        rows=rows,
        verdict=verdict,
        fooled=fooled,
    )


def _rare_verdict(rows: Sequence[Row]) -> tuple[str, bool | None]:
    replaced = [row for row in rows[1:] if row.share > 0]
    if not replaced:
        return "No word is that rare here.", None
    most = max(replaced, key=lambda row: row.share)
    lost = -relative(most, rows[0])
    if lost != lost:
        return "Undefined: nothing could be compared.", None
    least, greatest = (
        -end / abs(rows[0].score) for end in reversed(most.change_interval)
    )
    share = percent_of(most.share)
    verdict = f"Replacing the {share} of words that occur {most.label} {_costs(-lost)}"
    if greatest < most.share:
        return f"{verdict}: rare words count for less than their share.", True
    if least >= most.share:
        return f"{verdict}: rare words count for at least their share.", False
    return f"{verdict}: about their share.", None
