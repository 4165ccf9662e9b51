"""What alembic runs to take the steps: on the connection that it was given."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], render_as_batch=True)
context.run_migrations()
