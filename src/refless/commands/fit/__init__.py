"""The command `fit`: what it computes, its result, and how it is shown."""
