"""The report of `refless stress`."""
