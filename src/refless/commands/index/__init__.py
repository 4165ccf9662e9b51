"""The command `index`: what it computes, its result, and how it is shown."""
