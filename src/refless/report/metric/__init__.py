"""The report of `refless metric`."""
