"""How alike two texts are: similarities, kernels, references, the index of neighbours."""
