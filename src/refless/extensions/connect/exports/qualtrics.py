"""Qualtrics: answers as CSV, with labels or numeric values.

Below the names stand a line of questions and a line of import ids; ids of answers begin with R_.
"""

from collections import Counter

from refless.data.tables.exports.format import Entry, Export, each, has
from refless.data.tables.reading import Row

_STATUS = {  # numeric values of what is no answer, as exports with labels have them
    "1": "Survey Preview",
    "9": "Survey Preview",
    "17": "Survey Preview",
    "2": "Survey Test",
    "8": "Spam",
    "12": "Spam",
}


def read_answer(row: Row, left: Counter[str]) -> Entry | None:
    """Reads an answer of a respondent; None, which is counted, for the lines below the names."""
    if not str(row.get("ResponseId")).startswith("R_"):
        left["lines of questions and import ids"] += 1
        return None
    status = str(row["Status"])
    return Entry({**row, "Status": _STATUS.get(status, status)}, [])


ANSWERS = Export(
    title="answers of Qualtrics",
    looks_like=has("ResponseId", "StartDate", "Status", "Finished"),
    start=each(read_answer),
)
