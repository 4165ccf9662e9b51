"""The rows of `refless FILE`, and the questions that other commands answer about them."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import PurePath
from typing import Any

from refless.commands.calls import Call, Functions, of_any_rows, words_of
from refless.commands.declared import parameters_of
from refless.commands.parameters import Rows
from refless.commands.rows import ScoredRows, note_ratings
from refless.commands.warnings import note, silenced
from refless.data.choices import are_choices
from refless.data.human import FEWEST_RATINGS, LIKELY_SCALES, unscaled
from refless.data.records import RatedPool, Scale, Texts
from refless.data.tables.columns import listed, missing
from refless.data.tables.overview import Overview, overview
from refless.data.tables.partly_rated import PartlyRated, read_partly
from refless.data.tables.proposed import reading_versions
from refless.data.tables.reading import Reading
from refless.registry.arrays import FloatArray
from refless.registry.dialect import called, command_line, flags_spoken
from refless.registry.errors import InputError, RefLessError, UsageError
from refless.report.document import OPEN, Card
from refless.report.result import Result
from refless.report.wording import sentence

CHOSEN = ("source", "system", "text", "annotator")  # roles of columns of choices
# ends of notes that the table of columns tells
TOLD = (": estimates may stand for them", ": left out of the rated texts")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Asked:
    """Rows, and what is known of them before a question is asked.

    Attributes:
        rows: as the user gives them; options: how to read them, by name of the parameter.
        seen: their columns.
        read: outputs with the ratings of some; None of choices of two.
        scale: lowest and highest rating; guessed: whether the ratings alone tell it.
        said: notes that were told already.
        seed: of what is drawn.
    """

    rows: Rows
    options: Mapping[str, Any]
    seen: Overview
    read: PartlyRated
    scale: Scale | None
    guessed: bool
    said: set[str]
    seed: int

    @classmethod
    def of(
        cls, rows: Rows, reader: ScoredRows, options: Mapping[str, Any], seed: int
    ) -> "Asked":
        """The rows, read once to see what there is to ask."""
        if "-" in words_of(rows):
            raise UsageError("standard input is read once: save it as a file")
        seen = overview(rows, reader.to_reading())
        if "text" not in seen.roles and not seen.scores:
            names = [column.name for column in seen.columns]
            guess = called("columns", seen.proposed)
            more = f"; perhaps {guess}" if seen.proposed else ""
            meant = {*seen.roles, *seen.proposed}
            if len(seen.beside) > 1 and meant.isdisjoint({"text", "system"}):
                more = f"; {reading_versions(seen.beside, names)}"
            raise missing("text", names, ", ".join(words_of(rows)), more)
        read = _read(rows, reader.to_reading(score=seen.scores), seen)
        shown = {column.name for column in seen.columns if column.role}
        for line in read.notes:
            unread = {*re.findall("'([^']+)'", line.partition(": left unread: ")[2])}
            if not line.endswith(TOLD) and not (unread and unread <= shown):
                note(line)
        given = reader.to_reading().scale
        pool = read.pool
        scale = given if given or pool is None else pool.scale or _likely(pool)
        if pool is not None and are_choices(pool):
            scale = given
            seen = _of_choices(seen)
        guessed = given is None and scale is not None
        known = {**options, "scale": scale} if guessed else options
        said = {*read.notes}
        return cls(
            rows=rows,
            options=known,
            seen=seen,
            read=read,
            scale=scale,
            guessed=guessed,
            said=said,
            seed=seed,
        )

    @property
    def file(self) -> str:
        """The file as people call it."""
        return ", ".join(PurePath(word).name for word in words_of(self.rows))

    @property
    def percent(self) -> bool:
        """Whether ratings are passes and fails."""
        pool = self.read.pool
        return pool is not None and pool.of_verdicts

    @property
    def people(self) -> FloatArray:
        """[n] the outputs' ratings in the raters' units, NaN where there is none."""
        pool = self.read.pool
        return unscaled(self.read.human, None if pool is None else pool.scale)

    @property
    def of_choices(self) -> bool:
        """Whether people chose between two texts."""
        return self.read.pool is not None and are_choices(self.read.pool)

    def ask(self, function: Callable[..., Result], **more: object) -> Any:
        """The result of another command on the same rows; its further notes are told.

        Raises:
            InputError, UsageError: it cannot answer.
        """
        answer = of_any_rows(function)
        spoken = flags_spoken()
        if spoken is not None:
            flags = {one.name: one.longest for one in parameters_of(function)}
            spoken = flags | {**spoken}
        with silenced(), command_line(spoken):
            result = answer(self.rows, **{**self.options, "seed": self.seed, **more})
        words = words_of(self.rows)
        names = (self.file, *words, ", ".join(words))
        of_rows = tuple(f"{name}: " for name in names)
        for line in result.notes:
            told = line in self.said or line.endswith(TOLD)
            if not told and not line.startswith(of_rows):
                self.said.add(line)
                note(f"{answer.__name__}: {line}")
        return result

    def line(
        self, function: Callable[..., Result], kind: type[Result], **more: object
    ) -> str:
        """The line that asks another command about the same rows, of that class of results."""
        parameters = parameters_of(function)
        first = parameters[0].name
        values = {first: self.rows, **self.options, "seed": self.seed, **more}
        return Call(_name_for(function, kind), parameters, values).said()

    def leading_on(
        self,
        card: Card,
        function: Callable[..., Result],
        kind: type[Result],
        **more: object,
    ) -> Card:
        """The card with the line that tells all about its answer; see `line`."""
        line = self.line(function, kind, **more)
        return replace(card, advice=f"{card.advice} All about it:", command=line)


def _read(rows: Rows, reading: Reading, seen: Overview) -> PartlyRated:
    """The rows; each of several files is one version if nothing else says who wrote what."""
    if len(words_of(rows)) > 1 and "system" not in {*seen.roles, *seen.proposed}:
        files = read_partly(rows, reading, "", ())
        if _answer_the_same(files.texts):
            names = listed(sorted({*files.texts.systems}))
            note(f"each file is read as one version: {names}")
            return files
    return read_partly(rows, reading, None, ())


def _answer_the_same(texts: Texts) -> bool:
    """Whether systems answer mostly the same items, of the same sources, in other words."""
    answers: dict[str, dict[str, str]] = {}
    sources: dict[str, set[str]] = {}
    rows = zip_longest(texts.systems, texts.items, texts.texts, texts.sources)
    for system, item, text, source in rows:
        answers.setdefault(system, {})[item] = text
        sources.setdefault(item, set()).add(source)
    first, *others = [*answers.values()] or [{}]
    for other in others:
        shared = first.keys() & other.keys()
        if any(len(sources[item]) > 1 for item in shared):
            return False
        n_different = sum(first[item] != other[item] for item in shared)
        if 2 * len(shared) < len(other) or 2 * n_different <= len(shared):
            return False
    return len(others) > 0


def _name_for(function: Callable[..., Result], kind: type[Result]) -> str:
    """The name of a command; in Python that of the function for results of this class."""
    if flags_spoken() is not None:
        return of_any_rows(function).__name__
    names: Functions = getattr(function, "names", {})
    return names.get(kind, function.__name__)


def _of_choices(seen: Overview) -> Overview:
    """Choices with what they are of; their rows, two of each, have names that no file has."""
    columns = [replace(one, name="") for one in seen.columns if one.role in CHOSEN]
    return replace(seen, n_rows=seen.n_rows // 2, columns=tuple(columns))


def _likely(pool: RatedPool) -> Scale | None:
    """The usual scale whose ends some ratings have; None if they do not tell it."""
    try:
        with silenced():  # what is to be said of them is said with the answers
            values = note_ratings(pool)
    except InputError:
        return None
    if len(values) < max(FEWEST_RATINGS, len(pool.ratings.values)):
        return None
    ends = float(values.min()), float(values.max())
    return ends if ends in LIKELY_SCALES else None


def answered(topic: str, question: str, make: Callable[[], Card]) -> Card:
    """The card that a function makes, or the one of a question that the rows do not answer."""
    try:
        return make()
    except (InputError, UsageError) as fault:
        return refused(topic, question, fault)


def refused(topic: str, question: str, fault: RefLessError) -> Card:
    """The card of a question that the rows do not answer: what is missing, and the remedy."""
    found = str(fault)
    remedy = ""
    if isinstance(fault, InputError):
        found = fault.found
        remedy = fault.remedy
    return Card(
        topic=topic,
        question=question,
        state="open",
        label=OPEN,
        answer=f"{sentence(found)}.",
        advice=remedy,
    )
