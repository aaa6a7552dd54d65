"""Where regret will level off, and when exploration will be over: a rough estimate from the problem alone.

It is the *quiet run*: the same problem without noise, with the exploration that the noise would have asked for,
averaged over a few draws of the contexts. Noise makes real regret somewhat larger. It is a heuristic, not a bound; the
theorem's own constant is larger by many orders of magnitude.
"""

import copy
from dataclasses import dataclass

import numpy as np

from armspan.environments import Environment, Gaussian
from armspan.policies import LinUCBd
from armspan.simulation import simulate

QUIET_RUNS = 8


@dataclass(frozen=True)
class Forecast:
    """The quiet run's regret at the horizon, and the step after which it pulled no suboptimal arm (median)."""

    regret: float
    last_exploration: float


def forecast(env: Environment, *, horizon: int, seed: int = 1) -> Forecast:
    """The quiet run of LinUCB-d: no noise, α_t as if there were."""
    quiet = copy.copy(env)
    quiet.noise = Gaussian(0.0)
    policy = LinUCBd(noise_scale=env.noise_scale)
    result = simulate(quiet, policy, horizon=horizon, runs=QUIET_RUNS, seed=seed, events=True)
    return Forecast(float(result.mean()[0, -1]), float(np.median(result.events[policy.name].last_suboptimal)))
