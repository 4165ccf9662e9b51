"""Files -> records: JSONL, CSV, TSV, Parquet and plain text, with every check of outside data."""

from refless.tables.columns import ALIASES, Columns
from refless.tables.outputs import OutputsRead, read_outputs
from refless.tables.pools import PoolRead, read_pool
from refless.tables.ratings import parse_rating_map
from refless.tables.reading import Reading
from refless.tables.scored import ScoredRead, read_scored
from refless.tables.writing import write_atomic

__all__ = [
    "ALIASES",
    "Columns",
    "OutputsRead",
    "PoolRead",
    "Reading",
    "ScoredRead",
    "parse_rating_map",
    "read_outputs",
    "read_pool",
    "read_scored",
    "write_atomic",
]
