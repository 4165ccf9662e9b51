"""Results of `dimensions`: what it computes, its result, and how it is shown."""
