"""How well an arm is known: λ_min(V), its growth with every pull, and the direction in which least was seen."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from armspan.agents.answers import ArmKnowledge
from armspan.agents.state import State
from armspan.diversity.moments import weakest
from armspan.kernels import agent_layout as layout


def arm_knowledge(state: State, k: int, feature_names: Sequence[Any]) -> ArmKnowledge:
    """What is known of arm k."""
    name, V, ridge = state.names[k], state.gram(k), state.settings.ridge
    pulls = float(state.arms[k, layout.PULLS])
    smallest, directions = weakest(V)
    direction, seen, usual = directions[:, 0], smallest - ridge, float(np.trace(V)) / len(V) - ridge
    if not pulls:
        return ArmKnowledge(name, 0.0, smallest, 0.0, direction, f"arm {name} was never pulled")
    how = "not at all" if seen < 1e-9 * ridge else f"{seen / usual:.1%} of the mean"
    words = f"arm {name} was seen least along feature {feature_names[int(np.argmax(np.abs(direction)))]}: {how}"
    return ArmKnowledge(name, pulls, smallest, seen / pulls, direction, words)
