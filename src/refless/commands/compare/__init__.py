"""The report of `refless compare`."""
