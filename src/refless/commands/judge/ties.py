"""Texts on which raters are split evenly: a judge's answer by either rule for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from refless.commands.judge.audit import Audit
from refless.commands.judge.audits import labels_of, with_verdicts
from refless.commands.judge.document import answer_of, cell
from refless.commands.judge.numbers import measured
from refless.commands.judge.question import Question
from refless.commands.judge.rater_profiles import always_higher
from refless.commands.warnings import note
from refless.evaluation.scales import are_verdicts
from refless.evaluation.uses import FILTER, Use, may_filter
from refless.metrics.protocol import Scores
from refless.registry.dialect import called
from refless.registry.plural import counted
from refless.report.document import Card

MOST = 0.51  # share of raters, which a tie does not reach


@dataclass(frozen=True, slots=True)
class TieRule:
    """A judge's answer if texts fail on which raters are split evenly; else they pass.

    Attributes:
        said: a sentence on both rules, "" if no text is split.
        split: the texts, as a count in words, if the answer is another one by each rule; else "".
    """

    said: str = ""
    split: str = ""

    def of(self, audit: Audit) -> Audit:
        """The audit, which does not tell about single outputs if that takes a rule for ties."""
        if not self.split:
            return audit
        why = f"it depends on {self.split} on which raters are split"
        estimate = replace(audit.alone.estimate, undefined=why)
        alone = replace(audit.alone, answer="unknown", estimate=estimate)
        uses = [alone if use.purpose == FILTER else use for use in audit.uses]
        return replace(audit, uses=tuple(uses))

    def on(self, card: Card) -> Card:
        """The card of that audit, with what would settle it."""
        card = replace(card, rests=f"{card.rests} {self.said}".rstrip())
        if not self.split:
            return card
        return replace(
            card,
            further=f"a third rating of each of these {self.split}, or a rule for them.",
            advice=f"have a third person rate the {self.split} on which raters are split.",
            command="",
        )


def tie_rules(
    question: Question, audits: Sequence[Audit], scores: Mapping[str, Scores]
) -> dict[str, TieRule]:
    """By judge, its answer by both rules; {} if no text is split or the user gave a rule."""
    split = int((question.ratings == 0.5).sum())
    single = question.read.pool.ratings.values
    if not split or question.passing is not None or not are_verdicts(single):
        return {}
    texts = counted(split, "text")
    note(
        f"{texts}, on which raters are split evenly, pass; {called('passing', MOST)} fails them"
    )
    strict = replace(question, passing=MOST)
    higher = always_higher(question.read.pool)
    by = f" ({higher} passes all of them)" if higher else ""
    rules = {}
    for judged in audits:
        if judged.passing is None:
            continue
        labels = labels_of(strict, judged.name, scores[judged.name].segments)
        labels = with_verdicts(strict, labels)
        use = may_filter(labels, measured(labels, question.seed))
        rules[judged.name] = _tie_rule(texts, by, judged.alone, use)
    return rules


def _tie_rule(texts: str, by: str, use: Use, strict: Use) -> TieRule:
    """The rule in words, beside the answer of the other one; by: who passes the texts."""
    said = (
        f"{texts}, on which raters are split evenly, pass{by}; with {called('passing', MOST)} they "
        f"fail, as do scores below it, and kappa is {cell(strict.estimate)}"
    )
    if strict.answer == use.answer:
        return TieRule(f"{said}.")
    answers = f"'{answer_of(use)}' becomes '{answer_of(strict)}'"
    return TieRule(f"{said}: {answers}.", texts)
