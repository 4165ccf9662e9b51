"""Files and frames -> records."""
