"""Least values of smooth functions above bounds, found in few evaluations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from refless.registry.arrays import FloatArray

STEPS = 60  # of a search
ENOUGH = 5e-7  # relative gain that no step has to promise
SHORTENED = 0.3  # share that remains of a step without gain
LEAST_CURVATURE = 1e-9  # in a direction, of the whole
DAMPED = 0.2  # least share of the curvature that a step may tell

Change = tuple[FloatArray, FloatArray]  # of the point, of the gradient


class Local(NamedTuple):
    """A function at a point."""

    value: float  # infinite if it is undefined
    gradient: FloatArray
    curvature: FloatArray  # roughly the Hessian matrix, positive semi-definite


def minimized(
    function: Callable[[FloatArray], Local], start: FloatArray, lower: FloatArray
) -> FloatArray:
    """A point, nowhere below `lower`, at which no step promises a relative gain of 5e-7.

    Steps are those of Newton within the bounds, with the function's own rough curvature in the
    place of the Hessian matrix, corrected by what earlier steps met.
    """
    point = start
    here = function(point)
    changes: list[Change] = []
    for _ in range(STEPS):
        curvature = _corrected(here.curvature, changes)
        step = _newton_step(here.gradient, curvature, lower - point)
        promise = -float(here.gradient @ step)
        while promise > ENOUGH * max(1.0, abs(here.value)):
            there = function(point + step)
            if there.value < here.value:
                break
            step = SHORTENED * step
            promise = SHORTENED * promise
        else:
            return point
        changes.append((step, there.gradient - here.gradient))
        point = point + step
        here = there
    return point


def _newton_step(
    gradient: FloatArray, curvature: FloatArray, lower: FloatArray
) -> FloatArray:
    """The step, nowhere below `lower`, to the least value of the parabola: a least-squares fit."""
    from scipy.optimize import nnls

    sizes, vectors = np.linalg.eigh(curvature)
    roots = np.sqrt(np.maximum(sizes, LEAST_CURVATURE * sizes[-1]))
    design = roots[:, None] * vectors.T
    target = -(vectors.T @ gradient) / roots - design @ lower
    above, _ = nnls(design, target, maxiter=100 * len(lower))
    return np.asarray(lower + above)


def _corrected(curvature: FloatArray, changes: Sequence[Change]) -> FloatArray:
    """The curvature that these steps met, else as given (Nocedal and Wright 2006, 18.14-18.16)."""
    floor = LEAST_CURVATURE * max(1.0, float(np.trace(curvature)))
    curvature = curvature + floor * np.eye(len(curvature))
    for step, change in changes:
        bent = curvature @ step
        known = float(step @ bent)
        met = float(step @ change)
        if met < DAMPED * known:
            share = (1.0 - DAMPED) * known / (known - met)
            change = share * change + (1.0 - share) * bent
        curvature = curvature - np.outer(bent, bent / known)
        curvature += np.outer(change, change / float(step @ change))
    return curvature
