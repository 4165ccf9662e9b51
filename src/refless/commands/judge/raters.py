"""Do my raters agree? `refless judge` on ratings by several people, without a judge's scores."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from refless.commands.judge.document import cell
from refless.commands.judge.rater_profiles import (
    DisputedText,
    Disputes,
    RaterProfile,
    always_higher,
    disputes,
    rater_profiles,
)
from refless.commands.judge.raters_card import card_of
from refless.commands.judged_by import labels_of
from refless.commands.rows import note_ratings
from refless.commands.validate.findings import apart, drift_lines
from refless.data.design import Design
from refless.data.records import RatedPool
from refless.evaluation.drift import Drift, drift
from refless.evaluation.rater_agreement import RaterAgreement, rater_agreement
from refless.registry.arrays import codes
from refless.registry.dialect import saving
from refless.registry.plural import counted
from refless.registry.signature import Signature
from refless.registry.version import __version__
from refless.report.charts import Line, charted
from refless.report.document import Card, Document, Section, Table, folded
from refless.report.export import Rows
from refless.report.record import Count, Record, Signed
from refless.report.result import Result
from refless.report.wording import labels, number, percent
from refless.stats.answers import Estimate

FEW_RATERS = 4  # of fewer none stand for others
NAME = 24  # columns of a terminal
IN_TERMINAL = 5  # disputed texts
ON_PAGE = 20
KINDER = "Kinder (+) or stricter than the others on the same texts: {}, of {} raters."
MEASURES = {
    "alpha_ordinal": "Krippendorff's alpha, ordinal",
    "alpha_interval": "Krippendorff's alpha, interval",
    "icc": "ICC(2,1): one rating",
    "icc_mean": "ICC(2,k): the mean of a text",
}


@dataclass(frozen=True, kw_only=True)
class RatersRecord(Record):
    """Raters beside each other.

    Attributes:
        of: the kind of result.
        n_texts: rated texts.
        design: what belongs together, and what was drawn at random.
        agreement: alpha and the intraclass correlation, of texts with two ratings or more.
        raters: each beside the others, the strictest first.
        findings: which raters are shown to differ, or to drift, a sentence each.
        disputes: texts on which raters are far apart.
    """

    command: Literal["judge"] = "judge"
    of: Literal["raters"] = "raters"
    signature: Signed
    n_texts: Count
    design: str
    agreement: RaterAgreement
    raters: tuple[RaterProfile, ...]
    findings: tuple[str, ...]
    disputes: Disputes


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class RatersResult(Result):
    """Raters beside each other.

    Attributes:
        pool: the rated texts.
        design, agreement, raters, findings, disputes: as in `RatersRecord`.
        apart: a sentence on the raters who are shown to be kinder or stricter, or "".
    """

    record = RatersRecord
    pool: RatedPool
    design: str
    agreement: RaterAgreement
    raters: tuple[RaterProfile, ...]
    findings: tuple[str, ...]
    disputes: Disputes
    apart: str

    @property
    def n_texts(self) -> int:
        """Rated texts."""
        return len(self.pool)

    def card(self) -> Card:
        """The answer with its picture."""
        return card_of(self.agreement, self.pool.ratings, self.apart)

    def _shown(self) -> Document:
        return self._document(IN_TERMINAL)

    def _whole(self) -> Document:
        return self._document(ON_PAGE)

    def _document(self, limit: int) -> Document:
        """The report with so many disputed texts."""
        return Document(
            title="Do the raters agree",
            cards=(self.card(),),
            notes=(*self._notes(), self.design),
            sections=(
                *_disputed(self.disputes, limit),
                *folded([_measures(self.agreement)]),
                *folded(_raters(self.raters, self.findings)),
            ),
        )

    def _notes(self) -> list[str]:
        agreement = self.agreement
        unique = self.n_texts - agreement.n
        notes = []
        if unique:
            verbs = (
                "has one rating and says" if unique == 1 else "have one rating and say"
            )
            notes.append(f"{counted(unique, 'text')} {verbs} nothing of agreement.")
        if 0 < agreement.n_annotators < FEW_RATERS:
            raters = counted(agreement.n_annotators, "rater")
            notes.append(
                f"This is how these {raters} agree: fewer than four stand for no others."
            )
        return notes

    def _rows(self) -> Rows:
        """One mapping a disputed text, those with ratings farthest apart first."""
        return [
            {
                "id": text.id,
                "system": text.system,
                "item": text.item,
                "lowest": text.ratings[0],
                "highest": text.ratings[-1],
                "ratings": _listed(text),
            }
            for text in self.disputes.texts
        ]


def agreeing(pool: RatedPool, design: Design) -> RatersResult:
    """The agreement of a pool's raters, who differs from the others, and the disputed texts.

    Args:
        pool: texts of which some have two ratings or more; design: what belongs together.
    """
    note_ratings(pool)
    groups = codes(design.apart(pool) or pool.ids)
    unknown = np.full(len(pool), np.nan)
    change: Drift = drift(pool, unknown, groups)
    differ = apart(change.raters, "level", pool.scale, KINDER)
    if higher := always_higher(pool):
        rates = "passes" if pool.of_verdicts else "rates higher"
        differ = f"Where they differ, {higher} always {rates}."
    signature = Signature("raters").plus(
        scale=pool.scale,
        **design.signs,
        ci="jack",
        pool=labels_of(pool),
        size=len(pool),
        v=__version__,
    )
    return RatersResult(
        pool=pool,
        design=design.said(pool.ratings),
        agreement=rater_agreement(pool, design),
        raters=rater_profiles(pool, design),
        findings=drift_lines(change, pool.scale),
        disputes=disputes(pool, design),
        apart=differ,
        signature=signature,
    )


def _measures(agreement: RaterAgreement) -> Section:
    rows = []
    reasons = set()
    for name, title in MEASURES.items():
        estimate: Estimate = getattr(agreement, name)
        rows.append((title, cell(estimate)))
        if estimate.undefined:
            reasons.add(f"No number, or no interval: {estimate.undefined}.")
    texts = counted(agreement.n, "text")
    line = f"Of {texts} with two ratings or more. 1 is agreement, 0 what chance gives."
    table = Table(header=("", "value [95 %]"), rows=tuple(rows))
    return Section(title="Agreement", table=table, lines=(line, *sorted(reasons)))


def _raters(
    raters: tuple[RaterProfile, ...], findings: tuple[str, ...]
) -> tuple[Section, ...]:
    if not raters:
        return ()
    entries = []
    for profile in raters:
        bias = profile.bias
        spearman = profile.spearman
        line = Line(name=profile.name, value=bias.value, interval=bias.interval)
        agreeing_with = cell(spearman)
        entries.append((line, (agreeing_with, f"{profile.n:,}")))
    lines = findings or ("No rater is shown to differ from the others.",)
    section = charted(
        "Each rater beside the others",
        ("rater", "higher by [95 %]", "Spearman [95 %]", "texts"),
        entries,
        "How much higher each rates than the others on the same texts, with 95 % intervals.",
        axis="higher by",
        label="Raters",
        zero=True,
        lines=lines,
        width=NAME,
    )
    return (section,)


def _disputed(result: Disputes, limit: int) -> tuple[Section, ...]:
    """The share of disputed texts, and the first of them."""
    if result.share.value != result.share.value:
        return ()
    low, high = result.share.interval
    share = f"{percent(result.share.value)} [{percent(low)}, {percent(high)}]"
    if low != low:
        share = percent(result.share.value)
    count = counted(result.share.n, "text")
    line = (
        f"On {share} of {count} ratings lie {number(result.least)} or more apart, which is "
        "half the scale."
    )
    texts = result.texts[:limit]
    names = labels([_name(text) for text in texts], 2 * NAME)
    rows = tuple((names[_name(text)], _listed(text)) for text in texts)
    table = Table(header=("text", "ratings"), rows=rows) if rows else None
    lines = [line]
    hidden = len(result.texts) - len(texts)
    if hidden:
        lines.append(f"{hidden:,} more: {saving('FILE.csv')} writes all.")
    return (Section(title="Disputed texts", table=table, lines=tuple(lines)),)


def _listed(text: DisputedText) -> str:
    """The ratings of a text, from the lowest on."""
    return " ".join(f"{rating:g}" for rating in text.ratings)


def _name(text: DisputedText) -> str:
    """The id of a text, or its system and item."""
    return text.id or " ".join(filter(None, (text.system, text.item)))
