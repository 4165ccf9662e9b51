"""promptfoo: JSON (`eval -o`, `export eval`) and JSONL (a result a line).

A thumb that somebody gave in the web view is the component whose assertion is `human`; a number
that somebody typed has no component, but the result's reason says so. Both overwrite the score of
the result, so scores are read from the other components alone. Each of them has passed or failed by
a threshold of its own.
"""

from collections.abc import Mapping

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
from refless.data.tables.reading import Row
from refless.registry.dialect import called
from refless.registry.errors import InputError

_REFERENCES = {"equals", "similar", "rouge-n", "bleu"}  # assertions that hold a text
HALF = 0.5  # from where on a score from 0 to 1 passes if nobody says more
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
    metrics = set[str]()  # whose own threshold is told

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
        scores: dict[str, object] = {}
        passes: dict[str, object] = {}
        ratings: list[Row] = []
        for entry in items(at(result, "gradingResult", "componentResults")):
            kind = name_in(at(entry, "assertion", "type"))
            score = number_in(at(entry, "score"))
            if kind == "human" and score is not None:
                ratings.append({"rating": score})
            elif kind is not None and kind != "human":
                metric = name_in(at(entry, "assertion", "metric")) or kind
                scores.setdefault(metric, score)
                passed = at(entry, "pass")
                if score is not None and isinstance(passed, bool):
                    passes.setdefault(metric, float(passed))
                    if passed != (score >= HALF) and metric not in metrics:
                        metrics.add(metric)
                        notes.sentences.append(_own_threshold(metric))
        graded = result.get("gradingResult")
        score = number_in(at(graded, "score"))
        by_hand = at(graded, "reason") == _BY_HAND
        if by_hand and score is not None and not ratings:
            ratings.append({"rating": score})
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
