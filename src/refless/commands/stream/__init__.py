"""The command `stream`: what it computes, its result, and how it is shown."""
