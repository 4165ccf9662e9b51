"""The report of `refless meta`."""
