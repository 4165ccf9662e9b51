"""The Gaussian process: Gaussian-process regression of ratings on similarities of texts."""

from refless.estimators.gp.estimator import GaussianProcess

__all__ = ["GaussianProcess"]
