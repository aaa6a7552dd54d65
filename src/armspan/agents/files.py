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
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from armspan._files import whole_file
from armspan._typing import FloatArray
from armspan.agents.settings import Settings
from armspan.agents.state import State
from armspan.agents.window import Window
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


def save(agent: "Agent", state: State, window: Window | None, path: str | os.PathLike[str]) -> None:
    """Write the agent; an older file stays until all is written."""
    settings = {field.name: getattr(agent.settings, field.name) for field in dataclasses.fields(Settings)}
    del settings["schedule"]
    kind = type(agent.policy)
    if not kind.__module__.startswith("armspan."):
        raise NotApplicable(f"only agents of armspan's own policies can be saved, got {kind.__name__}")
    params = dataclasses.asdict(agent.policy)
    if callable(params.get("alpha")):
        raise NotApplicable("an agent whose alpha is a function cannot be saved: a file holds numbers, no code")
    arrays = _arrays(state, [] if window is None else list(window.entries))
    header = {
        "policy": {"kind": type(agent.policy).__name__, "params": params},
        "settings": settings,
        "arms": [_encoded(name) for name in state.names],
        "feature_names": None if agent.feature_names is None else [_encoded(name) for name in agent.feature_names],
        "arrays": [[name, array.dtype.str, list(array.shape)] for name, array in arrays.items()],
    }
    text = json.dumps(header, allow_nan=False, default=float).encode()
    digest = hashlib.sha256()
    with whole_file(path) as file:
        for part in (MAGIC, len(text).to_bytes(8, "little"), text, *(_bytes(array) for array in arrays.values())):
            digest.update(part)
            file.write(part)
        file.write(digest.digest())


def read(path: str | os.PathLike[str]) -> Stored:
    """The content of a file that `save` wrote; anything else is refused in a sentence."""
    try:
        content = memoryview(Path(path).read_bytes())
    except OSError as error:
        raise BadFile(f"cannot read {path}: {error.strerror or error}") from None
    except (TypeError, ValueError):
        raise BadFile(f"cannot read {path!r:.60}: it is not a path") from None
    if bytes(content[: len(MAGIC)]) != MAGIC:
        if bytes(content[: len(ANY_VERSION)]) == ANY_VERSION:
            raise BadFile(f"{path} was written by another version of armspan, in a format that this one does not know")
        raise BadFile(f"{path} is not an armspan agent")
    if len(content) < len(MAGIC) + 40 or hashlib.sha256(content[:-32]).digest() != bytes(content[-32:]):
        raise BadFile(f"{path} is damaged: its checksum is wrong")
    try:
        return _parsed(content)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError, OverflowError):
        raise BadFile(f"{path} is damaged: its parts do not fit together") from None


def restore(agent: "Agent", stored: Stored) -> None:
    """Put what was learnt into a fresh agent."""
    state, arrays = agent._state, stored.arrays
    K, d, half = len(state.names), state.settings.width, (state.settings.width + 1) // 2
    _demand(arrays["arms"].shape == state.arms.shape and np.isfinite(arrays["arms"]).all())
    modes, pulls = arrays["arms"][:, layout.MODE], arrays["arms"][:, layout.PULLS]
    _demand(bool(np.isin(modes, np.arange(-1, half)).all()) and bool((pulls >= 0).all()))
    _demand(bool((arrays["arms"][:, layout.LAMBDA] > 0).all()))
    _demand(all(arrays[name].dtype == np.int64 for name in ("slots", "window_arms")))
    state.arms[:] = arrays["arms"]
    used = _used(state)
    _demand(arrays["room"].shape == (used.sum(),) and arrays["room"].dtype == state.room.dtype)
    _demand(bool(np.isfinite(arrays["room"]).all()))
    state.room[:] = 0.0
    for k, (start, size) in enumerate(zip(np.cumsum(used) - used, used, strict=True)):
        state.room[k, :size] = arrays["room"][start : start + size]
    _check_room(state)
    counters = arrays["counters"]
    _demand(counters.shape == (len(COUNTERS),) and bool((np.isfinite(counters) & (counters >= 0)).all()))
    state.head[list(COUNTERS)] = counters
    _restore_memory(state, arrays["slots"], arrays["memory"])
    x, who, y = arrays["window_x"], arrays["window_arms"], arrays["window_rewards"]
    _demand(x.shape == (len(who), d) and y.shape == who.shape and bool(np.isfinite(x).all() and np.isfinite(y).all()))
    _demand(bool(((who >= 0) & (who < K)).all()) and len(who) <= (state.settings.window or 0))
    agent._forgotten = agent.rewards // max(agent.settings.decay[0], 1)
    if agent._window is not None:
        entries = zip(who, x, y, strict=True)
        agent._window.entries = deque((state.names[k], row.copy(), float(value)) for k, row, value in entries)


def _check_room(state: State) -> None:
    """V and V⁻¹ have positive diagonals, V's at least the ridge, and no bound of λ_min(V) is above them."""
    d, ridge, full = state.settings.width, state.settings.ridge, state.arms[:, layout.MODE] < 0
    diagonal = np.cumsum(np.arange(1, d + 1)) - 1 + d
    least = state.room[full][:, diagonal + d * (d + 1) // 2].min(axis=1, initial=np.inf)
    _demand(bool((least >= ridge * (1 - 1e-3)).all()) and bool((state.room[full][:, diagonal] > 0).all()))
    _demand(bool((state.arms[full, layout.LAMBDA] <= least * (1 + 1e-6)).all()))
    _demand(bool((state.arms[~full, layout.LAMBDA] <= ridge).all()))


def _arrays(state: State, window: list[tuple[Hashable, FloatArray, float]]) -> dict[str, Any]:
    used, d = _used(state), state.settings.width
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


def _used(state: State) -> Any:
    """How much of its room each arm uses."""
    d, modes = state.settings.width, state.arms[:, layout.MODE].astype(np.int64)
    return np.where(modes < 0, state.room.shape[1], d + 2 * np.maximum(modes, 0) * d)


def _restore_memory(state: State, slots: Any, entries: Any) -> None:
    _demand(slots.ndim == 1 and entries.shape == (len(slots), state.memory.shape[1]))
    _demand(np.unique(slots).size == len(slots) and 2 * len(slots) <= len(state.memory))
    _demand(not len(slots) or (slots.min() >= 0 and slots.max() < len(state.memory)))
    _demand(bool(np.isfinite(entries).all()) and bool((entries[:, layout.SEEN] >= 0).all()))
    _demand(bool(np.isin(entries[:, layout.ARM], np.arange(len(state.names))).all()))
    state.memory[:] = 0.0
    state.memory[:, layout.ARM] = layout.EMPTY
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
    )


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
