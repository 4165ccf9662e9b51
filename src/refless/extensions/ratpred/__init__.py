"""RatPred: a learned estimator that reads source and output; torch is imported when it is used."""

from refless.registry.offered import Command

TRAIN = Command(
    "Train RatPred on rated texts and save it for 'refless score --model FILE'.",
    "refless.extensions.ratpred.train",
    "Estimate",
)
