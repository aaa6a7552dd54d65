"""What a tuned agent's file holds besides names and settings: its arrays, checked before anything is made of them."""

import dataclasses
from collections import deque
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from armspan._typing import FloatArray
from armspan.agents.container import (
    DAMAGE,
    Content,
    damaged,
    demand,
    encoded_names,
    pack,
    policy_header,
)
from armspan.agents.lineage import begun
from armspan.agents.settings import Settings
from armspan.agents.state import SMALLEST_PAIRED, State
from armspan.kernels import agent_layout as layout

COUNTERS = (layout.DECISIONS, layout.REWARDS, layout.EVALUATED)


@dataclasses.dataclass(frozen=True, eq=False)
class Stored:
    """What a file holds, checked: enough to make the agent again."""

    policy: dict[str, Any]
    settings: dict[str, Any]
    arms: list[Hashable]
    feature_names: list[Any] | None
    arrays: dict[str, Any]
    held: dict[str, int]
    decisions: dict[str, int]
    forced: int


def encoded(state: State, policy: Any, feature_names: Sequence[Any] | None) -> bytes:
    """The content of an agent's file."""
    settings = {field.name: getattr(state.settings, field.name) for field in dataclasses.fields(Settings)}
    del settings["schedule"]
    header = {
        "policy": policy_header(policy),
        "settings": settings,
        "arms": encoded_names(state.names),
        "feature_names": encoded_names(feature_names),
        "held": state.lineage.held(state),
        "decisions": state.lineage.decisions(state),
        "forced": int(state.head[layout.FORCED]),
    }
    return pack(header, _arrays(state, [] if state.window is None else list(state.window.entries)))


def checked(content: Content, name: str) -> Stored:
    """The content of a file that `encoded` wrote; anything else is refused in a sentence with this name."""
    header = content.header
    try:
        stored = Stored(
            **{part: header[part] for part in ("policy", "settings", "arms", "feature_names")},
            arrays=_with_squares(content.arrays, header["settings"]),
            forced=_count(header.get("forced", 0)),
            held=_counts(header.get("held", {content.checksum: 1})),
            decisions=_counts(header.get("decisions", {})),
        )
        _check_sizes(stored)
        return stored
    except DAMAGE:
        raise damaged(name) from None


def restore(state: State, stored: Stored) -> None:
    """Put what was learnt into a fresh state. Room for what is not yet learnt is not touched: it costs nothing."""
    arrays = stored.arrays
    known = np.delete(arrays["arms"], [] if state.settings.learnt else layout.SQUARES, axis=1)
    demand(bool(np.isfinite(known).all()) and bool((arrays["arms"][:, layout.PULLS] >= 0).all()))
    demand(not (arrays["arms"][:, layout.SQUARES] < 0).any())
    demand(bool((arrays["arms"][:, layout.LAMBDA] > 0).all()) and bool(np.isfinite(arrays["room"]).all()))
    state.arms[:] = arrays["arms"]
    used, d, largest = _used(state.arms), state.settings.width, state.settings.largest
    for k, (start, size) in enumerate(zip(np.cumsum(used) - used, used, strict=True)):
        room = np.abs(arrays["room"][start : start + size])
        rows = room[d:] if state.arms[k, layout.MODE] >= 0 else room[:0]  # contexts, whose squares V is made of
        demand(room.max(initial=0.0) < largest**2 and rows.max(initial=0.0) < largest)
        state.store[k, :size] = arrays["room"][start : start + size]
    _check_store(state)
    counters = arrays["counters"]
    demand(bool((np.isfinite(counters) & (counters >= 0)).all()))
    state.head[list(COUNTERS)] = counters
    _restore_memory(state, arrays["slots"], arrays["memory"])
    x, who, y = arrays["window_x"], arrays["window_arms"], arrays["window_rewards"]
    demand(bool(np.isfinite(x).all() and np.isfinite(y).all()) and bool(((who >= 0) & (who < len(state.names))).all()))
    state.forgotten = int(max(state.head[layout.REWARDS] - 1, 0)) // max(state.settings.decay[0], 1)
    if state.window is not None:
        entries = zip(who, x, y, strict=True)
        state.window.entries = deque((state.names[k], row.copy(), float(value)) for k, row, value in entries)
    state.head[layout.FORCED] = min(stored.forced, len(state.names))
    state.recount()
    demand(sum(stored.decisions.values()) <= state.head[layout.DECISIONS])
    state.lineage = begun(state, stored.held, stored.decisions)


def _check_sizes(stored: Stored) -> None:
    """All arrays are as large as the settings say: only then is room made for them."""
    settings, arrays, K = Settings(**stored.settings), stored.arrays, len(stored.arms)
    d, shapes = settings.width, {name: array.shape for name, array in stored.arrays.items()}
    kinds = {"slots": "int64", "window_arms": "int64", "room": settings.dtype}
    demand(all(array.dtype == kinds.get(name, "float64") for name, array in arrays.items()))
    demand(shapes["counters"] == (len(COUNTERS),) and shapes["arms"] == (K, layout.THETA + d))
    modes = arrays["arms"][:, layout.MODE]
    full = d < SMALLEST_PAIRED or settings.forgets or settings.dtype != "float64"  # from the start, as in State.clear
    demand(bool(np.isin(modes, np.arange(-1, 0 if full else (d + 1) // 2)).all()))
    demand(shapes["room"] == (_used(arrays["arms"]).sum(),))
    remembered, kept = len(arrays["slots"]), len(arrays["window_arms"])
    demand(shapes["slots"] == (remembered,) and shapes["memory"] == (remembered, layout.FEATURES + d))
    demand(shapes["window_arms"] == shapes["window_rewards"] == (kept,) and shapes["window_x"] == (kept, d))
    demand(kept <= (settings.window or 0))


def _check_store(state: State) -> None:
    """V and V⁻¹ have positive diagonals, V's at least the ridge, and no bound of λ_min(V) is above them.

    An agent that forgets takes back what it has added, and rounding may leave V a little below the ridge.
    """
    d, ridge, full = state.settings.width, state.settings.ridge, state.arms[:, layout.MODE] < 0
    diagonal = np.cumsum(np.arange(1, d + 1)) - 1 + d
    least = state.store[full][:, diagonal + d * (d + 1) // 2].min(axis=1, initial=np.inf)
    demand(bool((least > 0).all()) and bool((state.store[full][:, diagonal] > 0).all()))
    if not state.settings.forgets:
        demand(bool((least >= ridge * (1 - 1e-3)).all()))
        demand(bool((state.arms[full, layout.LAMBDA] <= least * (1 + 1e-6)).all()))
    demand(bool((state.arms[~full, layout.LAMBDA] <= ridge).all()))


def _arrays(state: State, window: list[tuple[Hashable, FloatArray, float]]) -> dict[str, Any]:
    used, d, arms = _used(state.arms), state.settings.width, state.arms.copy()
    arms[:, layout.MODE] = np.maximum(arms[:, layout.MODE], layout.FULL)  # sketches are not saved
    slots = np.flatnonzero(state.memory[:, layout.ARM] != layout.EMPTY)
    return {
        "counters": state.head[list(COUNTERS)],
        "arms": arms,
        "room": np.concatenate([state.store[k, :size] for k, size in enumerate(used)]),
        "slots": slots,
        "memory": state.memory[slots],
        "window_arms": np.array([state.place[arm] for arm, _, _ in window], dtype=np.int64),
        "window_x": np.array([x for _, x, _ in window]).reshape(len(window), d),
        "window_rewards": np.array([y for _, _, y in window], dtype=np.float64),
    }


def _used(arms: Any) -> Any:
    """How much of its store each arm uses."""
    d, modes = arms.shape[1] - layout.THETA, arms[:, layout.MODE].astype(np.int64)
    return np.where(modes < 0, d + d * (d + 1), d + 2 * np.maximum(modes, 0) * d)


def _restore_memory(state: State, slots: Any, entries: Any) -> None:
    demand(np.unique(slots).size == len(slots) and 2 * len(slots) <= len(state.memory))
    demand(not len(slots) or (slots.min() >= 0 and slots.max() < len(state.memory)))
    demand(bool(np.isfinite(entries).all()) and bool((entries[:, layout.SEEN] >= 0).all()))
    demand(bool(np.isin(entries[:, layout.ARM], np.arange(len(state.names))).all()))
    state.memory[slots] = entries
    state.head[layout.REMEMBERED] = len(slots)


def _counts(entries: Any) -> dict[str, int]:
    """Whose rewards or decisions the file holds; older ones do not say it, and are known by their checksum."""
    counts = dict(entries)
    demand(all(isinstance(name, str) for name in counts))
    return {name: _count(count) for name, count in counts.items()}


def _count(value: Any) -> int:
    demand(type(value) is int and value >= 0)
    return int(value)


def _with_squares(arrays: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """The arrays of a file; one from before Σy² was kept does not know it."""
    arms, d = arrays["arms"], Settings(**settings).width
    if arms.ndim != 2 or arms.shape[1] != layout.THETA - 1 + d:
        return arrays
    return {**arrays, "arms": np.insert(arms, layout.SQUARES, np.nan, axis=1)}
