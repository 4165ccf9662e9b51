"""The report of `refless score`."""
