"""RatPred: a learned estimator that reads source and output; torch is imported when it is used."""

from refless.estimators.ratpred.estimator import RatPred
from refless.estimators.ratpred.settings import Settings

__all__ = ["RatPred", "Settings"]
