"""Steps from one schema to the next, which alembic takes when a database is opened."""
