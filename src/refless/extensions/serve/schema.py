"""The tables of a rating database: what is asked, who rates, what was shown, every act an event."""

import sqlalchemy as sa

metadata = sa.MetaData()

settings = sa.Table(
    "settings", metadata, sa.Column("name", sa.Text, primary_key=True), sa.Column("value", sa.Text)
)
items = sa.Table(  # what is asked: one text, two of a pair, or several to choose from
    "items",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),  # from 1, in the random order of the audit
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("texts", sa.Text, nullable=False),  # JSON: [{id, system, text}], in the file's order
    sa.Column("source", sa.Text),
    sa.Column("item", sa.Text),
    sa.Column("task", sa.Text),
)
raters = sa.Table(
    "raters",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),  # a pseudonym, which exports show
    sa.Column("note", sa.Text, nullable=False),  # what the owner calls them; never exported
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("link", sa.Integer, nullable=False),  # of links that hold; below 0 for none
    sa.Column("joined", sa.Float, nullable=False),
)
assigned = sa.Table(  # what was shown to whom; its lease keeps others from the same item
    "assigned",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("rater", sa.Integer, sa.ForeignKey("raters.id"), nullable=False),
    sa.Column("item", sa.Integer, sa.ForeignKey("items.id"), nullable=False),
    sa.Column("round", sa.Integer, nullable=False),  # 1 where a rater is asked a second time
    sa.Column("position", sa.Integer, nullable=False),  # in this rater's order, from 0
    sa.Column("sides", sa.Text, nullable=False),  # JSON: places of the texts, as they were shown
    sa.Column("stream", sa.Text, nullable=False),
    sa.Column("probability", sa.Float),  # of having been drawn by now; none for what was chosen
    sa.Column("until", sa.Float, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.UniqueConstraint("rater", "item", "round", name="assigned_once"),
    sa.UniqueConstraint("rater", "position", name="assigned_in_order"),
    sa.Index("assigned_of_item", "item"),
)
events = sa.Table(  # only ever added to
    "events",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("uuid", sa.Text, nullable=False, unique=True),  # of the page: a retry is no second
    sa.Column("assigned", sa.Integer, sa.ForeignKey("assigned.id"), nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("dimension", sa.Text, nullable=False),
    sa.Column("value", sa.Float),
    sa.Column("reason", sa.Text),
    sa.Column("undoes", sa.Text),
    sa.Column("at", sa.Float, nullable=False),
    sa.Column("shown", sa.Text, nullable=False),  # JSON: session, latency, the page's version
    sa.Index("events_of_assigned", "assigned"),
    sa.Index("events_undone", "undoes"),
)
fits = sa.Table(  # what the ratings were worth, each time they were looked at
    "fits",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("at", sa.Float, nullable=False),
    sa.Column("found", sa.Text, nullable=False),
)

EVENT = sa.select(events, assigned.c.rater).join(assigned)
EVENT = EVENT.where(events.c.uuid == sa.bindparam("uuid"))
SHOWN = sa.select(assigned).where(assigned.c.id == sa.bindparam("key"))
NAMED = sa.select(assigned).where(
    *(assigned.c[name] == sa.bindparam(name) for name in ("rater", "item", "round"))
)
SHOW = sa.insert(assigned).returning(assigned)
ACT = sa.insert(events)
SETTLE = (
    sa.update(assigned)
    .where(assigned.c.id == sa.bindparam("key"))
    .values(state=sa.bindparam("now"), until=sa.bindparam("then"))
    .returning(assigned)
)
TURNED = (
    sa.update(assigned)
    .where(assigned.c.id == sa.bindparam("key"))
    .values(sides=sa.bindparam("now"))
    .returning(assigned)
)
HOLDS = sa.text(
    "SELECT kind, dimension, value FROM current_ratings WHERE assigned = :key ORDER BY id"
).columns(*(events.c[name] for name in ("kind", "dimension", "value")))
LATEST = sa.text(
    "SELECT a.rater, e.shown FROM events e JOIN assigned a ON a.id = e.assigned "
    "WHERE e.kind = 'rated' AND e.dimension = :last ORDER BY e.id DESC LIMIT 5000"
)
CURRENT_ROWS = sa.text(
    "SELECT c.*, r.name AS rater_name, i.name AS item_name FROM current_ratings c "
    "JOIN raters r ON r.id = c.rater JOIN items i ON i.id = c.item ORDER BY c.id"
)
OF_ITEM = sa.text("SELECT * FROM current_ratings WHERE item = :item ORDER BY id")
DRAWN = (
    sa.text(  # the last item that was drawn at random, where all before it were rated or skipped
        "WITH unseen AS (SELECT min(id) AS first FROM items WHERE id NOT IN :gold AND id NOT IN "
        "(SELECT item FROM assigned WHERE round = 0 AND state <> 'open')) "
        "SELECT CASE WHEN first IS NULL THEN (SELECT count(*) FROM items) ELSE (SELECT max(item) "
        "FROM assigned WHERE stream = 'audit' AND item < first) END FROM unseen"
    ).bindparams(sa.bindparam("gold", expanding=True))
)
FLAGGED = sa.text(
    "SELECT a.item, a.rater, r.name AS rater_name, e.* FROM events e JOIN assigned a "
    "ON a.id = e.assigned JOIN raters r ON r.id = a.rater WHERE e.kind = 'flagged' "
    "AND NOT EXISTS (SELECT 1 FROM events u WHERE u.undoes = e.uuid) ORDER BY e.id"
)
VERSION = "2"
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
TIE = -1  # as the value of a pair: neither is better


def make_tables(connection: sa.Connection) -> str:
    """Makes the tables of a new database and the view of what holds now; the schema's version."""
    if not sa.inspect(connection).has_table("settings"):
        metadata.create_all(connection)
        connection.execute(sa.text(VIEW))
        connection.execute(sa.insert(settings), {"name": "schema", "value": VERSION})
    query = sa.select(settings.c.value).where(settings.c.name == "schema")
    return str(connection.execute(query).scalar())
