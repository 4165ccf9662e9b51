"""The report of `refless explain`."""
