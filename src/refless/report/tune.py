"""Settings chosen by ratings, and what choosing is worth: the result of `refless tune`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any, Literal

from refless.nouns import counted
from refless.report.charts import Line as Row
from refless.report.charts import row_chart
from refless.report.document import Document, Figure, Section, Table, caveats
from refless.report.export import Rows
from refless.report.record import Count, Record, Signed
from refless.report.result import Result
from refless.report.wording import interval, number, percent, title, with_interval
from refless.signature import Signature
from refless.stats.intervals import UNDEFINED, Interval
from refless.studies.side_by_side import Line, SideBySide
from refless.studies.tuning import TUNED, Candidate, Fold, Tuning

SHOWN = 8  # candidates; JSON has all
DIGITS = {"spearman": 3, "mse": 4}
WORTH = {"spearman": "Spearman", "mse": "MSE saved"}
AS_IT_IS, PUBLISHED = "gp", "bleu-neighbors"
NAMES = {AS_IT_IS: "gp as it is", PUBLISHED: "BLEU Neighbors"}  # in a table
AS_PUBLISHED = {**NAMES, PUBLISHED: "BLEU Neighbors as published"}
INNER = "inner: too good"


@dataclass(frozen=True, kw_only=True)
class TuneRecord(Record):
    """Settings chosen by ratings, and what choosing is worth.

    Attributes:
        verdict: what choosing is worth, in a sentence.
        n: rated texts; group: what was held out together.
        chosen: what all texts choose, with its inner, optimistic numbers.
        chosen_signature: of the estimator that was chosen.
        gain_over: what to keep without tuning: gp, or bleu-neighbors where that alone is shown to
            agree with people.
        gain: what tuning is worth over it: Spearman, or the mean squared error that is saved, on
            texts that took no part in choosing.
        shown: whether the gain is shown to be more than chance.
        folds: what is chosen without each fifth of the texts.
        side_by_side: the choices, judged where they were not made, as `tuned`.
        candidates: all that were tried, best first, with their inner numbers.
    """

    command: Literal["tune"] = "tune"
    signature: Signed
    verdict: str
    n: Count
    group: str
    objective: Literal["spearman", "mse"]
    min_coverage: float
    chosen: Candidate
    chosen_signature: Signed
    gain_over: str
    gain: float
    gain_interval: Interval
    shown: bool
    folds: tuple[Fold, ...]
    side_by_side: SideBySide
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class TuneResult(Result):
    """Settings chosen by ratings, and what choosing is worth.

    Attributes:
        tuning: the study; n: rated texts; group: what was held out together.
        chosen_signature: of the estimator that was chosen.
        toml: what was chosen as a file that `--config` reads.
        commands: lines that estimate outputs with what was chosen, and with what it is held
            against, by the names side by side.
    """

    record = TuneRecord
    tuning: Tuning
    n: int
    group: str
    chosen_signature: Signature
    toml: str
    commands: Mapping[str, str]

    def _shown(self) -> Document:
        """What the terminal and the page show."""
        found = self.tuning
        use = to_use(found)
        return Document(
            title=f"Settings chosen on {counted(self.n, 'rated text')}",
            verdict=verdict(found),
            notes=(f"  {self.commands[use]}",) if use else (),
            facts=_facts(found),
            sections=(
                Section(title="Chosen", lines=_chosen(found)),
                _outer(found, self.group),
                *_folds(found),
                *_inner(found),
                caveats(),
            ),
            signatures=(str(self.chosen_signature), str(self.signature)),
        )

    def _json(self) -> Record:
        value, ends = gain(self.tuning)
        return self._record(
            self.tuning,
            verdict=verdict(self.tuning),
            gain_over=kept(self.tuning),
            gain=value,
            gain_interval=ends,
            shown=shown(self.tuning),
        )

    def _rows(self) -> Rows:
        """One mapping a candidate, best first."""
        return [
            {"estimator": one.estimator, self.tuning.objective: one.value, "coverage": one.coverage}
            for one in self.tuning.candidates
        ]


def kept(found: Tuning) -> str:
    """What to keep without tuning: gp, unless of the two only BLEU Neighbors is shown to agree."""
    agreeing = [name for name in NAMES if _agrees(_line(found, name))]
    return (agreeing or [AS_IT_IS])[0]


def gain(found: Tuning, over: str = "") -> tuple[float, Interval]:
    """What tuning is worth over a standard, or what to keep, on texts that both estimate."""
    line = _line(found, over or kept(found))
    value, (low, high) = line.saved, line.saved_interval
    if found.objective == "spearman":
        value, (low, high) = line.gain, line.gain_interval
    return 0.0 - value, (0.0 - high, 0.0 - low)


def shown(found: Tuning) -> bool:
    """Whether what was chosen is shown to agree with people, and better than what to keep."""
    return _agrees(found.side_by_side.first) and gain(found)[1][0] > 0


def to_use(found: Tuning) -> str:
    """The line side by side that is to be used; "" where none is shown to agree with people."""
    name, tuned = kept(found), found.side_by_side.first
    if shown(found) or (_agrees(tuned) and not _agrees(_line(found, name))):
        return TUNED
    return name if _agrees(_line(found, name)) else ""


def verdict(found: Tuning) -> str:
    """What choosing settings is worth, and what to do."""
    line, name, use = found.side_by_side.first, kept(found), to_use(found)
    spearman = f"Spearman {with_interval(line.spearman, line.spearman_interval)}"
    value, ends = gain(found)
    worth = f"{with_interval(value, ends, DIGITS[found.objective])} {WORTH[found.objective]}"
    if not use:
        return (
            "Use none: on texts that took no part in choosing no agreement with people is shown, "
            f"neither of what was chosen, {spearman}, nor of anything that it is held against."
        )
    if shown(found):
        return f"Use what was chosen: tuning is worth {worth} over {AS_PUBLISHED[name]}."
    if use == TUNED:
        return (
            f"What was chosen agrees with people, {spearman}, but is not shown to do better than "
            f"{AS_PUBLISHED[name]}: it is worth {worth}."
        )
    if {one.estimator for one in found.folds} == {found.chosen.estimator} == {name}:
        return f"Keep {AS_PUBLISHED[name]}: every fold chooses it. {spearman}."
    if ends[1] < 0:
        return f"Keep {AS_PUBLISHED[name]}: what was chosen is worse, worth {worth}."
    return f"Keep {AS_PUBLISHED[name]}: tuning is not shown to help, being worth {worth}."


def seen(found: Tuning) -> dict[str, Any]:
    """What a file of settings tells of its choice: outer numbers, then the inner one."""
    line, (value, ends) = found.side_by_side.first, gain(found)
    return {
        "objective": found.objective,
        "spearman": line.spearman,
        "spearman_interval": line.spearman_interval,
        "mse": line.mse,
        "mse_interval": line.mse_interval,
        "coverage": line.coverage,
        "gain_over": kept(found),
        "gain": value,
        "gain_interval": ends,
        f"inner_{found.objective}": found.chosen.value,
        "inner_coverage": found.chosen.coverage,
        "folds_that_agree": _times(found),
    }


def _agrees(line: Line) -> bool:
    return line.spearman_interval[0] > 0


def too_good(tuned: Mapping[str, Any]) -> str:
    """The warning where settings are validated on the ratings that chose them.

    Args:
        tuned: what `seen` told, out of a file that people may have changed.
    """
    value, ends = tuned.get("spearman"), tuned.get("spearman_interval")
    outer = "what the file says"
    if isinstance(ends, list) and [type(one) for one in (value, *ends)] == [float] * 3:
        outer = f"Spearman {with_interval(float(value or 0), ends)}"
    return (
        "The settings were chosen on these very ratings, so the numbers here are too good. On "
        f"texts that took no part in choosing, refless tune found {outer}."
    )


def _line(found: Tuning, name: str) -> Line:
    return next(line for line in found.side_by_side.methods if line.name == name)


def _facts(found: Tuning) -> tuple[tuple[str, str, str], ...]:
    line, name, (value, ends) = found.side_by_side.first, title(found.objective), gain(found)
    digits = DIGITS[found.objective]
    inner = "on the texts that chose: too good"
    return (
        ("Outer Spearman", number(line.spearman), interval(line.spearman_interval)),
        (f"Inner {name}", number(found.chosen.value, digits), inner),
        (f"Worth over {NAMES[kept(found)]}", number(value, digits), interval(ends, digits)),
        ("Coverage", percent(line.coverage), "of the texts have an estimate"),
    )


def _chosen(found: Tuning) -> tuple[str, ...]:
    """The settings, and how many fifths of the texts could be missed without changing them."""
    times, folds = _times(found), len(found.folds)
    told = f"Without a fifth of the texts the same is chosen {times} of {folds} times."
    if times == 0:
        told += " So all numbers below but the last table's are of other settings."
    return found.chosen.estimator.replace(",", ", "), told


def _times(found: Tuning) -> int:
    """How often the same is chosen without a fifth of the texts."""
    return [one.estimator for one in found.folds].count(found.chosen.estimator)


def _outer(found: Tuning, group: str) -> Section:
    """The choice beside what could be had without choosing."""
    rows = []
    for line in found.side_by_side.methods:
        value, ends = gain(found, line.name)
        worth = with_interval(value, ends, DIGITS[found.objective])
        rows.append(
            (
                NAMES.get(line.name, line.name),
                with_interval(line.spearman, line.spearman_interval),
                number(line.mse, 4),
                worth if line.name in NAMES else "-",
                percent(line.coverage),
            )
        )
    header = ("", "Spearman [95 %]", "MSE", "tuned better by [95 %]", "covered")
    without = "its own rating" if group == "id" else f"the ratings of its {group}"
    legend = (
        f"Each text is estimated without {without}, with settings that the other four fifths of "
        f"the texts chose, or without choosing: by gp as it is and by BLEU Neighbors as published. "
        f"Better by: {WORTH[found.objective]}, on the texts that both have an estimate for."
    )
    return Section(
        title="On texts that took no part in choosing",
        table=Table(header=header, rows=tuple(rows)),
        figures=(_chart(found),),
        lines=(legend,),
    )


def _chart(found: Tuning) -> Figure:
    """Outer numbers with intervals and, where that is the objective, the inner one."""
    lines = [
        Row(name=NAMES.get(one.name, one.name), value=one.spearman, interval=one.spearman_interval)
        for one in found.side_by_side.methods
    ]
    if found.objective == "spearman":
        lines.insert(1, Row(name=INNER, value=found.chosen.value, interval=UNDEFINED))
    caption = "Spearman where nothing was chosen, with 95 % intervals; inner: where it was chosen."
    return Figure(svg=row_chart(lines, "Spearman", caption, zero=True), caption=caption)


def _folds(found: Tuning) -> tuple[Section, ...]:
    """What each fifth of the texts was judged with."""
    names = _letters([one.estimator for one in found.folds])
    digits, what = DIGITS[found.objective], title(found.objective)
    rows = tuple(
        (names[one.estimator], str(one.n), number(one.inner, digits), number(one.outer, digits))
        for one in found.folds
    )
    header = ("settings", "texts judged", f"{what} where chosen", f"{what} where judged")
    return (
        Section(
            title="What four fifths of the texts chose, and what it did on the last",
            table=Table(header=header, rows=rows),
        ),
        Section(lines=_named(names)),
    )


def _inner(found: Tuning) -> tuple[Section, ...]:
    """The best of all that was tried, once each where several say the same."""
    best: dict[tuple[float, float], Candidate] = {}
    for one in found.candidates:
        best.setdefault((one.value, one.coverage), one)
    some = list(best.values())[:SHOWN]
    names = _letters([one.estimator for one in some])
    digits, what = DIGITS[found.objective], title(found.objective)
    rows = tuple(
        (names[one.estimator], number(one.value, digits), percent(one.coverage)) for one in some
    )
    why = (
        f"{counted(len(found.candidates), 'candidate')}; those with estimates for less than "
        f"{percent(found.min_coverage)} of the texts come last. These numbers are too good: the "
        "best of many is partly the luckiest."
    )
    return (
        Section(
            title="The best on the texts that chose",
            lines=(why,),
            table=Table(header=("settings", what, "covered"), rows=rows),
        ),
        Section(lines=_named(names)),
    )


def _named(letters: Mapping[str, str]) -> tuple[str, ...]:
    """What the letters stand for, with room to break lines."""
    return tuple(f"{letter}: {name.replace(',', ', ')}" for name, letter in letters.items())


def _letters(names: Sequence[str]) -> dict[str, str]:
    """A letter for each different name, in their order."""
    return dict(zip(dict.fromkeys(names), ascii_uppercase, strict=False))
