"""promptfoo: JSON (`eval -o`, `export eval`) and JSONL (a result a line).

A thumb that somebody gave in the web view is the component whose assertion is `human`; a number
that somebody typed has no component, but the result's reason says so. Both overwrite the score of
the result, so scores are read from the other components alone. Each of them has passed or failed by
a threshold of its own.
"""

from collections.abc import Mapping, Sequence

from refless.data.tables.exports.format import (
    Entry,
    Export,
    Reader,
    ReaderRequest,
    at,
    fields_of,
    items,
    name_in,
    number_in,
    text_in,
    texts_in,
)
from refless.data.tables.reading import ImportNotes, Row
from refless.registry.dialect import called
from refless.registry.errors import InputError

_REFERENCES = {"equals", "similar", "rouge-n", "bleu"}  # assertions that hold a text
HALF = 0.5  # from where on a score from 0 to 1 passes if nobody says more
HUMAN = "human"  # the assertion of a thumb
_STRIPPED = "[prompt stripped]"
_BY_HAND = "Manual result (overrides all other grading results)"


def is_eval(first: Mapping[str, object]) -> bool:
    """A result of JSONL, or the object around all results; its parts come in any order."""
    if "promptIdx" in first and "testIdx" in first:
        return True
    return "results" in first and (
        "evalId" in first or at(first["results"], "version") is not None
    )


def read_results(about: ReaderRequest) -> Reader:
    """Reads a result: the output, its scores by assertion, and what a person said of it."""
    notes = about.notes

    def read(result: Row) -> Entry | None:
        if "results" in result:
            remedy = "write it anew: promptfoo export eval ID -o FILE.json"
            raise InputError(
                "an evaluation of an old promptfoo", path=about.path, remedy=remedy
            )
        text = text_in(at(result, "response", "output"))
        if text is None:
            notes.left_out["results without an output"] += 1
            return None
        parts = items(at(result, "gradingResult", "componentResults"))
        ratings = _ratings(result, parts)
        scores, passes = _scores(parts, notes)
        prompt = at(result, "prompt", "raw")
        variables = fields_of(result.get("vars"))
        number = name_in(result.get("promptIdx")) or ""
        test = name_in(result.get("testIdx"))
        record = {
            "id": name_in(result.get("id")) or f"{number}-{test or ''}",
            "item": test,
            "text": text,
            "source": None if prompt == _STRIPPED else text_in(prompt),
            "system": _system(result),
            "reference": _references(result),
            "scores": scores,
            "passes": passes,
            "namedScores": fields_of(result.get("namedScores")),
            "vars": variables,
        }
        return Entry(variables | record, ratings)

    return read


def _ratings(result: Row, parts: Sequence[object]) -> list[Row]:
    """The ratings that people gave a result: thumbs, else a number that was typed."""
    thumbs = [number_in(at(part, "score")) for part in parts if _kind(part) == HUMAN]
    ratings: list[Row] = [{"rating": score} for score in thumbs if score is not None]
    graded = result.get("gradingResult")
    score = number_in(at(graded, "score"))
    if at(graded, "reason") == _BY_HAND and score is not None and not ratings:
        ratings.append({"rating": score})
    return ratings


def _scores(parts: Sequence[object], notes: ImportNotes) -> tuple[Row, Row]:
    """Scores, and passes as 1, by metric; of assertions that are no person's."""
    scores: Row = {}
    passes: Row = {}
    for part in parts:
        kind = _kind(part)
        if kind in {None, HUMAN}:
            continue
        metric = str(name_in(at(part, "assertion", "metric")) or kind)
        score = number_in(at(part, "score"))
        passed = at(part, "pass")
        scores.setdefault(metric, score)
        if score is not None and isinstance(passed, bool):
            passes.setdefault(metric, float(passed))
            if passed != (score >= HALF):
                notes.say(_own_threshold(metric))
    return scores, passes


def _kind(part: object) -> str | None:
    return name_in(at(part, "assertion", "type"))


def _system(result: Row) -> str | None:
    """The provider, and the variant of the prompt if its label is not its template."""
    provider = result.get("provider")
    name = (
        name_in(provider)
        or name_in(at(provider, "label"))
        or name_in(at(provider, "id"))
    )
    label = at(result, "prompt", "label")
    raw = at(result, "prompt", "raw")
    is_labelled = isinstance(label, str) and not str(raw).startswith(label)
    if is_labelled and "{{" in str(label):
        place = result.get("promptIdx")
        later = place if isinstance(place, int) else 0
        label = f"prompt {later + 1}"
        is_labelled = bool(later)
    return f"{name} {label}" if is_labelled and name else name


def _references(result: Row) -> list[str]:
    references = []
    for check in items(at(result, "testCase", "assert")):
        if name_in(at(check, "type")) in _REFERENCES:
            references += texts_in(at(check, "value"))
    return references


EVAL = Export(
    title="an evaluation of promptfoo",
    looks_like=is_eval,
    start=read_results,
    roles=(
        "id",
        "item",
        "text",
        "source",
        "system",
        "reference",
        "rating",
        "passes",
        "namedScores",
        "vars",
    ),
    within="results.results",
)


def _own_threshold(metric: str) -> str:
    """The scores that pass if an assertion has a threshold of its own."""
    passed = called("score_column", f"passes.{metric}")
    return (
        f"'{metric}' has a threshold of its own: {passed} reads what it passed; scores.{metric} "
        f"passes from {HALF:g} on, unless {called('passing')} says otherwise"
    )
