"""The first schema."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

VIEW = """
CREATE VIEW current_ratings AS
WITH live AS NOT MATERIALIZED (
  SELECT e.* FROM events e WHERE e.kind IN ('rated', 'changed', 'skipped')
  AND NOT EXISTS (SELECT 1 FROM events u WHERE u.undoes = e.uuid)
)
SELECT a.rater, a.item, a.round, a.position, a.sides, a.stream, l.id, l.uuid, l.assigned,
  l.kind, l.dimension, l.value, l.reason, l.at, l.shown
FROM live l JOIN assigned a ON a.id = l.assigned
WHERE NOT EXISTS (
  SELECT 1 FROM live n WHERE n.assigned = l.assigned AND n.id > l.id
  AND (n.dimension = l.dimension OR n.kind = 'skipped' OR l.kind = 'skipped')
)
"""


def _text(name: str, *more: sa.schema.SchemaItem, needed: bool = True) -> sa.Column[str]:
    return sa.Column(name, sa.Text, *more, nullable=not needed)


def _whole(name: str, *more: sa.schema.SchemaItem) -> sa.Column[int]:
    return sa.Column(name, sa.Integer, *more, nullable=False)


def _key() -> sa.Column[int]:
    return sa.Column("id", sa.Integer, primary_key=True)


def _time(name: str) -> sa.Column[float]:
    return sa.Column(name, sa.Float, nullable=False)


def upgrade() -> None:
    """Makes the tables and the view of what holds now."""
    op.create_table(
        "settings", sa.Column("name", sa.Text, primary_key=True), _text("value", needed=False)
    )
    op.create_table(
        "items",
        _key(),
        _text("name"),
        _text("texts"),
        *(_text(name, needed=False) for name in ("source", "item", "task")),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "raters",
        _key(),
        *map(_text, ("name", "note", "role")),
        _whole("link"),
        _time("joined"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "assigned",
        _key(),
        _whole("rater", sa.ForeignKey("raters.id")),
        _whole("item", sa.ForeignKey("items.id")),
        *map(_whole, ("round", "position")),
        *map(_text, ("sides", "stream")),
        sa.Column("probability", sa.Float),
        _time("until"),
        _text("state"),
        sa.UniqueConstraint("rater", "item", "round", name="assigned_once"),
        sa.UniqueConstraint("rater", "position", name="assigned_in_order"),
    )
    op.create_table(
        "events",
        _key(),
        _text("uuid"),
        _whole("assigned", sa.ForeignKey("assigned.id")),
        *map(_text, ("kind", "dimension")),
        sa.Column("value", sa.Float),
        *(_text(name, needed=False) for name in ("reason", "undoes")),
        _time("at"),
        _text("shown"),
        sa.UniqueConstraint("uuid"),
    )
    op.create_index("events_of_assigned", "events", ["assigned"])
    op.create_index("events_undone", "events", ["undoes"])
    op.create_table("fits", _key(), _time("at"), _text("found"))
    op.execute(VIEW)
