"""An agent that lives through what a run of a simulation meets, so that both can be compared step by step."""

from typing import Any

import numpy as np


def lived_through(agent: Any, env: Any, seed: int, steps: int) -> list[float]:
    """The agent's pseudo-regret after each step, in the contexts and with the noise of run 0."""
    block, lost, curve = env.stream(seed, np.array([0])).draw(0, steps), 0.0, []
    for i in range(steps):
        c = block.contexts[0, i]
        arm = agent.choose(block.x[c])
        agent.update(arm, block.x[c], block.means[c, arm] + block.noise[0, i])
        lost += block.losses[c, arm]
        curve.append(lost)
    return curve
