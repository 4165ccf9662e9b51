"""Other tools, clusters and public data sets."""
