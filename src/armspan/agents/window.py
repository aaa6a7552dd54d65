"""The last rewards of an agent with a sliding window: what it still knows, and nothing else."""

from collections import deque
from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np

from armspan._typing import FloatArray
from armspan.kernels import agent_layout as layout
from armspan.kernels import agent_learning

if TYPE_CHECKING:
    from armspan.agents.state import State


OFTEN = 256
"""What was learnt and taken back leaves its rounding behind; so every arm is learnt afresh once in so many rewards, or
once in a window where that is longer."""
MOST = {"float32": 3.0, "float64": 100.0}
"""xᵀV⁻¹x, after x is gone, of one that was three quarters, or 99 %, of what V knew of a direction: its rounding would
stay behind, so many times larger."""


class Window:
    """At most `size` entries (arm, x with its intercept, reward), the oldest first."""

    def __init__(self, size: int, d: int) -> None:
        self.size, self.d = size, d
        self.entries: deque[tuple[Hashable, FloatArray, float]] = deque()

    def slide(self, state: "State", arm: Hashable, x: FloatArray, reward: float) -> None:
        """Note a reward that was learnt, and take back what is now too old. Changes state."""
        self.entries.append((arm, x.copy(), reward))
        if len(self.entries) <= self.size:
            return
        while len(self.entries) > self.size:
            old, x_old, reward_old = self.entries.popleft()
            k = state.place[old]
            sound = agent_learning.unlearn(state.arms, state.store, k, x_old, reward_old)
            heavy = self._was_most(state, k, x_old) or x_old @ x_old > 1e3 * np.diag(state.gram(k)).min()
            heavy = heavy or np.abs(reward_old * x_old).max() > 1e3 * np.abs(state.store[k, : self.d]).max()
            if heavy or not sound:
                self.relearn(state, k)  # it weighed so much that its rounding would stay behind
        self._refresh(state)

    @staticmethod
    def _was_most(state: "State", k: int, x: FloatArray) -> bool:
        """Whether x, which is gone, was most of what arm k knew of a direction."""
        most = MOST[state.settings.dtype]
        return bool(x @ x > most * state.settings.ridge and x @ state.inverse(k) @ x > most)

    def _refresh(self, state: "State") -> None:
        """Learn an arm afresh if it is time for one: all in turn, and none more often than d rewards pay for."""
        K = len(state.names)
        turn, rest = divmod(int(state.head[layout.REWARDS]), max(max(OFTEN, self.size) // K, self.d))
        if rest == 0 and state.arms[turn % K, layout.PULLS] != layout.ASKED:  # that one has seen nothing, and waits
            self.relearn(state, turn % K)

    def relearn(self, state: "State", k: int) -> None:
        """Arm k afresh from what is in the window. Changes state."""
        mine = [(x, reward) for arm, x, reward in self.entries if state.place.get(arm) == k]
        X = np.array([x for x, _ in mine]).reshape(len(mine), self.d)
        state.relearn(k, X, np.array([reward for _, reward in mine]))

    def copy(self, arms: set[Hashable]) -> "Window":
        """A copy with the entries of these arms only."""
        new = Window(self.size, self.d)
        new.entries = deque(entry for entry in self.entries if entry[0] in arms)
        return new

    def remembered(self, state: "State", k: int) -> FloatArray:
        """Arm k's contexts as rows (m, 4 + d) like those of memory."""
        table: dict[bytes, FloatArray] = {}
        for arm, x, reward in self.entries:
            if state.place.get(arm) == k:
                row = table.setdefault(x.tobytes(), np.concatenate([[k, 0.0, 0.0, 0.0], x]))
                row[layout.SEEN] += 1.0
                row[layout.SUM] += reward
        return np.array(list(table.values())).reshape(len(table), layout.FEATURES + self.d)
