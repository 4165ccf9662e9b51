"""The command `explain`: what it computes, its result, and how it is shown."""
