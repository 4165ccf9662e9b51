"""Similarity of texts: similarities, kernels, the index of neighbours, the protocol of metrics."""
