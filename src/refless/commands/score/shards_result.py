"""The result over shards: means, guards and gates from sums; the estimates are in a folder."""

from __future__ import annotations

from dataclasses import dataclass, replace

from refless.commands.score.copies import Copies, copies
from refless.commands.score.gates import doubted, gate, note_groups, note_systems
from refless.commands.score.guards import Guards, more
from refless.commands.score.guards_shown import said
from refless.commands.score.novelty import unlike
from refless.commands.score.result import ScoreResult, signature_of
from refless.commands.score.shard_sums import Stream, StreamTotals, Totals
from refless.commands.warnings import note
from refless.data.design import Design, drawn_said, units_of
from refless.data.records import Estimates, Outputs
from refless.estimators.saved import Saved
from refless.evaluation.judge_shift import JudgeShift, judge_shifts
from refless.evaluation.scoring import Mean, MeanErrors, Scored
from refless.registry.errors import UsageError
from refless.report.document import Document, Section
from refless.report.export import Rows
from refless.stats.fisher import Marked

NO_OUTPUTS = Outputs(ids=(), texts=())
NO_ESTIMATES = Estimates.joined((), ())


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ShardsResult(ScoreResult):
    """Means of outputs whose estimates are in a folder: it holds none of them itself.

    Attributes:
        folder: of the estimates.
    """

    folder: str

    def _shown(self) -> Document:
        where = Section(lines=(f"The estimates are in {self.folder}",))
        return self._document((where,))

    def _whole(self) -> Document:
        return self._shown()

    def _rows(self) -> Rows:
        raise UsageError(
            f"the rows are in the shards in {self.folder}: read them there"
        )

    def exported(self, tool: str) -> str:
        """The gate; raises UsageError for what takes all rows."""
        if tool == "inspect":
            self._rows()
        return super().exported(tool)


def shards_result(
    stream: Stream,
    saved: Saved,
    rated_design: Design,
    *,
    folder: str,
    min_mean: float | None,
    min_coverage: float | None,
    seed: int,
    these: bool,
) -> ShardsResult:
    """The result over shards.

    Args:
        stream: their sums; folder: of their estimates.
        saved: the estimator; rated_design: of its rated texts.
        min_mean, min_coverage, seed, these: as of `score`.
    """
    estimator = saved.estimator
    errors = estimator.residuals().on(estimator.rated.scale)
    means = MeanErrors.of(errors)
    scored = _scored(means, stream, these=these)
    overall = scored.overall
    alarms = _guards(stream, saved, seed)
    if more(alarms.copies.overall, alarms.copies.systems):
        rest = stream.originals
        without = _mean(means, rest.overall, rest, named=stream.named, these=False)
        alarms = replace(alarms, without_copies=without)
    every = stream.every
    note_groups(estimator, saved.group, known=every.overall.strange == 0)
    note_systems({*every.systems}, estimator)
    warnings = said(alarms, overall)
    doubts = [*doubted(errors, stream.sample.values), *warnings]
    verdict = gate(overall, min_mean, min_coverage, doubts)
    note(verdict.reason)
    signature = signature_of(saved, "normal", seed, these=these)
    units = int(every.overall.units)
    return ShardsResult(
        scored=scored,
        guards=alarms,
        estimator=estimator,
        accepted=None,
        gate=verdict,
        design=f"{drawn_said(overall.n, units, rated_design.level, 'output')}.",
        rated_design=rated_design.said(estimator.given[0].ratings, "rated text"),
        signature=signature.plus(**rated_design.signs),
        folder=folder,
    )


def _scored(means: MeanErrors, stream: Stream, *, these: bool) -> Scored:
    """The means of all outputs and of each system."""
    every = stream.every
    named = stream.named
    systems: dict[str, Mean] = {}
    for name in sorted({*every.systems} - {""}) if named else ():
        own = every.systems[name]
        alone = StreamTotals(own, {name: own})
        systems[name] = _mean(means, own, alone, named=named, these=these)
    return Scored(
        outputs=NO_OUTPUTS,
        estimates=NO_ESTIMATES,
        overall=_mean(means, every.overall, every, named=named, these=these),
        systems=systems,
        reasons=dict(sorted(stream.reasons.items())),
        these=these,
    )


def _mean(
    means: MeanErrors, own: Totals, systems: StreamTotals, *, named: bool, these: bool
) -> Mean:
    """The mean of the estimates behind some totals."""
    counts = systems.estimates if named else {}
    sums = own.sums
    known = own.strange == 0
    n = int(own.rows)
    return means.mean_of_sums(n, sums, counts, known=known, these=these)


def _guards(stream: Stream, saved: Saved, seed: int) -> Guards:
    """Counts of copies over all shards; tests, odd outputs and judges by the drawn outputs."""
    outputs = stream.sample.outputs
    estimator = saved.estimator
    rated = estimator.rated
    copied, _ = copies(outputs, rated, seed, saved.runs)
    shifts: tuple[JudgeShift, ...] = ()
    if estimator.without_scores() is not None:
        shifts = judge_shifts(outputs.scores, units_of(outputs), rated)
    return Guards(
        copies=_counted(copied, stream),
        without_copies=None,
        unlike=unlike(outputs, rated, seed),
        judges=shifts,
    )


def _counted(sample: Copies, stream: Stream) -> Copies:
    """The copies that were counted shard by shard, with the tests on the drawn outputs."""
    originals = stream.originals.systems
    systems = {}
    for name, own in stream.every.systems.items() if stream.named else ():
        mark = sample.systems.get(name, Marked(n=0, count=0))
        count = own.rows - originals.get(name, Totals()).rows
        if name:
            systems[name] = replace(mark, n=int(own.rows), count=int(count))
    rows = stream.every.overall.rows
    count = rows - stream.originals.overall.rows
    return replace(
        sample,
        n_itself=stream.itself,
        overall=replace(sample.overall, n=int(rows), count=int(count)),
        systems=systems,
    )
