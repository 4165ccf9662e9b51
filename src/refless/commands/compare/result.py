"""Systems compared: the result of `refless compare`."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from msgspec import Meta

from refless.commands.compare.card import (
    card_of_several,
    card_of_two,
    item_differences,
    of_not_drawn,
    of_one_sided,
)
from refless.commands.compare.claims import Claim, claim_of_ratings
from refless.commands.compare.document import (
    assumed,
    differences_section,
    judges_section,
    made_of,
    of_apart,
    rests_on,
    speaks_for_unrated,
    systems_section,
    turned,
)
from refless.commands.compare.field import estimates_help
from refless.commands.compare.inputs import Selection
from refless.commands.compare.looks import look_lines
from refless.commands.populations import Looks, question, wider
from refless.commands.side_by_side import side_by_side
from refless.data.records import Scale
from refless.evaluation.comparing import Comparison, Pair, Standing
from refless.evaluation.entries import Field
from refless.registry.arrays import IntArray
from refless.report.document import Card, Document, Section, folded
from refless.report.export import Cell, Rows
from refless.report.record import Record, Signed
from refless.report.result import Result
from refless.report.units import RatingUnits
from refless.stats.group_sequential import LookPlan


@dataclass(frozen=True, kw_only=True)
class CompareRecord(Record):
    """Systems compared, in the raters' units.

    Attributes:
        scale: of the ratings; null without one.
        design: what belongs together, and what was drawn at random.
        selection: how the rated outputs were chosen.
        these_items: whether the question is about these items alone, and not about items like them.
        looks: whether intervals hold for one look, for planned ones, or for any number.
        coverage: share of the outputs with an estimate.
        systems: the best first.
        judges: by name, the pairs by a judge's scores alone, in its own units.
        item_differences: of two systems, the rating of the second less that of the first, of each
            item rated for both; empty for more.
    """

    command: Literal["compare"] = "compare"
    signature: Signed
    scale: Scale | None
    design: str
    selection: Selection
    these_items: bool
    looks: Looks
    coverage: Annotated[float, Meta(ge=0, le=1)]
    systems: tuple[Standing, ...]
    pairs: tuple[Pair, ...]
    judges: dict[str, tuple[Pair, ...]]
    item_differences: tuple[float, ...]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CompareResult(Result):
    """Systems compared, in the raters' units.

    Attributes:
        comparison: systems, the best first, and every pair of them.
        scale: of the ratings, or None.
        design: what belongs together, in a sentence.
        selection: how the rated outputs were chosen.
        estimator: what people call it; "" if there are no texts to estimate from.
        these_items: whether the question is about these items alone.
        looks: whether intervals hold for one look, for planned ones, or for any number.
        margin: difference that is small enough, with planned looks; plan: of these looks.
        raters: ratings of the outputs compared, by rater.
        agree: how far raters agree, in a sentence; "" without ratings.
        unlike: that another share of each system is rated, in a sentence; else "".
        not_drawn: rated outputs without a chance of having been drawn, beside others with one.
        judges: by name, the pairs by a judge's scores alone, in its own units.
        fields: the entries compared, by the name of their numbers.
        compared: the outputs with estimates, and the ratings that count; first_rows: [n] where
            each stands in its file, or empty.
        percent: whether ratings are passes and fails.
        next_command: the line that chooses what to rate next.
        gate_command: the line that holds the next version to the better one of two.
        gated: whether the second system is held against the first, whichever leads.
    """

    record = CompareRecord
    fields: Mapping[str, Field]
    comparison: Comparison
    compared: Field
    first_rows: IntArray
    percent: bool
    next_command: str
    scale: Scale | None
    design: str
    selection: Selection
    estimator: str
    these_items: bool = False
    looks: Looks = "one"
    margin: float = 0.0
    plan: LookPlan | None = None
    raters: Mapping[str, int] = field(default_factory=dict)
    agree: str = ""
    unlike: str = ""
    not_drawn: int = 0
    judges: Mapping[str, tuple[Pair, ...]] = field(default_factory=dict)
    gate_command: str = ""
    gated: bool = False

    @property
    def better(self) -> str:
        """The one of two systems that ratings show to be better; "" if none is."""
        pair, *others = self.comparison.pairs
        return turned(pair).second if pair.decided and not others else ""

    def claim(self, goal: str = "") -> Claim:
        """The claim of these ratings, for the goal that ends their study."""
        low, high = self.scale or (0.0, 0.0)
        return claim_of_ratings(
            self.comparison, goal, self.plan, high - low, self.raters
        )

    def card(self) -> Card:
        """The answer with its picture."""
        units = RatingUnits(self.percent)
        comparison = self.comparison
        if len(comparison.pairs) > 1:
            figures = self._systems().figures
            card = card_of_several(
                comparison, self.compared, units, figures, self.next_command
            )
            return replace(card, rests=f"{card.rests} {self.agree}".rstrip())
        (pair,) = comparison.pairs
        one_sided = of_one_sided(comparison.pairs, self.raters)
        apart = [*one_sided, *of_apart(comparison.pairs)]
        chosen = [assumed("unknown")] if self.selection == "unknown" else []
        if self.not_drawn:
            chosen = [of_not_drawn(self.not_drawn)]
        if self.unlike:
            chosen = [self.unlike]
        n_looks = 0 if pair.look is None else pair.look.count
        wide = wider(self.looks, n_looks)
        made = made_of(pair, self.estimator)
        rests = " ".join(filter(None, [*apart, made, *chosen, wide, self.agree]))
        return card_of_two(comparison, self.compared, units, rests, self.next_command)

    def _systems(self) -> Section:
        return systems_section(self.comparison, self.scale, of_passes=self.percent)

    def _shown(self) -> Document:
        comparison = self.comparison
        pairs = comparison.pairs
        notes = [*look_lines(pairs, self.margin), *rests_on(comparison)]
        generalises = not comparison.all_rated and any(map(speaks_for_unrated, pairs))
        if self.selection == "unknown" or generalises:
            notes.append(assumed(self.selection if self.estimator else "textless"))
        notes.append(self.design)
        notes.append(question("item", these=self.these_items, looks=self.looks))
        sections = [
            self._systems(),
            differences_section(
                comparison, RatingUnits(self.percent), gated=self.gated
            ),
        ]
        if len(pairs) == 1:
            sections.reverse()
        sections += judges_section(pairs, self.judges)
        card = self.card()
        if self.gate_command:
            better = f"take {self.better}. With the next version beside it"
            advice = f"{better}, this holds that one to {self.better}:"
            card = replace(card, advice=advice, command=self.gate_command)
        return Document(
            title=card.topic,
            cards=(card,),
            notes=tuple(notes),
            sections=folded(sections),
        )

    def _whole(self) -> Document:
        """The same with all outputs side by side, and its numbers folded away."""
        brief = self._shown()
        compared = self.compared
        outputs = side_by_side(
            compared.outputs,
            compared.human,
            compared.estimates,
            self.first_rows,
            percent=self.percent,
            scale=self.scale,
            doubt=not estimates_help(compared),
            first="people",
        )
        return replace(brief, outputs=outputs)

    def _json(self) -> Record:
        differences: list[float] = []
        if len(self.comparison.pairs) == 1:
            (pair,) = self.comparison.pairs
            differences = item_differences(self.compared, pair.first, pair.second)
        return self._record(
            self.comparison,
            systems=self.comparison.standings,
            item_differences=tuple(differences),
        )

    def _rows(self) -> Rows:
        """One mapping a pair."""
        return [_row(pair) for pair in self.comparison.pairs]


def _row(pair: Pair) -> dict[str, Cell]:
    difference = pair.difference
    wins = pair.item_wins
    worth = math.nan
    if pair.method == "ratings and estimates":
        worth = pair.powered.worth
    return {
        "first": pair.first,
        "second": pair.second,
        "difference": difference.value,
        "low": difference.interval[0],
        "high": difference.interval[1],
        "p": difference.p,
        "p_holm": pair.p_holm,
        "p_second_better": difference.above,
        "method": pair.method,
        "items": pair.items,
        "both_rated": pair.both_rated,
        "one_rated": pair.one_rated,
        "higher": wins.higher.value,
        "equal": wins.equal.value,
        "lower": wins.lower.value,
        "worth": worth,
    }
