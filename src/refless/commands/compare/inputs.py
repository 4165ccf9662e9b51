"""Inputs of a comparison: the outputs, their ratings, their systems, and how they were chosen."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import PurePath
from typing import Literal

import numpy as np

from refless.commands.judge_shift import judge_said
from refless.commands.parameters import Rows
from refless.commands.random_draw import draw_remark, shares_remark
from refless.commands.rows import (
    ScoredRows,
    check_standard_input,
    note_codes,
    note_keys,
    note_missing,
    tell,
)
from refless.commands.warnings import note, silenced
from refless.data.design import Design, column_of
from refless.data.records import RatedPool, picked, scored
from refless.data.tables.partly_rated import PartlyRated, read_partly, with_ratings
from refless.data.tables.runs import ScoredRuns, read_compared
from refless.evaluation.judge_shift import judge_shifts
from refless.evaluation.random_draw import RandomDraw, random_draw
from refless.registry.arrays import FloatArray
from refless.registry.dialect import called
from refless.registry.errors import InputError, UsageError
from refless.registry.plural import counted

Selection = Literal["random", "active", "unknown"]


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """The outputs, with the ratings that they have, and all rated texts.

    Attributes:
        outputs: what is compared; design: what belongs together among it.
        pool: all rated texts, those among the outputs too.
        labels, rated_labels: what each output, and each rated text, is held out with.
    """

    outputs: PartlyRated
    design: Design
    pool: RatedPool
    labels: tuple[str, ...]
    rated_labels: tuple[str, ...]

    @property
    def systems(self) -> tuple[str, ...]:
        """[n] the system of each output."""
        return self.outputs.texts.systems

    @property
    def has_texts(self) -> bool:
        """Whether any output is more than an empty text; if none is, nothing is estimated."""
        return any(self.outputs.texts.texts)

    @property
    def noun(self) -> str:
        """The word for what is rated."""
        return "text" if self.has_texts else "output"


def read_inputs(
    outputs: Rows, rated: Rows, rows: ScoredRows, group: str | None
) -> Inputs | ScoredRuns:
    """All outputs as one, and all rated texts as one pool; runs if people rated nothing."""
    check_standard_input(outputs, rated)
    reading = rows.to_reading(group=column_of(group))
    if rated is None:
        read = read_compared(outputs, reading)
        tell(read)
        if isinstance(read, ScoredRuns):
            return read
        note_missing(read.texts)
        return inputs_of(read, None, group)
    read = read_partly(outputs, replace(reading, beside_rated=True))
    tell(read)
    note_missing(read.texts)
    ratings = read_rated(rated, rows)
    tell(ratings)
    return inputs_of(read, ratings, group)


def read_rated(rated: Rows, rows: ScoredRows) -> PartlyRated:
    """Rated texts beside outputs, which may say of them what a list for raters leaves out."""
    reading = replace(rows.to_reading(), beside_outputs=True)
    return read_partly(rated, reading, system=None, needed=("text", "rating"))


def inputs_of(
    outputs: PartlyRated, rated: PartlyRated | None, group: str | None = None
) -> Inputs:
    """The outputs with all that is rated; raises InputError if nothing is."""
    pool = outputs.pool
    if rated is not None:
        note_keys(rated.texts, outputs.texts)
        outputs, pool, shared = with_ratings(outputs, rated)
        _note_shared(outputs, pool, shared)
    if pool is None:
        remedy = f"rate some outputs, or give rated texts with {called('rated')}"
        raise InputError("no text has a rating", remedy=remedy)
    texts = outputs.texts
    unrated = texts.take(np.setdiff1d(np.arange(len(texts)), outputs.place))
    note_codes(pool, unrated)
    if pool.score_names == unrated.score_names:
        for shift in judge_shifts(unrated.scores, unrated.sources, pool):
            if shift.outside:
                note(judge_said(shift, one_file=rated is None))
    return _labelled(outputs, pool, group)


def looks_drawn(
    inputs: Inputs, group: str | None, then: str, *, by_unread: bool = True
) -> bool:
    """Whether the rated outputs look drawn at random within their systems; says so if not.

    Their place in the file is told, and decides nothing. With chances of being drawn they were
    drawn as these say, and nothing is asked.

    Args:
        inputs, group: as of `compare`; then: what follows if not, as sentences.
        by_unread: whether an answer can follow if they look picked by a score that nothing reads.

    Raises:
        InputError: none can, as no estimate knows that score.
    """
    if not np.isnan(inputs.outputs.probability).all():
        return True
    draw = _draw(inputs, grouped=group is not None, by_system=True)
    if not by_unread:
        _check_read(draw, inputs.outputs)
    note(draw_remark(draw, then))
    return not draw.by_content


def unlike_shares(inputs: Inputs) -> str:
    """A sentence if another share of each of two systems is rated, and that is all; else ""."""
    if len({*inputs.systems}) != 2:
        return ""
    draw = _draw(inputs, grouped=bool(inputs.outputs.group), by_system=False)
    return shares_remark(draw)


def _draw(inputs: Inputs, *, grouped: bool, by_system: bool) -> RandomDraw:
    """Whether the rated outputs look drawn at random, by all that is known of the outputs.

    Scores that nothing else reads tell it too.
    """
    outputs = inputs.outputs
    texts = outputs.texts
    scores = {name: texts.score(name) for name in texts.score_names}
    texts = replace(texts, **scored({**outputs.unread, **scores}))
    rated = outputs.place
    unrated = np.setdiff1d(np.arange(len(texts)), rated)
    labels = inputs.labels if grouped else ()
    rows = outputs.first_rows
    first_rows = (rows[rated], rows[unrated]) if len(rows) else None
    return random_draw(
        texts.take(rated),
        texts.take(unrated),
        first_rows,
        by_system=by_system,
        labels=(picked(labels, rated), picked(labels, unrated)),
    )


def _note_shared(outputs: PartlyRated, pool: RatedPool, shared: int) -> None:
    """Says that further rated texts are outputs, or only read like them."""
    if shared:
        note(
            f"{counted(shared, 'rated text')} are outputs compared here: their ratings count"
        )
    texts = {*outputs.texts.texts}
    alike = sum(text in texts for text in pool.texts) - len(outputs.place)
    if alike and not shared:
        note(
            f"{counted(alike, 'rated text')} read like outputs compared here, but neither an id "
            "nor system and item say that they are: they only teach the estimates. If they are "
            "ratings of these outputs, give both files a column id"
        )


def _labelled(outputs: PartlyRated, pool: RatedPool, group: str | None) -> Inputs:
    """The inputs with what is held out together; UsageError for a group that no column is about."""
    texts = outputs.texts
    design = Design.of(texts, group, outputs.group)
    labels = design.labels or texts.texts  # ids may be numbers of rows
    of_id = dict(zip(texts.ids, labels, strict=True))
    of_item = dict(zip(texts.sources, labels, strict=False))  # if one side has no items
    of_item |= dict(zip(texts.items, labels, strict=False))
    of_text = dict(zip(texts.texts, labels, strict=True))
    items = pool.items or pool.texts
    sources = pool.sources or pool.texts
    columns = zip(pool.ids, items, sources, pool.texts, strict=True)
    rated = (
        of_id.get(a) or of_item.get(b) or of_item.get(c) or of_text.get(d, b)
        for a, b, c, d in columns
    )
    return Inputs(
        outputs=outputs,
        design=design,
        pool=pool,
        labels=labels,
        rated_labels=tuple(rated),
    )


def _stems(outputs: Rows) -> list[str]:
    """The names of the files, without their endings if that tells them apart."""
    files = outputs if isinstance(outputs, list | tuple) else []
    paths = [fspath(file) for file in files if isinstance(file, str | PathLike)]
    stems = [PurePath(path).stem for path in paths]
    return stems if len({*stems}) == len(stems) else paths


def systems_of(
    systems: Sequence[str], outputs: Rows, named: Sequence[str]
) -> list[str]:
    """The systems as named, else in the files' order, or by name; UsageError for one, or a typo."""
    names = sorted({*systems})
    stems = _stems(outputs)
    for name in named:
        if name not in names:
            raise UsageError(
                f"{called('system', name)} is none of the systems: {', '.join(names)}"
            )
    if named:
        names = [*dict.fromkeys(named)]
    elif sorted(stems) == names:
        names = stems
    if len(names) < 2:
        raise UsageError(f"there is one system, '{names[0]}'; a comparison needs two")
    return names


def _selection_by_looks(inputs: Inputs, group: str | None) -> Selection:
    """The selection of rated outputs of which nothing is said: unknown if they look picked.

    Raises:
        InputError: they look picked by a score that nothing reads, so no estimate can know it.
    """
    unknown = called("selection", "unknown")
    remedy = (
        f"Ratings then do not stand for the outputs without one: {unknown} lets them teach "
        "estimates, and no more."
    )
    by_unread = not inputs.has_texts  # then there are no estimates
    drawn = looks_drawn(inputs, group, remedy, by_unread=by_unread)
    if drawn or not inputs.has_texts:
        return "random"
    note(f"{unknown} is taken; {called('selection', 'random')} says they were drawn")
    return "unknown"


def _check_read(draw: RandomDraw, outputs: PartlyRated) -> None:
    """Raises InputError if rated outputs differ from the others in a score that nothing reads."""
    for column in draw.differing:
        if column.by == "score" and column.name in outputs.unread:
            remedy = (
                f"{called('score_column', column.name)} lets estimates know '{column.name}'; or "
                f"{called('selection', 'random')} says that ratings stand for all outputs, "
                f"{called('selection', 'unknown')} that they only teach estimates"
            )
            found = draw_remark(draw, "").rstrip(". ")
            raise InputError(f"t{found[1:]}", remedy=remedy)


def selection_of(
    selection: Literal["random", "unknown"] | None, inputs: Inputs, group: str | None
) -> Selection:
    """The selection of the rated outputs, as far as it is known; what looks picked is unknown.

    Raises:
        UsageError: nothing but estimates would answer, and there are no texts.
    """
    if selection == "unknown" and not inputs.has_texts:
        raise UsageError(
            f"{called('selection', selection)} needs texts: without them ratings teach no "
            "estimates of the rest"
        )
    if selection is not None:
        return selection
    outputs = inputs.outputs
    if np.isnan(outputs.probability[outputs.place]).all():
        return _selection_by_looks(inputs, group)
    return "active"


def of_drawn(inputs: Inputs) -> Inputs:
    """The inputs whose rated outputs are those with a chance of having been drawn.

    The others only teach the estimates. If the outputs are the rated rows themselves, they are not
    compared, as the drawn ones stand for more than these; but every system keeps outputs.
    """
    outputs = inputs.outputs
    pool = outputs.pool
    chances = outputs.probability[outputs.place]
    drawn = np.flatnonzero(~np.isnan(chances))
    if pool is None or len(drawn) == len(chances):
        return inputs
    others = counted(len(chances) - len(drawn), "rated output")
    note(
        f"only the estimates learn from {others} of {len(chances)} without a probability: the "
        "others were drawn at random"
    )
    place = outputs.place[drawn]
    part = replace(outputs, pool=pool.take(drawn), place=place)
    texts = outputs.texts.take(place)
    first_rows = outputs.first_rows  # of outputs that came with their ratings
    all_rated = len(chances) == len(outputs.texts) and len(first_rows)
    if not all_rated or {*texts.systems} < {*inputs.systems}:
        return replace(inputs, outputs=part)
    part = replace(
        part,
        texts=texts,
        place=np.arange(len(place)),
        probability=chances[drawn],
        first_rows=first_rows[place],
    )
    design = inputs.design.take(place)
    labels = picked(inputs.labels, place)
    return replace(inputs, outputs=part, design=design, labels=labels)


def counting(inputs: Inputs) -> tuple[Inputs | None, FloatArray | None]:
    """The inputs with the ratings that count for a difference, and chances if these say which.

    Beside ratings with a chance of having been drawn the others do not count, and neither do
    ratings of one system alone, since other people would rate the other one.
    """
    outputs = inputs.outputs
    if not np.isnan(outputs.probability).all():
        with silenced():
            drawn = of_drawn(inputs)
        return drawn, outputs.probability[drawn.outputs.place]
    sides = {inputs.systems[place] for place in outputs.place.tolist()}
    if len(sides) != 1 or sides == {*inputs.systems}:
        return inputs, None
    note(
        f"only {sides.pop()} is rated by now: both answers to an item are asked, so that the "
        "same people rate both; earlier ratings teach the estimates"
    )
    return None, np.zeros(0)
