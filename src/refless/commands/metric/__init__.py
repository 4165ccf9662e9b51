"""The command `metric`: what it computes, its result, and how it is shown."""
