"""Pairs of texts: judges of them, chances of new texts, and who wins."""
