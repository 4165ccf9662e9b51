"""Whether estimators agree with the raters: the result of `refless validate`."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from refless.commands.estimating import estimator_name, told_from
from refless.commands.side_by_side import side_by_side
from refless.commands.texts import estimate_columns, reasons_sections
from refless.commands.validate.card import card_of
from refless.commands.validate.confounders import Confounders
from refless.commands.validate.document import (
    FIXED,
    agreement_sections,
    are_narrow,
    no_annotators,
    side_by_side_section,
    source_sections,
    undefined_sections,
)
from refless.commands.validate.findings import (
    confounder_lines,
    confounder_sections,
    drift_lines,
    drift_sections,
    judge_lines,
    judge_section,
)
from refless.commands.validate.leaderboard import Leaderboard
from refless.commands.validate.source_study import SourceStudy
from refless.commands.validate.validation import ErrorsInScale, Validation, in_scale
from refless.commands.validate.verdict import annotator_lines, verdict
from refless.commands.validate.versus_judges import VersusJudges
from refless.data.human import unscaled
from refless.data.records import Estimates
from refless.estimators import Estimator
from refless.evaluation.annotators import VersusAnnotators
from refless.evaluation.baselines import SYSTEM
from refless.evaluation.drift import Drift
from refless.evaluation.held_out import Agreement
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.dialect import called
from refless.registry.plural import counted
from refless.report.document import Card, Document, Section, folded
from refless.report.export import Rows
from refless.report.record import Count, Record, Signed
from refless.report.result import Result
from refless.report.wording import SEVERAL, UNKNOWN, one_rating, sentence

LIMITS = (
    (
        "A correlation is an average over these texts: it can hide texts that are badly wrong, and "
        "texts written to please a metric."
    ),
    "Other tasks, systems, lengths or raters need ratings of their own.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOutText:
    """A rated text: its rating, and its estimate that knows nothing of it; null without one."""

    id: str
    rating: float
    estimate: float


@dataclass(frozen=True, kw_only=True)
class ValidateRecord(Record):
    """Held-out estimates of rated texts against their ratings.

    Attributes:
        verdict: which estimator to use, and whether it is worth it, in a sentence or two.
        design: what belongs together, and what was drawn at random.
        beside: Spearman of the average annotator and of the estimates with the other annotators'
            mean; null, with a reason, where no two annotators rated the same texts.
        made_of: what is left of Spearman within systems and sources, and given length.
        drift: raters who differ from the others, and what changes over time.
        findings: what is shown of both, in sentences.
        in_scale: null without a scale.
        signatures: of each estimator, by name.
        sources: how well estimates do on sources that are rated already and on new ones; null
            where too few rated texts share a source or an item.
        beside_scores: what texts add to scores of others; null without --score-column, and where no
            estimator reads them. texts_and_scores: the same in sentences.
    """

    command: Literal["validate"] = "validate"
    signature: Signed
    verdict: str
    design: str
    n: Count
    estimator: Agreement
    annotators_reason: str
    beside: VersusAnnotators | None
    made_of: Confounders
    drift: Drift
    findings: tuple[str, ...]
    in_scale: ErrorsInScale | None
    side_by_side: Leaderboard
    signatures: dict[str, str]
    sources: SourceStudy | None
    beside_scores: VersusJudges | None
    texts_and_scores: tuple[str, ...]
    held_out: tuple[HeldOutText, ...]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ValidateResult(Result):
    """Whether estimators agree with the raters.

    Attributes:
        validation: of the estimator to use, and of all methods side by side.
        sources: the estimator to use on sources that are rated already, and on new ones; or None.
        design: what belongs together, in a sentence.
        estimator: the estimator to use, not fitted.
        signatures: of each estimator, by name.
        unit: [n] what each text was drawn with.
        next_command: the line that estimates outputs with it.
        listed: [n] the texts in the order of their rows.
        named: whether the user named the estimators.
        left: rows beside the rated ones that can be rated.
    """

    record = ValidateRecord
    validation: Validation
    sources: SourceStudy | None
    design: str
    estimator: Estimator
    signatures: dict[str, str]
    unit: IntArray
    next_command: str
    listed: IntArray
    named: bool
    left: int = 0

    @property
    def side_by_side(self) -> Leaderboard:
        """All methods on the same texts: name, `spearman` and `spearman_interval` of each."""
        return self.validation.side_by_side

    @property
    def people(self) -> FloatArray:
        """[n] ratings in the raters' units."""
        pool = self.validation.pool
        return unscaled(pool.human, pool.scale)

    @property
    def estimates(self) -> Estimates:
        """Held-out estimates in the raters' units."""
        return self.validation.estimates.on(self.validation.pool.scale)

    @property
    def span(self) -> float:
        """The raters' units in 1 of the errors."""
        low, high = self.validation.pool.scale or (0.0, 1.0)
        return high - low

    def card(self) -> Card:
        """The answer with its picture."""
        pool = self.validation.pool
        values = self.estimates.values
        told = ~np.isnan(values)
        agree = SEVERAL
        if not pool.has_several_ratings:
            agree = UNKNOWN.format(one_rating(pool.ratings.annotators))
        if are_narrow(self.validation):
            agree = f"{FIXED.format(estimator_name(self.signature))} {agree}"
        return card_of(
            self.side_by_side,
            self.people[told],
            values[told],
            self.unit[told],
            self.span,
            agree,
            self.next_command,
            of_verdicts=pool.of_verdicts,
            named=self.named,
            left=self.left,
            read=told_from(self.signature),
        )

    def _shown(self) -> Document:
        """The answer, and all numbers behind it."""
        result = self.validation
        agreement = result.estimator
        sections = [
            side_by_side_section(result),
            *self._versus(),
            *source_sections(self.sources),
            *agreement_sections(result),
            *confounder_sections(result.made_of),
            *drift_sections(result.drift, result.pool.scale),
            *undefined_sections(agreement),
            *reasons_sections(agreement.reasons, agreement.n),
        ]
        return Document(
            title=f"Estimates of {counted(len(result.pool), 'rated text')}",
            cards=(self.card(),),
            notes=(
                verdict(self.side_by_side, self.span),
                self.design,
                *self._then(),
                *LIMITS,
            ),
            sections=folded(sections),
        )

    def _whole(self) -> Document:
        """The same with the outputs side by side, and the numbers folded away."""
        document = self._shown()
        outputs = side_by_side(
            self.validation.pool,
            self.people,
            self.estimates.values,
            np.argsort(self.listed),
            percent=self.validation.pool.of_verdicts,
            scale=self.validation.pool.scale,
            doubt=document.cards[0].state != "yes",
            first="estimate",
        )
        return replace(document, outputs=outputs)

    def _versus(self) -> list[Section]:
        """The estimator beside judges' scores, and beside one annotator."""
        table = self.side_by_side
        sections = []
        versus = self.validation.beside_scores
        if versus is not None:
            sections.append(judge_section(versus, table))
        people = annotator_lines(self.validation)
        if people:
            name = sentence(table.reference.removeprefix("the "))
            section = Section(title=f"{name} and one annotator", lines=people)
            sections.append(section)
        return sections

    def _then(self) -> tuple[str, ...]:
        """The estimator to try if the system's name is ahead and was not read."""
        rival = self.side_by_side.rival
        reads = getattr(self.estimator, "use_system", False)
        if rival.name != SYSTEM or not rival.gain > 0 or reads:
            return ()
        remedy = called("estimator", "gp:use_system=yes")
        return (f"An estimator can read the system's name too: try {remedy}.",)

    def _json(self) -> Record:
        result = self.validation
        table = self.side_by_side
        versus = self.validation.beside_scores
        scale = result.pool.scale
        findings = confounder_lines(result.made_of) + drift_lines(result.drift, scale)
        return self._record(
            result,
            verdict=verdict(table, self.span),
            n=len(result.pool),
            sources=self.sources,
            annotators_reason=no_annotators(result),
            findings=findings,
            in_scale=in_scale(result.estimator, scale),
            held_out=self._held_out(),
            texts_and_scores=() if versus is None else judge_lines(versus, table),
        )

    def _held_out(self) -> tuple[HeldOutText, ...]:
        ids = self.validation.pool.ids
        columns = zip(
            ids, self.people.tolist(), self.estimates.values.tolist(), strict=True
        )
        return tuple(
            HeldOutText(id=name, rating=rating, estimate=estimate)
            for name, rating, estimate in columns
        )

    def _rows(self) -> Rows:
        pool = self.validation.pool
        estimates = self.estimates
        people = self.people
        rows = []
        for i in self.listed.tolist():
            rated = {"id": pool.ids[i], "human": float(people[i])}
            estimate = estimate_columns(estimates, i)
            rows.append({**rated, **estimate, "text": pool.texts[i]})
        return rows
