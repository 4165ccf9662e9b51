"""The report of `refless train`."""
