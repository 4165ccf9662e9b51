"""Whether estimators agree with the raters: the result of `refless validate`."""

from dataclasses import dataclass, replace

from refless.commands.advised import Advice, advice_sections, reasons_sections
from refless.commands.annotators import annotators_record
from refless.commands.coverage import coverage_section
from refless.commands.validate.annotators import annotators_section
from refless.commands.validate.confounders import made_of_sections, shown
from refless.commands.validate.data import (
    Beside,
    DriftRecord,
    MadeOfRecord,
    ValidateRecord,
    in_scale,
)
from refless.commands.validate.document import (
    NO_NAMES,
    agreement_sections,
    facts,
    reranking_sections,
    undefined_sections,
)
from refless.commands.validate.drift import drift_sections, drifted
from refless.commands.validate.leaderboard import recommendation, side_by_side_section, worth_using
from refless.commands.validate.picture import with_picture
from refless.commands.validate.scores import said, scores_section
from refless.commands.validate.texts import scatter_section, store_of, worst_section
from refless.commands.validate.verdict import grounds_of, notes, verdict
from refless.estimators import Estimator
from refless.evaluation.annotators import annotators
from refless.evaluation.baselines import SYSTEM
from refless.evaluation.leaderboard import SideBySide
from refless.evaluation.validation import Validation
from refless.evaluation.versus_judges import BesideScores
from refless.registry.plural import counted
from refless.registry.signature import Signature
from refless.report.document import Document, Section, caveats
from refless.report.export import Rows
from refless.report.record import Record, record
from refless.report.result import Result
from refless.report.wording import sentence

READS_SYSTEM = "An estimator can read the system's name too: try --estimator gp:use_system=yes."


@dataclass(frozen=True, slots=True)
class HeldOut:
    """What is held out together, and the seed of what is drawn."""

    group: str
    labels: tuple[str, ...]
    seed: int
    drawn_from: int | None = None  # rated texts of which these are a part

    def signed(self, signature: Signature) -> Signature:
        """With what the rated texts were drawn from."""
        if self.drawn_from is None:
            return signature
        return signature.plus(drawnfrom=self.drawn_from, drawseed=self.seed)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ValidateResult(Result):
    """Whether estimators agree with the raters.

    Attributes:
        validation: of the estimator to use, or of the one that was asked for.
        estimator: that estimator, not fitted.
        side_by_side: all that were tried, and baselines, on the same texts.
        beside_scores: what texts add to scores of others, or None without such scores.
        next_command: the line that estimates outputs with it.
        advice: what to do where too many texts have no estimate.
        how: what was held out together.
    """

    record = ValidateRecord
    validation: Validation
    estimator: Estimator
    side_by_side: SideBySide
    beside_scores: BesideScores | None
    next_command: str
    advice: Advice | None
    how: HeldOut

    def _shown(self) -> Document:
        found = self.validation
        return self._document(
            (
                *made_of_sections(found.made_of, whole=False),
                *drift_sections(found.drift, found.pool.scale, whole=False),
                *reranking_sections(found),
                *reasons_sections(found.estimator.reasons, found.estimator.n),
                *undefined_sections(found.estimator),
            )
        )

    def _whole(self) -> Document:
        found, pool, seed = self.validation, self.validation.pool, self.how.seed
        people = annotators(pool, leave_out=True)
        store, places = store_of(pool, found.estimates, self.estimator, self.how.labels, seed)
        brief = self._document(
            (
                *made_of_sections(found.made_of, whole=True),
                scatter_section(found, places, seed),
                annotators_section(found, people, seed),
                *drift_sections(found.drift, pool.scale, whole=True),
                coverage_section(pool.texts, pool.tasks, found.estimates),
                *reranking_sections(found),
                worst_section(found, places),
                *undefined_sections(found.estimator),
                caveats(),
            )
        )
        grounds = grounds_of(found)
        page = replace(brief, store=store)
        return with_picture(page, self.side_by_side, grounds.annotator, grounds.annotator_interval)

    def _document(self, more: tuple[Section, ...]) -> Document:
        """What both show first, and more sections."""
        found, table, beside = self.validation, self.side_by_side, self.beside_scores
        grounds = grounds_of(found)
        name = sentence(table.reference.removeprefix("the "))
        return Document(
            title=f"{sentence(grounds.estimator)} on {counted(len(found.pool), 'rated text')}",
            verdict=recommendation(table),
            notes=(f"  {self.next_command}",) if worth_using(table) else self._instead(),
            facts=facts(found, grounds),
            sections=(
                *advice_sections(self.advice),
                side_by_side_section(table, self.how.group),
                *(() if beside is None else (scores_section(beside, table),)),
                Section(title=f"{name} and people", lines=(verdict(grounds), *notes(grounds))),
                *agreement_sections(found),
                *more,
            ),
        )

    def _instead(self) -> tuple[str, ...]:
        """What to try where the system's name is ahead of an estimator that does not read it."""
        rival = self.side_by_side.rival
        reads = getattr(self.estimator, "use_system", False)
        return (READS_SYSTEM,) if rival.name == SYSTEM and rival.gain > 0 and not reads else ()

    def _json(self) -> Record:
        found, beside = self.validation, self.beside_scores
        scale, people = found.pool.scale, found.annotators
        drift = record(DriftRecord, found.drift, shown=drifted(found.drift, scale))
        return self._record(
            found,
            verdict=verdict(grounds_of(found)),
            n=len(found.pool),
            estimator=found.estimator,
            annotators=annotators_record(people),
            annotators_reason=NO_NAMES if people is None else "",
            beside=None if found.beside is None else record(Beside, found.beside),
            made_of=record(MadeOfRecord, found.made_of, shown=shown(found.made_of)),
            drift=drift,
            in_scale=in_scale(found.estimator, scale),
            recommendation=recommendation(self.side_by_side),
            texts_and_scores=() if beside is None else said(beside, self.side_by_side),
        )

    def _rows(self) -> Rows:
        pool, estimates = self.validation.pool, self.validation.estimates
        return [
            {
                "id": pool.ids[i],
                "human": float(pool.human[i]),
                "estimate": float(estimates.values[i]),
                "low": float(estimates.low[i]),
                "high": float(estimates.high[i]),
                "support": int(estimates.support[i]),
                "reason": estimates.reasons[i],
                "text": pool.texts[i],
            }
            for i in range(len(pool))
        ]
