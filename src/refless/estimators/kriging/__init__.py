"""Kriging: Gaussian-process regression of ratings on similarities of texts."""

from refless.estimators.kriging.estimator import Kriging

__all__ = ["Kriging"]
