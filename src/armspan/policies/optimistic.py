"""Linear policies whose largest index wins: they have the tuned agent, and most of them the paper's schedule α_t."""

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any, ClassVar, Never

import numpy as np

from armspan import _validate
from armspan._told import warn_once
from armspan.diversity.scales import UNEQUAL, sizes_apart
from armspan.environments import Environment
from armspan.errors import InvalidParameter, NotApplicable
from armspan.policies.base import EVERY, Application, Bounds, Reference, bound, definer, features_of
from armspan.policies.linear import LinearPolicy
from armspan.policies.references.estimated import EstimatedReference
from armspan.policies.references.forgetful import ForgetfulReference
from armspan.policies.references.practical import PracticalReference
from armspan.theory import Alpha, Schedule, as_schedule, freeze, paper_alpha
from armspan.theory.forgetting import forgetting, remembered

RIDGES = {"practical": 1, "estimated": 10}
"""Kinds of exploration that follow the residuals, each a family, and what their ridge l²/d is divided by."""
TUNED = ("linear", "practical", "forgetful")
"""Families that have the tuned agent."""
UNTUNED = ("practical", "float32")
"""Sums of squares in single precision would not tell how large the noise is."""
DELTA = 0.1
"""How often the estimated radius may fail, by its model."""
LOOKED_AT = 2000
"""Contexts whose sizes are looked at where they are not a finite set."""


@dataclass(frozen=True, kw_only=True)
class IndexPolicy(LinearPolicy):
    """A linear policy whose agent is the tuned one, if that does all that the policy's family does."""

    @property
    def heeds(self) -> Mapping[str, Collection[str]]:
        return {**super().heeds, "penalty": (*EVERY, "exploration"), "exploration": ["exploration"]}

    @property
    def tuned(self) -> bool:
        stated, heeds = definer(self, "exploration"), self.heeds
        deaf = (name for name, forms in heeds.items() if "family" in forms and "exploration" not in forms)
        whole = all(issubclass(stated, definer(self, name)) for name in deaf)
        return whole and self.compiled in TUNED and not self.shared

    def agent(
        self,
        n_arms: int | None = None,
        n_features: int | None = None,
        *,
        arms: Sequence[Hashable] | None = None,
        feature_names: Sequence[Any] | None = None,
        intercept: bool = False,
        seed: int = 0,
        epsilon: float = 0.0,
        ties: str = "random",
        memory: int = 256,
        half_life: float | None = None,
        window: int | None = None,
        dtype: str = "float64",
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
            Seed for breaking ties and for ε.
        epsilon : float, default 0
            Probability of choosing at random among the arms that may be chosen.
        ties : str, default "random"
            How ties are broken: "random", or "first" for the first of the tied arms.
        memory : int, default 256
            How many (arm, context) pairs are remembered for `explain`.
        half_life : float, optional
            The number of rewards after which an old one counts half; rewards count for ever if left out.
        window : int, optional
            How many of the latest rewards are kept; all of them if left out.
        dtype : str, default "float64"
            Precision of V⁻¹ and V, "float64" or "float32".
        long_contexts : str, default "warn"
            What to do with contexts longer than `feature_bound`: "warn" logs the first one and counts all, "clip"
            shortens them, "raise" refuses them.
        misspelt : never
            Any other name is refused in a sentence that lists the valid ones.

        Returns
        -------
        Agent or PolicyAgent
            The tuned agent, which with alpha="practical" takes no `dtype`; with `shared=True`, with alpha="estimated"
            or for a subclass with a schedule of its own the general one, which takes no `epsilon`, `ties`, `memory`,
            `half_life` (give it to the policy), `window` or `dtype`.
        """
        from armspan.agents import Agent, Settings
        from armspan.agents.arms import named

        self.refuse_misspelt(misspelt)
        learnt, lasting = getattr(self, "learnt", None), getattr(self, "half_life", None)
        if not self.tuned or (learnt, dtype) == UNTUNED:
            tuned = {"epsilon": epsilon, "ties": ties, "memory": memory, "half_life": half_life, "window": window}
            usual = signature(IndexPolicy.agent).parameters
            for name, value in (tuned | {"dtype": dtype}).items():
                if value != usual[name].default:
                    raise NotApplicable(f"{name} must be left out where the agent is not tuned, got {value!r:.40}")
            plain: Any = {"arms": arms, "feature_names": feature_names, "intercept": intercept, "seed": seed}
            return super().agent(n_arms, n_features, **plain, long_contexts=long_contexts)
        if lasting is not None and half_life not in (None, lasting):
            raise InvalidParameter(f"half_life must be that of the policy, {lasting:g}, got {half_life!r:.40}")
        names, d = named(n_arms, arms), features_of(n_features, feature_names)
        own = self.with_intercept() if intercept is True else self
        application = Application(d + (intercept is True), len(names))
        bias, scale, schedule = own.exploration(application)
        settings = Settings(
            n_features=d,
            ridge=own.penalty(application),
            bias=bias,
            scale=scale,
            schedule=schedule,
            learnt=learnt is not None,
            seed=seed,
            intercept=intercept,
            epsilon=epsilon,
            ties=ties,
            memory=memory,
            half_life=half_life if lasting is None else lasting,
            window=window,
            dtype=dtype,
            feature_bound=self.feature_bound,
            long_contexts=long_contexts,
        )
        return Agent(settings, names, policy=self, feature_names=feature_names)

    def exploration(self, application: Application) -> tuple[float, float, Schedule | None]:
        """The tuned agent's α_t, as bias + scale·√log f(t), or a schedule."""
        schedule = self.schedule(application)
        return float(schedule(np.array([1]))[0]), 0.0, schedule


@dataclass(frozen=True, kw_only=True)
class OptimisticPolicy(IndexPolicy):
    """A linear policy with the paper's schedule, or another.

    Parameters
    ----------
    parameter_bound : float, optional
        s, a bound on the length of the arms' parameters. Theory: one that holds. Practice: 1.5 times the largest ‖θ̂‖ of
        a ridge regression on a log. Taken from the environment if left out.
    noise_scale : float, optional
        R, for which the noise is R-subgaussian. Theory: 1 in the paper. Practice: ½ for rewards from 0 to 1, as clicks
        are, else the standard deviation of a regression's residuals. Taken from the environment if left out.
    alpha : float, array, function, "practical" or "estimated", optional
        How much to explore; a number, an array over t or a function of t is α_t itself. Theory: the paper's
        α_t = l·s + R√((2 + d) log f(t)), if left out, which is safe and slow. Practice: "practical", which explores far
        less, and for which nothing is proved. That is R̂·√log(t + 1), where R̂ is estimated from the residuals, after
        one pull of every arm, which is repeated now and then while its reward has not come; with shared=True, after one
        pull of each of the first d arms. What is not known yet may be as large as rewards are, so it adds ȳ·w²/d to the
        index, where w² = xᵀV⁻¹x and ȳ is the root mean square of the rewards. The ridge is l²/d unless you give one.
        "estimated" is OFUL's radius for δ = 0.1 with upper estimates of R and s from what was seen; the ridge is
        l²/(10d) unless you give one. Residuals of rare clicks say too little, so tell it noise_scale=0.5 for clicks; a
        simulation with clicks does that by itself. Neither needs parameter_bound. Both expect features on about the
        same scale.
    half_life : float, optional
        The number of rewards after which an old one counts half; α_t stops growing once as many have come as count in
        the end, half_life/log 2. Rewards count for ever if left out. Theory: left out, as parameters do not drift
        there. Practice: the same; where they drift, about a quarter of the steps within which they change. Not with
        "estimated".
    """

    family: ClassVar[str | None] = "linear"
    parameter_bound: float | None = None
    noise_scale: float | None = None
    alpha: Alpha | str | None = None
    half_life: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.parameter_bound is not None:
            _validate.real("parameter_bound", self.parameter_bound, above=0)
        if self.noise_scale is not None:
            _validate.real("noise_scale", self.noise_scale, at_least=0)
        if self.half_life is not None:
            _validate.real("half_life", self.half_life, above=0)
            if isinstance(self.alpha, str) and self.alpha == "estimated":
                raise InvalidParameter('half_life must be left out with alpha="estimated", which remembers all rewards')
        if isinstance(self.alpha, str):
            if self.alpha not in RIDGES:
                words = " or ".join(f'"{kind}"' for kind in RIDGES)
                raise InvalidParameter(f"alpha must be numbers, a function, {words}, got {self.alpha!r:.40}")
        else:
            object.__setattr__(self, "alpha", freeze(self.alpha))

    @property
    def learnt(self) -> str | None:
        """How exploration follows the residuals, if it does."""
        return self.alpha if isinstance(self.alpha, str) else None

    @property
    def name(self) -> str:
        lasting = None if self.half_life is None else f"half-life {self.half_life:g}"
        return self.label or ", ".join(filter(None, (self.title, self.learnt, lasting)))

    @property
    def compiled(self) -> str | None:
        usual = super().compiled
        if usual != "linear":
            return usual
        return self.learnt or usual if self.half_life is None else "forgetful"

    @property
    def heeds(self) -> Mapping[str, Collection[str]]:
        return {**super().heeds, **({"schedule": ()} if self.learnt == "estimated" else {})}

    def penalty(self, env: Bounds) -> float:
        return super().penalty(env) / (RIDGES[self.learnt] * env.n_features if self.learnt else 1)

    def check(self, env: Environment, horizon: int) -> None:
        super().check(env, horizon)
        times = apart(env) if self.learnt else 1.0
        if times > UNEQUAL:
            warn_once(
                f"{self.name} expects features of about one scale, and those of {env.name} differ by a factor of "
                f"{times:.3g}: it may lose several times as much as it needs to; divide each feature by its largest "
                "size"
            )

    def sizes(self, env: Any) -> Mapping[str, int]:
        lasting = {} if self.half_life is None else {"s": 3, "f": 5}
        return {**super().sizes(env), **({"s": 3} if self.learnt else {}), **lasting}

    def knobs(self, env: Any) -> Mapping[str, float | Schedule]:
        if self.half_life is not None:
            every, factor = forgetting(self.half_life)
            told = {"every": float(every), "factor": factor, "memory": remembered(self.half_life)}
            return {**super().knobs(env), **told, "follows": float(self.learnt is not None)}
        if self.learnt != "estimated":
            return super().knobs(env)
        ridge = self.sound_penalty(env)
        doubt = 2 * math.log(1 / self._delta_of_one(env)) - env.n_features * math.log(ridge)
        R = self._told_noise(env)
        noise = -1.0 if R is None else R
        return {"ridge": ridge, "doubt": lambda t: np.full(t.size, doubt), "noise": lambda t: np.full(t.size, noise)}

    def reference(self, env: Environment) -> Reference:
        if self.learnt == "estimated":
            told: Any = {"delta": self._delta_of_one(env), "R": self._told_noise(env)}
            return EstimatedReference(**self.regression(env), **told)
        if self.half_life is not None:
            told = {"half_life": self.half_life, "follows": self.learnt is not None}
            return ForgetfulReference(**self.regression(env), **told)
        return PracticalReference(**self.regression(env)) if self.learnt else super().reference(env)

    def _told_noise(self, env: Any) -> float | None:
        """R where the policy is told, or rewards are clicks; otherwise it is estimated."""
        clicks = getattr(getattr(env, "noise", None), "clicks", False)
        return 0.5 if self.noise_scale is None and clicks else self.noise_scale

    def _delta_of_one(self, env: Any) -> float:
        return DELTA if self.shared else DELTA / env.n_arms

    def exploration(self, application: Application) -> tuple[float, float, Schedule | None]:
        if self.learnt:
            return 0.0, 1.0, None
        if self.alpha is None:
            l, s, R = (bound(self, name, application) for name in ("feature_bound", "parameter_bound", "noise_scale"))
            return l * s, R * math.sqrt(2 + application.n_features), None
        schedule = self.schedule(application)
        constant = isinstance(self.alpha, int | float)
        return float(schedule(np.array([1]))[0]), 0.0, None if constant else schedule

    def schedule(self, env: Bounds) -> Schedule:
        if self.half_life is None:
            return self._endless(env)
        endless, most = self._endless(env), remembered(self.half_life)
        whole = self.alpha is not None and not isinstance(self.alpha, str)  # an array has no α between two steps
        return lambda t: endless(np.minimum(t, int(most) if whole else most))

    def _endless(self, env: Bounds) -> Schedule:
        """α_t where nothing is forgotten."""
        if isinstance(self.alpha, str):
            return lambda t: np.sqrt(np.log(t + 1.0))
        if self.alpha is not None:
            return as_schedule(self.alpha)
        l, s, R = (bound(self, name, env) for name in ("feature_bound", "parameter_bound", "noise_scale"))
        return partial(paper_alpha, n_features=env.n_features, bias=l * s, noise_scale=R)


def apart(env: Environment) -> float:
    """By how many times features differ in size, as far as anybody can look."""
    if not env.compiled:
        return 1.0
    try:
        x, _, probabilities, _ = env.context_table(LOOKED_AT)
    except NotApplicable:
        return 1.0
    return sizes_apart(x, probabilities)
