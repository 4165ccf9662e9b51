"""The report of `refless huse`."""
