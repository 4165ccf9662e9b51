"""Results of `lists`: what it computes, its result, and how it is shown."""
