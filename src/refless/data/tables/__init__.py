"""Rows from anywhere -> records: files and data frames, with every check of outside data."""

from refless.data.tables.columns import ALIASES, Columns
from refless.data.tables.dimensions import SeveralDimensionsError, dimension_of, one_of
from refless.data.tables.memory import Rows
from refless.data.tables.partly_rated import PartlyRated, read_partly
from refless.data.tables.rated import PoolRead
from refless.data.tables.ratings import parse_rating_map
from refless.data.tables.reading import Reading, scale_of
from refless.data.tables.views import (
    OutputsRead,
    ScoredRead,
    check_made_with,
    read_both,
    read_outputs,
    read_pool,
    read_scored,
    with_scores,
)

__all__ = [
    "ALIASES",
    "Columns",
    "OutputsRead",
    "PartlyRated",
    "PoolRead",
    "Reading",
    "Rows",
    "ScoredRead",
    "SeveralDimensionsError",
    "check_made_with",
    "dimension_of",
    "one_of",
    "parse_rating_map",
    "read_both",
    "read_outputs",
    "read_partly",
    "read_pool",
    "read_scored",
    "scale_of",
    "with_scores",
]
