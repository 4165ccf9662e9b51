"""Roles of columns: one record each, which lookups, checks, flags and messages ask."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from itertools import chain
from typing import Any, Literal, get_args

from refless.data.records import picked
from refless.data.tables.cells import (
    json_in_cell,
    name_of_cell,
    source_of_cell,
    text_of_cell,
)
from refless.registry.arrays import Strings

Cells = Sequence[object]
Fit = Callable[[Cells, Sequence[Cells]], bool]
Kind = Literal[  # of files
    "rated", "outputs", "both", "judged", "runs", "compared", "scored", "huse"
]
EVERY: tuple[Kind, ...] = get_args(Kind)
RATED: tuple[Kind, ...] = (
    "rated",
    "both",
    "judged",
    "runs",
    "compared",
    "scored",
    "huse",
)
METRIC: tuple[Kind, ...] = ("outputs", "both", "judged", "runs")
JUDGED: tuple[Kind, ...] = ("judged", "runs")
GRADES = 10  # different words for ratings, at most
WORDS = 3  # of a text, on average more
LETTERS = 60  # of a text that is no name of a system or task, on average more


def are_texts(cells: Cells, *_: object) -> bool:
    """Whether the cells that are filled are strings of several words."""
    filled = [cell for cell in cells if cell not in (None, "")]
    texts = [cell for cell in filled if isinstance(cell, str)]
    n_words = sum(len(text.split()) for text in texts)
    return 0 < len(texts) == len(filled) and n_words > WORDS * len(texts)


def are_written(cells: Cells) -> bool:
    """Whether the cells are texts, and more different ones than there are words for ratings."""
    return are_texts(cells) and len({*cells}) > GRADES


def are_names(cells: Cells, *_: object) -> bool:
    """Whether the cells are no long texts."""
    n_letters = sum(len(cell) for cell in cells if isinstance(cell, str))
    return n_letters <= LETTERS * len(cells) or not are_texts(cells)


def hold_objects(cells: Cells) -> bool:
    """Whether a cell is an object or a list of objects, also as JSON in text."""
    opened = map(json_in_cell, cells)
    lists = (cell if isinstance(cell, list) else [cell] for cell in opened)
    return any(isinstance(cell, dict) for cell in chain.from_iterable(lists))


def are_shared(cells: Cells, groups: Sequence[Cells]) -> bool:
    """Whether the filled cells are all equal, or equal within groups of which some repeat."""
    filled = [row for row, cell in enumerate(cells) if cell not in (None, "")]
    values = [cells[row] for row in filled]
    if not groups or len({*map(str, values)}) <= 1:
        return True
    for group in groups:
        counts = n_within(picked(group, filled), values)
        if {*counts} == {1} and len(counts) < len(filled):
            return True
    return False


def n_within(groups: Cells, cells: Cells) -> list[int]:
    """Number of different cells in each group, in the order of the groups' first rows."""
    values: dict[str, set[str]] = {}
    for group, cell in zip(groups, cells, strict=False):
        values.setdefault(repr(group), set()).add(str(cell))
    return [*map(len, values.values())]


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """A role of columns.

    Attributes:
        words: names that people give it, as `folded` writes them; the first is for messages.
        weak: further names, which count if no column has one of `words`.
        hints: names of columns that may contain it in another form; none is chosen by its name.
        of: what it is about. `place` is where a text belongs: one column may be several of these,
            and all rows of one text must agree. `number` is a column of numbers, `any` any column.
        files: kinds of files in which it is looked up.
        cell: the function that checks a cell and returns it as a string; None if the cells are no
            strings.
        several: whether several columns, or a pattern, may have it.
        filled: whether each row must fill it if there is such a column (`always`), or if another
            row does (`alike`).
        fits: whether what a column contains may be it, beside systems, items and sources;
            weak_fits: the same of columns with a weak name.
        parameter: what names its column, if `columns` does not.
        note: what `--help` adds.
    """

    words: Strings = ()
    weak: Strings = ()
    hints: Strings = ()
    of: Literal["text", "place", "rating", "metric", "judge", "number", "any"] = "place"
    files: tuple[Kind, ...] = EVERY
    cell: Callable[[object], str] | None = name_of_cell
    several: bool = False
    filled: Literal["always", "alike", ""] = ""
    fits: Fit = lambda *_: True
    weak_fits: Fit = lambda *_: True
    parameter: str = ""
    note: str = ""

    @property
    def names(self) -> Strings:
        """All names under which it is looked up."""
        return (*self.words, *self.weak)

    def suits(self, word: str, cells: Cells, groups: Sequence[Cells]) -> bool:
        """Whether what a column contains may be what its name, one of the role's, says."""
        weakly = word not in self.weak or self.weak_fits(cells, groups)
        return weakly and self.fits(cells, groups)


def role(words: str = "", *, weak: str = "", hints: str = "", **about: Any) -> Any:  # noqa: ANN401
    """A field of `Columns` with its record, whose names blanks separate."""
    usual, weaker, others = (tuple(names.split()) for names in (words, weak, hints))
    record = Role(words=usual, weak=weaker, hints=others, **about)
    return field(default=() if record.several else None, metadata={"role": record})


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The user's column flags; None or () looks for the usual names.

    Several rating columns mean one annotator a column, several reference columns one reference a
    column; a pattern such as `rater*` names all that match. A dotted name such as `scores.fluency`
    is what an object holds. `group` and `score` (of another tool) have no usual name; `dimension`
    tells what was rated, `mix` how much a row counts.
    Roles that a kind of file does not have (ratings of outputs, references of a rated pool) are not
    looked up there, so that one set of flags serves both.
    """

    text: str | None = role(
        "text output response completion answer reply candidate",
        weak="assistant",
        hints="messages conversation conversations chat dialogue dialog turns",
        of="text",
        cell=text_of_cell,
    )
    id: str | None = role("id", filled="always")
    item: str | None = role("item", weak="prompt_id", filled="always")
    source: str | None = role(
        "source prompt input question context mr",
        weak="user",
        cell=source_of_cell,
        filled="alike",
        weak_fits=are_texts,
    )
    system: str | None = role(
        "system model",
        weak="version bot_version model_version",
        filled="alike",
        fits=are_names,
    )
    task: str | None = role("task", fits=are_names)
    group: str | None = role(of="any", parameter="group")
    slice: tuple[str, ...] = role(
        of="any", files=(*JUDGED, "scored"), cell=None, several=True, parameter="by"
    )
    score: tuple[str, ...] = role(
        hints="judge* gpt* llm* bleu* sacrebleu* rouge* meteor ter cider* chrf* nist bertscore* "
        "bert_score* bartscore* moverscore* comet* bleurt* spice",
        of="number",
        cell=None,
        several=True,
        parameter="score_column",
    )
    rating: tuple[str, ...] = role(
        "rating human human_rating human_score annotation label stars preference feedback",
        weak="human_label human_verdict human_annotation expert_rating expert_score ratings",
        hints="score scores quality *_score",  # or of a judge
        of="rating",
        files=RATED,
        cell=None,
        several=True,
        fits=lambda cells, _: not are_written(cells),
        weak_fits=lambda cells, _: not hold_objects(cells),
        note="several, or a pattern 'rater*': one annotator a column",
    )
    annotator: str | None = role(
        "annotator rater worker",
        weak="user worker_id workerid rated_by annotated_by",
        hints="labeler evaluator judge reviewer coder",  # if each rating has one
        of="rating",
        files=RATED,
        fits=are_names,
        weak_fits=lambda cells, _: not are_texts(cells),
    )
    time: str | None = role("timestamp rated_at", of="rating", files=RATED, cell=None)
    dimension: str | None = role(
        "dimension",
        weak="criterion criteria aspect metric question turn attribute facet trait rubric "
        "item_name question_text rating_type score_name key category name",  # if ratings differ
        of="rating",
        files=(),
        cell=None,
    )
    probability: str | None = role(
        "inclusion_probability",
        weak="probability",
        of="rating",
        files=("compared", "scored"),
        cell=None,
        weak_fits=are_shared,
    )
    reference: tuple[str, ...] = role(
        "reference references",
        of="metric",
        files=METRIC,
        cell=None,
        several=True,
        note="several",
    )
    weight: str | None = role("weight weights", of="metric", files=METRIC, cell=None)
    logprob: str | None = role(
        "logprob log_prob log_probability modelprobability",
        of="number",
        files=("huse",),
        cell=None,
        note="the text's log-probability under the model",
    )
    length: str | None = role(
        "length n_tokens lengthofutterance",
        of="number",
        files=("huse",),
        cell=None,
        note="its number of tokens; without it words",
    )
    label: str | None = role(
        "label human is_human",
        files=("huse",),
        note="tells people's texts from the model's; without it the system",
    )
    rationale: str | None = role(
        "rationale reason explanation justification",
        of="judge",
        files=JUDGED,
        note="why the judge says it",
    )
    run: str | None = role(
        "run epoch", of="judge", files=("runs", "scored"), note="with --runs"
    )
    mix: str | None = role(
        of="judge",
        files=(),
        cell=None,
        note="how many outputs in use a row stands for, in corrected means",
    )


ROLES: dict[str, Role] = {
    entry.name: entry.metadata["role"] for entry in fields(Columns)
}


def names_of(roles: Iterable[str]) -> set[str]:
    """The usual names of columns of some roles."""
    return {*chain.from_iterable(ROLES[role].names for role in roles)}


def roles_in(kind: Kind) -> Strings:
    """The roles that are looked up in a kind of file, in the order in which they are."""
    return tuple(name for name, role in ROLES.items() if kind in role.files)


def flags_of(*names: str) -> str:
    """Roles as `--help` lists them, with what it adds."""
    notes = {name: ROLES[name].note for name in names}
    return ", ".join(
        f"{name} ({note})" if note else name for name, note in notes.items()
    )
