"""HUSE: quality and diversity of a model in one number."""
