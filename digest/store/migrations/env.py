"""What Alembic runs: on the connection it is handed, in that connection's transaction."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], render_as_batch=True)
context.run_migrations()
