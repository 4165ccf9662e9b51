"""Settings that hold for every test."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "refless",
    deadline=None,  # shared cores stall, and compiled loops are slow the first time
    max_examples=60,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("refless")
