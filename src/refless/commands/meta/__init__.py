"""The command `meta`: what it computes, its result, and how it is shown."""
