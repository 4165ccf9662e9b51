"""The command `demo`: what it computes, its result, and how it is shown."""
