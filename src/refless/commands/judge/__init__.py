"""The command `judge`: what it computes, its result, and how it is shown."""
