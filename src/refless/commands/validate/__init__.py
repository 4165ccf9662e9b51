"""The report of `refless validate`."""
