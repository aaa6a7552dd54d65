"""The agent of every family: a policy plus what it has learnt in one run, by the same functions as a simulation."""

import threading
import uuid
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from armspan import _validate
from armspan._interrupts import Uninterrupted
from armspan._typing import FloatArray, IntArray
from armspan.agents import container, forks
from armspan.agents.answers import Decision, Scores
from armspan.agents.arms import distinct, eligible, place_of
from armspan.agents.inputs import Inputs
from armspan.agents.policies import described, loader
from armspan.errors import InvalidParameter, NotApplicable
from armspan.kernels.block import Block
from armspan.kernels.family import Family, Field, usual_sizes
from armspan.theory import Schedule

AHEAD = 1024
"""Steps whose knobs are computed at a time."""
FEWEST_CONTEXTS = 16
"""Contexts that there is room for at first, where each is learnt on its own."""
ONE_RUN = np.zeros(1, dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class FamilySettings:
    """What an agent of any family is made with and keeps for life; see `armspan.agents.Settings`."""

    n_features: int
    intercept: bool = False
    seed: int = 0
    feature_bound: float | None = None
    long_contexts: str = "warn"
    largest: float = 1e100

    def __post_init__(self) -> None:
        _validate.whole("n_features", self.n_features, at_least=1)
        _validate.whole("seed", self.seed, at_least=0, at_most=2**64 - 1)
        _validate.one_of("long_contexts", self.long_contexts, ("warn", "clip", "raise"))
        if not isinstance(self.intercept, bool):
            raise InvalidParameter(f"intercept must be True or False, got {self.intercept!r:.60}")

    @property
    def width(self) -> int:
        """Features with the intercept."""
        return self.n_features + self.intercept


class FamilyAgent:
    """A policy plus what it has learnt. Made by `policy.agent(...)`, for policies without a tuned agent.

    Contexts are given as to `armspan.agents.Agent`, and `choose`, `update`, `decide`, `scores`, `save` are used alike.
    A policy that draws its choices does so from the agent's own stream: the same seed gives the same.
    """

    def __init__(
        self,
        settings: FamilySettings,
        arms: Sequence[Hashable],
        *,
        policy: Any,
        family: Family,
        knobs: Mapping[str, float | Schedule],
        sizes: Mapping[str, int] | None = None,
        feature_names: Sequence[Any] | None = None,
    ) -> None:
        self.settings, self.policy = settings, policy
        self._family, self._sizes = family, sizes or {}
        self._numbers = {name: knob for name, knob in knobs.items() if not callable(knob)}
        self._schedules: list[Any] = [knobs[name] for name in family.knobs]
        self._ahead: tuple[int, list[FloatArray]] = (0, [])
        self._inputs = Inputs(settings, feature_names)
        self._lock = threading.RLock()
        self._place = {name: k for k, name in enumerate(distinct(arms))}
        self._contexts: dict[bytes, int] = {}
        self.decisions = self.rewards = 0
        self._origins = {uuid.uuid4().hex}
        try:
            self._state = self._fresh(len(self._place), FEWEST_CONTEXTS if self._by_context else 0)
        except (MemoryError, ValueError):
            raise InvalidParameter("arms and n_features must fit into memory, and do not") from None
        forks.remember(self)

    @property
    def arms(self) -> tuple[Hashable, ...]:
        """Names of the arms, in order."""
        return tuple(self._place)

    @property
    def feature_names(self) -> tuple[Any, ...] | None:
        """Names of the features, where they were given or a frame has told them."""
        return self._inputs.feature_names

    @property
    def too_long(self) -> int:
        """How many contexts came that were longer than feature_bound."""
        return self._inputs.too_long

    @property
    def nbytes(self) -> int:
        """Bytes of all that was learnt."""
        return sum(array.nbytes for array in self._state)

    # Choosing

    def choose(self, x: Any, *, only: Sequence[Hashable] | None = None) -> Any:
        """The arm for this context; only : names of the arms that are eligible, all if left out."""
        with self._lock, Uninterrupted():
            return self.arms[self._chosen(x, only, self._knobs())]

    def decide(self, x: Any, *, only: Sequence[Hashable] | None = None) -> Decision:
        """`choose`, with the probability that this arm had."""
        with self._lock, Uninterrupted():
            knobs = self._knobs()
            share = self._shares(x, only, knobs)
            k = self._chosen(x, only, knobs)
            return Decision(self.arms[k], float(share[k]))

    def propensities(self, x: Any, *, only: Sequence[Hashable] | None = None) -> FloatArray:
        """The probability (K,) of each arm, were this context to be decided now. Decides nothing."""
        with self._lock:
            return self._shares(x, only, self._knobs())

    def scores(self, x: Any) -> Scores:
        """Mean, width and index of every arm for one context; where indices are drawn, their means. Decides nothing."""
        with self._lock:
            seen = self._family.seen(self._state, self._block(x), self._knobs())
            return Scores(self.arms, seen.mean, seen.width, seen.index)

    # Learning

    def update(self, arm: Any, x: Any, reward: Any) -> None:
        """Learn the reward of an arm that was chosen for x, whenever it comes.

        x : as it was given to choose. Or many at once: arm a sequence of n names, x (n, d) or (n, K, d), reward (n,);
        they are learnt all or, if anything is wrong with them, not at all.
        """
        with self._lock, Uninterrupted():
            if hasattr(reward, "__len__") and not isinstance(reward, str) and getattr(reward, "ndim", None) != 0:
                rows = self._inputs.batch(x, len(self._place))
                values = _validate.array("reward", reward, shape=(len(rows),))
                if isinstance(arm, str) or not hasattr(arm, "__len__") or len(arm) != len(rows):
                    raise InvalidParameter(f"arm must have {len(rows)} entries, one per reward, got {arm!r:.60}")
                todo = [(self._arm(one), row, float(value)) for one, row, value in zip(arm, rows, values, strict=True)]
            else:
                reward = float(reward) if isinstance(reward, bool | np.bool_) else reward
                todo = [(self._arm(arm), x, _validate.real("reward", reward))]
            if any(abs(y) >= self.settings.largest for _, _, y in todo):
                raise InvalidParameter(f"reward must be below {self.settings.largest:g}")
            self.policy.check_rewards([y for _, _, y in todo])
            blocks = [self._block(row, remember=True) for _, row, _ in todo]
            for (k, _, y), block in zip(todo, blocks, strict=True):
                self._family.learn_once(block, self._state, k, y)
                self.rewards += 1
                if self._family.tidy is not None and self.rewards % self._family.every == 0:
                    self._family.tidy(self._state)

    # Arms

    def add_arm(self, name: Hashable) -> None:
        """A new arm, at the end of the order, of which nothing is known."""
        with self._lock, Uninterrupted():
            names = distinct([*self._place, name])
            self._take_over(names, np.array([*range(len(names) - 1), -1]))

    def remove_arm(self, name: Hashable) -> None:
        """Forget an arm and all that was learnt of it alone."""
        with self._lock, Uninterrupted():
            gone = self._arm(name)
            if len(self._place) == 1:
                raise InvalidParameter("remove_arm must leave at least one arm")
            rows = np.delete(np.arange(len(self._place)), gone)
            self._take_over([self.arms[row] for row in rows], rows)

    def merge(self, other: "FamilyAgent") -> None:
        """Learn what another agent has learnt, as if this one had seen it, to rounding; it must know the same arms.

        Agents that share a past (copies, from one file) are refused: what both hold would count twice.
        """
        if not isinstance(other, FamilyAgent):
            raise InvalidParameter(f"other must be an agent of the same kind, got {other!r:.60}")
        if self.policy != other.policy or self.settings.width != other.settings.width or self.arms != other.arms:
            raise InvalidParameter("other must have the same policy, features and arms")
        if self._origins & other._origins:
            raise NotApplicable("agents that share a past cannot be merged: what both hold would count twice")
        if self._by_context or not any(field.sums for field in self._family.fields):
            raise NotApplicable(f"agents of {self.policy.name} cannot be merged")
        first, second = sorted((self, other), key=id)
        with first._lock, second._lock, Uninterrupted():
            before = self._fresh(len(self._place), 0)
            for field, mine, theirs, at_first in zip(
                self._family.fields, self._state, other._state, before, strict=True
            ):
                if field.sums:
                    mine += theirs - at_first
            if self._family.tidy is not None:
                self._family.tidy(self._state)
            self.rewards += other.rewards
            self.decisions += other.decisions
            self._origins |= other._origins

    # Keeping

    def copy(self) -> "FamilyAgent":
        """The same agent once more, that learns for itself from now on."""
        twin: FamilyAgent = loader()(self.to_bytes())
        return twin

    def save(self, path: Any) -> None:
        """Write one file, whole or not at all; `armspan.load_agent` reads it."""
        container.save(self.to_bytes(), path)

    def to_bytes(self) -> bytes:
        """What `save` writes."""
        with self._lock:
            header = {
                "policy": container.policy_header(self.policy),
                "family": self._family.name,
                "settings": asdict(self.settings),
                "arms": container.encoded_names(self.arms),
                "feature_names": container.encoded_names(self.feature_names),
                "decisions": self.decisions,
                "rewards": self.rewards,
                "origins": sorted(self._origins),
            }
            arrays = dict(zip((field.name for field in self._family.fields), self._state, strict=True))
            arrays["contexts"] = np.frombuffer(b"".join(self._contexts))
            arrays["context_sizes"] = np.array([len(key) // 8 for key in self._contexts], dtype=np.int64)
            return container.pack(header, arrays)

    def restore(self, content: container.Content) -> None:
        """Put what was learnt into this fresh agent; raises one of `container.DAMAGE` where it does not fit."""
        header, arrays = content.header, content.arrays
        contexts, sizes = arrays["contexts"], arrays["context_sizes"]
        container.demand(contexts.dtype == np.float64 and contexts.ndim == 1 and bool(np.isfinite(contexts).all()))
        container.demand(sizes.dtype == np.int64 and sizes.ndim == 1 and bool((sizes > 0).all()))
        container.demand(int(sizes.sum()) == contexts.size and (self._by_context or not sizes.size))
        keys = [row.tobytes() for row in np.split(contexts, np.cumsum(sizes)[:-1])] if sizes.size else []
        known = {key: number for number, key in enumerate(keys)}
        container.demand(len(known) == len(keys))
        if self._by_context:
            n = arrays[self._family.fields[0].name].shape[1]
            container.demand(len(known) <= n)
            self._state = self._fresh(len(self._place), n)
        for field, array in zip(self._family.fields, self._state, strict=True):
            stored = arrays[field.name]
            container.demand(stored.shape == array.shape and stored.dtype == array.dtype)
            container.demand(bool(np.isfinite(stored).all()))
        for field, array in zip(self._family.fields, self._state, strict=True):
            array[:] = arrays[field.name]
        counted = header["decisions"], header["rewards"]
        container.demand(all(type(count) is int and 0 <= count < 2**53 for count in counted))
        container.demand(all(isinstance(origin, str) for origin in header["origins"]) and len(header["origins"]) > 0)
        self._contexts, self._origins = known, set(header["origins"])
        self.decisions, self.rewards = counted

    @staticmethod
    def from_bytes(content: bytes) -> "FamilyAgent":
        """The agent that `to_bytes` was called on: as `armspan.load_agent`, and as safe."""
        agent: FamilyAgent = loader()(content)
        return agent

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return loader(), (self.to_bytes(),)

    def __repr__(self) -> str:
        sizes = f"{len(self._place)} arms, {self.settings.n_features} features"
        counts = f"{self.decisions:,} decisions, {self.rewards:,} rewards"
        return f"<Agent of {described(self.policy)}: {sizes}, {counts}>"

    # Inside

    @property
    def _by_context(self) -> bool:
        """Whether each context is learnt on its own."""
        return any("n" in field.shape for field in self._family.fields)

    def _arm(self, name: Hashable) -> int:
        return place_of(self._place, name)

    def _after_fork(self) -> None:
        self._lock = threading.RLock()

    def _fresh(self, n_arms: int, n_contexts: int) -> Any:
        """What is known before anything is seen."""
        state = self._family.empty(1, **usual_sizes(n_arms, self.settings.width, n_contexts, self._sizes))
        self._family.fresh(state, self._numbers)
        return state

    def _knobs(self) -> list[float]:
        """The knobs of the next decision."""
        t = max(self.decisions, self.rewards) + 1
        first, values = self._ahead
        if not values or not first <= t < first + AHEAD:
            steps = np.arange(t, t + AHEAD)
            first, values = self._ahead = t, [np.asarray(schedule(steps)) for schedule in self._schedules]
        return [float(value[t - first]) for value in values]

    def _block(self, x: Any, *, remember: bool = False) -> Block:
        """One step of one run with this context; remember : make room for it, where contexts are learnt one by one."""
        K = len(self._place)
        rows, _ = self._inputs.context(x, K)
        if self.settings.intercept:
            rows = np.concatenate([rows, np.ones((len(rows), 1))], axis=1)
        features = np.ascontiguousarray(np.broadcast_to(rows, (K, self.settings.width)))[None]
        number = self._number(rows, remember=remember) if self._by_context else 0
        self._inputs.keep_names()
        return Block(
            np.uint64(self.settings.seed),
            self.decisions,
            ONE_RUN,
            np.array([[number]]),
            features,
            np.zeros((1, K)),
            np.zeros((1, K)),
            np.zeros((1, 1)),
            0.0,
        )

    def _number(self, rows: FloatArray, *, remember: bool) -> int:
        """Which of the known contexts this is; a new one has the first free number."""
        rows = rows[:1] if (rows == rows[0]).all() else rows
        key = (rows + 0.0).tobytes()  # which makes -0.0 0.0
        number = self._contexts.get(key, len(self._contexts))
        room = self._state[0].shape[1]
        if number >= room:
            larger = self._fresh(len(self._place), 2 * room)
            for new, old in zip(larger, self._state, strict=True):
                new[:, :room] = old
            self._state = larger
        if remember:
            self._contexts[key] = number
        return number

    def _chosen(self, x: Any, only: Sequence[Hashable] | None, knobs: list[float]) -> int:
        """The row of the arm that is chosen; counts the decision."""
        block, rows = self._block(x), np.flatnonzero(eligible(self._place, only))
        state = self._state if only is None else self._part(rows)
        block = block if only is None else _with_arms(block, rows)
        k = self._family.choose_once(block, tuple(np.array([knob]) for knob in knobs), state)
        self.decisions += 1
        return int(rows[k])

    def _shares(self, x: Any, only: Sequence[Hashable] | None, knobs: list[float]) -> FloatArray:
        block, rows = self._block(x), np.flatnonzero(eligible(self._place, only))
        result = np.zeros(len(self._place))
        result[rows] = self._family.seen(self._part(rows), _with_arms(block, rows), knobs).share
        return result

    def _axis(self, field: Field) -> int:
        """Which axis of a field goes over the arms, -1 if none does."""
        each = "KA" if "A" not in self._sizes else "K"
        return max(field.shape.find(letter) for letter in each)

    def _part(self, rows: IntArray) -> Any:
        """What is known of some of the arms."""
        parts = []
        for field, array in zip(self._family.fields, self._state, strict=True):
            axis = self._axis(field)
            parts.append(array if axis < 0 else np.ascontiguousarray(np.take(array, rows, axis=axis + 1)))
        return type(self._state)(*parts)

    def _take_over(self, names: list[Hashable], rows: IntArray) -> None:
        """Go on with these arms; rows (K,) tells which row of the present ones each continues, -1 for none."""
        room = self._state[0].shape[1] if self._by_context else 0
        state, known = self._fresh(len(names), room), np.flatnonzero(rows >= 0)
        for field, new, old in zip(self._family.fields, state, self._state, strict=True):
            axis = self._axis(field) + 1
            if axis == 0:
                new[:] = old
            else:
                np.moveaxis(new, axis, 0)[known] = np.moveaxis(old, axis, 0)[rows[known]]
        self._state, self._place = state, {name: k for k, name in enumerate(names)}


def _with_arms(block: Block, rows: IntArray) -> Block:
    """The block for some of the arms alone."""
    zeros = np.zeros((1, rows.size))
    return block._replace(x=np.ascontiguousarray(block.x[:, rows]), means=zeros, losses=zeros)
