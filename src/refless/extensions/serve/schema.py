"""The tables of a rating database: what is asked, who rates, what was shown, every act an event."""

from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    bindparam,
    exists,
    insert,
    inspect,
    select,
    text,
    update,
)

metadata = MetaData()


def column(name: str, kind: Any) -> Column[Any]:  # noqa: ANN401 - a type of SQLAlchemy
    """A column without blanks."""
    return Column(name, kind, nullable=False)


def key() -> Column[Any]:
    """The number of a row."""
    return Column("id", Integer, primary_key=True)


settings = Table(
    "settings", metadata, Column("name", Text, primary_key=True), Column("value", Text)
)
items = Table(  # what is asked: one text, two of a pair, or several to choose from
    "items",
    metadata,
    key(),  # from 1, in the random order of the audit
    Column("name", Text, nullable=False, unique=True),
    column("texts", Text),  # JSON: [{id, system, text}], in the file's order
    Column("source", Text),
    Column("item", Text),
    Column("task", Text),
)
raters = Table(
    "raters",
    metadata,
    key(),
    Column(
        "name", Text, nullable=False, unique=True
    ),  # a pseudonym, which exports show
    column("note", Text),  # what the owner calls them; never exported
    column("role", Text),
    column("link", Integer),  # of links that hold; below 0 for none
    column("joined", Float),
)
assigned = Table(  # what was shown to whom; its lease keeps others from the same item
    "assigned",
    metadata,
    key(),
    Column("rater", Integer, ForeignKey("raters.id"), nullable=False),
    Column("item", Integer, ForeignKey("items.id"), nullable=False),
    column("round", Integer),  # 1 where a rater is asked a second time
    column("position", Integer),  # in this rater's order, from 0
    column("sides", Text),  # JSON: places of the texts, as they were shown
    column("stream", Text),
    Column(
        "probability", Float
    ),  # of having been drawn by now; none for what was chosen
    column("until", Float),
    column("state", Text),
    UniqueConstraint("rater", "item", "round", name="assigned_once"),
    UniqueConstraint("rater", "position", name="assigned_in_order"),
    Index("assigned_of_item", "item"),
)
events = Table(  # only ever added to
    "events",
    metadata,
    key(),
    Column(
        "uuid", Text, nullable=False, unique=True
    ),  # of the page: a retry is no second
    Column("assigned", Integer, ForeignKey("assigned.id"), nullable=False),
    column("kind", Text),
    column("dimension", Text),
    Column("value", Float),
    Column("reason", Text),
    Column("undoes", Text),
    column("at", Float),
    column("shown", Text),  # JSON: session, latency, a digest of the event
    Index("events_of_assigned", "assigned"),
    Index("events_undone", "undoes"),
)
fits = Table(  # what the ratings were worth, each time they were looked at
    "fits",
    metadata,
    key(),
    column("at", Float),
    column("found", Text),
)

EVENT = select(events, assigned.c.rater).join(assigned)
EVENT = EVENT.where(events.c.uuid == bindparam("uuid"))
SHOWN = select(assigned).where(assigned.c.id == bindparam("key"))
NAMED = select(assigned).where(
    *(assigned.c[name] == bindparam(name) for name in ("rater", "item", "round"))
)
SHOW = insert(assigned).returning(assigned)
ACT = insert(events)
CHANGE = update(assigned).where(assigned.c.id == bindparam("key")).returning(assigned)
SETTLE = CHANGE.values(state=bindparam("now"), until=bindparam("then"))
TURNED = CHANGE.values(sides=bindparam("now"))
HOLDS = text(
    "SELECT kind, dimension, value FROM current_ratings WHERE assigned = :key ORDER BY id"
).columns(*(events.c[name] for name in ("kind", "dimension", "value")))
LATEST = text(
    "SELECT a.rater, e.shown FROM events e JOIN assigned a ON a.id = e.assigned "
    "WHERE e.kind = 'rated' AND e.dimension = :last ORDER BY e.id DESC LIMIT 5000"
)
CURRENT_ROWS = text(
    "SELECT c.*, r.name AS rater_name, i.name AS item_name FROM current_ratings c "
    "JOIN raters r ON r.id = c.rater JOIN items i ON i.id = c.item ORDER BY c.id"
)
OF_ITEM = text("SELECT * FROM current_ratings WHERE item = :item ORDER BY id")
DRAWN = text(  # the last item that was drawn at random, where all before it were rated or skipped
    "WITH unseen AS (SELECT min(id) AS first FROM items WHERE id NOT IN :passed AND id NOT IN "
    "(SELECT item FROM assigned WHERE round = 0 AND state <> 'open')) "
    "SELECT CASE WHEN first IS NULL THEN (SELECT count(*) FROM items) ELSE (SELECT max(item) "
    "FROM assigned WHERE stream = 'audit' AND item < first) END FROM unseen"
).bindparams(bindparam("passed", type_=Integer, expanding=True, literal_execute=True))
FLAGGED = text(
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


def make_tables(connection: Connection) -> str:
    """Makes the tables of a new database and the view of what holds now; the schema's version."""
    if not inspect(connection).has_table("settings"):
        metadata.create_all(connection)
        connection.execute(text(VIEW))
        connection.execute(insert(settings), {"name": "schema", "value": VERSION})
    query = select(settings.c.value).where(settings.c.name == "schema")
    return str(connection.execute(query).scalar())


def latest_act(rater: int) -> Any:  # noqa: ANN401 - a query
    """The latest event of a rater that is neither an undoing nor undone."""
    later = events.alias()
    undone = exists().where(later.c.undoes == events.c.uuid)
    query = select(events.c.uuid, events.c.assigned).join(assigned)
    query = query.where(assigned.c.rater == rater, events.c.kind != "undone", ~undone)
    return query.order_by(events.c.id.desc()).limit(1)
