"""Studies: what predictions and annotators are worth, measured against human rating."""
