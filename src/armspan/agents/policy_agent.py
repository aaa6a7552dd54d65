"""What the agents of all policies have in common, but for the tuned one; what they know, and how, is their own."""

import math
import threading
import uuid
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from armspan import _html, _validate
from armspan._interrupts import Uninterrupted
from armspan._text import counted
from armspan._typing import BoolArray, FloatArray, IntArray
from armspan.agents import container, forks
from armspan.agents.answers import LIKELY, Decision, Decisions, Exploration, Scores
from armspan.agents.arms import distinct, eligible, place_of
from armspan.agents.inputs import Inputs, too_long
from armspan.agents.policies import described, loader
from armspan.errors import InvalidParameter, NotApplicable

SCORED = ("mean", "width", "index")
ONLY_TUNED = ("explain", "diversity", "eigenvalues", "statistics", "delta", "top")
"""What `armspan.Agent` can do and these cannot."""


@dataclass(frozen=True, kw_only=True)
class FamilySettings:
    """The settings of an agent without a tuned form, which it keeps for life.

    Parameters
    ----------
    n_features : int
        d, without the intercept.
    intercept : bool, default False
        Whether a constant 1 is added to the features.
    seed : int, default 0
        Seed for breaking ties and for what the policy draws.
    feature_bound : float, optional
        l, the length that contexts should not exceed; None if it is not known.
    long_contexts : str, default "warn"
        What to do with longer contexts: "warn" logs the first one and counts all, "clip" shortens them, "raise" refuses
        them.
    largest : float, default 1e100
        The largest length of features and the largest reward that are accepted.
    """

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


class Reward(NamedTuple):
    """One reward to learn: the row of its arm, the features (K, width) that were shown, and the reward itself.

    mark : what its choice was, if that is known, see `armspan.kernels.marked`.
    """

    arm: int
    features: FloatArray
    value: float
    mark: Any = None


class PolicyAgent(ABC):
    """A policy plus what it has learnt, for policies without a tuned agent. `policy.agent(...)` makes one.

    Contexts are given as to `armspan.Agent`, and `choose`, `update`, `decide`, `scores` and `save` are used in the same
    way. A policy that draws its choices draws them from the agent's own stream: the same seed gives the same choices.

    Parameters
    ----------
    settings : FamilySettings
        How the agent learns.
    arms : list
        Names of the arms.
    policy : Policy
        The policy that made it.
    feature_names : list, optional
        Names of the features, in order. If left out, the first context that has names sets them.
    """

    _reach = math.inf
    """How long a context with its intercept may be to be learnt."""
    _shown: frozenset[bool] = frozenset()
    """Whether the contexts that were asked about had one row per arm: True or False, or both if some had."""

    def __init__(
        self,
        settings: FamilySettings,
        arms: Sequence[Hashable],
        *,
        policy: Any,
        feature_names: Sequence[Any] | None = None,
    ) -> None:
        self.settings, self.policy = settings, policy
        self._inputs = Inputs(settings, feature_names)
        self._lock = threading.RLock()
        self._place = {name: k for k, name in enumerate(distinct(arms))}
        self.decisions = self.rewards = 0
        self._squares = 0.0
        self._origins = {uuid.uuid4().hex}
        forks.remember(self)

    @property
    def arms(self) -> tuple[Hashable, ...]:
        """Names of the arms, in order."""
        return tuple(self._place)

    @property
    def feature_names(self) -> tuple[Any, ...] | None:
        """Names of the features, if they were given or a context had some."""
        return self._inputs.feature_names

    @property
    def too_long(self) -> int:
        """How many contexts have been longer than feature_bound."""
        return self._inputs.too_long

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes of everything that it has learnt."""

    # Choosing

    def choose(self, x: Any, *, only: Sequence[Hashable] | None = None) -> Any:
        """Choose an arm for this context.

        Parameters
        ----------
        x : (d,) or (K, d) array
            The context: features that all arms share, or one row per arm.
        only : list, optional
            Names of the arms that may be chosen; all of them if left out. Some policies need all of them
            (`needs_all_arms`).

        Returns
        -------
        hashable
            The name of the chosen arm.
        """
        with self._question(x) as features:
            return self._choose(features, only)

    def decide(self, x: Any, *, only: Sequence[Hashable] | None = None) -> Decision:
        """Choose an arm, as `choose` does, and give the probability with which it was chosen.

        Parameters
        ----------
        x : (d,) or (K, d) array
            The context, as in `choose`.
        only : list, optional
            Names of the arms that may be chosen; all of them if left out.

        Returns
        -------
        Decision
            The arm and its propensity.
        """
        with self._question(x) as features:
            return self._decide(features, only)

    def choose_many(self, X: Any, *, only: Sequence[Hashable] | None = None) -> list[Any]:
        """Choose an arm for each of many contexts, one after the other, all with what is known now.

        Parameters
        ----------
        X : (n, d) or (n, K, d) array
            The contexts.
        only : list, optional
            Names of the arms that may be chosen; all of them if left out.

        Returns
        -------
        list
            The name of the arm for each context.
        """
        with self._questions(X) as contexts:
            return [self._choose(features, only) for features in contexts]

    def decide_many(self, X: Any, *, only: Sequence[Hashable] | None = None) -> Decisions:
        """Choose an arm for each of many contexts, as `choose_many` does, with the probability of each choice.

        Parameters
        ----------
        X : (n, d) or (n, K, d) array
            The contexts.
        only : list, optional
            Names of the arms that may be chosen; all of them if left out.

        Returns
        -------
        Decisions
            The arms and their propensities (n,).
        """
        with self._questions(X) as contexts:
            made = [self._decide(features, only) for features in contexts]
        marks = [one.mark for one in made]
        share = np.array([one.propensity for one in made])
        return Decisions([one.arm for one in made], share, None if None in marks else marks)

    def propensities(self, x: Any, *, only: Sequence[Hashable] | None = None) -> FloatArray:
        """The probability of each arm if a decision were made for this context now. Nothing is decided.

        Parameters
        ----------
        x : (d,) or (K, d) array
            The context, as in `choose`.
        only : list, optional
            Names of the arms that may be chosen; all of them if left out.

        Returns
        -------
        (K,) array
            Probabilities, in the order of `arms`.
        """
        with self._question(x) as features:
            return self._shares(features, only)

    def scores(self, x: Any) -> Scores:
        """Mean, width and index of every arm for one context. Nothing is decided.

        If the policy draws its indices, these are their means. If it estimates no rewards, mean and index are the
        probabilities of the arms, and widths are 0.

        Parameters
        ----------
        x : (d,) or (K, d) array
            The context, as in `choose`.

        Returns
        -------
        Scores
            One entry per arm.
        """
        with self._question(x) as features:
            return self._scores(features)

    def scores_many(self, X: Any) -> Scores:
        """Mean, width and index of every arm for many contexts, each as if it came next. Nothing is decided.

        Parameters
        ----------
        X : (n, d) or (n, K, d) array
            The contexts.

        Returns
        -------
        Scores
            One row per context, one column per arm.
        """
        with self._questions(X) as contexts:
            found = [self._scores(features) for features in contexts]
        return Scores(self.arms, *(np.array([getattr(one, what) for one in found]) for what in SCORED))

    def exploration(self, x: Any, *, only: Sequence[Hashable] | None = None) -> Exploration:
        """Whether a decision for x would explore. Nothing is decided.

        Parameters
        ----------
        x : (d,) or (K, d) array
            The context, as in `choose`.
        only : list, optional
            Names of the arms that may be chosen; all of them if left out.

        Returns
        -------
        Exploration
            The most probable arm, the one with the largest mean, and the probability that another one is chosen.
        """
        with self._question(x) as features:
            share, scores, allowed = self._shares(features, only), self._scores(features), self._eligible(only)
        mean, index = (np.where(allowed, np.nan_to_num(v, nan=-np.inf), -np.inf) for v in (scores.mean, scores.index))
        chosen, greedy = int(np.argmax(share)), int(np.argmax(mean))
        reaches = (index > mean) & (index > 2 * mean[greedy] - index[greedy])
        others = tuple(self.arms[k] for k in np.flatnonzero(reaches | (share > LIKELY)) if k != greedy)
        strays = float(share[mean < mean[greedy]].sum())
        return Exploration(bool(others), self.arms[chosen], self.arms[greedy], others, strays)

    # Learning

    def update(self, arm: Any, x: Any, reward: Any, *, mark: Any = None) -> None:
        """Learn the reward of an arm that was chosen for x, whenever it comes.

        Several rewards may be learnt in one call. Either all of them are learnt or, if anything is wrong with one,
        none.

        Parameters
        ----------
        arm : hashable, or a list of n names
            The arm that was chosen.
        x : (d,) or (K, d) array; for many (n, d) or (n, K, d)
            The context as it was given to `choose`.
        reward : float, or (n,) array
            The reward that came of it.
        mark : int or tuple, or a list of n, optional
            The `mark` of the decision, if `decide` gave one. With it, a reward that comes after later decisions is
            learnt exactly. If left out, the reward is taken to be that of the latest decision that it can belong to.
        """
        with self._lock, Uninterrupted() as hold:
            if hasattr(reward, "__len__") and not isinstance(reward, str) and getattr(reward, "ndim", None) != 0:
                todo = self._batch(arm, x, reward, mark)
            else:
                reward = float(reward) if isinstance(reward, bool | np.bool_) else reward
                k, y = self._arm(arm), _validate.real("reward", reward)
                rows = self._inputs.context(x, len(self._place))[0]
                self._check_all_arms(len(rows))
                todo = [Reward(k, self._wide(rows), y, self._known_mark(mark, k))]
            if any(abs(one.value) >= self.settings.largest for one in todo):
                raise InvalidParameter(f"reward must be below {self.settings.largest:g}")
            self.policy.check_rewards([one.value for one in todo])
            longest = max(float(np.linalg.norm(one.features[one.arm])) for one in todo)
            if longest > self._reach:
                raise InvalidParameter(too_long(longest, self._reach, "float64"))
            self._learn(todo, hold)
            self._inputs.keep_names()
            if getattr(self.policy, "learnt", None) and self._inputs.looks_at_sizes:
                self._inputs.add_sizes(np.array([one.features[one.arm] for one in todo]))

    # Arms

    def add_arm(self, name: Hashable) -> None:
        """Add an arm about which nothing is known, at the end of the order.

        Whatever the policy computes from the number of arms is computed again. A policy whose schedule or experts are
        made for its arms (`fixed_arms`) refuses; so does `remove_arm`.

        Parameters
        ----------
        name : hashable
            The name of the new arm.
        """
        with self._lock, Uninterrupted():
            names = distinct([*self._place, name])
            self._check_arms_may_change()
            self._take_over(names, np.array([*range(len(names) - 1), -1]))

    def remove_arm(self, name: Hashable) -> None:
        """Forget an arm and everything that was learnt about it alone.

        Parameters
        ----------
        name : hashable
            The arm.
        """
        with self._lock, Uninterrupted():
            gone = self._arm(name)
            if len(self._place) == 1:
                raise InvalidParameter("remove_arm must leave at least one arm")
            self._check_arms_may_change()
            names, rows = self.arms, np.delete(np.arange(len(self._place)), gone)
            self._take_over([names[row] for row in rows], rows)

    def merge(self, other: Self) -> None:
        """Learn what another agent has learnt, as if this one had seen it (up to rounding).

        Agents that share a past (copies, agents from one file) are refused, because what both hold would count twice.
        Where what is learnt from a reward depends on what the agent knew (forced pulls, stages, experts), the sums of
        both are added up, which is not what one agent would have learnt from all the rewards.

        Parameters
        ----------
        other : PolicyAgent
            An agent of the same policy that has the same arms in the same order.
        """
        if not isinstance(other, type(self)):
            raise InvalidParameter(f"other must be an agent of the same kind, got {other!r:.60}")
        if self.policy != other.policy or self.settings.width != other.settings.width or self.arms != other.arms:
            raise InvalidParameter("other must have the same policy, features and arms")
        if self._origins & other._origins:
            raise NotApplicable("agents that share a past cannot be merged: what both hold would count twice")
        if not (self._can_merge and other._can_merge):
            raise NotApplicable(f"agents of {self.policy.name} cannot be merged")
        first, second = sorted((self, other), key=id)
        with first._lock, second._lock, Uninterrupted():
            self._join(other)
            self.rewards += other.rewards
            self._squares += other._squares
            self.decisions += other.decisions
            self._origins |= other._origins

    # Keeping

    def copy(self) -> Self:
        """Copy the agent. From now on the copy learns separately."""
        twin: Self = loader()(self.to_bytes())
        return twin

    def save(self, path: Any) -> None:
        """Write the agent to one file, whole or not at all; `armspan.load_agent` reads it.

        Parameters
        ----------
        path : str or path
            The file. An older one with this name stays in place until the new one is complete.
        """
        container.save(self.to_bytes(), path)

    def to_bytes(self) -> bytes:
        """What `save` writes, as bytes."""
        with self._lock:
            header = {
                "policy": container.policy_header(self.policy),
                "family": self.policy.compiled,
                "settings": asdict(self.settings),
                "arms": container.encoded_names(self.arms),
                "feature_names": container.encoded_names(self.feature_names),
                "decisions": self.decisions,
                "rewards": self.rewards,
                "squares": self._squares,
                "origins": sorted(self._origins),
            }
            return container.pack(header, self._arrays())

    def restore(self, content: container.Content) -> None:
        """Put what was learnt into this fresh agent; raises one of `container.DAMAGE` where it does not fit.

        Parameters
        ----------
        content : Content
            The parts of a file.
        """
        header = content.header
        self._restore(content.arrays)
        counted, squares = (header["decisions"], header["rewards"]), header.get("squares", 0.0)
        container.demand(all(type(count) is int and 0 <= count < 2**53 for count in counted))
        container.demand(all(isinstance(origin, str) for origin in header["origins"]) and len(header["origins"]) > 0)
        self._origins = set(header["origins"])
        container.demand(isinstance(squares, float) and 0 <= squares < math.inf)
        (self.decisions, self.rewards), self._squares = counted, squares

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """The agent that `to_bytes` was called on. It reads the same as `armspan.load_agent`, just as safely.

        Parameters
        ----------
        content : bytes
            What `to_bytes` returned.
        """
        agent: Self = loader()(content)
        return agent

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name in ONLY_TUNED:
                who = "only those of LinUCBd, LinUCB and Greedy, without shared=True, have it"
                raise AttributeError(f"agents of {described(self.policy)} have no {name}: {who}")
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return loader(), (self.to_bytes(),)

    def __repr__(self) -> str:
        sizes = f"{counted(len(self._place), 'arm')}, {counted(self.settings.n_features, 'feature')}"
        counts = f"{counted(self.decisions, 'decision')}, {counted(self.rewards, 'reward')}"
        return f"<Agent of {described(self.policy)}: {sizes}, {counts}>"

    def _repr_html_(self) -> str:
        arms, features = map(str, self.arms[: _html.MOST_ROWS]), self.feature_names or (self.settings.n_features,)
        rows = [
            ("arms", ", ".join(arms) + (", …" if len(self._place) > _html.MOST_ROWS else "")),
            ("features", ", ".join(map(str, features))),
            ("decisions", f"{self.decisions:,}"),
            ("rewards", f"{self.rewards:,}"),
        ]
        return _html.shown("Agent", ("policy", described(self.policy)), rows)

    # What each kind of agent does in its own way

    @abstractmethod
    def _chosen(self, features: FloatArray, only: Sequence[Hashable] | None) -> tuple[int, Any]:
        """The row of the arm that is chosen for features (K, width), and the mark of that choice, None if none."""

    @abstractmethod
    def _shares(self, features: FloatArray, only: Sequence[Hashable] | None) -> FloatArray:
        """The probability (K,) of each arm."""

    def _decided(self, features: FloatArray, only: Sequence[Hashable] | None) -> tuple[int, Any, FloatArray]:
        """Both at once."""
        share = self._shares(features, only)
        return *self._chosen(features, only), share

    @property
    @abstractmethod
    def _marks(self) -> Sequence[int] | None:
        """The whole numbers that a mark may be, none if there are no marks; None where they are probabilities."""

    @abstractmethod
    def _scores(self, features: FloatArray) -> Scores:
        """See `scores`."""

    @abstractmethod
    def _learn(self, todo: list[Reward], hold: Uninterrupted) -> None:
        """Learn rewards that have been looked at, all or none, and count them. hold : what keeps Ctrl-C waiting."""

    @abstractmethod
    def _take_over(self, names: list[Hashable], rows: IntArray) -> None:
        """Go on with these arms; rows (K,) tells which row of the present ones each continues, -1 for none."""

    @property
    @abstractmethod
    def _can_merge(self) -> bool:
        """Whether what two agents know can be put together."""

    @abstractmethod
    def _join(self, other: Any) -> None:
        """Learn what the other knows."""

    @abstractmethod
    def _arrays(self) -> dict[str, Any]:
        """All that was learnt, for a file."""

    @abstractmethod
    def _restore(self, arrays: dict[str, Any]) -> None:
        """Take over what `_arrays` gave; see `restore`."""

    # Inside

    def _choose(self, features: FloatArray, only: Sequence[Hashable] | None) -> Any:
        with Uninterrupted():
            k, _ = self._chosen(features, only)
            self.decisions += 1
        return self.arms[k]

    def _decide(self, features: FloatArray, only: Sequence[Hashable] | None) -> Decision:
        with Uninterrupted():
            k, mark, share = self._decided(features, only)
            self.decisions += 1
        return Decision(self.arms[k], float(share[k]), mark)

    def _arm(self, name: Hashable) -> int:
        return place_of(self._place, name)

    def _eligible(self, only: Sequence[Hashable] | None) -> BoolArray:
        """Which arms (K,) may be chosen."""
        allowed, why = eligible(self._place, only), self.policy.needs_all_arms
        if why is not None and not allowed.all():
            raise NotApplicable(f"only must name all arms of {self.policy.name}, because {why}, got {only!r:.60}")
        return allowed

    def _check_arms_may_change(self) -> None:
        name, why = self.policy.name, self.policy.fixed_arms
        if why is not None:
            raise NotApplicable(
                f"arms of {name} can be neither added nor removed, because {why}; start a new agent with the new arms"
            )

    def _after_fork(self) -> None:
        self._lock = threading.RLock()

    def _count(self, *values: float) -> None:
        """Count rewards that were learnt."""
        self.rewards += len(values)
        self._squares += sum(y * y for y in values)

    @property
    def _unit(self) -> float:
        """The root mean square of the rewards: how large they are. Less after an older file, which does not say."""
        return math.sqrt(self._squares / self.rewards) if self.rewards else 0.0

    @property
    def _step(self) -> int:
        """The t of the next decision, for schedules."""
        return max(self.decisions, self.rewards) + 1

    @contextmanager
    def _question(self, x: Any) -> Iterator[FloatArray]:
        """What a context shows of every arm, (K, width); the block is locked, and names are kept unless it fails."""
        with self._lock:
            rows = self._inputs.context(x, len(self._place))[0]
            yield self._wide(rows)
            self._note_shown(len(rows) > 1)

    @contextmanager
    def _questions(self, X: Any) -> Iterator[list[FloatArray]]:
        """The same for many contexts, of which all are looked at first."""
        with self._lock:
            rows = self._many(X)
            yield [self._wide(np.atleast_2d(row)) for row in rows]
            self._note_shown(rows.ndim == 3)

    def _note_shown(self, per_arm: bool) -> None:
        """What was asked about has been answered: contexts look like that, and have these names."""
        self._inputs.keep_names()
        self._shown |= {per_arm}

    def _check_all_arms(self, rows: int) -> None:
        """Refuse one row of features where the policy needs those of all arms, and they have features of their own."""
        why = self.policy.learns_from_all_arms
        if why and self._shown == {True} and rows == 1 < len(self._place):
            shape = f"({len(self._place)}, {self.settings.n_features})"
            raise NotApplicable(f"{self.policy.name} needs x as it was given to choose, of shape {shape}: {why}")

    def _wide(self, rows: FloatArray) -> FloatArray:
        """Rows (1, d) that arms share, or (K, d), as one row (width,) per arm; it is not the user's array."""
        if rows.shape == (len(self._place), self.settings.width):
            return rows
        features = np.ones((len(self._place), self.settings.width))
        features[:, : rows.shape[1]] = rows  # and the 1 of the intercept, if there is one
        return features

    def _many(self, X: Any) -> FloatArray:
        """Many contexts, (n, d) or (n, K, d)."""
        rows = self._inputs.batch(X, len(self._place))
        rows = _validate.array("X", rows, shape=rows.shape)  # a batch is not looked through there
        if np.abs(rows).max() >= self.settings.largest / self.settings.n_features:
            raise InvalidParameter(f"X must be small enough, below {self.settings.largest:g} in length")
        rows.flags.writeable = True  # as single contexts are: kernels are compiled for that
        return rows

    def _known_mark(self, mark: Any, k: int) -> Any:
        """A mark as learning needs it, of a reward of arm k; None if there is none."""
        if mark is None:
            return None
        known = self._marks
        if known is None:
            p = _validate.array("mark", mark, shape=(len(self._place),))
            if not (p.min() >= 0 and p[k] > 0 and abs(p.sum() - 1) < 1e-6):
                raise InvalidParameter(f"mark must be the probabilities that decide gave, got {mark!r:.60}")
            return p
        if not known:
            raise InvalidParameter(f"mark must be left out: {self.policy.name} learns any reward alike")
        if isinstance(mark, bool) or not isinstance(mark, int | np.integer) or mark not in known:
            numbers = ", ".join(map(str, known))
            raise InvalidParameter(f"mark must be what decide gave, one of {numbers}, got {mark!r:.60}")
        return int(mark)

    def _batch(self, arms: Any, X: Any, rewards: Any, marks: Any) -> list[Reward]:
        """Many rewards, each with features of its own."""
        rows = self._many(X)
        values = _validate.array("reward", rewards, shape=(len(rows),))
        if isinstance(arms, str) or not hasattr(arms, "__len__") or len(arms) != len(rows):
            raise InvalidParameter(f"arm must have {len(rows)} entries, one per reward, got {arms!r:.60}")
        _validate.unmasked("arm", arms)
        marks = [None] * len(rows) if marks is None else marks
        if not hasattr(marks, "__len__") or len(marks) != len(rows):
            raise InvalidParameter(f"mark must have {len(rows)} entries, one per reward, got {marks!r:.60}")
        self._check_all_arms(1 if rows.ndim == 2 else rows.shape[1])
        shown, places = [self._wide(np.atleast_2d(row)) for row in rows], [self._arm(name) for name in arms]
        return [
            Reward(k, x, float(y), self._known_mark(mark, k))
            for k, x, y, mark in zip(places, shown, values, marks, strict=True)
        ]
