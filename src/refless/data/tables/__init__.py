"""Rows from anywhere -> records: files and data frames, with every check of outside data."""

from refless.data.tables.dimensions import (
    SeveralDimensionsError as SeveralDimensionsError,
)
from refless.data.tables.dimensions import dimension_of as dimension_of
from refless.data.tables.dimensions import one_of as one_of
from refless.data.tables.memory import Rows as Rows
from refless.data.tables.rated import PoolRead as PoolRead
from refless.data.tables.ratings import parse_word_map as parse_word_map
from refless.data.tables.reading import Reading as Reading
from refless.data.tables.reading import scale_of as scale_of
from refless.data.tables.roles import ROLES as ROLES
from refless.data.tables.roles import Columns as Columns
from refless.data.tables.views import OutputsRead as OutputsRead
from refless.data.tables.views import ScoredRead as ScoredRead
from refless.data.tables.views import check_made_with as check_made_with
from refless.data.tables.views import read_both as read_both
from refless.data.tables.views import read_outputs as read_outputs
from refless.data.tables.views import read_pool as read_pool
from refless.data.tables.views import read_scored as read_scored
from refless.data.tables.views import with_scores as with_scores
