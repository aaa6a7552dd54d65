"""What a policy is: a frozen description of how to choose. It names its family and its knobs; engines run families."""

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, Never, Protocol, Self

import numpy as np

from armspan import _validate
from armspan._docstrings import with_inherited_parameters
from armspan._typing import FloatArray, IntArray
from armspan.environments import Environment
from armspan.errors import InvalidParameter, NotApplicable
from armspan.theory import Schedule

if TYPE_CHECKING:
    from armspan.kernels.block import Block, Tally


COMPILED = ("family", "learner")
EVERY = (*COMPILED, "reference")
"""Forms of a policy, by what a class states them with: what engines compile, and these and the naive one."""


class Bounds(Protocol):
    """What a policy must be told about a problem; it may have feature_bound, parameter_bound and noise_scale too."""

    @property
    def name(self) -> str:
        """For messages."""
        ...

    @property
    def n_features(self) -> int:
        """The number of features."""
        ...


@dataclass(frozen=True)
class Application:
    """What a policy is told about an application: its sizes; noise is 1-subgaussian unless the policy knows better.

    Contexts may recur, and nobody knows how many there are.
    """

    n_features: int
    n_arms: int = 1
    name: str = "an agent"
    noise_scale: float = 1.0
    n_contexts: int | None = 0
    late: ClassVar[bool] = False
    elsewhere: ClassVar[str] = ""  # bounds of an agent can be given to its policy alone


def features_of(n_features: Any, feature_names: Any) -> int:
    """How many features an agent has: as many as are given, or named."""
    if n_features is None and feature_names is not None and hasattr(feature_names, "__len__"):
        n_features = len(feature_names)
    return _validate.whole("n_features", n_features, at_least=1)


class Learner(Protocol):
    """The compiled form of a policy: all runs of a chunk at once, a block of steps at a time.

    One that learns rewards only when they come, where the environment is `late`, says `late = True`.
    """

    def advance(self, block: "Block", marks: IntArray, curve: FloatArray, tally: "Tally") -> None:
        """Live through the block; write the pseudo-regret after marks (M,) steps to curve (R, M); count in tally."""
        ...


class Chance:
    """What a policy draws itself in one run: the same numbers as its compiled form."""

    def __init__(self, seed: int, run: int) -> None:
        self._seed, self._run = np.uint64(seed), run

    def normals(self, step: int, n: int) -> FloatArray:
        """Independent N(0, 1), one per arm, in step 1, 2, …."""
        from armspan.kernels.sampling import normals

        return np.asarray(normals(self._seed, self._run, step - 1, n))

    def uniform(self, step: int) -> float:
        """A number in (0, 1), for a choice by probabilities in step 1, 2, …."""
        from armspan.kernels.sampling import uniform

        return float(uniform(self._seed, self._run, step - 1))


class Reference(Protocol):
    """The naive, readable form of a policy: one run, one step at a time, to check the compiled form against.

    One that draws numbers has an attribute `chance`, which is set before its first step. One that chooses by chance has
    `probabilities` (K,) instead of `index`, with the same parameters.

    One that may learn for an agent says `learns_late = True`. Its `update` uses neither what was asked last nor the
    number of the context, and where it raises, it has changed nothing. It may have `estimates`, from x to mean and
    width (K,) of every arm, and `take_over`, see `KernelReference`.
    """

    def index(self, x: FloatArray, context: int, step: int) -> FloatArray:
        """The numbers (K,), of which the largest wins, for features x (K, d)."""
        ...

    def update(self, arm: int, x: FloatArray, context: int, reward: float) -> None:
        """Learn the reward of the arm that was pulled; x (K, d) as given to index."""
        ...


@dataclass(frozen=True, kw_only=True)
class Policy(ABC):
    """A frozen description of how to choose an arm; what is learnt lives elsewhere.

    A subclass with its own `reference` states its family again if that reference chooses as the family does. One that
    does not do so is another policy: no engine runs the family in its place. So with every method that `heeds` names:
    no form that does not heed it runs in place of a subclass that overrides it.

    Parameters
    ----------
    label : str, optional
        The name in results and figures, if the policy's own name is not enough.
    """

    title: ClassVar[str]
    family: ClassVar[str | None] = None
    promise: ClassVar[str] = "none proved"
    assumes: ClassVar[str] = ""
    learns: ClassVar[bool] = True
    switches: ClassVar[bool] = False
    label: str | None = None

    def __init_subclass__(cls, **options: Any) -> None:
        """Each class describes its own parameters; `help` shows all of them."""
        super().__init_subclass__(**options)
        cls.__doc__ = with_inherited_parameters(cls)

    def __post_init__(self) -> None:
        if self.label is not None and not isinstance(self.label, str):
            raise InvalidParameter(f"label must be text, got {self.label!r:.60}")

    @property
    def name(self) -> str:
        """Its name in results and figures."""
        return self.label or self.title

    def agent(
        self,
        n_arms: int | None = None,
        n_features: int | None = None,
        *,
        arms: Sequence[Hashable] | None = None,
        feature_names: Sequence[Any] | None = None,
        intercept: bool = False,
        seed: int = 0,
        long_contexts: str = "warn",
        **misspelt: Never,
    ) -> Any:
        """Make a fresh agent that chooses by this policy and learns.

        Parameters
        ----------
        n_arms : int, optional
            How many arms, named 0, 1, …; give this or `arms`.
        n_features : int, optional
            d; give this or `feature_names`.
        arms : list, optional
            Names of the arms, of any hashable kind.
        feature_names : list, optional
            Names of the features, in order.
        intercept : bool, default False
            Whether to add a constant 1 to the features. l grows by it, and s must bound its weight too.
        seed : int, default 0
            Seed for breaking ties and for what the policy draws.
        long_contexts : str, default "warn"
            What to do with contexts longer than `feature_bound`: "warn" logs the first one and counts all, "clip"
            shortens them, "raise" refuses them.
        misspelt : never
            Any other name is refused in a sentence that lists the valid ones.

        Returns
        -------
        PolicyAgent
            The general agent.
        """
        self.refuse_misspelt(misspelt)
        from armspan.agents import FamilyAgent, FamilySettings, ReferenceAgent
        from armspan.agents.arms import named
        from armspan.kernels.families import family

        names = named(n_arms, arms)
        d = features_of(n_features, feature_names)
        own = self.with_intercept() if intercept is True else self
        settings = FamilySettings(
            n_features=d,
            intercept=intercept,
            seed=seed,
            feature_bound=getattr(self, "feature_bound", None),
            long_contexts=long_contexts,
        )
        if self.compiled is None:

            def make(n: int) -> Any:
                return own.late_reference(Application(settings.width, n))

            return ReferenceAgent(settings, names, policy=self, make=make, feature_names=feature_names)

        def tell(n: int) -> Any:
            application = Application(settings.width, n)
            return own.knobs(application), own.sizes(application)

        how = family(self.compiled)
        return FamilyAgent(settings, names, policy=self, family=how, tell=tell, feature_names=feature_names)

    @property
    def fixed_arms(self) -> str | None:
        """Why an agent keeps the arms that it began with, as a clause; None if arms may come and go."""
        return None

    @property
    def needs_all_arms(self) -> str | None:
        """Why an agent cannot choose among some of its arms (`only=`), as a clause; None if it can."""
        return self.fixed_arms

    @property
    def learns_from_all_arms(self) -> str | None:
        """Why a reward needs the features of all arms, as a clause; None if those of its arm are enough."""
        return None

    @property
    def tuned(self) -> bool:
        """Whether its agent is the tuned one for linear policies, and not the general one."""
        return False

    def late_reference(self, application: Any) -> Any:
        """The naive form, if an agent may learn by it: see `Reference`.

        Parameters
        ----------
        application : Application
            Sizes of the agent.
        """
        reference = self.reference(application) if self.overlooked("reference") is None else None
        if not getattr(reference, "learns_late", False):
            raise NotApplicable(f"{self.name} has no agent: it overrides what its family does")
        return reference

    def sound_reference(self, env: Environment) -> Reference:
        """The naive form, if it does all that the policy says: engines run no other.

        Parameters
        ----------
        env : Environment
            Where it will run.
        """
        overlooked = self.overlooked("reference")
        if overlooked is not None:
            raise NotApplicable(
                f"{self.name} cannot be run by its reference, which does not do what its own {overlooked} says: give "
                "it a reference of its own, or state its family again if the choices are the same"
            )
        return self.reference(env)

    def refuse_misspelt(self, given: Mapping[str, Any]) -> None:
        """Refuse options that `agent` does not know, and say which it knows.

        Parameters
        ----------
        given : dict
            The options.
        """
        if given:
            valid = [name for name in signature(type(self).agent).parameters if name not in ("self", "misspelt")]
            name = type(self).__name__
            raise InvalidParameter(f"{name}.agent has no option {sorted(given)[0]!r}; it has {', '.join(valid)}")

    def with_intercept(self) -> Self:
        """The policy for features that have a constant 1 beside them, so that l is longer."""
        l = getattr(self, "feature_bound", None)
        changed: Any = self if l is None else replace(self, feature_bound=math.hypot(l, 1.0))  # type: ignore[call-arg]
        return changed

    @property
    def compiled(self) -> str | None:
        """The family that engines may run it by; None where it has none, or a form of its own."""
        return self.family if self.overlooked("family") is None else None

    @property
    def can_switch(self) -> bool:
        """Whether its runs may switch to another rule. `Result.switched_at` says when each run did."""
        where = definer(self, "switches")
        return self.switches and all(issubclass(where, definer(self, form)) for form in ("learner", "reference"))

    @property
    def heeds(self) -> Mapping[str, Collection[str]]:
        """Methods that subclasses may override, and the forms that then do what they say.

        Forms are the "family", the "learner", the "reference", and the tuned agent's "exploration".
        """
        return {"learner": ["learner"], "reference": ["reference"], "knobs": COMPILED, "sizes": COMPILED}

    def overlooked(self, form: str) -> str | None:
        """A method that was overridden since a form was stated, which this form does not heed; None if there is none.

        A class that states its family says that all its forms make the same choices.

        Parameters
        ----------
        form : str
            "family", "learner" or "reference".
        """
        stated = definer(self, form), definer(self, "family")
        deaf = (name for name, forms in self.heeds.items() if form not in forms)
        return next((name for name in deaf if not any(issubclass(one, definer(self, name)) for one in stated)), None)

    @property
    def explains(self) -> bool:
        """Whether the events of the paper's proof can be counted in its runs."""
        from armspan.kernels.families import family

        return self.compiled is not None and family(self.compiled).explains

    def knobs(self, env: Any) -> Mapping[str, float | Schedule]:
        """What its family is told: numbers, and functions of the step.

        Parameters
        ----------
        env : Environment
            Where it will run.
        """
        return {}

    def sizes(self, env: Any) -> Mapping[str, int]:
        """Sizes of its family's fields, where they are not the usual K arms, d features and n contexts.

        Parameters
        ----------
        env : Environment
            Where it will run.
        """
        return {}

    def check_rewards(self, rewards: Sequence[float]) -> None:
        """Refuse rewards that it cannot learn from, before an agent learns any; most policies learn from all.

        Parameters
        ----------
        rewards : list of float
            The rewards.
        """
        return

    def within(self, horizon: int) -> Self:
        """The policy for a number of steps: if it must know how many and was not told, it is told now.

        Parameters
        ----------
        horizon : int
            Steps of a run.
        """
        told: Any = {"horizon": horizon}
        return replace(self, **told) if getattr(self, "horizon", horizon) is None else self

    def too_slow(self, env: Environment) -> str | None:
        """Why it takes longer than many others together in an environment, as a sentence; None if it does not.

        Parameters
        ----------
        env : Environment
            Where it would run.
        """
        return None

    def check(self, env: Environment, horizon: int) -> None:
        """Refuse an environment or a number of steps that it cannot run in.

        Parameters
        ----------
        env : Environment
            Where it would run.
        horizon : int
            Steps of a run.
        """
        for knob in self.knobs(env).values():
            if callable(knob):
                knob(np.array([horizon]))

    def learner(self, env: Environment, runs: IntArray) -> Learner | None:
        """The compiled form for some runs; None if there is none, and the reference is run instead.

        Parameters
        ----------
        env : Environment
            Where it will run.
        runs : (R,) array
            Numbers of the runs.
        """
        if self.compiled is None:
            return None
        from armspan.kernels.families import family  # imports numba, which takes its time
        from armspan.policies.learners import FamilyLearner, LateLearner

        how = family(self.compiled)
        late = env.late and self.learns
        if late and how.late is None:
            return None
        return (LateLearner if late else FamilyLearner)(how, env, runs, self.knobs(env), self.sizes(env))

    @abstractmethod
    def reference(self, env: Environment) -> Reference:
        """The naive form, for one run.

        Parameters
        ----------
        env : Environment
            Where it will run.
        """


def definer(policy: Policy, name: str) -> type:
    """The class whose own attribute this is."""
    return next(one for one in type(policy).__mro__ if name in vars(one))


def bound(policy: Policy, name: str, env: Bounds) -> float:
    """A bound (l, s or R) from the policy, or else from the environment."""
    own = getattr(policy, name)
    value = getattr(env, name, None) if own is None else own
    if value is None:
        elsewhere = getattr(env, "elsewhere", f", or to {env.name}")
        raise NotApplicable(f"{policy.name} needs {name}: give it to the policy{elsewhere}")
    return float(value)
