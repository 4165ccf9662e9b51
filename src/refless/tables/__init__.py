"""Rows from anywhere -> records: files and data frames, with every check of outside data."""

from refless.tables.both import read_both
from refless.tables.columns import ALIASES, Columns
from refless.tables.dimensions import SeveralDimensionsError, dimension_of, one_of
from refless.tables.formats import holds_rows
from refless.tables.gathering import strings_in
from refless.tables.memory import Rows, named
from refless.tables.outputs import OutputsRead, read_batches, read_outputs
from refless.tables.pairs import PairsRead, holds_pairs, read_pairs
from refless.tables.partly import PartlyRated, read_partly
from refless.tables.pools import PoolRead, check_made_with, read_pool, read_pools, with_scores
from refless.tables.ratings import parse_rating_map
from refless.tables.reading import Reading, scale_of
from refless.tables.scored import ScoredRead, read_scored

__all__ = [
    "ALIASES",
    "Columns",
    "OutputsRead",
    "PairsRead",
    "PartlyRated",
    "PoolRead",
    "Reading",
    "Rows",
    "ScoredRead",
    "SeveralDimensionsError",
    "check_made_with",
    "dimension_of",
    "holds_pairs",
    "holds_rows",
    "named",
    "one_of",
    "parse_rating_map",
    "read_batches",
    "read_both",
    "read_outputs",
    "read_pairs",
    "read_partly",
    "read_pool",
    "read_pools",
    "read_scored",
    "scale_of",
    "strings_in",
    "with_scores",
]
