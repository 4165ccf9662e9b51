"""RatPred: a learned estimator that reads source and output; torch is imported when it is used."""
