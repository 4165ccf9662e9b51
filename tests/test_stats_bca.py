"""The BCa interval against scipy's."""

import numpy as np
import pytest
from scipy import stats

from refless.extensions.papers.bca import bca_interval


@pytest.mark.parametrize("shape", ["normal", "skewed"])
def test_against_scipy(shape) -> None:
    """The same resamples give scipy's interval."""
    rng = np.random.default_rng(5)
    sample = rng.normal(size=25) if shape == "normal" else rng.exponential(size=25)
    found = stats.bootstrap((sample,), np.mean, method="BCa", n_resamples=999, random_state=rng)
    left_out = (sample.sum() - sample) / 24
    ours = bca_interval(found.bootstrap_distribution, float(sample.mean()), left_out)
    assert ours == pytest.approx(tuple(found.confidence_interval), rel=0.01)


def test_nothing_varies() -> None:
    """A constant sample has that constant for an interval; no sample has none."""
    ones = np.ones(50)
    assert bca_interval(ones, 1.0, np.ones(4)) == (1.0, 1.0)
    assert np.isnan(bca_interval(np.full(5, np.nan), 1.0, np.ones(4))).all()
