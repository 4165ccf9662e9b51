"""Registries: what the core has, then what packages offer."""

import pytest

from refless.registry.offered import Registry, offered


def test_it_is_a_mapping_whose_others_are_loaded_when_asked_for() -> None:
    """The core's names come first, and one of them wins over an entry point of its name."""
    assert "ratpred" in offered("estimators")
    plain = Registry("estimators", {"gp": int})
    assert next(iter(plain)) == "gp"
    assert len(plain) == len([*plain]) == len({*plain})
    assert plain["gp"] is int
    assert plain["ratpred"].__name__ == "RatPred"
    assert Registry("estimators", {"ratpred": int})["ratpred"] is int


def test_a_name_that_nobody_offers() -> None:
    """It is no key."""
    with pytest.raises(KeyError):
        Registry("estimators", {"gp": int})["other"]
