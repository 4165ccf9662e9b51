"""The command `next`: what it computes, its result, and how it is shown."""
