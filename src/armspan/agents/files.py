r"""Agents on disk: one file with a JSON header, raw arrays and a checksum; nothing in it is ever executed.

16 bytes    "armspan agent 1\n"
8 bytes    length of the header, little-endian
header      JSON, UTF-8: policy, settings, names, and for each array its name, type and shape
arrays      one after the other, C order, little-endian
32 bytes    SHA-256 of all before
"""

import dataclasses
import hashlib
import json
import math
import os
from collections import deque
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from armspan._files import as_path, whole_file
from armspan._typing import FloatArray
from armspan.agents.lineage import begun
from armspan.agents.settings import Settings
from armspan.agents.state import SMALLEST_PAIRED, State
from armspan.errors import BadFile, NotApplicable
from armspan.kernels import agent_layout as layout

if TYPE_CHECKING:
    from armspan.agents.agent import Agent

MAGIC = b"armspan agent 1\n"
ANY_VERSION = b"armspan agent "
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


def save(content: bytes, path: str | os.PathLike[str]) -> None:
    """Write an agent; an older file stays until all is written."""
    with whole_file(path) as file:
        file.write(content)


def encoded(agent: "Agent", state: State) -> bytes:
    """The content of an agent's file."""
    settings = {field.name: getattr(agent.settings, field.name) for field in dataclasses.fields(Settings)}
    del settings["schedule"]
    kind = type(agent.policy)
    if not kind.__module__.startswith("armspan."):
        raise NotApplicable(f"only agents of armspan's own policies can be saved, got {kind.__name__}")
    params = dataclasses.asdict(agent.policy)
    if callable(params.get("alpha")):
        raise NotApplicable("an agent whose alpha is a function cannot be saved: a file holds numbers, no code")
    arrays = _arrays(state, [] if state.window is None else list(state.window.entries))
    header = {
        "policy": {"kind": type(agent.policy).__name__, "params": params},
        "settings": settings,
        "arms": [_encoded(name) for name in state.names],
        "feature_names": None if agent.feature_names is None else [_encoded(name) for name in agent.feature_names],
        "held": state.lineage.held(state),
        "decisions": state.lineage.decisions(state),
        "arrays": [[name, array.dtype.str, list(array.shape)] for name, array in arrays.items()],
    }
    text = json.dumps(header, allow_nan=False, default=float).encode()
    parts = (MAGIC, len(text).to_bytes(8, "little"), text, *(_bytes(array) for array in arrays.values()))
    content = b"".join(parts)
    return content + hashlib.sha256(content).digest()


def read(path: str | os.PathLike[str]) -> Stored:
    """The content of a file that `save` wrote; anything else is refused in a sentence."""
    try:
        with as_path(path).open("rb") as file:
            start = file.read(len(MAGIC))
            return decoded(start + file.read() if start == MAGIC else start, str(path))
    except OSError as error:
        raise BadFile(f"cannot read {path}: {error.strerror or error}") from None


def decoded(given: bytes, name: str) -> Stored:
    """What `encoded` has made, checked; anything else is refused in a sentence with this name."""
    content, start = memoryview(given), bytes(given[: len(MAGIC)])
    if start != MAGIC:
        if start.startswith(ANY_VERSION):
            raise BadFile(f"{name} was written by another version of armspan, in a format that this one does not know")
        raise BadFile(f"{name} is not an armspan agent")
    if len(content) < len(MAGIC) + 40 or hashlib.sha256(content[:-32]).digest() != bytes(content[-32:]):
        raise BadFile(f"{name} is damaged: its checksum is wrong")
    try:
        stored = _parsed(content)
        _check_sizes(stored)
        return stored
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError, OverflowError):
        raise BadFile(f"{name} is damaged: its parts do not fit together") from None


def restore(agent: "Agent", stored: Stored) -> None:
    """Put what was learnt into a fresh agent. Room for what is not yet learnt is not touched: it costs nothing."""
    state, arrays = agent._state, stored.arrays
    _demand(bool(np.isfinite(arrays["arms"]).all()) and bool((arrays["arms"][:, layout.PULLS] >= 0).all()))
    _demand(bool((arrays["arms"][:, layout.LAMBDA] > 0).all()) and bool(np.isfinite(arrays["room"]).all()))
    state.arms[:] = arrays["arms"]
    used = _used(state.arms)
    for k, (start, size) in enumerate(zip(np.cumsum(used) - used, used, strict=True)):
        state.room[k, :size] = arrays["room"][start : start + size]
    _check_room(state)
    counters = arrays["counters"]
    _demand(bool((np.isfinite(counters) & (counters >= 0)).all()))
    state.head[list(COUNTERS)] = counters
    _restore_memory(state, arrays["slots"], arrays["memory"])
    x, who, y = arrays["window_x"], arrays["window_arms"], arrays["window_rewards"]
    _demand(bool(np.isfinite(x).all() and np.isfinite(y).all()) and bool(((who >= 0) & (who < len(state.names))).all()))
    state.forgotten = max(agent.rewards - 1, 0) // max(agent.settings.decay[0], 1)
    if state.window is not None:
        entries = zip(who, x, y, strict=True)
        state.window.entries = deque((state.names[k], row.copy(), float(value)) for k, row, value in entries)
    _demand(sum(stored.decisions.values()) <= agent.decisions)
    state.lineage = begun(state, stored.held, stored.decisions)


def _check_sizes(stored: Stored) -> None:
    """All arrays are as large as the settings say: only then is room made for them."""
    settings, arrays, K = Settings(**stored.settings), stored.arrays, len(stored.arms)
    d, shapes = settings.width, {name: array.shape for name, array in stored.arrays.items()}
    kinds = {"slots": "int64", "window_arms": "int64", "room": settings.dtype}
    _demand(all(array.dtype == kinds.get(name, "float64") for name, array in arrays.items()))
    _demand(shapes["counters"] == (len(COUNTERS),) and shapes["arms"] == (K, layout.THETA + d))
    modes = arrays["arms"][:, layout.MODE]
    full = d < SMALLEST_PAIRED or settings.forgets or settings.dtype != "float64"  # from the start, as in State.clear
    _demand(bool(np.isin(modes, np.arange(-1, 0 if full else (d + 1) // 2)).all()))
    _demand(shapes["room"] == (_used(arrays["arms"]).sum(),))
    remembered, kept = len(arrays["slots"]), len(arrays["window_arms"])
    _demand(shapes["slots"] == (remembered,) and shapes["memory"] == (remembered, layout.FEATURES + d))
    _demand(shapes["window_arms"] == shapes["window_rewards"] == (kept,) and shapes["window_x"] == (kept, d))
    _demand(kept <= (settings.window or 0))


def _check_room(state: State) -> None:
    """V and V⁻¹ have positive diagonals, V's at least the ridge, and no bound of λ_min(V) is above them.

    An agent that forgets takes back what it has added, and rounding may leave V a little below the ridge.
    """
    d, ridge, full = state.settings.width, state.settings.ridge, state.arms[:, layout.MODE] < 0
    diagonal = np.cumsum(np.arange(1, d + 1)) - 1 + d
    least = state.room[full][:, diagonal + d * (d + 1) // 2].min(axis=1, initial=np.inf)
    _demand(bool((least > 0).all()) and bool((state.room[full][:, diagonal] > 0).all()))
    if not state.settings.forgets:
        _demand(bool((least >= ridge * (1 - 1e-3)).all()))
        _demand(bool((state.arms[full, layout.LAMBDA] <= least * (1 + 1e-6)).all()))
    _demand(bool((state.arms[~full, layout.LAMBDA] <= ridge).all()))


def _arrays(state: State, window: list[tuple[Hashable, FloatArray, float]]) -> dict[str, Any]:
    used, d = _used(state.arms), state.settings.width
    slots = np.flatnonzero(state.memory[:, layout.ARM] != layout.EMPTY)
    return {
        "counters": state.head[list(COUNTERS)],
        "arms": state.arms,
        "room": np.concatenate([state.room[k, :size] for k, size in enumerate(used)]),
        "slots": slots,
        "memory": state.memory[slots],
        "window_arms": np.array([state.place[arm] for arm, _, _ in window], dtype=np.int64),
        "window_x": np.array([x for _, x, _ in window]).reshape(len(window), d),
        "window_rewards": np.array([y for _, _, y in window], dtype=np.float64),
    }


def _used(arms: Any) -> Any:
    """How much of its room each arm uses."""
    d, modes = arms.shape[1] - layout.THETA, arms[:, layout.MODE].astype(np.int64)
    return np.where(modes < 0, d + d * (d + 1), d + 2 * np.maximum(modes, 0) * d)


def _restore_memory(state: State, slots: Any, entries: Any) -> None:
    _demand(np.unique(slots).size == len(slots) and 2 * len(slots) <= len(state.memory))
    _demand(not len(slots) or (slots.min() >= 0 and slots.max() < len(state.memory)))
    _demand(bool(np.isfinite(entries).all()) and bool((entries[:, layout.SEEN] >= 0).all()))
    _demand(bool(np.isin(entries[:, layout.ARM], np.arange(len(state.names))).all()))
    state.memory[slots] = entries
    state.head[layout.REMEMBERED] = len(slots)


def _parsed(content: memoryview) -> Stored:
    start = len(MAGIC) + 8
    length = int.from_bytes(content[len(MAGIC) : start], "little")
    _demand(start + length <= len(content) - 32)
    header = json.loads(bytes(content[start : start + length]))
    place, arrays = start + length, {}
    for name, dtype, shape in header["arrays"]:
        _demand(dtype in ("<f8", "<f4", "<i8") and all(isinstance(size, int) and size >= 0 for size in shape))
        size = math.prod(shape) * np.dtype(dtype).itemsize
        _demand(place + size <= len(content) - 32)
        arrays[name] = np.frombuffer(content[place : place + size], dtype=dtype).reshape(shape)
        place += size
    _demand(place == len(content) - 32)
    names, features = header["arms"], header["feature_names"]
    return Stored(
        policy={"kind": str(header["policy"]["kind"]), "params": dict(header["policy"]["params"])},
        settings=dict(header["settings"]),
        arms=[_decoded(name) for name in names],
        feature_names=None if features is None else [_decoded(name) for name in features],
        arrays=arrays,
        held=_counts(header.get("held", {bytes(content[-32:]).hex(): 1})),
        decisions=_counts(header.get("decisions", {})),
    )


def _counts(entries: Any) -> dict[str, int]:
    """Whose rewards or decisions the file holds; older ones do not say it, and are known by their checksum."""
    counts = dict(entries)
    _demand(all(isinstance(name, str) and type(count) is int and count >= 0 for name, count in counts.items()))
    return counts


def _encoded(name: Any) -> Any:
    """A name in JSON: numbers, texts, True, False and None as they are, tuples as lists."""
    if isinstance(name, np.integer | np.floating | np.bool | np.str_):
        name = name.item()
    if isinstance(name, tuple):
        return [_encoded(part) for part in name]
    if name is None or isinstance(name, str | bool | int) or (isinstance(name, float) and math.isfinite(name)):
        return name
    raise NotApplicable(f"names in a file must be texts, numbers or tuples of them, got {name!r:.60}")


def _decoded(name: Any) -> Hashable:
    _demand(name is None or isinstance(name, str | bool | int | float | list))
    return tuple(_decoded(part) for part in name) if isinstance(name, list) else name


def _bytes(array: Any) -> bytes:
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).tobytes()


def _demand(condition: bool) -> None:
    if not condition:
        raise ValueError
