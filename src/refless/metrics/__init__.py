"""How alike two texts are: similarities, kernels, the index of neighbours; what a metric offers."""
