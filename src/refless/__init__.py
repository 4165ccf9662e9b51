"""Judge generated text by what people have already rated."""

__version__ = "0.1.0"
